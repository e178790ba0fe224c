"""Zero wins in the product of a partial derivative and a tangent or cotangent, wherever it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

INF = math.inf
HOLES = np.array([1.0, math.nan, 8.0, 4.0])


def root_that_does_not_count(x: float) -> float:
    return math.sqrt(x) * 0.0 + x


def root_of_what_does_not_depend(x: float) -> float:
    return math.sqrt(x * 0.0) + 2.0 * x


def root_of_a_square(x: float) -> float:
    return math.sqrt(x * x)


def power(x: float) -> float:
    return x**0.5 * 0.0 + 3.0 * x


def arc(x: float) -> float:
    return math.acos(1.0 - x) * 0.0 + x


def saturated(x: float) -> float:
    return math.exp(-(x * INF)) + x


def far_away(x: float, d: float) -> float:
    return 1.0 / (x * d) + x


def in_a_loop(x: float) -> float:
    total = 0.0
    for n in range(4):
        total += math.sqrt(x * n) * (0.0 if n == 0 else 1.0)
    return total


def weighted(x: float, weights: list[float], values: list[float]) -> float:
    total = 0.0
    for w, v in zip(weights, values, strict=True):
        total += w * math.sqrt(v * x)
    return total


def repeated(x: float) -> float:
    def twice(*iterables: list[float], times: int = 2) -> list[Any]:
        pools = [tuple(part) for part in iterables]
        return pools * times

    none = twice()
    none.append(x)
    return none[0] + sum(map(sum, twice([x, 1.0]))) + len(twice([x], times=0))


class Particle:
    def __init__(self, x: float) -> None:
        self.x = x
        self.energy = 0.0

    def move(self, by: float) -> None:
        self.energy = math.sqrt(self.x) * by
        self.x = self.x + self.energy


def objects(x: float) -> float:
    particle = Particle(x)
    particle.move(0.0)
    return particle.x + particle.energy


def written(x: float) -> float:
    values = [x, 0.0]
    values[1] = math.sqrt(values[0]) * 0.0
    return values[0] + values[1]


def recursive(x: float, n: int) -> float:
    return x if n == 0 else math.sqrt(x) * 0.0 + recursive(x, n - 1)


def numbers_of_numpy(x: float) -> Any:
    return np.sqrt(np.float64(x)) * 0.0 + x


def masked(d: float) -> Any:
    k = np.array([1.0, 2.0, 3.0]) * d
    delta = k * np.array([INF, 1.0, 2.0])
    return (delta[1:] * 1.0).sum()


def roots(v: Any) -> Any:
    return (np.sqrt(v) * np.array([0.0, 1.0, 2.0])).sum()


def ratios(v: Any) -> Any:
    with np.errstate(divide="ignore"):
        r = 1.0 / v
    return np.where(v > 0.0, r, 0.0).sum()


def in_place(v: Any) -> Any:
    w = v.copy()
    w *= np.array([INF, 1.0, 2.0])
    w[0] = 0.0
    return w.sum()


def distances(v: Any) -> Any:
    d = np.sqrt((v[:, None] - v[None, :]) ** 2)
    return (d * (1.0 - np.eye(len(v)))).sum()


def chosen(v: Any) -> Any:
    total = 0.0
    for i in range(len(v)):
        total += math.sqrt(v[i]) * (0.0 if v[i] == 0.0 else 1.0)
    return total


V = np.array([0.0, 1.0, 4.0])


def errors_where_there_is_data(x: Any) -> Any:
    return np.sum(np.where(np.isnan(HOLES), 0.0, np.abs(HOLES - 2.0 * x)))


def median_of_what_is_there(x: Any) -> Any:
    return np.nanmedian(HOLES * x)


def sizes_where_there_is_data(x: Any) -> Any:
    return np.sum(np.where(np.isnan(HOLES), 0.0, np.abs(HOLES * (1.0 + 1.0j) * x)))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (errors_where_there_is_data, (1.5,), -2.0),
    (median_of_what_is_there, (1.5,), 4.0),
    (sizes_where_there_is_data, (1.5,), 13.0 * 2.0**0.5),
    (root_that_does_not_count, (0.0,), 1.0),
    (root_of_what_does_not_depend, (1.0,), 2.0),
    (root_of_a_square, (0.0,), 0.0),
    (power, (0.0,), 3.0),
    (arc, (0.0,), 1.0),
    (saturated, (1.0,), 1.0),
    (far_away, (2.0, INF), 1.0),
    (in_a_loop, (1.0,), 0.5 * (1.0 + math.sqrt(2.0) + math.sqrt(3.0))),
    (weighted, (1.0, [0.0, 2.0], [0.0, 4.0]), 2.0),
    (objects, (0.0,), 1.0),
    (written, (0.0,), 1.0),
    (recursive, (0.0, 3), 1.0),
    (repeated, (1.5,), 3.0),
    (numbers_of_numpy, (0.0,), 1.0),
    (masked, (1.5,), 8.0),
    (roots, (V,), [0.0, 0.5, 0.5]),
    (ratios, (V,), [0.0, -1.0, -0.0625]),
    (in_place, (V,), [0.0, 1.0, 2.0]),
    (distances, (V,), [-4.0, 0.0, 4.0]),
    (chosen, (V,), [0.0, 0.5, 0.25]),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
@pytest.mark.parametrize(("f", "arguments", "expected"), PROGRAMS, ids=[f.__name__ for f, _, _ in PROGRAMS])
def test_zero_wins(
    f: Callable[..., Any], arguments: tuple[Any, ...], expected: Any, speculation: str
) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):  # what is learnt changes the code
            gradient = adbc.grad(f)(*arguments)
            np.testing.assert_allclose(gradient, expected, rtol=1e-14)
            directions = np.eye(len(V)) if arguments[0] is V else [1.0]
            others = [None] * (len(arguments) - 1)
            forward = [adbc.jvp(f, arguments, (d, *others))[1] for d in directions]
            np.testing.assert_allclose(forward, np.atleast_1d(expected), rtol=1e-14)


@pytest.mark.parametrize("f", [lambda x: x * math.nan, lambda x: x * INF - x * INF])
def test_what_is_not_a_number_stays_so(f: Callable[..., Any]) -> None:
    assert math.isnan(adbc.grad(f)(1.0)) and math.isnan(adbc.jvp(f, (1.0,), (1.0,))[1])
