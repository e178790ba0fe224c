"""Emitting for tests: everything that is emitted is verified."""

from __future__ import annotations

import dis
import types
from typing import Any

from adbc.emit import emit_function
from adbc.emit.verify_stack import verify_stack
from adbc.inspect.round_trip import roundtrip
from adbc.ir.graph import Graph
from adbc.ir.parser import parse_graph


def checked_roundtrip(function: types.FunctionType, *, normal: bool = True) -> types.FunctionType:
    result = roundtrip(function, normal=normal)
    verify_stack(result.__code__)
    return result


def checked(graph: Graph | str, globals: dict[str, Any] | None = None, **rest: Any) -> types.FunctionType:
    """The verified function of a graph or its text."""
    if isinstance(graph, str):
        graph = parse_graph(graph)
    function = emit_function(graph, {} if globals is None else globals, **rest)
    verify_stack(function.__code__)
    return function


def opnames(code: types.CodeType) -> list[str]:
    """The instructions of a code object, without prefixes."""
    return [i.opname for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
