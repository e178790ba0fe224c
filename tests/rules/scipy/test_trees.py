"""Nearest points, hulls and triangulations: by the points and by the places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import spatial

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.rules.scipy.agreement import agrees

RNG = np.random.default_rng(3)
POINTS, PLACES = RNG.random((12, 2)), RNG.random((4, 2))
TREES = ["KDTree", "cKDTree"]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_distances(name: str, p: float) -> None:
    cls = getattr(spatial, name)
    tree = cls(POINTS)
    for k in (1, [1], 3, [2, 4]):
        agrees(lambda a, x, k=k: cls(a).query(x, k, p=p)[0], POINTS, PLACES)
        agrees(lambda x, k=k: tree.query(x, k, 0, p)[0], PLACES)


@pytest.mark.parametrize("name", TREES)
def test_what_is_too_far_is_infinite(name: str) -> None:
    cls = getattr(spatial, name)
    found = adbc.jvp(lambda a: cls(a).query(PLACES, 20, distance_upper_bound=0.4), (POINTS,), (POINTS,))[0]
    for ours, plain in zip(found, cls(POINTS).query(PLACES, 20, distance_upper_bound=0.4), strict=True):
        np.testing.assert_allclose(ours, plain)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("box", [1.0, [1.0, 0.0]])
def test_periodic_boxes(name: str, box: Any) -> None:
    cls = getattr(spatial, name)
    agrees(lambda a, x: cls(a, boxsize=box).query(x, 3)[0], POINTS, PLACES)
    tree = cls(POINTS, boxsize=box)
    agrees(lambda x: tree.query(x, 3)[0], PLACES)


@pytest.mark.parametrize("name", TREES)
def test_shapes_views_and_other_types(name: str) -> None:
    cls = getattr(spatial, name)
    agrees(lambda a, x: cls(a).query(np.reshape(x, (2, 2, 2))[:, ::-1], 2)[0], POINTS[::-1], PLACES)
    agrees(lambda x: cls(POINTS.astype(np.float32)).query(x, 3)[0], PLACES)
    agrees(lambda x: cls(np.arange(8).reshape(4, 2)).query(x[0], 3)[0], PLACES)
    assert type(adbc.jvp(lambda a: cls(a).query(PLACES[0])[0], (POINTS,), (POINTS,))[0]) is float


def test_rules_of_distances() -> None:
    check_rule(lambda a, x: spatial.KDTree(a).query(x, 2)[0], POINTS, PLACES, step=1e-3)


def test_a_point_that_is_its_own_neighbour_does_not_move() -> None:
    gradient = adbc.grad(lambda a: spatial.cKDTree(a).query(a)[0].sum())(POINTS)
    np.testing.assert_array_equal(gradient, np.zeros_like(POINTS))


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_hulls(dimension: int) -> None:
    points = np.random.default_rng(1).random((dimension + 7, dimension)) * 3.0

    def f(a: Any) -> Any:
        hull = spatial.ConvexHull(a)
        return np.array([hull.volume, hull.area])

    agrees(f, points)
    check_rule(f, points, step=1e-3)


def test_triangulations() -> None:
    check_rule(lambda a: a[spatial.Delaunay(a).simplices].sum(axis=1), POINTS, step=1e-3)


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda a: spatial.ConvexHull(a).equations.sum(), "equations"),
        (lambda a: spatial.KDTree(a).maxes.sum(), "maxes"),
    ],
)
def test_other_attributes_are_refused(use: Any, name: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"{name}(.|\n)*stop_gradient"):
        adbc.grad(use)(POINTS)
