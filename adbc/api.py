"""The public functions: `value_and_grad`, `grad`, `jvp`, `vjp`, `build_rrule`, `build_frule`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

from adbc.errors import ArgumentError, InvalidTangentError, PullbackConsumedError
from adbc.runtime import default_engine
from adbc.runtime.entry.boxed import DerivedFRule, DerivedRule
from adbc.runtime.entry.described import lists_in
from adbc.runtime.entry.entering import enter
from adbc.runtime.entry.forward import enter_known, learn
from adbc.runtime.entry.reading import only_read
from adbc.runtime.entry.reverse import Entrance, short
from adbc.runtime.entry.reverse import gradient as gradient_of
from adbc.runtime.entry.signature import Signature, as_signature
from adbc.runtime.report.messages import describe
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.context import Context
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    Const,
    FData,
    RData,
    check_increment,
    increment,
    slot_increment,
    slot_shadow,
    zero_tangent,
)
from adbc.tangents.aliasing import is_consistent, shared_memory_conflict
from adbc.tangents.fit import as_numbers, misfit
from adbc.tangents.protocol import kind_of

__all__ = ["build_frule", "build_rrule", "grad", "jvp", "value_and_grad", "vjp"]


def build_rrule(signature: Signature | tuple[Any, ...]) -> DerivedRule:
    """The reverse rule of a function for arguments of given types.

    ``rule(CoDual(f, ff), CoDual(x, fx), ...) -> (CoDual(out, fout), pullback)`` where each f is the
    fdata of its primal; ``pullback(rdata) -> (rdata of f, rdata of x, ...)`` undoes what the call
    changed and adds to the fdata.

    Raises `ArgumentError` if `signature` is not a `Signature` or a tuple ``(f, type, ...)``, and
    `LiftError` if the function is written in Python and cannot be lifted.

    >>> import adbc
    >>> rule = adbc.build_rrule((lambda x: x * x, float))
    >>> f = rule.signature.function
    >>> out, pullback = rule(adbc.CoDual(f, adbc.NoFData()), adbc.CoDual(3.0, adbc.NoFData()))
    >>> out.primal, pullback(1.0)
    (9.0, (NoRData(), 6.0))
    """
    signature = as_signature(signature)
    _prepare(signature, "reverse")
    return DerivedRule(default_engine(), signature)


def build_frule(signature: Signature | tuple[Any, ...]) -> DerivedFRule:
    """The forward rule of a function for arguments of given types.

    ``rule(Dual(f, df), Dual(x, dx), ...) -> Dual(out, dout)``; tangents of arguments that are changed
    in place are changed with them.  Raises as `build_rrule` does.

    >>> import adbc
    >>> rule = adbc.build_frule((lambda x: x * x, float))
    >>> f = rule.signature.function
    >>> rule(adbc.Dual(f, adbc.NoTangent()), adbc.Dual(3.0, 1.0))
    Dual(9.0, 6.0)
    """
    signature = as_signature(signature)
    _prepare(signature, "forward")
    return DerivedFRule(default_engine(), signature)


def _prepare(signature: Signature, mode: str) -> None:
    """Build the rule now where it is known what will be called."""
    function = signature.function
    engine = default_engine()
    code = getattr(function, "__code__", None)
    if (
        isinstance(function, types.FunctionType)
        and not engine.table.rows(function)
        and code is not None
        and code.co_argcount == len(signature.types)
        and not code.co_kwonlyargcount
        and not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    ):
        from adbc.types import has_cotangent, has_shadow

        active = [has_shadow(t) or has_cotangent(t) for t in signature.types]
        engine.entry(function, signature.types, active, mode).build()


# -- gradients ---------------------------------------------------------------------------------------


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., tuple[Any, Any]]:
    """A function that gives ``f(*args, **kwargs)`` and its gradient by the arguments `argnums`.

    The gradient has the structure of the argument: a float for a float, an array of the same shape and dtype
    for an array, a list, tuple or dict likewise, and for an object a `MutableTangent` whose fields
    read as attributes.  For complex arguments it is ``df/dx + i df/dy``.  A tuple of argnums gives a
    tuple of gradients.  Arguments are left as they were before the call.

    The function that is returned raises `adbc.errors.ArgumentError` if the value is not a real number or an
    argument has no derivative (an int: pass a float), `adbc.MissingRuleError` if a value with a derivative
    reaches a C function without a rule, `adbc.errors.LiftError` if a function looks at its own frame or is
    asynchronous, and what `f` raises.

    >>> import adbc
    >>> adbc.value_and_grad(lambda x, n: x ** n)(3.0, 2)
    (9.0, 6.0)
    """
    numbers = _argnums(argnums)
    single = not isinstance(argnums, Sequence)
    entrance = Entrance(numbers)

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        engine = default_engine()
        way = None if kwargs else entrance.way(engine, f, args)
        entered = None
        if way is not None and way.is_short:
            answer = short(engine, way, args)
            if answer is not None:
                out, gradients = answer
                return out, gradients[0] if single else gradients
        elif way is not None:
            entered = entrance.enter(engine, way, f, args)
        if entered is not None:
            out, fout, pullback, shadows = entered
            _check_scalar(f, out)
            bargs = pullback(seed(out, fout, 1.0))
            if way is not None and way.is_closed:
                gradients = tuple([gradient_of(shadows[i], args[i], bargs[i]) for i in numbers])
            else:
                gradients = tuple(
                    [slot_increment(0.0 if shadows[i] is NO_FDATA else shadows[i], bargs[i]) for i in numbers]
                )
        else:
            call = _Call(f, args, kwargs, numbers)
            _check_scalar(f, call.out)
            bargs = call.pullback(1.0)
            out, gradients = call.out, tuple(call.gradient(i, bargs) for i in call.numbers)
            if not kwargs:
                entrance.learn(engine, f, args, call.shadows, call.constants)
        return out, gradients[0] if single else gradients

    return value_and_gradient


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the gradient of ``f(*args, **kwargs)``: what `value_and_grad` gives, without
    the value.

    >>> import math, adbc
    >>> adbc.grad(math.exp)(0.0)
    1.0
    """
    both = value_and_grad(f, argnums)

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradient


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """``(f(*primals), pullback)``, where ``pullback(cotangent)`` gives a cotangent per argument.

    The cotangent of the value has its structure (an array for an array, ...).  The arguments keep what `f`
    did to them until the pullback has run, which restores them.  It runs once: a second run raises
    `adbc.errors.PullbackConsumedError`, and a cotangent that does not fit the value
    `adbc.errors.InvalidTangentError`, before anything is done.  The first call raises what `value_and_grad`
    does, but takes values of any structure.

    >>> import adbc
    >>> value, pullback = adbc.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> value, pullback(1.0)
    (10.0, (5.0, 2.0))
    """
    call = _Call(f, primals, {}, tuple(range(len(primals))), strict=False)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        if call.done:
            raise PullbackConsumedError(
                "this pullback has been run already; the values it needs are gone."
                " Call adbc.vjp again for another."
            )
        call.check(cotangent)
        bargs = call.pullback(cotangent)
        return tuple(call.gradient(i, bargs) for i in call.numbers)

    return call.out, pullback


class _Call:
    """One forwards pass from outside: shadows for the arguments from one memo, then the rule."""

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        numbers: Sequence[int],
        strict: bool = True,
    ) -> None:
        n = len(args)
        for i in numbers:
            if not -n <= i < n:
                raise ArgumentError(
                    f"argnums has {i}, but {describe(f)} was called with {n} positional arguments"
                )
        self.numbers = [i % n for i in numbers]
        self.done = False
        self.context = context = Context()
        if isinstance(f, Const) or Const in map(type, args) or Const in map(type, kwargs.values()):
            held = [type(x) is Const for x in args]
            for i in self.numbers:
                if strict and held[i]:
                    raise ArgumentError(
                        f"argument {i} of {describe(f)} is declared adbc.Const, but argnums asks for its"
                        " gradient"
                    )
            f, *held_values = hold_constants(context, (f, *args, *kwargs.values()))
            args, kwargs = tuple(held_values[:n]), dict(zip(kwargs, held_values[n:], strict=True))
            self.tangents = [
                NO_TANGENT if is_held else context.shadows.tangent(x)
                for x, is_held in zip(args, held, strict=True)
            ]
            constants: list[int] = []
        else:
            given = (*args, *kwargs.values())
            constants = constant_arguments(
                context, f, given, tuple(kwargs), set(range(len(given))) - set(self.numbers)
            )
            self.tangents = [
                NO_TANGENT if i in constants else context.shadows.tangent(x) for i, x in enumerate(args)
            ]
        if strict:
            for i in self.numbers:
                _check_differentiable(f, i, args[i], self.tangents[i])
        shadows = []
        for i, (x, tangent) in enumerate(zip(args, self.tangents, strict=True)):
            shadow = slot_shadow(tangent)
            shadows.append(shadow if i in self.numbers or shadow is None else context.known_shadow(x))
        named = [
            None if i in constants else context.known_shadow(x)
            for i, x in enumerate(kwargs.values(), len(args))
        ]
        self.shadows = shadows
        self.constants = constants
        self.out, self.fout, self._pullback = enter(
            default_engine().reverse_calls.call_from_outside,
            context,
            tuple(kwargs),
            f,
            context.known_shadow(f),
            (*args, *kwargs.values()),
            (*shadows, *named),
            lists_in(args),
        )

    def check(self, cotangent: Any) -> None:
        """`InvalidTangentError` if `cotangent` is none of the value; nothing has been done then."""
        out = self.out
        if type(out) is float and type(cotangent) is float:
            return
        if cotangent is NO_TANGENT or (isinstance(out, int) and type(cotangent) in (int, float)):
            return
        problem = misfit(out, cotangent, self.context.shadows.is_constant, allow_none=True)
        if problem is not None:
            raise InvalidTangentError(
                f"this is not a cotangent of the value, which has the structure of a tangent: {problem}"
            )

    def pullback(self, cotangent: Any) -> Sequence[Any]:
        rdata = seed(self.out, self.fout, cotangent)
        self.done = True
        result: Sequence[Any] = self._pullback(rdata)[1:]
        return result

    def gradient(self, i: int, bargs: Sequence[Any]) -> Any:
        return slot_increment(self.tangents[i], bargs[i])


def hold_constants(context: Context, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """`values` with what is declared `Const` taken out; it is constant from here on, by every name."""
    if Const not in map(type, values):
        return values
    for x in values:
        if type(x) is Const:
            context.shadows.hold_constant(x.value)
    return tuple([x.value if type(x) is Const else x for x in values])


def constant_arguments(
    context: Context, f: Callable[..., Any], args: Sequence[Any], names: Sequence[str], others: set[int]
) -> list[int]:
    """Those of the arguments `others`, which nobody asks for, that are held constant from here on.

    `f` only reads them, and they share no memory with anything else that was given.
    """
    places = only_read(default_engine(), f, args, names, others)
    if places:
        context.known_shadow(f)
        for i, x in enumerate(args):
            if i not in places:
                context.shadows.tangent(x)
    return [i for i in places if context.shadows.hold_if_free(args[i])]


def seed(out: Any, fout: Any, cotangent: Any) -> Any:
    """Bring in a cotangent of `out`: what has memory is added to the shadow, the rest returned as rdata."""
    if cotangent is NO_TANGENT or cotangent is None or fout is None:
        return None
    if fout is NO_FDATA:
        return cotangent if type(cotangent) is float else as_numbers(out, cotangent)
    if type(fout) is tuple:
        return tuple(map(seed, out, fout, cotangent))
    if type(fout) is FData:
        kind: Any = kind_of(type(out))
        of, given = fout.__dict__, cotangent.__dict__
        return RData(**{k: seed(c, of.get(k), given[k]) for k, c in kind.parts(out)})
    check_increment(fout, cotangent)
    increment(fout, cotangent)
    return None


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(f(*primals), tangent)``: the derivative in the direction `tangents`, one per argument.

    A tangent has the structure of its primal (a float for a float, an array for an array, a list for
    a list, ...); None or ``NoTangent()`` means zero.  Arguments are changed as `f` changes them, and
    so are their tangents.

    Raises `adbc.errors.InvalidTangentError` if a tangent does not fit its primal or one object has several
    tangents, and what `value_and_grad` raises for the function.

    >>> import adbc
    >>> adbc.jvp(lambda x, y: x * y, (2.0, 5.0), (1.0, 0.0))
    (10.0, 5.0)
    """
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"jvp needs one tangent per argument: {len(primals)} arguments, {len(tangents)} tangents"
        )
    engine = default_engine()
    entered = enter_known(engine, f, primals, tangents)
    if entered is not None:
        return _with_tangent(*entered)
    context = Context()
    for i, (x, t) in enumerate(zip(primals, tangents, strict=True)):
        if type(x) is Const and t is not None and t is not NO_TANGENT:
            raise InvalidTangentError(
                f"argument {i} is declared adbc.Const, so it has no tangent: give None, not {t!r:.60}"
            )
    f, *primals = hold_constants(context, (f, *primals))
    given = [None if t is NO_TANGENT else t for t in tangents]
    for i, (x, t) in enumerate(zip(primals, given, strict=True)):
        if t is None or (type(t) is float and type(x) is float):
            continue
        problem = misfit(x, t, context.shadows.is_constant)
        if problem is not None:
            raise InvalidTangentError(f"this is not a tangent of argument {i} of {describe(f)}: {problem}")
        given[i] = as_numbers(x, t)
    conflict = shared_memory_conflict(primals, given)
    if conflict is not None:
        raise InvalidTangentError(
            f"arguments {conflict[0]} and {conflict[1]} share memory, but their tangents do not share it in"
            " the same"
            " way. One object has one tangent: give them the same, or None for one of them, or pass a copy"
        )
    shared = tuple(NO_TANGENT if t is None else t for t in given)
    if not is_consistent(tuple(primals), shared, arrays=False):
        raise InvalidTangentError(
            "one object in the arguments has several tangents, or several objects have one. One object has"
            " one tangent of its own: give that wherever the object stands, or pass copies"
        )
    for x, t in zip(primals, given, strict=True):
        context.shadows.adopt(x, t)
    nothing = {i for i, t in enumerate(given) if t is None}
    constants = constant_arguments(context, f, primals, (), nothing)
    directions = [
        None if i in constants else context.known_tangent(x) if t is None else t
        for i, (x, t) in enumerate(zip(primals, given, strict=True))
    ]
    call = engine.forward_calls.call_from_outside
    out, dout = enter(
        call,
        context,
        (),
        f,
        context.known_tangent(f),
        tuple(primals),
        tuple(directions),
        lists_in(primals),
    )
    learn(engine, f, primals, given, directions)
    return _with_tangent(out, dout)


def _with_tangent(out: Any, dout: Any) -> tuple[Any, Any]:
    """What `jvp` gives for a value and its tangent, None for zero."""
    if type(out) is float and type(dout) is float:
        return out, dout
    return out, zero_tangent(out) if dout is None else as_numbers(out, dout)


# -- checks ------------------------------------------------------------------------------------------


def _argnums(argnums: int | Sequence[int]) -> tuple[int, ...]:
    numbers = tuple(argnums) if isinstance(argnums, Sequence) else (argnums,)
    for i in numbers:
        if isinstance(i, bool) or not isinstance(i, int):
            raise ArgumentError(f"argnums is an int or a sequence of ints, not {argnums!r}")
    return numbers


def _check_differentiable(f: Callable[..., Any], i: int, x: Any, tangent: Any) -> None:
    if tangent is not NO_TANGENT and (is_active(tangent) or not _holds_integers(x)):
        return
    if tangent is NO_TANGENT and zero_tangent(x) is not NO_TANGENT:
        raise ArgumentError(
            f"argument {i} of {describe(f)} is a {type(x).__name__} that an adbc.Const holds, so it has no"
            " gradient: leave it out of argnums, or pass a copy to one of the two"
        )
    if type(x) in (int, bool):
        remedy = f"pass a float instead: {float(x)!r}"
    elif hasattr(x, "dtype"):
        remedy = "pass an array of floats instead: x.astype(float)"
    else:
        remedy = "leave it out of argnums"
    if tangent is not NO_TANGENT:
        remedy = "write its numbers as floats"
    raise ArgumentError(
        f"argument {i} of {describe(f)} is a {type(x).__name__} ({x!r:.40}),"
        f" which has no derivative; {remedy}"
    )


def _holds_integers(x: Any) -> bool:
    """Whether all that a list, tuple or dict has are integers, where floats were meant."""
    if isinstance(x, dict):
        x = x.values()
    elif not isinstance(x, list | tuple):
        return isinstance(x, int) or getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u", "b")
    return len(x) > 0 and all(map(_holds_integers, x))


def _check_scalar(f: Callable[..., Any], out: Any) -> None:
    cls = type(out)
    if cls is float or cls is int or cls is bool:
        return
    is_number = getattr(out, "ndim", None) == 0 and getattr(getattr(out, "dtype", None), "kind", "") in "fiub"
    if not is_number:
        shape = f" of shape {out.shape}" if hasattr(out, "shape") else ""
        raise ArgumentError(
            f"the value of {describe(f)} is a {cls.__name__}{shape}, but a gradient is of a real scalar;"
            " return a number (sum the components, or take one), or use adbc.vjp, which takes a cotangent for"
            " the value"
        )
