"""Which function written in Python a call runs, and on which arguments, if it can be said beforehand."""

from __future__ import annotations

import abc
import enum
import inspect
import types
from typing import Any

from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.values import Const
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.dispatched import CHOOSING
from adbc.runtime.calls.nested import is_machinery
from adbc.runtime.calls.unfollowed import is_differentiation, runs_as_it_is
from adbc.runtime.state.closures import with_active_defaults
from adbc.types.callsites import Binding
from adbc.types.lattice import ClosureType
from adbc.types.records import FACTORY

__all__ = ["ANY_NUMBER", "Bindings", "gathered_names", "is_constant"]


class Bindings:
    """The bindings of calls where the rules are those of one table."""

    def __init__(self, table: RuleTable) -> None:
        self.table = table
        self.representatives: dict[tuple[types.CodeType, int], types.FunctionType] = {}
        """A function for each code and namespace of functions that are made while others run."""
        self.caches = (self.representatives,)

    def representative(self, made: ClosureType) -> types.FunctionType:
        """A function with empty cells and without defaults, for all functions made of the code of `made`."""
        key = (made.code, id(made.namespace))
        known = self.representatives.get(key)
        if known is None:
            cells = tuple(types.CellType() for _ in made.code.co_freevars)
            known = types.FunctionType(made.code, made.namespace, closure=cells)
            self.representatives[key] = known
        return known

    def is_followed(self, function: types.FunctionType) -> bool:
        """Whether a call of `function` runs what it is written as, with defaults that are constants."""
        if function in _INTRINSICS or self.table.rows(function) or is_differentiation(function):
            return False  # syntax, or a function whose rule depends on classes that are not known
        if function.__code__ in CHOOSING:
            return False  # it is called as it is (`calls.dispatched`)
        return not (is_machinery(function) or runs_as_it_is(function) or function in with_active_defaults)

    def find(
        self,
        function: object,
        count: int,
        keywords: tuple[str, ...],
        *,
        makes_generator: bool = False,
        is_closed: bool = False,
        is_open: bool = False,
    ) -> Binding | None:
        """How `count` arguments, the last ones by keyword, bind to `function`, or to the function that a
        `ClosureType` describes; None if it has a rule, captured state, unless that `is_closed`, or parameters
        that take any number, or if calling it makes a generator and nobody has said so.

        is_open: what ``*args`` and ``**kwargs`` gather may come behind the other parameters.
        """
        if isinstance(function, ClosureType):
            function = self.representative(function)
        elif not is_function(function) or (function.__closure__ is not None and not is_closed):
            return None
        if not self.is_followed(function):
            return None
        flags = function.__code__.co_flags
        if (flags & ANY_NUMBER and not is_open) or bool(flags & inspect.CO_GENERATOR) != makes_generator:
            return None
        slots = _slots(function, count, keywords)
        return None if slots is None else Binding(function, slots)


_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())
"""Functions that stand for syntax: their bodies say what they mean, and are never differentiated."""

ANY_NUMBER = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""The flags of code with parameters that take any number of arguments."""


def gathered_names(function: types.FunctionType, keywords: tuple[str, ...]) -> tuple[str, ...]:
    """The names of arguments among `keywords` that ``**kwargs`` of `function` gathers."""
    code = function.__code__
    if not code.co_flags & inspect.CO_VARKEYWORDS:
        return ()
    names = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return tuple([keyword for keyword in keywords if keyword not in names])


def _slots(
    function: types.FunctionType, count: int, keywords: tuple[str, ...]
) -> tuple[int | Const, ...] | None:
    """Per parameter of `function`, the place of its argument in the call or its default; behind these, the
    places of what ``*args`` and ``**kwargs`` gather."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = count - len(keywords)
    by_position = min(positional, code.co_argcount)
    if positional > by_position and not code.co_flags & inspect.CO_VARARGS:
        return None
    slots: dict[str, int | Const] = {name: at for at, name in enumerate(names[:by_position])}
    others = gathered_names(function, keywords)
    named: list[int] = []
    for at, keyword in enumerate(keywords, positional):
        if keyword in others:
            named.append(at)
            continue
        if keyword not in names[code.co_posonlyargcount :] or keyword in slots:
            return None
        slots[keyword] = at
    defaults: dict[str, Any] = dict(
        zip(reversed(names[: code.co_argcount]), reversed(function.__defaults__ or ()), strict=False)
    )
    defaults.update(function.__kwdefaults__ or {})
    for name in names:
        if name not in slots:
            if name not in defaults or not is_constant(defaults[name]):
                return None
            slots[name] = Const(defaults[name])
    return (*[slots[name] for name in names], *range(by_position, positional), *named)


def is_constant(value: object) -> bool:
    """Whether a default may be written into code: immutable, without state."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return value is None or type(value) in (
        int, float, bool, str, bytes, complex, type, abc.ABCMeta, types.ModuleType, type(FACTORY), type(...)
    ) or _is_setting(value)  # fmt: skip


def _is_setting(value: object) -> bool:
    """Whether `value` is a function without state, or a member of an enumeration that has none."""
    if type(value) is types.FunctionType:
        return value.__closure__ is None
    if type(value) is types.BuiltinFunctionType:
        return isinstance(value.__self__, types.ModuleType)
    return isinstance(value, enum.Enum) and is_constant(value.value) and vars(value).keys() <= _OF_MEMBERS


_OF_MEMBERS = frozenset({"_value_", "_name_", "__objclass__", "_sort_order_"})
"""The attributes that members of enumerations have without more ado."""
