"""How blocks end: terminators, with the values they read and the blocks they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.ir.values import Position, Value

if TYPE_CHECKING:  # a terminator leads to blocks, which end in terminators
    from adbc.ir.graph import Block

__all__ = [
    "Branch",
    "Jump",
    "Raise",
    "Return",
    "Switch",
    "Terminator",
    "Unreachable",
]


class Terminator:
    """The end of a block.  `values` are its operands, `successors` its normal edges, in order."""

    __slots__ = ("position",)

    def __init__(self, position: Position | None = None) -> None:
        self.position = position

    @property
    def values(self) -> tuple[Value, ...]:
        return ()

    @property
    def successors(self) -> tuple[Block, ...]:
        return ()

    def replace_value(self, old: Value, new: Value) -> None:
        """Use `new` wherever this terminator uses `old`."""

    def replace_successor(self, old: Block, new: Block) -> None:
        """Go to `new` wherever this terminator goes to `old`."""


class Jump(Terminator):
    __slots__ = ("target",)

    def __init__(self, target: Block, position: Position | None = None) -> None:
        super().__init__(position)
        self.target = target

    @property
    def successors(self) -> tuple[Block, ...]:
        return (self.target,)

    def replace_successor(self, old: Block, new: Block) -> None:
        if self.target is old:
            self.target = new


class Branch(Terminator):
    """Go to `true` if `condition` (a bool) holds, else to `false`.  The two differ."""

    __slots__ = ("condition", "false", "true")

    def __init__(self, condition: Value, true: Block, false: Block, position: Position | None = None) -> None:
        super().__init__(position)
        self.condition = condition
        self.true = true
        self.false = false

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.condition,)

    @property
    def successors(self) -> tuple[Block, ...]:
        return (self.true, self.false)

    def replace_value(self, old: Value, new: Value) -> None:
        if self.condition is old:
            self.condition = new

    def replace_successor(self, old: Block, new: Block) -> None:
        if self.true is old:
            self.true = new
        if self.false is old:
            self.false = new


class Switch(Terminator):
    """Go to ``cases[value]``, or to `default` if there is no such case.  Cases are ints."""

    __slots__ = ("cases", "default", "value")

    def __init__(
        self, value: Value, cases: dict[int, Block], default: Block, position: Position | None = None
    ) -> None:
        super().__init__(position)
        self.value = value
        self.cases = cases
        self.default = default

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.value,)

    @property
    def successors(self) -> tuple[Block, ...]:
        return tuple(dict.fromkeys((*self.cases.values(), self.default)))

    def replace_value(self, old: Value, new: Value) -> None:
        if self.value is old:
            self.value = new

    def replace_successor(self, old: Block, new: Block) -> None:
        self.cases = {k: new if b is old else b for k, b in self.cases.items()}
        if self.default is old:
            self.default = new


class Return(Terminator):
    __slots__ = ("value",)

    def __init__(self, value: Value, position: Position | None = None) -> None:
        super().__init__(position)
        self.value = value

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.value,)

    def replace_value(self, old: Value, new: Value) -> None:
        if self.value is old:
            self.value = new


class Raise(Terminator):
    """Raise `exception` (re-raise the current one if None), from `cause` if given."""

    __slots__ = ("cause", "exception")

    def __init__(
        self,
        exception: Value | None,
        cause: Value | None = None,
        position: Position | None = None,
    ) -> None:
        super().__init__(position)
        self.exception = exception
        self.cause = cause

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(v for v in (self.exception, self.cause) if v is not None)

    def replace_value(self, old: Value, new: Value) -> None:
        if self.exception is old:
            self.exception = new
        if self.cause is old:
            self.cause = new


class Unreachable(Terminator):
    __slots__ = ()
