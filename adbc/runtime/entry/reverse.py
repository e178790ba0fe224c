"""A short way in, for calls from outside that are like one that was made before.

Most calls of a gradient are made in a loop, with new numbers for arguments of the same types.  What follows
from the types alone (which rule, which arguments have shadows, which are constants) is kept in a `Way`;
what has to be seen each time is little: that arrays own their memory, so that no two share it, and that
lists and dicts hold what has no address, or lists and dicts of such, each of them once (`structures`).
Shadows are entered in the memo of the call only when somebody asks it (`Shadows.later`).

If the function meets no memory but that of its arguments (`types.closed`), an array whose gradient is asked
for is nobody else's.  Then its cotangent is passed as a value (`ValueArrayType`): it has no shadow that is
made before the call, and the gradient is what the pullback returns.

Whatever is not as simple as that takes the long way, which says what is wrong with the arguments if anything
is.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import LiftError
from adbc.runtime.calls.plans import ROWS, Plan, by_structure, by_value, is_derived
from adbc.runtime.calls.plans import plan as known_plan
from adbc.runtime.entry.described import (
    NUMBERS,
    are_numeric,
    described,
    elements,
    is_array,
    is_watched,
    lists_in,
    owner_of,
)
from adbc.runtime.entry.entering import enter, go_back, start_waiting
from adbc.runtime.entry.first import FirstCall
from adbc.runtime.entry.reading import only_read
from adbc.runtime.entry.results import pair, real, seed, snapshot
from adbc.runtime.entry.selection import Selector, by_position, completed, least_count, places, selectors
from adbc.runtime.entry.shared import is_alone, is_simple, shared
from adbc.runtime.entry.structures import (
    ARRAYS,
    FIRST,
    Also,
    Pairs,
    are_apart,
    is_met_again,
    is_object,
    is_plain,
    record,
    structure,
    zeros,
)
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.runtime.state.made import may_be_found
from adbc.runtime.state.shadows import Shadows
from adbc.tangents import NO_FDATA, NO_TANGENT, slot_increment
from adbc.tangents.protocol import kind_of
from adbc.types import ArrayType, has_shadow
from adbc.types.array_calls import is_inline_number

__all__ = ["Entrance", "Way", "learnt", "short", "value_and_gradient_of"]

Entered = tuple[Any, Any, Callable[[Any], Sequence[Any]], Sequence[Any], Context]
"""Value, its shadow, the pullback (without the function in front), the arguments' shadows, the context."""


class Way:
    """How to enter for arguments of certain types.

    shadows: per argument, what one without an address has for a shadow, or `_NEW` for one with an address,
    which gets a zero one, or `_HELD` for one that is held constant, or `_VALUE` for an array whose cotangent
    is a value.  tangents: those of the arguments without an address.
    """

    __slots__ = (
        "also",
        "array_types",
        "arrays",
        "classes",
        "code",
        "constants",
        "engine",
        "generation",
        "given",
        "gradients",
        "has_arrays",
        "is_closed",
        "is_plain",
        "is_short",
        "lists",
        "plan",
        "records",
        "rule",
        "shadows",
        "tuples",
        "wanted",
        "with_address",
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
        tangents: Sequence[Any] = (),
    ) -> None:
        self.engine = plan.rule.engine
        self.classes = (*map(type, args),)
        self.array_types = [(i, x.dtype, x.ndim) for i, x in enumerate(args) if is_array(type(x))]
        """Place, dtype and number of dimensions of each array."""
        lists = tuple(lists) or (None,) * len(shadows)
        self.lists = [(i, lists[i]) for i, x in enumerate(args) if type(x) is list]
        """The place of each list, and what is known of its elements, as the key says."""
        self.tuples = [(i, structure(x)) for i, x in enumerate(args) if type(x) is tuple]
        """Place and structure of each tuple."""
        self.records = [(i, known) for i, x in enumerate(args) if (known := record(x)) is not None]
        """Place and classes of each record."""
        self.arrays = [i for i, kind in enumerate(shadows) if kind is _VALUE or kind is _HELD]
        """The places of the arrays that need no shadow, if cotangents are values."""
        inside = [x for kind, x in zip(shadows, args, strict=True) if kind is _NEW and not is_array(type(x))]
        met: Pairs = []
        for x in inside:
            zeros(x, met, False)
        has_arrays = any(is_array(type(x)) for x, _ in met)
        has_objects = any(zeros(x, [], False, ARRAYS) is None for x in inside)
        self.has_arrays = bool(self.array_types) or plan.rule.takes_function or has_arrays
        """Whether the pullback has to do with arrays."""
        self.also = Also(self.has_arrays, has_objects)
        """What stands in lists, dicts and objects."""
        self.is_closed = _VALUE in shadows
        """Whether cotangents of arrays are values, so that nobody asks for a shadow by an address."""
        self.rule = rule = plan.rule
        rule.is_entered = True
        places = [i for i, _, _ in self.array_types]
        is_whole = not self.is_closed or all(i in places for i in self.arrays)
        self.is_short = is_inline_number(rule.result) and rule.returns_cotangent and is_whole
        """Whether the result is a real number: then `short` may call the rule."""
        self.is_plain = ({_NEW} if self.is_closed else _KINDS).isdisjoint(shadows) and not rule.takes_function
        """Whether nothing needs a shadow, so that the code of the rule is given the arguments alone."""
        self.wanted = [
            (i, None if shadows[i] in _KINDS else tangents[i] if tangents else 0.0) for i in numbers
        ]
        """The place of each argument whose gradient is asked for, and the zero that what comes back is added
        to; None if that is the shadow."""
        returned = [i for i, flag in enumerate(plan.flags) if flag & 2]
        self.gradients = [
            (
                _array if shadows[i] is _VALUE else _of_shadow if zero is None else _adding(zero),
                returned.index(i) if i in returned else None,
                i,
            )
            for i, zero in self.wanted
        ]  # fmt: skip
        """Per gradient, the function that makes it, the place of its cotangent in what the pullback gives
        (None if nothing comes back but what is added to the shadow), and that of its argument."""
        self.constants = [
            i for i, (kind, x) in enumerate(zip(shadows, args, strict=True))
            if kind is _NEW and i not in numbers and may_be_found(type(x))
        ]  # fmt: skip
        """The places of the objects of libraries that nobody asks for."""
        self.code = code
        self.generation = generation
        self.plan = plan
        self.shadows = shadows
        self.given = [None if kind in _KINDS else kind for kind in shadows]
        """The shadows of the arguments without an address."""
        self.with_address = [
            (i, kind, lists[i], i in numbers) for i, kind in enumerate(shadows) if kind in _KINDS
        ]
        """Place and kind of each of the others, what is known of the elements of a list, and whether the
        gradient is asked for."""

    def is_good(self, engine: EngineView, f: Any) -> bool:
        """Whether nothing that the way was found from has changed."""
        if self.generation != engine.generation or self.engine is not engine or engine.stale:
            return False
        return f.__code__ is self.code and bool(engine.epoch == engine.table.epoch)

    def is_for(self, args: tuple[Any, ...]) -> bool:
        """Whether `args` are described as the arguments were for which this way was found (`described`)."""
        if (*map(type, args),) != self.classes:
            return False
        for i, known in self.lists:
            if elements(args[i]) is not known:
                return False
        for i, known in self.tuples:
            if structure(args[i]) != known:
                return False
        for i, known in self.records:
            if record(args[i]) != known:
                return False
        for i, dtype, ndim in self.array_types:
            x = args[i]
            if x.ndim != ndim or (x.dtype is not dtype and x.dtype != dtype):  # most are one object
                return False
        return True

    def collect(self, shadows: Sequence[Any], args: Sequence[Any], back: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients, from the shadows of a call and what came back from its pullback."""
        if self.is_closed:
            return tuple([_gradient(shadows[i], args[i], back[i]) for i, _ in self.wanted])
        return tuple(
            [slot_increment(shadows[i] if zero is None else zero, back[i]) for i, zero in self.wanted]
        )


_NEW, _HELD, _VALUE = object(), object(), object()
_KINDS = frozenset({_NEW, _HELD, _VALUE})
_MOST = 32
"""How many ways are kept: more structures than these are data."""


class Entrance:
    """The ways into one function whose gradient by the arguments `numbers` is asked for."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.ways: dict[tuple[Any, ...], Way] = {}
        self.places: dict[int, tuple[int, ...]] = {}
        """By the count of positional arguments, the places of those in `numbers`."""
        self.latest: Way | None = None
        """The way that was found last."""
        self.native: Any = None
        """The ways into machine code (`runtime.entry.native.Door`), if they have been asked for."""

    def way(self, engine: EngineView, f: Any, args: tuple[Any, ...]) -> Way | None:
        """The way in for arguments like `args`, if one is known or can be said without a call."""
        way = self.latest
        if way is None or not way.is_good(engine, f) or not way.is_for(args):
            key = described(args)
            way = self.ways.get(key)  # type: ignore[arg-type]  # None is no key
            if way is None or not way.is_good(engine, f):
                is_known = key is not None and is_alone(f, len(args)) and are_numeric(args)
                return self._prepared(engine, f, args, key) if is_known else None  # type: ignore[arg-type]
            self.latest = way
        return way

    def _prepared(
        self, engine: EngineView, f: Any, args: tuple[Any, ...], key: tuple[Any, ...]
    ) -> Way | None:
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
        way = self.ways[key] = Way(f.__code__, engine.generation, plan, tuple(kinds), args, wanted)
        return way

    def learn(
        self,
        engine: EngineView,
        f: Any,
        args: tuple[Any, ...],
        call: FirstCall,
    ) -> None:
        """Keep what `call`, which took the long way, has shown, if it was a simple one."""
        key = described(args)
        if key is None or is_watched(engine.reverse) or not is_simple(f, len(args)):
            return
        known = self.ways.get(key)
        if known is not None and known.is_good(engine, f):
            return  # this call was not simple enough for it
        shadows, constants = call.shadows, call.constants
        if constants and f.__closure__ is not None:
            return  # the closure is looked at first there, for it may hold the same memory
        fs = [None if i in constants else shadow for i, shadow in enumerate(shadows)]
        lists = lists_in(args)
        plan = None if engine.table.rows(f) else known_plan(engine, "reverse", f, args, fs, lists)
        if plan is None and tuple in map(type, args):
            plan = by_structure(engine, f, args, fs, lists)
        if plan is None:
            return
        kinds = [
            _HELD if i in constants else _NEW if _has_memory(x) else shadow
            for i, (x, shadow) in enumerate(zip(args, shadows, strict=True))
        ]
        wanted = [i % len(args) for i in self.numbers]
        if len(self.ways) >= _MOST:
            self.ways.clear()
        self.ways[key] = Way(
            f.__code__, engine.generation, plan, tuple(kinds), args, wanted, lists, call.tangents
        )

    def enter(self, engine: EngineView, way: Way, f: Any, args: tuple[Any, ...]) -> Entered | None:
        """The forwards pass of ``f(*args)`` on `way`, unless the arguments are not as simple as it needs."""
        rule = way.rule
        found = _meet(way, args)
        if found is None:
            return None
        given, met = found
        if not rule.is_built:
            rule.build()
        if not engine.check(rule):
            return None
        context = Context()
        context.start_waiting = start_waiting if engine.reverse.watch is None else None
        context.checked, context.warns = {rule}, rule.warns
        context.given = args
        if met:
            shadows = context.shadows = Shadows()
            shadows.waiting = met
            if way.constants:
                context.note_given([args[i] for i in way.constants], [args[i] for i, _ in way.wanted])
        ff = context.known_shadow(f) if rule.takes_function else None
        call = engine.reverse_calls.enter_planned
        out, fout, pullback = enter(call, context, way.plan, f, ff, args, given, 0)
        if context.is_deep:
            pullback = context.backwards(pullback)
        made = [pullback]
        del pullback  # an exception that it needs may have this frame in its traceback
        return out, fout, made.pop(), given, context


def _meet(way: Way, args: tuple[Any, ...]) -> tuple[list[Any], Pairs] | None:
    """Shadows of the arguments, and what has an address with its shadow; None if it is not as `way` needs."""
    given = [*way.given]
    met: Pairs = []
    owners: Pairs = []
    is_closed = way.is_closed
    for i, kind, known_list, is_asked in way.with_address:
        x = args[i]
        if is_closed and kind is not _NEW:
            owner = x if x.base is None else owner_of(x)
            if owner is None:
                return None
            owners.append((owner, _HELD if kind is _HELD else i))
            met.append((x, NO_FDATA))
            given[i] = NO_FDATA if kind is _VALUE else None
            continue
        shadow = _zero(x, kind is _HELD, known_list, is_asked, met, way.also)
        if shadow is None:
            return None
        if kind is _NEW:
            given[i] = shadow
        if is_closed:
            owners.append((x, i))
        elif shadow is NO_TANGENT and type(x) not in _WITH_ADDRESS and x.base is not None:
            owners.append((owner_of(x), NO_TANGENT))
    if owners and not is_closed:  # what a view belongs to may have been given too
        owners += met
    if way.also.objects and not are_apart(met):
        return None
    is_again = len(met) > 1 and len({*map(id, map(FIRST, met))}) != len(met) and is_met_again(met)
    return None if is_again or (owners and is_met_again(owners)) else (given, met)


def short(engine: EngineView, way: Way, f: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]] | None:
    """Value and gradients of a call on a way whose rule gives a real number; None if the arguments are not as
    simple as it needs, or the rule does not hold any more."""
    given: list[Any] = way.given
    met: Pairs = []
    if not way.is_plain:
        found = _meet(way, args)
        if found is None:
            return None
        given, met = found
    elif way.arrays and _may_share(way, args):
        return None
    rule = way.rule
    if not rule.is_built:
        rule.build()
    if not rule.holds():
        engine.clear()
        return None
    context = _Closed() if way.is_closed and way.is_plain else Context()
    context.entered, context.warns = rule, rule.warns
    context.start_waiting = start_waiting if engine.reverse.watch is None else None
    if not way.is_closed:
        context.given = args
    if way.is_plain:
        out, saved = enter(rule.forwards, context, *args)
    else:
        if met:
            shadows = context.shadows = Shadows()
            shadows.waiting = met
            if way.constants:
                context.note_given([args[i] for i in way.constants], [args[i] for i, _ in way.wanted])
        ff = context.known_shadow(f) if rule.takes_function else None
        out, saved = enter(_hand, context, way.plan.hand, rule.forwards, f, ff, args, given)
    pullback = context.backwards(rule.pullback) if context.is_deep else rule.pullback
    parts = go_back(pullback, saved, 1.0) if way.has_arrays or rule.warns else pullback(saved, 1.0)
    del saved  # see `Entrance.enter`
    if len(way.gradients) == 1:  # without a loop
        ((complete, k, i),) = way.gradients
        gradients: tuple[Any, ...] = (complete(None if k is None else parts[k], args[i], given[i]),)
    else:
        gradients = tuple(
            [complete(None if k is None else parts[k], args[i], given[i]) for complete, k, i in way.gradients]
        )
    if context.waiting is not None:
        context.waiting.check(gradients)
    return out, gradients


def _hand(context: Context, hand: Callable[..., Any], *given: Any) -> Any:
    """What `Plan.hand` gives, called by `enter`."""
    code, *others = given
    return hand(code, context, *others)


def _may_share(way: Way, args: tuple[Any, ...]) -> bool:
    """Whether one of the arrays shares memory with one that is not constant, as far as is seen quickly."""
    owners: Pairs = []
    for i in way.arrays:
        x = args[i]
        owner = x if x.base is None else owner_of(x)
        if owner is None:
            return True
        owners.append((owner, _HELD if way.shadows[i] is _HELD else i))
    return is_met_again(owners)


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
    return slot_increment(0.0, b) if type(x) in NUMBERS else _array(b, x, shadow)


@functools.lru_cache(64, typed=True)  # 0.0 and 0j are one key otherwise
def _adding(zero: Any) -> Callable[[Any, Any, Any], Any]:
    """What gives the gradient by an argument without an address, from what came back for it."""
    return lambda b, x, shadow: slot_increment(zero, b)


def _of_shadow(b: Any, x: Any, shadow: Any) -> Any:
    return shadow if b is None else slot_increment(shadow, b)


def _array(b: Any, x: Any, shadow: Any) -> Any:
    return kind_of(type(x)).alike(b, x)  # type: ignore[attr-defined]  # the kind of arrays


def _is_value(type_: Any) -> bool:
    """Whether the cotangent of an argument of this type may be a value."""
    return isinstance(type_, ArrayType) and type_.dtype in ("float64", "float32") and bool(type_.ndim)


def _zero(x: Any, is_constant: bool, known_list: Any, is_asked: bool, met: Pairs, also: Also) -> Any:
    """The zero shadow of an array that owns its memory, or of a list, dict or object of what has no address,
    or of such; `NO_TANGENT` if it is constant, which an array may be that is a view, too; else None.

    met: gets all that has an address, with its shadow.  known_list: what is known of a list.  also: what
    may stand in a list, dict or object.
    """
    shadow: Any
    if type(x) not in _WITH_ADDRESS and is_array(type(x)):
        if x.base is not None and (not is_constant or owner_of(x) is None):
            return None
        if x.dtype.kind not in ("fciub" if is_constant else "fc"):
            return None
        shadow = NO_TANGENT if is_constant else kind_of(type(x)).zeros(x)  # type: ignore[attr-defined]  # of an array
    elif is_constant:
        if known_list is None and not is_plain(x):
            return None
        shadow = NO_TANGENT
        if known_list is ROWS:
            met.extend([(row, NO_TANGENT) for row in x])
    elif known_list is None:
        return zeros(x, met, is_asked, also)
    elif known_list is ROWS:
        shadow = [*map(_ZERO.__mul__, map(len, x))]
        met.extend(zip(x, shadow, strict=True))
    else:
        shadow = [0.0] * len(x)
    met.append((x, shadow))
    return shadow


_WITH_ADDRESS = frozenset({list, dict})
_ZERO = [0.0]


def _has_memory(x: Any) -> bool:
    """Whether an argument has a shadow by its address: integers in arrays have none."""
    if is_array(type(x)):
        return x.dtype.kind not in "iub"
    return type(x) in _WITH_ADDRESS or is_object(x)


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
        given, named = by_position(f, args, kwargs, with_defaults=True)
        if kwargs and not named:
            names = (*range(len(args)), *kwargs)
            order = f.__code__.co_varnames
            wanted = tuple([i if i < len(args) else order.index(names[i]) for i in wanted])
        if not named and type(f) is types.FunctionType and f.__defaults__:
            given = completed(f, given)
        entrance = None if named else by_place.get(wanted)
        if entrance is None:
            entrance = Entrance(wanted)
            if not named:
                by_place[wanted] = entrance
        if engine.native is not None and not named and not has_aux:
            answered = _native(engine, entrance, f, given, single)
            if answered is not None:
                return answered
        return _any_call(engine, entrance, f, given, named, has_aux, single)

    if has_aux or not all(isinstance(i, int) for i in chosen):
        return any_value_and_gradient
    numbers: Any = chosen
    entrance = Entrance(numbers)
    count = least_count(f, numbers)

    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        nonlocal entrance
        try:
            if kwargs:
                return any_value_and_gradient(*args, **kwargs)
            engine = engine_in_use()
            if engine.native is not None:
                answered = _native(engine, entrance, f, args, single)
                if answered is not None:
                    return answered
            if len(args) >= count and f.__defaults__:
                args = completed(f, args)  # type: ignore[arg-type]  # a function
            if entrance.latest is None:
                entrance = shared(engine, f, numbers, entrance)
            way = entrance.way(engine, f, args)
            entered = None
            if way is not None and way.is_short:
                answer = short(engine, way, f, args)
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
            out, gradients = _finished(way, f, args, entered)  # type: ignore[arg-type]  # there, if it was entered
            entered = None  # see `Entrance.enter`
            return out, gradients[0] if single else gradients
        except BaseException as error:  # any exception of the user's is passed on
            leave(error)
            raise

    return value_and_gradient


def _finished(way: Way, f: Any, args: tuple[Any, ...], entered: Entered) -> tuple[Any, tuple[Any, ...]]:
    """Value and gradients of a call of `f` after its forwards pass."""
    out, fout, pullback, shadows, context = entered
    value = out if type(out) is float else real(f, out)
    b = seed(out, fout, 1.0)
    returned = go_back(pullback, b) if way.has_arrays or way.rule.warns else pullback(b)
    gradients = way.collect(shadows, args, returned)
    if context.waiting is not None:
        context.waiting.check(gradients)
    return value, gradients


def _native(
    engine: EngineView, entrance: Entrance, f: Callable[..., Any], args: tuple[Any, ...], single: bool
) -> tuple[Any, Any] | None:
    """Value and gradient by machine code, None if bytecode has to give them."""
    if entrance.native is None:
        from adbc.runtime.entry.native import Door  # few want it

        entrance.native = Door(entrance.numbers)
    answer: Any = entrance.native.answer(
        engine, f, args, lambda: _any_call(engine, entrance, f, args, {}, False, False)
    )
    if answer is None:
        return None
    out, gradients = answer
    return out, gradients[0] if single else gradients


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
    gradients = way.collect(shadows, args, bargs)
    if context.waiting is not None:
        context.waiting.check(gradients)
    return answer, gradients[0] if single else gradients


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
        entrance.learn(engine, f, args, call)
    return answer, gradients[0] if single else gradients


def learnt(
    engine: EngineView, f: Callable[..., Any], numbers: Sequence[int], args: tuple[Any, ...]
) -> Entrance:
    """The ways into `f` for its gradient by the arguments `numbers`, with one for arguments like `args`, if
    there is one: it is called if nobody has found it yet."""
    entrance = shared(engine, f, numbers, Entrance(tuple(numbers)))
    if entrance.way(engine, f, args) is None:
        _first_call(engine, entrance, f, args, {}, places(f, numbers, args, {}), False, False)
        entrance.way(engine, f, args)
    return entrance


def _checked(f: Callable[..., Any], out: Any, has_aux: bool) -> tuple[Any, Any]:
    """What is returned for `out`, the value of `f`, and its cotangent; raises unless there is a gradient."""
    if not has_aux:
        return real(f, out), 1.0
    value, aux = pair(f, out)
    return (real(f, value), snapshot(f, aux)), (1.0, None)
