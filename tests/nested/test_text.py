"""Text in functions that are differentiated twice: what is read from constant text is constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError

X = np.array([1.5, 0.7, 2.2])
V = np.array([0.5, -1.0, 2.0])


def subscripts(x: Any) -> Any:
    return np.einsum(",".join("ii") + "->", x, x) * x[0]


def keys(x: Any) -> Any:
    return {"rate".upper(): x[0] ** 3}["RATE"] * float("2.5") + x[1]


def names(x: Any) -> Any:
    total = 0.0
    for i, name in enumerate(["a0", "b1", "c2"]):
        if name.startswith(("a", "c")):
            total += x[i] ** 3 * int(name[1:].encode())
    return total


def elementwise(x: Any) -> Any:
    return np.vectorize(lambda v: v**3)(x).sum()


WAYS: dict[str, Callable[[Any], Any]] = {
    "forward over reverse": lambda f: adbc.hvp(f, (X,), (V,))[0],
    "reverse over reverse": lambda f: adbc.vhp(f, (X,), (V,))[0],
    "forward over forward": lambda f: adbc.jacfwd(adbc.jacfwd(f))(X) @ V,
    "reverse over forward": lambda f: adbc.jacrev(adbc.jacfwd(f))(X) @ V,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [subscripts, keys, names, elementwise], ids=lambda f: f.__name__)
def test_constant_text(f: Callable[[Any], Any], way: str) -> None:
    step = 1e-6
    expected = (adbc.grad(f)(X + step * V) - adbc.grad(f)(X - step * V)) / (2.0 * step)
    for _ in range(2):
        np.testing.assert_allclose(WAYS[way](f), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(str(x[0])) * x[0],
        lambda x: float(repr(float(x[0]))) * x[0],
        lambda x: float(f"{x[0]}"),
    ],
    ids=["str", "repr", "format"],
)
def test_text_of_a_number_with_a_derivative(f: Callable[[Any], Any], way: str) -> None:
    with pytest.raises(UnsupportedError, match="derivative"):
        WAYS[way](f)
