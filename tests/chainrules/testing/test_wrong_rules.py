"""Wrong rules of every kind, which the testers must reject, beside right ones, which they must not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc import chainrules as cr
from adbc.chainrules.testing import assert_approx, primal_with_tangent, rand_tangent
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()


def matvec(w: Any, x: Any) -> Any:
    return w @ x


def pick(x: Any, i: int) -> Any:
    return x[i]


def square(z: Any) -> Any:
    return z * z


W = np.array([[1.0, 2.0, 0.5], [0.25, -1.0, 3.0], [2.0, 1.5, -0.5]])
X = np.array([1.0, -2.0, 0.5])
Z = 0.5 + 0.75j


def right_matvec(f: Any, w: Any, x: Any) -> Any:
    return w @ x, lambda d: (NO, np.outer(cr.unthunk(d), x), w.T @ d)


def right_pick(f: Any, x: Any, i: int) -> Any:
    def pick_pullback(d: Any) -> Any:
        d = cr.unthunk(d)

        def value() -> Any:
            dx = np.zeros_like(x)
            dx[i] = d
            return dx

        def add_into(buffer: Any) -> Any:
            buffer[i] += d
            return buffer

        return NO, cr.InplaceableThunk(add_into, value), NO

    return x[i], pick_pullback


def right_square(f: Any, z: Any) -> Any:
    return z * z, lambda d: (NO, (2 * z).conjugate() * d)


def changed(rule: Callable[..., Any], change: Callable[..., Any]) -> Callable[..., Any]:
    """The rule whose pullback gives what `change` makes of what it should give."""

    def wrong(f: Any, *args: Any) -> Any:
        y, pullback = rule(f, *args)
        return y, lambda d: change(d, args, *map(cr.unthunk, pullback(d)))

    return wrong


def overwriting(f: Any, x: Any, i: int) -> Any:
    y, pullback = right_pick(f, x, i)

    def overwriting_pullback(d: Any) -> Any:
        _, dx, _ = pullback(d)

        def add_into(buffer: Any) -> Any:
            buffer[i] = cr.unthunk(d)
            return buffer

        return NO, cr.InplaceableThunk(add_into, dx.value), NO

    return y, overwriting_pullback


def not_restored(f: Any, w: Any, x: Any) -> Any:
    y, pullback = right_matvec(f, w, x)
    w *= 1.0 + 1e-3
    return y, pullback


def changing_in_the_pullback(f: Any, w: Any, x: Any) -> Any:
    y, pullback = right_matvec(f, w, x)

    def bad_pullback(d: Any) -> Any:
        found = pullback(d)
        x[:] = 0.0
        return found

    return y, bad_pullback


def changing_the_cotangent(f: Any, w: Any, x: Any) -> Any:
    y, pullback = right_matvec(f, w, x)

    def bad_pullback(d: Any) -> Any:
        d = cr.unthunk(d)
        found = pullback(d)
        d *= 2.0
        return found

    return y, bad_pullback


def aliasing_its_own(f: Any, w: Any, x: Any) -> Any:
    buffer = np.zeros_like(x)

    def aliasing_pullback(d: Any) -> Any:
        buffer[:] = buffer + w.T @ d  # kept from one run to the next
        return NO, np.outer(cr.unthunk(d), x), buffer

    return w @ x, aliasing_pullback


def aliasing_an_argument(f: Any, x: Any) -> Any:
    return np.vdot(x, x) / 2.0, lambda d: (NO, x)


def half(x: Any) -> Any:
    return np.vdot(x, x) / 2.0


WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Callable[..., Any], str]] = {
    "sign": (matvec, (W, X), changed(right_matvec, lambda d, a, f, w, x: (f, w, -x)), "differences"),
    "conjugate": (square, (Z,), lambda f, z: (z * z, lambda d: (NO, 2 * z * d)), "differences"),
    "transposed": (matvec, (W, X), changed(right_matvec, lambda d, a, f, w, x: (f, w.T.copy(), x)), "differ"),
    "slot of f": (matvec, (W, X), changed(right_matvec, lambda d, a, f, w, x: (w, x)), "3 cotangents"),
    "slot of f, shifted": (
        matvec, (W, X), changed(right_matvec, lambda d, a, f, w, x: (w, x, NO)), "without state has none",
    ),
    "shape (1,)": (
        half, (X,), lambda f, x: (half(x), lambda d: (NO, np.array([np.sum(x * d)]))), "shape",
    ),
    "shape (1,) of a number": (
        square, (0.5,), lambda f, z: (z * z, lambda d: (NO, np.array([2 * z * d]))), "shape",
    ),
    "dropped": (matvec, (W, X), changed(right_matvec, lambda d, a, f, w, x: (f, w, ZERO)), "differences"),
    "dropped in part": (
        matvec, (W, X), changed(right_matvec, lambda d, a, f, w, x: (f, np.triu(w), x)), "differences",
    ),
    "overwritten": (pick, (X, 1), overwriting, "add_into"),
    "not restored": (matvec, (W, X), not_restored, "changes argument 0"),
    "changed in the pullback": (matvec, (W, X), changing_in_the_pullback, "changes argument 1"),
    "changed cotangent": (matvec, (W, X), changing_the_cotangent, "changes the cotangent"),
    "aliasing its own": (matvec, (W, X), aliasing_its_own, "second run"),
    "aliasing an argument": (half, (X,), aliasing_an_argument, "memory of an argument"),
    "dtype": (
        half,
        (X.astype(np.float32),),
        lambda f, x: (half(x), lambda d: (NO, x.astype(float) * float(d))),
        "dtype",
    ),
    "complex for real": (square, (0.5,), lambda f, z: (z * z, lambda d: (NO, 2 * z * d + 0j)), "complex"),
    "an int has a tangent": (
        pick, (X, 1), changed(right_pick, lambda d, a, f, x, i: (f, x, 0.0)), "it has none",
    ),
    "no tangent where there is one": (
        pick, (X, 1), changed(right_pick, lambda d, a, f, x, i: (f, NO, NO)), "it has tangents",
    ),
    "a thunk is not taken": (
        half, (X,), lambda f, x: (half(x), lambda d: (NO, x * 1.0 if isinstance(d, cr.Thunk) else x * d)),
        "a thunk as cotangent",
    ),
    "value": (square, (0.5,), lambda f, z: (z + z, lambda d: (NO, 2 * z * d)), "another value"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_rrule_is_rejected(kind: str) -> None:
    function, args, rule, message = WRONG[kind]
    with pytest.raises(AssertionError, match=message):
        check_rrule(function, *args, rule=rule)


@pytest.mark.parametrize(
    ("function", "args", "rule"),
    [
        (matvec, (W, X), right_matvec),
        (pick, (X, 1), right_pick),
        (square, (Z,), right_square),
        (square, (0.5,), right_square),
    ],
    ids=["matvec", "pick", "square", "real"],
)
def test_a_right_rrule_is_not(function: Any, args: Any, rule: Any) -> None:
    check_rrule(function, *args, rule=rule)


def right_forward(tangents: Any, f: Any, w: Any, x: Any) -> Any:
    _, dw, dx = tangents
    return w @ x, dw @ x + w @ dx


def not_restored_forward(tangents: Any, f: Any, w: Any, x: Any) -> Any:
    y = right_forward(tangents, f, w, x)
    w += 1e-9
    return y


def changing_a_tangent(tangents: Any, f: Any, w: Any, x: Any) -> Any:
    y = right_forward(tangents, f, w, x)
    for t in tangents:
        if isinstance(t, np.ndarray):
            t *= 2.0
    return y


_BUFFER = np.zeros(3)


def aliasing_forward(tangents: Any, f: Any, w: Any, x: Any) -> Any:
    y, dy = right_forward(tangents, f, w, x)
    _BUFFER[:] = _BUFFER + dy
    return y, _BUFFER


WRONG_FORWARD: dict[str, tuple[Callable[..., Any], str]] = {
    "sign": (lambda t, f, w, x: (w @ x, t[1] @ x - w @ t[2]), "differences"),
    "transposed": (lambda t, f, w, x: (w @ x, t[1] @ x + w.T @ t[2]), "differences"),
    "dropped": (lambda t, f, w, x: (w @ x, t[1] @ x), "differences"),
    "slot of f": (lambda t, f, w, x: (w @ x, t[0] @ x + w @ t[1]), "."),
    "shape (1,)": (lambda t, f, w, x: (w @ x, np.sum(t[1] @ x + w @ t[2]) * np.ones(1)), "shape"),
    "not restored": (not_restored_forward, "changes argument 0"),
    "overwrites a tangent": (changing_a_tangent, "changes a tangent"),
    "aliasing": (aliasing_forward, "runs again"),
    "dtype": (
        lambda t, f, w, x: (w @ x, np.asarray(t[1] @ x + w @ t[2] + np.zeros(3), np.float32)),
        "dtype",
    ),
    "value": (lambda t, f, w, x: (2 * (w @ x), t[1] @ x + w @ t[2]), "another value"),
}


@pytest.mark.parametrize("kind", WRONG_FORWARD)
def test_a_wrong_frule_is_rejected(kind: str) -> None:
    rule, message = WRONG_FORWARD[kind]
    with pytest.raises((AssertionError, ValueError), match=message):
        check_frule(matvec, W, X, rule=rule)


def test_a_wrong_frule_of_a_complex_function_is_rejected() -> None:
    check_frule(square, Z, rule=lambda t, f, z: (z * z, 2 * z * t[1]))
    with pytest.raises(AssertionError, match="differences"):
        check_frule(square, Z, rule=lambda t, f, z: (z * z, (2 * z).conjugate() * t[1]))


def test_a_right_frule_is_not() -> None:
    check_frule(matvec, W, X, rule=right_forward)


def test_arguments_are_left_out_by_giving_no_tangent() -> None:
    def rule(f: Any, w: Any, x: Any) -> Any:
        return w @ x, lambda d: (NO, cr.not_implemented("by w"), w.T @ d)

    with pytest.raises(AssertionError, match="not implemented"):
        check_rrule(matvec, W, X, rule=rule)
    check_rrule(matvec, primal_with_tangent(W, NO), X, rule=rule)


def test_structures_are_tested_part_by_part() -> None:
    def scaled(p: Any, k: float) -> Any:
        return {"a": p[0] * k, "b": (p[1], "text")}

    def rule(f: Any, p: Any, k: float) -> Any:
        def pullback(d: Any) -> Any:
            d = cr.unthunk(d)
            return NO, cr.Tangent(tuple, d["a"] * k, d["b"][0]), d["a"] * p[0]

        return scaled(p, k), pullback

    check_rrule(scaled, (2.0, 3.0), 0.5, rule=rule)
    with pytest.raises(AssertionError, match="differences"):
        check_rrule(
            scaled, (2.0, 3.0), 0.5,
            rule=changed(rule, lambda d, a, f, p, k: (f, cr.Tangent(tuple, p[1], p[0]), k)),
        )  # fmt: skip
    with pytest.raises(AssertionError, match="Tangent"):
        check_rrule(scaled, (2.0, 3.0), 0.5, rule=changed(rule, lambda d, a, f, p, k: (f, 1.0, k)))


def test_closures_have_a_slot_of_their_own() -> None:
    k = 1.5

    def scaled(x: float) -> float:
        return k * x

    def rule(f: Any, x: float) -> Any:
        return f(x), lambda d: (cr.Tangent(type(f), k=x * d), k * d)

    check_rrule(scaled, 2.0, rule=rule)
    with pytest.raises(AssertionError, match="cotangent of the function"):
        check_rrule(scaled, 2.0, rule=changed(rule, lambda d, a, f, x: (cr.Tangent(type(scaled), k=1.0), x)))


def test_random_tangents_have_the_kind_of_their_primal() -> None:
    assert rand_tangent("text") is NO
    assert rand_tangent(np.ones((2, 3), np.float32)).dtype == np.float32
    assert rand_tangent(2j).imag != 0.0
    assert_approx(rand_tangent((1.0, 2)), rand_tangent((5.0, 7)))
    with pytest.raises(AssertionError, match="at 0"):
        assert_approx(cr.Tangent(tuple, 1.0), cr.Tangent(tuple, 1.5))


def test_there_must_be_a_rule() -> None:
    with pytest.raises(AssertionError, match="no rrule"):
        check_rrule(half, X)
    with pytest.raises(AssertionError, match="no frule"):
        check_frule(math.sqrt, 1.0, rule=lambda *given: None)
