"""Polymorphic inline caches of reads, writes and operators: what is done to a value that is now of this class
and now of that is written once for the classes that it is likely to have.

before::

    b:
        %v: Any = phi [entry: None, loop: %last]
        %d: Any = call operator.sub(%x, %v)
        ...

after::

    b:
        %v: Any = phi [entry: None, loop: %last]
        %t: bool = call _class_is_(%v, float)
        branch %t, b.known, b.other
    b.known:
        %v1: float = call _assume_(%v, float)
        %d1 = call operator.sub(%x, %v1)
        jump b.done
    b.other:
        %d2: Any = call operator.sub(%x, %v)
        jump b.done
    b.done:
        %d: Any = phi [b.known: %d1, b.other: %d2]
        ...

What an attribute is read from or written to is tested for the classes in Python that were seen there; so is
what stands in front in an operation of arithmetic, and where none was seen, all of unknown type is tested for
floats, at once.  What is subscripted is tested for the classes of dicts that come together there: a variable
that has a `dict` first and then a `defaultdict`.  As `polymorphic_calls` has it for what is called, the ways
meet again, so that nothing is given up where a test fails.
"""

from __future__ import annotations

import itertools
import operator
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.handlers import take_handler
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.passes.typed.polymorphic_calls import Seen
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, BOOL, FLOAT, ArrayType, Exact, is_float64, members

__all__ = ["LIMIT", "split_operations"]

LIMIT = 60
"""The number of tests beyond which no more are written into one function."""

_ARITHMETIC = frozenset(
    getattr(operator, prefix + name) for name in ("add", "sub", "mul", "truediv") for prefix in ("", "i")
)
_NUMERIC: frozenset[Any] = _ARITHMETIC | {
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.neg, operator.abs,
}  # fmt: skip
_FIELDS: frozenset[Any] = frozenset({intrinsics._getattr_, intrinsics._setattr_})
_SUBSCRIPTS: frozenset[Any] = frozenset({operator.getitem, operator.setitem})
_DICTS: tuple[type, ...] = (dict, defaultdict, Counter)
"""The classes of dicts that items are read from and written to in place."""

_WRITES = (intrinsics._setattr_, operator.setitem)

Tests = Mapping[int, Exact]
"""What operands are tested for, by their numbers."""


def split_operations(
    graph: Graph,
    seen: Callable[[Value], Seen | None],
    is_scalar: Callable[[Any], bool],
    limit: int = LIMIT,
) -> bool:
    """Write what `graph` does to values of unknown type once for each class that these had, in place.

    `seen` says what is known of such a value, None if nothing ever is; `is_scalar` knows the functions of
    numbers; limit: what takes the place of `LIMIT`.  Returns whether types have to be inferred again.
    """
    written = 0
    usual = _usual(graph)
    instructions = list(graph.instructions())
    called = _called(instructions)
    for call in instructions:
        assert call.block is not None
        if call.op != "call" or call.keywords or call in called:
            continue  # what is called is the affair of `polymorphic_calls`
        if call.block.handler is not None and call.block.instructions[-1] is not call:
            continue  # it raises nothing that is caught, and does nothing much
        ways = _ways(call, seen, is_scalar, usual)
        if ways and written < limit:
            written += sum(map(len, ways))
            _split(graph, call, ways)
    return written > 0


def _called(instructions: Sequence[Instruction]) -> set[Value]:
    """What is called by `instructions`, and what may come to it by phis."""
    called = {instruction.operands[0] for instruction in instructions if instruction.op == "call"}
    waiting = list(called)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Phi):
            found = set(value.operands.values()) - called
            called |= found
            waiting += found
    return called


def _usual(graph: Graph) -> Sequence[Exact]:
    """The kinds of numbers that are likely in `graph` where nothing is known: those of NumPy's too if there
    are arrays, or such numbers."""
    for value in (*graph.arguments, *graph.instructions()):
        known = type_of(value)
        if is_float64(known) and isinstance(known, Exact):
            return FLOAT, known
        if isinstance(known, ArrayType) and known.dtype == "float64":
            return FLOAT, Exact(sys.modules["numpy"].float64)  # loaded: there is an array
    return (FLOAT,)


def _ways(
    call: Instruction,
    seen: Callable[[Value], Seen | None],
    is_scalar: Callable[[Any], bool],
    usual: Sequence[Exact],
) -> Sequence[Tests]:
    """The ways to write `call`, one behind the other, each by what has to hold for it."""
    function = target(call)
    if function in _FIELDS:
        return [{1: known} for known in _classes(call.operands[1], seen)]
    if function in _SUBSCRIPTS:
        return [{1: known} for known in _dicts(call.operands[1])]
    if function not in _NUMERIC and not (function is not None and is_scalar(function)):
        return ()
    operands = call.operands[1:]
    unknown = [i for i, value in enumerate(operands, 1) if type_of(value) is ANY]
    if not unknown or not all(type_of(value) is ANY or members(type_of(value)) for value in operands):
        return ()
    if function in _ARITHMETIC and unknown[0] == 1 and (classes := _classes(operands[0], seen)):
        return [{1: known} for known in classes]
    if not all(_may_be_float(call.operands[i], seen) for i in unknown):
        return ()
    reals = [_reals(call.operands[i], seen) for i in unknown]
    if not all(reals):
        return [dict.fromkeys(unknown, known) for known in usual]
    return _of_numbers(unknown, reals)


def _of_numbers(places: Sequence[int], reals: Sequence[Sequence[Exact]]) -> Sequence[Tests]:
    """The ways for operands at these `places` that were seen to be these `reals`: for each kind of numbers
    that they all may be, and then for what is mixed."""
    ways = [dict(zip(places, known, strict=True)) for known in itertools.product(*reals)]
    ways.sort(key=lambda tests: len({*tests.values()}))
    return ways[:_MOST_WAYS]


_MOST_WAYS = 4


def _reals(value: Value, seen: Callable[[Value], Seen | None]) -> Sequence[Exact]:
    """The kinds of numbers that `value` was seen to be; none if nothing is known of it."""
    found = seen(value)
    return found.reals if found is not None else ()


def _classes(value: Value, seen: Callable[[Value], Seen | None]) -> Sequence[Exact]:
    """The classes in Python that `value`, of unknown type, was seen to have."""
    found = seen(value) if type_of(value) is ANY else None
    return () if found is None else [known for known in found.callables.kinds if isinstance(known, Exact)]


def _dicts(value: Value) -> Sequence[Exact]:
    """The classes of dicts that come together in `value`, of unknown type; none if other things do."""
    if type_of(value) is not ANY or not isinstance(value, Phi):
        return ()
    found, waiting, met = dict[Exact, None](), [value], {value}
    while waiting:
        for operand in waiting.pop().operands.values():
            known = type_of(operand)
            if isinstance(operand, Phi) and known is ANY:
                if operand not in met:
                    met.add(operand)
                    waiting.append(operand)
            elif isinstance(known, Exact) and known.cls in _DICTS:
                found[known] = None
            else:
                return ()
    return [*found]


def _may_be_float(value: Value, seen: Callable[[Value], Seen | None]) -> bool:
    """Whether `value` may be a float, as far as was seen: neither an object in Python nor an array."""
    found = seen(value)
    return found is None or (
        not found.callables.kinds and (found.guess is None or members(found.guess) is not None)
    )


def _split(graph: Graph, call: Instruction, ways: Sequence[Tests]) -> None:
    block = call.block
    assert block is not None
    protect = take_handler(block)
    at = block.instructions.index(call)
    done = graph.cut(block, at + 1, f"{block.label}.done")
    result: Value = Const(None)
    if target(call) not in _WRITES:
        result = Phi(done, ANY, call.name)
        done.phis.append(result)
        graph.replace_uses({call: result})
    del block.instructions[at:]
    builder = Builder(graph, block)
    builder.position = call.position
    for tests in ways:
        other = graph.add_block(f"{block.label}.other")
        operands = list(call.operands)
        for i, known in tests.items():
            one = graph.add_block(f"{block.label}.known")
            value = call.operands[i]
            builder.branch(
                builder.call(intrinsics._class_is_, value, Const(known.cls), type=BOOL), one, other
            )
            builder.block = one
            operands[i] = builder.call(intrinsics._assume_, value, Const(known), type=known)
        made = builder.call(operands[0], *operands[1:], type=call.type if result.__class__ is Const else ANY)
        if isinstance(result, Phi):
            result.operands[builder.block] = made
        protect(builder.block)
        builder.jump(done)
        builder.block = other
    builder.block.append(call)
    protect(builder.block)
    if isinstance(result, Phi):
        result.operands[builder.block] = call
    builder.jump(done)
