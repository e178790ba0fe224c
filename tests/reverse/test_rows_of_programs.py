"""Jacobians of whole programs: rows in batches of cotangents, rows one by one, and columns are the same."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import rows

RNG = np.random.default_rng(0)


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any

    def __call__(self, x: Any) -> Any:
        return np.tanh(self.w @ x + self.b)


def network(ws: Any) -> Any:
    x = np.array([0.1, 0.2, 0.3, 0.4])
    for layer in (Layer(ws[:12].reshape(3, 4), ws[12:15]), Layer(ws[15:45].reshape(10, 3), ws[45:55])):
        x = layer(x)
    return x


def lorenz(p: list[float]) -> Any:
    s, r, b = p
    x = np.array([1.0, 1.0, 1.0])
    out = []
    for _ in range(12):
        dx = np.array([s * (x[1] - x[0]), x[0] * (r - x[2]) - x[1], x[0] * x[1] - b * x[2]])
        x = x + 0.01 * dx
        out.append(x)
    return np.concatenate(out)


def kalman(z: list[float]) -> list[float]:
    cov, mean, move = np.eye(2), np.zeros(2), np.array([[1.0, 0.1], [0.0, 1.0]])
    found = []
    for v in z:
        mean = move @ mean
        cov = move @ cov @ move.T + 0.01 * np.eye(2)
        gain = cov[:, 0] / (cov[0, 0] + 0.1)
        mean = mean + gain * (v - mean[0])
        cov = cov - np.outer(gain, cov[0])
        found += [mean[0], math.exp(-(mean[1] ** 2))]
    return found


def heat(u: Any) -> Any:
    u = u.copy()
    for _ in range(5):
        change = np.zeros_like(u)
        change[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u += 0.1 * change
        u[0] = u[1]
        u[-1] = np.where(u[-2] > 0, u[-2], 0.0)
    return u


def ordered(x: Any) -> Any:
    y = x[np.argsort(x)]
    y[::2] *= 2.0
    return np.concatenate([np.cumsum(y), np.sort(x * x), np.maximum(x, 0.3), x[x > 0.2]])


def linear(x: Any) -> Any:
    a = np.outer(x, x) + np.diag(1.0 + x)
    return np.concatenate(
        [np.linalg.cholesky(a @ a.T).ravel(), np.linalg.eigvalsh(a + a.T), [np.linalg.det(a)]]
    )


def table(d: dict[str, float]) -> Any:
    out: dict[str, Any] = {}
    for key, v in d.items():
        out[f"{key}_sq"] = v * v
        out[key.upper()] = [v * i for i in range(4)]
    return out


def recursion(x: list[float]) -> list[float]:
    @functools.lru_cache(None)
    def p(n: int) -> float:
        return x[0] if n == 0 else x[1] if n == 1 else p(n - 1) * x[2] - p(n - 2)

    return [p(i) for i in range(12)]


class Means:
    def __init__(self) -> None:
        self.items: Any = collections.deque(maxlen=6)
        self.log: list[float] = []

    def push(self, v: float) -> Means:
        self.items.appendleft(v)
        self.log.append(sum(self.items) / len(self.items))
        return self


def means(x: list[float]) -> list[float]:
    found = Means()
    for a, b in itertools.pairwise(x):
        found.push(a * b).push(a / b if b else a)
    return found.log + list(found.items)


def in_place(x: Any) -> Any:
    x *= 2.0
    x[1:] -= x[:-1]
    np.add(x, 1.0, out=x)
    np.exp(x, out=x, where=x < 1.0)
    x.sort()
    return x


def handled(x: list[float]) -> list[float]:
    out = []
    for v in x:
        try:
            if v > 0.5:
                raise ValueError(v * v)
            out.append(math.log(v))
        except ValueError as error:
            out.append(error.args[0] * 3.0)
        finally:
            out.append(v)
    return out


PROGRAMS: list[tuple[Any, Any]] = [
    (network, RNG.normal(size=55)),
    (lorenz, [10.0, 28.0, 8 / 3]),
    (kalman, [0.3, -0.2, 0.5, 1.1, 0.4]),
    (heat, RNG.normal(size=12)),
    (ordered, RNG.uniform(0.0, 1.0, 9)),
    (linear, RNG.uniform(0.2, 1.0, 4)),
    (table, {"a": 1.0, "b": 2.5, "c": 0.3}),
    (recursion, [1.0, 0.5, 1.3]),
    (means, [1.0, 2.0, 0.5, 3.0, 0.25, 1.5]),
    (in_place, RNG.uniform(0.0, 1.0, 9)),
    (handled, [0.2, 0.9, 0.4, 0.7, 0.6]),
]


def _numbers(jacobian: Any) -> Any:
    return np.concatenate([np.ravel(leaf) for leaf in adbc.tree_leaves(jacobian)])


@pytest.mark.parametrize("f, x", PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_rows_and_columns_are_the_same(f: Any, x: Any) -> None:
    rows._counted.pop(f.__code__, None)
    columns = _numbers(adbc.jacfwd(f, chunk_size=1)(x))
    for _ in range(4):  # one by one, and then in lanes, in interpreted and in written code
        np.testing.assert_allclose(_numbers(adbc.jacrev(f)(x)), columns, rtol=1e-9, atol=1e-11)
    assert f.__code__ not in rows._row_by_row
