"""NumPy's converter of arguments, through which its functions in Python pass what they were given.

The class is of C; what it does is written here in Python, so that arrays come out with their derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.instances import bared, dressed, holds_instances
from adbc.rules.numpy.stand_ins import planned
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]


class Converter:
    """What ``_array_converter(*given)`` is for arguments of classes that override nothing."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.arrays = tuple([np.asanyarray(x) for x in given])
        self.is_python = tuple([type(x) in (int, float, complex) for x in given])
        self.given = given
        self.scalar_input = tuple(
            [x.ndim == 0 and not isinstance(y, np.ndarray) for x, y in zip(self.arrays, given, strict=True)]
        )

    def __getitem__(self, i: Any) -> Any:
        return self.arrays[i]

    def __len__(self) -> int:
        return len(self.arrays)

    def as_arrays(self, *, subok: bool = True, pyscalars: str = "convert_if_no_array") -> tuple[Any, ...]:
        arrays = self.arrays if subok else bared(self.arrays)
        if pyscalars == "convert" or (pyscalars == "convert_if_no_array" and all(self.is_python)):
            return arrays
        return tuple([y if p else x for x, y, p in zip(arrays, self.given, self.is_python, strict=True)])

    def result_type(self, extra_dtype: Any = None, ensure_inexact: bool = False) -> Any:
        given = [y if p else x for x, y, p in zip(self.arrays, self.given, self.is_python, strict=True)]
        if extra_dtype is not None:
            given.append(extra_dtype)
        if ensure_inexact:
            given.append(0.0)
        return np.result_type(*given)

    def wrap(self, arr: Any, /, to_scalar: bool | None = None) -> Any:
        if holds_instances(self.given):
            args = self.given, bared(arr), to_scalar
            return dressed(args[1], planned(wrap, args, {}), args, {})
        if (all(self.scalar_input) if to_scalar is None else to_scalar) and np.ndim(arr) == 0:
            return arr[()]
        return arr


def wrap(given: tuple[Any, ...], array: Any, to_scalar: bool | None) -> Any:
    """``_array_converter(*given).wrap(array, to_scalar)``, by the converter of NumPy's."""
    return _converter()(*given).wrap(array, to_scalar=to_scalar)


def converter(*given: Any) -> Any:
    """A converter of the arguments `given`."""
    return Converter(given)


def _converter() -> Any:
    """NumPy's converter; None if this NumPy has none."""
    core: Any = getattr(np, "_core", None)
    return getattr(getattr(core, "_multiarray_umath", None), "_array_converter", None)


def _rows() -> list[Rule]:
    function = _converter()
    return [] if function is None else [Overlay(function, converter)]  # NumPy 1 has none


ROWS: list[Rule] = _rows()
