"""opt_einsum: contractions in a good order."""

import numpy as np
import opt_einsum as oe

from libraries.package import Package

package = Package("opt_einsum")

rng = np.random.default_rng(0)
A, B, C = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 2))


@package.call(A, B)
def product_of_three(a, b):
    return oe.contract("ij,jk,kl->il", a, b, C)


@package.call(A)
def trace(a):
    return oe.contract("ij,jk,ki->", a, B, C)


@package.call(A)
def with_an_expression(a):
    expression = oe.contract_expression("ij,jk,kl->il", (2, 3), B, C, constants=[1, 2])
    return expression(a)


@package.call(1.3)
def prepared(scale):
    path, _ = oe.contract_path("ij,jk,kl->il", A, B, C)
    return oe.contract("ij,jk,kl->il", scale * A, B, scale * C, optimize=path)


@package.call(A)
def shared(a):
    with oe.shared_intermediates():
        return oe.contract("ij,jk->ik", a, B).sum() + oe.contract("ij,jk,kl->", a, B, C)
