"""Arithmetic on complex numbers is differentiated in written code, as that on floats is."""

from __future__ import annotations

import cmath
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from benchmarks.instructions import executed
from benchmarks.settle import settle


def mixed(x: float, z: complex) -> float:
    w = z * z + x
    for k in range(4):
        w = cmath.exp(1j * w * 0.1) / (w + 2.0) + x * z - w**2 * 0.01 + k
    return abs(w) ** 2 + w.real * w.imag


def divided(x: float, z: complex) -> float:
    return ((x * z + 1.0) / (z - x) - x / z + z / x).imag


def made(x: float, z: complex) -> float:
    q = complex(x, x * x) - complex(x)
    return (-q * z + +z).real * 2.0 + (z.conjugate() * z).real


def functions(x: float, z: complex) -> float:
    w = cmath.sin(z) * cmath.cosh(z) + cmath.log(z) - cmath.sqrt(z + x) + cmath.atan(z) + cmath.rect(x, 0.3)
    return w.real + w.imag * x


def powers(x: float, z: complex) -> float:
    return (z**3 + z**x + (x + 2.0) ** z).real


def in_place(x: float, z: complex) -> float:
    w = 0j
    for _ in range(3):
        w += z * x
        w *= z
        w -= x
    return (w * w.conjugate()).real


def branching(x: float, z: complex) -> float:
    w = z * z if z.real > 0.0 else 1.0 / z
    return (w * x).imag


def of_numpy(x: float, z: complex) -> Any:
    a = np.array([x, 2.0])[0]
    q = z / (a + 1.0)
    for _ in range(3):
        q = (a * q + x) / (z * q - a)
    return (q * z - q / x).imag


CASES = [mixed, divided, made, functions, powers, in_place, branching, of_numpy]


@pytest.mark.parametrize("f", CASES)
def test_derivatives_are_those_of_differences_and_of_all_kinds_of_code(f: Callable[..., float]) -> None:
    x, z, h = 0.7, 0.3 + 0.4j, 1e-6
    found = []
    for speculation in ("always", "learn", "never"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            gradient = adbc.grad(f, (0, 1))
            found += [gradient(x, z) for _ in range(2)]
    for bx, bz in found:
        assert type(bx) is float
        assert type(bz) is complex
        assert bx == pytest.approx(found[0][0], rel=1e-14)
        assert bz == pytest.approx(found[0][1], rel=1e-14)
    bx, bz = found[0]
    assert bx == pytest.approx((f(x + h, z) - f(x - h, z)) / (2 * h), rel=1e-6)
    assert bz.real == pytest.approx((f(x, z + h) - f(x, z - h)) / (2 * h), rel=1e-6)
    assert bz.imag == pytest.approx((f(x, z + h * 1j) - f(x, z - h * 1j)) / (2 * h), rel=1e-6)
    dx, dz = 0.3, 0.2 - 0.5j
    _, tangent = adbc.jvp(f, (x, z), (dx, dz))
    assert tangent == pytest.approx(bx * dx + (bz.conjugate() * dz).real, rel=1e-12)


def test_second_derivatives() -> None:
    def first(x: float) -> Any:
        return adbc.grad(lambda x: (x * z * x).imag)(x)

    z, h = 0.3 + 0.4j, 1e-5
    expected = (first(0.7 + h) - first(0.7 - h)) / (2 * h)
    assert adbc.jvp(first, (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)


def test_zero_wins() -> None:
    """A square root has an infinite slope at zero, and nobody asks for it."""

    def unused(x: float, z: complex) -> float:
        return (0.0 * cmath.sqrt(z * x) + z * x).real

    for speculation in ("always", "never"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            bx, bz = adbc.grad(unused, (0, 1))(2.0, 0j)
            assert (bx, bz) == (0.0, 2.0 + 0j)


def test_other_classes_at_the_same_place() -> None:
    def square(z: Any) -> Any:
        return (z * z * 1j).imag

    gradient = adbc.grad(square)
    for _ in range(3):
        assert gradient(3.0) == 6.0
        assert gradient(1.0 + 2.0j) == pytest.approx(2.0 - 4.0j)


def test_calls_are_written_inline() -> None:
    (section,) = adbc.inspect.explain(divided, 0.7, 0.3 + 0.4j).sections
    assert Counter(site.how for site in section.sites)["complex"] >= 8


def layers(n: int, x: float) -> float:
    a, b = 1.0 + 0j, 0j
    for _ in range(n):
        c, s = cmath.cos(x * 1j), 1j * cmath.sin(x)
        a, b = a * c + b * s * x, a * s / x + b * c
    return (a * b.conjugate()).imag + a.real


def test_instructions() -> None:
    gradient = adbc.grad(layers, 1)

    def count(n: int) -> float:
        settle(lambda: gradient(n, 0.3))
        return executed(lambda: gradient(n, 0.3)) / executed(lambda: layers(n, 0.3))

    assert count(50) < 14.0
    assert math.isfinite(gradient(50, 0.3))


NUMBERS: list[Any] = [
    0.7,
    0.3 + 0.4j,
    np.float32(0.5),
    np.float64(0.2),
    np.complex64(1 + 2j),
    np.complex128(2j),
]


def of_two(a: Any, b: Any) -> Any:
    return (a * b * b + a).real


@pytest.mark.parametrize("a", NUMBERS, ids=repr)
@pytest.mark.parametrize("b", NUMBERS, ids=repr)
def test_later_calls_give_numbers_of_the_kind_that_the_first_gives(a: Any, b: Any) -> None:
    gradient = adbc.grad(of_two, (0, 1))
    with adbc.use(adbc.Config(warm_after=0)):
        first = gradient(a, b)
        for _ in range(3):
            again = gradient(a, b)
            assert again == first
            assert [*map(type, again)] == [*map(type, first)] == [type(a), type(b)]
