"""All functions of NumPy that take complex arrays: forward against differences, reverse against forward."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError

RNG = np.random.default_rng(3)
STEP = 1e-6


def numbers() -> Any:
    return RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))


FORMS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "f(x)": lambda f: lambda x: f(x),
    "f(x, 2)": lambda f: lambda x: f(x, 2),
    "f(x, x)": lambda f: lambda x: f(x, x),
    "f(x, x.T + 1)": lambda f: lambda x: f(x, x.T + 1),
    "f(1.5, x)": lambda f: lambda x: f(1.5, x),
}
LEFT_OUT = {
    "empty_like", "unique_values", "info", "save", "savetxt", "savez", "savez_compressed", "source", "test",
    "show_config", "show_runtime", "disp", "get_include",
}  # fmt: skip
"""What gives memory as it is, sorts by a rule that differences do not respect, writes or prints."""


def functions() -> list[Any]:
    found = []
    for module in (np, np.linalg, np.fft):
        for name in sorted(set(dir(module)) - LEFT_OUT):
            f = getattr(module, name)
            if callable(f) and not isinstance(f, type) and not name.startswith("_"):
                found.append(pytest.param(f, id=f"{module.__name__}.{name}"))
    return found


@pytest.mark.parametrize("f", functions())
def test_reverse_mode_conjugates(f: Any) -> None:
    x, dx = numbers(), numbers()
    for name, form in FORMS.items():
        g = of_a_copy(form(f))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = g(x)
            except Exception:  # it is not for such arguments
                continue
            if not isinstance(value, np.ndarray | np.inexact) or value.dtype.kind not in "fc":
                continue
            try:
                check(g, x, dx, value, name)
            except AdbcError:
                continue


def of_a_copy(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x.copy())


def check(g: Any, x: Any, dx: Any, value: Any, name: str) -> None:
    forward = adbc.jvp(g, (x,), (dx,))[1]
    by = RNG.normal(size=value.shape)
    if value.dtype.kind == "c":
        by = by + 1j * RNG.normal(size=value.shape)
    by = by.astype(value.dtype)
    (bx,) = adbc.vjp(g, x)[1](by if value.ndim else by.item())
    difference = (g(x + STEP * dx) - g(x - STEP * dx)) / (2 * STEP)
    along, against = inner(by, forward), inner(bx, dx)
    assert np.isclose(along, against, rtol=1e-7, atol=1e-9), f"{name}: forward {along}, reverse {against}"
    expected = inner(by, difference)
    if np.isfinite(expected):
        assert np.isclose(along, expected, rtol=1e-3, atol=1e-5), f"{name}: {along}, not {expected}"


def inner(a: Any, b: Any) -> float:
    return float(np.sum(np.real(np.conj(a) * b)))
