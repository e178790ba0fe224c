"""Classes that are made while a derivative is taken, and the derivatives of their attributes.

The class is made out of its namespace by C (`made`).  There the derivatives of the attributes change hands:
from the dict to the fields of the class, which the context of the call keeps (`Context.classes`).
"""

from __future__ import annotations

import functools
import io
import types
from collections.abc import Callable
from typing import Any

from adbc.cpython.libraries import is_library_module
from adbc.errors import UnsupportedError
from adbc.rules.namespaces import check_name
from adbc.runtime.calls import counters, fields
from adbc.runtime.calls.attributes import refuse_hook
from adbc.runtime.calls.classes import LIBRARY, is_python_function, lookup, note_made
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.standing import called_by_user
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, lost, slot_increment, slot_rdata
from adbc.tangents.containers import PROXY
from adbc.tangents.protocol import kind_of
from adbc.tangents.zeros import is_zero
from adbc.types import make_local

__all__ = [
    "Copy",
    "Give",
    "carry",
    "defaults_of_record",
    "is_class",
    "made",
    "nothing",
    "on_class",
]

Copy = Callable[[Any, Any], Any]
"""``copy(value, slot)``: the tangent for another slot that gets `value`, of which `slot` is the tangent.
What is collected by value is each slot's own, what has memory is shared."""

Give = Callable[[], None]
"""What hands cotangents back, in reverse mode."""


def is_class(x: Any) -> bool:
    """``isinstance(x, type)``, whatever `x` says it is."""
    return issubclass(type(x), type)


def _is_followed(function: Any) -> bool:
    """Whether a hook is Python code of the user's."""
    function = getattr(function, "__func__", function)
    return is_python_function(function) and function.__module__ not in LIBRARY


def _has_hook(bases: tuple[Any, ...]) -> bool:
    """Whether ``__init_subclass__`` of a base is Python code of the user's."""
    return any(_is_followed(vars(c).get("__init_subclass__")) for base in bases for c in base.__mro__)


class _Stop(Exception):
    """Raised when a class is complete but for ``__init_subclass__``."""


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
    """Carry out `make_type`; its result, and what hands the cotangents of the attributes back to the
    namespace."""
    meta, name, bases, namespace, keywords = call.args
    shadow = call.shadows[3]
    if (
        not issubclass(type(namespace), dict)
        or not issubclass(type(bases), tuple)
        or not all(map(is_class, bases))
    ):
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
                f"class {name!r} is made with a keyword that has a derivative",
                "it goes to code that is not followed",
                "set an attribute instead",
            )
        make = functools.partial(type.__new__, meta, name, bases, content, **keywords)
        # Without a name of its own, the class is of the module of whoever asked for it.
        cls = make() if "__module__" in content else called_by_user(make)
    for key in late:
        type.__setattr__(cls, key, dict.__getitem__(namespace, key))
    return (cls, late, has_hook), carry(context, cls, namespace, shadow, copy)


def _without_hook(meta: Any, name: Any, bases: Any, content: dict[str, Any]) -> Any:
    """The class, made without a call of the ``__init_subclass__`` of its bases."""
    last = _Last()
    key = "<last>"
    try:
        make = functools.partial(type.__new__, meta, name, bases, {**content, key: last})
        make() if "__module__" in content else called_by_user(make)
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
    note_made(cls)
    make_local(cls)
    if shadow is None or shadow is NO_TANGENT:
        return nothing
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
        elif slot_rdata(slot) is not None and key not in defaults_of_record(cls):
            raise UnsupportedError(
                f"attribute {key!r} of class {cls.__name__!r} has a derivative",
                f"{type(cls).__name__} makes something else of it",
                "set the attribute on the instances",
            )

    def give() -> None:
        for key, slot in fields.items():
            if key in shadow:
                shadow[key] = slot_increment(shadow[key], slot_rdata(slot))

    return give


def nothing() -> None:
    """The `Give` of a class without derivatives, and what undoes what stays."""


def defaults_of_record(cls: Any) -> Any:
    """The defaults of the fields of a named tuple, by name; none of other classes."""
    return getattr(cls, "_field_defaults", ()) if issubclass(cls, tuple) else ()


_ABSENT = object()


def _has_no_number(x: Any) -> bool:
    """Whether nothing with a derivative can stand in `x`, what a module has or is given: a setting, a
    stream."""
    return x is _ABSENT or kind_of(type(x)).inactive or issubclass(type(x), io.IOBase)


def _is_kept_constant(context: Context, shadow: Any) -> bool:
    """Whether `shadow` is that of memory of a library's, in which nothing depends on the input: an object
    that code which runs as it is has made, and that is held somewhere there."""
    kept = context.kept
    return kept is not None and kept.tells_of(shadow) and kept.is_constant()


def _put_off(context: Context, owner: Any, name: str, value: Any, shadow: Any) -> float:
    """What comes back to `value`, which becomes an attribute of a class or module, while it is not known
    whether it depends on the input; raises if the refusal may not wait."""
    refusal = functools.partial(fields.refuse_class_write, owner, name)
    if lost.may_be_lost(value, shadow):
        nan = context.put_off(refusal)
        if nan is not None:
            return nan
    raise refusal()


def check_namespace(context: Context, proxy: Any) -> None:
    """Refuse to look into `proxy` if a class is read through it which was made in this call, and one of its
    attributes has a derivative: of what stands there only objects are found again, by their addresses."""
    for cls, fields_ in context.classes.values():
        if PROXY.viewed(proxy) is PROXY.viewed(vars(cls)) and context.is_active(fields_):
            raise UnsupportedError(
                f"the __dict__ of class {cls.__qualname__} is read, of which an attribute has a derivative",
                "what a class that was made in this call has is found by name alone",
                "read the attribute by getattr(cls, name)",
            )


def check_derived(context: Context, owner: Any, name: str) -> None:
    """Refuse that `name`, an attribute of `owner`, is another now, if code of this level was derived for what
    it was."""
    if is_class(owner) and not all(rule.holds() for rule in context.checked if rule is not None):
        raise UnsupportedError(
            f"attribute {name!r} of {owner!r} is set or deleted",
            "code that was derived for what it was is being differentiated",
            "change the class before the call, or make a subclass",
        )


def on_class(
    context: Context, call: Call, fill: Callable[[Any, Any], Any], builds: int
) -> tuple[Any, Callable[[], Any]]:
    """Set or delete an attribute of a class or module; what undoes that gives the cotangent of the value.

    Where the class was made in this call, its attributes may have derivatives.  `fill` makes a whole tangent
    of a value and its shadow or tangent.  builds: how much code the engine has made so far.
    """
    owner, name = call.args[:2]
    is_set = len(call.args) == 3
    fields_ = context.class_fields(owner)
    shadow = call.shadows[2] if is_set else None
    nan: float | None = None
    if fields_ is None and shadow is not None and shadow is not NO_TANGENT:
        # Where an inner level is followed, its constants come along with numbers that have a derivative.
        is_constant = context.follows_inner and context.is_forward and is_zero(shadow)
        is_constant = is_constant or _is_kept_constant(context, shadow)
        if context.is_active(shadow) and not is_constant:
            nan = _put_off(context, owner, name, call.args[2], shadow)
        context.shadows.adopt(call.args[2], shadow)  # it will be met again, as what the class or module holds
    setter: Any = type.__setattr__ if is_class(owner) else setattr  # past what its metaclass says
    deleter: Any = type.__delattr__ if is_class(owner) else delattr
    own = vars(owner)
    old, old_slot = own.get(name, _ABSENT), None if fields_ is None else fields_.get(name)
    if hasattr(type.__dict__.get(name), "__set__") and is_class(owner):
        try:
            old = type.__getattribute__(owner, name)  # ``__bases__`` and its like stand nowhere else
        except AttributeError:  # and ``__abstractmethods__`` not before it is set
            old = _ABSENT
    is_count = fields_ is None and is_set and is_class(owner) and counters.is_alike(old, call.args[2])
    let_go = functools.partial(counters.forget, context, name) if is_count else context.attributes.clear
    let_go()
    stays = False
    if type(owner) is types.ModuleType:
        check_name(own, name, *call.args[2:])
        # Library code that runs as it is sets it too (`contextlib.redirect_stdout`), and is not undone: what
        # one of two such calls has set must not be put back when the other was followed.
        stays = is_library_module(owner) and all(map(_has_no_number, (old, *call.args[2:])))

    def put_back() -> None:
        let_go()
        if old is not _ABSENT:
            setter(owner, name, old)
        elif name in own:
            deleter(owner, name)

    if is_set:
        setter(owner, name, call.args[2])
    else:
        deleter(owner, name)
    if stays:
        return None, nothing
    if fields_ is None:
        if not (is_count and counters.is_unwatched(context, owner, name, builds)):
            context.patches.append(put_back)
            check_derived(context, owner, name)
        if is_count:
            counters.note_unwatched(context, owner, name, builds)
    else:
        fields_.pop(name, None)
        slot = fill(call.args[2], shadow) if is_set else NO_TANGENT
        if slot is not NO_TANGENT:
            fields_[name] = slot
            context.shadows.adopt(call.args[2], slot)

    def undo() -> Any:
        returned = None if fields_ is None else slot_rdata(fields_.pop(name, None))
        if nan is not None:
            returned = lost.lose(call.args[2], shadow, nan)
        put_back()
        if old_slot is not None and fields_ is not None:
            fields_[name] = 0.0 if type(old_slot) is float else old_slot
        return returned

    return None, undo
