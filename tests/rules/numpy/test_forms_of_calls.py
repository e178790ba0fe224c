"""Calls by keyword, with lists of axes, into a target, and of functions of `math` on arrays without axes."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check

V, U = np.array([0.2, 0.5, 0.9]), np.array([1.2, 0.3, 0.4])
A = np.arange(9.0).reshape(3, 3) * 0.1 + 0.3
B = A.T * 2.0 + 1.0
NUMBER = np.array(0.3)


def einsum_into_operand(a: Any, b: Any) -> Any:
    out = a * 1.0
    np.einsum("ij,jk->ik", out, b, out=out)
    before = out * a
    out[0] = 0.0
    return before, out, np.einsum("ij->ji", b, out=None)


def views_of_a_grid(v: Any) -> Any:
    x = v * 2.0
    wide, high = np.meshgrid(x[::2], x, copy=False, sparse=True)
    x[0] = 5.0 * v[1]
    return wide + high


def memory(v: Any) -> Any:
    data = v.data
    v *= 2.0
    data[0] = v[2] * v[2]
    return data[1] * 3.0, v * 1.0, list(data)


FORMS: dict[str, tuple[Any, ...]] = {
    "diff with a part before": (lambda v, u: np.diff(v, prepend=u[:1]), V, U),
    "diff with parts on both sides": (lambda v, u: np.diff(v, prepend=u, append=u[0]), V, U),
    "second differences": (lambda v, x: np.diff(v, 2, append=x), V, 0.3),
    "diff with an array without axes": (lambda v, x: np.diff(v, n=2, prepend=x), V, NUMBER),
    "diff along rows": (lambda a, x: np.diff(a, axis=0, prepend=x, append=2), A, 0.3),
    "diff by position": (lambda a, b: np.diff(a, 1, 1, b, b), A, B),
    "diff of constants": (lambda x: np.diff([1, 2, 4], prepend=[x, 2 * x]), 0.3),
    "diff of complex numbers": (lambda v, x: np.diff(v * (1 + 1j), prepend=x), V, 0.3),
    "diff with what is left of nothing": (lambda v: np.diff(v[:0], prepend=v[0], append=v[1]), V),
    "diff backwards": (lambda v: np.diff(v[::-1], prepend=v[:1]), V),
    "einsum by lists": (lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), A, B),
    "einsum by lists without a result": (lambda a, b: np.einsum(a, [0, 1], b, [1, 2]), A, B),
    "einsum by lists with an ellipsis": (lambda a, v: np.einsum(a, [..., 1], v, [1], [...]), A, V),
    "einsum by tuples": (lambda a, b: np.einsum(a, (3, 1), b, (1, 30), (30, 3)), A, B),
    "a view by lists": (lambda a: np.einsum(a, [0, 1], [1, 0]), A),
    "a diagonal by lists": (lambda a: np.einsum(a, [0, 0], [0]), A),
    "einsum into an operand": (einsum_into_operand, A, B),
    "einsum into a wider array": (lambda v, o: np.einsum("i,i->i", v, v, out=o) * 2, V, np.zeros(3, complex)),
    "einsum into a strided array": (lambda v, out: np.einsum("i,i->i", v, v, out=out), V, np.zeros(6)[::2]),
    "einsum by lists into": (lambda a, v, o: np.einsum(a, [0, 1], v, [1], out=o) + o, A, V, np.zeros(3)),
    "a grid of views": (lambda v, u: np.meshgrid(v, u, copy=False), V, U),
    "a sparse grid of views": (lambda v, u: np.meshgrid(v, u, copy=False, sparse=True), V, U),
    "views of a grid": (views_of_a_grid, V),
    "pow by name": (lambda v: pow(v, exp=2), V),
    "pow by names": (lambda v, u: pow(exp=u, base=v), V, U),
    "a number to an array": (lambda v: pow(2.0, exp=v), V),
    "an array without axes to a power": (lambda z: pow(z, exp=2), NUMBER),
    "elements set as a field": (lambda a, v: (a.setfield(v, np.float64), a)[1] * 2.0, A, V),
    "memory": (memory, V),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    function, *args = FORMS[name]
    check(function, *args)


@pytest.mark.skipif(not hasattr(np.ndarray, "to_device"), reason="of newer versions of NumPy")
def test_arrays_are_on_their_device() -> None:
    def f(v: Any) -> Any:
        same = v.to_device("cpu")
        v[0] = v[1] * 3.0
        return same * v[2].to_device("cpu")

    check(f, V)
    with pytest.raises(ValueError, match="gpu"):
        adbc.jvp(lambda v: v.to_device("gpu"), (V,), (V,))


OF_MATH: list[Callable[[Any], Any]] = [
    lambda z: math.sin(z) * math.pow(z, z) + math.gamma(z) + math.fmod(z * 7.0, z) + math.degrees(z),
    lambda z: math.atan2(z, np.array(0.7)) + math.hypot(z, 0.2, z) + math.log(z, np.float64(3.0)),
    lambda z: (math.modf(z * 7.0), math.frexp(z), math.copysign(z, -1)),
    lambda z: math.floor(z * 7.0) * z + math.ceil(z * 7.0) * z + math.isnan(z) * z,
    lambda z: cmath.exp(z) + cmath.sqrt(z * (1 + 2j)) + cmath.rect(z, z),
    lambda z: cmath.polar(z * (1 + 1j)),
]


@pytest.mark.parametrize("f", OF_MATH)
def test_functions_of_numbers_take_arrays_without_axes(f: Callable[[Any], Any]) -> None:
    check(f, NUMBER)


def test_functions_of_numbers_take_no_other_arrays() -> None:
    with pytest.raises(TypeError, match="converted"):
        adbc.grad(lambda v: math.sin(v))(V)
