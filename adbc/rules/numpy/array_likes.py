"""NumPy's functions written in C, for objects that make an array of themselves: ``__array__`` and its kin.

NumPy makes such an array first, and computes with that.  So does the code that is differentiated in place of
the function: a method ``__array__`` of the user's is followed like any code, and the frame or the series of a
library that is a constant stays one.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.functions import is_builtin_function
from adbc.rules.classes import has
from adbc.rules.numpy.base import is_plain, is_sequence
from adbc.rules.numpy.operators import BINARY
from adbc.rules.numpy.overrides import OTHERS
from adbc.rules.numpy.own_arrays import refuse_own_protocol
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.fields import is_python_class

__all__ = ["OPERATORS", "ROWS", "is_array_like", "row_of", "rows_of_elements"]

_MAKE_ARRAYS = ("__array__", "__array_interface__", "__array_struct__")


def is_array_like(cls: type) -> bool:
    """Whether NumPy asks instances of `cls`, which are no arrays, for the array that they stand for."""
    if issubclass(cls, np.ndarray | np.generic):
        return False
    return any(has(cls, name) for name in _MAKE_ARRAYS) or is_sequence(cls)


def stands_for_array(x: Any) -> bool:
    """Whether `x` is to be made an array."""
    return is_array_like(type(x)) and not is_plain(type(x))


def made(function: Any) -> Callable[..., Any]:
    """The body that stands for `function`, of C, where an argument stands for an array."""

    def on_arrays(*args: Any, **named: Any) -> Any:
        given = [np.asarray(x) if stands_for_array(x) else x for x in args]
        if not named:
            return function(*given)
        return function(*given, **{k: np.asarray(x) if stands_for_array(x) else x for k, x in named.items()})

    return on_arrays


def _when(protocol: str) -> Callable[..., bool]:
    """The `when` of rows of functions for which a class answers by the method `protocol`."""

    def accepts(*classes: type) -> bool:
        found = False
        for cls in classes:
            if is_plain(cls):
                continue
            if not is_array_like(cls) or (protocol and has(cls, protocol)):
                return False
            found = True
        return found

    return accepts


def _of_operator(first: type, *others: type) -> bool:
    """The `when` of operators between an array and what stands for one, which has lower priority."""
    if not issubclass(first, np.ndarray | np.generic) or not _when("__array_ufunc__")(first, *others):
        return False
    return not any(has(cls, "__array_priority__") for cls in others if not is_plain(cls))


def _on_elements(operation: Any) -> Callable[..., Any]:
    """The body that stands for `operation`, an operator, between an array and an object of which NumPy knows
    nothing: it makes an array of objects, element by element."""

    def on_elements(a: Any, b: Any, /) -> Any:
        refuse_own_protocol(b if isinstance(a, np.ndarray) else a)
        if isinstance(a, np.ndarray):
            if a.ndim == 0:
                return operation(a.item(), b)
            values = [operation(v, b) for v in a.ravel().tolist()]
            shape = a.shape
        else:
            if b.ndim == 0:
                return operation(a, b.item())
            values = [operation(a, v) for v in b.ravel().tolist()]
            shape = b.shape
        out = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            out[i] = value
        return out.reshape(shape)

    return on_elements


def _is_element(cls: type) -> bool:
    """Whether NumPy takes an instance of `cls` for one object, computes with it by its own operators, and is
    not told to leave that to it."""
    return (
        is_python_class(cls)
        and not issubclass(cls, _OF_VALUES)
        and not any(has(cls, name) for name in (*_MAKE_ARRAYS, *_NOT_ONE))
    )


_OF_VALUES = (np.generic, np.ndarray, int, float, complex, str, bytes, tuple, list, dict, BaseException)
_NOT_ONE = (
    "__array_ufunc__", "__array_priority__", "__array_function__", "__len__", "__getitem__", "__float__",
    "__index__", "__complex__", "__iter__", "__getattr__", "__getattribute__",
)  # fmt: skip


def _with_element(first: type, *others: type) -> bool:
    """The `when` of operators between an array and such an object."""
    return first is np.ndarray and len(others) == 1 and _is_element(others[0])


def _with_elements(first: type, *others: type) -> bool:
    """The `when` of their ufuncs, called with such an object in either place."""
    if len(others) != 1:
        return False
    return _with_element(first, *others) or (others[0] is np.ndarray and _is_element(first))


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def reflected(a: Any, b: Any, /) -> Any:
        return function(b, a)

    return reflected


def rows_of_elements() -> list[Rule]:
    """The rows of operators between arrays and such objects, and of their ufuncs."""
    rows: list[Rule] = []
    for name, ufunc in BINARY.items():
        body = _on_elements(getattr(operator, name))
        rows += (
            Overlay(getattr(np.ndarray, f"__{name}__"), body, when=_with_element),
            Overlay(getattr(np.ndarray, f"__r{name}__"), _reflected(body), when=_with_element),
            Overlay(getattr(np, ufunc), body, when=_with_elements),
        )
    return rows


OPERATORS: dict[Any, str] = {getattr(operator, name): ufunc for name, ufunc in {**BINARY, **OTHERS}.items()}
"""The ufuncs behind operators."""
_MAKING: tuple[Any, ...] = (np.array, np.asarray)
"""What makes the array itself."""
_SHAPED: tuple[Any, ...] = (np.empty, np.zeros)
"""What takes no arrays, but a shape: NumPy asks for an index what cannot be listed."""


def row_of(function: Any) -> Rule | None:
    """The row of `function`, which has rows for arrays; None if it needs none, as if it is in Python."""
    kind = type(function)
    if kind is np.ufunc:
        return Overlay(function, made(function), when=_when("__array_ufunc__"))
    if function in _MAKING or function in _SHAPED:
        return None
    if function in OPERATORS:
        return Overlay(function, made(getattr(np, OPERATORS[function])), when=_of_operator)
    is_whole = getattr(function, "__module__", None) == "numpy.linalg" or function in (np.interp, np.einsum)
    if is_whole or is_builtin_function(getattr(function, "__wrapped__", None)):
        return Overlay(function, made(function), when=_when("__array_function__"))
    if kind is types.BuiltinFunctionType and (function.__module__ or "").startswith("numpy"):
        return Overlay(function, made(function), when=_when(""))
    if kind is types.MethodDescriptorType and function.__objclass__ is np.ndarray:
        return Overlay(function, made(function), when=_when(""))
    if kind is types.MethodDescriptorType and function.__objclass__ is np.ufunc and function.__name__ != "at":
        return Overlay(function, made(function), when=_when("__array_ufunc__"))
    return None


ROWS: list[Rule] = [ZeroRule(stands_for_array), ZeroRule(refuse_own_protocol)]
