"""more-itertools: tools for iterators."""

import more_itertools as mit

from libraries.package import Package

package = Package("more-itertools")


@package.call([1.0, 2.5, 0.5, 3.0])
def moving_products(values):
    return [a * b for a, b in mit.windowed(values, 2)]


@package.call([1.0, 2.5, 0.5, 3.0, 2.0])
def chunks(values):
    return [sum(chunk) ** 2 for chunk in mit.chunked(values, 2)]


@package.call([1.0, 2.5, 0.5], [2.0, -1.0, 4.0])
def dot_product(a, b):
    return mit.dotproduct(a, b)


@package.call([1.0, 2.5, 0.5])
def differences(values):
    return list(mit.difference(values))


@package.call([1.0, 2.5, 0.5, 2.0])
def minimum_and_maximum(values):
    least, most = mit.minmax(values)
    return most - least**2


@package.call([1.0, 2.5, 0.5, 2.0])
def partitioned(values):
    small, large = mit.partition(lambda value: value > 1.5, values)
    return sum(small) * sum(large)


@package.call([1.0, -3.0, 2.0])
def polynomial(coefficients):
    return mit.polynomial_eval(coefficients, 1.7)


@package.call([0.3, 0.9], [1.0, 0.25, 0.5])
def convolved(signal, kernel):
    return list(mit.convolve(signal, kernel))


@package.call(1.1)
def interleaved(x):
    return sum(x**k for k in mit.interleave_longest([1, 3, 5], [2, 4]))
