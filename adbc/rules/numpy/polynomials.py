"""Polynomials by their coefficients: ``np.polyval``, ``np.polyfit``, ``np.vander``.

What has a value for each `x` is a product of a Vandermonde matrix and the coefficients; a fit solves the
equations of least squares, whose solution is differentiated as an implicit function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.numpy.composed import are_floats, are_numbers, followed
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.sampling import sampled
from adbc.rules.quick import quick
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.array_products import multiply

__all__ = ["ROWS", "narrowed"]


# -- Vandermonde matrices ----------------------------------------------------------------------------------


def _vander_slope(y: Any, increasing: Any) -> Any:
    """The derivative of each element by the number in its row."""
    rising = y if increasing else y[:, ::-1]
    powers = np.arange(1, rising.shape[1])
    slope = np.zeros(rising.shape, np.result_type(rising, 1.0))
    slope[:, 1:] = rising[:, :-1] * powers
    return slope if increasing else slope[:, ::-1]


def vander_jvp(d: Any, y: Any, x: Any, N: Any = None, increasing: Any = False) -> Any:
    return _vander_slope(y, increasing) * d[:, None]


def vander_vjp(by: Any, y: Any, x: Any, N: Any = None, increasing: Any = False) -> Any:
    return np.sum(conj(_vander_slope(y, increasing)) * by, axis=1)


# -- values ------------------------------------------------------------------------------------------------


def _derived(p: Any) -> Any:
    """The coefficients of the derivative, the highest first."""
    powers = np.arange(len(p) - 1, 0, -1)
    return p[:-1] * powers.reshape((-1,) + (1,) * (np.ndim(p) - 1))


def polyval_dp(d: Any, y: Any, p: Any, x: Any) -> Any:
    return np.polyval(d, x)


def polyval_dx(d: Any, y: Any, p: Any, x: Any) -> Any:
    return multiply(np.polyval(_derived(np.asarray(p)), x), d)


def narrowed(term: Any, shape: tuple[int, ...]) -> Any:
    """The sum of `term` over what was broadcast from `shape`."""
    term = np.sum(term, axis=tuple(range(np.ndim(term) - len(shape))))
    single = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(term)[i] != 1)
    return np.sum(term, axis=single, keepdims=True) if single else term


def polyval_bp(by: Any, y: Any, p: Any, x: Any) -> Any:
    if np.ndim(x) == 0 and np.ndim(p) == 1:
        return multiply(by, np.power(conj(x), np.arange(len(p) - 1, -1, -1)))
    x, by, shape = conj(np.asarray(x)), np.asarray(by), np.shape(p)[1:]
    terms = []
    for _ in range(len(p)):
        terms.append(narrowed(by, shape))
        by = multiply(by, x)
    terms.reverse()
    return np.array(terms) if terms else np.zeros(np.shape(p))


def polyval_bx(by: Any, y: Any, p: Any, x: Any) -> Any:
    return multiply(conj(np.polyval(_derived(np.asarray(p)), x)), by)


# -- derivatives and integrals -----------------------------------------------------------------------------


@quick
def _polyder_of(p: Any, m: Any) -> Any:
    return np.polyder(p, m)


def polyder_jvp(d: Any, y: Any, p: Any, m: Any = 1) -> Any:
    return np.polyder(d, m)


def polyder_vjp(by: Any, y: Any, p: Any, m: Any = 1) -> Any:
    found = np.zeros(len(p), np.asarray(by).dtype)
    found[: len(by)] = by * np.polyder(np.ones(len(p)), m)
    return found


@quick
def _polyint_of(p: Any, m: Any) -> Any:
    return np.polyint(p, m)


def polyint_jvp(d: Any, y: Any, p: Any, m: Any = 1) -> Any:
    return np.polyint(d, m)


def polyint_vjp(by: Any, y: Any, p: Any, m: Any = 1) -> Any:
    return by[: len(p)] * np.polyint(np.ones(len(p)), m)[: len(p)]


_lines_of_polyder, _lines_of_polyint = followed(np.polyder), followed(np.polyint)


def is_of_order(p: Any, m: Any) -> bool:
    """Whether a derivative or integral of this order `m` of a polynomial in an array is another array: that
    of order 0 is the array itself."""
    return type(m) is int and m > 0 and are_numbers(p) and p.ndim == 1


def _polyder(p: Any, m: Any = 1) -> Any:
    return _polyder_of(p, m) if is_of_order(p, m) else _lines_of_polyder(p, m)


def _polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    if k is None and is_of_order(p, m):
        return _polyint_of(p, m)
    return _lines_of_polyint(p, m, k)


# -- fits --------------------------------------------------------------------------------------------------


@quick
def _polyfit_of(x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    return np.polyfit(x, y, deg, rcond, False, w)


def _like_a_fit(x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    """An array like the result of a fit, for examples of all kinds: LAPACK prints lines about those of which
    all places are the same."""
    y = np.asarray(y)
    return np.zeros((int(deg) + 1, *y.shape[1:]), np.result_type(np.asarray(x) + 0.0, y + 0.0))


def _sampled_fit(function: Any, *described: Any, **also: Any) -> Any:
    return sampled(_like_a_fit, *described, **also)


def _without_coefficients(p: Any, x: Any) -> Any:
    return np.polyval(np.asarray(p)[:0], x)


def _sampled_value(function: Any, *described: Any, **also: Any) -> Any:
    """What `sampled` says, unless a polynomial without coefficients, zero in the dtype of the point, is of
    another type."""
    found = sampled(function, *described, **also)
    return found if found == sampled(_without_coefficients, *described, **also) else None


def _value_row() -> ArrayRule:
    row = ArrayRule(np.polyval, "p x", jvp=[polyval_dp, polyval_dx], vjp=[polyval_bp, polyval_bx])
    row.sample = _sampled_value
    return row


def _fit_row() -> ArrayRule:
    row = ArrayRule(
        _polyfit_of, "x y w deg rcond",
        jvp=[polyfit_dx, polyfit_dy, polyfit_dw], vjp=[polyfit_bx, polyfit_by, polyfit_bw],
    )  # fmt: skip
    row.sample = _sampled_fit
    return row


class _Equations:
    """The equations of a fit: ``matrix @ c = w y`` in the sense of least squares.

    left, right: for a cotangent `by` of the solution, `right` of it is solved for by the symmetric matrix of
    the normal equations, and `left` of it by the transpose of the matrix."""

    def __init__(self, x: Any, y: Any, w: Any, deg: int, rcond: Any) -> None:
        self.powers = np.vander(np.asarray(x) + 0.0, deg + 1)
        self.w = None if w is None else np.asarray(w)
        self.y = np.asarray(y) + 0.0
        self.matrix = self.powers if self.w is None else self.powers * self.w[:, None]
        self.scale = np.sqrt(np.sum(self.matrix * self.matrix, axis=0))
        u, s, v = np.linalg.svd(self.matrix / self.scale, full_matrices=False)
        least = len(self.y) * np.finfo(self.powers.dtype).eps if rcond is None else rcond
        kept = s > least * s[0]
        self.is_full = bool(np.all(kept)) and len(s) == deg + 1
        self.inverses = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
        self.u, self.v = u, v

    def sides(self) -> Any:
        """The right hand sides, weighted."""
        if self.w is None:
            return self.y
        return self.y * (self.w if np.ndim(self.y) == 1 else self.w[:, None])

    def solve(self, r: Any) -> Any:
        """The solution for the right hand sides `r`."""
        found = self.v.T @ _times(self.inverses, self.u.T @ r)
        return _times(1.0 / self.scale, found)

    def left(self, by: Any) -> Any:
        return self.u @ _times(self.inverses, self.v @ _times(1.0 / self.scale, by))

    def right(self, by: Any) -> Any:
        found = self.v.T @ _times(self.inverses**2, self.v @ _times(1.0 / self.scale, by))
        return _times(1.0 / self.scale, found)

    def need_full(self) -> None:
        if not self.is_full:
            raise UnsupportedError(
                "np.polyfit with fewer independent equations than coefficients, by the places or weights",
                "the solution of least norm is found then, which no formula here covers",
                "fit a lower degree",
            )

    def to_powers(self, slope: Any) -> Any:
        """The sums along rows of `slope` times the derivatives of the powers."""
        return np.sum(slope * _vander_slope(self.powers, False), axis=1)


def _times(factors: Any, x: Any) -> Any:
    return factors * x if np.ndim(x) == 1 else factors[:, None] * x


def _outer(a: Any, b: Any) -> Any:
    return a[:, None] * b if np.ndim(a) == 1 else a @ b.T


def _fit_along(at: _Equations, dmatrix: Any, c: Any) -> Any:
    """The tangent of the solution `c` where the matrix moves by `dmatrix`."""
    at.need_full()
    rest = at.sides() - at.matrix @ c
    return at.right(dmatrix.T @ rest) - at.solve(dmatrix @ c)


def polyfit_dx(d: Any, c: Any, x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    at = _Equations(x, y, w, deg, rcond)
    moved = _vander_slope(at.powers, False) * d[:, None]
    return _fit_along(at, moved if at.w is None else moved * at.w[:, None], c)


def polyfit_dy(d: Any, c: Any, x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    at = _Equations(x, y, w, deg, rcond)
    return at.solve(d if at.w is None else _times(at.w, d))


def polyfit_dw(d: Any, c: Any, x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    at = _Equations(x, y, w, deg, rcond)
    return _fit_along(at, at.powers * d[:, None], c) + at.solve(_times(d, at.y))


def _slope_of_matrix(at: _Equations, by: Any, c: Any) -> Any:
    """The cotangent of the matrix."""
    at.need_full()
    return _outer(at.sides() - at.matrix @ c, at.right(by)) - _outer(at.left(by), c)


def polyfit_bx(by: Any, c: Any, x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    at = _Equations(x, y, w, deg, rcond)
    slope = _slope_of_matrix(at, by, c)
    return at.to_powers(slope if at.w is None else slope * at.w[:, None])


def polyfit_by(by: Any, c: Any, x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    at = _Equations(x, y, w, deg, rcond)
    back = at.left(by)
    return back if at.w is None else _times(at.w, back)


def polyfit_bw(by: Any, c: Any, x: Any, y: Any, w: Any, deg: Any, rcond: Any) -> Any:
    at = _Equations(x, y, w, deg, rcond)
    through_sides = at.left(by) * at.y
    if np.ndim(through_sides) > 1:
        through_sides = np.sum(through_sides, axis=1)
    return np.sum(_slope_of_matrix(at, by, c) * at.powers, axis=1) + through_sides


def is_usual_fit(x: Any, y: Any, deg: Any, w: Any) -> bool:
    """Whether the fit is one of real numbers, all in arrays, to a polynomial with a degree."""
    if type(deg) is not int or deg < 0 or not (are_floats(x) and x.ndim == 1 and x.dtype.char == "d"):
        return False
    if not (type(y) is np.ndarray and y.dtype.char == "d" and y.ndim in (1, 2) and len(y) == len(x)):
        return False
    return w is None or (type(w) is np.ndarray and w.dtype.char == "d" and w.shape == x.shape)


_lines_of_polyfit = followed(np.polyfit)


def _polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    if not full and not cov and is_usual_fit(x, y, deg, w):
        return _polyfit_of(x, y, w, deg, rcond)
    return _lines_of_polyfit(x, y, deg, rcond, full, w, cov)


ROWS: list[Rule] = [
    ArrayRule(np.vander, "x N increasing", jvp=[vander_jvp], vjp=[vander_vjp]),
    _value_row(),
    ZeroRule(is_of_order, result=bool),
    ArrayRule(_polyder_of, "p m", jvp=[polyder_jvp], vjp=[polyder_vjp]),
    Overlay(np.polyder, _polyder, when=plain),
    ArrayRule(_polyint_of, "p m", jvp=[polyint_jvp], vjp=[polyint_vjp]),
    Overlay(np.polyint, _polyint, when=plain),
    ZeroRule(is_usual_fit, result=bool),
    _fit_row(),
    Overlay(np.polyfit, _polyfit, when=plain),
]  # fmt: skip
