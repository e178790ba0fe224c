"""Functions by their class.

``isinstance(x, FunctionType)`` asks `x` of which class it is, and a proxy of a function (`wrapt` decorates by
such) says what the function is that it stands for.  To call it is to call something else.
"""

from __future__ import annotations

import types
from typing import Any, TypeGuard

__all__ = ["default_of", "is_builtin_function", "is_function", "meaning_of", "stands_for_another"]


def is_function(x: Any) -> TypeGuard[types.FunctionType]:
    """Whether `x` is a function written in Python, whatever it says itself."""
    return type(x) is types.FunctionType


def is_builtin_function(x: Any) -> TypeGuard[types.BuiltinFunctionType]:
    """Whether `x` is a function or method made in C, whatever it says itself."""
    return type(x) is types.BuiltinFunctionType


def meaning_of(function: types.FunctionType) -> tuple[Any, ...]:
    """The code and the defaults of `function`, from which it follows what a call of it does."""
    by_name = function.__kwdefaults__
    return function.__code__, function.__defaults__, None if by_name is None else {**by_name}


def default_of(function: types.FunctionType, index: int) -> Any:
    """The default of a parameter of `function`, counted from the last one, which has -1; an object of a class
    that nobody else has, if there is none."""
    defaults = function.__defaults__ or ()
    return defaults[index] if -index <= len(defaults) else _ABSENT


class _Absent:
    """The class of what stands for a default that is not there."""


_ABSENT = _Absent()


def stands_for_another(cls: type) -> bool:
    """Whether an instance of `cls` says itself of which class it is, as proxies and mocks do: it may also be
    equal to what it stands for, and have its hash."""
    return next(base for base in cls.__mro__ if "__class__" in base.__dict__) is not object
