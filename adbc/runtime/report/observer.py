"""What `Config` asks for while rules are built: the verifiers, and a file for every stage.

It looks at graphs and code objects and changes none.  It decides nothing about derivatives, so
leaving it out changes no result.
"""

from __future__ import annotations

import dis
import itertools
import pathlib
import re
import types
from typing import Any

from adbc.config import Config
from adbc.errors import VerificationError
from adbc.ir.graph import Graph
from adbc.passes.stages import Stage, Watcher

__all__ = ["Observer"]


class Observer:
    """The witness of one engine: told of every stage, in the order in which they are run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._numbers = itertools.count(1)

    def watcher(self, code: types.CodeType, part: str, *, is_normal: bool = False) -> Watcher | None:
        """What is to be told of the stages that one graph goes through; None if nobody wants to know.

        code: of the function that is differentiated.  part: which graph it is, "primal" or "pullback", say.
        is_normal: whether it is in normal form from the beginning.
        """
        if not self.config.verify and not self._is_wanted(code):
            return None
        return _Watch(self, code, part, is_normal)

    def code(self, code: types.CodeType, part: str, emitted: types.CodeType) -> None:
        """`emitted` is the code object of the graph that `part` names, of the function with `code`."""
        if self.config.verify:
            # Loaded where it is asked for, like the verifier of graphs: importing adbc is to be fast.
            from adbc.emit.verify_stack import verify_stack

            verify_stack(emitted)
        if self._is_wanted(code):
            self.write(code, f"{part}-bytecode", dis.Bytecode(emitted).dis().rstrip())

    def _is_wanted(self, code: types.CodeType) -> bool:
        return self.config.dump is not None and self.config.dump in (code.co_name, code.co_qualname)

    def write(self, code: types.CodeType, name: str, text: str) -> None:
        """Leave `text` in a file with the next number."""
        directory = pathlib.Path(self.config.dump_directory)
        directory.mkdir(parents=True, exist_ok=True)
        function = re.sub(r"[^\w.-]+", "_", code.co_qualname)
        path = directory / f"{next(self._numbers):03}-{function}-{name}.txt"
        path.write_text(f"{text}\n", encoding="utf-8")


class _Watch:
    """Looks at one graph behind each stage.  A stage that leaves the text as it was leaves no file."""

    def __init__(self, observer: Observer, code: types.CodeType, part: str, is_normal: bool) -> None:
        self.observer = observer
        self.code = code
        self.part = part
        self.is_normal = is_normal
        self.is_written = observer._is_wanted(code)
        self.text = ""

    def __call__(self, stage: Stage[Any], made: object) -> None:
        self.is_normal = self.is_normal or "calls" in stage.leaves
        if not isinstance(made, Graph):
            return
        if self.observer.config.verify and stage.is_whole:
            self._verify(stage, made)
        if self.is_written:
            text, before = str(made), self.text
            self.text = text
            if text != before:
                self.observer.write(self.code, f"{self.part}-{stage.name}", text)

    def _verify(self, stage: Stage[Any], graph: Graph) -> None:
        from adbc.ir.verify import verify

        try:
            verify(graph, normal_form=self.is_normal)
        except VerificationError as error:
            raise VerificationError(
                f"behind the stage {stage.name} ({self.part} of {self.code.co_qualname}): {error}"
            ) from error
