"""Functions that have a graph but no bytecode of their own.

A `GraphFunction` looks to the engine like a Python function: it has a code (an object that identifies
it and says what its parameters are), globals and a name.  Calling it runs the graph as it is.
"""

from __future__ import annotations

import types
from typing import Any, NamedTuple

from adbc import emit
from adbc.ir.graph import Graph
from adbc.tangents import register_tangent
from adbc.tangents.protocol import INACTIVE

__all__ = ["GraphCode", "GraphFunction", "Segments"]


class GraphCode:
    """What a code object says of a function, read off its graph.  Equal only to itself."""

    co_freevars: tuple[str, ...] = ()
    co_flags = 0
    co_kwonlyargcount = 0
    original: types.CodeType | None = None
    """The code of the function that this is another form of, if it is one."""

    def __init__(self, graph: Graph) -> None:
        self.co_name = graph.qualname.rpartition(".")[2]  # in tracebacks a segment is the whole generator
        self.co_qualname = graph.qualname
        self.co_filename = graph.filename
        self.co_firstlineno = graph.first_line
        self.co_argcount = self.co_posonlyargcount = len(graph.arguments)
        self.co_varnames = tuple(a.name for a in graph.arguments)


class GraphFunction:
    """A function made of a graph in normal form; all parameters are positional."""

    __defaults__ = None
    __kwdefaults__ = None
    __closure__ = None
    is_rest = False
    """Whether this is the rest of a function behind a wrong guess."""

    def __init__(self, graph: Graph, globals: dict[str, Any]) -> None:
        self.graph = graph
        self.__code__ = GraphCode(graph)
        self.__globals__ = globals
        self.__name__ = graph.name
        self.__qualname__ = graph.qualname
        self._plain: types.FunctionType | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._plain is None:
            self._plain = emit.emit_function(self.graph, self.__globals__)
        return self._plain(*arguments)

    def __repr__(self) -> str:
        return f"<graph function {self.__qualname__}>"


class Segments(NamedTuple):
    """The segments that a generator function is cut into."""

    functions: tuple[Any, ...]
    guarded: frozenset[int]
    """The numbers of the segments in front of which a generator is suspended inside a ``try`` or ``with``."""
    code: types.CodeType


register_tangent(GraphFunction, INACTIVE)
