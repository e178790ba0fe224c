"""JAX: compiled by `jit` in double precision, with loops that it compiles as loops where they are long.

Loops that are left when a number is small enough cannot be differentiated backwards by it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

from benchmarks.others import source, versions
from benchmarks.workload import Workload, numbers
from benchmarks.workloads import scalar

__all__ = ["gradient"]

jax.config.update("jax_enable_x64", True)

MATH = types.SimpleNamespace(
    pi=jnp.pi, sin=jnp.sin, cos=jnp.cos, exp=jnp.exp, log=jnp.log, sqrt=jnp.sqrt, erf=erf
)


def gradient(workload: Workload) -> Callable[[], Any] | None:
    found = version(workload)
    if found is None:
        return None
    function, arguments = found
    arguments = tuple(jnp.asarray(x) if isinstance(x, np.ndarray | float | list) else x for x in arguments)
    argnums = numbers(workload.argnums)
    counts = tuple(i for i, x in enumerate(arguments) if isinstance(x, int))
    both = jax.jit(jax.value_and_grad(function, argnums), static_argnums=counts)
    return lambda: list(jax.block_until_ready(both(*arguments))[1])


def version(workload: Workload) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    name, arguments = workload.function.__name__, workload.arguments
    if name in IMPOSSIBLE:
        return None
    if name in LOOPS:
        return LOOPS[name], arguments
    if name == "gaussian_mixture":
        return versions.gaussian_mixture(jnp), versions.with_basis(arguments)
    if name == "cholesky":
        program = source.rebound(workload.function, np=source.ELEMENT_WISE, math=MATH)
        return lambda a: program(source.unpacked(a)), arguments
    return source.rebound(workload.function, np=jnp, math=MATH), arguments


IMPOSSIBLE = ("kepler", "quadrature")


def repeat(steps: int, body: Callable[[Any], Any], state: Any) -> Any:
    """`body` applied to `state` again and again."""
    return jax.lax.fori_loop(0, steps, lambda _, state: body(state), state)


def logistic_map(r: Any, x: Any, steps: int) -> Any:
    return repeat(steps, lambda x: r * x * (1.0 - x), x)


def logistic_sine(r: Any, x: Any, steps: int) -> Any:
    return repeat(steps, lambda x: r * x * (1.0 - x) + 0.05 * jnp.sin(x), x)


def newton(x: Any, steps: int) -> Any:
    return repeat(steps, lambda y: 0.5 * (y + x / y), 1.0)


def lorenz(sigma: Any, h: Any, steps: int) -> Any:
    def step(state: Any) -> Any:
        x, y, z = state
        a, b, c = scalar.slope(x, y, z, sigma, 28.0, 8.0 / 3.0)
        d, e, f = scalar.slope(x + h * a, y + h * b, z + h * c, sigma, 28.0, 8.0 / 3.0)
        return x + 0.5 * h * (a + d), y + 0.5 * h * (b + e), z + 0.5 * h * (c + f)

    x, y, z = repeat(steps, step, (1.0, 0.5, -0.7))
    return x * x + y * y + z * z


def lorenz_rk4(sigma: Any, rho: Any, beta: Any, h: Any, steps: int) -> Any:
    def velocity(state: Any) -> Any:
        return jnp.stack(scalar.velocity(tuple(state), sigma, rho, beta))

    def step(state: Any) -> Any:
        k1 = velocity(state)
        k2 = velocity(state + 0.5 * h * k1)
        k3 = velocity(state + 0.5 * h * k2)
        k4 = velocity(state + h * k3)
        return state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return jnp.sum(repeat(steps, step, jnp.array([1.0, 0.5, -0.7])) ** 2)


def black_scholes(spot: Any, rate: Any, volatility: Any, count: int) -> Any:
    price = source.rebound(scalar.call_price, math=MATH)
    i = jnp.arange(float(count))
    return jnp.sum(price(spot, 80.0 + i, rate, volatility, 0.25 + 0.05 * i))


def horner(x: Any, coefficients: Any) -> Any:
    def step(result: Any, c: Any) -> Any:
        return result * x + c, None

    return jax.lax.scan(step, 0.0, coefficients)[0]


def dot_lists(a: Any, b: Any) -> Any:
    return a @ b


def product_of_lists(a: Any, b: Any) -> Any:
    return jnp.sum((a @ b) ** 2)


def heat_elements(u: Any, k: Any, steps: int) -> Any:
    return jnp.sum(repeat(steps, lambda u: smoothed(u, k), u))


def heat_array(u: Any, k: Any, steps: int) -> Any:
    return jnp.sum(repeat(steps, lambda u: smoothed(u, k), u) ** 2)


def smoothed(u: Any, k: Any) -> Any:
    return u.at[1:-1].add(k * (u[2:] - 2.0 * u[1:-1] + u[:-2]))


def heat_plane(u: Any, k: Any, steps: int) -> Any:
    def step(u: Any) -> Any:
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].add(k * (around - 4.0 * u[1:-1, 1:-1]))

    return jnp.sum(repeat(steps, step, u) ** 2)


def oscillator(stiffness: Any, h: Any, steps: int) -> Any:
    def step(state: Any) -> Any:
        x, v = state
        v = v - h * stiffness * x
        return x + h * v, v

    return repeat(steps, step, (1.0, 0.0))[0] ** 2


def nbody(positions: Any, velocities: Any, masses: Any, h: Any, steps: int) -> Any:
    rows, columns = np.triu_indices(len(masses), 1)

    def step(state: Any) -> Any:
        x, v = state
        d = x[rows] - x[columns]
        square = jnp.sum(d * d, axis=1, keepdims=True)
        pull = d * h / (square * jnp.sqrt(square))
        v = v.at[rows].add(-pull * masses[columns, None]).at[columns].add(pull * masses[rows, None])
        return x + h * v, v

    x, v = repeat(steps, step, (positions, velocities))
    distance = jnp.sqrt(jnp.sum((x[rows] - x[columns]) ** 2, axis=1))
    kinetic = 0.5 * jnp.sum(masses[:, None] * v * v)
    return kinetic - jnp.sum(masses[rows] * masses[columns] / distance)


def map_elements(x: Any) -> Any:
    return jnp.sum(x * jnp.sin(x))


def cumulative(x: Any, decay: Any) -> Any:
    def step(state: Any, new: Any) -> Any:
        level, energy = state
        level = new + decay * level
        return (level, energy + level * level), None

    return jax.lax.scan(step, (x[0], 0.0), x[1:])[0][1]


def kalman(z: Any, process: Any, noise: Any, h: Any) -> Any:
    def step(state: Any, measured: Any) -> Any:
        x, v, p, c, q, total = state
        x += h * v
        p += h * (2.0 * c + h * q) + process
        c += h * q
        q += process
        residual = measured - x
        s = p + noise
        total += 0.5 * (jnp.log(s) + residual * residual / s)
        gain_x, gain_v = p / s, c / s
        x += gain_x * residual
        v += gain_v * residual
        return (x, v, p - gain_x * p, c - gain_v * p, q - gain_v * c, total), None

    return jax.lax.scan(step, (0.0, 0.0, 10.0, 0.0, 10.0, 0.0), z)[0][-1]


LOOPS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        logistic_map, logistic_sine, newton, lorenz, lorenz_rk4, black_scholes, horner, dot_lists,
        product_of_lists, heat_elements, heat_array, heat_plane, oscillator, map_elements, cumulative, kalman,
    )
}  # fmt: skip
LOOPS["nbody_lists"] = LOOPS["nbody_objects"] = nbody
LOOPS["heat_slices"] = heat_elements
