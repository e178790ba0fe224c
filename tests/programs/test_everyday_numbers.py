"""What programs do with single numbers: rounding, quotients and rests, complex numbers, choices by a key."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_second_derivative

INF, NAN = math.inf, math.nan


def phases(x: float) -> Any:
    total = 0.0
    for k in range(5):
        t = x * k + 0.07
        total += (t - math.floor(t)) * math.ceil(t) + int(t) * x + round(t) * t - math.trunc(-t) * x
        total += t // 0.3 * x + t % 0.3 + round(t, 1) * x * x + round(t, -1) * x + round(t, None) * x
    return total


def quotients(x: float) -> Any:
    total = 0.0
    for k in range(1, 5):
        q, r = divmod(x * k + 0.01, 0.3)
        total += q * x + r * r + divmod(k, x)[1] + divmod(7, k)[0] * x + divmod(x, 2)[1]
        fraction, whole = math.modf(3.3 * x * k)
        mantissa, exponent = math.frexp(x * k)
        total += fraction * fraction + whole * x + mantissa * math.ldexp(x, exponent) + math.modf(x)[0]
    return total


class Signal:
    def __init__(self, x: float) -> None:
        self.gain = complex(x, 0.5)

    def at(self, w: Any) -> Any:
        z = cmath.exp(1j * w) * self.gain + complex(w)
        return abs(z) * z.real - z.imag / abs(self.gain) + (z * z.conjugate()).real


def responses(x: float) -> Any:
    signal = Signal(x)
    total = 0.0
    for k in range(4):
        total += signal.at(0.3 * k) + x.real * x.conjugate() + (x * 1j).imag - x.imag + k.real * x
    return total + abs(complex(x, x)) + cmath.phase(complex(x, 1.0)) + abs(cmath.sqrt(complex(-x, x)))


def of_numpy_numbers(x: float) -> Any:
    total = np.float64(0.0)
    for k in range(4):
        y = np.float64(x * k)
        total += y * np.float64(k) + np.float64(y) * x + float(np.float64(x)) * float(y) // 1
        total += np.dot([x, y], [1.0, k]) * np.sum([x, y, k]) + np.mean((x, y)) * np.linalg.norm([x, y, 1])
        total += np.inner((x, 1.0), [y, x]) - np.vdot([x], [y])
    return total


POINTS = [(0.1, 2.0), (0.5, 1.0), (0.9, -1.0), (1.4, 0.5)]


def nearest(x: float) -> Any:
    total = 0.0
    for k in range(4):
        px, py = min(POINTS, key=lambda p: (p[0] - x * k - 0.07) ** 2)  # noqa: B023  # called at once
        total += px * x + py + max(x, -x, x * k, key=abs) + max((x, 1), (0.3 * k, x))[0]
        total += max((x * k, "a"), (x, "b"), key=lambda p: p[0])[0] + min((k, x), (1, x * x))[1]
        total += max([x, 2.0 * x, 0.5], key=lambda v: -((v - k - 0.02) ** 2), default=1.0)  # noqa: B023
    return total


def early(x: float) -> Any:
    total, limits = 0.0, (x, 2.0 * x, 1.0)
    for k in range(5):
        y = 0.0
        for v in limits:
            if v > 0.3 * k:
                y = v * v
                break
        for v in (x, x * x):
            if v < 0.1 * k:
                break
            total += v * k
        else:
            total += x
        total += y + (x if any([x > 0.2 * k, x < 0.1]) else 2.0) + (x if all((x > 0.5, k < 3)) else -x)
        total += x * x if x.is_integer() else x if isinstance(x, float) and not isinstance(k, float) else 0.0
    return total


PROGRAMS = [phases, quotients, responses, of_numpy_numbers, nearest, early]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7, step=1e-4)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.usefixtures("at_once")
def test_when_all_is_known_at_once(function: Callable[[float], Any]) -> None:
    for _ in range(3):
        check_gradient(function, 0.7, step=1e-4)


@pytest.mark.parametrize("function", [phases, quotients, nearest, early], ids=lambda f: f.__name__)
@pytest.mark.usefixtures("at_once")
def test_second_derivatives(function: Callable[[float], Any]) -> None:
    check_second_derivative(function, 0.7, rtol=1e-5)


STEPS: list[Callable[[Any], Any]] = [
    math.floor, math.ceil, math.trunc, int, round, lambda x: x // 0.5, lambda x: 1.0 // x,
    lambda x: round(x, 3), lambda x: round(x, None), lambda x: round(x, -2),
]  # fmt: skip
SIZES = [
    0.0, -0.0, 1.5, -2.5, 2.0**51 + 0.5, 2.0**52 - 1, 2.0**52, -(2.0**52), 1e15, 1e17, 1e-17, 2.0**42,
    2.0**43, -(2.0**43), 1e300, INF, -INF, NAN,
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_steps_refuse_what_they_do_not_round(step: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        return step(x) * 1.0

    def outcome(run: Callable[[], Any]) -> Any:
        try:
            return repr(run())
        except (ValueError, OverflowError, ZeroDivisionError, UnsupportedError) as error:
            return type(error), str(error).partition(", in ")[0]

    def runs(x: float) -> list[Any]:
        return [
            outcome(lambda: adbc.value_and_grad(f)(x)),
            outcome(lambda: adbc.jvp(f, (x,), (1.0,))),
            outcome(lambda: adbc.jvp(f, (x,), (0.0,))),
        ]

    for x in SIZES:
        with adbc.use(adbc.Config(speculation="dynamic", warm_after=0)):
            expected = runs(x)
        with adbc.use(adbc.Config(warm_after=0)):
            for _ in range(3):
                assert runs(x) == expected


@pytest.mark.usefixtures("at_once")
def test_kinks_and_errors() -> None:
    assert adbc.grad(lambda z: abs(complex(z, z)))(0.0) == 0.0
    assert adbc.grad(lambda x: np.linalg.norm([x, x]))(0.0) == 0.0
    assert adbc.grad(lambda x: max((x, 1), (x, 2))[0] + min((x, 1), (x, 1))[0])(1.0) == 2.0
    assert adbc.grad(lambda x: max([x, 2.0], key=lambda v: 0.0))(1.0) == 1.0
    assert math.isnan(adbc.grad(lambda x: abs(complex(x, 1.0)) * 1.0)(NAN))

    def wrong(kind: int, x: Any) -> Any:
        if kind == 0:
            return divmod(x, 0.0)[1]
        if kind == 1:
            return x // 0.0
        if kind == 2:
            return max([], key=lambda v: v * x)
        if kind == 3:
            return math.floor(x / 0.0 if x > 1.0 else INF) * x
        if kind == 4:
            return max((x, 1), key=abs, default=3)[0]
        if kind == 5:
            return max((x, 1), ("a", 2))[0]
        if kind == 6:
            return np.dot([x, 1.0], [x, 2.0, 3.0])
        return max((x, 1), (x, 2), default=1)

    for kind in range(8):
        for _ in range(3):
            with pytest.raises(Exception) as plain:  # noqa: B017, PT011
                wrong(kind, 0.5)
            with pytest.raises(plain.type) as derived:
                adbc.grad(wrong, 1)(kind, 0.5)
            assert str(derived.value) == str(plain.value)


def by_parts(x: float) -> Any:
    total = 0.0
    for k in range(60):
        t = x * k
        total += math.floor(t) * x + divmod(t, 0.3)[1] + int(t) * 2.0 + round(t, 2)
    return total


def plainly(x: float) -> Any:
    total = 0.0
    for k in range(60):
        t = x * k
        total += t * x + t % 0.3 + t * 2.0 + t
    return total


def test_rounding_costs_little() -> None:
    counts = []
    for function in (plainly, by_parts):
        gradient = adbc.value_and_grad(function)
        for _ in range(8):
            gradient(0.7)
        counts.append(executed(lambda: gradient(0.7)))  # noqa: B023  # called at once
    assert counts[1] <= 2.6 * counts[0]
