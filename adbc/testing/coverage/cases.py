"""What is judged: a call as text, with the values that it is made with."""

from __future__ import annotations

import importlib
import linecache
import zlib
from collections.abc import Callable
from typing import Any

from adbc.records import record
from adbc.testing.coverage.values import names_in, value

__all__ = ["HERE", "STATUSES", "Case", "Verdict"]

HERE = "generated call"
"""What the names of the files begin with in which generated calls stand, for tracebacks."""


@record(frozen=True)
class Case:
    """A call of a public function.

    entry: its public name.  text: the call.  kind, domain: what the names in it stand for (`values`).
    primary: whether it is one of the calls by which the function is judged; the others are forms of it.
    """

    entry: str
    text: str
    kind: str
    domain: str = "unit"
    primary: bool = True

    def function(self) -> Callable[..., Any]:
        """A function of the values, in order, that makes the call: its source is known to tracebacks."""
        source = f"def call({', '.join(names_in(self.text))}):\n    return {self.text}\n"
        file = f"<{HERE} {zlib.crc32(source.encode()):08x}>"
        linecache.cache[file] = len(source), None, source.splitlines(True), file
        space = dict(_modules(self.entry))
        exec(compile(source, file, "exec"), space)
        made: Callable[..., Any] = space["call"]
        return made

    def values(self) -> list[Any]:
        """The values of the names in the text; of ``out``, what the call without it makes room for."""
        names = names_in(self.text)
        found = {name: value(name, self.kind, self.domain) for name in names if name != "out"}
        if "out" in names:
            bare = self.text.replace(", out=out", "")
            plain = Case(self.entry, bare, self.kind, self.domain)
            result = plain.function()(*plain.values())
            found["out"] = result * 0 if hasattr(result, "shape") and result.shape else _room(result)
        return [found[name] for name in names]

    def program(self) -> str:
        """The call as a program, for a report."""
        given = [f"{name} = {x!r}" for name, x in zip(names_in(self.text), self.values(), strict=True)]
        return "; ".join(given + [self.text])


def _room(result: Any) -> Any:
    import numpy as np

    return np.zeros(np.shape(result), np.asarray(result).dtype)


@record(frozen=True)
class Verdict:
    """What became of a case: one of `STATUSES`, and why."""

    case: Case
    status: str
    message: str = ""


STATUSES = ("right", "zero", "refused", "unclear", "error", "wrong", "not judged")
"""The derivative agrees with differences; there is none to have, and both modes say so; an error names the
function, the line and what to do; an error that does not; an error that is not adbc's, or no end; a wrong
number; there is nothing to compare with."""


def _modules(entry: str) -> dict[str, Any]:
    """The names of modules that the text of a call may use."""
    import numpy as np

    space: dict[str, Any] = {"np": np, "numpy": np}
    parts = entry.split(".")
    for count in range(1, len(parts)):
        try:
            importlib.import_module(".".join(parts[:count]))
        except ImportError:
            break
        space[parts[0]] = importlib.import_module(parts[0])
    for name in (
        "math",
        "operator",
        "collections",
        "decimal",
        "fractions",
        "random",
        "copy",
        "array",
        "functools",
    ):
        space[name] = importlib.import_module(name)
    return space
