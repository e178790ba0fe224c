"""What ``match`` statements look at: the values of a mapping, the attributes of an instance.

The bodies say what the interpreter's instructions do, in Python that adbc can follow; what they find
keeps its derivative.
"""

from __future__ import annotations

import collections
import inspect
from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.builtins.tuples import tuple_tangent
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import NO_TANGENT, FData, RData, slot_increment, slot_shadow
from adbc.tangents.containers import NamedTupleKind
from adbc.tangents.fields import instance_dict, instance_fields, plain_check, slots_of
from adbc.tangents.objects import FrozenKind, InstanceKind
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]

_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is the subject itself."""


def match_keys(subject: Any, keys: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values of `keys` in the mapping `subject`, or None if one is missing."""
    if len(set(keys)) < len(keys):
        raise ValueError("mapping pattern checks duplicate key")
    found = []
    if type(subject) is dict:
        for key in keys:
            if key not in subject:
                return None
            found.append(subject[key])
    elif keys:
        get = subject.get
        for key in keys:
            value = get(key, _ABSENT)
            if value is _ABSENT:
                return None
            found.append(value)
    return tuple(found)


_ABSENT = object()


def match_class(subject: Any, kind: Any, names: tuple[str, ...], count: int) -> tuple[Any, ...] | None:
    """The attributes of `subject` that ``case kind(...)`` looks at, or None if it does not match."""
    if is_plain_match(subject, kind, names, count):
        return plain_match(subject, kind, names, count)
    return _asked(subject, kind, names, count)


def _asked(subject: Any, kind: Any, names: tuple[str, ...], count: int) -> tuple[Any, ...] | None:
    """What `match_class` gives where the class or the subject answers by Python code.  It stands apart, as
    what is derived for each class of subjects is small then."""
    if not isinstance(kind, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, kind):
        return None
    found: list[Any] = []
    seen: list[str] = []
    positional: Any = ()
    wanted: tuple[Any, ...] = ()
    if count:
        itself = False
        if hasattr(kind, "__match_args__"):
            positional = kind.__match_args__
            if type(positional) is not tuple:
                told = type(positional).__name__
                raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {told})")
        else:
            itself = issubclass(kind, _ITSELF)
        allowed = 1 if itself else len(positional)
        if allowed < count:
            raise TypeError(
                f"{kind.__name__}() accepts {allowed} positional sub-pattern{'' if allowed == 1 else 's'}"
                f" ({count} given)"
            )
        if itself:
            found.append(subject)
        wanted = () if itself else positional[:count]
    for name in (*wanted, *names):
        if not isinstance(name, str):
            told = type(name).__name__
            raise TypeError(f"__match_args__ elements must be strings (got {told})")
        if name in seen:
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.append(name)
        try:  # once only: it may be computed
            found.append(getattr(subject, name))
        except AttributeError:
            return None
    return tuple(found)


# -- of fields ------------------------------------------------------------------------------------------


def is_plain_match(subject: Any, kind: Any, names: tuple[str, ...], count: int) -> bool:
    """Whether ``case kind(...)`` asks the class of `subject`, and reads fields of it, without calling code in
    Python."""
    cls = type(subject)
    if type(kind) is not type and not (isinstance(kind, type) and plain_check(kind)):
        return False
    if getattr(kind, "_is_protocol", False):  # which asks the instance, and may refuse to ask its class
        return False
    if not issubclass(cls, kind):
        return cls in _PLAIN or _tells_nothing_else(cls)
    wanted = _wanted(kind, names, count)
    if not wanted:
        return wanted is not None
    if len(set(wanted)) < len(wanted):  # which is an error
        return False
    if not _tells_nothing_else(cls):
        return False
    if type(kind_of(cls)) in _RECORDS:
        return set(wanted) <= {*_names_of(cls)}
    fields = _fields_of(subject)
    return all(name in fields and _is_field(cls, name) for name in wanted)


def _fields_of(subject: Any) -> dict[str, Any]:
    """The fields of an instance, in its dictionary and in slots."""
    return dict(instance_fields(subject)) if slots_of(type(subject)) else instance_dict(subject)


def _tells_nothing_else(cls: Any) -> bool:
    """Whether instances of `cls` have no methods that answer for their class and fields."""
    if type(kind_of(cls)) not in _OF_FIELDS or cls.__getattribute__ not in _BY_FIELDS:
        return False
    return not any("__class__" in base.__dict__ for base in cls.__mro__[:-1])


_RECORDS = (FrozenKind, NamedTupleKind)
"""Kinds of instances that are values, with fields that have names."""
_OF_FIELDS = (InstanceKind, *_RECORDS)
_BY_FIELDS = (object.__getattribute__, tuple.__getattribute__)

_PLAIN = frozenset({float, int, bool, str, bytes, tuple, list, dict, set, type(None)})


def _wanted(kind: Any, names: tuple[str, ...], count: int) -> tuple[str, ...] | None:
    """The names of the attributes that ``case kind(...)`` looks at; None if that has to be found out."""
    if not count:
        return names
    positional = kind.__dict__.get("__match_args__")
    if positional is None:
        positional = next((base.__dict__["__match_args__"] for base in kind.__mro__ if _matches(base)), None)
    if type(positional) is not tuple or len(positional) < count:
        return None
    return (*positional[:count], *names)


def _matches(cls: type) -> bool:
    return "__match_args__" in cls.__dict__


def _is_field(cls: type, name: str) -> bool:
    """Whether a field `name` of an instance of `cls` is what its attribute is."""
    for slot, member in slots_of(cls):
        if slot == name:
            return next(base.__dict__[name] for base in cls.__mro__ if name in base.__dict__) is member
    return not any(name in base.__dict__ and hasattr(base.__dict__[name], "__set__") for base in cls.__mro__)


def plain_match(subject: Any, kind: Any, names: tuple[str, ...], count: int) -> tuple[Any, ...] | None:
    """What `match_class` gives where `is_plain_match` holds."""
    if not issubclass(type(subject), kind):
        return None
    return _read(subject, _wanted(kind, names, count) or ())


def _read(subject: Any, wanted: Sequence[str]) -> tuple[Any, ...]:
    """The fields of `subject` that are `wanted`."""
    if wanted and type(kind_of(type(subject))) in _RECORDS:
        return tuple([getattr(subject, name) for name in wanted])
    return tuple(map(_fields_of(subject).__getitem__, wanted))


def _names_of(cls: Any) -> tuple[str, ...]:
    kind = kind_of(cls)
    if isinstance(kind, FrozenKind):
        return kind.names
    return tuple([name for name in cls._fields if type(inspect.getattr_static(cls, name)) is _ELEMENT])


_ELEMENT = type(inspect.getattr_static(collections.namedtuple("One", "element"), "element"))
"""The class of what reads an element of a named tuple by its name."""


def _plain_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = plain_match(*args)
    if not out or dargs[0] is None or dargs[0] is NO_TANGENT:
        return out, None
    fields = dargs[0].__dict__
    return out, tuple_tangent(out, [symbolic(fields.get(name)) for name in _wanted(*args[1:]) or ()])


def _plain_forwards(subject: Any, kind: Any, names: Any, count: int, f: Any, *others: Any) -> Any:
    if not issubclass(type(subject), kind):
        return None, None, None
    wanted = _wanted(kind, names, count)
    if not wanted:
        return (), None, None
    out = _read(subject, wanted)
    if type(kind_of(type(subject))) in _RECORDS:
        parts = None if type(f) is not FData else tuple([f.__dict__.get(name) for name in wanted])
        return out, parts, (None, wanted)
    if f is None:
        return out, None, None
    fields = f.__dict__
    shadows = tuple([slot_shadow(fields.get(name)) for name in wanted])
    return out, None if _NONE.issuperset(map(type, shadows)) else shadows, (fields, wanted)


def _plain_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is not None and bout is not None:
        fields, wanted = saved
        if fields is None:
            return RData(**dict(zip(wanted, bout, strict=True))), None, None, None
        for name, r in zip(wanted, bout, strict=True):
            if r is not None:
                t = fields[name]
                fields[name] = (
                    t + r if t.__class__ is float and r.__class__ is float else slot_increment(t, r)
                )
    return _NOTHING


_NOTHING = (None,) * 4
_NONE = frozenset({type(None)})


def _plain_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out, fout, saved = _plain_forwards(*args, *fargs)
    return out, fout, lambda bout: _plain_backwards(saved, bout)


ROWS: list[Rule] = [
    ZeroRule(is_plain_match, result=bool),
    Primitive(
        plain_match,
        frule=_plain_frule,
        rrule=_plain_rrule,
        is_fitted=True,
        halves=(Halves(4, _plain_forwards, _plain_backwards),),
    ),
    Overlay(intrinsics._match_keys_, match_keys),
    Overlay(intrinsics._match_class_, match_class),
]
