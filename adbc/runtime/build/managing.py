"""Which context managers may be written around the bodies of their statements, and what is written there."""

from __future__ import annotations

import contextlib
import types
from typing import Any, Protocol

from adbc import passes
from adbc.errors import LiftError
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph, Guard
from adbc.ir.intrinsics import _foreigncall_
from adbc.ir.terminators import Raise, Return
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction
from adbc.passes.normal.managers import Managed, thrown
from adbc.passes.normal.segments import FINISHED, catches
from adbc.passes.query import constant, target
from adbc.runtime.build.bindings import Bindings
from adbc.runtime.build.calling import cell_step
from adbc.runtime.build.facts import CellFact
from adbc.runtime.state.graph_functions import Segments

__all__ = ["Managing", "makes_managers"]

_HELPER = contextlib.contextmanager(lambda: iter(())).__code__
"""The code of every function that `contextlib.contextmanager` makes."""


def makes_managers(helper: object) -> bool:
    """Whether `helper` is what `contextlib.contextmanager` has made of a function."""
    return type(helper) is types.FunctionType and helper.__code__ is _HELPER


class Graphs(Protocol):
    """Who knows the graphs of functions: `graphs.Graphs`."""

    @property
    def bindings(self) -> Bindings: ...

    def primal(self, function: types.FunctionType) -> Graph: ...

    def segments(self, function: types.FunctionType, /) -> Segments: ...

    def moved(self, body: Graph, globals: dict[str, Any], graph: Graph) -> Graph | None: ...


class Managing:
    """What `managers` asks about the calls of one graph."""

    def __init__(self, graphs: Graphs, graph: Graph) -> None:
        self.graphs = graphs
        self.graph = graph

    def manager(self, call: Instruction) -> Managed | None:
        """The manager that `call` makes, if it is a generator of one yield whose two parts may be written
        into the graph."""
        helper = constant(call.operands[0])
        if not makes_managers(helper):
            return None
        cell = helper.__closure__[0]
        function = cell.cell_contents
        if type(function) is not types.FunctionType:
            return None
        arguments = call.operands[1:]
        binding = self.graphs.bindings.find(function, len(arguments), call.keywords, makes_generator=True)
        if binding is None:
            return None
        try:
            parts = self.graphs.segments(function)
            is_careless = not catches(self.graphs.primal(function))
        except LiftError:  # it stays a call, and says why when it is made
            return None
        if len(parts.functions) != 2:
            return None
        before = self._part(parts.functions[0].graph, function, False, "generator didn't yield")
        after = self._part(parts.functions[1].graph, function, True, "generator didn't stop")
        if before is None or after is None:
            return None
        path = next((g.path for g in self.graph.guards if g.value is helper), None)
        if path is None:
            self.graph.facts["cell", id(cell)] = CellFact(cell, function)
        else:
            self.graph.guards.append(Guard((*path, cell_step(0)), function))
        values = [slot if isinstance(slot, Const) else arguments[slot] for slot in binding.slots]
        throws = None if is_careless else (thrown, parts.functions[1])
        return Managed(before, after, values, throws)

    def _part(
        self, segment: Graph, function: types.FunctionType, is_last: bool, complaint: str
    ) -> Graph | None:
        """`_part`, as it may be written into the graph."""
        part = _part(segment, function, is_last, complaint)
        return None if part is None else self.graphs.moved(part, function.__globals__, self.graph)


def _part(segment: Graph, function: types.FunctionType, is_last: bool, complaint: str) -> Graph | None:
    """A segment that nothing is thrown into, which raises if it does not end as it must."""
    graph, _, _ = copy_graph(segment)
    graph.name = function.__name__  # labels are made of it
    throwing, sent = graph.arguments[:2]
    graph.replace_uses({throwing: Const(False), sent: Const(None)})
    del graph.arguments[:2]
    for index, argument in enumerate(graph.arguments):
        argument.index = index
    passes.normalise(graph, function.__globals__)
    for block in graph.blocks:
        end = block.terminator
        if not isinstance(end, Return):
            continue
        triple = end.value
        if not isinstance(triple, Instruction) or target(triple) is None:
            return None
        if (constant(triple.operands[2]) == FINISHED) != is_last:
            builder = Builder(graph, block)
            builder.position = end.position
            error = builder.call(_foreigncall_, Const(RuntimeError), Const(complaint))
            block.terminator = Raise(error, position=end.position)
    return graph
