"""What the functions that make dynamic calls of an inner level are written of (`inner`).

These are functions on values and on what stands beside them.  The outer level follows them like any code.
"""

from __future__ import annotations

from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, ZeroRule
from adbc.runtime.calls.changeable import reach_of
from adbc.runtime.calls.nested import apart
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    FData,
    Tangent,
    add,
    fill_tangent,
    slot_increment,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.contents import contents, differs
from adbc.tangents.zeros import is_exactly, is_zero

__all__ = [
    "ROWS", "check_watched", "elements_of", "give_slots", "has_made", "joined", "missing", "of_self", "part",
    "record_shadow", "record_tangent", "shadow_in", "slots_by_name", "slots_of", "tangent_in",
    "tangents_by_name", "watch",
]  # fmt: skip


def part(returned: Any, i: int) -> Any:
    """What a pullback has returned for argument `i`."""
    return returned[i] if i < len(returned) else None


def of_self(shadow: Any) -> Any:
    """The shadow of ``__self__``, from that of a bound method."""
    return None if shadow is None or shadow is NO_FDATA else shadow.__dict__.get("__self__")


def joined(a: Any, b: Any) -> Any:
    """The sum of two cotangents, of which None is zero."""
    return add(a, b)


def elements_of(shadow: Any, count: int) -> Any:
    """What stands beside the elements of a tuple."""
    return (None,) * count if shadow is None or shadow is NO_FDATA or shadow is NO_TANGENT else shadow


def slots_of(shadow: Any, count: int) -> Any:
    """What stands beside the elements of a list."""
    if shadow is None or shadow is NO_FDATA or shadow is NO_TANGENT:
        return (None,) * count
    return tuple([shadow_in(shadow, i) for i in range(count)])


def tangent_in(tangent: Any, key: Any) -> Any:
    """The tangent of what a list or dict has at `key`, None for zero."""
    if tangent is None or tangent is NO_TANGENT:
        return None
    found = tangent[key]
    return None if found is NO_TANGENT else found


def shadow_in(shadow: Any, key: Any) -> Any:
    """What stands beside what a list or dict has at `key`."""
    return None if shadow is None or shadow is NO_TANGENT else slot_shadow(shadow[key])


def tangents_by_name(values: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    """The tangent of a dictionary of ``**keywords``."""
    return {k: fill_tangent(x, beside[k]) for k, x in values.items()}


def slots_by_name(values: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    """The shadow of a dictionary of ``**keywords``."""
    return {k: slot_tangent(x, beside[k]) for k, x in values.items()}


def give_slots(shadow: Any, keys: Any, given: Any) -> None:
    """Add the cotangents `given` to what stands in a shadow at `keys`."""
    if shadow is None or shadow is NO_FDATA or shadow is NO_TANGENT:
        return
    for key, r in zip(keys, given, strict=True):
        shadow[key] = slot_increment(shadow[key], r)


def missing(r: Any) -> Any:
    """The cotangent of a tuple, None if all of it is."""
    for x in r:
        if x is not None:
            return r
    return None


def record_shadow(record: Any, names: Any, shadows: Any) -> Any:
    """The shadow of a frozen dataclass or named tuple, from those of its fields."""
    for shadow in shadows:
        if shadow is not None:
            return FData(**dict(zip(names, shadows, strict=True)))
    return None


def record_tangent(record: Any, names: Any, tangents: Any) -> Any:
    """The tangent of a frozen dataclass or named tuple, from those of its fields."""
    for tangent in tangents:
        if tangent is not None:
            filled = [fill_tangent(getattr(record, k), d) for k, d in zip(names, tangents, strict=True)]
            return Tangent(**dict(zip(names, filled, strict=True)))
    return None


def has_made(cls: type, obj: Any) -> bool:
    """Whether ``__init__`` of `cls` is called on `obj`, which its ``__new__`` has given."""
    if type(obj) is cls:
        return True
    if issubclass(type(obj), cls):
        raise UnsupportedError(
            f"__new__ of {cls.__qualname__} gives a {type(obj).__qualname__}, in a derivative inside a"
            " derivative",
            "which __init__ is to be called is known too late there",
            f"call {type(obj).__qualname__} itself",
        )
    return False


class Watch:
    """What was found in memory that code of Python reaches which C code is about to run."""

    __slots__ = ("before",)

    def __init__(self, before: Any) -> None:
        self.before = before


def watch(function: Any, args: Any) -> Watch:
    """Look at what `function`, in C, and its arguments reach."""
    return Watch(list(contents(reach_of((function, *args)))))


def check_watched(seen: Watch, what: str) -> None:
    """Refuse if something has changed since `seen`."""
    for x, old in seen.before:
        if differs(x, old):
            raise UnsupportedError(
                f"the interpreter {what}, and the Python code that it runs for that changes a"
                f" {type(x).__name__}, in a derivative inside a derivative",
                "code that is called from there is not followed",
                "make the change in a function or method that is called plainly",
            )


class StaysRule(Rule):
    """The row of `is_zero` and `is_exactly`: a number of an inner level is what it is and stays.

    The answer has no derivative; it depends on the derivative of the argument.
    """

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return self.function(*args) and is_zero(dargs[0]), None

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        return self.function(*args) and fargs[0] is None, None, lambda bout: (None,) * len(args)


ROWS: list[Rule] = [
    StaysRule(is_zero, result=bool),
    StaysRule(is_exactly, result=bool),
    ZeroRule(has_made),
    *apart(watch, check_watched),
]
