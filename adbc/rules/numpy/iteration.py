"""Rules of iteration over arrays: the shadow of the iterator steps with it."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.ir import intrinsics
from adbc.rules.builtins.compared import first_extreme
from adbc.rules.builtins.iteration import next_frule, next_rrule
from adbc.rules.builtins.ordering import WITH_ROWS
from adbc.rules.consumers import Missing, largest_of, smallest_of
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule
from adbc.tangents import shadow_iterator

__all__ = ["ROWS"]

ITERATOR = type(iter(np.zeros(1)))
"""The class of the iterators of arrays: Python's own for whatever has ``__getitem__``."""


def _nothing(bout: Any) -> Sequence[Any]:
    return (None,)


def iter_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    (x,), (dx,) = args, dargs
    return iter(x), None if dx is None else shadow_iterator(x, dx)


def iter_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    (x,), (f,) = args, fargs
    return iter(x), None if f is None else shadow_iterator(x, f), _nothing


def _array(cls: type, *rest: type) -> bool:
    return cls is np.ndarray and not rest


def _array_iterator(cls: type, *rest: type) -> bool:
    return cls is ITERATOR and not rest


def _holds_numbers(x: Any, key: Any) -> bool:
    return key is None and x.ndim == 1 and x.size > 0 and x.dtype.kind in "fiu"


def _largest(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    if _holds_numbers(values, key):
        return values[first_extreme(values, True)]
    return largest_of(values, key=key, default=default)


def _smallest(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    if _holds_numbers(values, key):
        return values[first_extreme(values, False)]
    return smallest_of(values, key=key, default=default)


def _itself(x: Any, /) -> Any:
    return x


WITH_ROWS.add(np.ndarray)

ROWS: list[Rule] = [
    Overlay(builtins.max, _largest, when=_array),
    Overlay(builtins.min, _smallest, when=_array),
    *(Overlay(f, _itself, when=_array_iterator) for f in (intrinsics._iter_, builtins.iter)),
    Primitive(intrinsics._iter_, frule=iter_frule, rrule=iter_rrule, is_fitted=True, when=_array),
    Primitive(builtins.iter, frule=iter_frule, rrule=iter_rrule, is_fitted=True, when=_array),
    Primitive(intrinsics._next_, frule=next_frule, rrule=next_rrule, is_fitted=True, when=_array_iterator),
]
