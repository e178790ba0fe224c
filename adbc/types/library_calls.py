"""Which calls of library functions may turn out to be calls of constants, which are made as they are."""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any

from adbc.cpython.libraries import (
    FOR_CONSTANTS,
    is_library_class,
    is_library_code,
    is_library_file,
    is_library_module,
)
from adbc.cpython.names import calls_by_name
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.types.inference import type_of
from adbc.types.lattice import class_of, is_number

__all__ = ["gives_kept", "is_kept", "is_of_constants", "may_run_as_it_is"]


def may_run_as_it_is(function: types.FunctionType, call: Instruction, active: Sequence[Value]) -> bool:
    """Whether it is found out at run time what becomes of `call`, that of a library's function.

    active: the arguments that may have a derivative.  Where there are none, the call is made as it is,
    unless it is a trifle.  Where there are, and it stands in code of the user's, memory among them may turn
    out to be constant; a number with a derivative has one.  Within a library calls are mostly of what it was
    called for; so are the methods of containers, which are about what somebody has put in.
    """
    if not is_library_code(function.__code__.co_filename, function.__globals__) or _is_trifle(function):
        return False
    if not active:
        return True
    if function.__module__ in _OF_CONTAINERS or any(is_number(type_of(v)) for v in active):
        return False
    block = call.block
    return block is not None and not is_library_file(block.graph.filename)


_OF_CONTAINERS = frozenset({"collections", "_collections_abc"})
"""Modules of containers in Python: chains of mappings, counters, and what classes of the user's inherit."""


def _is_trifle(function: types.FunctionType) -> bool:
    """Whether `function` does so little that to follow it is less than to ask whether it has to be followed:
    it reads and sets attributes, and calls builtin functions at most."""
    called = calls_by_name(function.__code__)
    return called is not None and called.isdisjoint(function.__globals__) and called <= vars(builtins).keys()


def is_kept(graph: Graph, name: object) -> bool:
    """Whether what the code of `graph` reads as global `name` is something that a library keeps: because that
    is code of the library, or of the user's, who has it from there."""
    namespace: dict[str, Any] = graph.namespace or {}
    if is_library_code(graph.filename, namespace):
        return True
    return isinstance(name, str) and _is_of_a_library(name, namespace.get(name))


def gives_kept(call: Instruction) -> bool:
    """Whether `call`, which reads a global or an attribute that is no field, gives what a library keeps."""
    assert call.block is not None
    owner = next((v.value for v in call.operands[1:] if isinstance(v, Const)), None)
    if not isinstance(owner, types.ModuleType):
        return not isinstance(owner, type) and is_kept(call.block.graph, owner)
    name = call.operands[2]
    assert isinstance(name, Const) and type(name.value) is str
    return is_library_module(owner) or _is_of_a_library(name.value, vars(owner).get(name.value))


def _is_of_a_library(name: str, value: Any) -> bool:
    """Whether `value`, which stands in a module, is an object of a library, or a container that one has by
    the same `name`."""
    if type(value) not in _CONTAINERS:
        return value is not None and not isinstance(value, _NO_MEMORY) and is_library_class(type(value))
    return any(
        vars(module).get(name) is value and is_library_module(module)
        for module in [*sys.modules.values()]
        if isinstance(module, types.ModuleType)
    )


_CONTAINERS = (list, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict)
_NO_MEMORY = (
    str, bytes, int, float, complex, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType,
    functools.partial,
)  # fmt: skip


def is_of_constants(function: types.FunctionType, arguments: Iterable[Value]) -> bool:
    """Whether a call of `function` is one of a library that is about texts and times, on nothing but texts
    that are written in the code, and whole numbers: it is made as it is, whatever happens at run time."""
    if function.__module__ not in FOR_CONSTANTS or function.__code__.co_flags & inspect.CO_GENERATOR:
        return False
    return all(
        type(a.value) in _IMMUTABLE if isinstance(a, Const) else class_of(type_of(a)) in _WHOLE
        for a in arguments
    )


_WHOLE = (int, bool, types.NoneType)
_IMMUTABLE = frozenset({*_WHOLE, str, bytes, float})
