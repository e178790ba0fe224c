"""Class statements inside differentiated functions.

A class statement is a call of ``__build_class__`` with a function that is the body.  Here that builtin
and ``type.__new__`` are spelt out in Python that adbc can follow: the body fills its namespace as any
code fills a dict, metaclasses, ``__prepare__``, ``__set_name__`` and ``__init_subclass__`` are called like
any function.  What is left for C is to make the class out of the namespace (`made`), and there the
derivatives of the attributes change hands: from the dict to the fields of the class, which the context of
the call keeps (`Context.classes`).

Metaclasses, decorators and factories of the standard library do more than can be followed; they run as
they are (`as_it_is`), and what becomes of attributes and defaults in them is known here.
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.ir.intrinsics import MISSING, UNBOUND
from adbc.rules.namespaces import check_name
from adbc.rules.table import Rule, ZeroRule
from adbc.runtime.calls import fields
from adbc.runtime.calls.attributes import refuse_hook
from adbc.runtime.calls.binding import Default
from adbc.runtime.calls.resolve import LIBRARY, is_python_function, lookup
from adbc.runtime.calls.steps import Call, Delegate, Hold, Known, MakeType, RunBody, Step
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent, slot_increment, slot_rdata, slot_shadow, slot_tangent
from adbc.tangents.contents import contents, differs
from adbc.tangents.fields import instance_dict, is_python_class
from adbc.tangents.protocol import kind_of
from adbc.types import make_local

__all__ = [
    "PROTOCOLS",
    "ROWS",
    "apart",
    "as_it_is",
    "default_of",
    "held",
    "made",
    "on_class",
    "same",
    "watched",
]

Copy = Callable[[Any, Any], Any]
"""What a slot with the same value gets, of the value and the slot that has its derivative."""
Give = Callable[[], None]
"""What hands cotangents back, in reverse mode."""


# -- the statement ---------------------------------------------------------------------------------------


class _Syntax:
    """A function whose calls are steps of their own: `PROTOCOLS` has it."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any) -> Any:
        raise AssertionError(f"{self.__name__} needs a context")


run_body = _Syntax("run_body")
"""``run_body(body, namespace)``: the function of a class statement fills `namespace`."""
make_type = _Syntax("make_type")
"""``make_type(meta, name, bases, namespace, keywords)``: ``type.__new__`` without hooks written in Python.

Gives the class, the names whose ``__set_name__`` is still to be called, and whether
``__init_subclass__`` is.
"""


def build_class(body: Any, name: Any, /, *bases: Any, **keywords: Any) -> Any:
    """``__build_class__(body, name, *bases, **keywords)``."""
    resolved = resolved_bases(bases)
    meta = metaclass_of(keywords.pop("metaclass", UNBOUND), resolved)
    how = how_to_prepare(meta)
    if how == 0:
        namespace: Any = {}
    else:
        namespace = meta.__prepare__(name, resolved, **keywords)
        if not hasattr(type(namespace), "__getitem__"):
            raise TypeError(
                f"{meta.__name__}.__prepare__() must return a mapping, not {type(namespace).__name__}"
            )
    cell = run_body(body, namespace)
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    made = meta(name, resolved, namespace, **keywords)
    check_cell(cell, made)
    return made


def resolved_bases(bases: Any) -> Any:
    """The bases, with ``__mro_entries__`` asked where one is no class."""
    found: list[Any] = []
    is_changed = False
    for base in bases:
        entries = None if is_class(base) else getattr(base, "__mro_entries__", None)
        if entries is None:
            found.append(base)
        else:
            given = entries(bases)
            if not isinstance(given, tuple):
                raise TypeError("__mro_entries__ must return a tuple")
            found.extend(given)
            is_changed = True
    return tuple(found) if is_changed else bases


def is_class(x: Any) -> bool:
    """``isinstance(x, type)``, whatever `x` says it is."""
    return issubclass(type(x), type)


def metaclass_of(given: Any, bases: tuple[Any, ...]) -> Any:
    """The metaclass that a class statement uses."""
    if given is UNBOUND:
        given = type(bases[0]) if bases else type
    return winner(given, bases) if is_class(given) else given


def winner(meta: Any, bases: tuple[Any, ...]) -> Any:
    """The most derived of `meta` and the metaclasses of the bases."""
    for base in bases:
        kind = type(base)
        if kind in meta.__mro__:
            continue
        if meta not in kind.__mro__:
            raise TypeError(
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the"
                " metaclasses of all its bases"
            )
        meta = kind
    return meta


def how_to_prepare(meta: Any) -> int:
    """0: the namespace is a dict.  1: ``__prepare__`` makes it."""
    if is_class(meta):
        return 0 if lookup(meta, "__prepare__") is type.__dict__["__prepare__"] else 1
    return 1 if hasattr(meta, "__prepare__") else 0


def check_cell(cell: Any, cls: Any) -> None:
    """What CPython checks of ``__class__`` when the class is there."""
    if type(cell) is not types.CellType or not is_class(cls):
        return
    try:
        found = cell.cell_contents
    except ValueError:
        raise RuntimeError(
            f"__class__ not set defining {cls.__name__!r} as {cls!r}. Was __classcell__ propagated to"
            " type.__new__?"
        ) from None
    if found is not cls:
        raise TypeError(f"__class__ set to {found!r} defining {cls.__name__!r} as {cls!r}")


def new_class(meta: Any, name: Any, bases: Any, namespace: Any, /, **keywords: Any) -> Any:
    """``type.__new__(meta, name, bases, namespace, **keywords)``."""
    cls, names, has_hook = make_type(meta, name, bases, namespace, keywords)
    for key in names:
        tell_name(dict.__getitem__(namespace, key), cls, key)
    if has_hook:
        super(cls, cls).__init_subclass__(**keywords)
    return cls


def tell_name(value: Any, cls: Any, key: str) -> None:
    """Call the ``__set_name__`` of an attribute; an error says which."""
    try:
        type(value).__set_name__(value, cls, key)
    except BaseException as error:
        text = f"Error calling __set_name__ on '{type(value).__name__}' instance {key!r} in {cls.__name__!r}"
        if _ADDS_NOTES:
            error.add_note(text)
            raise
        raise RuntimeError(text) from error


_ADDS_NOTES = sys.version_info >= (3, 12)


# -- making the class --------------------------------------------------------------------------------------


def _is_followed(function: Any) -> bool:
    """Whether a hook is Python code of the user's."""
    function = getattr(function, "__func__", function)
    return is_python_function(function) and function.__module__ not in LIBRARY


def _has_hook(bases: tuple[Any, ...]) -> bool:
    return any(_is_followed(vars(c).get("__init_subclass__")) for base in bases for c in base.__mro__)


class _Stop(Exception):
    pass


class _Last:
    """The last attribute of a class that is being made.

    Asked for its name, it keeps the class and raises: the class is complete then, but for the hook
    ``__init_subclass__``, which would be next.
    """

    owner: Any = None

    def __set_name__(self, owner: Any, name: str) -> None:
        self.owner = owner
        raise _Stop


def made(context: Context, call: Call, copy: Copy) -> tuple[Any, Give]:
    """`make_type`, and what gives back to the namespace what has come to the attributes of the class."""
    meta, name, bases, namespace, keywords = call.args
    shadow = call.shadows[3]
    if not isinstance(namespace, dict) or not isinstance(bases, tuple) or not all(map(is_class, bases)):
        type.__new__(meta, name, bases, namespace)  # the error is the user's
    content = dict(dict.items(namespace))
    if is_python_function(lookup(meta, "__getattribute__")):
        raise refuse_hook(meta)
    late = tuple([k for k, v in content.items() if _is_followed(lookup(type(v), "__set_name__"))])
    for key in late:
        content[key] = None
    has_hook = _has_hook(bases)
    if has_hook:
        cls = _without_hook(meta, name, bases, content)
    else:
        if is_active(call.shadows[4]):
            raise UnsupportedError(
                f"class {name!r} is made with a keyword that has a derivative, which goes to code that is not"
                " followed; set an attribute instead"
            )
        cls = type.__new__(meta, name, bases, content, **keywords)
    for key in late:
        type.__setattr__(cls, key, dict.__getitem__(namespace, key))
    return (cls, late, has_hook), carry(context, cls, namespace, shadow, copy)


def _without_hook(meta: Any, name: Any, bases: Any, content: dict[str, Any]) -> Any:
    last = _Last()
    key = "<last>"
    try:
        type.__new__(meta, name, bases, {**content, key: last})
    except Exception:  # ours, or a RuntimeError from ours before 3.12
        if last.owner is None:
            raise
    cls = last.owner
    type.__delattr__(cls, key)
    return cls


def carry(context: Context, cls: Any, namespace: dict[str, Any], shadow: Any, copy: Copy) -> Give:
    """Let the attributes of the new class `cls` have the derivatives that `namespace` has for them."""
    fields: dict[Any, Any] = {}
    context.classes[id(cls)] = cls, fields
    make_local(cls)
    if shadow is None or shadow is NO_TANGENT:
        return _nothing
    own = vars(cls)
    for key, value in dict.items(namespace):
        slot = shadow.get(key)
        if slot is None or slot is NO_TANGENT:
            continue
        if type(value) is types.CellType and key in ("__classcell__", "__classdictcell__"):
            slot.cell_contents = NO_TANGENT  # the class is there now, or its attributes
            continue
        context.shadows.adopt(value, slot)
        if own.get(key) is value:
            fields[key] = copy(value, slot)
        elif slot_rdata(slot) is not None and key not in _defaults_of_record(cls):
            raise UnsupportedError(
                f"attribute {key!r} of class {cls.__name__!r} has a derivative, and"
                f" {type(cls).__name__} makes something else of it; set the attribute on the instances"
            )

    def give() -> None:
        for key, slot in fields.items():
            if key in shadow:
                shadow[key] = slot_increment(shadow[key], slot_rdata(slot))

    return give


def _nothing() -> None:
    pass


def same(value: Any, slot: Any) -> Any:
    """The `Copy` of forward mode: a tangent is that of both."""
    return slot


def apart(value: Any, slot: Any) -> Any:
    """The `Copy` of reverse mode: what a slot collects by value is its own, what has memory is shared."""
    return slot_tangent(value, slot_shadow(slot))


def _defaults_of_record(cls: Any) -> Any:
    return getattr(cls, "_field_defaults", ()) if issubclass(cls, tuple) else ()


# -- what runs as it is ------------------------------------------------------------------------------------


def as_it_is(context: Context, call: Call, copy: Copy) -> tuple[Any, Give]:
    """Run a metaclass, decorator or factory of the standard library; the result, and what gives back."""
    function = call.function
    what = f"runs {function.__module__}.{function.__qualname__}"
    if function.__qualname__ == "_process_class":
        return _dataclass(context, call, what, copy)
    if function.__qualname__ == "namedtuple":
        return _namedtuple(context, call, what, copy)
    if function.__name__ == "__new__" and len(call.args) >= 4:
        return _by_metaclass(context, call, what, copy)
    return watched(context, call, what), _nothing


def _by_metaclass(context: Context, call: Call, what: str, copy: Copy) -> tuple[Any, Give]:
    namespace, shadow = call.args[3], call.shadows[3]
    if not isinstance(namespace, dict):
        return watched(context, call, what), _nothing
    before = dict(dict.items(namespace))
    cls = watched(context, call, what, namespace)
    attributes = carry(context, cls, before, shadow, copy)
    if shadow is None or shadow is NO_TANGENT:
        return cls, _nothing
    sources = {k: (shadow, k) for k in _defaults_of_record(cls) if slot_rdata(shadow.get(k)) is not None}
    defaults = _give_defaults(context, vars(cls).get("__new__"), sources, copy)

    def give() -> None:
        defaults()
        attributes()

    return cls, give


def _namedtuple(context: Context, call: Call, what: str, copy: Copy) -> tuple[Any, Give]:
    cls = watched(context, call, what)
    if "defaults" not in call.keywords:
        return cls, _nothing
    at = call.count + call.keywords.index("defaults")
    given, shadow = call.args[at], call.shadows[at]
    if shadow is None or shadow is NO_TANGENT:
        return cls, _nothing
    if type(shadow) is not list or len(shadow) != len(given):
        if is_active(shadow):
            raise UnsupportedError(missing_rule(call, "defaults that have a derivative are not in a list"))
        return cls, _nothing
    names = cls._fields[len(cls._fields) - len(given) :]
    sources = {name: (shadow, k) for k, name in enumerate(names)}
    return cls, _give_defaults(context, vars(cls)["__new__"], sources, copy)


def _dataclass(context: Context, call: Call, what: str, copy: Copy) -> tuple[Any, Give]:
    cls = call.args[0]
    sources = dict(_default_slots(context, cls))
    out = watched(context, call, what)
    fields = context.class_fields(out)
    if fields is None:
        if not sources:
            return out, _nothing
        fields = {}
        context.classes[id(out)] = out, fields
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
    """Let the attribute `name` have the derivative that ``slots[key]`` is."""
    fields[name] = copy(value, slots[key])

    def give() -> None:
        slots[key] = slot_increment(slots[key], slot_rdata(fields[name]))

    return give


def _give_defaults(context: Context, function: Any, sources: dict[str, Any], copy: Copy) -> Give:
    """Let the parameters of a generated function have the derivatives of the defaults that `sources` has."""
    function = getattr(function, "__func__", function)  # ``__new__`` has become a staticmethod
    if not is_python_function(function) or not sources:
        return _nothing
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


def held(context: Context, call: Call) -> Any:
    """``property(f)`` and the like: `f` is found again by its address."""
    for x, shadow in zip(call.args, call.shadows, strict=True):
        if shadow is None or shadow is NO_TANGENT:
            continue
        context.shadows.adopt(x, shadow)
        if context.shadows.lookup(x) is None and is_active(shadow):
            raise UnsupportedError(
                missing_rule(call, f"it is given a {type(x).__name__} that holds a value with a derivative")
            )
    n = call.count
    return call.function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))


_ABSENT = object()


def on_class(context: Context, call: Call, fill: Callable[[Any, Any], Any]) -> tuple[Any, Callable[[], Any]]:
    """Set or delete an attribute of a class or module; what undoes that gives the cotangent of the value.

    Where the class was made in this call, its attributes may have derivatives.  `fill` makes a whole tangent
    of a value and its shadow or tangent.
    """
    owner, name = call.args[:2]
    is_set = len(call.args) == 3
    fields_ = context.class_fields(owner)
    shadow = call.shadows[2] if is_set else None
    if fields_ is None and shadow is not None and shadow is not NO_TANGENT:
        # an instance without numbers was registered when it was made, and is found again by its address
        harmless = type(shadow) is MutableTangent and not is_active(shadow)
        if not harmless:
            raise fields.refuse_class_write(owner, name)
    context.attributes.clear()
    setter: Any = type.__setattr__ if is_class(owner) else setattr  # past what its metaclass says
    deleter: Any = type.__delattr__ if is_class(owner) else delattr
    own = vars(owner)
    old, old_slot = own.get(name, _ABSENT), None if fields_ is None else fields_.get(name)
    if type(owner) is types.ModuleType:
        check_name(own, name)
    if is_set:
        setter(owner, name, call.args[2])
    else:
        deleter(owner, name)
    if fields_ is not None:
        fields_.pop(name, None)
        slot = fill(call.args[2], shadow) if is_set else NO_TANGENT
        if slot is not NO_TANGENT:
            fields_[name] = slot
            context.shadows.adopt(call.args[2], slot)

    def undo() -> Any:
        context.attributes.clear()
        returned = None if fields_ is None else slot_rdata(fields_.pop(name, None))
        if old is not _ABSENT:
            setter(owner, name, old)
        elif name in own:
            deleter(owner, name)
        if old_slot is not None and fields_ is not None:
            fields_[name] = 0.0 if type(old_slot) is float else old_slot
        return returned

    return None, undo


def watched(context: Context, call: Any, what: str, ours: object = None) -> Any:
    """Make `call` of a C function; refuse if the Python code that it runs has changed something active.

    What becomes of `ours` does not matter.
    """
    n = call.count
    before = list(contents(_reached((call.function, *call.args))))
    failed: BaseException | None = None
    out: Any = None
    try:
        out = call.function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
    except BaseException as error:  # the user's, who may go on
        failed = error
    for x, old in before:
        if x is not ours and differs(x, old) and is_active(context.shadows.lookup(x)):
            raise UnsupportedError(
                f"the interpreter {what}, and the Python code that it runs for that changes a"
                f" {type(x).__name__} that has a derivative; make the change in a function or method that is"
                " called plainly"
            )
    if failed is not None:
        try:
            raise failed
        finally:
            del failed
    return out


def _reached(roots: Any) -> list[Any]:
    """The values that Python code behind `roots` may change: what functions close over, and what functions of
    classes do."""
    found: list[Any] = []
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, types.FunctionType):
            for cell in x.__closure__ or ():
                try:
                    pending.append(cell.cell_contents)
                except ValueError:
                    continue
        elif isinstance(x, type):
            for cls in (*x.__mro__, type(x)):
                if is_python_class(cls):
                    pending.extend(vars(cls).values())
        elif isinstance(x, (classmethod, staticmethod)):
            pending.append(x.__func__)
        elif isinstance(x, property):
            pending.extend((x.fget, x.fset, x.fdel))
        elif isinstance(x, types.MethodType):
            pending.extend((x.__func__, x.__self__))
        elif isinstance(x, (list, tuple, set, frozenset)):
            found.append(x)
            pending.extend(y for y in x if not kind_of(type(y)).inactive or isinstance(y, types.FunctionType))
        elif isinstance(x, dict):
            found.append(x)
            pending.extend(x.values())
        elif not kind_of(type(x)).inactive:
            found.append(x)
            if is_python_class(type(x)):
                pending.append(type(x))
                pending.extend(instance_dict(x).values())
    return found


# -- steps -------------------------------------------------------------------------------------------------


def _build(call: Call, table: Any) -> Step:
    return Delegate(call.of(build_class))


def _run_body(call: Call, table: Any) -> Step:
    return RunBody(call)


global_name = _Syntax("global_name")
"""``global_name(globals, name)``: the global or builtin."""


def name_in(namespace: Any, name: str, globals: Any) -> Any:
    """What `name` means in the body of a class."""
    try:
        return namespace[name]
    except KeyError:
        pass
    return global_name(globals, name)


def cell_in(namespace: Any, cell: Any, name: str, free: bool) -> Any:
    """What `name`, a variable of the function around it, means in the body of a class."""
    try:
        return namespace[name]
    except KeyError:
        pass
    return intrinsics._cell_get_(cell, name, free)


def delete_name(namespace: Any, name: str) -> None:
    """``del name`` in the body of a class."""
    try:
        del namespace[name]
    except KeyError:
        pass
    else:
        return
    raise NameError(f"name '{name}' is not defined", name=name)


def setup_annotations(namespace: Any) -> None:
    """What the body of a class with annotations begins with, before 3.14."""
    try:
        namespace["__annotations__"]
    except KeyError:
        namespace["__annotations__"] = {}


def _is_plain(namespace: Any) -> bool:
    """Whether it is C code, and not its own, that finds what a namespace has."""
    cls = type(namespace)
    if not isinstance(namespace, dict) or hasattr(cls, "__missing__"):
        return False
    return not is_python_function(lookup(cls, "__getitem__"))


def _load_name(call: Call, table: Any) -> Step:
    namespace, name, globals = call.args
    if not _is_plain(namespace):
        return Delegate(call.of(name_in))
    if name in namespace:
        return Delegate(call.on(operator.getitem, 0, 1))
    return Known(call, intrinsics.global_or_builtin(globals, name))


def _global_name(call: Call, table: Any) -> Step:
    return Known(call, intrinsics.global_or_builtin(*call.args))


def _class_cell(call: Call, table: Any) -> Step:
    if not _is_plain(call.args[0]):
        return Delegate(call.of(cell_in))
    if call.args[2] in call.args[0]:
        return Delegate(call.on(operator.getitem, 0, 2))
    return Delegate(call.on(intrinsics._cell_get_, 1, 2, 3))


def _delete_name(call: Call, table: Any) -> Step:
    return Delegate(call.of(delete_name))


def _setup_annotations(call: Call, table: Any) -> Step:
    return Delegate(call.of(setup_annotations))


def _make_type(call: Call, table: Any) -> Step:
    return MakeType(call)


def _new(call: Call, table: Any) -> Step | None:
    if call.count != 4:
        return None
    meta, bases = call.args[0], call.args[2]
    if isinstance(bases, tuple):
        best = winner(meta, bases)
        new = lookup(best, "__new__")
        if best is not meta and new is not type.__dict__["__new__"]:
            new = getattr(new, "__func__", new)
            return Delegate(
                Call(new, None, (best, *call.args[1:]), call.shadows, call.origins, call.keywords, None)
            )
        call.args = (best, *call.args[1:])
    return Delegate(call.of(new_class))


def _hold(call: Call, table: Any) -> Step | None:
    return Hold(call) if any(map(is_active, call.shadows)) else None


PROTOCOLS: dict[Any, Any] = {
    builtins.__build_class__: _build,
    run_body: _run_body,
    global_name: _global_name,
    intrinsics._load_name_: _load_name,
    intrinsics._delete_name_: _delete_name,
    intrinsics._setup_annotations_: _setup_annotations,
    intrinsics._class_cell_: _class_cell,
    make_type: _make_type,
    type.__new__: _new,
    property: _hold,
    staticmethod: _hold,
    classmethod: _hold,
    property.getter: _hold,
    property.setter: _hold,
    property.deleter: _hold,
}

ROWS: list[Rule] = [
    ZeroRule(is_class),
    ZeroRule(metaclass_of),
    ZeroRule(how_to_prepare),
    ZeroRule(check_cell),
    ZeroRule(type.__init__),
]
