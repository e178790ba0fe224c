"""How cotangents find their arguments again: pairs of an origin (`steps`) and rdata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime.calls.binding import Bound, Default
from adbc.runtime.calls.steps import OfPartial, OfSelf
from adbc.tangents import RData, slot_rdata

__all__ = ["giving", "keyword_rdata", "no_pullback", "scatter", "to_partial", "to_place", "to_self"]


def no_pullback(bout: Any) -> Sequence[Any]:
    """The pullback of a call through which nothing flows back."""
    return ()


def giving(give: Callable[[], None]) -> Callable[[Any], Any]:
    """A pullback that runs `give`, which hands cotangents back itself."""

    def giving_pullback(bout: Any) -> Any:
        give()
        return ()

    return giving_pullback


def scatter(targets: Sequence[Any], rdata: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pairs of origin and rdata, of the origins and rdata of parameters; ``*args`` has a tuple of origins."""
    pairs: list[tuple[Any, Any]] = []
    for origin, r in zip(targets, rdata, strict=False):
        if origin.__class__ is Default:
            origin.give(r)
        elif origin.__class__ is not tuple:
            pairs.append((origin, r))
        elif r is not None:
            pairs += zip(origin, r, strict=True)
    return pairs


def keyword_rdata(bound: Bound) -> list[tuple[Any, Any]]:
    """Pairs of origin and rdata for the arguments in ``**kwargs``, if there are any, from the slots of its
    dictionary."""
    if not bound or bound[-1][2].__class__ is not dict or bound[-1][1] is None:
        return []
    _, shadow, origins = bound[-1]
    return [(origin, slot_rdata(shadow[name])) for name, origin in origins.items()]


def to_self(r: Any, has_function: bool) -> Any:
    """The rdata of a bound method, from that of its ``__self__``; `has_function`: it is written in Python."""
    if r is None:
        return None
    return RData(__self__=r, __func__=None) if has_function else RData(__self__=r)


def to_partial(r: Any, part: str, key: int | str | None, count: int) -> Any:
    """The rdata of a partial application, from that of what stands at `key` in a `part` of it, the arguments
    being `count`."""
    if r is None:
        return None
    if part == "func":
        return RData(func=r, args=None, keywords=None)
    if part == "args":
        return RData(func=None, args=tuple([r if i == key else None for i in range(count)]), keywords=None)
    return RData(func=None, args=None, keywords=RData(**{str(key): r}))


def to_place(origin: Any, r: Any) -> tuple[Any, Any]:
    """The place that `origin` is a part of, and its rdata, from `r`, that of the part."""
    while True:
        if origin.__class__ is OfSelf:
            r, origin = to_self(r, origin.has_function), origin.place
        elif origin.__class__ is OfPartial:
            r, origin = to_partial(r, origin.part, origin.key, origin.count), origin.place
        else:
            return origin, r
