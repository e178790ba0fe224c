"""Loops over lists no longer count their elements, which only the builders of derivatives need.

What is unpacked from a list forgets the list likewise, and what a walk over a dict gives forgets its key.

before::

    loop:
        %i: int = phi [entry: 0, body: %n]
        %v = call _next_at_(%it, %l, %i)
        ...
    body:
        %n: int = call operator.add(%i, 1)

after::

    loop:
        %v = call _next_(%it)
        ...

The counter goes where the derivative did not use it, and the loop is one that has syntax of its own.  For
graphs that builders made.
"""

from __future__ import annotations

import operator

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _element_, _next_, _next_at_, _project_, _take_at_, _unpack_, _unpack_list_
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import drop, target, use_counts

__all__ = ["uncounted_loops"]

_STEPS = frozenset(
    {intrinsics._next_key_, intrinsics._next_value_, intrinsics._next_place_, intrinsics._next_entry_}
)
_PARTS = {intrinsics._entry_key_: 0, intrinsics._entry_value_: 1}


def uncounted_loops(graph: Graph) -> Graph:
    counters: list[Value] = []
    for call in graph.instructions():
        function = target(call)
        if function is _unpack_list_:
            call.operands[0] = Const(_unpack_)
        elif function is _element_:
            call.operands = [Const(_project_), call.operands[1], call.operands[3]]
        elif function is _next_at_:
            counters.append(call.operands[3])
            call.operands = [Const(_next_), call.operands[1]]
        elif function is _take_at_:
            counters.append(call.operands[3])
            call.operands = [Const(next), call.operands[1]]
        elif function in _STEPS:
            call.operands = [Const(_next_), call.operands[1]]
        elif function in _PARTS:
            call.operands = [Const(_project_), call.operands[1], Const(_PARTS[function])]
    if not counters:
        return graph
    uses = use_counts(graph)
    dead: set[Instruction] = set()
    for counter in dict.fromkeys(counters):  # lists that are walked together share one
        if not isinstance(counter, Phi) or uses.get(counter) != 1:
            continue
        following = [v for v in counter.operands.values() if isinstance(v, Instruction)]
        if (
            len(set(following)) == 1
            and target(following[0]) is operator.add
            and following[0].operands[1] is counter
            and uses.get(following[0]) == len(following)
        ):
            dead.add(following[0])
            counter.block.phis.remove(counter)
    if drop(graph, dead):
        remove_unreachable(graph)
    return graph
