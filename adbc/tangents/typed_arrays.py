"""`array.array`: the tangent of one of floats is another of the same kind; one of integers or text has none.

NumPy's arrays and memoryviews over the same memory have views of the tangent (`arrays`), so that a write
through one name is seen through the others.
"""

from __future__ import annotations

from array import array
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.iterators import IndexIterator, add_iterator
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import KINDS, Kind
from adbc.tangents.walk import VISITS_OF_NUMBERS, add_structure

__all__ = ["TypedArrayKind", "install", "is_active"]


def is_active(x: Any) -> bool:
    """Whether the `array.array` `x` holds floats."""
    return x.typecode in ("f", "d")


def _zeros(x: Any) -> Any:
    return array(x.typecode, bytes(len(x) * x.itemsize))


class TypedArrayKind(Kind):
    """How an `array.array` is differentiated: an object that may change in place and in length."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return array

    def is_active(self, x: Any) -> bool:
        return is_active(x)

    def make(self, x: Any, walk: Any) -> Any:
        if walk.is_constant or not is_active(x):
            walk.register(x, NO_TANGENT)
            walk.memo["memory", id(x)] = (x, NO_TANGENT)
            return NO_TANGENT
        t = _zeros(x)
        if walk.source is not None:
            for i in range(len(t)):
                t[i] = walk.number(float, False)
        walk.register(x, t)
        return t

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            return x
        if type(t) is not array or len(t) != len(x) or t.typecode != x.typecode:
            raise InvalidTangentError(f"not a tangent of an array of {len(x)} {x.typecode!r}: {t!r}")
        y = array(x.typecode, [walk.combine(a, b) for a, b in zip(x, t, strict=True)])
        walk.register(x, y)
        return y

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        if not is_active(p):
            return NO_TANGENT
        if len(p) != len(q) or p.typecode != q.typecode:
            raise InvalidTangentError("no difference between arrays of different length or type")
        t = array(p.typecode, [walk.combine(a, b) for a, b in zip(p, q, strict=True)])
        walk.register(p, t)
        return t


def _visit(walk: Any, t: Any, *others: Any) -> Any:
    for s in others:
        if type(s) is not array or len(s) != len(t) or s.typecode != t.typecode:
            raise InvalidTangentError(f"an array of {len(t)} {t.typecode!r} does not go together with {s!r}")
    found = walk.memo.get(id(t))
    if found is not None:
        return found[1]
    target = t if walk.in_place else _zeros(t)
    walk.register(t, target)
    visit = VISITS_OF_NUMBERS.get(array)
    if visit is not None:  # NumPy is there, whose arrays may show the same memory
        visit(walk, target, t, others)
    else:
        for i, row in enumerate(zip(t, *others, strict=True)):
            target[i] = walk.leaf(*row)
    return target


def _iterator_over(t: Any, reverse: bool) -> IndexIterator:
    return IndexIterator(t, len(t) - 1 if reverse else 0, -1 if reverse else 1)


def install() -> None:
    """Fill the tables for `array.array`; `protocol.kind_of` calls this when the first one is met."""
    KINDS[array] = TypedArrayKind()
    add_structure(array, _visit)
    add_iterator(array, _iterator_over)
