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
from adbc.passes.stages import Group, Stage, in_place, run

__all__ = ["SCHEDULE", "SCHEDULE_FORWARDS", "Bytecode"]

Places = Sequence[tuple[int, int, Inlined]]

SCHEDULE: Group[None] = Group(
    "schedule",
    (
        Stage("gather", in_place(gather), ("normal form",), ("gathered arithmetic",),
              "arithmetic is put where it is used, once nothing else changes what is used where"),
    ),
)  # fmt: skip
"""The stages that prepare a graph for the interpreter's stack."""

SCHEDULE_FORWARDS: Group[None] = Group(
    "schedule_forwards",
    (
        *SCHEDULE.stages,
        Stage("early_records", in_place(early_records), ("gathered arithmetic",), ("early records",),
              "a record is written where its values are on the stack, which gathering decides"),
    ),
)  # fmt: skip


class Bytecode:
    """Schedules graphs for the interpreter's stack and writes them as bytecode.  `inlined` is told which
    places of a code object are those of functions that were written into it."""

    by_layout = False

    def __init__(self, inlined: Callable[[types.CodeType, Places], object]) -> None:
        self.inlined = inlined

    def pair(self, pair: Pair, unit: Unit) -> tuple[types.FunctionType, types.FunctionType]:
        forwards = self._function(SCHEDULE_FORWARDS, pair.forwards, unit, "forwards")
        return forwards, self._function(SCHEDULE, pair.pullback, unit, "pullback")

    def single(self, graph: Graph, unit: Unit) -> types.FunctionType:
        return self._function(SCHEDULE, graph, unit, "single")

    def _function(self, group: Group[None], graph: Graph, unit: Unit, part: str) -> types.FunctionType:
        graph = run(group, graph, None, unit.watchers.get(part))
        places: list[tuple[int, int, Inlined]] = []
        code = emit.emit(graph, name=unit.name, qualname=unit.qualname, places=places)
        if places:
            self.inlined(code, places)
        return types.FunctionType(code, unit.namespace)
