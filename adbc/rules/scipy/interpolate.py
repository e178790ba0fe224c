"""``scipy.interpolate``: piecewise polynomials, splines, grids, triangles.

A spline is linear in its coefficients, and its derivative by x is another spline.  Most of the library is
Python that ends in a few functions in C: those for piecewise polynomials have bodies, those for splines in
the basis of B-splines have formulas.  The interval that a point lies in has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, spatial
from scipy.linalg import lapack

from adbc.rules.implicit import solved, valued
from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.scipy.base import bodies, fixed, internal
from adbc.rules.scipy.solves import solved_with_band
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


# -- piecewise polynomials ---------------------------------------------------------------------------------


def interval_of(x: Any, points: Any) -> Any:
    """For each point the number of the interval between breakpoints `x` that it lies in, the first or last if
    it is outside."""
    if x[-1] >= x[0]:
        found = np.searchsorted(x, points, side="right") - 1
    else:
        found = np.searchsorted(-x, -points, side="right") - 1
    return np.clip(found, 0, len(x) - 2)


def outside(x: Any, points: Any) -> Any:
    """Which points lie outside of the breakpoints, or are no numbers."""
    low, high = min(x[0], x[-1]), max(x[0], x[-1])
    return ~((points >= low) & (points <= high))


def evaluate(c: Any, x: Any, xp: Any, dx: int, extrapolate: Any, out: Any) -> None:
    """The body of ``_ppoly.evaluate``: derivative number `dx` at points `xp`, one row for each."""
    order = c.shape[0]
    place = interval_of(x, xp)
    s = (xp - x[place])[:, None]
    total = np.zeros((len(xp), c.shape[2]), c.dtype)
    for k in range(order - dx):
        power = order - 1 - k
        factor = 1.0
        for j in range(dx):
            factor = factor * (power - j)
        total = total * s + factor * c[k][place]
    if not extrapolate:
        total = np.where(outside(x, xp)[:, None], np.nan, total)
    out[...] = total


def integrate(c: Any, x: Any, a: Any, b: Any, extrapolate: Any, out: Any) -> None:
    """The body of ``_ppoly.integrate``: the integral from `a` to `b`."""
    order = c.shape[0]
    if not extrapolate and np.any(outside(x, np.array([stop_gradient(a), stop_gradient(b)]))):
        out[...] = np.nan
        return
    first, last = interval_of(x, np.array([stop_gradient(a), stop_gradient(b)])).tolist()
    total = np.zeros(c.shape[2], c.dtype)
    for m in range(first, last + 1):
        low = (a if m == first else x[m]) - x[m]
        high = (b if m == last else x[m + 1]) - x[m]
        for k in range(order):
            power = order - k
            total = total + c[k, m] * ((high**power - low**power) / power)
    out[...] = total


# -- B-splines ---------------------------------------------------------------------------------------------


def _spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: bool) -> Any:
    return interpolate.BSpline(t, c, k, extrapolate=extrapolate)(x, nu)


def _basis(t: Any, k: int, x: Any, nu: int, extrapolate: bool, n: int) -> Any:
    """Each B-spline at each point: the matrix by which coefficients are multiplied."""
    return _spline(t, np.eye(n), k, x, nu, extrapolate)


def _knots(t: Any) -> Any:
    """The knots `t`, as constants."""
    return fixed(
        np.asarray(t),
        "a spline of scipy.interpolate by its knots",
        "use CubicSpline or PchipInterpolator, or pass knots as constants: adbc.stop_gradient(x)",
    )


def _evaluate_dc(d: Any, y: Any, t: Any, c: Any, k: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    return _spline(t, d, k, x, nu, extrapolate)


def _evaluate_dx(d: Any, y: Any, t: Any, c: Any, k: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    return _spline(t, c, k, x, nu + 1, extrapolate) * d[:, None]


def _evaluate_c(by: Any, y: Any, t: Any, c: Any, k: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    return _basis(t, k, x, nu, extrapolate, len(c)).T @ by


def _evaluate_x(by: Any, y: Any, t: Any, c: Any, k: Any, x: Any, nu: int, extrapolate: Any) -> Any:
    return np.sum(by * np.conjugate(_spline(t, c, k, x, nu + 1, extrapolate)), axis=-1)


def spline_values(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """A B-spline, or a derivative of it, at points `x`; `c` has a column for each function."""
    return _spline(t, c, k, x, nu, extrapolate)


def evaluate_spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """The body of ``_dierckx.evaluate_spline``."""
    return spline_values(_knots(t), c, k, x, nu, bool(extrapolate))


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    t, c, k = tck
    t, x = _knots(t), np.asarray(x)
    n = len(t) - k - 1
    points = np.ravel(x)
    c = np.asarray(c)[:n]
    values = np.reshape(spline_values(t, c[:, None], k, points, der, True), x.shape)
    if ext == 0:
        return values
    beyond = outside(np.array([t[k], t[n]]), stop_gradient(x))
    if ext == 2 and np.any(beyond):
        raise ValueError("points outside of the interval that the spline is defined on")
    if ext == 3:
        inside = np.clip(points, t[k], t[n])
        return np.reshape(spline_values(t, c[:, None], k, inside, der, True), x.shape)
    return np.where(beyond, 0.0, values)


def fitpack_splev(t: Any, c: Any, k: int, x: Any, e: int = 0) -> Any:
    """The body of FITPACK's ``splev``, which a `UnivariateSpline` is evaluated by."""
    return splev(x, (t, c, k), 0, e), 0


def fitpack_splder(t: Any, c: Any, k: int, x: Any, nu: int = 1, e: int = 0) -> Any:
    return splev(x, (t, c, k), nu, e), 0


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0, s: Any = None,
    t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    instead = "use CubicSpline, or s=0 and data whose places are constants"
    x = fixed(x, "scipy.interpolate.splrep by the places x", instead)
    if s not in (None, 0) or w is not None or task != 0 or full_output or per:
        y = fixed(y, "scipy.interpolate.splrep with s, w, task, full_output or per by the data y", instead)
    found = solved(interpolate.splrep, (x, y, w, xb, xe, k, task, s, t, full_output, per, quiet), {})
    if s not in (None, 0) or w is not None or task != 0 or full_output or per:
        return found
    knots, coefficients, degree = stop_gradient(found[0]), found[1], found[2]
    n = len(knots) - degree - 1
    matrix = collocation(knots, degree, np.asarray(x, dtype=float), n)
    own = np.linalg.solve(matrix, np.asarray(y, dtype=float))
    return knots, valued(coefficients, np.concatenate((own, np.zeros(degree + 1)))), degree


def collocation(t: Any, k: int, x: Any, n: int) -> Any:
    """Each B-spline at each place of the data."""
    return _basis(t, k, x, 0, True, n)


def gbsv(kl: int, ku: int, ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False) -> Any:
    """The body of LAPACK's solver for bands, which has `kl` more rows in front; of its results only the
    solution is meant."""
    x = solved_with_band(np.asarray(ab)[kl:], b, (kl, ku))
    return ab, np.zeros(x.shape[0], np.int32), x, 0


# -- grids -------------------------------------------------------------------------------------------------


def coordinates(points: Any, ndim: Any = None) -> Any:
    """The body of ``_ndim_coords_from_arrays``."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(p) for p in points]), axis=-1)
    points = np.asarray(points)
    if points.ndim == 1:
        return np.reshape(points, (-1, 1)) if ndim is None else np.reshape(points, (-1, ndim))
    return points


def find_indices(grid: Any, xi: Any) -> Any:
    """The body of the search of cells: their numbers, and where in them the points lie."""
    numbers, distances = [], []
    for axis in range(len(grid)):
        line = np.asarray(grid[axis])
        if len(line) < 2:
            place = np.zeros(xi.shape[1], np.intp)
            distances.append(np.zeros(xi.shape[1]) * xi[axis])
        else:
            place = interval_of(line, xi[axis])
            distances.append((xi[axis] - line[place]) / (line[place + 1] - line[place]))
        numbers.append(place)
    return np.stack(numbers), np.stack(distances)


def evaluate_linear_2d(values: Any, indices: Any, distances: Any, grid: Any, out: Any) -> Any:
    """The body of bilinear interpolation."""
    i, j = indices
    u, v = distances
    i1 = np.minimum(i + 1, values.shape[0] - 1)
    j1 = np.minimum(j + 1, values.shape[1] - 1)
    return (
        values[i, j] * (1 - u) * (1 - v)
        + values[i, j1] * (1 - u) * v
        + values[i1, j] * u * (1 - v)
        + values[i1, j1] * u * v
    )


# -- scattered data ----------------------------------------------------------------------------------------


def triangles(points: Any, xi: Any) -> Any:
    """For each of `xi` the simplex it lies in (-1: none), its corners, and the map to barycentric
    coordinates."""
    found = spatial.Delaunay(points)
    simplex = found.find_simplex(xi)
    return simplex, found.simplices[simplex], found.transform[simplex]


def nearest(points: Any, xi: Any) -> Any:
    """For each of `xi` the number of the nearest point."""
    return spatial.cKDTree(points).query(xi)[1]


def griddata(
    points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan, rescale: bool = False
) -> Any:
    instead = "use RegularGridInterpolator, or pass constants: adbc.stop_gradient(points)"
    points = fixed(coordinates(points), "scipy.interpolate.griddata by its points", instead)
    values = np.asarray(values)
    dimension = points.shape[-1]
    if dimension < 2 or rescale or method not in ("linear", "nearest"):
        values = fixed(values, f"scipy.interpolate.griddata with method={method!r} by its values", instead)
        xi = fixed(xi, f"scipy.interpolate.griddata with method={method!r} by xi", instead)
        return solved(interpolate.griddata, (points, values, xi, method, fill_value, rescale), {})
    xi = coordinates(xi, dimension)
    flat = np.reshape(xi, (-1, dimension))
    if method == "nearest":
        return np.reshape(values[nearest(points, flat)], (*xi.shape[:-1], *values.shape[1:]))
    simplex, corners, transform = triangles(points, flat)
    first = np.einsum("nij,nj->ni", transform[:, :dimension], flat - transform[:, dimension])
    weights = np.concatenate((first, 1.0 - np.sum(first, axis=1, keepdims=True)), axis=1)
    shape = (len(flat), dimension + 1) + (1,) * (values.ndim - 1)
    total = np.sum(np.reshape(weights, shape) * values[corners], axis=1)
    inside = np.reshape(simplex >= 0, (len(flat),) + (1,) * (values.ndim - 1))
    return np.reshape(np.where(inside, total, fill_value), (*xi.shape[:-1], *values.shape[1:]))


def _rows_in_c() -> list[Rule]:
    """Bodies of what differs between versions of SciPy."""
    found: dict[str, dict[str, Any]] = {
        "_ppoly": {"evaluate": evaluate, "integrate": integrate},
        "_interpnd": {"_ndim_coords_from_arrays": coordinates},
        "_dfitpack": {"splev": fitpack_splev, "splder": fitpack_splder},
        "_dierckx": {"evaluate_spline": evaluate_spline},
        "_rgi_cython": {"find_indices": find_indices, "evaluate_linear_2d": evaluate_linear_2d},
    }
    return [
        row for name, rows in found.items() for row in bodies(internal(f"scipy.interpolate.{name}"), rows)
    ]


ROWS: list[Rule] = [
    ZeroRule(interval_of),
    ZeroRule(outside),
    ZeroRule(triangles),
    ZeroRule(nearest),
    ZeroRule(collocation),
    ArrayRule(
        spline_values,
        "t c k x nu extrapolate",
        jvp=[None, _evaluate_dc, None, _evaluate_dx],
        vjp=[None, _evaluate_c, None, _evaluate_x],
        when=plain,
    ),
    *bodies(lapack, {"dgbsv": gbsv, "zgbsv": gbsv, "sgbsv": gbsv, "cgbsv": gbsv}),
    *bodies(interpolate, {"splev": splev, "splrep": splrep, "griddata": griddata}),
    *_rows_in_c(),
]
