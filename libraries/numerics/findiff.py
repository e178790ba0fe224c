"""findiff: finite differences on grids."""

import findiff
import numpy as np
from findiff import Diff, coefficients

from libraries.package import Package

package = Package("findiff")

x = np.linspace(0.0, 1.0, 12)
step = x[1] - x[0]


@package.call(np.sin(3 * x))
def first(values):
    return findiff.FinDiff(0, step, 1)(values)


@package.call(np.sin(3 * x))
def second_of_higher_order(values):
    return findiff.FinDiff(0, step, 2, acc=4)(values)


@package.call(np.outer(np.sin(x[:6]), np.cos(x[:6])))
def laplacian(values):
    return (findiff.FinDiff(0, step, 2) + findiff.FinDiff(1, step, 2))(values)


@package.call(0.1)
def spacing(distance):
    return findiff.FinDiff(0, distance, 2)(np.sin(3 * x))


@package.call(1.4)
def matrix_as_a_constant(scale):
    matrix = findiff.FinDiff(0, step, 2).matrix(x.shape).toarray()
    return matrix @ np.sin(scale * x)


@package.call(np.sin(3 * x))
def operator_of_symbols(values):
    return (Diff(0, step) ** 2 + 2.0 * Diff(0, step))(values)


@package.call(0.7)
def stencil(scale):
    weights = coefficients(deriv=2, acc=4)["center"]["coefficients"]
    return np.sum(weights * np.exp(scale * np.arange(len(weights))))
