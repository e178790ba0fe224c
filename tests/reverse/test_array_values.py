"""Arrays that are treated like numbers: which ones are, and that nobody can tell the difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import fwd_ir
from adbc.testing import test_rule as check_rule
from adbc.types import ArrayType

RNG = np.random.default_rng(3)


def array(*shape: int) -> Any:
    return RNG.uniform(0.3, 1.2, shape)


def chain(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x * y + 1.0) / (y - 2.0) - x**2 * 3.0)


def used_twice(x: Any) -> Any:
    y = x * x
    z = y * y + y
    return np.sum(z * y)


def broadcast(x: Any, y: Any) -> Any:
    """A column and a row."""
    return np.sum((x * y - y) ** 2.0 / x)


def with_numbers(x: Any, a: float) -> Any:
    return np.sum(a * x + (a - x) * x / a) * a


def returned_too(x: Any) -> Any:
    y = x * 2.0
    return np.sum(y * y), y


def kept_in_a_list(x: Any) -> Any:
    y = x * 2.0
    kept = [y]
    y = y * x
    kept[0][0] = kept[0][0] * 3.0
    return np.sum(y * kept[0])


def changed_in_place(x: Any) -> Any:
    y = x * 2.0
    z = y * y
    y += x
    y[0] = y[1] * z[0]
    return np.sum(y * z)


def target_of_out(x: Any) -> Any:
    y = x * 2.0
    z = y * y
    np.multiply(y, x, out=y)
    return np.sum(y * z)


def viewed(x: Any) -> Any:
    y = x * 2.0
    z = y[1:] * y[:-1]
    return np.sum(z) + np.sum(y)


def on_two_ways(x: Any, flag: bool) -> Any:
    y = x * 2.0 if flag else x + 1.0
    return np.sum(y * y)


def in_a_loop(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        y = x * (k + 1.0)
        total = total + np.sum(np.tanh(y) * y)
    return total


def added_in_place(u: Any, x: Any) -> Any:
    for _ in range(3):
        u[1:-1] += 0.3 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * x[1:-1]
        u[0] -= u[1]
    u -= x * u
    return np.sum(u * u)


def running_sum(u: Any) -> Any:
    """Target and operand overlap."""
    u[1:] += u[:-1]
    u[:-1] -= u[1:] * u[1:]
    u[::2] += u[::-2][: len(u[::2])]
    return np.sum(u * u)


def rows(u: Any, v: Any, a: float) -> Any:
    u += v
    u -= a
    u[0] += v * a
    return np.sum(u * u * v)


def reductions(x: Any) -> Any:
    y = np.exp(x) - 1.0
    return np.max(y * x) + np.mean(y, axis=0).sum() + np.sum(y * y, axis=1) @ x[:, 0]


def products(x: Any, y: Any) -> Any:
    z = (x + 1.0) @ (y * 2.0)
    return np.sum(np.tanh(z) * z)


def caught(x: Any) -> Any:
    y = x * 2.0
    try:
        z = y * x
        z[100] = 1.0
    except IndexError:
        y = y * y
    return np.sum(y * z)


def masked(x: Any) -> Any:
    return np.sum(np.where(x > 0.7, np.sqrt(x) * 2.0, x / (x + 1.0)))


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (chain, (array(4), array(4))),
    (chain, (array(2, 3), array(2, 3))),
    (chain, (array(4), array(1))),
    (used_twice, (array(3),)),
    (broadcast, (array(3, 1), array(1, 4))),
    (broadcast, (array(3, 1), array(4))),
    (with_numbers, (array(3), 0.7)),
    (returned_too, (array(3),)),
    (kept_in_a_list, (array(3),)),
    (changed_in_place, (array(3),)),
    (target_of_out, (array(3),)),
    (viewed, (array(4),)),
    (on_two_ways, (array(3), True)),
    (on_two_ways, (array(3), False)),
    (in_a_loop, (array(3), 3)),
    (added_in_place, (array(5), array(5))),
    (running_sum, (array(6),)),
    (rows, (array(3, 4), array(4), 0.3)),
    (reductions, (array(3, 2),)),
    (products, (array(2, 3), array(3, 2))),
    (caught, (array(3),)),
    (masked, (array(5),)),
    (chain, (array(0), array(0))),
]


@pytest.mark.parametrize(
    ("function", "arguments"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)]
)
def test_arrays_treated_like_numbers_have_the_same_derivatives(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check_rule(function, *arguments)


def test_one_array_as_two_arguments() -> None:
    x = array(5)
    check_rule(added_in_place, x, x)
    check_rule(chain, x, x)
    check_rule(added_in_place, x[:], x[:])


def test_a_gradient_in_single_precision_stays_single() -> None:
    x = array(4).astype(np.float32)
    value, gradient = adbc.value_and_grad(used_twice)(x)
    assert value.dtype == gradient.dtype == np.float32
    wanted = adbc.grad(used_twice)(x.astype(float))
    assert np.allclose(gradient, wanted, rtol=1e-5)


def test_zero_times_infinity_is_zero() -> None:
    """A way that `where` did not take does not make the gradient NaN."""

    def function(x: Any) -> Any:
        return np.sum(np.where(x > 0.0, np.sqrt(x) * 1.0, x * 2.0))

    gradient = adbc.grad(function)(np.array([0.0, 4.0]))
    assert gradient.tolist() == [2.0, 0.25]


def test_what_is_not_used_costs_nothing() -> None:
    def function(x: Any) -> Any:
        y = x * x
        z = y * 2.0  # computed, and that is all
        return np.sum(y) + 0.0 * len(z)

    check_rule(function, array(3))


def weighted(x: Any) -> Any:
    return np.sum([0.0, 1.0, 2.0] * np.cos(x))


def weighted_of_numbers(x: float) -> Any:
    return np.sum([0.0, 1.0] * np.array([0.5, x]))


def measured(x: Any) -> Any:
    return np.sum(np.hypot([0.5, 1.0, 2.0], np.cos(x))) + np.dot([0.5, 1.0, 2.0], np.sin(x))


@pytest.mark.parametrize("f, x", [(weighted, array(3)), (weighted_of_numbers, 0.7), (measured, array(3))])
def test_beside_a_list_in_which_there_might_be_text(f: Callable[..., Any], x: Any) -> None:
    check_rule(f, x)


def repeated(x: Any, times: Any) -> Any:
    total = 0.0
    for n in times:
        total = total + np.repeat(x, int(n)).sum()
    return total


def tiled(x: Any, times: Any) -> Any:
    for n in times:
        y = np.tile(x, n[0]).sum() * 2.0
    return y


def differences(x: Any, times: Any) -> Any:
    total, i = 0.0, 0
    while i < len(times):
        n = int(times[i])
        total = total + np.diff(x, n=n).sum() - np.cumsum(x[n:]).mean()
        i += 1
    return total


@pytest.mark.parametrize("f, times", [(repeated, ("1", "3")), (tiled, ([1], [2])), (differences, ("1", "2"))])
@pytest.mark.parametrize("warm_after", [0, 40])
def test_a_sum_in_a_loop_of_an_array_whose_formula_wants_an_array(
    f: Callable[..., Any], times: Any, warm_after: int
) -> None:
    """The number of elements is known by a guess, behind a check: the loop may be left there."""
    x, t = array(4), array(4)
    expected = adbc.jvp(lambda x: f(x, times), (x,), (t,))
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(50):
            value, slope = adbc.value_and_grad(lambda x: f(x, times))(x)
            assert value == pytest.approx(expected[0]) and slope @ t == pytest.approx(expected[1])
    check_rule(lambda x: f(x, times), x)


@pytest.mark.parametrize("warm_after", [0, 40])
def test_beside_a_list_by_which_there_is_no_derivative(warm_after: int) -> None:
    def f(x: Any) -> Any:
        return np.add.reduceat(x * x, [0, 2, 1]) @ [1.0, 2.0, 3.0]

    x = array(4)
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(3):
            slope = adbc.grad(f)(x)
            assert slope == pytest.approx(2.0 * x * [1.0, 4.0, 5.0, 3.0])


def text(function: Callable[..., Any], *types: Any) -> str:
    return str(fwd_ir((function, *types)))


def test_no_shadow_and_no_rule() -> None:
    vector = ArrayType("float64", 1, np.ndarray)
    found = text(chain, vector, vector)
    assert found.count("rrule") == 0 and found.count("_unpack_") == 0
    # What can be seen has a shadow: returned, changed, kept.
    assert text(returned_too, vector).count("fresh_shadow") == 1
    assert text(changed_in_place, vector).count("fresh_shadow") == 2
