"""The caches of functions with `functools.lru_cache` while a derivative is taken.

What a function has in its cache was computed from numbers, and says nothing of what it depends on.  So where
one is called that has to be differentiated, there is another cache in the place of its own: it is empty at
first, lasts as long as the call of the derivative does, and keeps results with what stands beside them.

Two arguments that are equal may depend on different things.  Results are kept for arguments without a
derivative, for objects that are equal to nothing but themselves, and, as long as a first call runs that was
given objects which nobody else holds, for values that are the same object: a recursion hands most of its
arguments on as they are.  Others are computed each time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from adbc.cpython.wrappers import calls_a_cached_one
from adbc.ir.intrinsics import Raised
from adbc.records import record
from adbc.rules.cached import are_asked, are_told_apart, are_values, key_of, way_to_copy
from adbc.runtime.calls.steps import Call
from adbc.runtime.state.context import Context
from adbc.tangents.internal import add

__all__ = ["Memo", "call_remembered", "memo_of"]

Answer = tuple[Any, Any, Callable[[Any], Any]]


@record(slots=True)
class _Entry:
    """A result, what stands beside it, the cotangent of it that has come back to calls that found it here,
    and the arguments, which are held so that no address is used again."""

    out: Any
    shadow: Any
    cotangent: Any
    arguments: tuple[Any, ...]


class Memo:
    """What stands for the cache of `cached`, a function that was made before the call of a derivative.

    tells_values_apart: whether what is the same number depends on the same things.  A rule of the user's may
    give its argument back with another derivative.
    """

    def __init__(self, cached: Any, tells_values_apart: bool) -> None:
        self.cached = cached
        self.function = cached.__wrapped__
        parameters = cached.cache_parameters()
        self.maxsize: int | None = parameters["maxsize"]
        self.typed: bool = parameters["typed"]
        self.tells_values_apart = tells_values_apart and calls_a_cached_one(self.function)
        self.of_values: dict[Any, _Entry] | None = None
        self.clear()

    def clear(self) -> None:
        """Forget everything, as ``cache_clear()``."""
        self.kept: dict[Any, _Entry] = {}
        self.hits = self.misses = 0

    def info(self) -> Any:
        """What ``cache_info()`` gives."""
        cls = type(self.cached.cache_info())
        return cls(self.hits, self.misses, self.maxsize, len(self.kept))

    def key(self, call: Call, hashes: tuple[int, ...]) -> Any:
        """What the result of `call` is kept under, whose arguments have these `hashes`, as far as they were
        asked; None if it is not kept.  What is seen as a constant is another argument."""
        args, keywords = call.args[: call.count], call.by_name()
        if not are_told_apart(args, keywords):
            return None
        return key_of(args, keywords, hashes, self.typed), tuple(map(type, call.shadows))

    def keep(self, key: Any, entry: _Entry) -> None:
        """Keep `entry`, in the place of the one that was asked for the longest time ago."""
        if self.maxsize is None or self.maxsize > 0:
            if self.maxsize is not None and len(self.kept) >= self.maxsize:
                del self.kept[next(iter(self.kept))]
            self.kept[key] = entry

    def found(self, key: Any) -> _Entry | None:
        """The entry under `key`, which is now the last to be forgotten."""
        entry = self.kept.get(key)
        if entry is not None and self.maxsize is not None:
            self.kept[key] = self.kept.pop(key)
        return entry


def memo_of(context: Context, cached: Any) -> Memo | None:
    """What stands for the cache of `cached` in the call of `context`, if that was met."""
    known: Memo | None = context.memos.get(id(cached))
    return known


def call_remembered(
    context: Context, call: Call, make: Callable[[Call], Answer], tells_values_apart: bool
) -> Answer:
    """The answer of `call`, of a function with a cache; `make` gives that of a call that is made."""
    cached = call.function
    memo = memo_of(context, cached)
    if memo is None:
        memo = context.memos[id(cached)] = Memo(cached, tells_values_apart)
    if not are_asked(call.args, {}):
        return _remembered(memo, call, (), make)
    hashes: list[int] = []
    asked: list[Callable[[Any], Any]] = []
    for x, shadow in zip(call.args, call.shadows, strict=True):
        found, _, pullback = answer = make(Call(hash, None, (x,), (shadow,), (None,), (), None))
        if found.__class__ is Raised:
            return answer
        hashes.append(found)
        asked.append(pullback)
    out, shadow, last = _remembered(memo, call, tuple(hashes), make)

    def asked_pullback(bout: Any) -> Any:
        returned = list(last(bout))
        for pullback in reversed(asked):  # what the hashes have done is undone like the rest
            pullback(None)
        return returned

    return out, shadow, asked_pullback


def _remembered(memo: Memo, call: Call, hashes: tuple[int, ...], make: Callable[[Call], Answer]) -> Answer:
    key = memo.key(call, hashes)
    if key is not None:
        entry = memo.found(key)
        if entry is not None:
            memo.hits += 1
            return _again(entry)
        memo.misses += 1
        return _first(call.of(memo.function), make, memo.kept, key, memo.keep)
    if not memo.tells_values_apart or call.keywords or not are_values(call.args):
        memo.misses += 1
        return make(call.of(memo.function))
    known = memo.of_values
    if known is None:
        memo.misses += 1
        memo.of_values = {}
        try:
            inner = call.of(memo.function)
            inner.args = tuple(map(_another, call.args))
            return make(inner)
        finally:
            memo.of_values = None
    key = key_of(call.args, {}, hashes, True), tuple(map(type, call.shadows))
    entry = known.get(key)
    if entry is not None:
        memo.hits += 1
        return _again(entry)
    memo.misses += 1
    return _first(call.of(memo.function), make, known, key, known.__setitem__)


def _first(
    call: Call,
    make: Callable[[Call], Answer],
    kept: dict[Any, _Entry],
    key: Any,
    keep: Callable[[Any, _Entry], None],
) -> Answer:
    """The answer of `call`, which is kept under `key`."""
    out, shadow, pullback = answer = make(call)
    if out.__class__ is Raised:
        return answer
    entry = _Entry(out, shadow, None, call.args)
    keep(key, entry)

    def first_pullback(bout: Any) -> Any:
        # Code that a checkpoint runs again stands before this call: there, nothing is kept of it.
        if kept.get(key) is entry:
            del kept[key]
        return pullback(add(bout, entry.cotangent))

    return out, shadow, first_pullback


def _again(entry: _Entry) -> Answer:
    """The answer of a call that gives what was kept: its cotangent goes to the call that computed that."""

    def again_pullback(bout: Any) -> Any:
        entry.cotangent = add(entry.cotangent, bout)
        return ()

    return entry.out, entry.shadow, again_pullback


def _another(x: Any) -> Any:
    """`x`, in an object that nobody else holds, if it is a value with numbers in it."""
    way = way_to_copy(x)
    if way == "number":
        return x * 1.0
    if way == "tuple":
        return (*x,)
    return copy.copy(x) if way == "record" else x
