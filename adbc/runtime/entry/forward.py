"""A short way in for `jvp`, for calls that are like one that was made before.

What `runtime.entry` is for gradients: which rule is entered and which arguments are constants follows from
the types of the arguments and from which of them have tangents, and is kept (in `Engine.ways`, so that it is
forgotten with the rules).  What has to be seen each time is that the tangents fit, that arrays own their
memory, and that lists, dicts, tuples and objects hold numbers, text, or all these and arrays of such, each of
them once (`structures`).  Whatever is not as simple as that takes the long way, which says what is wrong
with the arguments if anything is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from types import FunctionType
from typing import Any

from adbc.errors import ArgumentError
from adbc.runtime.calls.plans import FLOATS, ROWS, Plan, is_derived, plan, planned, takes
from adbc.runtime.entry.described import elements, is_watched, lists_in, owner_of
from adbc.runtime.entry.entering import enter
from adbc.runtime.entry.first import first_dual_call
from adbc.runtime.entry.gradients import Gradient, ValueAndGradient
from adbc.runtime.entry.results import pair, with_tangent
from adbc.runtime.entry.selection import completed
from adbc.runtime.entry.structures import (
    OBJECTS,
    Pairs,
    are_apart,
    fits,
    is_object,
    is_plain,
    record,
    structure,
    zeros,
)
from adbc.runtime.state.batches import is_batched, zeros_like
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.runtime.state.lasting import would_last
from adbc.tangents import NO_TANGENT, zero_tangent
from adbc.tangents.protocol import kind_of
from adbc.types import AbstractType

__all__ = ["learn", "on_known_way", "value_and_tangent", "value_tangent_and_aux"]

_NUMBER, _VALUE, _GIVEN, _ZEROS, _HELD, _NOTHING = "number", "value", "given", "zeros", "held", "nothing"
"""What an argument has for a tangent: a number; a tuple without memory; what was given; zeros, for it may be
written to; it is held constant; it has none."""

_Part = tuple[Any, ...]
"""The class of an argument, what it has for a tangent, and what else is known: of a list the type of its
elements, of a tuple its structure, of an array dtype and dimensions."""

_MOST = 4
"""How many ways are kept for one function at most."""


class _Way:
    """How to enter for arguments of certain types.

    parts: per argument its `_Part`, and whether the rule is given a tangent.  inner: of a gradient, the
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


class _Entered(Context):
    """A call of which nobody has asked yet what the tangents of its arguments are; lanes: how many tangents
    there are at once, 0 without batches."""

    pairs: Pairs
    lanes = 0
    is_forward = True

    def __getattr__(self, name: str) -> Any:
        made = super().__getattr__(name)
        if name == "shadows":
            if self.lanes:
                from adbc.tangents.array_batch_memory import memo_of  # it imports NumPy

                made.start_with(memo_of(self.lanes))
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


def learn(
    engine: EngineView, f: Any, primals: Sequence[Any], given: Sequence[Any], directions: Sequence[Any]
) -> None:
    """Keep what a call that took the long way has shown, if it was a simple one.

    given: the tangents from outside, batches as they are inside; directions: those that the function was
    entered with.
    """
    key, plain = _key(f), _plain(f)
    if key is None or is_watched(engine.forward) or engine.table.rows(plain):
        return
    if plain is not f and plain.__closure__ is not None:
        return
    lists = lists_in(primals)
    parts: list[_Part] = []
    for x, t, d, known in zip(primals, given, directions, lists or repeat(None), strict=False):
        part = _part(x, t, d, known)
        if part is None:
            return
        if part[1] is _HELD and plain.__closure__ is not None:
            return  # the closure is looked at first there, for it may hold the same memory
        parts.append(part)
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
    parts = [(*part, bool(flag)) for part, flag in zip(parts, found.flags, strict=True)]
    ways = engine.ways.setdefault(key, [])
    ways.insert(0, _Way(plain, engine.generation, found.rule, parts, inner, is_closed))
    del ways[_MOST:]


def _part(x: Any, t: Any, direction: Any, known_list: AbstractType | None) -> _Part | None:
    """What a way says of an argument `x`, for which `t` was given and which was entered with this direction;
    None if it is not simple."""
    cls = type(x)
    if (cls is float or cls is complex) and t is not None:
        return (cls, _NUMBER, None) if type(t) is cls or is_batched(t) else None
    known = structure(x) or record(x)
    if known is not None:
        return (
            None
            if t is None and direction is not None
            else (cls, _VALUE if t is not None else _NOTHING, known)
        )
    is_array = cls.__name__ == "ndarray" and cls.__module__ == "numpy"
    if not (is_array or cls is list or cls is dict or is_object(x)):
        return None
    kind = _GIVEN if t is not None else _HELD if direction is None else _ZEROS
    if is_array:
        if kind is not _GIVEN and x.dtype.kind in "iub":
            kind = _NOTHING
        return cls, kind, _known(x)
    if t is None and would_last(x):
        return None  # they are found by a memo
    if not _fits(x, zero_tangent(x) if t is None else t, []):
        return None
    return cls, kind, known_list


def _fits(x: Any, t: Any, waiting: Pairs) -> bool:
    """Whether `t` is a tangent, or a batch of tangents, of `x` (`structures.fits`)."""
    if type(x) is list and type(t) is list and t and is_batched(t[0]):  # of floats, as it was made
        waiting.append((x, t))
        return elements(x) is FLOATS and len(t) == len(x)
    return fits(x, t, waiting)


def _known(x: Any) -> Any:
    """What is known of a tuple, a record or an array."""
    if type(x).__name__ == "ndarray":
        return x.dtype, x.ndim
    return structure(x) or record(x)


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
    found = on_known_way(engine, f, primals, tangents)
    if found is not None:
        return with_tangent(*found)
    answer, given, directions = first_dual_call(engine, f, primals, tangents)
    learn(engine, f, primals, given, directions)
    return with_tangent(*answer)


def on_known_way(
    engine: EngineView, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], lanes: int = 0
) -> tuple[Any, Any] | None:
    """What the way leads to that is known for such arguments: value and tangent, None for zero.  None if
    there is no such way.

    lanes: how many tangents there are at once, which `tangents` has batches of; 0 without batches.
    """
    if engine.stale or engine.epoch != engine.table.epoch:
        return None
    if type(f) in _GRADIENTS:
        return _of_gradient(engine, f, primals, tangents, lanes)
    if type(f) is not FunctionType:
        return None
    for way in engine.ways.get(id(f.__code__), ()):
        if (
            way.code is f.__code__
            and way.namespace is f.__globals__
            and way.generation == engine.generation
            and len(way.parts) == len(primals)
        ):
            context = _Entered()
            context.pairs = []
            arguments = _arguments(way, context.pairs, primals, tangents, lanes)
            if arguments is not None:
                if f is not way.function and engine.table.rows(f):
                    break  # of functions with the same code, some may have a rule
                rule = way.rule
                if not rule.is_built:  # a call from outside did not know as much of its lists
                    rule.build()
                if not rule.holds():
                    engine.clear()
                    break
                context.entered, context.warns, context.lanes = rule, rule.warns, lanes
                if rule.takes_function:
                    arguments[:0] = f, context.known_tangent(f)
                answer: tuple[Any, Any] = enter(rule.forwards, context, *arguments)
                return answer
    return None


def _of_gradient(
    engine: EngineView, f: Any, primals: Sequence[Any], tangents: Sequence[Any], lanes: int
) -> tuple[Any, Any] | None:
    """What the way that is known for the gradient `f` leads to; None if there is none for the arguments."""
    plain = f._function
    for way in engine.ways.get(_key(f), ()):
        if way.function is plain and way.code is plain.__code__ and way.generation == engine.generation:
            context = _Entered()
            context.pairs = []
            is_alike = len(way.parts) == len(primals)
            arguments = _arguments(way, context.pairs, primals, tangents, lanes) if is_alike else None
            if arguments is not None and way.rule.is_built:
                if not (way.rule.holds() and way.inner.holds()):
                    engine.clear()
                    return None
                context.follows_inner, context.entered, context.warns = True, way.rule, way.rule.warns
                context.lanes = lanes
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


def _arguments(
    way: _Way, waiting: Pairs, primals: Sequence[Any], given: Sequence[Any], lanes: int
) -> list[Any] | None:
    """What the rule is given, unless the arguments are not as simple as the way needs.

    waiting: gets the arguments that are memory and what they hold of it, and the tangents.
    """
    arguments: list[Any] = []
    arrays: Pairs = []
    owners: list[Any] = []
    for x, t, (cls, kind, known, takes_tangent) in zip(primals, given, way.parts, strict=True):
        if type(x) is not cls:
            return None
        arguments.append(x)
        if t is NO_TANGENT:
            t = None
        if kind is _NUMBER:
            if type(t) is not cls and not (lanes and is_batched(t)):
                return None
        elif kind is _VALUE:
            if (structure(x) or record(x)) != known or not fits(x, t, waiting):
                return None
        elif kind is _NOTHING:
            if t is not None or (known is not cls and known != _known(x)):
                return None
        elif (t is None) is (kind is _GIVEN):
            return None
        elif cls is list or cls is dict or is_object(x):
            if cls is list and elements(x) is not known:
                return None
            t = _container(x, t, kind, known, waiting, lanes)
            if t is None:
                return None
        else:
            pairs = _arrays(x, t, kind, known, way.is_closed, lanes)
            if pairs is None:
                return None
            arrays += pairs
            owners += [y if y.base is None else owner_of(y) for y in chain(*pairs) if y is not NO_TANGENT]
            if pairs:
                t = pairs[0][1]
        if takes_tangent:
            arguments.append(t)
    objects = [y for y in chain(*waiting, owners) if y is not NO_TANGENT]
    if len(objects) > 1 and len({*map(id, objects)}) != len(objects):
        return None  # the same object twice
    if waiting and not are_apart(waiting):
        return None
    waiting += arrays
    return arguments


def _container(x: Any, t: Any, kind: str, known: Any, waiting: Pairs, lanes: int) -> Any:
    """The tangent of a list or dict, which is `t` if that was given and fits; else None.

    known: what is known of the elements of a list.
    """
    if kind is _GIVEN:
        return t if _fits(x, t, waiting) else None
    if kind is _HELD:
        if known is None and not is_plain(x):
            return None
        if known is ROWS:
            waiting.extend([(row, NO_TANGENT) for row in x])
        waiting.append((x, NO_TANGENT))
        return NO_TANGENT
    first = len(waiting)
    zero = zeros(x, waiting, False, OBJECTS)
    if zero is None and not would_last(x):  # there are arrays in it, or it is not simple
        del waiting[first:]
        zero = None if lanes else zeros(x, waiting, True)
    return zero


def _arrays(x: Any, t: Any, kind: str, known: Any, is_closed: bool, lanes: int) -> Pairs | None:
    """An array of this dtype and as many dimensions; if it has a tangent, it owns its memory, unless
    `is_closed`."""
    dtype, ndim = known
    if x.ndim != ndim or (x.dtype is not dtype and x.dtype != dtype):  # most are one object
        return None
    if not (x.base is None or (is_closed and owner_of(x) is not None)) or dtype.kind not in "fc":
        return None
    if kind is _HELD:
        return [(x, NO_TANGENT)]
    if kind is _ZEROS:
        return [(x, zeros_like(x, lanes) if lanes else kind_of(type(x)).zeros(x))]  # type: ignore[attr-defined]  # of an array
    is_own = t.base is None or (is_closed and owner_of(t) is not None)
    fits = is_own and t.dtype == dtype and t.shape == x.shape and t.flags.writeable
    return [(x, t)] if fits else None
