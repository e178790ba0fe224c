"""Results that a program remembers from call to call, and finds by a comparison (`_recognise_`).

Where a value that depends on the input is the same as what a place held before the call, and that place is
written by the function that looks there, it is a memo of the last call that has been found: what was
remembered with it is a constant, and the derivative would be zero.  So that is refused, unless this call has
written the place itself (`_remember_`), or has made the object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.activity import carries
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Rule
from adbc.tangents.keys import CALL, put_off
from adbc.tangents.lost import lose, may_be_lost

__all__ = ["ROWS", "is_left", "note"]


def note(owner: Any, key: Any) -> None:
    """Take note that this call has written the place `key` of `owner`."""
    if CALL.memory is not None:
        CALL.memory.remembered[id(owner), key] = owner  # which keeps its address


def _remember_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    _remember_frule(args, fargs)
    return None, None, lambda bout: (None, None)


def _remember_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    note(*args)
    return None, None


def _is_same_point(found: Any, is_equality: bool) -> bool:
    """Whether `found`, the result of a comparison or an array of such, says that everything is the same."""
    if found.__class__ is bool:
        return found is is_equality
    if getattr(getattr(found, "dtype", None), "kind", "") != "b" or not found.size:
        return False
    return bool(found.all() if is_equality else not found.any())


def is_left(found: Any, is_equality: bool, value: Any, left: Any, owner: Any, key: Any) -> bool:
    """Whether a comparison of `value` with what is `left` in the place `key` of `owner`, and what it has
    `found`, say that what was there before this call is met again."""
    if not _is_same_point(found, is_equality):
        return False
    if CALL.memory is None:
        return True
    remembered = CALL.memory.remembered
    if value is left and id(value) in remembered:  # nobody has kept it before it was made
        return False
    return id(owner) not in remembered and (id(owner), key) not in remembered


def _error(owner: Any, key: Any) -> UnsupportedError:
    if key is None:
        place = "a variable"
    else:
        place = repr(key) if owner is None else f"{key!r} of a {type(owner).__name__}"
    return UnsupportedError(
        f"a value with a derivative is the same as what {place} remembers of an earlier call",
        "what was remembered with it would be taken for a constant, and the derivative would be zero",
        "forget what is remembered before the derivative is taken, or make the object anew in the function",
    )


def _recognise_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    found, is_equality, value, remembered, owner, key = args
    if is_left(found, is_equality, value, remembered, owner, key):
        is_active = carries(value, dargs[2], is_tangent=True)
        if is_active and (value is remembered or not carries(remembered, dargs[3], is_tangent=True)):
            raise _error(owner, key)
    return None, None


def _recognise_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    found, is_equality, value, left, owner, key = args
    f = fargs[2]
    if not is_left(found, is_equality, value, left, owner, key) or not carries(value, f, is_tangent=False):
        return None, None, lambda bout: (None,) * 6
    nan = put_off(lambda: _error(owner, key)) if may_be_lost(value, f) else None
    if nan is None:
        raise _error(owner, key)

    def recognise_pullback(bout: Any) -> Sequence[Any]:
        return None, None, lose(value, f, nan), None, None, None

    return None, None, recognise_pullback


ROWS: list[Rule] = [
    Primitive(intrinsics._remember_, frule=_remember_frule, rrule=_remember_rrule, is_fitted=True),
    Primitive(intrinsics._recognise_, frule=_recognise_frule, rrule=_recognise_rrule),
]
