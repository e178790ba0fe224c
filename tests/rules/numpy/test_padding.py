"""``np.pad`` in all modes with a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .harness import check_each_path

A = np.array([0.3, -1.2, 2.5, 0.9])
M = np.array([[0.3, 2.1, -0.4], [1.2, 0.7, 3.3]])
WIDTHS: list[Any] = [0, 2, (1, 2), (0, 3), ((1, 2),), 9]

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *[
        (lambda a, w=w, mode=mode: np.pad(a, w, mode) * 1.0, (A,))
        for mode in ("constant", "edge", "wrap", "reflect", "symmetric", "mean", "maximum", "linear_ramp")
        for w in WIDTHS
    ],
    *[
        (lambda a, mode=mode: np.pad(a, ((1, 2), (2, 0)), mode=mode), (M,))
        for mode in ("constant", "edge", "wrap", "reflect", "symmetric", "minimum", "median")
    ],
    *[
        (lambda a, w=w, mode=mode, kind=kind: np.pad(a, w, mode, reflect_type=kind), (M,))
        for mode in ("reflect", "symmetric")
        for kind in ("even", "odd")
        for w in (1, ((1, 0), (2, 1)), 0)
    ],
    (lambda a, c: np.pad(a, 2, constant_values=c), (A, 0.7)),
    (lambda a, c: np.pad(a, ((0, 1), (2, 0)), "constant", constant_values=c), (M, 0.7)),
    (lambda a, c: np.pad(a, 1, constant_values=c), (A * 1j, 0.7)),
    (lambda a, c: np.pad(a, 1, constant_values=(c, 2.0 * c)), (A, 0.7)),
    (lambda a: np.pad(a, 1, constant_values=2), (A,)),
    (lambda a, c: np.pad(a, 2, "linear_ramp", end_values=c), (A, 0.7)),
    (lambda a: np.pad(a[::-2], [1, 2], "wrap"), (A,)),
    (lambda a: np.pad(a.T, 1, "reflect"), (M,)),
    (lambda a: np.pad(a, np.array([[1, 2], [0, 1]]), "edge"), (M,)),
    (lambda a: np.pad(list(a), 1, "edge"), (A,)),
    (lambda a: np.pad(a, 1) * a.sum(), (np.array(0.7),)),
    (lambda a: np.pad(a[:0], 2), (A,)),
]


@pytest.mark.parametrize(("f", "args"), CALLS, ids=lambda v: None)
def test_calls(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    np.testing.assert_allclose(adbc.vjp(f, *args)[0], f(*args), rtol=1e-15)
    check_rule(f, *args)
    check_each_path(lambda *args: np.sum(np.sin(f(*args)).real), *args)


def test_single_precision_and_whole_numbers() -> None:
    for mode in ("constant", "edge", "reflect"):
        gradient = adbc.grad(lambda a, m=mode: np.pad(a, 2, m).sum())(A.astype(np.float32))
        assert gradient.dtype == np.float32
        assert (
            adbc.grad(lambda x, m=mode: x * np.pad(np.arange(3), 1, m).sum())(2.0)
            == np.pad(np.arange(3), 1, mode).sum()
        )


def test_errors_are_those_of_numpy() -> None:
    for a, width in [(A, -1), (A, (1, 2, 3)), (A, 1.5)]:
        with pytest.raises((ValueError, TypeError)) as plain:
            np.pad(a, width)
        with pytest.raises((ValueError, TypeError)) as found:
            adbc.grad(lambda a: np.pad(a, width).sum())(a)  # noqa: B023
        assert str(found.value) == str(plain.value)
