"""Values of which a derivative would be lost: what comes back from there, while nobody knows if there is one.

In forward mode it is known.  In reverse mode a number, or memory, may have come from constants, and that is
seen only when cotangents have gone back.  So from where a derivative would be lost NaN comes back (`lose`),
and where that arrives at what was asked for, the call ends with the refusal that was put off.
"""

from __future__ import annotations

from typing import Any

from adbc.tangents.internal import slot_increment, slot_rdata, slot_shadow
from adbc.tangents.nothing import NO_FDATA, NO_TANGENT
from adbc.tangents.protocol import ValueKind, kind_of

__all__ = ["has_memory", "lose", "may_be_lost"]


def may_be_lost(x: Any, f: Any) -> bool:
    """Whether `lose` knows all that `x`, with shadow `f`, consists of: numbers, tuples and records, lists,
    dicts and arrays."""
    if f is None or f is NO_TANGENT:
        return True
    cls = type(x)
    kind = kind_of(cls)
    if kind.inactive:
        return True
    if not kind.address:
        if not isinstance(kind, ValueKind):
            return True
        parts = ((part, f if f is NO_FDATA else kind.part(f, name)) for name, part in kind.parts(x))
        return all(may_be_lost(part, g) for part, g in parts)
    if cls is list and type(f) is list:
        return all(may_be_lost(part, slot_shadow(t)) for part, t in zip(x, f, strict=True))
    if cls is dict and type(f) is dict:
        return all(may_be_lost(part, slot_shadow(f.get(key))) for key, part in x.items())
    return _is_array_of_numbers(f)


def lose(x: Any, f: Any, nan: float) -> Any:
    """The rdata of `x`, which has shadow `f`: `nan` in each number; what has memory gets it there."""
    if f is None or f is NO_TANGENT:
        return None
    cls = type(x)
    kind = kind_of(cls)
    if kind.inactive:
        return None
    if not kind.address:
        return slot_rdata(_lost(x, f, nan))
    if cls is list:
        for i, part in enumerate(x):
            f[i] = slot_increment(f[i], lose(part, slot_shadow(f[i]), nan))
    elif cls is dict:
        for key, part in x.items():
            f[key] = slot_increment(f[key], lose(part, slot_shadow(f.get(key)), nan))
    else:
        f[...] = complex(nan, nan) if f.dtype.kind == "c" else nan
    return None


def _lost(x: Any, f: Any, nan: float) -> Any:
    """The tangent of value `x` that is `nan` in each number; memory gets it there."""
    kind = kind_of(type(x))
    if kind.inactive:
        return NO_TANGENT
    if kind.address:
        if f is not NO_FDATA:
            lose(x, f, nan)
        return NO_TANGENT
    if isinstance(kind, ValueKind):
        parts = [(k, _lost(part, f if f is NO_FDATA else kind.part(f, k), nan)) for k, part in kind.parts(x)]
        return kind.join(x, parts)
    is_complex = isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"
    return complex(nan, nan) if is_complex else nan


def has_memory(x: Any, f: Any) -> bool:
    """Whether something of `x`, which has shadow `f`, has memory."""
    if f is None or f is NO_TANGENT or f is NO_FDATA:
        return False
    kind = kind_of(type(x))
    if kind.inactive or kind.address:
        return not kind.inactive
    return isinstance(kind, ValueKind) and any(has_memory(part, kind.part(f, k)) for k, part in kind.parts(x))


def _is_array_of_numbers(f: Any) -> bool:
    """Whether `f` is the shadow of an array, of which nothing else is asked: one of NumPy's own class."""
    return type(f).__module__ == "numpy" and getattr(getattr(f, "dtype", None), "kind", "") in ("f", "c")
