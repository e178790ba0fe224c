"""The loops of ``yield from``, each made one instruction again.

In a graph the loop is spelt out, so that derivatives see every step.  The interpreter wants it in one
piece, with the inner iterator on top of the stack while the generator sleeps: that is where `throw`,
`close` and `gi_yieldfrom` look for it.

before::

    a:                                  b: handler cleanup
        %1 = call _iter_(%x)                %6 = call _yield_from_(%5, %1)
        jump loop                           jump loop
    loop:                               cleanup:
        %2 = phi [a: None, b: %6]           %7 = catch
        %3 = call _send_(%1, %2)            %8 = call _reraise_(%7)
        %4 = call _project_(%3, 0)          unreachable
        %5 = call _project_(%3, 1)      done:
        %9 = call _bool_(%4)                return %5
        branch %9, done, b

after::

    a:                                  done:
        %1 = call iterator(%x)              return %2
        jump loop
    loop:
        %2 = call delegate(%1, None)
        jump done

The result is made for emission only: the functions in it stand for instructions and nobody calls them.
"""

from __future__ import annotations

from typing import Any, NoReturn

from adbc.errors import VerificationError
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _bool_, _iter_, _project_, _reraise_, _send_, _yield_, _yield_from_
from adbc.ir.ops import call_form
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import User, copy_graph, remove_unreachable, uses
from adbc.ir.values import Const, Instruction, Phi, Value

__all__ = ["delegate", "delegated", "iterator_to_delegate_to"]


def delegate(iterator: object, sent: object) -> NoReturn:
    """``yield from`` of `iterator`, to which `sent` is sent first; the result is what the iterator
    returns."""
    raise AssertionError("delegate is an instruction")


def iterator_to_delegate_to(iterable: object) -> NoReturn:
    """The iterator of what stands behind ``yield from``."""
    raise AssertionError("iterator_to_delegate_to is an instruction")


def delegated(graph: Graph) -> Graph:
    """`graph` if nothing in it is a ``yield from``, else a copy with `delegate` in place of the loops."""
    functions = set(map(_function, graph.instructions())) & {_yield_, _yield_from_}
    if functions and not graph.is_generator:
        raise VerificationError(f"graph {graph.name} yields, but is not a generator")
    if _yield_from_ not in functions:
        return graph
    graph, _, _ = copy_graph(graph)
    remove_unreachable(graph)
    for suspension in [x for x in graph.instructions() if _function(x) is _yield_from_]:
        loop = _Loop(graph, suspension)
        if not loop.is_found():
            raise VerificationError(
                f"graph {graph.name} suspends for an inner iterator outside of a loop that sends to it:"
                f"\n\n{graph}"
            )
        loop.replace()
    return graph


def _function(instruction: Instruction) -> Any:
    """The plain function that `instruction` calls, else None."""
    if instruction.op == "call":
        callee = instruction.operands[0]
    elif instruction.op == "catch":
        return None
    else:
        callee = call_form(instruction)[0]
    function = callee.value if isinstance(callee, Const) else None
    return function if type(function) is type(delegate) else None


def _arguments(instruction: Instruction) -> list[Value]:
    return call_form(instruction)[1:]


class _Loop:
    """The loop around one suspension."""

    header: Block
    test: Branch
    sent: Phi
    send: Instruction
    value: Instruction
    last: Block

    def __init__(self, graph: Graph, suspension: Instruction) -> None:
        self.graph = graph
        self.suspension = suspension
        self.predecessors = graph.predecessors()
        self.users = uses(graph)
        self.body: set[Block] = set()

    def is_found(self) -> bool:
        """Whether this is the loop that the compiler writes, and nothing in it is of use outside."""
        value, iterator = _arguments(self.suspension)
        if not isinstance(value, Instruction) or not self._is_part(value, 1):
            return False
        send = _arguments(value)[0]
        if not isinstance(send, Instruction) or _function(send) is not _send_:
            return False
        self.value, self.send = value, send
        inner, sent = _arguments(send)
        assert send.block is not None
        self.header = send.block
        if inner is not iterator or not isinstance(sent, Phi) or self.header.phis != [sent]:
            return False
        self.sent = sent
        return self._walk() and self._is_closed()

    def _is_part(self, value: Value, number: int) -> bool:
        if not isinstance(value, Instruction) or _function(value) is not _project_:
            return False
        index = _arguments(value)[1]
        return isinstance(index, Const) and index.value == number

    def _walk(self) -> bool:
        """Walk the body of the loop, from the header to the test and on to the suspension and back; False
        if it is not as expected."""
        block = self.header
        tested = False
        while True:
            if block in self.body or (block is not self.header and len(self.predecessors[block]) != 1):
                return False
            if block is not self.header and block.phis:
                return False
            self.body.add(block)
            if not all(self._belongs(x) for x in block.instructions):
                return False
            terminator = block.terminator
            if isinstance(terminator, Branch) and not tested:
                tested = True
                self.test, self.last = terminator, block
                condition = terminator.condition
                if not isinstance(condition, Instruction) or _function(condition) is not _bool_:
                    return False
                finished = _arguments(condition)[0]
                if not self._is_part(finished, 0) or _arguments(finished)[0] is not self.send:  # type: ignore[arg-type]
                    return False
                block = terminator.false
            elif isinstance(terminator, Jump):
                block = terminator.target
            else:
                return False
            if block is self.header:
                return tested and self.suspension.block in self.body

    def _belongs(self, instruction: Instruction) -> bool:
        if instruction is self.send or instruction is self.suspension:
            return True
        return _function(instruction) in (_project_, _bool_)

    def _is_closed(self) -> bool:
        """Whether all exceptions go where those of the header go, and only `value` is used outside of the
        loop."""
        home = self.header.handler
        for block in self.body:
            handler = block.handler
            if handler is not None and handler is not home and not self._passes_on(handler, home):
                return False
            for value in (*block.phis, *block.instructions):
                outside = any(self._place(user) not in self.body for user in self.users[value])
                if outside and value is not self.value:
                    return False
        found = [phi.operands[self.header] for phi in home.phis] if home is not None else []
        inside = {x for block in self.body for x in (*block.phis, *block.instructions)}
        back = {self.sent.operands[source] for source in self.sent.operands if source in self.body}
        return inside.isdisjoint(found) and back == {self.suspension}

    def _passes_on(self, handler: Block, home: Block | None) -> bool:
        """Whether `handler` raises what it caught to `home` and does nothing else."""
        if handler.handler is not home or len(handler.instructions) != 2:
            return False
        caught, again = handler.instructions
        return caught.op == "catch" and _function(again) is _reraise_ and _arguments(again) == [caught]

    def _place(self, user: User) -> Block | None:
        if isinstance(user, (Phi, Instruction)):
            return user.block
        return next(block for block in self.graph.blocks if block.terminator is user)

    def replace(self) -> None:
        header, done = self.header, self.test.true
        entries = {b: v for b, v in self.sent.operands.items() if b not in self.body}
        first: Value = self.sent
        header.instructions = []
        if len(entries) == 1:
            (first,) = entries.values()
            header.phis = []
        else:
            self.sent.operands = entries
        iterator = _arguments(self.send)[0]
        result = Instruction("call", [Const(delegate), iterator, first])
        result.position = self.send.position
        header.append(result)
        header.terminator = Jump(done, self.send.position)
        if self.last is not header:
            for phi in done.phis:
                phi.operands[header] = phi.operands.pop(self.last)
        self.graph.replace_uses({self.value: result})
        remove_unreachable(self.graph)
        if (
            isinstance(iterator, Instruction)
            and _function(iterator) is _iter_
            and set(self.users[iterator]) == {self.send, self.suspension}
        ):
            iterator.op, iterator.operands = "call", [Const(iterator_to_delegate_to), *_arguments(iterator)]
