"""What SciPy raises for arguments that do not fit is raised by the rules that stand for it, in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, linalg, signal
from scipy.spatial import distance

import adbc

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(6, 4))
Q, R = linalg.qr(TALL)
D, E = RNG.normal(size=5), RNG.normal(size=4)
PLACES = np.arange(5.0)

WRONG: dict[str, Callable[[Any], Any]] = {
    "a row that there is not": lambda t: linalg.qr_delete(Q * t, R, 6, 1),
    "no rows": lambda t: linalg.qr_delete(Q * t, R, 0, 0),
    "a factor of one axis": lambda t: linalg.qr_delete(np.array([]) * t, R, 0, 1),
    "a driver for eigenvalues alone": lambda t: linalg.eigh_tridiagonal(D * t, E, lapack_driver="sterf"),
    "a diagonal that is too short": lambda t: linalg.eigvalsh_tridiagonal(D * t, E[:-1]),
    "a complex diagonal": lambda t: linalg.eigvalsh_tridiagonal(D * t, E * 1j),
    "a driver that is no text": lambda t: linalg.eigvalsh_tridiagonal(D * t, E, lapack_driver=1.0),
    "a minor that is singular": lambda t: linalg.solve_toeplitz(np.array([0.0, 1.0, 2.0]) * t, np.ones(3)),
    "two values to fill with": lambda t: signal.convolve2d([[t]], [[1, 2]], fillvalue=[1, 2]),
    "a vector for an image": lambda t: signal.convolve2d([t, t], [1, 2]),
    "an unknown boundary": lambda t: signal.convolve2d([[t]], [[1, 2]], boundary="no"),
    "an unknown mode": lambda t: signal.correlate2d([[t]], [[1, 2]], mode="no"),
    "a place of another shape": lambda t: distance.cdist(TALL * t, TALL, out=np.zeros((6, 5))),
    "another number of columns": lambda t: distance.cdist(TALL * t, TALL[:, :1]),
    "a place by columns": lambda t: distance.cdist(TALL * t, TALL, out=np.zeros((6, 6)).T),
    "one point": lambda t: distance.pdist(TALL[0] * t),
    "a place that is too short": lambda t: distance.pdist(TALL * t, out=np.zeros(4)),
    "places out of order": lambda t: interpolate.RectBivariateSpline(
        PLACES, PLACES, np.outer(PLACES, PLACES) * t
    )([1.0, 0.5], [1.0]),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_is_that_of_scipy(name: str) -> None:
    f = WRONG[name]
    with pytest.raises((ValueError, TypeError)) as plain:
        f(1.1)
    begin = str(plain.value).rstrip(".")
    for derivative in (lambda: adbc.jvp(f, (1.1,), (1.0,)), lambda: adbc.vjp(f, 1.1)):
        with pytest.raises(plain.type) as found:
            derivative()
        assert str(found.value).startswith(begin)


def test_what_is_right_is_as_before() -> None:
    """Empty matrices of complex numbers, and places in order."""
    empty = np.zeros((0, 0), complex)
    assert adbc.jvp(lambda t: linalg.eig(empty * t)[0].sum().real + t, (1.1,), (1.0,)) == (1.1, 1.0)
    spline = lambda t: interpolate.RectBivariateSpline(PLACES, PLACES, np.outer(PLACES, PLACES) * t)  # noqa: E731
    assert adbc.grad(lambda t: spline(t)([0.5, 0.5, 1.0], [2.0]).sum())(1.1) == pytest.approx(4.0)
