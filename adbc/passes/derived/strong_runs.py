"""What comes out of a run of instructions is looked at, and computed again with zero winning if it is NaN.

before::

    %3: tangent = call operator.mul(%p, %d)
    %4: tangent = call operator.mul(%q, %3)
    %5 = call operator.setitem(%l, 0, %4)

after::

    %3: tangent = call operator.mul(%p, %d)
    %4: tangent = call operator.mul(%q, %3)
    %6: bool = call _not_nan_(%4)
    branch %6, behind, again
    again:
        %7: tangent = call <the run, in which zero wins>(%p, %d, %q)
        jump behind
    behind:
        %8: tangent = phi [entry: %4, again: %7]
        %5 = call operator.setitem(%l, 0, %8)

NaN stays NaN in what is computed from it, so one look is enough for all that a value was computed from.  The
function for the second time is made when it is first called (`strong_zeros` says what it is about).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Terminator
from adbc.ir.traverse import copy_of
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.types.inference import type_of
from adbc.types.lattice import BOOL, FLOAT, TANGENT, TupleType
from adbc.types.repeatable import is_repeatable

__all__ = ["OF_NUMBERS", "Later", "look", "look_at_runs"]

OF_NUMBERS: dict[int, Callable[..., Any]] = {
    id(operator.mul): intrinsics._product_,
    id(operator.imul): intrinsics._product_,
    id(operator.truediv): intrinsics._quotient_,
    id(operator.itruediv): intrinsics._quotient_,
}
"""By address of a function of numbers, the one in which zero wins."""

Later = Callable[[Callable[[], Graph]], Callable[..., Any]]
"""``later(graph)``: a function that does what a graph says that is made when it is first called."""

_Users = dict[Value, list[Instruction | Phi | Terminator]]

_STEPS = frozenset(map(id, (intrinsics._next_, intrinsics._recall_, intrinsics._iter_, reversed)))
"""Functions that make iterators or step them: a run begins and ends in the middle of a loop."""


def look(builder: Builder, values: Iterable[Value], behind: Block, again: Block) -> None:
    """End a block by going on to `behind`, or to `again` if one of `values` is NaN."""
    first, *others = values
    for other in others:
        first = builder.call(operator.add, first, other, type=TANGENT)
    builder.branch(builder.call(intrinsics._not_nan_, first, type=BOOL), behind, again)


def look_at_runs(
    graph: Graph, products: Iterable[Instruction], quiet: frozenset[int], later: Later
) -> list[Instruction]:
    """Write a test behind each run with some of `products` that leaves numbers; returns the other products.

    `quiet`: see `strong_zeros.Strong`.
    """
    by_block: dict[Block, set[Instruction]] = {}
    rest: list[Instruction] = []
    for product in products:
        block = product.block
        assert block is not None
        if product.type is TANGENT and block.handler is None:
            by_block.setdefault(block, set()).add(product)
        else:
            rest.append(product)
    users = _users(graph) if by_block else {}
    for block, inside in by_block.items():
        for end, run in reversed(_runs(block, inside, quiet)):
            outs = [i for i in run if any(user not in run for user in users.get(i, ()))]
            if all(type_of(out) in (TANGENT, FLOAT) for out in outs):
                if outs:
                    _look_at_run(block, end, list(run), outs, users, later)
            else:
                rest += [i for i in run if i in inside]
    return rest


def _runs(
    block: Block, products: set[Instruction], quiet: frozenset[int]
) -> list[tuple[int, dict[Instruction, None]]]:
    """The runs of a block, each with the number of the instruction that it ends before: what is computed from
    `products` by instructions between which nothing has an effect."""
    found: list[tuple[int, dict[Instruction, None]]] = []
    run: dict[Instruction, None] = {}
    for at, instruction in enumerate(block.instructions):
        is_part = instruction in products or not run.keys().isdisjoint(instruction.operands)
        may_be = is_repeatable(instruction, quiet) and id(target(instruction)) not in _STEPS
        if not may_be or (is_part and type_of(instruction) not in (TANGENT, FLOAT)):
            if run:
                found.append((at, run))
            run = {}
        elif is_part:
            run[instruction] = None
    if run:
        found.append((len(block.instructions), run))
    return found


def _users(graph: Graph) -> _Users:
    found: _Users = {}
    for block in graph.blocks:
        for phi in block.phis:
            for value in phi.operands.values():
                found.setdefault(value, []).append(phi)
        for instruction in block.instructions:
            for value in instruction.operands:
                found.setdefault(value, []).append(instruction)
        for value in block.terminator.values:
            found.setdefault(value, []).append(block.terminator)
    return found


def _look_at_run(
    block: Block,
    end: int,
    run: Sequence[Instruction],
    outs: Sequence[Instruction],
    users: _Users,
    later: Later,
) -> None:
    graph = block.graph
    lines = [(instruction, tuple(instruction.operands)) for instruction in run]
    read = dict.fromkeys(v for _, operands in lines for v in operands if v.__class__ is not Const)
    ins = [v for v in read if v not in run]
    again = _split(block, end)
    behind = again.terminator.successors[0]
    builder = Builder(graph, again)
    builder.position = run[-1].position
    type = TANGENT if len(outs) == 1 else TupleType((TANGENT,) * len(outs))
    result: Value = builder.call(later(lambda: _second_time(graph, lines, ins, outs)), *ins, type=type)
    results = [result]
    if len(outs) > 1:
        result = builder.call(intrinsics._unpack_, result, len(outs), type=type)
        results = [builder.call(intrinsics._project_, result, k, type=TANGENT) for k in range(len(outs))]
    for out, value in zip(outs, results, strict=True):
        phi = Phi(behind, TANGENT)
        phi.position = out.position
        for user in users[out]:
            if user not in run:
                _replace(user, out, phi)
        phi.operands = {block: out, again: value}
        behind.phis.append(phi)
        users[phi] = [user for user in users[out] if user not in run]
        users[out] = [user for user in users[out] if user in run]
    look(Builder(graph, block), outs, behind, again)
    for part in (block, again):
        for instruction in part.instructions:
            if instruction not in run:
                for value in instruction.operands:
                    known = users.setdefault(value, [])
                    if instruction not in known:
                        known.append(instruction)
    for phi in behind.phis:
        for value in phi.operands.values():
            users.setdefault(value, []).append(phi)


def _replace(user: Instruction | Phi | Terminator, old: Value, new: Value) -> None:
    if isinstance(user, Terminator):
        user.replace_value(old, new)
    elif isinstance(user, Phi):
        user.operands = {b: new if v is old else v for b, v in user.operands.items()}
    else:
        user.operands = [new if v is old else v for v in user.operands]


def _split(block: Block, end: int) -> Block:
    """Move what stands from instruction number `end` on into a block of its own, and put a block that only
    goes there behind `block`; returns this."""
    graph = block.graph
    behind, again = graph.add_block(f"{block.label}.behind"), graph.add_block(f"{block.label}.again")
    for instruction in block.instructions[end:]:
        behind.append(instruction)
    del block.instructions[end:]
    behind.terminator = block.terminator
    for successor in behind.successors:
        for phi in successor.phis:
            phi.operands = {behind if b is block else b: value for b, value in phi.operands.items()}
    Builder(graph, again).jump(behind)
    graph.blocks.remove(behind)
    graph.blocks.insert(graph.blocks.index(block) + 1, behind)
    return again


def _second_time(
    graph: Graph,
    lines: Sequence[tuple[Instruction, tuple[Value, ...]]],
    ins: Sequence[Value],
    outs: Sequence[Instruction],
) -> Graph:
    """The graph of a function of `ins` that executes `lines`, with zero winning, and returns `outs`."""
    copy = Graph(graph.name)
    copy.qualname, copy.filename, copy.first_line = graph.qualname, graph.filename, graph.first_line
    values: dict[Value, Value] = {v: copy.add_argument(f"v{k}", type_of(v)) for k, v in enumerate(ins)}
    builder = Builder(copy)
    for instruction, operands in lines:
        made = values[instruction] = builder.block.append(copy_of(instruction))
        made.operands = [values.get(v, v) for v in operands]
        if made.type is TANGENT:
            made.operands[0] = Const(OF_NUMBERS.get(id(target(made)), target(made)))
    results = [values[out] for out in outs]
    builder.ret(
        results[0]
        if len(results) == 1
        else builder.call(intrinsics._new_, tuple, *results, type=TupleType((TANGENT,) * len(results)))
    )
    return copy
