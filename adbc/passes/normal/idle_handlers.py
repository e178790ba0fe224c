"""Exceptional edges of blocks in which nothing raises any more are removed.

before (``%1`` was the load of a global that is a constant now)::

    a: handler h                  h:
        jump b                        %2 = phi [a: %x, b: %y]
    b: handler h                      %3 = catch
        %4 = call f(%x)               ...

after::

    a:                            h:
        jump b                        %2 = phi [b: %y]
    b: handler h                      %3 = catch
        %4 = call f(%x)               ...

Needs nothing; leaves handlers that cannot be reached to `unreachable`, phis to `trivial_phis` and
short blocks to `merge_blocks`.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.handlers import drop_idle_handlers

__all__ = ["idle_handlers"]


def idle_handlers(graph: Graph) -> Graph:
    drop_idle_handlers(graph)
    return graph
