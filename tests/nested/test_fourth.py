"""Derivatives of the fourth order in reverse mode throughout, and what they rest on: cells that are empty."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

X = 0.7


def of_a_number(x: float) -> float:
    return x**5 * math.sin(x)


def of_a_closure(x: float) -> float:
    def inside(y: float) -> float:
        return x * y**4

    def outside(y: float) -> float:
        nonlocal x
        return inside(y) * math.sin(x)

    return outside(x)


def of_a_loop(x: float) -> float:
    total = 0.0
    for i in range(4):
        total += x**i * math.sin(i * x)
    return total


def of_functions_in_a_loop(x: float) -> float:
    made: list[Callable[[float], float]] = []
    for i in range(3):
        made.append(lambda y, i=i: y ** (i + 2) * math.sin(y))  # type: ignore[misc]  # noqa: PERF401
    return sum(f(x) for f in made)


def of_a_list(x: float) -> float:
    values = [x, x * x]
    values.append(values[0] * values[1])
    values[0] = values[2] * values[1]
    return sum(values)


@dataclasses.dataclass
class Pair:
    a: float
    b: float

    def product(self) -> float:
        return self.a**3 * self.b


def of_a_dataclass(x: float) -> float:
    pair = Pair(x, x * x)
    pair.a = pair.a * pair.b
    return pair.product()


class Model:
    def __init__(self, w: float) -> None:
        self.w = w
        self.parts = [w, 2.0]

    def __call__(self, x: float) -> float:
        return self.w * x**5 + np.sin(self.parts[0] * x) * self.parts[1]  # type: ignore[no-any-return]


def of_an_object(x: float) -> float:
    return float(Model(x * 1.5)(x))


def of_an_array(x: float) -> float:
    values = np.arange(1.0, 4.0) * x
    return float(np.sum(np.sin(values) * values**2))


def sine(p: list[float], by: float, x: float) -> float:
    """The fourth derivative of ``p(x) * sin(by * x)``, of which `p` gives p and its derivatives."""
    s, c = math.sin(by * x), math.cos(by * x)
    turns = [s, by * c, -(by**2) * s, -(by**3) * c, by**4 * s]
    return sum(math.comb(4, k) * p[k] * turns[4 - k] for k in range(5))


def powers(n: int, x: float) -> list[float]:
    """``x**n`` and its derivatives."""
    return [math.perm(n, k) * x ** (n - k) if k <= n else 0.0 for k in range(5)]


def of_a_squared_sine(a: float, x: float) -> float:
    """The fourth derivative of ``sin(a * x * x)``."""
    s, c, b = math.sin(a * x * x), math.cos(a * x * x), 2 * a
    return b**4 * x**4 * s - 6 * b**3 * x**2 * c - 3 * b**2 * s


FOURTH: dict[str, tuple[Callable[[float], float], float]] = {
    "number": (of_a_number, sine(powers(5, X), 1.0, X)),
    "closure": (of_a_closure, sine(powers(5, X), 1.0, X)),
    "loop": (of_a_loop, sum(sine(powers(i, X), float(i), X) for i in range(4))),
    "functions": (of_functions_in_a_loop, sum(sine(powers(n, X), 1.0, X) for n in (2, 3, 4))),
    "list": (of_a_list, powers(5, X)[4]),
    "dataclass": (of_a_dataclass, powers(11, X)[4]),
    "object": (of_an_object, 1.5 * powers(6, X)[4] + 2 * of_a_squared_sine(1.5, X)),
    "array": (of_an_array, sum(i**2 * sine(powers(2, X), float(i), X) for i in (1, 2, 3))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOURTH)
def test_reverse_mode_throughout(name: str) -> None:
    f, expected = FOURTH[name]
    fourth = adbc.grad(adbc.grad(adbc.grad(adbc.grad(f))))
    for _ in range(2):
        assert fourth(X) == pytest.approx(expected, rel=1e-11)


def emptied(x: float) -> Any:
    cell = types.CellType()
    cell.cell_contents = math.sin(x)
    del cell.cell_contents
    del cell.cell_contents  # that is no error
    cell.cell_contents = 3.0 * math.sin(x)
    return cell.cell_contents * cell.cell_contents


def filled_outside(x: float, cell: types.CellType) -> Any:
    cell.cell_contents = x * x
    return cell.cell_contents * x


def emptied_outside(x: float, cell: types.CellType) -> float:
    del cell.cell_contents
    return x * x


def test_a_cell_that_is_empty_is_filled() -> None:
    expected = 18.0 * math.sin(X) * math.cos(X)
    assert adbc.grad(emptied)(X) == pytest.approx(expected, rel=1e-14)
    assert adbc.jvp(emptied, (X,), (1.0,))[1] == pytest.approx(expected, rel=1e-14)
    assert adbc.grad(adbc.grad(emptied))(X) == pytest.approx(18.0 * math.cos(2 * X), rel=1e-13)


def test_a_cell_is_empty_again_after_the_pullback() -> None:
    cell = types.CellType()
    assert adbc.grad(filled_outside)(X, cell) == pytest.approx(3 * X * X, rel=1e-14)
    assert cell == types.CellType()
    assert adbc.jvp(filled_outside, (X, cell), (1.0, None))[1] == pytest.approx(3 * X * X, rel=1e-14)
    assert cell.cell_contents == X * X


@pytest.mark.parametrize("contents", [(), (2.0,), ([1.0],)])
def test_a_cell_that_is_emptied_has_what_it_had(contents: tuple[Any, ...]) -> None:
    cell = types.CellType(*contents)
    assert adbc.grad(emptied_outside)(X, cell) == 2 * X
    assert cell == types.CellType(*contents)
