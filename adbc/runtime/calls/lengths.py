"""How long will it be: what makes a list or tuple of an iterable asks first, as `operator.length_hint` does.

Only where a class answers by a ``__len__`` or ``__length_hint__`` written in Python is the question asked
here; elsewhere nobody can tell whether it was.  The iterator is made before the question, and the question is
put to the iterable.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import list_like, overrides
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.steps import Call, Delegate, Protocols, Resolver, Step

__all__ = ["HINTS", "PROTOCOLS"]

HINTS = "__len__", "__length_hint__"
"""The special methods by which an iterable says how long it is."""


class _Asked:
    """An iterable that notes whether it is asked for its length."""

    was_asked = False

    def __iter__(self) -> Any:
        return iter(())

    def __length_hint__(self) -> int:
        self.was_asked = True
        return 0


def _is_asked_by(function: Any) -> bool:
    """Whether `function`, which goes through an iterable, asks it for its length in this interpreter."""
    iterable = _Asked()
    function(iterable)
    return iterable.was_asked


def list_of(iterable: Any, /) -> Any:
    """``list(iterable)``, where the iterable is asked for its length."""
    out: list[Any] = []
    iterator = iter(iterable)
    operator.length_hint(iterable, 8)
    value = intrinsics._next_(iterator)
    while value is not intrinsics.EXHAUSTED:
        out.append(value)
        value = intrinsics._next_(iterator)
    return out


def tuple_of(iterable: Any, /) -> Any:
    """``tuple(iterable)``, where the iterable is asked for its length."""
    return tuple(list_of(iterable))


def extended(target: Any, iterable: Any, /) -> None:
    """``list.extend(target, iterable)``, where the iterable is asked for its length."""
    iterator = iter(iterable)
    operator.length_hint(iterable, 8)
    value = intrinsics._next_(iterator)
    while value is not intrinsics.EXHAUSTED:
        list.append(target, value)
        value = intrinsics._next_(iterator)


def extended_in_place(target: Any, iterable: Any, /) -> Any:
    """``target += iterable`` of a list, where the iterable is asked for its length."""
    extended(target, iterable)
    return target


def _hinting(body: Any, place: int, when: Any = None) -> Resolver:
    """The resolver of a function that asks its argument at `place` for its length, and does as `body`."""

    def hinting(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) != place + 1 or call.keywords:
            return None
        if when is not None and not when(type(call.args[0])):
            return None
        cls = type(call.args[place])
        return Delegate(call.of(body)) if any(overrides(cls, name) for name in HINTS) else None

    return hinting


PROTOCOLS: Protocols = {
    list: _hinting(list_of, 0),
    intrinsics._list_extend_: _hinting(extended, 1, list_like),
    list.extend: _hinting(extended, 1, list_like),
    list.__iadd__: _hinting(extended_in_place, 1, list_like),
}
"""What functions that ask an iterable for its length lead to."""
if _is_asked_by(tuple):
    PROTOCOLS[tuple] = _hinting(tuple_of, 0)
