"""``next(it)`` in a ``try`` whose first clause is for `StopIteration` is a step and a test.

before::                                           after::

    loop: handler h                                    loop:
        %1 = call next(%it)                                %1 = call _next_(%it)
        jump body                                          %2 = call _exhausted_(%1)
    h:                                                     branch %2, loop.stop, body
        %2 = catch                                     loop.stop:
        %3 = call _push_exc_info_(%2)                      jump done
        %4 = call _check_exc_match_(%2, StopIteration)
        %5 = call _bool_(%4)
        branch %5, clause, other
    clause:
        %6 = call _pop_except_(%3)
        jump done
    other: handler ...
        %7 = call _reraise_(%2)

So an end that is expected costs no exception, and what is left of the handler is for other errors; where the
clause is the only one, these go by it.  For iterators that `_iter_` gives: of anything else it is not known
whether it is one.  The clause may do little, and must not look at the exception.  For graphs in normal form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import edge_values, forget_handler
from adbc.ir.intrinsics import (
    _bool_,
    _check_exc_match_,
    _exhausted_,
    _iter_,
    _next_,
    _pass_on_,
    _pop_except_,
    _push_exc_info_,
    _reraise_,
)
from adbc.ir.ops import may_raise
from adbc.ir.repair import repair
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import leads_to, remove_unreachable, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.normal.stopping_nexts import is_bare_next
from adbc.passes.query import constant, target

__all__ = ["caught_stops"]

LONGEST = 8
"""A clause with more instructions than this is left alone."""


class _Clause(NamedTuple):
    """The first clause of a handler, if it is for `StopIteration`.

    does: what stands in it, up to `end`, which ends the handling.  others: where an exception goes that the
    clause is not for, None if no handler has it; the handler itself, if it does more than pass it on.
    """

    does: Sequence[Instruction]
    end: Instruction
    others: Block | None


def caught_stops(graph: Graph) -> Graph:
    """Replace each such ``next(it)``, in place."""
    changed = False
    for block in list(graph.blocks):
        if block.handler is None or not block.instructions or not isinstance(block.terminator, Jump):
            continue
        call = block.instructions[-1]
        if not is_bare_next(call) or target(call.operands[2]) is not _iter_:
            continue
        clause = _clause(graph, block.handler)
        if clause is not None:
            _replace(graph, block, call, clause)
            changed = True
    if changed:
        remove_unreachable(graph)
    return graph


def _clause(graph: Graph, handler: Block) -> _Clause | None:
    way, last = _straight(handler)
    at = next((k for k, i in enumerate(way) if target(i) is _check_exc_match_), None)
    if at is None or len(way) - at > 2:
        return None
    caught, pushed, check, test = way[0], way[1], way[at], way[-1]
    if target(pushed) is not _push_exc_info_ or any(target(i) is not _pass_on_ for i in way[2:at]):
        return None
    end = last.terminator
    if not isinstance(end, Branch):
        return None
    if test is not check and (target(test) is not _bool_ or test.operands[1] is not check):
        return None
    if end.condition is not test or check.operands[1] is not caught or not _is_for_stops(check.operands[2]):
        return None
    does: list[Instruction] = []
    for instruction in _straight(end.true)[0]:
        if target(instruction) is _pop_except_ and instruction.operands[1] is pushed:
            others = _others(end.false, caught, pushed, handler)
            clause = _Clause(does, instruction, others)
            return clause if _is_unseen(graph, clause, (caught, pushed), handler) else None
        does.append(instruction)
    return None


def _straight(block: Block) -> tuple[list[Instruction], Block]:
    """The instructions from the start of `block` on, as long as there is one way, and where it ends."""
    way, seen = [*block.instructions], {block}
    while isinstance(block.terminator, Jump) and block.terminator.target not in seen:
        block = block.terminator.target
        if block.phis:
            break
        seen.add(block)
        way += block.instructions
    return way, block


def _is_for_stops(classes: Value) -> bool:
    known = constant(classes)
    each = known if isinstance(known, tuple) else (known,)
    return any(isinstance(cls, type) and issubclass(StopIteration, cls) for cls in each)


def _others(block: Block, caught: Value, pushed: Value, handler: Block) -> Block | None:
    """Where an exception goes that the clause is not for."""
    cleanup = block.handler
    if [target(i) for i in block.instructions] != [_reraise_] or cleanup is None:
        return handler
    if block.instructions[0].operands[1] is not caught or cleanup.phis:
        return handler
    way, _ = _straight(cleanup)
    is_end = [target(i) for i in way[1:]] == [_pop_except_, _reraise_]
    if not is_end or way[1].operands[1] is not pushed or way[2].operands[1] is not way[0]:
        return handler
    assert way[2].block is not None
    return way[2].block.handler


def _is_unseen(graph: Graph, clause: _Clause, known: Sequence[Value], handler: Block) -> bool:
    """Whether nobody looks at the exception behind the start of the clause, and what that does may stand
    without a handler."""
    if len(clause.does) > LONGEST or clause.end.block is None or clause.end.block.handler is not None:
        return False
    if clause.others is not None and any(map(may_raise, clause.does)):
        return False
    if any(value in instruction.operands for instruction in clause.does for value in known):
        return False
    users = uses(graph)
    behind = clause.end.block.successors
    for user in (user for value in known for user in users.get(value, ())):
        block = user.block if isinstance(user, Instruction) else None
        if block is None or (user is not clause.end and leads_to(behind, block, handler)):
            return False
    return True


def _replace(graph: Graph, block: Block, call: Instruction, clause: _Clause) -> None:
    """Let `block`, which `call` ends, test what it has taken."""
    handler, home = block.handler, clause.end.block
    assert handler is not None and home is not None and isinstance(block.terminator, Jump)
    behind = graph.cut(home, home.instructions.index(clause.end) + 1, f"{home.label}.on")
    home.terminator = Jump(behind, clause.end.position)

    call.operands = [Const(_next_), call.operands[2]]
    test = graph.add_block(f"{block.label}.more")
    ended = test.append(Instruction("call", [Const(_exhausted_), call], position=call.position))
    stop = graph.add_block(f"{block.label}.stop")
    goes_on = block.terminator.target
    test.terminator = Branch(ended, stop, goes_on, call.position)
    for phi in goes_on.phis:
        phi.operands[test] = phi.operands.pop(block)
    block.terminator = Jump(test, call.position)

    instead: dict[Value, list[Instruction | Phi]] = {}
    for phi, value in edge_values(block).items():
        known = Phi(stop, phi.type, phi.name)
        known.position = phi.position
        known.operands = {test: value}
        stop.phis.append(known)
        instead[phi] = [phi, known]
    replaced: dict[Value, Value] = {phi: each[1] for phi, each in instead.items()}
    for done in clause.does:
        operands = [replaced.get(value, value) for value in done.operands]
        copy = Instruction("call", operands, keywords=done.keywords, position=done.position, name=done.name)
        replaced[done] = stop.append(copy)
        instead[done] = [done, copy]
    stop.terminator = Jump(behind, clause.end.position)
    if clause.others is None:
        forget_handler(block)
    repair(graph, instead)
