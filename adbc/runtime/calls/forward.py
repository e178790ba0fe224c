"""Dynamic calls in forward mode: a tangent stands beside each value, None for zero.

A bound method or a record travels with a `Tangent` or `FData` of its parts; both read alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

from adbc.ir.intrinsics import EXHAUSTED
from adbc.rules.table import NO_KWARGS
from adbc.runtime.calls import fields, plans, steps, texts
from adbc.runtime.calls.binding import Bound
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.comparing import PLAINLY, compared_plainly
from adbc.runtime.calls.driver import Answer, Called, Calls, Names, Values
from adbc.runtime.calls.keys import BY_KEY
from adbc.runtime.calls.keywords import with_keywords
from adbc.runtime.calls.origins import no_pullback
from adbc.runtime.calls.plans import Mode, Plan
from adbc.runtime.calls.steps import Call
from adbc.runtime.calls.values_in_c import are_values, takes_values
from adbc.runtime.state.activity import is_nonzero
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, FData, Tangent, fill_tangent
from adbc.tangents.protocol import register_tangent

__all__ = ["ForwardCalls"]


def slot(tangent: Any) -> Any:
    """What stands beside a value of which a slot holds this tangent: None for zero."""
    return None if tangent is NO_TANGENT else tangent


class ForwardCalls(Calls):
    """The dynamic calls of one engine in forward mode."""

    mode, attempted, name = "forward", "forward", "forward_calls"
    known = staticmethod(Context.known_tangent)
    slot = staticmethod(slot)
    fill = fill_each = staticmethod(fill_tangent)
    get_field = staticmethod(fields.GET.frule)
    set_field = staticmethod(fields.SET.frule)

    def call_slowly(self, context: Context, call: Call, count: int, mode: Mode) -> Any:
        return self.run(context, call, mode)[:2]

    def constant(self, out: Any, fout: Any, count: int, undo: Callable[[], None] | None = None) -> Any:
        return out, fout

    def of_fields(self, record: Any, shadow: Any, names: Names) -> Any:
        return record, shadow

    def of_one(self, answer: Answer) -> Any:
        return answer[:2]

    def of_last(self, answer: Answer, count: int) -> Any:
        return answer[:2]

    def of_step(self, answer: Any, is_over: bool) -> Any:
        return (EXHAUSTED, None) if is_over else answer

    def use_decided(self, row: Any, xs: Values, fs: Values) -> Any:
        out, dout = row.frule(xs, fs, NO_KWARGS)
        return out, None if dout is NO_TANGENT else dout

    def use_on_iterator(self, row: Any, xs: Values, dxs: Values) -> Any:
        out, dout = row.frule(xs, dxs, NO_KWARGS)
        return out, None if dout is NO_TANGENT else dout

    def use_on_object(self, row: Any, obj: Any, shadow: Any) -> Any:
        out, dout = row.frule((obj,), (shadow,), NO_KWARGS)
        return out, None if dout is NO_TANGENT else dout

    def use_given(self, row: Any, xs: Values, fs: Values, out: Any) -> Any:
        out, dout = row.frule(xs, fs, NO_KWARGS, out)
        return out, None if dout is NO_TANGENT else dout

    def use_method(self, row: Any, own: Any, fown: Any, xs: Values, fs: Values) -> Any:
        out, dout = row.frule((own, *xs), (fown, *fs), NO_KWARGS)
        return out, None if dout is NO_TANGENT else dout

    def by_row(self, function: Any) -> Callable[..., Any]:
        decided, takes = self.decided, takes_values(function)
        is_other = function not in self.protocols
        is_of_table, is_comparing = is_other or function in BY_KEY, function in PLAINLY

        def handle(context: Context, xs: Values, dxs: Values, mode: Mode = "forward") -> Any:
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
                out, dout = row.frule(xs, dxs, NO_KWARGS)
                return out, None if dout is NO_TANGENT else dout
            if takes and are_values(xs, dxs) and texts.are_free(context, function, xs):
                return self.of_values(context, function, xs, len(xs))
            entered = self.enter_body(context, (), function, xs, dxs, mode)
            if entered is not None:
                return entered
            return self.run(context, Call(function, None, xs, dxs, (None,) * len(xs)), "forward")[:2]

        return handle

    def of_field(self, value: Any, fields: dict[str, Any], name: str) -> Any:
        slot = fields[name]
        return value, None if slot is NO_TANGENT else slot

    def bind_method(self, function: Any, obj: Any, shadow: Any) -> Any:
        return MethodType(function, obj), None if shadow is None else FData(__self__=shadow, __func__=None)

    def bind_method_in_c(self, descriptor: Any, obj: Any, shadow: Any) -> Any:
        return descriptor.__get__(obj, type(obj)), None if shadow is None else FData(__self__=shadow)

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
        plan = plans.plan(self.engine, "forward", function, xs, fs)
        return None if plan is None else self.enter_planned(context, plan, function, ff, xs, fs, 0)

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
        return self.enter_planned(context, plan, function, ff, xs, fs, 0)

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
        return (hand or plan.hand)(rule.forwards, context, function, ff, xs, fs)

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
        if any(f.__class__ is tuple for f in fs):
            fs = tuple(
                [self.of_tuple(x, f) if f.__class__ is tuple else f for x, f in zip(xs, fs, strict=True)]
            )
        return self.enter_planned(context, plan, function, ff, xs, fs, 0)

    def made(self, obj: Any, shadow: Any, initialised: Any) -> Any:
        return obj, shadow

    def of_bound(self, answer: Any, bound: Bound) -> Answer:
        return *answer, no_pullback

    def of_origins(self, answer: Any, origins: Sequence[Any]) -> Answer:
        return *answer, no_pullback

    # -- steps ---------------------------------------------------------------------------------------------

    def use_row(self, context: Context, step: steps.UseRow, mode: Mode) -> Answer:
        call = step.call
        if not call.keywords:
            out, dout = step.row.frule(call.args, call.shadows, NO_KWARGS)
        else:
            args, tangents, kwargs, _ = with_keywords(step, is_nonzero)
            out, dout = step.row.frule(args, tangents, kwargs)
        return out, None if dout is NO_TANGENT else dout, no_pullback

    def value(self, context: Context, step: steps.Value, mode: Mode) -> Answer:
        return step.value, step.shadow, no_pullback

    def of_places(self, answer: Answer, count: int) -> Any:
        return answer[:2]

    def of_spread(self, step: steps.Spread, answer: Any) -> Answer:
        return *answer, no_pullback

    def of_applied(self, answer: Any, beside: Any, count: int) -> Any:
        return answer

    # -- what stands beside values -------------------------------------------------------------------------

    def of_tuple(self, values: Values, shadows: Values) -> Any:
        return tuple(map(fill_tangent, tuple.__iter__(values), shadows))  # not by methods of a subclass

    def of_elements(self, shadow: Any) -> Values:
        return tuple(map(slot, shadow))

    def of_keywords(self, values: dict[str, Any], shadows: dict[str, Any]) -> Any:
        return {name: fill_tangent(x, shadows[name]) for name, x in values.items()}

    def of_record(self, record: Any, shadows: dict[str, Any]) -> Any:
        return Tangent(
            **{name: fill_tangent(object.__getattribute__(record, name), d) for name, d in shadows.items()}
        )


# It belongs to an engine, and is met where code of the runtime is differentiated once more.
register_tangent(ForwardCalls, None)
