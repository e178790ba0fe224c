"""Functions of ``scipy.special`` with several results: each gives, beside its value, what is needed for the
derivatives, and where its differential equation is known, that of the derivative too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from adbc.errors import UnsupportedError
from adbc.rules.activity import and_lost, without_lost, without_refused
from adbc.rules.numpy.base import any_active, finish, gather, gather_tangent, give, plain
from adbc.rules.numpy.elementwise import ElementwiseRule, conj, elementwise, quiet
from adbc.rules.scipy.base import unknown
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule
from adbc.tangents import fresh_shadow, fresh_tangent, zero_tangent

__all__ = ["ROWS", "UFUNC_ROWS", "several"]


def several(name: str, *partials: Callable[..., Any] | None) -> list[Rule]:
    """The row of a function with several results, by functions ``partial(outs, *args)`` that give the
    derivatives of all results by an argument."""
    function = getattr(special, name, None)
    return [] if function is None else [SeveralRule(function, partials)]


class SeveralRule(Rule):
    """The rule of a ufunc with several results, by its partial derivatives; see `several`.

    Keywords are refused: what would be written into is known by its name.
    """

    def __init__(self, function: Any, partials: Sequence[Callable[..., Any] | None]) -> None:
        super().__init__(function, when=plain)
        self.partials = partials

    def _check(self, args: Args, kwargs: Kwargs) -> None:
        if kwargs or len(args) != len(self.partials):
            raise UnsupportedError(
                f"scipy.special.{self.function.__name__} with out= or where=",
                "adbc has no rule for that form",
                "call it without, and assign",
            )

    def _slopes(self, i: int, outs: Any, args: Args) -> Sequence[Any] | None:
        partial = self.partials[i]
        if partial is None:
            return None
        with np.errstate(all="ignore"):
            found: Sequence[Any] = partial(outs, *[np.asarray(gather(x))[()] for x in args])
        return found

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        self._check(args, kwargs)
        dargs = without_refused(self.partials, args, dargs)
        outs = self.function(*args)
        totals: list[Any] = [None] * len(outs)
        for i, (x, dx) in enumerate(zip(args, dargs, strict=True)):
            dx = gather_tangent(x, dx)
            slopes = None if dx is None else self._slopes(i, outs, args)
            for k, slope in enumerate(slopes or ()):
                term = quiet(slope, dx)
                totals[k] = term if totals[k] is None else totals[k] + term
        if all(d is None for d in totals):
            return outs, fresh_tangent(outs)
        return outs, tuple(
            zero_tangent(out) if d is None else finish(d, out) for out, d in zip(outs, totals, strict=True)
        )

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        self._check(args, kwargs)
        fargs, lost = without_lost(self.partials, args, fargs)
        if lost:
            return and_lost(self.rrule(args, fargs, kwargs), lost)
        outs = self.function(*args)
        active = any_active(fargs)
        fouts = tuple(fresh_shadow(out, active=active) for out in outs)

        def several_pullback(bouts: Any) -> Any:
            result: list[Any] = [None] * len(args)
            by = [
                fout if isinstance(fout, np.ndarray) else None if bouts is None else bouts[k]
                for k, fout in enumerate(fouts)
            ]
            for i, fx in enumerate(fargs):
                slopes = None if fx is None else self._slopes(i, outs, args)
                total = None
                for slope, b in zip(slopes or (), by, strict=False):
                    if b is not None:
                        term = quiet(conj(slope), b)
                        total = term if total is None else total + term
                if total is not None:
                    result[i] = give(fx, args[i], total)
            return result

        return outs, fouts if any_active(fouts) else None, several_pullback


def _unknown(name: str) -> Callable[..., Any]:
    return unknown(f"scipy.special.{name}", "its parameters")


def _behind(name: str, count: int, slope: Callable[..., Any]) -> list[Rule]:
    """The row of a function of `count` arguments by the last of them."""
    return several(name, *[_unknown(name)] * (count - 1), slope)


def _two(name: str, count: int, second: Callable[..., Any]) -> list[Rule]:
    """The row of a function that gives a value y and y', by its last argument x: y'' is
    ``second(y, y', *args)``."""
    return _behind(name, count, lambda outs, *args: (outs[1], second(*outs, *args)))


def _at_zero(limit: float, x: Any, quotient: Callable[[Any], Any]) -> Any:
    """``quotient(x)``, which has a limit at 0."""
    return np.where(x == 0, limit, quotient(np.where(x == 0, 1.0, x)))


def _airye(outs: Any, z: Any) -> Any:
    """Airy functions, times exp(2/3 z**1.5) and exp(-abs(Re(2/3 z**1.5)))."""
    if np.iscomplexobj(z):
        raise UnsupportedError(
            "scipy.special.airye of complex numbers",
            "their scale is not holomorphic",
            "use scipy.special.airy",
        )
    ai, aip, bi, bip = outs
    root = np.sqrt(np.maximum(z, 0.0))
    return aip + root * ai, z * ai + root * aip, bip - root * bi, z * bi - root * bip


def _modified_fresnel(name: str, sign: int) -> list[Rule]:
    def partial(outs: Any, x: Any) -> Any:
        if np.any(x < 0):
            raise UnsupportedError(
                f"scipy.special.{name} of a negative number",
                "SciPy's value there is not that of the function",
                "use the whole integral, sqrt(pi) * exp(0.25j * pi) (or its conjugate), less that of -x",
            )
        wave = np.exp(sign * 1j * x * x)
        return -wave, -sign * 2j * x * outs[1] - (_PHASE if sign > 0 else np.conj(_PHASE))

    return several(name, partial)


_PHASE = np.exp(-0.25j * np.pi) / np.sqrt(np.pi)


def _kelvin(outs: Any, x: Any) -> Any:
    be, ke, bep, kep = outs
    return bep, kep, 1j * be - np.where(x == 0, 0.5j, bep / x), 1j * ke - kep / x


def _mathieu(outs: Any, m: Any, q: Any, x: Any, value: Any) -> Any:
    """By an angle in degrees; the second result is a derivative by radians."""
    y, slope = outs
    degree = np.pi / 180
    return slope * degree, (2 * q * np.cos(2 * x * degree) - value(m, q)) * y * degree


def _not_negative(name: str, c: Any) -> None:
    if np.any(c < 0):
        raise UnsupportedError(
            f"scipy.special.{name} where c is negative",
            "SciPy takes its characteristic value for that of zero there",
            "pass abs(c), of which the function is one",
        )


def _spheroidal(name: str, value: Any, sign: int, is_angle: bool) -> list[Rule]:
    """The row of a spheroidal wave function; `sign` is 1 for prolate ones, -1 for oblate ones."""

    def second(y: Any, slope: Any, m: Any, n: Any, c: Any, x: Any) -> Any:
        _not_negative(name, c)
        eigenvalue = value(m, n, c)
        if is_angle:
            rest = 1 - x * x
            return (2 * x * slope - (eigenvalue - sign * c * c * x * x - m * m / rest) * y) / rest
        rest = x * x - sign
        return ((eigenvalue - c * c * x * x + sign * m * m / rest) * y - 2 * x * slope) / rest

    return _two(name, 4, second)


# -- characteristic values: an eigenvalue moves by the mean of what the operator moves by ----------------

_X, _W = np.polynomial.legendre.leggauss(80)


def _mathieu_value(function: Any) -> Callable[..., Any]:
    def partial(out: Any, m: Any, q: Any) -> Any:
        count = 128 + 4 * int(np.max(m, initial=0.0))
        angles = np.arange(count) * (360.0 / count)
        y = function(np.asarray(m)[..., None], np.asarray(q)[..., None], angles)[0]
        return 2 * np.sum(np.cos(angles * np.pi / 90) * y * y, axis=-1) / np.sum(y * y, axis=-1)

    return partial


def _spheroidal_value(function: Any, sign: int) -> Callable[..., Any]:
    def partial(out: Any, m: Any, n: Any, c: Any) -> Any:
        _not_negative(f"{function.__name__[:3]}_cv", c)
        m, n, c = (np.asarray(k)[..., None] for k in (m, n, c))
        y = function(m, n, c, _X)[0]
        weight = _W * y * y
        return sign * 2 * c[..., 0] * np.sum(_X * _X * weight, axis=-1) / np.sum(weight, axis=-1)

    return partial


UFUNC_ROWS: list[ElementwiseRule] = [
    elementwise(special.mathieu_a, None, _mathieu_value(special.mathieu_cem), singular=True, result=None),
    elementwise(special.mathieu_b, None, _mathieu_value(special.mathieu_sem), singular=True, result=None),
    elementwise(
        special.pro_cv, None, None, _spheroidal_value(special.pro_ang1, 1), singular=True, result=None
    ),
    elementwise(
        special.obl_cv, None, None, _spheroidal_value(special.obl_ang1, -1), singular=True, result=None
    ),
]

ROWS: list[Rule] = [
    *UFUNC_ROWS,
    *several("airy", lambda outs, z: (outs[1], z * outs[0], outs[3], z * outs[2])),
    *several("airye", _airye),
    *several("itairy", lambda outs, x: (*special.airy(x)[::2], *special.airy(-x)[::2])),
    *several("fresnel", lambda outs, x: (np.sin(0.5 * np.pi * x * x), np.cos(0.5 * np.pi * x * x))),
    *_modified_fresnel("modfresnelp", 1),
    *_modified_fresnel("modfresnelm", -1),
    *several("iti0k0", lambda outs, x: (special.i0(x), special.k0(x))),
    *several("itj0y0", lambda outs, x: (special.j0(x), special.y0(x))),
    *several("it2i0k0", lambda outs, x: (_at_zero(0.0, x, _i0_over), -special.k0(x) / x)),
    *several("it2j0y0", lambda outs, x: (_at_zero(0.0, x, _j0_over), -special.y0(x) / x)),
    *several("kelvin", _kelvin),
    *several("shichi", lambda outs, x: (_at_zero(1.0, x, lambda x: np.sinh(x) / x), np.cosh(x) / x)),
    *several("sici", lambda outs, x: (_at_zero(1.0, x, lambda x: np.sin(x) / x), np.cos(x) / x)),
    *_two("pbdv", 2, lambda y, slope, v, x: (0.25 * x * x - v - 0.5) * y),
    *_two("pbvv", 2, lambda y, slope, v, x: (0.25 * x * x - v - 0.5) * y),
    *_two("pbwa", 2, lambda y, slope, a, x: (a - 0.25 * x * x) * y),
    *_behind("mathieu_cem", 3, lambda outs, m, q, x: _mathieu(outs, m, q, x, special.mathieu_a)),
    *_behind("mathieu_sem", 3, lambda outs, m, q, x: _mathieu(outs, m, q, x, special.mathieu_b)),
    *[
        row
        for name, value in (
            ("mathieu_modcem1", special.mathieu_a),
            ("mathieu_modcem2", special.mathieu_a),
            ("mathieu_modsem1", special.mathieu_b),
            ("mathieu_modsem2", special.mathieu_b),
        )
        for row in _two(
            name, 3, lambda y, slope, m, q, x, value=value: (value(m, q) - 2 * q * np.cosh(2 * x)) * y
        )
    ],
    *_spheroidal("pro_ang1", special.pro_cv, 1, True),
    *_spheroidal("obl_ang1", special.obl_cv, -1, True),
    # Not pro_rad2 and obl_rad2: what SciPy gives as their derivatives is not that of what it gives as values.
    *_spheroidal("pro_rad1", special.pro_cv, 1, False),
    *_spheroidal("obl_rad1", special.obl_cv, -1, False),
]


def _i0_over(x: Any) -> Any:
    """(I0(x) - 1) / x, by its series near 0."""
    t = 0.25 * x * x
    series = 0.25 * x * (1 + t / 4 * (1 + t / 9 * (1 + t / 16)))
    return np.where(np.abs(x) < 0.1, series, (special.i0(x) - 1) / x)


def _j0_over(x: Any) -> Any:
    t = -0.25 * x * x
    series = 0.25 * x * (1 + t / 4 * (1 + t / 9 * (1 + t / 16)))
    return np.where(np.abs(x) < 0.1, series, (1 - special.j0(x)) / x)
