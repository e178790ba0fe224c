"""Products of a derivative and a factor become products in which zero wins.

before::

    %3: tangent = call operator.mul(%p, %d)
    %4: Cotangent[Array[float64, 1]] = call operator.mul(%y, %c)
    %5: tangent = call operator.truediv(%d, %q)

after::

    %3: tangent = call _product_(%p, %d)
    %4: Cotangent[Array[float64, 1]] = call multiply(%y, %c)
    %5: tangent = call _quotient_(%d, %q)

A partial derivative may be infinite where the function is not (a square root at zero), or the argument may be
(the distance to what is not there).  Times a derivative that is zero, the machine calls that NaN; by the
convention of the rules it is zero, in both modes (`tangents.multiply`).

To look at each product costs as much as the product.  NaN stays NaN in all that is computed from it, so where
nothing but numbers is computed, it is enough to look at what comes out::

    %6: bool = call _not_nan_(%5)
    branch %6, done, careful
    careful:
        %7 = call <the same graph, in which zero wins>(%saved, %cotangent)
        return %7

which is made when it is first called.  That is right if nothing has happened yet that must not happen twice:
from the entry on, all that is done has no effect.  Elsewhere it is done for each run of instructions in a
block that have no effect (`strong_runs`); and the function that multiplies arrays looks at each product.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Jump, Return
from adbc.ir.traverse import copy_graph, remove_unreachable, split_edge
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.derived.strong_runs import OF_NUMBERS, Later, look, look_at_runs
from adbc.passes.query import target
from adbc.records import record
from adbc.types.derived import DerivativeType, merge_all, primal_type
from adbc.types.inference import type_of
from adbc.types.lattice import (
    FLOAT,
    TANGENT,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
)
from adbc.types.repeatable import is_repeatable

__all__ = ["Later", "strong_zeros"]


@record(frozen=True)
class Strong:
    """Products and quotients in which zero wins, and what else a graph may call.

    times: the product of arrays; scaled: that of a number and an array; multiply, divide: of what may be
    numbers or arrays.  quiet: the addresses of functions that have no effect.
    """

    times: Callable[[Any, Any], Any]
    scaled: Callable[[Any, Any], Any]
    multiply: Callable[[Any, Any], Any]
    divide: Callable[[Any, Any], Any]
    quiet: frozenset[int]


def strong_zeros(graph: Graph, strong: Strong, later: Later | None = None) -> Graph:
    """Let zero win in the products of a derived graph, in place.  Without `later`, each is looked at."""
    found = [i for block in graph.blocks for i in block.instructions if _is_open(i)]
    if found:
        blocks = set() if later is None else _repeatable(graph, strong.quiet)
        if later is not None and blocks:
            again = functools.partial(strong_zeros, strong=strong)
            region = _Region(graph, blocks)
            exits = region.exits()
            if all(type_of(v) in (TANGENT, FLOAT) for _, _, values in exits for v in values):
                _look_at_results(graph, exits, again, later)
            else:
                blocks = set()
        rest = [i for i in found if i.block not in blocks]
        if later is not None:
            rest = look_at_runs(graph, rest, strong.quiet, later)
        _strengthen(rest, strong)
    return graph


def _is_open(instruction: Instruction) -> bool:
    """Whether `instruction` is a product of a derivative that may be zero times what is not finite."""
    if id(target(instruction)) not in OF_NUMBERS:
        return False
    if instruction.type is not TANGENT and not isinstance(instruction.type, DerivativeType):
        return False
    factors = instruction.operands[1:]
    return not any(_is_sequence(primal_type(type_of(x))) or _is_harmless(x) for x in factors)


def _is_sequence(type: AbstractType) -> bool:
    """Whether what has this type is repeated by a product, and not multiplied."""
    return isinstance(type, TupleType) or (isinstance(type, Exact) and hasattr(type.cls, "__getitem__"))


def _is_harmless(factor: Value) -> bool:
    """Whether `factor` is neither zero nor infinite, so that only NaN makes NaN of it."""
    number = factor.value if isinstance(factor, Const) else None
    return isinstance(number, float | int) and bool(number) and math.isfinite(number)


def _strengthen(products: Iterable[Instruction], strong: Strong) -> None:
    for instruction in products:
        function = OF_NUMBERS[id(target(instruction))]
        if instruction.type is not TANGENT:
            if function is not intrinsics._product_:
                function = strong.divide
            elif isinstance(primal_type(instruction.type), ArrayType):
                is_array = isinstance(type_of(instruction.operands[1]), ArrayType)
                function = strong.times if is_array else strong.scaled
            else:
                function = strong.multiply
        instruction.operands[0] = Const(function)


# -- what may be computed again ----------------------------------------------------------------------------


def _repeatable(graph: Graph, quiet: frozenset[int]) -> set[Block]:
    """The blocks that are reached from the entry by what may be done twice; none if one of them can be
    reached from elsewhere too."""
    if graph.is_generator:
        return set()
    effects = {
        block
        for block in graph.blocks
        if block.handler is not None or not all(is_repeatable(i, quiet) for i in block.instructions)
    }
    region: set[Block] = set()
    waiting = [graph.entry]
    while waiting:
        block = waiting.pop()
        if block not in region and block not in effects:
            region.add(block)
            waiting += block.terminator.successors
    behind: set[Block] = set()
    waiting = [b for b in graph.blocks if b not in region]
    while waiting:
        block = waiting.pop()
        if block not in behind:
            behind.add(block)
            waiting += block.terminator.successors
    return region if region.isdisjoint(behind) else set()


# -- looking at what comes out -------------------------------------------------------------------------------


_Exit = tuple[Block, Block | None, list[Value]]
"""An edge out of a region, to None for a return, with what was computed from products and is used there."""


class _Region:
    """The blocks of `graph` that may be run again, and what leaves them."""

    def __init__(self, graph: Graph, blocks: set[Block]) -> None:
        self.graph = graph
        self.blocks = blocks
        self.products = [i for b in graph.blocks if b in blocks for i in b.instructions if _is_open(i)]
        self.tainted = _computed_from(graph, self.products)

    def exits(self) -> list[_Exit]:
        """The ways out by which something goes that was computed from products."""
        found: list[_Exit] = []
        for block in self.graph.blocks:
            if block in self.blocks:
                if isinstance(block.terminator, Return):
                    found.append((block, None, self._parts(block.terminator.value)))
                outside = [b for b in block.terminator.successors if b not in self.blocks]
                found += [(block, b, self._used_behind(block, b)) for b in outside]
        return [exit for exit in found if exit[2]]

    def _parts(self, value: Value) -> list[Value]:
        if value not in self.tainted:
            return []
        if target(value) is intrinsics._new_:
            return [part for v in value.operands[2:] for part in self._parts(v)]  # type: ignore[attr-defined]
        return [value]

    def _used_behind(self, source: Block, start: Block) -> list[Value]:
        seen: set[Block] = set()
        waiting = [start]
        used: list[Value] = [phi.operands[source] for phi in start.phis]
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                waiting += block.terminator.successors
                used += block.terminator.values
                for instruction in block.instructions:
                    used += instruction.operands
        # What comes in over edges from elsewhere goes another way.
        used += [v for block in seen for phi in block.phis for b, v in phi.operands.items() if b in seen]
        inside = [v for v in used if v in self.tainted and v.block in self.blocks]  # type: ignore[attr-defined]  # tainted are instructions and phis
        return [part for v in inside for part in self._parts(v)]


def _computed_from(graph: Graph, products: list[Instruction]) -> set[Value]:
    """The values that `products` have a part in."""
    found: set[Value] = set(products)
    size = -1
    while size != len(found):
        size = len(found)
        for block in graph.blocks:
            found.update(phi for phi in block.phis if not found.isdisjoint(phi.operands.values()))
            found.update(i for i in block.instructions if not found.isdisjoint(i.operands))
    return found


def _look_at_results(
    graph: Graph, exits: Iterable[_Exit], again: Callable[[Graph], Graph], later: Later
) -> None:
    """Write tests of what leaves a region by `exits`: where it is NaN, all is computed again, by the graph
    that `again` makes of a copy."""
    tests: list[tuple[Block, Block]] = []

    def in_which_zero_wins() -> Graph:
        copy, _, blocks = copy_graph(graph)
        for block, behind in tests:
            blocks[block].terminator = Jump(blocks[behind])
        remove_unreachable(copy)
        return again(copy)

    if not exits:
        return
    results = (b.terminator.value for b in graph.blocks if isinstance(b.terminator, Return))
    careful = graph.add_block("careful")
    builder = Builder(graph, careful)
    builder.ret(
        builder.call(later(in_which_zero_wins), *graph.arguments, type=merge_all(map(type_of, results)))
    )
    for source, successor, values in exits:
        behind = _behind(source) if successor is None else successor
        block = source if successor is None else split_edge(source, successor)
        builder = Builder(graph, block)
        look(builder, dict.fromkeys(values), behind, careful)
        tests.append((block, behind))


def _behind(block: Block) -> Block:
    """A new block that returns what `block` did, which makes it there if it is a tuple."""
    behind = block.graph.add_block(f"{block.label}.done")
    terminator = block.terminator
    assert isinstance(terminator, Return)
    made = terminator.value
    if target(made) is intrinsics._new_ and block.instructions and block.instructions[-1] is made:
        behind.append(block.instructions.pop())
    behind.terminator = terminator
    return behind
