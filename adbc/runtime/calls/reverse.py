"""Dynamic calls in reverse mode: a shadow stands beside each value, and every call has a pullback.

Each cotangent finds its argument again by the origin that the argument has in the call (`steps`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from adbc.ir.intrinsics import EXHAUSTED, Raised
from adbc.rules.table import NO_KWARGS
from adbc.runtime.calls import fields, plans, steps, texts
from adbc.runtime.calls.binding import Bound
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.comparing import PLAINLY, compared_plainly
from adbc.runtime.calls.driver import Answer, Called, Calls, Names, Values
from adbc.runtime.calls.keys import BY_KEY
from adbc.runtime.calls.keywords import with_keywords
from adbc.runtime.calls.lost_arguments import LostKeywords, written_as_text
from adbc.runtime.calls.origins import keyword_rdata, no_pullback, scatter, to_place, to_self
from adbc.runtime.calls.plans import Mode, Plan
from adbc.runtime.calls.resuming import slots_of
from adbc.runtime.calls.steps import Call, Protocols
from adbc.runtime.calls.values_in_c import are_values, takes_values
from adbc.runtime.report.tracebacks import plain_traceback
from adbc.runtime.state.activity import dependent
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import DerivedView, EngineView
from adbc.runtime.state.slots import as_float
from adbc.tangents import (
    NO_FDATA,
    FData,
    RData,
    add,
    slot_increment,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.activity_marks import INACTIVE
from adbc.tangents.lost import lose
from adbc.tangents.protocol import register_tangent
from adbc.types import AbstractType, TupleType, has_cotangent
from adbc.types.lattice import FLOAT, is_number

__all__ = ["ReverseCalls", "completing_type", "value_shadow"]


def nothing_of_two(bout: Any) -> Sequence[Any]:
    """The pullback of ``obj.method``, of an object without a shadow."""
    return None, None


def method_pullback_of_two(bout: Any) -> Sequence[Any]:
    """The pullback of ``obj.method``: what comes back for ``__self__`` is the object's."""
    return None if bout is None else bout.__dict__.get("__self__"), None


class ReverseCalls(Calls):
    """The dynamic calls of one engine in reverse mode."""

    mode, attempted, name = "reverse", "protected", "reverse_calls"
    known = staticmethod(Context.known_shadow)
    slot = staticmethod(slot_shadow)
    fill = staticmethod(slot_tangent)
    fill_each = staticmethod(slots_of)
    get_field = staticmethod(fields.GET.rrule)
    set_field = staticmethod(fields.SET.rrule)

    def __init__(self, engine: EngineView, protocols: Protocols) -> None:
        super().__init__(engine, protocols)
        self.direct_ways: dict[Any, Any] = {}
        """By intrinsic or operator, its handler (`direct_way`)."""

    def attempt(self, context: Context, keywords: Names, f: Any, ff: Any, xs: Values, fs: Values) -> Any:
        """Like `call`, but an exception comes back as a `Raised`, with the pullback of what had been done."""
        try:
            handle = None if keywords else self.direct_way(f)
            if handle is None:
                return super().call(context, keywords, f, ff, xs, fs, "protected")
            out, fout, pullback = handle(context, xs, fs, "protected")
            return out, fout, lambda bout: (None, *pullback(bout))
        except BaseException as error:  # whatever the user's handler may want to see, and handed on to it
            nothing = (None,) * (len(xs) + 1)
            context.has_caught(error)
            return Raised(plain_traceback(error)), None, lambda bout: nothing

    def direct_way(self, f: Any) -> Any:
        """The `handler` of `f`, made once; None if there is none."""
        if type(f) is not FunctionType and type(f) is not BuiltinFunctionType:
            return None
        found = self.direct_ways.get(f)
        if found is None and f in self.protocols:
            found = self.direct_ways[f] = super().handler(f)
        return found

    def call_slowly(self, context: Context, call: Call, count: int, mode: Mode) -> Any:
        out, fout, inner = self.run(context, call, mode)
        if inner is no_pullback:
            nothing = (None,) * count
            return out, fout, lambda bout: nothing

        def call_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * count
            for origin, rdata in inner(bout):
                if origin is not None and rdata is not None:
                    if origin.__class__ is not int:
                        origin, rdata = to_place(origin, rdata)
                        if origin is None:
                            continue
                    result[origin] = rdata if result[origin] is None else add(result[origin], rdata)
            return result

        return out, fout, call_pullback

    def constant(self, out: Any, fout: Any, count: int, undo: Callable[[], None] | None = None) -> Any:
        nothing = (None,) * count
        if undo is None:
            return out, fout, lambda bout: nothing
        return out, fout, lambda bout: (undo(), nothing)[1]

    def of_fields(self, record: Any, shadow: Any, names: Names) -> Any:
        def fields_pullback(bout: Any) -> Sequence[Any]:
            if bout is None:
                return (None,) * (len(names) + 1)
            found = bout.__dict__
            return [None, *map(found.get, names)]

        return record, shadow, fields_pullback

    def of_one(self, answer: Answer) -> Any:
        out, fout, pullback = answer

        def one_pullback(bout: Any) -> Sequence[Any]:
            pullback(bout)
            return (None,)

        return out, fout, one_pullback

    def of_last(self, answer: Answer, count: int) -> Any:
        out, fout, pullback = answer
        nothing = (None,) * (count - 1)
        return out, fout, lambda bout: (*nothing, pullback(bout))

    def of_step(self, answer: Any, is_over: bool) -> Any:
        out, fout, pullback = answer
        if is_over:
            out, fout = EXHAUSTED, None
        return out, fout, lambda bout: pullback(bout)[1:]

    def use_decided(self, row: Any, xs: Values, fs: Values) -> Any:
        out, fout, pullback = row.rrule(xs, fs, NO_KWARGS)
        if fout is not None and (fout is not NO_FDATA or INACTIVE):
            fout = dependent(fout, fs, row)
        return out, fout, lambda bout: (None, *pullback(bout))

    def use_on_iterator(self, row: Any, xs: Values, fs: Values) -> Any:
        return row.rrule(xs, fs, NO_KWARGS)  # what a shadow of an iterator gives is as active as it says

    def use_on_object(self, row: Any, obj: Any, shadow: Any) -> Any:
        out, fout, pullback = row.rrule((obj,), (shadow,), NO_KWARGS)
        if fout is not None and (fout is not NO_FDATA or INACTIVE):
            fout = dependent(fout, (shadow,), row)
        return out, fout, lambda bout: (*pullback(bout), None)

    def use_given(self, row: Any, xs: Values, fs: Values, out: Any) -> Any:
        out, fout, pullback = row.rrule(xs, fs, NO_KWARGS, out)
        if fout is not None and (fout is not NO_FDATA or INACTIVE):
            fout = dependent(fout, fs, row)
        return out, fout, lambda bout: (None, *pullback(bout))

    def use_method(self, row: Any, own: Any, fown: Any, xs: Values, fs: Values) -> Any:
        beside = (fown, *fs)
        out, fout, pullback = row.rrule((own, *xs), beside, NO_KWARGS)
        if fout is not None and (fout is not NO_FDATA or INACTIVE):
            fout = dependent(fout, beside, row)

        def bound_pullback(bout: Any) -> Sequence[Any]:
            bown, *rest = pullback(bout)
            return (to_self(bown, False), *rest)

        return out, fout, bound_pullback

    def by_row(self, function: Any) -> Callable[..., Any]:
        decided, takes = self.decided, takes_values(function)
        is_other = function not in self.protocols
        is_of_table, is_comparing = is_other or function in BY_KEY, function in PLAINLY

        def handle(context: Context, xs: Values, fs: Values, mode: Mode = "reverse") -> Any:
            row = decided.get((function, tuple(map(type, xs)))) or self.decide(function, xs)
            if row is SLOW and is_of_table and context.texts is None:
                if is_other:
                    row = self.decided_without_text.get((function, tuple(map(type, xs))))
                    row = row or self.decide_without_text(function, xs)
                if row is SLOW:
                    row = self.decide_for_instances(context, function, xs)
            if row is SLOW and is_comparing:
                row = compared_plainly(function, xs) or SLOW
            if row is not SLOW:
                answer = row.rrule(xs, fs, NO_KWARGS)
                fout = answer[1]
                if fout is not None and (fout is not NO_FDATA or INACTIVE):
                    return answer[0], dependent(fout, fs, row), answer[2]
                return answer
            count = len(xs)
            if takes and are_values(xs, fs) and texts.are_free(context, function, xs):
                return self.of_values(context, function, xs, count)
            entered = self.enter_body(context, (), function, xs, fs, mode)
            if entered is not None:
                out, fout, pullback = entered
                return out, fout, lambda bout: pullback(bout)[1:]
            call = Call(function, None, xs, fs, tuple(range(count)), (), None)
            return self.call_slowly(context, call, count, mode)

        return handle

    def of_field(self, value: Any, fields: dict[str, Any], name: str) -> Any:
        slot = fields[name]

        def field_pullback(bout: Any) -> Sequence[Any]:
            if bout is not None:
                t = fields[name]
                is_sum = t.__class__ is float and bout.__class__ is float
                fields[name] = t + bout if is_sum else slot_increment(t, bout)
            return None, None

        return value, NO_FDATA if slot.__class__ is float else slot_shadow(slot), field_pullback

    def bind_method(self, function: Any, obj: Any, shadow: Any) -> Any:
        bound = MethodType(function, obj)
        if shadow is None:
            return bound, None, nothing_of_two
        return bound, FData(__self__=shadow, __func__=None), method_pullback_of_two

    def bind_method_in_c(self, descriptor: Any, obj: Any, shadow: Any) -> Any:
        bound = descriptor.__get__(obj, type(obj))  # C methods may read the class unasked
        if shadow is None:
            return bound, None, nothing_of_two
        return bound, FData(__self__=shadow), method_pullback_of_two

    # -- Python functions --------------------------------------------------------------------------------

    def enter_function(
        self,
        context: Context,
        function: FunctionType,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
        mode: Mode,
    ) -> Any:
        plan = plans.plan(self.engine, mode, function, xs, fs)
        return None if plan is None else self.enter_by(context, plan, function, ff, xs, fs, called)

    def enter_by(
        self,
        context: Context,
        plan: Plan,
        function: FunctionType,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
    ) -> Any:
        if called == "function":
            return self.enter_planned(context, plan, function, ff, xs, fs, 1)
        out, fout, pullback = self.enter_planned(context, plan, function, None, xs, fs, 0)
        if called == "object":
            return out, fout, pullback

        def method_pullback(bout: Any) -> Sequence[Any]:
            result = pullback(bout)
            if result[0] is not None:
                result[0] = RData(__self__=result[0], __func__=None)
            return result  # type: ignore[no-any-return]  # a list

        return out, fout, method_pullback

    def enter_planned(
        self,
        context: Context,
        plan: Plan,
        function: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        first: int,
        hand: Any = None,
    ) -> Any:
        if context.is_shallow:
            context.go_in()
        rule = plan.rule
        if rule not in context.checked:
            rule = plan.rule = plans.checked(
                self.engine, context, rule, function, plan.parameters, plan.active
            )
        last = plan.last
        if last is None or last[0] is not rule:
            is_plain = rule.returns_float or is_number(rule.result)
            beside = NO_FDATA if is_plain else value_shadow(rule.result)
            last = plan.last = rule, completing(rule), beside
        _, complete, fout = last
        if hand is None:
            answer = plan.hand(rule.forwards, context, function, ff, xs, fs)
        elif (answer := hand(rule.forwards, context, function, ff, xs, fs)) is None:
            return None
        if rule.returns_shadow:
            out, fout, saved = answer
        else:
            out, saved = answer
        give = plan.give_behind if first else plan.give

        if complete is None:
            return out, fout, lambda bout: give(rule.pullback(saved))
        return out, fout, lambda bout: give(rule.pullback(saved, complete(bout)))

    def enter_gathered(
        self,
        context: Context,
        plan: Plan,
        function: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        gather: Callable[..., Any],
        called: Called,
    ) -> Any:
        out, fout, pullback = self.enter_planned(context, plan, function, ff, xs, fs, 0)
        if called == "object":
            return out, fout, lambda bout: gather(pullback(bout), fs)
        if called == "method":

            def method_pullback(bout: Any) -> Sequence[Any]:
                result = gather(pullback(bout), fs)
                if result[0] is not None:
                    result[0] = RData(__self__=result[0], __func__=None)
                return result  # type: ignore[no-any-return]  # a list

            return out, fout, method_pullback
        return out, fout, lambda bout: [None, *gather(pullback(bout), fs)]

    def made(self, obj: Any, shadow: Any, initialised: Any) -> Any:
        _, _, pullback = initialised
        return obj, shadow, lambda bout: [None, *pullback(None)[1:]]

    def of_bound(self, answer: Any, bound: Bound) -> Answer:
        out, fout, pullback = answer

        def bound_pullback(bout: Any) -> Any:
            return scatter([origin for _, _, origin in bound], pullback(bout)) + keyword_rdata(bound)

        return out, fout, bound_pullback

    def of_origins(self, answer: Any, origins: Sequence[Any]) -> Answer:
        out, fout, pullback = answer
        return out, fout, lambda bout: zip(origins, pullback(bout), strict=True)

    # -- steps ---------------------------------------------------------------------------------------------

    def use_row(self, context: Context, step: steps.UseRow, mode: Mode) -> Answer:
        call = step.call
        if not call.keywords:
            out, fout, pullback = step.row.rrule(call.args, call.shadows, NO_KWARGS)
            origins: Sequence[Any] = call.origins
        else:
            lost = LostKeywords(context, call)
            args, shadows, kwargs, places = with_keywords(step, put_off=lost.put_off)
            out, fout, pullback = lost.and_lost(step.row.rrule(args, shadows, kwargs), len(args))
            origins = [*map((*call.origins, None).__getitem__, places), *lost.origins()]
        if fout is not None and (fout is not NO_FDATA or INACTIVE):
            fout = dependent(fout, call.shadows, step.row)
        return out, fout, lambda bout: zip(origins, pullback(bout), strict=False)

    def written(self, context: Context, call: Call) -> Sequence[Any]:
        return written_as_text(context, call)

    def and_written(
        self, context: Context, written: Sequence[Any], answer: Answer, *, is_out: bool = False
    ) -> Answer:
        memory: Any = context.texts
        if not written or memory is None:  # a line of a log may have gone nowhere
            return answer
        out, fout, inner = answer

        def text_pullback(bout: Any) -> Any:
            nan = memory.nan if memory.is_read_back or not is_out else None
            lost = () if nan is None else [(origin, lose(x, f, nan)) for origin, x, f in written]
            return (*inner(bout), *lost)

        return out, fout, text_pullback

    def of_places(self, answer: Answer, count: int) -> Any:
        out, fout, pullback = answer

        def places_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * count
            for place, rdata in pullback(bout):
                result[place] = rdata
            return result

        return out, fout, places_pullback

    def of_spread(self, step: steps.Spread, answer: Any) -> Answer:
        """The cotangents of elements of a tuple are gathered into one; those of a list and of keywords go
        straight to the slots of the shadow."""
        origins, keywords, n = step.call.origins, step.keywords, len(step.arguments)
        _, fargs, fkeywords = (*step.call.shadows, None)[:3]
        out, fout, pullback = answer

        def spread_pullback(bout: Any) -> Any:
            bf, *bargs = pullback(bout)
            if fkeywords is not None:
                for k, r in zip(keywords, bargs[n:], strict=True):
                    fkeywords[k] = slot_increment(fkeywords[k], r)
            if fargs.__class__ is list:
                for i, r in enumerate(bargs[:n]):
                    fargs[i] = slot_increment(fargs[i], r)
                return ((origins[0], bf),)
            whole = None if all(r is None for r in bargs[:n]) else tuple(bargs[:n])
            return ((origins[0], bf), (origins[1], whole))

        return out, fout, spread_pullback

    def of_applied(self, answer: Any, beside: Any, count: int) -> Any:
        out, fout, pullback = answer

        def applied_pullback(bout: Any) -> Sequence[Any]:
            bf, *bargs = pullback(bout)
            if beside.__class__ is list:
                for i, r in enumerate(bargs):
                    beside[i] = slot_increment(beside[i], r)
                bargs = []
            whole = None
            for r in bargs:
                if r is not None:
                    whole = tuple(bargs)
                    break
            return (bf, whole) if count == 2 else (bf, whole, None)

        return out, fout, applied_pullback

    # -- what stands beside values -------------------------------------------------------------------------

    def of_tuple(self, values: Values, shadows: Values) -> Any:
        return shadows

    def of_elements(self, shadow: Any) -> Values:
        return shadow if shadow.__class__ is tuple else tuple(map(slot_shadow, shadow))

    def of_keywords(self, values: dict[str, Any], shadows: dict[str, Any]) -> Any:
        return {name: slot_tangent(value, shadows[name]) for name, value in values.items()}

    def of_record(self, record: Any, shadows: dict[str, Any]) -> Any:
        return FData(**shadows)


def value_shadow(type: AbstractType) -> Any:
    """The shadow of an active value of a type, if that has no memory."""
    if isinstance(type, TupleType):
        return tuple(map(value_shadow, type.elements))
    return NO_FDATA if has_cotangent(type) else None


def completing(rule: DerivedView) -> Callable[[Any], Any] | None:
    """What makes of the cotangent of a result what the pullback of `rule` is given; None if nothing is."""
    if rule.returns_float:
        return as_float
    return completing_type(rule.result) if rule.returns_cotangent else None


@functools.lru_cache(maxsize=1000)
def completing_type(type: AbstractType) -> Callable[[Any], Any]:
    """A function of rdata that gives it with real zeros where the pullback of a rule with this result type
    expects numbers."""
    if isinstance(type, TupleType):
        parts = [completing_type(t) for t in type.elements]
        kinds = tuple(["float" if p is as_float else "" if p is _as_it_is else "part" for p in parts])
        made: Callable[[Any], Any] = completing_tuple(kinds)(parts, tuple([part(None) for part in parts]))
        return made
    if type == FLOAT:
        return as_float
    return _number if is_number(type) else _as_it_is


@functools.cache
def completing_tuple(kinds: tuple[str, ...]) -> Callable[..., Any]:
    """What makes, of functions for the elements of a tuple and what these make of None, the function for the
    tuple.  kinds: per element, whether it is a float, which most are, as it should be, or any other."""
    names = [f"r{i}" for i in range(len(kinds))]
    written = {"float": "{0} if {0}.__class__ is float else p{1}({0})", "": "{0}", "part": "p{1}({0})"}
    given = "".join(f"{written[kind].format(names[i], i)}, " for i, kind in enumerate(kinds))
    unpacked = "".join(f"{name}, " for name in names)
    lines = [
        "def made(parts, none):",
        *[f" {''.join(f'p{i}, ' for i in range(len(kinds)))} = parts"] * bool(kinds),
        " def complete(rdata):",
        "  if rdata is None: return none",
        *[f"  {unpacked} = rdata"] * bool(kinds),
        f"  return ({given})",
        " return complete",
    ]
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    made: Callable[..., Any] = scope["made"]
    return made


def _number(rdata: Any) -> Any:
    return 0.0 if rdata is None else rdata


def _as_it_is(rdata: Any) -> Any:
    return rdata


# It belongs to an engine, and is met where code of the runtime is differentiated once more.
register_tangent(ReverseCalls, None)
