"""Parts of arrays that are overwritten: what is given back, what is saved, and what is restored."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.inspect import explain
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.testing.values import assert_same

RANDOM = np.random.default_rng(7)


@pytest.fixture(params=["learn", "never", "always", "dynamic", "interpret"], autouse=True)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param, verify=True, warm_after=0)):
        default_engine().clear()
        yield request.param
        default_engine().clear()


def agree(f: Any, *args: Any, **options: Any) -> None:
    """`f` is right in all forms, and twice: its arguments are restored, also where they are views."""
    check_rule(f, *args, **options)
    before = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    given = [i for i, x in enumerate(args) if np.asarray(x).dtype.kind == "f"]
    with adbc.use(adbc.Config(speculation="dynamic", verify=True)):
        expected = adbc.value_and_grad(f, tuple(given))(*args)
    for _ in range(2):
        assert_same(expected, adbc.value_and_grad(f, tuple(given))(*args), "gradient", rtol=1e-12)
        for kept, x in zip(before, args, strict=True):
            assert_same(kept, x, "argument")


def jacobi(a: Any, b: Any, steps: int) -> Any:
    for _ in range(steps):
        b[1:-1] = 0.25 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.25 * (b[:-2] + b[1:-1] + b[2:])
    return np.sum(a * a)


def strided(x: Any) -> Any:
    return np.repeat(x, 2, axis=0)[::-2]


@pytest.mark.parametrize("make", [np.array, strided], ids=["own", "strided"])
def test_stencil(make: Any) -> None:
    agree(jacobi, make(RANDOM.random(6)), make(RANDOM.random(6)), 3)
    agree(jacobi, make(RANDOM.random(2)), make(RANDOM.random(2)), 3)
    agree(jacobi, make(RANDOM.random(6)), make(RANDOM.random(6)), 0)


def test_one_array_twice() -> None:
    a = RANDOM.random(6)
    agree(jacobi, a, a, 2)
    whole = RANDOM.random(8)
    agree(jacobi, whole[:6], whole[2:], 2)
    agree(jacobi, whole[:6], whole[:6][::-1], 2)


def test_single_precision() -> None:
    a, b = RANDOM.random(6).astype(np.float32), RANDOM.random(6).astype(np.float32)
    check_rule(jacobi, a, b, 2, rtol=1e-2, step=1e-1, reverse_rtol=1e-4, value_rtol=1e-5)


def test_nothing_is_saved_but_what_formulas_read(speculation: str) -> None:
    if speculation in ("learn", "never"):
        words = str(explain(jacobi, RANDOM.random(6), RANDOM.random(6), 2))
        assert "a part of an array is written" in words and "primitive" not in words


def shifted(u: Any, k: float) -> Any:
    u[1:] = u[:-1]
    u[:-1] = u[1:]
    u[::2] = k * u[::2]
    u[::-1] = u
    u[1:3] = u[2:4] * u[1:3]
    return np.sum(u * u * k)


def test_overlapping_parts() -> None:
    agree(shifted, RANDOM.random(5), 0.7)


def kinds(u: Any, row: Any, x: float, n: int) -> Any:
    u[0] = row
    u[1:, 1] = x
    u[:, -1] = u[:, 0]
    u[1, :2] = n
    u[2:, :] = row[None, :] * x
    u[..., 0] = row[:1]
    u[:, None, 1] = x * x
    u[-1] = np.arange(3)
    u[1:] = True
    return np.sum(u * u) + x


def test_kinds_of_values() -> None:
    agree(kinds, RANDOM.random((4, 3)), RANDOM.random(3), 0.6, 2)
    agree(kinds, RANDOM.random((3, 4)).T, RANDOM.random(6)[::2], np.float64(0.6), 2)


def broadcast(u: Any, column: Any) -> Any:
    u[:, 1:] = column * 2.0
    u[1:] = u[:1] * u[:1]
    u[:, :] = np.sin(u)
    u[0, 0:0] = column[0, 0]
    return np.sum(u * u)


def test_values_that_are_broadcast() -> None:
    agree(broadcast, RANDOM.random((3, 3)), RANDOM.random((3, 1)))
    agree(broadcast, RANDOM.random((3, 2)), RANDOM.random((1, 1)))


def read_before(u: Any, steps: int) -> Any:
    total = 0.0
    for _ in range(steps):
        total += np.sum(u * u)
        u[1:] = u[1:] * u[:-1]
        u[:1] = np.sin(u[-1:])
    return total


def test_what_formulas_read_is_restored() -> None:
    agree(read_before, RANDOM.random(4), 3)


def new_arrays(x: Any, steps: int) -> Any:
    total = 0.0
    for i in range(steps):
        t = np.zeros_like(x)
        t[1:] = x[:-1] * (i + 1.0)
        t[:1] = np.cos(t[1:2])
        u = np.empty(x.shape)
        u[:] = t
        u[1:-1] += t[2:]
        total += np.dot(u, t)
        x = x + u
    return total


def test_memory_that_is_made_in_a_loop() -> None:
    agree(new_arrays, RANDOM.random(4), 3)


def branched(u: Any, k: float) -> Any:
    v = u
    for i in range(4):
        if i % 2:
            v[1:] = k * v[:-1]
        else:
            v = v.copy()
        if v[0] > 2.0:
            break
        v[0:1] = v[-1:] + k
    return np.sum(v * v) + np.sum(u)


def test_variables_that_change() -> None:
    agree(branched, RANDOM.random(4), 0.7)


def handled(u: Any, k: float) -> Any:
    try:
        u[1:] = k * u[:-1]
        u[:2] = k * u
    except ValueError:
        u[:1] = k * u[1:2]
    return np.sum(u * u)


def test_writes_that_raise() -> None:
    agree(handled, RANDOM.random(4), 0.7)
    with pytest.raises(ValueError, match="could not broadcast"):
        adbc.grad(shifted_wrongly)(RANDOM.random(4))


def shifted_wrongly(u: Any) -> Any:
    u[1:] = 2.0 * u[:2]
    return np.sum(u)


def given_to(u: Any, v: Any) -> Any:
    scale(u, v)
    v[:1] = u[:1] * v[1:2]
    scale(v, u)
    return np.dot(u, v)


def scale(u: Any, v: Any) -> None:
    for _ in range(2):
        u[1:] = 0.5 * v[:-1]
        v[:] = u + v


def test_functions_that_write() -> None:
    agree(given_to, RANDOM.random(4), RANDOM.random(4))
    u = RANDOM.random(4)
    agree(given_to, u, u)


def test_constants() -> None:
    c, x = RANDOM.random(4), RANDOM.random(4)

    def written(c: Any, x: Any) -> Any:
        c[1:] = 2.0 * x[1:]
        return np.sum(c)

    with pytest.raises(ConstWriteError):
        adbc.grad(written, 1)(adbc.Const(c), x)
    check_rule(written, c, x)

    def overwritten(c: Any, x: Any) -> Any:
        c[1:] = c[:-1] * 2.0
        return np.sum(c * x)

    kept = c.copy()
    for _ in range(2):
        found = adbc.grad(overwritten, 1)(adbc.Const(c), x)
        assert_same(found, np.concatenate([kept[:1], 2.0 * kept[:-1]]), "gradient", rtol=1e-12)
        assert_same(c, kept, "constant")


def test_read_only() -> None:
    u = RANDOM.random(4)
    u.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        adbc.grad(read_before)(u, 2)


def test_elements_at_one_place() -> None:
    u: Any = np.ndarray((3, 2), float, RANDOM.random(4), 0, (8, 8))
    with pytest.raises(adbc.errors.UnsupportedError, match="one place"):
        adbc.grad(broadcast)(u, RANDOM.random((3, 1)))


def test_interleaved_and_abandoned() -> None:
    a, b = RANDOM.random(6), RANDOM.random(6)
    expected = adbc.grad(jacobi, (0, 1))(a, b, 2)
    kept = a.copy(), b.copy()
    first = [x.copy() for x in kept]
    second = [x.copy() for x in kept]
    _, one = adbc.vjp(jacobi, *first, 2)
    _, two = adbc.vjp(jacobi, *second, 2)
    _, abandoned = adbc.vjp(jacobi, *[x.copy() for x in kept], 2)
    del abandoned
    assert_same(list(expected), list(one(1.0)[:2]), "first", rtol=1e-12)
    assert_same(list(expected), list(two(1.0)[:2]), "second", rtol=1e-12)
    assert_same(list(kept), first, "restored")
    assert_same(list(kept), second, "restored")


def test_not_a_number() -> None:
    a = np.array([0.5, np.nan, 0.25, np.inf])

    def masked(u: Any) -> Any:
        u[1:2] = 0.0
        u[3:] = u[:1]
        return np.sum(u * u)

    assert_same(adbc.grad(masked)(a), np.array([2.0, 0.0, 0.5, 0.0]), "gradient")


def test_views_are_taken_again(speculation: str) -> None:
    if speculation == "learn":
        text = str(explain(swept, RANDOM.random((4, 4)), 2))
        assert "Shadow[Array[float64, 1]]" not in text.split("per iteration")[-1]


def swept(u: Any, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        for i in range(1, 3):
            u[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:])
    return np.sum(u * u)


def test_rows_by_index() -> None:
    agree(swept, RANDOM.random((4, 4)), 2)


def masked(u: Any, m: Any, k: float) -> Any:
    for _ in range(2):
        u[m] = k * u[m]
        u[~m] = u[m][:1]
        u[u > 0.5] = 0.25
        u[u < 0.1] *= k
    u[m & ~m] = np.zeros(0)
    return np.sum(u * u)


def test_masks() -> None:
    agree(masked, np.array([0.2, 0.7, 0.6, 0.05, 0.9]), np.array([True, False, True, False, True]), 0.7)
    x = RANDOM.random((2, 3)).T
    agree(masked, x, x > 0.4, 0.7)
    agree(lambda u, k: masked(u, u > 0.3, k), strided(RANDOM.random(5)), 0.6)


def buffered(x: Any, y: Any, n: int) -> Any:
    t = np.empty_like(x)
    for _ in range(n):
        np.multiply(x, y, out=t)
        np.add(t, y, x)
        z = np.sin(x, out=x)
        z /= 1.0 + y * y
        x[1:] *= x[:-1]
        x **= 2
        y *= np.exp(-t)
    return np.dot(x, y) + np.sum(z)


def test_results_that_are_written_elsewhere() -> None:
    agree(buffered, RANDOM.random(4), RANDOM.random(4), 2)
    agree(buffered, strided(RANDOM.random(4)), RANDOM.random(4), 2)
    x = RANDOM.random(4)
    agree(buffered, x, x, 2)
    agree(buffered, x, x[::-1], 1)


def into_larger(x: Any, t: Any) -> Any:
    np.sin(x, out=t)
    t[0] *= x[0]
    t *= x
    return np.sum(t * t)


def test_results_that_are_broadcast() -> None:
    agree(into_larger, RANDOM.random((1, 3)), RANDOM.random((2, 3)))
    agree(into_larger, RANDOM.random(3), RANDOM.random((2, 3)))
    with pytest.raises(ValueError):
        into_larger(RANDOM.random((2, 3)), RANDOM.random((1, 3)))
    with pytest.raises(ValueError):
        adbc.grad(into_larger, (0, 1))(RANDOM.random((2, 3)), RANDOM.random((1, 3)))


def test_dtypes_that_differ() -> None:
    def mixed(x: Any, y: Any) -> Any:
        x *= y
        x /= 2
        np.add(x, y, out=x, casting="unsafe")
        np.multiply(x, x, out=y)
        return np.sum(y)

    x, y = RANDOM.random(3).astype(np.float32), RANDOM.random(3)
    check_rule(mixed, x, y, rtol=1e-2, step=1e-1, reverse_rtol=1e-4, value_rtol=1e-5)
    with pytest.raises(TypeError):
        adbc.grad(lambda n, y: np.sum(y) if n.__imul__(y) is None else np.sum(n * y), 1)(np.arange(3), y)


def one_element(u: Any, k: float) -> Any:
    u[2:3] = k * u[:1]
    u[1:2] *= k
    return np.dot(u, u)


def one_element_in_a_loop(u: Any, k: float) -> Any:
    for _ in range(1):
        u[2:3] = k * u[:1]
        u[1:2] *= k
    return np.dot(u, u)


def in_turn(u: Any, k: float) -> Any:
    for i in range(len(u) - 1):
        u[i : i + 1] = k * u[i + 1 :]
    return np.dot(u, u)


def test_a_snapshot_is_taken_only_where_a_loop_writes(speculation: str) -> None:
    x = RANDOM.random(4)
    agree(one_element, x, 0.7)
    agree(in_turn, RANDOM.random(2), 0.7)
    if speculation == "learn":
        peaks = []
        for f in (one_element, one_element_in_a_loop):
            gradient, large = adbc.grad(f), np.ones(1 << 16)
            for _ in range(3):
                gradient(large, 0.5)
            tracemalloc.start()
            gradient(large, 0.5)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[0] < peaks[1] - large.nbytes / 2
