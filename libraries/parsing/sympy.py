"""sympy: formulas that become functions."""

import numpy as np
import sympy as sp

from libraries.package import Package

package = Package("sympy")

x, y = sp.symbols("x y")
formula = sp.sin(x) * sp.exp(-y) + x**2 / (1 + y)
fast = sp.lambdify((x, y), formula)
derivative = sp.lambdify((x, y), sp.diff(formula, x), "math")
matrix = sp.lambdify((x, y), sp.Matrix([[sp.cos(x), -sp.sin(x)], [y, x * y]]), "numpy")
pieces = sp.lambdify(x, sp.Piecewise((x**2, x < 1), (2 * x - 1, True)), "math")


@package.call(0.7, 0.3)
def of_a_formula(first, second):
    return fast(first, second)


@package.call(0.7, 0.3)
def of_its_derivative(first, second):
    return derivative(first, second)


@package.call(0.7, 1.3)
def of_a_matrix(first, second):
    return matrix(first, second)


@package.call(np.array([0.2, 0.9, 1.7]))
def of_an_array(values):
    return fast(values, 0.3)


@package.call(0.4)
def of_pieces(value):
    return pieces(value)


@package.call(1.4)
def made_inside(value):
    parsed = sp.parse_expr("3*t**2 + sin(t)")
    return sp.lambdify(sp.Symbol("t"), sp.diff(parsed), "math")(value)


@package.call(1.5)
def roots_as_constants(scale):
    roots = [float(root) for root in sp.solve(sp.Symbol("z") ** 2 - 5, sp.Symbol("z"))]
    return scale * roots[1] + scale**2
