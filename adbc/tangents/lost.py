"""Values of which a derivative would be lost: what comes back from there, while nobody knows if there is one.

In forward mode it is known.  In reverse mode a number, or memory, may have come from constants, and that is
seen only when cotangents have gone back.  So from where a derivative would be lost NaN comes back (`lose`),
and where that arrives at what was asked for, the call ends with the refusal that was put off.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

from adbc.tangents.duals import DequeTangent, DictTangent, ListTangent, MutableTangent
from adbc.tangents.fields import FieldKey, instance_fields
from adbc.tangents.internal import slot_increment, slot_rdata, slot_shadow
from adbc.tangents.nothing import NO_FDATA, NO_TANGENT
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import ValueKind, kind_of

__all__ = ["has_memory", "lose", "may_be_lost"]


def may_be_lost(x: Any, f: Any) -> bool:
    """Whether `lose` knows all that `x`, with shadow `f`, consists of: numbers, tuples and records, lists,
    dicts, deques, arrays, and instances of classes in Python, derived from such or not."""
    if _is_given_as_value(x, f):
        return True
    pending, seen = [(x, f)], set[int]()
    while pending:
        x, f = pending.pop()
        if f is None or f is NO_TANGENT:
            continue
        kind = kind_of(type(x))
        if kind.inactive:
            continue
        if not kind.address:
            if isinstance(kind, ValueKind):
                pending += [(y, f if f is NO_FDATA else kind.part(f, k)) for k, y in kind.parts(x)]
        elif id(f) not in seen:
            seen.add(id(f))
            if _is_memory_of_slots(x, f):
                pending += [(y, slot_shadow(slots[k])) for slots, k, y in _slots(x, f)]
            elif not _is_array_of_numbers(f):
                return False
    return True


def lose(x: Any, f: Any, nan: float) -> Any:
    """The rdata of `x`, which has shadow `f`: `nan` in each number; what has memory gets it there."""
    if _is_given_as_value(x, f):
        everywhere = x.copy()
        everywhere[...] = complex(nan, nan) if x.dtype.kind == "c" else nan
        return everywhere
    memory: list[tuple[Any, Any]] = []
    found, seen = _lost(x, f, nan, memory), set[int]()
    while memory:
        y, g = memory.pop()
        if id(g) in seen:
            continue
        seen.add(id(g))
        if _is_memory_of_slots(y, g):
            for slots, key, part in _slots(y, g):
                shadow = slot_shadow(slots[key])
                slots[key] = slot_increment(slots[key], slot_rdata(_lost(part, shadow, nan, memory)))
        else:
            g[...] = complex(nan, nan) if g.dtype.kind == "c" else nan
    return slot_rdata(found)


def _lost(x: Any, f: Any, nan: float, memory: list[tuple[Any, Any]]) -> Any:
    """The tangent of `x` that is `nan` in each number; memory is added to `memory`, with its shadow."""
    kind = kind_of(type(x))
    if f is None or f is NO_TANGENT or kind.inactive:
        return NO_TANGENT
    if kind.address:
        if f is not NO_FDATA:
            memory.append((x, f))
        return NO_TANGENT
    if isinstance(kind, ValueKind):
        given = [(k, part, f if f is NO_FDATA else kind.part(f, k)) for k, part in kind.parts(x)]
        return kind.join(x, [(k, _lost(part, g, nan, memory)) for k, part, g in given])
    is_complex = issubclass(type(x), complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"
    return complex(nan, nan) if is_complex else nan


def _is_memory_of_slots(x: Any, f: Any) -> bool:
    """Whether `x`, with shadow `f`, is a container or an instance of a class in Python, which may be derived
    from that of a container, and nothing else; or an array of objects."""
    cls, kept = type(x), type(f)
    if cls is list or cls is dict:
        return cls is kept
    if _is_array(f) and f.dtype.kind == "O":
        return _is_array(x) and x.shape == f.shape
    kind = kind_of(cls)
    return (kept is MutableTangent and type(kind) is InstanceKind) or kept in _CONTAINERS


_CONTAINERS = frozenset({deque, ListTangent, DictTangent, DequeTangent})
"""The classes of shadows of containers that are no list or dict exactly."""


def _slots(x: Any, f: Any) -> list[tuple[Any, Any, Any]]:
    """What has the slot of each part of `x`, a container or instance with shadow `f`, under which key, and
    the part.  What has no slot has no derivative."""
    cls = type(x)
    if cls is list:
        return [(f, i, part) for i, part in enumerate(x)]
    if cls is dict:
        return [(f, key, part) for key, part in x.items() if key in f]
    if type(f) is MutableTangent:
        slots = vars(f)
        return [(slots, name, part) for name, part in instance_fields(x) if name in slots]
    if _is_array(f):
        return [(f, at, x[at]) for at in itertools.product(*map(range, f.shape))]
    kind: Any = kind_of(cls)
    found = []
    for key, part in kind.parts(x):
        if type(key) is FieldKey:
            if key.name in vars(f):
                found.append((vars(f), key.name, part))
        elif key < len(f) if issubclass(type(f), list | deque) else key in f:
            found.append((f, key, part))
    return found


def has_memory(x: Any, f: Any) -> bool:
    """Whether something of `x`, which has shadow `f`, has memory."""
    if f is None or f is NO_TANGENT or f is NO_FDATA:
        return False
    kind = kind_of(type(x))
    if kind.inactive or kind.address:
        return not kind.inactive
    return isinstance(kind, ValueKind) and any(has_memory(part, kind.part(f, k)) for k, part in kind.parts(x))


def _is_given_as_value(x: Any, f: Any) -> bool:
    """Whether `x` is an array that a rule is given without a shadow, and whose cotangent it returns."""
    return f is NO_FDATA and kind_of(type(x)).address and _is_array_of_numbers(x)


def _is_array_of_numbers(f: Any) -> bool:
    """Whether `f` is an array of NumPy's own class, of which nothing else is asked, or the shadow of one."""
    return _is_array(f) and f.dtype.kind in ("f", "c")


def _is_array(x: Any) -> bool:
    return type(x).__module__ == "numpy" and hasattr(x, "dtype") and hasattr(x, "shape")
