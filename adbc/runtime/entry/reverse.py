"""A short way in, for calls from outside that are like one that was made before.

Most calls of a gradient are made in a loop, with new numbers for arguments of the same types.  What follows
from the types alone (which rule, which arguments have shadows, which are constants) is kept in a `_Way`;
what has to be seen each time is little: that arrays own their memory, so that no two share it, and that
lists hold floats, or lists of such.  Shadows are entered in the memo of the call only when somebody asks it
(`Shadows.later`).

If the function meets no memory but that of its arguments (`types.closed`), an array whose gradient is asked
for is nobody else's.  Then its cotangent is passed as a value (`ValueArrayType`): it has no shadow that is
made before the call, and the gradient is what the pullback returns.

Whatever is not as simple as that takes the long way, which says what is wrong with the arguments if anything
is.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import LiftError, PullbackConsumedError
from adbc.runtime.calls.plans import ROWS, Plan, by_value, is_derived
from adbc.runtime.calls.plans import plan as known_plan
from adbc.runtime.entry.described import NUMBERS, described, elements, is_watched, lists_in
from adbc.runtime.entry.entering import enter, go_back, start_waiting
from adbc.runtime.entry.first import FirstCall
from adbc.runtime.entry.reading import only_read
from adbc.runtime.entry.results import check_scalar, pair, seed, snapshot
from adbc.runtime.entry.selection import Selector, by_position, places, selectors
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_FDATA, NO_TANGENT, slot_increment
from adbc.tangents.protocol import kind_of
from adbc.types import ArrayType, has_shadow
from adbc.types.array_calls import is_inline_number

__all__ = ["Entrance", "OpenCall", "short", "value_and_gradient_of", "value_and_pullback"]

Entered = tuple[Any, Any, Callable[[Any], Sequence[Any]], tuple[Any, ...], Context]
"""Value, its shadow, the pullback (without the function in front), the arguments' shadows, the context."""


class _Way:
    """How to enter for arguments of certain types.

    shadows: per argument, what a number has for a shadow, or `_NEW` for the array or list that gets a zero
    one, or `_HELD` for one that is held constant, or `_VALUE` for an array whose cotangent is a value.
    """

    __slots__ = (
        "arrays",
        "classes",
        "code",
        "engine",
        "generation",
        "gradients",
        "has_arrays",
        "is_closed",
        "is_short",
        "lists",
        "plan",
        "rule",
        "shadows",
    )

    def __init__(
        self,
        code: types.CodeType,
        generation: int,
        plan: Plan,
        shadows: tuple[Any, ...],
        args: Sequence[Any],
        numbers: Sequence[int] = (),
        lists: Sequence[Any] = (),
    ) -> None:
        self.engine = plan.rule.engine
        self.classes = [
            (i, type(x), x.dtype, x.ndim) if hasattr(x, "dtype") else (i, type(x), None, 0)
            for i, x in enumerate(args)
        ]
        """Place and class of each argument; for an array its dtype and number of dimensions too."""
        self.lists = tuple(lists) or (None,) * len(shadows)
        """What is known of the elements of each argument, as the key says."""
        self.arrays = [i for i, kind in enumerate(shadows) if kind is _VALUE or kind is _HELD]
        """The places of the arrays that need no shadow, if cotangents are values."""
        self.has_arrays = any(dtype is not None for _, _, dtype, _ in self.classes)
        self.is_closed = _VALUE in shadows
        """Whether cotangents of arrays are values, so that nobody asks for a shadow by an address."""
        self.rule = rule = plan.rule
        kinds = {_NEW} if self.is_closed else {_NEW, _HELD}
        self.is_short = (
            kinds.isdisjoint(shadows)
            and is_inline_number(rule.result)
            and rule.returns_cotangent
            and all(self.classes[i][2] is not None for i in self.arrays)
        )
        """Whether nothing needs a shadow, and the result is a real number: then `short` may call the rule."""
        returned = [i for i, flag in enumerate(plan.flags) if flag & 2]
        self.gradients = (
            [(_array if shadows[i] is _VALUE else _number, returned.index(i), i) for i in numbers]
            if self.is_short
            else []
        )
        """Per gradient, the function that makes it, the place of its cotangent in what the pullback gives,
        and that of its argument."""
        self.code = code
        self.generation = generation
        self.plan = plan
        self.shadows = shadows

    def is_good(self, engine: EngineView, f: Any) -> bool:
        """Whether nothing that the way was found from has changed."""
        if self.generation != engine.generation or self.engine is not engine or engine.stale:
            return False
        return f.__code__ is self.code and bool(engine.epoch == engine.table.epoch)

    def is_for(self, args: tuple[Any, ...]) -> bool:
        """Whether `args` are described as the arguments were for which this way was found (`described`)."""
        if len(args) != len(self.classes):
            return False
        for i, cls, dtype, ndim in self.classes:
            x = args[i]
            if type(x) is not cls or (cls is list and elements(x) is not self.lists[i]):
                return False
            if dtype is not None and (
                x.ndim != ndim or (x.dtype is not dtype and x.dtype != dtype)  # most are one object
            ):
                return False
        return True


_NEW, _HELD, _VALUE = object(), object(), object()


class Entrance:
    """The ways into one function whose gradient by the arguments `numbers` is asked for."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.ways: dict[tuple[Any, ...], _Way] = {}
        self.places: dict[int, tuple[int, ...]] = {}
        """By the count of positional arguments, the places of those in `numbers`."""
        self.latest: _Way | None = None
        """The way that was found last."""

    def way(self, engine: EngineView, f: Any, args: tuple[Any, ...]) -> _Way | None:
        """The way in for arguments like `args`, if one is known or can be said without a call."""
        way = self.latest
        if way is None or not way.is_good(engine, f) or not way.is_for(args):
            key = described(args)
            way = self.ways.get(key)  # type: ignore[arg-type]  # None is no key
            if way is None or not way.is_good(engine, f):
                return None if key is None or not _is_simple(f) else self._prepared(engine, f, args, key)
            self.latest = way
        return way

    def _prepared(
        self, engine: EngineView, f: Any, args: tuple[Any, ...], key: tuple[Any, ...]
    ) -> _Way | None:
        """A way on which the cotangents of arrays are values, if there is one."""
        n = len(args)
        wanted = [i % n for i in self.numbers if -n <= i < n]
        if len(wanted) != len(self.numbers) or is_watched(engine.reverse) or engine.table.rows(f):
            return None
        types_ = tuple(map(engine.typeof, args))
        values = {i for i in wanted if _is_value(types_[i])}
        if not values or any(type(args[i]) is not float for i in wanted if i not in values):
            return None
        try:
            if not is_derived(engine, f) or not engine.is_closed(f, types_):
                return None
        except LiftError:
            return None
        held = only_read(engine, f, args, (), set(range(n)) - set(wanted))
        kinds = [
            _VALUE if i in values
            else _HELD if i in held
            else _NEW if isinstance(t, ArrayType) and has_shadow(t)
            else NO_FDATA if i in wanted
            else None
            for i, t in enumerate(types_)
        ]  # fmt: skip
        plan = by_value(engine, f, types_, values, [k is not _HELD and k is not None for k in kinds])
        if plan is None:
            return None
        way = self.ways[key] = _Way(f.__code__, engine.generation, plan, tuple(kinds), args, wanted)
        return way

    def learn(
        self,
        engine: EngineView,
        f: Any,
        args: tuple[Any, ...],
        shadows: Sequence[Any],
        constants: Sequence[int],
    ) -> None:
        """Keep what a call that took the long way has shown, if it was a simple one."""
        key = described(args)
        if key is None or is_watched(engine.reverse) or not _is_simple(f):
            return
        known = self.ways.get(key)
        if known is not None and known.is_good(engine, f):
            return  # this call was not simple enough for it
        fs = [None if i in constants else shadow for i, shadow in enumerate(shadows)]
        lists = lists_in(args)
        plan = None if engine.table.rows(f) else known_plan(engine, "reverse", f, args, fs, lists)
        if plan is None:
            return
        kinds = [
            shadow if type(x) in NUMBERS else _HELD if i in constants else _NEW
            for i, (x, shadow) in enumerate(zip(args, shadows, strict=True))
        ]
        wanted = [i % len(args) for i in self.numbers]
        self.ways[key] = _Way(f.__code__, engine.generation, plan, tuple(kinds), args, wanted, lists)

    def enter(self, engine: EngineView, way: _Way, f: Any, args: tuple[Any, ...]) -> Entered | None:
        """The forwards pass of ``f(*args)`` on `way`, unless the arguments are not as simple as it needs."""
        rule = way.rule
        context = Context()
        context.start_waiting = start_waiting if engine.reverse.watch is None else None
        shadows: list[Any] = []
        objects: set[int] = set()
        is_closed = way.is_closed
        for x, kind, known_list in zip(args, way.shadows, way.lists, strict=True):
            if is_closed and (kind is _VALUE or kind is _HELD):
                owner = x if x.base is None else _owner(x)
                if owner is None:
                    return None
                objects.add(id(owner))
                context.shadows.later(x, NO_FDATA)
                shadows.append(NO_FDATA if kind is _VALUE else None)
            elif kind is _NEW or kind is _HELD:
                shadow = _zero(x, kind is _HELD, known_list)
                if shadow is None:
                    return None
                objects.add(id(x))
                context.shadows.later(x, shadow)
                if known_list is ROWS:
                    of_rows = shadow if kind is _NEW else [shadow] * len(x)
                    for row, of_row in zip(x, of_rows, strict=True):
                        objects.add(id(row))
                        context.shadows.later(row, of_row)
                shadows.append(None if kind is _HELD else shadow)
            else:
                shadows.append(kind)
        if len(context.shadows.waiting) != len(objects):
            return None  # the same object twice
        if not rule.is_built:
            rule.build()
        if not engine.check(rule):
            return None
        context.entered = rule
        given = tuple(shadows)
        call = engine.reverse_calls.enter_planned
        out, fout, pullback = enter(call, context, way.plan, f, None, args, given, 0)
        if context.is_deep:
            pullback = context.backwards(pullback)
        return out, fout, pullback, given, context


def short(engine: EngineView, way: _Way, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]] | None:
    """Value and gradients of a call on a way on which nothing needs a shadow; None if the arrays may share
    memory, or the rule does not hold any more."""
    arrays = way.arrays
    if arrays and _may_share([args[i] for i in arrays]):
        return None
    rule = way.rule
    if not rule.is_built:
        rule.build()
    if not rule.holds():
        engine.clear()
        return None
    context = _Closed() if way.is_closed else Context()
    context.entered = rule
    context.start_waiting = start_waiting if engine.reverse.watch is None else None
    out, saved = enter(rule.forwards, context, *args)
    pullback = context.backwards(rule.pullback) if context.is_deep else rule.pullback
    parts = go_back(pullback, saved, 1.0) if arrays else pullback(saved, 1.0)
    if len(way.gradients) == 1:  # without a loop
        ((complete, k, i),) = way.gradients
        gradients: tuple[Any, ...] = (complete(parts[k], args[i]),)
    else:
        gradients = tuple([complete(parts[k], args[i]) for complete, k, i in way.gradients])
    if context.waiting is not None:
        context.waiting.check(gradients)
    return out, gradients


def _may_share(arrays: list[Any]) -> bool:
    """Whether some of the arrays share memory, as far as can be seen quickly."""
    owners = []
    for x in arrays:
        owner = x if x.base is None else _owner(x)
        if owner is None:
            return True
        owners.append(id(owner))
    return len(owners) > 1 and len(set(owners)) != len(owners)


class _Closed(Context):
    """The context of a closed function: it touches no memory but its arguments', none of which has a shadow,
    so none can be asked for."""

    def __getattr__(self, name: str) -> Any:
        made = super().__getattr__(name)
        if name == "shadows":
            made.waiting = [(None, NO_FDATA)]  # nobody may ask for one (see `Shadows.later`)
        return made


def _gradient(shadow: Any, x: Any, b: Any) -> Any:
    """The gradient by the argument `x`, which has this shadow, of a call that took a short way; `b` is what
    the pullback returned for `x`."""
    if shadow is not NO_FDATA:
        return slot_increment(shadow, b)
    return _number(b, x) if type(x) in NUMBERS else _array(b, x)


def _number(b: Any, x: Any) -> Any:
    return slot_increment(0.0, b)


def _array(b: Any, x: Any) -> Any:
    return kind_of(type(x)).alike(b, x)  # type: ignore[attr-defined]  # the kind of arrays


def _is_simple(f: Any) -> bool:
    """Whether a function brings nothing along: neither a closure nor defaults."""
    return type(f) is types.FunctionType and f.__closure__ is None and not f.__defaults__


def _is_value(type_: Any) -> bool:
    """Whether the cotangent of an argument of this type may be a value."""
    return isinstance(type_, ArrayType) and type_.dtype in ("float64", "float32") and bool(type_.ndim)


def _owner(x: Any) -> Any:
    """The array that the memory of array `x` belongs to; None if that is no array, or if `x` has gaps, in
    which case its elements might overlap."""
    if not x.flags.forc:
        return None
    while x.base is not None:
        x = x.base
        if type(x) is not sys.modules["numpy"].ndarray:  # loaded: there is an array
            return None
    return x


def _zero(x: Any, is_constant: bool, known_list: Any) -> Any:
    """The zero shadow of an array that owns its memory, of a list of floats or of lists of floats, or
    `NO_TANGENT`; else None.  known_list: what is known of a list."""
    if type(x) is list:
        if known_list is None:
            return NO_TANGENT if is_constant and NUMBERS.issuperset(map(type, x)) else None
        if is_constant:
            return NO_TANGENT
        return [[0.0] * len(row) for row in x] if known_list is ROWS else [0.0] * len(x)
    if x.base is not None or x.dtype.kind not in "fc":
        return None
    return NO_TANGENT if is_constant else kind_of(type(x)).zeros(x)  # type: ignore[attr-defined]  # of an array


def value_and_gradient_of(
    f: Callable[..., Any],
    argnums: Selector | Sequence[Selector],
    has_aux: bool,
    engine_in_use: Callable[[], EngineView],
) -> Callable[..., tuple[Any, Any]]:
    """The function that gives ``f(*args, **kwargs)`` and its gradient by the arguments `argnums`.

    The arguments are described; the way in for them is looked up, or found by a first call; the function is
    entered on that way; and what comes back is given the form of the arguments.
    """
    chosen = selectors(argnums)
    single = isinstance(argnums, str) or not isinstance(argnums, Sequence)
    by_place: dict[tuple[int, ...], Entrance] = {}

    def any_value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        engine = engine_in_use()
        wanted = places(f, chosen, args, kwargs)
        given, named = by_position(f, args, kwargs)
        if kwargs and not named:
            names = (*range(len(args)), *kwargs)
            order = f.__code__.co_varnames
            wanted = tuple([i if i < len(args) else order.index(names[i]) for i in wanted])
        entrance = None if named else by_place.get(wanted)
        if entrance is None:
            entrance = Entrance(wanted)
            if not named:
                by_place[wanted] = entrance
        return _any_call(engine, entrance, f, given, named, has_aux, single)

    if has_aux or not all(isinstance(i, int) for i in chosen):
        return any_value_and_gradient
    numbers: Any = chosen
    entrance = Entrance(numbers)

    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        try:
            if kwargs:
                return any_value_and_gradient(*args, **kwargs)
            engine = engine_in_use()
            way = entrance.way(engine, f, args)
            entered = None
            if way is not None and way.is_short:
                answer = short(engine, way, args)
                if answer is not None:
                    out, gradients = answer
                    return out, gradients[0] if single else gradients
            elif way is not None:
                entered = entrance.enter(engine, way, f, args)
            if entered is None:
                wanted = entrance.places.get(len(args))
                if wanted is None:
                    wanted = entrance.places[len(args)] = places(f, numbers, args, kwargs)
                return _first_call(engine, entrance, f, args, kwargs, wanted, False, single)
            out, fout, pullback, shadows, context = entered
            check_scalar(f, out)
            b = seed(out, fout, 1.0)
            bargs = go_back(pullback, b) if way is None or way.has_arrays else pullback(b)
            if way is not None and way.is_closed:
                gradients = tuple([_gradient(shadows[i], args[i], bargs[i]) for i in numbers])
            else:
                gradients = tuple(
                    [slot_increment(0.0 if shadows[i] is NO_FDATA else shadows[i], bargs[i]) for i in numbers]
                )
            if context.waiting is not None:
                context.waiting.check(gradients)
            return out, gradients[0] if single else gradients
        except BaseException as error:  # any exception of the user's is passed on
            leave(error)
            raise

    return value_and_gradient


def _any_call(
    engine: EngineView,
    entrance: Entrance,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_aux: bool,
    single: bool,
) -> tuple[Any, Any]:
    """What a call gives whose value may come with something besides, and which may have keywords."""
    way = None if kwargs else entrance.way(engine, f, args)
    entered = None if way is None else entrance.enter(engine, way, f, args)
    if way is None or entered is None:
        return _first_call(engine, entrance, f, args, kwargs, entrance.numbers, has_aux, single)
    out, fout, pullback, shadows, context = entered
    answer, cotangent = _checked(f, out, has_aux)
    bargs = go_back(pullback, seed(out, fout, cotangent))
    gradients = [
        _gradient(shadows[i], args[i], bargs[i]) if way.is_closed
        else slot_increment(0.0 if shadows[i] is NO_FDATA else shadows[i], bargs[i])
        for i in entrance.numbers
    ]  # fmt: skip
    if context.waiting is not None:
        context.waiting.check(gradients)
    return answer, gradients[0] if single else tuple(gradients)


def _first_call(
    engine: EngineView,
    entrance: Entrance,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wanted: Sequence[int],
    has_aux: bool,
    single: bool,
) -> tuple[Any, Any]:
    """What a call gives that takes the long way, from which `entrance` learns; `wanted` are the places of the
    arguments whose gradients are asked for."""
    try:
        call = FirstCall(engine, f, args, kwargs, wanted)
    except BaseException as error:  # any exception of the user's is passed on
        leave(error)
        raise
    answer, cotangent = _checked(f, call.out, has_aux)
    bargs = call.pullback(cotangent)
    gradients = call.gradients(bargs)
    if not kwargs:
        entrance.learn(engine, f, args, call.shadows, call.constants)
    return answer, gradients[0] if single else gradients


def _checked(f: Callable[..., Any], out: Any, has_aux: bool) -> tuple[Any, Any]:
    """What is returned for `out`, the value of `f`, and its cotangent; raises unless there is a gradient."""
    if not has_aux:
        check_scalar(f, out)
        return out, 1.0
    value, aux = pair(f, out)
    check_scalar(f, value)
    return (value, snapshot(f, aux)), (1.0, None)


class OpenCall:
    """``f(*primals)`` after its forwards pass: `value`, and what takes a cotangent of it to the cotangents of
    the arguments; with `has_aux`, what `f` returns besides its value is in `aux`.
    """

    def __init__(
        self, engine: EngineView, f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
    ) -> None:
        self.call = FirstCall(engine, f, primals, {}, tuple(range(len(primals))), strict=False)
        self.has_aux = has_aux
        self.value = self.call.out
        self.aux: tuple[Any, ...] = ()
        if has_aux:
            self.value, aux = pair(f, self.call.out)
            self.aux = (snapshot(f, aux),)

    def back(self, cotangent: Any) -> tuple[Any, ...]:
        """The cotangents of the arguments; the shadows of those that have memory are what is returned."""
        call = self.call
        if self.has_aux:
            cotangent = cotangent, None
        call.check(cotangent)
        bargs = call.pullback(cotangent)
        return call.gradients(bargs)


def value_and_pullback(
    engine: EngineView, f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, ...]:
    """``f(*primals)``, and what takes a cotangent of it to the cotangents of the arguments, once; with
    `has_aux`, what `f` returns besides its value comes last."""
    opened = OpenCall(engine, f, primals, has_aux)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        if opened.call.done:
            raise PullbackConsumedError(
                "this pullback has been run already; the values it needs are gone."
                " Call adbc.vjp again for another."
            )
        try:
            return opened.back(cotangent)
        except BaseException as error:  # any exception of a rule of the user's is passed on
            leave(error)
            raise

    return (opened.value, pullback, *opened.aux)
