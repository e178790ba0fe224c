"""Which calls of library functions may turn out to be calls of constants, which are made as they are."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable

from adbc.cpython.libraries import FOR_CONSTANTS, is_library_code, is_library_file
from adbc.ir.values import Const, Instruction, Value
from adbc.types.inference import type_of
from adbc.types.lattice import class_of

__all__ = ["is_of_constants", "may_run_as_it_is"]


def may_run_as_it_is(function: types.FunctionType, call: Instruction, is_active: bool) -> bool:
    """Whether it is found out at run time what becomes of `call`, that of a library's function.

    That is so if it stands in code of the user's, or if nothing that is given to the function has a
    derivative (is_active: something has).  Within a library calls are mostly of what it was called for.
    """
    if not is_library_code(function.__code__.co_filename, function.__globals__):
        return False
    if not is_active:
        return True
    block = call.block
    return block is not None and not is_library_file(block.graph.filename)


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
