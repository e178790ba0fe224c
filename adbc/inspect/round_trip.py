"""The identity, the long way round: lift a function, emit it, and differentiate nothing.

The result must be indistinguishable from the original, so this is the proof of the lifter and of
the emitter.  Globals stay names, because nothing here would notice if they were rebound.
"""

from __future__ import annotations
import __future__

import functools
import inspect
import operator
import sys
import types
from typing import Any

from adbc.emit import emit
from adbc.emit.assembly import HAS_DOCSTRING
from adbc.errors import LiftError
from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.lift import lift
from adbc.passes import NORMAL
from adbc.passes.normal.needed_releases import needed_releases

__all__ = ["primal_graph", "roundtrip", "roundtrip_code"]

_METHOD = 0x8000000
"""The flag of functions that were written in the body of a class (from 3.14)."""

_KEPT = functools.reduce(
    operator.or_,
    (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names),
    inspect.CO_NESTED | _METHOD,
)
"""Flags that say where the function stood and how its source was read, which ``compile`` inherits."""

_GUARDED = frozenset({"resolve_globals"})
"""Passes that make a graph depend on what is in the globals now."""


def primal_graph(function: types.FunctionType, *, normal: bool = True) -> Graph:
    """The graph of `function` that `roundtrip` emits: raw, or in normal form."""
    return _graph(function.__code__, function.__globals__, normal)


def _graph(code: types.CodeType, globals: dict[str, Any], normal: bool) -> Graph:
    graph = lift(code, globals=globals, releases=True)
    if not needed_releases(graph):
        graph = lift(code, globals=globals)
    if normal:
        for step in NORMAL.stages:
            if step.name not in _GUARDED:
                step.run(graph, globals)
    return graph


def roundtrip_code(code: types.CodeType, globals: dict[str, Any], *, normal: bool = True) -> types.CodeType:
    """The code object that `roundtrip` makes of `code`, that of a function whose globals are `globals`.

    The functions that `code` makes when it runs keep the code that they have.
    """
    graph = _graph(code, globals, normal)
    # Up to 3.13 the first constant is the docstring if it is a string; from 3.14 a flag says so.
    marked = sys.version_info < (3, 14) or code.co_flags & HAS_DOCSTRING
    first = code.co_consts[0] if code.co_consts and marked else None
    result = emit(
        graph,
        name=code.co_name,
        qualname=code.co_qualname,
        docstring=first if isinstance(first, str) else None,
    )
    return result.replace(co_flags=result.co_flags | code.co_flags & _KEPT)


def roundtrip(function: types.FunctionType, *, normal: bool = True) -> types.FunctionType:
    """A function like `function` in every respect, but compiled by adbc from its own bytecode.

    It shares the globals, the closure and the objects that are defaults and attributes.  Raises
    `LiftError` where the lifter refuses.
    """
    if not is_function(function):
        raise LiftError(
            f"{function!r} is a {type(function).__name__}, not a function: pass the function itself"
        )
    code = roundtrip_code(function.__code__, function.__globals__, normal=normal)
    result = types.FunctionType(
        code, function.__globals__, code.co_name, function.__defaults__, function.__closure__
    )
    result.__kwdefaults__ = dict(function.__kwdefaults__) if function.__kwdefaults__ is not None else None
    result.__name__ = function.__name__
    result.__qualname__ = function.__qualname__
    result.__module__ = function.__module__
    result.__doc__ = function.__doc__
    annotate = getattr(function, "__annotate__", None)  # from 3.14
    if annotate is not None:  # not called here: what it names may not exist yet
        setattr(result, "__annotate__", annotate)  # noqa: B010 (mypy checks for 3.11)
    else:
        result.__annotations__ = function.__annotations__
    if hasattr(function, "__type_params__"):  # from 3.12
        setattr(result, "__type_params__", function.__type_params__)  # noqa: B010 (mypy checks for 3.11)
    result.__dict__.update(function.__dict__)
    return result
