"""Determinants: the matrix of their derivatives, of any order, for singular matrices too."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.products import adjoint
from adbc.rules.stopping import stop_gradient
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS", "cofactors", "det_jvp", "det_vjp"]

_GOOD = 1e6
"""The condition of a matrix from which on its inverse is not used where that is differentiated."""
_SMALL = 1e-5
"""What singular values are small, as a part of the largest."""


def cofactors(a: Any, det: Any) -> Any:
    """The matrix of cofactors, d det / d a: right for singular matrices too."""
    if np.all(np.abs(det) > 0):
        return np.asarray(det)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    u, s, v = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s[..., :-1], axis=-1)], axis=-1)
    after = np.flip(np.cumprod(np.flip(s[..., 1:], -1), axis=-1), -1)
    others = before * np.concatenate([after, ones], axis=-1)
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(v))[..., None, None]
    return sign * np.matmul(conj(u) * others[..., None, :], conj(v))


def _followed(a: Any, det: Any) -> Any:
    """`cofactors` for derivatives of them: what stands there is the derivative of a sum of products.

    Singular vectors are not smooth where singular values are zero, and ``det(a) * inv(a)`` loses all digits
    of its derivative where `a` is nearly singular: terms of the size 1 / det(a) cancel there.
    """
    if np.ndim(a) > 2:
        parts = [_followed(x, d) for x, d in zip(a, np.asarray(det), strict=True)]
        return np.stack(parts) if parts else a * 0.0
    if len(a) < 2:
        return np.ones_like(a)
    if _is_good(stop_gradient(a)):
        return det * np.transpose(np.linalg.inv(a))
    return _in_parts(a)


def _is_good(a: Any) -> bool:
    """Whether the inverse of `a` may be used."""
    s = np.linalg.svd(a, compute_uv=False)
    return bool(s[-1] * _GOOD > s[0])


def _in_parts(a: Any) -> Any:
    """The cofactors of a matrix with small singular values.

    With the singular vectors as constants, ``b = u^H a v^H`` has a block with the large singular values,
    b_11, that can be inverted, and ``det(a) = det(u) det(v) det(b_11) det(s)``, where the complement ``s =
    b_22 - b_21 b_11^-1 b_12`` is a smaller matrix, with the small ones.
    """
    u, values, v = np.linalg.svd(stop_gradient(a))
    k = max(1, min(len(values) - 1, int(np.sum(values > _SMALL * values[0]))))
    unit = np.linalg.det(u) * np.linalg.det(v)
    b = np.matmul(np.matmul(adjoint(u), a), adjoint(v))
    if not values[0]:
        inner = np.transpose(_minors(b))
    else:
        block = b[:k, :k]
        inverse = np.linalg.inv(block)
        right, left = np.matmul(inverse, b[:k, k:]), np.matmul(b[k:, :k], inverse)
        rest = b[k:, k:] - np.matmul(b[k:, :k], right)
        of_rest = np.linalg.det(rest)
        adjugate = np.transpose(cofactors(rest, of_rest))
        corner = np.matmul(right, adjugate)
        above = np.concatenate([of_rest * inverse + np.matmul(corner, left), -corner], axis=1)
        below = np.concatenate([-np.matmul(adjugate, left), adjugate], axis=1)
        inner = np.linalg.det(block) * np.concatenate([above, below], axis=0)
    return unit * np.transpose(np.matmul(np.matmul(adjoint(v), inner), adjoint(u)))


def _minors(a: Any) -> Any:
    """The cofactors of a matrix of zeros, of which no block can be inverted, each as a determinant."""
    n = len(a)
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            minor = np.concatenate([a[:i], a[i + 1 :]], axis=0)
            minor = np.concatenate([minor[:, :j], minor[:, j + 1 :]], axis=1)
            row.append((-1.0) ** (i + j) * np.linalg.det(minor))
        rows.append(np.stack(row))
    return np.stack(rows)


def det_jvp(d: Any, y: Any, a: Any) -> Any:
    c = cofactors(a, y)
    return np.sum(np.where(d == 0, 0, c * d), axis=(-2, -1))  # zero wins: cofactors may be infinite


def det_vjp(by: Any, y: Any, a: Any) -> Any:
    by = np.asarray(by)[..., None, None]
    return np.where(by == 0, 0, conj(cofactors(a, y)) * by)


ROWS: list[Rule] = [Overlay(cofactors, _followed)]
