"""A short way in for `jvp`, for calls that are like one that was made before.

What `runtime.entry` is for gradients: which rule is entered and which arguments are constants follows from
the types of the arguments and from which of them have tangents, and is kept (in `Engine.ways`, so that it is
forgotten with the rules).  What has to be seen each time is that the tangents fit, that no two arrays share
memory, and that lists hold floats, or lists of floats, and tuples and dicts floats.  Whatever is not as
simple as that takes the long way, which says what is wrong with the arguments if anything is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from adbc.errors import ArgumentError
from adbc.runtime.calls.plans import FLOATS, ROWS, Plan, is_derived, plan, planned, takes
from adbc.runtime.entry.described import BARE, NUMBERS, are_numeric, elements, is_watched, lists_in, owner_of
from adbc.runtime.entry.entering import enter
from adbc.runtime.entry.first import first_dual_call
from adbc.runtime.entry.gradients import Gradient, ValueAndGradient
from adbc.runtime.entry.results import pair, with_tangent
from adbc.runtime.entry.selection import completed
from adbc.runtime.entry.structures import is_plain
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_TANGENT, zero_tangent
from adbc.tangents.protocol import kind_of

__all__ = ["value_and_tangent", "value_tangent_and_aux"]

_NUMBER, _POINT, _GIVEN, _ZEROS, _HELD, _NOTHING = "number", "point", "given", "zeros", "held", "nothing"
"""What an argument has for a tangent: a number; a tuple of numbers; what was given; zeros, for it may be
written to; it is held constant; it has none."""

_MOST = 4
"""How many ways are kept for one function at most."""


class _Way:
    """How to enter for arguments of certain types.

    parts: per argument its class, what it has for a tangent, whether the rule is given that, and what else is
    known: of a list the type of its elements, of an array dtype and dimensions.  inner: of a gradient, the
    rule that the code of `rule` is the derivative of.  is_closed: whether the function is known to meet no
    memory but its arguments', so that these may be views.
    """

    __slots__ = ("code", "function", "generation", "inner", "is_closed", "namespace", "parts", "rule")

    def __init__(
        self, f: Any, generation: int, rule: Any, parts: list[tuple[Any, ...]], inner: Any, is_closed: bool
    ) -> None:
        self.function = f
        self.code = f.__code__
        self.namespace = f.__globals__
        self.generation = generation
        self.rule = rule
        rule.is_entered = True
        self.parts = parts
        self.inner = inner
        self.is_closed = is_closed


Pairs = list[tuple[Any, Any]]
"""Objects and their tangents; the first object is an argument."""


class _Entered(Context):
    """A call of which nobody has asked yet what the tangents of its arguments are."""

    pairs: Pairs
    is_forward = True

    def __getattr__(self, name: str) -> Any:
        made = super().__getattr__(name)
        if name == "shadows":
            for x, t in self.pairs:
                made.later(x, t)
        return made


def _key(f: Any) -> Any:
    """Under what the ways of `f` are kept: its code, and what a gradient of it is asked for; None if none
    are."""
    if type(f) is FunctionType:
        return id(f.__code__)
    if type(f) in _GRADIENTS and type(f._function) is FunctionType:
        return id(f._function.__code__), type(f), f._chosen, f._has_aux, f._single
    return None


def _plain(f: Any) -> Any:
    """The function that `f` is, or is the gradient of."""
    return f._function if type(f) in _GRADIENTS else f


_GRADIENTS = (Gradient, ValueAndGradient)


def _learn(
    engine: EngineView, f: Any, primals: Sequence[Any], given: Sequence[Any], directions: Sequence[Any]
) -> None:
    """Keep what a call that took the long way has shown, if it was a simple one.

    given: the tangents from outside; directions: those that the function was entered with.
    """
    key, plain = _key(f), _plain(f)
    if key is None or is_watched(engine.forward) or plain.__closure__ is not None or engine.table.rows(plain):
        return
    pairs = list(zip(primals, given, strict=True))
    if not all(map(_is_described, primals, given)):
        return
    if any(type(t) is not type(x) and t is not None for x, t in pairs):
        return
    lists = lists_in(primals)
    entered, inner = f, None
    has_views = any(getattr(x, "base", None) is not None for x in (*primals, *given))
    is_closed = has_views and engine.is_closed(plain, tuple(map(engine.typeof, primals)))
    if has_views and not is_closed:
        return  # views never take such a way
    if plain is not f:
        from adbc.runtime.entry.nested import gradient_as_function  # loaded when a derivative is nested

        followed = gradient_as_function(engine, f, primals)
        if followed is None:
            return
        entered, inner = followed
    found = _planned(engine, entered, primals, directions, lists)
    if found is None:
        return
    if inner is not None:
        engine.written(found.rule.forwards)  # calls of a gradient do not come by it otherwise
    parts = []
    for i, (x, t, d) in enumerate(zip(primals, given, directions, strict=True)):
        if t is not None:
            kind = _NUMBER if type(x) in NUMBERS else _POINT if type(x) is tuple else _GIVEN
        else:
            kind = _NOTHING if _has_none(x) else _HELD if d is None else _ZEROS
        known: Any = lists[i] if lists else None
        if type(x) is tuple:
            known = len(x)
        elif type(x) not in BARE and type(x) not in (list, dict):
            known = x.dtype, x.ndim
        if kind is _NUMBER and type(x) is not float:
            return
        parts.append((type(x), kind, bool(found.flags[i]), known))
    ways = engine.ways.setdefault(key, [])
    ways.insert(0, _Way(plain, engine.generation, found.rule, parts, inner, is_closed))
    del ways[_MOST:]


def _is_described(x: Any, t: Any) -> bool:
    """Whether little has to be asked of an argument `x`, with the tangent `t`, to find a way."""
    if type(x) in BARE or are_numeric([x]):
        return True
    return _is_point(x, t) or (type(x) is dict and _named(x, t) is not None)


def _planned(
    engine: EngineView, function: Any, primals: Sequence[Any], directions: Sequence[Any], lists: Sequence[Any]
) -> Plan | None:
    """How to enter `function`; None if that is not decided by its arguments."""
    if tuple not in map(type, primals):
        return plan(engine, "forward", function, primals, directions, lists)
    if ROWS in lists or not takes(function, len(primals)) or not is_derived(engine, function):
        return None
    parameters = [engine.typeof(x) for x in primals]
    for i, known in enumerate(lists):
        parameters[i] = known or parameters[i]
    return planned(engine, "forward", function, parameters, [d is not None for d in directions])


def value_and_tangent(
    engine: EngineView, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """``f(*primals)`` and its derivative in the direction `tangents`.

    The arguments are described; the way in for them is looked up, or found by a first call; the function is
    entered on that way; and the tangent is given the form of the value.
    """
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"jvp needs one tangent per argument: {len(primals)} arguments, {len(tangents)} tangents"
        )
    if engine.native is not None and type(f) is FunctionType:
        from adbc.runtime.entry import native  # few want it

        found = native.value_and_tangent(engine, f, primals, tangents)
        if found is not None:
            return found
    if type(f) is FunctionType and f.__defaults__:
        primals = completed(f, tuple(primals))
        if len(primals) > len(tangents):
            tangents = (*tangents, *[None] * (len(primals) - len(tangents)))
    if type(f) is FunctionType and not engine.stale and engine.epoch == engine.table.epoch:
        for way in engine.ways.get(id(f.__code__), ()):
            if (
                way.code is f.__code__
                and way.namespace is f.__globals__
                and way.generation == engine.generation
                and len(way.parts) == len(primals)
            ):
                context = _Entered()
                context.pairs = []
                arguments = _arguments(way, context.pairs, primals, tangents)
                if arguments is not None:
                    if f is not way.function and engine.table.rows(f):
                        break  # of functions with the same code, some may have a rule
                    rule = way.rule
                    if not rule.is_built:
                        break
                    if not rule.holds():
                        engine.clear()
                        break
                    context.entered, context.warns = rule, rule.warns
                    return with_tangent(*enter(rule.forwards, context, *arguments))
    elif type(f) in _GRADIENTS:
        found = _of_gradient(engine, f, primals, tangents)
        if found is not None:
            return with_tangent(*found)
    answer, given, directions = first_dual_call(engine, f, primals, tangents)
    _learn(engine, f, primals, given, directions)
    return with_tangent(*answer)


def _of_gradient(
    engine: EngineView, f: Any, primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any] | None:
    """What the way that is known for the gradient `f` leads to; None if there is none for the arguments."""
    if engine.stale or engine.epoch != engine.table.epoch:
        return None
    plain = f._function
    for way in engine.ways.get(_key(f), ()):
        if way.function is plain and way.code is plain.__code__ and way.generation == engine.generation:
            context = _Entered()
            context.pairs = []
            is_alike = len(way.parts) == len(primals)
            arguments = _arguments(way, context.pairs, primals, tangents) if is_alike else None
            if arguments is not None and way.rule.is_built:
                if not (way.rule.holds() and way.inner.holds()):
                    engine.clear()
                    return None
                context.follows_inner, context.entered, context.warns = True, way.rule, way.rule.warns
                answer: tuple[Any, Any] = enter(way.rule.forwards, context, *arguments)
                return answer
    return None


def value_tangent_and_aux(
    engine: EngineView, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any, Any]:
    """The value of `f`, its derivative in the direction `tangents`, and what `f` returns besides."""
    out, dout = value_and_tangent(engine, f, primals, tangents)
    value, aux = pair(f, out)
    return value, zero_tangent(value) if dout is NO_TANGENT else dout[0], aux


def _arguments(way: _Way, waiting: Pairs, primals: Sequence[Any], given: Sequence[Any]) -> list[Any] | None:
    """What the rule is given, unless the arguments are not as simple as the way needs.

    waiting: gets the arguments that are memory, and their tangents.
    """
    arguments: list[Any] = []
    objects: list[Any] = []
    for x, t, (cls, kind, takes_tangent, known) in zip(primals, given, way.parts, strict=True):
        if type(x) is not cls:
            return None
        arguments.append(x)
        if kind is _NUMBER:
            if type(t) is not float:
                return None
        elif kind is _POINT:
            if len(x) != known or not _is_point(x, t):
                return None
        elif cls in BARE:
            if t is not None:
                return None
        else:
            if (t is None) is (kind is _GIVEN) or (t is not None and type(t) is not cls):
                return None
            if cls is dict:
                pairs = _named(x, t)
            else:
                pairs = (
                    _lists(x, t, kind, known) if cls is list else _arrays(x, t, kind, known, way.is_closed)
                )
            if pairs is None:
                return None
            met = [y for y in itertools.chain.from_iterable(pairs) if y is not NO_TANGENT]
            is_array = cls is not list and cls is not dict
            objects += [y if y.base is None else owner_of(y) for y in met] if is_array else met
            waiting += pairs
            if pairs:
                t = pairs[0][1]
        if takes_tangent:
            arguments.append(t)
    if len(objects) > 1 and len(set(map(id, objects))) != len(objects):
        return None  # the same object twice
    return arguments


def _has_none(x: Any) -> bool:
    """Whether `x`, which was given no tangent, can have none: a number is a constant then."""
    return type(x) in BARE or (type(x) is not list and x.dtype.kind in "iub")


def _is_point(x: Any, t: Any) -> bool:
    """Whether `x` is a tuple of floats, with the tangent `t`."""
    if type(x) is not tuple or type(t) is not tuple or len(x) != len(t):
        return False
    return bool(x) and {*map(type, x)} == {*map(type, t)} == _FLOATS


_FLOATS = {float}


def _named(x: dict[Any, Any], t: Any) -> Pairs | None:
    """A dict of floats by text with its tangent `t`; None if it is another, or if `t` does not fit."""
    if type(t) is not dict or x.keys() != t.keys() or {*map(type, x)} != _TEXTS:
        return None
    return [(x, t)] if {*map(type, x.values())} == {*map(type, t.values())} == _FLOATS else None


_TEXTS = {str}


def _lists(x: list[Any], t: Any, kind: str, known: Any) -> Pairs | None:
    """A list and its rows with their tangents, if as much is known of its elements as when the way was found;
    else None."""
    if elements(x) is not known:
        return None
    if kind is _HELD and known is ROWS:
        return [(x, NO_TANGENT), *[(row, NO_TANGENT) for row in x]]
    if kind is _HELD:
        return [(x, NO_TANGENT)] if known is FLOATS or is_plain(x) else None
    if known is FLOATS:
        return _floats(x, t)
    return _rows(x, t) if known is ROWS else None


def _floats(x: list[float], t: Any) -> Pairs | None:
    """A list of floats with its tangent `t`, zeros if that is None; None if `t` does not fit."""
    if t is None:
        return [(x, [0.0] * len(x))]
    return [(x, t)] if type(t) is list and len(t) == len(x) and _are_numbers(t) else None


def _are_numbers(t: list[Any]) -> bool:
    """Whether the elements are real numbers that a derivative may be computed with as they are, ints among
    them: their sum is a float, and takes a quarter of the time that their classes would."""
    try:
        return type(sum(t, 0.0)) is float
    except TypeError:
        return False


def _rows(x: list[list[float]], t: Any) -> Pairs | None:
    """A list of lists of floats with its tangent `t`, zeros if that is None, and the same for the rows; None
    if `t` does not fit."""
    if t is None:
        found = [(row, [0.0] * len(row)) for row in x]
        return [(x, [zeros for _, zeros in found]), *found]
    if type(t) is not list or len(t) != len(x):
        return None
    if not all(
        type(s) is list and len(s) == len(row) and _are_numbers(s) for row, s in zip(x, t, strict=True)
    ):
        return None
    return [(x, t), *zip(x, t, strict=True)]


def _arrays(x: Any, t: Any, kind: str, known: Any, is_closed: bool) -> Pairs | None:
    """An array of this dtype and as many dimensions; if it has a tangent, it owns its memory, unless
    `is_closed`."""
    dtype, ndim = known
    if x.ndim != ndim or (x.dtype is not dtype and x.dtype != dtype):  # most are one object
        return None
    if kind is _NOTHING:
        return []
    if not (x.base is None or (is_closed and owner_of(x) is not None)) or dtype.kind not in "fc":
        return None
    if kind is _HELD:
        return [(x, NO_TANGENT)]
    if kind is _ZEROS:
        return [(x, kind_of(type(x)).zeros(x))]  # type: ignore[attr-defined]  # of an array
    is_own = t.base is None or (is_closed and owner_of(t) is not None)
    fits = is_own and t.dtype == dtype and t.shape == x.shape and t.flags.writeable
    return [(x, t)] if fits else None
