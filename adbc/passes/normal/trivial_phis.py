"""Phis that merge nothing and phis that nothing uses are removed.

before::

    %1 = phi [a: %x, b: %1]
    %2 = phi [a: 0, b: %3]
    %3 = call operator.neg(%1)

after (``%2`` had no use)::

    %3 = call operator.neg(%x)

Needs nothing; leaves only phis that merge two values or more and are used.
"""

from __future__ import annotations

from adbc.ir.builder import remove_dead_phis, remove_trivial_phis
from adbc.ir.graph import Graph

__all__ = ["trivial_phis"]


def trivial_phis(graph: Graph) -> Graph:
    remove_trivial_phis(graph)
    remove_dead_phis(graph)
    return graph
