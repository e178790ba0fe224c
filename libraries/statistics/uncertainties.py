"""uncertainties: numbers with standard deviations."""

import numpy as np
import uncertainties
from uncertainties import ufloat, umath, unumpy

from libraries.package import Package

package = Package("uncertainties")


@package.call(2.0, 0.1)
def product(value, deviation):
    found = ufloat(value, deviation) * ufloat(3.0, 0.2)
    return found.nominal_value, found.std_dev


@package.call(0.5, 0.05)
def of_a_sine(value, deviation):
    found = umath.sin(ufloat(value, deviation))
    return found.n, found.s


@package.call(9.81, 0.02)
def pendulum(gravity, deviation):
    length = ufloat(0.994, 0.001)
    period = 2 * np.pi * umath.sqrt(length / ufloat(gravity, deviation))
    return period.n, period.s


@package.call(1.5, 0.2)
def correlated(value, deviation):
    x = ufloat(value, deviation)
    y = x**2 + x
    return (y - x * x).s, y.s


@package.call(np.array([1.0, 2.0, 3.0]))
def arrays(values):
    found = unumpy.uarray(values, [0.1, 0.2, 0.3])
    return unumpy.nominal_values(found * 2.0).sum(), unumpy.std_devs(found * 2.0)


@package.call(2.0, 0.3)
def covariance(value, deviation):
    x = ufloat(value, deviation)
    return uncertainties.covariance_matrix([x, 2.0 * x + 1.0, x**2])[0][2]


@package.call(3.0)
def parsed(scale):
    length = uncertainties.ufloat_fromstr("12.34+/-0.05")
    return (scale * length**2).s


@package.call(2.0, 0.1)
def wrapped(value, deviation):
    @uncertainties.wrap
    def cube(x):
        return x**3

    return cube(ufloat(value, deviation)).n
