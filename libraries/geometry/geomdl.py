"""geomdl: curves and surfaces of splines."""

import numpy as np
from geomdl import NURBS, BSpline, fitting, knotvector, operations

from libraries.package import Package

package = Package("geomdl")

POINTS = [[0.0, 0.0], [1.0, 2.0], [2.5, 2.0], [4.0, 0.5], [5.0, 1.0]]


def curve_through(points):
    curve = BSpline.Curve()
    curve.degree = 3
    curve.ctrlpts = points
    curve.knotvector = knotvector.generate(3, len(points))
    return curve


@package.call(0.37)
def point_of_a_curve(parameter):
    return curve_through(POINTS).evaluate_single(parameter)


@package.call(2.5, 1.7)
def moved_control_point(x, y):
    points = [list(point) for point in POINTS]
    points[2] = [x, y]
    return curve_through(points).evaluate_single(0.6)


@package.call(0.37)
def tangent_of_a_curve(parameter):
    _, velocity, acceleration = curve_through(POINTS).derivatives(parameter, order=2)
    return velocity, acceleration


@package.call(1.4)
def weight_of_a_point(weight):
    curve = NURBS.Curve()
    curve.degree = 2
    curve.ctrlpts = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    curve.weights = [1.0, weight, 1.0]
    curve.knotvector = [0, 0, 0, 1, 1, 1]
    return curve.evaluate_single(0.3)


@package.call(0.3, 0.6)
def point_of_a_surface(u, v):
    surface = BSpline.Surface()
    surface.degree_u, surface.degree_v = 2, 2
    surface.set_ctrlpts([[i, j, i * j * 0.3 + 0.1 * i * i] for i in range(4) for j in range(4)], 4, 4)
    surface.knotvector_u = knotvector.generate(2, 4)
    surface.knotvector_v = knotvector.generate(2, 4)
    return surface.evaluate_single((u, v))


@package.call(np.array([0.0, 1.2, 1.9, 1.0, 0.4]))
def interpolated(heights):
    points = [[float(i), height] for i, height in enumerate(heights)]
    return fitting.interpolate_curve(points, 3).evaluate_single(0.45)


@package.call(0.4)
def direction_of_a_curve(parameter):
    _, direction = operations.tangent(curve_through(POINTS), parameter)
    return direction


@package.call(2.0)
def moved_curve(by):
    moved = operations.translate(curve_through(POINTS), (by, 2.0 * by))
    return moved.evaluate_single(0.25)
