"""Handlers that end an exception let refusals pass; those that only clean up are entered with them.

A refusal of adbc's says that there is no derivative, and an ``except`` clause that took it for an error of
the user's would give that of another path.  But what stands in ``finally``, and ``__exit__`` of a ``with``
statement, has to run, or locks stay locked and settings changed.  A handler of the first kind ends the
handling of the exception somewhere and goes on (`_pop_except_` outside of handlers).  It begins with
`_pass_on_` now, which raises a refusal again.

before::

    h: handler h.cleanup                    h.cleanup: ...
        %1 = catch
        %2 = call _push_exc_info_(%1)
        ...

after::

    h: handler h.cleanup                    h.on: handler h.cleanup
        %1 = catch                              ...
        %2 = call _push_exc_info_(%1)
        call _pass_on_(%1)
        jump h.on

A ``with`` statement is both: `_pass_on_` stands behind ``__exit__``, whose answer may end any exception but
a refusal.  It is known by its call ``leave(type(e), e, e.__traceback__)``, or by the `thrown` that `managers`
has made of that, in front of every place where `e` ends; who writes this out by hand means the same.
``finally`` with a ``return`` of its own cannot be told from ``except`` and is passed by.

Needs normal form, in which nothing is isolated yet: handlers begin with ``catch``.
"""

from __future__ import annotations

from collections.abc import Sequence

from adbc.ir.builder import Builder
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import forget_handler, is_idle
from adbc.ir.intrinsics import (
    UNBOUND,
    _getattr_,
    _pass_on_,
    _pop_except_,
    _push_exc_info_,
    _release_,
    _reraise_,
)
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Jump
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.managers import thrown
from adbc.passes.query import constant, target

__all__ = ["pass_by_handlers"]


def pass_by_handlers(graph: Graph) -> Graph:
    """Let refusals pass the handlers of `graph` that may end an exception, in place."""
    handlers = dict.fromkeys(b.handler for b in graph.blocks if b.handler is not None)
    if not handlers:
        return graph
    users: dict[Value, list[Instruction]] = {}
    for instruction in graph.instructions():
        for operand in instruction.operands:
            users.setdefault(operand, []).append(instruction)
    dominators: Dominators | None = None
    for handler in handlers:
        caught = handler.instructions[0]
        pushed = [u for u in users.get(caught, ()) if target(u) is _push_exc_info_]
        if not pushed:
            if any(target(u) not in (_reraise_, _release_) for u in users.get(caught, ())):
                _insert(graph, caught, caught)
            continue
        ends = _ends(users.get(pushed[0], ()), handlers)
        if not ends:
            continue
        dominators = dominators or Dominators(graph)
        asked = [u for u in users[caught] if _is_exit(u, caught)]
        if len(asked) == 1 and all(dominators.dominates(_home(asked[0]), end) for end in ends):
            _insert(graph, caught, asked[0])
        else:
            _insert(graph, caught, pushed[0])
    return graph


def _home(instruction: Instruction) -> Block:
    assert instruction.block is not None
    return instruction.block


def _ends(users: Sequence[Instruction], handlers: dict[Block, None]) -> list[Block]:
    """The blocks in which the handling of an exception ends without another exception."""
    return [_home(u) for u in users if target(u) is _pop_except_ and _home(u) not in handlers]


def _is_exit(call: Instruction, caught: Value) -> bool:
    """Whether `call` is ``leave(type(e), e, e.__traceback__)`` of the exception `caught`, or throws it
    into the generator of a manager."""
    if call.op != "call" or len(call.operands) != 4 or call.operands[2] is not caught:
        return False
    if constant(call.operands[0]) is thrown:
        return True
    traceback = call.operands[3]
    return (
        isinstance(traceback, Instruction)
        and target(traceback) is _getattr_
        and traceback.operands[1] is caught
        and constant(traceback.operands[2]) == "__traceback__"
    )


def _insert(graph: Graph, caught: Instruction, place: Instruction) -> None:
    """Raise `caught` again behind `place` if it is a refusal."""
    block = _home(place)
    handler = block.handler
    at = block.instructions.index(place) + 1
    rest = block.instructions[at:]
    del block.instructions[at:]
    on = _with_end_of(graph, block, rest)
    check = block
    if handler is not None and may_raise(place):
        check = graph.add_block(f"{block.label}.check")
        block.terminator = Jump(check, place.position)
        check.handler = handler
    builder = Builder(graph, check)
    builder.position = place.position
    builder.call(_pass_on_, caught)
    builder.jump(on)
    if handler is None:
        return
    on.handler = handler
    for phi in handler.phis:
        value = phi.operands[on] = phi.operands[block]
        # What is assigned further on has not been assigned yet; only what cleans up could ask.
        phi.operands[check] = Const(UNBOUND) if value in rest else value
    if is_idle(on):
        forget_handler(on)


def _with_end_of(graph: Graph, block: Block, rest: Sequence[Instruction]) -> Block:
    """A new block with the instructions `rest` and the terminator of `block`."""
    on = graph.add_block(f"{block.label}.on")
    for instruction in rest:
        on.append(instruction)
    on.terminator = block.terminator
    for successor in on.terminator.successors:
        for phi in successor.phis:
            if block in phi.operands:
                phi.operands[on] = phi.operands.pop(block)
    return on
