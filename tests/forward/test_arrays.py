"""Tangents of arrays by formulas: right in shape, dtype and memory, whoever else has the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.forward import presence
from adbc.inspect import dual_ir
from adbc.runtime import default_engine
from adbc.types import ArrayType
from tests.forward.modes import check, every_guess

RNG = np.random.default_rng(5)


def array(*shape: int) -> Any:
    return RNG.uniform(0.3, 1.2, shape)


def chain(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x * y + 1.0) / (y - 2.0) - x**2 * 3.0) + np.mean(-x) * np.max(y)


def broadcast(x: Any, y: Any) -> Any:
    """A row and a matrix, a column and a number."""
    z = y - x
    w = x - y
    return np.sum(z * 2.0) + np.sum(np.negative(w)), x + y[:, :1], x[0] - y


def with_numbers(x: Any, a: float) -> Any:
    return a * x + (a - x) * x / a, a - x, np.ones(3) * a, a + np.zeros((2, 3))


def changed_afterwards(x: Any) -> Any:
    """What was computed from x does not change with it, nor with what was computed from that."""
    y = x + 1.0
    z = +y
    w = y - np.ones(3)
    y[0] = 5.0 * x[1]
    z[1] = 0.0
    x[2] = 7.0 * x[0]
    return np.sum(x * y) + np.sum(z * w)


def read_later(x: Any) -> Any:
    """The same for arrays that are only read."""
    y = x + 1.0
    z = x * 2.0
    x[0] = 3.0 * x[1]
    x *= 2.0
    return np.sum(y * z) + np.sum(x)


def handed_out(x: Any) -> Any:
    y = x + 0.0
    z = np.sin(y)
    return y, [z, y], z


def constants(x: Any, n: int) -> Any:
    eye, row = np.eye(n), np.arange(3.0)
    work = np.zeros(n)
    work[0] = x[0]
    return np.sum(eye * x) + np.sum(row * x) + np.sum(work * work)


def in_place(x: Any, y: Any) -> Any:
    x += y
    x[1:] -= x[:-1]
    x[:2] += 2.0
    x += x
    x *= y
    x -= y[0]
    return np.sum(x * y)


def of_halves(x: Any) -> Any:
    x[0] += x[1]
    x[1:] -= x[:-1] * x[0]
    return x


def products(a: Any, b: Any) -> Any:
    return np.sum((a @ b) ** 2), a.T @ a, np.dot(b[0], b[1]), np.sum(a, axis=0), np.cumsum(b)


def with_targets(x: Any) -> Any:
    out = np.empty(3)
    np.multiply(x, x, out=out)
    mask = x > 0.5
    z = np.sin(x, where=mask, out=np.zeros(3))
    return np.sum(out * z) + np.sum(np.where(mask, x, 0.0))


def singular(x: Any) -> Any:
    return np.sum(np.sqrt(x)) + np.sum(x**0.5 * np.log(x)) + np.sum(np.abs(x)) + np.sum(x**2.0)


def in_a_loop(x: Any, n: int) -> Any:
    u = x.copy()
    for _ in range(n):
        new = u * 0.5
        new[1:] += u[:-1]
        u = new
    return np.sum(u * u)


def on_two_ways(x: Any, flag: bool) -> Any:
    """Of an array that is a constant on one way."""
    y = x * 2.0 if flag else np.ones(3)
    z = y * y
    return np.sum(z * x)


def layer(x: Any, w: Any) -> Any:
    """With a loop, so that it is not written into its callers."""
    for _ in range(1):
        x = np.tanh(x @ w)
    return x


def layers(x: Any, weights: list[Any]) -> Any:
    for w in weights:
        x = layer(x, w)
    return np.sum(x * x)


def of_integers(x: Any, k: Any) -> Any:
    return np.sum(x * k + k) + np.sum(x[k] / (k + 1)), x**k, k * 2.0


def picked(x: Any, k: Any) -> Any:
    """Parts that are copies, and views that are written to."""
    y = x[k] * 2.0
    z = x.reshape(2, 2)
    w = z.T + z
    z[0, 1] = 3.0 * y[0]
    u = np.log(x[1:]) - np.diag(w)[0]
    return np.sum(y * u[0]) + np.sum(w) + np.sum(x), np.ravel(w * z)


def single(x: Any) -> Any:
    y = x * np.float32(2.0)
    return np.sum(y * y + 1.0), y - x.astype(float)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (chain, (array(3), array(3))),
    (broadcast, (array(3), array(2, 3))),
    (with_numbers, (array(3), 1.5)),
    (changed_afterwards, (array(3),)),
    (read_later, (array(3),)),
    (handed_out, (array(3),)),
    (constants, (array(3), 3)),
    (in_place, (array(3), array(3))),
    (of_halves, (array(3, 1),)),
    (products, (array(2, 3), array(3, 2))),
    (with_targets, (array(3),)),
    (singular, (array(3),)),
    (in_a_loop, (array(3), 3)),
    (on_two_ways, (array(3), True)),
    (on_two_ways, (array(3), False)),
    (layers, (array(2, 3), [array(3, 3), array(3, 2)])),
    (of_integers, (array(3), np.array([0, 2, 1]))),
    (picked, (array(4), np.array([2, 0, 2]))),
    (single, (array(3).astype(np.float32),)),
]


@every_guess
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_tangents_of_arrays_are_right_whatever_is_guessed(
    f: Callable[..., Any], args: tuple[Any, ...], guess: str
) -> None:
    check(f, *args, guess=guess, is_settled=f is layers)


@every_guess
def test_an_array_given_twice_has_one_tangent(guess: str) -> None:
    def both(x: Any) -> Any:
        return in_place(x, x)

    def parts(x: Any) -> Any:
        return in_place(x[:3], x[1:])

    check(both, array(3), guess=guess)
    check(parts, array(4), guess=guess)


VECTOR = ArrayType("float64", 1, np.ndarray)


def test_no_rules_are_called() -> None:
    for f in (chain, broadcast):
        text = str(dual_ir((f, *[VECTOR] * f.__code__.co_argcount)))
        assert "frule" not in text and "_new_(builtins.tuple, %x" not in text


def test_constants_have_no_tangents() -> None:
    text = str(dual_ir((constants, VECTOR, int)))
    assert text.count("fresh_tangent") == 1  # of what is written to


def test_tangents_have_memory_of_their_own() -> None:
    def f(x: Any) -> Any:
        return x + 1.0

    x, dx = np.ones(3), np.ones(3)
    for _ in range(2):
        _, dout = adbc.jvp(f, (x,), (dx,))
        assert not np.shares_memory(dout, dx) and dout.flags.writeable
    _, dout = adbc.jvp(lambda x, y: x - y, (np.ones(3), np.ones((2, 3))), (dx, None))
    assert dout.shape == (2, 3) and dout.flags.writeable and not np.shares_memory(dout, dx)


def test_constants_are_not_written_to() -> None:
    def f(x: Any, c: Any) -> Any:
        c += x
        return np.sum(c)

    def g(x: Any, c: Any) -> Any:
        c[0] = x[0]
        return np.sum(c)

    for function in (f, g):
        for _ in range(2):
            with pytest.raises(ConstWriteError):
                adbc.jvp(function, (np.ones(3), adbc.Const(np.ones(3))), (np.ones(3), None))


def test_of_an_argument_that_may_be_constant() -> None:
    """A function with an array whose tangent is there, and with one that turns out to be a constant."""

    def f(rows: list[Any], x: Any) -> Any:
        total = 0.0
        for row in rows:
            total += np.sum(layer(x, row))
        return total

    a, b, x = array(3, 3), array(3, 3), array(2, 3)
    d = np.ones((3, 3))
    _, whole = adbc.jvp(f, ([a, b], x), ([d, np.zeros((3, 3))], np.ones((2, 3))))
    for _ in range(4):
        _, found = adbc.jvp(f, ([a, adbc.NoTangent()][:1] + [b], x), ([d, np.zeros((3, 3))], np.ones((2, 3))))
        np.testing.assert_allclose(found, whole)

    def g(x: Any) -> Any:
        return f([a, x], x)  # a is reached through the closure

    check(g, array(3, 3), guess="learn")
    held = adbc.Const(b)
    _, part = adbc.jvp(lambda x, b: f([a, b], x), (x, held), (np.ones((2, 3)), None))
    _, same = adbc.jvp(lambda x, b: f([a, b], x), (x, b), (np.ones((2, 3)), None))
    np.testing.assert_allclose(part, same)


@pytest.mark.usefixtures("at_once")
def test_perhaps_is_another_rule() -> None:
    default_engine().clear()

    def f(x: Any, constant: Any, flag: bool) -> Any:
        w = x * 2.0 if flag else constant
        return np.sum(layer(x, w)) + np.sum(layer(x, x))

    x, y, d = array(3, 3), array(3, 3), np.ones((3, 3))
    for flag in (True, False):
        check(f, x, y, flag, guess="never")
        _, expected = adbc.jvp(lambda x, flag: f(x, y.copy(), flag), (x, flag), (d, None))
        for held in (y, adbc.Const(y.copy())):
            _, found = adbc.jvp(f, (x, held, flag), (d, None, None))
            np.testing.assert_allclose(found, expected)
    rules = [
        r for r in default_engine().rules.values() if r.mode == "forward" and r.forwards.__name__ == "layer"
    ]
    assert any(presence.PERHAPS in r.active for r in rules)
    assert any(r.active == (True, True) for r in rules)


def constant_or_not(x: Any, s: float) -> Any:
    return np.array([1.0, 2.0]) if s > 2.0 else x * 1.0


def after_a_constant(x: Any, s: float) -> Any:
    k = constant_or_not(x, s)
    y = 2.0 * k
    return (y * y + x * y).sum()


def updated(x: Any, s: float) -> Any:
    total, w = np.zeros(2), np.full(2, 3.0)
    for i in range(3):
        total += x * i
        total -= s
        w += i
        w[:1] -= x[1:] * s
        total += total[::-1] * w
    return total @ w + total.sum() * s


def updated_rows(x: Any, s: float) -> Any:
    a = np.outer(x, x)
    a += x
    a -= constant_or_not(x, s)[:, None]
    a += a.T
    return (a * a).sum()


@pytest.mark.parametrize("f", [after_a_constant, updated, updated_rows])
@pytest.mark.parametrize("s", [1.0, 3.0])
def test_what_may_lack_a_tangent_and_what_is_changed_in_place(f: Any, s: float) -> None:
    x, v, h = np.array([1.5, -0.5]), np.array([0.25, 2.0]), 1e-6
    expected = (f(x + h * v, s + 0.5 * h) - f(x - h * v, s - 0.5 * h)) / (2 * h)
    for speculation in ("always", "learn", "never", "dynamic"):
        with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
            for _ in range(3):
                assert adbc.jvp(f, (x, s), (v, 0.5))[1] == pytest.approx(expected, rel=1e-6)
    assert np.allclose(adbc.jacfwd(f, chunk_size=8)(x, s), adbc.grad(f)(x, s), rtol=1e-12)
    twice = adbc.jacfwd(adbc.jacfwd(f))(x, s)
    assert np.allclose(adbc.jacfwd(adbc.grad(f), chunk_size=8)(x, s), twice, rtol=1e-10)


def test_an_update_of_a_constant_is_refused() -> None:
    def into(t: Any, x: Any) -> Any:
        t += x
        return t.sum()

    with adbc.use(adbc.Config(warm_after=0)):
        for _ in range(3):
            with pytest.raises(ConstWriteError):
                adbc.jvp(into, (adbc.Const(np.zeros(2)), np.ones(2)), (None, np.ones(2)))
