"""What `functools` has in C, in Python so that the functions it is given are differentiated."""

from __future__ import annotations

import functools
from types import FunctionType, NoneType
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir.intrinsics import EXHAUSTED, UNBOUND, _next_
from adbc.rules import cached
from adbc.rules.surrogates import Surrogate
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.fields import slots_of

__all__ = ["ROWS", "key_by"]


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
    is_followed = True  # where a call is known to be one of an instance

    def __init__(self, func: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if self.keywords or keywords:
            return self.func(*self.args, *args, **{**self.keywords, **keywords})
        return self.func(*self.args, *args)  # a call with as many arguments as these tuples have

    def __repr__(self) -> str:
        return _text(self.func, self.args, self.keywords)

    def __reduce__(
        self,
    ) -> Any:  # as there: `copy` makes another, and `pickle` writes what stands for one in C
        further = {k: v for k, v in vars(self).items() if k not in ("func", "args", "keywords")}
        return functools.partial, (self.func,), (self.func, self.args, self.keywords, further or None)

    def __setstate__(self, state: Any) -> None:
        self.func, args, keywords, further = state
        self.args = tuple(args)
        self.keywords = dict(keywords or ())
        if further:
            vars(self).update(further)


def _text(func: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """The text of a partial application, in which each part is asked for its own."""
    text = f"functools.partial({func!r}"
    for value in args:
        text += f", {value!r}"
    for name, value in keywords.items():
        text += f", {name}={value!r}"
    return text + ")"


class _PartialOf(_Partial):
    """A partial application of one that was there before, and has keywords: they are left where they are,
    because a dict that is made of them would not have their derivatives."""

    def __init__(self, inner: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.inner = inner
        self.further = args
        self.named = keywords

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        return self.inner(*self.further, *args, **{**self.named, **keywords})

    def __repr__(self) -> str:
        inner = self.inner
        return _text(inner.func, (*inner.args, *self.further), {**inner.keywords, **self.named})

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

    @property
    def __annotations__(self) -> Any:  # type: ignore[override]
        return self.__getattr__("__annotations__")


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
    *cached.ROWS,
    Overlay(functools.reduce, _reduce),
    Overlay(functools.partial, _partial),
    ZeroRule(way_of_joining, result=str),
    Overlay(functools.cmp_to_key, _cmp_to_key),
    Overlay(_GET, _bind_dispatcher),
    Overlay(functools.cached_property.__get__, _cached, when=_beside_slots),
    ZeroRule(holds, result=bool),
]
