"""Exceptions as objects: what they are made of, and what is read from them where they are caught.

An exception has an address.  Its shadow holds the tangent of ``args`` and those of its attributes; it is
registered when differentiated code makes the exception, and found again by address by the handler that
catches it, however far the exception has flown.  What a C function raised has a shadow without fields:
nobody has seen what went into it, and an active number that is read from it is refused.  What code of a
library raised that was called as it is holds constants.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from adbc.errors import AdbcError, UnsupportedError
from adbc.rules.lookup import RuleTable
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive
from adbc.runtime.calls import fields, texts
from adbc.runtime.calls.classes import is_heap_type, lookup
from adbc.runtime.calls.steps import (
    AllocateException,
    Call,
    Delegate,
    Found,
    OfException,
    Protocols,
    Step,
    UseRow,
    Value,
)
from adbc.runtime.report.tracebacks import plain_traceback
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent, fill_tangent, slot_rdata, slot_tangent
from adbc.tangents.fields import arguments, hides_arguments, instance_fields
from adbc.tangents.protocol import ValueKind, kind_of

__all__ = [
    "PROTOCOLS", "SET_LINK", "allocated", "caught", "is_allocator", "kept_arguments", "of_exception",
    "passed", "raised_plainly", "set_arguments", "set_link", "set_on_exception",
]  # fmt: skip


def caught(context: Context, error: Any) -> Any:
    """The shadow (or tangent) of an exception that a handler was entered with: the one it has if it was met,
    else one without fields.  From here on the user may look at its traceback.

    With a refusal the call will end, even if what cleans up raises something else or returns."""
    plain_traceback(error)
    return passed(context, error)


def passed(context: Context, error: Any) -> Any:
    """The shadow (or tangent) of an exception that is handed on to the caller, who may have its traceback
    made plain: at each step of a recursion that would take as long as all steps before it."""
    if issubclass(type(error), AdbcError):
        context.refuse(error)
    context.has_caught(error)
    found = context.shadows.lookup(error)
    if found is None:
        found = MutableTangent()
        context.shadows.register(error, found)
        texts.raised_in_c(context, error)
    return found


def raised_plainly(context: Context, error: BaseException) -> None:
    """Let it be known what `error` holds, which code of a library has raised that was called as it is:
    constants, and memory that has its shadow by its address."""
    if issubclass(type(error), AdbcError) or context.shadows.lookup(error) is not None:
        return
    shadow = MutableTangent()
    context.shadows.register(error, shadow)
    known = context.known_tangent if context.is_forward else context.known_shadow
    held = [*instance_fields(error), *([] if hides_arguments(type(error)) else [("args", arguments(error))])]
    shadow.__dict__.update((name, slot_tangent(value, known(value))) for name, value in held)


def kept_arguments(error: Any, xs: Args, shadows: Args, fill: Callable[[Any, Any], Any]) -> Any:
    """The tangent of ``error.args``, which are `xs`, with these shadows (or tangents).

    `fill` makes a whole tangent of a value and its shadow or tangent.
    """
    kept = arguments(error)
    if len(kept) == len(xs) and all(a is b for a, b in zip(kept, xs, strict=True)):
        parts = tuple(map(fill, kept, shadows))
        return NO_TANGENT if all(part is NO_TANGENT for part in parts) else parts
    if any(s is not None and s is not NO_TANGENT for s in shadows):
        raise UnsupportedError(
            f"a {type(error).__name__} is made of values that have a derivative",
            "it does not keep them as they are",
            "give it a message, or use an exception class of your own with a field",
        )
    return fill(kept, None)


# -- making them -------------------------------------------------------------------------------------------


def allocated(context: Context, call: Call, fill: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Make an exception by ``new(cls, *args)``, which is a ``__new__`` in C; the exception and its shadow."""
    n = call.count
    error = call.perform()
    shadow = MutableTangent()
    if not hides_arguments(type(error)):
        shadow.__dict__["args"] = kept_arguments(error, call.args[1:n], call.shadows[1:n], fill)
    context.shadows.register(error, shadow)
    return error, shadow


def _init_row(wrapper: Any) -> Primitive:
    """The rule of an ``__init__`` in C: it sets ``args``."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        wrapper(*args, **kwargs)
        if dargs[0] is not None and not hides_arguments(type(args[0])):
            dargs[0].__dict__["args"] = kept_arguments(args[0], args[1:], dargs[1:], fill_tangent)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        error, shadow = args[0], fargs[0]
        before = arguments(error)
        wrapper(*args, **kwargs)
        nothing = (None,) * len(args)
        if shadow is None or hides_arguments(type(error)):

            def hidden_pullback(bout: Any) -> Any:
                set_arguments(error, before)
                return nothing

            return None, None, hidden_pullback
        slots = shadow.__dict__
        old = slots.get("args")
        slots["args"] = kept_arguments(error, args[1:], fargs[1:], slot_tangent)

        def init_pullback(bout: Any) -> Any:
            returned = slot_rdata(slots["args"])
            set_arguments(error, before)
            if old is None:
                del slots["args"]
            else:
                slots["args"] = old
            return nothing if returned is None else (None, *returned)

        return None, None, init_pullback

    return Primitive(wrapper, frule=frule, rrule=rrule)


def set_arguments(error: BaseException, args: tuple[Any, ...]) -> None:
    """Set what every exception keeps as ``args``."""
    _ARGUMENTS.__set__(error, args)


_ARGUMENTS: Any = vars(BaseException)["args"]


def _new(call: Call, table: RuleTable) -> Step:
    return AllocateException(call)


def is_allocator(function: Any) -> bool:
    """Whether `function` is a ``__new__`` in C that makes an exception."""
    return PROTOCOLS.get(function) is _new


def _init(row: Primitive) -> Any:
    return lambda call, table: UseRow(row, call)


# -- reading and writing -------------------------------------------------------------------------------------

_LINKS = ("__cause__", "__context__", "__traceback__", "__suppress_context__")


def stop_value(error: Any) -> Any:
    """``value`` of a StopIteration, ``code`` of a SystemExit with one argument."""
    return error.args[0]


_FIRST = {"value": StopIteration, "code": SystemExit}


def of_exception(context: Context, step: OfException) -> Step | None:
    """What reading an attribute of an exception, which has its shadow now, leads to."""
    call = step.call
    error, name = call.args[:2]
    if name == "args" and not hides_arguments(type(error)):
        return UseRow(fields.GET, call.on(fields.get_field, 0, 1))
    descriptor = lookup(type(error), name)
    if type(descriptor) not in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return None
    if is_heap_type(descriptor.__objclass__) or name == "__dict__" or name == "__class__":
        return None
    value = getattr(error, name)
    if name in ("__traceback__", "__suppress_context__"):
        return Value(call, value, None)
    if name in _FIRST and isinstance(error, _FIRST[name]) and len(error.args) == 1 and value is error.args[0]:
        return Delegate(call.on(stop_value, 0))
    if name not in _LINKS and not _is_met(context, value):
        raise UnsupportedError(
            f"attribute '{name}' of a {type(error).__name__} is a {type(value).__name__}",
            "C code has put it there, and its derivative would be lost",
            "use the value itself in place of what the exception says",
        )
    return Found(call, value)


def _is_met(context: Context, value: Any) -> bool:
    """Whether `value`, which an exception holds, has no derivative, or one that is known by its address."""
    kind = kind_of(type(value))
    if kind.inactive or issubclass(type(value), BaseException):  # exceptions are asked for what they hold
        return True
    if kind.address:
        return context.shadows.lookup(value) is not None
    return isinstance(kind, ValueKind) and all(_is_met(context, part) for _, part in kind.parts(value))


def set_on_exception(call: Call, name: str) -> Step | None:
    """The step for ``error.name = value`` where every exception has that attribute; None for other
    attributes."""
    if name == "args" and type(call.args[2]) is tuple and not hides_arguments(type(call.args[0])):
        return UseRow(fields.SET, call.on(fields.set_field, 0, 1, 2))
    return UseRow(SET_LINK, call.on(set_link, 0, 1, 2)) if name in _LINKS else None


def set_link(error: Any, name: str, value: Any) -> None:
    """Set what an exception says about another or about where it was raised, or the name of a function."""
    setattr(error, name, value)


def _link_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    set_link(*args)
    return None, None


def _link_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    error, name, _ = args
    old = getattr(error, name)
    set_link(*args)

    def link_pullback(bout: Any) -> Any:
        setattr(error, name, old)
        return None, None, None

    return None, None, link_pullback


SET_LINK = Primitive(set_link, frule=_link_frule, rrule=_link_rrule)


def with_traceback(error: Any, traceback: Any, /) -> Any:
    """``error.with_traceback(traceback)``."""
    error.__traceback__ = traceback
    return error


def add_note(error: Any, note: Any, /) -> None:
    """``error.add_note(note)``."""
    if not issubclass(type(note), str):
        raise TypeError(f"note must be a str, not '{type(note).__name__}'")
    try:
        notes = error.__notes__
    except AttributeError:
        notes = error.__notes__ = []
    if not issubclass(type(notes), list):
        raise TypeError("Cannot add note: __notes__ is not a list")
    notes.append(note)


def _instead(body: Any) -> Any:
    return lambda call, table: Delegate(call.of(body))


PROTOCOLS: Protocols = {
    BaseException.with_traceback: _instead(with_traceback),
    BaseException.add_note: _instead(add_note),
}
"""What the C functions of exceptions lead to."""
for _class in list(vars(builtins).values()):
    if issubclass(type(_class), type) and issubclass(_class, BaseException):
        if "__new__" in vars(_class):
            PROTOCOLS[_class.__new__] = _new
        if "__init__" in vars(_class):
            PROTOCOLS[vars(_class)["__init__"]] = _init(_init_row(vars(_class)["__init__"]))
