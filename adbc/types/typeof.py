"""`typeof(value)`: the abstract type of a run-time value, as signatures record it.

It must be cheap (it runs at every entry from outside) and must hold for as long as the call runs:
so the contents of mutable containers are not looked at, while tuples are.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import types
import weakref
from typing import Any

from adbc.types.lattice import (
    ANY,
    SLICE,
    AbstractType,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    TupleType,
    is_service,
)

__all__ = [
    "constant_type",
    "exact_typeof",
    "is_followed_by_code",
    "is_local",
    "is_plain_builtin",
    "keep_apart",
    "make_local",
    "typeof",
]

_TUPLE_LIMIT = 32  # longer tuples are data, not structure: one derived rule per length would be waste
_DEPTH_LIMIT = 8  # and so are tuples nested more deeply than this: a list linked by them has no end


def typeof(value: object, depth: int = _DEPTH_LIMIT) -> AbstractType:
    """The abstract type of `value`.  depth: how deep tuples in tuples are looked into."""
    cls = type(value)  # not `value.__class__`: a proxy's lies, and may run the user's code
    if cls is float or cls is int:
        return _EXACT[cls]
    if cls is tuple:
        elements = value
        if len(elements) > _TUPLE_LIMIT or not depth:  # type: ignore[arg-type]  # cls is tuple
            return Exact(tuple)
        return TupleType(tuple([typeof(x, depth - 1) for x in elements]))  # type: ignore[attr-defined]
    if cls in _CONSTANT_CLASSES:
        if cls is types.FunctionType:
            return _of_function(value)  # type: ignore[arg-type]  # by its class
        if cls is types.BuiltinFunctionType and not is_plain_builtin(value):
            return Exact(cls)  # ``[].append``: a method, with what its object holds
        if id(value) in _local:  # a class
            return ANY
        return ConstType(value)
    if cls.__module__ == "numpy" and cls.__name__ == "ndarray":
        return _of_arrays(value.dtype, value.ndim, cls)  # type: ignore[attr-defined,arg-type]  # an array
    if id(cls) in _local:
        return ANY
    if cls is slice and not _has_whole_bounds(value):
        return SLICE
    return Exact(cls)


def constant_type(value: object) -> AbstractType:
    """The type of `value`, which stands in a graph: settings that functions are read from are known as they
    are."""
    return ConstType(value) if is_service(value.__class__) else typeof(value)


@functools.lru_cache(maxsize=200)
def _of_arrays(dtype: Any, ndim: int, cls: type) -> AbstractType:
    """The type of an array; NumPy takes long to tell the name of a dtype."""
    return ArrayType(dtype.name, ndim, cls)


def exact_typeof(value: object, depth: int = _DEPTH_LIMIT) -> AbstractType:
    """The abstract type of `value`, with the layout of arrays."""
    known = typeof(value, depth)
    if isinstance(known, TupleType):
        return TupleType(tuple([exact_typeof(x, depth - 1) for x in value]))  # type: ignore[attr-defined]
    if not isinstance(known, ArrayType):
        return known
    flags = value.flags  # type: ignore[attr-defined]  # an array
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "strided"
    return dataclasses.replace(known, layout=layout, writable=flags.writeable)


def _of_function(function: types.FunctionType) -> AbstractType:
    """The type of a function: it alone, or all with its code if others like it may be made at any time, as
    the function of a class statement is, whose code is not said to be nested."""
    code = function.__code__
    if code.co_flags & _HOW_MADE == inspect.CO_OPTIMIZED and function.__closure__ is None:
        return ConstType(function)
    return Exact(types.FunctionType) if function in _apart else ClosureType(code, function.__globals__)


_HOW_MADE = inspect.CO_OPTIMIZED | inspect.CO_NESTED

_apart: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()


def keep_apart(function: object) -> None:
    """Note that `function` is not to be taken for another with the same code, because it has a rule of its
    own."""
    if type(function) is types.FunctionType:
        _apart.add(function)


def is_followed_by_code(code: types.CodeType) -> bool:
    """Whether no function with this code is to be kept apart from the others."""
    return all(function.__code__ is not code for function in _apart)


def _has_whole_bounds(value: Any) -> bool:
    """Whether the bounds of a slice are whole numbers, or absent."""
    return all(x is None or type(x) is int for x in (value.start, value.stop, value.step))


_local: dict[int, weakref.ref[type]] = {}


def make_local(cls: type) -> None:
    """Note that `cls` was made by code that is being differentiated, and that its like will be made again.

    What is derived for its instances is derived for all objects: else it would be derived in each call anew.
    """
    at = id(cls)
    _local[at] = weakref.ref(cls, lambda _: _local.pop(at, None))


def is_local(cls: type) -> bool:
    """Whether `make_local` was called with `cls`."""
    return id(cls) in _local


def is_plain_builtin(value: object) -> bool:
    """Whether `value` is a plain builtin function, not a method bound to an object: both have one class."""
    owner = getattr(value, "__self__", None)
    return owner is None or issubclass(type(owner), types.ModuleType | type)


_EXACT = {float: Exact(float), int: Exact(int)}
_CONSTANT_CLASSES = frozenset(
    {types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, abc.ABCMeta}
)
