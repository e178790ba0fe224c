"""Rules of the classes of NumPy's scalars called as functions: ``np.float64(x)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.classes import number
from adbc.rules.numpy.creation import copying
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]

INEXACT = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble]
EXACT = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def _of_numbers(cls: type) -> Callable[..., type | None]:
    """The declared result of a call of `cls`: an instance if a number is given; an array gives an array."""
    return lambda *classes: cls if all(map(number, classes)) else None


def _itself(x: Any, memo: Any = None, /) -> Any:
    return x


ROWS: list[Rule] = [
    *(copying(cls, "x", result=None) for cls in INEXACT),
    *(ZeroRule(cls, result=_of_numbers(cls)) for cls in EXACT),
    Overlay(np.generic.__copy__, _itself),
    Overlay(np.generic.__deepcopy__, _itself),
]
