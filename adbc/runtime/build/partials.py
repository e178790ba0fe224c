"""Partial derivatives of scalar rules, as graphs that can be written into any code."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Argument
from adbc.passes.query import target
from adbc.runtime.build.graphs import Graphs
from adbc.runtime.build.knowledge import Knowledge
from adbc.types import AbstractType, class_of, infer
from adbc.types.array_calls import is_inline_number
from adbc.types.lattice import FLOAT

__all__ = ["Partials"]


class Partials:
    """The graphs of the partial derivatives of rows.

    They are not forgotten with what was derived: a row never changes, and adding a rule adds a row.
    """

    def __init__(self, graphs: Graphs, knowledge: Knowledge) -> None:
        self.graphs = graphs
        self.knowledge = knowledge
        self.known: dict[tuple[Any, int], Graph | None] = {}

    def partial(self, row: Any, index: int) -> Graph | None:
        """The graph of partial derivative `index` of a scalar rule: one block, for any code."""
        key = (row, index)
        if key not in self.known:
            partial = row.partials[index] if index < len(row.partials) else None
            if partial is None:
                self.known[key] = None
                return None
            graph, result = self._typed(partial)
            if not _fits_anywhere(graph):
                graph = _call_of(partial, graph)
            if row.is_looked_at and not _is_real(result):
                _check_result(graph, row.check_of(index), index)
            self.known[key] = graph
        return self.known[key]

    def straight(self, function: types.FunctionType) -> Graph | None:
        """The graph of `function` if it is one block that means the same in any code."""
        graph, _ = self._typed(function)
        return graph if _fits_anywhere(graph) else None

    def _typed(self, function: types.FunctionType) -> tuple[Graph, AbstractType]:
        """The graph of `function` of floats, and what it gives then."""
        graph, _, _ = copy_graph(self.graphs.primal(function))
        return graph, infer(graph, (FLOAT,) * len(graph.arguments), self.knowledge.oracle)


def _is_real(type: AbstractType) -> bool:
    """Whether the members of a type are real numbers; a whole number is as good as a float in a product."""
    return is_inline_number(type) or class_of(type) is int


def _fits_anywhere(graph: Graph) -> bool:
    return _is_straight(graph) and not _reads_names(graph)


def _is_straight(graph: Graph) -> bool:
    return len(graph.blocks) == 1 and isinstance(graph.entry.terminator, Return)


_BY_NAME: tuple[Any, ...] = (
    intrinsics._global_, intrinsics._globals_, intrinsics._freevar_,
    intrinsics._store_global_, intrinsics._delete_global_,
)  # fmt: skip


def _reads_names(graph: Graph) -> bool:
    """Whether names are looked up at run time: elsewhere they mean something else."""
    return any(target(call) in _BY_NAME for call in graph.instructions())


def _call_of(partial: Callable[..., Any], like: Graph) -> Graph:
    """A graph that just calls `partial`, for derivatives with branches."""
    graph = Graph(like.name)
    arguments: list[Argument] = [graph.add_argument(a.name) for a in like.arguments]
    builder = Builder(graph)
    builder.ret(builder.call(partial, *arguments))
    return graph


def _check_result(graph: Graph, check: Callable[..., Any], index: int) -> None:
    """Have `graph`, one block, return what `check` gives for its result, that of the function, and argument
    `index`."""
    out, argument = graph.arguments[0], graph.arguments[1 + index]
    (result,) = graph.entry.terminator.values
    builder = Builder(graph, graph.entry)
    builder.ret(builder.call(check, result, out, argument))
