"""The shadows of one top-level call: one address, one shadow, however the object is reached.

Arguments, the closure of the function and every global object that is touched go through one memo,
so aliased arguments, cycles and overlapping views share.  The memo keeps objects alive: an address
that is free may be used again.  Numbers are never keys.  Nothing here knows of arrays.
"""

from __future__ import annotations

from typing import Any

from adbc.tangents import NO_FDATA, NO_TANGENT, slot_shadow, zero_tangent
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of

__all__ = ["Shadows"]


class Shadows:
    """Object -> tangent, by identity."""

    __slots__ = ("_memo",)

    def __init__(self) -> None:
        self._memo: dict[Any, tuple[Any, Any]] = {}

    def tangent(self, obj: Any) -> Any:
        """The tangent of `obj`: that of before if it was met, else zero."""
        cls = type(obj)
        if cls is float:
            return 0.0
        if cls is int or cls is bool or obj is None:
            return NO_TANGENT
        return zero_tangent(obj, self._memo)

    def shadow(self, obj: Any) -> Any:
        """The internal shadow of `obj`."""
        return slot_shadow(zero_tangent(obj, self._memo))

    def register(self, obj: Any, tangent: Any) -> None:
        """Let `tangent` be the tangent of `obj` from now on; for an array, of its memory too."""
        kind_of(type(obj)).remember(obj, tangent, self._memo)

    def adopt(self, obj: Any, shadow: Any) -> None:
        """Let `shadow` (or a tangent), given from outside, be that of `obj`, and so for all inside it."""
        pending = [(obj, shadow)]
        while pending:
            x, s = pending.pop()
            if s is None or s is NO_TANGENT or s is NO_FDATA:
                continue
            kind = kind_of(type(x))
            if kind.address:
                if self.lookup(x) is not None:
                    continue
                self.register(x, s)
            if isinstance(kind, AddressKind | ValueKind):
                pending.extend((c, kind.part(s, k)) for k, c in kind.parts(x))

    def lookup(self, obj: Any) -> Any:
        """The tangent of `obj` if it was met, else None."""
        found = self._memo.get(id(obj))
        return found[1] if found is not None and found[0] is obj else None
