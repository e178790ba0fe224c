"""Cells that no function holds become plain values again.

before (the comprehension that captured ``k`` is inlined)::

    entry:
        %k = call _cell_new_(%arg)
        ...
    body:
        %1 = call _cell_get_(%k, 'k', False)
        %2 = call operator.mul(%x, %1)

after::

    body:
        %2 = call operator.mul(%x, %arg)

Only cells whose every use is a get, set or delete, each get and delete being certain to find contents:
which error an empty cell raises stays with the cell.  What a handler finds is right without further
ado: none of these operations raises, so none of them is what raised.
Needs calls, and functions that are not used to be gone (`dead_code`); leaves trivial phis.
"""

from __future__ import annotations

from adbc.ir.builder import Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import UNBOUND, _cell_del_, _cell_get_, _cell_new_, _cell_set_
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import UNDEF, Argument, Const, Instruction, Value
from adbc.passes.query import drop, target

__all__ = ["promote_cells"]

_EMPTY: list[Value] = [Const(UNBOUND)]


def promote_cells(graph: Graph) -> Graph:
    cells = _private_cells(graph)
    if not cells:
        return graph
    cells -= _maybe_empty(graph, cells)
    variables = Variables(graph, initial=lambda variable: UNDEF)
    for block in graph.blocks:
        for successor in block.successors:
            variables.edge(block, successor)
    replaced: dict[Value, Value] = {}
    gone: set[Instruction] = set()
    for block in graph.blocks:
        for instruction in block.instructions:
            cell = _cell_of(instruction)
            if cell not in cells:
                continue
            gone.add(instruction)
            function = target(instruction)
            if function is _cell_get_:
                replaced[instruction] = variables.read(cell, block)
            elif function is _cell_set_:
                variables.write(cell, block, instruction.operands[2])
            else:  # a new or emptied cell
                contents = instruction.operands[1:] if function is _cell_new_ else []
                variables.write(cell, block, (contents or _EMPTY)[0])
    for block in graph.blocks:
        variables.seal(block)
    left_handlers = drop(graph, gone)
    graph.replace_uses(replaced)
    if left_handlers:
        remove_unreachable(graph)
    return graph


def _cell_of(instruction: Instruction) -> Value | None:
    """The cell that an operation on cells works on."""
    function = target(instruction)
    if function is _cell_new_:
        return instruction
    if function is _cell_get_ or function is _cell_set_ or function is _cell_del_:
        return instruction.operands[1]
    return None


def _private_cells(graph: Graph) -> set[Value]:
    """The cells that the graph makes and that are only read, written and emptied, all in the graph itself."""
    cells: set[Value] = {i for i in graph.instructions() if target(i) is _cell_new_}
    for block in graph.blocks:
        for phi in block.phis:
            cells.difference_update(phi.operands.values())
        for instruction in block.instructions:
            own = _cell_of(instruction)
            places = instruction.operands if own is None else instruction.operands[2:]
            cells.difference_update(places)
            if own is instruction:
                cells.difference_update(instruction.operands)
        cells.difference_update(block.terminator.values)
    return cells


def _maybe_empty(graph: Graph, cells: set[Value]) -> set[Value]:
    """Which of `cells` a get or delete may find empty."""
    predecessors = graph.predecessors()
    # Every cell is taken to be full at the end of every block, until it is seen not to be.
    full: dict[Block, set[Value]] = {block: set(cells) for block in graph.blocks}
    found: set[Value] = set()
    changed = True
    while changed:
        changed = False
        for block in graph.blocks:
            sources = [full[p] for p in predecessors[block]]
            here = set.intersection(*sources) if sources else set()
            for instruction in block.instructions:
                cell = _cell_of(instruction)
                if cell is None or cell not in cells:
                    continue
                function = target(instruction)
                if (function is _cell_get_ or function is _cell_del_) and cell not in here:
                    found.add(cell)
                if function is _cell_set_ or (function is _cell_new_ and _is_full(instruction)):
                    here.add(cell)
                elif function is not _cell_get_:
                    here.discard(cell)
            if here != full[block]:
                full[block] = here
                changed = True
    return found


def _is_full(made: Instruction) -> bool:
    """Whether a cell is made with contents that are certainly not `UNBOUND`."""
    contents = made.operands[1:]
    return bool(contents) and (
        isinstance(contents[0], Argument | Instruction)
        or (isinstance(contents[0], Const) and contents[0].value is not UNBOUND)
    )
