"""``scipy.spatial``: nearest points, hulls and triangulations.

Which points are near, or on the hull, has no derivative; distances, volumes and areas have.  What is built of
points with a derivative is an object in Python that keeps them, and asks SciPy's for the numbers of points.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import spatial

from adbc.errors import UnsupportedError
from adbc.rules.implicit import solved
from adbc.rules.scipy.base import bodies
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def said(thing: Any, name: str) -> Any:
    """An attribute of an object of SciPy's that has no derivative."""
    return getattr(thing, name)


def asked(thing: Any, name: str, args: Any, options: Any) -> Any:
    """What a method of an object of SciPy's answers: numbers of points."""
    return getattr(thing, name)(*args, **options)


class Located:
    """An object of SciPy's about points, in whose place it stands: those with a derivative, and numbers."""

    numbers: tuple[str, ...] = ()
    """The attributes that are numbers of points, or counts."""

    def __init__(self, found: Any, points: Any) -> None:
        self.found = found
        self.points = points

    def __getattr__(self, name: str) -> Any:
        if name in type(self).numbers:
            return said(self.found, name)
        kind = type(self.found).__name__
        raise UnsupportedError(
            f"attribute {name!r} of a scipy.spatial.{kind} of points with a derivative",
            "adbc has no rule for it",
            f"compute it from the points and {type(self).numbers[0]!r}, or pass the points as constants:"
            " adbc.stop_gradient(points)",
        )


class Hull(Located):
    """A convex hull, with its volume and area; an area in the plane is a length."""

    numbers = ("vertices", "simplices", "neighbors", "nsimplex", "ndim", "npoints", "coplanar", "good")

    def __init__(self, found: Any, points: Any) -> None:
        super().__init__(found, points)
        ndim = points.shape[1]
        facets = points[said(found, "simplices")]
        middle = np.mean(points[said(found, "vertices")], axis=0)
        self.volume = float(np.sum(np.abs(np.linalg.det(facets - middle)))) / math.factorial(ndim)
        edges = facets[:, 1:] - facets[:, :1]
        squares = np.linalg.det(edges @ np.swapaxes(edges, 1, 2))
        self.area = float(np.sum(np.sqrt(squares))) / math.factorial(ndim - 1)

    @property
    def equations(self) -> Any:
        """The normals and offsets of the facets, of which the points of each facet have the distance 0."""
        facets = self.points[said(self.found, "simplices")]
        normals = said(self.found, "equations")[:, :-1]
        ones = np.ones((*facets.shape[:2], 1))
        beside = np.append(normals, np.zeros((len(normals), 1)), axis=1)[:, None]
        rows = np.concatenate([np.concatenate([facets, ones], axis=2), beside], axis=1)
        right = np.zeros((*rows.shape[:2], 1))
        right[:, -1] = 1.0
        plane = np.linalg.solve(rows, right)[..., 0]
        return plane / np.sqrt(np.sum(plane[:, :-1] ** 2, axis=1))[:, None]


class Triangulated(Located):
    """A triangulation."""

    numbers = ("simplices", "neighbors", "nsimplex", "ndim", "npoints", "coplanar", "convex_hull", "good")

    @property
    def transform(self) -> Any:
        """For each simplex the matrix that gives barycentric coordinates, and its last corner; nan where the
        simplex is flat, as SciPy has it."""
        corners = self.points[said(self.found, "simplices")]
        last = corners[:, -1]
        flat = np.isnan(said(self.found, "transform")[:, 0, 0])
        sides = np.swapaxes(corners[:, :-1] - last[:, None], 1, 2)
        sides = np.where(flat[:, None, None], np.eye(last.shape[1]), sides)
        whole = np.concatenate([np.linalg.inv(sides), last[:, None]], axis=1)
        return np.where(flat[:, None, None], np.nan, whole)

    def find_simplex(self, xi: Any, *args: Any, **options: Any) -> Any:
        return asked(self.found, "find_simplex", (xi, *args), options)


class Diagram(Located):
    """A Voronoi diagram, whose vertices have the same distance from all points around them."""

    numbers = (
        "regions",
        "point_region",
        "ridge_points",
        "ridge_vertices",
        "ridge_dict",
        "furthest_site",
        "ndim",
        "npoints",
    )

    @property
    def vertices(self) -> Any:
        around: list[list[int]] = [[] for _ in said(self.found, "vertices")]
        for point, region in enumerate(said(self.found, "point_region")):
            if region >= 0:  # not so the region of a point that is there twice
                for vertex in said(self.found, "regions")[region]:
                    if vertex >= 0:
                        around[vertex].append(point)
        near = self.points[corners(around, self.points.shape[1] + 1, "vertex of a Voronoi diagram", "points")]
        sides = near[:, 1:] - near[:, :1]
        right = np.sum(sides * sides, axis=2)[..., None] / 2.0
        return near[:, 0] + np.linalg.solve(sides, right)[..., 0]


class Halfspaces(Located):
    """The corners of what lies in all of some halfspaces: each lies on the planes that meet there."""

    numbers = ("dual_facets", "dual_vertices", "ndim", "nineq", "is_bounded")

    @property
    def intersections(self) -> Any:
        meeting = said(self.found, "dual_facets")
        ndim = self.points.shape[1] - 1
        planes = self.points[corners(meeting, ndim, "corner of an intersection of halfspaces", "planes")]
        return np.linalg.solve(planes[..., :-1], -planes[..., -1:])[..., 0]


def corners(meeting: Any, count: int, what: str, of: str) -> Any:
    """For each corner the numbers of what meets there: `count`, unless it splits into several as soon as one
    of them moves."""
    if any(len(one) != count for one in meeting):
        raise UnsupportedError(
            f"a {what} at which more than {count} {of} meet",
            "it becomes several as soon as one of them moves, and has no derivative",
            f"pass the {of} as constants, adbc.stop_gradient({of}), or move them apart",
        )
    return np.array([list(one) for one in meeting], dtype=int).reshape(-1, count)


class Tree(Located):
    """A tree of points, with the methods that give numbers of points, and the distances to the nearest."""

    numbers = ("n", "m", "leafsize", "size")

    def __init__(self, found: Any, points: Any) -> None:
        super().__init__(found, points)
        self.data = points

    def query(self, x: Any, k: Any = 1, *args: Any, **options: Any) -> Any:
        return _nearest(self.found, self.points, x, k, args, options)

    def query_ball_point(self, *args: Any, **options: Any) -> Any:
        return asked(self.found, "query_ball_point", args, options)

    def query_pairs(self, *args: Any, **options: Any) -> Any:
        return asked(self.found, "query_pairs", args, options)

    def query_ball_tree(self, other: Any, *args: Any, **options: Any) -> Any:
        found = other.found if isinstance(other, Tree) else other
        return asked(self.found, "query_ball_tree", (found, *args), options)

    def count_neighbors(self, other: Any, *args: Any, **options: Any) -> Any:
        found = other.found if isinstance(other, Tree) else other
        return asked(self.found, "count_neighbors", (found, *args), options)


def _nearest(tree: Any, points: Any, x: Any, k: Any, args: Any, options: Any) -> Any:
    """The distances to the nearest points, and their numbers: those that there are none of are infinite."""
    x = np.asarray(x)
    number = asked(tree, "query", (x, k, *args), options)[1]
    order = options.get("p", args[1] if len(args) > 1 else 2)
    number = np.asarray(number)
    there = number < len(points)
    others = points[np.where(there, number, 0)]
    here = x if number.ndim == x.ndim - 1 else x[..., None, :]
    between = here - others
    box = said(tree, "boxsize")
    if box is not None:  # periodic along the axes where it is not 0
        between = between - box * turns(between, box)
    distance = _length(between, order)
    found = np.where(there, distance, np.inf)
    return (found, number) if found.ndim else (float(found), int(number))


def turns(d: Any, box: Any) -> Any:
    """How many times a difference goes around a periodic box, along each axis; never where `box` is 0."""
    return np.where(box == 0, 0.0, np.round(d / np.where(box == 0, 1.0, box)))


def _length(d: Any, order: Any) -> Any:
    """The norm along the last axis, whose derivative is 0 at 0."""
    if np.isinf(order):
        return np.max(np.abs(d), axis=-1)
    if order == 1:
        return np.sum(np.abs(d), axis=-1)
    total = np.sum(np.abs(d) ** order, axis=-1)
    return np.where(total == 0, 0.0, np.where(total == 0, 1.0, total) ** (1.0 / order))


def _tree(cls: Any) -> Any:
    def body(data: Any, *args: Any, **options: Any) -> Any:
        # SciPy's tree keeps the array itself, unless that is no array of doubles without gaps.
        copies = args[2] if len(args) > 2 else options.get("copy_data", False)
        data = np.array(data, dtype=float, order="C") if copies else np.ascontiguousarray(data, dtype=float)
        return Tree(solved(cls, (data, *args), options), data)

    return body


def query(self: Any, x: Any, k: Any = 1, *args: Any, **options: Any) -> Any:
    """The body of ``query`` of a tree of constants.  Its points are read as attributes are: it is refused if
    something with a derivative has been written to the array since."""
    return _nearest(self, self.data, x, k, args, options)


def convex_hull(points: Any, *args: Any, **options: Any) -> Any:
    points = np.asarray(points) * 1.0
    return Hull(solved(spatial.ConvexHull, (points, *args), options), points)


def delaunay(points: Any, *args: Any, **options: Any) -> Any:
    points = np.asarray(points) * 1.0
    return Triangulated(solved(spatial.Delaunay, (points, *args), options), points)


def voronoi(points: Any, *args: Any, **options: Any) -> Any:
    points = np.asarray(points) * 1.0
    return Diagram(solved(spatial.Voronoi, (points, *args), options), points)


def halfspaces(halfspaces: Any, interior_point: Any, *args: Any, **options: Any) -> Any:
    planes = np.asarray(halfspaces) * 1.0
    inside = (planes, np.asarray(interior_point) * 1.0, *args)
    return Halfspaces(solved(spatial.HalfspaceIntersection, inside, options), planes)


def tsearch(tri: Any, xi: Any) -> Any:
    return asked(tri.found if isinstance(tri, Triangulated) else tri, "find_simplex", (xi,), {})


ROWS: list[Rule] = [
    ZeroRule(said),
    ZeroRule(asked),
    ZeroRule(turns),
    ZeroRule(corners),
    *bodies(
        spatial,
        {
            "KDTree": _tree(spatial.KDTree),
            "cKDTree": _tree(spatial.cKDTree),
            "ConvexHull": convex_hull,
            "Delaunay": delaunay,
            "Voronoi": voronoi,
            "HalfspaceIntersection": halfspaces,
            "tsearch": tsearch,
        },
    ),
    Overlay(spatial.cKDTree.query, query),
    Overlay(spatial.KDTree.query, query),
]
