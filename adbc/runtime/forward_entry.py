"""A short way in for `jvp`, for calls that are like one that was made before.

What `runtime.entry` is for gradients: which rule is entered and which arguments are constants follows from
the types of the arguments and from which of them have tangents, and is kept (in `Engine.plans`, so that it is
forgotten with the rules).  What has to be seen each time is that the tangents fit, that no two arrays share
memory, and that lists hold floats, or lists of floats.  Whatever is not as simple as that takes the long way,
which says what is wrong with the arguments if anything is.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from adbc.runtime.context import Context
from adbc.runtime.entering import enter
from adbc.runtime.fast import NUMBERS, described, plan
from adbc.tangents import NO_TANGENT
from adbc.tangents.protocol import kind_of

__all__ = ["enter_known", "learn"]

_GIVEN, _ZEROS, _HELD, _NOTHING = "given", "zeros", "held", "nothing"
"""What an argument has for a tangent: what was given; zeros, for it may be written to; it is held constant;
it has none."""


def learn(
    engine: Any, f: Any, primals: Sequence[Any], given: Sequence[Any], directions: Sequence[Any]
) -> None:
    """Keep what a call that took the long way has shown, if it was a simple one.

    given: the tangents from outside; directions: those that the function was entered with.
    """
    if engine.forward.checks_aliases or engine.forward.watch is not None:
        return  # debugging looks at every call from outside
    key = _key(f, primals, given)
    if key is None or f.__closure__ is not None or f.__defaults__ or engine.table.rows(f):
        return
    found = plan(engine, "forward", f, primals, directions)
    if found is not None:
        kinds = [
            _GIVEN if t is not None else _NOTHING if _has_none(x) else _HELD if d is None else _ZEROS
            for x, t, d in zip(primals, given, directions, strict=True)
        ]
        engine.plans[key] = found, tuple(kinds), f.__code__


def enter_known(engine: Any, f: Any, primals: Sequence[Any], given: Sequence[Any]) -> Any:
    """Value and tangent of ``f(*primals)`` if a way is known and still good, else None."""
    key = _key(f, primals, given)
    way = None if key is None or engine.stale or engine.epoch != engine.table.epoch else engine.plans.get(key)
    if way is None or engine.table.rows(f):  # of functions with the same code, some may have a rule
        return None
    (rule, *_), kinds, _ = way
    context = Context()
    directions: list[Any] = []
    objects: list[Any] = []
    for x, t, kind in zip(primals, given, kinds, strict=True):
        if kind is not _NOTHING and type(x) is not float:
            if kind is _HELD:
                pairs = _constant(x)
            elif type(x) is list:
                pairs = _lists(x, t, 0)
            else:
                pairs = _arrays(x, t)
            if not pairs:
                return None
            t = pairs[0][1]
            for y, s in pairs:
                objects.append(y)
                if s is not NO_TANGENT:
                    objects.append(s)
                context.shadows.later(y, s)
        directions.append(None if t is NO_TANGENT else t)
    if len(set(map(id, objects))) != len(objects):
        return None  # the same object twice
    if not rule.is_built or not engine.check(rule):
        return None
    context.checked.add(rule)
    call = engine.forward_calls.enter_planned
    return enter(call, context, way[0], f, None, tuple(primals), tuple(directions))


def _key(f: Any, primals: Sequence[Any], given: Sequence[Any]) -> tuple[Any, ...] | None:
    """What a way depends on, if it is nothing but classes, and of arrays dtype and dimensions.

    The code of the function is known by its address, for it is kept with the way.
    """
    if type(f) is not types.FunctionType:
        return None
    classes = described(primals)
    if classes is None:
        return None
    for x, t in zip(primals, given, strict=True):
        if t is not None and (type(t) is not type(x) or type(x) is int or type(x) is bool):
            return None
    return "jvp", id(f.__code__), id(f.__globals__), classes, tuple([t is None for t in given])


def _has_none(x: Any) -> bool:
    """Whether `x`, which was given no tangent, can have none: a number is a constant then."""
    return type(x) in NUMBERS or (type(x) is not list and x.dtype.kind in "iub")


Pairs = list[tuple[Any, Any]]
"""Objects and their tangents; the first is that of an argument.  None at all if it is not a simple one."""

_DEPTH = 3


def _lists(x: list[Any], t: Any, depth: int) -> Pairs:
    """List `x`, of floats or of such lists, with its tangent `t`, zeros if that is None."""
    are_floats = [*map(type, x)].count(float) == len(x)
    is_new = t is None
    if is_new:
        t = [0.0] * len(x) if are_floats else [None] * len(x)
        found = [(x, t)]
    elif type(t) is not list or len(t) != len(x) or (are_floats and [*map(type, t)].count(float) != len(t)):
        return []
    else:
        found = [(x, t)]
    if are_floats:
        return found
    if depth == _DEPTH:
        return []
    for i, part in enumerate(x):
        if type(part) is not list or (t[i] is None and not is_new):
            return []
        inner = _lists(part, t[i], depth + 1)
        if not inner:
            return []
        if is_new:
            t[i] = inner[0][1]
        found += inner
    return found


def _arrays(x: Any, t: Any) -> Pairs:
    """Array `x`, which owns its memory, with its tangent, zeros if that is None."""
    if x.base is not None or x.dtype.kind not in "fc":
        return []
    if t is None:
        return [(x, kind_of(type(x)).zeros(x))]  # type: ignore[attr-defined]  # of an array
    return [(x, t)] if t.base is None and x.dtype == t.dtype and x.shape == t.shape else []


def _constant(x: Any) -> Pairs:
    """An array that owns its memory or a list of numbers, without a tangent."""
    if type(x) is list:
        is_plain = [*map(type, x)].count(float) == len(x) or NUMBERS.issuperset(map(type, x))
    else:
        is_plain = x.base is None and x.dtype.kind in "fc"
    return [(x, NO_TANGENT)] if is_plain else []
