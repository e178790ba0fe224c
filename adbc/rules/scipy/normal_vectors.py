"""``scipy.stats``: the normal distribution of vectors, by the place, the mean and the covariance matrix.

With the precision P, the inverse of the covariance matrix, and s = P (x - mean), the derivatives of the
logarithm of the density are -s by x, s by the mean and (s s^T - P) / 2 by the covariance matrix; that of the
entropy by the matrix is P / 2.  SciPy reads the lower triangle of the matrix, and so do these.

A singular matrix, where it is allowed, has its pseudo-inverse for P, as long as it keeps its rank.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from scipy import stats

from adbc.rules.numpy.base import plain
from adbc.rules.scipy.base import FormulaRule
from adbc.rules.table import Rule

__all__ = ["ROWS"]

_CLASS = type(stats.multivariate_normal)

_SAFE = 1e9
"""Below this condition number SciPy takes no eigenvalue of a matrix for zero."""

_ZERO = 1e6 * np.finfo(float).eps
"""What part of the largest eigenvalue SciPy takes for zero."""


def _dimension(mean: Any, cov: Any) -> int:
    if mean is not None:
        return int(np.size(mean))
    return 1 if np.ndim(cov) < 2 else int(np.shape(cov)[0])


def _below(n: int, start: int) -> Any:
    """The mask of what stands in `n` rows and columns at least `start` places below the diagonal."""
    places = np.arange(n)
    return places[:, None] - start >= places


def _matrix(cov: Any, n: int) -> Any:
    """The matrix that a number, the diagonal, or the lower triangle of a matrix stand for."""
    cov = np.asarray(1.0 if cov is None else cov, dtype=float)
    if n == 1:
        return np.reshape(cov, (1, 1))
    if np.ndim(cov) == 2:
        return np.where(_below(n, 0), cov, cov.T)
    return cov * np.eye(n)


def _as_given(slope: Any, cov: Any, n: int) -> Any:
    """The cotangent of what was given for a matrix whose cotangent is the symmetric `slope`."""
    if n == 1:
        return np.reshape(slope, np.shape(cov))
    if np.ndim(cov) == 2:
        return np.where(_below(n, 0), slope, 0.0) + np.where(_below(n, 1), slope, 0.0)
    return np.trace(slope) if np.ndim(cov) == 0 else np.diagonal(slope)


def _inverse_of_rank(matrix: Any) -> Any:
    """The inverse of a symmetric matrix, but for the eigenvalues that SciPy takes for zero."""
    inverse = None
    with contextlib.suppress(np.linalg.LinAlgError):
        inverse = np.linalg.inv(matrix)
    if inverse is not None and np.vdot(matrix, matrix) * np.vdot(inverse, inverse) < _SAFE**2:
        return inverse
    return np.linalg.pinv(matrix, rcond=_ZERO, hermitian=True)


def _deviations(x: Any, mean: Any, cov: Any) -> tuple[Any, Any]:
    """The covariance matrix, and what is to be multiplied by its inverse, in rows."""
    n = _dimension(mean, cov)
    rows = np.reshape(np.asarray(x, dtype=float), (-1, n))
    return _matrix(cov, n), rows if mean is None else rows - np.reshape(np.asarray(mean, dtype=float), n)


def _scaled(x: Any, mean: Any, cov: Any, allow_singular: Any = False) -> Any:
    """The precision times the deviations, in rows."""
    matrix, rows = _deviations(x, mean, cov)
    if allow_singular:
        return rows @ _inverse_of_rank(matrix)
    return np.linalg.solve(matrix, rows.T).T


def _parts(x: Any, mean: Any, cov: Any, allow_singular: Any = False) -> tuple[int, Any, Any]:
    """The dimension, the precision, and the precision times the deviations."""
    matrix, rows = _deviations(x, mean, cov)
    precision = _inverse_of_rank(matrix) if allow_singular else np.linalg.inv(matrix)
    return _dimension(mean, cov), precision, rows @ precision


def _row(name: str, is_log: bool) -> Rule:
    def weighted(d: Any, out: Any, allow_singular: Any = False) -> Any:
        if not is_log:
            return out * d
        if allow_singular:
            return np.where(np.isinf(out), 0.0, d)  # where a singular matrix has no density
        return d

    def along_x(d: Any, out: Any, self: Any, x: Any, mean: Any = None, cov: Any = 1, **others: Any) -> Any:
        s = _scaled(x, mean, cov, **others)
        slopes = -np.sum(s * np.reshape(d, s.shape), 1)
        return weighted(np.reshape(slopes, np.shape(out)), out, **others)

    def along_mean(d: Any, out: Any, self: Any, x: Any, mean: Any, cov: Any = 1, **others: Any) -> Any:
        s = _scaled(x, mean, cov, **others)
        return weighted(np.reshape(s @ np.reshape(d, -1), np.shape(out)), out, **others)

    def along_cov(d: Any, out: Any, self: Any, x: Any, mean: Any = None, cov: Any = 1, **others: Any) -> Any:
        n, precision, s = _parts(x, mean, cov, **others)
        d = _matrix(d, n)
        slopes = np.sum((s @ d) * s, 1) - np.sum(precision * d)
        return weighted(np.reshape(slopes / 2, np.shape(out)), out, **others)

    def against_x(by: Any, out: Any, self: Any, x: Any, mean: Any = None, cov: Any = 1, **others: Any) -> Any:
        s = _scaled(x, mean, cov, **others)
        return np.reshape(np.reshape(weighted(by, out, **others), (-1, 1)) * -s, np.shape(x))

    def against_mean(by: Any, out: Any, self: Any, x: Any, mean: Any, cov: Any = 1, **others: Any) -> Any:
        s = _scaled(x, mean, cov, **others)
        return np.reshape(np.reshape(weighted(by, out, **others), -1) @ s, np.shape(mean))

    def against_cov(
        by: Any, out: Any, self: Any, x: Any, mean: Any = None, cov: Any = 1, **others: Any
    ) -> Any:
        n, precision, s = _parts(x, mean, cov, **others)
        by = np.reshape(weighted(by, out, **others), -1)
        return _as_given((s.T @ (by[:, None] * s) - np.sum(by) * precision) / 2, cov, n)

    return FormulaRule(
        getattr(_CLASS, name),
        jvp=[None, along_x, along_mean, along_cov],
        vjp=[None, against_x, against_mean, against_cov],
        name=f"scipy.stats.multivariate_normal.{name}",
        when=_is_matrix,
    )


def _is_matrix(self: type, *others: type) -> bool:
    return self is _CLASS and plain(*others) and not any(issubclass(cls, stats.Covariance) for cls in others)


def _entropy_along(d: Any, out: Any, self: Any, mean: Any = None, cov: Any = 1) -> Any:
    n = _dimension(mean, cov)
    return np.sum(_inverse_of_rank(_matrix(cov, n)) * _matrix(d, n)) / 2


def _entropy_against(by: Any, out: Any, self: Any, mean: Any = None, cov: Any = 1) -> Any:
    n = _dimension(mean, cov)
    return _as_given(_inverse_of_rank(_matrix(cov, n)) * (by / 2), cov, n)


def _zero_along(d: Any, out: Any, self: Any, mean: Any = None, cov: Any = 1) -> Any:
    return np.zeros(())


def _zero_against(by: Any, out: Any, self: Any, mean: Any = None, cov: Any = 1) -> Any:
    return np.zeros(np.shape(mean))


_ENTROPY = FormulaRule(
    _CLASS.entropy,
    jvp=[None, _zero_along, _entropy_along],
    vjp=[None, _zero_against, _entropy_against],
    name="scipy.stats.multivariate_normal.entropy",
    when=_is_matrix,
).by_example()

ROWS: list[Rule] = [_row("pdf", False), _row("logpdf", True), _ENTROPY]
