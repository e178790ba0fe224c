"""Which address of a primal has which address in its tangent: the invariant of one address, one shadow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.tangents.fields import instance_dict
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of

__all__ = ["address_map", "divides_memory", "is_consistent", "shared_memory_conflict"]

AddressPairs = list[tuple[Any, Any]]


def address_map(x: Any, t: Any) -> AddressPairs:
    """All pairs of the address of an object reached from `x` and that of its counterpart reached from `t`.

    An address of an array is that of the owner of its memory, with offset, strides and dtype.
    """
    pairs: AddressPairs = []
    for p, s in _counterparts(x, t):
        locate = getattr(kind_of(type(p)), "locate", None)
        if locate is None:
            pairs.append((id(p), id(s)))
        elif p.size:
            pairs.append((locate(p), locate(s)))
    return pairs


def _counterparts(x: Any, t: Any) -> list[tuple[Any, Any]]:
    """All pairs of an object with an address, or an array, that is reached from `x`, and what stands in its
    place in `t`."""
    found: list[tuple[Any, Any]] = []
    seen: set[tuple[int, int]] = set()
    pending = [(x, t)]
    while pending:
        p, s = pending.pop()
        kind = kind_of(type(p))
        if s is NO_TANGENT or s is None or (id(p), id(s)) in seen:
            continue
        if isinstance(kind, AddressKind):
            if not isinstance(s, kind.tangent_type(type(p))):  # a number, for an array of one
                continue
            seen.add((id(p), id(s)))
            found.append((p, s))
            pending.extend((c, kind.part(s, k)) for k, c in kind.parts(p))
        elif isinstance(kind, ValueKind):
            pending.extend((c, kind.part(s, k)) for k, c in kind.parts(p))
        elif kind.address and hasattr(kind, "locate"):
            seen.add((id(p), id(s)))
            found.append((p, s))
            if p.dtype.kind == "O":
                pending.extend(zip(p.flat, s.flat, strict=True))
    return found


def divides_memory(x: Any, t: Any) -> bool:
    """Whether one object, or one place in the memory of arrays, that is reached from `x` by several ways has
    several counterparts in `t`: of what `t` says of it, only a part would count."""
    objects: dict[int, Any] = {}
    memories: dict[int, list[tuple[Any, Any]]] = {}
    for p, s in _counterparts(x, t):
        if objects.setdefault(id(p), s) is not s:
            return True
        locate = getattr(kind_of(type(p)), "locate", None)
        if locate is not None and p.size:
            memories.setdefault(locate(p)[0], []).append((p, s))
    return any(len(pairs) > 1 and _divides_arrays(pairs) for pairs in memories.values())


def _divides_arrays(pairs: Sequence[tuple[Any, Any]]) -> bool:
    """`divides_memory` of arrays in one memory, with their counterparts.

    Each is compared with those before it that reach as far.
    """
    kind: Any = kind_of(type(pairs[0][0]))
    reached: list[tuple[int, Any, Any]] = []
    spans = [(*kind.span(p), i) for i, (p, _) in enumerate(pairs)]
    for low, high, i in sorted(spans):
        y, s = pairs[i]
        reached = [entry for entry in reached if entry[0] > low]
        for _, x, t in reached:
            distance = kind.overlap(x, y)
            if distance is not None and distance != kind.overlap(t, s):
                return True
        reached.append((high, y, s))
    return False


def shared_memory_conflict(xs: Sequence[Any], ts: Sequence[Any]) -> tuple[int, int] | None:
    """The positions of two of the values `xs` that share an object or memory which their tangents `ts` do not
    share in the same way; None if there are none.  A tangent that is None fits any value."""
    for j, (y, s) in enumerate(zip(xs, ts, strict=True)):
        kind = kind_of(type(y))
        if not kind.address or s is None or s is NO_TANGENT:
            continue
        overlap = getattr(kind, "overlap", None)
        for i, (x, t) in enumerate(zip(xs[:j], ts[:j], strict=True)):
            if t is None or t is NO_TANGENT:
                continue
            if x is y:
                if t is not s:
                    return i, j
            elif instance_dict(x) is y or instance_dict(y) is x:
                if instance_dict(t) is not s and instance_dict(s) is not t:
                    return i, j
            elif (own := instance_dict(x)) and own is instance_dict(y):
                if instance_dict(t) is not instance_dict(s):
                    return i, j
            elif overlap is not None and type(x) is type(y) and overlap(x, y) != overlap(t, s):
                return i, j
    return None


def is_consistent(x: Any, t: Any, arrays: bool = True) -> bool:
    """Whether tangent `t` shares objects and memory just as `x` does: addresses correspond one to one.

    arrays: whether the memory of arrays is compared too.
    """
    forward: dict[Any, Any] = {}
    backward: dict[Any, Any] = {}
    for a, b in address_map(x, t):
        if issubclass(type(a), tuple) and not arrays:
            continue
        if issubclass(type(a), tuple):  # a view: the same place in memory that is the other's counterpart
            if a[1:] != b[1:]:
                return False
            a, b = a[0], b[0]
        if forward.setdefault(a, b) != b or backward.setdefault(b, a) != a:
            return False
    return True
