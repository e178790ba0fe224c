"""einops: arrays rearranged by words."""

import numpy as np
from einops import einsum, pack, rearrange, reduce, repeat, unpack

from libraries.package import Package

package = Package("einops")

A = np.arange(12.0).reshape(2, 3, 2) ** 0.5


@package.call(A)
def rearranged(values):
    return rearrange(values, "a b c -> (a c) b") ** 2


@package.call(A)
def means(values):
    return reduce(values, "a b c -> b", "mean")


@package.call(A)
def maxima(values):
    return reduce(values, "a (b one) c -> a c one", "max", one=1)


@package.call(np.array([1.0, 2.0]))
def repeated(values):
    return repeat(values, "a -> a k", k=3) * np.arange(6.0).reshape(2, 3)


@package.call(A, np.array([[1.0, -1.0], [0.5, 2.0]]))
def contracted(values, matrix):
    return einsum(values, matrix, "a b c, c d -> a b d")


@package.call(A)
def packed(values):
    flat, shapes = pack([values, values[:, :, 0] ** 2], "a *")
    first, second = unpack(flat, shapes, "a *")
    return first.sum() * second
