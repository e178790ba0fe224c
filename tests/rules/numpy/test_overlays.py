"""The bodies that stand in for NumPy's own code give NumPy's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules.numpy import overlays, padding
from adbc.rules.table import Overlay
from adbc.testing import test_rule as check_rule

ROWS = [*overlays.ROWS, *padding.ROWS]

X = np.array([0.4, 1.5, -0.3, 2.0, 0.9, 0.1])
A = X.reshape(2, 3)
trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz  # noqa: NPY201  # its name before NumPy 2
CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (trapezoid, (X,), {"dx": 0.5}),
    (trapezoid, (A, [0.0, 1.0, 3.0]), {}),
    (trapezoid, (A, [0.0, 2.0]), {"axis": 0}),
    (np.append, (X, 2.0), {}),
    (np.real_if_close, (X,), {}),
    (np.real_if_close, (A + 1j,), {}),
    (np.real_if_close, (A * (1 + 1e-15j),), {}),
    (np.real_if_close, (A * (1 + 1e-3j),), {"tol": 0.1}),
    (np.append, (A, A), {"axis": 1}),
    (np.broadcast_arrays, (X, 2.5), {}),
    (np.meshgrid, (X, A[0]), {}),
    (np.meshgrid, (X, A[0], A[1]), {"indexing": "ij"}),
    (np.meshgrid, (X, A[0]), {"sparse": True}),
    (np.select, ([X < 0.3, X < 1.0], [X, X**2]), {}),
    (np.select, ([X < 0.3, X < 1.0], [X, X**2]), {"default": 3.0}),
    (np.cov, (A,), {}),
    (np.cov, (X, X[::-1]), {"ddof": 0}),
    (np.cov, (A.T,), {"rowvar": False}),
    (np.corrcoef, (A,), {}),
    (np.corrcoef, (X, X[::-1]), {}),
    (np.linalg.matrix_power, (A[:, :2], 3), {}),
    (np.linalg.matrix_power, (A[:, :2], 0), {}),
    (np.linalg.matrix_power, (A[:, :2], -2), {}),
    (np.linalg.tensorsolve, (np.kron(A[:, :2], A[:, 1:]).reshape(2, 2, 2, 2), A[:, :2]), {}),
    (np.linalg.tensorsolve, (np.kron(A[:, :2], A[:, 1:]).reshape(4, 2, 2), X[:4]), {"axes": [1]}),
    (np.choose, ([0, 1, 1], [X[0], A[0, :3]]), {}),
    (np.choose, ([[0, 5, -1]], (X[0], A[0, :3], 2)), {"mode": "wrap"}),
    (np.choose, (np.array(1), [X[0], 3.0]), {"mode": "clip"}),
    (np.ndarray.choose, (np.array([0, 1, 1]), [X[0], A[0, :3]]), {}),
    (np.vecdot, (A * 1j, A), {}),
    (np.vecdot, (A, A), {"axis": 0}),
    (np.matvec, (A[:, :2], X[:2]), {}),
    (np.vecmat, (X[:2] * 1j, A[:2]), {}),
    (np.pad, (X, 2), {}),
    (np.pad, (A, ((1, 0), (2, 3))), {"constant_values": 1.5}),
    (np.pad, (A, ((1, 0), (2, 3))), {"constant_values": ((1.5, 2.5), (3.5, 4.5))}),
    (np.apply_along_axis, (np.cumsum, 0, A), {}),
    (np.apply_along_axis, (np.sum, 1, A), {}),
    *((np.pad, (A, ((1, 0), (2, 3))), {"mode": mode}) for mode in ("edge", "wrap", "reflect", "symmetric")),
    *((np.convolve, (X, A[0], mode), {}) for mode in ("full", "same", "valid")),
    *((np.convolve, (A[0], X, mode), {}) for mode in ("full", "same", "valid")),
    *((np.correlate, (X, A[0], mode), {}) for mode in ("full", "same", "valid")),
]


@pytest.mark.parametrize("function, args, kwargs", CASES, ids=lambda x: getattr(x, "__name__", None))
def test_a_body_gives_the_value_of_what_it_stands_in_for(function: Any, args: Any, kwargs: Any) -> None:
    (body,) = [row.body for row in ROWS if row.function is function]
    expected, found = function(*args, **kwargs), body(*args, **kwargs)
    if isinstance(expected, tuple):
        assert type(found) is tuple and len(found) == len(expected)
        for x, y in zip(expected, found, strict=True):
            np.testing.assert_array_equal(x, y)
    else:
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_every_body_has_a_case() -> None:
    bodies = {row.function for row in ROWS if isinstance(row, Overlay)}
    assert bodies <= {case[0] for case in CASES}


def test_solutions_that_are_tensors() -> None:
    a = np.kron(A[:, :2], A[:, 1:])
    for _ in range(5):
        check_rule(lambda a, b: np.linalg.tensorsolve(a, b), a.reshape(2, 2, 2, 2), A[:, :2])
    check_rule(lambda a, b: np.linalg.tensorsolve(a, b, axes=(1,)), a.reshape(4, 2, 2).astype(complex), X[:4])
    with pytest.raises(np.linalg.LinAlgError, match="must satisfy the requirement"):
        adbc.grad(lambda a: np.linalg.tensorsolve(a, X[:2]).sum())(a.reshape(2, 8))


def test_real_if_close() -> None:
    x = np.array([0.3, 0.7])
    check_rule(lambda x: np.real_if_close(x), x, order=2)
    check_rule(lambda x: np.real_if_close(x), x + 1j)
    check_rule(lambda x: np.real_if_close(x + 0j), x)
    check_rule(lambda x: np.real_if_close(x * (1 + 1e-3j), tol=0.1), x)
    check_rule(lambda x: np.real_if_close([x, 2.0]), 0.3)

    def written(x: Any) -> Any:
        x = 1.0 * x
        same = np.real_if_close(x)
        same *= 2
        return x.sum()

    np.testing.assert_allclose(adbc.grad(written)(x), 2.0)
