"""Keys of dicts and elements of sets: where their derivatives are, and how they are found.

What is hashed is structure.  A container of that kind has no place for the derivatives of its keys, and the
keys in an argument are constants: they are not perturbed.  But a key that is an object has its tangent by its
address, like every object, so it comes back with that.  For this the memory of the call that is under way in
this thread is asked, which is told of each object that becomes a key.  A number with a derivative is refused
as a key, alone or inside a value: nothing would be left of its derivative.  So is one by which a value is
found that could have a derivative.

In reverse mode a number may have come out of a list of constants: it is used, and what comes back from there
tells (`lost`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from adbc.errors import AdbcError, UnsupportedError
from adbc.tangents.internal import slot_shadow
from adbc.tangents.lost import lose
from adbc.tangents.nothing import NO_FDATA, NO_TANGENT
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.tangents.zeros import is_zero

__all__ = [
    "CALL",
    "Memory",
    "ask_key",
    "has_numbers",
    "is_object",
    "keep_key",
    "key_shadow",
    "key_tangent",
    "put_off",
]


class Memory(Protocol):
    """What a call that is differentiated knows of objects."""

    tasks: list[Any]
    """What stands for a thread of its own, as far as it is under way."""
    solvers: dict[int, Any]
    """By address, what a solver has found, with the memory that it has left (`rules.implicit`)."""
    tokens: dict[int, Any]
    """By address, tokens of variables of contexts that were set in this call, with what was there before."""
    remembered: dict[Any, Any]
    """By the address of an owner and a key, places that this call has written (`rules.recollections`)."""

    def keep(self, obj: Any, tangent: Any) -> None:
        """Let `tangent`, or this shadow, be that of `obj`, wherever it is met from now on."""

    def met(self, obj: Any) -> Any:
        """The tangent of object `obj`, which is met by its address only."""

    def put_off(self, refusal: Callable[[], AdbcError]) -> float | None:
        """The NaN that comes back to a value that is lost, if `refusal` may wait until it is known whether it
        depends on the input; else None."""


class _Call(threading.local):
    memory: Memory | None = None
    """The memory of the call that is under way in this thread, if there is one."""


CALL = _Call()


def has_numbers(key: Any) -> bool:
    """Whether `key` is or holds, as a value, a number that could have a derivative."""
    kind = kind_of(type(key))
    if kind.inactive or kind.address:
        return False
    return not isinstance(kind, ValueKind) or any(has_numbers(part) for _, part in kind.parts(key))


def keep_key(key: Any, f: Any, what: str) -> Any:
    """Take note that `key`, which has shadow or tangent `f`, becomes `what`; the rdata that comes back to it.

    That is None, or says that a derivative would be lost there if there is one.  Raises `UnsupportedError` if
    that is so, or nobody is there who will see it.
    """
    if not _loses(key, f):
        return None
    error = UnsupportedError(
        f"an active {type(key).__name__} becomes {what}",
        "it would lose its derivative there",
        "store the value in a list or under another key, or apply adbc.stop_gradient to it",
    )
    nan = put_off(lambda: error)
    if nan is None:
        raise error
    return lose(key, NO_FDATA, nan)


def is_object(key: Any, f: Any) -> bool:
    """Whether `key` is a text, or an object, which has its derivative by its address: nothing comes back to
    the key.  If it has shadow or tangent `f`, which is not None, note is taken of it."""
    cls = type(key)
    if cls is str:
        return True
    kind = kind_of(cls)
    if kind.address and f is not None and f is not NO_TANGENT and not kind.inactive:
        memory = CALL.memory
        if memory is not None:
            memory.keep(key, f)
    return kind.address


def ask_key(key: Any, f: Any, found: Any) -> Any:
    """Take note that `found` is what a dict has under `key`, with shadow or tangent `f`; the rdata of `key`.

    A number that is equal to a number with a derivative was most likely computed from it, by a call before
    this one that is remembered (a cache that a plain run has filled): what was found would be a constant.
    What has no derivative itself (a text, a whole number) is free, as the branch of a comparison is.  What is
    rounded has a zero derivative, and may be a key.
    """
    if f is None or kind_of(type(found)).inactive or not has_numbers(key):
        return None
    return keep_key(key, f, "the key under which a value is found in a dict")


def put_off(refusal: Callable[[], AdbcError]) -> float | None:
    """The NaN that is to come back, if the call that is under way lets the error wait that `refusal` makes
    (`Memory.put_off`)."""
    return None if CALL.memory is None else CALL.memory.put_off(refusal)


def _loses(key: Any, f: Any) -> bool:
    """Whether there is a number in `key`, with shadow or tangent `f`, that may have a derivative.  Of objects
    note is taken."""
    if f is None or f is NO_TANGENT:
        return False
    kind = kind_of(type(key))
    if kind.inactive:
        return False
    if kind.address:
        if CALL.memory is not None:
            CALL.memory.keep(key, f)
        return False
    if isinstance(kind, ValueKind):
        found = [_loses(part, f if f is NO_FDATA else kind.part(f, name)) for name, part in kind.parts(key)]
        return any(found)
    return f is NO_FDATA or not is_zero(f)


def key_tangent(key: Any) -> Any:
    """The tangent of `key`, which a dict or set gives back: that of the objects in it, by their addresses."""
    kind = kind_of(type(key))
    if kind.inactive:
        return NO_TANGENT
    if kind.address:
        if CALL.memory is None:
            raise UnsupportedError(
                f"a {type(key).__name__} is a key of a dict or set, and is read outside of any call that is"
                " differentiated",
                "its derivative is not known there",
                "keep the objects in a list, or as values of the dict",
            )
        return CALL.memory.met(key)
    if not isinstance(kind, ValueKind):
        return NO_TANGENT  # a number, which is a constant here
    parts = [(name, key_tangent(part)) for name, part in kind.parts(key)]
    return NO_TANGENT if all(t is NO_TANGENT for _, t in parts) else kind.join(key, parts)


def key_shadow(key: Any) -> Any:
    """The shadow of `key`, which a dict or set gives back."""
    return slot_shadow(key_tangent(key))
