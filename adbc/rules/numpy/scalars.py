"""Rules of the classes of NumPy's scalars called as functions: ``np.float64(x)``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.classes import number
from adbc.rules.numpy.creation import copying
from adbc.rules.numpy.views import ViewRule
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]

INEXACT = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble]
EXACT = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def _of_numbers(cls: type) -> Callable[..., type | None]:
    """The declared result of a call of `cls`: an instance if a number is given; an array gives an array."""
    return lambda *classes: cls if all(map(number, classes)) else None


def _itself(x: Any, memo: Any = None, /) -> Any:
    return x


METHODS = [
    "all", "any", "argmax", "argmin", "argsort", "clip", "compress", "cumprod", "cumsum", "flatten", "max",
    "mean", "min", "prod", "ravel", "repeat", "reshape", "round", "squeeze", "std", "sum", "take",
    "transpose", "var",
]  # fmt: skip
"""The methods of NumPy's numbers that do what those of an array without dimensions do."""


def _like_array(name: str) -> Overlay:
    method = getattr(np.ndarray, name)

    def on_array(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        made = method(np.asarray(x), *args, **kwargs)
        return made[()] if isinstance(made, np.ndarray) and made.ndim == 0 else made

    return Overlay(getattr(np.generic, name), on_array)


def _given(by: Any, x: Any) -> Any:
    return by


def _subscripted(x: Any, index: Any, /) -> Any:
    return np.asarray(x)[index]


def _is_number(cls: type, *rest: type) -> bool:
    return issubclass(cls, np.generic) and not issubclass(cls, np.flexible)


ROWS: list[Rule] = [
    Overlay(operator.getitem, _subscripted, when=_is_number),
    *map(_like_array, METHODS),
    ViewRule(np.generic.T, view=_itself, back=_given),
    *(copying(cls, "x", result=None) for cls in INEXACT),
    *(ZeroRule(cls, result=_of_numbers(cls)) for cls in EXACT),
    Overlay(np.generic.__copy__, _itself),
    Overlay(np.generic.__deepcopy__, _itself),
]
