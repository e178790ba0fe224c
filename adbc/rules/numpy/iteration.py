"""Iterating over arrays: elements are scalars or views, one per step along the first axis."""

from __future__ import annotations

import builtins

import numpy as np

from adbc.ir import intrinsics
from adbc.rules.builtins.iteration import making_iterator, next_frule, next_rrule
from adbc.rules.table import Primitive, Rule

__all__ = ["ROWS"]

_SEQUENCE_ITERATOR = type(iter(np.zeros(1)))


def _is_array(cls: type, *rest: type) -> bool:
    return cls is np.ndarray and not rest


def _is_iterator(cls: type, *rest: type) -> bool:
    return cls is _SEQUENCE_ITERATOR and not rest


ROWS: list[Rule] = [
    making_iterator(intrinsics._iter_, _is_array),
    making_iterator(builtins.iter, _is_array),
    Primitive(intrinsics._next_, frule=next_frule, rrule=next_rrule, when=_is_iterator),
]
