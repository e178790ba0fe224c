"""What is true of every low program; `verify` raises `VerificationError` where it is not.

* The first block is the entry, which nothing leads to; each block has a terminator, and its label is its own.
* A register is assigned in one place, which dominates its uses; a phi has one operand per predecessor.
* Operands and results have the types that the row of the operation says, or those of the slot, format or
  fields that it is about, which are those of the program.
* A site is one of the program's, and every operation that bails out has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from adbc.errors import VerificationError
from adbc.low.ops import OPS
from adbc.low.program import (
    BOOL,
    I64,
    Arena,
    Bail,
    Block,
    Branch,
    Op,
    Operand,
    Program,
    Register,
    Return,
    Slot,
    Switch,
    Tape,
    type_of,
)

__all__ = ["signature", "verify"]


def verify(program: Program) -> Program:
    """`program`, if it obeys the rules of low programs."""
    _Check(program).run()
    return program


def signature(op: Op) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types of operands and of results of an operation, as its row and what it is about say."""
    row, about = OPS[op.name], op.attribute
    takes, gives = row.takes, row.gives
    if isinstance(about, Slot):
        return ((about.type,) if takes is None else takes), ((about.type,) if gives is None else gives)
    if isinstance(about, Tape) and op.format is not None:
        record = about.formats[op.format]
        if op.name in ("next", "take"):
            return (I64,), (BOOL, *record)
        return (record if takes is None else takes), (record if gives is None else gives)
    if isinstance(about, Arena):
        return (about.fields if takes is None else takes), (about.fields if gives is None else gives)
    return takes or (), gives or ()


_ABOUT = {
    "get": Slot, "set": Slot, "height": Tape, "push": Tape, "pop": Tape, "next": Tape, "take": Tape,
    "node": Arena, "fields": Arena,
}  # fmt: skip


class _Check:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.defined: dict[Register, tuple[Block | None, int]] = {}
        self.preds = program.predecessors() if self._are_blocks_known() else {}
        self.dominators = _dominators(program, self.preds)

    def _are_blocks_known(self) -> bool:
        known = set(self.program.blocks)
        for block in self.program.blocks:
            self._hold(known.issuperset(block.successors), f"{block.label} leads out of the program")
        return True

    def _hold(self, holds: bool, message: str) -> None:
        if not holds:
            raise VerificationError(f"low program {self.program.name}: {message}")

    def run(self) -> None:
        program = self.program
        labels = [block.label for block in program.blocks]
        self._hold(len(set(labels)) == len(labels) > 0, "labels are not distinct, or there is no block")
        self._hold(not self.preds[program.blocks[0]], "something leads to the entry")
        for register in program.parameters:
            self._define(register, None, -1)
        for block in program.blocks:
            for phi in block.phis:
                self._define(phi.result, block, -1)
            for at, op in enumerate(block.ops):
                for register in op.results:
                    self._define(register, block, at)
        for block in program.blocks:
            if block in self.dominators:
                self._block(block)

    def _define(self, register: Register, block: Block | None, at: int) -> None:
        self._hold(register not in self.defined, f"%{register.name} is assigned twice")
        self.defined[register] = block, at

    def _block(self, block: Block) -> None:
        for phi in block.phis:
            self._hold(
                set(phi.operands) == set(self.preds[block]),
                f"%{phi.result.name} in {block.label} has not one operand per predecessor",
            )
            for pred, operand in phi.operands.items():
                self._typed(operand, phi.result.type, block)
                if pred in self.dominators:
                    self._use(operand, pred, len(pred.ops))
        for at, op in enumerate(block.ops):
            self._op(op, block)
            for operand in op.operands:
                self._use(operand, block, at)
        terminator = block.terminator
        self._hold(terminator is not None, f"{block.label} has no terminator")
        match terminator:
            case Branch():
                self._typed(terminator.condition, BOOL, block)
            case Switch():
                self._typed(terminator.value, I64, block)
            case Bail(site):
                self._site(site, block)
            case Return(values):
                self._types(values, self.program.results, f"return of {block.label}")
        for operand in terminator.operands:  # type: ignore[union-attr]  # it has one
            self._use(operand, block, len(block.ops))

    def _op(self, op: Op, block: Block) -> None:
        row, where = OPS.get(op.name), f"{op.name} in {block.label}"
        self._hold(row is not None, f"{where}: there is no such operation")
        about = _ABOUT.get(op.name)
        known: Sequence[object] = (*self.program.tapes, *self.program.arenas, *self.program.slots)
        if about is None:
            self._hold(op.attribute is None, f"{where} is about nothing")
        else:
            is_right = isinstance(op.attribute, about) and any(op.attribute is x for x in known)
            self._hold(is_right, f"{where} is about no {about.__name__.lower()} of the program")
        if about is Tape and op.name != "height":
            count = len(op.attribute.formats)  # type: ignore[union-attr]  # of a tape
            self._hold(op.format is not None and 0 <= op.format < count, f"{where} has no such format")
        takes, gives = signature(op)
        self._types(op.operands, takes, where)
        self._types(op.results, gives, where)
        self._hold((op.site is not None) is row.bails, f"{where}: a site, or none")  # type: ignore[union-attr]
        if op.site is not None:
            self._site(op.site, block)

    def _site(self, site: int, block: Block) -> None:
        self._hold(0 <= site < len(self.program.sites), f"{block.label} bails out at no site")

    def _types(self, operands: Sequence[Operand], types: Sequence[str], where: str) -> None:
        found = [type_of(operand) for operand in operands]
        self._hold(found == list(types), f"{where} has {found}, not {list(types)}")

    def _typed(self, operand: Operand, type: str, block: Block) -> None:
        self._hold(type_of(operand) == type, f"{operand!r} in {block.label} is no {type}")

    def _use(self, operand: Operand, block: Block, at: int) -> None:
        if isinstance(operand, Register):
            self._hold(operand in self.defined, f"%{operand.name} in {block.label} is never assigned")
            home, place = self.defined[operand]
            is_before = home is None or (place < at if home is block else home in self.dominators[block])
            self._hold(is_before, f"%{operand.name} is used in {block.label} where it has no value")


def _dominators(program: Program, preds: dict[Block, list[Block]]) -> dict[Block, set[Block]]:
    """By block that is reached, the blocks that every way to it passes."""
    order: list[Block] = []
    waiting, seen = [program.blocks[0]], {program.blocks[0]}
    while waiting:
        block = waiting.pop()
        order.append(block)
        fresh = [b for b in block.successors if b not in seen]
        seen.update(fresh)
        waiting += dict.fromkeys(fresh)
    every = set(order)
    found = dict.fromkeys(order, every)
    found[order[0]] = {order[0]}
    is_changed = True
    while is_changed:
        is_changed = False
        for block in order[1:]:
            before = [found[p] for p in preds[block] if p in found]
            now = {block, *set.intersection(*before)} if before else {block}
            if now != found[block]:
                found[block], is_changed = now, True
    return found
