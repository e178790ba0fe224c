"""Loops over arrays, arrays that are unpacked, and values that are guessed to be arrays, in all ways of
guessing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.inspect import explain
from adbc.runtime import default_engine
from adbc.tangents import zero_tangent
from adbc.testing import test_rule as check_rule
from adbc.testing.values import assert_same

RANDOM = np.random.default_rng(11)


@pytest.fixture(params=["learn", "never", "always", "dynamic", "interpret"], autouse=True)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param, verify=True, warm_after=0)):
        default_engine().clear()
        yield request.param
        default_engine().clear()


def agree(f: Any, *args: Any) -> None:
    for _ in range(3):  # what is guessed later need not sum up in the same order
        adbc.jvp(f, args, tuple(map(zero_tangent, args)))
    check_rule(f, *args, step=1e-3)
    with adbc.use(adbc.Config(speculation="dynamic", verify=True)):
        expected = adbc.value_and_grad(f)(*args)
    for _ in range(4):
        assert_same(expected, adbc.value_and_grad(f)(*args), "gradient", rtol=1e-12)
    check_rule(f, *args, step=1e-3)


def strided(x: Any) -> Any:
    return np.repeat(x, 2, axis=0)[::-2]


VECTORS = [
    RANDOM.random(4), RANDOM.random(1), np.zeros(0), strided(RANDOM.random(3)),
    RANDOM.random(3).astype(np.float32),
]  # fmt: skip
MATRICES = [RANDOM.random((3, 2)), RANDOM.random((2, 3)).T, strided(RANDOM.random((2, 2))), np.zeros((0, 2))]


# -- loops -------------------------------------------------------------------------------------------


def of_elements(x: Any) -> Any:
    total = 0.0
    for v in x:
        total += math.sin(v) * v
    return total


@pytest.mark.parametrize("x", VECTORS[:4], ids=repr)
def test_elements(x: Any) -> None:
    agree(of_elements, x)


def of_rows(x: Any) -> Any:
    total = 0.0
    for row in x:
        total += np.sum(np.sin(row) * row)
    return total


@pytest.mark.parametrize("x", [*MATRICES, RANDOM.random((2, 2, 2))], ids=repr)
def test_rows(x: Any) -> None:
    agree(of_rows, x)


def in_place(x: Any) -> Any:
    y = x * 2.0
    for row in y:
        row *= 1.5
        row[0] = row[1] * row[0]
    for row in x:
        row += 0.25
    return np.sum(y * x)


@pytest.mark.parametrize("x", MATRICES[:3], ids=repr)
def test_rows_that_are_written_to(x: Any) -> None:
    agree(in_place, x)


def left_early(x: Any) -> Any:
    total, last = 0.0, None
    for i, row in enumerate(x):
        if i == 2:
            break
        for v in row:
            if v > 0.9:
                return total * v
            total += v * v
            last = v
    else:
        total += 1.0
    return total if last is None else total * last


@pytest.mark.parametrize("x", MATRICES, ids=repr)
def test_loops_that_are_left(x: Any) -> None:
    agree(left_early, x)


def side_by_side(x: Any) -> Any:
    total = 0.0
    for a, b in zip(x, x[1:]):  # noqa: B905, RUF007
        total += np.dot(a, b)
    for (i, a), b in zip(enumerate(x), [1.5, 2.5, 3.5]):  # noqa: B905
        total += a[i % 2] * b
    return total


@pytest.mark.parametrize("x", MATRICES[:3], ids=repr)
def test_two_in_step(x: Any) -> None:
    agree(side_by_side, x)


def by_hand(x: Any) -> Any:
    it = iter(x)
    total = next(it) * 2.0
    for v in it:
        total += v * next(it)
    return total


def test_iterators_that_others_take_from() -> None:
    agree(by_hand, RANDOM.random(5))


def of_pieces(x: Any, pieces: Any) -> Any:
    total = 0.0
    for v, piece in zip(x, pieces, strict=True):
        total += v * piece
        for w in x:
            total += w * v
    return total


def in_pairs(x: Any, other: Any) -> Any:
    total = 0.0 * other
    for a, b in itertools.pairwise(x):
        total = total + a * b * other
    return total


def from_the_second(x: Any, other: Any) -> Any:
    total = 1.0 * other
    for i, a in enumerate(itertools.islice(x, 1, None)):
        total = total * a + i
        if total > 3.0:
            break
    return total


@pytest.mark.parametrize("f", [in_pairs, from_the_second])
@pytest.mark.parametrize("x", VECTORS[:4], ids=repr)
def test_elements_that_are_taken_in_front_of_the_loop(f: Any, x: Any) -> None:
    agree(f, x, 1.5)
    for other in (2.0, np.float64(0.5), 3, 0.5):  # guesses fail in the loop, and behind the first element
        value, gradient = adbc.value_and_grad(f)(x, other)
        assert value == pytest.approx(f(x, other), rel=1e-14)
        assert_same(adbc.vjp(f, x, float(other))[1](1.0)[0], gradient, "gradient", rtol=1e-12)


def test_a_guess_fails_in_the_loop() -> None:
    x = RANDOM.random(3)
    for pieces in ([0.5, 0.25, 0.125], [0.5, np.float64(0.25), 1], [1, 2, 3.0]):
        check_rule(of_pieces, x, pieces)
        assert_same(adbc.grad(of_pieces)(x, pieces), pieces + x.sum() + x.sum(), "gradient", rtol=1e-12)


def test_loops_over_arrays_are_read_by_index(speculation: str) -> None:
    if speculation in ("learn", "never"):
        assert "slot of its shadow" in str(explain(of_elements, RANDOM.random(3)))


def caught(x: Any) -> Any:
    total = 0.0
    try:
        for v in x:
            total += v * v
            if v > 0.5:
                raise ValueError
    except ValueError:
        total *= 3.0
    return total


def test_loops_in_handlers() -> None:
    agree(caught, np.array([0.2, 0.3, 0.7, 0.9]))


def test_no_axes() -> None:
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        adbc.grad(of_elements)(np.array(1.5))


# -- unpacking ---------------------------------------------------------------------------------------


def unpacked(x: Any) -> Any:
    a, b, c = x
    return a * math.exp(b) * c


@pytest.mark.parametrize("x", [RANDOM.random(3), strided(RANDOM.random(3))], ids=repr)
def test_numbers_that_are_unpacked(x: Any) -> None:
    agree(unpacked, x)


def rows_unpacked(x: Any) -> Any:
    a, (b, c) = x
    a *= 2.0
    b, c = c, b
    return np.sum(a * a) * b + c


def test_rows_that_are_unpacked() -> None:
    agree(rows_unpacked, RANDOM.random((2, 2)))


@pytest.mark.parametrize("count", [0, 2, 4])
def test_the_wrong_number(count: int) -> None:
    x = RANDOM.random(count)
    with pytest.raises(ValueError) as plain:
        unpacked(x)
    with pytest.raises(ValueError) as found:
        adbc.grad(unpacked)(x)
    assert str(found.value) == str(plain.value)


def unpacked_in_try(x: Any) -> Any:
    try:
        a, b = x
    except ValueError:
        a, b = x[0], 2.0
    return a * b


def test_the_wrong_number_is_handled() -> None:
    agree(unpacked_in_try, RANDOM.random(2))
    agree(unpacked_in_try, RANDOM.random(3))


# -- guesses -----------------------------------------------------------------------------------------


class Layer:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b

    def __call__(self, x: Any) -> Any:
        return np.tanh(self.w @ x + self.b)


def layers(w: Any, b: Any, x: Any) -> Any:
    net = [Layer(w, b), Layer(w.T, 2.0 * b)]
    for layer in net:
        x = layer(x)
    return np.sum(x * x)


def test_arrays_in_fields() -> None:
    agree(layers, RANDOM.random((2, 2)), RANDOM.random(2), RANDOM.random(2))
    agree(layers, RANDOM.random((2, 2)), RANDOM.random((2, 1)), RANDOM.random((2, 3)))
    agree(layers, RANDOM.random((2, 2)), 0.5, RANDOM.random(2))
    agree(layers, RANDOM.random((2, 2)), RANDOM.random(2), RANDOM.random(2))


def chain(parts: Any, x: Any) -> Any:
    for part in parts:
        x = x * part + np.sin(part)
    return np.sum(x)


def test_arrays_in_lists_that_turn_out_otherwise() -> None:
    x = RANDOM.random(2)
    first = [RANDOM.random(2), RANDOM.random(2)]
    for parts in (
        first,
        [RANDOM.random(2), 0.5],
        [RANDOM.random((2, 2)), RANDOM.random(2)],
        [np.float64(0.5), RANDOM.random(2).astype(np.float32)],
        [np.array([1, 2]), RANDOM.random(2)],
        [np.array(0.5), RANDOM.random(2)],
        first,
    ):
        agree(chain, parts, x)


def constant_among(c: Any, x: Any) -> Any:
    held = [x, c]
    total = 0.0
    for part in held:
        total += np.sum(part * part) + part[0]
    return total


def test_a_constant_among_what_is_guessed() -> None:
    c, x = RANDOM.random(2), RANDOM.random(2)
    for _ in range(4):
        expected = 2 * x + np.array([1.0, 0.0])
        assert_same(adbc.grad(constant_among, 1)(c, x), expected, "gradient", rtol=1e-12)
    along = adbc.jvp(constant_among, (c, x), (np.zeros(2), np.ones(2)))[1]
    assert_same(along, expected.sum(), "tangent", rtol=1e-12)


def writes_into(c: Any, x: Any) -> Any:
    held = {"c": c, "x": x}
    held["c"][0] = held["x"][0] * 2.0
    return np.sum(held["c"]) + x[1]


def test_what_is_guessed_is_constant_and_written_to() -> None:
    c, x = RANDOM.random(2), RANDOM.random(2)
    for _ in range(4):
        with pytest.raises(ConstWriteError):
            adbc.grad(writes_into, 1)(adbc.Const(c), x)
    check_rule(writes_into, c, x)


class Sub(np.ndarray):
    pass


def from_dict(p: Any) -> Any:
    k, x = p["k"], p["x"]
    for _ in range(3):
        x = x + 0.1 * k * x[::-1]
    return np.sum(x)


def test_arrays_in_dicts() -> None:
    for x in (RANDOM.random(2), RANDOM.random((2, 2)), RANDOM.random(2)):
        agree(from_dict, {"k": RANDOM.random(2), "x": x})
    shared = RANDOM.random(2)
    agree(from_dict, {"k": shared, "x": shared})
