"""Functions of matrices in ``scipy.linalg``, and the matrix equations of Sylvester, Lyapunov and Stein.

The derivative of f at A in the direction E stands in f of the block matrix [[A, E], [0, A]], above its
diagonal (Mathias 1996); its adjoint is the derivative at the adjoint of A.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from adbc.errors import UnsupportedError
from adbc.rules.numpy.products import adjoint
from adbc.rules.scipy.base import FormulaRule, bodies
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


def _frechet(a: Any, e: Any) -> Any:
    if np.ndim(a) == 0:  # the matrix of one number
        return np.reshape(np.exp(a) * e, (1, 1) if np.ndim(e) == 0 else ())
    if a.ndim > 2:
        return np.stack([_frechet(x, y) for x, y in zip(a, e, strict=True)])
    if np.iscomplexobj(e) and not np.iscomplexobj(a):
        a = a.astype(complex)
    return linalg.expm_frechet(a, e, compute_expm=False)


def random_state() -> Any:
    """The state of the generator that SciPy takes."""
    return np.random.get_state()  # noqa: NPY002


def put_random_state(state: Any) -> None:
    """Let that generator go on from `state`."""
    np.random.set_state(state)  # noqa: NPY002


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, without warnings: of the matrix itself the user has been warned.  Estimates of
    norms draw random numbers, which the function itself would not have drawn."""
    state = random_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args)
    finally:
        put_random_state(state)


def _above_diagonal(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of a function of matrices, at `a` in the direction `e`."""

    def derivative(a: Any, e: Any, *others: Any) -> Any:
        if np.iscomplexobj(e) and not np.iscomplexobj(a):  # the real matrix says which branch is taken
            return derivative(a, e.real, *others) + 1j * derivative(a, e.imag, *others)
        n = a.shape[-1]
        if n == 0:
            return np.zeros_like(e)
        block = np.zeros((*a.shape[:-2], 2 * n, 2 * n), np.result_type(a, e))
        block[..., :n, :n] = block[..., n:, n:] = a
        block[..., :n, n:] = e
        return _quietly(function, block, *others)[..., :n, n:]

    return derivative


_root_above_diagonal = _above_diagonal(linalg.sqrtm)


def commuted(x: Any, e: Any) -> Any:
    """The solution S of X S + S X = E, by one decomposition of the matrix X."""
    if np.iscomplexobj(e) and not np.iscomplexobj(x):
        x = x.astype(complex)
    t, q = linalg.schur(x)
    inner = adjoint(q) @ e @ q
    (trsyl,) = linalg.get_lapack_funcs(("trsyl",), (t, inner))
    solved, scale, _ = trsyl(t, t, inner)
    return q @ (solved / scale if scale != 1 else solved) @ adjoint(q)


def _commuted_x(by: Any, s: Any, x: Any, e: Any) -> Any:
    w = commuted(adjoint(x), by)
    return -(w @ adjoint(s) + adjoint(s) @ w)


def _by_root(root: Any, e: Any) -> Any | None:
    """The derivative of the root of a matrix in the direction `e`; None if nobody can tell."""
    if root.ndim != 2 or not root.size or not np.isfinite(root).all():
        return None
    s = commuted(root, e)
    rest = np.max(np.abs(root @ s + s @ root - e))
    return s if rest <= 1e-8 * np.max(np.abs(e)) else None


def _root_along(d: Any, y: Any, a: Any, **_: Any) -> Any:
    found = _by_root(y, d)
    return _root_above_diagonal(a, d) if found is None else found


def _root_against(by: Any, y: Any, a: Any, **_: Any) -> Any:
    found = _by_root(adjoint(y), by)
    return _against(_root_above_diagonal, by, a) if found is None else found


def _against(derivative: Callable[..., Any], by: Any, a: Any, *others: Any) -> Any:
    """The adjoint of the derivative at `a`.  It is not the derivative at the adjoint of `a`, where `a` has
    eigenvalues on a branch cut: those of its transpose are on the same side."""
    a = np.asarray(a)
    turned = a if a.ndim == 0 else np.swapaxes(a, -1, -2)
    return np.conjugate(derivative(turned, np.conjugate(by), *others))


def _matrix_function(function: Any, derivative: Callable[..., Any]) -> FormulaRule:
    def along(d: Any, y: Any, a: Any, **_: Any) -> Any:
        return derivative(a, d)

    def against(by: Any, y: Any, a: Any, **_: Any) -> Any:
        return _against(derivative, by, a)

    return FormulaRule(function, jvp=[along], vjp=[against])


def _power_along(d: Any, y: Any, a: Any, t: Any) -> Any:
    return _power(np.asarray(a), d, t)


def _power_against(by: Any, y: Any, a: Any, t: Any) -> Any:
    return _against(_power, by, a, t)


def _power_along_t(d: Any, y: Any, a: Any, t: Any) -> Any:
    return d * (_quietly(linalg.logm, a) @ y)


def _power_against_t(by: Any, y: Any, a: Any, t: Any) -> Any:
    return np.real(np.vdot(_quietly(linalg.logm, a) @ y, by))


_power = _above_diagonal(linalg.fractional_matrix_power)


_DISP = inspect.signature(linalg.funm).parameters["disp"].default


def funm(A: Any, func: Any, disp: Any = _DISP) -> Any:
    """The function `func` of a matrix by its eigenvalues and vectors, which have derivatives."""
    if disp is not _DISP and not disp:
        raise UnsupportedError(
            "scipy.linalg.funm with disp=False",
            "adbc has no rule for the estimate of the error",
            "leave out disp",
        )
    a = np.asarray(A)
    if a.ndim > 2:
        return np.stack([funm(part, func) for part in a])
    values, vectors = np.linalg.eig(a.astype(np.result_type(a, np.complex64)))
    by_vectors = vectors * func(values)
    found = np.linalg.solve(vectors.T, by_vectors.T).T
    # SciPy gives real numbers where what is left of the imaginary parts of a real matrix is rounding.
    unit = np.finfo(found.dtype).eps
    tolerance = unit * (1e6 if unit < 1e-10 else 1e3)
    is_real = np.isrealobj(a) and np.allclose(found.imag, 0.0, atol=tolerance)
    return found.real if is_real else found


# -- A X + X B = Q ---------------------------------------------------------------------------------------


def _sylvester_a(by: Any, x: Any, a: Any, b: Any, q: Any) -> Any:
    return -linalg.solve_sylvester(adjoint(a), adjoint(b), by) @ adjoint(x)


def _sylvester_b(by: Any, x: Any, a: Any, b: Any, q: Any) -> Any:
    return -adjoint(x) @ linalg.solve_sylvester(adjoint(a), adjoint(b), by)


def _sylvester_q(by: Any, x: Any, a: Any, b: Any, q: Any) -> Any:
    return linalg.solve_sylvester(adjoint(a), adjoint(b), by)


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    a = np.asarray(a)
    return linalg.solve_sylvester(a, np.conjugate(a.T), q)


# -- A X A^H - X + Q = 0 ---------------------------------------------------------------------------------


def _stein_a(by: Any, x: Any, a: Any, q: Any, **_: Any) -> Any:
    s = linalg.solve_discrete_lyapunov(adjoint(a), by)
    return s @ a @ adjoint(x) + adjoint(s) @ a @ x


def _stein_q(by: Any, x: Any, a: Any, q: Any, **_: Any) -> Any:
    return linalg.solve_discrete_lyapunov(adjoint(a), by)


def _stein_da(d: Any, x: Any, a: Any, q: Any, **_: Any) -> Any:
    change = d @ x @ adjoint(a)
    return linalg.solve_discrete_lyapunov(a, change + a @ x @ adjoint(d))


# -- Riccati ---------------------------------------------------------------------------------------------


def _check_riccati(e: Any, s: Any, name: str) -> None:
    if e is not None or s is not None:
        raise UnsupportedError(
            f"scipy.linalg.{name} with e or s", "adbc has no rule for that form", "reduce the equation first"
        )


class _Continuous:
    """The derivatives of A^H X + X A - X B R^-1 B^H X + Q = 0: Lyapunov equations of the closed loop."""

    @staticmethod
    def loop(x: Any, a: Any, b: Any, r: Any) -> tuple[Any, Any]:
        gain = np.linalg.solve(r, adjoint(b) @ x)
        return a - b @ gain, gain

    @classmethod
    def along(cls, place: int) -> Any:
        def tangent(
            d: Any, x: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **_: Any
        ) -> Any:
            _check_riccati(e, s, "solve_continuous_are")
            closed, gain = cls.loop(x, a, b, r)
            change = [
                lambda: adjoint(d) @ x + x @ d,
                lambda: -(x @ d @ gain + adjoint(gain) @ adjoint(d) @ x),
                lambda: d,
                lambda: adjoint(gain) @ d @ gain,
            ][place]()
            return linalg.solve_continuous_lyapunov(adjoint(closed), -change)

        return tangent

    @classmethod
    def against(cls, place: int) -> Any:
        def cotangent(
            by: Any, x: Any, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, **_: Any
        ) -> Any:
            _check_riccati(e, s, "solve_continuous_are")
            closed, gain = cls.loop(x, a, b, r)
            z = -linalg.solve_continuous_lyapunov(closed, by)
            both = z + adjoint(z)
            return [
                lambda: x @ both,
                lambda: -x @ both @ adjoint(gain),
                lambda: z,
                lambda: gain @ z @ adjoint(gain),
            ][place]()

        return cotangent


ROWS: list[Rule] = [
    ZeroRule(random_state),
    ZeroRule(put_random_state),
    _matrix_function(linalg.expm, _frechet),
    _matrix_function(linalg.logm, _above_diagonal(linalg.logm)),
    FormulaRule(
        commuted,
        jvp=[lambda d, s, x, e: -commuted(x, d @ s + s @ d), lambda d, s, x, e: commuted(x, d)],
        vjp=[_commuted_x, lambda by, s, x, e: commuted(adjoint(x), by)],
    ),
    FormulaRule(linalg.sqrtm, jvp=[_root_along], vjp=[_root_against]),
    FormulaRule(
        linalg.fractional_matrix_power,
        jvp=[_power_along, _power_along_t],
        vjp=[_power_against, _power_against_t],
    ),
    FormulaRule(
        linalg.solve_sylvester,
        jvp=[
            lambda d, x, a, b, q: -linalg.solve_sylvester(a, b, d @ x),
            lambda d, x, a, b, q: -linalg.solve_sylvester(a, b, x @ d),
            lambda d, x, a, b, q: linalg.solve_sylvester(a, b, d),
        ],
        vjp=[_sylvester_a, _sylvester_b, _sylvester_q],
    ).by_example(),
    FormulaRule(
        linalg.solve_discrete_lyapunov,
        jvp=[_stein_da, lambda d, x, a, q, **_: linalg.solve_discrete_lyapunov(a, d)],
        vjp=[_stein_a, _stein_q],
    ),
    FormulaRule(
        linalg.solve_continuous_are,
        jvp=[_Continuous.along(k) for k in range(4)],
        vjp=[_Continuous.against(k) for k in range(4)],
    ),
    *bodies(
        linalg,
        {
            "solve_continuous_lyapunov": solve_continuous_lyapunov,
            "solve_lyapunov": solve_continuous_lyapunov,
            "funm": funm,
        },
    ),
]
