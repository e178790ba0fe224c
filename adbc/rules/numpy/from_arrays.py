"""The functions of `math` and `cmath` on arrays with one element, of which they take the number."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.numpy.base import NUMBERS
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]

_OF_SEQUENCES = ("dist", "fsum", "prod", "sumprod")
"""The functions that take the elements of sequences, of arrays too."""


def _holds_array(*classes: type) -> bool:
    """Whether one of the arguments is an array, and the others are numbers."""
    return np.ndarray in classes and all(
        cls is np.ndarray or cls in NUMBERS or issubclass(cls, np.number) for cls in classes
    )


def number_of(x: Any, make: Any) -> Any:
    """The number that the array `x` stands for, or `x` itself."""
    if not isinstance(x, np.ndarray):
        return x
    return x.item() if x.ndim == 0 else make(x)  # which warns of it, or raises


def _body(function: Callable[..., Any], make: type) -> Callable[..., Any]:
    def of_arrays(*args: Any) -> Any:
        numbers: list[Any] = []
        for x in args:
            numbers.append(number_of(x, make))  # noqa: PERF401  # before 3.12 a comprehension is a function
        return function(*numbers)

    return of_arrays


def _functions(module: Any) -> list[Any]:
    found = [thing for name, thing in vars(module).items() if callable(thing) and name not in _OF_SEQUENCES]
    return [thing for thing in found if getattr(thing, "__module__", None) == module.__name__]


ROWS: list[Rule] = [
    Overlay(function, _body(function, make), when=_holds_array)
    for module, make in ((math, float), (cmath, complex))
    for function in _functions(module)
]
