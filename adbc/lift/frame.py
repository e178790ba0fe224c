"""The abstract frame: what stands in the locals and on the stack while bytecode is read.

Every local slot and every depth of the stack is a variable of `ir.builder.Variables`, which makes
the phis.  Within a block the stack is a plain list; at an edge it is written to its variables, and
the block at the other end reads it back.  The empty receiver of a call (NULL) is no value and takes
no part in phis: which depths are NULL follows from the path alone, so it is kept beside them.

This module knows no instruction: `handlers` do.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Mapping
from typing import Any

from adbc.cpython.decode import Code, Slot
from adbc.cpython.refusals import refusal
from adbc.errors import LiftError
from adbc.ir.builder import Builder, Variables
from adbc.ir.graph import UNDEF, Argument, Block, Const, Graph, Instruction, Position, Value
from adbc.ir.intrinsics import UNBOUND, Sentinel

__all__ = ["NULL", "Frame"]

NULL: Value = Const(Sentinel("NULL"))
"""The empty receiver.  It stands on the abstract stack only, never in a graph."""


class Frame:
    """State shared by the handlers while one code object is lifted."""

    def __init__(self, code: Code, graph: Graph, globals: Mapping[str, Any]) -> None:
        self.code = code
        self.graph = graph
        self.globals = globals
        self.variables = Variables(graph, initial=self._initial)
        self.builder: Builder
        self.block: Block
        self.stack: list[Value] = []
        self.shapes: dict[Block, tuple[bool, ...]] = {}
        self.blocks: dict[int, Block] = {}
        self.index = 0  # of the instruction that is being lifted
        self.checks: list[Instruction] = []
        self._names = _variable_names(code)
        self._positions: dict[Any, Position] = {}

    # -- blocks ----------------------------------------------------------------------------------

    def enter(self, block: Block) -> None:
        """Go on at the start of `block`, with the stack that its first edge brought."""
        self.block = block
        self.builder = Builder(self.graph, block)
        self.stack = [
            NULL if null else self.variables.read(depth, block)
            for depth, null in enumerate(self.shapes.get(block, ()))
        ]

    def edge(self, target: Block, stack: list[Value]) -> None:
        """Leave for `target` with `stack`."""
        for depth, value in enumerate(stack):
            if value is not NULL:
                self.variables.write(depth, self.block, value)
        shape = tuple(value is NULL for value in stack)
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
        self.edge(self.blocks[true], true_stack)
        self.edge(self.blocks[false], false_stack)
        self.builder.branch(condition, self.blocks[true], self.blocks[false])

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
        return self.builder.emit(op, *operands, attribute=attribute)

    def at(self, positions: dis.Positions | None) -> None:
        """What is emitted from now on comes from here in the source."""
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
        """What the slot holds: a value, a cell, or `UNBOUND`."""
        return self.variables.read(self._names[slot.index], self.block)

    def write(self, slot: Slot, value: Value) -> None:
        self.variables.write(self._names[slot.index], self.block, value)

    def checked(self, slot: Slot) -> Value:
        """What the slot holds, by way of a `check` unless it is plain that it is bound.

        Behind a loop or join it is often not plain yet: `ssa.drop_checks` decides in the end.
        """
        value = self.read(slot)
        if isinstance(value, Instruction | Argument):
            return value
        if isinstance(value, Const) and value.value is not UNBOUND:
            return value
        check = self.emit("check", value, attribute=slot.name)
        self.checks.append(check)
        self.write(slot, check)
        return check

    def _initial(self, variable: object) -> Value:
        return UNDEF if isinstance(variable, int) else Const(UNBOUND)

    # -- refusing --------------------------------------------------------------------------------

    @property
    def line(self) -> int | None:
        position = self.builder.position
        return None if position is None else position.line

    def refusal(self, construct: str) -> LiftError:
        return refusal(self.code.code, construct, self.line)

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
