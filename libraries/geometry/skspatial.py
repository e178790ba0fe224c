"""scikit-spatial: points, lines, planes and bodies."""

import numpy as np
from skspatial.objects import (
    Circle,
    Cylinder,
    Line,
    LineSegment,
    Plane,
    Point,
    Points,
    Sphere,
    Triangle,
    Vector,
)

from libraries.package import Package

package = Package("scikit-spatial")


@package.call(np.array([1.0, 2.0, 3.0]))
def distance_to_a_plane(point):
    return Plane([0, 0, 1], [1, 1, 2]).distance_point(point)


@package.call(0.4, 1.2)
def where_lines_meet(slope, offset):
    return Line([0, offset], [1, slope]).intersect_line(Line([0, 0], [1, -1]))


@package.call(np.array([0.5, -1.0, 2.0]))
def angle_of_vectors(vector):
    return Vector(vector).angle_between([1, 2, 3])


@package.call(np.array([3.0, 1.0, 0.5]))
def projected(point):
    return Line([0, 0, 0], [1, 1, 0]).project_point(point)


@package.call(1.5)
def sphere_and_line(radius):
    a, b = Sphere([0, 0, 0], radius).intersect_line(Line([0, 0, 0.2], [1, 0.5, 0.1]))
    return a, b


@package.call(1.5, 3.0)
def body(radius, height):
    cylinder = Cylinder([0, 0, 0], [0, 0, height], radius)
    return cylinder.volume(), cylinder.surface_area()


@package.call(np.array([0.0, 2.0]), np.array([4.0, 0.5]))
def triangle(a, b):
    found = Triangle(a, b, [1, 1])
    return found.area(), found.angle("A"), found.orthocenter()


@package.call(np.array([[0.0, 0.1], [1.0, 0.9], [2.0, 2.2], [3.0, 2.8]]))
def centroid(points):
    return Points(points).centroid()


@package.call(np.array([[0.0, 0.1, 0.0], [1.0, 0.9, 0.2], [0.3, 1.2, 0.4], [1.3, 1.8, 0.9]]))
def best_plane(points):
    return Plane.best_fit(points).distance_point([2.0, 2.0, 2.0])


@package.call(2.0)
def circle_and_line(radius):
    return Circle([0, 0], radius).intersect_line(Line([0, 1], [1, 0.3]))


@package.call(np.array([0.2, 0.9]))
def segments_that_cross(point):
    return LineSegment([0, 0], Point(point)).intersect_line_segment(LineSegment([0, 0.6], [1, 0.2]))
