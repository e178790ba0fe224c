"""Gradients by arrays whose cotangents are values: nobody can tell the difference, whatever shares memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError, PullbackConsumedError
from adbc.inspect import explain, fwd_ir, rvs_ir
from adbc.runtime import default_engine
from adbc.runtime.entry.reverse import Entrance, short
from adbc.testing import test_rule as check_rule
from adbc.types import ArrayType, typeof
from adbc.types.lattice import ValueArrayType

RNG = np.random.default_rng(11)


def array(*shape: int) -> Any:
    return RNG.uniform(0.3, 1.2, shape)


def is_by_value(f: Callable[..., Any], args: tuple[Any, ...], numbers: tuple[int, ...]) -> bool:
    """Whether gradients of `f` have a way in on which cotangents of arrays are values."""
    engine = default_engine()
    way = Entrance(numbers).way(engine, f, args)
    if way is None:
        return False
    copies = tuple(x.copy() if type(x) is np.ndarray and x.base is None else x for x in args)
    return way.is_short and short(engine, way, f, copies) is not None


def check(f: Callable[..., Any], *args: Any, by_value: bool = True) -> None:
    """The gradient is what forward mode and the dynamic way say, by all choices of what is asked for, and is
    an array like the argument that shares memory with nothing."""
    check_rule(f, *args)
    everything = tuple(i for i, x in enumerate(args) if isinstance(x, np.ndarray | float))
    assert is_by_value(f, args, everything) is by_value
    before = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    with adbc.use(adbc.Config(speculation="dynamic")):
        slow_value, slow = adbc.value_and_grad(f, everything)(*args)
    gradient = adbc.value_and_grad(f, everything)
    kept = []
    for _ in range(3):
        value, found = gradient(*args)
        np.testing.assert_allclose(value, slow_value, rtol=1e-13)
        for i, d, wanted in zip(everything, found, slow, strict=True):
            np.testing.assert_allclose(d, wanted, rtol=1e-11, atol=1e-12)
            x = args[i]
            alone = adbc.grad(f, i)(*args)
            np.testing.assert_allclose(alone, wanted, rtol=1e-11, atol=1e-12)
            if isinstance(x, np.ndarray):
                assert type(d) is np.ndarray and (d.shape, d.dtype) == (x.shape, x.dtype)
                assert d.flags.writeable and d.flags.owndata
                assert d.flags.c_contiguous == x.flags.c_contiguous
                assert not any(np.shares_memory(d, y) for y in args if isinstance(y, np.ndarray))
                d += 1.0  # what was given away is not used again
        arrays = [d for d in found if isinstance(d, np.ndarray)]
        assert not any(np.shares_memory(a, b) for a in arrays for b in (*kept, *arrays) if a is not b)
        kept += arrays
        for x, old in zip(args, before, strict=True):
            np.testing.assert_array_equal(x, old)


# -- what is only read ---------------------------------------------------------------------------------


def chain(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x * y + 1.0) / (y - 2.0) - x**2 * 3.0)


def sum_itself(x: Any) -> Any:
    return np.sum(x)


def mean_itself(x: Any) -> Any:
    return np.mean(x) + np.sum(x)


def untouched(x: Any, y: Any) -> Any:
    return np.sum(y) + 0.0 * len(x) + x.shape[0]


def twice(x: Any) -> Any:
    return np.sum(x + x) + np.sum(x * x) + np.sum(x - x * 2.0)


def broadcast(x: Any, y: Any, a: float) -> Any:
    z = x + y
    return np.sum(z * z - y) + np.sum((y - x) / a) + np.sum(x + a) + np.mean(a - y)


def sums_of_terms(x: Any, y: Any, z: Any) -> Any:
    return np.sum(x + y - z) + np.sum(-(x - z)) * np.sum(2.0 * (y + 1.0))


def to_the_power_of_nothing(x: Any) -> Any:
    return np.sum(x**0 + x**0.0 + x**1 + x**-1.0) + np.sum(np.power(x, 2))


def kinds_of_products(a: Any, b: Any, v: Any) -> Any:
    return np.sum((a @ b) ** 2) + np.sum(a @ v) + v @ v + np.sum(v @ b)


def rows_and_columns(x: Any) -> Any:
    y = np.exp(x)
    return np.sum(y / np.sum(y, axis=1, keepdims=True) * x) + np.max(y, axis=0) @ y[0]


def parts(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0) + x[::-2] @ x[::-2]


def parts_of_parts(x: Any) -> Any:
    y = x[1:, :2]
    z = np.tanh(x * x)[:, None, 0]
    return np.sum(y[:1] * y[1:2]) + np.sum(z) + np.sum(y) + np.sum(x[..., 1] * x[..., 0])


def moved(x: Any) -> Any:
    y = x.T @ x
    z = np.reshape(x, (x.shape[0] * x.shape[1],)) * 2.0
    return np.sum(y * y.T) + np.sum(z * x.ravel()) + np.sum(np.transpose(z.reshape(x.shape)) @ x)


def only_moved(x: Any) -> Any:
    return np.sum(x.T) + np.sum(x.reshape(-1))


def conditional(x: Any, y: Any) -> Any:
    z = x * 2.0
    if np.sum(x) > 1.0:
        z = np.sin(z) + y
    else:
        z = y
    return np.sum(z * z * x)


def chosen(x: Any, y: Any) -> Any:
    z = x if x[0] > y[0] else y
    return np.sum(z * x)


def recurrent(w: Any, b: Any, x: Any, n: int) -> Any:
    h = np.zeros(3)
    for _ in range(n):
        h = np.tanh(w @ h + b + x)
    return np.sum(h * h)


def starts_with_an_argument(w: Any, h: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        new = np.tanh(w @ h)
        total = total + np.sum(new - h) * k
        h = new
    return total + np.sum(h)


def swapping(x: Any, y: Any, n: int) -> Any:
    for _ in range(n):
        x, y = y, x * y
    return np.sum(x - 2.0 * y)


def rows_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        row = x[i]
        total = total + np.sum(row * row) * (i + 1.0)
        for j in range(len(row)):
            total = total + row[j] * x[i, j]
    return total


def stops_early(x: Any, n: int) -> Any:
    y = x
    for _ in range(n):
        y = y * 1.5
        if np.sum(y) > 20.0:
            break
    return np.sum(y * x)


def stops_at_once(x: Any) -> Any:
    return np.sum(x) if np.sum(x) > 1.0 else np.sum(x * x)


def with_where(x: Any) -> Any:
    return np.sum(np.where(x > 0.7, np.sqrt(x) * 2.0, x / (x + 1.0)))


def layer(w: Any, b: Any, x: Any) -> Any:
    return np.tanh(x @ w + b)


def difference(x: Any, y: Any) -> Any:
    return np.mean((x - y) ** 2)


def helped(w: Any, b: Any, x: Any) -> Any:
    return difference(layer(w, b, x), x @ w) + difference(b, b) + difference(x * 2.0, np.sin(x))


# -- what is done more to ------------------------------------------------------------------------------


def overwritten(x: Any, y: Any) -> Any:
    total = np.sum(x * y)
    x *= y
    x[0] = total
    y += np.sin(x)
    return np.sum(x * y) + total


def one_of_two(x: Any, y: Any) -> Any:
    x[1:] += y[:-1] * x[:-1]
    return np.sum(x * y)


def written_into_in_a_loop(u: Any, n: int) -> Any:
    for _ in range(n):
        u[1:-1] += 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def filled_buffer(x: Any, n: int) -> Any:
    y = np.empty(x.shape)
    for k in range(n):
        y[:] = x * k
        y *= x
    return np.sum(y * x)


def target_of_out(x: Any, y: Any) -> Any:
    np.multiply(x, y, out=x)
    return np.sum(x * y)


def in_a_handler(x: Any) -> Any:
    y = x * 2.0
    try:
        z = y * x
        z[100] = 1.0
    except IndexError:
        y = y * y
    return np.sum(y * z)


def clamped(x: Any) -> Any:
    x[x > 0.8] = 0.8
    return np.sum(x * x)


READERS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (chain, (array(4), array(4))),
    (chain, (array(2, 3), array(3))),
    (chain, (array(4), array(1))),
    (chain, (array(0), array(0))),
    (sum_itself, (array(5),)),
    (sum_itself, (array(2, 3, 2),)),
    (mean_itself, (array(2, 3),)),
    (untouched, (array(3), array(2))),
    (twice, (array(3),)),
    (broadcast, (array(3, 1), array(1, 4), 0.7)),
    (broadcast, (array(3, 1), array(4), 0.7)),
    (broadcast, (array(2, 3), array(2, 3), 0.7)),
    (broadcast, (array(1), array(5), 0.7)),
    (sums_of_terms, (array(3), array(2, 3), array(1))),
    (sums_of_terms, (array(2, 1), array(1, 3), array(2, 3))),
    (to_the_power_of_nothing, (array(4),)),
    (kinds_of_products, (array(2, 3), array(3, 3), array(3))),
    (rows_and_columns, (array(3, 3),)),
    (parts, (array(5),)),
    (parts_of_parts, (array(4, 3),)),
    (moved, (array(2, 3),)),
    (only_moved, (array(2, 3),)),
    (conditional, (array(3), array(3))),
    (conditional, (array(1), array(1))),
    (chosen, (array(3), array(3))),
    (recurrent, (array(3, 3), array(3), array(3), 4)),
    (recurrent, (array(3, 3), array(3), array(3), 0)),
    (starts_with_an_argument, (array(3, 3), array(3), 3)),
    (swapping, (array(3), array(3), 4)),
    (rows_in_a_loop, (array(3, 2),)),
    (stops_early, (array(3), 50)),
    (stops_early, (array(3), 2)),
    (with_where, (array(5),)),
    (helped, (array(3, 2), array(2), array(4, 3))),
]
WRITERS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (overwritten, (array(3), array(3))),
    (one_of_two, (array(4), array(4))),
    (written_into_in_a_loop, (array(6), 3)),
    (filled_buffer, (array(3), 3)),
    (clamped, (array(5),)),
]


@pytest.mark.parametrize(
    ("function", "arguments"),
    READERS + WRITERS,
    ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(READERS + WRITERS)],
)
def test_gradients_by_arrays_as_values_are_those_by_memory(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check(function, *arguments)


def test_what_may_be_met_elsewhere_keeps_its_shadow() -> None:
    check(in_a_handler, array(3), by_value=False)
    check(target_of_out, array(3), array(3), by_value=False)


def test_a_gradient_in_single_precision_stays_single() -> None:
    for f, args in [(twice, (array(4),)), (parts, (array(5),)), (broadcast, (array(3), array(3), 0.7))]:
        single = [x.astype(np.float32) if isinstance(x, np.ndarray) else x for x in args]
        everything = tuple(range(len(args)))
        for _ in range(3):
            found = adbc.grad(f, everything)(*single)
            for d, wanted, x in zip(found, adbc.grad(f, everything)(*args), single, strict=True):
                assert not isinstance(x, np.ndarray) or d.dtype == np.float32
                np.testing.assert_allclose(d, wanted, rtol=2e-4)


def test_layouts() -> None:
    x = np.asfortranarray(array(3, 4))
    d = adbc.grad(twice)(x)
    assert d.flags.f_contiguous and not d.flags.c_contiguous
    np.testing.assert_allclose(d, 1.0 + 2.0 * x)


# -- who else has the memory ---------------------------------------------------------------------------


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y * y)


def test_shared_arguments() -> None:
    """The same array twice, an array and a view of it, two views of one array: the memory has one
    gradient."""
    x = array(4)
    both = adbc.grad(product, (0, 1))
    for _ in range(2):
        both(x, x.copy())
        for first, second in [(x, x), (x, x[:]), (x[:], x), (x[:], x[:])]:
            da, db = both(first, second)
            np.testing.assert_allclose(da, 3.0 * x * x)
            np.testing.assert_allclose(db, 3.0 * x * x)
            assert np.shares_memory(da, db)
    # Views of one array are not told apart from views that overlap; of two arrays they are values.
    base, other = array(8), array(8)
    for _ in range(2):
        da, db = both(base[:4], base[4:])
        np.testing.assert_allclose(da, base[4:] ** 2)
        np.testing.assert_allclose(db, 2.0 * base[:4] * base[4:])
        da, db = both(base[:4], base[2:6])
        np.testing.assert_allclose(da[:2], base[2:4] ** 2)
        np.testing.assert_allclose(da[2:], base[4:6] ** 2 + 2.0 * base[:2] * base[2:4])
        da, db = both(base[:4], other[4:])
        np.testing.assert_allclose(da, other[4:] ** 2)
        assert da.flags.owndata and db.flags.owndata
    assert is_by_value(product, (base[:4], other[4:]), (0, 1))
    assert not is_by_value(product, (base[:4], base[4:]), (0, 1))
    assert not is_by_value(product, (base[::2], other[4:]), (0, 1))


def test_data_that_shares_memory() -> None:
    x = array(4)
    gradient = adbc.grad(product)
    for _ in range(2):
        np.testing.assert_allclose(gradient(x, x.copy()), x * x)
        np.testing.assert_allclose(gradient(x, x), 3.0 * x * x)
        np.testing.assert_allclose(gradient(x, x[:]), 3.0 * x * x)


GLOBAL = array(3)
HOLDER = [GLOBAL]


def reads_a_global(x: Any) -> Any:
    return np.sum(x * GLOBAL)


def writes_a_global(x: Any) -> Any:
    GLOBAL[:] = 2.0 * x
    return np.sum(x * GLOBAL)


def reads_a_list(x: Any) -> Any:
    return np.sum(x * HOLDER[0])


def deep(x: Any) -> Any:
    return np.sum(x) + reads_a_global(x)


def default_argument(x: Any, y: Any = GLOBAL) -> Any:
    return np.sum(x * y)


@pytest.mark.parametrize("function", [reads_a_global, writes_a_global, reads_a_list, deep, default_argument])
def test_memory_that_is_reached_otherwise(function: Callable[..., Any]) -> None:
    other = array(3)
    assert not is_by_value(function, (other,), (0,))
    gradient = adbc.grad(function)
    for _ in range(3):
        own = {reads_a_global: GLOBAL, reads_a_list: GLOBAL, deep: 1.0 + GLOBAL, default_argument: GLOBAL}
        np.testing.assert_allclose(gradient(other), own.get(function, 4.0 * other))
        shared = {writes_a_global: 8.0 * GLOBAL, deep: 1.0 + 2.0 * GLOBAL}
        np.testing.assert_allclose(gradient(GLOBAL), shared.get(function, 2.0 * GLOBAL))


def test_memory_of_a_closure() -> None:
    y = array(3)

    def function(x: Any) -> Any:
        return np.sum(x * y)

    gradient = adbc.grad(function)
    for _ in range(3):
        np.testing.assert_allclose(gradient(array(3)), y)
        np.testing.assert_allclose(gradient(y), 2.0 * y)


class Keeper:
    def __init__(self) -> None:
        self.array: Any = None


def test_memory_that_is_kept_by_an_object() -> None:
    def function(x: Any, keeper: Keeper) -> Any:
        keeper.array = x
        keeper.array[0] = keeper.array[1] * 2.0
        return np.sum(x * keeper.array)

    x = array(3)
    wanted = [0.0, 2.0 * x[1] * 5.0, 2.0 * x[2]]
    for _ in range(3):
        np.testing.assert_allclose(adbc.grad(function)(x, Keeper()), wanted)


def kept_in_a_list(x: Any) -> Any:
    kept = [x]
    kept[0][0] = kept[0][0] * 3.0
    return np.sum(x * kept[0])


def returned(x: Any) -> Any:
    return x


def written_through_what_is_returned(x: Any) -> Any:
    y = returned(x)
    y[0] = y[1] * 2.0
    return np.sum(x * y)


def returned_view(x: Any) -> Any:
    return x[1:]


def written_through_a_view(x: Any) -> Any:
    y = returned_view(x)
    z = np.sum(x * x)
    y *= 2.0
    return np.sum(x * x) + z


def writer(x: Any) -> Any:
    x *= 2.0
    return np.sum(x)


def read_behind_a_writer(x: Any) -> Any:
    y = x * 1.0
    return np.sum(y * y) + writer(y) + np.sum(y * y) + writer(x)


def unknown(f: Any, x: Any) -> Any:
    return f(x) * np.sum(x)


@pytest.mark.parametrize(
    "function",
    [kept_in_a_list, written_through_what_is_returned, written_through_a_view, read_behind_a_writer],
)
def test_other_names_of_an_argument(function: Callable[..., Any]) -> None:
    x = array(3)
    check_rule(function, x)
    with adbc.use(adbc.Config(speculation="dynamic")):
        wanted = adbc.grad(function)(x)
    for _ in range(3):
        np.testing.assert_allclose(adbc.grad(function)(x), wanted)


def test_what_goes_into_an_unknown_call() -> None:
    x = array(3)
    wanted = 2.0 * np.sum(x) + 2.0 * np.sum(x)
    for _ in range(3):
        np.testing.assert_allclose(adbc.grad(unknown, 1)(writer, x.copy()), adbc.grad(unknown, 1)(writer, x))
    assert wanted > 0.0


def identity_and_sum(x: Any) -> Any:
    return x, np.sum(x * x)


def test_what_is_returned_is_not_ours() -> None:
    """The pullback is asked for cotangents of the argument itself: they do not share memory with the
    result."""
    x = array(3)
    seed = np.ones(3)
    for _ in range(2):
        (out, _), pullback = adbc.vjp(identity_and_sum, x)
        (d,) = pullback((seed, 2.0))
        np.testing.assert_allclose(d, 1.0 + 4.0 * x)
        assert out is x and not np.shares_memory(d, seed) and not np.shares_memory(d, x)
        with pytest.raises(PullbackConsumedError):
            pullback((seed, 1.0))


def scaled(x: Any, y: Any) -> Any:
    return x * 1.0 + y


def test_cotangents_of_the_user_are_left_alone() -> None:
    x, y, seed = array(3), array(3), array(3)
    kept = seed.copy()
    _, pullback = adbc.vjp(scaled, x, y)
    dx, dy = pullback(seed)
    dx += 1.0
    dy += 2.0
    np.testing.assert_array_equal(seed, kept)
    np.testing.assert_allclose(dx, seed + 1.0)


# -- errors and changes --------------------------------------------------------------------------------


def raising(x: Any) -> Any:
    y = x * x
    if y.shape[0] > 3:
        y = y @ np.ones((2, 2))
    return np.sum(y)


def test_errors_leave_arguments_as_they_are() -> None:
    gradient = adbc.grad(raising)
    for _ in range(3):
        np.testing.assert_allclose(gradient(np.ones(3)), 2.0 * np.ones(3))
        with pytest.raises(ValueError, match="mismatch") as caught:
            gradient(np.ones(4))
        assert caught.traceback[-1].name == "raising"


def not_a_number(x: Any) -> Any:
    return x * 2.0


def test_results_that_are_no_number() -> None:
    for _ in range(2):
        with pytest.raises(ArgumentError, match="real scalar"):
            adbc.grad(not_a_number)(array(3))
    with pytest.raises(ArgumentError, match="argnums"):
        adbc.grad(product, 2)(array(3), array(3))
    with pytest.raises(ArgumentError, match="float"):
        adbc.grad(product, (0, 1))(array(3), np.arange(3))


def test_other_engines() -> None:
    x, y = array(3), array(3)
    gradient = adbc.grad(product, (0, 1))
    wanted = gradient(x, y)
    for config in (adbc.Config(debug=True), adbc.Config(trace_nan=True), adbc.Config(speculation="dynamic")):
        with adbc.use(config):
            for _ in range(2):
                np.testing.assert_allclose(gradient(x, y), wanted)
    np.testing.assert_allclose(gradient(x, y), wanted)


def helper(x: Any) -> Any:
    return x * 2.0


def calls_a_helper(x: Any) -> Any:
    return np.sum(helper(x))


def test_a_global_that_is_rebound_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient, x = adbc.grad(calls_a_helper), np.ones(2)
    assert [gradient(x).tolist() for _ in range(2)] == [[2.0, 2.0]] * 2
    monkeypatch.setitem(globals(), "helper", lambda x: x * x * x)
    assert [gradient(x).tolist() for _ in range(2)] == [[3.0, 3.0]] * 2


def test_closed_functions() -> None:
    engine, vector = default_engine(), typeof(array(3))
    for f in (sum_itself, parts, stops_at_once, calls_a_helper):
        assert engine.is_closed(f, (vector,)), f.__name__
    for f in (reads_a_global, writes_a_global, reads_a_list, deep, in_a_handler, kept_in_a_list):
        assert not engine.is_closed(f, (vector,)), f.__name__


def test_no_shadow_is_made() -> None:
    value = ValueArrayType("float64", 1, np.ndarray)
    found = str(fwd_ir((parts, value)))
    assert "shadow" not in found and "view" not in found
    assert "iadd" in str(rvs_ir((twice, value)))
    memory = ArrayType("float64", 1, np.ndarray)
    assert "x_shadow" in str(fwd_ir((parts, memory)))
    assert "fresh_shadow" in str(fwd_ir((overwritten, value, value)))  # of what it writes into


def test_what_explain_says() -> None:
    def function(x: Any) -> Any:
        y = x * 2.0
        return np.sum(y[1:]) + np.sum(y.reshape(1, -1))

    reasons = {site.why for site in explain(function, array(3)).sites if site.kind == "inline"}
    assert any("a part of that of the array" in reason for reason in reasons)
    assert any("in another shape" in reason for reason in reasons)
