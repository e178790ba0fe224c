"""Calls of the functions of ``scipy.integrate``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_I = "scipy.integrate"
_DECAY = "lambda t, y, a=v[0], b=v[1]: np.array([-a * y[0], a * y[0] - b * y[1] * y[1]])"
_STIFF = "lambda y, t: np.array([-3000.0 * v[0] * (y[0] - y[1]), -v[1] * y[1] * y[1]])"
_STEPS = "[0.0, 0.5, 1.0]"

CALLS: dict[str, Sequence[str]] = {
    **{
        f"{_I}.{name}": [
            f"{_I}.solve_ivp({_DECAY}, (0.0, 1.0), u[:2], method='{name}', rtol=1e-9, atol=1e-9).y[:, -1]"
        ]
        for name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
    },
    f"{_I}.solve_ivp": [
        f"{_I}.solve_ivp({_DECAY}, (0.0, 1.0), u[:2], t_eval={_STEPS}, rtol=1e-8).y",
        f"{_I}.solve_ivp(lambda t, y, a: -a * y, (0.0, 1.0), u[:2], args=(v[0],), rtol=1e-8).y[:, -1]",
        f"{_I}.solve_ivp({_DECAY}, (0.0, 1.0), u[:2], dense_output=True, rtol=1e-8).sol(0.4)",
        f"{_I}.solve_ivp({_DECAY}, (0.0, 1.0), u[:2], method='LSODA', t_eval={_STEPS}, rtol=1e-9, atol=1e-9).y",
    ],
    f"{_I}.odeint": [
        f"{_I}.odeint({_STIFF}, u[:2], [0.0, 1.0], rtol=1e-8, atol=1e-8)",
        f"{_I}.odeint(lambda y, t: np.array([-v[0] * y[0], y[0] - v[1] * y[1]]), u[:2], {_STEPS}, rtol=1e-10, atol=1e-10)",
        f"{_I}.odeint(lambda t, y, a: -a * y, u[:2], {_STEPS}, args=(v[0],), tfirst=True, rtol=1e-10, atol=1e-10)",
    ],
    f"{_I}.ode": [
        f"(lambda s: (s.set_initial_value(u[:2], 0.0), s.integrate(1.0))[1])({_I}.ode({_DECAY}).set_integrator('dopri5', rtol=1e-9))"
    ],
    f"{_I}.complex_ode": [
        f"abs((lambda s: (s.set_initial_value(u[0] + 0j, 0.0), s.integrate(1.0))[1])({_I}.complex_ode(lambda t, y: 1j * v[0] * y)))"
    ],
    f"{_I}.quad": [
        f"{_I}.quad(lambda t: np.exp(-x * t * t), 0.0, y)[0]",
        f"{_I}.quad(lambda t, a: np.sin(a * t), v[0], 2.0, args=(v[1],))[0]",
        f"{_I}.quad(lambda t: np.exp(-v[0] * t), 0.0, np.inf)[0]",
    ],
    f"{_I}.quad_vec": [
        f"{_I}.quad_vec(lambda t: np.exp(-v * t), 0.0, u[0])[0]",
        f"{_I}.quad_vec(lambda t: np.exp(-v * t), -0.3 * u[1], u[0], points=[0.2])[0]",
    ],
    f"{_I}.dblquad": [
        f"{_I}.dblquad(lambda s, t: np.exp(-v[0] * s * t), 0.0, v[1], lambda t: 0.0, lambda t: v[2] * t)[0]"
    ],
    f"{_I}.tplquad": [
        f"{_I}.tplquad(lambda r, s, t: r * s * t * v[0], 0.0, 1.0, lambda t: 0.0, lambda t: 1.0, lambda t, s: 0.0, lambda t, s: 1.0)[0]"
    ],
    f"{_I}.nquad": [f"{_I}.nquad(lambda s, t: np.exp(-v[0] * s * t), [[0.0, v[1]], [0.0, 1.0]])[0]"],
    f"{_I}.fixed_quad": [f"{_I}.fixed_quad(lambda t: np.exp(-v[0] * t), 0.0, v[1])[0]"],
    f"{_I}.tanhsinh": [f"{_I}.tanhsinh(lambda t: np.exp(-v[0] * t), 0.0, v[1]).integral"],
    f"{_I}.cubature": [f"{_I}.cubature(lambda t: np.exp(-v[0] * t[:, 0]), [0.0], [1.0]).estimate"],
    f"{_I}.nsum": [f"{_I}.nsum(lambda k: np.exp(-v[0] * k), 1, 30).sum"],
    f"{_I}.solve_bvp": [
        f"{_I}.solve_bvp(lambda t, y: np.vstack([y[1], -v[0] * y[0]]), lambda a, b: np.array([a[0], b[0] - v[1]]), np.linspace(0, 1, 5), np.zeros((2, 5)), tol=1e-8).y"
    ],
    f"{_I}.trapezoid": [f"{_I}.trapezoid(v)", f"{_I}.trapezoid(v, np.cumsum(u))"],
    f"{_I}.simpson": [f"{_I}.simpson(v)", f"{_I}.simpson(v, x=np.cumsum(u))", f"{_I}.simpson(v[:4], dx=0.3)"],
    f"{_I}.romb": [f"{_I}.romb(v)", f"{_I}.romb(v, dx=u[0])"],
    f"{_I}.cumulative_trapezoid": [
        f"{_I}.cumulative_trapezoid(v)",
        f"{_I}.cumulative_trapezoid(v, np.cumsum(u), initial=0)",
    ],
    f"{_I}.cumulative_simpson": [
        f"{_I}.cumulative_simpson(v)",
        f"{_I}.cumulative_simpson(v, x=np.cumsum(u))",
    ],
    f"{_I}.newton_cotes": [f"{_I}.newton_cotes(4)[0] @ v"],
    f"{_I}.lebedev_rule": [f"{_I}.lebedev_rule(3)[1][:5] @ v"],
}

SKIPPED: dict[str, str] = {
    f"{_I}.qmc_quad": "draws numbers",
    **{
        f"{_I}.{name}": "is a base class, or made by solve_ivp"
        for name in ("DenseOutput", "OdeSolution", "OdeSolver")
    },
}
