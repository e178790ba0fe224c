"""tensorly: products and decompositions of tensors."""

import numpy as np
import tensorly as tl
from tensorly.cp_tensor import cp_norm, cp_to_tensor
from tensorly.metrics import MSE, congruence_coefficient
from tensorly.tenalg import khatri_rao, kronecker, mode_dot, multi_mode_dot, outer
from tensorly.tucker_tensor import tucker_to_tensor

from libraries.package import Package

package = Package("tensorly")

rng = np.random.default_rng(1)
TENSOR = rng.normal(size=(2, 3, 2))
A, B, C = rng.normal(size=(2, 2)), rng.normal(size=(3, 2)), rng.normal(size=(2, 2))


@package.call(TENSOR)
def unfolded(tensor):
    return tl.unfold(tensor, 1) * np.arange(4.0)


@package.call(TENSOR, A)
def product_of_a_mode(tensor, matrix):
    return mode_dot(tensor, matrix, 0)


@package.call(TENSOR)
def products_of_modes(tensor):
    return multi_mode_dot(tensor, [A, B.T, C])


@package.call(A, B)
def columnwise(a, b):
    return khatri_rao([a, b]), kronecker([a, b])


@package.call(np.array([1.5, 0.5]), A, B)
def sum_of_products(weights, a, b):
    return cp_to_tensor((weights, [a, b, C]))


@package.call(A, B)
def norm_of_a_sum(a, b):
    return cp_norm((np.ones(2), [a, b, C]))


@package.call(rng.normal(size=(2, 2, 2)))
def from_a_core(core):
    return tucker_to_tensor((core, [A, B, C]))


@package.call(TENSOR)
def metrics(tensor):
    return MSE(tensor, TENSOR + 0.1), tl.norm(tensor, 2)


@package.call(np.array([1.0, 2.0]), np.array([0.5, -1.0, 3.0]))
def outer_product(a, b):
    return outer([a, b])


@package.call(B)
def congruence(b):
    return congruence_coefficient(b, B + 0.1 * np.arange(6.0).reshape(3, 2))[0]
