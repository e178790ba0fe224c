"""Arithmetic on numbers is put where its result is used.

before::

    %1 = call operator.mul(%x, %dr)
    %2: float = call operator.mul(%r, %x)
    %3: float = call operator.sub(1.0, %x)
    %4: float = call operator.mul(%2, %3)
    %5 = call operator.mul(%1, %3)

after::

    %3: float = call operator.sub(1.0, %x)
    %2: float = call operator.mul(%r, %x)
    %4: float = call operator.mul(%2, %3)
    %1 = call operator.mul(%x, %dr)
    %5 = call operator.mul(%1, %3)

A value that is computed right before the one instruction that uses it stays on the stack of the interpreter;
any other goes through a local variable.  The builders of rules write tangents between the lines of the
function, in whose order most would be stored.  What moves is arithmetic on Python's floats, and on the
tangents and cotangents of numbers: it has no effect and raises nothing, so that no order is better than
another.  All else keeps its order.

What the pass goes by: an instruction that takes the value of a fixed one comes at once behind that, for it
takes something from the stack and leaves one thing there; an instruction that does not waits for its user.
Values that are used more than once are computed before the expression that wants them first, and what a loop
carries comes last, each behind the last use of what it replaces, so that the two may share a variable.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Return
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.types.lattice import FLOAT, TANGENT

__all__ = ["gather"]

_QUIET = frozenset(
    map(
        id,
        (
            operator.add, operator.sub, operator.mul, operator.neg, operator.pos,
            operator.iadd, operator.isub, operator.imul, intrinsics._product_, float,
        ),
    )
)  # fmt: skip
"""The functions that have no effect on floats, not even those that are written as in place, and raise
nothing."""

_DEPTH, _SIZE = 12, 40
"""The most levels of an expression that are looked at from inside, and the most parts of one that is looked
at."""

Users = dict[Value, list[Instruction | None]]


def gather(graph: Graph) -> Graph:
    """Move the arithmetic of each block to where it is used, in place."""
    users: Users | None = None
    for block in graph.blocks:
        if block.handler is None:
            movable = {i for i in block.instructions if _moves(i)}
            if movable:
                users = users or _users(graph)
                block.instructions = _Order(block, movable, users).written
    return graph


def _moves(instruction: Instruction) -> bool:
    if instruction.type is TANGENT:
        return _is_quiet(instruction) or _follows(instruction)
    return (
        instruction.type == FLOAT
        and _is_quiet(instruction)
        and all(
            type(v.value) is float if isinstance(v, Const) else v.type == FLOAT
            for v in instruction.operands[1:]
        )
    )


def _is_quiet(instruction: Instruction) -> bool:
    return id(target(instruction)) in _QUIET


def _follows(instruction: Instruction) -> bool:
    """Whether `instruction`, which belongs to a tangent, may come later but not earlier than it stood: it
    divides or calls a function of `math`, and the primal's instruction that raises for the same numbers may
    stand before it."""
    function = target(instruction)
    if function is intrinsics._foreigncall_:
        callee = instruction.operands[1]
        return isinstance(callee, Const) and getattr(callee.value, "__module__", None) == "math"
    return any(function is f for f in (operator.truediv, intrinsics._quotient_, intrinsics._nonzero_))


def _users(graph: Graph) -> Users:
    """By value, the instructions that use it; phis and terminators count as None."""
    found: Users = {}
    for block in graph.blocks:
        for phi in block.phis:
            for value in phi.operands.values():
                found.setdefault(value, []).append(None)
        for instruction in block.instructions:
            for value in instruction.operands:
                if value.__class__ is not Const:
                    found.setdefault(value, []).append(instruction)
        for value in block.terminator.values:
            found.setdefault(value, []).append(None)
    return found


class _Order:
    """The search for a new order of the instructions of one block, which is `written`."""

    def __init__(self, block: Block, movable: set[Instruction], users: Users) -> None:
        self.users = users
        self.movable = movable
        self.missing: set[Value] = set(block.instructions)
        """The instructions of the block that are not written yet."""
        self.passed: dict[Value, None] = {}
        """The missing instructions that stood in front of the one that is being written."""
        self.written: list[Instruction] = []
        last = self._last(block)
        for instruction in block.instructions:
            if instruction in movable:
                self.passed[instruction] = None
                continue
            if instruction in last:
                self._rest(block)
            self._fixed(instruction)
        self._rest(block)
        assert not self.missing, f"{block} has lost instructions"

    def _write(self, instruction: Instruction) -> None:
        self.missing.discard(instruction)
        self.passed.pop(instruction, None)
        self.written.append(instruction)

    def _user(self, value: Value) -> Instruction | None:
        """The one instruction that uses `value`, if nothing else does and it is still to be written."""
        users = self.users.get(value, ())
        return users[0] if len(users) == 1 and users[0] in self.missing else None

    # -- expressions -------------------------------------------------------------------------------------

    def _missing_for(self, value: Value) -> list[Instruction]:
        """The instructions to be written so that `value` is there, its own included, operands first."""
        found: dict[Instruction, None] = {}
        work: list[tuple[Value, bool]] = [(value, False)]
        while work:
            value, is_behind = work.pop()
            if value in self.missing and value not in found:
                assert isinstance(value, Instruction)
                if is_behind:
                    found[value] = None
                else:
                    work.append((value, True))
                    if value in self.movable:
                        work += [(operand, False) for operand in reversed(value.operands)]
        return list(found)

    def _may_come(self, value: Value, most: int = _SIZE) -> bool:
        """Whether `value` is there or can be computed here; an expression of more than `most` parts waits."""
        seen: set[Value] = set()
        work = [value]
        while work:
            value = work.pop()
            if value not in self.missing or value in seen:
                continue
            if value not in self.movable or len(seen) == most:
                return False
            assert isinstance(value, Instruction)
            if value not in self.passed and not _is_quiet(value):
                return False
            seen.add(value)
            work += value.operands
        return True

    def _compute(self, values: Iterable[Value]) -> None:
        """Write the instructions of `values`, from left to right, and before them what they share with
        others."""
        wanted = list(values)
        for value in wanted:
            self._compute_shared(value)
        for value in wanted:
            self._compute_tree(value)

    def _compute_shared(self, value: Value) -> None:
        for instruction in self._missing_for(value):
            if self._user(instruction) is None:
                self._compute_tree(instruction)

    def _compute_tree(self, value: Value) -> None:
        for instruction in self._missing_for(value):
            self._write(instruction)

    # -- fixed instructions ------------------------------------------------------------------------------

    def _fixed(self, instruction: Instruction) -> None:
        path = self._path(instruction)
        for user, below in reversed(path):
            others = [v for v in user.operands if v in self.missing and v is not below]
            ready = [v for v in others if self._may_come(v)]
            for operand in ready:
                self._compute_shared(operand)
            at = user.operands.index(below)
            self._compute(v for v in user.operands[:at] if v in ready)
        self._compute(instruction.operands)
        self._write(instruction)
        for user, _ in path:
            if user not in self.movable or not self._may_come(user):
                break
            self._compute([user])

    def _path(self, instruction: Instruction) -> list[tuple[Instruction, Instruction]]:
        """The expressions that `instruction` is part of, from the innermost out, each with the operand that
        leads to it."""
        path: list[tuple[Instruction, Instruction]] = []
        below = instruction
        while len(path) < _DEPTH and (user := self._user(below)) is not None:
            path.append((user, below))
            if user not in self.movable:
                break
            below = user
        return path

    # -- the end -----------------------------------------------------------------------------------------

    def _last(self, block: Block) -> set[Instruction]:
        """The instructions of the block that are not moved and find out how it is left: a test whose value
        stays on the stack, or a step of the iterator of a loop, which the emitter knows by its place."""
        found: set[Instruction] = set()
        wanted = set(block.terminator.values)
        for instruction in reversed(block.instructions):
            if instruction in self.movable:
                continue
            if instruction not in wanted or isinstance(block.terminator, Return):
                break
            found.add(instruction)
            is_step = target(instruction) is intrinsics._exhausted_
            wanted.update(v for v in instruction.operands if is_step or self._user(v) is instruction)
        return found

    def _rest(self, block: Block) -> None:
        """Write what only other blocks use: a new value of a loop variable once nothing else reads the old
        one."""
        replaced: dict[Value, list[Phi]] = {}
        for successor in block.terminator.successors:
            for phi in successor.phis:
                if block in phi.operands:
                    replaced.setdefault(phi.operands[block], []).append(phi)
        waiting = [i for i in block.instructions if i in self.movable and i in self.missing]
        roots = [i for i in waiting if self._user(i) is None and self._may_come(i, len(waiting))]
        while roots:
            reads = {root: self._leaves(root) for root in roots}
            free = (
                root
                for root in roots
                if not any(phi in reads[r] for phi in replaced.get(root, ()) for r in roots if r is not root)
            )
            self._compute([next(free, roots[0])])
            roots = [root for root in roots if root in self.missing]

    def _leaves(self, root: Value) -> set[Value]:
        """The values that are read to compute `root`."""
        inner = self._missing_for(root)
        return {v for i in inner for v in i.operands}.difference(inner)
