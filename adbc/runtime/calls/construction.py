"""Calls of classes, and what else makes objects: instances, records, bound methods, weak references."""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.rules.builtins.displays import NEW
from adbc.rules.builtins.tuples import tuple_shadow, tuple_tangent
from adbc.rules.classes import refuse_keywords, stands_for_position
from adbc.rules.lookup import RuleTable
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive
from adbc.rules.types import behind
from adbc.runtime.calls.classes import (
    initialiser,
    is_generated,
    is_python_function,
    is_still_frozen,
    lookup,
    python_method,
)
from adbc.runtime.calls.steps import (
    AskWeakly,
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
from adbc.tangents.fields import LOCAL
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.types.inference import BUILT_BY_SYNTAX

__all__ = ["PROTOCOLS", "call_class", "stored_fields"]


def call_class(call: Call, table: RuleTable) -> Step:
    """``cls(...)``: the metaclass's ``__call__``, then ``__new__`` and ``__init__``."""
    cls = call.function
    if cls is type and call.count == 3:
        return Make(call, type.__new__)
    meta_call = lookup(type(cls), "__call__")
    if meta_call is dict:  # a TypedDict
        return Delegate(call.of(dict))
    own_call = python_method(type(cls), "__call__")
    if own_call is not None:
        return Delegate(call.prepend(own_call, None, cls, None, None))
    if type(meta_call) is types.WrapperDescriptorType and meta_call is not type.__call__:
        return Foreign(call)  # its metaclass, in C, makes instances in a way of its own
    return _make(call, table)


def _type_call(call: Call, table: RuleTable) -> Step | None:
    """``type.__call__(cls, ...)``: what ``super().__call__(...)`` of a metaclass leads to."""
    if not call.args or not issubclass(type(call.args[0]), type) or call.args[0] is type:
        return None
    cls = call.args[0]
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], call.keywords, None)
    row = table.find(cls, tuple(map(type, rest.args[: rest.count])))
    step = pass_to_row(row, rest) if row is not None else _make(rest, table)
    return Foreign(call) if type(step) is Foreign else step  # of the class it would ask the metaclass again


def _make(call: Call, table: RuleTable) -> Step:
    """``__new__`` and ``__init__`` of a class: `Make` looks for the second in the class of what the first
    gives, as ``type.__call__`` does."""
    cls = call.function
    names = _record_fields(cls)
    if names is not None and _has_generated_constructor(cls):
        constructor = lookup(cls, "__new__" if issubclass(cls, tuple) else "__init__")
        return _from_factories(call, cls, names) or MakeRecord(
            call, names, constructor, getattr(kind_of(cls), "names", names)
        )
    if names is not None and not issubclass(cls, tuple):
        raise UnsupportedError(
            f"the constructor of {cls.__name__!r}, a frozen dataclass, was replaced",
            "instances that were made before are values, which consist of what they were given",
            "replace it before the class is first differentiated, or derive another class",
        )
    new, init = lookup(cls, "__new__"), initialiser(cls)
    if issubclass(type(new), staticmethod):
        new = new.__func__
    if new is object.__new__:
        if init is None and (call.args or call.keywords):
            call.perform()  # for its error
        return Make(call, None)
    if not is_builtin_function(new):
        return Make(call, new if is_python_function(new) else new_through)
    in_c = type(init) in (types.WrapperDescriptorType, types.NoneType)
    if in_c and not (
        (new in PROTOCOLS and cls not in _BUILTIN_NUMBERS)
        or issubclass(cls, _FOLLOWED)
        or (table.rows(new) and table.rows(init))
    ):
        return Foreign(call)
    return Make(call, new)


_BUILTIN_NUMBERS = (float, complex)
_FOLLOWED = (BaseException, type)
"""Classes of C whose instances have shadows that ``__new__`` and ``__init__`` in C are known to fill."""


def new_through(cls: Any, /, *args: Any, **named: Any) -> Any:
    """``cls.__new__(cls, ...)`` where that is no function, but what a descriptor gives."""
    return cls.__new__(cls, *args, **named)


def stored_fields(cls: type) -> tuple[str, ...] | None:
    """The names of the values that a call of `cls`, a frozen dataclass or a named tuple, is given and stores,
    if it does nothing else; else None."""
    if type(cls) is not type:
        return None
    names = _record_fields(cls)
    if names is None or {*names} != {*getattr(kind_of(cls), "names", names)}:
        return None
    return names if _has_generated_constructor(cls) else None


def _record_fields(cls: type) -> tuple[str, ...] | None:
    """The names of the values that a frozen dataclass or a named tuple is made of; None for other classes."""
    kind = kind_of(cls)
    if not isinstance(kind, ValueKind) or cls is tuple:
        return None
    if issubclass(cls, tuple):
        names = getattr(cls, "_fields", None)
        return names if issubclass(type(names), tuple) else None
    code = getattr(lookup(cls, "__init__"), "__code__", None)
    # The parameters that are given by keyword alone stand behind the others.
    return None if code is None else code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def _has_generated_constructor(cls: type) -> bool:
    """Whether calling `cls`, of which `_record_fields` knows the names, only stores the arguments."""
    new, init = lookup(cls, "__new__"), lookup(cls, "__init__")
    if not issubclass(cls, tuple):
        return is_still_frozen(cls)
    return is_generated(new) and init is object.__init__


def _from_factories(call: Call, cls: Any, names: tuple[str, ...]) -> Step | None:
    """The step that calls the factories, written in Python, of the fields of a dataclass that `call` does not
    give, and makes the call with what they return; None if there are none."""
    given = {*names[: call.count], *call.keywords}
    left_out = [
        (name, field.default_factory)
        for name, field in getattr(cls, "__dataclass_fields__", {}).items()
        if name not in given and is_python_function(field.default_factory)
    ]
    if not left_out:
        return None
    if any(not cls.__dataclass_fields__[name].init for name, _ in left_out):
        raise UnsupportedError(
            f"frozen dataclass {cls.__name__!r} has a field that is no parameter, and is made by a function",
            "that function would run unseen",
            "give the field to the constructor, or make the dataclass mutable",
        )
    return Delegate(call.prepend(with_factories, None, (cls, tuple(left_out)), None, None))


def with_factories(how: Any, /, *args: Any, **named: Any) -> Any:
    """``cls(*args, **named)`` of a dataclass, for ``(cls, factories) = how``: these make the other fields."""
    cls, factories = how
    for name, factory in factories:
        named[name] = factory()
    return cls(*args, **named)


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

    def of(self, cls: type) -> Any:
        """What makes one of `cls` of its values."""
        return functools.partial(self, cls)


record = _Record()


def new_tuple(cls: type, iterable: Any = (), /, **named: Any) -> Any:
    """``tuple.__new__``, in Python that adbc can follow."""
    refuse_keywords(tuple, "__init__", cls, named)
    values = tuple(iterable)
    return values if cls is tuple else record(cls, *values)


def _new_tuple(call: Call, table: RuleTable) -> Step | None:
    return Delegate(call.of(new_tuple))


def _record(call: Call, table: RuleTable) -> Step | None:
    cls = call.args[0]
    names = _record_fields(cls)
    if names is None or len(names) != len(call.args) - 1:  # too many or too few, as ``_make`` will see
        return UseRow(_NEW_TUPLE, call)
    rest = Call(record.of(cls), None, call.args[1:], call.shadows[1:], call.origins[1:], (), None)
    return MakeRecord(rest, names, None, names)


def _new_tuple_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return record(*args), tuple_tangent(args[1:], dargs[1:])


def _new_tuple_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    def new_tuple_pullback(bout: Any) -> Sequence[Any]:
        return (None, *(bout or (None,) * (len(args) - 1)))

    return record(*args), tuple_shadow(fargs[1:]), new_tuple_pullback


_NEW_TUPLE = Primitive(record, frule=_new_tuple_frule, rrule=_new_tuple_rrule)
"""A subclass of tuple without names for its elements has the derivative of a tuple."""


class _Wrap:
    """``wrap(cls, number)``: a number of `cls`, a class derived from `builtin`, past its own ``__new__``.

    It is not a function, for these are entered.
    """

    def __init__(self, builtin: Any) -> None:
        self.builtin = builtin

    def __call__(self, cls: type, number: Any) -> Any:
        return self.builtin.__new__(cls, number)


def _of_class(builtin: Any) -> tuple[Any, Resolver, Resolver]:
    """What makes a number of a class derived from `builtin`, a class of numbers, and the resolvers of that
    and of ``builtin.__new__``."""
    wrap = _Wrap(builtin)

    def new_number(cls: type, /, *given: Any, **named: Any) -> Any:
        refuse_keywords(builtin, "__init__", cls, named)
        number = builtin(*given)
        return number if cls is builtin else wrap(cls, number)

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return wrap(*args), dargs[1]

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        return wrap(*args), fargs[1], lambda bout: (None, bout)

    row = Primitive(wrap, frule=frule, rrule=rrule)
    return wrap, lambda call, table: UseRow(row, call), lambda call, table: Delegate(call.of(new_number))


_FLOAT, _wrap_float, _new_float = _of_class(float)
_COMPLEX, _wrap_complex, _new_complex = _of_class(complex)


def _new_object(call: Call, table: RuleTable) -> Step | None:
    """``object.__new__(cls, ...)``, which passes over arguments that ``__init__`` is there for."""
    if len(call.args) < 2:
        return None
    call.perform()  # for its error
    return Delegate(call.on(object.__new__, 0))


def _new_local(call: Call, table: RuleTable) -> Step | None:
    """``threading.local.__new__(cls, ...)``, which keeps the arguments for ``__init__`` in other threads."""
    return Found(call, call.perform())


def _bind_method(call: Call, table: RuleTable) -> Step | None:
    """``types.MethodType(function, obj)``, and ``function.__get__(obj, cls)``."""
    if call.function is types.MethodType and len(call.args) != 2:
        return None
    if call.keywords or len(call.args) < 2 or call.args[1] is None:
        return None
    shadow = call.shadows[1]
    own = call.shadows[0]
    bound = None if shadow is None and own is None else FData(__self__=shadow, __func__=own)
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


def _ask_weakly(call: Call, table: RuleTable) -> Step | None:
    """``weakref.getweakrefcount(obj)`` and ``weakref.getweakrefs(obj)``."""
    return AskWeakly(call) if len(call.args) == 1 else None


def _behind(call: Call, table: RuleTable) -> Step | None:
    """The mapping behind a mapping proxy.  What stands in the dict of a class is found by its address, and so
    is a mapping of a class that is written in Python."""
    proxy = call.args[0]
    viewed = PROXY.viewed(proxy)
    if viewed is None:
        return Found(call, gc.get_referents(proxy)[0])
    return Found(call, dict(viewed)) if viewed is not None and PROXY.shows_class(proxy) else None


PROTOCOLS: Protocols = {
    type.__call__: _type_call,
    intrinsics._new_: _new,
    record: _record,
    tuple.__new__: _new_tuple,
    float.__new__: _new_float,
    complex.__new__: _new_complex,
    _FLOAT: _wrap_float,
    _COMPLEX: _wrap_complex,
    object.__new__: _new_object,
    LOCAL.__new__: _new_local,
    types.MethodType: _bind_method,
    types.FunctionType.__get__: _bind_method,
    behind: _behind,
    weakref.getweakrefcount: _ask_weakly,
    weakref.getweakrefs: _ask_weakly,
    weakref.ref: _weak_reference(0),
    weakref.ref.__new__: _weak_reference(1),
}
"""What classes of the interpreter's own, and their special methods, lead to."""
