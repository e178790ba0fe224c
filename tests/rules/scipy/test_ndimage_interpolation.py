"""Images between their pixels, filters by rank and by Fourier transforms: the values are SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.rules.scipy.agreement import agrees

RNG = np.random.default_rng(1)
IMAGE = RNG.random((5, 4))
MODES = ["reflect", "constant", "grid-constant", "nearest", "mirror", "grid-wrap"]
PLACES = np.array(
    [
        [-7.3, -1.2, -0.6, -0.3, 0.2, 1.7, 2.4, 3.9, 4.4, 4.6, 6.1, 11.3],
        [0.1, -4.2, 5.3, 3.2, 0.4, 1.6, -0.4, 2.2, 3.4, -0.6, 1.2, 0.3],
    ]
)
"""Inside, at the edge and far outside of the image, none where a spline of even order has its seams."""
PIXELS = np.array([[0.0, 4.0, 2.0, -1.0, 5.0, 4.0], [0.0, 3.0, 1.0, 4.0, 3.0, 0.0]])
MATRIX, OFFSET = np.array([[0.8, 0.3], [-0.4, 1.1]]), np.array([0.37, -0.61])

SAMPLERS: dict[str, Any] = {
    "pixels": lambda i, order, mode: ndimage.map_coordinates(i, PIXELS, order=order, mode=mode, cval=0.7),
    "zoom": lambda i, order, mode: ndimage.zoom(i, (1.7, 0.8), order=order, mode=mode, cval=0.3),
    "grid": lambda i, order, mode: ndimage.zoom(i, 1.6, order=order, mode=mode, grid_mode=True),
    "shift": lambda i, order, mode: ndimage.shift(i, (1.3, -2.6), order=order, mode=mode, cval=0.3),
    "whole shift": lambda i, order, mode: ndimage.shift(i, 2, order=order, mode=mode, cval=0.3),
    "rotate": lambda i, order, mode: ndimage.rotate(i, 30.0, order=order, mode=mode, cval=0.3),
    "affine": lambda i, order, mode: ndimage.affine_transform(i, MATRIX, OFFSET, order=order, mode=mode),
    "diagonal": lambda i, order, mode: ndimage.affine_transform(
        i, np.array([0.83, 1.27]), 0.21, (4, 6), order=order, mode=mode, cval=0.3
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("prefilter", [True, False])
def test_values_and_tangents_at_places(mode: str, prefilter: bool) -> None:
    def f(image: Any, places: Any, order: int) -> Any:
        return ndimage.map_coordinates(image, places, order=order, mode=mode, cval=0.7, prefilter=prefilter)

    for order in (0, 1, 2, 3, 5):
        agrees(lambda i, p, order=order: f(i, p, order), IMAGE, PLACES)


@pytest.mark.filterwarnings("ignore:It is recommended")
@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_values_and_tangents_of_resampled_images(name: str, order: int) -> None:
    for mode in MODES:
        agrees(lambda i, mode=mode: SAMPLERS[name](i, order, mode), IMAGE)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_rules_by_image_and_places(order: int) -> None:
    check_rule(
        lambda i, p: ndimage.map_coordinates(i, p, order=order, mode="mirror"), IMAGE, PLACES[:, :7].copy(),
        step=1e-3,
    )  # fmt: skip


def test_rules_by_matrix_offset_and_shift() -> None:
    check_rule(lambda i, m, o: ndimage.affine_transform(i, m, o), IMAGE, MATRIX, OFFSET, step=1e-3)
    check_rule(lambda m: ndimage.affine_transform(IMAGE, m, 0.21), np.array([0.83, 1.27]), step=1e-3)


def test_rule_by_shift() -> None:
    check_rule(lambda s: ndimage.shift(IMAGE, s, mode="nearest"), np.array([1.3, -0.6]), step=1e-3)


def test_views_and_complex_images() -> None:
    agrees(lambda i, p: ndimage.map_coordinates(i[::-1, ::2].T, p[:, ::-1], mode="mirror"), IMAGE, PLACES)
    mapped = lambda z: ndimage.map_coordinates(z, PLACES, mode="grid-constant", cval=0.5 + 0.2j)  # noqa: E731
    z = IMAGE + 1j * IMAGE[::-1]
    value, tangent = adbc.jvp(mapped, (z,), (z * 1j,))
    np.testing.assert_allclose(value, mapped(z), rtol=1e-12)
    np.testing.assert_allclose(tangent, mapped(2j * z) - mapped(z * 1j), rtol=1e-9, atol=1e-12)


def test_a_function_gives_the_places() -> None:
    def f(image: Any, s: Any) -> Any:
        return ndimage.geometric_transform(image, lambda at: (at[0] * 0.7 + s[0], at[1] - s[1]), order=2)

    agrees(f, IMAGE, np.array([0.21, 0.33]))


def test_the_mode_wrap_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"mode='wrap'(.|\n)*mode='grid-wrap'"):
        adbc.grad(lambda i: ndimage.map_coordinates(i, PLACES, mode="wrap").sum())(IMAGE)


@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap"])
@pytest.mark.parametrize("order", [2, 3, 5])
def test_coefficients(mode: str, order: int) -> None:
    agrees(lambda i: ndimage.spline_filter(i, order, mode=mode), IMAGE)
    check_rule(lambda i: ndimage.spline_filter1d(i, order, axis=0, mode=mode), IMAGE)


FOOTPRINT = np.array([[1, 0, 1], [0, 1, 1]])
HEIGHTS = RNG.random((2, 3))

FILTERS: dict[str, Any] = {
    "median": lambda i, mode: ndimage.median_filter(i, (2, 3), mode=mode, cval=0.35, origin=(-1, 1)),
    "one axis": lambda i, mode: ndimage.median_filter(i, 3, mode=mode, cval=0.35, axes=(1,)),
    "line": lambda i, mode: ndimage.rank_filter(i[:, 1], 1, size=3, mode=mode, cval=0.35),
    "percentile": lambda i, mode: ndimage.percentile_filter(
        i, 30, footprint=FOOTPRINT, mode=mode, origin=(0, -1)
    ),
    "rank": lambda i, mode: ndimage.rank_filter(i[::-1].T, -2, size=3, mode=mode, cval=0.35),
    "maximum": lambda i, mode: ndimage.maximum_filter(i, footprint=FOOTPRINT, mode=mode, cval=0.35),
    "dilation": lambda i, mode: ndimage.grey_dilation(i, structure=HEIGHTS, mode=mode, cval=0.35),
    "opening": lambda i, mode: ndimage.grey_opening(i, structure=HEIGHTS, mode=mode, cval=0.35),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_by_rank(name: str) -> None:
    for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
        agrees(lambda i, mode=mode: FILTERS[name](i, mode), IMAGE)


def test_rules_of_filters_by_rank() -> None:
    check_rule(lambda i: FILTERS["median"](i, "constant"), IMAGE, step=1e-4)
    check_rule(lambda i: FILTERS["dilation"](i, "reflect"), IMAGE, step=1e-4)


@pytest.mark.parametrize("name", ["gaussian", "uniform", "ellipsoid", "shift"])
def test_filters_of_transforms(name: str) -> None:
    function = getattr(ndimage, f"fourier_{name}")
    z = np.fft.fft2(IMAGE)
    check_rule(lambda z: function(z, 1.2), z)
    check_rule(lambda z: function(z[:3].T, 0.7, 5, -1), z)
    with pytest.raises(UnsupportedError, match=f"fourier_{name}"):
        adbc.grad(lambda s: np.abs(function(z, s)).sum())(1.2)


EMPTY: dict[str, Any] = {
    "correlate": lambda i: ndimage.correlate(i, np.ones((2,) * i.ndim)),
    "convolve1d": lambda i: ndimage.convolve1d(i, [1.0, 2.0], mode="wrap"),
    "uniform": lambda i: ndimage.uniform_filter(i, 3, mode="mirror"),
    "median": lambda i: ndimage.median_filter(i, 3),
    "maximum": lambda i: ndimage.maximum_filter(i, 3, mode="constant"),
    "shift": lambda i: ndimage.shift(i, 1.0),
    "map_coordinates": lambda i: ndimage.map_coordinates(
        np.ones((3,) * i.ndim), np.zeros((i.ndim, 0)) * i.sum()
    ),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("shape", [(0,), (1, 0)], ids=str)
def test_nothing_is_filtered(name: str, shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return EMPTY[name](np.zeros(shape) * x).sum() + 2.0 * x

    assert adbc.grad(f)(1.5) == adbc.jvp(f, (1.5,), (1.0,))[1] == 2.0


@pytest.mark.parametrize("mode", MODES)
def test_the_nearest_of_two_pixels_is_that_of_scipy(mode: str) -> None:
    middles = np.arange(-14.5, 14.0) * np.ones((2, 1))
    for order in (0, 1, 2):
        agrees(
            lambda i, order=order: ndimage.map_coordinates(i, middles, order=order, mode=mode, cval=0.7),
            IMAGE,
        )
        agrees(lambda i, order=order: ndimage.shift(i, (0.5, -1.5), order=order, mode=mode, cval=0.7), IMAGE)
