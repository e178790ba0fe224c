"""mpmath: numbers of any precision, and of the usual one."""

import mpmath
from mpmath import fp, mp

from libraries.package import Package

package = Package("mpmath")


@package.call(0.7)
def gamma_in_floats(x):
    return fp.gamma(1.0 + x)


@package.call(0.7)
def polynomial_in_floats(x):
    return fp.polyval([3.0, 2.0, 1.0], x)


@package.call(1.7)
def zeta_in_floats(x):
    return fp.zeta(1.0 + x)


@package.call(0.7)
def error_function(x):
    return fp.erf(x)


@package.call(0.7)
def in_any_precision(x):
    return float(mp.sin(mp.mpf(x)) ** 2)


@package.call(0.7)
def quadrature_of_a_function(x):
    return fp.quad(lambda t: fp.exp(-x * t) * t, [0.0, 1.0])


@package.call(2.0)
def constant_in_any_precision(x):
    return x * float(mpmath.zeta(3)) + x**2 * float(mp.pi)


@package.call(0.7)
def sum_of_a_series(x):
    return fp.fsum(x**k / fp.factorial(k) for k in range(8))
