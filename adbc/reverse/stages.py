"""The stages from a typed graph to forwards pass and pullback."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from adbc.derive.met_again import met_again
from adbc.derive.places import set_apart
from adbc.derive.stages import DECIDING, Deciding
from adbc.ir.graph import Graph
from adbc.ir.loops import Loops
from adbc.ir.traverse import remove_unreachable, reverse_postorder
from adbc.passes.stages import Group, Stage, Watcher, in_place, run
from adbc.records import record
from adbc.reverse.array_values import find_value_arrays
from adbc.reverse.canonical import canonicalise
from adbc.reverse.control import Reversal, ReversePair
from adbc.reverse.exceptions import attempt_calls, return_exceptions
from adbc.reverse.forwards import ForwardsPass
from adbc.reverse.support import Support
from adbc.types.derived import merge_all
from adbc.types.inference import type_of
from adbc.types.lattice import AbstractType

__all__ = ["REVERSE", "build_reverse"]


@record
class Reversing(Deciding):
    """What the stages of reverse mode work with."""

    support: Support
    returns_exceptions: bool = False
    loops: Loops | None = None


def _exceptions_returned(graph: Graph, reversing: Reversing) -> Graph:
    if reversing.returns_exceptions:
        return_exceptions(graph)
    return graph


def _calls_attempted(graph: Graph, reversing: Reversing) -> Graph:
    attempt_calls(graph, lambda: reversing.decide(graph)[1])
    return graph


def _canonical(graph: Graph, reversing: Reversing) -> Graph:
    reversing.loops = canonicalise(graph)
    return graph


def _phis_typed(graph: Graph, reversing: Reversing) -> Graph:
    for block in graph.blocks:
        for phi in block.phis:
            if phi.type is None:
                phi.type = merge_all(type_of(v) for v in phi.operands.values())
    return graph


def _value_arrays_found(graph: Graph, reversing: Reversing) -> Graph:
    assert reversing.loops is not None
    if reversing.support.values:
        active = list(map(bool, reversing.active_arguments))
        find_value_arrays(graph, active, reversing.loops, reversing.support.knowledge)
    return graph


def _reversed(graph: Graph, reversing: Reversing) -> ReversePair:
    support, order, decisions = reversing.support, reverse_postorder(graph), reversing.decisions(graph)
    assert reversing.loops is not None
    active_arguments = tuple(map(bool, reversing.active_arguments))
    forwards = ForwardsPass(decisions, order, active_arguments, support)
    reversal = Reversal(graph, reversing.loops, order, forwards, reversing.result, support)
    pair = reversal.build()
    set_apart(pair.forwards, (*forwards.primal.values(), *forwards.effects))
    set_apart(pair.pullback)
    met_again(pair.forwards, (support.known, support.kept))
    if support.told is not None:
        support.told(dataclasses.replace(decisions, saved=tuple(reversal.needed)))
    return pair


REVERSE: Group[Reversing] = Group(
    "reverse",
    (
        Stage("remove_unreachable", in_place(remove_unreachable), ("typed",), ("reachable blocks",),
              "types have decided conditions: what is not gone to is not reversed"),
        Stage("return_exceptions", _exceptions_returned, ("reachable blocks",), ("returned exceptions",),
              "callers that attempt a call get its exception as a value, before loops are looked at"),
        Stage("attempt_calls", _calls_attempted, ("returned exceptions",), ("attempted calls",),
              "so do active calls in blocks with handlers, which makes branches of exceptional edges"),
        Stage("canonicalise", _canonical, ("attempted calls",), ("loops",),
              "no edge is added any more: each loop gets a preheader, one latch and exits of its own"),
        Stage("phi_types", _phis_typed, ("loops",), ("typed phis",),
              "the blocks that were put in have phis, of types that follow from their operands"),
        Stage("value_arrays", _value_arrays_found, ("loops", "typed phis"), ("value arrays",),
              "before activity is decided: whether an array has a shadow is a matter of its type"),
        *DECIDING,
        Stage("reverse", _reversed, ("loops", "activity", "usefulness"), ("derived",),
              "forwards pass and pullback, by the decisions that have been made"),
    ),
)  # fmt: skip


def build_reverse(
    graph: Graph,
    active_arguments: Sequence[int],
    result: AbstractType,
    support: Support,
    *,
    returns_exceptions: bool = False,
    after: Watcher | None = None,
) -> ReversePair:
    """Build forwards pass and pullback of `graph`, which is typed and in normal form; `graph` is changed.

    `result` is the type of the result that callers were told.  With `returns_exceptions`, the forwards
    pass returns a `Raised` where the primal raises.  `after` is called behind each stage.
    """
    types = {argument: type_of(argument) for argument in graph.arguments}
    reversing = Reversing(active_arguments, result, support, returns_exceptions=returns_exceptions)
    pair: ReversePair = run(REVERSE, graph, reversing, after)
    assert all(type_of(a) == t for a, t in types.items())
    return pair
