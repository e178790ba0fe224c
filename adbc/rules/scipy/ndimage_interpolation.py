"""``scipy.ndimage``: interpolation of images by splines, filters of their Fourier transforms, and filters by
rank.

A spline image is a sum over the nearest coefficients, weighted by B-splines of where a point lies between
them; which these are has no derivative.  The coefficients are a linear map of the image, along one axis after
the other.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import ndimage
from scipy.ndimage import _nd_image

from adbc.errors import UnsupportedError
from adbc.rules.scipy.base import bodies, internal, linear
from adbc.rules.scipy.ndimage import (
    CONSTANT,
    GRID_CONSTANT,
    GRID_WRAP,
    MIRROR,
    NEAREST,
    REFLECT,
    WRAP,
    wider,
)
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


# -- the coefficients --------------------------------------------------------------------------------------


def _coefficients_back(by: Any, input: Any, order: Any = 3, axis: Any = -1, output: Any = None,
                       mode: Any = "mirror") -> Any:  # fmt: skip
    """The adjoint of ``spline_filter1d``, by the matrix of one axis."""
    n = by.shape[axis]
    matrix = ndimage.spline_filter1d(np.eye(n), order, 0, mode=mode)
    return np.moveaxis(np.tensordot(matrix, by, (0, axis)), 0, axis)


def spline_filter(input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror") -> Any:
    image = np.asarray(input)
    if order not in (0, 1):
        for axis in range(image.ndim):
            image = ndimage.spline_filter1d(image, order, axis, mode=mode)
    if isinstance(output, np.ndarray):
        output[...] = image
        return output
    return image.astype(np.result_type(output, np.complex64) if image.dtype.kind == "c" else output)


# -- sampling ----------------------------------------------------------------------------------------------


def _mapped(x: Any, n: int, mode: int) -> tuple[Any, Any]:
    """The coordinate inside of an axis of `n` elements that `x` stands for, and whether there is one.

    The numbers of the coefficients are mapped as well (`tap`); this one decides which is the nearest where
    two are as near."""
    inside = np.ones(x.shape, bool)
    if mode in (GRID_CONSTANT, NEAREST, GRID_WRAP):  # here it is the coefficients that are mapped
        return x, inside
    if mode == CONSTANT:
        inside = within(x, n)
        return np.where(inside, x, 0.0), inside
    if n == 1:
        return np.zeros(x.shape), inside
    period, low = (2.0 * (n - 1), 0.0) if mode == MIRROR else (2.0 * n, -0.5)
    mapped = x - turns(x, low, period) * period
    middle = low + 0.5 * period
    is_behind = mapped > middle
    if mode == MIRROR:  # SciPy mirrors at the last element only what comes from below
        is_behind = is_behind & ((x < 0.0) | (mapped >= n))
    return np.where(is_behind, 2.0 * middle - mapped, mapped), inside


def within(x: Any, n: int) -> Any:
    """Which coordinates lie on an axis of `n` elements."""
    return (x >= 0.0) & (x <= n - 1.0)


def turns(x: Any, low: float, period: float) -> Any:
    """How many periods `x` lies above that which begins at `low`."""
    return np.floor((x - low) / period)


def first_of(x: Any, order: int) -> Any:
    """The number of the first of the ``order + 1`` coefficients that count at `x`."""
    return np.floor(x if order % 2 else x + 0.5).astype(np.intp) - order // 2


def tap(first: Any, order: int, n: int, mode: int) -> tuple[Any, Any]:
    """The numbers of the coefficients that count, a column for each, and which of them there are."""
    numbers = first[:, None] + np.arange(order + 1)
    if mode == GRID_CONSTANT:
        inside = (numbers >= 0) & (numbers < n)
        return np.where(inside, numbers, 0), inside
    whole = np.ones(numbers.shape, bool)
    if n == 1:
        return numbers * 0, whole
    if mode == NEAREST:
        return np.clip(numbers, 0, n - 1), whole
    if mode == GRID_WRAP:
        return numbers % n, whole
    if mode == REFLECT:
        numbers = numbers % (2 * n)
        return np.where(numbers < n, numbers, 2 * n - 1 - numbers), whole
    numbers = numbers % (2 * n - 2)
    return np.where(numbers < n, numbers, 2 * n - 2 - numbers), whole


def weights(x: Any, first: Any, order: int) -> Any:
    """The B-splines of the coefficients from number `first` on, at `x`."""
    u = x - first - (order // 2 if order % 2 else order // 2 - 0.5)
    found = [np.ones(x.shape)]
    for r in range(1, order + 1):
        new = [np.zeros(x.shape) for _ in range(r + 1)]
        for j in range(r):
            new[j] = new[j] + (j + 1 - u) * found[j] / r
            new[j + 1] = new[j + 1] + (u + r - 1 - j) * found[j] / r
        found = new
    return np.stack(found, axis=1)


def sampled(c: Any, coordinates: Any, order: int, mode: int, cval: Any) -> Any:
    """The image with coefficients `c` at points, of which `coordinates` has a list for each axis."""
    if mode == WRAP:
        raise UnsupportedError(
            "interpolation of scipy.ndimage with mode='wrap'",
            "adbc has no rule for that mode, whose period is one element short",
            "use mode='grid-wrap'",
        )
    count = len(coordinates[0])
    places, total = np.zeros((count, 1), np.intp), np.ones((count, 1))
    inside, there = np.ones(count, bool), np.ones((count, 1), bool)
    for axis in range(c.ndim):
        n = c.shape[axis]
        x, is_in = _mapped(coordinates[axis], n, mode)
        inside = inside & is_in
        first = first_of(x, order)
        numbers, known = tap(first, order, n, mode)
        weight = weights(x, first, order)
        places = np.reshape(places[:, :, None] * n + numbers[:, None, :], (count, -1))
        there = np.reshape(there[:, :, None] & known[:, None, :], (count, -1))
        total = np.reshape(total[:, :, None] * weight[:, None, :], (count, -1))
    values = np.ravel(c)[places]
    if mode == GRID_CONSTANT:
        values = np.where(there, values, cval)
    found = np.sum(values * total, axis=1)
    return np.where(inside, found, cval) if mode == CONSTANT else found


def geometric_transform(
    input: Any, mapping: Any, coordinates: Any, matrix: Any, offset: Any, output: Any, order: int, mode: int,
    cval: Any, npad: int, extra_arguments: Any, extra_keywords: Any,
) -> None:  # fmt: skip
    """The body of the function in C: coordinates are listed, or a matrix or a function gives them."""
    if not output.size:
        return
    if mapping is not None:
        points = [
            mapping(place, *extra_arguments, **extra_keywords)
            for place in itertools.product(*[range(n) for n in output.shape])
        ]
        at = [np.asarray([point[axis] for point in points]) for axis in range(input.ndim)]
    elif coordinates is not None:
        at = [np.ravel(coordinates[axis]) for axis in range(input.ndim)]
    else:
        grid = np.reshape(np.indices(output.shape), (output.ndim, -1)) * 1.0
        at = [np.sum(matrix[axis][:, None] * grid, axis=0) + offset[axis] for axis in range(input.ndim)]
    found = sampled(input, [x + npad for x in at], order, mode, cval)
    output[...] = np.reshape(found, output.shape)


def zoom_shift(
    input: Any, zoom: Any, shift: Any, output: Any, order: int, mode: int, cval: Any, npad: int, grid: Any
) -> None:
    if not output.size:
        return
    at = []
    for axis in range(input.ndim):
        line = np.arange(output.shape[axis]) * 1.0
        if shift is not None:
            line = line + shift[axis]
        if zoom is not None:
            line = (line + 0.5) * zoom[axis] - 0.5 if grid else line * zoom[axis]
        shape = [1] * input.ndim
        shape[axis] = len(line)
        at.append(np.ravel(np.broadcast_to(np.reshape(line, shape), output.shape)) + npad)
    output[...] = np.reshape(sampled(input, at, order, mode, cval), output.shape)


# -- filters by rank ---------------------------------------------------------------------------------------


def _under(footprint: Any, input: Any, mode: Any, cval: Any, origins: Any) -> list[Any]:
    """The shifted arrays that a footprint lets through."""
    wide = input
    for axis in range(input.ndim):
        size = footprint.shape[axis]
        before = size // 2 + origins[axis]
        here = mode if isinstance(mode, int) else mode[axis]
        wide = wider(wide, axis, before, size - 1 - before, here, cval)
    return [
        wide[tuple([slice(k, k + n) for k, n in zip(place, input.shape, strict=True)])]
        for place in np.argwhere(footprint).tolist()
    ]


def rank_filter(
    input: Any, rank: int, footprint: Any, output: Any, mode: Any, cval: Any, origins: Any
) -> None:
    output[...] = np.sort(np.stack(_under(footprint, input, mode, cval, origins)), axis=0)[rank]


def min_or_max_filter(
    input: Any, footprint: Any, structure: Any, output: Any, mode: Any, cval: Any, origins: Any, minimum: Any
) -> None:
    parts = np.stack(_under(footprint, input, mode, cval, origins))
    if structure is not None:
        heights = np.reshape(structure[footprint], (-1,) + (1,) * input.ndim)
        parts = parts - heights if minimum else parts + heights
    output[...] = np.min(parts, axis=0) if minimum else np.max(parts, axis=0)


def rank_filter_1d(input: Any, rank: int, size: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    rank_filter(input, rank, np.ones(size, bool), output, mode, cval, [origin])


# -- filters of Fourier transforms -------------------------------------------------------------------------


def _diagonal(name: str) -> Rule:
    """The row of a filter that multiplies a transform, element by element."""
    function = getattr(ndimage, name)

    def back(by: Any, input: Any, *given: Any, output: Any = None, **named: Any) -> Any:
        return np.conjugate(function(np.conjugate(by), *given[:3], **named))

    return linear(function, 0, transpose=back)


def _private() -> list[Rule]:
    home = internal("scipy.ndimage._rank_filter_1d")
    return [] if home is None else bodies(home, {"rank_filter": rank_filter_1d})


ROWS: list[Rule] = [
    *(ZeroRule(f) for f in (within, turns, first_of, tap)),
    linear(ndimage.spline_filter1d, 0, transpose=_coefficients_back),
    *bodies(ndimage, {"spline_filter": spline_filter}),
    *bodies(
        _nd_image,
        {
            "geometric_transform": geometric_transform,
            "zoom_shift": zoom_shift,
            "rank_filter": rank_filter,
            "min_or_max_filter": min_or_max_filter,
        },
    ),
    *(_diagonal(f"fourier_{name}") for name in ("ellipsoid", "gaussian", "shift", "uniform")),
    *_private(),
]
