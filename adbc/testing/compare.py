"""Deep comparison of values, primals and tangents alike, through cycles and sharing.

Numbers are equal up to the square root of their precision (a NaN equals a NaN).  Two objects are
equal if their parts are and if they share in the same way: where one value has an object twice, the
other must have it twice in the same places.
"""

from __future__ import annotations

import types
from array import array
from typing import Any

import numpy as np

from adbc.tangents.containers import DictViewKind
from adbc.tangents.duals import FData, RData
from adbc.tangents.fields import FieldKey
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of
from adbc.tangents.scalars import ScalarKind
from adbc.tangents.walk import STRUCTURES

__all__ = ["difference_of", "has_equal_data"]


def has_equal_data(a: Any, b: Any, *, exact: bool = False, sharing: bool = True) -> bool:
    """Whether `a` and `b` hold equal data.

    exact: numbers must be equal to the last bit.  sharing: objects must be shared in the same way.
    """
    return difference_of(a, b, exact=exact, sharing=sharing) is None


def difference_of(a: Any, b: Any, *, exact: bool = False, sharing: bool = True) -> str | None:
    """The first difference between `a` and `b`, in words; None if there is none."""
    partner: tuple[dict[int, int], dict[int, int]] = ({}, {})
    seen: set[tuple[int, int]] = set()
    alive: list[Any] = []  # addresses are compared: what they belong to must not go away
    pending: list[tuple[str, Any, Any]] = [("", a, b)]
    while pending:
        path, x, y = pending.pop()
        place = path or "top"
        if type(x) is not type(y):
            return f"at {place}: a {type(x).__name__} and a {type(y).__name__}"
        if sharing and _has_address(x):
            known = partner[0].setdefault(id(x), id(y)), partner[1].setdefault(id(y), id(x))
            if known != (id(y), id(x)):
                return f"at {place}: objects are shared differently"
        if (id(x), id(y)) in seen:
            continue
        seen.add((id(x), id(y)))
        alive.append((x, y))
        parts = _parts(x, y)
        if isinstance(parts, str):
            return f"at {place}: {parts}"
        if parts is not None:
            pending.extend([(f"{path}[{k!r}]", c, d) for k, c, d in parts])
            continue
        problem = _leaf(x, y, exact)
        if problem is not None:
            return f"at {place}: {problem}"
    return None


def _has_address(x: Any) -> bool:
    structure = STRUCTURES.get(type(x))
    if structure is not None:
        return structure.address
    return kind_of(type(x)).address and not (type(x) is np.ndarray and x.dtype.kind not in "fcO")


def _parts(x: Any, y: Any) -> list[tuple[Any, Any, Any]] | str | None:
    """The parts of `x` and `y`, as triples of key and both parts; or a difference in words; or None if there
    are no parts."""
    pairs = _described(x), _described(y)
    if pairs[0] is None or pairs[1] is None:
        return None
    first, second = dict(pairs[0]), dict(pairs[1])
    if list(first) != list(second):
        return f"parts {list(first)} and {list(second)}"
    return [(k, c, second[k]) for k, c in first.items()]


def _described(x: Any) -> list[tuple[Any, Any]] | None:
    cls = type(x)
    if cls is array:
        return [("typecode", x.typecode), *enumerate(x)]
    if cls is np.void or (cls is np.ndarray and x.dtype.names):
        return [("shape", np.shape(x)), *((name, x[name]) for name in x.dtype.names or ())]
    if cls is np.ndarray:
        if x.dtype.kind != "O":
            return None
        return [("shape", x.shape), *((i, x[i]) for i in np.ndindex(x.shape))]
    structure = STRUCTURES.get(cls)
    if structure is not None:
        keys = structure.keys(x)
        fields = [] if cls in (tuple, list, dict) else list(getattr(x, "__dict__", {}).items())
        elements = list(zip(keys, structure.get(x, keys), strict=True))
        return elements if elements == fields else [*elements, *((("field", k), v) for k, v in fields)]
    if cls in (FData, RData):
        return list(x.__dict__.items())
    if cls is types.FunctionType:
        return [("code", x.__code__), ("defaults", x.__defaults__), *kind_of(cls).parts(x)]  # type: ignore[attr-defined]
    if cls is np.flatiter:
        return [("base", x.base), ("index", x.index)]
    kind = kind_of(cls)
    if isinstance(kind, DictViewKind):
        return [("of", kind.viewed(x))]
    if isinstance(kind, AddressKind | ValueKind):
        return _named(kind.parts(x))
    return None


def _named(parts: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Parts with keys that are marker objects, the keys replaced by their names."""
    return [(("field", k.name) if type(k) is FieldKey else k, c) for k, c in parts]


def _leaf(x: Any, y: Any, exact: bool) -> str | None:
    if type(x) is np.ndarray:
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"arrays of {x.dtype}{x.shape} and {y.dtype}{y.shape}"
        equal = _close(x, y, exact) if x.dtype.kind in "fc" else bool(np.array_equal(x, y))
    elif isinstance(kind_of(type(x)), ScalarKind):
        equal = _close(x, y, exact)
    else:
        equal = x is y or bool(x == y)
    return None if equal else f"{x!r} and {y!r}"


def _close(x: Any, y: Any, exact: bool) -> bool:
    if exact:
        return bool(np.array_equal(x, y, equal_nan=True))
    x, y = np.asarray(x), np.asarray(y)
    tolerance = float(np.sqrt(np.finfo(x.dtype).eps))
    return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True))
