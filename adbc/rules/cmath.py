"""The functions of `cmath`: holomorphic, but for `phase`, `polar` and `rect`."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

from adbc.rules.classes import arity, number, reals
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, PureRule, Rule, ScalarRule, ZeroRule
from adbc.tangents import NO_FDATA, project

__all__ = ["ROWS"]

_sqrt, _log = cmath.sqrt, cmath.log
_LN10 = math.log(10.0)


def _inverse(z: complex) -> complex:
    """``1 / z``, at zero infinite: a function has a value where its slope has none."""
    return 1.0 / z if z != 0.0 else complex(math.inf, 0.0)


def _unary(name: str, partial: Callable[..., Any]) -> Rule:
    return ScalarRule(getattr(cmath, name), (partial,), when=arity(1, number), result=complex)


def _phase_jvp(dz: Any, out: Any, z: Any) -> Any:
    square = z.real * z.real + z.imag * z.imag
    return (z.conjugate() * dz).imag / square if square != 0.0 else 0.0


def _phase_vjp(bout: Any, out: Any, z: Any) -> Any:
    square = z.real * z.real + z.imag * z.imag
    return bout * complex(-z.imag, z.real) / square if square != 0.0 else 0.0


def _polar_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    (z,), (dz,) = args, dargs
    out = cmath.polar(z)
    if dz is None:
        return out, None
    radial = (complex(z).conjugate() * dz).real / out[0] if out[0] != 0.0 else 0.0
    return out, (radial, float(_phase_jvp(dz, out[1], complex(z))))


def _polar_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    z = args[0]
    out = cmath.polar(z)

    def polar_pullback(bout: Any) -> Sequence[Any]:
        if bout is None or fargs[0] is None:
            return (None,)
        bz = 0j
        if bout[0] is not None and out[0] != 0.0:
            bz += bout[0] * (z / out[0])
        if bout[1] is not None:
            bz += _phase_vjp(bout[1], out[1], complex(z))
        return (project(bz, z),)

    return out, None if fargs[0] is None else (NO_FDATA, NO_FDATA), polar_pullback


ROWS: list[Rule] = [
    _unary("exp", lambda out, z: out),
    _unary("sin", lambda out, z: cmath.cos(z)),
    _unary("cos", lambda out, z: -cmath.sin(z)),
    _unary("tan", lambda out, z: 1.0 + out * out),
    _unary("sinh", lambda out, z: cmath.cosh(z)),
    _unary("cosh", lambda out, z: cmath.sinh(z)),
    _unary("tanh", lambda out, z: (1.0 - out) * (1.0 + out)),
    # the square roots apart, and of complex numbers, so that the branch is the one of the function
    _unary("asin", lambda out, z: _inverse(_sqrt(-(complex(z) - 1.0)) * _sqrt(-(-z - 1.0)))),
    _unary("acos", lambda out, z: -_inverse(_sqrt(-(complex(z) - 1.0)) * _sqrt(-(-z - 1.0)))),
    _unary("atan", lambda out, z: 1.0 / (1.0 + z * z)),
    _unary("asinh", lambda out, z: _inverse(_sqrt(-(-1j * z - 1.0)) * _sqrt(-(1j * z - 1.0)))),
    _unary("acosh", lambda out, z: _inverse(_sqrt(z - 1.0) * _sqrt(-(-z - 1.0)))),
    _unary("atanh", lambda out, z: 1.0 / ((1.0 - z) * (1.0 + z))),
    _unary("log", lambda out, z: 1.0 / z),
    _unary("log10", lambda out, z: 1.0 / (z * _LN10)),
    _unary("sqrt", lambda out, z: 0.5 * _inverse(out)),
    ScalarRule(
        cmath.log,
        (lambda out, z, base: 1.0 / (z * _log(base)), lambda out, z, base: -out / (base * _log(base))),
        when=arity(2, number),
        result=complex,
    ),
    PureRule(cmath.phase, jvp=(_phase_jvp,), vjp=(_phase_vjp,), when=arity(1, number), result=float),
    Primitive(cmath.polar, frule=_polar_frule, rrule=_polar_rrule, when=arity(1, number), result=tuple),
    ScalarRule(
        cmath.rect,
        (lambda out, r, phi: cmath.rect(1.0, phi), lambda out, r, phi: 1j * out),
        when=lambda *classes: len(classes) == 2 and reals(*classes),
        result=complex,
    ),
    *(
        ZeroRule(getattr(cmath, name), result=bool)
        for name in ("isnan", "isinf", "isfinite", "isclose")
    ),
]  # fmt: skip
