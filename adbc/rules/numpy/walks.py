"""Walks through an array element by element: `np.ndenumerate`, `np.vectorize`, `np.fromiter`.

They are loops in Python here as they are there, but over subscripts, which have rules, and not over
``ndarray.flat``, which has no shadow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def all_indices(shape: Any) -> list[tuple[int, ...]]:
    """Every index of an array of this shape, in order."""
    return list(np.ndindex(*shape))


class _Ndenumerate:
    def __init__(self, array: Any) -> None:
        self.array = array
        self.indices = all_indices(array.shape)
        self.at = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.at == len(self.indices):
            raise StopIteration
        index = self.indices[self.at]
        self.at += 1
        return index, self.array[index]


def _ndenumerate(arr: Any) -> Any:
    return _Ndenumerate(np.asarray(arr))


def given(value: Any) -> bool:
    """Whether an option was given; NumPy has a value of its own for one that was not."""
    return value is not None and value is not False and type(value).__name__ != "_NoValueType"


def common_shape(shapes: Any) -> tuple[int, ...]:
    """What these shapes are broadcast to."""
    return np.broadcast_shapes(*shapes)


def type_code(value: Any) -> str:
    """The code of the type that an array of `value` has."""
    return np.asarray(value).dtype.char


class _Vectorize:
    """`np.vectorize` without signature, cache and exclusions."""

    def __init__(self, pyfunc: Any, otypes: Any) -> None:
        self.pyfunc = pyfunc
        self.otypes = otypes

    def __call__(self, *args: Any) -> Any:
        arrays: list[Any] = []
        shapes: list[Any] = []
        for x in args:
            array = np.asarray(x)
            arrays.append(array)
            shapes.append(array.shape)
        shape = common_shape(shapes)
        wide: list[Any] = []
        for array in arrays:
            wide.append(np.broadcast_to(array, shape).reshape(-1))  # noqa: PERF401  # before 3.12 a function
        codes = self.otypes
        if codes is None:
            if 0 in shape:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            first = self.pyfunc(*[x[0] for x in wide])  # for its type; NumPy makes this call twice as well
            if isinstance(first, tuple):
                raise UnsupportedError(
                    "np.vectorize of a function with several results: make it several functions"
                )
            codes = type_code(first)
        columns: list[Any] = []
        for flat in wide:
            columns.append(flat.tolist())  # noqa: PERF401
        out: list[Any] = []
        for values in zip(*columns, strict=True):
            out.append(self.pyfunc(*values))  # noqa: PERF401
        return np.array(out, dtype=codes).reshape(shape)


def _vectorize(
    pyfunc: Any,
    otypes: Any = None,
    doc: Any = None,
    excluded: Any = None,
    cache: Any = False,
    signature: Any = None,
) -> Any:
    if given(excluded) or given(cache) or given(signature) or not callable(pyfunc):
        raise UnsupportedError(
            "np.vectorize with excluded=, cache= or signature=, or without a function: write the loop"
        )
    if otypes is not None and len(otypes) != 1:
        raise UnsupportedError("np.vectorize with several otypes: make it several functions")
    return _Vectorize(pyfunc, None if otypes is None else otypes[0])


def _fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    if like is not None:
        raise UnsupportedError("np.fromiter with like=")
    out: list[Any] = []
    if count:
        for x in iter:
            out.append(x)
            if len(out) == count:
                break
    if len(out) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(out)} items.")
    return np.array(out, dtype=dtype)


ROWS: list[Rule] = [
    ZeroRule(all_indices, result=list),
    ZeroRule(given, result=bool),
    ZeroRule(common_shape, result=tuple),
    ZeroRule(type_code, result=str),
    Overlay(np.ndenumerate, _ndenumerate),
    Overlay(np.vectorize, _vectorize),
    Overlay(np.fromiter, _fromiter),
]
