"""The caches of functions with `functools.lru_cache` in a derivative that is differentiated once more.

There is one as at the outermost level (`memos`), for recursions on numbers alone: as long as a first call
runs, which is given objects that nobody else holds, a call with the same objects gives what is kept.  An
entry is made by code that the outer level follows, so what stands in it has its derivative there by its
address.  The same object may have two derivatives at the outer level if it has none at this one
(`stop_gradient`): then nothing is kept, and the function is called.
"""

from __future__ import annotations

from typing import Any

from adbc.cpython.wrappers import calls_a_cached_one
from adbc.rules.cached import key_of
from adbc.rules.table import Rule, ZeroRule
from adbc.runtime.calls.inner_parts import joined
from adbc.runtime.calls.nested import apart
from adbc.runtime.state.context import Context

__all__ = ["ROWS", "may_remember", "remembered", "remembered_forward"]

_NAMES = frozenset({int, bool, str, type(None)})


def may_remember(table: Any, call: Any) -> bool:
    """Whether results of `call`, of a function with a cache, may be kept at an inner level: what is the same
    number depends on the same things there, unless a rule of the user's says otherwise."""
    if call.keywords or table.declared or not calls_a_cached_one(call.function.__wrapped__):
        return False
    numbers = 0
    for x, shadow in zip(call.args, call.shadows, strict=True):
        if type(x) is float and shadow is not None:
            numbers += 1
        elif type(x) not in _NAMES:
            return False
    return numbers > 0


class _Entry:
    """A result, what stands beside it, and the cotangent of it that has come back to calls that found it."""

    def __init__(self, out: Any, shadow: Any) -> None:
        self.out = out
        self.shadow = shadow
        self.cotangent = None


# -- what stands apart: the entries by key, which hold the arguments -----------------------------------------


def is_first(context: Context, cached: Any) -> bool:
    """Whether a call of `cached` is the first, inside of which results are kept."""
    return ("inner", id(cached)) not in context.memos


def begin(context: Context, cached: Any) -> None:
    """Keep results of `cached` from now on."""
    context.memos["inner", id(cached)] = {}


def end(context: Context, cached: Any) -> None:
    """Keep no results any more."""
    del context.memos["inner", id(cached)]


def found(context: Context, cached: Any, xs: Any, fs: Any) -> Any:
    """The entry of a call; None if there is none."""
    entry = context.memos["inner", id(cached)].get(_key(xs, fs))
    return None if entry is None else entry[0]


def keep(context: Context, cached: Any, xs: Any, fs: Any, entry: Any) -> None:
    """Keep the entry of a call, and the arguments, so that no address is used again."""
    context.memos["inner", id(cached)][_key(xs, fs)] = entry, xs


def _key(xs: Any, fs: Any) -> Any:
    return key_of(xs, {}, (), True), tuple(map(type, fs))


# -- what is followed ----------------------------------------------------------------------------------------


def others(xs: Any) -> Any:
    """The arguments, as objects that nobody else holds."""
    return tuple([x * 1.0 if type(x) is float else x for x in xs])


def _outermost(call: Any, calls: Any, context: Any, cached: Any, function: Any, xs: Any, fs: Any) -> Any:
    """The answer of the first call of `cached`, inside of which results are kept."""
    begin(context, cached)
    try:
        return call(calls, context, (), function, None, others(xs), fs)
    finally:
        end(context, cached)


def remembered(call: Any, calls: Any, context: Any, cached: Any, function: Any, xs: Any, fs: Any) -> Any:
    """The answer of a call of `cached`; `call` makes that of `function`, which it wraps."""
    if is_first(context, cached):
        return _outermost(call, calls, context, cached, function, xs, fs)
    entry = found(context, cached, xs, fs)
    count = len(xs) + 1
    if entry is not None:

        def again(bout: Any) -> Any:
            entry.cotangent = joined(entry.cotangent, bout)
            return (None,) * count

        return entry.out, entry.shadow, again
    out, fout, back = call(calls, context, (), function, None, xs, fs)
    made = _Entry(out, fout)
    keep(context, cached, xs, fs, made)

    def first(bout: Any) -> Any:
        return back(joined(bout, made.cotangent))

    return made.out, made.shadow, first


def remembered_forward(
    call: Any, calls: Any, context: Any, cached: Any, function: Any, xs: Any, fs: Any
) -> Any:
    """What `remembered` gives, in forward mode."""
    if is_first(context, cached):
        return _outermost(call, calls, context, cached, function, xs, fs)
    entry = found(context, cached, xs, fs)
    if entry is None:
        out, dout = call(calls, context, (), function, None, xs, fs)
        entry = _Entry(out, dout)
        keep(context, cached, xs, fs, entry)
    return entry.out, entry.shadow


ROWS: list[Rule] = [
    ZeroRule(is_first, result=bool),
    ZeroRule(begin),
    ZeroRule(end),
    *apart(found, keep),
]
