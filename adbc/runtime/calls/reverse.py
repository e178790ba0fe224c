"""Calls in reverse mode, decided at run time.

`ReverseCalls.call` is what generated code does where it did not know what it was calling, and how
rules are entered from outside.  It asks `resolve.step` what CPython would do, until that is a rule
or a Python function, and wraps the pullback so that each cotangent finds its argument again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from adbc.errors import AdbcError, MissingRuleError
from adbc.ir import intrinsics
from adbc.ir.intrinsics import Raised
from adbc.rules.table import NO_KWARGS
from adbc.runtime.calls import attributes, class_bodies, exceptions, fast, fields, resolve, steps
from adbc.runtime.calls.binding import Bound, Default, bind
from adbc.runtime.calls.fast import SLOW
from adbc.runtime.calls.foreign import call_foreign
from adbc.runtime.calls.generators import suspended
from adbc.runtime.calls.resolve import located
from adbc.runtime.calls.steps import Call, OfSelf
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.report.tracebacks import plain_traceback
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.closures import cells_of, with_active_defaults
from adbc.runtime.state.context import Context
from adbc.runtime.state.slots import as_float
from adbc.tangents import (
    NO_FDATA,
    FData,
    MutableTangent,
    RData,
    add,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)
from adbc.types import AbstractType, TupleType, has_cotangent, has_shadow
from adbc.types.lattice import FLOAT, is_number

__all__ = ["ReverseCalls"]

Pullback = Callable[[Any], Sequence[Any]]
Answer = tuple[Any, Any, Pullback]


def no_pullback(bout: Any) -> Sequence[Any]:
    """The pullback of a call through which nothing flows back."""
    return ()


def nothing_of_two(bout: Any) -> Sequence[Any]:
    return None, None


def method_pullback_of_two(bout: Any) -> Sequence[Any]:
    """Of ``obj.method``: what comes back for ``__self__``."""
    return None if bout is None else bout.__dict__.get("__self__"), None


class ReverseCalls:
    """The calls of one engine."""

    def __init__(self, engine: Any, protocols: dict[Any, Any]) -> None:
        self.engine = engine
        self.table = engine.table
        self.decided = engine.table.decided
        self.protocols = protocols

    # -- entry points ----------------------------------------------------------------------------------

    def call(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        ff: Any,
        xs: tuple[Any, ...],
        fs: tuple[Any, ...],
    ) -> Answer:
        """``f(*xs)``, the last arguments by keyword; the pullback gives (bf, *bxs)."""
        if not keywords:
            kind = f.__class__
            if kind is MethodType and f.__func__.__class__ is FunctionType:
                return self.call_method(context, f, ff, xs, fs)
            if kind is FunctionType and not self.table.rows(f):
                plan = self.plan(context, f, xs, fs)
                if plan is not None:
                    return self.enter_planned(context, plan, f, ff, xs, fs, 1)
            elif kind is FunctionType or kind is BuiltinFunctionType:
                row = self.decided.get((f, tuple(map(type, xs))))
                if row is None:
                    row = self.decide(f, xs)
                if row is not SLOW:
                    out, fout, pullback = row.rrule(xs, fs, NO_KWARGS)
                    return out, fout, lambda bout: (None, *pullback(bout))
        return self.call_slowly(context, keywords, f, ff, xs, fs)

    def call_from_outside(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        ff: Any,
        xs: tuple[Any, ...],
        fs: tuple[Any, ...],
    ) -> Answer:
        """The first call: lists among the arguments are looked through, for nobody has yet."""
        if self.engine.reverse.watch is not None:
            return self.call(context, keywords, f, ff, xs, fs)
        if not keywords and f.__class__ is FunctionType and list in map(type, xs) and not self.table.rows(f):
            plan = fast.plan(self.engine, "reverse", f, xs, fs, fast.lists_in(xs))
            if plan is not None:
                return self.enter_planned(context, plan, f, ff, xs, fs, 1)
        return self.call(context, keywords, f, ff, xs, fs)

    def call_slowly(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        ff: Any,
        xs: tuple[Any, ...],
        fs: tuple[Any, ...],
    ) -> Answer:
        """The same for any call."""
        count = len(xs) + 1
        call = Call(f, ff, xs, fs, tuple(range(1, count)), keywords)
        out, fout, inner = self.run(context, call)
        if inner is no_pullback:
            nothing = (None,) * count
            return out, fout, lambda bout: nothing

        def call_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * count
            for origin, rdata in inner(bout):
                if origin is not None and rdata is not None:
                    if origin.__class__ is OfSelf:
                        origin = origin.place
                        if origin is None:
                            continue
                        rdata = RData(__self__=rdata, __func__=None)
                    result[origin] = rdata if result[origin] is None else add(result[origin], rdata)
            return result

        return out, fout, call_pullback

    def attempt(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        ff: Any,
        xs: tuple[Any, ...],
        fs: tuple[Any, ...],
    ) -> Answer:
        """Like `call`, but an exception comes back as a `Raised`, with the pullback of what had been done."""
        context.protected = True
        try:
            return self.call_slowly(context, keywords, f, ff, xs, fs)
        except AdbcError:
            raise  # a refusal is not for the user's handlers: swallowed, it would be a wrong derivative
        except BaseException as error:  # whatever the user's handler may want to see, and handed on to it
            nothing = (None,) * (len(xs) + 1)
            return Raised(plain_traceback(error)), None, lambda bout: nothing
        finally:
            context.protected = False

    def call_method(
        self, context: Context, f: Any, ff: Any, xs: tuple[Any, ...], fs: tuple[Any, ...]
    ) -> Answer:
        """A bound method written in Python: its function, entered with the instance in front."""
        function = f.__func__
        all_xs = (f.__self__, *xs)
        all_fs = (None if ff is None or ff is NO_FDATA else ff.__dict__.get("__self__"), *fs)
        plan = None if self.table.rows(function) else self.plan(context, function, all_xs, all_fs)
        if plan is None:
            return self.call_slowly(context, (), f, ff, xs, fs)
        out, fout, pullback = self.enter_planned(context, plan, function, None, all_xs, all_fs, 0)

        def method_pullback(bout: Any) -> Sequence[Any]:
            result = pullback(bout)
            if result[0] is not None:
                result[0] = RData(__self__=result[0], __func__=None)  # type: ignore[index]  # made as a list
            return result

        return out, fout, method_pullback

    def decide(self, function: Any, xs: tuple[Any, ...]) -> Any:
        """The row for a call of `function` on arguments of these classes, if they decide it, else `SLOW`."""
        row = fast.decide(function, xs, self.table, self.protocols)
        if function.__class__ is FunctionType or getattr(function, "__self__", None).__class__ is ModuleType:
            self.decided[function, tuple(map(type, xs))] = row  # these stay: other callables come and go
        return row

    def handler(self, function: Any) -> Callable[..., Any] | None:
        """The direct way to an intrinsic or operator: handler(context, xs, fs); pullback gives (*bxs)."""
        if function not in self.protocols:
            return None
        if function is intrinsics._getattr_:
            return self.get_attribute
        decided = self.decided

        def handle(context: Context, xs: tuple[Any, ...], fs: tuple[Any, ...]) -> Answer:
            row = decided.get((function, tuple(map(type, xs))))
            if row is None:
                row = self.decide(function, xs)
            if row is not SLOW:
                return row.rrule(xs, fs, NO_KWARGS)  # type: ignore[no-any-return]  # a row
            out, fout, pullback = self.call_slowly(context, (), function, None, xs, fs)
            return out, fout, lambda bout: pullback(bout)[1:]

        handle.__name__ = handle.__qualname__ = getattr(function, "__name__", "handle")
        handle.handled = "reverse_calls", function  # type: ignore[attr-defined]  # by which `naming` finds it again
        return handle

    def get_attribute(self, context: Context, xs: tuple[Any, ...], fs: tuple[Any, ...]) -> Answer:
        """``obj.name``, with a short way for fields and methods of ordinary instances."""
        obj, name = xs
        cls = type(obj)
        found = context.attributes.get((cls, name))
        if found is None:
            found = context.attributes[cls, name] = fast.attribute(cls, name)
        if found is not SLOW:
            own = obj.__dict__
            if name in own:
                return fields.GET.rrule(xs, fs, NO_KWARGS)
            if found is not fast.FIELD:
                shadow = fs[0]
                bound = MethodType(found, obj)
                if shadow is None:
                    return bound, None, nothing_of_two
                return bound, FData(__self__=shadow, __func__=None), method_pullback_of_two
        out, fout, pullback = self.call_slowly(context, (), intrinsics._getattr_, None, xs, fs)
        return out, fout, lambda bout: pullback(bout)[1:]

    # -- known functions -------------------------------------------------------------------------------

    def plan(self, context: Context, function: Any, xs: tuple[Any, ...], fs: tuple[Any, ...]) -> Any:
        """How to enter `function` with exactly its positional parameters, if classes decide (`fast.plan`)."""
        return fast.plan(self.engine, "protected" if context.protected else "reverse", function, xs, fs)

    def enter_planned(
        self,
        context: Context,
        plan: Any,
        function: Any,
        ff: Any,
        xs: tuple[Any, ...],
        fs: tuple[Any, ...],
        first: int,
    ) -> Answer:
        """Enter a Python function; the pullback gives a list that begins with `first` Nones."""
        rule, flags, parameters, active = plan
        context.protected = False
        if rule not in context.checked:
            rule = fast.checked(self.engine, context, rule, function, parameters, active)
        arguments: list[Any] = [context, function, ff] if rule.takes_function else [context]
        for x, f, flag in zip(xs, fs, flags, strict=True):
            arguments.append(x)
            if flag & 1:
                arguments.append(f)
        result = rule.result
        is_float, returns_cotangent = rule.returns_float, rule.returns_cotangent
        if rule.returns_shadow:
            out, fout, saved = rule.forwards(*arguments)
        else:
            out, saved = rule.forwards(*arguments)
            fout = NO_FDATA if is_float or is_number(result) else value_shadow(result)

        def planned_pullback(bout: Any) -> Sequence[Any]:
            if is_float:
                returned = iter(rule.pullback(saved, as_float(bout)))
            elif returns_cotangent:
                returned = iter(rule.pullback(saved, complete(bout, result)))
            else:
                returned = iter(rule.pullback(saved))
            answer: list[Any] = [None] * first
            answer += [next(returned) if flag & 2 else None for flag in flags]
            return answer

        return out, fout, planned_pullback

    # -- the loop ----------------------------------------------------------------------------------------

    def run(self, context: Context, call: Call) -> tuple[Any, Any, Callable[[Any], Any]]:
        """Make `call`; the pullback gives pairs (origin, rdata)."""
        step = resolve.step(call, self.table, self.protocols)
        while type(step) is steps.Delegate:
            step = resolve.step(step.call, self.table, self.protocols)
        answer: tuple[Any, Any, Callable[[Any], Any]] = _DRIVERS[type(step)](self, context, step)
        return answer

    def use_row(self, context: Context, step: steps.UseRow) -> Any:
        call, row = step.call, step.row
        n = call.count
        if not call.keywords:
            out, fout, pullback = row.rrule(call.args, call.shadows, NO_KWARGS)
            origins: Sequence[Any] = call.origins
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
            out, fout, pullback = row.rrule(
                tuple(None if i is None else call.args[i] for i in indices),
                tuple(None if i is None else call.shadows[i] for i in indices),
                {name: call.args[i] for name, i in rest.items()},
            )
            origins = [None if i is None else call.origins[i] for i in indices]
        return out, fout, lambda bout: zip(origins, pullback(bout), strict=False)

    def enter(self, context: Context, step: steps.Enter) -> Any:
        """Enter a Python function through its derived rule."""
        call = step.call
        function = call.function
        engine = self.engine
        if call.shadow is None and function in with_active_defaults:
            call.shadow = context.shadows.lookup(function)
        bound = bind(call, context.known_shadow, _shadow_dict, slot_shadow)
        parameters = []
        active = []
        for value, shadow, _ in bound:
            type = engine.typeof(value)
            parameters.append(type)
            active.append(shadow is not None and (has_shadow(type) or has_cotangent(type)))
        mode = "protected" if context.protected else "reverse"
        context.protected = False
        rule = engine.entry(function, parameters, active, mode)
        if rule not in context.checked:
            rule = fast.checked(self.engine, context, rule, function, parameters, active)
        arguments: list[Any] = [context]
        if rule.takes_function:
            arguments += (function, call.shadow)
        targets = []
        for (value, shadow, origin), type, is_on in zip(bound, parameters, active, strict=True):
            arguments.append(value)
            if is_on:
                if has_shadow(type):
                    arguments.append(shadow)
                if has_cotangent(type):
                    targets.append(origin)
        result = rule.result
        if has_shadow(result):
            out, fout, saved = rule.forwards(*arguments)
        else:
            out, saved = rule.forwards(*arguments)
            fout = value_shadow(result)

        def derived_pullback(bout: Any) -> Any:
            if has_cotangent(result):
                returned = rule.pullback(saved, complete(bout, result))
            else:
                returned = rule.pullback(saved)
            return scatter(targets, returned) + keyword_rdata(bound)

        return out, fout, derived_pullback

    def alternatives(self, context: Context, step: steps.Alternatives) -> Any:
        protected = context.protected
        declined: list[Callable[[Any], Any]] = []
        for call in step.calls:
            context.protected = protected
            answer = self.run(context, call)
            if answer[0] is not NotImplemented:
                break
            declined.append(answer[2])  # what it did before it declined is undone like the rest
        else:
            try:
                answer = step.failure(), None, no_pullback
            except TypeError as error:
                if not (protected and declined):
                    raise
                answer = Raised(plain_traceback(error)), None, no_pullback
        if not declined:
            return answer
        out, fout, last = answer

        def declined_pullback(bout: Any) -> Any:
            returned = list(last(bout))
            for pullback in reversed(declined):
                returned += pullback(None)
            return returned

        return out, fout, declined_pullback

    def make(self, context: Context, step: steps.Make) -> Any:
        """``cls(...)``: ``__new__``, then ``__init__`` on the new object, whose shadow is empty at first."""
        call, cls = step.call, step.call.function
        allocate, protected = step.allocate, context.protected
        if allocate is None:
            obj = object.__new__(cls)
            shadow: Any = MutableTangent()
            context.shadows.register(obj, shadow)
            first: Callable[[Any], Any] | None = None
        else:
            obj, shadow, first = self.run(context, call.prepend(allocate, None, cls, None, None))
            if not isinstance(obj, cls):
                return obj, shadow, first
        if step.initialise is None:
            return obj, shadow, first or no_pullback
        init = call.prepend(step.initialise, None, obj, shadow, -1)
        context.protected = protected
        answer, _, second = self.run(context, init)
        if answer is not None and answer.__class__ is not Raised:
            raise TypeError(f"__init__() should return None, not '{type(answer).__name__}'")

        def make_pullback(bout: Any) -> Any:
            returned = list(second(None))
            if first is not None:
                for origin, rdata in returned:
                    if origin == -1:
                        bout = add(bout, rdata)
                returned += first(bout)
            return [(o, r) for o, r in returned if o != -1]

        if answer is not None:
            return answer, None, make_pullback
        return obj, shadow, make_pullback

    def make_record(self, context: Context, step: steps.MakeRecord) -> Any:
        """A frozen dataclass: its fields are the arguments of its generated constructor."""
        call = step.call
        n = call.count
        out = call.function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
        names = [*step.names[:n], *call.keywords]
        shadows = dict(zip(names, call.shadows, strict=True))
        origins = dict(zip(names, call.origins, strict=True))
        defaults = {}
        for name in step.names:
            if name not in shadows:
                origin = class_bodies.default_of(context, step.constructor, name)
                if origin is None:
                    shadows[name] = context.known_shadow(getattr(out, name))
                else:
                    shadows[name] = slot_shadow(origin.tangent())
                    defaults[name] = origin
        fields = {name: shadows[name] for name in step.names}
        fout = None if all(f is None for f in fields.values()) else FData(**fields)

        def record_pullback(bout: Any) -> Any:
            if bout is None:
                return ()
            for name, origin in defaults.items():
                origin.give(bout.__dict__.get(name))
            return [(origins[name], bout.__dict__.get(name)) for name in names]

        return out, fout, record_pullback

    def suspend(self, context: Context, step: steps.Suspend) -> Any:
        """A generator function is called: its parameters and cells become the state of a generator."""
        call = step.call
        function = call.function
        if call.shadow is None:
            call.shadow = context.shadows.lookup(function)
        bound = bind(call, context.known_shadow, _shadow_dict, slot_shadow)
        cells = cells_of(context, function, call.shadow)
        state = (*(value for value, _, _ in bound), *(cell for cell, _ in cells))
        shadows = (*(shadow for _, shadow, _ in bound), *(shadow for _, shadow in cells))
        out, shadow = suspended(
            self.engine.segments(function),
            state,
            slot_tangent(state, shadows),
            function.__name__,
            context.opening(),
        )
        context.shadows.register(out, shadow)

        def suspended_pullback(bout: Any) -> Any:
            rdata = slot_rdata(shadow.__dict__["state"])
            targets = [origin for _, _, origin in bound if origin.__class__ is not dict]
            return keyword_rdata(bound) + ([] if rdata is None else scatter(targets, rdata))

        return out, shadow, suspended_pullback

    def foreign(self, context: Context, step: steps.Foreign) -> Any:
        out, undo = call_foreign(context, step.call)
        if undo is None:
            return out, context.known_shadow(out), no_pullback

        def foreign_pullback(bout: Any) -> Any:
            undo()
            return ()

        return out, context.known_shadow(out), foreign_pullback

    def run_body(self, context: Context, step: steps.RunBody) -> Any:
        """The body of a class statement fills its namespace."""
        call = step.call
        (body, namespace), (shadow, names) = call.args, call.shadows
        cells = cells_of(context, body, shadow)
        args = (namespace, *(cell for cell, _ in cells))
        shadows = (names, *(shadow for _, shadow in cells))
        function = self.engine.class_body(body)
        return self.enter(context, steps.Enter(Call(function, None, args, shadows, (None,) * len(args))))

    def make_type(self, context: Context, step: steps.MakeType) -> Any:
        out, give = class_bodies.made(context, step.call, class_bodies.apart)
        return out, None, giving(give)

    def as_it_is(self, context: Context, step: steps.AsItIs) -> Any:
        out, give = class_bodies.as_it_is(context, step.call, class_bodies.apart)
        return out, context.known_shadow(out), giving(give)

    def hold(self, context: Context, step: steps.Hold) -> Any:
        return class_bodies.held(context, step.call), None, no_pullback

    def of_class(self, context: Context, step: steps.OfClass) -> Any:
        """An attribute of a class: its derivative stands in the fields of the class, if they are known."""
        name, value = step.name, step.value
        fields = context.class_fields(step.owner)
        if fields is None or name not in fields:
            return value, context.known_shadow(value), no_pullback

        def class_pullback(bout: Any) -> Any:
            fields[name] = slot_increment(fields[name], bout)
            return ()

        return value, slot_shadow(fields[name]), class_pullback

    def on_class(self, context: Context, step: steps.OnClass) -> Any:
        call = step.call
        out, undo = class_bodies.on_class(context, call, slot_tangent)
        return out, None, lambda bout: ((call.origins[-1], undo()),)

    def locate(self, context: Context, step: steps.Locate) -> Any:
        return self.run(context, located(step, context, context.known_shadow))

    def allocate_exception(self, context: Context, step: steps.AllocateException) -> Any:
        call = step.call
        out, shadow = exceptions.allocated(context, call, slot_tangent)

        def allocated_pullback(bout: Any) -> Any:
            returned = slot_rdata(shadow.__dict__["args"])
            return () if returned is None else zip(call.origins[1:], returned, strict=False)

        return out, shadow, allocated_pullback

    def of_exception(self, context: Context, step: steps.OfException) -> Any:
        call = step.call
        if call.shadows[0] is None:
            call.shadows = (exceptions.caught(context, call.args[0]), *call.shadows[1:])
        found = exceptions.of_exception(context, step) or attributes.plain_get(call, self.table, True)
        assert found is not None
        while type(found) is steps.Delegate:
            found = resolve.step(found.call, self.table, self.protocols)
        return _DRIVERS[type(found)](self, context, found)

    def watch(self, context: Context, step: steps.Watch) -> Any:
        out = class_bodies.watched(context, step.call, step.what)
        return out, context.known_shadow(out), no_pullback

    def refer(self, context: Context, step: steps.Refer) -> Any:
        call = step.call
        context.shadows.adopt(call.args[step.place], call.shadows[step.place])
        out = call.function(*call.args)
        return out, context.known_shadow(out), no_pullback

    def known(self, context: Context, step: steps.Known) -> Any:
        return step.value, context.known_shadow(step.value), no_pullback

    def value(self, context: Context, step: steps.Value) -> Any:
        origin = step.origin
        if origin is not None:
            return step.value, step.shadow, lambda bout: ((origin, bout),)
        target = step.call.origins[0]

        def bound_pullback(bout: Any) -> Any:
            return () if bout is None else ((target, bout.__dict__.get("__self__")),)

        return step.value, step.shadow, bound_pullback

    def advance(self, context: Context, step: steps.Advance) -> Any:
        """``next(it)`` of an iterator written in Python.

        It is attempted, for it may have done something before it found that there is no more.
        """
        protected, context.protected = context.protected, True
        try:
            answer = self.run(context, step.call)
        except StopIteration:
            return intrinsics.EXHAUSTED, None, no_pullback
        finally:
            context.protected = False
        if answer[0].__class__ is Raised:
            error = answer[0].exception
            if isinstance(error, StopIteration):
                return intrinsics.EXHAUSTED, None, answer[2]
            if not protected:
                raise error
        return answer

    def spread(self, context: Context, step: steps.Spread) -> Any:
        """``f(*args, **kwargs)``: cotangents are gathered into one for the tuple; those of keywords
        go straight to the slots of the dict's shadow."""
        call, args, keywords = step.call, step.arguments, step.keywords
        ff, fargs, fkeywords = (*call.shadows, None)[:3]
        n = len(args)
        if fargs is None or fargs is NO_FDATA:
            shadows: tuple[Any, ...] = (None,) * n
        else:
            shadows = fargs if fargs.__class__ is tuple else tuple(map(slot_shadow, fargs))
        named = [None if fkeywords is None else slot_shadow(fkeywords[k]) for k in keywords]
        out, fout, pullback = self.call(
            context, tuple(keywords), step.function, ff, (*args, *keywords.values()), (*shadows, *named)
        )

        def spread_pullback(bout: Any) -> Any:
            bf, *bargs = pullback(bout)
            if fkeywords is not None:
                for k, r in zip(keywords, bargs[n:], strict=True):
                    fkeywords[k] = slot_increment(fkeywords[k], r)
            if fargs.__class__ is list:
                for i, r in enumerate(bargs[:n]):
                    fargs[i] = slot_increment(fargs[i], r)
                return ((call.origins[0], bf),)
            whole = None if all(r is None for r in bargs[:n]) else tuple(bargs[:n])
            return ((call.origins[0], bf), (call.origins[1], whole))

        return out, fout, spread_pullback


_DRIVERS: dict[type, Callable[..., Any]] = {
    steps.UseRow: ReverseCalls.use_row,
    steps.Enter: ReverseCalls.enter,
    steps.Alternatives: ReverseCalls.alternatives,
    steps.Make: ReverseCalls.make,
    steps.MakeRecord: ReverseCalls.make_record,
    steps.Foreign: ReverseCalls.foreign,
    steps.Known: ReverseCalls.known,
    steps.RunBody: ReverseCalls.run_body,
    steps.MakeType: ReverseCalls.make_type,
    steps.AsItIs: ReverseCalls.as_it_is,
    steps.Hold: ReverseCalls.hold,
    steps.OfClass: ReverseCalls.of_class,
    steps.OnClass: ReverseCalls.on_class,
    steps.Locate: ReverseCalls.locate,
    steps.AllocateException: ReverseCalls.allocate_exception,
    steps.OfException: ReverseCalls.of_exception,
    steps.Watch: ReverseCalls.watch,
    steps.Refer: ReverseCalls.refer,
    steps.Value: ReverseCalls.value,
    steps.Advance: ReverseCalls.advance,
    steps.Spread: ReverseCalls.spread,
    steps.Suspend: ReverseCalls.suspend,
}


def giving(give: Callable[[], None]) -> Callable[[Any], Any]:
    """The pullback that `give` is."""

    def giving_pullback(bout: Any) -> Any:
        give()
        return ()

    return giving_pullback


def _shadow_dict(values: dict[str, Any], shadows: dict[str, Any]) -> Any:
    return {name: slot_tangent(value, shadows[name]) for name, value in values.items()}


def scatter(targets: Sequence[Any], rdata: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pairs of origin and rdata, from those of parameters: that of ``*args`` is a tuple of origins."""
    pairs: list[tuple[Any, Any]] = []
    for origin, r in zip(targets, rdata, strict=False):
        if origin.__class__ is Default:
            origin.give(r)
        elif origin.__class__ is not tuple:
            pairs.append((origin, r))
        elif r is not None:
            pairs += zip(origin, r, strict=True)
    return pairs


def keyword_rdata(bound: Bound) -> list[tuple[Any, Any]]:
    """What the slots of the dictionary of ``**kwargs``, if there is one, have for its arguments."""
    if not bound or bound[-1][2].__class__ is not dict or bound[-1][1] is None:
        return []
    _, shadow, origins = bound[-1]
    return [(origin, slot_rdata(shadow[name])) for name, origin in origins.items()]


def value_shadow(type: AbstractType) -> Any:
    """The shadow of an active value of a type without memory."""
    if isinstance(type, TupleType):
        return tuple(map(value_shadow, type.elements))
    return NO_FDATA if has_cotangent(type) else None


def complete(rdata: Any, type: AbstractType) -> Any:
    """`rdata` with real zeros where the pullback of a rule with this result type expects numbers."""
    if isinstance(type, TupleType):
        parts = (None,) * len(type.elements) if rdata is None else rdata
        return tuple(complete(r, t) for r, t in zip(parts, type.elements, strict=True))
    if type == FLOAT:
        return as_float(rdata)
    if rdata is None and is_number(type):
        return 0.0
    return rdata
