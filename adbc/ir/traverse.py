"""Walking graphs, and the small surgery that every pass needs.

Orders (`postorder`, `reverse_postorder`), reachability, who uses what, copying, removing blocks that
cannot be reached and splitting edges.  Nothing here recurses: a long straight-line function has
thousands of blocks, and Python's stack is short.

It refuses to know what an instruction does, and it never looks at types.  Dominance and loops, which
are derived from these orders, live in `dominators` and `loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias, TypeVar

from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator, Unreachable
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value

__all__ = [
    "User",
    "copy_graph",
    "copy_of",
    "copy_terminator",
    "cycles",
    "depth_first_postorder",
    "is_critical",
    "join_lines",
    "leads_to",
    "postorder",
    "predecessors",
    "reachable",
    "remove_unreachable",
    "reverse_postorder",
    "split_critical_edges",
    "split_edge",
    "split_end",
    "uses",
]

User: TypeAlias = Phi | Instruction | Terminator
"""What can use a value."""

Node = TypeVar("Node", bound=Hashable)


# -- orders --------------------------------------------------------------------------------------


def depth_first_postorder(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes that can be reached from `roots`, each after the successors it was first to reach."""
    order: list[Node] = []
    seen: set[Node] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(successors(root)))]
        while stack:
            node, rest = stack[-1]
            for successor in rest:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(successors(successor))))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def cycles(nodes: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components that have a cycle (Tarjan, without recursion)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    found: list[list[Node]] = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(successors(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for successor in rest:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(successors(successor))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member is node:
                            break
                    if len(component) > 1 or node in successors(node):
                        found.append(component)
    return found


def postorder(graph: Graph) -> list[Block]:
    """The reachable blocks, each after all of its successors except along back edges."""
    # Successors are visited last to first, so that the reverse of this order shows the arms of a
    # branch as they were written.  As `depth_first_postorder`, in line: every pass asks for this.
    order: list[Block] = []
    if not graph.blocks:
        return order
    block = graph.blocks[0]
    seen = {block}
    stack = [(block, list(block.successors))]
    while stack:
        block, rest = stack[-1]
        while rest:
            successor = rest.pop()
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, list(successor.successors)))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def reverse_postorder(graph: Graph) -> list[Block]:
    """The reachable blocks, each before all of its successors except along back edges."""
    order = postorder(graph)
    order.reverse()
    return order


def reachable(graph: Graph) -> set[Block]:
    """The blocks that can be reached from the entry, exceptional edges included."""
    waiting = graph.blocks[:1]
    seen = set(waiting)
    while waiting:
        for successor in waiting.pop().successors:
            if successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    return seen


def leads_to(starts: Iterable[Block], goal: Block | None, around: Block | None = None) -> bool:
    """Whether a way leads from one of the blocks `starts` to `goal` that does not go through `around`."""
    waiting, seen = list(starts), {around}
    while waiting:
        block = waiting.pop()
        if block is goal:
            return True
        if block not in seen:
            seen.add(block)
            waiting += block.successors
    return False


def predecessors(graph: Graph) -> dict[Block, list[Block]]:
    """The reachable predecessors of every reachable block, in the order of `graph.blocks`.

    `Graph.predecessors` counts edges from and into unreachable blocks as well.
    """
    live = reachable(graph)
    result: dict[Block, list[Block]] = {block: [] for block in graph.blocks if block in live}
    for block in result:
        for successor in block.successors:
            result[successor].append(block)
    return result


# -- values --------------------------------------------------------------------------------------


def uses(graph: Graph) -> dict[Value, list[User]]:
    """The users of every value: phis, instructions and terminators, each once, in order.

    Every argument, phi and instruction of the graph has an entry, if an empty one; constants have
    one if they are used.  `UNDEF` has none: it is not a value of this graph.
    """
    result: dict[Value, list[User]] = {argument: [] for argument in graph.arguments}
    for block in graph.blocks:
        for value in (*block.phis, *block.instructions):
            result.setdefault(value, [])

    def record(user: User, operands: Iterable[Value]) -> None:
        for value in dict.fromkeys(operands):
            if not isinstance(value, Undef):
                result.setdefault(value, []).append(user)

    for block in graph.blocks:
        for phi in block.phis:
            record(phi, phi.operands.values())
        for instruction in block.instructions:
            record(instruction, instruction.operands)
        record(block.terminator, block.terminator.values)
    return result


# -- surgery -------------------------------------------------------------------------------------


def remove_unreachable(graph: Graph) -> list[Block]:
    """Remove the blocks that cannot be reached, and what phis say about them.

    Phis may be left with one operand: `builder.remove_trivial_phis` is the pass for those.
    Returns the removed blocks.
    """
    live = reachable(graph)
    if len(live) == len(graph.blocks):
        return []
    removed = [block for block in graph.blocks if block not in live]
    if removed:
        graph.blocks = [block for block in graph.blocks if block in live]
        for block in graph.blocks:
            for phi in block.phis:
                for source in [source for source in phi.operands if source not in live]:
                    del phi.operands[source]
    return removed


def is_critical(source: Block, target: Block, sources: dict[Block, list[Block]]) -> bool:
    """Whether code for the edge fits at neither end: `source` has other successors, and `target`
    other predecessors (`sources` is what `Graph.predecessors` returns)."""
    return len(source.successors) > 1 and len(sources[target]) > 1


def split_behind(graph: Graph, instruction: Instruction) -> Block:
    """Move what stands behind `instruction` into a block of its own, which its block jumps to."""
    block = instruction.block
    assert block is not None
    assert block.handler is None
    behind = graph.add_block(f"{block.label}.behind")
    at = block.instructions.index(instruction) + 1
    behind.instructions = block.instructions[at:]
    for moved in behind.instructions:
        moved.block = behind
    del block.instructions[at:]
    behind.terminator = block.terminator
    for successor in dict.fromkeys(behind.successors):
        for phi in successor.phis:
            if block in phi.operands:
                phi.operands[behind] = phi.operands.pop(block)
    block.terminator = Jump(behind, instruction.position)
    return behind


def split_edge(source: Block, target: Block, label: str | None = None) -> Block:
    """Put a new block on the normal edge from `source` to `target`, and return it.

    The phis of `target` then name the new block.  If several cases of a switch go to `target`, all
    of them go through the new block.  An exceptional edge cannot be split: a handler begins with
    ``catch``, which must be first where the exception arrives.
    """
    if target not in source.terminator.successors:
        raise ValueError(f"there is no normal edge from {source.label} to {target.label}")
    graph = source.graph
    block = graph.add_block(label or f"{source.label}.{target.label}")
    # Keep the text in reading order: the new block stands behind the block it comes from.
    graph.blocks.pop()
    graph.blocks.insert(graph.blocks.index(source) + 1, block)
    position = source.terminator.position
    source.terminator.replace_successor(target, block)
    block.terminator = Jump(target, position)
    for phi in target.phis:
        phi.operands = {block if b is source else b: value for b, value in phi.operands.items()}
    return block


def split_end(block: Block) -> Block:
    """Move the terminator of `block` into a new block behind it, and return that.  The handler stays."""
    graph = block.graph
    end = graph.add_block(f"{block.label}.end")
    graph.blocks.pop()
    graph.blocks.insert(graph.blocks.index(block) + 1, end)
    end.terminator = block.terminator
    block.terminator = Jump(end, end.terminator.position)
    for successor in end.successors:
        for phi in successor.phis:
            phi.operands = {end if b is block else b: value for b, value in phi.operands.items()}
    return end


def split_critical_edges(graph: Graph) -> list[Block]:
    """Split every critical normal edge; returns the new blocks."""
    sources = graph.predecessors()
    edges = [
        (block, target)
        for block in graph.blocks
        for target in block.terminator.successors
        if is_critical(block, target, sources)
    ]
    # Splitting leaves the number of predecessors and successors as it was, so `edges` stays right.
    return [split_edge(source, target) for source, target in edges]


def copy_of(instruction: Instruction) -> Instruction:
    """Another instruction like `instruction`, with the same operands, that is in no block."""
    return Instruction(
        instruction.op,
        instruction.operands,
        keywords=instruction.keywords,
        attribute=instruction.attribute,
        type=instruction.type,
        position=instruction.position,
        name=instruction.name,
    )


def copy_graph(graph: Graph) -> tuple[Graph, dict[Value, Value], dict[Block, Block]]:
    """A copy that shares no block and no value with `graph`, and what became of values and blocks.

    The objects that constants hold, types and positions are shared.  A constant that is used in
    several places stays one constant.
    """
    copy = Graph(graph.name)
    # Everything else that describes the function is immutable or a list of immutable things.
    for field, content in vars(graph).items():
        setattr(copy, field, list(content) if isinstance(content, list) else content)
    copy.arguments, copy.blocks, copy.facts = [], [], dict(graph.facts)
    copy._taken, copy._counted = set(), -1
    values: dict[Value, Value] = {}
    blocks: dict[Block, Block] = {}

    for argument in graph.arguments:
        new_argument = Argument(argument.name, argument.index, argument.type)
        new_argument.position = argument.position
        copy.arguments.append(new_argument)
        values[argument] = new_argument
    for block in graph.blocks:
        blocks[block] = Block(copy, block.label)
        copy.blocks.append(blocks[block])
    for block, new_block in blocks.items():
        new_block.handler = None if block.handler is None else blocks[block.handler]
        for phi in block.phis:
            new_phi = Phi(new_block, phi.type, phi.name)
            new_phi.position = phi.position
            new_block.phis.append(new_phi)
            values[phi] = new_phi
        for instruction in block.instructions:
            values[instruction] = new_block.append(copy_of(instruction))

    def copied(value: Value) -> Value:
        if value not in values:
            if isinstance(value, Const):
                constant = Const(value.value, value.type)
                constant.position = value.position
                values[value] = constant
            elif isinstance(value, Undef):
                return value
        return values[value]

    for block, new_block in blocks.items():
        for phi, new_phi in zip(block.phis, new_block.phis, strict=True):
            new_phi.operands = {blocks[b]: copied(value) for b, value in phi.operands.items()}
        for instruction, new_instruction in zip(block.instructions, new_block.instructions, strict=True):
            new_instruction.operands = [copied(value) for value in instruction.operands]
        new_block.terminator = copy_terminator(block.terminator, copied, blocks)
    return copy, values, blocks


def copy_terminator(
    terminator: Terminator, copied: Callable[[Value], Value], blocks: dict[Block, Block]
) -> Terminator:
    """Another terminator like this, of the values that are `copied`, that leads to the copies in `blocks`."""
    position = terminator.position
    match terminator:
        case Jump():
            return Jump(blocks[terminator.target], position)
        case Branch():
            return Branch(
                copied(terminator.condition), blocks[terminator.true], blocks[terminator.false], position
            )
        case Switch():
            cases = {number: blocks[block] for number, block in terminator.cases.items()}
            return Switch(copied(terminator.value), cases, blocks[terminator.default], position)
        case Return():
            return Return(copied(terminator.value), position)
        case Raise():
            exception, cause = terminator.exception, terminator.cause
            return Raise(
                None if exception is None else copied(exception),
                None if cause is None else copied(cause),
                position,
            )
        case Unreachable():
            return Unreachable(position)
    raise TypeError(f"unknown terminator {type(terminator).__name__}")


def join_lines(graph: Graph, may_join: Callable[[Block, Block], bool]) -> bool:
    """Append to each block the one that it jumps to, where the latter has no other predecessor and `may_join`
    says so; the joined block has the handler of either.  Returns whether there were such blocks."""
    sources = graph.predecessors()
    replaced: dict[Value, Value] = {}
    gone: set[Block] = set()
    for block in graph.blocks:
        if block in gone:
            continue
        while isinstance(block.terminator, Jump):
            following = block.terminator.target
            if following is block or following is graph.entry or len(sources[following]) != 1:
                break
            if not may_join(block, following):
                break
            for phi in following.phis:
                replaced[phi] = phi.operands[block]
            for instruction in following.instructions:
                block.append(instruction)
            for successor in following.successors:
                moved = (block if p is following else p for p in sources[successor])
                sources[successor] = list(dict.fromkeys(moved))
                for phi in successor.phis:
                    operands: dict[Block, Value] = {}
                    for old, value in phi.operands.items():
                        operands.setdefault(block if old is following else old, value)
                    phi.operands = operands
            block.terminator = following.terminator
            block.handler = following.handler if block.handler is None else block.handler
            gone.add(following)
    graph.blocks = [block for block in graph.blocks if block not in gone]
    graph.replace_uses(replaced)
    return bool(gone)
