"""Protected regions as long as they can be: blocks of one region become one block again.

In a graph every instruction that may raise into a handler ends its block, so that the handler's phis
can say what was assigned by then.  Code needs no such cuts where all those phis agree: there one
region spans all of them, values stay on the stack, and loops find their iterators.

before::

    a: handler h                h:
        %1 = call f(%x)             %p = phi [a: %x, b: %x]
        jump b                      %e = catch
    b: handler h                    ...
        %2 = call g(%1)
        ...

after::

    a: handler h                h:
        %1 = call f(%x)             %p = phi [a: %x]
        %2 = call g(%1)             %e = catch
        ...                         ...

The result is no proper graph (rule 17 of `verify` does not hold), so it is made for emission only and
nobody else sees it.
"""

from __future__ import annotations

from adbc.ir.graph import Block, Graph
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Raise
from adbc.ir.traverse import copy_graph, join_lines, remove_unreachable
from adbc.ir.values import Const, Value

__all__ = ["widened"]


def widened(graph: Graph) -> Graph:
    """`graph` if it has no handlers, else a copy with its protected blocks joined."""
    if all(block.handler is None for block in graph.blocks):
        return graph
    graph, _, _ = copy_graph(graph)
    remove_unreachable(graph)
    join_lines(graph, _may_join)
    return graph


def _may_join(block: Block, following: Block) -> bool:
    if block.handler is None:
        return following.handler is None or not any(map(may_raise, block.instructions))
    if following.handler is None:
        quiet = not any(map(may_raise, following.instructions))
        return quiet and not isinstance(following.terminator, Raise)
    return block.handler is following.handler and all(
        _same(phi.operands[block], phi.operands[following]) for phi in block.handler.phis
    )


def _same(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.value is b.value)
