"""The slow interpreter of low programs: an obvious one, by which everything else is judged.

It is stricter than a machine: to take a record of another format off a tape is an error of the program, and
so is an index out of range that was not tested.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from adbc.errors import AdbcError, VerificationError
from adbc.low.ops import OPS, wraps
from adbc.low.program import (
    BOOL,
    F64,
    I64,
    Bail,
    Block,
    Branch,
    Jump,
    Op,
    Operand,
    Program,
    Register,
    Return,
    Switch,
)

__all__ = ["ZEROS", "BailedOut", "interpret"]

ZEROS = {F64: 0.0, I64: 0, BOOL: False}
"""What stands where there is no value."""


class BailedOut(AdbcError):
    """A low program has given up.  site: the number of the place."""

    def __init__(self, site: int, reason: str) -> None:
        super().__init__(f"bailed out at site {site}: {reason}")
        self.site = site


def interpret(
    program: Program, *arguments: Any, bail_at: Collection[int] = (), visited: set[int] | None = None
) -> tuple[Any, ...]:
    """What `program` returns for `arguments`; raises `BailedOut` where it gives up.

    bail_at: sites at which it gives up whenever it comes there.  visited: gets the sites that it comes to.
    """
    frame = _Frame(program, arguments, bail_at, set() if visited is None else visited)
    block, source = program.blocks[0], None
    while True:
        following = frame.run(block, source)
        if not isinstance(following, Block):
            return following
        block, source = following, block


class _Frame:
    def __init__(
        self, program: Program, arguments: Sequence[Any], bail_at: Collection[int], visited: set[int]
    ) -> None:
        if len(arguments) != len(program.parameters):
            raise VerificationError(f"{program.name} has {len(program.parameters)} parameters")
        self.program = program
        self.bail_at, self.visited = bail_at, visited
        self.values: dict[Register, Any] = dict(zip(program.parameters, arguments, strict=True))
        self.slots: dict[Any, Any] = {slot: ZEROS[slot.type] for slot in program.slots}
        self.tapes: dict[Any, list[tuple[int, tuple[Any, ...]]]] = {tape: [] for tape in program.tapes}
        self.arenas: dict[Any, list[tuple[Any, ...]]] = {arena: [] for arena in program.arenas}

    def known(self, operand: Operand) -> Any:
        return self.values[operand] if isinstance(operand, Register) else operand

    def bail(self, site: int | None) -> None:
        assert site is not None
        raise BailedOut(site, self.program.sites[site].reason)

    def run(self, block: Block, source: Block | None) -> Block | tuple[Any, ...]:
        if block.phis:
            assert source is not None
            merged = {phi.result: self.known(phi.operands[source]) for phi in block.phis}
            self.values.update(merged)
        for op in block.ops:
            if op.site is not None:
                self.visited.add(op.site)
                if op.site in self.bail_at:
                    self.bail(op.site)
            found = self.op(op, [self.known(operand) for operand in op.operands])
            self.values.update(zip(op.results, found, strict=True))
        match block.terminator:
            case Jump(target):
                return target
            case Branch(condition, true, false):
                return true if self.known(condition) else false
            case Switch(value, cases, default):
                return cases.get(self.known(value), default)
            case Return(values):
                return tuple([self.known(value) for value in values])
            case Bail(site):
                self.visited.add(site)
                self.bail(site)
        raise VerificationError(f"{block.label} has no terminator")

    def op(self, op: Op, given: list[Any]) -> Sequence[Any]:
        """The results of one operation."""
        row = OPS[op.name]
        if row.meaning is not None:
            found = row.meaning(*given)
            if row.bails and wraps(found):
                self.bail(op.site)
            return (found,)
        about: Any = op.attribute
        match op.name:
            case "bail_if":
                if given[0]:
                    self.bail(op.site)
                return ()
            case "poll":
                return ()
            case "get":
                return (self.slots[about],)
            case "set":
                (self.slots[about],) = given
                return ()
            case "store":
                values, at, x = given
                values[at] = x
                return ()
            case "node":
                self.arenas[about].append(tuple(given))
                return (len(self.arenas[about]),)
            case "fields":
                if not given[0]:
                    self.bail(op.site)
                node: Sequence[Any] = self.arenas[about][given[0] - 1]
                return node
        return self.tape(op, self.tapes[about], given)

    def tape(self, op: Op, tape: list[tuple[int, tuple[Any, ...]]], given: list[Any]) -> Sequence[Any]:
        """The results of an operation on a tape."""
        about: Any = op.attribute
        if op.name == "height":
            return (len(tape),)
        assert op.format is not None
        if op.name == "push":
            tape.append((op.format, tuple(given)))
            return ()
        nothing = [ZEROS[type] for type in about.formats[op.format]]
        if op.name == "next" and len(tape) == given[0]:
            return [True, *nothing]
        if len(tape) <= given[0]:
            self.bail(op.site)
        format, values = tape.pop()
        if op.name == "take" and not about.formats[format]:
            return [True, *nothing]
        if format != op.format:
            raise VerificationError(f"{about.name} has a record of format {format}, not {op.format}")
        return values if op.name == "pop" else (False, *values)
