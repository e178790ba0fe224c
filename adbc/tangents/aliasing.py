"""Which address of a primal has which address in its tangent: the invariant of one address, one shadow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.tangents.fields import instance_dict
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of

__all__ = ["address_map", "is_consistent", "shared_memory_conflict"]

AddressPairs = list[tuple[Any, Any]]


def address_map(x: Any, t: Any) -> AddressPairs:
    """All pairs of the address of an object reached from `x` and that of its counterpart reached from `t`.

    An address of an array is that of the owner of its memory, with offset, strides and dtype.
    """
    pairs: AddressPairs = []
    seen: set[tuple[int, int]] = set()
    pending = [(x, t)]
    while pending:
        p, s = pending.pop()
        kind = kind_of(type(p))
        if s is NO_TANGENT or (id(p), id(s)) in seen:
            continue
        if isinstance(kind, AddressKind):
            seen.add((id(p), id(s)))
            pairs.append((id(p), id(s)))
            pending.extend((c, kind.part(s, k)) for k, c in kind.parts(p))
        elif isinstance(kind, ValueKind):
            pending.extend((c, kind.part(s, k)) for k, c in kind.parts(p))
        elif kind.address:
            locate = getattr(kind, "locate", None)
            if locate is not None and p.size:
                pairs.append((locate(p), locate(s)))
                if p.dtype.kind == "O" and (id(p), id(s)) not in seen:
                    seen.add((id(p), id(s)))
                    pending.extend(zip(p.flat, s.flat, strict=True))
    return pairs


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
        if isinstance(a, tuple) and not arrays:
            continue
        if isinstance(a, tuple):  # a view: the same place in memory that is the other's counterpart
            if a[1:] != b[1:]:
                return False
            a, b = a[0], b[0]
        if forward.setdefault(a, b) != b or backward.setdefault(b, a) != a:
            return False
    return True
