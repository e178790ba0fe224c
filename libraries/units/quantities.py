"""quantities: arrays with units."""

import numpy as np
import quantities as pq

from libraries.package import Package

package = Package("quantities")


@package.call(3.0)
def length(metres):
    return float((metres * pq.m).rescale("ft").magnitude)


@package.call(np.array([1.0, 2.0]))
def energy(speeds):
    return (0.5 * 2.0 * pq.kg * (speeds * pq.m / pq.s) ** 2).rescale(pq.J).magnitude


@package.call(1.5)
def factor_of_units(x):
    ratio = float((1 * pq.mile).rescale(pq.km).magnitude)
    return ratio * x**2


@package.call(2.0)
def constant(x):
    return x / float(pq.c.rescale("km/s").magnitude) * 1e5
