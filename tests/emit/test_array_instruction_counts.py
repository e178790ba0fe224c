"""How many instructions derivatives of programs on arrays execute per instruction of the program, and how
much a loop that overwrites arrays saves.

The bounds are what was measured on CPython 3.11 to 3.13, and a little more."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from tests.emit.test_instruction_counts import per_iteration


def numbers(x: Any, n: int) -> Any:
    """Numbers of NumPy's."""
    a = x[0]
    for _ in range(n):
        a = np.sqrt(a) * np.exp(-a) + np.sin(x[1] * a)
    return a


def rows(x: Any) -> Any:
    total = 0.0
    for row in x:
        a, b = row
        total += np.dot(row, row) * a - b
    return total


class Layer:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b


def layers(w: Any, b: Any, x: Any, n: int) -> Any:
    """Arrays whose types are guessed."""
    layer = Layer(w, b)
    for _ in range(n):
        x = np.tanh(layer.w @ x + layer.b)
    return np.sum(x)


def stepped(y: Any, n: int) -> Any:
    """Small arrays of numbers."""
    for _ in range(n):
        y = y + 0.1 * np.array([y[1], -np.sin(y[0])])
    return np.sum(y)


def jacobi(a: Any, b: Any, n: int) -> Any:
    """Slices in place."""
    for _ in range(n):
        b[1:-1] = 0.33 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33 * (b[:-2] + b[1:-1] + b[2:])
    return np.sum(a * a)


def buffers(x: Any, y: Any, n: int) -> Any:
    """Results that are written elsewhere."""
    t = np.empty_like(x)
    for _ in range(n):
        np.multiply(x, y, out=t)
        x *= 0.5
        np.add(t, x, out=x)
    return np.sum(x)


def masked(x: Any, n: int) -> Any:
    for _ in range(n):
        m = x < 0.5
        x[m] = 0.9 * x[m]
    return np.sum(x)


def swept(x: Any, n: int) -> Any:
    """Coefficients that are made step by step."""
    p = np.zeros((2, n + 1))
    for j in range(n):
        p[:, j + 1] = 0.5 / (2.0 + p[:, j])
        x = x * p[0, j]
    return np.sum(x)


def cell(a: Any, hidden: Any, state: Any, x: Any) -> Any:
    state = state * a + np.tanh(hidden) * x
    return hidden * state, state


def remembered(x: Any, n: int) -> Any:
    """Tuples of arrays in a list, passed on element by element."""
    memory = [(x, x)]
    for _ in range(n):
        memory[0] = cell(0.5, *memory[0], x)
    return np.sum(memory[0][0])


def products(a: Any, v: Any, n: int) -> Any:
    """Of a matrix and a vector, from both sides."""
    for _ in range(n):
        v = v @ a + a @ v
    return v @ v


X = np.linspace(0.2, 0.9, 8)
W = np.eye(8) * 0.5
# Each product with a matrix is looked at for NaN that zeros should win over, and before that for its size, as
# BLAS would wake other threads for a large one: 5 instructions.
PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], float, float]] = [
    (numbers, lambda n: (X, n), 1.9, 4.6),
    (rows, lambda n: (np.ones((n, 2)),), 2.7, 10.7),
    (layers, lambda n: (W, X, X, n), 14.2, 22.3),
    (stepped, lambda n: (X[:2].copy(), n), 10.3, 10.0),
    (jacobi, lambda n: (X.copy(), X.copy(), n), 9.3, 14.5),
    (buffers, lambda n: (X.copy(), X[::-1].copy(), n), 9.8, 23.5),
    (masked, lambda n: (X.copy(), n), 8.8, 9.2),
    (swept, lambda n: (X, n), 8.8, 3.6),
    (remembered, lambda n: (X, n), 39.0, 42.0),
    (products, lambda n: (W, X, n), 20.5, 45.6),
]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("function", "arguments", "forwards", "backwards"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS]
)
def test_no_more_instructions_per_iteration_than_were_measured(
    function: Callable[..., Any],
    arguments: Callable[[int], tuple[Any, ...]],
    forwards: float,
    backwards: float,
) -> None:
    found = per_iteration(function, arguments)
    assert found[0] <= forwards, found
    assert found[1] <= backwards, found


def test_a_thousand_steps_save_nothing_that_no_formula_reads() -> None:
    a, b = np.linspace(0.0, 1.0, 20_000), np.ones(20_000)
    gradient = adbc.grad(jacobi, (0, 1))

    def peak(steps: int) -> int:
        for _ in range(3):
            gradient(a, b, 2)
        tracemalloc.start()
        gradient(a, b, steps)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(100) < peak(2) + a.nbytes


@pytest.mark.parametrize("count", [1, 4, 16])
def test_a_chain_of_functions_keeps_an_array_for_each(count: int) -> None:
    names = ["sin", "exp", "tanh", "sqrt", "square", "cos", "log1p", "arctan"]
    lines = [f"    x = np.{names[k % len(names)]}(x)" for k in range(count)]
    space: dict[str, Any] = {"np": np}
    exec("\n".join(["def chain(x):", *lines, "    return np.sum(x)"]), space)
    gradient, x = adbc.value_and_grad(space["chain"]), np.linspace(0.3, 0.9, 50_000)
    for _ in range(4):
        gradient(x)
    tracemalloc.start()
    gradient(x)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found <= (count + 3) * x.nbytes
