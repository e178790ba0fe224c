"""Delegation to an iterator is a loop that yields, where the generator is only ever asked for its next value.

before::                                    after::

    loop:                                       loop:
        %1 = phi [b: None, more: %6]                %2 = call _next_(%it)
        %2 = call _send_(%it, %1)                   %3 = call _exhausted_(%2)
        %3 = call _project_(%2, 0)                  branch %3, done, more
        %4 = call _bool_(%3)                    more:
        %5 = call _project_(%2, 1)                  call _yield_(%2)
        branch %4, done, more                       jump loop
    more:
        %6 = call _yield_from_(%5, %it)
        jump loop

Nothing is sent or thrown into such a generator, so nothing has to be passed on.  For generators of which a
copy is written into what consumes them (`consumed_generators`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import forget_handler
from adbc.ir.intrinsics import (
    _bool_,
    _exhausted_,
    _next_,
    _project_,
    _reraise_,
    _send_,
    _yield_,
    _yield_from_,
)
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import remove_unreachable, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import constant, target

__all__ = ["are_loops", "passes_on", "without_delegations"]


class _Delegation(NamedTuple):
    """The parts of one delegation: where it sends, what that gives, and where it yields."""

    received: Phi
    sends: Instruction
    has_finished: Instruction
    test: Instruction
    value: Instruction
    yields: Instruction


def are_loops(graph: Graph) -> bool:
    """Whether every delegation in a generator in normal form may become a loop: nobody wants to know what
    the other iterator returns."""
    users = uses(graph)
    return all(_delegation(call, users) is not None for call in _delegating(graph))


def without_delegations(graph: Graph) -> bool:
    """Make loops of all delegations, in place; returns whether there were any."""
    found_any = False
    for call in _delegating(graph):
        found_any = True
        found = _delegation(call, uses(graph))
        assert found is not None
        _make_loop(graph, found)
    return found_any


def _delegating(graph: Graph) -> list[Instruction]:
    return [call for call in graph.instructions() if target(call) is _yield_from_]


def _delegation(call: Instruction, users: Mapping[Value, Sequence[object]]) -> _Delegation | None:
    value, iterator = call.operands[1:]
    block = call.block
    assert block is not None
    if not (block.handler is None or passes_on(block.handler)):
        return None
    if block.instructions != [call] or not isinstance(block.terminator, Jump):
        return None
    head = block.terminator.target
    received = next((phi for phi in head.phis if phi.operands.get(block) is call), None)
    if received is None or head.handler is not None or list(users.get(call, ())) != [received]:
        return None
    if any(constant(v) is not None for source, v in received.operands.items() if source is not block):
        return None
    sends = head.instructions[0]
    if target(sends) is not _send_ or sends.operands[1:] != [iterator, received]:
        return None
    if list(users.get(received, ())) != [sends] or len(head.instructions) != 4:
        return None
    parts = {target(i): i for i in head.instructions[1:]}
    branch = head.terminator
    test = parts.get(_bool_)
    if (
        test is None
        or not isinstance(branch, Branch)
        or branch.condition is not test
        or branch.false is not block
    ):
        return None
    projections = [i for i in head.instructions if target(i) is _project_ and i.operands[1] is sends]
    if [constant(i.operands[2]) for i in projections] not in ([0, 1], [1, 0]):
        return None
    has_finished, given = sorted(projections, key=lambda i: constant(i.operands[2]) == 1)
    if given is not value or list(users.get(given, ())) != [call] or test.operands[1] is not has_finished:
        return None
    return _Delegation(received, sends, has_finished, test, given, call)


def passes_on(handler: Block) -> bool:
    """Whether `handler` does nothing but raise again, as that of a delegation does from CPython 3.12 on."""
    return [target(i) for i in handler.instructions[1:]] == [_reraise_] and handler.handler is None


def _make_loop(graph: Graph, found: _Delegation) -> None:
    head: Block = found.received.block
    head.phis.remove(found.received)
    found.sends.operands = [Const(_next_), found.sends.operands[1]]
    found.test.operands = [Const(_exhausted_), found.sends]
    found.yields.operands = [Const(_yield_), found.sends]
    head.instructions = [found.sends, found.test]
    block = found.yields.block
    assert block is not None
    if block.handler is not None:
        forget_handler(block)
        remove_unreachable(graph)
