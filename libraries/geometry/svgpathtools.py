"""svgpathtools: paths of pictures."""

from svgpathtools import Arc, CubicBezier, Line, Path, QuadraticBezier, parse_path
from svgpathtools.path import bezier_unit_tangent, rotate, translate

from libraries.package import Package

package = Package("svgpathtools")

DRAWING = parse_path("M 0,0 C 1,2 3,2 4,0 L 6,1 Q 7,3 8,1")


@package.call(0.3)
def point_of_a_bezier(t):
    point = CubicBezier(0 + 0j, 1 + 2j, 3 + 2j, 4 + 0j).point(t)
    return point.real, point.imag


@package.call(1.0, 2.0)
def control_point(x, y):
    point = CubicBezier(0 + 0j, complex(x, y), 3 + 2j, 4 + 0j).point(0.4)
    return abs(point)


@package.call(0.42)
def curvature(t):
    return QuadraticBezier(0 + 0j, 1 + 2j, 3 + 0.5j).curvature(t)


@package.call(0.3)
def tangent(t):
    direction = CubicBezier(0 + 0j, 1 + 2j, 3 + 2j, 4 + 0j).unit_tangent(t)
    return direction.real, direction.imag


@package.call(2.0, 0.5)
def length_of_a_parabola(x, y):
    return QuadraticBezier(0 + 0j, complex(x, y), 3 + 0.5j).length()


@package.call(3.0, 4.0)
def length_of_lines(x, y):
    corner = complex(x, y)
    return Path(Line(0j, corner), Line(corner, 6 + 1j)).length()


@package.call(0.45)
def point_of_a_parsed_path(t):
    point = DRAWING.point(t)
    return point.real, point.imag


@package.call(2.0)
def arc(radius):
    found = Arc(0j, complex(radius, 1.5), 20.0, False, True, 2 + 1j).point(0.3)
    return found.real, found.imag


@package.call(30.0, 1.5)
def moved_and_turned(degrees, by):
    moved = translate(rotate(CubicBezier(0 + 0j, 1 + 2j, 3 + 2j, 4 + 0j), degrees, 1 + 1j), complex(by, 0.0))
    return moved.point(0.7).real, abs(bezier_unit_tangent(moved, 0.2) + 1.0)


@package.call(2.5)
def area(width):
    outline = Path(Line(0j, width + 0j), Line(width + 0j, width + 2j), Line(width + 2j, 2j), Line(2j, 0j))
    return outline.area()
