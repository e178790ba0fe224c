"""Calls of C functions that have no rule: what must hold for one to be made, and what is looked at after.

A C function without a rule is called if nothing with a derivative reaches it.  But it may do more
than compute: change what it was given, keep it, hand it back, or call Python code that reaches
active state by another way.  So before the call the objects among its arguments are made known to
the memo, and what stands in them is noted; after it, what was changed is put in step (and undone
by the pullback), and objects that may hide an argument from sight are remembered.

State that is out of sight (a random generator, a file) is not restored.
"""

from __future__ import annotations

import operator
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from adbc.errors import MissingRuleError, UnsupportedError
from adbc.ir import intrinsics
from adbc.runtime.calls.resolve import is_differentiation, lookup
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import missing_rule, nested
from adbc.runtime.state.activity import is_active, is_opaque
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent
from adbc.tangents.contents import contents, differs, put_back
from adbc.tangents.fields import instance_dict
from adbc.tangents.walk import is_address_tangent

__all__ = ["call_foreign"]

Undo = Callable[[], None]

_SYNTAX = frozenset(
    id(f)
    for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.pow, operator.matmul, operator.lshift, operator.rshift, operator.and_, operator.or_,
        operator.xor, operator.neg, operator.pos, operator.invert, operator.getitem,
        operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge, operator.index,
        intrinsics._iter_,
    )
)  # fmt: skip
"""Operators that change nothing, by address: what is called may have no hash."""


def call_foreign(context: Context, call: Call) -> tuple[Any, Undo | None]:
    """Make `call`; the result, and what undoes the changes it made to its arguments (None: it made none)."""
    function = call.function
    # Where int and float meet, an int arrives with the zero tangent of a float.
    shadows = [
        None if x.__class__ is int or x.__class__ is bool else shadow
        for x, shadow in zip(call.args, call.shadows, strict=True)
    ]
    if is_active(call.shadow) or any(map(is_active, shadows)):
        if is_differentiation(function):
            raise UnsupportedError(nested(function))
        if id(function) in _SYNTAX or not callable(function):
            function(*call.args)  # if these types do not go together, the error is the user's
        raise MissingRuleError(missing_rule(call))
    reached = [x for x in (function, *call.args) if is_opaque(x) or _is_buffer(type(x))]
    for x in reached:
        if id(x) in context.held and any(map(is_active, context.held[id(x)][1])):
            raise MissingRuleError(
                missing_rule(
                    call,
                    f"a value with a derivative is behind a {type(x).__name__}, which adbc cannot look into",
                )
            )
    for x in reached:
        behind = context.shadows.behind(getattr(x, "__self__", x) if _is_bound(x) else x)
        if behind is not None and is_active(behind):
            raise MissingRuleError(
                missing_rule(
                    call,
                    f"a {type(x).__name__} is a window on memory with a derivative, which is not followed",
                )
            )
    addresses = []
    for x, shadow in zip(call.args, shadows, strict=True):
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
    before = list(contents(call.args))
    n = call.count
    if call.keywords:
        out = function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
    else:  # there are functions that do not take even no keywords
        out = function(*call.args)
    context.attributes.clear()
    changed = [(x, old) for x, old in before if differs(x, old)]
    if addresses:
        for x in (*reached, out):
            if is_opaque(x):
                context.held.setdefault(id(x), (x, []))[1].extend(addresses)
    return out, _in_step(context, changed) if changed else None


def _is_buffer(cls: type) -> bool:
    return cls is bytearray or type(cls).__module__ == "_ctypes"


def _is_bound(x: Any) -> bool:
    return isinstance(x, types.BuiltinMethodType | types.MethodWrapperType)


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
            put_back(shadow, [context.shadows.tangent(v) for v in x])
        elif isinstance(shadow, dict):
            shadows.append((shadow, list(shadow.items())))
            items = (x if isinstance(x, dict) else instance_dict(x)).items()
            put_back(shadow, [(k, context.shadows.tangent(v)) for k, v in items])

    def undo() -> None:
        for x, old in changed:
            put_back(x, old)
        for shadow, old in shadows:
            put_back(shadow, old)

    return undo
