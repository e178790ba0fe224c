"""Arrays that are joined into another, ``out=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

A = np.array([0.3, -1.2, 2.5])
B = np.array([0.9, 1.7, -0.4])
M = np.array([[0.3, 2.1, -0.4], [1.2, 0.7, 3.3]])


def concatenated(a: Any, b: Any, out: Any) -> Any:
    return np.concatenate((a, b), out=out)


def as_number(f: Callable[..., Any], shape: Any, dtype: Any = float) -> Callable[..., Any]:
    def number(*args: Any) -> Any:
        out = np.full(shape, 0.5, dtype)
        before = np.sum(out * args[0].flat[0])
        given = f(*args, out)
        return np.sum(np.sin(out)) + np.sum(given**2) + before

    return number


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (concatenated, (A, B), 6),
    (lambda a, b, out: np.concatenate([a, b], 0, out), (A, B), 6),
    (lambda a, b, out: np.concatenate([a, [1, 2], b[:1]], out=out), (A, B), 6),
    (lambda a, m, out: np.concatenate([m, m * a, a[None]], axis=0, out=out), (A, M), (5, 3)),
    (lambda a, m, out: np.concatenate([m, m * a], axis=-1, out=out), (A, M), (2, 6)),
    (lambda a, m, out: np.concatenate([m, a[None]], axis=None, out=out), (A, M), 9),
    (lambda a, m, out: np.concatenate(m * a, out=out), (A, M), 6),
    (lambda a, b, out: np.stack([a, b], out=out), (A, B), (2, 3)),
    (lambda a, b, out: np.stack([a, b, a * b], axis=1, out=out), (A, B), (3, 3)),
    (lambda a, b, out: np.stack((a, b), -1, out), (A, B), (3, 2)),
    (lambda a, b, out: np.stack((a, np.arange(3)), out=out) * b, (A, B), (2, 3)),
]


@pytest.mark.parametrize(("f", "args", "shape"), CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any], args: tuple[Any, ...], shape: Any) -> None:
    check_rule(lambda *given: f(*given), *args, np.full(shape, 0.5))
    check_each_path(as_number(f, shape), *args)


def test_dtypes_and_views() -> None:
    check_rule(lambda a, b, out: np.concatenate([a, b], out=out[::2]), A, B, np.ones(12))
    check_rule(lambda a, b, out: np.stack([a, b], out=out.T), A, B, np.ones((3, 2)))
    check_rule(concatenated, A, B, np.ones(6) * 1j)
    check_rule(lambda a, b, out: np.concatenate([a, b], out=out, casting="unsafe"), A, B, np.ones(6) * 1j)
    gradient = adbc.grad(lambda a: concatenated(a, B, np.zeros(6, np.float32)).sum())(A)
    assert gradient.dtype == A.dtype
    np.testing.assert_array_equal(gradient, np.ones(3))


def test_what_was_there_loses_its_derivative() -> None:
    def f(a: Any) -> Any:
        out = a * 3.0
        np.concatenate((a[:1], [2.0, 4.0]), out=out)
        return out.sum()

    np.testing.assert_array_equal(adbc.grad(f)(A), [1.0, 0.0, 0.0])
    assert adbc.jvp(f, (A,), (np.ones(3),))[1] == 1.0


def test_into_a_constant() -> None:
    out = np.zeros(6)
    with pytest.raises(ConstWriteError):
        adbc.grad(lambda a, out: concatenated(a, B, out).sum())(A, adbc.Const(out))
    np.testing.assert_array_equal(out, np.zeros(6))
