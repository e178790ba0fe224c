"""Complex numbers of NumPy's and of Python's in one computation: a sum that begins with ``0j`` and goes on
with elements of arrays, beams, phasors, and their parts."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.testing import test_rule as check_rule


def beam(v: Any, passes: int) -> Any:
    """A beam's parameter after some passes of an optical system, whose matrix has real elements."""
    q = 0.5 + 0.1j
    for _ in range(passes):
        q = (v[0] * q + v[1]) / (v[2] * q + v[3])
    return q.real + 2.0 * q.imag


def phasors(amplitudes: Any, phase: float) -> Any:
    total = 0j
    turn = cmath.exp(1j * phase)
    at = 1 + 0j
    for a in amplitudes:
        total += a * at
        at *= turn
    return total.real**2 + total.imag**2


def impedances(values: Any, omega: float) -> Any:
    """The impedance of a ladder of resistors and capacitors."""
    z = np.complex128(0.0)
    for r, c in zip(values[::2], values[1::2]):
        z = r + 1.0 / (1j * omega * c + 1.0 / (z + 1.0))
    return abs(z) + (z * z.conjugate()).real - z.imag


def spectrum(samples: Any, frequencies: Any) -> Any:
    powers = []
    for f in frequencies:
        x = 0j
        for k, s in enumerate(samples):
            x = x + s * np.exp(-2j * np.pi * f * k)
        powers.append((x * x.conjugate()).real)
    return math.log(powers[0] + 2.0 * powers[1])


def one_of_two(x: Any, y: Any, is_numpy: bool) -> Any:
    z = np.complex128(x, y) if is_numpy else complex(x, y)
    w = (z + x) * (z - 2.0 * y) / (3.0 + z)
    return w.real * w.imag


V = np.array([1.0, 0.3, -0.2, 1.5])


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (beam, (V, 4)),
        (beam, ([1.0, 0.3, -0.2, 1.5], 4)),
        (phasors, (V, 0.7)),
        (phasors, ([1.0, 0.5, 0.25], 0.7)),
        (impedances, (np.array([1.0, 0.2, 2.0, 0.3]), 1.7)),
        (spectrum, (V, [0.1, 0.3])),
        (one_of_two, (1.3, 0.4, True)),
        (one_of_two, (1.3, 0.4, False)),
    ],
)
def test_complex_numbers_of_both_kinds(f: Any, args: Any) -> None:
    check_rule(f, *args)


def test_one_of_two_classes_at_one_place() -> None:
    def f(x: float, y: float) -> Any:
        return one_of_two(x, y, True) + one_of_two(x, y, False)

    for _ in range(3):
        check_rule(f, 1.3, 0.4)


def test_formulas_are_written_in_where_a_sum_becomes_numpys() -> None:
    lines = [str(adbc.inspect.explain(f, *args)) for f, args in ((beam, (V, 4)), (phasors, (V, 0.7)))]
    assert not any("dynamic" in line or "primitive" in line for line in lines)


def test_a_number_of_numpys_is_divided_by_zero_without_an_error() -> None:
    def f(x: float, z: complex) -> Any:
        q = np.complex128(1.0)
        for _ in range(2):
            q = q * x / z
        return q.real

    with np.errstate(all="ignore"):
        value, gradient = adbc.value_and_grad(f)(2.0, 0j)
    assert not math.isfinite(value) and not math.isfinite(gradient)


def test_the_class_of_the_value_is_that_of_the_plain_call() -> None:
    for f, args in ((beam, (V, 0)), (beam, (V, 2)), (phasors, (V, 0.7)), (phasors, (V[:0], 0.7))):
        value, _ = adbc.value_and_grad(f)(*args)
        assert type(value) is type(f(*args))
        assert type(adbc.jvp(f, args, (np.ones(len(args[0])), None))[0]) is type(f(*args))
