"""What is timed: plain functions, with variants where another system needs its own sine or its own arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["WORKLOADS", "Workload"]

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Workload:
    """`function` is differentiated by its first argument.

    with_module: makes the function out of a module with `sin`, `tanh`, `sum` and the like, for systems that
    need their own; `function` itself does if it is None and `portable` is set.  Neither: only adbc can do it,
    because it works in place on Python or NumPy objects.
    """

    name: str
    function: Function
    arguments: tuple[Any, ...]
    with_module: Callable[[Any], Function] | None = None
    portable: bool = False

    def for_module(self, module: Any) -> Function | None:
        """The function to give to a system whose mathematics is in `module`, or None."""
        if self.with_module is not None:
            return self.with_module(module)
        return self.function if self.portable else None


def logistic_map(r: float, x: float, steps: int) -> float:
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def logistic_sine(r: float, x: float, steps: int) -> float:
    for _ in range(steps):
        x = r * x * (1.0 - x) + 0.05 * math.sin(x)
    return x


def logistic_sine_with(module: Any) -> Function:
    sin = module.sin

    def logistic_sine(r: Any, x: Any, steps: int) -> Any:
        x = x + 0.0 * r  # a number of the module's own, which is all that some sines take
        for _ in range(steps):
            x = r * x * (1.0 - x) + 0.05 * sin(x)
        return x

    return logistic_sine


def newton(x: float, steps: int) -> float:
    y = 1.0
    for _ in range(steps):
        y = 0.5 * (y + x / y)
    return y


def horner(x: float, coefficients: list[float]) -> float:
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


def dot_lists(a: list[float], b: list[float]) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def slope(x: Any, y: Any, z: Any, sigma: Any, rho: Any, beta: Any) -> tuple[Any, Any, Any]:
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(sigma: float, h: float, steps: int) -> float:
    """Small functions that return tuples."""
    x, y, z = 1.0, 0.5, -0.7
    for _ in range(steps):
        a, b, c = slope(x, y, z, sigma, 28.0, 8.0 / 3.0)
        d, e, f = slope(x + h * a, y + h * b, z + h * c, sigma, 28.0, 8.0 / 3.0)
        x, y, z = x + 0.5 * h * (a + d), y + 0.5 * h * (b + e), z + 0.5 * h * (c + f)
    return x * x + y * y + z * z


class Particle:
    """Attributes that are read and written in a loop."""

    def __init__(self, x: float, v: float) -> None:
        self.x = x
        self.v = v

    def step(self, stiffness: float, h: float) -> None:
        # Not in place: PyTorch would change tensors that its graph still needs.
        self.v = self.v - h * stiffness * self.x
        self.x = self.x + h * self.v


def oscillator(stiffness: float, h: float, steps: int) -> float:
    particle = Particle(1.0, 0.0)
    for _ in range(steps):
        particle.step(stiffness, h)
    return particle.x * particle.x


def heat_elements(u: list[float], k: float, steps: int) -> float:
    """In place on a list of floats."""
    n = len(u)
    for _ in range(steps):
        left = u[0]
        for i in range(1, n - 1):
            here = u[i]
            u[i] = here + k * (u[i + 1] - 2.0 * here + left)
            left = here
    return sum(u)


def heat_slices(u: Any, k: float, steps: int) -> Any:
    """In place on an array."""
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u)


def network_with(module: Any) -> Function:
    def network(w1: Any, w2: Any, x: Any, y: Any) -> Any:
        hidden = module.tanh(x @ w1)
        output = hidden @ w2
        error = output - y
        return module.sum(error * error)

    return network


def network(w1: Any, w2: Any, x: Any, y: Any) -> Any:
    hidden = np.tanh(x @ w1)
    output = hidden @ w2
    error = output - y
    return np.sum(error * error)


def _network_arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(1)
    return tuple(0.3 * rng.standard_normal(shape) for shape in ((64, 128), (128, 16), (256, 64), (256, 16)))


def rosenbrock_with(module: Any) -> Function:
    def rosenbrock(x: Any) -> Any:
        return module.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)

    return rosenbrock


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)


WORKLOADS = [
    Workload("logistic map, 1000 iterations", logistic_map, (3.5, 0.4, 1000), portable=True),
    Workload("logistic map with a sine, 1000", logistic_sine, (3.1, 0.4, 1000), logistic_sine_with),
    Workload("Newton's square root, 50", newton, (2.0, 50), portable=True),
    Workload("Horner, list of 200", horner, (0.9, [1.0 / (i + 1.0) for i in range(200)]), portable=True),
    Workload("inner product of lists, 200", dot_lists, ([0.5] * 200, [0.25] * 200)),
    Workload("Lorenz, tuples, 100 steps", lorenz, (10.0, 0.01, 100), portable=True),
    Workload("oscillator, attributes, 300 steps", oscillator, (2.0, 0.01, 300), portable=True),
    Workload("heat, list in place, 50 x 20", heat_elements, ([0.02 * i * i for i in range(50)], 0.2, 20)),
    Workload("heat, slices in place, 2000 x 50", heat_slices, (np.linspace(0.0, 1.0, 2000) ** 2, 0.2, 50)),
    Workload("Rosenbrock, array of 10000", rosenbrock, (np.linspace(0.5, 1.5, 10000),), rosenbrock_with),
    Workload("two-layer network, 256 x 64 x 128 x 16", network, _network_arguments(), network_with),
]
