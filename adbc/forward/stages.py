"""The stages from a typed graph to a dual one."""

from __future__ import annotations

from collections.abc import Sequence

from adbc.derive.met_again import met_again
from adbc.derive.places import set_apart
from adbc.derive.stages import DECIDING, Deciding
from adbc.forward.builder import DualBuilder
from adbc.forward.support import ForwardSupport
from adbc.forward.values import find_values
from adbc.ir.graph import Graph
from adbc.ir.traverse import remove_unreachable
from adbc.passes.normal.protected import isolate
from adbc.passes.stages import Group, Stage, Watcher, in_place, run
from adbc.records import record
from adbc.types.lattice import AbstractType

__all__ = ["FORWARD", "build_forward"]


@record
class Dualising(Deciding):
    """What the stages of forward mode work with."""

    support: ForwardSupport


def _values_found(graph: Graph, dualising: Dualising) -> Graph:
    if dualising.support.formulas:
        find_values(graph, dualising.support.knowledge)
    return graph


def _dual(graph: Graph, dualising: Dualising) -> Graph:
    support, decisions = dualising.support, dualising.decisions(graph)
    builder = DualBuilder(decisions, dualising.active_arguments, dualising.result, support)
    builder.write(dualising.active_arguments)
    set_apart(builder.graph, (*builder.primal.values(), *builder.effects))
    met_again(builder.graph, (support.known, support.kept))
    if support.told is not None:
        support.told(decisions)
    return builder.graph


FORWARD: Group[Dualising] = Group(
    "forward",
    (
        Stage("remove_unreachable", in_place(remove_unreachable), ("typed",), ("reachable blocks",),
              "types have decided conditions: what is not gone to has no tangents"),
        Stage("isolate", in_place(isolate), ("reachable blocks",), ("isolated calls",),
              "a call that may raise into a handler gets a block of its own, for tangents stand around it"),
        Stage("find_values", _values_found, ("isolated calls",), ("value arrays",),
              "before activity is decided: how an array's tangent is kept is a matter of its type"),
        *DECIDING,
        Stage("dualise", _dual, ("isolated calls", "activity", "usefulness"), ("derived",),
              "line by line, by the decisions that have been made"),
    ),
)  # fmt: skip


def build_forward(
    graph: Graph,
    active_arguments: Sequence[int],
    result: AbstractType,
    support: ForwardSupport,
    *,
    after: Watcher | None = None,
) -> Graph:
    """The dual graph of `graph`, which is typed and in normal form.  An active argument may be `PERHAPS`.

    The dual is called ``dual(context, [function, dfunction], x, [dx], ...) -> (out, dout)``.  `after` is
    called behind each stage.
    """
    dual: Graph = run(FORWARD, graph, Dualising(active_arguments, result, support), after)
    return dual
