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


SOLID = np.random.default_rng(1).random((8, 3))
BUILT: dict[str, Any] = {
    "facets": lambda a: spatial.ConvexHull(a).equations,
    "barycentric": lambda a: spatial.Delaunay(a).transform,
    "vertices": lambda a: spatial.Voronoi(a).vertices,
    "vertices of the farthest": lambda a: spatial.Voronoi(a, furthest_site=True).vertices,
}


@pytest.mark.parametrize("name", BUILT)
@pytest.mark.parametrize("points", [POINTS, SOLID[:, ::-1]], ids=["plane", "space"])
def test_what_is_built_of_points(name: str, points: Any) -> None:
    agrees(BUILT[name], points)
    check_rule(BUILT[name], points, step=1e-4, rtol=1e-4)


def test_what_is_built_of_points_copies_them() -> None:
    def f(a: Any) -> Any:
        diagram, hull = spatial.Voronoi(a), spatial.ConvexHull(a)
        a *= 2.0
        return diagram.vertices, hull.equations, a

    check_rule(f, POINTS, step=1e-4, rtol=1e-4)


def test_halfspaces() -> None:
    planes = np.array([[-1.0, 0.0, -0.1], [0.0, -1.0, -0.2], [1.0, 1.0, -2.0], [1.0, -1.0, -1.0]])
    check_rule(lambda h, p: spatial.HalfspaceIntersection(h, p).intersections, planes, np.array([0.3, 0.3]))


def test_diagrams_on_spheres() -> None:
    def areas(a: Any) -> Any:
        on_sphere = a / np.linalg.norm(a, axis=1)[:, None]
        return spatial.SphericalVoronoi(on_sphere).calculate_areas()

    check_rule(areas, SOLID - 0.5, step=1e-4, rtol=1e-4)


def test_corners_that_split_are_refused() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5]])
    with pytest.raises(UnsupportedError, match=r"more than 3 points(.|\n)*stop_gradient"):
        adbc.grad(lambda a: spatial.Voronoi(a).vertices.sum())(square)


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda a: spatial.Voronoi(a).min_bound.sum(), "min_bound"),
        (lambda a: spatial.Delaunay(a).equations.sum(), "equations"),
        (lambda a: spatial.KDTree(a).maxes.sum(), "maxes"),
    ],
)
def test_other_attributes_are_refused(use: Any, name: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"{name}(.|\n)*stop_gradient"):
        adbc.grad(use)(POINTS)
