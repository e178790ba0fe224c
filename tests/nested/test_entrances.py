"""Derivatives of gradients that are taken again and again enter by a short way, which must see what has
changed; and what inner derivatives do with shadows of arrays, of every layout, is differentiated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.testing import test_rule as check_rule

FACTOR = 2.0


def scaled(x: Any) -> Any:
    return FACTOR * x**3


def total(v: Any) -> Any:
    t = 0.0
    for a in v:
        t += a * a * a
    return t


def squares(x: Any) -> Any:
    return (x**2).sum() * x.sum()


def both(x: Any, y: Any) -> Any:
    return x * x * y


@pytest.fixture(params=["cold", "warm", "dynamic", "interpret"])
def way(request: Any) -> Iterator[str]:
    name = request.param
    config = {
        "cold": adbc.Config(),
        "warm": adbc.Config(warm_after=0),
        "dynamic": adbc.Config(speculation="dynamic"),
        "interpret": adbc.Config(speculation="interpret"),
    }[name]
    with adbc.use(config):
        yield name


def test_again_and_again(way: str) -> None:
    gradient = adbc.grad(scaled)
    for x in (1.0, 2.0, -0.5, 3.0):
        assert adbc.jvp(gradient, (x,), (0.5,)) == (6.0 * x * x, 6.0 * x)
        assert adbc.hvp(scaled, (x,), (2.0,)) == (24.0 * x,)
        value, tangent = adbc.jvp(adbc.value_and_grad(scaled), (x,), (1.0,))
        assert value == (2.0 * x**3, 6.0 * x * x)
        assert tangent == (6.0 * x * x, 12.0 * x)


def test_arguments_of_other_kinds(way: str) -> None:
    gradient = adbc.grad(both, (0, 1))
    for _ in range(3):
        assert adbc.jvp(gradient, (3.0, 5.0), (1.0, 0.0))[1] == (10.0, 6.0)
        assert adbc.jvp(gradient, (3.0, 5.0), (None, 1.0))[1] == (6.0, 0.0)
        assert adbc.jvp(adbc.grad(both, 1), (3.0, 5.0), (1.0, 1.0)) == (9.0, 6.0)
        assert adbc.jvp(adbc.grad(both), (3.0, 5), (1.0, None)) == (30.0, 10.0)
        x = np.array([1.0, 2.0])
        assert adbc.jvp(adbc.grad(squares), (x,), (np.array([1.0, 0.0]),))[1].tolist() == [10.0, 6.0]
        assert adbc.jvp(adbc.grad(total), ([1.0, 2.0],), ([1.0, 0.5],))[1] == [6.0, 6.0]
        with pytest.raises(adbc.errors.InvalidTangentError):
            adbc.jvp(gradient, (3.0, 5.0), ("text", 1.0))
        with pytest.raises(adbc.errors.InvalidTangentError):
            adbc.jvp(adbc.grad(squares), (x,), (np.ones(3),))


def test_what_changes_is_seen(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.grad(scaled)
    for _ in range(3):
        assert adbc.jvp(gradient, (1.0,), (1.0,))[1] == 12.0
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    for _ in range(2):
        assert adbc.jvp(gradient, (1.0,), (1.0,))[1] == 18.0
    with cr.scoped():
        cr.scalar_rule(scaled, lambda out, x: 100.0 * x * x)
        for _ in range(2):
            assert adbc.jvp(gradient, (1.0,), (1.0,))[1] == 200.0
    assert adbc.jvp(gradient, (1.0,), (1.0,))[1] == 18.0
    monkeypatch.setattr(scaled, "__code__", (lambda x: math.sin(x)).__code__)
    for _ in range(2):
        assert adbc.jvp(gradient, (1.0,), (1.0,))[1] == pytest.approx(-math.sin(1.0))


def test_functions_of_one_code_are_kept_apart(way: str) -> None:
    def made(k: float) -> Any:
        def f(x: float, n: float = k) -> float:
            return x**3 * n

        return f

    functions = [made(float(k)) for k in range(1, 4)]
    for _ in range(3):
        for k, f in enumerate(functions, 1):
            assert adbc.jvp(adbc.grad(f), (1.0,), (1.0,))[1] == 6.0 * k


def test_what_is_shared_is_seen(way: str) -> None:
    x = np.array([1.0, 2.0])
    dot = adbc.grad(lambda x, y: (x * x * y).sum(), (0, 1))
    for _ in range(3):
        by_x, by_y = adbc.jvp(dot, (x, x.copy()), (np.ones(2), np.ones(2)))[1]
        assert (by_x.tolist(), by_y.tolist()) == ([4.0, 8.0], [2.0, 4.0])
        with pytest.raises(adbc.AdbcError):
            adbc.jvp(dot, (x, x), (np.ones(2), np.zeros(2)))


def in_place(x: Any) -> Any:
    y = x * 1.0
    y *= x
    y[1:] += y[:-1] * x[1:]
    return (y * y).sum()


def broadcast(x: Any) -> Any:
    row = x[:1] * 2.0
    return (x.reshape(-1, 1) * row * np.ones((1, 3)) * x.mean()).sum() + (x[::-1] * x**2).sum()


def pieces(x: Any) -> Any:
    parts = np.concatenate([x[::2] ** 2, x[1::2] * 3.0])
    return (parts * parts).sum() + np.sum(x.T * x[x > 0.0].sum())


def single(x: Any) -> Any:
    return np.sum(x.astype(np.float32) ** 2 * x)


LAYOUTS: dict[str, Any] = {
    "own": lambda x: x.copy(),
    "strided": lambda x: np.repeat(x, 2)[::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [squares, in_place, broadcast, pieces], ids=lambda f: f.__name__)
def test_second_derivatives_in_all_four_ways(f: Any, layout: str) -> None:
    x = LAYOUTS[layout](np.array([0.7, 1.3, 0.4, 2.1]))
    h = 1e-6
    gradient = adbc.grad(f)
    expected = np.array([(gradient(x + h * e) - gradient(x - h * e)) / (2 * h) for e in np.eye(4)])
    assert np.allclose(expected, expected.T, rtol=1e-6, atol=1e-6)
    for i, e in enumerate(np.eye(4)):
        found = [
            adbc.jvp(gradient, (x,), (e,))[1],
            adbc.hvp(f, (x,), (e,))[0],
            adbc.vhp(f, (x,), (e,))[0],
            adbc.grad(lambda y, e=e: adbc.jvp(f, (y,), (e,))[1])(x),
        ]
        twice = adbc.jvp(lambda y, e=e: adbc.jvp(f, (y,), (e,))[1], (x,), (np.ones(4),))[1]
        for row in found:
            assert np.allclose(row, expected[i], rtol=1e-6, atol=1e-6)
            assert np.allclose(row, found[0], rtol=1e-12, atol=1e-12)
        assert np.allclose(twice, expected[i].sum(), rtol=1e-6, atol=1e-6)


def test_precision_is_that_of_the_array() -> None:
    x = np.array([0.7, 1.3])
    found = adbc.hvp(single, (x,), (np.ones(2),))[0]
    assert found.dtype == np.float64
    assert np.allclose(found, 6.0 * x, rtol=1e-5)


def test_arguments_without_numbers_have_no_derivative_at_any_level() -> None:
    """Whole arrays of bools and ints among the arguments of a pullback that is differentiated."""
    mask, counts = np.array([True, False]), np.array([2, 3])

    def chosen(x: Any, mask: Any, counts: Any, name: str) -> Any:
        return np.sum(x[mask] ** 2 * counts[mask])

    def cotangents(x: Any, mask: Any, counts: Any) -> Any:
        value, pullback = adbc.vjp(chosen, x, mask, counts, "x")
        return value, pullback(1.0)

    check_rule(cotangents, np.array([1.5, 0.5]), mask, counts)
    check_rule(chosen, np.array([1.5, 0.5]), mask, counts, "x", order=2)
