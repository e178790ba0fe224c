"""Metaclasses, decorators and factories of the standard library: they do more than can be followed.

They run as they are (`as_it_is`), and what becomes of attributes and defaults in them is known here.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Iterator
from typing import Any

from adbc.cpython.libraries import ABOUT_TEXT, is_library_class
from adbc.ir.intrinsics import MISSING
from adbc.runtime.calls import logs, texts
from adbc.runtime.calls.binding import Default
from adbc.runtime.calls.changes import LibraryMemory
from adbc.runtime.calls.classes import is_python_function, note_made
from adbc.runtime.calls.foreign import let_iterators_be, watched
from adbc.runtime.calls.new_classes import Copy, Give, carry, defaults_of_record, nothing
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent, slot_increment, slot_rdata
from adbc.tangents.protocol import kind_of

__all__ = ["as_it_is", "default_of"]


def as_it_is(context: Context, call: Call, copy: Copy, is_open: bool) -> tuple[Any, Give]:
    """Run a metaclass, decorator or factory of the standard library; its result, and what hands cotangents
    back.  is_open: as `texts.follow` has it, of a line that goes to a log."""
    function = call.function
    what = f"runs {function.__module__}.{function.__qualname__}"
    if function.__qualname__ == "_process_class":
        return _dataclass(context, call, what, copy)
    if function.__qualname__ == "namedtuple":
        return _namedtuple(context, call, what, copy)
    if function.__name__ == "__new__" and len(call.args) >= 4:
        return _by_metaclass(context, call, what, copy)
    if function.__module__ == "logging":
        written = logs.streams(function.__qualname__, call.args)
        if written is not None:
            return _logged(context, call, written, is_open), nothing
    if function.__module__ in ABOUT_TEXT and all(is_library_class(type(x)) for x in call.args):
        out = call.perform()  # it is given texts, and runs no code of the user's
        let_iterators_be(context, out)
        return out, nothing
    memory = LibraryMemory(context, call.function, call.args)
    out, _ = watched(context, call, what, stays=True)
    if function.__module__ == "warnings" and type(out) is list:  # C code adds what it warns of
        context.shadows.let_be(out)
    return out, memory.undoing(None) or nothing


def _logged(context: Context, call: Call, streams: list[Any], is_open: bool) -> Any:
    """Make `call` of a logger, whose line goes to `streams` and nowhere else."""
    if not streams:
        return None
    if any(map(is_active, call.shadows)) or texts.among_arguments(context, call) is not None:
        texts.written(context, streams, is_open)
    return call.perform_for_user()


def _by_metaclass(context: Context, call: Call, what: str, copy: Copy) -> tuple[Any, Give]:
    """``__new__`` of a metaclass of the standard library: an enum, a typed named tuple."""
    namespace, shadow = call.args[3], call.shadows[3]
    if not issubclass(type(namespace), dict):
        out, undo = watched(context, call, what)
        return out, undo or nothing
    before = dict(dict.items(namespace))
    cls, _ = watched(context, call, what, [namespace])
    attributes = carry(context, cls, before, shadow, copy)
    if shadow is None or shadow is NO_TANGENT:
        return cls, nothing
    sources = {k: (shadow, k) for k in defaults_of_record(cls) if slot_rdata(shadow.get(k)) is not None}
    defaults = _give_defaults(context, vars(cls).get("__new__"), sources, copy)

    def give() -> None:
        defaults()
        attributes()

    return cls, give


def _namedtuple(context: Context, call: Call, what: str, copy: Copy) -> tuple[Any, Give]:
    """``collections.namedtuple(...)``, whose defaults may have a derivative."""
    cls, _ = watched(context, call, what)
    if "defaults" not in call.keywords:
        return cls, nothing
    at = call.count + call.keywords.index("defaults")
    given, shadow = call.args[at], call.shadows[at]
    if shadow is None or shadow is NO_TANGENT:
        return cls, nothing
    if type(shadow) is not list or len(shadow) != len(given):
        if is_active(shadow):
            raise missing_rule(call, "defaults that have a derivative are not in a list")
        return cls, nothing
    names = cls._fields[len(cls._fields) - len(given) :]
    sources = {name: (shadow, k) for k, name in enumerate(names)}
    return cls, _give_defaults(context, vars(cls)["__new__"], sources, copy)


def _dataclass(context: Context, call: Call, what: str, copy: Copy) -> tuple[Any, Give]:
    """``dataclasses.dataclass``, which moves defaults from the class to its generated ``__init__``."""
    cls = call.args[0]
    sources = dict(_default_slots(context, cls))
    # The fields that were written into the class are filled in, and its namespace, which the function that
    # evaluates annotations closes over from 3.13 on.
    written = [x for x in vars(cls).values() if type(x) is dataclasses.Field]
    out, _ = watched(context, call, what, [*written, *gc.get_referents(vars(cls))])
    fields = context.class_fields(out)
    if fields is None:
        if not sources:
            return out, nothing
        fields = {}
        context.classes[id(out)] = out, fields
        note_made(out)
    gives = []
    for name, (slots, key) in sources.items():
        value = out.__dataclass_fields__[name].default
        if slots is not fields and vars(out).get(name, MISSING) is value:
            gives.append(_moved(fields, name, vars(out)[name], slots, key, copy))
        fields["default", name] = slots, key
    init = vars(out).get("__init__")
    if is_python_function(init):
        gives.append(_give_defaults(context, init, sources, copy))

    def give() -> None:
        for one in reversed(gives):
            one()

    return out, give


def _default_slots(context: Context, cls: type) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Where the derivative of the default of a field of a dataclass in the making stands, if it has one."""
    for base in reversed(cls.__mro__):
        fields = context.class_fields(base)
        for name, value in list(vars(base).items()):
            if type(value) is dataclasses.Field:
                shadow = context.shadows.lookup(value)
                if type(shadow) is MutableTangent and slot_rdata(shadow.__dict__.get("default")) is not None:
                    yield name, (shadow.__dict__, "default")
            elif fields is not None and slot_rdata(fields.get(name)) is not None:
                yield name, (fields, name)
        for key, source in [] if fields is None else list(fields.items()):
            if type(key) is tuple:
                yield key[1], source


def _moved(fields: Any, name: str, value: Any, slots: Any, key: Any, copy: Copy) -> Give:
    """Let the attribute `name` have the derivative that ``slots[key]`` is, in place of that of the field that
    stood there."""
    before = fields.get(name, MISSING)
    fields[name] = copy(value, slots[key])

    def give() -> None:
        slots[key] = slot_increment(slots[key], slot_rdata(fields[name]))
        if before is MISSING:
            del fields[name]
        else:
            fields[name] = before

    return give


def _give_defaults(context: Context, function: Any, sources: dict[str, Any], copy: Copy) -> Give:
    """Let the parameters of a generated function have the derivatives of the defaults that `sources` has."""
    function = getattr(function, "__func__", function)  # ``__new__`` has become a staticmethod
    if not is_python_function(function) or not sources:
        return nothing
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    named = names[len(names) - len(defaults) :]
    kwdefaults = function.__kwdefaults__ or {}
    shadow: Any = MutableTangent()
    parts = shadow.__dict__

    def slot(name: str, value: Any) -> Any:
        if name not in sources:
            return context.shadows.tangent(value) if kind_of(type(value)).address else NO_TANGENT
        slots, key = sources[name]
        return copy(value, slots[key])

    parts["__defaults__"] = tuple(map(slot, named, defaults))
    parts["__kwdefaults__"] = {name: slot(name, value) for name, value in kwdefaults.items()}
    cells: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        for field in sources:
            if name in (f"_dflt_{field}", f"__dataclass_dflt_{field}__"):
                cells[field] = parts[name] = MutableTangent(cell_contents=slot(field, cell.cell_contents))
                context.shadows.register(cell, parts[name])
    context.shadows.register(function, shadow)
    with_active_defaults.add(function)

    def give() -> None:
        for name, part in (*zip(named, parts["__defaults__"], strict=True), *parts["__kwdefaults__"].items()):
            if name in sources:
                slots, key = sources[name]
                slots[key] = slot_increment(slots[key], slot_rdata(part))
        for name, cell in cells.items():
            slots, key = sources[name]
            slots[key] = slot_increment(slots[key], slot_rdata(cell.cell_contents))

    return give


def default_of(context: Context, function: Any, name: str) -> Default | None:
    """Where the default of parameter `name` of a generated function has its derivative, if it has one."""
    function = getattr(function, "__func__", function)
    shadow = context.shadows.lookup(function)
    if type(shadow) is not MutableTangent:
        return None
    parts, code = shadow.__dict__, function.__code__
    if name in parts.get("__kwdefaults__", ()):
        return Default(parts, "__kwdefaults__", name)
    defaults = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    if name not in names or "__defaults__" not in parts:
        return None
    return Default(parts, "__defaults__", names.index(name))
