"""Running a function and its graph on the same arguments, and comparing all that can be seen."""

from __future__ import annotations

import copy
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.interpret import interpret
from tests.lift import corpus


def outcome(run: Callable[[], Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What came out, or what was raised, and what the arguments look like afterwards."""
    counter = corpus.COUNTER
    try:
        result: tuple[Any, ...] = ("returned", picture(run()))
    except BaseException as error:  # any exception is an outcome to compare
        result = ("raised", chain(error))
    if sys.exception() is not None:
        result = (*result, "left behind", repr(sys.exception()))
    change = corpus.COUNTER - counter
    corpus.COUNTER = counter
    return (*result, picture(arguments), change)


def chain(error: BaseException | None, depth: int = 0) -> Any:
    """An exception with its causes, contexts and parts."""
    if error is None or depth > 8:
        return None
    parts = [chain(part, depth + 1) for part in getattr(error, "exceptions", ())]
    return (
        type(error),
        str(error),
        error.__suppress_context__,
        chain(error.__cause__, depth + 1),
        chain(error.__context__, depth + 1),
        parts,
    )


def picture(value: Any) -> Any:
    """`value` as nested tuples that compare by content and class."""
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(picture, value))
    if isinstance(value, dict):
        return (type(value).__name__, *((picture(k), picture(v)) for k, v in value.items()))
    if isinstance(value, types.FunctionType):
        return ("function", picture([c.cell_contents for c in value.__closure__ or ()]))
    if hasattr(value, "__dict__") and not isinstance(value, type | types.ModuleType):
        return (type(value).__qualname__, picture(vars(value)))
    return (type(value).__name__, repr(value))


def run_function(function: types.FunctionType, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    arguments = _copies(arguments)
    return outcome(lambda: function(*arguments), arguments)


def run_graph(graph: Graph, function: types.FunctionType, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    arguments = _copies(arguments)
    bound = inspect.signature(function).bind(*arguments)
    bound.apply_defaults()
    values = [bound.arguments[argument.name] for argument in graph.arguments]
    closure = function.__closure__ or ()
    return outcome(
        lambda: interpret(graph, *values, globals=function.__globals__, closure=closure, limit=100_000),
        arguments,
    )


def _copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Deep copies; functions get cells of their own."""
    return tuple(
        _with_own_cells(a) if isinstance(a, types.FunctionType) else copy.deepcopy(a) for a in arguments
    )


def _with_own_cells(function: types.FunctionType) -> types.FunctionType:
    cells = tuple(types.CellType(c.cell_contents) for c in function.__closure__ or ())
    return types.FunctionType(function.__code__, function.__globals__, None, function.__defaults__, cells)
