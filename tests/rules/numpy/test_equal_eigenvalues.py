"""Where eigenvalues or singular values coincide, what is made of the vectors has no known derivative."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adbc

E = np.array([[0.0, 1.0], [1.0, 0.0]])
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def _exponential(x: Any) -> Any:
    w, v = np.linalg.eigh(np.eye(2) + x * E)
    return ((v * np.exp(w)) @ v.T)[0, 1]


def _polar(x: Any) -> Any:
    u, _, vh = np.linalg.svd(np.eye(2) + x * TURN)
    return (u @ vh)[0, 1]


def _of_singular_values(x: Any) -> Any:
    u, s, vh = np.linalg.svd(np.eye(2) + x * E)
    return ((u * np.exp(s)) @ vh)[0, 1]


@pytest.mark.parametrize("f", [_exponential, _polar, _of_singular_values])
def test_vectors_of_equal_values_are_nan_and_not_zero(f: Callable[[Any], Any]) -> None:
    assert math.isnan(adbc.jvp(f, (0.0,), (1.0,))[1])
    assert math.isnan(adbc.grad(f)(0.0))


def _turned(values: Any, seed: int) -> Any:
    """A symmetric matrix with these eigenvalues, which are computed a few units in the last place apart."""
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return (q * np.asarray(values)) @ q.T


def _exponential_of(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return (v * np.exp(w)) @ v.T


def _exponential_by_eig(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.real((v * np.exp(w)) @ np.linalg.inv(v))


def _rotation_of(a: Any) -> Any:
    u, _, vh = np.linalg.svd(a)
    return u @ vh


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("f", [_exponential_of, _exponential_by_eig, _rotation_of])
def test_vectors_of_values_that_are_equal_but_for_rounding_are_nan(f: Any, seed: int) -> None:
    a, weights = _turned([1.0, 1.0, 2.0], seed), np.cos(np.arange(9.0)).reshape(3, 3)

    def program(x: Any) -> Any:
        return np.sum(weights * f(a + x * weights))

    assert math.isnan(adbc.jvp(program, (0.0,), (1.0,))[1])
    assert math.isnan(adbc.grad(program)(0.0))


@pytest.mark.parametrize("seed", range(3))
def test_what_does_not_depend_on_the_vectors_of_equal_values_is_right(seed: int) -> None:
    """The space of the others, and what small singular values are multiplied with."""
    a, weights = _turned([1.0, 1.0, 2.0], seed), np.cos(np.arange(9.0)).reshape(3, 3)
    turn = a - np.eye(3)  # the projection on the space of the eigenvalue 2
    outside = np.eye(3) - turn

    def projection(x: Any) -> Any:
        v = np.linalg.eigh(a + x * (weights + weights.T))[1][:, 2:]
        return np.sum(weights * (v @ v.T))

    along = outside @ (weights + weights.T) @ turn
    wanted = np.sum(weights * (along + along.T))
    assert adbc.jvp(projection, (0.0,), (1.0,))[1] == pytest.approx(wanted, rel=1e-9)
    assert adbc.grad(projection)(0.0) == pytest.approx(wanted, rel=1e-9)

    low = _turned([3.0, 0.0, 0.0], seed)

    def whole(x: Any) -> Any:
        u, s, vh = np.linalg.svd(low + x * weights)
        return np.sum(weights * ((u * s) @ vh))

    assert adbc.grad(whole)(0.0) == pytest.approx(np.sum(weights**2), rel=1e-9)


@pytest.mark.parametrize("f", [_exponential, _of_singular_values])
def test_elsewhere_they_are_right(f: Callable[[Any], Any]) -> None:
    h = 1e-6
    wanted = (f(0.3 + h) - f(0.3 - h)) / (2 * h)
    assert adbc.jvp(f, (0.3,), (1.0,))[1] == pytest.approx(wanted, rel=1e-6)
    assert adbc.grad(f)(0.3) == pytest.approx(wanted, rel=1e-6)


def test_values_alone_and_vectors_that_stay_are_right() -> None:
    def squares(x: Any) -> Any:
        return (np.linalg.eigvalsh((2.0 + x) * np.eye(3)) ** 2).sum()

    def scaled(x: Any) -> Any:
        w, v = np.linalg.eigh((2.0 + x) * np.eye(3))
        return ((v * w) @ v.T)[0, 0]

    for f, wanted in ((squares, 12.0), (scaled, 1.0)):
        assert adbc.jvp(f, (0.0,), (1.0,))[1] == pytest.approx(wanted)
        assert adbc.grad(f)(0.0) == pytest.approx(wanted)


@pytest.mark.parametrize("first", ["forward", "reverse"])
def test_second_derivatives_of_equal_values_are_nan(first: str) -> None:
    def squares(x: Any) -> Any:
        return (np.linalg.eigvalsh(np.eye(2) + x * E) ** 2).sum()

    def slope(x: Any) -> Any:
        return adbc.grad(squares)(x) if first == "reverse" else adbc.jvp(squares, (x,), (1.0,))[1]

    assert math.isnan(adbc.jvp(slope, (0.0,), (1.0,))[1])


FULL = np.array([[1.0, 2.0], [3.0, 4.0]])


def _by_inverse(decompose: Callable[[Any], Any], is_sorted: bool) -> Callable[[Any], Any]:
    """The exponential of a matrix that is the identity at 0, where the cotangents of the vectors cancel."""

    def f(x: Any) -> Any:
        w, v = decompose(np.eye(2) + x * FULL)
        if is_sorted:
            order = np.argsort(w)
            w, v = w[order], v[:, order]
        return np.real(v * np.exp(w) @ np.linalg.inv(v)).sum()

    return f


@pytest.mark.parametrize(
    ("decompose", "is_sorted"),
    [(np.linalg.eig, False), (np.linalg.eig, True), (scipy.linalg.eig, False), (np.linalg.eigh, False),
     (scipy.linalg.eigh, False), (lambda a: np.linalg.svd(a)[1::-1], False)],
)  # fmt: skip
def test_vectors_whose_cotangents_cancel_are_nan(decompose: Any, is_sorted: bool) -> None:
    f = _by_inverse(decompose, is_sorted)
    assert math.isnan(adbc.jvp(f, (0.0,), (1.0,))[1])
    assert math.isnan(adbc.grad(f)(0.0))
    assert adbc.grad(f)(0.3) == pytest.approx(adbc.jvp(f, (0.3,), (1.0,))[1], rel=1e-9)


@pytest.mark.parametrize("decompose", [np.linalg.eig, np.linalg.eigh, scipy.linalg.eigh])
def test_vectors_that_are_not_used_say_nothing(decompose: Any) -> None:
    def trace(x: Any) -> Any:
        w, v = decompose(np.eye(2) + x * FULL)
        return w.sum() + 0 * len(v)

    assert adbc.jvp(trace, (0.0,), (1.0,))[1] == pytest.approx(5.0)
    assert adbc.grad(trace)(0.0) == pytest.approx(5.0)
    pull = adbc.vjp(trace, 0.0, reusable=True)[1]
    assert [float(pull(c)[0]) for c in (1.0, 2.0)] == pytest.approx([5.0, 10.0])


def _rotation(a: Any) -> Any:
    u, _, vh = np.linalg.svd(a @ TALL)
    return np.sum(np.cos(np.arange(16.0)).reshape(4, 4) * (u @ vh))


TALL = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 0.0, 5.0]])


def test_vectors_of_several_singular_values_that_are_zero_are_nan() -> None:
    """Those on the left turn without those on the right, though the product keeps its rank."""
    a = TALL.T * np.array([1.0, -1.0, 2.0, 0.5])[:, None]
    assert math.isnan(adbc.jvp(_rotation, (a,), (np.ones_like(a),))[1])
    assert np.isnan(adbc.grad(_rotation)(a)).all()

    def nearest(x: Any) -> Any:
        return scipy.linalg.orthogonal_procrustes(x, TALL)[0][0].sum()

    assert math.isnan(adbc.jvp(nearest, (2 * TALL,), (np.ones_like(TALL),))[1])
    assert np.isnan(adbc.grad(nearest)(2 * TALL)).all()

    def low_rank(x: Any) -> Any:
        u, s, vh = np.linalg.svd(x @ TALL)
        return np.sum(np.cos(np.arange(16.0)).reshape(4, 4) * ((u[:, :2] * s[:2]) @ vh[:2]))

    wanted = np.sum(np.cos(np.arange(16.0)).reshape(4, 4) * (np.ones_like(a) @ TALL))
    assert adbc.jvp(low_rank, (a,), (np.ones_like(a),))[1] == pytest.approx(wanted, rel=1e-9)
    assert adbc.grad(low_rank)(a).sum() == pytest.approx(wanted, rel=1e-9)
