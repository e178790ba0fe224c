"""`functools.lru_cache` and ``functools.cache`` in Python: a cache that is made in a call is followed like an
object of the user's.  Of those that were made before, see `runtime.calls.memos`.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from types import MethodType
from typing import Any

from adbc.rules.surrogates import Surrogate
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS", "are_discrete", "are_told_apart", "are_values", "names_of", "way_to_copy"]


def are_discrete(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether all arguments of a call are values that never have a derivative."""
    return all(map(_is_discrete, args)) and all(map(_is_discrete, keywords.values()))


def _is_discrete(x: Any) -> bool:
    cls: Any = type(x)
    if kind_of(cls).inactive:
        return cls.__hash__ is not None and not _is_own(cls)
    if cls is frozenset or (cls.__hash__ is tuple.__hash__ and cls.__eq__ is tuple.__eq__):
        return all(map(_is_discrete, x))
    return _is_frozen(cls) and all(_is_discrete(getattr(x, field.name)) for field in dataclasses.fields(cls))


def _is_own(cls: type) -> bool:
    """Whether instances of `cls` are equal to nothing but themselves."""
    return issubclass(cls, enum.Enum) or (cls.__hash__ is object.__hash__ and cls.__eq__ is object.__eq__)


def _is_frozen(cls: type) -> bool:
    """Whether `cls` is a dataclass whose instances are values."""
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and parameters.frozen and "__dataclass_params__" in vars(cls)


def are_told_apart(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether all arguments of a call are such values, or objects that are equal to nothing but themselves.

    Raises `TypeError` for what cannot be the key of a dict, as the cache does.
    """
    is_each = True
    for x in (*args, *keywords.values()):
        cls: Any = type(x)
        if cls.__hash__ is None:
            raise TypeError(f"unhashable type: {cls.__name__!r}")
        is_each = is_each and (_is_own(cls) or _is_discrete(x))
    return is_each


def are_values(args: tuple[Any, ...]) -> bool:
    """Whether each argument of a call is told apart in that way, or is a value with numbers in it: a real
    number, a tuple or a frozen dataclass."""
    return all(_is_own(type(x)) or _is_discrete(x) or way_to_copy(x) for x in args)


def way_to_copy(x: Any) -> str:
    """What `x` is if another object is as good as it is: a "number", "tuple" or "record"; else ""."""
    cls = type(x)
    if cls is float or (cls.__name__ == "float64" and cls.__module__ == "numpy"):
        return "number"
    return "tuple" if cls is tuple else "record" if _is_frozen(cls) else ""


def names_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What stands for arguments in a key that holds no objects: a discrete value itself, for another the
    object that it is."""
    return tuple([x if _is_discrete(x) else ("object", id(x)) for x in values])


class _LruCache(Surrogate):
    """A cache that a function makes while it is differentiated: what is kept there keeps its derivative.

    Results are kept for arguments that have no derivative, and for objects that are equal to themselves only.
    For others they are computed each time: two numbers may be equal and depend on different things.
    """

    __stands_for__ = functools._lru_cache_wrapper

    def __init__(self, function: Any, maxsize: Any, typed: bool, info: Any) -> None:
        self.function = function
        self.maxsize = maxsize
        self.typed = typed
        self.info = info
        self.cache_clear()

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else MethodType(self, obj)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if are_discrete(args, keywords):
            # No argument is a tuple: a key without keywords is never one with keywords.
            key: Any = (args, tuple(keywords.items())) if keywords else args
        elif are_told_apart(args, keywords):
            key = names_of(args), tuple(keywords), names_of(tuple(keywords.values()))
            self.held.append((args, keywords))  # so that no address is used again
        else:
            self.misses += 1
            return self.function(*args, **keywords)
        if self.typed:
            key = (key, tuple([type(value) for value in (*args, *keywords.values())]))
        if key in self.kept:
            self.hits += 1
            if self.maxsize is None:
                return self.kept[key]
            result = self.kept.pop(key)
            self.kept[key] = result  # now the last to be forgotten
            return result
        self.misses += 1
        # Arguments by position alone are known one by one.
        result = self.function(*args, **keywords) if keywords else self.function(*args)
        if self.maxsize is None or self.maxsize > 0:
            if self.maxsize is not None and len(self.kept) >= self.maxsize:
                del self.kept[next(iter(self.kept))]
            self.kept[key] = result
        return result

    def cache_info(self) -> Any:
        return self.info(self.hits, self.misses, self.maxsize, len(self.kept))

    def cache_clear(self) -> None:
        self.kept: dict[Any, Any] = {}
        self.held: list[Any] = []
        self.hits = self.misses = 0


class _Memo(_LruCache):
    """A cache without a limit, in which equal arguments are the same whatever their classes: what recursions
    over states are written with, and call for each state."""

    is_followed = True

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if keywords or not are_discrete(args, keywords):
            return _LruCache.__call__(self, *args, **keywords)
        kept = self.kept
        if args in kept:
            self.hits += 1
            return kept[args]
        self.misses += 1
        result = kept[args] = self.function(*args)
        return result


def _lru_cache(function: Any, maxsize: Any, typed: bool, info: Any, /) -> Any:
    if maxsize is None and not typed:
        return _Memo(function, maxsize, typed, info)
    return _LruCache(function, maxsize, typed, info)


ROWS: list[Rule] = [
    ZeroRule(are_told_apart, result=bool),
    ZeroRule(names_of),
    ZeroRule(are_discrete, result=bool),
    Overlay(functools._lru_cache_wrapper, _lru_cache),
]
