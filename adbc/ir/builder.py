"""Building graphs: a cursor that appends, and SSA construction for variables.

`Builder` appends instructions at the end of a block.  `Variables` turns assignments to named
variables into SSA values and phis while the blocks are being made; it is the algorithm of Braun,
Buchwald, Hack, Leissa, Mallon and Zwinkau, "Simple and Efficient Construction of Static Single
Assignment Form" (CC 2013).  The lifter uses it for locals and stack slots, the reverse builder for
cotangents and saved values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from adbc.ir.graph import (
    UNDEF,
    Block,
    Branch,
    Const,
    Graph,
    Instruction,
    Jump,
    Phi,
    Position,
    Raise,
    Return,
    Switch,
    Value,
)

__all__ = ["Builder", "Variables", "remove_dead_phis", "remove_trivial_phis"]


class Builder:
    """Appends to `block`.  Operands may be values or plain Python objects, which become constants."""

    def __init__(self, graph: Graph, block: Block | None = None) -> None:
        self.graph = graph
        self.block = block if block is not None else graph.add_block("entry")
        self.position: Position | None = None

    @staticmethod
    def value(x: object) -> Value:
        return x if isinstance(x, Value) else Const(x)

    def emit(
        self,
        op: str,
        *operands: object,
        attribute: Any = None,
        keywords: tuple[str, ...] = (),
        type: Any = None,
        name: str | None = None,
    ) -> Instruction:
        """Append the operation `op`."""
        return self.block.append(
            Instruction(
                op,
                [self.value(x) for x in operands],
                keywords=keywords,
                attribute=attribute,
                type=type,
                position=self.position,
                name=name,
            )
        )

    def call(
        self,
        function: object,
        *arguments: object,
        keywords: tuple[str, ...] = (),
        type: Any = None,
        name: str | None = None,
    ) -> Instruction:
        """Append a call of `function`."""
        return self.emit("call", function, *arguments, keywords=keywords, type=type, name=name)

    def jump(self, target: Block) -> None:
        self.block.terminator = Jump(target, self.position)

    def branch(self, condition: Value, true: Block, false: Block) -> None:
        """End with a branch; a branch whose arms agree is a jump."""
        if true is false:
            self.jump(true)
        else:
            self.block.terminator = Branch(condition, true, false, self.position)

    def switch(self, value: Value, cases: dict[int, Block], default: Block) -> None:
        self.block.terminator = Switch(value, cases, default, self.position)

    def ret(self, value: object) -> None:
        self.block.terminator = Return(self.value(value), self.position)

    def raise_(self, exception: object = None, cause: object = None) -> None:
        self.block.terminator = Raise(
            None if exception is None else self.value(exception),
            None if cause is None else self.value(cause),
            self.position,
        )


class Variables:
    """SSA construction: `write` and `read` variables per block, `seal` a block once all its edges exist.

    A variable is any hashable.  Reading one that was never written gives `UNDEF`, or what `initial`
    returns for it in the entry block.  Phis get the type that `phi_type` returns for the variable.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        initial: Callable[[Hashable], Value] = lambda variable: UNDEF,
        phi_type: Callable[[Hashable], Any] = lambda variable: None,
    ) -> None:
        self.graph = graph
        self.initial = initial
        self.phi_type = phi_type
        self.current: dict[Block, dict[Hashable, Value]] = {}
        self.predecessors: dict[Block, list[Block]] = {}
        self.sealed: set[Block] = set()
        self.incomplete: dict[Block, dict[Hashable, Phi]] = {}
        self.phis: dict[Phi, Hashable] = {}
        self._waiting: list[Phi] | None = None

    def edge(self, source: Block, target: Block) -> None:
        """Declare that `source` can go to `target`; once per pair, before `target` is sealed."""
        assert target not in self.sealed, f"{target} is sealed"
        sources = self.predecessors.setdefault(target, [])
        if source not in sources:
            sources.append(source)

    def write(self, variable: Hashable, block: Block, value: Value) -> None:
        self.current.setdefault(block, {})[variable] = value

    def read(self, variable: Hashable, block: Block) -> Value:
        # Walk up single-predecessor chains in a loop: long straight-line functions have thousands
        # of blocks, and Python's stack is short.
        path: list[Block] = []
        while True:
            known = self.current.get(block)
            if known is not None and variable in known:
                value = known[variable]
                break
            if block not in self.sealed:
                value = self._new_phi(variable, block)
                self.incomplete.setdefault(block, {})[variable] = value
                self.write(variable, block, value)
                break
            sources = self.predecessors.get(block, [])
            if not sources:
                value = self.initial(variable)
                self.write(variable, block, value)
                break
            if len(sources) == 1:
                path.append(block)
                block = sources[0]
                continue
            phi = self._new_phi(variable, block)
            self.write(variable, block, phi)
            self._add_operands(variable, phi)
            value = phi
            break
        for passed in path:
            self.write(variable, passed, value)
        return value

    def seal(self, block: Block) -> None:
        """All edges into `block` are known: complete its waiting phis."""
        if block in self.sealed:
            return
        self.sealed.add(block)
        for variable, phi in self.incomplete.pop(block, {}).items():
            self._add_operands(variable, phi)

    def finish(self) -> None:
        """Seal everything that is left and remove phis that merge nothing."""
        for block in list(self.graph.blocks):
            self.seal(block)
        remove_trivial_phis(self.graph, only=set(self.phis))

    def _new_phi(self, variable: Hashable, block: Block) -> Phi:
        phi = Phi(block, self.phi_type(variable), variable if isinstance(variable, str) else None)
        block.phis.append(phi)
        self.phis[phi] = variable
        return phi

    def _add_operands(self, variable: Hashable, phi: Phi) -> None:
        # Reading an operand may make another phi, and a long function has thousands of joins in a
        # row: the outermost call completes them all, one after the other.
        if self._waiting is not None:
            self._waiting.append(phi)
            return
        self._waiting = [phi]
        try:
            while self._waiting:
                phi = self._waiting.pop()
                variable = self.phis[phi]
                for source in self.predecessors.get(phi.block, []):
                    phi.operands[source] = self.read(variable, source)
        finally:
            self._waiting = None


def remove_trivial_phis(graph: Graph, only: set[Phi] | None = None) -> dict[Value, Value]:
    """Remove phis whose operands are one value and themselves, until there are none.

    ``p = phi(a: x, b: p)`` becomes ``x``.  A phi all of whose operands are `UNDEF` becomes `UNDEF`
    and may then only be used by phis.  `only` restricts the sweep.  Equal constants count as one
    value.  Returns what was replaced by what.
    """
    replaced: dict[Value, Value] = {}

    def final(value: Value) -> Value:
        while value in replaced:
            value = replaced[value]
        return value

    changed = True
    while changed:
        changed = False
        for block in graph.blocks:
            for phi in list(block.phis):
                if only is not None and phi not in only:
                    continue
                same: Value | None = None
                trivial = True
                for operand in phi.operands.values():
                    operand = final(operand)
                    if operand is phi or (same is not None and _same(operand, same)):
                        continue
                    if same is not None:
                        trivial = False
                        break
                    same = operand
                if trivial:
                    replaced[phi] = same if same is not None else UNDEF
                    block.phis.remove(phi)
                    changed = True
    graph.replace_uses(replaced)
    return replaced


def remove_dead_phis(graph: Graph) -> bool:
    """Remove phis that are used by nothing, or only by phis that are used by nothing."""
    live: set[Phi] = set()
    waiting: list[Value] = []
    for block in graph.blocks:
        waiting += block.terminator.values
        for instruction in block.instructions:
            waiting += instruction.operands
    while waiting:
        value = waiting.pop()
        if isinstance(value, Phi) and value not in live:
            live.add(value)
            waiting += value.operands.values()
    changed = False
    for block in graph.blocks:
        kept = [phi for phi in block.phis if phi in live]
        changed |= len(kept) < len(block.phis)
        block.phis = kept
    return changed


def _same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.value is b.value)


