"""Tangents of complex numbers are written in code, as those of floats are."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule
from benchmarks.instructions import executed
from benchmarks.settle import settle
from tests.reverse.test_complex_numbers import CASES, NUMBERS, divided, layers, powers

X, Z = 0.7, 0.3 + 0.4j


@pytest.mark.parametrize("f", CASES)
@pytest.mark.parametrize("along", [(1.0, 0j), (0.0, 1 - 2j), (0.5, 2j), (0.3, 0.2 - 0.5j)], ids=str)
def test_all_kinds_of_code_give_the_tangent_of_differences(f: Any, along: tuple[float, complex]) -> None:
    h = 1e-6
    dx, dz = along
    expected = (f(X + h * dx, Z + h * dz) - f(X - h * dx, Z - h * dz)) / (2 * h)
    found = []
    for speculation in ("always", "learn", "never", "dynamic"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            found += [adbc.jvp(f, (X, Z), along)[1] for _ in range(3)]
    assert {*map(type, found)} == {type(found[0])}
    assert found == pytest.approx([expected] * len(found), rel=1e-6)
    assert found == pytest.approx([found[0]] * len(found), rel=1e-13)


def shifted(x: float, z: complex) -> complex:
    return z + x


def of_constant(x: float, z: complex) -> complex:
    return 2.0 * x - 3j


def of_power(x: float, z: complex) -> complex:
    return (1 + 2j) ** x / x


def summed(x: float, z: complex) -> complex:
    total = 0j
    for k in range(3):
        if k:
            total += z * k
    return total * x


def of_list(x: float, z: complex) -> complex:
    parts = [1j, z, x + 0j]
    parts[0] = parts[2] * parts[0]
    return parts[0] * parts[1] - parts[2]


def of_either(x: float, z: complex) -> complex:
    w = z if x < 0.0 else 2.0 + 1j
    return w * w + x


def phases(x: float, z: complex) -> complex:
    return sum((cmath.exp(1j * k * x) * z for k in range(3)), 0j)


RESULTS = [shifted, of_constant, of_power, summed, of_list, of_either, phases]


@pytest.mark.parametrize("f", RESULTS)
def test_tangents_of_complex_results_are_complex(f: Any) -> None:
    for x, z in ((X, Z), (-X, Z)):
        check_rule(f, x, z)
        for dx, dz in ((1.0, None), (None, 1.0 + 1j), (1.0, 0j), (0.0, 0j)):
            with adbc.use(adbc.Config(speculation="dynamic", warm_after=0)):
                value, expected = adbc.jvp(f, (x, z), (dx, dz))
            for _ in range(4):
                again, tangent = adbc.jvp(f, (x, z), (dx, dz))
                assert (again, type(tangent)) == (value, complex)
                assert tangent == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("a", NUMBERS, ids=repr)
@pytest.mark.parametrize("b", NUMBERS, ids=repr)
def test_later_calls_give_tangents_of_the_kind_that_the_first_gives(a: Any, b: Any) -> None:
    def of_two(a: Any, b: Any) -> Any:
        return a * b * b + a

    along = type(a)(1.0), type(b)(0.5)
    with adbc.use(adbc.Config(warm_after=0)):
        value, first = adbc.jvp(of_two, (a, b), along)
        for _ in range(3):
            _, again = adbc.jvp(of_two, (a, b), along)
            assert again == first
            assert type(again) is type(first) is type(value)


@pytest.mark.parametrize("f", CASES)
def test_batches(f: Any) -> None:
    """A Jacobian by columns is that by rows, through complex numbers in between."""

    def inside(v: Any) -> Any:
        return np.array([f(v[0], complex(v[1], v[2])), f(v[1], complex(v[0], v[2]))])

    at = np.array([0.7, 0.3, 0.4])
    for _ in range(2):
        assert np.allclose(adbc.jacfwd(inside, chunk_size=8)(at), adbc.jacrev(inside)(at), rtol=1e-12)


@pytest.mark.parametrize("f", [divided, powers])
def test_batches_of_batches(f: Any) -> None:
    def inside(v: Any) -> Any:
        return f(v[0], complex(v[1], v[2]))

    at = np.array([0.7, 0.3, 0.4])
    twice = adbc.jacfwd(adbc.jacfwd(inside))(at)
    assert np.allclose(twice, adbc.jacfwd(adbc.grad(inside), chunk_size=8)(at), rtol=1e-10)
    assert np.allclose(twice, twice.T, rtol=1e-10)


def test_zero_wins() -> None:
    """A square root has an infinite slope at zero, and nobody asks for it."""

    def unused(x: float, z: complex) -> float:
        return (0.0 * cmath.sqrt(z * x) + z * x).real

    for speculation in ("always", "never", "dynamic"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            for _ in range(3):
                assert adbc.jvp(unused, (2.0, 0j), (1.0, 1.0 + 0j))[1] == 2.0


def test_instructions() -> None:
    def count(n: int) -> float:
        settle(lambda: adbc.jvp(layers, (n, 0.3), (None, 1.0)))
        return executed(lambda: adbc.jvp(layers, (n, 0.3), (None, 1.0))) / executed(lambda: layers(n, 0.3))

    assert count(50) < 5.0
    assert math.isfinite(adbc.jvp(layers, (50, 0.3), (None, 1.0))[1])
