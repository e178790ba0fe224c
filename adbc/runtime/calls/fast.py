"""Short ways through dispatch: decisions that depend on classes alone, so that they can be kept.

A decision may be kept if nothing that user code can change enters into it: classes made by a class
statement can get new methods at any time, so operators on their instances are resolved anew.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Sequence
from typing import Any

from adbc.forward.presence import PERHAPS
from adbc.ir import intrinsics
from adbc.runtime.calls import resolve, steps
from adbc.runtime.calls.resolve import is_python_function, lookup
from adbc.runtime.calls.steps import Call
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import kind_of
from adbc.types import AbstractType, ArrayType, has_cotangent, has_shadow, is_local
from adbc.types.lattice import FLOAT, ListType, ValueArrayType

__all__ = [
    "BY_VALUE",
    "FIELD",
    "FLOATS",
    "NUMBERS",
    "ROWS",
    "SLOW",
    "are_fields",
    "attribute",
    "by_value",
    "checked",
    "constructor",
    "decide",
    "described",
    "elements",
    "is_derived",
    "is_field",
    "keeps",
    "lists_in",
    "method",
    "plan",
]

SLOW = "slow"
"""Not decided by classes: go through `resolve.step` each time."""
LOCAL = "local"
"""Stands for every class that differentiated code has made."""
FIELD = "field"
"""An attribute that the class has nothing to say about."""

BY_VALUE = frozenset({tuple, slice, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type})
"""Classes whose instances have types of their own: what a rule is made for is more than the class."""

NUMBERS = frozenset({float, int, bool})
"""Classes of which nothing else is needed to enter a function with an instance."""

_HEAP = 1 << 9
_DEPENDS_ON_VALUES = frozenset(
    {intrinsics._new_, intrinsics._foreigncall_, intrinsics._apply_, isinstance, issubclass}
)


def decide(function: Any, xs: Sequence[Any], table: Any, protocols: Any) -> Any:
    """The row for `function` on arguments like `xs`, if their classes decide it; else `SLOW`."""
    if function in _DEPENDS_ON_VALUES or any(type(x).__flags__ & _HEAP for x in xs):
        return SLOW
    none = (None,) * len(xs)
    call = Call(function, None, tuple(xs), none, none)
    step = resolve.step(call, table, protocols)
    return step.row if isinstance(step, steps.UseRow) and step.call is call else SLOW


def plan(
    engine: Any,
    mode: str,
    function: Any,
    xs: Sequence[Any],
    fs: Sequence[Any],
    lists: Sequence[AbstractType | None] = (),
) -> Any:
    """How to enter a Python function without a rule with exactly its positional parameters, if the
    classes decide: the rule, what to hand over per argument (1: its shadow too, 2: a cotangent comes
    back), and what the rule is made for.  None if they do not.

    lists: of calls from outside, per argument what `elements` says of it if it is a list.
    """
    classes: list[Any] = [*lists]
    for x in xs:
        cls = type(x)
        if cls in BY_VALUE:
            return None
        classes.append(LOCAL if is_local(cls) else cls)
        if cls.__name__ == "ndarray" and cls.__module__ == "numpy":
            classes += (x.dtype, x.ndim)  # its type says so much more
    if engine.epoch != engine.table.epoch:
        engine.clear()
    given: list[int] = [f is not None for f in fs]
    if mode == "forward":
        for i, known_list in enumerate(lists):
            if known_list is ROWS and given[i] and not _has_all_rows(fs[i]):
                given[i] = PERHAPS
    key = (mode, function.__code__, id(function.__globals__), *classes, *given)
    known = engine.plans.get(key)
    if known is None:
        parameters = list(map(engine.typeof, xs))
        for i, known_list in enumerate(lists):
            parameters[i] = known_list or parameters[i]
        if not _has_parameters(function, len(xs)) or not is_derived(engine, function):
            return None
        active = [
            flag if has_shadow(t) or has_cotangent(t) else False
            for flag, t in zip(given, parameters, strict=True)
        ]
        known = engine.plans[key] = _plan(engine, mode, function, parameters, active)
    return known


def by_value(
    engine: Any,
    function: Any,
    parameters: Sequence[AbstractType],
    values: Collection[int],
    wanted: Sequence[bool],
) -> Any:
    """The same for parameters of which the arrays at `values` pass their cotangents as values; `wanted` says
    which have a derivative."""
    if not _has_parameters(function, len(parameters)):
        return None
    passed = [
        ValueArrayType(t.dtype, t.ndim, t.cls) if i in values and isinstance(t, ArrayType) else t
        for i, t in enumerate(parameters)
    ]
    active = [on and (has_shadow(t) or has_cotangent(t)) for on, t in zip(wanted, passed, strict=True)]
    return _plan(engine, "reverse", function, passed, active)


def _plan(
    engine: Any, mode: str, function: Any, parameters: Sequence[AbstractType], active: Sequence[int]
) -> Any:
    rule = engine.entry(function, parameters, active, mode)
    flags = tuple(
        (has_shadow(t) + 2 * has_cotangent(t)) if on else 0 for t, on in zip(parameters, active, strict=True)
    )
    return rule, flags, parameters, active


def _has_parameters(function: Any, count: int) -> bool:
    """Whether `function` has exactly this many parameters, all of them positional."""
    code = function.__code__
    return (
        count == code.co_argcount
        and not code.co_kwonlyargcount
        and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR)
    )


FLOATS = ListType(list, FLOAT)
ROWS = ListType(list, FLOATS)


def elements(x: list[Any]) -> AbstractType | None:
    """The type of a list of floats or of lists of floats, None of any other."""
    classes = [*map(type, x)]
    if classes.count(float) == len(x):
        return FLOATS
    if classes.count(list) == len(x) and all([*map(type, row)].count(float) == len(row) for row in x):
        return ROWS
    return None


def _has_all_rows(tangent: list[Any]) -> bool:
    """Whether the tangent of a list of lists has one for each of them."""
    return [*map(type, tangent)].count(list) == len(tangent)


def lists_in(args: Sequence[Any]) -> list[AbstractType | None]:
    """What is known of the elements of each argument; nothing if none is a list."""
    if list not in map(type, args):
        return []
    return [elements(x) if type(x) is list else None for x in args]


def described(args: Sequence[Any]) -> tuple[Any, ...] | None:
    """What a way depends on, if it is nothing but classes, of arrays dtype and dimensions, and of lists the
    type of the elements, if that is known."""
    key: list[Any] = []
    for x in args:
        cls = type(x)
        key.append(cls)
        if cls is list:
            found = elements(x)
            key.append(None if found is None else found is FLOATS)
        elif cls not in NUMBERS:
            if cls in BY_VALUE or cls.__name__ != "ndarray" or cls.__module__ != "numpy":
                return None
            key.append(x.dtype)
            key.append(x.ndim)
    return tuple(key)


def is_derived(engine: Any, function: Any) -> bool:
    """Whether `function` is differentiated by what it is written as: in Python, and without a rule."""
    return (
        type(function) is types.FunctionType
        and not engine.table.rows(function)
        and function not in _INTRINSICS
        and not resolve.is_differentiation(function)
        and not resolve.runs_as_it_is(function)
    )


def checked(engine: Any, context: Any, rule: Any, function: Any, parameters: Any, active: Any) -> Any:
    """`rule`, built, and checked for this top-level call."""
    if engine.stale:
        engine.refresh()
        rule = engine.entry(function, parameters, active, rule.mode)
    rule.build()
    if not engine.check(rule):
        rule = engine.entry(function, parameters, active, rule.mode)
        rule.build()
    context.checked.add(rule)
    return rule


def constructor(cls: type) -> Any:
    """The ``__init__`` that calling `cls` runs on a new object, if it does nothing else; else None."""
    if type(cls) is not type or type(kind_of(cls)) is not InstanceKind or issubclass(cls, BaseException):
        return None
    if lookup(cls, "__new__") is not object.__new__ or lookup(cls, "__del__") is not None:
        return None  # what is done when an object goes may not be done where it was not made
    found = lookup(cls, "__init__")
    return found if found.__class__ is types.FunctionType else None


def method(cls: type, name: str) -> Any:
    """The Python function that attribute `name` of instances of exactly `cls` is, unless they have a field of
    that name; None if there is no such function."""
    if not cls.__flags__ & _HEAP or type(kind_of(cls)) is not InstanceKind:
        return None
    if lookup(cls, "__getattribute__") is not object.__getattribute__:
        return None
    found = lookup(cls, name)
    return found if found.__class__ is types.FunctionType else None


def is_field(cls: type, name: str) -> bool:
    """Whether attribute `name` of instances of exactly `cls` is a plain field, in a dictionary or a slot."""
    return _asks_nobody(cls) and _is_own(cls, lookup(cls, name))


def are_fields(cls: type, names: frozenset[str]) -> bool:
    """The same for several names."""
    if not _asks_nobody(cls):
        return False
    if all(map(names.isdisjoint, [base.__dict__ for base in cls.__mro__])):
        return _is_own(cls, None)
    return all(_is_own(cls, lookup(cls, name)) for name in names)


def keeps(cls: type, name: str) -> bool:
    """Whether what is set as attribute `name` of an instance of exactly `cls` is what is read there next: it
    is a field, or hides something of the class, as a default, that does not want to know."""
    found = lookup(cls, name)
    return _asks_nobody(cls) and _is_own(cls, found if hasattr(type(found), "__set__") else None)


def _asks_nobody(cls: type) -> bool:
    """Whether attributes of instances of exactly `cls` are read and written without hooks."""
    return (
        bool(cls.__flags__ & _HEAP)
        and type(kind_of(cls)) is InstanceKind
        and lookup(cls, "__getattribute__") is object.__getattribute__
        and lookup(cls, "__getattr__") is None
        and lookup(cls, "__setattr__") is object.__setattr__
    )


def _is_own(cls: type, found: Any) -> bool:
    """Whether instances keep an attribute themselves of which the class has `found`."""
    if found is None:
        return isinstance(lookup(cls, "__dict__"), types.GetSetDescriptorType)
    return found.__class__ is types.MemberDescriptorType


_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())


def attribute(cls: type, name: str) -> Any:
    """How instances of `cls` find attribute `name` if they have a dictionary: `FIELD`, the function that
    becomes a method unless there is such a field, or `SLOW`."""
    if type(cls) is not type or not isinstance(lookup(cls, "__dict__"), types.GetSetDescriptorType):
        return SLOW
    if is_python_function(lookup(cls, "__getattribute__")) or issubclass(
        cls, (type, types.ModuleType, BaseException)
    ):
        return SLOW
    found = lookup(cls, name)
    if found is None:
        return FIELD
    return found if is_python_function(found) else SLOW
