"""A short way in, for calls from outside that are like one that was made before.

Most calls of a gradient are made in a loop, with new numbers for arguments of the same types.  What follows
from the types alone (which rule, which arguments have shadows, which are constants) is kept in a `_Way`;
what has to be seen each time is little: that arrays own their memory, so that no two share it, and that
lists hold floats, or lists of such.  Shadows are entered in the memo of the call only when somebody asks it
(`Shadows.later`).

Whatever is not as simple as that takes the long way, which says what is wrong with the arguments if anything
is.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime.context import Context
from adbc.runtime.entering import enter
from adbc.runtime.fast import BY_VALUE
from adbc.tangents import NO_TANGENT
from adbc.tangents.protocol import kind_of

__all__ = ["Entered", "Entrance"]

Entered = tuple[Any, Any, Callable[[Any], Sequence[Any]], tuple[Any, ...]]
"""Value, its shadow, the pullback (without the function in front), and the shadows of the arguments."""

_NUMBERS = frozenset({float, int, bool})


class _Way:
    """How to enter for arguments of certain types.

    shadows: per argument, what a number has for a shadow, or `_NEW` for the array or list that gets a zero
    one, or `_HELD` for one that is held constant.
    """

    __slots__ = ("code", "generation", "plan", "shadows")

    def __init__(self, code: types.CodeType, generation: int, plan: Any, shadows: tuple[Any, ...]) -> None:
        self.code = code
        self.generation = generation
        self.plan = plan
        self.shadows = shadows


_NEW, _HELD = object(), object()


class Entrance:
    """The ways into one function whose gradient by certain arguments is asked for."""

    def __init__(self) -> None:
        self.ways: dict[tuple[Any, ...], _Way] = {}

    def learn(
        self, engine: Any, f: Any, args: tuple[Any, ...], shadows: Sequence[Any], constants: Sequence[int]
    ) -> None:
        """Keep what a call that took the long way has shown, if it was a simple one."""
        if engine.reverse.checks_aliases or engine.reverse.watch is not None:
            return  # debugging looks at every call from outside
        key = _key(args)
        if key is None or type(f) is not types.FunctionType or f.__closure__ is not None or f.__defaults__:
            return
        fs = [None if i in constants else shadow for i, shadow in enumerate(shadows)]
        plan = None if engine.table.rows(f) else engine.reverse_calls.plan(Context(), f, args, fs)
        if plan is None:
            return
        kinds = [
            shadow if type(x) in _NUMBERS else _HELD if i in constants else _NEW
            for i, (x, shadow) in enumerate(zip(args, shadows, strict=True))
        ]
        self.ways[key] = _Way(f.__code__, engine.generation, plan, tuple(kinds))

    def enter(self, engine: Any, f: Any, args: tuple[Any, ...]) -> Entered | None:
        """The forwards pass of ``f(*args)`` if a way is known and still good."""
        way = self.ways.get(_key(args))  # type: ignore[arg-type]  # None is no key
        if way is None:
            return None
        rule = way.plan[0]
        if rule.engine is not engine or way.generation != engine.generation or engine.stale:
            return None
        if f.__code__ is not way.code or engine.epoch != engine.table.epoch:
            return None
        context = Context()
        shadows: list[Any] = []
        objects: set[int] = set()
        for x, kind in zip(args, way.shadows, strict=True):
            if kind is _NEW or kind is _HELD:
                shadow = _zero(x, kind is _HELD)
                if shadow is None:
                    return None
                for part, of_part in _named(x, shadow):
                    objects.add(id(part))
                    context.shadows.later(part, of_part)
                shadows.append(None if kind is _HELD else shadow)
            else:
                shadows.append(kind)
        if len(context.shadows.waiting) != len(objects):
            return None  # the same object twice
        if not rule.is_built or not engine.check(rule):
            return None
        context.checked.add(rule)
        given = tuple(shadows)
        call = engine.reverse_calls.enter_planned
        out, fout, pullback = enter(call, context, way.plan, f, None, args, given, 0)
        return out, fout, pullback, given


def _key(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What a way depends on, if it is nothing but classes, and of arrays dtype and dimensions."""
    key: list[Any] = []
    for x in args:
        cls = type(x)
        key.append(cls)
        if cls not in _NUMBERS and cls is not list:
            if cls in BY_VALUE or cls.__name__ != "ndarray" or cls.__module__ != "numpy":
                return None
            key.append(x.dtype)
            key.append(x.ndim)
    return tuple(key)


def _named(x: Any, shadow: Any) -> list[tuple[Any, Any]]:
    """`x` and the lists in it, each with its shadow."""
    parts = [(x, shadow)]
    if type(x) is list and type(shadow) is list and type(shadow[0]) is list:
        parts += zip(x, shadow, strict=True)
    return parts


def _zero(x: Any, is_constant: bool) -> Any:
    """The zero shadow of an array that owns its memory, of a list of floats or of lists of floats, or
    `NO_TANGENT`; else None."""
    if type(x) is list:
        classes = set(map(type, x))
        if is_constant:
            return NO_TANGENT if classes <= _NUMBERS else None
        if classes == {list}:
            rows = [[0.0] * len(row) for row in x if set(map(type, row)) == {float}]
            return rows if len(rows) == len(x) else None
        return [0.0] * len(x) if classes == {float} else None
    if x.base is not None or x.dtype.kind not in "fc":
        return None
    return NO_TANGENT if is_constant else kind_of(type(x)).zeros(x)  # type: ignore[attr-defined]  # of an array
