"""What derivatives inside differentiated code are followed as: functions in Python that take them.

Such a function makes a context of its own level, asks it for the shadows of the arguments, and calls the
code of
the inner rule, its forwards pass and its pullback or its dual function.  It is written for the rule, with the
parts of the rule as globals, and differentiated like any other function.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from adbc.errors import ArgumentError, InvalidTangentError, PullbackConsumedError, UnsupportedError
from adbc.rules.table import Rule, ZeroRule
from adbc.runtime.calls import inner
from adbc.runtime.calls.inner import completed, written
from adbc.runtime.calls.inner_generators import ended
from adbc.runtime.calls.nested import ApartRule, apart, known_shadow, known_tangent
from adbc.runtime.calls.plans import is_derived
from adbc.runtime.calls.reverse import value_shadow
from adbc.runtime.calls.steps import Call
from adbc.runtime.entry.described import lists_in
from adbc.runtime.entry.gradients import Gradient, ValueAndGradient
from adbc.runtime.entry.results import (
    check_differentiable,
    check_scalar,
    kept,
    pair,
    real,
    seed,
    snapshot,
    with_tangent,
)
from adbc.runtime.entry.selection import places
from adbc.runtime.report.messages import describe
from adbc.runtime.state.context import Context
from adbc.runtime.state.slots import as_float
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    Const,
    FData,
    Tangent,
    slot_increment,
    slot_shadow,
    zero_tangent,
)
from adbc.tangents.aliasing import divides_memory, is_consistent, shared_memory_conflict
from adbc.tangents.fit import as_numbers, misfit
from adbc.tangents.protocol import kind_of
from adbc.types import AbstractType, has_cotangent, has_shadow
from adbc.types.array_calls import DTYPE_CODES
from adbc.types.lattice import FLOAT, ArrayType, TupleType, class_of, is_float64, is_list

__all__ = [
    "ROWS",
    "follow",
    "forwards_lines",
    "gradient_as_function",
    "inner_rule",
    "learn",
    "made_function",
    "once",
    "refuse_width",
    "target_of",
]


# -- what is called of the runtime ---------------------------------------------------------------------------


def new_context(is_forward: bool) -> Context:
    """The context of an inner level."""
    context = Context()
    context.is_forward = is_forward
    context.is_followed = True
    return context


def tangent_of(context: Context, x: Any) -> Any:
    """The tangent of argument `x` at this level: zeros, which the pullback adds to."""
    return context.shadows.tangent(x)


def has_end(context: Context) -> bool:
    """Whether something is left to do at the end of the call with this context."""
    return context.has_end


def adopt(context: Context, x: Any, tangent: Any) -> None:
    """Let the inner level know the tangent of an argument."""
    context.shadows.adopt(x, tangent)


# -- what is differentiated ----------------------------------------------------------------------------------


class _Target(NamedTuple):
    """A function on exactly its positional parameters, and what it is given: places of arguments of the call,
    or -1 for what is differentiated itself."""

    function: types.FunctionType
    order: tuple[int, ...]


def target_of(engine: Any, f: Any, count: int, names: tuple[str, ...]) -> _Target:
    """What computes ``f(*args)``, of which the last arguments are given by the keywords `names`."""
    total = count + len(names)
    if type(f) is types.FunctionType and is_derived(engine, f):
        code = f.__code__
        parameters = code.co_varnames[: code.co_argcount]
        is_plain = not (code.co_kwonlyargcount or code.co_flags & _MORE) and code.co_argcount == total
        if is_plain and sorted(parameters[count:]) == sorted(names):
            given = (*parameters[:count], *names)
            return _Target(f, tuple(given.index(name) for name in parameters))
    return _Target(_forwarder(count, names), (-1, *range(total)))


_MORE = 0x04 | 0x08 | 0x20  # CO_VARARGS, CO_VARKEYWORDS, CO_GENERATOR


@functools.cache
def _forwarder(count: int, names: tuple[str, ...]) -> Any:
    """The function that calls its first argument with the others, the last of them by keyword."""
    xs = [f"x{i}" for i in range(count)]
    ks = [f"k{i}" for i in range(len(names))]
    given = ", ".join([*xs, *[f"{name}={k}" for name, k in zip(names, ks, strict=True)]])
    return written("forward", f"def forward({', '.join(['f', *xs, *ks])}):\n return f({given})", {})


def inner_rule(engine: Any, target: _Target, values: Sequence[Any], active: Sequence[Any], mode: str) -> Any:
    """The rule of `target` for these values, built, with code that can be lifted."""
    types_ = [engine.typeof(x) for x in values]
    for i, known in enumerate(lists_in(values)):
        types_[i] = known or types_[i]
    on = [flag and bool(has_shadow(t) or has_cotangent(t)) for flag, t in zip(active, types_, strict=True)]
    if engine.pressing:
        engine.refresh()
    rule = engine.entry(target.function, types_, on, mode)
    for part in (rule.forwards, rule.pullback):
        engine.written(part)
        if mode == "forward":
            break
    if not engine.check(rule):
        return inner_rule(engine, target, values, active, mode)
    flags = tuple(
        (has_shadow(t) + 2 * has_cotangent(t)) if f else 0 for t, f in zip(rule.parameters, on, strict=True)
    )
    return rule, flags


def _given(call: Call, f: Any, target: _Target) -> list[Any]:
    """The values that `target` is given, of the call of what is made of `f`."""
    return [f if place < 0 else call.args[place] for place in target.order]


# -- gradients -----------------------------------------------------------------------------------------------


def _follow_gradient(calls: Any, context: Context, call: Call) -> Call:
    """The call of a function that computes what a gradient, which is called, does."""
    if Const in map(type, call.args):
        raise _refused_constant(call.function._function)
    followed, rule, order = _followed_gradient(calls.engine.inside, call)
    f = call.function._function
    if rule.takes_function:
        order = (-1, *order)
    return call.rearranged(followed, f, calls.known(context, f), order)


def _followed_gradient(engine: Any, call: Call) -> tuple[types.FunctionType, Any, tuple[int, ...]]:
    """The function that computes what a gradient, which is called, does; the rule that it is written for, and
    the places of the arguments that it is given."""
    gradient = call.function
    f = gradient._function
    named = call.by_name()
    args = call.args[: call.count]
    wanted = places(f, gradient._chosen, args, named)
    for i in wanted:
        check_differentiable(f, i, call.args[i], zero_tangent(call.args[i]), call.keywords, call.count)
    target = target_of(engine, f, call.count, call.keywords)
    values = _given(call, f, target)
    asked = [place in wanted for place in target.order]
    scratch = new_context(False)
    known = [
        is_asked or scratch.known_shadow(x) is not None for x, is_asked in zip(values, asked, strict=True)
    ]
    rule, flags = inner_rule(engine, target, values, known, "reverse")
    by_place = {place: i for i, place in enumerate(target.order)}
    results = tuple(by_place[place] for place in wanted)
    followed = _entrance(
        rule, target, flags, tuple(asked), results,
        gradient._has_aux, gradient._single, gradient._gives_value,
    )  # fmt: skip
    return followed, rule, target.order


def gradient_as_function(
    engine: Any, gradient: ValueAndGradient, args: Sequence[Any]
) -> tuple[types.FunctionType, Any] | None:
    """The function that computes what `gradient` does for arguments of these types, and the rule that it is
    written for, if it is given just these arguments."""
    f = gradient._function
    if type(f) is not types.FunctionType or f.__closure__ is not None or engine.table.rows(f):
        return None
    nothing = (None,) * len(args)
    call = Call(gradient, None, tuple(args), nothing, nothing)
    followed, rule, order = _followed_gradient(engine.inside, call)
    return None if rule.takes_function or order != tuple(range(len(args))) else (followed, rule)


def _entrance(
    rule: Any,
    target: _Target,
    flags: tuple[int, ...],
    asked: tuple[bool, ...],
    results: tuple[int, ...],
    has_aux: bool,
    single: bool,
    gives_value: bool,
) -> Any:
    """The function that takes the gradient by `rule`."""
    key = (target.order, flags, asked, results, has_aux, single, gives_value)
    known = rule.entrances.get(key)
    if known is not None:
        return known
    lines, scope = forwards_lines(rule, flags, asked)
    f = _named(rule, target, scope)
    lines += [f"value = real({f}, value)"] if has_aux or not _is_real(rule.result) else []
    if has_aux:
        lines[-1:] = [
            f"value, aux = pair({f}, out)",
            f"value = real({f}, value)",
            f"aux = snapshot({f}, aux)",
        ]
    back, more = _backwards(rule, flags, "(1.0, None)" if has_aux else "1.0")
    lines += back
    scope |= more
    gradients = [_gradient(i, flags[i], True, rule.parameters[i]) for i in results]
    found = gradients[0] if single else f"({', '.join(gradients)},)" if gradients else "()"
    value = "(value, aux)" if has_aux else "value"
    if gives_value:
        lines.append(f"return {value}, {found}")
    else:
        lines.append(f"return {found}, aux" if has_aux else f"return {found}")
    made = rule.entrances[key] = made_function(rule, _parameters(rule, flags), lines, scope)
    return made


def _named(rule: Any, target: _Target, scope: dict[str, Any]) -> str:
    """What the function that is differentiated is called in the lines, for messages: the parameter where the
    rule takes it, for it may be another in each call; else any with its code will do."""
    if -1 in target.order:
        return f"x{target.order.index(-1)}"
    if rule.takes_function:
        return "function"
    scope["f"] = target.function
    return "f"


def forwards_lines(
    rule: Any, flags: Sequence[int], asked: Sequence[bool]
) -> tuple[list[str], dict[str, Any]]:
    """The lines that make a context and run the forwards pass, and the globals that they need."""
    scope = {**_SCOPE, "forwards": rule.forwards, "pullback": rule.pullback}
    lines = ["context = new_context(False)"]
    given = ["context"]
    first: list[str] = []
    others: list[str] = []
    if rule.takes_function:
        others.append("ff = known_shadow(context, function)")
        given += ["function", "ff"]
    for i, flag in enumerate(flags):
        given.append(f"x{i}")
        if asked[i] and flag and not _is_of_floats(rule.parameters[i]):
            first.append(f"t{i} = tangent_of(context, x{i})")
        if flag & 1:
            given.append(f"s{i}")
            if asked[i]:
                is_whole = _is_its_shadow(rule.parameters[i])
                first.append(f"s{i} = t{i}" if is_whole else f"s{i} = slot_shadow(t{i})")
            else:
                others.append(f"s{i} = known_shadow(context, x{i})")
    lines += first + others
    out = "value, fout, saved" if rule.returns_shadow else "value, saved"
    lines.append(f"{out} = forwards({', '.join(given)})")
    lines.append("if has_end(context): ended(context)")
    lines.append("out = value")
    return lines, scope


def _backwards(rule: Any, flags: Sequence[int], cotangent: str) -> tuple[list[str], dict[str, Any]]:
    """The lines that run the pullback from a cotangent of the value, as `ReverseCalls.enter_planned` does,
    and the globals that they need."""
    returned = "".join(f"b{i}, " for i, flag in enumerate(flags) if flag & 2)
    left = f"{returned}= " if returned else ""
    behind: list[str] = []
    for i, flag in enumerate(flags):
        known = rule.parameters[i]
        if flag & 2 and known != FLOAT and _is_of_floats(known):
            behind += completed(known, f"b{i}")
    if rule.returns_float and cotangent == "1.0":
        return [f"{left}pullback(saved, 1.0)", *behind], {}
    more: dict[str, Any] = {} if rule.returns_shadow else {"fout": value_shadow(rule.result)}
    is_number = cotangent == "1.0" and more.get("fout") is NO_FDATA
    lines = ["by = 1.0" if is_number else f"by = seed(out, fout, {cotangent})"]
    if rule.returns_float:
        return [*lines, f"{left}pullback(saved, as_float(by))", *behind], more
    if rule.returns_cotangent:
        return [*lines, *completed(rule.result, "by"), f"{left}pullback(saved, by)", *behind], more
    return [*lines, f"{left}pullback(saved)", *behind], more


def _is_real(known: AbstractType) -> bool:
    """Whether values of this type are real numbers without memory."""
    return known == FLOAT or is_float64(known)


def _is_of_floats(known: AbstractType) -> bool:
    """Whether what has this type is a float, or a tuple of what is."""
    return known == FLOAT or (isinstance(known, TupleType) and all(map(_is_of_floats, known.elements)))


def _is_its_shadow(known: AbstractType) -> bool:
    """Whether the tangent of what has this type is its shadow."""
    return (
        is_list(known)
        or class_of(known) is dict
        or (type(known) is ArrayType and known.cls.__module__ == "numpy" and known.dtype in DTYPE_CODES)
    )


def _gradient(i: int, flag: int, is_active: bool, type_: AbstractType) -> str:
    """The gradient by parameter `i`, from its tangent and from what the pullback has returned."""
    if not is_active:
        return "NO_TANGENT"
    if not flag:  # it holds no numbers
        return f"tangent_of(context, x{i})"
    if not flag & 2:
        return f"t{i}"
    return f"b{i}" if _is_of_floats(type_) else f"slot_increment(t{i}, b{i})"


def _parameters(rule: Any, flags: Sequence[int]) -> list[str]:
    return ["function"] * rule.takes_function + [f"x{i}" for i in range(len(flags))]


def made_function(rule: Any, parameters: Sequence[str], lines: Sequence[str], scope: dict[str, Any]) -> Any:
    """The function with this body, which enters `rule`."""
    body = "\n ".join(lines)
    made = written("derivative", f"def derivative({', '.join(parameters)}):\n {body}", scope)
    rule.engine.note_part(made, rule)
    return made


# -- in one direction ----------------------------------------------------------------------------------------


def _follow_jvp(calls: Any, context: Context, call: Call) -> Call:
    """The call of a function that computes what `adbc.jvp` does."""
    engine = calls.engine.inside
    refuse_width(call, "adbc.jvp", "tangent", "adbc.jacfwd")
    at = _bound(call, ("f", "primals", "tangents", "has_aux", "width"), (False, None))
    f, primals, tangents, has_aux, _ = [_value(call, place) for place in at]
    if type(primals) not in (tuple, list) or type(tangents) not in (tuple, list):
        raise _refused(call.function, "its arguments and tangents are not given as tuples or lists")
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"jvp needs one tangent per argument: {len(primals)} arguments, {len(tangents)} tangents"
        )
    given = [None if t is NO_TANGENT else t for t in tangents]
    _check_directions(f, primals, given)
    target = target_of(engine, f, len(primals), ())
    scratch = new_context(True)
    values = [f if place < 0 else primals[place] for place in target.order]
    directions = [None if place < 0 else given[place] for place in target.order]
    known = [
        scratch.known_tangent(x) is not None if d is None else True
        for x, d in zip(values, directions, strict=True)
    ]
    rule, flags = inner_rule(engine, target, values, known, "forward")
    kinds = tuple([t is None for t in given]), tuple(map(_as_given, primals, given))
    key = ("jvp", target.order, flags, kinds, has_aux)
    followed = rule.entrances.get(key)
    if followed is None:
        lines = [_unpacking("x", len(primals), "primals"), _unpacking("d", len(given), "tangents")]
        lines.append("context = new_context(True)")
        scope = {**_SCOPE, "forwards": rule.forwards}
        named = _named(rule, target, scope)
        arguments = ["context"]
        for i, t in enumerate(given):
            form = kinds[1][i]
            if t is not None and form is None:
                lines.append(f"d{i} = as_numbers(x{i}, d{i})")
            if t is not None and form != "numbers":
                lines.append(f"adopt(context, x{i}, d{i})")
        if rule.takes_function:
            lines.append("df = known_tangent(context, function)")
            arguments += ["function", "df"]
        for place, flag, d in zip(target.order, flags, directions, strict=True):
            x, dx = ("function", "dg") if place < 0 else (f"x{place}", f"d{place}")
            arguments.append(x)
            if flag:
                if d is None:
                    lines.append(f"{dx} = known_tangent(context, {x})")
                arguments.append(dx)
        lines.append(f"out, dout = forwards({', '.join(arguments)})")
        lines.append("if has_end(context): ended(context)")
        if has_aux:
            lines += [f"value, aux = pair({named}, out)", "d = None if dout is None else dout[0]"]
            lines += ["value, d = with_tangent(value, d)", "return value, d, aux"]
        else:
            number = kind_of(class_of(rule.result)) if is_float64(rule.result) else None  # type: ignore[arg-type]
            if type(rule.result) is ArrayType:
                lines.append("if dout is None: dout = zero_tangent(out)")
            elif number is not None:
                scope["number"] = number.tangent  # type: ignore[attr-defined]  # of numbers
                lines.append("if dout.__class__ is not number: return with_tangent(out, dout)")
            is_as_it_is = rule.result == FLOAT or type(rule.result) is ArrayType or number is not None
            lines.append("return out, dout" if is_as_it_is else "return with_tangent(out, dout)")
        followed = rule.entrances[key] = made_function(
            rule, ["function", "primals", "tangents"], lines, scope
        )
    return call.rearranged(followed, None, None, at[:3])


def refuse_width(call: Call, name: str, what: str, instead: str) -> None:
    """Raise `UnsupportedError` if `call`, of the function that is called `name`, is given a width."""
    if "width" in (call.keywords or ()) and call.by_name()["width"] is not None:
        raise UnsupportedError(
            f"{name} with width= is called inside a function that is being differentiated",
            f"a batch of {what}s is not followed there",
            f"call {name} for one {what} at a time, or {instead}, which does so there",
        )


def _unpacking(name: str, count: int, source: str) -> str:
    return "".join(f"{name}{i}, " for i in range(count)) + f"= {source}" if count else "pass"


def _as_given(x: Any, t: Any) -> str | None:
    """How the tangent `t` of `x` can be taken as it is: as ``"numbers"``, or as ``"memory"``, which is known
    by its address; None if its numbers may have to be converted."""
    if type(t) is not type(x):
        return None
    if type(x) is tuple:
        same = len(x) == len(t) and all(_as_given(*pair) == "numbers" for pair in zip(x, t, strict=False))
        return "numbers" if same else None
    if type(x) is float:
        return "numbers"
    has_memory = type(x) in (list, dict) or bool(getattr(x, "ndim", 0))
    return "memory" if has_memory else None


def _check_directions(f: Any, primals: Sequence[Any], given: Sequence[Any]) -> None:
    """Raise, as `first_dual_call` does, if the tangents do not fit the arguments."""
    if Const in map(type, primals):
        raise _refused_constant(f)
    for i, (x, t) in enumerate(zip(primals, given, strict=True)):
        problem = None if t is None else misfit(x, t, _never)
        if problem is not None:
            raise InvalidTangentError(f"this is not a tangent of argument {i} of {describe(f)}: {problem}")
    shared = tuple([NO_TANGENT if t is None else t for t in given])
    values = tuple(primals)
    if (
        shared_memory_conflict(primals, given) is not None
        or not is_consistent(values, shared, arrays=False)
        or divides_memory(values, shared)
    ):
        raise InvalidTangentError(
            "one object in the arguments has several tangents, or several objects have one. One object has"
            " one tangent of its own: give that wherever the object stands, or pass copies"
        )


def _never(x: Any) -> bool:
    return False


# -- pullbacks -----------------------------------------------------------------------------------------------


def _follow_vjp(calls: Any, context: Context, call: Call) -> Call:
    """The call of a function that computes what `adbc.vjp` does."""
    engine = calls.engine.inside
    has_aux = False
    if call.keywords:
        options = call.by_name()
        has_aux = bool(options.pop("has_aux", False))
        options.pop("reusable", None)  # where it is true, `nested_rules` is asked
        refuse_width(call, "adbc.vjp", "cotangent", "adbc.jacrev")
        options.pop("width", None)
        if options:
            raise ArgumentError(f"vjp takes has_aux and reusable by keyword, not {', '.join(options)}")
    f, primals = call.args[0], call.args[1 : call.count]
    if Const in map(type, primals):
        raise _refused_constant(f)
    target = target_of(engine, f, len(primals), ())
    values = [f if place < 0 else primals[place] for place in target.order]
    scratch = new_context(False)
    known = [
        place >= 0 or scratch.known_shadow(x) is not None
        for place, x in zip(target.order, values, strict=True)
    ]
    rule, flags = inner_rule(engine, target, values, known, "reverse")
    asked = tuple([place >= 0 for place in target.order])
    key = ("vjp", target.order, flags, asked, has_aux)
    followed = rule.entrances.get(key)
    if followed is None:
        lines, scope = forwards_lines(rule, flags, asked)
        scope["once"] = once
        named = _named(rule, target, scope)
        lines += ["done = [False]"]
        back, more = _backwards(rule, flags, "(cotangent, None)" if has_aux else "cotangent")
        scope |= more
        by_place = {place: i for i, place in enumerate(target.order)}
        found = []
        for place in range(len(primals)):
            i = by_place[place]
            found.append(_gradient(i, flags[i], not kind_of(type(values[i])).inactive, rule.parameters[i]))
        inside = ["once(done)", "check_cotangent(value, cotangent)", "done[0] = True", *back]
        inside.append(f"return {''.join(g + ', ' for g in found) or '()'}")
        if has_aux:
            lines += [f"value, aux = pair({named}, out)", f"aux = snapshot({named}, aux)"]
        if rule.result != FLOAT:
            lines += [f"value = kept(value, ({''.join(f'x{i}, ' for i in range(len(flags)))}))"]
        lines += ["def back(cotangent):", *[f" {line}" for line in inside]]
        lines.append("return value, back, aux" if has_aux else "return value, back")
        followed = rule.entrances[key] = made_function(rule, _parameters(rule, flags), lines, scope)
    order = tuple([0 if place < 0 else place + 1 for place in target.order])
    return call.rearranged(followed, None, None, (0, *order) if rule.takes_function else order)


def once(done: list[bool]) -> None:
    """Raise if a pullback has been run already."""
    if done[0]:
        raise PullbackConsumedError(
            "this pullback has been run already; the values it needs are gone."
            " Call adbc.vjp again for another."
        )


def check_cotangent(value: Any, cotangent: Any) -> None:
    """Raise `InvalidTangentError` if `cotangent` is none of `value`."""
    if cotangent is NO_TANGENT or (isinstance(value, int | float) and type(cotangent) in (int, float)):
        return
    problem = misfit(value, cotangent, _never, allow_none=True)
    if problem is not None:
        raise InvalidTangentError(
            f"this is not a cotangent of the value, which has the structure of a tangent: {problem}"
        )


# -- what is called by the user ------------------------------------------------------------------------------


def make_gradient(engine_in_use: Any, cls: Any, f: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """The gradient of `f`, whose derivative is found by its address where it is called."""
    return cls(f, argnums, has_aux, engine_in_use)


def _follow_making(cls: Any) -> Callable[..., Any]:
    def follow_making(calls: Any, context: Context, call: Call) -> Call:
        engine_in_use = call.function.__globals__["default_engine"]
        for x, shadow in zip(call.args, call.shadows, strict=True):
            if _holds_numbers(shadow):
                raise _refused(call.function, f"a {type(x).__name__} that is a value holds a derivative")
        made = call.prepend(make_gradient, None, cls, None, None)
        return made.prepend(make_gradient, None, engine_in_use, None, None)

    return follow_making


def _holds_numbers(shadow: Any) -> bool:
    """Whether a shadow, or tangent, has a part that no address leads to."""
    if shadow is NO_FDATA or (isinstance(shadow, float) and shadow != 0.0):
        return True
    if type(shadow) in (FData, Tangent):
        return any(map(_holds_numbers, vars(shadow).values()))
    return type(shadow) is tuple and any(map(_holds_numbers, shadow))


def _refused(function: Any, why: str) -> UnsupportedError:
    name = getattr(function, "__qualname__", None) or repr(function)
    return UnsupportedError(
        f"a derivative is taken inside a function that is being differentiated, by {name}",
        why,
        "write the inner derivative out, or take it at adbc.stop_gradient(x) in place of x",
    )


def _refused_constant(f: Any) -> UnsupportedError:
    return UnsupportedError(
        f"a derivative of {describe(f)} is taken inside a function that is being differentiated, with an"
        " argument declared adbc.Const",
        "that would be a constant of the outer derivative too, which may depend on what it holds",
        "give the value itself: by an argument that argnums, or a tangent of None, leaves out, the inner"
        " derivative asks for nothing",
    )


def _bound(call: Call, names: Sequence[str], defaults: tuple[Any, ...]) -> list[Any]:
    """Per parameter the place of the argument in `call`; a default stands for itself, in a tuple."""
    found: list[Any] = [*range(call.count)]
    if len(found) > len(names) or not set(call.keywords) <= set(names[len(found) :]):
        raise ArgumentError(f"{call.function.__name__} takes {', '.join(names)}")
    required = len(names) - len(defaults)
    for i in range(len(found), len(names)):
        if names[i] in call.keywords:
            found.append(call.count + call.keywords.index(names[i]))
        elif i >= required:
            found.append((defaults[i - required],))
        else:
            raise ArgumentError(f"{call.function.__name__} is called without {names[i]}")
    return found


def _value(call: Call, place: Any) -> Any:
    return place[0] if type(place) is tuple else call.args[place]


_SCOPE: dict[str, Any] = {
    "new_context": new_context, "tangent_of": tangent_of, "known_shadow": known_shadow,
    "slot_shadow": slot_shadow, "slot_increment": slot_increment,
    "seed": seed, "pair": pair, "real": real, "kept": kept,
    "snapshot": snapshot, "as_float": as_float, "fout": NO_FDATA, "NO_TANGENT": NO_TANGENT,
    "known_tangent": known_tangent, "adopt": adopt, "as_numbers": as_numbers, "with_tangent": with_tangent,
    "check_cotangent": check_cotangent, "ended": ended, "has_end": has_end, "zero_tangent": zero_tangent,
}  # fmt: skip

ROWS: list[Rule] = [
    *inner.ROWS,
    ApartRule(new_context, lambda context, args, beside: (new_context(*args), None)),
    *apart(tangent_of, adopt, make_gradient),
    *map(ZeroRule, (check_scalar, check_cotangent, zero_tangent)),
    ZeroRule(has_end, result=bool),
]

_FUNCTIONS: dict[str, Callable[..., Call]] = {
    "grad": _follow_making(Gradient),
    "value_and_grad": _follow_making(ValueAndGradient),
    "jvp": _follow_jvp,
    "vjp": _follow_vjp,
}


def learn(calls: Any) -> None:
    """Let the table of rules know what inner derivatives call of the runtime."""
    if not calls.table.rows(new_context):
        calls.table.add(ROWS)


def follow(calls: Any, context: Context, call: Call) -> Call:
    """The call that is made in the place of `call`, of one of the public functions or of a gradient."""
    learn(calls)
    if isinstance(call.function, ValueAndGradient):
        return _follow_gradient(calls, context, call)
    return _FUNCTIONS[call.function.__name__](calls, context, call)
