"""Dynamic calls of an inner level, where an outer one differentiates them.

What the drivers of `Calls` decide and do in one is taken apart here.  What CPython would do next is *decided*
apart from what is differentiated (`nested`); the answer is a function, written for this kind of call, which
does it: uses a rule, enters the code of a derived rule, or calls what is constant at the inner level.  This
function is followed by the outer level.  Steps that have no row in `_WAYS` are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import BuiltinMethodType, MethodType, MethodWrapperType
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.ir.intrinsics import Raised
from adbc.rules.table import NO_KWARGS, Overlay, Rule
from adbc.runtime.calls import foreign, nested, resolve, steps
from adbc.runtime.calls.binding import bind
from adbc.runtime.calls.classes import initialiser
from adbc.runtime.calls.driver import Calls
from adbc.runtime.calls.keywords import with_keywords
from adbc.runtime.calls.plain import is_plain
from adbc.runtime.calls.plans import checked
from adbc.runtime.calls.reverse import ReverseCalls, value_shadow
from adbc.runtime.calls.steps import Call, OfSelf
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import dependent
from adbc.runtime.state.context import Context
from adbc.runtime.state.slots import as_float
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    FData,
    RData,
    add,
    fill_tangent,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)
from adbc.types import AbstractType, TupleType, has_cotangent, has_shadow
from adbc.types.lattice import FLOAT, is_number

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


def part(returned: Any, i: int) -> Any:
    """What a pullback has returned for argument `i`."""
    return returned[i] if i < len(returned) else None


def of_self(shadow: Any) -> Any:
    """The shadow of ``__self__``, from that of a bound method."""
    return None if shadow is None or shadow is NO_FDATA else shadow.__dict__.get("__self__")


def to_self(r: Any) -> Any:
    """The rdata of a bound method, from that of its ``__self__``."""
    return None if r is None else RData(__self__=r, __func__=None)


def joined(a: Any, b: Any) -> Any:
    """The sum of two cotangents, of which None is zero."""
    return add(a, b)


def elements_of(shadow: Any, count: int) -> Any:
    """What stands beside the elements of a tuple."""
    return (None,) * count if shadow is None or shadow is NO_FDATA or shadow is NO_TANGENT else shadow


def slots_of(shadow: Any, count: int) -> Any:
    """What stands beside the elements of a list."""
    if shadow is None or shadow is NO_FDATA or shadow is NO_TANGENT:
        return (None,) * count
    return tuple([shadow_in(shadow, i) for i in range(count)])


def tangent_in(tangent: Any, key: Any) -> Any:
    """The tangent of what a list or dict has at `key`, None for zero."""
    if tangent is None or tangent is NO_TANGENT:
        return None
    found = tangent[key]
    return None if found is NO_TANGENT else found


def shadow_in(shadow: Any, key: Any) -> Any:
    """What stands beside what a list or dict has at `key`."""
    return None if shadow is None or shadow is NO_TANGENT else slot_shadow(shadow[key])


def tangents_by_name(values: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    """The tangent of a dictionary of ``**keywords``."""
    return {k: fill_tangent(x, beside[k]) for k, x in values.items()}


def slots_by_name(values: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    """The shadow of a dictionary of ``**keywords``."""
    return {k: slot_tangent(x, beside[k]) for k, x in values.items()}


def give_slots(shadow: Any, keys: Any, given: Any) -> None:
    """Add the cotangents `given` to what stands in a shadow at `keys`."""
    if shadow is None or shadow is NO_FDATA or shadow is NO_TANGENT:
        return
    for key, r in zip(keys, given, strict=True):
        shadow[key] = slot_increment(shadow[key], r)


def missing(r: Any) -> Any:
    """The cotangent of a tuple, None if all of it is."""
    for x in r:
        if x is not None:
            return r
    return None


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
    writer.make(call)
    return writer.made()


class _Writer:
    """Writes the function that makes one call."""

    def __init__(self, calls: Any, context: Context, mode: str, count: int) -> None:
        self.calls, self.context, self.mode, self.count = calls, context, mode, count
        self.is_forward = calls.mode == "forward"
        self.lines: list[str] = []
        self.back: list[str] = []
        """The lines of the pullback, which adds to r0, r1, ..."""
        self.scope: dict[str, Any] = dict(_SCOPE)
        self.result = "out", "fout"

    # -- the parts ---------------------------------------------------------------------------------------

    def name(self, value: Any) -> str:
        """The name of a constant."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def value(self, x: Any, origin: Any) -> str:
        """What gives an argument."""
        if type(origin) is OfSelf and origin.place is not None:
            return f"{self.value(None, origin.place)}.__self__"
        if type(origin) is int:
            return "f" if origin == 0 else "obj" if origin < 0 else f"xs[{origin - 1}]"
        return self.name(x)

    def shadow(self, x: Any, shadow: Any, origin: Any) -> str:
        """What gives that which stands beside an argument."""
        if shadow is None:
            return "None"
        if type(origin) is OfSelf and origin.place is not None:
            return f"of_self({self.shadow(None, shadow, origin.place)})"
        if type(origin) is int:
            return "ff" if origin == 0 else "fobj" if origin < 0 else f"fs[{origin - 1}]"
        return f"beside(context, {self.name(x)})"

    def give(self, origin: Any, r: str) -> None:
        """Let the pullback hand `r` to an argument."""
        if type(origin) is OfSelf:
            if origin.place is None:
                return
            origin, r = origin.place, f"to_self({r})"
        if type(origin) is int:
            name = "robj" if origin < 0 else f"r{origin}"
            self.back.append(f"{name} = joined({name}, {r})")

    def values(self, call: Call) -> list[str]:
        return [self.value(x, o) for x, o in zip(call.args, call.origins, strict=True)]

    def shadows(self, call: Call) -> list[str]:
        given = zip(call.args, call.shadows, call.origins, strict=True)
        return [self.shadow(x, f, o) for x, f, o in given]

    def refuse(self, what: str) -> UnsupportedError:
        return refused(what)

    # -- the steps ---------------------------------------------------------------------------------------

    def make(self, call: Call) -> None:
        """Write what makes `call`."""
        calls, context = self.calls, self.context
        if is_plain(context, calls.table, call.function, call.shadow, call.args, call.shadows):
            self.as_it_is(call)
            return
        if context.texts is not None:
            raise self.refuse("text is made of numbers with a derivative")
        step = resolve.step(call, calls.table, calls.protocols)
        while type(step) is steps.Delegate:
            step = resolve.step(step.call, calls.table, calls.protocols)
        way = _WAYS.get(type(step))
        if way is None:
            raise self.refuse(f"{_named(call.function)} is called there ({type(step).__name__})")
        way(self, step)

    def as_it_is(self, call: Call) -> None:
        """Write the call of what is a constant at this level."""
        if any(map(self.context.is_active, call.shadows)) or self.context.is_active(call.shadow):
            raise missing_rule(call)
        if not self.is_forward and any(f is not None and f is not NO_TANGENT for f in call.shadows):
            raise self.refuse(f"{_named(call.function)}, which has no rule, is given memory")
        function = self.value(call.function, call.origin)
        n = call.count
        values = self.values(call)
        named = [f"{k}={x}" for k, x in zip(call.keywords, values[n:], strict=True)]
        self.lines.append(f"out = {function}({', '.join([*values[:n], *named])})")
        self.lines.append("fout = beside(context, out)")

    def foreign(self, step: Any) -> None:
        self.as_it_is(step.call)

    def use_row(self, step: Any) -> None:
        row, call = step.row, step.call
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
        # No text has been made of numbers with a derivative yet (`make`): what is read from text is constant.
        call = step.call
        if step.row.of_text and any(map(self.context.is_active, call.shadows)):
            raise self.refuse(f"{_named(call.function)} makes text of a number with a derivative")
        self.use_row(step)

    def enter(self, step: Any) -> None:
        call, calls, context = step.call, self.calls, self.context
        function, engine = call.function, calls.engine
        engine.written(function)
        places = Call(
            function, call.shadow, call.args, call.shadows, tuple(map(_Kept, call.origins)), call.keywords
        )
        bound = bind(places, context, calls)
        types_, on = [], []
        for value, shadow, _ in bound:
            type_ = engine.typeof(value)
            types_.append(type_)
            on.append(shadow is not None and bool(has_shadow(type_) or has_cotangent(type_)))
        if engine.pressing:
            engine.refresh()
        rule = engine.entry(function, types_, on, self.mode)
        engine.written(rule.forwards)
        if not self.is_forward:
            engine.written(rule.pullback)
        rule = checked(engine, context, rule, function, types_, on)
        flags = [
            (has_shadow(t) + 2 * has_cotangent(t)) if flag else 0 for t, flag in zip(types_, on, strict=True)
        ]
        given = ["context"]
        if rule.takes_function:
            given.append(self.value(function, call.origin))
            given.append(self.shadow(function, call.shadow, call.origin))
        returned = []
        for i, ((x, f, origin), flag) in enumerate(zip(bound, flags, strict=True)):
            value, shadow = self._bound(x, f, origin)
            given.append(value)
            if flag if self.is_forward else flag & 1:
                given.append(shadow)
            if flag & 2 and not self.is_forward:
                returned.append((f"b{i}", origin))
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
        left = f"{''.join(f'{b}, ' for b, _ in returned)}= " if returned else ""
        pullback = self.name(rule.pullback)
        if rule.returns_cotangent:
            self.back += [*completed(result, "bout"), f"{left}{pullback}(saved, bout)"]
        else:
            self.back.append(f"{left}{pullback}(saved)")
        for b, origin in returned:
            self._give_bound(origin, b)
        for _, f, origin in bound:
            if type(origin) is dict and f is not None:
                for k, o in origin.items():
                    self.give(o.origin, f"slot_rdata(fnamed[{k!r}])")

    def _bound(self, x: Any, f: Any, origin: Any) -> tuple[str, str]:
        """What gives the value of a parameter, and what gives that which stands beside it."""
        if type(origin) is _Kept:
            return self.value(x, origin.origin), self.shadow(x, f, origin.origin)
        if type(origin) is tuple:
            values = [self.value(y, o.origin) for y, o in zip(x, origin, strict=True)]
            parts = elements_of(f, len(x))
            shadows = [self.shadow(y, g, o.origin) for y, g, o in zip(x, parts, origin, strict=True)]
            shadow = f"({''.join(f'{s}, ' for s in shadows)})"
            whole = f"({''.join(f'{v}, ' for v in values)})"
            if self.is_forward and f is not None:
                shadow = f"fill_all({whole}, {shadow})"
            return whole, shadow if f is not None else "None"
        if type(origin) is dict:
            return self._gathered(x, f, origin)
        if origin is None:  # a default without a derivative
            return self.name(x), "None" if f is None else f"beside(context, {self.name(x)})"
        raise self.refuse("a function is given something beside its arguments")

    def _gathered(self, x: dict[str, Any], f: Any, origins: dict[str, _Kept]) -> tuple[str, str]:
        """What gives the dictionary of ``**keywords``, and what gives its shadow or tangent."""
        values = self._display({k: self.value(y, origins[k].origin) for k, y in x.items()})
        if f is None:
            return values, "None"
        beside = {}
        for k, y in x.items():
            part = tangent_in(f, k) if self.is_forward else shadow_in(f, k)
            beside[k] = self.shadow(y, part, origins[k].origin)
        made = "tangents_by_name" if self.is_forward else "slots_by_name"
        self.lines += [f"named = {values}", f"fnamed = {made}(named, {self._display(beside)})"]
        return "named", "fnamed"

    def _display(self, parts: dict[str, str]) -> str:
        return f"{{{', '.join(f'{k!r}: {part}' for k, part in parts.items())}}}"

    def _give_bound(self, origin: Any, b: str) -> None:
        if type(origin) is _Kept:
            self.give(origin.origin, b)
        elif type(origin) is tuple and origin:
            self.back.append(f"{b} = elements_of({b}, {len(origin)})")
            for i, o in enumerate(origin):
                self.give(o.origin, f"{b}[{i}]")

    def value_step(self, step: Any) -> None:
        """An attribute that is found in a class, or a method that is bound."""
        call, value = step.call, step.value
        if value is NotImplemented:
            self.lines += ["out = NotImplemented", "fout = None"]
            return
        if call.function is not intrinsics._getattr_:
            raise self.refuse(f"{_named(call.function)} is called there")
        obj, name = self.values(call)
        self.lines.append(f"out = getattr({obj}, {name})")
        (of_obj, _) = self.shadows(call)
        if type(value) in _BOUND and value.__self__ is call.args[0]:
            own = "__self__=fobj" if type(value) is not MethodType else "__self__=fobj, __func__=None"
            if step.shadow is not None and len(vars(step.shadow)) != own.count("="):
                raise self.refuse(f"the attribute {call.args[1]!r} is looked up there")
            self.lines.append(f"fobj = {of_obj}")
            self.lines.append(f"fout = None if fobj is None else FData({own})")
            self.back.append("if bout is not None: r = bout.__dict__.get('__self__')")
            self.back.insert(0, "r = None")
            self.give(call.origins[0], "r")
        elif step.shadow is None:
            self.lines.append("fout = None")
        else:
            raise self.refuse(f"the attribute {call.args[1]!r} is looked up there")

    def found(self, step: Any) -> None:
        self.lines.append(f"out = {self.name(step.value)}")
        self.lines.append("fout = beside(context, out)")

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
            line = f"answer = call({calls}, context, {given})"
            body = [line, f"asked.append(({i}, answer[2]))" if not self.is_forward else f"asked.append({i})"]
            if i:
                body = ["if answer[0] is NotImplemented:", *[f" {b}" for b in body]]
            self.lines += body
        self.lines.append(f"if answer[0] is NotImplemented: {self.name(step.failure)}()")
        self.lines.append("out, fout = answer[0], answer[1]")
        if self.is_forward:
            return
        self.back += ["asked.reverse()", "for i, inner in asked:", " given = inner(bout)", " bout = None"]
        for i, call in enumerate(step.calls):
            self.back.append(f" if i == {i}:")
            before = len(self.back)
            self.back.append("  pass")
            for k, origin in enumerate(call.origins):
                self.give(origin, f"given[{k + 1}]")
            self.give(call.origin, "given[0]")
            self.back[before + 1 :] = [f"  {line}" for line in self.back[before + 1 :]]

    def make_instance(self, step: Any) -> None:
        """``cls(...)``: ``__init__`` on a new object, whose shadow is empty at first."""
        call, cls = step.call, step.call.function
        initialise = initialiser(cls)
        if step.allocate is not None:
            raise self.refuse(f"{cls.__qualname__} has a __new__ of its own")
        self.lines.append(f"obj = {self.name(object.__new__)}({self.name(cls)})")
        self.lines.append("fobj = instance(context, obj)")
        self.lines.append("out, fout = obj, fobj")
        if initialise is None:
            return
        values = "".join(f"{x}, " for x in self.values(call))
        shadows = "".join(f"{x}, " for x in self.shadows(call))
        given = f"{call.keywords!r}, {self.name(initialise)}, None, (obj, {values}), (fobj, {shadows})"
        attempted = "attempt" if self.mode == "protected" else "call"
        self.lines.append(f"answer = {attempted}({self.name(self.calls)}, context, {given})")
        if self.mode == "protected":
            self.lines.append("if answer[0].__class__ is Raised: out, fout = answer[0], None")
        if not self.is_forward:
            self.back.append("given = answer[2](None)")
            for k, origin in enumerate(call.origins):
                self.give(origin, f"given[{k + 2}]")

    def spread(self, step: Any) -> None:
        """``f(*args, **kwargs)``: a call of `f` on the elements of a tuple or list, and of a dict."""
        call, count, names = step.call, len(step.arguments), tuple(step.keywords)
        values = self.values(call)
        shadows = self.shadows(call)
        attempted = "attempt" if self.mode == "protected" else "call"
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
            f"answer = {attempted}({self.name(self.calls)}, context, {names!r}, {values[0]}, {shadows[0]},"
            f" tuple({given}), beside_args)"
        )
        self.lines.append("out, fout = answer[0], answer[1]")
        if not self.is_forward:
            self.back.append("given = answer[2](bout)")
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
            self.as_it_is(call)
        else:
            self.make(nested.followed(call)(self.calls, self.context, call))

    def use_row_of_mode(self, step: Any) -> None:
        inside = step.row.of("forward" if self.is_forward else "reverse").inside
        if inside is None:
            name = _named(step.call.function)
            raise self.refuse(f"{name} is called there, which has a rule for one of the modes")
        self.make(step.call.of(inside))

    def apart(self, step: Any) -> None:
        """What stands apart for this level does so for the next."""
        call = step.call
        if call.keywords:
            raise self.refuse(f"{_named(call.function)} is called there by keyword")
        values = "".join(f"{x}, " for x in self.values(call))
        shadows = "".join(f"{x}, " for x in self.shadows(call))
        self.lines.append(f"out = called_apart(context, {self.name(call.function)}, ({values}), ({shadows}))")
        self.lines.append("fout = beside(context, out)")

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


_BOUND = (MethodType, BuiltinMethodType, MethodWrapperType)


def _identity(value: Any) -> Any:
    """What is the same for the same constant: a bound method is another object whenever it is read."""
    return (id(value.__self__), id(value.__func__)) if type(value) is MethodType else id(value)


class _Kept:
    """The origin of an argument, which is no default."""

    def __init__(self, origin: Any) -> None:
        self.origin = origin


def _named(function: Any) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def refused(why: str) -> UnsupportedError:
    """The error that says why a derivative inside a derivative is not followed."""
    return UnsupportedError(
        "a derivative is taken inside a function that is being differentiated",
        f"{why}, and that is not followed through two derivatives yet",
        "write the inner derivative out, or take it at adbc.stop_gradient(x) in place of x",
    )


def written(name: str, source: str, scope: dict[str, Any]) -> Any:
    """The function `name` that `source` defines, with the globals `scope`."""
    scope["__name__"] = __name__  # the module of what is defined there
    exec(_compiled(source), scope)
    return scope[name]


@functools.lru_cache(10_000)
def _compiled(source: str) -> Any:
    return compile(source, __file__, "exec")


def completed(type_: AbstractType, name: str) -> list[str]:
    """The lines that put zeros where the pullback of a rule with a result of this type expects numbers."""
    if isinstance(type_, TupleType):
        parts = [f"{name}{i}" for i in range(len(type_.elements))]
        lines = [f"if {name} is None: {name} = ({'None, ' * len(parts)})"]
        lines.append(f"{''.join(f'{p}, ' for p in parts)}= {name}" if parts else "pass")
        for each, element in zip(parts, type_.elements, strict=True):
            lines += completed(element, each)
        return [*lines, f"{name} = ({''.join(f'{p}, ' for p in parts)})"]
    if type_ == FLOAT:
        return [f"{name} = as_float({name})"]
    return [f"if {name} is None: {name} = 0.0"] if is_number(type_) else []


def called_apart(context: Context, function: Any, args: Sequence[Any], shadows: Sequence[Any]) -> Any:
    """``function(*args)``, of a function that stands apart, where the inner level meets it."""
    call = Call(function, None, tuple(args), tuple(shadows), (None,) * len(args))
    nested.adopt_all(context, call)
    return call.perform()


_WAYS: dict[type, Callable[[_Writer, Any], None]] = {
    steps.UseRow: _Writer.use_row,
    steps.UseTextRow: _Writer.use_text_row,
    steps.UseRowOfMode: _Writer.use_row_of_mode,
    steps.Enter: _Writer.enter,
    steps.Foreign: _Writer.foreign,
    steps.Value: _Writer.value_step,
    steps.Found: _Writer.found,
    steps.Alternatives: _Writer.alternatives,
    steps.Make: _Writer.make_instance,
    steps.Spread: _Writer.spread,
    steps.Locate: _Writer.locate,
    steps.OfFunction: _Writer.of_function,
    steps.Differentiate: _Writer.differentiate,
    steps.Apart: _Writer.apart,
}
"""How each step is written; others are refused."""

_SCOPE: dict[str, Any] = {
    "NO_TANGENT": NO_TANGENT, "part": part, "of_self": of_self, "to_self": to_self, "joined": joined,
    "elements_of": elements_of, "slots_of": slots_of, "tangent_in": tangent_in, "shadow_in": shadow_in,
    "give_slots": give_slots, "tangents_by_name": tangents_by_name, "slots_by_name": slots_by_name,
    "slot_rdata": slot_rdata, "missing": missing, "as_float": as_float, "FData": FData, "Raised": Raised,
    "dependent": dependent, "instance": nested.instance, "call": _call, "attempt": _attempt,
    "called_apart": called_apart, "fill_all": nested.fill_all,
}  # fmt: skip

ROWS: list[Rule] = [
    Overlay(Calls.call, _call),
    Overlay(Calls.call_with_displays, _call_with_displays),
    Overlay(Calls.get_attribute, _get_attribute),
    Overlay(ReverseCalls.attempt, _attempt),
    *nested.apart(decided, dependent, called_apart),
]
