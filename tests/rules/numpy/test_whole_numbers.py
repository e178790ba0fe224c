"""What is computed with whole numbers has no derivative, even if it is written where floats are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: np.add(a, a, dtype=int, out=b, casting="unsafe"),
    "signature": lambda a, b: np.add(a, 0.5, signature="ll->l", out=b, casting="unsafe"),
    "sig": lambda a, b: np.multiply(a, a, sig=("i4", "i4", "i4"), out=b, casting="unsafe"),
    "loop of one kind": lambda a, b: np.add(a, a, signature=(None, None, "i4"), out=b, casting="unsafe"),
    "matmul": lambda a, b: np.matmul(np.stack([a, a, a]), a, dtype=int, out=b, casting="unsafe"),
    "sum": lambda a, b: np.sum(np.stack([a, a]), axis=0, dtype=int, out=b),
    "reduce": lambda a, b: np.add.reduce(np.stack([a, a]), axis=0, dtype=int, out=b),
    "accumulate": lambda a, b: np.add.accumulate(a, dtype=int, out=b),
    "prod": lambda a, b: np.prod(np.stack([a, a]), axis=0, dtype=int, out=b),
    "cumsum": lambda a, b: np.cumsum(a, dtype=int, out=b),
    "cumprod": lambda a, b: a.cumprod(dtype=int, out=b),
    "mean": lambda a, b: np.mean(np.stack([a, a]), axis=0, dtype=int, out=b),
    "var": lambda a, b: np.var(np.stack([a, 2 * a]), axis=0, dtype=int, out=b),
    "einsum": lambda a, b: np.einsum("i,i->i", a, a, dtype=int, out=b, casting="unsafe"),
}


@pytest.mark.parametrize("name", CALLS)
def test_whole_numbers_are_written(name: str) -> None:
    def f(x: float) -> Any:
        a = np.array([0.3, 1.4, 2.6]) * x
        b = a * x  # what stood there is gone
        CALLS[name](a, b)
        return (b * np.array([1.0, 2.0, 4.0])).sum() + a[0]

    for _ in range(3):  # interpreted, and compiled
        assert adbc.value_and_grad(f)(1.03) == (f(1.03), pytest.approx(0.3))
        assert adbc.jvp(f, (1.03,), (1.0,)) == (f(1.03), pytest.approx(0.3))


@pytest.mark.parametrize("options", [{"dtype": "f8"}, {"signature": "dd->d"}, {"dtype": "f4"}])
def test_other_numbers_keep_their_derivatives(options: dict[str, Any]) -> None:
    def f(x: float) -> Any:
        b = np.zeros(2)
        np.multiply(np.array([0.3, 1.4]) * x, x, out=b, casting="unsafe", **options)
        return b.sum()

    assert adbc.value_and_grad(f)(1.5) == (pytest.approx(3.825, rel=1e-6), pytest.approx(5.1, rel=1e-6))
    assert adbc.jvp(f, (1.5,), (1.0,)) == (pytest.approx(3.825, rel=1e-6), pytest.approx(5.1, rel=1e-6))


def test_einsum_of_objects_that_are_constants() -> None:
    def f(x: float) -> Any:
        return x * np.einsum("i->", np.arange(9, dtype=object), dtype=float, casting="unsafe")

    assert adbc.value_and_grad(f)(1.5) == (54.0, 36.0)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (54.0, 36.0)


def test_einsum_has_so_many_labels() -> None:
    def f(x: float) -> Any:
        return np.einsum(np.array([x]), [np.einsum(np.array([[x]]), np.array([0, 0])) > 0.0 and 52])

    for differentiate in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(ValueError, match="valid range"):
            differentiate(1.5)
