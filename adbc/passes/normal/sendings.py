"""Who sends a value to a generator asks it for the next one, and who closes it ends it.

before::                                     after, with what is sent beside the step::

    %1 = call _getattr_(%g, 'send')              jump loop
    %2 = call %1(%v)                         loop:
    %3 = call operator.mul(%2, 2.0)              %2 = call _next_(%g)         sent: %v
                                                 %4 = call _exhausted_(%2)
                                                 branch %4, none, body
                                             none:
                                                 raise builtins.StopIteration
                                             body:
                                                 %3 = call operator.mul(%2, 2.0)

Where all that takes from a generator are such steps and loops, the generator can be written in with its state
(`generator_states`): what a yield gives inside is what was sent to go on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import take_handler
from adbc.ir.intrinsics import _getattr_, _next_
from adbc.ir.terminators import Jump, Raise
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.inline_calls import put_graph, split
from adbc.passes.query import constant, target

__all__ = ["Method", "ask", "close", "method_of"]


class Method(NamedTuple):
    """The method called `name` of a generator, the attribute as it was read, and its calls."""

    name: str
    read: Instruction
    calls: Sequence[Instruction]


_ARGUMENTS = {"send": 1, "close": 0}


def method_of(read: Instruction, users: Mapping[Value, Sequence[object]]) -> Method | None:
    """The method of a generator that `read` reads, if it is one of these and is only called."""
    name = constant(read.operands[2]) if target(read) is _getattr_ else None
    if not isinstance(name, str) or name not in _ARGUMENTS:
        return None
    calls = []
    for call in users.get(read, ()):
        if not isinstance(call, Instruction) or call.op != "call" or call.keywords:
            return None
        if call.operands[0] is not read or call.operands.count(read) != 1:
            return None
        if len(call.operands) != 1 + _ARGUMENTS[name]:
            return None
        calls.append(call)
    return Method(name, read, calls)


def ask(graph: Graph, method: Method, asking: Graph, values: Sequence[Value]) -> dict[Instruction, Value]:
    """Let the calls of the method ``send`` ask by `asking`, a function that takes one value from what is
    among its arguments, `values`, or raises `StopIteration`; returns the steps by which they do, with
    what they send."""
    sent: dict[Instruction, Value] = {}
    for call in method.calls:
        known = {i for i in graph.instructions() if target(i) is _next_}
        put_graph(graph, call, asking, values)
        (step,) = (i for i in graph.instructions() if target(i) is _next_ and i not in known)
        sent[step] = call.operands[1]
    _remove(method.read)
    return sent


def close(graph: Graph, method: Method) -> list[Block]:
    """Take away the calls of the method ``close``; returns the blocks at whose ends they were made."""
    places = []
    for call in method.calls:
        block = call.block
        assert block is not None
        give = take_handler(block)
        behind = split(graph, block, block.instructions.index(call))
        if isinstance(behind.terminator, Raise):
            give(behind)
        block.terminator = Jump(behind, call.position)
        graph.replace_uses({call: Const(None)})
        places.append(block)
    _remove(method.read)
    return places


def _remove(read: Instruction) -> None:
    block = read.block
    assert block is not None
    if read is block.instructions[-1] and not isinstance(block.terminator, Raise):
        take_handler(block)
    block.instructions.remove(read)
