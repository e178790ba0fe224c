"""Which companions may be read later than their values.

The companion of a value that was read from a slot is mostly read where the value has been tested: more is
known of it there, and where the test fails nobody needs it here.  That is right only as long as nothing is
written into the slot in between::

    %1 = call operator.getitem(%m, 0)
    %2 = call operator.getitem(%m, 1)
    call operator.setitem(%m, 0, %2)
    %3 = call _class_is_(%1, list)          # what is in slot 0 now is not %1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.traverse import predecessors
from adbc.ir.values import Instruction, Value
from adbc.types.callsites import CallSite

__all__ = ["readable_late"]


def readable_late(
    graph: Graph,
    values: Iterable[Value],
    sites: Mapping[Instruction, CallSite],
    users: Callable[[Value], Sequence[Any]],
) -> set[Value]:
    """The ones among `values` whose every use comes before anything that may write into memory.

    users: says what uses a value.
    """
    sources = predecessors(graph)
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Instruction) and value.op == "call":
            used = set(users(value))
            if all(isinstance(user, Instruction) for user in used) and _all_met(value, used, sites, sources):
                found.add(value)
    return found


def _all_met(
    value: Instruction,
    used: set[Any],
    sites: Mapping[Instruction, CallSite],
    sources: Mapping[Any, Sequence[Any]],
) -> bool:
    """Whether all that is in `used` is met behind `value`, on ways that are only come to from there, before
    something is written."""
    assert value.block is not None
    instructions = value.block.instructions
    pending = [(value.block, instructions[instructions.index(value) + 1 :])]
    while pending and used:
        block, instructions = pending.pop()
        for instruction in instructions:
            used.discard(instruction)
            site = sites.get(instruction)
            if site is None or site.kind.writes:
                break
        else:
            pending += [(b, b.instructions) for b in block.successors if len(sources[b]) == 1]
    return not used
