"""Derivatives of derivatives of functions with rules that a user has declared: what is checked of such a rule
is not differentiated, and its formulas are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules

Q = np.array([0.3, -0.5, 0.8])
MATRIX = np.array([[1.0, 0.2, 0.0], [0.3, -0.4, 0.5], [0.1, 0.0, 0.9]])


def bent(v: Any) -> Any:
    return np.cosh(v)


def mixed(a: Any, b: Any, c: float = 2.0) -> Any:
    return np.sin(a) * b * c


def turned(v: Any) -> Any:
    return MATRIX @ v


def cubed(v: Any) -> Any:
    return v**3


def rung(v: Any) -> float:
    return float(np.floor(v.sum()))


def softplus(x: float) -> float:
    return math.log1p(math.exp(x))


def read(v: Any) -> float:
    return float(v[0] * v[1])


def chained(v: Any) -> Any:
    return np.sin(v)


def _cubed_frule(function: Any, v: Any) -> Any:
    return adbc.Dual(cubed(v.primal), 3.0 * v.primal**2 * v.tangent)


def _cubed_rrule(function: Any, v: Any) -> Any:
    out = cubed(v.primal)
    shadow = np.zeros_like(out)

    def pullback(rdata: Any) -> Any:
        v.fdata[...] += 3.0 * v.primal**2 * shadow
        return adbc.NoRData(), adbc.NoRData()

    return adbc.CoDual(out, shadow), pullback


@pytest.fixture(autouse=True)
def declared() -> Iterator[None]:
    adbc.rule(bent, jvp=(lambda d, out, v: np.sinh(v) * d,), vjp=(lambda b, out, v: np.sinh(v) * b,))
    adbc.rule(
        mixed,
        jvp=(lambda d, out, a, b, c: np.cos(a) * d * b * c, lambda d, out, a, b, c: np.sin(a) * d * c, None),
        vjp=(lambda g, out, a, b, c: np.cos(a) * g * b * c, lambda g, out, a, b, c: np.sin(a) * g * c, None),
    )
    adbc.linear(turned, transpose=lambda b, v: MATRIX.T @ b)
    adbc.primitive(cubed, frule=_cubed_frule, rrule=_cubed_rrule)
    adbc.zero_derivative(rung)
    adbc.scalar_rule(softplus)(lambda out, x: 1.0 / (1.0 + math.exp(-x)))

    @adbc.overlay(read)
    def _(v: Any) -> Any:
        return v[1] * v[0]

    @chainrules.rrule(chained)
    def _(function: Any, v: Any) -> Any:
        return chained(v), lambda b: (chainrules.NoTangent(), np.cos(v) * b)

    yield
    for function in (bent, mixed, turned, cubed, rung, softplus, read, chained):
        adbc.forget(function)


ENERGIES: dict[str, Callable[[Any, Any], Any]] = {
    "rule": lambda q, k: np.sum(bent(k * q)),
    "rule of several": lambda q, k: np.sum(mixed(k * q, q)),
    "rule by keyword": lambda q, k: np.sum(mixed(q, b=k * q, c=3.0)),
    "linear": lambda q, k: np.sum(turned(k * q) ** 2),
    "primitive": lambda q, k: np.sum(cubed(k * q)),
    "zero": lambda q, k: np.sum(k * q * q) * (2.0 + rung(q)),
    "scalar": lambda q, k: softplus(k * float(q[0])) * q[1],
    "overlay": lambda q, k: read(k * q) * q[2] ** 2,
    "chainrules": lambda q, k: np.sum(chained(k * q)),
}


def by_gradient(energy: Any, q: Any, k: float) -> Any:
    return adbc.grad(energy)(q, k)


def in_a_direction(energy: Any, q: Any, k: float) -> Any:
    return adbc.jvp(energy, (q, k), (np.array([1.0, 0.5, -0.3]), 0.0))[1]


@pytest.mark.parametrize("inner", [by_gradient, in_a_direction], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ENERGIES)
def test_an_inner_derivative_by_a_declared_rule(name: str, inner: Any) -> None:
    energy = ENERGIES[name]

    def f(k: float) -> float:
        q = Q
        for _ in range(2):
            q = q - 0.1 * inner(energy, q, k)
        return float(energy(q, k))

    k, h = 0.9, 1e-4
    slopes = [(f(k + s) - f(k - s)) / (2 * s) for s in (h, h / 2)]
    wanted = pytest.approx((4 * slopes[1] - slopes[0]) / 3, rel=1e-7)
    before = Q.copy()
    for _ in range(2):
        assert adbc.grad(f)(k) == wanted
        assert adbc.jvp(f, (k,), (1.0,))[1] == wanted
    assert np.array_equal(Q, before)
