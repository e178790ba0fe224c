"""Frames in the user's name for code that is interpreted.

What a graph calls is called by a function that has nothing but the file, the line and the name of the user's
function: so tracebacks, refusals and whoever looks at frames see what they would see of code that was
written for it.
"""

from __future__ import annotations

import types
from typing import Any

from adbc.emit.items import Location
from adbc.emit.locations import table
from adbc.ir.graph import Graph
from adbc.ir.values import Position
from adbc.runtime.report.frames import continuations, note_inlined, note_original

__all__ = ["Lines"]


def _go_1(_call: Any, _a: Any, _adbc_frame: Any, self: Any) -> Any:
    return _call(_a)


def _go_2(_call: Any, _a: Any, _b: Any, _adbc_frame: Any, self: Any) -> Any:
    return _call(_a, _b)


def _go_3(_call: Any, _a: Any, _b: Any, _c: Any, _adbc_frame: Any, self: Any) -> Any:
    return _call(_a, _b, _c)


def _go_6(
    _call: Any, _a: Any, _b: Any, _c: Any, _d: Any, _e: Any, _f: Any, _adbc_frame: Any, self: Any
) -> Any:
    return _call(_a, _b, _c, _d, _e, _f)


def _go(_call: Any, _arguments: Any, _adbc_frame: Any, self: Any) -> Any:
    return _call(*_arguments)


# A call with as many arguments as are written down is one of Python: ``call(*arguments)`` takes room on the C
# stack before CPython 3.12.
_BY_COUNT = {1: _go_1, 2: _go_2, 3: _go_3, 6: _go_6}


class Lines:
    """The functions through which one graph makes its calls, by the place in the source.

    Each is called as ``go(function, *arguments, frame, first)``, or where there are unusually many arguments
    as ``go(function, arguments, frame, first)``.  `frame` is that of the machine, where the variables are;
    `first` is the first argument of a method, by the name that it has there.
    """

    def __init__(self, graph: Graph, code: Any, namespace: dict[str, Any], is_rest: bool) -> None:
        self.graph = graph
        self.code = code
        self.namespace = namespace
        self.is_rest = is_rest
        self.known: dict[tuple[Position | None, int], types.FunctionType] = {}

    def at(self, position: Position | None, count: int = -1) -> types.FunctionType:
        """The function that calls something at `position`, on `count` arguments where it has parameters for
        them."""
        key = position, count if count in _BY_COUNT else -1
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._made(*key)
        return found

    def _made(self, position: Position | None, count: int) -> types.FunctionType:
        graph, position = self.graph, position or Position(self.graph.first_line)
        plain = _BY_COUNT.get(count, _go).__code__
        where = Location(position.line, position.end_line, position.column, position.end_column)
        code = plain.replace(
            co_name=graph.qualname.rpartition(".")[2],  # a segment is the whole generator
            co_qualname=graph.qualname,
            co_filename=graph.filename,
            co_firstlineno=graph.first_line,
            co_linetable=table(graph.first_line, [(len(plain.co_code) // 2, where)]),
        )
        if position.inlined is not None:
            note_inlined(code, [(0, len(code.co_code), position.inlined)])
        if self.is_rest:
            continuations[id(code)] = code
        elif issubclass(type(self.code), types.CodeType):
            note_original(code, self.code)
        return types.FunctionType(code, self.namespace)
