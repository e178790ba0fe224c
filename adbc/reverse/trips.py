"""What the head of a loop tells of the number of its iterations."""

from __future__ import annotations

from typing import Final

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.loops import Loop, Loops
from adbc.ir.values import Instruction, Value
from adbc.passes.query import constant, target, use_counts
from adbc.types.inference import type_of
from adbc.types.lattice import Exact

__all__ = ["is_short", "range_of"]

SHORT: Final = 3
"""The most iterations of which a tape of links is faster than a list, which must be made, grow, and be run
through."""


def _iterator_of(loop: Loop) -> Instruction | None:
    """The iterator that `loop` is over, if that is made by ``iter``."""
    found = loop.header.instructions[-2:]
    if len(found) != 2:
        return None
    element, test = found
    if target(element) is not intrinsics._next_ or target(test) is not intrinsics._exhausted_:
        return None
    iterator = element.operands[1]
    return iterator if isinstance(iterator, Instruction) and target(iterator) is intrinsics._iter_ else None


def range_of(loop: Loop, loops: Loops, graph: Graph) -> Value | None:
    """The range that `loop` is over, if it is left at its end only."""
    if len(loop.exits) != 1 or loop.exits[0][0] is not loop.header:
        return None
    iterator = _iterator_of(loop)
    if iterator is None:
        return None
    assert iterator.block is not None
    if loops.innermost.get(iterator.block) is not loop.parent or use_counts(graph)[iterator] != 1:
        return None  # it may have given some of its numbers to somebody else
    numbers = iterator.operands[1]
    return numbers if type_of(numbers) == Exact(range) else None


def is_short(loop: Loop) -> bool:
    """Whether `loop` has no loop inside and is over a range of known bounds, of at most `SHORT` numbers."""
    iterator = _iterator_of(loop)
    numbers = None if iterator is None else iterator.operands[1]
    if loop.children or not isinstance(numbers, Instruction):
        return False
    if target(numbers) is not intrinsics._foreigncall_:
        return False
    function, *bounds = map(constant, numbers.operands[1:])
    if function is not range or not 1 <= len(bounds) <= 2 or not all(type(b) is int for b in bounds):
        return False
    return len(range(*bounds)) <= SHORT
