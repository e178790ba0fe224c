"""What is made of a list depends on all that has come into it since it was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

V = np.array([0.2, 0.5, 0.9])


def product(first: Any, a: Any, b: Any) -> Any:
    return (a * b).sum()


def in_a_tuple(v: Any) -> Any:
    t = (np.argmax(v), *[v][:1])
    return (t[1] * t[1]).sum()


def extended(v: Any) -> Any:
    grown = [v.size + 0]
    grown.extend((v, v)[:2])
    t = tuple(grown)
    return (t[1] * t[2]).sum()


def as_arguments(v: Any) -> Any:
    parts = (v, v)[:2]
    return product(np.zeros(2), *parts)


def by_text(v: Any) -> Any:
    parts = (v, v)[:2]
    return np.einsum("".join(["i,", "i"]), *parts)


def by_lists(v: Any) -> Any:
    return np.einsum(v, [0], v, [0])


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", [in_a_tuple, extended, as_arguments, by_text, by_lists])
def test_what_comes_into_a_list_has_its_derivative(f: Callable[[Any], Any], speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            np.testing.assert_allclose(adbc.grad(f)(V), 2.0 * V)
            assert adbc.jvp(f, (V,), (np.ones(3),))[1] == pytest.approx(2.0 * V.sum())
