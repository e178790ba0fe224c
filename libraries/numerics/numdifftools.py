"""numdifftools: differences, which are differentiated in their turn."""

import numdifftools as nd
import numpy as np
from numdifftools import fornberg

from libraries.package import Package

package = Package("numdifftools")


@package.call(0.7)
def slope(x):
    return nd.Derivative(np.sin, step=1e-2, method="central", order=4)(x)


@package.call(0.7)
def parameter_of_a_function(rate):
    return nd.Derivative(lambda t: np.exp(-rate * t), step=1e-2)(0.5)


@package.call(np.array([0.4, -0.3]))
def gradient(x):
    return nd.Gradient(lambda v: v[0] ** 3 * v[1] + v[1] ** 2, step=1e-2)(x)


@package.call(0.3)
def complex_step(x):
    return nd.Derivative(lambda t: np.exp(x * t), method="complex", step=1e-3)(0.5)


@package.call(1.5)
def limit(scale):
    weights = fornberg.fd_weights([-1.0, 0.0, 1.0, 2.0], 0.0, 1)
    return np.dot(weights, scale * np.array([1.0, 2.0, 4.0, 8.0]) ** 1.5)


@package.call(0.3)
def weights_at(x):
    return fornberg.fd_weights([-1.0, 0.0, 1.0, 2.0], x, 2)
