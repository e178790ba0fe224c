"""In a generator, ``next(it)`` that finds no value raises a `RuntimeError` instead of a `StopIteration`.

before::                             after::

    graph pairs(it)                      graph pairs(it)
        %1 = call next(%it)                  %1 = call _next_(%it)
        ...                                  %2 = call _exhausted_(%1)
                                             branch %2, ends, more
                                         ends:
                                             raise RuntimeError
                                         more:
                                             ...

A loop into which a generator is written has no frame where that could be done later.  For generators of which
a copy is written into what consumes them (`consumed_generators`), and that catch nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _iter_
from adbc.ir.values import Argument, Instruction
from adbc.passes.normal.inline_calls import put_graph
from adbc.passes.query import constant, target

__all__ = ["is_bare_next", "stopping_nexts"]


def is_bare_next(call: object) -> bool:
    """Whether this is ``next(it)``, which raises `StopIteration` when there is no more."""
    return (
        isinstance(call, Instruction)
        and target(call) is _foreigncall_
        and constant(call.operands[1]) is next
        and len(call.operands) == 3
    )


def stopping_nexts(graph: Graph, taken: Callable[[], Graph]) -> set[int]:
    """Replace each ``next(it)`` of a generator in normal form, in place, by a copy of ``taken(it)``, which
    takes a value of an iterator or raises the error; returns the numbers of the parameters that have to be
    iterators for that."""
    asked: set[int] = set()
    for call in [call for call in graph.instructions() if is_bare_next(call)]:
        assert call.block is not None
        iterator = call.operands[2]
        if call.block.handler is not None:
            continue
        if isinstance(iterator, Argument):
            asked.add(graph.arguments.index(iterator))
        elif target(iterator) is not _iter_:
            continue
        put_graph(graph, call, taken(), [iterator])
    return asked
