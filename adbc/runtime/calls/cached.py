"""Functions with a cache that was made outside of what is differentiated (``@functools.lru_cache``).

What such a cache holds has no derivatives, so that a call which is followed finds nothing there.  It has a
cache of its own in each top-level call, in Python, and runs a second time only where the plain function does.
"""

from __future__ import annotations

from typing import Any

from adbc.cpython.wrappers import CACHED, are_computed_anew
from adbc.rules.functools import cache_for
from adbc.runtime.calls.steps import Call, Delegate, Remember, Step
from adbc.runtime.state.context import Context

__all__ = ["by_cache", "call_of", "is_clearing"]


def by_cache(call: Call, wrapped: Any) -> Step:
    """What becomes of `call`, of a function with a cache around `wrapped`, which is written in Python."""
    if are_computed_anew(frozenset(map(type, call.args))):
        return Delegate(call.of(wrapped))
    return Remember(call)


def is_clearing(function: Any) -> bool:
    """Whether `function` is the ``cache_clear`` of such a function."""
    return type(function.__self__) is CACHED and function.__name__ == "cache_clear"


def call_of(context: Context, call: Call) -> tuple[Call, Any]:
    """The call in place of `call`, of a function with a cache or of its ``cache_clear``; and what remembers
    for that function in this top-level call, whose shadow is asked for."""
    function = call.function
    clears = type(function) is not CACHED
    cached = function.__self__ if clears else function
    known = context.caches.get(id(cached))
    if known is None:
        known = context.caches[id(cached)] = cached, cache_for(cached)
    stand_in = known[1]
    if clears:
        call.perform()
        cleared = type(stand_in).cache_clear
        return Call(cleared, None, (stand_in,), (None,), (None,), (), None), stand_in
    return call.of(stand_in), stand_in
