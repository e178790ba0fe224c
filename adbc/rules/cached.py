"""`functools.lru_cache` and ``functools.cache`` in Python: a cache that is made in a call is followed like an
object of the user's.  Of those that were made before, see `runtime.calls.memos`.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from types import MethodType, WrapperDescriptorType
from typing import Any

from adbc.flags import HEAP_TYPE
from adbc.rules.surrogates import Surrogate
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import NO_TANGENT
from adbc.tangents.objects import FrozenKind
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS", "are_asked", "are_told_apart", "are_values", "key_of", "way_to_copy"]


_PLAIN = frozenset({int, bool, str, bytes, type(None)})


def are_discrete(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether all arguments of a call are values of classes that never have a derivative, and as many as make
    the key of a cache by themselves: a single bool is no integer there, as it is beside others."""
    return (
        _PLAIN.issuperset(map(type, args))
        and _PLAIN.issuperset(map(type, keywords.values()))
        and not (len(args) == 1 and type(args[0]) is bool)
    )


def are_asked(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether an argument has a hash of the user's: a cache asks for it whenever it is called."""
    return any(_is_asked(type(x)) for x in (*args, *keywords.values()))


def _is_asked(cls: Any) -> bool:
    own = cls.__hash__
    if own is None or type(own) is WrapperDescriptorType or own is enum.Enum.__hash__:
        return False
    return not (
        _is_frozen(cls) and getattr(own, "__code__", _GENERATED).co_filename == _GENERATED.co_filename
    )


_GENERATED = compile("", "<string>", "exec")


def are_told_apart(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether all arguments of a call are values without a derivative, or instances of classes written in
    Python that are no values.

    Raises `TypeError` for what cannot be the key of a dict, as the cache does.
    """
    is_each = True
    for x in (*args, *keywords.values()):
        cls: Any = type(x)
        if cls.__hash__ is None:
            raise TypeError(f"unhashable type: {cls.__name__!r}")
        is_each = is_each and (_is_themselves(cls) or _is_discrete(x))
    return is_each


def _is_themselves(cls: Any) -> bool:
    """Whether an instance of `cls` is told from others by being that object."""
    is_own = cls.__hash__ is object.__hash__ and cls.__eq__ is object.__eq__
    return is_own or (bool(cls.__flags__ & HEAP_TYPE) and not _is_frozen(cls))


def _is_discrete(x: Any) -> bool:
    """Whether `x` is a value without a derivative, that is equal to others by what it consists of."""
    cls: Any = type(x)
    if cls in _PLAIN:
        return True
    if cls is frozenset or (cls.__hash__ is tuple.__hash__ and cls.__eq__ is tuple.__eq__):
        return all(map(_is_discrete, x))
    if _is_frozen(cls):
        return all(_is_discrete(getattr(x, field.name)) for field in dataclasses.fields(cls))
    is_value = cls.__hash__ is not None and cls.__hash__ is not object.__hash__
    return is_value and not cls.__flags__ & HEAP_TYPE and kind_of(cls).inactive


def _is_frozen(cls: type) -> bool:
    """Whether `cls` is a dataclass whose instances are values."""
    return isinstance(kind_of(cls), FrozenKind)


def are_values(args: tuple[Any, ...]) -> bool:
    """Whether each argument of a call is told apart in that way, or is a value with numbers in it: a real
    number, a tuple or a frozen dataclass."""
    return all(_is_themselves(type(x)) or _is_discrete(x) or way_to_copy(x) for x in args)


def way_to_copy(x: Any) -> str:
    """What `x` is if another object is as good as it is: a "number", "tuple" or "record"; else ""."""
    cls = type(x)
    if cls is float or (cls.__name__ == "float64" and cls.__module__ == "numpy"):
        return "number"
    return "tuple" if cls is tuple else "record" if _is_frozen(cls) else ""


def key_of(
    args: tuple[Any, ...], keywords: dict[str, Any], hashes: tuple[int, ...], typed: bool
) -> tuple[Any, ...]:
    """The key of arguments that are told apart, which holds no objects: what stands for these in it.

    An instance is equal to itself, as long as its hash is the same.  (Of two that are equal otherwise it may
    be that they depend on different things.)  Integers and text are what their value says.
    """
    values = (*args, *keywords.values())
    names = [_name_of(x, hashes[i] if hashes else 0) for i, x in enumerate(values)]
    key: tuple[Any, ...] = tuple(names[: len(args)])
    if keywords:
        key = (key, tuple(zip(keywords, names[len(args) :], strict=True)))
    elif len(args) == 1 and type(args[0]) not in (int, str):
        key = (key,)  # equal to no integer or text by itself
    return (key, tuple(map(type, values))) if typed else key


def _name_of(x: Any, hash: int) -> Any:
    """What `x` is in a key: its value, where a class derived from that of text or of integers leaves it what
    it is, or that it is this object, with this hash."""
    cls: Any = type(x)
    if _is_discrete(x):
        return x
    for base, value in _BASES.items():
        if issubclass(cls, base) and cls.__hash__ is base.__hash__ and cls.__eq__ is base.__eq__:
            return value(x)
    return "an object", id(x), hash


_BASES: dict[Any, Any] = {str: str.__str__, int: int.__int__, bytes: lambda x: bytes.join(b"", [x])}
"""By classes of values without a derivative, what gives that of an instance of a derived class."""


def seen_as(x: Any) -> Any:
    """How `x` is seen where this is called: at how many levels it has a tangent.

    One object has none where it was handed on by `stop_gradient`, and what is computed of it there is not
    what is computed of it elsewhere.  Here, where nobody differentiates, nothing has.
    """
    return ()


def _seen(x: Any, tangent: Any) -> tuple[Any, ...]:
    if not kind_of(type(x)).address:  # a value, whose tangent is no more than what it was computed from
        return ()
    outside = seen_as(x)  # outer levels follow that, and say how they see the object
    return outside if tangent is None or tangent is NO_TANGENT else (*outside, True)


def _seen_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return _seen(args[0], dargs[0]), None


def _seen_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return _seen(args[0], fargs[0]), None, lambda bout: (None,)


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
            if self.typed:
                key = (key, tuple([type(value) for value in (*args, *keywords.values())]))
        else:
            hashes: Any = ()
            if are_asked(args, keywords):
                hashes = tuple([hash(value) for value in (*args, *keywords.values())])
            if not are_told_apart(args, keywords):
                self.misses += 1
                return self.function(*args, **keywords)
            key = key_of(args, keywords, hashes, self.typed)
            seen = tuple([seen_as(value) for value in (*args, *keywords.values())])
            if any(seen):
                key = (key, seen)
            self.held.append((args, keywords))  # so that no address is used again
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

    def __deepcopy__(self, memo: Any) -> Any:
        return self

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


def _itself(cache: Any, /) -> Any:
    """What ``copy.copy`` makes of a function with a cache."""
    return cache


ROWS: list[Rule] = [
    ZeroRule(are_told_apart, result=bool),
    ZeroRule(key_of),
    ZeroRule(are_asked, result=bool),
    ZeroRule(are_discrete, result=bool),
    Primitive(seen_as, frule=_seen_frule, rrule=_seen_rrule, is_fitted=True, result=tuple),
    Overlay(functools._lru_cache_wrapper, _lru_cache),
    Overlay(functools._lru_cache_wrapper.__copy__, _itself),
]
