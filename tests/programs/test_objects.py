"""What the programs of `objects` do beside having a right gradient."""

from __future__ import annotations

import copy
import functools
import heapq
import random
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule
from tests.programs import objects
from tests.programs.checks import check_gradient
from tests.programs.test_seed_documents import mutate

# -- a graph of objects, trained --------------------------------------------------------------------


def test_gradient_steps_on_a_graph_with_cycles() -> None:
    net = objects.ring()
    history = objects.train(net, 0.2, 12)
    assert all(later < earlier for earlier, later in zip(history, history[1:], strict=False))
    assert history[-1] < 0.2 * history[0]
    assert [unit.state for unit in net.units] == [0.0, 0.0, 0.0]  # as before each call
    assert all(unit.owner is net for unit in net.units)


def test_the_gradient_of_a_graph_is_a_graph_of_the_same_shape() -> None:
    net = objects.ring()
    gradient = adbc.grad(objects.ring_energy)(net, 3)
    first, second, third = gradient.units
    assert first.owner is gradient
    assert first.edges[0][0] is second and first.edges[1][0] is third
    assert second.edges[0][0] is third and third.edges[0][0] is first


def test_gradient_steps_agree_with_steps_by_differences() -> None:
    net = objects.ring()
    moved = copy.deepcopy(net)
    gradient = adbc.grad(objects.ring_energy)(net, 3)
    for i, unit in enumerate(net.units):
        ends = []
        for sign in (1.0, -1.0):
            other = copy.deepcopy(moved)
            other.units[i].edges[1][1][0] += sign * 1e-6
            ends.append(objects.ring_energy(other, 3))
        assert gradient.units[i].edges[1][1][0] == pytest.approx(
            (ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-9
        )
        assert unit.edges[1][1] is not moved.units[i].edges[1][1]


# -- long structures -------------------------------------------------------------------------------


def test_a_long_list_in_a_loop() -> None:
    head = objects.chain([0.001 * i for i in range(3000)])

    def total(link: Any, k: float) -> float:
        result = 0.0
        while link is not None:
            result += k * link.value * link.value
            link = link.next
        return result

    gradient, by_k = adbc.grad(total, (0, 1))(head, 2.0)
    for i in range(3000):
        assert gradient.value == pytest.approx(0.004 * i)
        gradient = gradient.next
    assert gradient == adbc.NoTangent()
    assert by_k == pytest.approx(sum((0.001 * i) ** 2 for i in range(3000)))


def test_trees_are_left_as_they_were() -> None:
    values = [0.5, -1.0, 2.0, 0.3, 0.4]
    gradient, by_k = adbc.grad(objects.tree_sort, (0, 1))(values, 0.7)
    order = sorted(range(5), key=values.__getitem__)
    assert gradient == pytest.approx([2.0 * order.index(i) * 0.49 * v for i, v in enumerate(values)])
    assert by_k == pytest.approx(2.0 * 0.7 * sum(i * values[j] ** 2 for i, j in enumerate(order)))


# -- heaps -----------------------------------------------------------------------------------------


def heap_sort(values: list[float], k: float) -> float:
    heap: list[float] = []
    for value in values:
        heapq.heappush(heap, value * k)
    return sum(i * heapq.heappop(heap) for i in range(len(values)))


def heapified(values: list[float], k: float) -> float:
    heapq.heapify(values)
    least = heapq.heapreplace(values, k * values[-1])
    middle = heapq.heappushpop(values, k)
    same = heapq.heappushpop(values, -100.0 * k)
    return least * 2.0 + middle * middle + same + sum(i * v for i, v in enumerate(values))


def queue_of_pairs(values: list[float], k: float) -> float:
    heap = [(abs(v), i, v * k) for i, v in enumerate(values)]
    heapq.heapify(heap)
    total = 0.0
    while heap:
        _, i, v = heapq.heappop(heap)
        total += i * v
        if i % 2 and v > 0.0:
            heapq.heappush(heap, (v, i + 1, -v))
    return total + sum(heapq.nlargest(2, values))


@pytest.mark.parametrize("f", [heap_sort, heapified, queue_of_pairs])
def test_heaps(f: Any) -> None:
    values = [0.5, 1.0, -2.0, 0.3, 0.4, 1.7, 0.9]
    check_gradient(f, values, 1.3, argnums=(0, 1))
    check_rule(f, values, 1.3)


def test_heaps_have_the_order_of_the_library() -> None:
    def steps(values: list[float]) -> Any:
        heap: list[Any] = []
        trace = []
        for i, value in enumerate(values):
            heapq.heappush(heap, (value, i))
            if i % 3 == 2:
                trace.append(heapq.heappop(heap))
            if i % 5 == 4:
                trace.append(heapq.heapreplace(heap, (value * 0.5, i)))
                trace.append(heapq.heappushpop(heap, (value * 2.0, -i)))
            trace.append(tuple(heap))
        rest = [v for v, _ in heap]
        heapq.heapify(rest)
        return trace, rest

    for seed in range(5):
        rng = random.Random(seed)
        values = [round(rng.uniform(-1.0, 1.0), 1) for _ in range(40)]  # with ties
        expected = steps(values)
        assert adbc.vjp(steps, values)[0] == expected
        assert adbc.jvp(steps, (values,), (None,))[0] == expected


def test_an_empty_heap() -> None:
    def f(x: float, take: Any) -> float:
        try:
            take([])
        except IndexError:
            return x * 2.0
        return x

    for take in (heapq.heappop, lambda heap: heapq.heapreplace(heap, 1.0)):
        assert adbc.grad(f)(1.0, take) == 2.0
    assert adbc.grad(lambda x: heapq.heappushpop([], x))(1.0) == 1.0


# -- caches made on the way --------------------------------------------------------------------------


def test_a_cached_recursion_computes_each_term_once() -> None:
    calls: list[int] = []

    def f(a: float, n: int) -> float:
        @functools.lru_cache(maxsize=None)
        def term(i: int) -> float:
            calls.append(i)
            return a if i < 2 else a * term(i - 1) + term(i - 2)

        return term(n)

    expected = adbc.jvp(f, (0.5, 30), (1.0, None))[1]
    assert calls == list(range(30, -1, -1)) or sorted(calls) == list(range(31))
    assert adbc.grad(f)(0.5, 30) == pytest.approx(expected, rel=1e-12)
    assert sorted(calls) == list(range(31))  # what the second call added is undone


def test_a_cache_of_a_size_forgets_what_was_used_longest_ago() -> None:
    def f(a: float) -> Any:
        seen = []

        @functools.lru_cache(maxsize=2)
        def g(i: int) -> float:
            seen.append(i)
            return a * i

        total = sum(g(i) for i in (1, 2, 1, 3, 2, 1))
        info = g.cache_info()
        g.cache_clear()
        return total, seen, tuple(info), g.cache_info().currsize, g.__name__

    value, pullback = adbc.vjp(f, 2.0)
    assert value == f(2.0) == (20.0, [1, 2, 3, 2, 1], (1, 5, 2, 2), 0, "g")
    zero = adbc.zero_tangent(value)
    assert pullback((1.0, *zero[1:])) == (10.0,)


def test_numbers_with_a_derivative_are_not_looked_up() -> None:
    def f(x: float, y: float) -> float:
        @functools.cache
        def g(t: float) -> float:
            return t * t

        return g(x) + 3.0 * g(y)

    assert adbc.grad(f, (0, 1))(2.0, 2.0) == (4.0, 12.0)
    assert adbc.jvp(f, (2.0, 2.0), (0.0, 1.0)) == (16.0, 12.0)


# -- the worked example of the papers, component by component ------------------------------------------


def test_the_worked_example_by_differences_in_all_components() -> None:
    """f(x, y, z, s): z is changed, s is made to refer to fresh memory, what it referred to is untouched."""
    arguments = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    old = np.array([7.0, 8.0])
    weights = (1.5, np.array([0.1, -0.2]), np.array([10.0, 20.0]), np.array([0.7, -0.3]))

    def outcome(x: Any, y: Any, z: Any, target: Any) -> Any:
        """All that can be seen afterwards: the value, z, what s refers to, and what it did refer to."""
        s = [target]
        value = mutate(x, y, z, s)
        return value, z, s[0], target

    def weighted(flat: Any) -> float:
        parts = outcome(*(part.copy() for part in flat.reshape(4, 2)))
        return float(sum(np.sum(w * part) for w, part in zip(weights, parts, strict=True)))

    flat = np.concatenate([*arguments, old])
    numeric = []
    for i in range(8):
        step = np.zeros(8)
        step[i] = 1e-6
        numeric.append((weighted(flat + step) - weighted(flat - step)) / 2e-6)

    given = [part.copy() for part in flat.reshape(4, 2)]
    value, pullback = adbc.vjp(outcome, *given)
    assert value[0] == 63.0 and value[1] is given[2] and value[3] is given[3]
    reverse = np.concatenate(pullback(weights))
    np.testing.assert_allclose(reverse, numeric, rtol=1e-6)
    np.testing.assert_array_equal(np.concatenate(given), flat)

    forward = []
    for i in range(8):
        direction = np.zeros(8)
        direction[i] = 1.0
        primals = tuple(part.copy() for part in flat.reshape(4, 2))
        _, tangent = adbc.jvp(outcome, primals, tuple(direction.reshape(4, 2)))
        forward.append(sum(np.sum(w * part) for w, part in zip(weights, tangent, strict=True)))
    np.testing.assert_allclose(forward, numeric, rtol=1e-6)
    np.testing.assert_allclose(forward, reverse, rtol=1e-13)


@pytest.mark.parametrize("shared", ["x and y", "x and z", "y and z", "z and what s refers to", "all"])
def test_the_worked_example_with_shared_arguments(shared: str) -> None:
    a, b = np.array([1.0, 2.0]), np.array([3.0, 0.5])
    c = np.array([0.7, 1.1])
    x, y, z, target = {
        "x and y": (a, a, b, c),
        "x and z": (a, b, a, c),
        "y and z": (a, b, b, c),
        "z and what s refers to": (a, b, c, c),
        "all": (a, a, a, a),
    }[shared]
    check_rule(mutate, x, y, z, [target])


class Answering:
    __slots__ = ("a",)

    def __getattr__(self, name: str) -> float:
        return 4.0


def deletes_a_slot(x: float) -> float:
    it = Answering()
    it.a = x
    y = it.a * it.a
    del it.a
    return y + it.a * x


def test_a_slot_is_deleted_where_the_class_answers_for_all_names() -> None:
    check_rule(deletes_a_slot, 0.7)
