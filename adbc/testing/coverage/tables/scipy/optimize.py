"""Calls of the functions of ``scipy.optimize``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_O = "scipy.optimize"
_ROOT = "lambda t, a=v[0]: t * t * t + t - a"
_SYSTEM = "lambda t: np.array([t[0] + 0.3 * t[1] ** 2 - v[0], t[1] + np.sin(t[0]) - v[1]])"
_BOWL = "lambda t: np.sum(np.cosh(t - v[:2])) + 0.1 * t[0] * t[1]"
_SLOPE = "lambda t: np.sinh(t - v[:2]) + 0.1 * t[::-1]"
_VALLEY = "lambda t: np.cosh(t - v[0]) + 0.1 * t * t"
_SLIDE = "lambda t: np.exp(t * v[0])"
_RESIDUAL = "lambda t: np.array([t[0] - v[0], t[1] - v[1], 0.3 * t[0] * t[1] - v[2]])"
_JACOBIAN = "lambda t: np.array([[1.0, 0.0], [0.0, 1.0], [0.3 * t[1], 0.3 * t[0]]])"
_SHARP = "xtol=1e-13, ftol=1e-13, gtol=1e-13"
_DATA = "np.array([0.0, 0.5, 1.0, 1.5, 2.0]), v + [2.0, 1.0, 0.6, 0.3, 0.1], p0=[2.0, 1.0]"
_MODEL = "lambda t, a, b: a * np.exp(-b * t)"

CALLS: dict[str, Sequence[str]] = {
    **{
        f"{_O}.{name}": [
            f"{_O}.{name}({_ROOT}, -2.0, 2.0, xtol=1e-13)",
            f"{_O}.{name}(lambda t, a: t ** 3 + t - a, -2.0, 2.0, args=(v[0],), xtol=1e-13)",
        ]
        for name in ("brentq", "brenth", "bisect", "ridder")
    },
    f"{_O}.toms748": [f"{_O}.toms748({_ROOT}, -2.0, 2.0)"],
    f"{_O}.newton": [
        f"{_O}.newton({_ROOT}, 0.5)",
        f"{_O}.newton({_ROOT}, 0.5, fprime=lambda t: 3.0 * t * t + 1.0)",
        f"{_O}.newton(lambda t: t ** 3 + t - v, np.full(5, 0.5))",
    ],
    f"{_O}.root_scalar": [
        f"{_O}.root_scalar({_ROOT}, bracket=(-2.0, 2.0), xtol=1e-13).root",
        f"{_O}.root_scalar({_ROOT}, x0=0.5, fprime=lambda t: 3.0 * t * t + 1.0).root",
    ],
    f"{_O}.fsolve": [f"{_O}.fsolve({_SYSTEM}, [0.1, 0.1], xtol=1e-12)"],
    f"{_O}.root": [f"{_O}.root({_SYSTEM}, [0.1, 0.1], tol=1e-12).x"],
    f"{_O}.fixed_point": [f"{_O}.fixed_point(lambda t: np.cos(v[0] * t), 0.5)"],
    **{
        f"{_O}.{name}": [f"{_O}.{name}({_SYSTEM}, [0.1, 0.1], f_tol=1e-11)"]
        for name in (
            "broyden1",
            "broyden2",
            "anderson",
            "newton_krylov",
            "diagbroyden",
        )
    },
    f"{_O}.minimize": [
        f"{_O}.minimize({_BOWL}, [0.1, 0.1], jac={_SLOPE}, tol=1e-11).x",
        f"{_O}.minimize({_BOWL}, [0.1, 0.1], tol=1e-9).x",
        f"{_O}.minimize({_BOWL}, [0.1, 0.1], jac={_SLOPE}, tol=1e-11).fun",
    ],
    f"{_O}.minimize_scalar": [
        f"{_O}.minimize_scalar({_VALLEY}).x",
        f"{_O}.minimize_scalar({_VALLEY}).fun",
        f"{_O}.minimize_scalar({_SLIDE}, bounds=(-u[0], 1.0), method='bounded').x",  # at the lower limit
    ],
    f"{_O}.golden": [f"{_O}.golden({_VALLEY}, tol=1e-10)"],
    f"{_O}.brent": [f"{_O}.brent({_VALLEY}, tol=1e-10)"],
    f"{_O}.fminbound": [
        f"{_O}.fminbound({_VALLEY}, -2.0, 2.0, xtol=1e-10)",
        f"{_O}.fminbound(lambda t: -np.exp(t * v[0]), -2.0, u[0], xtol=1e-10)",  # at the upper limit
    ],
    f"{_O}.fmin": [f"{_O}.fmin({_BOWL}, [0.1, 0.1], xtol=1e-10, ftol=1e-14, disp=False)"],
    f"{_O}.fmin_bfgs": [f"{_O}.fmin_bfgs({_BOWL}, [0.1, 0.1], fprime={_SLOPE}, gtol=1e-10, disp=False)"],
    f"{_O}.fmin_cg": [f"{_O}.fmin_cg({_BOWL}, [0.1, 0.1], fprime={_SLOPE}, gtol=1e-10, disp=False)"],
    f"{_O}.fmin_ncg": [f"{_O}.fmin_ncg({_BOWL}, [0.1, 0.1], {_SLOPE}, avextol=1e-12, disp=False)"],
    f"{_O}.fmin_l_bfgs_b": [f"{_O}.fmin_l_bfgs_b({_BOWL}, [0.1, 0.1], {_SLOPE}, factr=1.0, pgtol=1e-11)[0]"],
    f"{_O}.fmin_powell": [f"{_O}.fmin_powell({_BOWL}, [0.1, 0.1], xtol=1e-10, ftol=1e-14, disp=False)"],
    f"{_O}.fmin_tnc": [f"{_O}.fmin_tnc({_BOWL}, [0.1, 0.1], {_SLOPE}, disp=0)[0]"],
    f"{_O}.fmin_slsqp": [f"{_O}.fmin_slsqp({_BOWL}, [0.1, 0.1], fprime={_SLOPE}, acc=1e-14, disp=False)"],
    f"{_O}.fmin_cobyla": [f"{_O}.fmin_cobyla({_BOWL}, [0.1, 0.1], [], rhoend=1e-9)"],
    f"{_O}.least_squares": [
        f"{_O}.least_squares({_RESIDUAL}, [0.1, 0.1], xtol=1e-13, ftol=1e-13, gtol=1e-13).x",
        f"{_O}.least_squares({_RESIDUAL}, [0.1, 0.1], method='lm', xtol=1e-13, ftol=1e-13, gtol=1e-13).x",
        f"{_O}.least_squares({_RESIDUAL}, [0.1, 0.1], loss='soft_l1', f_scale=0.3, {_SHARP}).x",
        f"{_O}.least_squares({_RESIDUAL}, [0.1, 0.1], loss='cauchy', {_SHARP}).cost",
        f"{_O}.least_squares({_RESIDUAL}, [0.1, 0.1], jac={_JACOBIAN}, {_SHARP}).fun",
    ],
    f"{_O}.leastsq": [f"{_O}.leastsq({_RESIDUAL}, [0.1, 0.1], xtol=1e-13, ftol=1e-13)[0]"],
    f"{_O}.curve_fit": [
        f"{_O}.curve_fit({_MODEL}, {_DATA}, xtol=1e-15, ftol=1e-15, gtol=1e-15)[0]",
        f"{_O}.curve_fit({_MODEL}, {_DATA}, sigma=u, xtol=1e-15, ftol=1e-15, gtol=1e-15)[1]",
        f"{_O}.curve_fit({_MODEL}, {_DATA}, sigma=np.diag(u) + 0.1, absolute_sigma=True, {_SHARP})[1]",
    ],
    f"{_O}.lsq_linear": [
        f"{_O}.lsq_linear(C, v[:4]).x",
        f"{_O}.lsq_linear(C, C @ v[:3], bounds=(-1.0, [2.0, 0.1, 2.0])).x",
        f"{_O}.lsq_linear(C, v[:4]).cost",
    ],
    f"{_O}.nnls": [
        f"{_O}.nnls(C, C @ v[:3])[0]",
        f"{_O}.nnls(C, C @ (v[:3] * [1.0, -1.0, 1.0]))[0]",
        f"{_O}.nnls(C, v[:4])[1]",
    ],
    f"{_O}.linprog": [f"{_O}.linprog([-1.0, -2.0], A_ub=[[1.0, 1.0], [0.2, 1.0]], b_ub=v[:2]).fun"],
    f"{_O}.milp": [f"{_O}.milp(v[:2]).fun"],
    f"{_O}.linear_sum_assignment": [
        f"{_O}.linear_sum_assignment(A)",
        f"(A * B)[{_O}.linear_sum_assignment(A * B)].sum()",
    ],
    f"{_O}.quadratic_assignment": [f"{_O}.quadratic_assignment(A, B)['col_ind']"],
    f"{_O}.isotonic_regression": [f"{_O}.isotonic_regression(v).x"],
    f"{_O}.approx_fprime": [f"{_O}.approx_fprime(v[:2], lambda t: np.sum(t ** 3), 1e-4)"],
    f"{_O}.check_grad": [f"{_O}.check_grad({_BOWL}, {_SLOPE}, np.array([0.1, 0.1])) * 0.0"],
    f"{_O}.rosen": [f"{_O}.rosen(v)"],
    f"{_O}.rosen_der": [f"{_O}.rosen_der(v)"],
    f"{_O}.rosen_hess": [f"{_O}.rosen_hess(v)"],
    f"{_O}.rosen_hess_prod": [f"{_O}.rosen_hess_prod(v, u)"],
    f"{_O}.basinhopping": [f"{_O}.basinhopping({_BOWL}, [0.1, 0.1], niter=2, rng=1).x"],
    f"{_O}.differential_evolution": [
        f"{_O}.differential_evolution({_BOWL}, [(-1, 1), (-1, 1)], rng=1, maxiter=5).x"
    ],
    f"{_O}.dual_annealing": [f"{_O}.dual_annealing({_BOWL}, [(-1, 1), (-1, 1)], rng=1, maxiter=5).x"],
    f"{_O}.shgo": [f"{_O}.shgo({_BOWL}, [(-1, 1), (-1, 1)]).x"],
    f"{_O}.direct": [f"{_O}.direct({_BOWL}, [(-1, 1), (-1, 1)], maxiter=20).x"],
    f"{_O}.brute": [f"{_O}.brute({_BOWL}, [(-1, 1), (-1, 1)], Ns=4, finish=None)"],
    f"{_O}.bracket": [f"{_O}.bracket({_VALLEY}, 0.0, 0.1)[:3]"],
    f"{_O}.line_search": [
        f"{_O}.line_search({_BOWL}, {_SLOPE}, np.array([0.1, 0.1]), np.array([0.3, 0.2]))[0]"
    ],
}

SKIPPED: dict[str, str] = {
    **{f"{_O}.{name}": "does not converge without tuning" for name in ("excitingmixing", "linearmixing")},
    **{
        f"{_O}.{name}": "describes a problem or a result"
        for name in (
            "BFGS",
            "Bounds",
            "BroydenFirst",
            "HessianUpdateStrategy",
            "InverseJacobian",
            "KrylovJacobian",
            "LbfgsInvHessProduct",
            "LinearConstraint",
            "NonlinearConstraint",
            "OptimizeResult",
            "RootResults",
            "SR1",
        )
    },
    f"{_O}.linprog_verbose_callback": "prints",
    f"{_O}.show_options": "prints",
}
