"""Functions without derivative that write into ``out=``: the derivative of what stood there ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.numpy.zeros import FUNCTIONS, INTO, IntoRule
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

X = np.array([0.3, 1.2, 2.7])


def by_helper(a: Any, b: Any) -> float:
    np.round(a, out=b)
    return 1.0


def helped(x: Any) -> Any:
    v = np.sin(x)
    return by_helper(x, v) * np.sum(v)


def part(x: Any) -> Any:
    v = np.sin(x)
    np.round(x[:2], out=v[1:])
    return np.sum(v * x)


def kept(x: Any) -> Any:
    v = np.sin(x)
    w = 2.0 * v
    np.round(x, 0, v)
    v[0] = x[1]
    return np.sum(v * w)


def of_rows(x: Any) -> Any:
    v = np.outer(x, x)[0].copy()
    np.any(np.outer(x, x) > 1.0, axis=0, out=v)
    return np.sum(v * x)


def steps(function: Any, *, positional: bool) -> Callable[[Any], Any]:
    def of_keyword(x: Any) -> Any:
        v = np.sin(x)
        function(x, out=v)
        return np.sum(v * x)

    def by_position(x: Any) -> Any:
        v = np.sin(x)
        function(x, v)
        return np.sum(v * x)

    return by_position if positional else of_keyword


def rounded_by_method(x: Any) -> Any:
    v = np.sin(x)
    x.round(0, v)
    return np.sum(v * x)


def whole(x: Any) -> Any:
    v = np.sin(x)
    y = np.all(np.outer(x, x) > 0.1, 0, v)
    return np.sum(y * x) + v[0]


def returned(x: Any) -> Any:
    v = np.sin(x)
    y = np.around(x, out=v)
    y += x
    return np.sum(v * v)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "helper": helped, "part": part, "kept": kept, "rows": of_rows, "method": rounded_by_method,
    "whole": whole, "returned": returned,
    "round": steps(np.round, positional=False), "fix": steps(np.fix, positional=False),
    "fix by position": steps(np.fix, positional=True), "floor": steps(np.floor, positional=False),
    "floor by position": steps(np.floor, positional=True), "rint": steps(np.rint, positional=True),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("speculation", ["never", "learn", "dynamic", "always"])
def test_what_is_overwritten_has_no_derivative(name: str, speculation: str) -> None:
    f = PROGRAMS[name]
    h = 1e-6
    wanted = [(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(3)]
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            np.testing.assert_allclose(adbc.grad(f)(X), wanted, atol=1e-7)
            for e, slope in zip(np.eye(3), wanted, strict=True):
                np.testing.assert_allclose(adbc.jvp(f, (X,), (e,))[1], slope, atol=1e-7)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_state_is_restored(name: str) -> None:
    check_rule(PROGRAMS[name], X)


def test_a_target_that_is_an_argument_is_restored() -> None:
    def into(x: Any, v: Any) -> Any:
        y = v * 2.0
        np.round(x, out=v)
        return np.sum(v * x * y)

    check_rule(into, X, np.array([1.0, 2.0, 3.0]))


def test_a_constant_target_stays_constant() -> None:
    buffer = np.zeros(3)

    def into(x: Any) -> Any:
        np.round(x, out=buffer)
        return np.sum(buffer * x)

    np.testing.assert_array_equal(adbc.grad(into)(X), np.round(X))
    np.testing.assert_array_equal(buffer, np.zeros(3))


def test_every_function_that_takes_out_has_such_a_row() -> None:
    table = default_engine().table
    functions = [getattr(np, name) for name in FUNCTIONS if hasattr(np, name)]
    writing = [f for f in functions if "out" in inspect.signature(f).parameters]
    assert len(writing) > 8
    for function in [*writing, *(getattr(np.ndarray, name) for name, _, _ in INTO)]:
        assert isinstance(table.find(function, (np.ndarray,)), IntoRule)


@pytest.mark.parametrize("method", [np.ndarray.conj, np.ndarray.conjugate])
def test_methods_that_conjugate_into_another_array_are_refused(method: Any) -> None:
    def into_its_argument(x: Any) -> Any:
        z, out = np.array([1.0 - 1.0j, 2.0 + 3.0j]) * x, np.empty(2, complex)
        method(z, out)
        return out.imag.sum()

    def by_a_function(x: Any) -> Any:
        z, out = np.array([1.0 - 1.0j, 2.0 + 3.0j]) * x, np.empty(2, complex)
        np.conjugate(z, out)
        return out.imag.sum()

    for derivative in (adbc.grad(into_its_argument), lambda x: adbc.jvp(into_its_argument, (x,), (1.0,))):
        with pytest.raises(UnsupportedError, match="another"):
            derivative(1.5)
    check_rule(by_a_function, 1.5)


def _into_both(x: Any) -> Any:
    v, w = np.sin(x), np.cos(x)
    first = v * w
    found = np.modf(x * v, out=(v, w))
    assert found[0] is v
    return np.sum(first * v) + np.sum(v**2 * x) + np.sum(w)


def _into_one(x: Any) -> Any:
    v = np.sin(x)
    whole = np.divmod(3.0 * x, v, out=(None, v))[0]
    return np.sum(v * x * whole)


def _over_what_is_given(x: Any) -> Any:
    v = 3.1 * x
    np.modf(v, v, np.empty(3))
    return np.sum(v**2 * x)


def _with_whole_numbers(x: Any) -> Any:
    mantissa = np.empty(3)
    _, exponents = np.frexp(x * x, out=(mantissa, np.empty(3, np.int32)))
    return np.sum(mantissa**2 * exponents)


@pytest.mark.parametrize("f", [_into_both, _into_one, _over_what_is_given, _with_whole_numbers])
def test_functions_with_two_results(f: Any) -> None:
    check_rule(f, X)
    v, h = np.array([0.4, -0.3, 0.7]), 1e-5
    first = adbc.grad(f)
    expected = (first(X + h * v) - first(X - h * v)) / (2 * h)
    np.testing.assert_allclose(adbc.jvp(first, (X,), (v,))[1], expected, rtol=1e-5, atol=1e-7)
