"""Programs written anew for systems that cannot run the source of a workload: they never write to arrays."""

from __future__ import annotations

from typing import Any

import numpy

__all__ = ["FUNCTIONAL", "gaussian_mixture", "heat_plane", "heat_slices"]


def gaussian_mixture(np: Any) -> Any:
    """Triangular matrices as sums over a basis, columns put together at the end."""

    def log_sum_exp(x: Any) -> Any:
        highest = np.max(x, axis=-1, keepdims=True)
        return np.log(np.sum(np.exp(x - highest), axis=-1)) + highest[..., 0]

    def objective(
        alphas: Any, means: Any, factors: Any, x: Any, gamma: float, degrees: int, basis: Any
    ) -> Any:
        n, d = x.shape
        columns = []
        for i in range(len(alphas)):
            root = np.diag(np.exp(factors[i, :d])) + np.reshape(factors[i, d:] @ basis, (d, d))
            z = (x - means[i]) @ root.T
            columns.append(alphas[i] + np.sum(factors[i, :d]) - 0.5 * np.sum(z**2, axis=1))
        terms = np.stack(columns, axis=1)
        likelihood = np.sum(log_sum_exp(terms)) - n * log_sum_exp(alphas)
        squares = np.sum(np.exp(2.0 * factors[:, :d])) + np.sum(factors[:, d:] ** 2)
        return likelihood + 0.5 * gamma**2 * squares - degrees * np.sum(factors[:, :d])

    return objective


def with_basis(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, and the matrices that are 1 at one place below the diagonal, flat."""
    d = arguments[3].shape[1]
    rows, columns = numpy.tril_indices(d, -1)
    basis = numpy.zeros((len(rows), d * d))
    basis[numpy.arange(len(rows)), rows * d + columns] = 1.0
    return (*arguments, basis)


def heat_plane(np: Any) -> Any:
    def heat(u: Any, k: float, steps: int) -> Any:
        for _ in range(steps):
            inner = u[1:-1, 1:-1]
            inner = inner + k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * inner)
            middle = np.concatenate((u[1:-1, :1], inner, u[1:-1, -1:]), axis=1)
            u = np.concatenate((u[:1], middle, u[-1:]), axis=0)
        return np.sum(u**2)

    return heat


def heat_slices(np: Any) -> Any:
    def heat(u: Any, k: float, steps: int) -> Any:
        for _ in range(steps):
            inner = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            u = np.concatenate((u[:1], inner, u[-1:]))
        return np.sum(u)

    return heat


FUNCTIONAL = {
    "gaussian_mixture": gaussian_mixture,
    "heat_plane": heat_plane,
    "heat_slices": heat_slices,
}
"""Versions that never write to an array, by the name of the program."""
