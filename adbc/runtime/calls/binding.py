"""Binding of arguments to parameters, as CPython does it, with shadows and origins alongside."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from adbc.runtime.calls.steps import Call
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent, slot_increment

__all__ = ["Bound", "Default", "bind"]


class Default:
    """The origin of a parameter that has its default: the slot for it in the shadow of the function."""

    __slots__ = ("fields", "key", "name")

    def __init__(self, fields: dict[str, Any], name: str, key: Any) -> None:
        self.fields, self.name, self.key = fields, name, key

    def tangent(self) -> Any:
        """The tangent of the default, which stands in the slot."""
        return self.fields[self.name][self.key]

    def give(self, rdata: Any) -> None:
        """Add `rdata`, from the cotangent of the parameter, to what stands in the slot."""
        slots = self.fields[self.name]
        if rdata is None:
            return
        new = slot_increment(slots[self.key], rdata)
        if issubclass(type(slots), tuple):
            self.fields[self.name] = (*slots[: self.key], new, *slots[self.key + 1 :])
        else:
            slots[self.key] = new


def _default(shadow: Any, name: str, key: Any) -> Default | None:
    fields = shadow.__dict__ if type(shadow) is MutableTangent else {}
    slots = fields.get(name)
    return None if slots is None or slots is NO_TANGENT else Default(fields, name, key)


Bound = list[tuple[Any, Any, Any]]
"""Per local variable that is a parameter, in their order: value, shadow, origin.

The origin is that of one argument; a tuple of origins for ``*args``; a dict from name to origin for
``**kwargs``."""


class Beside(Protocol):
    """What stands beside values in a mode: shadows or tangents."""

    @property
    def known_in(self) -> Callable[[Context, Any, Any], Any]:
        """What stands beside a constant default of a function."""

    @property
    def slot(self) -> Callable[[Any], Any]:
        """What stands beside a value of which a slot holds this tangent."""

    def of_keywords(self, values: dict[str, Any], shadows: dict[str, Any]) -> Any:
        """What stands beside the dictionary of ``**kwargs``."""


def bind(call: Call, context: Context, beside: Beside) -> Bound:
    """Bind `call` to the parameters of its Python function.

    Raises the `TypeError` that the call itself would raise.
    """
    function: types.FunctionType = call.function
    code = function.__code__
    n = call.count
    named = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:named]
    has_varargs = bool(code.co_flags & inspect.CO_VARARGS)
    has_varkw = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    slots: list[tuple[Any, Any, Any] | None] = [None] * named
    triples = list(zip(call.args, call.shadows, call.origins, strict=True))
    if n > code.co_argcount and not has_varargs:
        _fail(call)
    given = min(n, code.co_argcount)
    slots[:given] = triples[:given]
    extra: dict[str, tuple[Any, Any, Any]] = {}
    for keyword, triple in zip(call.keywords, triples[n:], strict=True):
        at = names.index(keyword) if keyword in names else -1
        if at >= code.co_posonlyargcount:
            if slots[at] is not None:
                _fail(call)
            slots[at] = triple
        elif has_varkw:
            extra[keyword] = triple
        else:
            _fail(call)
    defaults = function.__defaults__ or ()
    first = code.co_argcount - len(defaults)
    kwdefaults = function.__kwdefaults__ or {}
    for at, slot in enumerate(slots):
        if slot is None:
            if first <= at < code.co_argcount:
                value, origin = defaults[at - first], _default(call.shadow, "__defaults__", at - first)
            elif at >= code.co_argcount and names[at] in kwdefaults:
                value, origin = kwdefaults[names[at]], _default(call.shadow, "__kwdefaults__", names[at])
            else:
                _fail(call)
            shadow = (
                beside.known_in(context, function, value) if origin is None else beside.slot(origin.tangent())
            )
            slots[at] = (value, shadow, origin)
    bound: Bound = [slot for slot in slots if slot is not None]
    if has_varargs:
        rest = triples[code.co_argcount : n]
        shadows = tuple(s for _, s, _ in rest)
        bound.append(
            (
                tuple(x for x, _, _ in rest),
                None if all(s is None for s in shadows) else shadows,
                tuple(o for _, _, o in rest),
            )
        )
    if has_varkw:
        values = {k: x for k, (x, _, _) in extra.items()}
        bound.append(
            (
                values,
                beside.of_keywords(values, {k: s for k, (_, s, _) in extra.items()}),
                {k: o for k, (_, _, o) in extra.items()},
            )
        )
    return bound


def _fail(call: Call) -> NoReturn:
    """Raise what the interpreter raises when arguments do not fit: it checks before anything runs."""
    call.perform()
    raise AssertionError("the arguments fit after all")
