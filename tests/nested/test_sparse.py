"""Sparse Jacobians, and derivatives in the form that SciPy's solvers take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc

scipy = pytest.importorskip("scipy")

import adbc.scipy  # noqa: E402  # SciPy is there
from adbc.sparse import colouring  # noqa: E402  # SciPy is there

V = np.array([0.5, 1.5, -0.7, 0.2, 1.1, -0.3])


def chain(x: Any, k: float = 1.0) -> Any:
    return np.sin(x[1:-1]) * x[:-2] + k * x[2:] ** 2


def test_columns_of_one_colour_have_no_row_in_common() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        pattern = rng.random((12, 9)) < 0.25
        rows, columns = np.nonzero(pattern)
        colours = colouring(rows, columns, 9)
        for colour in range(colours.max() + 1):
            assert (pattern[:, colours == colour].sum(axis=1) <= 1).all()
    band = np.abs(np.subtract.outer(np.arange(50), np.arange(50))) <= 1
    assert colouring(*np.nonzero(band), 50).max() == 2


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_sparse_jacobians_are_the_dense_ones(mode: str | None) -> None:
    pattern = adbc.sparsity(chain, V)
    assert pattern.shape == (4, 6) and pattern.nnz == 12
    found = adbc.sparse_jacobian(chain, pattern, mode)(V, k=2.0)
    np.testing.assert_allclose(found.toarray(), adbc.jacfwd(chain)(V, k=2.0), rtol=1e-13)
    dense = adbc.sparse_jacobian(chain, np.ones((4, 6)), mode)(V)
    np.testing.assert_allclose(dense.toarray(), adbc.jacfwd(chain)(V), rtol=1e-13)
    with pytest.raises(adbc.errors.ArgumentError, match="vectors of 6 floats"):
        adbc.sparse_jacobian(chain, pattern, mode)(V[1:])
    with pytest.raises(adbc.errors.ArgumentError, match="its value"):
        adbc.sparse_jacobian(chain, np.ones((3, 6)), mode)(V)


def rosenbrock(x: Any, a: float = 100.0) -> Any:
    return np.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_sparse_hessians_are_the_dense_ones() -> None:
    band = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1
    found = adbc.sparse_hessian(rosenbrock, band)(V).toarray()
    np.testing.assert_allclose(found, adbc.hessian(rosenbrock)(V), rtol=1e-12)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact", "trust-krylov"])
def test_minimisers(method: str) -> None:
    from scipy.optimize import minimize

    how = adbc.scipy.for_minimize(
        rosenbrock, hess=method == "trust-exact", hessp=method in ("Newton-CG", "trust-krylov")
    )
    found = minimize(x0=np.zeros(3), args=(20.0,), method=method, **how)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)
    assert found.nfev < minimize(rosenbrock, np.zeros(3), (20.0,), method="BFGS").nfev


def test_roots_and_residuals() -> None:
    from scipy.optimize import least_squares, root

    def residuals(p: Any, t: Any) -> Any:
        return p[0] * np.exp(-p[1] * t) - 2.0 * np.exp(-3.0 * t)

    t = np.linspace(0.0, 1.0, 9)
    found = least_squares(x0=np.ones(2), args=(t,), **adbc.scipy.for_least_squares(residuals))
    np.testing.assert_allclose(found.x, [2.0, 3.0], rtol=1e-6)

    def equations(x: Any) -> Any:
        return np.array([x[0] + x[1] - 3.0, x[0] * x[1] - 2.0])

    found = root(x0=np.array([0.0, 5.0]), **adbc.scipy.for_root(equations))
    np.testing.assert_allclose(found.x, [1.0, 2.0], rtol=1e-6)


def test_stiff_equations_take_fewer_evaluations() -> None:
    from scipy.integrate import solve_ivp

    calls = []

    def robertson(t: float, y: Any) -> Any:
        calls.append(t)
        a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return np.array([-a + b, a - b - c, c])

    given = {"t_span": (0.0, 40.0), "y0": [1.0, 0.0, 0.0], "method": "BDF", "rtol": 1e-6, "atol": 1e-10}
    how = adbc.scipy.for_solve_ivp(robertson)
    with adbc.use(adbc.Config()):
        how["jac"](0.0, np.ones(3))  # what building it calls is not counted
        calls.clear()
        ours = solve_ivp(**given, **how)
    count = len(calls)
    theirs = solve_ivp(fun=robertson, **given)
    np.testing.assert_allclose(ours.y[:, -1], theirs.y[:, -1], rtol=1e-4)
    assert ours.njev and count < len(calls) - count


def test_unknowns_of_any_structure() -> None:
    from scipy.optimize import minimize

    def cost(p: Any, k: float) -> Any:
        return ((p["w"] - np.arange(3.0)) ** 2).sum() * k + (p["b"] - 2.0) ** 2

    g, start, back = adbc.scipy.unknowns(cost, {"w": np.zeros(3), "b": 0.0})
    found = back(minimize(x0=start, args=(2.0,), **adbc.scipy.for_minimize(g)).x)
    np.testing.assert_allclose(found["w"], np.arange(3.0), atol=1e-5)
    assert found["b"] == pytest.approx(2.0, abs=1e-5)
