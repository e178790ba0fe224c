"""The abstract frame: what stands in the locals and on the stack while bytecode is read.

Every local slot and every depth of the stack is a variable of `ir.builder.Variables`, which makes
the phis.  Within a block the stack is a plain list; at an edge it is written to its variables, and
the block at the other end reads it back.  The empty receiver of a call (NULL) is no value and takes
no part in phis: which depths are NULL follows from the path alone, so it is kept beside them.

An instruction that may raise into a handler ends its block: there the edge to the handler starts,
and what the locals and the lower stack hold at that moment is what the handler finds.  The rest of
the bytecode's block goes on in a new block.

This module knows no instruction: `handlers` do.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Mapping
from typing import Any

from adbc.cpython.decode import Code, Region, Slot, table
from adbc.cpython.refusals import CONSTRUCTS, Construct, refusal
from adbc.errors import LiftError
from adbc.ir.builder import Builder, Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import KEPT, STACK, UNBOUND, Sentinel, _assume_, _release_
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Jump
from adbc.ir.values import UNDEF, Argument, Const, Instruction, Phi, Position, Undef, Value
from adbc.types.lattice import AbstractType
from adbc.types.promises import Promise, promises

__all__ = ["LASTI", "NULL", "Frame"]

NULL: Value = Const(Sentinel("NULL"))
"""The empty receiver.  It stands on the abstract stack only, never in a graph."""

LASTI: Value = Const(Sentinel("LASTI"))
"""Where the exception came from, below an exception on the abstract stack; it never gets into a graph."""


_GIVEN = frozenset({"eval", "frame", "currentframe"})
"""Constructs that have a meaning where they run: in a namespace that is given, above frames that stand for
those of the user's."""


class Frame:
    """State shared by the handlers while one code object is lifted."""

    def __init__(
        self,
        code: Code,
        graph: Graph,
        globals: Mapping[str, Any],
        releases: bool = False,
        looks: bool = False,
    ) -> None:
        self.code = code
        self.releases = releases
        self.graph = graph
        self.globals = globals
        self.parameters = list(graph.arguments)
        self.namespace: Value | None = None  # of a class body: the mapping that holds its names
        self.variables = Variables(graph, initial=self._initial)
        self.builder: Builder
        self.block: Block
        self.stack: list[Value] = []
        self.shapes: dict[Block, tuple[Value | None, ...]] = {}
        self.blocks: dict[int, Block] = {}
        self.index = 0  # of the instruction that is being lifted
        self.region: Region | None = None  # of the instruction that is being lifted
        self.promises = promises(code.code.co_consts)
        self.keeps_unbound = any(constant is UNBOUND for constant in code.code.co_consts)
        """Whether the code, which adbc has written, puts `UNBOUND` into variables as a value: it asks itself
        whether one is that, and moves it about where it is not asked for."""
        self.may_raise = False  # whether an instruction of the block may raise (without a handler)
        self.checks: list[Instruction] = []
        self.looks: dict[Value, Construct] | None = {} if looks else None
        """Functions that look at frames, each with the construct that a call of it is.  None: to name them is
        refused."""
        self._names = _variable_names(code)
        self._positions: dict[Any, Position] = {}

    # -- blocks ----------------------------------------------------------------------------------

    def enter(self, block: Block) -> None:
        """Go on at the start of `block`, with the stack that its first edge brought."""
        self.block = block
        self.builder = Builder(self.graph, block)
        self.may_raise = False
        self.stack = [
            self.variables.read(depth, block) if marker is None else marker
            for depth, marker in enumerate(self.shapes.get(block, ()))
        ]

    def edge(self, target: Block, stack: list[Value]) -> None:
        """Add an edge from the current block to `target`, where the stack will be `stack`."""
        self.variables.edge(self.block, target)
        for depth, value in enumerate(stack):
            if value is not NULL and value is not LASTI:
                self.variables.write(depth, self.block, value)
        shape = tuple(value if value is NULL or value is LASTI else None for value in stack)
        if self.shapes.setdefault(target, shape) != shape:
            raise self.refusal("internal")

    def goto(self, index: int) -> None:
        """End the block: go to the instruction at `index`."""
        target = self.blocks[index]
        self.edge(target, self.stack)
        self.builder.jump(target)

    def branch(
        self, condition: Value, true: int, false: int, *, true_stack: list[Value], false_stack: list[Value]
    ) -> None:
        """End the block: go to one of two instructions, each with its own stack."""
        self.edge(self.blocks[false], false_stack)
        if all(a is b for a, b in zip(true_stack, false_stack, strict=False)):
            self.edge(self.blocks[true], true_stack)
            self.builder.branch(condition, self.blocks[true], self.blocks[false])
            return
        # A slot of the stack is one variable, so an edge that changes it needs a block of its own.
        old = self.block
        through = self.graph.add_block()
        self.variables.edge(old, through)
        self.variables.seal(through)
        self.builder.branch(condition, through, self.blocks[false])
        self.block = through
        self.edge(self.blocks[true], true_stack)
        through.terminator = Jump(self.blocks[true], self.builder.position)
        self.block = old

    def branch_assuming(
        self,
        condition: Value,
        true: int,
        false: int,
        known: AbstractType,
        false_stack: list[Value],
        value: Value,
    ) -> None:
        """End the block: go to one of two instructions, at `false` with a value of a known type on top."""
        self.edge(self.blocks[true], self.stack)
        old, position = self.block, self.builder.position
        inside = self.graph.add_block()
        self.variables.edge(old, inside)
        self.variables.seal(inside)
        self.builder.branch(condition, self.blocks[true], inside)
        self.block, self.builder = inside, Builder(self.graph, inside)
        self.builder.position = position
        assumed = self.call(_assume_, value, Const(known))
        self.edge(self.blocks[false], [*false_stack, assumed])
        inside.terminator = Jump(self.blocks[false], position)
        self.block = old

    def fresh_block(self) -> None:
        """Go on in a new block, to which the current one jumps; nothing else changes."""
        old, position = self.block, self.builder.position
        new = self.graph.add_block()
        # Behind the old one, so that the text of the graph reads in order.
        self.graph.blocks.remove(new)
        self.graph.blocks.insert(self.graph.blocks.index(old) + 1, new)
        self.variables.edge(old, new)
        self.variables.seal(new)
        old.terminator = Jump(new, position)
        self.block = new
        self.builder = Builder(self.graph, new)
        self.builder.position = position
        self.may_raise = False

    def before_raising(self) -> None:
        """To be called before something that may raise is put at the end of the block."""
        if self.region is not None and self.may_raise:
            self.fresh_block()
        self.may_raise = True

    def raises(self) -> None:
        """Say that what was just put at the end of the block may raise into the handler."""
        region = self.region
        if region is None:
            return
        target = self.blocks[region.target]
        if len(self.stack) < region.depth:
            raise self.refusal("internal")
        self.edge(target, [*self.stack[: region.depth], *([LASTI] if region.lasti else [])])
        self.block.handler = target

    # -- the stack -------------------------------------------------------------------------------

    def push(self, value: Value) -> None:
        self.stack.append(value)

    def pop(self) -> Value:
        return self.stack.pop()

    def pop_many(self, count: int) -> list[Value]:
        """The top `count` values, the deepest first."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def emit(self, op: str, *operands: object, attribute: Any = None) -> Instruction:
        return self._append(Instruction(op, [Builder.value(x) for x in operands], attribute=attribute))

    def call(self, function: object, *arguments: object, keywords: tuple[str, ...] = ()) -> Instruction:
        operands = [Builder.value(x) for x in (function, *arguments)]
        return self._append(Instruction("call", operands, keywords=keywords))

    def _append(self, instruction: Instruction) -> Instruction:
        instruction.position = self.builder.position
        if not may_raise(instruction):
            return self.block.append(instruction)
        self.before_raising()
        self.block.append(instruction)
        if self.region is not None:
            self.raises()
            if instruction.op != "reraise":  # behind which nothing comes
                self.fresh_block()
        return instruction

    def promised(self) -> Promise | None:
        """What the code says of what the instruction that is being lifted puts on the stack, in the last step
        of it."""
        instructions, index = self.code.instructions, self.index
        offset = instructions[index].offset
        if index + 1 < len(instructions) and instructions[index + 1].offset == offset:
            return None
        return self.promises.get(offset)

    def assume(self, known: AbstractType) -> None:
        """Take what is promised of the top of the stack for granted."""
        if isinstance(self.stack[-1], Instruction | Phi):
            self.stack[-1] = self.call(_assume_, self.stack[-1], Const(known))

    def at(self, positions: dis.Positions | None) -> None:
        """Set the place in the source from which what is emitted from now on comes."""
        if positions is None or positions.lineno is None:
            self.builder.position = None
            return
        known = self._positions.get(positions)
        if known is None:
            known = self._positions[positions] = Position(
                positions.lineno, positions.end_lineno, positions.col_offset, positions.end_col_offset
            )
        self.builder.position = known

    # -- locals ----------------------------------------------------------------------------------

    def read(self, slot: Slot) -> Value:
        """What a slot holds: a value, a cell, or `UNBOUND`."""
        return self.variables.read(self._names[slot.index], self.block)

    def write(self, slot: Slot, value: Value) -> None:
        self.variables.write(self._names[slot.index], self.block, value)

    def checked(self, slot: Slot) -> Value:
        """What a slot holds, by way of a `check` unless it is plain that the slot is bound.

        Behind a loop or join that is often not plain yet: `ssa.drop_checks` decides in the end.
        """
        value = self.read(slot)
        if isinstance(value, Instruction | Argument) or self.keeps_unbound:
            return value
        if isinstance(value, Const) and value.value is not UNBOUND:
            return value
        check = self.emit("check", value, attribute=slot.name)
        self.checks.append(check)
        self.write(slot, check)
        return check

    def _initial(self, variable: object) -> Value:
        return UNDEF if isinstance(variable, int) else Const(UNBOUND)

    # -- letting go ------------------------------------------------------------------------------

    def release(self, value: Value, place: int = STACK) -> None:
        """Say that the frame lets go of `value`, if the graph is to say such things."""
        if self.releases and not isinstance(value, Const | Undef):
            self.call(_release_, value, place)

    def release_slots(self, kept: bool = False) -> None:
        """Say that the frame ends, and with it its variables; `kept`: a traceback keeps them."""
        if self.releases:
            for slot in reversed(self.code.slots) if table().ENDS_FROM_LAST else self.code.slots:
                if not slot.free:
                    self.release(self.read(slot), KEPT if kept else slot.index)

    def release_raising(self) -> None:
        """Say what the frame lets go of where an exception is raised."""
        if self.releases:
            depth = 0 if self.region is None else self.region.depth
            for value in reversed(self.stack[depth:]):
                self.release(value)
            if self.region is None:
                self.release_slots(kept=True)

    # -- refusing --------------------------------------------------------------------------------

    @property
    def line(self) -> int | None:
        position = self.builder.position
        return None if position is None else position.line

    def refusal(self, construct: str) -> LiftError:
        position = self.builder.position
        columns = (None, None) if position is None else (position.column, position.end_column)
        return refusal(self.code.code, construct, self.line, columns)

    def look(self, function: Value, construct: str) -> None:
        """Refuse `function`, which looks at frames, or take note of it."""
        if self.looks is None:
            raise self.refusal(construct)
        if construct not in _GIVEN:
            self.looks[function] = CONSTRUCTS[construct]

    def is_builtin(self, value: Value, *names: str) -> bool:
        """Whether `value` is one of the builtins `names`, loaded by its name."""
        return (
            isinstance(value, Instruction)
            and value.op == "global"
            and value.attribute in names
            and value.attribute not in self.globals
        )

    def is_module(self, value: Value, name: str) -> bool:
        """Whether `value` is the module `name`, loaded from a global."""
        if not isinstance(value, Instruction) or value.op != "global":
            return False
        found = self.globals.get(value.attribute)
        return isinstance(found, types.ModuleType) and found.__name__ == name


def _variable_names(code: Code) -> list[str]:
    """A variable for each slot: its name; two slots may have the same one."""
    names: list[str] = []
    for slot in code.slots:
        names.append(f"{slot.name}.{slot.index}" if slot.name in names else slot.name)
    return names
