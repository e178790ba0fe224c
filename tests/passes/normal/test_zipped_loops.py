# ruff: noqa: B905  # it is about what zip does
"""Loops over ``zip`` and ``enumerate``: the same values, exceptions and derivatives without the tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect.round_trip import primal_graph
from adbc.ir.interpret import interpret
from adbc.ir.verify import verify
from adbc.passes.normal.zipped_loops import zipped_loops
from adbc.testing import test_rule as check_rule


def both(a: Any, b: Any) -> Any:
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total


def three(a: Any, b: Any) -> Any:
    total = 0.0
    for x, y, z in zip(a, b, a):
        total += x * y * z
    return total


def numbered(a: Any, b: Any) -> Any:
    total = 0.0
    for i, x in enumerate(a):
        total += i * x
    for i, x in enumerate(b, 3):
        total += i * x * x
    return total


def numbered_pairs(a: Any, b: Any) -> Any:
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        total += i * x * y
    return total


def pairs_of_numbered(a: Any, b: Any) -> Any:
    total = 0.0
    for (i, x), y in zip(enumerate(a), b):
        total += (i + 1) * x * y
    return total


def whole_tuples(a: Any, b: Any) -> Any:
    total = 0.0
    last = None
    for pair in zip(a, b):
        total += pair[0] * pair[1]
        last = pair
    return total if last is None else total + last[0]


def left_early(a: Any, b: Any) -> Any:
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b)):
        if i == 2:
            total *= x
            break
        total += x * y
    else:
        total *= 3.0
    return total


def nested(a: Any, b: Any) -> Any:
    total = 0.0
    for i, x in enumerate(a):
        for y, z in zip(b, a):
            if y > x:
                continue
            total += x * y * z + i
    return total


def in_place(a: Any, b: Any) -> Any:
    for i, (x, y) in enumerate(zip(a, b)):
        a[i] = x * y
    return sum(a)


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    both, three, numbered, numbered_pairs, pairs_of_numbered, whole_tuples, left_early, nested,
]  # fmt: skip
SIZES = [(0, 2), (1, 1), (3, 3), (4, 2), (2, 4)]


def values(n: int, shift: float) -> list[float]:
    return [0.3 * i + shift for i in range(n)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("sizes", SIZES)
def test_the_graph_means_the_same(program: Callable[[Any, Any], Any], sizes: tuple[int, int]) -> None:
    graph = zipped_loops(primal_graph(program))
    verify(graph)
    assert " zip" not in str(graph).replace("guard zip", "") or program is pairs_of_numbered
    a, b = values(sizes[0], 0.5), values(sizes[1], 0.2)
    assert interpret(graph, a, b, globals=globals()) == program(a, b)


@pytest.mark.parametrize("program", [*PROGRAMS, in_place], ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_zipped_loops_are_differentiated_rightly(
    program: Callable[[Any, Any], Any], make: Callable[[Any], Any]
) -> None:
    if program is in_place and make is tuple:
        return
    for n, m in SIZES[1:]:
        check_rule(program, make(values(n, 0.5)), make(values(m, 0.21)))
    for _ in range(3):  # what was learnt changes the code
        _, gradients = adbc.value_and_grad(program, (0, 1))(values(3, 0.5), values(3, 0.2))
    if program is both:
        assert gradients == (values(3, 0.2), values(3, 0.5))


class Noisy:
    """An iterable that says what is done with it."""

    def __init__(self, name: str, items: list[Any], said: list[str]) -> None:
        self.name, self.items, self.said = name, items, said

    def __iter__(self) -> Iterator[Any]:
        self.said.append(f"iter {self.name}")
        for i, x in enumerate(self.items):
            self.said.append(f"{self.name}{i}")
            yield x
        self.said.append(f"end {self.name}")


def test_iterables_are_asked_in_the_same_order() -> None:
    def f(x: float, a: Noisy, b: Noisy) -> float:
        for i, (y, z) in enumerate(zip(a, b)):
            x = x * y + z * i
        return x

    for sizes in SIZES:
        plain: list[str] = []
        f(0.5, Noisy("a", values(sizes[0], 1.0), plain), Noisy("b", values(sizes[1], 1.0), plain))
        said: list[str] = []
        adbc.jvp(
            f,
            (0.5, Noisy("a", values(sizes[0], 1.0), said), Noisy("b", values(sizes[1], 1.0), said)),
            (1.0, None, None),
        )
        assert said == plain


def test_what_cannot_be_iterated_over_raises_the_same() -> None:
    def f(x: float, y: Any) -> float:
        for a, b in zip([x], y):
            x = a * b
        return x

    for bad in (3, None):
        with pytest.raises(TypeError) as expected:
            f(1.0, bad)
        with pytest.raises(TypeError) as found:
            adbc.grad(f)(1.0, bad)
        assert str(found.value) == str(expected.value)


def test_an_iterator_that_others_see_stays() -> None:
    def f(a: list[float]) -> float:
        numbered = enumerate(a)
        total = 0.0
        for i, x in numbered:
            total += x * (i + 1)
            if i == 1:
                break
        for i, x in numbered:
            total += 10.0 * x * i
        return total

    assert " zip" not in str(zipped_loops(primal_graph(f)))
    assert "enumerate" in str(zipped_loops(primal_graph(f)))
    check_rule(f, [1.0, 2.0, 3.0, 4.0])


def strict(a: list[float], b: list[float]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def test_strict_zip() -> None:
    check_rule(strict, [1.0, 2.0], [3.0, 4.0])
    with pytest.raises(ValueError, match="shorter"):
        adbc.grad(strict)([1.0, 2.0], [3.0])


def test_wrong_guesses_in_a_loop_over_several() -> None:
    def f(a: list[Any], b: list[Any]) -> Any:
        total = 0.0
        for i, (x, y) in enumerate(zip(a, b)):
            total = total + x * y * (i + 1)
        return total

    mixed = [1.0, np.float64(2.0), 3, np.array([1.0, 2.0]), 0.5]
    for a, b in ((mixed, values(5, 0.5)), (values(5, 0.5), mixed), (mixed, mixed)):
        for _ in range(4):
            _, pullback = adbc.vjp(f, list(a), list(b))
            found = pullback(np.ones(2))
        weights = [1.0, 1.0, 1.0, 1.0, 1.0]
        for k, w in enumerate(weights):
            expected = (k + 1) * 2.0 * w * np.asarray(b[k]) if np.ndim(b[k]) == 0 else None
            if expected is not None and isinstance(a[k], float) and np.ndim(a[k]) == 0:
                np.testing.assert_allclose(found[0][k], expected)
