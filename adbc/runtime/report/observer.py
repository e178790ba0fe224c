"""What `Config` asks for while rules are built: the verifiers, and a file for every stage.

It looks at graphs and code objects and changes none.  It decides nothing about derivatives, so
leaving it out changes no result.
"""

from __future__ import annotations

import dataclasses
import dis
import itertools
import re
import types
from typing import Any

from adbc.config import Config
from adbc.errors import VerificationError
from adbc.ir.graph import Graph
from adbc.passes.stages import Stage, Watcher
from adbc.records import record
from adbc.types.derived import is_known

__all__ = ["Observer"]


class Observer:
    """The witness of one engine: told of every stage, in the order in which they are run."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._numbers = itertools.count(1)
        self._texts: dict[tuple[types.CodeType, str], str] = {}
        """How each part of a function was shown last."""

    def watcher(
        self, code: types.CodeType, part: str, *, is_normal: bool = False, is_typed: bool = False
    ) -> Watcher | None:
        """What is to be told of the stages that one graph goes through; None if nobody wants to know.

        code: of the function that is differentiated.  part: which graph it is, "primal" or "pullback", say.
        is_normal: whether it is in normal form from the beginning.  is_typed: whether each value must have a
        type once derivatives are typed, because each value of the primal has one.
        """
        if not self.config.verify and not self.is_wanted(code):
            return None
        return _Watch(self, code, part, is_normal, is_typed)

    def code(self, code: types.CodeType, part: str, emitted: types.CodeType) -> None:
        """Verify, and write down if that is wanted, `emitted`: the bytecode of the graph that `part` names,
        of the function with `code`."""
        if self.config.verify:
            # Loaded where it is asked for, like the verifier of graphs: importing adbc is to be fast.
            from adbc.emit.verify_stack import verify_stack

            verify_stack(emitted)
        if self.is_wanted(code):
            self._write(code, f"{part}-bytecode", dis.Bytecode(emitted).dis().rstrip())

    def is_wanted(self, code: types.CodeType) -> bool:
        """Whether the stages of the function with this code are to be written down."""
        return self.config.dump is not None and self.config.dump in (code.co_name, code.co_qualname)

    def show(self, code: types.CodeType, part: str, stage: str, text: str) -> None:
        """Write `text`, the graph that `part` names behind a stage, to a file, unless it is the same as
        before."""
        if self._texts.get((code, part)) != text:
            self._texts[code, part] = text
            self._write(code, f"{part}-{stage}", text)

    def _write(self, code: types.CodeType, name: str, text: str) -> None:
        """Leave `text` in a file with the next number."""
        import pathlib  # only those who want files pay for it

        directory = pathlib.Path(self.config.dump_directory)
        directory.mkdir(parents=True, exist_ok=True)
        function = re.sub(r"[^\w.-]+", "_", code.co_qualname)
        path = directory / f"{next(self._numbers):03}-{function}-{name}.txt"
        path.write_text(f"{text}\n", encoding="utf-8")


@record
class _Watch:
    """Looks at one graph behind each stage.  A stage that leaves the text as it was leaves no file."""

    observer: Observer
    code: types.CodeType
    part: str
    is_normal: bool
    is_typed: bool
    verified: dict[int, tuple[Graph, list[object]]] = dataclasses.field(default_factory=dict)
    """By address, the graphs that were verified, and what they were made of: most stages find nothing to
    do."""

    def __call__(self, stage: Stage[Any], made: Any) -> None:
        self.is_normal = self.is_normal or "calls" in stage.leaves
        if isinstance(made, Graph):
            self._look(stage, made, "dual" if "derived" in stage.leaves else self.part)
        elif hasattr(made, "pullback"):
            self._look(stage, made.forwards, "forwards")
            self._look(stage, made.pullback, "pullback")

    def _look(self, stage: Stage[Any], graph: Graph, part: str) -> None:
        if self.observer.config.verify and stage.is_whole:
            self._verify(stage, graph, part)
        if self.observer.is_wanted(self.code):
            self.observer.show(self.code, part, stage.name, str(graph))

    def _verify(self, stage: Stage[Any], graph: Graph, part: str) -> None:
        from adbc.ir.verify import contents, verify

        must_be_typed = self.is_typed and "types of derivatives" in stage.leaves
        now = [self.is_normal, must_be_typed, *contents(graph)]
        known = self.verified.get(id(graph))
        if known is not None and known[1] == now:
            return
        self.verified[id(graph)] = graph, now
        try:
            verify(graph, normal_form=self.is_normal, is_typed=is_known if must_be_typed else None)
        except VerificationError as error:
            raise VerificationError(
                f"behind the stage {stage.name} ({part} of {self.code.co_qualname}): {error}"
            ) from error
