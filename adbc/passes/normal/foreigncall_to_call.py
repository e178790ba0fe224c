"""Calls whose target is implemented in C become `_foreigncall_`; instances of Python classes `_new_`.

before::

    %1 = call len(%xs)
    %2 = call Point(%x, %y)

after::

    %1 = call _foreigncall_(len, %xs)
    %2 = call _new_(Point, %x, %y)

The functions of `operator` that stand for syntax stay plain calls, and ``iter(x)`` becomes what a loop
begins with.  A class that is called with keywords, which `_new_` cannot pass, or whose metaclass defines what
calling it means, stays a plain call as well.
Needs constants as targets (`resolve_globals`); leaves calls of Python functions and of unknowns.
"""

from __future__ import annotations

import types
from typing import Any

from adbc.flags import HEAP_TYPE, IMMUTABLE_TYPE
from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import INTRINSICS, _foreigncall_, _iter_, _new_
from adbc.ir.ops import OPS
from adbc.ir.values import Const, Instruction
from adbc.passes.query import NOTHING, target

__all__ = ["foreigncall_to_call", "is_foreign", "is_python_class", "normal_call"]

_SYNTAX = {row.function for row in OPS.values()} | set(INTRINSICS.values())

_FOREIGN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodWrapperType,
)


def foreigncall_to_call(graph: Graph) -> Graph:
    for instruction in graph.instructions():
        normal_call(instruction)
    return graph


def normal_call(instruction: Instruction) -> None:
    """Mark `instruction` if it calls a class (`_new_`) or a function written in C (`_foreigncall_`)."""
    function = target(instruction)
    if function is NOTHING or _is_syntax(function):
        return
    if is_python_class(function):
        if not instruction.keywords and type(function).__call__ is type.__call__:
            instruction.operands.insert(0, Const(_new_))
    elif function is iter and len(instruction.operands) == 2 and not instruction.keywords:
        instruction.operands[0] = Const(_iter_)
    elif is_foreign(function):
        instruction.operands.insert(0, Const(_foreigncall_))


def _is_syntax(function: Any) -> bool:
    return isinstance(function, types.FunctionType | types.BuiltinFunctionType) and function in _SYNTAX


def is_foreign(function: Any) -> bool:
    """Whether a call of `function` enters C first: a builtin, a ufunc, a class written in C."""
    if isinstance(function, type):
        return not is_python_class(function)
    if isinstance(function, _FOREIGN):
        return True
    return (
        callable(function)
        and not type(function).__flags__ & HEAP_TYPE
        and not isinstance(function, types.FunctionType | types.MethodType)
    )


def is_python_class(kind: Any) -> bool:
    """Whether `kind` was made by a class statement (or as one would).

    C extensions may make their classes on the heap too; those have neither the namespace of a
    statement (``__dict__`` or ``__slots__``) nor methods that are Python functions.
    """
    if not isinstance(kind, type) or not kind.__flags__ & HEAP_TYPE or kind.__flags__ & IMMUTABLE_TYPE:
        return False
    namespace = vars(kind)
    return (
        "__slots__" in namespace
        or "__weakref__" in namespace
        or any(is_function(x) for x in namespace.values())
        or any(is_python_class(base) for base in kind.__bases__)
    )
