"""The functions of `math`.

One line per function where there is a formula.  A partial is written in terms of `out` where that
is cheaper, and in the form that keeps its accuracy where the obvious one loses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.intrinsics import _nonzero_
from adbc.rules.classes import arity, has_float, integer, number, reals
from adbc.rules.consumers import are_reals, as_double, exact_sum_of, product_of, product_of_reals
from adbc.rules.elements import (
    DIST,
    FSUM,
    LONGEST,
    PROD,
    SUMPROD,
    WrittenRule,
    expressions,
    in_parts,
    leg,
    of_elements,
)
from adbc.rules.kinks import HUGE, INF, NAN, TINY
from adbc.rules.list_halves import are_floats, pulled_back
from adbc.rules.sequences import collected, element_tangents, sequence_rdata
from adbc.rules.steps import StepRule
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule, ScalarRule, ZeroRule
from adbc.tangents import NO_FDATA, multiply

__all__ = ["ROWS", "sequence_rule"]

_sqrt, _exp, _log, _sin, _cos = math.sqrt, math.exp, math.log, math.sin, math.cos
_sinh, _cosh = math.sinh, math.cosh


def digamma(x: float) -> float:
    """The logarithmic derivative of the gamma function: reflection, recurrence, asymptotic series."""
    if x == -INF or (x <= 0.0 and x == math.floor(x)):
        return NAN
    if x == INF:
        return INF
    result = 0.0
    if x < 0.0:
        # the tangent of the fractional part: of x itself it would lose the digits that matter
        result -= math.pi / math.tan(math.pi * (x - math.floor(x)))
        x = 1.0 - x
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (
        1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12)))))
    )
    return result + math.log(x) - 0.5 / x - series


def _unary(name: str, partial: Callable[..., Any], result: Any = float) -> list[Rule]:
    function = getattr(math, name, None)  # some are younger than the oldest Python that is supported
    return [] if function is None else [ScalarRule(function, (partial,), when=arity(1), result=result)]


def _binary(name: str, by_x: Any, by_y: Any) -> list[Rule]:
    function = getattr(math, name, None)
    return [] if function is None else [ScalarRule(function, (by_x, by_y), when=arity(2), result=float)]


def _sign(x: float) -> float:
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x * 0.0


# Numbers are spelt out: a partial derivative that reads them from this module is called, not written inline;
# so is one with branches.  Divided by the smallest number there is, a half is infinite.
# 0.69... is log(2), 2.30... is log(10), 1.12... is 2 / sqrt(pi), 57.2... is 180 / pi.
_ELEMENTARY: list[Rule] = [
    *_unary("sin", lambda out, x: _cos(x)),
    *_unary("cos", lambda out, x: -_sin(x)),
    *_unary("tan", lambda out, x: 1.0 + out * out),
    *_unary("asin", lambda out, x: 1.0 / _sqrt((1.0 - x) * (1.0 + x)) if x * x != 1.0 else INF),
    *_unary("acos", lambda out, x: -1.0 / _sqrt((1.0 - x) * (1.0 + x)) if x * x != 1.0 else -INF),
    *_unary("atan", lambda out, x: 1.0 / (1.0 + x * x)),
    *_unary("sinh", lambda out, x: _cosh(x)),
    *_unary("cosh", lambda out, x: _sinh(x)),
    *_unary("tanh", lambda out, x: (1.0 - out) * (1.0 + out)),
    *_unary("asinh", lambda out, x: 1.0 / math.hypot(1.0, x)),
    *_unary("acosh", lambda out, x: 1.0 / (_sqrt(x - 1.0) * _sqrt(x + 1.0)) if x != 1.0 else INF),
    *_unary("atanh", lambda out, x: 1.0 / ((1.0 - x) * (1.0 + x))),
    *_unary("exp", lambda out, x: out),
    *_unary("exp2", lambda out, x: out * 0.6931471805599453),
    *_unary("expm1", lambda out, x: out + 1.0 if x > -0.5 else _exp(x)),
    *_unary("log", lambda out, x: 1.0 / x),
    ScalarRule(
        math.log,
        (lambda out, x, base: 1.0 / x / _log(base), lambda out, x, base: -out / (base * _log(base))),
        when=arity(2),
        result=float,
    ),
    *_unary("log1p", lambda out, x: 1.0 / (1.0 + x)),
    *_unary("log2", lambda out, x: 1.0 / (x * 0.6931471805599453)),
    *_unary("log10", lambda out, x: 1.0 / (x * 2.302585092994046)),
    *_unary("sqrt", lambda out, x: 0.5 / _nonzero_(out, 5e-324)),
    *_unary("cbrt", lambda out, x: 1.0 / (3.0 * out * out) if out != 0.0 else INF),
    *_unary("fabs", lambda out, x: _sign(x)),
    *_unary("degrees", lambda out, x: 57.29577951308232),
    *_unary("radians", lambda out, x: 0.017453292519943295),
    *_unary("erf", lambda out, x: 1.1283791670955126 * _exp(-x * x)),
    *_unary("erfc", lambda out, x: -1.1283791670955126 * _exp(-x * x)),
    *_unary("gamma", lambda out, x: out * digamma(x)),
    *_unary("lgamma", lambda out, x: digamma(x)),
]


def _atan2_by_y(out: float, y: float, x: float) -> float:
    square = x * x + y * y
    return x / square if square != 0.0 else 0.0


def _atan2_by_x(out: float, y: float, x: float) -> float:
    square = x * x + y * y
    return -y / square if square != 0.0 else 0.0


def _first(wins: bool, y: float) -> float:
    """1 if `fmax` or `fmin` returns its first argument, which `wins`, or whose rival `y` is nan; else 0."""
    return 1.0 if wins or y != y else 0.0


def _pow_by_base(out: float, x: float, y: float) -> float:
    if y == 0.0 and not abs(x) > TINY:
        return 0.0
    if x == 0.0 and y < 1.0:
        return INF
    # The other power may be no float, which would be an error.
    return y * (out / x) if abs(out) > abs(x) * HUGE else y * math.pow(x, y - 1.0)


_BINARY: list[Rule] = [
    *_binary("atan2", _atan2_by_y, _atan2_by_x),
    *_binary(
        "pow",
        _pow_by_base,
        lambda out, x, y: 0.0 if x == 0.0 else out * _log(x) if x > 0.0 else NAN,
    ),
    # the quotient that was taken, whole in exact arithmetic; from `out` it is right at jumps too
    *_binary("fmod", lambda out, x, y: 1.0, lambda out, x, y: (out - x) / _nonzero_(y, 5e-324)),
    *_binary("remainder", lambda out, x, y: 1.0, lambda out, x, y: (out - x) / _nonzero_(y, 5e-324)),
    *_binary("copysign", lambda out, x, y: _sign(x) * math.copysign(1.0, y), None),
    *_binary("ldexp", lambda out, x, n: math.ldexp(1.0, n) if n < 1024 else INF, None),
    # from 3.15
    *_binary("fmax", lambda out, x, y: _first(x >= y, y), lambda out, x, y: 1.0 - _first(x >= y, y)),
    *_binary("fmin", lambda out, x, y: _first(x <= y, y), lambda out, x, y: 1.0 - _first(x <= y, y)),
]
_FMA: list[Rule] = [
    ScalarRule(
        math.fma,
        (lambda out, x, y, z: y, lambda out, x, y, z: x, lambda out, x, y, z: 1.0),
        when=arity(3),
        result=float,
    )
] if hasattr(math, "fma") else []  # fmt: skip


# -- of any number of arguments ----------------------------------------------------------------------


def _hypot_partials(out: float, args: Sequence[float]) -> list[float]:
    return [leg(out, x) for x in args]


_HYPOT: list[Rule] = [
    WrittenRule(
        math.hypot,
        expressions(", ".join(f"x{i}" for i in range(count)), [f"_leg(out, x{k})" for k in range(count)]),
        when=arity(count),
        result=float,
    )
    for count in range(2, LONGEST + 1)
]
"""Where the hypotenuse is zero, so are the legs."""


def _hypot_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = math.hypot(*args)
    terms = [
        multiply(p, dx) for p, dx in zip(_hypot_partials(out, args), dargs, strict=True) if dx is not None
    ]
    return out, float(sum(terms)) if terms else None


def _hypot_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = math.hypot(*args)
    active = any(f is not None for f in fargs)

    def hypot_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return (None,) * len(args)
        partials = _hypot_partials(out, args)
        return [None if f is None else float(multiply(p, bout)) for p, f in zip(partials, fargs, strict=True)]

    return out, NO_FDATA if active else None, hypot_pullback


# -- of sequences -------------------------------------------------------------------------------------


def sequence_rule(
    function: Any, partials: Callable[..., Sequence[Sequence[Any]]], sequences: int, **options: Any
) -> Primitive:
    """The row of a function of `sequences` sequences of real numbers, and maybe one more number.

    ``partials(out, *args)`` gives the derivatives by the elements of each sequence, and for a
    number after them a list of one.
    """

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = function(*args, **kwargs)
        dout: Any = None
        if any(d is not None for d in dargs) and isinstance(out, float):
            dout = 0.0
            for i, (ps, d) in enumerate(zip(partials(out, *args, **kwargs), dargs, strict=False)):
                for p, dx in zip(ps, element_tangents(d, len(ps)) if i < sequences else [d], strict=True):
                    if dx is not None:
                        dout += multiply(p, dx.real if isinstance(dx, complex) else dx)
        return out, dout

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        out = function(*args, **kwargs)
        active = isinstance(out, float) and any(f is not None for f in fargs)
        saved = [tuple(a) if i < sequences else a for i, a in enumerate(args)]

        def sequence_pullback(bout: Any) -> Sequence[Any]:
            result: list[Any] = [None] * len(args)
            if bout is not None:
                for i, (ps, f) in enumerate(zip(partials(out, *saved, **kwargs), fargs, strict=False)):
                    if f is not None:
                        if type(bout) is float:
                            terms = [float(p * bout) if p and bout else 0.0 for p in ps]  # as in `multiply`
                        else:
                            terms = [float(multiply(p, bout)) for p in ps]
                        result[i] = sequence_rdata(f, terms) if i < sequences else terms[0]
            return result

        return out, NO_FDATA if active else None, sequence_pullback

    return Primitive(function, frule=frule, rrule=rrule, **options)


def products_of_others(values: Sequence[Any], start: Any = 1) -> list[Any]:
    """For each of `values` the product of all others and `start`, which is exact with zeros among them."""
    before, running = [], start
    for x in values:
        before.append(running)
        running = running * x
    running = 1.0
    for i in reversed(range(len(values))):
        before[i] = before[i] * running
        running = running * values[i]
    return before


def _prod_partials(out: Any, values: Sequence[Any], start: Any) -> Any:
    return products_of_others(values, start), [math.prod(values)]


def _prod_forwards(values: Any, start: Any, fvalues: Any, fstart: Any) -> tuple[Any, Any, Any]:
    is_list = type(values) is list and type(fvalues) is list
    if is_list and type(start) in _OF_PYTHON and values and are_floats(values):
        is_active = fstart is not None and type(start) is float
        return math.prod(values, start=start), NO_FDATA, (fvalues, (*values,), start, is_active)
    return _PROD.rrule((values, start), (fvalues, fstart))


def _prod_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    if bout is None:
        return None, None
    fvalues, values, start, is_active = saved
    by = products_of_others(values, start)
    to_start = float(multiply(math.prod(values), bout)) if is_active else None
    if bout.__class__ is float:
        grown = [t + (p * bout if p and bout else 0.0) for t, p in zip(fvalues, by, strict=True)]
    else:
        grown = [t + float(multiply(p, bout)) for t, p in zip(fvalues, by, strict=True)]
    fvalues.clear()
    fvalues.extend(grown)
    return None, to_start


_OF_PYTHON = (int, float)
_PROD = sequence_rule(
    product_of_reals, _prod_partials, 1, halves=(Halves(2, _prod_forwards, _prod_backwards),)
)


def _prod(iterable: Any, /, *, start: Any = 1) -> Any:
    if not (type(iterable) is list or type(iterable) is tuple):
        return product_of(iterable, start=start)
    if are_reals(iterable, start):
        return product_of_reals(iterable, start)
    for x in iterable:
        start = start * x
    return start


def _fsum_of(values: Any) -> float:
    return math.fsum(values)


def _fsum(iterable: Any, /) -> float:
    held = type(iterable) is list or type(iterable) is tuple
    return _fsum_of(iterable) if held and are_reals(iterable, 0) else exact_sum_of(iterable)


def _dist_of(p: Any, q: Any) -> float:
    return math.dist(p, q)


def _dist_partials(out: float, p: Any, q: Any) -> Any:
    # Of complex numbers of NumPy's, C code takes the real part.
    by_p = [((a - b) / out).real if out != 0.0 else 0.0 for a, b in zip(p, q, strict=True)]
    return by_p, [-d for d in by_p]


def _are_numbers(values: Any) -> bool:
    return all(number(type(x)) for x in values)


def _as_tuple(values: Any) -> Any:
    """The elements of `values`; those of a tuple are read past the methods of its class, as by C code."""
    return tuple.__getitem__(values, slice(None)) if issubclass(type(values), tuple) else tuple(values)


def _dist(p: Any, q: Any, /) -> float:
    p, q = _as_tuple(p), _as_tuple(q)
    if not _are_numbers(p):  # what C code asks for is no difference of the objects, but that of their numbers
        p = tuple([as_double(x) for x in p])
    if not _are_numbers(q):
        q = tuple([as_double(x) for x in q])
    return _dist_of(p, q)


_SEQUENCES: list[Rule] = [
    _PROD,
    sequence_rule(_fsum_of, lambda out, values: ([1.0] * len(values),), 1),
    sequence_rule(_dist_of, _dist_partials, 2),
    ZeroRule(are_reals, result=bool),
    *of_elements(PROD, Overlay(math.prod, _prod)),
    *of_elements(FSUM, Overlay(math.fsum, _fsum, result=float)),
    ZeroRule(_are_numbers, result=bool),
    *of_elements(DIST, Overlay(math.dist, _dist, result=float)),
]

if hasattr(math, "sumprod"):

    def _sumprod_of(p: Any, q: Any) -> Any:
        return math.sumprod(p, q)  # type: ignore[attr-defined,unused-ignore]  # 3.12

    def _sumprod(p: Any, q: Any, /) -> Any:
        return _sumprod_of(collected(p), collected(q))

    _SEQUENCES += [
        sequence_rule(_sumprod_of, lambda out, p, q: (q, p), 2),
        *of_elements(SUMPROD, Overlay(math.sumprod, _sumprod)),
    ]


# -- of several results -------------------------------------------------------------------------------


def _scaled(x: float, exponent: int) -> float:
    """``ldexp(x, exponent)``, infinite where that is no float."""
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(INF, x)


def _frexp_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = math.frexp(*args)
    return out, None if dargs[0] is None else (_scaled(float(dargs[0]), -out[1]), _no_tangent())


def _frexp_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = math.frexp(*args)

    def frexp_pullback(bout: Any) -> Sequence[Any]:
        if bout is None or bout[0] is None or fargs[0] is None:
            return (None,)
        return (_scaled(bout[0], -out[1]),)

    return out, None if fargs[0] is None else (NO_FDATA, None), frexp_pullback


def _modf_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return math.modf(*args), None if dargs[0] is None else (float(dargs[0]), 0.0)


def _modf_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    def modf_pullback(bout: Any) -> Sequence[Any]:
        return (None if bout is None or fargs[0] is None else bout[0],)

    return math.modf(*args), None if fargs[0] is None else (NO_FDATA, NO_FDATA), modf_pullback


def fraction_of(x: Any) -> float:
    return math.modf(x)[0]


def whole_of(x: Any) -> float:
    return math.modf(x)[1]


def mantissa_of(x: Any) -> float:
    return math.frexp(x)[0]


def exponent_of(x: Any) -> int:
    return math.frexp(x)[1]


def _by_scale(out: float, x: float) -> float:
    exponent = -math.frexp(x)[1]
    return math.ldexp(1.0, exponent) if exponent < 1024 else INF


def _no_tangent() -> Any:
    from adbc.tangents import NO_TANGENT

    return NO_TANGENT


def _zero(names: str, result: Any, when: Any = None) -> list[Rule]:
    return [
        ZeroRule(getattr(math, name), when=when, result=result)
        for name in names.split()
        if hasattr(math, name)
    ]


def _whole(*classes: type) -> bool:
    return all(map(integer, classes))


def _logged(x: Any) -> Any:
    """The number whose logarithm C code takes: that of an integer of any class is the integer itself."""
    return int.__int__(x) if issubclass(type(x), int) else as_double(x)


_LOGARITHMS = frozenset({math.log, math.log2, math.log10})


def _converted(function: Callable[..., Any]) -> Overlay:
    """The row of `function` for instances with a method ``__float__``: it calls that of what is no float."""

    def converted(*arguments: Any) -> Any:
        return function(*map(as_double, arguments))

    def of_logarithm(*arguments: Any) -> Any:
        return function(*map(_logged, arguments))

    return Overlay(function, of_logarithm if function in _LOGARITHMS else converted, when=has_float)


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> bool:
    return math.isclose(as_double(a), as_double(b), rel_tol=as_double(rel_tol), abs_tol=as_double(abs_tol))


def _ldexp(x: Any, exponent: Any, /) -> Any:
    return math.ldexp(as_double(x), exponent)


def _float_first(cls: type, *rest: type) -> bool:
    return has_float(cls)


ROWS: list[Rule] = [
    *_ELEMENTARY,
    Overlay(math.ldexp, _ldexp, when=_float_first),
    *(_converted(row.function) for row in (*_ELEMENTARY, *_BINARY)),
    *_BINARY,
    *_FMA,
    *_SEQUENCES,
    *_HYPOT,
    *(_converted(f) for f in (math.frexp, math.modf, math.isnan, math.isinf, math.isfinite)),
    Overlay(math.isclose, _isclose, when=has_float),
    Primitive(math.hypot, frule=_hypot_frule, rrule=_hypot_rrule, when=reals, result=float),
    _converted(math.hypot),
    *in_parts(
        (mantissa_of, exponent_of),
        Primitive(math.frexp, frule=_frexp_frule, rrule=_frexp_rrule, when=arity(1), result=tuple),
    ),
    ScalarRule(mantissa_of, (_by_scale,), when=arity(1), result=float),
    ZeroRule(exponent_of, when=arity(1), result=int),
    *in_parts(
        (fraction_of, whole_of),
        Primitive(math.modf, frule=_modf_frule, rrule=_modf_rrule, when=arity(1), result=tuple),
    ),
    ScalarRule(fraction_of, (lambda out, x: 1.0,), when=arity(1), result=float),
    ZeroRule(whole_of, when=arity(1), result=float),
    *(StepRule(f, when=arity(1), result=int) for f in (math.floor, math.ceil, math.trunc)),
    *_zero("isnan isinf isfinite isclose isnormal issubnormal signbit", bool, when=reals),
    *_zero("factorial comb perm gcd lcm isqrt", int, when=_whole),
    *_zero("ulp", float, when=arity(1)),
    ZeroRule(math.nextafter, when=lambda *classes: all(map(integer, classes))),
    ScalarRule(math.nextafter, (lambda out, x, y: 1.0, None), when=arity(2), result=float),
]
