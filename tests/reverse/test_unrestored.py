"""Updates in place are undone one by one only where somebody looks at what was there before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.types.lattice import ValueArrayType

U = np.array([0.3, -1.2, 0.8, 1.7, 0.4, -0.6])


def diffused(u: Any, k: float) -> Any:
    """Linear, on the argument."""
    for _ in range(3):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def diffused_copy(u: Any, k: float) -> Any:
    w = u.copy()
    for _ in range(3):
        w[1:-1] += k * (w[2:] - 2.0 * w[1:-1] + w[:-2])
        w -= 0.1 * w
    return np.sum(w**3)


def nonlinear(u: Any, k: float) -> Any:
    """Each update reads what the next one changes."""
    w = u.copy()
    for _ in range(3):
        w[1:-1] += k * w[2:] * w[:-2]
    return np.sum(w)


def read_in_between(u: Any, k: float) -> Any:
    w = u.copy()
    w += k * u
    first = np.sum(w * w * w)
    w -= u
    return first + np.sum(w * w)


def read_before(u: Any, k: float) -> Any:
    w = u.copy()
    first = np.sum(np.sin(w))
    w += k
    return first * np.sum(w)


def own_formula_reads(u: Any, k: float) -> Any:
    w = np.exp(u)
    w += k * u
    return np.sum(w)


def read_by_view(u: Any, k: float) -> Any:
    w = u.copy()
    part = w[1:4]
    first = np.sum(part * part)
    w += k
    return first + np.sum(part)


def handed_out(u: Any, k: float) -> Any:
    w = u.copy()
    kept = [w]
    w += k * u
    return np.sum(kept[0] * u)


def in_a_branch(u: Any, k: float) -> Any:
    w = u.copy()
    total = 0.0
    for i in range(4):
        if i % 2:
            w[1:] -= k * w[:-1]
        else:
            total = total + np.sum(w * w)
    return total + np.sum(w)


def nested(u: Any, k: float) -> Any:
    total = 0.0
    for _ in range(2):
        w = u.copy()
        for _ in range(2):
            w[1:] += k * w[:-1]
        total = total + np.sum(w * w)
    return total


def two_arrays(u: Any, k: float) -> Any:
    v = u * u
    w = u.copy()
    for _ in range(3):
        v += k * w
        w -= 0.5 * v
    return np.sum(v * w)


FUNCTIONS: list[Callable[..., Any]] = [
    diffused, diffused_copy, nonlinear, read_in_between, read_before, own_formula_reads, read_by_view,
    handed_out, in_a_branch, nested, two_arrays,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_updates_that_are_not_undone_leave_gradients_and_arguments_right(
    function: Callable[..., Any],
) -> None:
    check_rule(function, U, 0.2)
    for argnums in (0, (0, 1)):  # the short way, where arguments have no shadows
        given = U.copy()
        value, gradient = adbc.value_and_grad(function, argnums)(given, 0.2)
        np.testing.assert_array_equal(given, U)
        assert value == function(U.copy(), 0.2)
        du = gradient[0] if argnums == (0, 1) else gradient
        for i in range(len(U)):
            ends = []
            for sign in (1.0, -1.0):
                moved = U.copy()
                moved[i] += sign * 1e-6
                ends.append(function(moved, 0.2))
            assert du[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


def copies(function: Callable[..., Any]) -> int:
    """How many updates are undone where the gradient by the array is asked for."""
    adbc.grad(function)(U.copy(), 0.2)
    (rule,) = (
        r for r in default_engine().rules.values()
        if r.code is function.__code__ and r.is_built and r.active == (True, False) and r.mode == "reverse"
        and isinstance(r.parameters[0], ValueArrayType)
    )  # fmt: skip
    return str(rule.graphs[0]).count("before_update(")


@pytest.mark.parametrize(
    "function, count",
    [
        (diffused, 1),  # the argument as a whole
        (diffused_copy, 0),
        (nonlinear, 1),
        (read_in_between, 2),
        (read_before, 1),
        (own_formula_reads, 1),
        (read_by_view, 1),
        (in_a_branch, 1),
        (nested, 0),
        (two_arrays, 0),
    ],
)
@pytest.mark.usefixtures("at_once")
def test_what_is_saved(function: Callable[..., Any], count: int) -> None:
    assert copies(function) == count


def test_arguments_with_shadows_are_restored() -> None:
    u = U.copy()
    value, pullback = adbc.vjp(diffused, u, 0.2)
    assert not np.array_equal(u, U)
    pullback(1.0)
    np.testing.assert_array_equal(u, U)
    assert value == diffused(U.copy(), 0.2)


def test_read_only_array_is_refused_as_ever() -> None:
    u = U.copy()
    u.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        adbc.grad(diffused)(u, 0.2)
