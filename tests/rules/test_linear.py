"""Functions that are declared to be linear, and roots that are declared to be implicit functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

X, K = np.arange(5.0) + 1.0, np.array([1.0, -2.0, 0.5])


def convolved(x: Any, k: Any, *, scale: float = 1.0) -> Any:
    return scale * np.convolve(x, k)


def back(b: Any, x: Any, k: Any, *, scale: float = 1.0) -> Any:
    return scale * np.correlate(b, k, "valid")


adbc.linear(convolved, (0, 1), transpose=(back, lambda b, x, k, *, scale=1.0: back(b, k, x, scale=scale)))


def shifted(x: Any, by: int = 1) -> Any:
    return np.roll(x, by)


adbc.linear(shifted, transpose=lambda b, x, by: np.roll(b, -by))


def test_each_argument_by_itself() -> None:
    check_rule(convolved, X, K)
    check_rule(lambda x, k: convolved(k=k, x=x, scale=3.0), X, K)
    check_rule(convolved, X.astype(np.float32), K.astype(np.float32))
    check_rule(convolved, X[::-1], K[::2])
    check_rule(convolved, X + 1j, K)


def test_defaults_and_keywords() -> None:
    check_rule(shifted, X)
    check_rule(lambda x: shifted(x, by=2), X)
    check_rule(lambda x: shifted(by=-1, x=x), X + 2j)


def test_an_active_argument_in_which_it_is_not_linear_is_refused() -> None:
    for differentiate in (
        lambda: adbc.grad(lambda s: convolved(X, K, scale=s).sum())(2.0),
        lambda: adbc.jvp(lambda s: convolved(X, K, scale=s).sum(), (2.0,), (1.0,)),
    ):
        with pytest.raises(UnsupportedError, match="'scale'"):
            differentiate()


def test_declarations_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="argnums"):
        adbc.linear(shifted, (0, 1), transpose=lambda b, x, by: b)
    with pytest.raises(TypeError, match="argnums"):
        adbc.linear(shifted, -1, transpose=lambda b, x, by: b)


def newton(f: Any, x0: Any, args: Any = ()) -> Any:
    x = x0
    for _ in range(40):
        columns = [(np.asarray(f(x + 1e-7 * e, *args)) - np.asarray(f(x, *args))) / 1e-7 for e in np.eye(2)]
        x = x - np.linalg.solve(np.stack(columns, axis=1), np.asarray(f(x, *args)))
    return x


adbc.implicit(newton, lambda x, f, x0, args=(): f(x, *args))


def test_a_root_of_several_variables() -> None:
    def program(p: float, q: float) -> Any:
        def f(x: Any, q: float) -> Any:
            return [x[0] ** 2 + x[1] - p * q, x[1] ** 3 + x[0] * q - 1.0]

        return newton(f, np.array([1.0, 1.0]), args=(q,))

    check_rule(program, 2.0, 1.5, value_rtol=1e-9)


def halved(f: Any, low: float, high: float) -> Any:
    for _ in range(70):
        middle = 0.5 * (low + high)
        if f(middle) < 0.0:
            low = middle
        else:
            high = middle
    return high


adbc.implicit(halved, lambda x, f, low, high: f(x))


def test_a_bisection_has_the_derivative_of_its_root() -> None:
    check_rule(lambda p: halved(lambda x: x**3 + p * x - 2.0, -4.0, 4.0), 0.7, rtol=1e-5)


def test_what_the_function_keeps_is_seen() -> None:
    def program(p: float) -> Any:
        seen = []

        def f(x: float) -> Any:
            seen.append(p * x)
            return x * x - p

        return halved(f, 0.0, 3.0) + seen[-1]

    for differentiate in (lambda: adbc.grad(program)(2.0), lambda: adbc.jvp(program, (2.0,), (1.0,))):
        seen = pytest.raises(UnsupportedError, match="keeps numbers in a list")
        with adbc.use(adbc.Config()), seen:  # debug mode sees before that the shadow is of another length
            differentiate()
