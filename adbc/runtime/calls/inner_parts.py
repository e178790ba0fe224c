"""What the functions that make dynamic calls of an inner level are written of (`inner`).

These are functions on values and on what stands beside them.  The outer level follows them like any code.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, ZeroRule
from adbc.runtime.calls.changeable import reach_of
from adbc.runtime.calls.nested import apart
from adbc.runtime.calls.new_classes import check_derived
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    FData,
    MutableTangent,
    Tangent,
    add,
    fill_tangent,
    slot_increment,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.contents import contents, differs, is_of_array
from adbc.tangents.contents import elements_of as elements_in
from adbc.tangents.fields import instance_fields
from adbc.tangents.zeros import is_exactly, is_zero

__all__ = [
    "ROWS", "adopted", "bring_in_step", "check_left", "check_watched", "class_changed", "elements_of",
    "forget_attributes", "give_slots", "has_made",
    "holds_containers", "is_changed", "joined", "let_be", "look_into", "missing", "of_partial",
    "of_self", "part",
    "record_shadow",
    "record_tangent", "shadow_in", "slots_by_name", "slots_of", "tangent_in", "tangents_by_name", "watch",
]  # fmt: skip


def part(returned: Any, i: int) -> Any:
    """What a pullback has returned for argument `i`."""
    return returned[i] if i < len(returned) else None


def of_partial(shadow: Any, part: str, key: int | str | None) -> Any:
    """What stands beside that which stands at `key` in a `part` of a partial application, from what stands
    beside that."""
    held = getattr(shadow, "__dict__", {}).get(part)
    if part == "func":
        return held
    if part == "keywords":
        return getattr(held, "__dict__", {}).get(key)
    return held[key] if type(held) is tuple and type(key) is int else None


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
            filled = [
                fill_tangent(object.__getattribute__(record, k), d)
                for k, d in zip(names, tangents, strict=True)
            ]
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


def class_changed(context: Any, owner: Any, name: str) -> None:
    """Take note that `name`, an attribute of `owner`, was set or deleted at this level."""
    context.attributes.clear()
    check_derived(context, owner, name)


def forget_attributes(context: Any) -> None:
    """Take note that an attribute of a class or module is as it was before."""
    context.attributes.clear()


def adopted(context: Any, value: Any, shadow: Any) -> None:
    """Let the memo know `value`, which a class or module holds from now on."""
    if shadow is not None and shadow is not NO_TANGENT:
        context.shadows.adopt(value, shadow)


def let_be(context: Any, value: Any) -> None:
    """From now on `value`, which C code fills, has no derivative."""
    context.shadows.let_be(value)


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


# -- what is called as it is, and given memory in forward mode -----------------------------------------------


def holds_containers(tangent: Any) -> bool:
    """Whether `tangent` is, or has in a tuple, what has to get new elements where its value does."""
    if isinstance(tangent, list | dict | deque | MutableTangent):
        return True
    if isinstance(tangent, Tangent):
        return any(map(holds_containers, vars(tangent).values()))
    return issubclass(type(tangent), tuple) and any(map(holds_containers, tangent))


def look_into(context: Any, values: Any, tangents: Any) -> Watch:
    """Look at what a function that is about to be called as it is finds in its arguments, the `values`."""
    for x, tangent in zip(values, tangents, strict=True):
        if holds_containers(tangent):
            context.shadows.adopt(x, tangent, anew=True)  # by which `_stale` finds it
    return Watch(list(contents(values)))


def is_changed(seen: Watch) -> bool:
    """Whether something has changed since `seen`."""
    return any(differs(x, old) for x, old in seen.before)


def check_left(seen: Watch, function: Any) -> None:
    """Refuse if `function`, which has raised, has changed its arguments before."""
    if is_changed(seen):
        raise UnsupportedError(
            f"{getattr(function, '__qualname__', function)!s:.60} changes its arguments and raises, in a"
            " derivative inside a derivative",
            "it is run as it is, and what it has done cannot be undone",
            "make the change in a function of your own",
        ) from None


def _stale(context: Any, seen: Watch) -> Any:
    """The tangents of what has changed since `seen`: each with the elements that it is to have, which are
    pairs of a key and a value where they have names, and whether they have."""
    found: list[Any] = []
    for x, old in seen.before:
        if is_of_array(x, old) or not differs(x, old):
            continue
        tangent = context.shadows.lookup(x)
        if isinstance(tangent, MutableTangent):
            tangent = vars(tangent)
        if issubclass(type(tangent), list | deque):
            found.append((tangent, [context.shadows.found(v) for v in elements_in(x)], False))
        elif issubclass(type(tangent), dict):
            now = dict.items(x) if issubclass(type(x), dict) else instance_fields(x)
            found.append((tangent, [(k, context.shadows.found(v)) for k, v in now], True))
    return found


def bring_in_step(context: Any, seen: Watch) -> None:
    """Give the tangents of what a call as it is has changed since `seen` the elements that the values have.

    Nothing in them has a derivative.  The tangents are changed here, where an outer level follows: it has
    tangents of them, which change likewise.
    """
    for tangent, now, is_named in _stale(context, seen):
        tangent.clear()
        if is_named:
            for k, t in now:
                tangent[k] = t
        else:
            tangent.extend(now)


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
    *apart(watch, check_watched, look_into, is_changed, check_left, _stale),
    *apart(class_changed, forget_attributes, adopted, let_be),
]
