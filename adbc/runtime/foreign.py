"""Calls of C functions that have no rule: what must hold for one to be made, and what is looked at after.

A C function without a rule is called if nothing with a derivative reaches it.  But it may do more
than compute: change what it was given, keep it, hand it back, or call Python code that reaches
active state by another way.  So before the call the objects among its arguments are made known to
the memo, and what stands in them is noted; after it, what was changed is put in step (and undone
by the pullback), and objects that may hide an argument from sight are remembered.

State that is out of sight (a random generator, a file) is not restored.
"""

from __future__ import annotations

import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from adbc.errors import MissingRuleError, UnsupportedError
from adbc.runtime.activity import is_active
from adbc.runtime.context import Context
from adbc.runtime.messages import missing_rule, nested
from adbc.runtime.resolve import Call, is_differentiation, lookup
from adbc.tangents import NO_TANGENT, MutableTangent
from adbc.tangents.fields import instance_dict
from adbc.tangents.protocol import kind_of
from adbc.tangents.walk import is_address_tangent

__all__ = ["call_foreign"]

Undo = Callable[[], None]


def call_foreign(context: Context, call: Call) -> tuple[Any, Undo | None]:
    """Make `call`; the result, and what undoes the changes it made to its arguments (None: it made none)."""
    function = call.function
    if is_differentiation(function) and (is_active(call.shadow) or any(map(is_active, call.shadows))):
        raise UnsupportedError(nested(function))
    if is_active(call.shadow) or any(map(is_active, call.shadows)):
        raise MissingRuleError(missing_rule(call))
    reached = [x for x in (function, *call.args) if _is_opaque(x)]
    for x in reached:
        if id(x) in context.held and any(map(is_active, context.held[id(x)][1])):
            raise MissingRuleError(
                missing_rule(
                    call,
                    f"a value with a derivative is behind a {type(x).__name__}, which adbc cannot look into",
                )
            )
    addresses = []
    for x, shadow in zip(call.args, call.shadows, strict=True):
        if shadow is not None and shadow is not NO_TANGENT:
            context.shadows.adopt(x, shadow)
            if is_address_tangent(type(shadow)):
                addresses.append(shadow)
    for x in (function, *call.args):
        way = _active_global(context, x, set())
        if way is not None and is_differentiation(function):
            raise UnsupportedError(nested(function))
        if way is not None:
            raise MissingRuleError(missing_rule(call, f"it may call {way}"))
    before = list(_contents(call.args))
    n = call.count
    out = function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
    context.attributes.clear()
    changed = [(x, old) for x, old in before if _differs(x, old)]
    if addresses:
        for x in (*reached, out):
            if _is_opaque(x):
                context.held.setdefault(id(x), (x, []))[1].extend(addresses)
    return out, _in_step(context, changed) if changed else None


# -- what cannot be looked into ------------------------------------------------------------------------

_HIDES_NOTHING = (
    str, bytes, int, float, complex, types.NoneType, type, range, slice, types.ModuleType, bytearray,
    types.CodeType, types.NotImplementedType, types.EllipsisType, types.FunctionType,
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MemberDescriptorType, types.GetSetDescriptorType,
    weakref.ReferenceType,  # what it refers to is known by its address
)  # fmt: skip


def _is_opaque(x: Any) -> bool:
    """Whether an object that was put into `x` could be reached through it unseen."""
    cls = type(x)
    return kind_of(cls).inactive and cls not in _HIDES_NOTHING and not hasattr(cls, "dtype")


# -- callbacks ---------------------------------------------------------------------------------------


def _active_global(context: Context, f: Any, seen: set[int]) -> str | None:
    """The way from `f`, if it is a Python function, to a global object that holds active numbers."""
    if type(f) is types.MethodType:
        f = f.__func__
    if type(f) is not types.FunctionType:
        method = lookup(type(f), "__call__")
        if type(method) is not types.FunctionType:
            return None
        f = method
    if id(f) in seen:
        return None
    seen.add(id(f))
    for cell in (
        f.__closure__ or ()
    ):  # data there has a shadow of the function's own; functions there may go on
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        reached = _active_global(context, content, seen) if not isinstance(content, type) else None
        if reached is not None:
            return reached
    for name in _names(f.__code__):
        if name not in f.__globals__:
            continue
        value = f.__globals__[name]
        tangent = context.shadows.lookup(value)
        if is_address_tangent(type(tangent)) and type(value) is not types.FunctionType and is_active(tangent):
            return f"{f.__qualname__}, which uses the global {name!r}, whose derivative would not be seen"
        reached = _active_global(context, value, seen) if not isinstance(value, type) else None
        if reached is not None:
            return reached
    return None


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


# -- changes -----------------------------------------------------------------------------------------


def _contents(roots: Any) -> Iterator[tuple[Any, Any]]:
    """The mutable objects reached from `roots`, each with what stands in it."""
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls is str or cls is int or cls is float or id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, tuple):
            pending.extend(x)
        elif isinstance(x, list | deque):
            inside = list(x)
            pending.extend(inside)
            yield x, inside
        elif isinstance(x, dict):
            items = list(x.items())
            pending.extend(v for _, v in items)
            yield x, items
        elif isinstance(x, set):
            yield x, set(x)
        elif isinstance(x, bytearray) or cls.__name__ == "array":
            yield x, x[:]
        elif hasattr(cls, "__array_interface__") and x.flags.writeable:
            yield x, x.copy()
        elif not isinstance(x, type | types.ModuleType | types.FunctionType) and (fields := instance_dict(x)):
            pending.extend(fields.values())
            yield x, list(fields.items())


def _differs(x: Any, old: Any) -> bool:
    if isinstance(x, list | deque):
        return len(x) != len(old) or any(a is not b for a, b in zip(x, old, strict=True))
    if hasattr(type(x), "__array_interface__"):
        return bool(x.shape != old.shape or x.tobytes() != old.tobytes())
    if isinstance(x, set | bytearray) or type(x).__name__ == "array":
        return bool(x != old)
    now = list((x if isinstance(x, dict) else instance_dict(x)).items())
    return len(now) != len(old) or any(
        k is not m or v is not w for (k, v), (m, w) in zip(now, old, strict=True)
    )


def _in_step(context: Context, changed: list[tuple[Any, Any]]) -> Undo:
    """Bring the shadows of changed objects in step; gives what puts objects and shadows back.

    Nothing active was in them, and so nothing active is: all their numbers have zero tangents.
    """
    shadows: list[tuple[Any, Any]] = []
    for x, _ in changed:
        shadow = context.shadows.lookup(x)
        if type(shadow) is MutableTangent:
            shadow = shadow.__dict__
        if isinstance(shadow, list | deque):
            shadows.append((shadow, list(shadow)))
            _put(shadow, [context.shadows.tangent(v) for v in x])
        elif isinstance(shadow, dict):
            shadows.append((shadow, list(shadow.items())))
            items = (x if isinstance(x, dict) else instance_dict(x)).items()
            _put(shadow, [(k, context.shadows.tangent(v)) for k, v in items])

    def undo() -> None:
        for x, old in changed:
            if isinstance(x, list | deque | dict | set | bytearray) or hasattr(
                type(x), "__array_interface__"
            ):
                _put(x, old)
            elif type(x).__name__ == "array":
                x[:] = old
            else:
                _put(instance_dict(x), old)
        for shadow, old in shadows:
            _put(shadow, old)

    return undo


def _put(x: Any, content: Any) -> None:
    if isinstance(x, list | bytearray):
        x[:] = content
    elif isinstance(x, deque):
        x.clear()
        x.extend(content)
    elif isinstance(x, dict | set):
        x.clear()
        x.update(content)
    else:
        x[...] = content
