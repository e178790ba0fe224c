"""What `functools` has in C, in Python so that the functions it is given are differentiated."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType, NoneType, WrapperDescriptorType
from typing import Any

from adbc.errors import UnsupportedError
from adbc.flags import HEAP_TYPE
from adbc.ir.intrinsics import EXHAUSTED, UNBOUND, _next_
from adbc.rules.surrogates import Surrogate
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.fields import slots_of

__all__ = ["ROWS", "cache_for", "key_by"]


def _reduce(function: Any, iterable: Any, initial: Any = UNBOUND, /) -> Any:
    iterator = iter(iterable)
    value = initial
    if value is UNBOUND:
        value = _next_(iterator)
        if value is EXHAUSTED:
            raise TypeError("reduce() of empty iterable with no initial value")
    x = _next_(iterator)  # and no `for`, which would ask for an iterator again
    while x is not EXHAUSTED:
        value = function(value, x)
        x = _next_(iterator)
    return value


class _Partial(Surrogate):
    """`functools.partial`, followed like a class of the user's: what it holds keeps its derivative."""

    __stands_for__ = functools.partial

    def __init__(self, func: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


class _PartialOf(_Partial):
    """A partial application of one that was there before, and has keywords: they are left where they are,
    because a dict that is made of them would not have their derivatives."""

    def __init__(self, inner: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.inner = inner
        self.further = args
        self.named = keywords

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self.inner(*self.further, *args, **{**self.named, **keywords})

    def _look(self) -> Any:
        raise UnsupportedError(
            "what a functools.partial of another functools.partial holds is asked for",
            "the other was made before the function was called, and has keywords",
            "make it in the function",
        )

    func = args = keywords = property(_look)


def way_of_joining(func: Any) -> str:
    """What `functools.partial` makes of `func`.

    A new one holds the parts of `func` ("parts", and "arguments" if there are no keywords) if that is a
    partial application itself, and nobody has given it attributes.  Parts that cannot be followed are "kept"
    where they are.  Anything else is held as a whole ("").
    """
    if type(func) is _Partial or type(func) is _PartialOf:
        return "" if len(vars(func)) > 3 else "parts" if type(func) is _Partial else "kept"
    if not issubclass(type(func), functools.partial) or functools.partial(func).func is func:
        return ""
    return "kept" if func.keywords else "arguments"


def _partial(func: Any, /, *args: Any, **keywords: Any) -> Any:
    if not callable(func):
        raise TypeError("the first argument must be callable")
    way = way_of_joining(func)
    if way == "parts":
        return _Partial(func.func, (*func.args, *args), {**func.keywords, **keywords})
    if way == "arguments":
        return _Partial(func.func, (*func.args, *args), keywords)
    return _PartialOf(func, args, keywords) if way == "kept" else _Partial(func, args, keywords)


_DISCRETE = frozenset({int, bool, str, bytes, type(None)})


def are_discrete(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether all arguments of a call are values of classes that never have a derivative, and as many as make
    the key of a cache by themselves: a single bool is no integer there, as it is beside others."""
    return (
        _DISCRETE.issuperset(map(type, args))
        and _DISCRETE.issuperset(map(type, keywords.values()))
        and not (len(args) == 1 and type(args[0]) is bool)
    )


def are_asked(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether an argument has a hash that is not computed in C: a cache asks for it whenever it is called."""
    hashes = [type(x).__hash__ for x in (*args, *keywords.values())]
    return any(h is not None and type(h) is not WrapperDescriptorType for h in hashes)


def are_told_apart(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether all arguments of a call are such values, or instances of classes written in Python.

    Raises `TypeError` for what cannot be the key of a dict, as the cache does.
    """
    is_each = True
    for x in (*args, *keywords.values()):
        cls: Any = type(x)
        if cls.__hash__ is None:
            raise TypeError(f"unhashable type: {cls.__name__!r}")
        is_own = cls.__hash__ is object.__hash__ and cls.__eq__ is object.__eq__
        is_each = is_each and (cls in _DISCRETE or is_own or bool(cls.__flags__ & HEAP_TYPE))
    return is_each


def key_of(
    args: tuple[Any, ...], keywords: dict[str, Any], hashes: tuple[int, ...], typed: bool
) -> tuple[Any, ...]:
    """The key of arguments that `are_told_apart`, which holds no objects: what stands for these in it.

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
    if cls in _DISCRETE:
        return x
    for base, value in _VALUES.items():
        if issubclass(cls, base) and cls.__hash__ is base.__hash__ and cls.__eq__ is base.__eq__:
            return value(x)
    return "an object", id(x), hash


_VALUES: dict[Any, Any] = {str: str.__str__, int: int.__int__, bytes: lambda x: bytes.join(b"", [x])}
"""By classes of values without a derivative, what gives that of an instance of a derived class."""


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


def cache_for(cached: Any) -> Any:
    """A cache in Python that stands for `cached`, one in C, and holds nothing yet."""
    how = cached.cache_parameters()
    return _lru_cache(cached.__wrapped__, how["maxsize"], how["typed"], functools._CacheInfo)


_KEY = type(functools.cmp_to_key(max))
"""The class of the keys that `functools.cmp_to_key` leads to, and of what makes them."""


class _Key(Surrogate):
    """The key that the function from `functools.cmp_to_key` makes of an object."""

    __stands_for__ = _KEY

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) > 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) >= 0

    def __eq__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) == 0

    __hash__ = None  # type: ignore[assignment]  # as there


class _Keys(Surrogate):
    __stands_for__ = _KEY

    def __init__(self, compare: Any) -> None:
        self.compare = compare

    def __call__(self, obj: Any) -> Any:
        return _Key(self.compare, obj)


def _cmp_to_key(mycmp: Any) -> Any:
    return _Keys(mycmp)


def key_by(compare: Any, obj: Any) -> Any:
    """The key of `obj` that a function from ``functools.cmp_to_key(compare)`` makes, in Python."""
    return _Key(compare, obj)


class _Dispatched(Surrogate):
    # The method that `functools.singledispatchmethod` gives for an object: the function that it stands for is
    # only made when something else is asked of it than to be called.  No docstring, for that is asked too.

    __stands_for__ = FunctionType

    def __init__(self, method: Any, obj: Any, cls: Any) -> None:
        self.method = method
        self.obj = obj
        self.cls = cls

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if not args and _SAYS_SO:
            name = getattr(self.method.func, "__name__", "singledispatchmethod method")
            raise TypeError(f"{name} requires at least 1 positional argument")
        found = self.method.dispatcher.dispatch(args[0].__class__)
        if type(found) is not FunctionType or self.obj is None:
            return found.__get__(self.obj, self.cls)(*args, **keywords)
        # Arguments by position alone are known one by one.
        return found(self.obj, *args, **keywords) if keywords else found(self.obj, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(_function_of(self.method, self), name)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self.__getattr__("__doc__")

    @property
    def __module__(self) -> Any:  # type: ignore[override]
        return self.__getattr__("__module__")


def _function_of(method: Any, dispatched: Any) -> Any:
    """The function that `functools.singledispatchmethod` makes where `dispatched` stands for it."""

    def _method(*args: Any, **kwargs: Any) -> Any:
        return dispatched(*args, **kwargs)

    _method.__isabstractmethod__ = method.__isabstractmethod__  # type: ignore[attr-defined]
    _method.register = method.register  # type: ignore[attr-defined]
    functools.update_wrapper(_method, method.func)
    return _method


def _bind_dispatcher(self: Any, obj: Any, cls: Any = None) -> Any:
    """`functools.singledispatchmethod.__get__` without the cache that CPython 3.13 keeps for each instance:
    it belongs to the class, and outlives the derivatives that a method is bound to."""
    return _Dispatched(self, obj, cls)


def holds(instance: Any, name: str) -> bool:
    """Whether the dictionary of `instance` has an attribute `name`."""
    return name in vars(instance)


def _cached(prop: Any, instance: Any, owner: Any = None) -> Any:
    """`functools.cached_property.__get__` past the dictionary of an instance with slots."""
    name = prop.attrname
    if name is None:
        raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
    if holds(instance, name):
        return object.__getattribute__(instance, name)
    value = prop.func(instance)
    object.__setattr__(instance, name, value)
    return value


def _beside_slots(prop: type, cls: type = NoneType, *owner: type) -> bool:
    return bool(cls.__dictoffset__) and bool(slots_of(cls))


_GET: Any = functools.singledispatchmethod.__get__
_SAYS_SO = "funcname" in _GET.__code__.co_cellvars
"""Whether this version says that an argument is missing."""

ROWS: list[Rule] = [
    Overlay(functools.reduce, _reduce),
    Overlay(functools.partial, _partial),
    ZeroRule(way_of_joining, result=str),
    ZeroRule(are_told_apart, result=bool),
    ZeroRule(key_of),
    ZeroRule(are_asked, result=bool),
    ZeroRule(are_discrete, result=bool),
    Overlay(functools._lru_cache_wrapper, _lru_cache),
    Overlay(functools.cmp_to_key, _cmp_to_key),
    Overlay(_GET, _bind_dispatcher),
    Overlay(functools.cached_property.__get__, _cached, when=_beside_slots),
    ZeroRule(holds, result=bool),
]
