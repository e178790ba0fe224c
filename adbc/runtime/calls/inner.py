"""Dynamic calls of an inner level, where an outer one differentiates them.

What the drivers of `Calls` decide and do in one is taken apart here.  What CPython would do next is *decided*
apart from what is differentiated (`nested`); the answer is a function, written for this kind of call, which
does it: uses a rule, enters the code of a derived rule, or calls what is constant at the inner level.  This
function is followed by the outer level.  Steps that have no row in `_WAYS` are refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.intrinsics import Raised
from adbc.rules.table import NO_KWARGS, Overlay, Rule
from adbc.runtime.calls import (
    foreign,
    inner_defaults,
    inner_exceptions,
    inner_generators,
    inner_memos,
    inner_parts,
    inner_texts,
    nested,
    origins,
    resolve,
    steps,
    texts,
)
from adbc.runtime.calls.binding import bind
from adbc.runtime.calls.driver import Calls
from adbc.runtime.calls.inner_formulas import Formulas
from adbc.runtime.calls.inner_objects import Objects
from adbc.runtime.calls.inner_ways import Kept, Places, completed, name_of, refused, written
from adbc.runtime.calls.keywords import with_keywords
from adbc.runtime.calls.plain import is_plain
from adbc.runtime.calls.plans import checked
from adbc.runtime.calls.reverse import ReverseCalls, value_shadow
from adbc.runtime.calls.steps import Call
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import dependent
from adbc.runtime.state.context import Context
from adbc.runtime.state.slots import as_float
from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent, multiply, slot_rdata
from adbc.tangents.fields import is_python_class
from adbc.types import has_cotangent, has_shadow

__all__ = ["ROWS", "completed", "refused", "written"]


# -- what is followed: the dynamic calls, by other means -----------------------------------------------------


def _call(calls: Any, context: Any, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any) -> Any:
    return decided(calls, context, keywords, f, ff, xs, fs, False)(context, f, ff, xs, fs)


def _call_with_displays(
    calls: Any, context: Any, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any, places: Any
) -> Any:
    return decided(calls, context, keywords, f, ff, xs, fs, False)(context, f, ff, xs, fs)


def _attempt(calls: Any, context: Any, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any) -> Any:
    try:
        return decided(calls, context, keywords, f, ff, xs, fs, True)(context, f, ff, xs, fs)
    except BaseException as error:  # whatever the user's handler may want to see, and handed on to it
        count = len(xs) + 1
        return intrinsics._raised_(error), None, lambda bout: (None,) * count


def _get_attribute(calls: Any, context: Any, xs: Any, fs: Any) -> Any:
    return operation(calls, intrinsics._getattr_, context, xs, fs)


def operation(calls: Any, function: Any, context: Any, xs: Any, fs: Any) -> Any:
    """What the handler of an operator or intrinsic answers."""
    answer = decided(calls, context, (), function, None, xs, fs, False)(context, function, None, xs, fs)
    if len(answer) == 2:
        return answer
    out, fout, back = answer
    return out, fout, lambda bout: back(bout)[1:]


# -- what is decided -----------------------------------------------------------------------------------------


def decided(
    calls: Any, context: Context, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any, is_attempted: bool
) -> Callable[..., Any]:
    """The function ``way(context, f, ff, xs, fs)`` that makes this call."""
    call = Call(f, ff, xs, fs, tuple(range(1, len(xs) + 1)), keywords, 0)
    mode = "protected" if is_attempted and calls.mode == "reverse" else calls.mode
    return _way(calls, context, call, mode, len(xs) + 1)


def _way(calls: Any, context: Context, call: Call, mode: str, count: int) -> Callable[..., Any]:
    writer = _Writer(calls, context, mode, count)
    writer.scope |= _SCOPE
    writer.make(call)
    return writer.made()


class _Writer(Objects, Formulas):
    """Writes the function that makes one call."""

    # -- the steps ---------------------------------------------------------------------------------------

    def make(self, call: Call) -> None:
        """Write what makes `call`."""
        calls, context = self.calls, self.context
        plain = is_plain(context, calls.table, call.function, call.shadow, call.args, call.shadows)
        is_function = type(getattr(call.function, "__func__", call.function)) is FunctionType
        is_followed = is_function and (self._gives_memory(call) or self._is_of_object(call))
        if plain and not (is_followed or self._is_of_container(call)):
            self.as_it_is(call)
            return
        if context.texts is not None:
            texts.check_evaluated(context, call)
        step = resolve.step(call, calls.table, calls.protocols)
        while True:
            if type(step) is steps.Enter:
                step = resolve.met_inside(step)
            if type(step) is not steps.Delegate:
                break
            step = resolve.step(step.call, calls.table, calls.protocols)
        if type(step) is steps.Value and call.function is MethodType and step.call.function is MethodType:
            self.make_method(call, step)
        else:
            self.take(step)

    def take(self, step: Any) -> None:
        """Write what carries `step` out."""
        way = _WAYS.get(type(step))
        if way is None:
            what = _WORDS.get(type(step)) or f"{name_of(step.call.function)} is called there"
            raise self.refuse(what)
        way(self, step)

    def _gives_memory(self, call: Call) -> bool:
        """Whether `call` is given memory, the shadow of which has to be kept in step."""
        return not self.is_forward and any(f is not None and f is not NO_TANGENT for f in call.shadows)

    def _is_of_object(self, call: Call) -> bool:
        """Whether `call` is of a method, which may give new fields to an object that has a tangent: this has
        to get them too."""
        return bool(call.shadows) and type(call.shadows[0]) is MutableTangent

    def _is_of_container(self, call: Call) -> bool:
        """Whether `call` is of a method written in Python of a container's class: what it puts in and takes
        out has to come into the shadow too."""
        given = (getattr(call.function, "__self__", None), *call.args[:1])
        return any(issubclass(type(x), list | dict | deque) and is_python_class(type(x)) for x in given)

    def as_it_is(self, call: Call, *, changes_nothing: bool = False) -> None:
        """Write the call of what is a constant at this level."""
        if any(map(self.context.is_active, call.shadows)) or self.context.is_active(call.shadow):
            raise missing_rule(call)
        if self._gives_memory(call) and not changes_nothing:
            raise self.refuse(f"{name_of(call.function)}, which has no rule, is given memory")
        function = self.value(call.function, call.origin)
        n = call.count
        values = self.values(call)
        named = [f"{k}={x}" for k, x in zip(call.keywords, values[n:], strict=True)]
        given = f"context, {function}, ({''.join(f'{x}, ' for x in values)}), {call.keywords!r}"
        if self.context.texts is not None:
            self.lines.append(f"source = text_before({given})")
        made = f"out = {function}({', '.join([*values[:n], *named])})"
        if self.is_forward and not changes_nothing and any(map(inner_parts.holds_containers, call.shadows)):
            beside = "".join(f"{x}, " for x in self.shadows(call))
            self.lines.append(f"seen = look_into(context, ({''.join(f'{x}, ' for x in values)}), ({beside}))")
            self.lines += ["try:", f" {made}", "except BaseException:", f" check_left(seen, {function})"]
            self.lines += [" raise", "if is_changed(seen): bring_in_step(context, seen)"]
        else:
            self.lines.append(made)
        if self.context.texts is not None:
            self.lines.append(f"text_remembered({given}, out, source)")
        self.lines.append("fout = beside(context, out)")

    def foreign(self, step: Any) -> None:
        self.as_it_is(step.call)

    def use_row(self, step: Any) -> None:
        row, call = step.row, step.call
        if row.keeps_books is not None:
            if row.keeps_books(call.args):
                raise self.refuse(f"{name_of(call.function)} is called there")
            self.as_it_is(call, changes_nothing=True)
            return
        if self.write_formulas(row, call):
            return
        if call.keywords:
            args, shadows, kwargs, places = with_keywords(step)
            origins = [call.origins[i] if i >= 0 else None for i in places]
            given = Call(call.function, None, args, shadows, tuple(origins))
            by_place = {id(x): o for x, o in zip(call.args, call.origins, strict=True)}
            parts = [f"{k!r}: {self.value(x, by_place.get(id(x)))}" for k, x in kwargs.items()]
            options = f"{{{', '.join(parts)}}}" if parts else self.name(NO_KWARGS)
        else:
            given, options = call, self.name(NO_KWARGS)
        self.lines.append(f"args = ({''.join(f'{x}, ' for x in self.values(given))})")
        self.lines.append(f"beside_args = ({''.join(f'{x}, ' for x in self.shadows(given))})")
        if self.is_forward:
            self.lines.append(f"out, fout = {self.name(row.frule)}(args, beside_args, {options})")
            self.lines.append("if fout is NO_TANGENT: fout = None")
            return
        self.lines.append(f"out, fout, inner = {self.name(row.rrule)}(args, beside_args, {options})")
        self.lines.append(f"fout = dependent(fout, beside_args, {self.name(row)})")
        self.back.append("given = tuple(inner(bout))")
        for i, origin in enumerate(given.origins):
            self.give(origin, f"part(given, {i})")

    def use_text_row(self, step: Any) -> None:
        self.use_row(step)
        row, call = step.row, step.call
        if self.context.texts is None and not (row.of_text and any(f is not None for f in call.shadows)):
            return  # what is made of constant text is constant
        function = self.value(call.function, call.origin)
        args = "".join(f"{x}, " for x in self.values(call))
        beside = "".join(f"{x}, " for x in self.shadows(call))
        given = f"{self.name(row)}, {function}, ({args}), ({beside}), {call.keywords!r}, out"
        self.lines.append(f"text_noted(context, {given})")

    def enter(self, step: Any) -> None:
        call, calls, context = step.call, self.calls, self.context
        function, engine = call.function, calls.engine
        engine.written(function)
        kept = Call(
            function, call.shadow, call.args, call.shadows, tuple(map(Kept, call.origins)), call.keywords
        )
        bound = bind(kept, context, calls)
        types_, on = [], []
        for value, shadow, _ in bound:
            type_ = engine.typeof(value)
            types_.append(type_)
            on.append(shadow is not None and bool(has_shadow(type_) or has_cotangent(type_)))
        if engine.pressing:
            engine.refresh()
        rule = engine.entry(function, types_, on, self.mode)
        rule = checked(engine, context, rule, function, types_, on)
        engine.written(rule.forwards)
        if not self.is_forward:
            engine.written(rule.pullback)
        flags = [
            (has_shadow(t) + 2 * has_cotangent(t)) if flag else 0 for t, flag in zip(types_, on, strict=True)
        ]
        given = ["context"]
        if rule.takes_function:
            given.append(self.value(function, call.origin))
            given.append(self.shadow(function, call.shadow, call.origin))
        returned = []
        places = Places(
            call, self.value(function, call.origin), self.shadow(function, call.shadow, call.origin)
        )
        for i, ((x, f, origin), flag) in enumerate(zip(bound, flags, strict=True)):
            value, shadow = self.bound(places, i, x, f, origin)
            given.append(value)
            if flag if self.is_forward else flag & 1:
                given.append(shadow)
            if flag & 2 and not self.is_forward:
                returned.append((f"b{i}", i, origin))
        forwards = self.name(rule.forwards)
        if self.is_forward:
            self.lines.append(f"out, fout = {forwards}({', '.join(given)})")
            return
        result = rule.result
        if rule.returns_shadow:
            self.lines.append(f"out, fout, saved = {forwards}({', '.join(given)})")
        else:
            self.lines.append(f"out, saved = {forwards}({', '.join(given)})")
            self.lines.append(f"fout = {self.name(value_shadow(result))}")
        left = f"{''.join(f'{b}, ' for b, _, _ in returned)}= " if returned else ""
        pullback = self.name(rule.pullback)
        if rule.returns_cotangent:
            self.back += [*completed(result, "bout"), f"{left}{pullback}(saved, bout)"]
        else:
            self.back.append(f"{left}{pullback}(saved)")
        for b, i, origin in returned:
            self.give_bound(places, i, origin, b)
        for _, f, origin in bound:
            if type(origin) is dict and f is not None:
                for k, o in origin.items():
                    self.give(o.origin, f"slot_rdata(fnamed[{k!r}])")

    def alternatives(self, step: Any) -> None:
        """An operator: its operands are asked one after the other until one does not decline."""
        self.lines.append("asked = []")
        calls = self.name(self.calls)
        for i, call in enumerate(step.calls):
            function = self.value(call.function, call.origin)
            own = self.shadow(None, call.shadow, call.origin)
            values = "".join(f"{x}, " for x in self.values(call))
            shadows = "".join(f"{x}, " for x in self.shadows(call))
            given = f"{call.keywords!r}, {function}, {own}, ({values}), ({shadows})"
            line = f"{self.answered} = {self.asked}({calls}, context, {given})"
            body = [line, f"asked.append({i})" if self.is_forward else f"asked.append(({i}, inner))"]
            if i:
                body = ["if out is NotImplemented:", *[f" {b}" for b in body]]
            self.lines += body
        self.lines.append(f"if out is NotImplemented: {self.name(step.failure)}()")
        if self.is_forward:
            return
        self.is_joining = True
        self.back += ["asked.reverse()", "for i, inner in asked:", " given = inner(bout)", " bout = None"]
        for i, call in enumerate(step.calls):
            self.back.append(f" if i == {i}:")
            before = len(self.back)
            self.back.append("  pass")
            for k, origin in enumerate(call.origins):
                self.give(origin, f"given[{k + 1}]")
            self.give(call.origin, "given[0]")
            self.back[before + 1 :] = [f"  {line}" for line in self.back[before + 1 :]]

    def spread(self, step: Any) -> None:
        """``f(*args, **kwargs)``: a call of `f` on the elements of a tuple or list, and of a dict."""
        call, count, names = step.call, len(step.arguments), tuple(step.keywords)
        values = self.values(call)
        shadows = self.shadows(call)
        is_list = type(step.arguments) is list
        beside = "elements_of" if self.is_forward or not is_list else "slots_of"
        self.lines.append(f"beside_args = {beside}({shadows[1]}, {count})")
        given = values[1]
        if self.is_forward:
            self.lines.append("beside_args = tuple([None if t is NO_TANGENT else t for t in beside_args])")
        if names:
            given = f"(*{given}, *[{values[2]}[k] for k in {names!r}])"
            slot = "tangent_in" if self.is_forward else "shadow_in"
            self.lines.append(f"beside_args = (*beside_args, *[{slot}({shadows[2]}, k) for k in {names!r}])")
        self.lines.append(
            f"{self.answered} = {self.asked}({self.name(self.calls)}, context, {names!r}, {values[0]},"
            f" {shadows[0]}, tuple({given}), beside_args)"
        )
        if not self.is_forward:
            self.back.append("given = inner(bout)")
            self.give(call.origins[0], "given[0]")
            if names:
                self.back.append(f"give_slots({shadows[2]}, {names!r}, given[{count + 1}:])")
            if is_list:
                self.back.append(f"give_slots({shadows[1]}, range({count}), given[1:{count + 1}])")
            else:
                self.give(call.origins[1], f"missing(tuple(given[1:{count + 1}]))")

    def locate(self, step: Any) -> None:
        call, place = step.call, step.place
        shadow = self.calls.known(self.context, call.args[place])
        call.shadows = (*call.shadows[:place], shadow, *call.shadows[place + 1 :])
        self.make(call)

    def of_function(self, step: Any) -> None:
        self.locate(steps.Locate(step.call, 0))

    def differentiate(self, step: Any) -> None:
        call = step.call
        if not foreign.reaches_active(self.context, call):
            # A gradient leaves memory as it was, and so does what only makes one.
            self.as_it_is(call, changes_nothing=nested.leaves_memory(call.function))
        else:
            self.make(nested.followed(call)(self.calls, self.context, call))

    def delegate_active(self, step: Any) -> None:
        call = step.call
        if foreign.is_met(self.context, call):
            self.make(call.of(step.body))
        else:
            self.as_it_is(call)

    def remember(self, step: Any) -> None:
        """A function with a cache: what stands for that belongs to one call, of the outermost level or of
        this; where there can be none here, the cache is by-passed."""
        call = step.call
        if step.name:
            self.as_it_is(call)
        elif (
            self.mode == "protected"
            or self.context.texts is not None
            or not inner_memos.may_remember(self.calls.table, call)
        ):
            self.make(call.of(call.function.__wrapped__))
        else:
            made = inner_memos.remembered_forward if self.is_forward else inner_memos.remembered
            values = "".join(f"{x}, " for x in self.values(call))
            shadows = "".join(f"{x}, " for x in self.shadows(call))
            functions = f"{self.name(call.function)}, {self.name(call.function.__wrapped__)}"
            self.lines.append(
                f"{self.answered} = {self.name(made)}(call, {self.name(self.calls)}, context, {functions},"
                f" ({values}), ({shadows}))"
            )
            self.back.append("given = inner(bout)")
            for i, origin in enumerate(call.origins):
                self.give(origin, f"given[{i + 1}]")

    def use_row_of_mode(self, step: Any) -> None:
        row = step.row.of("forward" if self.is_forward else "reverse")
        if row.inside is not None:
            self.make(step.call.of(row.inside))
            return
        found = steps.pass_to_row(row, step.call)
        if type(found) is steps.Delegate:  # the function is derived in this mode
            self.make(found.call)
        else:
            self.take(found)

    def apart(self, step: Any) -> None:
        """What stands apart for this level does so for the next."""
        call = step.call
        if call.keywords:
            raise self.refuse(f"{name_of(call.function)} is called there by keyword")
        values = "".join(f"{x}, " for x in self.values(call))
        shadows = "".join(f"{x}, " for x in self.shadows(call))
        self.lines.append(f"out = called_apart(context, {self.name(call.function)}, ({values}), ({shadows}))")
        self.lines.append("fout = beside(context, out)")

    def put_in_step(self, step: Any) -> None:
        call = step.call
        values = "".join(f"{x}, " for x in self.values(call))
        shadows = "".join(f"{x}, " for x in self.shadows(call))
        self.lines.append(f"in_step(context, {self.name(call.function)}, ({values}), ({shadows}))")
        self.lines.append("out = fout = None")

    # -- the function ------------------------------------------------------------------------------------

    def made(self) -> Callable[..., Any]:
        """The function that has been written."""
        self.scope["beside"] = nested.known_tangent if self.is_forward else nested.known_shadow
        lines = [*self.lines]
        if self.is_forward:
            lines.append("return out, fout")
        else:
            names = [f"r{i}" for i in range(self.count)]
            back = [f"{' = '.join([*names, 'robj'])} = None", *self.back]
            back.append(f"return ({''.join(f'{name}, ' for name in names)})")
            lines += ["def back(bout):", *[f" {line}" for line in back], "return out, fout, back"]
        body = "\n ".join(lines)
        source = f"def way(context, f, ff, xs, fs):\n {body}"
        ways: dict[Any, Any] = vars(self.calls).setdefault("ways", {})
        key = (source, *map(_identity, self.scope.values()))
        known = ways.get(key)
        if known is None:  # it holds the objects whose addresses are in the key
            known = ways[key] = written("way", source, self.scope)
        return known  # type: ignore[no-any-return]  # what was made before


def _identity(value: Any) -> Any:
    """What is the same for the same constant: a bound method is another object whenever it is read."""
    return (id(value.__self__), id(value.__func__)) if type(value) is MethodType else id(value)


def called_apart(context: Context, function: Any, args: Sequence[Any], shadows: Sequence[Any]) -> Any:
    """``function(*args)``, of a function that stands apart, where the inner level meets it."""
    call = Call(function, None, tuple(args), tuple(shadows), (None,) * len(args))
    nested.adopt_all(context, call)
    return call.perform()


def in_step(context: Context, function: Any, args: Sequence[Any], shadows: Sequence[Any]) -> None:
    """Call `function`, which lets memory stand as a solver has left it, at an inner level."""
    if called_apart(context, function, args, shadows) is not None:
        raise refused("a function that a solver calls writes into memory there")


_WAYS: dict[type, Callable[[_Writer, Any], None]] = {
    steps.UseRow: _Writer.use_row,
    steps.UseTextRow: _Writer.use_text_row,
    steps.UseRowOfMode: _Writer.use_row_of_mode,
    steps.Enter: _Writer.enter,
    steps.Foreign: _Writer.foreign,
    steps.Value: _Writer.value_step,
    steps.Found: _Writer.found,
    steps.Alternatives: _Writer.alternatives,
    steps.Advance: _Writer.advance,
    steps.AsItIs: _Writer.library,
    steps.OfException: _Writer.of_exception,
    steps.MakeRecord: _Writer.make_record,
    steps.OfClass: _Writer.of_class,
    steps.OnClass: _Writer.on_class,
    steps.RunWatched: _Writer.run_watched,
    steps.Suspend: _Writer.suspend,
    steps.Resume: _Writer.resume,
    steps.Make: _Writer.make_instance,
    steps.Spread: _Writer.spread,
    steps.Locate: _Writer.locate,
    steps.OfFunction: _Writer.of_function,
    steps.DelegateActive: _Writer.delegate_active,
    steps.Differentiate: _Writer.differentiate,
    steps.Remember: _Writer.remember,
    steps.Apart: _Writer.apart,
    steps.PutInStep: _Writer.put_in_step,
}
"""How each step is written; others are refused."""

_WORDS = {
    steps.RunBody: "a class is defined there",
    steps.MakeType: "a class is made there",
    steps.Hold: "a property is made there",
    steps.Refer: "a weak reference is made there",
    steps.AskWeakly: "a weak reference is asked there",
    steps.Beside: "a value of a class derived from a number, text or tuple has attributes there",
    steps.Settle: "keys that answer by Python code are looked for there",
}
"""What stands for steps that are refused, in plain words."""

_SCOPE: dict[str, Any] = {
    "NO_TANGENT": NO_TANGENT, "NO_FDATA": NO_FDATA, "multiply": multiply,
    "EXHAUSTED": intrinsics.EXHAUSTED, "Raised": Raised, "FData": FData,
    "call": _call, "attempt": _attempt, "called_apart": called_apart, "in_step": in_step,
    "instance": nested.instance,
    "fill_all": nested.fill_all, "text_noted": inner_texts.noted, "text_before": inner_texts.before,
    "text_remembered": inner_texts.remembered, "text_read": inner_texts.read,
    "text_logged": inner_texts.logged, "met_exception": inner_exceptions.met,
    "exception_tangent": inner_exceptions.tangent, "exception_shadow": inner_exceptions.shadow,
    **{
        function.__name__: function
        for function in (
            as_float, dependent, slot_rdata, inner_defaults.default_at, inner_defaults.default_of,
            inner_defaults.default_shadow, inner_defaults.default_tangent, inner_defaults.give_default,
            inner_defaults.itself,
            inner_parts.adopted, inner_parts.bring_in_step, inner_parts.class_changed,
            inner_parts.forget_attributes, inner_parts.let_be, inner_parts.check_left,
            inner_parts.check_watched,
            inner_parts.elements_of, inner_parts.give_slots, inner_parts.has_made, inner_parts.is_changed,
            inner_parts.joined, inner_parts.look_into, inner_parts.missing,
            inner_parts.of_partial, inner_parts.of_self,
            inner_parts.part, inner_parts.record_shadow, inner_parts.record_tangent,
            inner_parts.shadow_in, inner_parts.slots_by_name, inner_parts.slots_of, inner_parts.tangent_in,
            inner_parts.tangents_by_name, origins.to_partial,
            origins.to_self, inner_parts.watch, inner_generators.filled,
            inner_generators.generator, inner_generators.slotted, inner_generators.with_cells,
        )
    },
}  # fmt: skip

ROWS: list[Rule] = [
    Overlay(Calls.call, _call),
    Overlay(Calls.call_with_displays, _call_with_displays),
    Overlay(Calls.get_attribute, _get_attribute),
    Overlay(ReverseCalls.attempt, _attempt),
    *nested.apart(decided, dependent, called_apart, in_step),
    *inner_defaults.ROWS,
    *inner_texts.ROWS,
    *inner_generators.ROWS,
    *inner_exceptions.ROWS,
    *inner_parts.ROWS,
    *inner_memos.ROWS,
]
