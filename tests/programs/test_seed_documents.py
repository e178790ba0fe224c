"""The worked examples of the papers that adbc follows, their slips corrected, as rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import CoDual, Dual, NoFData, NoRData, NoTangent, Signature
from adbc.testing import test_rule
from tests.programs.checks import check_gradient


def reverse(f: Any, *pairs: tuple[Any, Any]) -> tuple[CoDual, Any]:
    """Run the reverse rule of `f` on (primal, fdata) pairs."""
    rule = adbc.build_rrule(Signature.of(f, *(p for p, _ in pairs)))
    result: tuple[CoDual, Any] = rule(CoDual(f, NoFData()), *(CoDual(p, fd) for p, fd in pairs))
    return result


def forward(f: Any, *pairs: tuple[Any, Any]) -> Dual:
    """Run the forward rule of `f` on (primal, tangent) pairs."""
    rule = adbc.build_frule(Signature.of(f, *(p for p, _ in pairs)))
    result: Dual = rule(Dual(f, NoTangent()), *(Dual(p, t) for p, t in pairs))
    return result


# -- the rule system: sin --------------------------------------------------------------------------


def test_sin() -> None:
    y, pullback = reverse(math.sin, (5.0, NoFData()))
    assert (y.primal, y.fdata) == (math.sin(5.0), NoFData())
    assert pullback(2.0) == (NoRData(), 2.0 * math.cos(5.0))
    dual = forward(math.sin, (5.0, 2.0))
    assert (dual.primal, dual.tangent) == (math.sin(5.0), 2.0 * math.cos(5.0))


def test_signature_as_a_tuple() -> None:
    rule = adbc.build_rrule((math.sin, float))
    _, pullback = rule(CoDual(math.sin, NoFData()), CoDual(5.0, NoFData()))
    assert pullback(1.0) == (NoRData(), math.cos(5.0))
    assert adbc.build_frule((math.sin, float))(
        Dual(math.sin, NoTangent()), Dual(5.0, 1.0)
    ).tangent == math.cos(5.0)


# -- the rule system: a tuple of a float and a list ------------------------------------------------


def foo(x):
    return x[0] + sum(x[1])


def test_foo() -> None:
    x, shadow = (5.0, [1.0, 2.0]), (NoFData(), [0.0, 0.0])
    y, pullback = reverse(foo, (x, shadow))
    assert (y.primal, y.fdata) == (8.0, NoFData())
    assert pullback(1.0) == (NoRData(), (1.0, NoRData()))
    assert shadow == (NoFData(), [1.0, 1.0])
    assert x == (5.0, [1.0, 2.0])


def test_foo_increments() -> None:
    shadow = (NoFData(), [10.0, 20.0])
    _, pullback = reverse(foo, ((5.0, [1.0, 2.0]), shadow))
    assert pullback(3.0) == (NoRData(), (3.0, NoRData()))
    assert shadow == (NoFData(), [13.0, 23.0])


def test_foo_forward() -> None:
    dual = forward(foo, ((5.0, [1.0, 2.0]), (1.0, [10.0, 100.0])))
    assert (dual.primal, dual.tangent) == (8.0, 111.0)


def test_foo_in_full() -> None:
    test_rule(foo, (5.0, [1.0, 2.0]), is_primitive=False)
    check_gradient(foo, (5.0, [1.0, 2.0]))


# -- the rule system: arguments mutated, one of them re-pointed ------------------------------------


def mutate(x, y, z, s):
    z *= y * x
    s[0] = 2 * z
    return np.sum(z)


def test_mutation() -> None:
    x, y, z = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])
    old = np.array([7.0])
    s = [old]
    fx, fy, fz, f_old = np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(1)
    fs = [f_old]
    out, pullback = reverse(mutate, (x, fx), (y, fy), (z, fz), (s, fs))

    assert out.primal == 15.0 + 48.0
    assert z.tolist() == [15.0, 48.0]
    assert s[0].tolist() == [30.0, 96.0]
    assert old.tolist() == [7.0]
    assert fs[0] is not f_old and fs[0].tolist() == [0.0, 0.0]

    # Cotangents of the state after the call: of z, and of the fresh memory that s refers to.
    fz += np.array([0.1, 0.2])
    fs[0] += np.array([10.0, 20.0])
    assert pullback(1.0) == (NoRData(),) * 5

    bz = 1.0 + np.array([0.1, 0.2]) + 2.0 * np.array([10.0, 20.0])
    np.testing.assert_allclose(fx, bz * [15.0, 24.0], rtol=1e-14)
    np.testing.assert_allclose(fy, bz * [5.0, 12.0], rtol=1e-14)
    np.testing.assert_allclose(fz, bz * [3.0, 8.0], rtol=1e-14)
    assert z.tolist() == [5.0, 6.0]
    assert s[0] is old and fs[0] is f_old and f_old.tolist() == [0.0]


def test_mutation_in_full() -> None:
    x, y, z = np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])
    test_rule(mutate, x, y, z, [np.array([7.0])])
    test_rule(mutate, x, x, z, [z])
    test_rule(mutate, z, z, z, [z])
    check_gradient(mutate, x, y, z, [np.array([7.0])], argnums=(0, 1, 2))


def square_in_place(x):
    x[:] = x**2


def test_square_in_place() -> None:
    """The adjoint is 2 x * bx: the cotangent of the new state must not be dropped."""
    x, fx = np.array([1.0, -2.0, 3.0]), np.zeros(3)
    out, pullback = reverse(square_in_place, (x, fx))
    assert out.primal is None
    assert x.tolist() == [1.0, 4.0, 9.0]
    fx[:] = [1.0, 10.0, 100.0]
    assert pullback(NoRData()) == (NoRData(), NoRData())
    assert x.tolist() == [1.0, -2.0, 3.0]
    assert fx.tolist() == [2.0, -40.0, 600.0]


def square_and_sum(x):
    x *= x
    return np.sum(x)


def test_square_in_place_in_full() -> None:
    x = np.array([1.0, -2.0, 3.0])
    test_rule(square_in_place, x)
    test_rule(square_and_sum, x)
    gradient = check_gradient(square_and_sum, x)
    assert gradient.tolist() == [2.0, -4.0, 6.0]


# -- composition -----------------------------------------------------------------------------------


def linear_regression_loss(w, x, y):
    y_hat = x @ w
    eps = y - y_hat
    return np.dot(eps, eps)


def test_linear_regression() -> None:
    rng = np.random.default_rng(5)
    w, x, y = rng.standard_normal(3), rng.standard_normal((4, 3)), rng.standard_normal(4)
    fw, fx, fy = np.zeros(3), np.zeros((4, 3)), np.zeros(4)
    out, pullback = reverse(linear_regression_loss, (w, fw), (x, fx), (y, fy))
    eps = y - x @ w
    assert out.primal == pytest.approx(eps @ eps, rel=1e-15)
    assert pullback(type(out.primal)(1.0)) == (NoRData(),) * 4
    np.testing.assert_allclose(fw, -2.0 * x.T @ eps, rtol=1e-13)
    np.testing.assert_allclose(fx, -2.0 * np.outer(eps, w), rtol=1e-13)
    np.testing.assert_allclose(fy, 2.0 * eps, rtol=1e-13)
    test_rule(linear_regression_loss, w, x, y)


def used_twice(a, x):
    """One variable, two uses: their cotangents add."""
    b = a * x
    return b * b + x


def test_a_variable_used_twice() -> None:
    _, pullback = reverse(used_twice, (3.0, NoFData()), (2.0, NoFData()))
    assert pullback(1.0) == (NoRData(), 24.0, 37.0)


# -- forward mode ----------------------------------------------------------------------------------


def multiply_into(z, x, y):
    np.matmul(x, y, out=z)
    return z


def test_multiply_into_preallocated_memory() -> None:
    rng = np.random.default_rng(6)
    x, y, dx, dy, dz = (rng.standard_normal((3, 3)) for _ in range(5))
    z = np.ones((3, 3))
    dual = forward(multiply_into, (z, dz), (x, dx), (y, dy))
    assert dual.primal is z and dual.tangent is dz
    np.testing.assert_allclose(z, x @ y, rtol=1e-14)
    np.testing.assert_allclose(dz, x @ dy + dx @ y, rtol=1e-13)
    test_rule(multiply_into, z, x, y)


def branch_and_loop(x):
    y = x
    while y < 10.0:
        y = y * x if y > 2.0 else y + x
    return y


def test_control_flow_follows_the_primal() -> None:
    dual = forward(branch_and_loop, (1.5, 1.0))
    assert (dual.primal, dual.tangent) == (3.0 * 1.5**3, 8.0 * 1.5**3)
    test_rule(branch_and_loop, 1.5)


def swap(a, b):
    for _ in range(3):
        a, b = b, 2.0 * a
    return a - 3.0 * b


def test_variables_that_change_places_in_a_loop() -> None:
    _, pullback = reverse(swap, (1.0, NoFData()), (5.0, NoFData()))
    assert pullback(1.0) == (NoRData(), -12.0, 2.0)
    test_rule(swap, 1.0, 5.0)


# -- scalar rules ----------------------------------------------------------------------------------


def arcsine(x):
    a = math.sin(x)
    b = 0.2 + a
    return math.asin(b)


def test_arcsine() -> None:
    expected = -1.0531613736418153
    _, pullback = reverse(arcsine, (3.0, NoFData()))
    assert pullback(1.0)[1] == pytest.approx(expected, rel=1e-15)
    assert forward(arcsine, (3.0, 1.0)).tangent == pytest.approx(expected, rel=1e-15)
    assert adbc.grad(arcsine)(3.0) == pytest.approx(expected, rel=1e-15)
