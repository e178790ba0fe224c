"""What a builder decided about one graph, for those who look inside."""

from __future__ import annotations

from collections.abc import Mapping

from adbc.ir.graph import Graph
from adbc.ir.loops import Loop
from adbc.ir.values import Instruction, Value
from adbc.records import record
from adbc.types.callsites import CallSite

__all__ = ["Decisions"]


@record(frozen=True, eq=False)
class Decisions:
    """The graph that was differentiated, what became of each of its calls, and which values are active.

    saved: in reverse mode, the values (of the forwards pass) that are saved, each with the loop in whose
    records it is (None: in that of the call).
    """

    graph: Graph
    sites: Mapping[Instruction, CallSite]
    active: set[Value]
    saved: tuple[tuple[Value, Loop | None], ...] = ()
