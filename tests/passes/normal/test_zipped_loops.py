# ruff: noqa: B905  # it is about what zip does
"""Loops over ``zip`` and ``enumerate``: the same values, exceptions and derivatives without the tuples."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
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


def strict(a: Any, b: Any) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def strict_three(a: Any, b: Any) -> float:
    total = 0.0
    for x, y, z in zip(a, b, a, strict=True):
        total += x * y + z
    return total


def strict_alone(a: Any, b: Any) -> float:
    total = b[0]
    for (x,) in zip(a, strict=True):
        total *= x
    return total


def strict_numbered(a: Any, b: Any) -> float:
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b, strict=True), start=2):
        total += i * x * y
    return total


def strict_and_caught(a: Any, b: Any) -> float:
    total = 0.0
    try:
        for x, y in zip(a, b, strict=True):
            total += x * y
    except ValueError as error:
        total *= float(len(str(error)))
    return total


def strict_and_left(a: Any, b: Any) -> float:
    total = 0.0
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if i == 1:
            break
        total += x * y
    return total


def strict_display(a: Any, b: Any) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) * [x for x, _ in zip(a, b, strict=True)][-1]


def loose(a: Any, b: Any) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=False):
        total += x * y
    return total


STRICT: list[Callable[[Any, Any], Any]] = [
    strict, strict_three, strict_alone, strict_numbered, strict_and_caught, strict_and_left, strict_display,
    loose,
]  # fmt: skip


@pytest.mark.parametrize("program", STRICT, ids=lambda f: f.__name__)
def test_a_strict_zip_is_taken_apart(program: Callable[[Any, Any], Any]) -> None:
    graph = zipped_loops(primal_graph(program))
    verify(graph)
    assert " zip" not in str(graph).replace("guard zip", "") or program is strict_display
    for n, m in SIZES:
        a, b = values(n, 0.5), values(m, 0.2)
        expected = outcome(program, a, b)
        assert outcome(interpret, graph, a, b, globals=globals()) == expected


def outcome(call: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    try:
        return call(*args, **keywords)
    except (ValueError, IndexError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("program", STRICT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", [list, tuple, np.array, iter], ids=["list", "tuple", "array", "iterator"])
def test_a_strict_zip_is_differentiated_rightly(
    program: Callable[[Any, Any], Any], make: Callable[[Any], Any]
) -> None:
    if make is not iter:
        check_rule(program, make(values(3, 0.5)), make(values(3, 0.21)))

    def of_number(t: float, n: int, m: int) -> Any:
        return program(make([t * x for x in values(n, 0.5)]), make([t * t * x for x in values(m, 0.2)]))

    if make is iter and program in (strict_display, strict_alone, strict_three):
        return  # they go twice through what can be gone through once
    for n, m in SIZES:
        expected = outcome(of_number, 1.2, n, m)
        for _ in range(3):
            found = outcome(adbc.jvp, of_number, (1.2, n, m), (1.0, None, None))
            assert expected == (found if isinstance(expected, tuple) else found[0])
            if not isinstance(expected, tuple):
                gradient = adbc.grad(of_number)(1.2, n, m)
                slope = (of_number(1.2 + 1e-6, n, m) - of_number(1.2 - 1e-6, n, m)) / 2e-6
                assert gradient == pytest.approx(found[1], rel=1e-12)
                assert gradient == pytest.approx(slope, rel=1e-6, abs=1e-9)


def test_what_a_strict_zip_has_taken_before_it_raises_is_taken() -> None:
    def f(x: float, a: Noisy, b: Noisy, done: list[float]) -> float:
        for y, z in zip(a, b, strict=True):
            x = x * y + z
            done.append(x)
        return x

    for sizes in SIZES:

        def run(said: list[str], done: list[float], call: Callable[..., Any], sizes: Any = sizes) -> Any:
            a, b = (Noisy(name, values(n, 1.0), said) for name, n in zip("ab", sizes, strict=True))
            return outcome(call, 0.5, a, b, done)

        plain: list[str] = []
        expected = run(plain, plain_done := [], f)
        said: list[str] = []
        found = run(said, done := [], lambda *args: adbc.jvp(f, args, (1.0, None, None, None))[0])
        assert (found, said, done) == (expected, plain, plain_done)


def test_the_error_of_a_strict_zip_comes_from_its_line() -> None:
    for call in (strict, adbc.grad(strict)):
        with pytest.raises(ValueError, match="argument 2 is shorter") as found:
            call([1.0, 2.0], [3.0])
        frames = [f for f in traceback.extract_tb(found.value.__traceback__) if f.name == "strict"]
        assert [frame.line for frame in frames] == ["for x, y in zip(a, b, strict=True):"]


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


# -- in protected regions ------------------------------------------------------------------------------------


def summed_in_try(a: Any, b: Any) -> float:
    total = 0.0
    try:
        for i, x in enumerate(a):
            total += x * (6 // (2 - i))
    except ZeroDivisionError:
        total *= 3.0
    return total


def zipped_in_try(a: Any, b: Any) -> float:
    total = 0.0
    try:
        for x, y in zip(a, b):
            total += x * y
    finally:
        total *= 2.0
    return total


def with_a_manager(a: Any, b: Any) -> float:
    total = 0.0
    with contextlib.suppress(IndexError):
        for i, (x, y) in enumerate(zip(a, b), 1):
            total += x * y * b[i]
    return total


def tried_inside(a: Any, b: Any) -> float:
    total = 0.0
    for x, y in zip(a, b):
        try:
            if y > 0.6:
                raise ValueError("too large")
            total += x * y
        except ValueError:
            total += x
            continue
        finally:
            total *= 1.1
    return total


def displayed_in_try(a: Any, b: Any) -> float:
    try:
        made = [x * y for x, y in zip(a, b)]
        table = {i: x * (6 // (i - 2)) for i, x in enumerate(a)}
        return sum(made) + table[0]
    except ZeroDivisionError:
        return sum([x * x for x in b])


def nested_in_try(a: Any, b: Any) -> float:
    total = 0.0
    try:
        for x in a:
            try:
                for i, y in enumerate(b):
                    total += x * y * (6 // (1 - i))
            except ZeroDivisionError:
                total += y
    except KeyError:
        return 0.0
    return total


PROTECTED: list[Callable[[Any, Any], Any]] = [
    summed_in_try, zipped_in_try, with_a_manager, tried_inside, displayed_in_try, nested_in_try,
]  # fmt: skip


@pytest.mark.parametrize("program", PROTECTED, ids=lambda f: f.__name__)
def test_loops_in_protected_regions_are_taken_apart(program: Callable[[Any, Any], Any]) -> None:
    graph = adbc.inspect.primal_ir((program, list, list))
    verify(graph)
    assert "_foreigncall_(builtins.zip" not in str(graph)
    assert "_foreigncall_(builtins.enumerate" not in str(graph)


@pytest.mark.parametrize("program", PROTECTED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_loops_in_protected_regions_are_differentiated_rightly(
    program: Callable[[Any, Any], Any], make: Callable[[Any], Any]
) -> None:
    for n, m in SIZES[1:]:
        a, b = make(values(n, 0.5)), make(values(m, 0.21))
        check_rule(program, a, b)
        for _ in range(4):  # what was learnt changes the code
            value, _ = adbc.value_and_grad(program)(a, b)
            assert value == pytest.approx(program(a, b), rel=1e-14)
