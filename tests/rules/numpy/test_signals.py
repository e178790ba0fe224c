"""Convolutions in all modes, and angles without jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

A = np.array([0.3, -1.2, 2.5, 0.9, 1.7])
V = np.array([0.7, 0.4, -1.1])
ANGLES = np.array([0.3, 2.9, -2.8, -0.4, 2.9, -3.0, 0.2])


@pytest.mark.parametrize("mode", ["full", "same", "valid", 0, 1, 2])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_convolutions(f: Any, mode: Any) -> None:
    for a, v in [
        (A, V),
        (V, A),
        (A, V[:2]),
        (V[:2], A),
        (A, A),
        (A, V[:1]),
        (V[:1], A),
        (A[:4], V[:2]),
        (V[:2], A[:4]),
    ]:
        np.testing.assert_array_equal(adbc.vjp(lambda a, v: f(a, v, mode), a, v)[0], f(a, v, mode))
        check_rule(lambda a, v: f(a, v, mode), a, v)
    check_rule(lambda a, v: f(a, v, mode=mode), A * 1j, V * (0.2 - 1j))
    check_rule(lambda a, v: f(v, a, mode), A * 1j, V * (0.2 - 1j))
    check_rule(lambda a, v: f(a, v, mode), A, V * (0.2 - 1j))
    check_rule(lambda a, v: f(a[::-2], v[::2], mode), A, V)
    check_rule(lambda a: f(a, [1, 2], mode), A)
    check_rule(lambda a: f([1, 2], a, mode), A)
    check_rule(lambda a, v: f(list(a), tuple(v), mode), A, V)
    if f is np.convolve:
        check_rule(lambda a, v: f(a, v, mode), A, 0.7)
    check_rule(lambda v: f(np.arange(4), v, mode), V)
    single = adbc.grad(lambda a: f(a, V.astype(np.float32), mode).sum())(A.astype(np.float32))
    assert single.dtype == np.float32
    check_each_path(lambda a, v: np.sum(np.sin(f(a, v, mode))), A, V)


@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_errors_are_those_of_numpy(f: Any) -> None:
    for a, mode in [(A[:0], "full"), (A, "some")]:
        with pytest.raises(ValueError) as plain:
            f(a, V, mode)
        with pytest.raises(ValueError) as found:
            adbc.grad(lambda a: f(a, V, mode).sum())(a)  # noqa: B023
        assert str(found.value) == str(plain.value)


UNWRAPPED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda p: np.unwrap(p), (ANGLES,)),
    (lambda p: np.unwrap(p, 4.0), (ANGLES,)),
    (lambda p: np.unwrap(p, discont=1.0), (ANGLES,)),
    (lambda p, t: np.unwrap(p, period=t), (ANGLES, 2.0)),
    (lambda p, t: np.unwrap(p, 1.3, period=t), (ANGLES, 2.0)),
    (lambda p: np.unwrap(p.reshape(1, 7), axis=1), (ANGLES,)),
    (lambda p: np.unwrap(np.stack([p, -p]).T, axis=0), (ANGLES,)),
    (lambda p, t: np.unwrap(np.stack([p, p[::-1]]), axis=0, period=t), (ANGLES, 1.7)),
    (lambda p: np.unwrap(list(p)) * 1.0, (ANGLES,)),
    (lambda p: np.unwrap(p[::2], period=3), (ANGLES,)),
    (lambda p: np.unwrap(p[:0]) * 1.0, (ANGLES,)),
    (lambda t: np.unwrap(np.arange(5) % 3 * 2.1, period=t), (2.3,)),
]


@pytest.mark.parametrize(("f", "args"), UNWRAPPED, ids=lambda v: None)
def test_angles(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    np.testing.assert_array_equal(adbc.vjp(f, *args)[0], f(*args))
    check_rule(f, *args)
    check_each_path(lambda *args: np.sum(np.sin(f(*args))), *args)
