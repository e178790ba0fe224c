"""Tangents of tuples: of known form where types are known, the same number everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.forward.structure import covers, is_solid, zero_of
from adbc.inspect import dual_ir
from adbc.tangents import NO_TANGENT
from adbc.types import FLOAT, INT
from adbc.types.lattice import ANY, REAL, STR, Exact, TupleType
from tests.forward.modes import check, every_guess


def pair(x: float, y: float) -> tuple[float, float]:
    """With a loop, so that it is not written into its callers."""
    for _ in range(1):
        x, y = x * y, x + y
    return x, y


def from_calls(x: float, y: float) -> float:
    for _ in range(3):
        x, y = pair(x, 0.5 * y)
    return x * y


def through_a_loop(x: float, n: int) -> Any:
    state = (1.0, (0.5, 2), "name")
    for _ in range(n):
        a, (b, k), name = state
        state = (a * x, (b + a * k, k), name)
    return state


def chosen(x: float, flag: bool) -> float:
    t = (x, 2.0 * x) if flag else (1.0, 2.0)
    return t[0] * x + t[-1]


def of_integers_or_floats(x: float, flag: bool) -> float:
    t = (1, x) if flag else (x, 2.0)
    return t[0] * t[1] + t[0]


def with_memory(x: float, values: list[float]) -> Any:
    t = (x * x, values)
    t[1][0] = t[0] * values[1]
    u = (values, 3.0)
    return t[0] * u[0][0] + u[1] * values[0]


def with_functions(x: float) -> float:
    t = (math.sin, x, None, [x])
    return t[0](t[1]) * t[3][0]


def nested(x: float) -> Any:
    def inner(d: int) -> Any:
        return (x, d) if d == 0 else (inner(d - 1)[0] * x, d)

    return ((x, (x * x,)), inner(2))


def recursive(x: float, n: int) -> tuple[float, float]:
    if n == 0:
        return x, 1.0
    a, b = recursive(x * 0.9, n - 1)
    return a * b, b + x


def caught(x: float, y: float) -> float:
    t = (1.0, 2.0)
    try:
        t = pair(x, y)
        if t[0] > 0.0:
            raise ValueError(t)
        t = (0.0, 0.0)
    except ValueError as error:
        (u,) = error.args
        return t[0] * u[1]
    return t[0]


def of_arrays(a: Any, x: float) -> Any:
    t = (a[0], a, x)
    t[1][1] = t[0] * t[2]
    return t[1][1] * t[0] + np.sum(t[1])


def of_complex(z: complex, x: float) -> float:
    t = (z * x, x)
    return t[0].real * t[1] + t[0].imag


def compared(x: float, y: float) -> Any:
    return max(pair(x, y)), sorted([pair(x, y), pair(y, x)]), divmod(x, y)


def unused(x: float, y: float) -> float:
    _, b = pair(x, y)
    return b * 2.0


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (from_calls, (1.1, 0.7)),
    (through_a_loop, (0.9, 3)),
    (through_a_loop, (0.9, 0)),
    (chosen, (0.6, True)),
    (chosen, (0.6, False)),
    (of_integers_or_floats, (0.6, True)),
    (of_integers_or_floats, (0.6, False)),
    (with_memory, (0.8, [0.3, 1.5])),
    (with_functions, (0.7,)),
    (nested, (1.3,)),
    (recursive, (1.2, 3)),
    (caught, (1.2, 0.4)),
    (of_arrays, (np.array([0.4, 1.3, 0.2]), 0.7)),
    (of_complex, (0.3 + 0.8j, 1.1)),
    (compared, (1.7, 0.6)),
    (unused, (1.7, 0.6)),
]


@every_guess
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_tangents_of_tuples_are_right_whatever_is_guessed(
    f: Callable[..., Any], args: tuple[Any, ...], guess: str
) -> None:
    check(f, *args, guess=guess)


def test_nothing_is_looked_for() -> None:
    text = str(dual_ir((from_calls, float, float)))
    assert "item_tangent" not in text and "make_tuple" not in text and "support.real" not in text
    text = str(dual_ir((through_a_loop, float, int)))
    assert "item_tangent" not in text and "make_tuple" not in text


def test_argument_is_a_tuple() -> None:
    def f(t: tuple[Any, ...]) -> Any:
        a, (b, n), values = t
        values.append(a)
        return a * b * n

    t, dt = (2.0, (3.0, 4), [1.0]), (1.0, (0.5, adbc.NoTangent()), [0.0])
    assert adbc.jvp(f, (t,), (dt,)) == (24.0, 16.0)
    assert dt[2] == [0.0, 1.0]


PAIR = TupleType((FLOAT, FLOAT))


def test_which_tuples_have_tangents_of_known_form() -> None:
    assert is_solid(PAIR) and is_solid(TupleType((INT, PAIR))) and not is_solid(TupleType((INT, Exact(list))))
    assert not is_solid(TupleType((REAL, ANY)))
    assert covers(PAIR, PAIR) and not covers(ANY, PAIR) and covers(PAIR, ANY)
    assert covers(TupleType((FLOAT, INT)), TupleType((FLOAT, REAL)))
    assert not covers(TupleType((ANY, FLOAT)), PAIR)
    assert zero_of(TupleType((FLOAT, INT, TupleType((FLOAT, STR))))) == (0.0, NO_TANGENT, (0.0, NO_TANGENT))
    assert zero_of(TupleType((FLOAT, ANY))) is None
