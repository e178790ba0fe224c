"""What is in a cell of a closure is read in front of a loop in which nobody can set it.

before::

        jump loop
    loop:
        ...
        %v = call _cell_get_(%c, 'v', True)
        %t = call _class_is_(%v, list)
        branch %t, typed, otherwise
    typed:
        %l: list = call _assume_(%v, list)
        ...
    otherwise:                                  # the rest of the function, without the guess
        %1 = call _observe_(<site>, %v)
        %2 = call <rest>(..., %v)

after::

        %p = call _cell_peek_(%c)
        jump loop
    loop:
        ...
        %t = call _class_is_(%p, list)
        branch %t, typed, otherwise
    typed:
        %l: list = call _assume_(%p, list)
        ...
    otherwise:
        %1 = call _observe_(<site>, %p)
        %v = call _cell_get_(%c, 'v', True)
        %2 = call <rest>(..., %v)

A look into an empty cell gives something of no class that is guessed, so that the error of an empty cell
comes where it came before: a loop may not be entered at all.  A closure reads its variables again and again;
each time that costs a call, the way to what stands beside it, and a test.

Only functions written in Python can set a cell, so a loop in which none is called is one in which the cell
stays as it is.  So is any loop if nobody but the function around this one sets the variable.  Needs types,
and the tests of guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import Loop, natural_loops
from adbc.ir.terminators import Branch, Jump, Return
from adbc.ir.traverse import predecessors, remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.passes.typed.known_slots import is_kept_cell
from adbc.types.quiet_calls import is_quiet

__all__ = ["hoist_cell_reads"]

_TESTS = (intrinsics._class_is_, intrinsics._form_is_, intrinsics._code_is_)


def hoist_cell_reads(graph: Graph, is_field: Callable[[type, str], bool], kept: Collection[int] = ()) -> bool:
    """Read cells in front of loops where that is possible, in place; returns whether anything changed.

    is_field: of which attributes of instances of a class it is known that to read or set them runs no code.
    kept: the numbers of the free variables that nobody sets while the function runs.
    """
    reads = [call for call in graph.instructions() if target(call) is intrinsics._cell_get_]
    if not reads:
        return False
    loops = natural_loops(graph)
    if not loops.all:
        return False
    hoisting = _Hoisting(graph, loops.innermost, is_field, kept)
    hoisted = [hoisting.hoist(read) for read in reads]
    hoisting.drop_repeated_tests()
    return any(hoisted)


class _Hoisting:
    def __init__(
        self,
        graph: Graph,
        innermost: dict[Block, Loop],
        is_field: Callable[[type, str], bool],
        kept: Collection[int],
    ) -> None:
        self.graph = graph
        self.kept = kept
        self.is_field = is_field
        self.innermost = innermost
        self.sources = predecessors(graph)
        self.dominators = Dominators(graph)
        self.users: dict[Value, list[tuple[Block, object]]] = {}
        self.quiet: dict[Loop, bool] = {}
        self.peeks: dict[tuple[Loop, Value], Instruction] = {}
        self.tests: dict[tuple[Value, object], list[Block]] = {}
        """By what was peeked at and what it is tested for, the blocks that end with the test."""
        for block in graph.blocks:
            for phi in block.phis:
                for source, value in phi.operands.items():
                    self.users.setdefault(value, []).append((source, phi))
            for instruction in block.instructions:
                for value in instruction.operands:
                    self.users.setdefault(value, []).append((block, instruction))
            for value in block.terminator.values:
                self.users.setdefault(value, []).append((block, block.terminator))

    def hoist(self, read: Instruction) -> bool:
        """Have `read` read in front of the outermost loop possible; returns whether there was one."""
        block, cell = read.block, read.operands[1]
        assert block is not None
        otherwise = self._rest(read, block)
        loop = None if otherwise is None else self._loop(block, cell)
        if otherwise is None or loop is None:
            return False
        peek = self.peeks.get((loop, cell))
        if peek is None:
            peek = self.peeks[loop, cell] = self._peek(loop, read)
        test: Any = block.terminator.condition  # type: ignore[attr-defined]  # a branch
        self.tests.setdefault((peek, (test.operands[0].value, _tested(test))), []).append(block)
        block.instructions.remove(read)
        self.graph.replace_uses({read: peek})
        again = Instruction("call", list(read.operands), type=read.type, position=read.position)
        again.name = read.name
        again.block = otherwise
        otherwise.instructions.insert(1, again)
        for call in otherwise.instructions[2:]:
            call.operands = [again if value is peek else value for value in call.operands]
        return True

    def drop_repeated_tests(self) -> None:
        """Drop tests behind others of the same value that have said yes."""
        dropped = False
        for blocks in self.tests.values():
            for block in blocks:
                branch: Any = block.terminator
                if any(
                    self.dominators.dominates(other.terminator.true, block)
                    for other in blocks
                    if other is not block and isinstance(other.terminator, Branch)
                ):
                    block.instructions.remove(branch.condition)
                    block.terminator = Jump(branch.true, position=branch.position)
                    dropped = True
        if dropped:
            remove_unreachable(self.graph)

    def _rest(self, read: Instruction, block: Block) -> Block | None:
        """The block that goes on with the rest of the function where the guess of what `read` gives is wrong,
        if that is tested at once, and what was read is used nowhere else but where the guess is right."""
        branch = block.terminator
        if not isinstance(branch, Branch) or block.handler is not None:
            return None
        test, typed, otherwise = branch.condition, branch.true, branch.false
        if target(test) not in _TESTS or test.operands[1] is not read:  # type: ignore[attr-defined]  # a call
            return None
        if self.sources[otherwise] != [block] or self.sources[typed] != [block]:
            return None
        steps = otherwise.instructions
        is_rest = isinstance(otherwise.terminator, Return) and len(steps) > 1
        if not is_rest or target(steps[0]) is not intrinsics._observe_:
            return None
        for at, user in self.users[read]:
            is_there = user is test or at is otherwise or self.dominators.dominates(typed, at)
            if not is_there or user is otherwise.terminator:
                return None
        return otherwise

    def _loop(self, block: Block, cell: Value) -> Loop | None:
        """The outermost loop around `block` in front of which `cell` is known and in which nobody sets it."""
        found = None
        loop = self.innermost.get(block)
        while loop is not None and (is_kept_cell(cell, self.kept) or self._is_quiet(loop)):
            if getattr(cell, "block", None) in loop.blocks:
                break
            if self._front(loop) is not None:
                found = loop
            loop = loop.parent
        return found

    def _is_quiet(self, loop: Loop) -> bool:
        if loop not in self.quiet:
            self.quiet[loop] = all(
                is_quiet(call, self.is_field) for block in loop.blocks for call in block.instructions
            )
        return self.quiet[loop]

    def _front(self, loop: Loop) -> Block | None:
        """The block that leads to `loop`, if there is only one."""
        outside = [block for block in self.sources[loop.header] if block not in loop.blocks]
        return outside[0] if len(outside) == 1 and outside[0].handler is None else None

    def _peek(self, loop: Loop, read: Instruction) -> Instruction:
        front = self._front(loop)
        assert front is not None
        operands = [Const(intrinsics._cell_peek_), read.operands[1]]
        peek = Instruction("call", operands, type=read.type, position=read.position)
        peek.name = read.name
        peek.block = front
        front.instructions.append(peek)
        return peek


def _tested(test: Instruction) -> object:
    """What a test of a guess asks for."""
    asked = test.operands[2]
    return asked.value if isinstance(asked, Const) else asked
