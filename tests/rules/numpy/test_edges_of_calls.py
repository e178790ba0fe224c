"""Forms of calls that random ones have found: numbers for 0-d targets, axes in tuples, numbers in the place
of arrays, and derivatives that are infinite where nothing asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

X = np.array([0.3, 1.2, 2.7])


def dot_into(x: Any) -> Any:
    out = np.zeros(())
    number = np.dot(x, x, out=out)
    out *= 3.0
    return number * x[0] + out[()] * x[1]


def method_into(x: Any) -> Any:
    out = np.zeros(())
    view = out[...]
    number = x.dot(x[::-1], out=out)
    view += x[0]
    return number * number + out[()]


def std_of_a_number_into(x: Any) -> Any:
    out = np.zeros(())
    number = np.around(x[0], out=out)
    out += x[1]
    return number + out[()] * x[2]


@pytest.mark.parametrize("f", [dot_into, method_into, std_of_a_number_into])
def test_a_number_is_given_for_a_target_without_axes(f: Callable[[Any], Any]) -> None:
    """The number is no view of the target: what is written there later does not change it."""
    check_rule(f, X.copy())


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.add.accumulate(x, axis=(0,)) @ x,
        lambda x: np.multiply.accumulate(x, axis=(0,)) @ x,
        lambda x: np.maximum.accumulate(x * x[::-1], axis=(0,)) @ x,
        lambda x: np.minimum.accumulate(np.outer(x, x), axis=(1,)) @ x,
    ],
)
def test_the_one_axis_in_a_tuple(f: Callable[[Any], Any]) -> None:
    check_rule(f, X)


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="of newer versions of NumPy")
def test_cumulative_functions_with_the_axis_in_a_tuple() -> None:
    check_rule(lambda x: np.cumulative_sum(np.outer(x, x), axis=(0,)) @ x, X)
    check_rule(lambda x: np.cumulative_prod(np.outer(x, x), axis=(1,)) @ x, X)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_numbers_are_repeated(axis: int | None, repeats: int) -> None:
    check_rule(lambda x: np.repeat(x, repeats, axis=axis), 0.7)


def test_outer_of_a_number_has_the_dtype_of_plain_calls() -> None:
    x = X.astype(np.float32)
    plain = np.add.outer(x, 0.5)
    out, _ = adbc.jvp(lambda s: np.add.outer(x, s), (0.5,), (1.0,))
    assert out.dtype == plain.dtype
    check_rule(lambda x, s: np.multiply.outer(s, x) + np.add.outer(x, s), X, 0.5)


@pytest.mark.parametrize("function", [np.var, np.std])
def test_a_variance_that_is_asked_for_as_complex(function: Any) -> None:
    check_rule(lambda x: function(x * (1 + 0.5j), dtype=complex), X)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # from then on the mean may be given
        check_rule(lambda x: function(x * (1 + 0.5j), dtype=complex, mean=1.0), X)
        check_rule(lambda x: function(x, dtype=complex, mean=0.5 + 0.5j), X)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="of newer versions of NumPy")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.clip(x, min=x[0] * 2.0, max=2.0),
        lambda x: np.clip(x, max=x[1] * 0.5),
        lambda x: np.clip(x, min=x[1]) @ x,
        lambda x: np.clip(X, max=x[1:2] * 0.5, min=None),
        lambda x: np.clip(x, min=x[0] * 2.0, out=np.zeros(3)) @ x,
        lambda x: np.clip(x, a_min=x[0] * 2.0, a_max=None),
    ],
)
def test_the_shorter_names_of_the_bounds_of_a_clip(f: Callable[[Any], Any]) -> None:
    check_rule(f, X)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="of newer versions of NumPy")
@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.var(a, axis=0, mean=np.mean(a, axis=0, keepdims=True)),
        lambda a: np.std(a, axis=0, mean=np.mean(a, axis=0, keepdims=True), ddof=1),
        lambda a: np.std(a, axis=1, keepdims=True, mean=a[0, 1], correction=1),
        lambda a: np.var(a, mean=a[:1], where=a > 0.5),
        lambda a: a.var(axis=(0, 1), mean=a[0, 0], ddof=1),
        lambda a: a.std(1, mean=a[:, :1] ** 2),
        lambda a: np.var(X[:2, None], 0, mean=a[:1]),
        lambda a: np.var(a, axis=0, mean=0.3),
        lambda a: np.var(a * (1 + 0.5j), axis=1, mean=a[:, :1] * (0.3 - 1j)),
        lambda a: np.std(a * (1 + 0.5j), mean=a[0, 0] * 1j),
        lambda a: np.var(a, mean=a[0, 0] * (1 + 1j)).real,
        lambda a: np.nanstd(a, axis=0, mean=a[:1] * 2.0),
    ],
)
def test_the_mean_of_a_variance_is_given(f: Callable[[Any], Any]) -> None:
    a = np.array([[0.3, 1.2, 2.7], [0.9, 0.4, 1.7]])
    check_rule(f, a)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="of newer versions of NumPy")
def test_the_mean_of_a_variance_that_is_written_elsewhere() -> None:
    def into(a: Any) -> Any:
        out = np.zeros(3)
        np.var(a, axis=0, out=out, mean=0.5)
        return out @ a[0]

    check_rule(into, np.outer(X, X))
    with pytest.raises(UnsupportedError, match="mean="):
        adbc.grad(lambda x: np.var(x, out=np.zeros(()), mean=x[0]))(X)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="of newer versions of NumPy")
@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.var(a, ddof=a[0, 0]),
        lambda a: np.std(a[1], None, None, None, a[0, 0] * a[0, 1]),
        lambda a: np.std(a, axis=0, ddof=a[0, 0], keepdims=True),
        lambda a: np.std(a, axis=1, correction=a[0, 0] ** 2),
        lambda a: a.var(0, ddof=a[0, 0]),
        lambda a: np.var(a, axis=0, mean=a[:1], correction=a[0, 0], keepdims=True),
        lambda a: np.var(a, ddof=a[0, 0], where=a > 0.5),
        lambda a: np.std(X, ddof=a[0, 0]),
        lambda a: np.std(a * (1 + 0.5j), ddof=a[0, 0]),
        lambda a: np.std(np.full(3, 2.0), ddof=a[0, 0]),
    ],
)
def test_what_is_taken_off_the_divisor_of_a_variance(f: Callable[[Any], Any]) -> None:
    check_rule(f, np.array([[0.3, 1.2, 2.7], [0.9, 0.4, 1.7]]))


def test_what_is_taken_off_the_divisor_of_a_variance_that_is_written_elsewhere() -> None:
    with pytest.raises(UnsupportedError, match="ddof="):
        adbc.grad(lambda x: np.var(x, out=np.zeros(()), ddof=x[0]))(X)


def overwritten(r: Any, x: Any) -> Any:
    r[...] = x[0]
    return np.mean(r) * x[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: overwritten(x.std(axis=(), keepdims=True, ddof=1), x),
        lambda x: overwritten(np.var(x, axis=(), ddof=1), x),
        lambda x: overwritten(np.prod(x * np.array([np.inf, 1.0, 0.0]), keepdims=True), x),
    ],
)
def test_infinite_derivatives_of_what_is_overwritten(f: Callable[[Any], Any]) -> None:
    out, forward = adbc.jvp(f, (X,), (np.ones(3),))
    again, reverse = adbc.value_and_grad(f)(X)
    assert out == again == f(X)
    assert forward == pytest.approx(X[0] + X[1])
    assert reverse == pytest.approx(np.array([X[1], X[0], 0.0]))


def test_elements_of_arrays_of_bytes() -> None:
    def f(x: float) -> float:
        names = np.array([b"a", b"bc"])
        return x * len(names[1]) if names[0] == b"a" else 0.0

    check_rule(f, 1.5)
    check_rule(lambda x: x * len(np.array(["a", "bcd"])[1]), 1.5)


def weighted(parts: Any) -> Any:
    return sum(k * np.sum(part) for k, part in enumerate(parts, 1))


def changed(s: Any) -> Any:
    rows = [[s, 1.0], [2.0 * s, 3.0 * s * s]]
    first, second = np.array_split(rows, 2)
    first *= s
    rows[1][0] = 5.0 * s
    return weighted([first, second]) + np.sum(rows)


@pytest.mark.parametrize(
    "f",
    [
        lambda s: weighted(np.array_split([s, 1.0, 2.0 * s, s * s], 3)),
        lambda s: weighted(np.array_split([[s, 1.0], [2.0 * s, s * s]], 2, axis=1)),
        lambda s: weighted(np.split((s, 1.0, 2.0 * s), [1])),
        lambda s: weighted(np.array_split([1, 2, 3], 2)) * s,
        changed,
    ],
)
def test_lists_are_split(f: Callable[[Any], Any]) -> None:
    check_rule(f, 1.3)


def test_repeating_nothing() -> None:
    check_rule(lambda x: np.repeat(x[:0], 3).sum() + np.repeat(x[:0], -1).sum() + x[0], X)


def test_a_number_between_complex_bounds() -> None:
    check_rule(lambda x: np.clip(x, x * 0.5j, 2.0 + 1j) * x, 0.7)


def multiplied(left: Any, x: Any) -> Any:
    left @= np.array([x, 2.0 * x])
    return left


@pytest.mark.parametrize("make", [lambda x: (x, 3.0), lambda x: [x, 3.0], lambda x: [[x, 1.0], [2.0, x]]])
def test_matmul_in_place_of_a_sequence_makes_an_array(make: Callable[[Any], Any]) -> None:
    check_rule(lambda x: np.sum(multiplied(make(x), x)), 1.3)


def test_lists_of_arrays_without_elements() -> None:
    check_rule(lambda x: np.sum(np.zeros((0, 3)) * x[0]) + np.sum((x[None, :0].T * x).tolist()) + x[1], X)


@pytest.mark.parametrize("mode", ["full", "same", "valid", 0, 1, 2])
@pytest.mark.parametrize("lengths", [(1, 1), (3, 2), (2, 3), (4, 4), (2, 5)])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_all_modes_of_convolutions(f: Callable[..., Any], lengths: tuple[int, int], mode: Any) -> None:
    n, k = lengths
    check_rule(lambda a, v: weighted([f(a, v, mode)]), np.sin(np.arange(1.0, n + 1)), np.cos(np.arange(k)))


@pytest.mark.parametrize(
    "f",
    [
        lambda s: np.sum(s, axis=0),
        lambda s: np.sum(s, axis=-1, keepdims=True),
        lambda s: np.cumsum(s, axis=-1)[0],
        lambda s: np.cumprod(s, axis=-1)[0],
        lambda s: np.max(s, axis=0),
    ],
)
@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.array(0.7)])
def test_reductions_of_numbers_along_an_axis(f: Callable[[Any], Any], x: Any) -> None:
    check_rule(lambda s: f(s) * 2.0, x)


def test_no_differences_are_the_array_itself() -> None:
    def f(a: Any) -> Any:
        same = np.diff(a, 0)
        same *= 2.0
        return a.sum()

    for derivative in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (X,))):
        with pytest.raises(UnsupportedError, match="n=0"):
            derivative()


def shortest_paths(lengths: Any) -> Any:
    """Dijkstra's algorithm on a matrix: of some elements that are read only the count is asked for."""
    n = len(lengths)
    found = np.full((n, n), np.inf)
    found[np.eye(n, dtype=bool)] = 0.0
    for u in range(n):
        is_open, left, last = np.ones(n, bool), lengths.copy(), [u]
        while True:
            is_open[last] = False
            left[:, last] = 0.0
            for v in last:
                (to,) = np.where(left[v, :])
                found[u, to] = np.min(np.array([found[u, to], found[u, v] + left[v, to]]), axis=0)
            if found[u, is_open].size == 0:
                break
            nearest = np.min(found[u, is_open])
            if np.isinf(nearest):
                break
            (last,) = np.where(found[u, :] == nearest)
    return found.sum()


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
def test_elements_that_are_only_counted_on_some_ways(guess: str) -> None:
    lengths = np.array(
        [[0.0, 1.0, 2.3, 0.7], [1.0, 0.0, 0.4, 1.9], [2.3, 0.4, 0.0, 1.1], [0.7, 1.9, 1.1, 0.0]]
    )
    with adbc.use(adbc.Config(speculation=guess)):
        for _ in range(3):
            check_rule(lambda x: shortest_paths(1.0 / (x + 2.0 * np.eye(4))), lengths)


BAD = np.array([np.nan, 2.0, np.inf, -np.inf, np.nan])
BAD_COMPLEX = np.array([complex(np.nan, 1.0), complex(np.inf, -np.inf), complex(2.0, np.nan)])


def replaced(x: Any, u: Any) -> Any:
    one = np.nan_to_num(x[1] * u, nan=u, posinf=u * u)
    return (
        np.nan_to_num(x, nan=u * u, posinf=u * 3.0, neginf=u * u * u),
        np.nan_to_num(x, True, u),
        np.nan_to_num(x, nan=np.array([u, u, 1.0, 2.0, u * u])),
        np.nan_to_num(x[0], nan=np.nan_to_num(x[2], posinf=one)),
        np.nan_to_num(x),
        one,
    )


def test_what_replaces_numbers_that_are_none_has_derivatives() -> None:
    check_rule(lambda u: replaced(BAD, u), 1.5)
    check_rule(lambda y: np.nan_to_num(BAD, nan=y[0], posinf=y, neginf=-y), np.arange(1.0, 6.0))
    check_rule(lambda u: np.nan_to_num(BAD_COMPLEX, nan=u, posinf=u * u, neginf=-u), 1.5)
    check_rule(lambda z: np.nan_to_num(z * 2.0, nan=7.0), np.array([1.0 + 2.0j, -1.0j]))


@pytest.mark.parametrize("warm_after", [0, 40])
def test_a_whole_number_by_keyword_is_no_option_with_a_derivative(warm_after: int) -> None:
    """NumPy's own code gives `np.array` a number of axes that it has read from an object."""

    def f(x: Any) -> Any:
        return np.prod(np.r_[x, 1:3, x[0]])

    x = np.array([0.7, -1.2, 2.1])
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(80):
            value, slope = adbc.value_and_grad(f)(x)
            assert value == pytest.approx(2.0 * np.prod(x) * x[0])
            assert slope == pytest.approx(value / x * [2.0, 1.0, 1.0])
