"""Residuals of differential equations: the second derivative of a solution by its argument, differentiated by
the parameters, which a dictionary or an object holds.  The outermost level follows two others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

import adbc


@dataclass
class Net:
    """A network with one layer."""

    slopes: list[float]
    weights: list[float]

    def __call__(self, x: float) -> float:
        total = 0.0
        for a, c in zip(self.slopes, self.weights, strict=True):
            total += c * math.tanh(a * x)
        return total


def wave(p: dict[str, float], x: float) -> float:
    return p["a"] * math.sin(p["k"] * x) + p["b"] * x * x


def of_dict(p: dict[str, float]) -> float:
    def slope(x: float) -> Any:
        return adbc.grad(lambda s: wave(p, s))(x)

    return sum((adbc.grad(slope)(x) + p["k"] ** 2 * wave(p, x)) ** 2 for x in (0.25, 0.5))


def of_object(net: Net) -> float:
    def u(x: float) -> float:
        return net(x)

    curvature = adbc.grad(adbc.grad(u))
    return (curvature(0.4) + u(0.4) - math.sin(0.4)) ** 2


def slope(f: Any) -> Any:
    """The derivative of ``f(t)`` at 0, by differences."""
    h = 1e-3
    d = [(f(s) - f(-s)) / (2 * s) for s in (h, h / 2)]
    return pytest.approx((4 * d[1] - d[0]) / 3, rel=1e-7)


def test_parameters_in_a_dictionary() -> None:
    p, dp = {"a": 0.7, "k": 1.3, "b": 0.2}, {"a": 0.3, "k": -0.4, "b": 0.9}
    wanted = slope(lambda t: of_dict({name: p[name] + t * dp[name] for name in p}))
    before = dict(p)
    for _ in range(2):
        gradient = adbc.grad(of_dict)(p)
        assert sum(gradient[name] * dp[name] for name in p) == wanted
        assert adbc.jvp(of_dict, (p,), (dp,))[1] == wanted
    assert p == before


def test_parameters_in_an_object() -> None:
    net, ds, dw = Net([0.5, -0.3], [1.0, -0.7]), [0.4, 0.9], [-0.2, 0.6]

    def moved(t: float) -> Net:
        return Net(
            [a + t * d for a, d in zip(net.slopes, ds, strict=True)],
            [c + t * d for c, d in zip(net.weights, dw, strict=True)],
        )

    wanted = slope(lambda t: of_object(moved(t)))
    for _ in range(2):
        g = adbc.grad(of_object)(net)
        pairs = [*zip(g.slopes, ds, strict=True), *zip(g.weights, dw, strict=True)]
        assert sum(a * b for a, b in pairs) == wanted
        assert adbc.jvp(of_object, (net,), (adbc.MutableTangent(slopes=ds, weights=dw),))[1] == wanted
    assert net == Net([0.5, -0.3], [1.0, -0.7])
