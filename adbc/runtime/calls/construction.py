"""Calls of classes, and what else makes objects: instances, records, bound methods, weak references."""

from __future__ import annotations

import types
import weakref
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.builtins.displays import NEW
from adbc.rules.classes import stands_for_position
from adbc.rules.table import RuleTable
from adbc.rules.types import behind
from adbc.runtime.calls.classes import is_python_function, lookup
from adbc.runtime.calls.steps import (
    Call,
    Delegate,
    Foreign,
    Found,
    Make,
    MakeRecord,
    Protocols,
    Refer,
    Resolver,
    Step,
    UseRow,
    Value,
    pass_to_row,
)
from adbc.runtime.calls.subscripts import slice_at
from adbc.runtime.state.activity import is_active
from adbc.tangents import FData
from adbc.tangents.containers import PROXY
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.types.inference import BUILT_BY_SYNTAX

__all__ = ["PROTOCOLS", "call_class"]


def call_class(call: Call, table: RuleTable) -> Step:
    """``cls(...)``: the metaclass's ``__call__``, then ``__new__`` and ``__init__``."""
    cls = call.function
    if cls is type and call.count == 3:
        return Make(call, type.__new__, None)
    meta_call = lookup(type(cls), "__call__")
    if meta_call is dict:  # a TypedDict
        return Delegate(call.of(dict))
    if is_python_function(meta_call):
        return Delegate(call.prepend(meta_call, None, cls, None, None))
    return _make(call, table)


def _type_call(call: Call, table: RuleTable) -> Step | None:
    """``type.__call__(cls, ...)``: what ``super().__call__(...)`` of a metaclass leads to."""
    if not call.args or not isinstance(call.args[0], type) or call.args[0] is type:
        return None
    cls = call.args[0]
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], call.keywords, None)
    row = table.find(cls, tuple(map(type, rest.args[: rest.count])))
    return pass_to_row(row, rest) if row is not None else _make(rest, table)


def _make(call: Call, table: RuleTable) -> Step:
    """``__new__`` and ``__init__`` of a class."""
    cls = call.function
    names = _record_fields(cls)
    if names is not None:
        return MakeRecord(call, names, lookup(cls, "__new__" if issubclass(cls, tuple) else "__init__"))
    new = lookup(cls, "__new__")
    if isinstance(new, staticmethod):
        new = new.__func__
    init = lookup(cls, "__init__")
    if issubclass(cls, (BaseException, type)):
        return Make(call, new, init)
    initialise = init if is_python_function(init) else None
    if is_python_function(new):
        return Make(call, new, initialise)
    if new is object.__new__ and (initialise is not None or (init is object.__init__ and not call.args)):
        return Make(call, None, initialise)
    if initialise is None and table.rows(init):
        initialise = init
    if initialise is not None and table.rows(new):
        return Make(call, new, initialise)
    return Foreign(call)


def _record_fields(cls: type) -> tuple[str, ...] | None:
    """The names that the generated constructor of a frozen dataclass or a named tuple stores."""
    kind = kind_of(cls)
    if not isinstance(kind, ValueKind) or cls is tuple:
        return None
    names = getattr(cls, "_fields", None) if issubclass(cls, tuple) else getattr(cls, "__match_args__", None)
    return names if isinstance(names, tuple) else None


def _new(call: Call, table: RuleTable) -> Step | None:
    """``_new_(cls, ...)`` of a class that has no rule of its own for it."""
    cls = call.args[0]
    if cls in BUILT_BY_SYNTAX and any(stands_for_position(type(x)) for x in call.args[1:]):
        return (
            UseRow(NEW, call) if cls is not slice else Delegate(call.on(slice_at, *range(1, len(call.args))))
        )
    if cls in BUILT_BY_SYNTAX:
        return None
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], call.keywords, None)
    return Delegate(rest)


class _Record:
    """``record(cls, *values)``: a named tuple of class `cls`, past any ``__new__`` of its own."""

    def __call__(self, cls: type, *values: Any) -> Any:
        return tuple.__new__(cls, values)


record = _Record()


def new_tuple(cls: type, iterable: Any = ()) -> Any:
    """``tuple.__new__``, in Python that adbc can follow."""
    values = tuple(iterable)
    return values if cls is tuple else record(cls, *values)


def _new_tuple(call: Call, table: RuleTable) -> Step | None:
    return Delegate(call.of(new_tuple))


def _record(call: Call, table: RuleTable) -> Step | None:
    cls = call.args[0]
    names = _record_fields(cls)
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], (), None)
    return None if names is None else MakeRecord(rest, names, None)


def _bind_method(call: Call, table: RuleTable) -> Step | None:
    """``types.MethodType(function, obj)``, and ``function.__get__(obj, cls)``."""
    if call.function is types.MethodType and len(call.args) != 2:
        return None
    if call.keywords or len(call.args) < 2 or call.args[1] is None:
        return None
    shadow = call.shadows[1]
    bound = None if shadow is None else FData(__self__=shadow, __func__=call.shadows[0])
    return Value(call.on(types.MethodType, 1), types.MethodType(*call.args[:2]), bound)


def _weak_reference(place: int) -> Resolver:
    """``weakref.ref(obj[, callback])``, the object being the argument at `place`."""

    def weak_reference(call: Call, table: RuleTable) -> Step | None:
        if len(call.args) <= place or not kind_of(type(call.args[place])).address:
            return None
        if any(is_active(s) for i, s in enumerate(call.shadows) if i != place):
            return None
        return Refer(call, place)

    return weak_reference


def _behind(call: Call, table: RuleTable) -> Step | None:
    """The dict behind a mapping proxy.  What stands in that of a class is found by its address."""
    proxy = call.args[0]
    viewed = PROXY.viewed(proxy)
    return Found(call, dict(viewed)) if viewed is not None and PROXY.shows_class(proxy) else None


PROTOCOLS: Protocols = {
    type.__call__: _type_call,
    intrinsics._new_: _new,
    record: _record,
    tuple.__new__: _new_tuple,
    types.MethodType: _bind_method,
    types.FunctionType.__get__: _bind_method,
    behind: _behind,
    weakref.ref: _weak_reference(0),
    weakref.ref.__new__: _weak_reference(1),
}
"""What classes of the interpreter's own, and their special methods, lead to."""
