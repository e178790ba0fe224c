"""`threading`: locks have to do with no derivative, also where an exception is on its way, and threads are
started and waited for as they are, where nothing that they compute could be lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents.keys import CALL

__all__ = ["ROWS", "THREADS"]

_LOCKS: tuple[Any, ...] = (type(threading.Lock()), type(threading.RLock()))


class _Threads:
    """What looks at a thread before it is started in a call, and when it has been waited for.

    ``begin(check, look)`` says so, of functions of the context of the call and the thread; `check` raises if
    something would be lost.
    """

    def __init__(self) -> None:
        self.check: Callable[[Any, Any], None] = _nothing
        self.look: Callable[[Any, Any], None] = _nothing

    def begin(self, check: Callable[[Any, Any], None], look: Callable[[Any, Any], None]) -> None:
        self.check, self.look = check, look


def _nothing(context: Any, thread: Any) -> None:
    pass


THREADS = _Threads()


def start_unfollowed(thread: Any) -> None:
    """``thread.start()``, as it is."""
    if CALL.memory is not None:
        THREADS.check(CALL.memory, thread)
    threading.Thread.start(thread)


def _start_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    start_unfollowed(*args)
    return None, None


def _start_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    (thread,) = args
    places: list[Any] = [vars(thread)] if fargs[0] is None else [vars(thread), vars(fargs[0])]
    given = [{name: place[name] for name in _LET_GO if name in place} for place in places]
    start_unfollowed(thread)

    def start_pullback(bout: Any) -> tuple[None]:
        if not thread.is_alive():  # else it has them still
            for place, content in zip(places, given, strict=True):
                for name, value in content.items():
                    place.setdefault(name, value)
        return (None,)

    return None, None, start_pullback


_LET_GO = ("_target", "_args", "_kwargs")
"""What a thread deletes of itself when it has run; its shadow is brought in step when it is waited for."""


def join_unfollowed(thread: Any, timeout: Any) -> None:
    """``thread.join(timeout)``, as it is."""
    threading.Thread.join(thread, timeout)
    if CALL.memory is not None:
        THREADS.look(CALL.memory, thread)


def _start(self: Any) -> None:
    start_unfollowed(self)


def _join(self: Any, timeout: Any = None) -> None:
    join_unfollowed(self, timeout)


_OF_LOCKS = ("__enter__", "__exit__", "acquire", "locked", "release")

ROWS: list[Rule] = [
    *(ZeroRule(getattr(lock, name)) for lock in _LOCKS for name in _OF_LOCKS if hasattr(lock, name)),
    ZeroRule(threading.Lock, result=_LOCKS[0]),
    ZeroRule(_LOCKS[1], result=_LOCKS[1]),
    Primitive(start_unfollowed, frule=_start_frule, rrule=_start_rrule),
    ZeroRule(join_unfollowed),
    Overlay(threading.Thread.start, _start),
    Overlay(threading.Thread.join, _join),
]
