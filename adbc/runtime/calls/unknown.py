"""Memory that a solver has left: shadows in step with it, and numbers whose derivative is not known.

These may be there as long as nobody asks for their derivative.  In reverse mode what has come back to their
place says whether somebody has.  In forward mode NaN stands there, and where it arrives at the result, the
call ends with the refusal.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.report.frames import is_ours
from adbc.runtime.report.waiting import Waiting
from adbc.runtime.state.activity import is_nonzero
from adbc.runtime.state.context import Context
from adbc.tangents.contents import elements_of, is_of_array, put_back
from adbc.tangents.duals import MutableTangent
from adbc.tangents.fields import instance_fields

__all__ = ["check", "mark", "settled_undo"]

Lost = Sequence[tuple[Any, Any, UnsupportedError]]
"""Shadows (or tangents) of containers, objects and arrays; the keys or places there; and the refusals."""


def settled_undo(context: Context, changed: Sequence[tuple[Any, Any]]) -> Callable[[], None]:
    """Bring the shadows of objects in step that are `changed`, each with what stood there; gives what puts
    objects and shadows back.  What is still there keeps its slot, in which its cotangent grows."""
    parts = []
    for x, old in changed:
        shadow = context.shadows.lookup(x)
        if (
            shadow is None
            or is_of_array(x, old)
            or not isinstance(shadow, list | deque | dict | MutableTangent)
        ):
            continue
        is_list = issubclass(type(x), list | deque)
        items = (
            elements_of(x) if is_list else dict.items(x) if issubclass(type(x), dict) else instance_fields(x)
        )
        was, now = (dict(enumerate(c) if is_list else c) for c in (old, items))
        slots = _slots(shadow)
        had = _by_key(slots)
        kept = {key for key, v in now.items() if key in had and key in was and was[key] is v}
        _fill(slots, {k: had[k] if k in kept else context.shadows.found(v) for k, v in now.items()})
        parts.append((slots, had, kept))

    def undo() -> None:
        for x, old in changed:
            put_back(x, old)
        for slots, had, kept in parts:
            current = _by_key(slots)
            _fill(slots, {key: current[key] if key in kept else t for key, t in had.items()})

    return undo


def _by_key(slots: Any) -> dict[Any, Any]:
    return dict(slots if issubclass(type(slots), dict) else enumerate(slots))


def _fill(slots: Any, by_key: dict[Any, Any]) -> None:
    put_back(slots, [*by_key.items()] if issubclass(type(slots), dict) else [*by_key.values()])


def mark(context: Context, lost: Lost) -> None:
    """Let NaN be the derivative at these places."""
    for shadow, where, refusal in lost:
        if context.follows_inner:
            raise refusal
        if shadow is None:
            continue  # of what holds no numbers
        if context.waiting is None:
            context.waiting = Waiting(_outermost())
            context.has_end = True
        nan = context.waiting.add(lambda refusal=refusal: refusal)
        if hasattr(shadow, "dtype"):
            shadow[where] = nan
            continue
        slots = _slots(shadow)
        for key in where:
            if slots[key].__class__ is not float:
                raise refusal
            slots[key] = nan


def check(lost: Lost) -> None:
    """Raise if something has come back to one of these places."""
    for shadow, where, refusal in lost:
        if shadow is None:
            continue
        if hasattr(shadow, "dtype"):
            if (shadow[where] != 0).any():
                raise refusal
        elif any(is_nonzero(slots[key]) for slots in (_slots(shadow),) for key in where):
            raise refusal


def _slots(shadow: Any) -> Any:
    return shadow.__dict__ if isinstance(shadow, MutableTangent) else shadow


def _outermost() -> Any:
    """The code of the outermost frame that is adbc's."""
    frame: Any = sys._getframe()
    found = frame.f_code
    while frame is not None:
        if is_ours(frame.f_code):
            found = frame.f_code
        frame = frame.f_back
    return found
