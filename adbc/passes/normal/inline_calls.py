"""Small functions are written into those that call them.

before::

    b:                                           graph scaled(k, v)
        %1: = call scaled(2.0, %x)               entry:
        %2: = call operator.add(%1, %y)              %1 = call operator.mul(%k, %v)
        ...                                          return %1

after::

    b:
        %1 = call operator.mul(2.0, %x)
        %2 = call operator.add(%1, %y)
        ...

A function with branches is written in as the blocks that it has, which its returns leave for what stands
behind the call.  Not written in are functions with loops or handlers, and nothing is where an exception has
a handler: there a call is one thing that may raise.  Positions remember the call, so that tracebacks can
show the frame that is not there any more.  Who runs the pass knows which functions may be written in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import edge_values, forget_handler, protect
from adbc.ir.terminators import Jump, Return
from adbc.ir.traverse import copy_graph, depth_first_postorder
from adbc.ir.values import Inlined, Instruction, Phi, Position, Value

__all__ = [
    "LARGEST", "MOST_IN_CODE", "adopted", "inline_calls", "is_open", "is_small", "put_graph", "split",
    "take_blocks",
]  # fmt: skip

LARGEST = 40
"""A function with more instructions than this stays a function."""

MOST_IN_CODE = 2 * LARGEST
"""One with more in its bytecode is not even looked at, though some of them may be never reached."""

ENOUGH = 400
"""A caller does not grow beyond this."""

Choose = Callable[[Instruction], tuple[Graph, Sequence[Value]] | None]


def is_open(graph: Graph) -> bool:
    """Whether a function in normal form returns somewhere, and handles no exceptions."""
    if graph.is_generator or any(block.handler is not None for block in graph.blocks):
        return False
    return any(isinstance(block.terminator, Return) for block in graph.blocks)


def is_small(graph: Graph, is_bound: bool = False) -> bool:
    """Whether a function in normal form may be written into another.  is_bound: whoever asks knows what its
    cells and parameters are, however many arguments it takes."""
    if not is_open(graph) or (not is_bound and (graph.free or graph.has_varargs or graph.has_varkw)):
        return False
    blocks = depth_first_postorder([graph.entry], lambda block: block.successors)
    order = {block: i for i, block in enumerate(blocks)}
    has_loop = any(order[s] >= order[b] for b in order for s in b.successors)
    return not has_loop and sum(len(block.instructions) for block in graph.blocks) <= LARGEST


def inline_calls(graph: Graph, choose: Choose) -> bool:
    """Write functions into `graph`, in place: `choose` gives the graph of the one that is called and what
    its parameters are, or None.  Returns whether there were any."""
    size = sum(len(block.instructions) for block in graph.blocks)
    changed = False
    waiting = list(graph.blocks)
    while waiting:
        block = waiting.pop(0)
        if block.handler is not None:
            continue
        for call in list(block.instructions):
            chosen = None if size > ENOUGH or call.op != "call" else choose(call)
            if chosen is None:
                continue
            callee, values = chosen
            size += sum(len(b.instructions) for b in callee.blocks)
            changed = True
            behind = _write_in(graph, call, callee, values)
            if behind is not block:
                waiting.insert(0, behind)
                break
    return changed


def _write_in(graph: Graph, call: Instruction, callee: Graph, values: Sequence[Value]) -> Block:
    """Replace `call` by what `callee` does; returns the block that goes on behind."""
    block = call.block
    assert block is not None
    body = adopted(graph, call, callee, values)
    at = block.instructions.index(call)
    if len(body.blocks) == 1:
        instructions, end = body.entry.instructions, body.entry.terminator
        assert isinstance(end, Return)
        for instruction in instructions:
            instruction.block = block
        block.instructions[at : at + 1] = instructions
        _name(end.value, call)
        graph.replace_uses({call: end.value})
        return block
    behind = split(graph, block, at)
    block.terminator = Jump(body.entry, call.position)
    result = Phi(behind, name=call.name)
    result.position = call.position
    take_blocks(graph, body)
    for inner in body.blocks:
        if isinstance(inner.terminator, Return):
            result.operands[inner] = inner.terminator.value
            inner.terminator = Jump(behind, inner.terminator.position)
    behind.phis.append(result)
    graph.replace_uses({call: result})
    return behind


def adopted(graph: Graph, call: Instruction, callee: Graph, values: Sequence[Value]) -> Graph:
    """A copy of `callee` as it stands in `graph` in the place of `call`: `values` are its parameters, its
    places remember the call, and what it was specialised on `graph` is specialised on, too."""
    body, _, _ = copy_graph(callee)
    body.replace_uses(dict(zip(body.arguments, values, strict=True)))
    known = {guard.path for guard in graph.guards}
    graph.guards += [guard for guard in body.guards if guard.path not in known]
    graph.facts.update(body.facts)
    inlined = Inlined(callee.name, callee.qualname, callee.filename, callee.first_line, call.position)
    places: dict[Position | None, Position] = {}
    for inner in body.blocks:
        for value in (*inner.phis, *inner.instructions):
            value.position = _placed(value.position, call.position, inlined, places)
        end = inner.terminator
        end.position = _placed(end.position, call.position, inlined, places)
    return body


def put_graph(graph: Graph, call: Instruction, consumer: Graph, values: Sequence[Value]) -> Phi:
    """Replace `call` by what `consumer` does; returns what has become of its result."""
    block = call.block
    assert block is not None
    body = adopted(graph, call, consumer, values)
    handler = block.handler
    behind = split(graph, block, block.instructions.index(call))
    take_blocks(graph, body)
    block.terminator = Jump(body.entry, call.position)
    result = Phi(behind, name=call.name)
    result.position = call.position
    for inner in body.blocks:
        if isinstance(inner.terminator, Return):
            result.operands[inner] = inner.terminator.value
            inner.terminator = Jump(behind, call.position)
    behind.phis.append(result)
    graph.replace_uses({call: result})
    if handler is not None:
        # The call was the last that may raise in its block, or stands in front of it.
        places = edge_values(block)
        forget_handler(block)
        protect(graph, (*body.blocks, behind), handler, places)
    return result


def take_blocks(graph: Graph, body: Graph) -> None:
    """Put the blocks of `body` behind those of `graph`."""
    name = body.name.strip("<>")  # what labels may be made of
    for inner in body.blocks:
        inner.graph = graph
        inner.label = graph.add_block(f"{name}.{inner.label}").label
        graph.blocks[-1] = inner


def split(graph: Graph, block: Block, at: int) -> Block:
    """Move what stands behind instruction number `at`, which is removed, into a block of its own."""
    behind = graph.add_block(f"{block.label}.behind")
    behind.instructions = block.instructions[at + 1 :]
    for instruction in behind.instructions:
        instruction.block = behind
    del block.instructions[at:]
    behind.terminator = block.terminator
    for successor in behind.successors:
        for phi in successor.phis:
            if block in phi.operands:
                phi.operands[behind] = phi.operands.pop(block)
    return behind


def _placed(
    position: Position | None,
    call: Position | None,
    inlined: Inlined,
    places: dict[Position | None, Position],
) -> Position | None:
    """`position`, a place in the callee, as a place in the caller."""
    if position is None:
        return call
    known = places.get(position)
    if known is None:
        around = inlined
        if position.inlined is not None:  # it had been written into the callee
            around = _around(position.inlined, inlined)
        known = places[position] = Position(
            position.line, position.end_line, position.column, position.end_column, around
        )
    return known


def _around(inner: Inlined, outer: Inlined) -> Inlined:
    """`inner`, the call of which now stands in the function that `outer` describes."""
    call = inner.call
    if call is not None:
        above = outer if call.inlined is None else _around(call.inlined, outer)
        call = Position(call.line, call.end_line, call.column, call.end_column, above)
    return Inlined(inner.name, inner.qualname, inner.filename, inner.first_line, call)


def _name(value: Value, call: Instruction) -> None:
    if isinstance(value, Instruction) and value.name is None:
        value.name = call.name
