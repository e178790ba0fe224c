"""toolz: functions on functions, dicts and sequences."""

import operator

import toolz
from toolz import curried

from libraries.package import Package

package = Package("toolz")


@package.call(1.3)
def piped(x):
    return toolz.pipe(x, lambda v: v * v, curried.partial(operator.add, 2.0), lambda v: v**0.5)


@package.call(1.3)
def composed(x):
    return toolz.compose(lambda v: v + 1.0, lambda v: v**3)(x)


@package.call(1.3, 0.4)
def curried_function(x, y):
    @toolz.curry
    def blend(a, b, c):
        return a * b + c

    return blend(2.0)(x)(y)


@package.call([1.0, 2.5, 0.5, 3.0])
def accumulated(values):
    return list(toolz.accumulate(operator.mul, values))


@package.call([1.0, 2.5, 0.5, 3.0])
def grouped(values):
    groups = toolz.groupby(lambda value: value > 1.5, values)
    return {True: 2.0, False: 1.0}[True] * sum(groups[True]) ** 2 + sum(groups[False])


@package.call([1.0, 2.5, 0.5])
def merged(values):
    total = toolz.merge_with(sum, {"a": values[0], "b": values[1]}, {"a": values[2] ** 2})
    return total["a"] * total["b"]


@package.call(1.2)
def iterated(x):
    return toolz.nth(2, toolz.iterate(lambda v: 0.5 * (v + 2.0 / v), x))


@package.call([1.0, 2.5, 0.5, 3.0])
def sliding(values):
    return sum(a * b * c for a, b, c in toolz.sliding_window(3, values))


@package.call(0.7)
def nested_settings(x):
    settings = toolz.assoc_in({"gain": {"low": 1.0}}, ["gain", "high"], x)
    return toolz.get_in(["gain", "high"], settings) ** 2 + toolz.get_in(["gain", "low"], settings) * x
