"""Rules of the classes of NumPy's scalars called as functions: ``np.float64(x)``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.classes import arity, number
from adbc.rules.numpy.base import plain
from adbc.rules.numpy.creation import copying
from adbc.rules.numpy.views import ViewRule
from adbc.rules.table import Overlay, Rule, ScalarRule, TextRule, ZeroRule

__all__ = ["METHODS", "ROWS"]

COMPLEX = [np.complex64, np.complex128, np.clongdouble]
INEXACT = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble]
EXACT = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def _of_numbers(cls: type) -> Callable[..., type | None]:
    """The declared result of a call of `cls`: an instance if a number is given; an array gives an array."""
    return lambda *classes: cls if all(map(number, classes)) else None


def _itself(x: Any, memo: Any = None, /) -> Any:
    return x


METHODS = [
    "all", "any", "argmax", "argmin", "argsort", "clip", "compress", "cumprod", "cumsum", "flatten", "max",
    "mean", "min", "prod", "ptp", "ravel", "repeat", "reshape", "round", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "transpose", "var", "nonzero", "searchsorted", "view", "choose", "dot",
]  # fmt: skip
"""The methods of NumPy's numbers that do what those of an array without dimensions do."""


WITHOUT_EFFECT = [name for name in ("fill", "put", "resize", "setflags", "sort") if hasattr(np.generic, name)]
"""The methods of NumPy's numbers that change an array made of the number, which nobody has."""


def _like_array(name: str) -> Overlay:
    method = getattr(np.ndarray, name)

    def on_array(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        made = method(np.asarray(x), *args, **kwargs)
        return made[()] if isinstance(made, np.ndarray) and made.ndim == 0 else made

    return Overlay(getattr(np.generic, name), on_array)


def _as_array(x: Any, dtype: Any = None, /, *, copy: Any = None) -> Any:
    return np.asarray(x, dtype)


def _given(by: Any, x: Any) -> Any:
    return by


def _subscripted(x: Any, index: Any, /) -> Any:
    return np.asarray(x)[index]


def _is_exact(cls: type, *rest: type) -> bool:
    """Whether a method of a whole number or truth value is called on it alone."""
    return cls in EXACT and not rest


def _of_parts(cls: Any) -> Overlay:
    """The row of a class of complex numbers on two numbers."""

    def made(real: Any, imag: Any, /) -> Any:
        return cls(complex(real, imag))

    return Overlay(cls, made, when=arity(2))


def _is_alone(*classes: type) -> bool:
    return len(classes) == 1 and plain(*classes)


def _is_number(cls: type, *rest: type) -> bool:
    return issubclass(cls, np.generic) and not issubclass(cls, np.flexible)


def _is_wide(*classes: type) -> bool:
    """Whether there is one argument, a real number of 64 bits."""
    return len(classes) == 1 and classes[0] in (float, int, bool, np.float64)


ROWS: list[Rule] = [
    Overlay(operator.getitem, _subscripted, when=_is_number),
    *(ZeroRule(getattr(np.generic, name), when=_is_exact) for name in METHODS if hasattr(np.generic, name)),
    *(_like_array(name) for name in METHODS if hasattr(np.generic, name)),
    *(ZeroRule(getattr(np.generic, name)) for name in WITHOUT_EFFECT),
    TextRule(float.hex),
    Overlay(np.generic.__array__, _as_array),
    ViewRule(np.generic.T, view=_itself, back=_given),
    ScalarRule(np.float64, (lambda out, x: 1.0,), when=_is_wide, result=np.float64),
    *(copying(cls, "x", result=None) for cls in INEXACT if cls not in COMPLEX),
    *(copying(cls, "x", result=None, when=_is_alone) for cls in COMPLEX),
    *map(_of_parts, COMPLEX),
    *(ZeroRule(cls, result=_of_numbers(cls)) for cls in EXACT),
    Overlay(np.generic.__copy__, _itself),
    Overlay(np.generic.__deepcopy__, _itself),
]
