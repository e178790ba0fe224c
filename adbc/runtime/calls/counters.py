"""Integers, flags and texts that are attributes of classes and functions: what counts calls, numbers objects.

Such an attribute is set again and again, to another value of the same class, which has no derivative.  Code
that is being differentiated may have been derived for what an attribute of a class was, so whether any was is
looked at when it is set; one that nothing was derived for is set from then on without another look, until
there is more code.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.ir import intrinsics
from adbc.runtime.state.context import Context
from adbc.types.places import COUNTS

__all__ = ["attribute_store", "forget", "is_alike", "is_unwatched", "note_unwatched"]

_ABSENT = object()


def is_alike(old: Any, new: Any) -> bool:
    """Whether `new` stands for `old` as one count stands for another."""
    return type(old) is type(new) and type(new) in COUNTS


def forget(context: Context, name: str) -> None:
    """Forget how attributes of this name are found."""
    attributes = context.attributes
    for key in [k for k in attributes if type(k[1]) is str and k[1] == name]:
        del attributes[key]


def note_unwatched(context: Context, owner: Any, name: str, builds: int) -> None:
    """Note that all that this call has entered holds whichever count is the attribute `name` of the class
    `owner`: it did before one took the place of another, and does still.

    builds: how much code the engine has made so far.  What is entered later clears the note
    (`plans.checked`).
    """
    context.unwatched[id(owner), name] = builds


def is_unwatched(context: Context, owner: Any, name: str, builds: int) -> bool:
    """Whether that was noted, and there is no other code."""
    return context.unwatched.get((id(owner), name)) == builds


def attribute_store(engine: Any, by_steps: Callable[..., Any]) -> Callable[..., Any]:
    """The function for ``owner.name = count``, where `owner` is a class or function that was there when the
    code was derived; it gives what undoes that.

    by_steps: what makes a dynamic call of the engine, for attributes that may have been something else.
    """

    def store_attribute(context: Context, owner: Any, name: str, count: Any) -> Callable[[object], Any]:
        if context.is_followed or not _is_free(context, engine, owner, name, count):
            answer = by_steps(context, (), intrinsics._setattr_, None, (owner, name, count), _NO_SHADOWS)
            undo: Callable[[object], Any] = answer[-1]
            return undo
        return _store(context, owner, name, count)

    return store_attribute


def _is_free(context: Context, engine: Any, owner: Any, name: str, count: Any) -> bool:
    """Whether nobody need be asked where the attribute `name` of `owner` is set to `count`."""
    if type(owner) is types.FunctionType:
        return context.shadows.lookup(owner.__dict__) is None
    old = owner.__dict__.get(name, _ABSENT)
    return is_alike(old, count) and is_unwatched(context, owner, name, engine.builds)


def _store(context: Context, owner: Any, name: str, count: Any) -> Callable[[object], Any]:
    """Set the attribute; what undoes that."""
    old = owner.__dict__.get(name, _ABSENT)
    if context.attributes:
        forget(context, name)
    setattr(owner, name, count)

    def put_back(_: object) -> tuple[()]:
        if context.attributes:
            forget(context, name)
        if old is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, old)
        return ()

    return put_back


_NO_SHADOWS = (None, None, None)
