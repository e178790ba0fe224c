"""Splines in the basis of B-splines, of ``scipy.interpolate`` and FITPACK: evaluated by de Boor's algorithm,
fitted by solving with the matrix of the basis.

Both are written here as plain array code, of which the derivative by everything follows: knots, coefficients,
places and data.  Which knots there are, and in which interval a place lies, has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate
from scipy.linalg import lapack

from adbc.errors import UnsupportedError
from adbc.rules.implicit import each_root, solved
from adbc.rules.scipy.base import bodies, fixed, internal
from adbc.rules.scipy.solves import solved_with_band
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]

_SMOOTHING = "use s=0, or make_smoothing_spline, or pass the data as constants: adbc.stop_gradient(y)"


# -- the basis ---------------------------------------------------------------------------------------------


def span(t: Any, k: int, n: int, x: Any) -> Any:
    """For each place the number of the knot that its interval begins with, the first or last if it is
    outside; the interval is not empty, but for the last of a step function."""
    last = np.searchsorted(t, t[n], side="left") - 1 if k else n - 1
    found = np.searchsorted(t, x, side="right") - 1
    return np.clip(np.where(x >= t[n], last, found), k, last)


def beyond(t: Any, k: int, n: int, x: Any) -> Any:
    """Which places lie outside of where a spline is defined, or are no numbers."""
    return ~((x >= t[k]) & (x <= t[n]))


def spline_values(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """A spline, or its derivative number `nu`, at places `x`; `c` has a column for each function."""
    n = len(t) - k - 1
    if nu > k:
        nothing = np.zeros((len(x), c.shape[1]), c.dtype)
        return nothing if extrapolate else np.where(beyond(t, k, n, x)[:, None], np.nan, nothing)
    m = span(t, k, n, x)
    d = [c[m - k + j] for j in range(k + 1)]
    for q in range(1, nu + 1):
        for j in range(k, q - 1, -1):
            width = t[m + 1 + j - q] - t[m - k + j]
            d[j] = (k - q + 1) * (d[j] - d[j - 1]) / width[:, None]
    for r in range(nu + 1, k + 1):
        for j in range(k, r - 1, -1):
            low = t[m - k + j]
            share = (x - low) / (t[m + 1 + j - r] - low)
            d[j] = d[j - 1] + share[:, None] * (d[j] - d[j - 1])
    if extrapolate:
        return d[k]
    return np.where(beyond(t, k, n, x)[:, None], np.nan, d[k])


def basis(t: Any, k: int, x: Any, m: Any, nu: int) -> Any:
    """The derivative number `nu` of the B-splines that are not zero between knots `m` and `m` + 1, a column
    for each."""
    found = [np.ones(len(x))]
    for r in range(1, k + 1):
        new = [np.zeros(len(x)) for _ in range(r + 1)]
        for j in range(r):
            low, high = t[m - r + 1 + j], t[m + 1 + j]
            share = found[j] / (high - low)
            if r > k - nu:
                new[j] = new[j] - r * share
                new[j + 1] = new[j + 1] + r * share
            else:
                new[j] = new[j] + (high - x) * share
                new[j + 1] = new[j + 1] + (x - low) * share
        found = new
    return np.stack(found, axis=1)


def design(t: Any, k: int, x: Any, n: int, nu: int = 0) -> Any:
    """Each of the `n` B-splines at each place: the matrix by which coefficients are multiplied."""
    m = span(t, k, n, x)
    result = np.zeros((len(x), n))
    result[np.arange(len(x))[:, None], m[:, None] + np.arange(-k, 1)] = basis(t, k, x, m, nu)
    return result


# -- what SciPy's Python ends in ---------------------------------------------------------------------------


def evaluate_spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    return spline_values(np.asarray(t), c, k, np.asarray(x), nu, bool(extrapolate))


def evaluate_all_bspl(t: Any, k: int, x: Any, m: int, nu: int = 0) -> Any:
    return basis(t, k, np.reshape(np.asarray(x), (1,)), np.array([m]), nu)[0]


def coloc(x: Any, t: Any, k: int, ab: Any, offset: int = 0) -> None:
    """The matrix of the basis, written into LAPACK's form of a band."""
    n = len(t) - k - 1
    m = span(t, k, n, x)
    column = m[:, None] + np.arange(-k, 1)
    row = (np.arange(len(x)) + offset)[:, None]
    ab[column, 2 * k + row - column] = basis(t, k, x, m, 0)


def data_matrix(x: Any, t: Any, k: int, w: Any, extrapolate: Any = False) -> Any:
    n = len(t) - k - 1
    m = span(t, k, n, x)
    return w[:, None] * basis(t, k, x, m, 0), m - k, n


def lsq_solve_qr(x: Any, y: Any, t: Any, k: int, w: Any, periodic: Any = False) -> Any:
    """The coefficients of least squares, with what the factors of a band would be: not meant by callers."""
    if periodic:
        raise UnsupportedError(
            "a periodic spline of least squares", "adbc has no rule for that form", "fit without bc_type"
        )
    n = len(t) - k - 1
    matrix = w[:, None] * design(t, k, x, n)
    weighted = y * w[:, None]
    c = np.linalg.lstsq(matrix, weighted, rcond=None)[0]
    residuals = np.sum((weighted - matrix @ c) ** 2, axis=1)
    return matrix, weighted, c, np.sum(residuals), residuals


def norm_eq_lsq(x: Any, t: Any, k: int, y: Any, w: Any, ab: Any, rhs: Any) -> None:
    """The normal equations of least squares, with the lower half of the matrix as a band, a column for each
    diagonal; `w` are the roots of weights."""
    n = len(t) - k - 1
    matrix = w[:, None] * design(t, k, x, n)
    whole = matrix.T @ matrix
    for j in range(k + 1):
        ab[: n - j, j] = np.diagonal(whole, -j)
    rhs[...] = matrix.T @ (y * w[:, None])


def gbsv(kl: int, ku: int, ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False) -> Any:
    """The body of LAPACK's solver for bands, which has `kl` more rows in front; of its results only the
    solution is meant."""
    x = solved_with_band(np.asarray(ab)[kl:], b, (kl, ku))
    return ab, np.zeros(x.shape[0], np.int32), x, 0


# -- several dimensions ------------------------------------------------------------------------------------


def _products(
    xi: Any, knots: Any, lengths: Any, k: Any, nu: Any, places: Any, strides: Any
) -> tuple[Any, Any]:
    """For each point, the products of one B-spline for each dimension that are not zero, and the places of
    their coefficients."""
    weights, where = np.ones((len(xi), len(places))), np.zeros((len(xi), len(places)), np.intp)
    for i in range(xi.shape[1]):
        t, degree = np.asarray(knots[i])[: int(lengths[i])], int(k[i])
        m = span(t, degree, len(t) - degree - 1, xi[:, i])
        weights = weights * basis(t, degree, xi[:, i], m, int(nu[i]))[:, places[:, i]]
        where = where + (m[:, None] - degree + places[:, i]) * int(strides[i])
    return weights, where


def evaluate_ndbspline(
    xi: Any, knots: Any, lengths: Any, k: Any, nu: Any, extrapolate: Any, c: Any, count: int, strides: Any,
    places: Any,
) -> Any:  # fmt: skip
    weights, where = _products(xi, knots, lengths, k, nu, places, strides)
    total = np.sum(weights[:, :, None] * c[where[:, :, None] + np.arange(count)], axis=1)
    if extrapolate:
        return total
    out = np.zeros(len(xi), bool)
    for i in range(xi.shape[1]):
        t, degree = np.asarray(knots[i])[: int(lengths[i])], int(k[i])
        out = out | beyond(t, degree, len(t) - degree - 1, xi[:, i])
    return np.where(out[:, None], np.nan, total)


def coloc_nd(xi: Any, knots: Any, lengths: Any, k: Any, places: Any, strides: Any) -> Any:
    weights, where = _products(xi, knots, lengths, k, np.zeros(len(k), int), places, strides)
    count = len(places)
    return np.ravel(weights), np.ravel(where), np.arange(0, len(xi) * count + 1, count)


# -- FITPACK: one variable ---------------------------------------------------------------------------------


def _parts(tck: Any) -> tuple[Any, Any, int]:
    t, c, k = tck[0], tck[1], tck[2]
    if isinstance(c, list) or np.ndim(c) > 1:
        raise UnsupportedError(
            "a curve of scipy.interpolate's splprep",
            "its coefficients are a list",
            "evaluate each coordinate",
        )
    t = np.asarray(t)
    return t, np.asarray(c)[: len(t) - k - 1], k


def _curves(tck: Any) -> list[Any] | None:
    """The splines of each coordinate of a curve, whose coefficients are a list or have two axes."""
    t, c, k = tck[0], tck[1], tck[2]
    return [(t, line, k) for line in c] if isinstance(c[0], list) or np.ndim(c[0]) else None


def _at(t: Any, c: Any, k: int, x: Any, nu: int) -> Any:
    return np.reshape(spline_values(t, c[:, None], k, np.ravel(x), nu, True), np.shape(x))


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """A spline at places: outside of where it is defined it goes on (`ext` 0), is zero (1), an error (2), or
    stays as at the end (3), but for its derivatives, which go on."""
    if isinstance(tck, interpolate.BSpline):
        if ext:
            raise ValueError(f"Extrapolation mode {ext} is not supported by BSpline.")
        return tck(x, der, extrapolate=True)
    curves = _curves(tck)
    if curves is not None:
        return [splev(x, line, der, ext) for line in curves]
    t, c, k = _parts(tck)
    if len(c) < len(t) - k - 1:
        return solved(interpolate.splev, (x, tck, der, ext), {})  # which says what is missing
    if not 0 <= der <= k or ext not in (0, 1, 2, 3):
        raise ValueError(f"der={der} must be between 0 and k={k}, and ext={ext} one of 0, 1, 2, 3")
    n = len(t) - k - 1
    x = np.asarray(x)
    if ext == 0 or (ext == 3 and der):
        return _at(t, c, k, x, der)
    out = beyond(t, k, n, x)
    if ext == 2 and np.any(out):
        raise ValueError("points outside of the interval that the spline is defined on")
    inside = _at(t, c, k, np.clip(x, t[k], t[n]), der)
    return inside if ext == 3 else np.where(out, 0.0, inside)


def splint(a: Any, b: Any, tck: Any, full_output: int = 0) -> Any:
    """The integral of a spline, which is zero outside of where it is defined."""
    if isinstance(tck, interpolate.BSpline):
        return tck.integrate(a, b, extrapolate=False)
    if full_output:
        return fixed(tck, "scipy.interpolate.splint with full_output", "leave it out")
    curves = _curves(tck)
    if curves is not None:
        return [splint(a, b, line) for line in curves]
    t, c, k = _parts(tck)
    n = len(t) - k - 1
    sums = np.concatenate((np.zeros(1), np.cumsum(c * (t[k + 1 : n + k + 1] - t[:n])) / (k + 1)))
    knots = np.concatenate((t[:1], t, t[-1:]))
    ends = np.clip(np.stack([a * 1.0, b * 1.0]), t[k], t[n])
    found = _at(knots, sums, k + 1, ends, 0)
    return float(found[1] - found[0])


def spalde(x: Any, tck: Any) -> Any:
    """All derivatives of a spline at a place, or at several."""
    curves = _curves(tck)
    if curves is not None:
        return [spalde(x, line) for line in curves]
    t, c, k = _parts(tck)
    if np.ndim(x):
        return [spalde(x[i], tck) for i in range(len(x))]
    return np.stack([_at(t, c, k, np.asarray(x), nu) for nu in range(k + 1)])


def sproot(tck: Any, mest: int = 10) -> Any:
    """The roots of a cubic spline: each moves by one step of Newton's."""
    curves = _curves(tck)
    if curves is not None:
        return [sproot(line, mest) for line in curves]
    t, c, k = _parts(tck)
    x = roots_of(t, c, k, mest)
    return each_root(x, lambda x: _at(t, c, k, x, 0), lambda x: _at(t, c, k, x, 1))


def roots_of(t: Any, c: Any, k: int, mest: int) -> Any:
    """The roots of a spline, as constants."""
    return interpolate.sproot((t, np.append(c, np.zeros(len(t) - len(c))), k), mest)


def polynomial_roots(
    c: Any, x: Any, y: float, discontinuity: bool, extrapolate: Any, cls: Any
) -> tuple[Any, bool]:
    """Where a piecewise polynomial has the value `y`, as constants, and whether it has it at all these
    places: where it jumps over it, it has not."""
    function = cls(c, x)
    roots = function.solve(y, discontinuity, extrapolate)
    if c.ndim != 2:
        return roots, False
    misfit = np.abs(function(roots, 0, True) - y) > 1e-6 * (np.abs(y) + np.max(np.abs(c)))
    return roots, not np.any(misfit)


def solve_polynomial(self: Any, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
    """The body of ``PPoly.solve``."""
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    known = polynomial_roots(self.c, self.x, float(y), discontinuity, extrapolate, interpolate.PPoly)
    roots, is_simple = known
    if not is_simple:
        what = "solve or roots of several piecewise polynomials, or of one that jumps over the value"
        instead = "take the numbers of one, PPoly(c[:, :, i], x), or solve with scipy.optimize.brentq"
        fixed(self.c, what, instead)
        fixed(self.x, what, instead)
        return roots
    return each_root(roots, lambda x: self(x, 0, True) - y, lambda x: self(x, 1, True))


def insert(x: Any, tck: Any, m: int = 1, per: int = 0) -> Any:
    """A spline with knot `x` inserted, `m` times."""
    if isinstance(tck, interpolate.BSpline):
        return interpolate.BSpline(*insert(x, tck.tck, m, per))
    t, c, k = _parts(tck)
    if per:
        c = fixed(c, "scipy.interpolate.insert with per", "insert into a spline that is not periodic")
        return solved(interpolate.insert, (x, (t, c, k), m, per), {})
    for _ in range(m):
        n = len(t) - k - 1
        p = int(span(t, k, n, np.reshape(np.asarray(x), (1,)))[0])
        inner = np.arange(p - k + 1, p + 1)
        share = (x - t[inner]) / (t[inner + k] - t[inner])
        moved = share * c[inner] + (1 - share) * c[inner - 1]
        c = np.concatenate((c[: p - k + 1], moved, c[p:]))
        t = np.concatenate((t[: p + 1], np.reshape(np.asarray(x), (1,)), t[p + 1 :]))
    return t, np.concatenate((c, np.zeros(k + 1))), k


def interpolating_knots(x: Any, k: int, low: Any, high: Any) -> Any:
    """FITPACK's knots of the spline through data at places `x`."""
    if k % 2:
        inner = x[(k + 1) // 2 : len(x) - (k + 1) // 2]
    else:
        half = k // 2
        inner = 0.5 * (x[half : len(x) - half - 1] + x[half + 1 : len(x) - half])
    return np.concatenate((np.repeat(low, k + 1), inner, np.repeat(high, k + 1)))


def _through(x: Any, y: Any, k: int, bounds: Any) -> tuple[Any, Any]:
    """Knots and coefficients of the spline through the data."""
    low = x[0] if bounds[0] is None else bounds[0]
    high = x[-1] if bounds[1] is None else bounds[1]
    t = interpolating_knots(x, k, low, high)
    return t, np.linalg.solve(design(t, k, x, len(x)), y)


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0, s: Any = None,
    t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    if t is not None:
        task = -1  # knots that are given are taken, whatever else is said
    if task == 1 or full_output or per:
        what = "scipy.interpolate.splrep with task, full_output or per"
        x = fixed(np.asarray(x), f"{what} by the places x", _SMOOTHING)
        y = fixed(np.asarray(y), f"{what} by the data y", _SMOOTHING)
        return solved(interpolate.splrep, (x, y, w, xb, xe, k, task, s, t, full_output, per, quiet), {})
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if task == -1:
        # What SciPy raises of knots that are missing, or lie where they must not, it raises here.
        solved(interpolate.splrep, (x, y, w, xb, xe, k, task, s, t, full_output, per, quiet), {})
        low, high = x[0] if xb is None else xb, x[-1] if xe is None else xe
        knots = np.concatenate((np.repeat(low, k + 1), np.asarray(t), np.repeat(high, k + 1)))
        c = _least(x, y, w, knots, k)
    elif s in (None, 0) and (s == 0 or w is None):
        knots, c = _through(x, y, k, (xb, xe))
    else:
        knots, c = _smoothed("splrep", x, y, w, (xb, xe), k, s)
    return knots, np.concatenate((c, np.zeros(k + 1))), k


def _smoothed(name: str, x: Any, y: Any, w: Any, bounds: Any, k: int, s: Any) -> tuple[Any, Any]:
    """Knots and coefficients of a smoothing spline.  If a polynomial is smooth enough, it is that of least
    squares; otherwise FITPACK ends when the sum of squares is `s` to a thousandth, which is refused."""
    (t, c, _), _, how, _ = solved(interpolate.splrep, (x, y, w, *bounds, k, 0, s, None, 1), {})
    if how == -1:
        return _through(x, y, k, bounds)
    if how != -2:
        x = fixed(x, f"scipy.interpolate.{name} with smoothing by the places x", _SMOOTHING)
        y = fixed(y, f"scipy.interpolate.{name} with smoothing by the data y", _SMOOTHING)
        return stop_gradient(t), stop_gradient(c)[: len(t) - k - 1]
    low, high = x[0] if bounds[0] is None else bounds[0], x[-1] if bounds[1] is None else bounds[1]
    knots = np.concatenate((np.repeat(low, k + 1), np.repeat(high, k + 1)))
    return knots, _least(x, y, w, knots, k)


def _least(x: Any, y: Any, w: Any, t: Any, k: int) -> Any:
    weights = np.ones(len(x)) if w is None else np.asarray(w)
    matrix = weights[:, None] * design(t, k, x, len(t) - k - 1)
    return np.linalg.lstsq(matrix, weights * y, rcond=None)[0]


_BASE = interpolate.UnivariateSpline


def _finish(self: Any, like: Any, x: Any, y: Any, t: Any, c: Any, k: int) -> None:
    """Fill in what FITPACK would have: `like` is the same spline, as a constant."""
    known = like._data
    self.ext = like.ext
    c = np.concatenate((c, np.zeros(k + 1)))  # as many as knots, which `splder` and `splantider` go by
    self._data = (x, y, *known[2:8], t, c, *known[10:])
    self._eval_args = t, c, k


def univariate(
    self: Any, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None,
    ext: Any = 0, check_finite: Any = False,
) -> None:  # fmt: skip
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    like = solved(_BASE, (x, y, w, bbox, k, s, ext, check_finite), {})
    if s == 0:
        t, c = _through(x, y, k, bbox)
    else:
        size = float(len(x)) if s is None else s
        t, c = _smoothed("UnivariateSpline", x, y, w, bbox, k, size)
    _finish(self, like, x, y, t, c, k)


def interpolated(
    self: Any, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
    check_finite: Any = False,
) -> None:  # fmt: skip
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    like = solved(interpolate.InterpolatedUnivariateSpline, (x, y, w, bbox, k, ext, check_finite), {})
    _finish(self, like, x, y, *_through(x, y, k, bbox), k)


def least_squares(
    self: Any, x: Any, y: Any, t: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
    check_finite: Any = False,
) -> None:  # fmt: skip
    x, y, t = np.asarray(x) * 1.0, np.asarray(y) * 1.0, np.asarray(t) * 1.0
    like = solved(interpolate.LSQUnivariateSpline, (x, y, t, w, bbox, k, ext, check_finite), {})
    low, high = x[0] if bbox[0] is None else bbox[0], x[-1] if bbox[1] is None else bbox[1]
    knots = np.concatenate((np.repeat(low, k + 1), t, np.repeat(high, k + 1)))
    _finish(self, like, x, y, knots, _least(x, y, w, knots, k), k)


def splprep(
    x: Any, w: Any = None, u: Any = None, ub: Any = None, ue: Any = None, k: int = 3, task: int = 0,
    s: Any = None, t: Any = None, full_output: int = 0, nest: Any = None, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """A curve through points, by the length of chords if no parameter is given."""
    if s != 0 or w is not None or task or full_output or per:
        instead = "use s=0, or pass the points as constants: adbc.stop_gradient(x)"
        points = fixed(np.asarray(x), "scipy.interpolate.splprep with smoothing", instead)
        return solved(
            interpolate.splprep, (points, w, u, ub, ue, k, task, s, t, full_output, nest, per, quiet), {}
        )
    points = np.asarray(x) * 1.0
    if u is None:
        lengths = np.cumsum(np.sqrt(np.sum(np.diff(points, axis=1) ** 2, axis=0)))
        u = np.concatenate((np.zeros(1), lengths / lengths[-1]))
    u = np.asarray(u) * 1.0
    found = [_through(u, points[i], k, (ub, ue)) for i in range(len(points))]
    return [found[0][0], [c for _, c in found], k], u


def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> Any:
    """The natural cubic spline that minimises squares and curvature, by Reinsch's equations for its second
    derivatives."""
    x, y = np.asarray(x) * 1.0, np.moveaxis(np.asarray(y) * 1.0, axis, 0)
    if lam is None:
        instead = "pass lam"
        x = fixed(x, "scipy.interpolate.make_smoothing_spline without lam by x", instead)
        y = fixed(y, "scipy.interpolate.make_smoothing_spline without lam by y", instead)
        return solved(interpolate.make_smoothing_spline, (x, y, w), {})
    n = len(x)
    v = np.ones(n) if w is None else 1 / np.asarray(w)
    h = np.diff(x)
    a, c = 1 / h[:-1], 1 / h[1:]
    b = -(a + c)
    middle = (h[:-1] + h[1:]) / 3 + lam * (a * a * v[:-2] + b * b * v[1:-1] + c * c * v[2:])
    first = h[1:-1] / 6 + lam * (b[:-1] * a[1:] * v[1:-2] + c[:-1] * b[1:] * v[2:-1])
    second = lam * (c[:-2] * a[2:] * v[2:-2])
    band = np.zeros((5, n - 2))
    band[2] = middle
    band[1, 1:], band[3, :-1] = first, first
    band[0, 2:], band[4, :-2] = second, second
    shape = (-1,) + (1,) * (y.ndim - 1)
    a, b, c, v = (np.reshape(z, shape) for z in (a, b, c, v))
    bent = solved_with_band(band, a * y[:-2] + b * y[1:-1] + c * y[2:], (2, 2))
    forces = np.zeros(y.shape)
    forces[:-2] += a * bent
    forces[1:-1] += b * bent
    forces[2:] += c * bent
    return interpolate.make_interp_spline(
        x, np.moveaxis(y - lam * v * forces, 0, axis), bc_type="natural", axis=axis
    )


# -- FITPACK: two variables --------------------------------------------------------------------------------


def rectangle(
    self: Any, x: Any, y: Any, z: Any, bbox: Any = (None, None, None, None), kx: int = 3, ky: int = 3,
    s: Any = 0, *others: Any,
) -> None:  # fmt: skip
    """The body of ``RectBivariateSpline.__init__``: a spline along one axis after the other."""
    cls = interpolate.RectBivariateSpline
    if s:
        instead = "use s=0, or pass the data as constants: adbc.stop_gradient(z)"
        given = [
            fixed(np.asarray(a), "scipy.interpolate.RectBivariateSpline with smoothing", instead)
            for a in (x, y, z)
        ]
        vars(self).update(vars(solved(cls, (*given, bbox, kx, ky, s, *others), {})))
        return
    x, y, z = np.ravel(x) * 1.0, np.ravel(y) * 1.0, np.asarray(z)
    like = solved(cls, (x, y, z, bbox, kx, ky, s, *others), {})
    tx, first = _through(x, z, kx, bbox[:2])
    ty, second = _through(y, first.T, ky, bbox[2:])
    self.fp = like.fp
    self.tck = tx, ty, np.ravel(second.T)
    self.degrees = kx, ky


def bivariate(tck: Any, kx: int, ky: int, dx: int, dy: int, x: Any, y: Any, grid: bool) -> Any:
    """A spline of two variables, on a grid or at pairs; it goes on constantly outside of where it is
    defined."""
    tx, ty, c = tck
    nx, ny = len(tx) - kx - 1, len(ty) - ky - 1
    x, y = np.clip(np.ravel(x), tx[kx], tx[nx]), np.clip(np.ravel(y), ty[ky], ty[ny])
    first, second = design(tx, kx, x, nx, dx), design(ty, ky, y, ny, dy)
    values = first @ np.reshape(c[: nx * ny], (nx, ny))
    return values @ second.T if grid else np.sum(values * second, axis=1)


def called(self: Any, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
    """The body of ``__call__`` of splines of two variables."""
    x, y = np.asarray(x), np.asarray(y)
    if not grid:
        x, y = np.broadcast_arrays(x, y)
    elif x.size and y.size:
        for places, name in ((x, "x"), (y, "y")):
            if places.size >= 2 and not np.all(np.diff(places) >= 0):
                raise ValueError(f"{name} must be strictly increasing when `grid` is True")
    kx, ky = self.degrees
    found = bivariate(self.tck[:3], kx, ky, dx, dy, x, y, grid)
    return found if grid else np.reshape(found, x.shape)


def bisplev(x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    tx, ty, c, kx, ky = tck
    z = bivariate((np.asarray(tx), np.asarray(ty), np.asarray(c)), kx, ky, dx, dy, x, y, True)
    if len(z) > 1:
        return z
    return z[0] if len(z[0]) > 1 else z[0][0]


def bisplrep(x: Any, y: Any, z: Any, *positional: Any, **options: Any) -> Any:
    instead = "use RectBivariateSpline on a grid, or pass the data as constants: adbc.stop_gradient(z)"
    x, y, z = (fixed(np.asarray(a), "scipy.interpolate.bisplrep by its data", instead) for a in (x, y, z))
    return solved(interpolate.bisplrep, (x, y, z, *positional), options)


def _private() -> list[Rule]:
    """Bodies of what differs between versions of SciPy."""
    found: dict[str, dict[str, Any]] = {
        "_dierckx": {
            "evaluate_spline": evaluate_spline,
            "evaluate_all_bspl": evaluate_all_bspl,
            "_coloc": coloc,
            "data_matrix": data_matrix,
            "_norm_eq_lsq": norm_eq_lsq,
            "evaluate_ndbspline": evaluate_ndbspline,
            "_coloc_nd": coloc_nd,
        },
        "_bsplines": {"_lsq_solve_qr": lsq_solve_qr},
        "_fitpack_impl": {"splev": splev, "splint": splint, "spalde": spalde, "sproot": sproot},
    }
    rows = [
        row for name, rows in found.items() for row in bodies(internal(f"scipy.interpolate.{name}"), rows)
    ]
    c = internal("scipy.interpolate._dierckx")
    return [*rows, ZeroRule(c.find_interval)] if hasattr(c, "find_interval") else rows


ROWS: list[Rule] = [
    ZeroRule(span),
    ZeroRule(beyond),
    ZeroRule(roots_of),
    ZeroRule(polynomial_roots),
    Overlay(interpolate.PPoly.solve, solve_polynomial),
    *bodies(lapack, {"dgbsv": gbsv, "zgbsv": gbsv, "sgbsv": gbsv, "cgbsv": gbsv}),
    *bodies(
        interpolate,
        {
            "splev": splev,
            "splrep": splrep,
            "splint": splint,
            "spalde": spalde,
            "sproot": sproot,
            "insert": insert,
            "splprep": splprep,
            "make_smoothing_spline": make_smoothing_spline,
            "bisplev": bisplev,
            "bisplrep": bisplrep,
        },
    ),
    Overlay(_BASE.__init__, univariate),
    Overlay(interpolate.InterpolatedUnivariateSpline.__init__, interpolated),
    Overlay(interpolate.LSQUnivariateSpline.__init__, least_squares),
    Overlay(interpolate.RectBivariateSpline.__init__, rectangle),
    Overlay(interpolate._fitpack2._BivariateSplineBase.__call__, called),
    *_private(),
]
