"""The rows that users' declarations become: what their functions give is checked in each call.

Nothing that a user's rule gives is taken for granted.  Its shape, structure and kind are compared with the
argument or the result that it belongs to, and what does not fit is an error that names the rule; what fits
goes the way of all cotangents (`tangents.accumulate`).
"""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from adbc.chainrules.binding import Binding
from adbc.chainrules.zeros import NotImplementedTangent
from adbc.errors import ConstWriteError, InvalidTangentError, UnsupportedError
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, UNKNOWN, Args, Kwargs, Pullback, PureRule, Rule, ScalarRule, ZeroRule
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    CoDual,
    Dual,
    accumulate,
    cotangent_of,
    dot,
    external_fdata,
    external_rdata,
    fill_tangent,
    fresh_shadow,
    fresh_tangent,
    internal_fdata,
    internal_rdata,
    multiply,
    project,
    random_tangent,
    zero_tangent,
)
from adbc.tangents.activity_marks import activate
from adbc.tangents.contents import contents, differs, may_move_numbers, put_back
from adbc.tangents.fit import (
    broadcast,
    complex_misfit,
    cotangent_misfit,
    rdata_misfit,
    result_misfit,
    shadow_misfit,
    shape_of,
)
from adbc.tangents.protocol import kind_of

__all__ = [
    "DeclaredRule",
    "DeclaredZero",
    "JointPartials",
    "SeparatePartials",
    "check_fit",
    "flat_frule",
    "flat_rrule",
    "holds_numbers",
    "name_of",
    "new_result",
]


def name_of(function: Any) -> str:
    """The name of a function, for messages."""
    return str(getattr(function, "__qualname__", None) or repr(function))


# -- partial derivatives -------------------------------------------------------------------------------


class _Partials(Rule):
    """The rule of a function of numbers with one result or a tuple of results, by its partial derivatives.

    Arrays, and lists and tuples of numbers, are taken element by element, with broadcasting.
    """

    binding: Binding

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.binding.bind(args, dict(kwargs))

    def slopes(self, out: Any, args: Args, active: Sequence[int]) -> list[Any]:
        """The partial derivative by each of the arguments numbered in `active`, None for zero; for several
        results a tuple of such."""
        raise NotImplementedError

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        whole = self.binding.complete(args)
        out = self.binding.call(self.function, whole, kwargs)
        active = [i for i, d in enumerate(dargs) if d is not None]
        if not active:
            return out, fresh_tangent(out)
        self._check_elementwise(out, whole, active)
        slopes = self._checked_slopes(out, whole, active)
        numbers = [_numbers(dargs[i]) for i in active]
        if type(out) is not tuple:
            return out, _tangent(out, slopes, numbers)
        parts = [_tangent(y, [s[k] for s in slopes], numbers) for k, y in enumerate(out)]
        return out, None if all(d is None for d in parts) else tuple(map(fill_tangent, out, parts))

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        whole = self.binding.complete(args)
        out = self.binding.call(self.function, whole, kwargs)
        active = [i for i, f in enumerate(fargs) if f is not None]
        if active:
            self._check_elementwise(out, whole, active)
        fout = fresh_shadow(out, active=bool(active))

        def scalar_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * len(args)
            by = cotangent_of(fout, bout)
            if by is None:
                return result
            for i, slope in zip(active, self._checked_slopes(out, whole, active), strict=True):
                pairs = zip(slope, by, strict=True) if type(out) is tuple else [(slope, by)]
                for partial, b in pairs:
                    if partial is not None and b is not None:
                        term = accumulate(fargs[i], args[i], multiply(partial.conjugate(), b))
                        result[i] = term if result[i] is None else _sum(result[i], term)
            return result

        return out, fout, scalar_pullback

    def _check_elementwise(self, out: Any, args: Args, active: Sequence[int]) -> None:
        """Raise unless the function has worked element by element on the active ones of `args`."""
        outs = out if type(out) is tuple else (out,)
        if all(type(x) is float for x in outs) and all(type(args[i]) is float for i in active):
            return
        for i in active:
            if shape_of(args[i]) is None or (type(args[i]) in (list, tuple) and "numpy" not in sys.modules):
                raise UnsupportedError(
                    f"{name_of(self.function)} is given a {type(args[i]).__name__} with a derivative as its"
                    f" argument {i}",
                    "its rule is a scalar rule, which is for numbers and arrays of numbers",
                    "give it the number in it, or declare the derivative so:"
                    f" adbc.primitive({name_of(self.function)}, frule=..., rrule=...)",
                )
        shapes = [shape_of(args[i]) or () for i in active]
        for y in outs:
            if kind_of(type(y)).inactive:
                continue
            shape = shape_of(y)
            if shape is None or broadcast(shape, *shapes) != shape:
                what = f"a {type(y).__name__}" + ("" if shape is None else f" of shape {shape}")
                raise UnsupportedError(
                    f"{name_of(self.function)} gives {what} for arguments of the shapes"
                    f" {', '.join(map(str, shapes))}",
                    "its rule is a scalar rule, which is for functions of numbers, and of arrays element by"
                    " element",
                    f"declare its derivative so: adbc.rule({name_of(self.function)}, jvp=..., vjp=...)",
                )

    def _checked_slopes(self, out: Any, args: Args, active: Sequence[int]) -> list[Any]:
        """What `slopes` gives, if it fits `out`."""
        found = self.slopes(out, args, active)
        for i, slope in zip(active, found, strict=True):
            several = type(out) is tuple
            if several and slope is not None and (type(slope) is not tuple or len(slope) != len(out)):
                raise InvalidTangentError(
                    f"the scalar rule of {name_of(self.function)} gives {slope!r:.60} as its derivatives by"
                    f" argument {i}",
                    f"the function has {len(out)} results",
                    f"give a tuple of {len(out)} derivatives, None where one is zero",
                )
            for p, y in zip(slope or (None,) * len(out), out, strict=True) if several else [(slope, out)]:
                if type(p) is not float and p is not None:
                    _check_slope(self.function, i, p, y, args[i])
        return [(None,) * len(out) if s is None and type(out) is tuple else s for s in found]


def _check_slope(function: Any, i: int, p: Any, y: Any, x: Any) -> None:
    """Raise if `p` cannot be the derivative of the result `y` of `function` by its argument `i`, `x`."""
    if isinstance(p, NotImplementedTangent):
        p.raise_error(f"the derivative of {name_of(function)} by argument {i}")
    what = f"the scalar rule of {name_of(function)} gives {p!r:.60} as its derivative by argument {i}"
    shape, wanted = shape_of(p), shape_of(y)
    if shape is None or type(p) in (list, tuple) or broadcast(shape, wanted or ()) != wanted:
        raise InvalidTangentError(
            what,
            f"the shape of the result is {wanted}",
            "give a number, or an array that is broadcast to that shape",
        )
    if complex_misfit(x, p, y) is not None:
        raise InvalidTangentError(
            what,
            "that is complex, and both argument and result are real",
            "give a real number, or its real part, (...).real",
        )


def _numbers(d: Any) -> Any:
    """Tangent `d` of a number or an array; that of a list or tuple of numbers as an array."""
    if type(d) is not list and type(d) is not tuple:
        return d
    numpy: Any = sys.modules["numpy"]  # loaded: else a list is refused
    return numpy.asarray([0.0 if c is NO_TANGENT else _numbers(c) for c in d])


def _tangent(out: Any, slopes: Sequence[Any], numbers: Sequence[Any]) -> Any:
    """The tangent of the result `out`, from the partial derivatives and tangents of its arguments."""
    total = None
    for slope, d in zip(slopes, numbers, strict=True):
        if slope is not None:
            term = multiply(slope, d)
            total = term if total is None else total + term
    return fresh_tangent(out) if total is None else project(total, out, fresh=True)


def _sum(a: Any, b: Any) -> Any:
    """The sum of two rdata of one argument; None is zero."""
    if a is None or b is None:
        return a if b is None else b
    return tuple(map(_sum, a, b)) if type(a) is tuple else a + b


class JointPartials(_Partials):
    """The rule of a function of numbers whose partial derivatives are given by one function, as a tuple."""

    def __init__(self, function: Callable[..., Any], partials: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, **options)
        self.partials = partials
        self.binding = Binding(function, (partials,), 1)

    def slopes(self, out: Any, args: Args, active: Sequence[int]) -> list[Any]:
        found = self.partials(out, *args)
        if type(out) is tuple and len(args) == 1:
            # Of one argument the derivatives may stand as they are, one for each result.
            is_nested = type(found) is tuple and len(found) == 1 and type(found[0]) is tuple
            found = found if is_nested else (found,)
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(args):
            raise TypeError(
                f"the scalar rule of {self.function!r} gives {len(found)} partial derivatives "
                f"for {len(args)} arguments"
            )
        return [found[i] for i in active]


def _parameters(partial: Callable[..., Any]) -> int:
    """How many parameters a partial derivative has, if it is a function in Python all of whose parameters are
    positional; -1 of others, which are called and never written inline."""
    if type(partial) is not FunctionType:
        return -1
    parameters = inspect.signature(partial, follow_wrapped=False).parameters.values()
    return len(parameters) if all(p.kind in _POSITIONAL for p in parameters) else -1


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SeparatePartials(_Partials, ScalarRule):
    """The rule of a function of numbers that has a function for each partial derivative, which is inlined
    where the arguments are floats."""

    takes_result = False
    is_looked_at = True

    def __init__(
        self,
        function: Callable[..., Any],
        partials: Sequence[Callable[..., Any] | None],
        **options: Any,
    ) -> None:
        super().__init__(function, partials, **options)
        self.binding = Binding(function, self.partials, 1)
        self.takes = [None if p is None else _parameters(p) for p in self.partials]

    def is_inline(self, count: int, keywords: Sequence[str]) -> bool:
        if keywords or not len(self.binding.names) <= count <= self.binding.positional:
            return False
        return all(takes in (None, 1 + count) for takes in self.takes)

    def slopes(self, out: Any, args: Args, active: Sequence[int]) -> list[Any]:
        by = [self.partials[i] if i < len(self.partials) else None for i in active]
        return [None if partial is None else partial(out, *args) for partial in by]

    def check_of(self, index: int) -> Callable[[Any, Any, Any], Any]:
        function = self.function

        def fitted(p: Any, out: Any, x: Any) -> Any:
            if p.__class__ is not float:
                _check_slope(function, index, p, out, x)
            return p

        return fitted


# -- formulas per argument ------------------------------------------------------------------------------


class DeclaredRule(PureRule):
    """The rule of a function without effects, by a formula for each argument in each mode."""

    def __init__(
        self, function: Callable[..., Any], *, parameters: Sequence[str] | None = None, **options: Any
    ) -> None:
        super().__init__(function, **options)
        self.binding = Binding(function, (*self.jvp, *self.vjp), 2, parameters)

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.binding.bind(args, dict(kwargs))

    def _called(self, args: Args, derivatives: Args, kwargs: Kwargs) -> Any:
        """What the function gives; raises if that is an argument with a derivative or in its memory, or if
        the function has written into an argument."""
        return new_result(
            self.function, args, derivatives, lambda: self.binding.call(self.function, args, kwargs), "rule"
        )

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        whole = self.binding.complete(args)
        out = self._called(whole, dargs, kwargs)
        dout = None
        for i, (jvp, dx) in enumerate(zip(self.jvp, dargs, strict=False)):
            if jvp is not None and dx is not None:
                term = jvp(dx, out, *whole, **kwargs)
                check_fit(self.function, f"the jvp of argument {i} gives", result_misfit(out, term))
                dout = term if dout is None else _total(dout, term)
        return out, fresh_tangent(out) if dout is None else project(dout, out, fresh=True)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        whole = self.binding.complete(args)
        out = self._called(whole, fargs, kwargs)
        fout = fresh_shadow(out, active=any(f is not None for f in fargs))

        def declared_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * len(args)
            by = cotangent_of(fout, bout)
            if by is None:
                return result
            by = fill_tangent(out, by) if type(by) is not tuple else tuple(map(fill_tangent, out, by))
            for i, (vjp, f, x) in enumerate(zip(self.vjp, fargs, args, strict=False)):
                if vjp is not None and f is not None:
                    d = vjp(by, out, *whole, **kwargs)
                    check_fit(self.function, f"the vjp of argument {i} gives", cotangent_misfit(x, d, out))
                    result[i] = accumulate(f, x, d)
            return result

        return out, fout, declared_pullback


def _any_number(*args: Any) -> None:
    """What takes as many arguments as there are."""


class DeclaredZero(ZeroRule):
    """The rule of a function whose derivative a user has declared to be zero: it leaves the numbers of its
    arguments as they are, and what it gives is new."""

    is_checked = True

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(function, **options)
        self.binding = Binding(function, (_any_number,), 0)  # what goes by keyword is looked at as well

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.binding.bind(args, dict(kwargs))

    def _called(self, args: Args, derivatives: Args, kwargs: Kwargs) -> Any:
        def call() -> Any:
            return self.binding.call(self.function, args, kwargs)

        return new_result(self.function, args, derivatives, call, "zero_derivative")

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = self._called(args, dargs, kwargs)
        return out, fresh_tangent(out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        out = self._called(args, fargs, kwargs)
        nothing = (None,) * len(args)
        return out, fresh_shadow(out, active=False), lambda bout: nothing


def _total(a: Any, b: Any) -> Any:
    """The sum of two tangents of a result, numbers or arrays, or tuples and lists of such."""
    if type(a) in (tuple, list) and type(b) is type(a):
        return type(a)([_total(c, d) for c, d in zip(a, b, strict=True)])
    return a + b


def new_result(function: Any, args: Args, derivatives: Args, call: Callable[[], Any], declared: str) -> Any:
    """What ``call()``, the call of a function that was declared to leave its arguments as they are, gives;
    raises if it writes numbers into one of them, or gives one with a derivative, or a part of one.

    declared: the name of what it was declared with.
    """
    if all(d is None for d in derivatives):
        return call()
    out = without_writing(function, args, derivatives, call, declared)
    check_new(function, args, derivatives, out, declared)
    return out


def check_new(function: Any, args: Args, derivatives: Args, out: Any, declared: str) -> None:
    """Raise if `out`, which `function` gives, is one of `args` with a derivative, or a part of one."""
    kind: Any = kind_of(type(out))
    if kind.inactive or (not kind.address and type(out) is not tuple):
        return
    overlap = getattr(kind, "overlap", None)
    inside = {id(y): y for y, _ in contents([out])}
    for i, (x, d) in enumerate(zip(args, derivatives, strict=False)):
        if d is None or not kind_of(type(x)).address:
            continue
        is_part = overlap is not None and type(x) is type(out) and overlap(x, out) is not None
        if is_part or any(id(y) in inside and holds_numbers(y) for y, _ in contents([x])):
            raise UnsupportedError(
                f"{name_of(function)} gives its argument {i}, or a part of its memory",
                f"adbc.{declared} is for functions whose result is new",
                f"declare the derivative so: adbc.primitive({name_of(function)}, frule=..., rrule=...)",
            )


def without_writing(
    function: Any, args: Args, derivatives: Args, call: Callable[[], Any], declared: str | None = None
) -> Any:
    """What ``call()``, a rule of the user's, gives; raises if it writes numbers into constant arguments, or,
    if the function is `declared` to leave its arguments as they are, into any argument.

    The rule cannot know which are constant: it is given a zero tangent or fdata for them like for any other.
    """
    before = contents_before(args, derivatives, declared)
    result = call()
    check_written(function, args, derivatives, declared, before)
    return result


def contents_before(args: Args, derivatives: Args, declared: str | None) -> Any:
    """What stands in the arguments that a rule must leave as they are, as `check_written` asks for it."""
    given = list(zip(args, derivatives, strict=False))
    if all(d is None for _, d in given):
        return None
    looked_at = [x for x, d in given if (d is None or declared is not None) and kind_of(type(x)).address]
    return list(contents(looked_at)) if looked_at else None


def check_written(function: Any, args: Args, derivatives: Args, declared: str | None, before: Any) -> None:
    """Raise if something else stands in the arguments than `contents_before` has found there."""
    if before is None:
        return
    changed = [(x, old) for x, old in before if differs(x, old)]
    if any(may_move_numbers(x, old) for x, old in changed):
        for x, old in changed:
            put_back(x, old)
        given = zip(args, derivatives, strict=False)
        constants = [x for x, d in given if d is None and kind_of(type(x)).address]
        if declared is not None and not {id(x) for x, _ in contents(constants)} & {id(x) for x, _ in changed}:
            raise UnsupportedError(
                f"{name_of(function)} writes into an argument",
                f"adbc.{declared} is for functions that leave the numbers in their arguments as they are",
                f"declare the derivative so: adbc.primitive({name_of(function)}, frule=..., rrule=...)",
            )
        raise ConstWriteError(
            f"the rule declared for {name_of(function)} writes into an argument that was declared constant",
            "a derivative might be lost there",
            "pass the argument without adbc.Const",
        )


def holds_numbers(x: Any) -> bool:
    """Whether there are real or complex numbers in `x`, or it is one."""
    t = random_tangent(random.Random(0), x)
    return t is not NO_TANGENT and dot(t, t) > 0.0


# -- rules in full ---------------------------------------------------------------------------------------


def _is_constant(out: Any, args: Args, derivatives: Args) -> bool:
    """Whether `out`, which a rule returns, is an argument that is constant, and so stays constant."""
    return any(x is out and d is None for x, d in zip(args, derivatives, strict=True))


def check_fit(function: Any, what: str, problem: str | None) -> None:
    """Raise if there is a `problem` with something that the rule declared for `function` gives."""
    if problem is not None:
        raise InvalidTangentError(f"the rule declared for {name_of(function)} does not fit: {what} {problem}")


def flat_frule(function: Any, boxed: Callable[..., Any]) -> Callable[..., Any]:
    """The forward rule `boxed`, which is in the public form, in flat form."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        duals = [Dual(x, zero_tangent(x) if dx is None else dx) for x, dx in zip(args, dargs, strict=True)]
        out = without_writing(
            function, args, dargs, lambda: boxed(Dual(function, NO_TANGENT), *duals, **kwargs)
        )
        if _is_constant(out.primal, args, dargs):
            return out.primal, None
        check_fit(function, "it gives", shadow_misfit(out.primal, out.tangent, is_tangent=True))
        return out.primal, symbolic(out.tangent)

    return frule


def flat_rrule(function: Any, boxed: Callable[..., Any]) -> Callable[..., Any]:
    """The reverse rule `boxed`, which is in the public form, in flat form."""

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        coduals = [CoDual(x, external_fdata(f, x)) for x, f in zip(args, fargs, strict=True)]
        activate(fargs)  # it may write there what it is given
        out, pullback = without_writing(
            function, args, fargs, lambda: boxed(CoDual(function, NO_FDATA), *coduals, **kwargs)
        )

        def flat_pullback(bout: Any) -> Sequence[Any]:
            given = pullback(external_rdata(bout, out.primal))
            if len(given) != len(args) + 1:
                raise TypeError(
                    f"the pullback of {function!r} gives {len(given)} rdata; it needs one for the function "
                    f"and one for each of {len(args)} arguments"
                )
            for i, (x, r) in enumerate(zip(args, given[1:], strict=True)):
                check_fit(function, f"for argument {i} its pullback gives", rdata_misfit(x, r))
            return [None if f is None else internal_rdata(r) for f, r in zip(fargs, given[1:], strict=True)]

        if _is_constant(out.primal, args, fargs):
            return out.primal, None, flat_pullback
        fout = internal_fdata(out.fdata, out.primal)
        check_fit(function, "it gives", shadow_misfit(out.primal, fout))
        return out.primal, fout, flat_pullback

    return rrule


LOOKING: tuple[Any, ...] = (
    check_new,
    check_written,
    check_fit,
    result_misfit,
    cotangent_misfit,
    rdata_misfit,
)
"""Functions that look at what a rule of the user's does: where that is differentiated once more, they have a
derivative of zero."""
