"""Fields of instances: reading, writing and deleting what stands in an instance dictionary or a slot.

These are the primitives at the bottom of the attribute protocol (`attributes`): no descriptor, no
hook, just the field.  The shadow of an instance is a `MutableTangent` with the same fields; that of
a record identified by value (a frozen dataclass, a named tuple) is an `FData`.
"""

from __future__ import annotations

import types
from typing import Any

from adbc.cpython.libraries import is_library_class
from adbc.errors import ConstWriteError, UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.table import Args, Kwargs, Primitive, Pullback
from adbc.runtime.calls.partials import is_keywords, shadow_of_keywords, tangent_of_keywords
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.context import Context
from adbc.tangents import (
    NO_TANGENT,
    ArrayTangent,
    FData,
    MutableTangent,
    RData,
    Tangent,
    fill_tangent,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
    zero_tangent,
)
from adbc.tangents.duals import WITH_FIELDS
from adbc.tangents.fields import access, hides_dictionary, instance_dict, is_python_class, slots_of
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import kind_of

__all__ = [
    "DELETE",
    "GET",
    "OWN",
    "REPLACE",
    "SET",
    "SUPER",
    "check_kept",
    "default_fields",
    "delete_field",
    "dictionary",
    "get_field",
    "may_get_dictionary",
    "refuse_class_write",
    "replace_dictionary",
    "replaced",
    "set_field",
]

_ABSENT = object()
_NO_FIELDS: Any = types.MappingProxyType({})
"""Stands for the fields of a shadow that has none, and cannot be written into."""


def get_field(obj: Any, name: str) -> Any:
    """The field `name` of `obj`, past any ``__getattribute__``."""
    return access(type(obj)).__getattribute__(obj, name)


def set_field(obj: Any, name: str, value: Any) -> None:
    """Set the field `name` of `obj`, past any ``__setattr__``."""
    access(type(obj)).__setattr__(obj, name, value)


def delete_field(obj: Any, name: str) -> None:
    """Delete the field `name` of `obj`, past any ``__delattr__``."""
    access(type(obj)).__delattr__(obj, name)


def _get_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    obj, name = args
    value = get_field(obj, name)
    d = dargs[0]
    if d is None or d is NO_TANGENT:
        return value, None
    if type(d) is tuple:
        place = _place(obj, name)
        return value, None if place is None else _tangent(d[place])
    fields = _fields(obj, d, name)
    if name not in fields:
        _unseen(obj, name, value)
        return value, None
    if type(d) is Tangent and is_keywords(obj, name):
        return value, tangent_of_keywords(obj, d)
    return value, _tangent(fields[name])


def _place(obj: Any, name: str) -> int | None:
    """The place in the tuple `obj`, a struct sequence, of what has a `name`; None if it has none, as what
    ``os.stat`` gives beside the tuple."""
    names = type(obj).__match_args__
    return names.index(name) if name in names[: type(obj).n_sequence_fields] else None


def _tangent(t: Any) -> Any:
    return None if t is NO_TANGENT else t


def _get_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    obj, name = args
    value = get_field(obj, name)
    shadow = fargs[0]
    if shadow is None:
        return value, None, lambda bout: (None, None)
    if type(shadow) in WITH_FIELDS:
        fields = shadow.__dict__ if type(shadow) is MutableTangent else _fields(obj, shadow, name)
        slot = fields.get(name, _ABSENT)
        if slot is _ABSENT:
            _unseen(obj, name, value)
            slot = None

        def field_pullback(bout: Any) -> Any:
            if bout is not None:
                fields[name] = slot_increment(fields[name], bout)
            return (None, None)

        return value, slot_shadow(slot), field_pullback

    if hasattr(type(obj), "n_sequence_fields"):
        place = _place(obj, name)

        def sequence_pullback(bout: Any) -> Any:
            if bout is None or place is None:
                return (None, None)
            return (tuple([bout if i == place else None for i in range(len(obj))]), None)

        own = shadow[place] if type(shadow) is tuple and place is not None else None
        return value, own, sequence_pullback

    def record_pullback(bout: Any) -> Any:
        return (None if bout is None else RData(**{name: bout}), None)

    if type(shadow) is FData:
        if is_keywords(obj, name):
            return value, *shadow_of_keywords(obj, shadow)
        return value, shadow.__dict__.get(name), record_pullback
    _unseen(obj, name, value)
    return value, None, record_pullback


def _fields(obj: Any, shadow: Any, name: str) -> Any:
    """The dictionary in which the shadow of `obj` keeps the tangent of its attribute `name`."""
    if type(shadow) is ArrayTangent and name == "array" and type(obj) is ArrayTangent:
        return _ArrayOf(shadow)
    if instance_dict(obj) is obj:
        raise UnsupportedError(
            f"the attributes of a {type(obj).__name__} are its own items (its __dict__ is itself)",
            "each value has two names",
            "read and write the items instead",
        )
    return getattr(shadow, "__dict__", _NO_FIELDS)


class _ArrayOf:
    """The array of the shadow of an `ArrayTangent`, as a dictionary with this one field."""

    __slots__ = ("shadow",)

    def __init__(self, shadow: ArrayTangent) -> None:
        self.shadow = shadow

    def __contains__(self, name: str) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return self.shadow.array

    def __setitem__(self, name: str, value: Any) -> None:
        self.shadow.array = value

    def get(self, name: str, default: Any) -> Any:
        return self.shadow.array


def has_own_dictionary(obj: Any, companion: Any) -> bool:
    """Whether the dictionary of `companion`, which stands beside `obj`, has the fields of that of `obj`
    alone, and none of its slots."""
    return type(companion) is ArrayTangent or not slots_of(type(obj))


def dictionary(obj: Any, own: Any, companion: Any) -> Any:
    """What stands beside `own`, the dictionary of `obj`, of an object with this shadow or tangent."""
    if type(companion) not in WITH_FIELDS:
        return None
    return companion if own is obj else companion.__dict__


def _unseen(obj: Any, name: str, value: Any) -> None:
    """Refuse a field that the shadow does not have, unless it cannot have a derivative: nobody could follow
    it."""
    kind = kind_of(type(value))
    if kind.inactive or _is_system_record(type(obj)):
        return
    if not kind.address and zero_tangent(value) is NO_TANGENT:  # what C code has raised holds a tuple of text
        return
    raise UnsupportedError(
        f"attribute {name!r} of a {type(obj).__name__} holds a {type(value).__name__} whose derivative is"
        " not known",
        "it was set by code that adbc does not see (C code, or a special method called by C code), or"
        " the class derives from a built-in container",
        "keep it in an object of its own",
    )


def check_kept(obj: Any, companion: Any, name: str) -> None:
    """Refuse a field that `companion`, the shadow or tangent of an instance, does not have: if the instance
    has none either, a constant of the class is read."""
    if companion is not None and name not in getattr(companion, "__dict__", ()):
        value = instance_dict(obj).get(name, _ABSENT)
        if value is not _ABSENT:
            _unseen(obj, name, value)


def default_fields(context: Context, obj: Any, companion: Any, name: str) -> Any:
    """What has the shadow, or the tangent, of ``obj.name`` as a field: `companion`, that of `obj`, unless the
    attribute is one of the class, which is memory by its address as all global state is."""
    if companion is not None and name in companion.__dict__:
        return companion
    own = instance_dict(obj).get(name, _ABSENT)
    if own is not _ABSENT:
        if companion is not None:
            _unseen(obj, name, own)
        return None
    cls = type(obj)
    known = context.found_default(cls, name)
    if known is not None:
        return known
    of_class = MutableTangent()
    for base in cls.__mro__:
        if name in base.__dict__:
            made = context.class_fields(base)
            if made is None:
                value = base.__dict__[name]
                of_class.__dict__[name] = slot_tangent(value, _companion(context, base, value))
                context.keep_default(cls, name, base, of_class)
            else:
                of_class.__dict__ = made
            return of_class
    return None  # reading it raises


def _companion(context: Context, cls: type, value: Any) -> Any:
    """What stands beside `value`, which was found in `cls`."""
    if is_library_class(cls):
        return context.kept_tangent(value) if context.is_forward else context.kept_shadow(value)
    return context.known_tangent(value) if context.is_forward else context.known_shadow(value)


def _is_system_record(cls: type) -> bool:
    """Whether instances of `cls` are records that only C code makes, of constants: ``sys.float_info``, what
    ``os.stat`` gives."""
    return issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields") and not is_python_class(cls)


def _set_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    obj, name, value = args
    d, _, dvalue = dargs
    if d is None:
        _refuse_constant(obj, name, value, dvalue)
        set_field(obj, name, value)
        return None, None
    if type(d) is Tangent:
        _refuse_in_record(obj, name, d, dvalue)
        set_field(obj, name, value)
        return None, None
    fields = _fields(obj, d, name)
    _refuse_beside_value(obj, name, fields, dvalue)
    set_field(obj, name, value)
    if fields is not _NO_FIELDS:
        fields[name] = fill_tangent(value, dvalue)
    return None, None


def _set_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    obj, name, value = args
    shadow, _, fvalue = fargs
    old = _read(obj, name)
    is_record = type(shadow) is FData
    fields = _NO_FIELDS if shadow is None or is_record else _fields(obj, shadow, name)
    if fields is _NO_FIELDS:
        if shadow is None:
            _refuse_constant(obj, name, value, fvalue)
        elif is_record:
            _refuse_in_record(obj, name, shadow, fvalue)
        else:
            _refuse_beside_value(obj, name, fields, fvalue)
        set_field(obj, name, value)

        def constant_set_pullback(bout: Any) -> Any:
            _restore(obj, name, old)
            return (None, None, None)

        return None, None, constant_set_pullback
    set_field(obj, name, value)
    old_slot = fields.get(name, _ABSENT)
    if not (type(old_slot) is float and type(value) is float):
        fields[name] = slot_tangent(value, fvalue)

    def set_pullback(bout: Any) -> Any:
        bvalue = slot_rdata(fields[name])
        if old_slot is _ABSENT:
            del fields[name]
        else:
            fields[name] = 0.0 if type(old_slot) is float else old_slot
        _restore(obj, name, old)
        return (None, None, bvalue)

    return None, None, set_pullback


def _delete_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    obj, name = args
    if type(dargs[0]) is Tangent:
        _refuse_in_record(obj, name, dargs[0], None)
    delete_field(obj, name)
    fields = _NO_FIELDS if dargs[0] is None else _fields(obj, dargs[0], name)
    if fields is not _NO_FIELDS:
        fields.pop(name, None)
    return None, None


def _delete_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    obj, name = args
    if type(fargs[0]) is FData:
        _refuse_in_record(obj, name, fargs[0], None)
    names = list(instance_dict(obj))
    old = _read(obj, name)
    delete_field(obj, name)
    fields = _NO_FIELDS if fargs[0] is None else _fields(obj, fargs[0], name)
    old_slot = _ABSENT if fields is _NO_FIELDS else fields.pop(name, _ABSENT)

    def delete_pullback(bout: Any) -> Any:
        if old is not _ABSENT:  # a cell that was empty may be emptied
            set_field(obj, name, old)
        if name in names:  # it stands last now: put what stood behind it behind it again
            own = instance_dict(obj)
            for later in names[names.index(name) + 1 :]:
                own[later] = own.pop(later)
        if old_slot is not _ABSENT:
            fields[name] = 0.0 if type(old_slot) is float else old_slot
        return (None, None)

    return None, None, delete_pullback


def _read(obj: Any, name: str) -> Any:
    """The field that a write replaces: the instance's own, not a default of this name in the class.

    An empty cell has none, and says so by a `ValueError`."""
    if type(obj) is types.CellType:
        old = intrinsics._cell_peek_(obj)
        return _ABSENT if old is intrinsics.UNBOUND else old
    for cls in type(obj).__mro__:
        if name in vars(cls):
            if not hasattr(type(vars(cls)[name]), "__set__"):
                break
            try:  # a slot, or an attribute made in C
                return get_field(obj, name)
            except AttributeError:
                return _ABSENT
    return instance_dict(obj).get(name, _ABSENT)


def _restore(obj: Any, name: str, old: Any) -> None:
    if old is _ABSENT:
        delete_field(obj, name)
    else:
        set_field(obj, name, old)


def _refuse_constant(obj: Any, name: str, value: Any, derivative: Any) -> None:
    if type(value) is int or type(value) is bool:  # where it meets a float, it comes with what a float has
        return
    if derivative is not None and derivative is not NO_TANGENT:
        if not hasattr(obj, "__dict__") and not hasattr(type(obj), name):
            set_field(obj, name, None)  # there is no such field, and the error is the user's
        what = f"attribute {name!r} of a {type(obj).__name__} is set to a {type(value).__name__}"
        if kind_of(type(obj)).inactive:
            raise ConstWriteError(
                f"{what} that {_could(derivative)}",
                "no derivatives are kept for objects of this class",
                "keep the value in an object of a class of your own, or set the attribute before the call",
            )
        raise ConstWriteError(
            f"{what} that {_could(derivative)}",
            "the object is a constant in this call, so that the derivative would be lost",
            "pass it as an argument that is differentiated (argnums), and not as adbc.Const",
        )


def _could(derivative: Any) -> str:
    return "has a derivative" if is_active(derivative) else "may come to hold a value with a derivative"


def _refuse_in_record(obj: Any, name: str, companion: Any, derivative: Any) -> None:
    """Raise if attribute `name` of `obj`, a value with named parts, is one of these, or gets a derivative:
    what was read of a value before says nothing of what is read later, and the other way round."""
    if name in companion.__dict__:
        raise UnsupportedError(
            f"field {name!r} of a {type(obj).__name__} is set or deleted after it was made",
            "frozen dataclasses and named tuples are values for adbc, that never change",
            "make a new one, as dataclasses.replace does, or use a class that is not frozen",
        )
    _refuse_beside_value(obj, name, _NO_FIELDS, derivative)


def _refuse_beside_value(obj: Any, name: str, fields: Any, derivative: Any) -> None:
    """Raise if something with a derivative becomes an attribute of `obj`, a value without a shadow for it."""
    if fields is _NO_FIELDS and derivative is not None and derivative is not NO_TANGENT:
        raise UnsupportedError(
            f"attribute {name!r} of a {type(obj).__name__} is set to something that has a derivative",
            "an object of this class is a value, which has no place for it",
            "give the class this attribute as one of its elements or fields, or make it a dataclass",
        )


def _super_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    return super(*args), dargs[-1]


def _super_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    of_class = (None,) * (len(args) - 1)
    return super(*args), fargs[-1], lambda bout: (*of_class, bout)


def _dictionary_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    own = instance_dict(args[0])
    return own, dictionary(args[0], own, dargs[0])


def _dictionary_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    own = instance_dict(args[0])
    return own, dictionary(args[0], own, fargs[0]), lambda bout: (None,)


def may_get_dictionary(obj: Any, name: str, own: Any, companion: Any) -> bool:
    """Whether ``obj.__dict__ = own`` is followed, if that is what is set: where `companion`, the shadow or
    tangent of `obj`, has the attributes in `own` and no others, it has what stands beside `own` for those."""
    cls = type(obj)
    return (
        name == "__dict__"
        and type(own) is dict
        and type(companion) is MutableTangent
        and type(kind_of(cls)) is InstanceKind
        and not slots_of(cls)
        and not hides_dictionary(cls)
    )


def replace_dictionary(obj: Any, own: dict[str, Any]) -> None:
    """``obj.__dict__ = own``"""
    object.__setattr__(obj, "__dict__", own)


def replaced(obj: Any, name: str) -> UnsupportedError:
    """The refusal to set attribute `name`, which says what the attributes of `obj` are."""
    return UnsupportedError(
        f"{name} of a {type(obj).__name__} is replaced",
        "what becomes of its attributes cannot be followed",
        "set the attributes one by one, or make a new object",
    )


def _replace_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    if type(dargs[1]) is not dict:
        raise replaced(args[0], "__dict__")
    replace_dictionary(*args)
    dargs[0].__dict__ = dargs[1]
    return None, None


def _replace_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    obj, shadow = args[0], fargs[0]
    if type(fargs[1]) is not dict:
        raise replaced(obj, "__dict__")
    old, slots = instance_dict(obj), shadow.__dict__
    replace_dictionary(*args)
    shadow.__dict__ = fargs[1]

    def replace_pullback(bout: Any) -> Any:
        replace_dictionary(obj, old)
        shadow.__dict__ = slots
        return (None, None)

    return None, None, replace_pullback


REPLACE = Primitive(replace_dictionary, frule=_replace_frule, rrule=_replace_rrule, is_fitted=True)
GET = Primitive(get_field, frule=_get_frule, rrule=_get_rrule, is_fitted=True)
SET = Primitive(set_field, frule=_set_frule, rrule=_set_rrule, is_fitted=True)
DELETE = Primitive(delete_field, frule=_delete_frule, rrule=_delete_rrule, is_fitted=True)
OWN = Primitive(instance_dict, frule=_dictionary_frule, rrule=_dictionary_rrule, is_fitted=True)
"""Code of an inner level reads the dictionary of an instance.  It looks for single names there, so that what
stands beside it may have slots as well."""
SUPER = Primitive(super, frule=_super_frule, rrule=_super_rrule, is_fitted=True)
"""A ``super`` object stands for its instance: it has the instance's shadow."""


def _named(owner: Any) -> str:
    return f"{'class' if issubclass(type(owner), type) else 'module'} {owner.__name__}"


def refuse_class_write(owner: Any, name: str) -> UnsupportedError:
    """The error for an active value that becomes an attribute of a class or module."""
    return UnsupportedError(
        f"attribute {name!r} of {_named(owner)} is set to a value that has a derivative",
        "a class or module is global state, which would outlive the call",
        "keep the value in an object that is passed in",
    )
