"""Calls in forward mode, decided at run time: the counterpart of `reverse_calls`.

Tangents stand where shadows stand there (None for zero), so the same protocols serve both.  A bound
method or a record travels with a `Tangent` or `FData` of its parts; both read alike.
"""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from adbc.errors import MissingRuleError
from adbc.ir import intrinsics
from adbc.rules.table import NO_KWARGS
from adbc.runtime.calls import attributes, class_bodies, exceptions, fast, fields, resolve, steps
from adbc.runtime.calls.binding import bind
from adbc.runtime.calls.fast import SLOW
from adbc.runtime.calls.foreign import call_foreign
from adbc.runtime.calls.generators import suspended
from adbc.runtime.calls.resolve import located
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import cells_of, with_active_defaults
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, FData, MutableTangent, Tangent, fill_tangent
from adbc.types import has_cotangent, has_shadow, is_local

__all__ = ["ForwardCalls"]

Answer = tuple[Any, Any]


class ForwardCalls:
    """The calls of one engine."""

    def __init__(self, engine: Any, protocols: dict[Any, Any]) -> None:
        self.engine = engine
        self.table = engine.table
        self.decided = engine.table.decided
        self.protocols = protocols

    def call(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        df: Any,
        xs: tuple[Any, ...],
        dxs: tuple[Any, ...],
    ) -> Answer:
        """``f(*xs)``, the last arguments by keyword, with the tangent of the result."""
        if not keywords:
            kind, entered = f.__class__, None
            if kind is MethodType and f.__func__.__class__ is FunctionType:
                dself = None if df is None or df is NO_TANGENT else df.__dict__.get("__self__")
                entered = self.enter_function(context, f.__func__, None, (f.__self__, *xs), (dself, *dxs))
            elif kind is FunctionType:
                entered = self.enter_function(context, f, df, xs, dxs)
            if entered is not None:
                return entered
            if kind is BuiltinFunctionType or (kind is FunctionType and self.table.rows(f)):
                row = self.decided.get((f, tuple(map(type, xs))))
                if row is None:
                    row = self.decide(f, xs)
                if row is not SLOW:
                    out, dout = row.frule(xs, dxs, NO_KWARGS)
                    return out, None if dout is NO_TANGENT else dout
        return self.run(context, Call(f, df, xs, dxs, (None,) * len(xs), keywords))

    def call_from_outside(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        df: Any,
        xs: tuple[Any, ...],
        dxs: tuple[Any, ...],
    ) -> Answer:
        """The first call: lists among the arguments are looked through, for nobody has yet."""
        if self.engine.forward.watch is not None:
            return self.call(context, keywords, f, df, xs, dxs)
        if not keywords and f.__class__ is FunctionType and list in map(type, xs) and not self.table.rows(f):
            plan = fast.plan(self.engine, "forward", f, xs, dxs, fast.lists_in(xs))
            if plan is not None:
                return self.enter_planned(context, plan, f, df, xs, dxs)
        return self.call(context, keywords, f, df, xs, dxs)

    def enter_function(
        self, context: Context, function: Any, df: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...]
    ) -> Answer | None:
        """Enter a Python function without a rule on exactly its parameters, if the classes say how.

        What was decided for the classes of the last call is kept with the plans, by the address of the code;
        not for classes of which a type says more than they do, and those that differentiated code has made.
        """
        if self.table.rows(function):
            return None  # another function of the same code may have none
        engine, code = self.engine, function.__code__
        last = engine.plans.get(id(code))
        if (
            last is not None
            and last[0] is code
            and last[1] is function.__globals__
            and last[2] in context.checked
            and engine.epoch == self.table.epoch
            and len(last[3]) == len(xs)
        ):
            rule = last[2]
            arguments: list[Any] = [context, function, df] if rule.takes_function else [context]
            for x, d, known, flag in zip(xs, dxs, last[3], last[4]):  # noqa: B905  # called often
                if type(x) is not known or (d is not None) is not flag:
                    break
                arguments.append(x)
                if flag:
                    arguments.append(d)
            else:
                answer: Answer = rule.forwards(*arguments)
                return answer
        plan = fast.plan(engine, "forward", function, xs, dxs)
        if plan is None:
            return None
        classes = tuple(map(type, xs))
        given = tuple([d is not None for d in dxs])
        if given == tuple(map(bool, plan[1])) and not any(
            is_local(cls) or cls.__name__ == "ndarray" for cls in classes
        ):
            engine.plans[id(code)] = code, function.__globals__, plan[0], classes, given
        return self.enter_planned(context, plan, function, df, xs, dxs)

    def enter_planned(
        self, context: Context, plan: Any, function: Any, df: Any, xs: tuple[Any, ...], dxs: tuple[Any, ...]
    ) -> Answer:
        """Enter a Python function whose parameters are exactly these arguments."""
        rule, flags, parameters, active = plan
        if rule not in context.checked:
            rule = fast.checked(self.engine, context, rule, function, parameters, active)
        arguments: list[Any] = [context, function, df] if rule.takes_function else [context]
        for x, d, flag in zip(xs, dxs, flags):  # noqa: B905  # as many as parameters, and this is called often
            arguments.append(x)
            if flag:
                arguments.append(d)
        answer: Answer = rule.forwards(*arguments)
        return answer

    def decide(self, function: Any, xs: tuple[Any, ...]) -> Any:
        """The row for a call of `function` on arguments of these classes, if they decide it, else `SLOW`."""
        row = fast.decide(function, xs, self.table, self.protocols)
        if function.__class__ is FunctionType or getattr(function, "__self__", None).__class__ is ModuleType:
            self.decided[function, tuple(map(type, xs))] = row  # these stay: other callables come and go
        return row

    def handler(self, function: Any) -> Callable[..., Any] | None:
        """The direct way to an intrinsic or operator: handler(context, xs, dxs)."""
        if function not in self.protocols:
            return None

        if function is intrinsics._getattr_:
            return self.get_attribute
        decided = self.decided

        def handle(context: Context, xs: tuple[Any, ...], dxs: tuple[Any, ...]) -> Answer:
            row = decided.get((function, tuple(map(type, xs))))
            if row is None:
                row = self.decide(function, xs)
            if row is not SLOW:
                out, dout = row.frule(xs, dxs, NO_KWARGS)
                return out, None if dout is NO_TANGENT else dout
            return self.run(context, Call(function, None, xs, dxs, (None,) * len(xs)))

        handle.__name__ = handle.__qualname__ = getattr(function, "__name__", "handle")
        handle.handled = "forward_calls", function  # type: ignore[attr-defined]  # by which `naming` finds it again
        return handle

    def get_attribute(self, context: Context, xs: tuple[Any, ...], dxs: tuple[Any, ...]) -> Answer:
        """``obj.name``, with a short way for fields and methods of ordinary instances."""
        obj, name = xs
        cls = type(obj)
        found = context.attributes.get((cls, name))
        if found is None:
            found = context.attributes[cls, name] = fast.attribute(cls, name)
        if found is not SLOW:
            if name in obj.__dict__:
                return fields.GET.frule(xs, dxs, NO_KWARGS)
            if found is not fast.FIELD:
                d = dxs[0]
                return MethodType(found, obj), None if d is None else FData(__self__=d, __func__=None)
        return self.run(context, Call(intrinsics._getattr_, None, xs, dxs, (None, None)))

    def run(self, context: Context, call: Call) -> Answer:
        step = resolve.step(call, self.table, self.protocols)
        while type(step) is steps.Delegate:
            step = resolve.step(step.call, self.table, self.protocols)
        answer: Answer = _DRIVERS[type(step)](self, context, step)
        return answer

    def use_row(self, context: Context, step: steps.UseRow) -> Answer:
        call, row = step.call, step.row
        n = call.count
        if not call.keywords:
            out, dout = row.frule(call.args, call.shadows, NO_KWARGS)
        else:
            by_name = dict(zip(call.keywords, range(n, len(call.args)), strict=True))
            indices, rest = row.bind(tuple(range(n)), by_name)
            for name, i in rest.items():
                if is_active(call.shadows[i]) and row.kind != "zero":
                    raise MissingRuleError(
                        missing_rule(
                            call,
                            f"its keyword argument {name!r} has a derivative, which the rule does not cover",
                        )
                    )
            out, dout = row.frule(
                tuple(None if i is None else call.args[i] for i in indices),
                tuple(None if i is None else call.shadows[i] for i in indices),
                {name: call.args[i] for name, i in rest.items()},
            )
        return out, None if dout is NO_TANGENT else dout

    def enter(self, context: Context, step: steps.Enter) -> Answer:
        call = step.call
        function, engine = call.function, self.engine
        if call.shadow is None and function in with_active_defaults:
            call.shadow = context.shadows.lookup(function)
        bound = bind(call, context.known_tangent, _tangent_dict, _slot)
        parameters = [engine.typeof(value) for value, _, _ in bound]
        active = [
            tangent is not None and (has_shadow(type) or has_cotangent(type))
            for (_, tangent, _), type in zip(bound, parameters, strict=True)
        ]
        rule = engine.entry(function, parameters, active, "forward")
        if rule not in context.checked:
            rule = fast.checked(engine, context, rule, function, parameters, active)
        arguments: list[Any] = [context]
        if rule.takes_function:
            arguments += (function, call.shadow)
        for (value, tangent, _), is_on in zip(bound, active, strict=True):
            arguments.append(value)
            if is_on:
                if tangent.__class__ is tuple:
                    tangent = tuple(map(fill_tangent, value, tangent))
                arguments.append(tangent)
        answer: Answer = rule.forwards(*arguments)
        return answer

    def alternatives(self, context: Context, step: steps.Alternatives) -> Answer:
        for call in step.calls:
            answer = self.run(context, call)
            if answer[0] is not NotImplemented:
                return answer
        return step.failure(), None

    def make(self, context: Context, step: steps.Make) -> Answer:
        call, cls = step.call, step.call.function
        if step.allocate is None:
            obj = object.__new__(cls)
            tangent: Any = MutableTangent()
            context.shadows.register(obj, tangent)
        else:
            obj, tangent = self.run(context, call.prepend(step.allocate, None, cls, None, None))
            if not isinstance(obj, cls):
                return obj, tangent
        if step.initialise is not None:
            answer, _ = self.run(context, call.prepend(step.initialise, None, obj, tangent, None))
            if answer is not None:
                raise TypeError(f"__init__() should return None, not '{type(answer).__name__}'")
        return obj, tangent

    def make_record(self, context: Context, step: steps.MakeRecord) -> Answer:
        call = step.call
        n = call.count
        out = call.function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
        names = [*step.names[:n], *call.keywords]
        tangents = dict(zip(names, call.shadows, strict=True))
        for name in step.names:
            if name not in tangents:  # a default
                origin = class_bodies.default_of(context, step.constructor, name)
                found = context.known_tangent(getattr(out, name)) if origin is None else origin.tangent()
                tangents[name] = _slot(found)
        if all(d is None for d in tangents.values()):
            return out, None
        return out, Tangent(**{name: fill_tangent(getattr(out, name), tangents[name]) for name in step.names})

    def foreign(self, context: Context, step: steps.Foreign) -> Answer:
        out, _ = call_foreign(context, step.call)
        return out, context.known_tangent(out)

    def run_body(self, context: Context, step: steps.RunBody) -> Answer:
        call = step.call
        (body, namespace), (shadow, names) = call.args, call.shadows
        cells = cells_of(context, body, shadow)
        args = (namespace, *(cell for cell, _ in cells))
        tangents = (names, *(tangent for _, tangent in cells))
        function = self.engine.class_body(body)
        return self.enter(context, steps.Enter(Call(function, None, args, tangents, (None,) * len(args))))

    def make_type(self, context: Context, step: steps.MakeType) -> Answer:
        out, _ = class_bodies.made(context, step.call, class_bodies.same)
        return out, None

    def as_it_is(self, context: Context, step: steps.AsItIs) -> Answer:
        out, _ = class_bodies.as_it_is(context, step.call, class_bodies.same)
        return out, context.known_tangent(out)

    def hold(self, context: Context, step: steps.Hold) -> Answer:
        return class_bodies.held(context, step.call), None

    def of_class(self, context: Context, step: steps.OfClass) -> Answer:
        fields = context.class_fields(step.owner)
        if fields is None or step.name not in fields:
            return step.value, context.known_tangent(step.value)
        return step.value, _slot(fields[step.name])

    def on_class(self, context: Context, step: steps.OnClass) -> Answer:
        out, _ = class_bodies.on_class(context, step.call, fill_tangent)
        return out, None

    def locate(self, context: Context, step: steps.Locate) -> Answer:
        return self.run(context, located(step, context, context.known_tangent))

    def allocate_exception(self, context: Context, step: steps.AllocateException) -> Answer:
        return exceptions.allocated(context, step.call, fill_tangent)

    def of_exception(self, context: Context, step: steps.OfException) -> Answer:
        call = step.call
        if call.shadows[0] is None:
            call.shadows = (exceptions.caught(context, call.args[0]), *call.shadows[1:])
        found = exceptions.of_exception(context, step) or attributes.plain_get(call, self.table, True)
        assert found is not None
        while type(found) is steps.Delegate:
            found = resolve.step(found.call, self.table, self.protocols)
        answer: Answer = _DRIVERS[type(found)](self, context, found)
        return answer

    def watch(self, context: Context, step: steps.Watch) -> Answer:
        out = class_bodies.watched(context, step.call, step.what)
        return out, context.known_tangent(out)

    def refer(self, context: Context, step: steps.Refer) -> Answer:
        call = step.call
        context.shadows.adopt(call.args[step.place], call.shadows[step.place])
        out = call.function(*call.args)
        return out, context.known_tangent(out)

    def known(self, context: Context, step: steps.Known) -> Answer:
        return step.value, context.known_tangent(step.value)

    def value(self, context: Context, step: steps.Value) -> Answer:
        return step.value, step.shadow

    def advance(self, context: Context, step: steps.Advance) -> Answer:
        try:
            return self.run(context, step.call)
        except StopIteration:
            return intrinsics.EXHAUSTED, None

    def spread(self, context: Context, step: steps.Spread) -> Answer:
        call, args, keywords = step.call, step.arguments, step.keywords
        df, dargs, dkeywords = (*call.shadows, None)[:3]
        tangents = (None,) * len(args) if dargs is None else tuple(map(_slot, dargs))
        named = [None if dkeywords is None else _slot(dkeywords[k]) for k in keywords]
        return self.call(
            context, tuple(keywords), step.function, df, (*args, *keywords.values()), (*tangents, *named)
        )

    def suspend(self, context: Context, step: steps.Suspend) -> Answer:
        call = step.call
        function = call.function
        if call.shadow is None:
            call.shadow = context.shadows.lookup(function)
        bound = bind(call, context.known_tangent, _tangent_dict, _slot)
        cells = cells_of(context, function, call.shadow)
        state = (*(value for value, _, _ in bound), *(cell for cell, _ in cells))
        tangents = (*(tangent for _, tangent, _ in bound), *(tangent for _, tangent in cells))
        filled = tuple(map(fill_tangent, state, tangents))
        segments = self.engine.segments(function)
        out, shadow = suspended(segments, state, filled, function.__name__, context.opening())
        context.shadows.register(out, shadow)
        return out, shadow


_DRIVERS: dict[type, Callable[..., Any]] = {
    steps.UseRow: ForwardCalls.use_row,
    steps.Enter: ForwardCalls.enter,
    steps.Alternatives: ForwardCalls.alternatives,
    steps.Make: ForwardCalls.make,
    steps.MakeRecord: ForwardCalls.make_record,
    steps.Foreign: ForwardCalls.foreign,
    steps.Known: ForwardCalls.known,
    steps.RunBody: ForwardCalls.run_body,
    steps.MakeType: ForwardCalls.make_type,
    steps.AsItIs: ForwardCalls.as_it_is,
    steps.Hold: ForwardCalls.hold,
    steps.OfClass: ForwardCalls.of_class,
    steps.OnClass: ForwardCalls.on_class,
    steps.Locate: ForwardCalls.locate,
    steps.AllocateException: ForwardCalls.allocate_exception,
    steps.OfException: ForwardCalls.of_exception,
    steps.Watch: ForwardCalls.watch,
    steps.Refer: ForwardCalls.refer,
    steps.Value: ForwardCalls.value,
    steps.Advance: ForwardCalls.advance,
    steps.Spread: ForwardCalls.spread,
    steps.Suspend: ForwardCalls.suspend,
}


def _slot(tangent: Any) -> Any:
    return None if tangent is NO_TANGENT else tangent


def _tangent_dict(values: dict[str, Any], tangents: dict[str, Any]) -> Any:
    if all(d is None for d in tangents.values()):
        return None if not values else {name: fill_tangent(x, None) for name, x in values.items()}
    return {name: fill_tangent(x, tangents[name]) for name, x in values.items()}
