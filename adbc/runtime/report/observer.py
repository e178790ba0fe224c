"""What `Config` asks for while rules are built: the verifiers, and a file for every stage.

It looks at graphs and code objects and changes none.  It decides nothing about derivatives, so
leaving it out changes no result.  Between passes graphs are not checked: a pass may leave an exceptional
edge that nothing takes any more, which a later pass removes.
"""

from __future__ import annotations

import dis
import itertools
import pathlib
import re
import types
from collections.abc import Callable

from adbc.config import Config
from adbc.ir.graph import Graph

__all__ = ["Observer"]


class Observer:
    """The witness of one engine: told of every stage, in the order in which they are made."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._numbers = itertools.count(1)

    def graph(
        self,
        code: types.CodeType,
        stage: str,
        graph: Graph,
        *,
        normal_form: bool = True,
        is_typed: Callable[[object], bool] | None = None,
    ) -> None:
        """`graph` is what `stage` made for the function with this code; `is_typed` says what its values must
        have for types, if they must have some."""
        if self.config.verify:
            _verify(graph, normal_form, is_typed)
        if self._is_wanted(code):
            self._write(code, stage, str(graph))

    def code(self, code: types.CodeType, stage: str, emitted: types.CodeType) -> None:
        """`emitted` is the code object of the graph that `stage` made."""
        if self.config.verify:
            # Loaded where it is asked for, like the verifier of graphs: importing adbc is to be fast.
            from adbc.emit.verify_stack import verify_stack

            verify_stack(emitted)
        if self._is_wanted(code):
            self._write(code, f"{stage}-bytecode", dis.Bytecode(emitted).dis().rstrip())

    def _is_wanted(self, code: types.CodeType) -> bool:
        return self.config.dump is not None and self.config.dump in (code.co_name, code.co_qualname)

    def _write(self, code: types.CodeType, stage: str, text: str) -> None:
        directory = pathlib.Path(self.config.dump_directory)
        directory.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", code.co_qualname)
        (directory / f"{next(self._numbers):03}-{name}-{stage}.txt").write_text(f"{text}\n", encoding="utf-8")


def _verify(graph: Graph, normal_form: bool, is_typed: Callable[[object], bool] | None) -> None:
    from adbc.ir.verify import verify

    verify(graph, normal_form=normal_form, is_typed=is_typed)
