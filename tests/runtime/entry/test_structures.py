"""Arguments made of tuples, dicts and lists take the short way in, and give what the long way gives."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ArgumentError
from adbc.runtime import default_engine
from adbc.runtime.entry import reverse as reverse_entry
from adbc.runtime.entry.structures import ARRAYS, Also, Pairs, is_plain, structure, zeros
from adbc.tangents import NO_TANGENT, zero_tangent
from benchmarks.instructions import executed
from benchmarks.settle import settle


def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arguments of each call from now on that takes the long way."""
    said: list[Any] = []
    first = reverse_entry._first_call

    def watched(engine: Any, entrance: Any, f: Any, args: Any, *rest: Any) -> Any:
        said.append(args)
        return first(engine, entrance, f, args, *rest)

    monkeypatch.setattr(reverse_entry, "_first_call", watched)
    return said


def growth(rates: dict[str, float], start: tuple[float, float], unit: str) -> float:
    x, y = start
    for _ in range(3):
        x, y = x + rates["a"] * y, y * rates["b"]
    return x * y if unit == "m" else x


def misfit(u: list[float], data: list[tuple[float, float]]) -> float:
    return sum((u[0] * t + u[1] - y) ** 2 for t, y in data)


def spread(table: dict[str, dict[str, float]], path: list[str]) -> float:
    return sum(math.exp(table[a][b]) for a, b in itertools.pairwise(path))


def nested(pair: tuple[tuple[float, int], float], day: datetime.date) -> float:
    (x, n), y = pair
    return float(x**n * y * day.day)


def overwritten(state: dict[str, float], rows: list[tuple[float, str]]) -> float:
    rows.append((state["x"], "last"))
    state["x"] = state["x"] * rows[-1][0] + rows[0][0]
    return state["x"] * state["x"]


def rotated(z: complex, angles: tuple[float, ...]) -> float:
    for angle in angles:
        z = z * complex(math.cos(angle), math.sin(angle)) + 1.0
    return z.real * z.imag


def layers(weights: list[tuple[Any, Any]], x: Any, sign: Any) -> float:
    for w, b in weights:
        x = np.tanh(x @ w + b)
    return float((x * x * sign[0]).sum())


def trained(theta: list[float], rows: list[tuple[list[float], float]]) -> float:
    return sum((theta[0] * r[0] + theta[1] * r[1] - y) ** 2 for r, y in rows)


DAY = datetime.date(2020, 1, 3)
CASES: list[tuple[Callable[..., float], Any, Callable[[float], tuple[Any, ...]]]] = [
    (growth, (0, 1), lambda k: ({"a": k, "b": 2.0}, (1.0, k), "m")),
    (growth, 0, lambda k: ({"a": k, "b": 2.0}, (1.0, k), "m")),
    (misfit, 0, lambda k: ([k, 1.0], [(1.0, 2.0), (k, 3.0), (3.0, k)])),
    (misfit, (0, 1), lambda k: ([k, 1.0], [(1.0, 2.0), (k, 3.0), (3.0, k)])),
    (spread, 0, lambda k: ({"a": {"a": k, "b": 0.5}, "b": {"a": 0.1, "b": k}}, ["a", "b", "a", "a"])),
    (nested, 0, lambda k: (((k, 3), 2.0), DAY)),
    (overwritten, 0, lambda k: ({"x": k, "y": 1.0}, [(2.0, "first")])),
    (overwritten, 1, lambda k: ({"x": k, "y": 1.0}, [(2.0, "first"), (k, "second")])),
    (trained, 0, lambda k: ([k, 2.0], [([1.0, k], 2.0), ([k, 3.0], k)])),
    (rotated, (0, 1), lambda k: (complex(k, 1.0), (0.1, k))),
]


@pytest.mark.parametrize(("f", "argnums", "arguments"), CASES)
def test_structures_take_the_short_way(
    f: Callable[..., float], argnums: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gradient = adbc.value_and_grad(f, argnums)
    for _ in range(4):  # until guesses have settled
        gradient(*arguments(0.5))
    said = long_ways(monkeypatch)
    for k in (0.7, 1.3, 0.7):
        args = arguments(k)
        found = gradient(*args)
        assert args == arguments(k)  # what was overwritten is restored
        assert found[0] == f(*arguments(k))
        default_engine().entrances.clear()
        assert found == adbc.value_and_grad(f, argnums)(*arguments(k))  # which takes the long way
    assert len(said) == 3


@pytest.mark.parametrize(("f", "argnums", "arguments"), CASES)
def test_derivatives_are_those_of_all_kinds_of_code(
    f: Callable[..., float], argnums: Any, arguments: Any
) -> None:
    found = []
    for speculation in ("always", "learn", "never"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            gradient = adbc.value_and_grad(f, argnums)
            found += [gradient(*arguments(0.7)) for _ in range(3)]
    assert all(each == found[0] for each in found)


def test_arrays_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(k: float) -> tuple[Any, Any, Any]:
        weights = [(np.full((2, 3), k), np.ones(3)), (np.full((3, 1), 0.5), np.array([k]))]
        return weights, np.array([1.0, k]), np.array([1])

    gradient = adbc.grad(layers)
    for _ in range(4):
        gradient(*given(0.5))
    said = long_ways(monkeypatch)
    found = gradient(*given(0.7))
    assert not said
    default_engine().entrances.clear()
    expected = adbc.grad(layers)(*given(0.7))  # which takes the long way
    for (dw, db), (w, b) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(dw, w)
        np.testing.assert_array_equal(db, b)
    (first, second), x, sign = given(0.7)
    shared = gradient([first, second, (np.ones((1, 1)), second[1])], x, sign)
    assert shared[1][1] is shared[2][1]  # one array has one gradient
    weights, x, sign = given(0.7)
    view = gradient([(weights[0][0][:, :], weights[0][1]), weights[1]], x, sign)
    np.testing.assert_array_equal(view[0][0], expected[0][0])
    assert len(said) == 3


def chosen(x: Any, places: Any, scale: float) -> Any:
    return (x[places] ** 2).sum() * scale


def test_arrays_of_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(chosen, (0, 2))
    for _ in range(4):
        gradient(np.ones(3), np.array([0, 2]), 2.0)
    said = long_ways(monkeypatch)
    dx, ds = gradient(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 0]), 2.0)
    np.testing.assert_array_equal(dx, [8.0, 0.0, 12.0])
    assert ds == 11.0
    assert not said


def test_what_is_shared_takes_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_rows(p: dict[str, list[float]], q: dict[str, list[float]]) -> float:
        q["u"][0] = 3.0 * p["u"][0]
        return p["u"][0] * q["u"][0]

    gradient = adbc.grad(of_rows, (0, 1))
    for _ in range(2):
        assert gradient({"u": [2.0]}, {"u": [5.0]}) == ({"u": [12.0]}, {"u": [0.0]})
    said = long_ways(monkeypatch)
    row = [2.0]
    p, q = gradient({"u": row}, {"u": row})
    assert p == q == {"u": [36.0]}  # (3 u)²
    assert row == [2.0]
    assert len(said) == 1


def test_other_structures_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(x: tuple[Any, ...]) -> Any:
        return x[0] * x[1] if type(x[1]) is float else x[0] * x[0]

    gradient = adbc.grad(first)
    for _ in range(3):
        assert gradient((2.0, 3.0)) == (3.0, 2.0)
        assert gradient((2.0, "a")) == (4.0, NO_TANGENT)
        assert gradient((2.0, 3.0, 1.0)) == (3.0, 2.0, 0.0)
    said = long_ways(monkeypatch)
    gradient((2.0, "a"))
    assert not said


def test_integers_are_refused_at_every_call() -> None:
    def total(p: dict[str, Any]) -> Any:
        return p["x"] * 2.0 + p["y"]

    gradient = adbc.grad(total)
    for _ in range(3):
        assert gradient({"x": 1.0, "y": 2.0}) == {"x": 2.0, "y": 1.0}
        assert gradient({"x": 1.0, "y": 2}) == {"x": 2.0, "y": NO_TANGENT}
        with pytest.raises(ArgumentError, match="floats"):
            gradient({"x": 1, "y": 2})


def test_an_active_value_written_into_a_constant_list_is_not_lost() -> None:
    def stored(x: float, notes: list[Any]) -> Any:
        notes[0] = (x * x, "square")
        return notes[0][0] * x

    gradient = adbc.grad(stored)
    for _ in range(3):
        notes: list[Any] = [(1.0, "one"), (2.0, "two")]
        assert gradient(3.0, notes) == 27.0
        assert notes == [(1.0, "one"), (2.0, "two")]


@pytest.mark.parametrize(
    "x",
    [
        [], {}, [1.0, 2], ["a"], [(1.0, "a"), (2.0, "b")], [(1.0, 2), (2.0,), ()], [((1.0, 2), 3.0)],
        {"a": 1.0, "b": "c"}, {1: (2.0, 3.0)}, {"a": {"b": 1.0}, "c": [[2.0], [3]]}, [([1.0], "a")],
        [None, True, b""],
    ],
)  # fmt: skip
def test_zeros_are_those_of_a_walk(x: Any) -> None:
    met: Pairs = []
    made = zeros(x, met, False)
    assert made == zero_tangent(x)
    assert met[-1][0] is x
    assert met[-1][1] is made


def test_what_has_no_simple_structure() -> None:
    loop: list[Any] = [1.0]
    loop.append(loop)
    assert zeros([np.ones(2)], [], True, Also(False, False)) is None
    for x in (
        loop,
        [np.ones(2, int)],
        [np.ones(2)[:]],
        {(1, 2): 1.0},
        {"__builtins__": 1.0},
    ):
        assert zeros(x, [], False) is None
    without = [object(), {1.0}, len, test_what_has_no_simple_structure]
    assert zeros(without, [], False) == [NO_TANGENT] * 4
    assert zeros([object()], [], False, ARRAYS) is None
    assert zeros([1, 2], [], True) is None  # it has no derivative
    assert structure((1.0, ("a", 2))) == (float, (str, int))
    assert structure((1.0, [2.0])) is None
    assert structure((1.0,) * 40) is None
    assert is_plain([1.0, ("a", (2, 1j))])
    assert not is_plain([(1.0, [2.0])])


def of_dict(p: dict[str, float], xs: list[tuple[float, float]], scale: float) -> float:
    return p["a"] * xs[0][0] + p["b"] * xs[0][1] * scale


def test_instructions_of_entering() -> None:
    gradient = adbc.grad(of_dict)

    def count(n: int) -> int:
        args = {"a": 1.0, "b": 2.0}, [(1.0, 2.0)] * n, 3.0
        settle(lambda: gradient(*args))
        return executed(lambda: gradient(*args))

    few, many = count(2), count(500)
    assert few < 1300
    assert many - few < 50  # rows that are only read are looked at by their classes, all at once
