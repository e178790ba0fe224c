"""The stages at which both modes decide what they differentiate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from adbc.derive.support import CommonSupport
from adbc.ir.graph import Graph
from adbc.ir.values import Instruction, Value
from adbc.passes.stages import Stage
from adbc.records import record
from adbc.types.callsites import CallSite, activity
from adbc.types.decisions import Decisions
from adbc.types.lattice import AbstractType
from adbc.types.quiet_memory import Families, expose
from adbc.types.usefulness import drop_useless

__all__ = ["DECIDING", "Deciding"]


@record
class Deciding:
    """What the stages of a builder work with: which arguments are active, and what has been decided."""

    active_arguments: Sequence[int]
    """Per argument, whether it is active; in forward mode it may be `PERHAPS`."""
    result: AbstractType
    """The type of the result that callers compile against."""
    support: CommonSupport
    active: set[Value] = dataclasses.field(default_factory=set)
    sites: dict[Instruction, CallSite] = dataclasses.field(default_factory=dict)

    def decide(self, graph: Graph) -> tuple[set[Value], dict[Instruction, CallSite]]:
        """The values of `graph` that are active, and what becomes of its calls."""
        flags, knowledge = list(map(bool, self.active_arguments)), self.support.knowledge
        memory = Families(graph, flags, knowledge)
        found = activity(graph, flags, knowledge, memory)
        if expose(graph, memory):
            found = activity(graph, flags, knowledge, memory)
        return found

    def decisions(self, graph: Graph) -> Decisions:
        """The decisions of these stages about `graph`."""
        return Decisions(graph, self.sites, self.active)


def _activity(graph: Graph, deciding: Deciding) -> Graph:
    deciding.active, deciding.sites = deciding.decide(graph)
    return graph


def _usefulness(graph: Graph, deciding: Deciding) -> Graph:
    drop_useless(graph, deciding.active, deciding.sites)
    return graph


DECIDING: tuple[Stage[Deciding], ...] = (
    Stage("activity", _activity, ("value arrays",), ("activity",),
          "of the graph as it is differentiated: quiet memory that leaves it gets a name for its shadow"),
    Stage("usefulness", _usefulness, ("activity",), ("usefulness",),
          "takes from what is active what no derivative depends on"),
)  # fmt: skip
