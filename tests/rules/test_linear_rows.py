"""Rows of what pullbacks are written with: fitting a cotangent, letting a shadow grow, elements of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.rules.linear_rows import check_grown
from adbc.rules.numpy import looks
from adbc.runtime.calls import nested_arrays
from adbc.runtime.state import slots
from adbc.testing import test_rule as check

ROW = np.array([0.3, -0.7, 1.1])
GRID = np.array([[0.4, -0.2, 0.9], [1.3, 0.1, -0.5]])


@pytest.mark.parametrize("d", [ROW, GRID, 0.7, np.float64(0.7), ROW * (1.0 + 0.5j)], ids=str)
@pytest.mark.parametrize("grow", ["_give_numbers", "_take_numbers"])
def test_shadows_grow_by_what_fits_and_by_what_was_broadcast(grow: str, d: Any) -> None:
    check(getattr(nested_arrays, grow), np.array([1.0, 2.0, 3.0]), ROW.copy(), d)
    check(looks._add_numbers, np.array([1.0, 2.0, 3.0]), ROW.copy(), d)


def test_shadows_that_are_views_grow() -> None:
    def f(memory: Any, d: Any) -> None:
        nested_arrays._give_numbers(memory[::2], ROW, d)

    check(f, np.arange(6.0), ROW.copy())


@pytest.mark.parametrize(
    ("d", "x"),
    [(ROW, ROW), (GRID, ROW), (0.3, ROW), (GRID, 1.5), (ROW * 1j, ROW), (ROW, ROW * 1j), (0.3, 2.0)],
    ids=str,
)
def test_cotangents_are_fitted(d: Any, x: Any) -> None:
    check(lambda d: nested_arrays._project_numbers(d, x), d)
    check(lambda d: nested_arrays._fit_number(d, x), d)
    if isinstance(x, np.ndarray):
        check(lambda d: nested_arrays._fit_numbers(d, x.shape, x.dtype.char), d)


def test_what_fits_is_itself() -> None:
    def f(d: Any) -> Any:
        fitted = nested_arrays._project_numbers(d, ROW)
        fitted[0] = fitted[0] * fitted[1]
        return d * 1.0

    check(f, ROW.copy())
    check(lambda d: nested_arrays._project_numbers(d, ROW, True), ROW.copy())


@pytest.mark.parametrize("index", [1, -1, (1, 2)])
def test_elements(index: Any) -> None:
    shape = (2, 3) if isinstance(index, tuple) else (3,)
    container, shadow = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape), np.full(shape, 0.5)
    check(lambda shadow, b: slots.add_to_slot(shadow, index, b), shadow.copy(), 0.3)
    check(lambda shadow, b: slots.add_to_slot(shadow, index, b), shadow.copy(), np.float64(0.3))
    check(
        lambda container, shadow, old: slots.restore_slot(container, shadow, index, old),
        container.copy(), shadow.copy(), 0.3,
    )  # fmt: skip
    check(lambda container, old: slots.restore_slot(container, None, index, old), container.copy(), 0.3)


def test_a_shadow_that_is_constant_is_not_grown() -> None:
    with pytest.raises(ConstWriteError, match="shadow that is constant"):
        check_grown(None)


# -- in derivatives of derivatives ---------------------------------------------------------------------------


def smoothed(u: Any, k: float) -> Any:
    """A line in place, element by element."""
    u = u**2
    for _ in range(3):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u[i]
    return np.sum(u)


def broadcast(x: Any, k: float) -> Any:
    table = k * np.sin(x)[:, None] * x
    table[1:] += x
    return np.sum(table * table)


def complex_elements(x: Any, k: float) -> Any:
    z = np.exp(1j * k * x)
    for i in range(1, len(x)):
        z[i] = z[i] * z[i - 1] + x[i]
    return np.sum(np.abs(z) ** 2)


@pytest.mark.parametrize("f", [smoothed, broadcast, complex_elements])
def test_second_derivatives(f: Any) -> None:
    x, v, h = np.linspace(0.3, 1.2, 6), np.cos(np.arange(6.0)), 1e-5
    first = adbc.grad(f)
    expected = (first(x + h * v, 0.4) - first(x - h * v, 0.4)) / (2.0 * h)
    for _ in range(3):
        np.testing.assert_allclose(adbc.jvp(first, (x.copy(), 0.4), (v.copy(), None))[1], expected, rtol=1e-6)
        np.testing.assert_allclose(adbc.grad(lambda x: first(x, 0.4) @ v)(x), expected, rtol=1e-6)
    columns = adbc.jvp(first, (x.copy(), 0.4), (np.eye(6), None), width=6)[1]
    np.testing.assert_allclose(columns @ v, expected, rtol=1e-6)
    third = adbc.jvp(lambda x: adbc.jvp(first, (x, 0.4), (v, None))[1], (x.copy(),), (v.copy(),))[1]
    up, down = (adbc.jvp(first, (x + s * h * v, 0.4), (v.copy(), None))[1] for s in (1.0, -1.0))
    np.testing.assert_allclose(third, (up - down) / (2.0 * h), rtol=1e-5, atol=1e-7)


def test_elements_are_differentiated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In forward mode over reverse mode nothing is decided per element of an array when it runs."""
    from adbc.runtime import default_engine
    from adbc.runtime.calls.driver import Calls

    x, v = np.linspace(0.3, 1.2, 40), np.ones(40)
    first = adbc.grad(smoothed)
    for _ in range(60):
        adbc.jvp(first, (x, 0.4), (v, None))
    runs: list[Any] = []
    run = Calls.run
    monkeypatch.setattr(Calls, "run", lambda self, *args: runs.append(args) or run(self, *args))
    builds = default_engine().builds
    adbc.jvp(first, (x, 0.4), (v, None))
    assert default_engine().builds == builds
    assert len(runs) < 20  # there are 114 elements
