"""What calls at one place may be written for: the few functions and classes that were seen to be called."""

from __future__ import annotations

import types

from adbc.flags import HEAP_TYPE
from adbc.records import record
from adbc.types.lattice import AbstractType, ClosureType, ConstType, Exact
from adbc.types.typeof import is_followed_by_code, typeof

__all__ = ["BoundType", "Callables"]

Defaults = tuple[type | None, ...]

_MOST = 12
"""A call of what turns out to be of more kinds than these is decided whenever it is made."""


@record(frozen=True)
class BoundType(AbstractType):
    """A method that was made by reading it: `function`, bound to an object of class `cls`."""

    function: types.FunctionType
    cls: type

    def __str__(self) -> str:
        return f"Bound[{self.cls.__name__}.{self.function.__name__}]"


class Callables:
    """The kinds of values that were seen at one place, as long as these are few and may be called.

    kinds: one function, the code of all functions like it, the class of an object, or a function that is
    bound to an object of some class.  defaults: by code, the classes of the defaults that functions like it
    had, None for one that was now of this class and now of that.  is_open: whether another kind may still be
    added.
    """

    __slots__ = ("defaults", "is_open", "kinds")

    def __init__(self) -> None:
        self.kinds: list[AbstractType] = []
        self.defaults: dict[types.CodeType, Defaults] = {}
        self.is_open = True

    def meet(self, value: object) -> bool:
        """Remember of which kind `value` is; whether anything has changed."""
        if not self.is_open or value is None:
            return False  # None stands where nothing is called
        known = typeof(value)
        has_changed = False
        if isinstance(known, ClosureType):
            defaults = value.__defaults__  # type: ignore[attr-defined]  # a function
            has_changed = bool(defaults) and self._meet_defaults(known.code, tuple(map(type, defaults)))
        # What is met again, as a function in a loop mostly is, has been asked the rest before.
        return (known not in self.kinds and self.add(_kind(known, value))) or has_changed

    def _meet_defaults(self, code: types.CodeType, classes: Defaults) -> bool:
        """Remember the classes of the defaults of a function with this code; whether anything has changed."""
        known = self.defaults.get(code, classes)
        if len(known) != len(classes):
            classes = ()
        else:
            classes = tuple([a if a is b else None for a, b in zip(known, classes, strict=True)])
        if self.defaults.get(code) == classes:
            return False
        self.defaults[code] = classes
        return True

    def add(self, kind: AbstractType | None) -> bool:
        """Remember that a value was of this `kind`, None if there is no such thing; whether anything has
        changed."""
        if kind in self.kinds:
            return False
        if kind is not None:
            self.kinds.append(kind)
        self.is_open = kind is not None and len(self.kinds) < _MOST
        return True

    def adopt(self, other: Callables) -> bool:
        """Remember what `other` has met; whether anything has changed."""
        before = len(self.kinds), self.is_open
        for kind in other.kinds:
            if kind not in self.kinds and len(self.kinds) < _MOST:
                self.kinds.append(kind)
        for code, classes in other.defaults.items():
            self._meet_defaults(code, classes)
        self.is_open = self.is_open and other.is_open and len(self.kinds) < _MOST
        return before != (len(self.kinds), self.is_open)


def _kind(known: AbstractType, value: object) -> AbstractType | None:
    """What a call of `value`, of the type that is `known`, or of its methods, may be written for; None if
    there is no such thing."""
    if isinstance(known, ClosureType):
        return known if is_followed_by_code(known.code) else None
    if isinstance(known, ConstType):
        is_function = type(value) in (types.FunctionType, types.BuiltinFunctionType)
        return known if is_function or _is_class(value) else None
    if type(value) is types.MethodType:
        function, cls = value.__func__, type(value.__self__)
        is_lasting = type(function) is types.FunctionType and _is_class(cls) and not _is_local(function)
        return BoundType(function, cls) if is_lasting else None  # type: ignore[arg-type]  # a function
    return known if type(known) is Exact and known.cls.__flags__ & HEAP_TYPE else None


def _is_class(value: object) -> bool:
    """Whether `value` is a class that a class statement of a module has made: a call of it makes an instance.
    Those that functions make come and go."""
    is_made = isinstance(value, type) and bool(value.__flags__ & HEAP_TYPE)
    return is_made and not _is_local(value)


def _is_local(value: object) -> bool:
    """Whether `value`, a function or class, was made by a function."""
    return "<locals>" in str(getattr(value, "__qualname__", ""))
