"""Blocks that are one straight line become one block; blocks that only forward are taken out.

before::

    a:                        b:                   f:                  join:
        ...                       ...                  jump join           %1 = phi [f: %x, g: %y]
        jump b                    branch %c, f, g  g: jump join            ...

after::

    a:                                             g:                  join:
        ...                                            jump join           %1 = phi [a: %x, g: %y]
        ...
        branch %c, join, g

A forwarding block stays if its predecessor already goes to the same place with other values: a phi
has one operand per predecessor.  The entry stays what it is.  A block that may raise into a handler
ends where it is; what stands before it joins it if nothing in that may raise.
Needs nothing; a phi of a block that is merged disappears.
"""

from __future__ import annotations

from adbc.ir.graph import Block, Graph
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import join_lines
from adbc.ir.values import Const, Value

__all__ = ["merge_blocks"]


def merge_blocks(graph: Graph) -> Graph:
    changed = True
    while changed:
        changed = _skip_forwarding(graph)
        changed |= join_lines(graph, _may_join)
    return graph


def _may_join(block: Block, following: Block) -> bool:
    return block.handler is None and (following.handler is None or _may_precede(block, following))


def _may_precede(block: Block, following: Block) -> bool:
    """Whether the instructions of `block` may stand in `following`, which has a handler.

    None of them may raise into it; and what is last in a block does not exist in its handler, so nothing may
    come to stand in front of a mere ``raise``.
    """
    if block.instructions and not following.instructions:
        return False
    return not any(map(may_raise, block.instructions))


def _skip_forwarding(graph: Graph) -> bool:
    """Let the predecessors of empty blocks go where those go."""
    predecessors = graph.predecessors()
    changed = False
    for block in list(graph.blocks):
        end = block.terminator
        if (
            not isinstance(end, Jump)
            or block is graph.entry
            or end.target is block
            or block.phis
            or block.instructions
            or block.handler is not None
        ):
            continue
        following = end.target
        sources = predecessors[block]
        if not sources or not all(_may_skip(source, block, following, predecessors) for source in sources):
            continue
        for phi in following.phis:
            phi.operands = {
                source: value
                for old, value in phi.operands.items()
                for source in (sources if old is block else (old,))
            }
        for source in sources:
            source.terminator.replace_successor(block, following)
            _straighten(source)
        graph.blocks.remove(block)
        kept = [p for p in predecessors[following] if p is not block]
        predecessors[following] = list(dict.fromkeys((*kept, *sources)))
        changed = True
    return changed


def _may_skip(source: Block, block: Block, following: Block, predecessors: dict[Block, list[Block]]) -> bool:
    if source.handler is block or source.handler is following:
        return False
    if source not in predecessors[following]:
        return True
    return all(_same(phi.operands[source], phi.operands[block]) for phi in following.phis)


def _same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.value is b.value)


def _straighten(block: Block) -> None:
    """Replace a branch whose arms are the same block by a jump."""
    end = block.terminator
    if isinstance(end, Branch) and end.true is end.false:
        block.terminator = Jump(end.true, end.position)
