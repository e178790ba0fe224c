"""Exceptions in reverse mode: they become values before anything is reversed.

An exception that a handler catches is control flow, and its reverse is control flow too.  The
difficulty is a callee that raised half way: what it had done by then must be reversed as well.
So a call in a protected region is *attempted*: it returns its result or a `Raised`, and in the second
case the exception is raised again here, by a plain `Raise` into the handler::

    a.call: handler h                 a.call:
        %2 = call f(%1)                   %r = call _attempt_(f, %1)
        jump a.done                       %k = call _is_raised_(%r)
                                          branch %k, a.raised, a.done
                                      a.raised: handler h
                                          %e = call _exception_(%r)
                                          raise %e
                                      a.done:
                                          %2 = call _assume_(%r, type)

and a Python function that is called so is built in a variant that returns instead of raising
(`return_exceptions`): an exception is one more way to return, its records are written there like
those of any exit, and its pullback reverses exactly what had been done.  Functions that are not called
from a protected region are built as ever and pay nothing.

Calls of C functions are taken to do all or nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import edge_values, forget_handler
from adbc.ir.ops import PURE
from adbc.ir.terminators import Jump, Raise, Unreachable
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.protected import is_isolated, isolate, landing_pads
from adbc.types.array_calls import is_inline_number
from adbc.types.callsites import CallSite, called
from adbc.types.derived import EXCEPTION, RAISED, merge
from adbc.types.inference import call_parts, can_only_raise, type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import ANY, BOOL, IteratorType, TupleType, class_of

__all__ = ["attempt_calls", "has_handlers", "return_exceptions"]

_ATTEMPTED = (Kind.DERIVED, Kind.DYNAMIC, Kind.TEXT)
"""What may have done something when it raises.  The other calls do all or nothing, so their exceptions take
the edge that is there."""


def has_handlers(graph: Graph) -> bool:
    """Whether `graph` has an exceptional edge."""
    return any(block.handler is not None for block in graph.blocks)


def return_exceptions(graph: Graph) -> Graph:
    """Make `graph` return a `Raised` where it would raise, in place."""
    exit = graph.add_block("raised")
    for block in [b for b in graph.blocks if b is not exit]:
        if block.handler is None:
            _protect(graph, block, exit)
    builder = Builder(graph, exit)
    caught = builder.emit("catch", type=EXCEPTION)
    builder.ret(builder.call(intrinsics._raised_, caught, type=RAISED))
    if not any(block.handler is exit for block in graph.blocks):
        graph.blocks.remove(exit)
    return graph


def _protect(graph: Graph, block: Block, exit: Block) -> None:
    """Cut `block` behind each instruction that may raise, and lead exceptions to `exit`."""
    rest = block.instructions
    block.instructions = []
    end = block.terminator
    current = block
    for instruction in rest:
        current.append(instruction)
        if may_raise(instruction):
            following = graph.add_block(f"{block.label}.on")
            current.handler = exit
            current.terminator = Jump(following, instruction.position)
            current = following
    current.terminator = end
    if isinstance(end, Raise):
        current.handler = exit
    if current is not block:
        for successor in end.successors:
            for phi in successor.phis:
                if block in phi.operands:
                    phi.operands[current] = phi.operands.pop(block)


_SAFE_ARITHMETIC = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.lt, operator.le,
        operator.gt, operator.ge, operator.eq, operator.ne, operator.iadd, operator.isub, operator.imul,
    }
)  # fmt: skip
_SAFE = PURE | {
    intrinsics._is_raised_, intrinsics._exception_, intrinsics._assume_, intrinsics._cell_set_,
    intrinsics._raised_, intrinsics._list_append_, intrinsics._instance_, intrinsics._init_field_,
    intrinsics._class_is_, intrinsics._form_is_, intrinsics._array_is_, intrinsics._code_is_,
    intrinsics._method_is_,
}  # fmt: skip
_SAFE_FUNCTIONS: tuple[Any, ...] = (min, max, abs)
"""Functions that give a real number for real numbers, whatever these are."""
_REAL = frozenset({bool, int, float})


def may_raise(instruction: Instruction) -> bool:
    """Whether `instruction` can raise an exception, as far as types tell."""
    found = called(instruction)
    if found is None:
        return instruction.op == "call"
    function, arguments = found
    if function in _SAFE:
        return False
    if function in _SAFE_ARITHMETIC:
        return not all(is_inline_number(type_of(a)) for a in arguments)
    if function in _SAFE_FUNCTIONS and not instruction.keywords:
        is_one_too_few = function is not abs and len(arguments) < 2
        return is_one_too_few or not all(class_of(type_of(a)) in _REAL for a in arguments)
    if function is intrinsics._bool_:
        return not is_inline_number(type_of(arguments[0]))
    if function is intrinsics._new_:
        kind = arguments[0].value if isinstance(arguments[0], Const) else None
        if kind is dict:  # a key may have no hash
            return not all(isinstance(key, Const) and type(key.value) is str for key in arguments[1::2])
        return kind not in (tuple, list, slice)
    if function in (intrinsics._iter_, intrinsics._next_):
        return not isinstance(type_of(arguments[0]), IteratorType)
    if function in (intrinsics._project_, intrinsics._unpack_):
        return not isinstance(type_of(arguments[0]), TupleType) or can_only_raise(instruction)
    return True


def attempt_calls(graph: Graph, sites: Callable[[], dict[Instruction, CallSite]]) -> Graph:
    """Isolate what may raise into a handler, and attempt calls that need it, in place.

    `sites` says what becomes of each call; it is asked once the graph has been cut.
    """
    if not has_handlers(graph):
        return graph
    # With types it is known of more instructions than it was without that they do not raise.
    for block in graph.blocks:
        if block.handler is None or isinstance(block.terminator, Raise):
            continue
        if not block.instructions or not may_raise(block.instructions[-1]):
            forget_handler(block)
    remove_unreachable(graph)
    isolate(graph)
    for block in graph.blocks:
        if block.handler is not None and isinstance(block.terminator, Raise) and not block.instructions:
            _fill(graph, block, block.terminator)
    kinds = sites()
    replaced: dict[Value, Value] = {}
    for block in [b for b in graph.blocks if is_isolated(b)]:
        (call,) = block.instructions
        if call.op == "call" and kinds[call].kind in _ATTEMPTED:
            replaced[call] = _attempt(graph, block, call, is_derived=kinds[call].kind is Kind.DERIVED)
    graph.replace_uses(replaced)
    return landing_pads(graph)


def _fill(graph: Graph, block: Block, end: Raise) -> None:
    """Let the exception that `end` raises pass through two calls in `block`, which has no instructions.

    Records are written at the beginning of blocks, and what stands last in a protected block cannot be seen
    by its handler.
    """
    builder = Builder(graph, block)
    builder.position = end.position
    packed = builder.call(intrinsics._raised_, end.exception or Const(None), type=RAISED)
    error = builder.call(intrinsics._exception_, packed, type=EXCEPTION)
    if end.exception is not None:
        end.exception = error


def _attempt(graph: Graph, block: Block, call: Instruction, *, is_derived: bool) -> Value:
    """Attempt `call`, which stands alone in `block`; gives what stands for its result.

    is_derived: the rule of a function is called as it is.  What it raises comes back, but there may be no
    room on the stack to enter it, so the exceptional edge stays.
    """
    handler = block.handler
    assert handler is not None and isinstance(block.terminator, Jump)
    done = block.terminator.target
    callee, arguments = call_parts(call)
    block.instructions = []
    builder = Builder(graph, block)
    builder.position = call.position
    known = merge(type_of(call), RAISED)
    answer = builder.call(intrinsics._attempt_, callee, *arguments, keywords=call.keywords, type=known)
    values = edge_values(block)
    if is_derived:
        builder.block = graph.add_block(f"{block.label}.back")
        block.terminator = Jump(builder.block, call.position)
    else:
        forget_handler(block)
    raised = graph.add_block(f"{block.label}.raised")
    builder.branch(builder.call(intrinsics._is_raised_, answer, type=BOOL), raised, done)
    builder.block = raised
    error = builder.call(intrinsics._exception_, answer, type=EXCEPTION)
    again = builder.block = graph.add_block(f"{block.label}.again")
    raised.terminator = Jump(again, call.position)
    builder.call(intrinsics._go_on_raising_, error)
    again.handler = handler
    again.terminator = Jump(graph.add_block(f"{again.label}.done"), call.position)
    again.terminator.target.terminator = Unreachable()
    for phi, value in values.items():
        phi.operands[again] = value
    result = Instruction(
        "call",
        [Const(intrinsics._assume_), answer, Const(call.type if call.type is not None else ANY)],
        type=call.type,
        position=call.position,
        name=call.name,
    )
    result.block = done
    done.instructions.insert(0, result)
    return result
