"""Containers and library objects without a derivative: derivatives, effects and state of programs."""

from __future__ import annotations

import copy
import functools
import random
from collections import Counter, defaultdict, deque
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.testing import test_rule as check_rule
from tests.programs import containers
from tests.programs.containers import PROGRAMS

STEP = 1e-6


def _difference(f: Any, x: float) -> float:
    return float((f(x + STEP) - f(x - STEP)) / (2 * STEP))


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_both_modes(f: Any, x: float) -> None:
    expected, value = _difference(f, x), f(x)
    for _ in range(2):
        assert adbc.grad(f)(x) == pytest.approx(expected, rel=1e-6, abs=1e-7)
        out, tangent = adbc.jvp(f, (x,), (1.0,))
        assert out == value
        assert tangent == pytest.approx(adbc.grad(f)(x), rel=1e-12)


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_each_way_to_guess(f: Any, x: float, speculation: str) -> None:
    expected = _difference(f, x)
    for _ in range(3):
        assert adbc.grad(f)(x) == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-6, abs=1e-7)


TWICE = [
    containers.tallied, containers.inventory, containers.moving_average, containers.chosen,
    containers.looked_up, containers.volatility, containers.page_rank, containers.both_ends,
    containers.sliced, containers.settings,
]  # fmt: skip


@pytest.mark.parametrize("f", TWICE)
def test_second_derivatives(f: Any) -> None:
    expected = (f(0.7 + 1e-4) - 2 * f(0.7) + f(0.7 - 1e-4)) / 1e-8
    for _ in range(3):
        assert adbc.grad(adbc.grad(f))(0.7) == pytest.approx(expected, rel=1e-5, abs=1e-5)
        assert adbc.jvp(adbc.grad(f), (0.7,), (1.0,))[1] == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("f", [*TWICE, containers.weighted_counts, containers.shared_generator])
def test_watched(f: Any) -> None:
    with adbc.use(adbc.Config(debug=True, warm_after=0)):
        for _ in range(2):
            assert adbc.grad(f)(0.7) == pytest.approx(_difference(f, 0.7), rel=1e-6)


def test_a_pullback_that_runs_again() -> None:
    def f(x: float) -> list[float]:
        q: deque[float] = deque([1.0], maxlen=3)
        d: dict[int, float] = {}
        rng = random.Random(2)
        out = []
        for i in range(4):
            q.append(x * i)
            d[i % 2] = d.get(i % 2, 0.0) + x * x
            part = [x, 2.0, d[0]][1:]
            out.append(q.popleft() * d[0] + sum(q) + sum(part) + rng.gauss(0.0, x))
        return out

    for _ in range(60):
        _, pullback = adbc.vjp(f, 0.7, reusable=True)
    ahead, back = f(0.7 + STEP), f(0.7 - STEP)
    for i in (0, 3, 1, 2, 3, 0):
        one = [float(i == j) for j in range(4)]
        assert pullback(one)[-1] == pytest.approx((ahead[i] - back[i]) / (2 * STEP), rel=1e-6)


# -- what is changed is put back ----------------------------------------------------------------------------


def queue_at_work(q: Any, x: float) -> float:
    s = 0.0
    for i in range(5):
        q.append(x * q.popleft())
        q.appendleft(x + i)
        s += q.pop() * q[0]
    return s


def stock_at_work(d: Any, x: float) -> Any:
    for i in range(4):
        d[i % 3] = d.get(i % 3, 0.5) * x
        d[i + 10] = x * i
        d["n"] = i
        d[i % 3] = d[i % 3] if i else 3
    return d[0] * d[1] + d[11] + d.get(2, x) * d.get("rate", x) + (d.get("none") or x)


def table_at_work(values: Any, x: float) -> float:
    part = values[1:]
    values[0] = x * part[1]
    return sum(values[:2]) * x + part[-1]


def test_containers_are_put_back(speculation: str) -> None:
    for _ in range(2):
        for most in (None, 3, 2):
            check_rule(queue_at_work, deque([1.0, 2.0, 0.5], maxlen=most), 0.7)
        check_rule(stock_at_work, {0: 1.5, "rate": 2.0}, 0.7)
        check_rule(stock_at_work, defaultdict(float, {1: 1.5}), 0.7)
        check_rule(stock_at_work, Counter({1: 1.5, "n": 3}), 0.7)
        check_rule(table_at_work, [1.0, 2.0, 0.5], 0.7)
        check_rule(lambda v, i: v[i] * v[0], (1.0, 2.0), 1)
        check_rule(lambda x, y: [x, 2.0, y, 3][::-1] + [{"a": x, "b": y, 3: 1}["b"]], 0.3, 0.4)


def test_displays_that_leave(speculation: str) -> None:
    for _ in range(2):
        check_rule(lambda x, y: ([x, y, x], {"a": x * y, "n": 2}), 0.3, 0.4)
        check_rule(lambda x: {"a": x, **{"a": x * x}}, 0.3)

        def written(x: float) -> float:
            values, named = [x, 1.0, x], {"a": x, "b": 2.0}
            values[1] = x * values[0]
            named["b"] = named["a"] * x
            named["c"] = values[1]
            del named["a"]
            return sum(values) * named["b"] + named["c"]

        check_rule(written, 0.7)


def test_an_element_in_two_containers(speculation: str) -> None:
    def f(x: float) -> float:
        inner = [x, 2.0]
        q = deque([inner])
        d = {"k": inner}
        q.append(d["k"])
        q[0][1] = x * x
        return q.pop()[1] * d.get("k", inner)[0]

    for _ in range(2):
        assert adbc.grad(f)(0.7) == pytest.approx(3 * 0.7**2)


def test_a_constant_takes_nothing_active(speculation: str) -> None:
    def appends(x: float, q: Any) -> Any:
        q.append(x)
        return q[-1]

    def pushes(x: float, q: Any) -> Any:
        q.appendleft(x)
        return q[0]

    def stores(x: float, d: Any) -> Any:
        d["a"] = x
        return d["a"]

    for _ in range(2):
        for f, constant in ((appends, deque([1.0])), (pushes, deque([1.0])), (stores, {"a": 1.0})):
            with pytest.raises(ConstWriteError):
                adbc.vjp(f, 1.0, adbc.Const(constant))


# -- random numbers -----------------------------------------------------------------------------------------


def test_the_second_of_two_numbers_is_put_back() -> None:
    rng = random.Random(3)

    def f(x: float) -> float:
        return x * rng.gauss(0.0, 1.0)

    for _ in range(60):
        rng.seed(1)
        _, pullback = adbc.vjp(f, 2.0)
        assert rng.gauss_next is not None  # type: ignore[attr-defined]
        pullback(1.0)
        assert rng.gauss_next is None  # type: ignore[attr-defined]


def test_the_stream_is_that_of_a_plain_call(speculation: str) -> None:
    rng = random.Random(3)

    def f(x: float) -> float:
        s = 0.0
        for _ in range(5):
            s += x * rng.random() + rng.uniform(0.0, x) + rng.choice(containers.TABLE) * x
            s += rng.gauss(x, 2.0) * rng.randint(0, 9) + x * rng.getrandbits(3) + rng.gauss(0, 1) * x
        return s

    for _ in range(3):
        rng.seed(4)
        value = f(0.7)
        after = rng.getstate()[1]
        rng.seed(4)
        assert adbc.value_and_grad(f)(0.7)[0] == value
        assert rng.getstate()[1] == after


def test_a_method_that_the_instance_hides() -> None:
    rng = random.Random(3)

    def f(x: float) -> float:
        s = 0.0
        for _ in range(3):
            s += x * rng.random()
        return s

    for _ in range(60):
        adbc.grad(f)(1.0)
    rng.random = lambda: 2.0  # type: ignore[method-assign]
    assert adbc.grad(f)(1.0) == 6.0
    assert adbc.jvp(f, (1.0,), (1.0,)) == (6.0, 6.0)


def test_a_method_that_depends_on_the_input(speculation: str) -> None:
    rng = random.Random(3)

    def f(x: float) -> float:
        rng.random = lambda: x * x  # type: ignore[method-assign]
        s = 0.0
        for _ in range(3):
            s += x * rng.random()
        return s

    for _ in range(2):
        try:
            assert adbc.grad(f)(0.7) == pytest.approx(9 * 0.49)
        except adbc.AdbcError:
            pass  # refused, and never wrong


def test_another_method_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)

    def f(x: float) -> float:
        s = 0.0
        for _ in range(3):
            s += x * rng.uniform(0.0, 1.0)
        return s

    for _ in range(60):
        adbc.grad(f)(1.0)
    monkeypatch.setattr(random.Random, "uniform", lambda self, a, b: 0.5)
    assert adbc.grad(f)(1.0) == 1.5


class Tilted(random.Random):
    """A generator whose numbers depend on the input."""

    tilt = 1.0

    def random(self) -> float:
        return super().random() * self.tilt


def test_a_generator_of_the_users(speculation: str) -> None:
    def f(x: float) -> float:
        rng = Tilted(4)
        rng.tilt = x
        return rng.random() + rng.uniform(1.0, 2.0)

    for _ in range(2):
        try:
            assert adbc.grad(f)(0.7) == pytest.approx(_difference(f, 0.7))
        except adbc.AdbcError:
            pass  # refused, and never wrong


def test_generators_one_after_the_other(speculation: str) -> None:
    def f(x: float, rngs: Any) -> float:
        s = 0.0
        for rng in rngs:
            s += x * rng.random()
        return s

    for _ in range(3):
        rngs = [random.Random(1), np.random.default_rng(2), np.random.RandomState(3), random.Random(4)]
        expected = f(1.0, copy.deepcopy(rngs))
        assert adbc.grad(f)(2.0, rngs) == pytest.approx(expected)


# -- functions with a cache ---------------------------------------------------------------------------------

RATES = [0.5, 1.5]
FACTOR = 2.0


@functools.lru_cache(maxsize=None)
def scaled(n: int) -> float:
    return n * FACTOR


@functools.lru_cache(maxsize=None)
def rated(n: int) -> float:
    return n * RATES[n % 2]


@functools.lru_cache(maxsize=None)
def helped(n: int) -> float:
    return helper(n) + (helped(n - 1) if n else 0.0)


def helper(n: int) -> float:
    return n * 0.5


@functools.lru_cache(maxsize=None)
def row(n: int) -> list[float]:
    return [float(n), 1.0]


def sums_of(function: Any) -> Any:
    def total(x: float) -> float:
        s = 0.0
        for i in range(5):
            s += function(i) * x
        return s

    return total


@pytest.mark.parametrize("function", [scaled, rated, helped])
def test_functions_with_a_cache(function: Any, speculation: str) -> None:
    for _ in range(3):
        function.cache_clear()
        expected = sum(map(function, range(5)))
        function.cache_clear()
        assert adbc.grad(sums_of(function))(2.0) == pytest.approx(expected)
        assert function is rated or function.cache_info().misses >= 5
        assert adbc.jvp(sums_of(function), (2.0,), (1.0,))[1] == pytest.approx(expected)


def test_what_a_cached_function_names_is_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    f = sums_of(helped)
    for _ in range(60):
        helped.cache_clear()
        assert adbc.grad(f)(2.0) == pytest.approx(10.0)
    monkeypatch.setattr(f"{__name__}.helper", lambda n: 1.0)
    helped.cache_clear()
    assert adbc.grad(f)(2.0) == pytest.approx(15.0)
    monkeypatch.undo()
    helped.cache_clear()


def test_a_cached_function_reads_what_is_active(speculation: str) -> None:
    def f(x: float) -> float:
        RATES[1] = x
        rated.cache_clear()
        return rated(1) * x + rated(2)

    for _ in range(2):
        try:
            assert adbc.grad(f)(0.7) == pytest.approx(1.4)
        except adbc.AdbcError:
            pass  # refused, and never wrong
        finally:
            RATES[1] = 1.5
            rated.cache_clear()


def test_memory_that_a_cache_gives(speculation: str) -> None:
    def f(x: float) -> float:
        row(3)[1] = x
        return row(3)[1] * row(3)[0] * x

    for _ in range(3):
        row.cache_clear()
        assert adbc.grad(f)(0.7) == pytest.approx(6 * 0.7)


# -- globals that are bound anew ----------------------------------------------------------------------------

KEPT = [1.0, 2.0]
OTHER = [3.0, 4.0]
SHIFTING = KEPT


def rebound(x: float) -> float:
    global SHIFTING
    s = 0.0
    for i in range(6):
        s += SHIFTING[0] * SHIFTING[i % 2] * x + KEPT[0]
        SHIFTING = OTHER if i % 3 == 1 else KEPT
    SHIFTING = KEPT
    return s


def test_a_global_that_is_bound_anew_in_the_loop(speculation: str) -> None:
    expected, value = _difference(rebound, 0.7), rebound(0.7)
    for _ in range(3):
        assert adbc.value_and_grad(rebound)(0.7) == pytest.approx((value, expected))
        assert SHIFTING is KEPT
        assert adbc.jvp(rebound, (0.7,), (1.0,)) == pytest.approx((value, expected))


def test_a_global_that_is_written_to_in_the_loop(speculation: str) -> None:
    def f(x: float) -> float:
        s = 0.0
        for i in range(4):
            KEPT[0] = x * KEPT[i % 2]
            if i == 1:
                KEPT.append(x)
            s += KEPT[0] * KEPT[-1]
        return s

    def afresh(x: float) -> float:
        KEPT[:] = [1.0, 2.0]
        out = f(x)
        KEPT[:] = [1.0, 2.0]
        return out

    expected, value = _difference(afresh, 0.7), afresh(0.7)
    for _ in range(3):
        out, pullback = adbc.vjp(f, 0.7)
        assert (out, *pullback(1.0)[-1:]) == pytest.approx((value, expected))
        assert KEPT == [1.0, 2.0]


def test_a_table_is_looked_for_once(at_once: None) -> None:
    adbc.grad(containers.looked_up)(0.7)
    written = str(adbc.inspect.fwd_ir((containers.looked_up, float)))
    assert "looked_for" in written


def test_active_memory_by_a_global_and_an_argument(speculation: str) -> None:
    def f(v: Any, x: float) -> float:
        s = 0.0
        for i in range(2):
            s += containers.TABLE[i + 1] * x
            v[i + 1] = x * v[i + 1]
            s += containers.TABLE[i + 1]
        return s

    before = list(containers.TABLE)
    for _ in range(2):
        gv, gx = adbc.grad(f, argnums=(0, 1))(containers.TABLE, 0.7)
        assert gv[1:3] == pytest.approx([1.4, 1.4])
        assert gx == pytest.approx(2 * (before[1] + before[2]))
        assert before == containers.TABLE
