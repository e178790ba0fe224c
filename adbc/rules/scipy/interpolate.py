"""``scipy.interpolate``: piecewise polynomials, grids, triangles, radial functions.

Most of the library is Python that ends in a few functions in C, which have bodies.  The interval that a point
lies in has no derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import interpolate, spatial

from adbc.rules.implicit import solved
from adbc.rules.scipy.base import bodies, fixed, internal
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import NO_KWARGS, Rule, ZeroRule

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


def fix_continuity(c: Any, x: Any, order: int) -> None:
    """The body of ``_ppoly.fix_continuity``: derivatives up to number `order` of each piece begin with what
    those of the piece before end with."""
    count, width = len(c), np.diff(x)[:-1, None]
    for nu in range(order, -1, -1):
        own = count - 1 - nu
        grown = np.zeros((c.shape[1] - 1, c.shape[2]), c.dtype)
        for k in range(own):
            grown = (grown + math.comb(count - 1 - k, nu) * c[k, :-1]) * width
        c[own, 1:] = c[own, 0] + np.cumsum(grown, axis=0)


def evaluate_bernstein(c: Any, x: Any, xp: Any, nu: int, extrapolate: Any, out: Any) -> None:
    """The body of ``_ppoly.evaluate_bernstein``: by de Casteljau, a derivative by the differences of the
    coefficients."""
    degree = c.shape[0] - 1
    if nu > degree:
        out[...] = 0.0
        return
    place = interval_of(x, xp)
    width = (x[place + 1] - x[place])[:, None]
    s = (xp - x[place])[:, None] / width
    d = [c[k][place] for k in range(degree + 1)]
    for j in range(nu):
        d = [(degree - j) * (d[k + 1] - d[k]) / width for k in range(degree - j)]
    while len(d) > 1:
        d = [d[k] + s * (d[k + 1] - d[k]) for k in range(len(d) - 1)]
    total = d[0]
    if not extrapolate:
        total = np.where(outside(x, xp)[:, None], np.nan, total)
    out[...] = total


def evaluate_nd(c: Any, xs: Any, ks: Any, xp: Any, dx: Any, extrapolate: Any, out: Any) -> None:
    """The body of ``_ppoly.evaluate_nd``: `c` has an axis for the powers, one for the cells, both flattened
    over the dimensions, and one for the functions."""
    ndim = len(xs)
    cell = np.zeros(len(xp), np.intp)
    powers = [np.ones((len(xp), 1))]
    beyond = np.zeros(len(xp), bool)
    for i in range(ndim):
        place = interval_of(xs[i], xp[:, i])
        beyond = beyond | outside(xs[i], xp[:, i])
        cell = cell * (len(xs[i]) - 1) + place
        s = xp[:, i] - xs[i][place]
        order = int(ks[i])
        terms = []
        for k in range(order):
            power, factor = order - 1 - k, 1.0
            for j in range(int(dx[i])):
                factor = factor * (power - j)
            rest = power - int(dx[i])
            terms.append(factor * s ** max(rest, 0) if rest >= 0 else np.zeros(len(xp)))
        powers.append(np.stack(terms, axis=1))
    weights = powers[0]
    for term in powers[1:]:
        weights = np.reshape(weights[:, :, None] * term[:, None, :], (len(xp), -1))
    total = np.einsum("nk,knf->nf", weights, c[:, cell])
    if not extrapolate:
        total = np.where(beyond[:, None], np.nan, total)
    out[...] = total


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


# -- radial functions -------------------------------------------------------------------------------------


def _positive(r: Any) -> Any:
    return np.where(r == 0, 1.0, r)


RADIAL: dict[str, Any] = {
    "linear": lambda r: -r,
    "thin_plate_spline": lambda r: np.where(r == 0, 0.0, r * r * np.log(_positive(r))),
    "cubic": lambda r: r * r * r,
    "quintic": lambda r: -(r * r * r * r * r),
    "multiquadric": lambda r: -np.sqrt(r * r + 1),
    "inverse_multiquadric": lambda r: 1 / np.sqrt(r * r + 1),
    "inverse_quadratic": lambda r: 1 / (r * r + 1),
    "gaussian": lambda r: np.exp(-(r * r)),
}
"""The radial functions by their names."""


def _distances(x: Any, y: Any) -> Any:
    """Between all points of `x` and `y`; where they meet, the derivative is 0, as of ``abs``."""
    square = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)
    return np.where(square == 0, 0.0, np.sqrt(np.where(square == 0, 1.0, square)))


def rbf_polynomials(x: Any, powers: Any) -> Any:
    """The monomials with these powers at points `x`."""
    columns = []
    for power in np.asarray(powers).tolist():
        column = np.ones(len(x))
        for i, n in enumerate(power):
            if n:
                column = column * x[:, i] ** n
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))


def rbf_system(y: Any, d: Any, smoothing: Any, kernel: Any, epsilon: Any, powers: Any) -> Any:
    """The body of ``_build_system``: matrix, right-hand side, shift and scale."""
    r, s = len(powers), d.shape[1]
    low, high = np.min(y, axis=0), np.max(y, axis=0)
    shift, scale = (high + low) / 2, (high - low) / 2
    scale = np.where(scale == 0, 1.0, scale)
    terms = rbf_polynomials((y - shift) / scale, powers)
    matrix = RADIAL[kernel](_distances(y * epsilon, y * epsilon)) + np.diag(smoothing)
    top = np.concatenate((matrix, terms), axis=1)
    bottom = np.concatenate((terms.T, np.zeros((r, r))), axis=1)
    return np.concatenate((top, bottom)), np.concatenate((d, np.zeros((r, s)))), shift, scale


def rbf_terms(x: Any, y: Any, kernel: Any, epsilon: Any, powers: Any, shift: Any, scale: Any) -> Any:
    """The body of ``_build_evaluation_coefficients``."""
    near = RADIAL[kernel](_distances(x * epsilon, y * epsilon))
    return np.concatenate((near, rbf_polynomials((x - shift) / scale, powers)), axis=1)


def rbf_solved(y: Any, d: Any, smoothing: Any, kernel: Any, epsilon: Any, powers: Any, xp: Any = None) -> Any:
    """The body of ``_build_and_solve_system``."""
    matrix, right, shift, scale = rbf_system(y, d, smoothing, kernel, epsilon, powers)
    return shift, scale, np.linalg.solve(matrix, right)


# -- scattered data ----------------------------------------------------------------------------------------


def triangles(points: Any, xi: Any) -> Any:
    """For each of `xi` the simplex it lies in (-1: none), and the numbers of its corners."""
    found = spatial.Delaunay(points)
    simplex = found.find_simplex(xi)
    return simplex, found.simplices[simplex]


def nearest(points: Any, xi: Any, options: Any) -> Any:
    """For each of `xi` the number of the nearest point; that of all points where there is none."""
    return spatial.cKDTree(points).query(xi, **options)[1]


def linear_in_triangles(points: Any, values: Any, xi: Any, fill_value: Any) -> Any:
    """Interpolation between the corners of the simplex that a point lies in."""
    dimension = points.shape[-1]
    flat = np.reshape(xi, (-1, dimension))
    simplex, corners = triangles(points, flat)
    last = points[corners[:, dimension]]
    edges = points[corners[:, :dimension]] - last[:, None, :]
    first = np.linalg.solve(np.swapaxes(edges, 1, 2), (flat - last)[:, :, None])[:, :, 0]
    weights = np.concatenate((first, 1.0 - np.sum(first, axis=1, keepdims=True)), axis=1)
    shape = (len(flat), dimension + 1) + (1,) * (values.ndim - 1)
    total = np.sum(np.reshape(weights, shape) * values[corners], axis=1)
    inside = np.reshape(simplex >= 0, (len(flat),) + (1,) * (values.ndim - 1))
    return np.reshape(np.where(inside, total, fill_value), (*xi.shape[:-1], *values.shape[1:]))


def nearest_point(points: Any, values: Any, xi: Any, fill_value: Any, options: Any = NO_KWARGS) -> Any:
    flat = np.reshape(xi, (-1, points.shape[-1]))
    place = nearest(points, flat, options)
    found = values[np.minimum(place, len(values) - 1)]
    if found.dtype.kind != "c":
        found = found.astype(float)  # as SciPy has it, whatever the values are
    if options:
        inside = np.reshape(place < len(values), (len(flat),) + (1,) * (values.ndim - 1))
        found = np.where(inside, found, np.nan)
    return np.reshape(found, (*xi.shape[:-1], *values.shape[1:]))


def griddata(
    points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan, rescale: bool = False
) -> Any:
    points, values = coordinates(points), np.asarray(values)
    dimension = points.shape[-1]
    if dimension < 2 or rescale or method not in ("linear", "nearest"):
        instead = "use RegularGridInterpolator, or pass constants: adbc.stop_gradient(points)"
        what = f"scipy.interpolate.griddata with method={method!r}"
        points = fixed(points, f"{what} by its points", instead)
        values = fixed(values, f"{what} by its values", instead)
        xi = fixed(xi, f"{what} by xi", instead)
        return solved(interpolate.griddata, (points, values, xi, method, fill_value, rescale), {})
    xi = coordinates(xi, dimension)
    form = nearest_point if method == "nearest" else linear_in_triangles
    return form(points, values, xi, fill_value)


class Scattered:
    """An interpolator of scattered data, in the place of SciPy's own, which are written in C."""

    def __init__(self, form: Any, points: Any, values: Any, fill_value: Any) -> None:
        self.form = form
        self.points = coordinates(points)
        self.values = np.asarray(values)
        self.fill_value = fill_value

    def __call__(self, *args: Any) -> Any:
        xi = coordinates(args, self.points.shape[-1])
        return self.form(self.points, self.values, xi, self.fill_value)


class Nearest(Scattered):
    """The one that takes the nearest point, as ``cKDTree.query`` is told to find it."""

    def __call__(self, *args: Any, **query_options: Any) -> Any:
        xi = coordinates(args, self.points.shape[-1])
        return nearest_point(self.points, self.values, xi, self.fill_value, query_options)


def linear_nd(points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False) -> Any:
    if rescale or isinstance(points, spatial.Delaunay):
        instead = "pass the points as an array, without rescale"
        values = fixed(values, "LinearNDInterpolator with rescale or a triangulation", instead)
        return solved(interpolate.LinearNDInterpolator, (points, values, fill_value, rescale), {})
    return Scattered(linear_in_triangles, points, values, fill_value)


def nearest_nd(x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> Any:
    if rescale or tree_options:
        instead = "leave them out"
        y = fixed(y, "NearestNDInterpolator with rescale or tree_options", instead)
        return solved(interpolate.NearestNDInterpolator, (x, y, rescale, tree_options), {})
    return Nearest(nearest_point, x, y, np.nan)


def clough_tocher(points: Any, values: Any, *positional: Any, **options: Any) -> Any:
    what = "scipy.interpolate.CloughTocher2DInterpolator by"
    instead = "use LinearNDInterpolator or RBFInterpolator, or pass constants: adbc.stop_gradient(values)"
    points = fixed(coordinates(points), f"{what} its points", instead)
    values = fixed(np.asarray(values), f"{what} its values", instead)
    return solved(interpolate.CloughTocher2DInterpolator, (points, values, *positional), options)


def _rows_in_c() -> list[Rule]:
    """Bodies of what differs between versions of SciPy."""
    found: dict[str, dict[str, Any]] = {
        "_ppoly": {
            "evaluate": evaluate,
            "integrate": integrate,
            "fix_continuity": fix_continuity,
            "evaluate_bernstein": evaluate_bernstein,
            "evaluate_nd": evaluate_nd,
        },
        "_rbfinterp_pythran": {
            "_build_system": rbf_system,
            "_build_evaluation_coefficients": rbf_terms,
            "_polynomial_matrix": rbf_polynomials,
        },
        "_rbfinterp_np": {"_build_and_solve_system": rbf_solved},
        "_interpnd": {"_ndim_coords_from_arrays": coordinates},
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
    *bodies(
        interpolate,
        {
            "griddata": griddata,
            "LinearNDInterpolator": linear_nd,
            "NearestNDInterpolator": nearest_nd,
            "CloughTocher2DInterpolator": clough_tocher,
        },
    ),
    *_rows_in_c(),
]
