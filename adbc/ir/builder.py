"""Building graphs: a cursor that appends, and SSA construction for variables.

`Builder` appends instructions at the end of a block.  `Variables` turns assignments to named
variables into SSA values and phis while the blocks are being made; it is the algorithm of Braun,
Buchwald, Hack, Leissa, Mallon and Zwinkau, "Simple and Efficient Construction of Static Single
Assignment Form" (CC 2013).  The lifter uses it for locals and stack slots, the reverse builder for
cotangents and saved values.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Hashable
from typing import Any

from adbc.ir.dominators import DominatorTree
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch
from adbc.ir.traverse import cycles, depth_first_postorder
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Position, Value

__all__ = ["Builder", "Variables", "insert_behind", "remove_dead_phis", "remove_trivial_phis", "use_none"]


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
                [x if isinstance(x, Value) else Const(x) for x in operands],
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
        operands = [x if isinstance(x, Value) else Const(x) for x in (function, *arguments)]
        return self.block.append(
            Instruction("call", operands, keywords=keywords, type=type, position=self.position, name=name)
        )

    def jump(self, target: Block) -> None:
        self.block.terminator = Jump(target, self.position)

    def branch(self, condition: Value, true: Block, false: Block) -> None:
        """End the block with a branch, or with a jump if both arms are the same block."""
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


def insert_behind(graph: Graph, value: Value, instruction: Instruction) -> None:
    """Put `instruction` directly behind the definition of `value`."""
    home, at = graph.entry, 0
    if isinstance(value, Instruction | Phi):
        assert value.block is not None
        home = value.block
        at = home.instructions.index(value) + 1 if isinstance(value, Instruction) else 0
        if at < len(home.instructions) and home.instructions[at].op == "catch":
            at += 1
    instruction.block = home
    home.instructions.insert(at, instruction)


class Variables:
    """SSA construction: `write` and `read` variables per block, `seal` a block once all its edges exist.

    A variable is any hashable.  Reading one that was never written gives `UNDEF`, or what `initial`
    returns for it in the entry block.  Phis get the type that `phi_type` returns for the variable.

    The plain algorithm goes back one block at a time and makes a phi at every join on the way, most of which
    merge nothing: over a function with many joins that is quadratic.  A caller that knows all edges before
    the first read says so (`arrange`), and says which block it fills (`begin`); a read then goes straight to
    the nearest definition above it in the dominator tree, unless another definition lies on a path between
    the two.
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
        self._tree: DominatorTree | None = None
        self._defined: dict[Hashable, list[int]] = {}
        """The numbers in the tree of the blocks that define each variable, in order."""
        self._open: list[int] = []
        self._repeated: set[Block] = set()

    def edge(self, source: Block, target: Block) -> None:
        """Declare that `source` can go to `target`; once per pair, before `target` is sealed."""
        assert target not in self.sealed, f"{target} is sealed"
        sources = self.predecessors.setdefault(target, [])
        if source not in sources:
            sources.append(source)

    def arrange(self, entry: Block) -> None:
        """Say that all edges are declared, so that nothing but writes is unknown."""
        successors: dict[Block, list[Block]] = {}
        for target, sources in self.predecessors.items():
            for source in sources:
                successors.setdefault(source, []).append(target)
        order = depth_first_postorder([entry], lambda block: successors.get(block, ()))
        order.reverse()
        repeated = cycles(order, lambda block: successors.get(block, ()))
        self._repeated = {block for component in repeated for block in component}
        self._tree = DominatorTree(order, {block: self.predecessors.get(block, ()) for block in order})
        for block, known in self.current.items():
            for variable in known:
                self._define(variable, block)

    def begin(self, block: Block) -> None:
        """Say that `block` is about to be filled.  A block that is not sealed by then is where a loop
        closes."""
        if block not in self.sealed and self._tree is not None:
            bisect.insort(self._open, self._tree.number[block])

    def write(self, variable: Hashable, block: Block, value: Value) -> None:
        self._remember(variable, block, value)
        if self._tree is not None:
            self._define(variable, block)

    def _remember(self, variable: Hashable, block: Block, value: Value) -> None:
        known = self.current.get(block)
        if known is None:
            known = self.current[block] = {}
        known[variable] = value

    def _define(self, variable: Hashable, block: Block) -> None:
        assert self._tree is not None
        number = self._tree.number.get(block)
        if number is not None:
            numbers = self._defined.setdefault(variable, [])
            at = bisect.bisect_left(numbers, number)
            if at == len(numbers) or numbers[at] != number:
                numbers.insert(at, number)

    def _above(self, variable: Hashable, block: Block, tree: DominatorTree) -> Block:
        """A block above `block` in the dominator tree, or `block`, at whose beginning or (if it defines the
        variable) at whose end the variable has the value that it has at the beginning of `block`.

        Every path from a dominator to `block`, from where it leaves the dominator for the last time, stays
        below the dominator.  So as far up as nothing below defines the variable, and no loop below is
        still open, the value is the same.
        """
        number = tree.number[block]
        last = tree.last[number]
        before, behind = -1, len(tree.last)
        for numbers in (self._defined.get(variable, ()), self._open):
            at = bisect.bisect_left(numbers, number)
            if at > 0 and numbers[at - 1] > before:
                before = numbers[at - 1]
            if at < len(numbers) and numbers[at] <= last:
                # From below this block to its beginning leads a loop, or nothing.
                if block in self._repeated:
                    return block
                at = bisect.bisect_right(numbers, last)
            if at < len(numbers) and numbers[at] < behind:
                behind = numbers[at]
        top = tree.highest(number, before, behind)
        if top == 0:
            return tree.nodes[0]
        above = tree.parent[top]
        if above == before and behind > tree.last[above]:
            return tree.nodes[above]
        return tree.nodes[top]

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
            if self._tree is not None and block in self._tree.number:
                above = self._above(variable, block, self._tree)
                if above is not block:
                    path.append(block)
                    block = above
                    continue
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
            self._remember(variable, passed, value)
        return value

    def seal(self, block: Block) -> None:
        """Say that all edges into `block` are known, and complete its waiting phis."""
        if block in self.sealed:
            return
        self.sealed.add(block)
        if self._open and self._tree is not None and self._tree.number[block] in self._open:
            self._open.remove(self._tree.number[block])
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

    ``p = phi(a: x, b: p)`` becomes ``x``. A phi all of whose operands are `UNDEF` becomes `UNDEF`;
    instructions that use it are never reached, whatever the graph says, and use None. `only` restricts the
    sweep. Equal constants count as one value. Returns what was replaced by what.
    """
    replaced: dict[Value, Value] = {}

    def final(value: Value) -> Value:
        if value not in replaced:
            return value
        chain = []
        while value in replaced:
            chain.append(value)
            value = replaced[value]
        for passed in chain:
            replaced[passed] = value
        return value

    # Where two operands differ, the phi is looked at again when one of these two has gone, and goes on from
    # there: all before are equal, and stay it.  A handler has hundreds of ways in, and as many phis.
    waiting = [phi for block in graph.blocks for phi in block.phis if only is None or phi in only]
    waiting.reverse()
    operands = {phi: list(phi.operands.values()) for phi in waiting}
    found: dict[Phi, tuple[int, Value | None]] = {}
    watching: dict[Value, dict[Phi, None]] = {}
    while waiting:
        phi = waiting.pop()
        if phi in replaced:
            continue
        first, same = found.get(phi, (0, None))
        if same is not None:
            same = final(same)
            if same is phi:
                same = None
        given = operands[phi]
        for at in range(first, len(given)):
            operand = final(given[at])
            if operand is phi or (same is not None and _same(operand, same)):
                continue
            if same is not None:
                found[phi] = at, same
                for value in (same, operand):
                    if isinstance(value, Phi):
                        watching.setdefault(value, {})[phi] = None
                break
            same = operand
        else:
            replaced[phi] = same if same is not None else UNDEF
            waiting += watching.pop(phi, ())
    if replaced:
        for block in graph.blocks:
            block.phis = [phi for phi in block.phis if phi not in replaced]
        graph.replace_uses(replaced)
        if UNDEF in replaced.values():
            use_none(graph)
    return replaced


def use_none(graph: Graph) -> None:
    """Let what is no phi use None in place of `UNDEF`: it is never reached."""
    for block in graph.blocks:
        for instruction in block.instructions:
            if UNDEF in instruction.operands:
                instruction.operands = [Const(None) if v is UNDEF else v for v in instruction.operands]
        if UNDEF in block.terminator.values:
            block.terminator.replace_value(UNDEF, Const(None))


def remove_dead_phis(graph: Graph) -> bool:
    """Remove phis that are used by nothing, or only by phis that are used by nothing."""
    dead: set[Value] = {phi for block in graph.blocks for phi in block.phis}
    if not dead:
        return False
    waiting: list[Value] = []
    for block in graph.blocks:
        waiting += block.terminator.values
        for instruction in block.instructions:
            waiting += instruction.operands
    live = dead.intersection(waiting)
    while live:
        dead -= live
        operands: set[Value] = set()
        for phi in live:
            operands.update(phi.operands.values())  # type: ignore[attr-defined]  # a phi: all in `dead` are
        live = dead & operands
    if not dead:
        return False
    for block in graph.blocks:
        block.phis = [phi for phi in block.phis if phi not in dead]
    return True


def _same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.value is b.value)
