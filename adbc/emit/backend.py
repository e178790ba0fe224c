"""The backend for the interpreter: graphs are scheduled for its stack, then written as bytecode."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence

from adbc import emit  # its modules are loaded when code is first written
from adbc.emit.early_records import early_records
from adbc.emit.gather import gather
from adbc.ir.backend import Pair, Unit
from adbc.ir.graph import Graph
from adbc.ir.values import Inlined

__all__ = ["Bytecode"]

Places = Sequence[tuple[int, int, Inlined]]


class Bytecode:
    """See the module.  `inlined` is told which places of a code object are those of functions that were
    written into it."""

    def __init__(self, inlined: Callable[[types.CodeType, Places], object]) -> None:
        self.inlined = inlined

    def pair(self, pair: Pair, unit: Unit) -> tuple[types.FunctionType, types.FunctionType]:
        forwards = self._function(early_records(gather(pair.forwards)), unit)
        return forwards, self.single(pair.pullback, unit)

    def single(self, graph: Graph, unit: Unit) -> types.FunctionType:
        return self._function(gather(graph), unit)

    def _function(self, graph: Graph, unit: Unit) -> types.FunctionType:
        places: list[tuple[int, int, Inlined]] = []
        code = emit.emit(graph, name=unit.name, qualname=unit.qualname, places=places)
        if places:
            self.inlined(code, places)
        return types.FunctionType(code, unit.namespace)
