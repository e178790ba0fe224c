"""Where the first derivative is zero, what loses the second one is refused as well.

A tangent of zero is that of a constant for one derivative.  For a derivative of that derivative it is not.
"""

from __future__ import annotations

import cmath
import collections
import colorsys
import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError
from tests.runtime.opaque import binned


def _by_text(x: Any) -> Any:
    return float(f"{x * x + 2.0:.17f}")


def _by_a_function_in_c(x: Any) -> Any:
    return binned(np.array([0]), [x * x + 2.0])[0]


def _second(f: Callable[[Any], Any], outer: str, inner: str) -> Callable[[Any], Any]:
    def first(x: Any) -> Any:
        return adbc.jvp(f, (x,), (1.0,))[1] if inner == "forward" else adbc.grad(f)(x)

    def second(x: Any) -> Any:
        return adbc.jvp(first, (x,), (1.0,))[1] if outer == "forward" else adbc.grad(first)(x)

    return second


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", [_by_text, _by_a_function_in_c])
def test_a_second_derivative_is_not_lost_where_the_first_is_zero(f: Any, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for outer in ("forward", "reverse"):
            for inner in ("forward", "reverse"):
                with pytest.raises(AdbcError):
                    _second(f, outer, inner)(0.0)
        assert adbc.jvp(f, (0.0,), (1.0,))[1] == 0.0


def _with_constants(x: Any) -> Any:
    table = {"a": 2.0, "b": 3.0}
    return x**3 * table["a"] * len(f"{table['b']:.3f}")


@pytest.mark.parametrize("outer", ["forward", "reverse"])
@pytest.mark.parametrize("inner", ["forward", "reverse"])
def test_constants_are_no_derivative(outer: str, inner: str) -> None:
    assert _second(_with_constants, outer, inner)(0.7) == pytest.approx(6 * 0.7 * 10.0)


def _by_key(x: Any) -> Any:
    return next(iter({x * x: 1.0}))


def _by_key_in_tuple(x: Any) -> Any:
    return next(iter({(x * x, 1): 1.0}))[0]


def _by_key_that_is_set(x: Any) -> Any:
    table: dict[Any, Any] = {}
    table[x * x] = 3.0
    return sum(table)


def _by_element(x: Any) -> Any:
    return {x * x}.pop()


def _by_element_that_is_added(x: Any) -> Any:
    found: set[Any] = set()
    found.add(x * x)
    return max(found)


def _by_names(x: Any) -> Any:
    return next(iter(dict.fromkeys([x * x])))


def _by_counter(x: Any) -> Any:
    return next(iter(collections.Counter([x * x])))


@pytest.mark.parametrize("speculation", ["learn", "dynamic", "interpret"])
@pytest.mark.parametrize(
    "f",
    [
        _by_key, _by_key_in_tuple, _by_key_that_is_set, _by_element, _by_element_that_is_added, _by_names,
        _by_counter,
    ],
)  # fmt: skip
def test_keys_are_refused_where_their_first_derivative_is_zero(f: Any, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for outer in ("forward", "reverse"):
            for inner in ("forward", "reverse"):
                with pytest.raises(AdbcError):
                    _second(f, outer, inner)(0.0)
        assert adbc.jvp(f, (0.0,), (1.0,))[1] == 0.0


def test_keys_are_refused_where_two_derivatives_are_zero() -> None:
    def cubed(x: Any) -> Any:
        return next(iter({x * x * x: 1.0}))

    with pytest.raises(AdbcError):
        adbc.jvp(_second(cubed, "forward", "forward"), (0.0,), (1.0,))


def _keys_of_constants(x: Any) -> Any:
    weights = {k: 0.5 * k for k in [1.0, 2.0]}
    return sum(k * w for k, w in weights.items()) * x * x * x


def test_keys_that_are_constant_stay_so_in_a_second_derivative() -> None:
    assert _second(_keys_of_constants, "forward", "forward")(0.7) == pytest.approx(6 * 0.7 * 2.5)


# -- code of libraries, which is called as it is where it is given constants ---------------------------------


def _of_a_colour(x: Any) -> Any:
    return colorsys.rgb_to_yiq(x * x, 0.2, 0.3)[0]


def _of_a_copy(x: Any) -> Any:
    return copy.deepcopy([x * x])[0]


def _of_a_list(x: Any) -> Any:
    return collections.UserList([x * x])[0]


def _of_several_maps(x: Any) -> Any:
    return collections.ChainMap({}, {"a": x * x})["a"]


@pytest.mark.parametrize("speculation", ["learn", "dynamic", "interpret"])
@pytest.mark.parametrize("outer", ["forward", "reverse"])
@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "wanted"), [(_of_a_colour, 0.6), (_of_a_copy, 2.0), (_of_a_list, 2.0), (_of_several_maps, 2.0)]
)
def test_libraries_are_followed_where_the_first_derivative_is_zero(
    f: Any, wanted: float, inner: str, outer: str, speculation: Any
) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            assert _second(f, outer, inner)(0.0) == pytest.approx(wanted)


# -- products in which zero wins, and is differentiated itself -----------------------------------------------

C = 1.0 + 2.0j
OF_COMPLEX: list[tuple[Callable[[Any], Any], float]] = [
    (lambda x: (x * x * C).imag, 4.0),
    (lambda x: (x * x * np.complex128(C)).imag, 4.0),
    (lambda x: (np.float64(x * x) * C).imag, 4.0),
    (lambda x: np.float64(x * x) * np.float32(3.0), 6.0),
    (lambda x: (x * x / C).imag, -0.8),
    (lambda x: ((x * x) / np.complex128(C)).imag, -0.8),
    (lambda x: (1.0 / (C + x * x)).imag, 0.32),
    (lambda x: cmath.exp(x * x * 1j).imag, 2.0),
    (lambda x: cmath.phase(x * x + 1.0 + 1.0j), -1.0),
    (lambda x: abs(x * x + 3.0 + 4.0j), 1.2),
    (lambda x: np.array([x * x * C, 1.0]).imag.sum(), 4.0),
    (lambda x: (np.array([C, 2.0])[0] * (x * x)).imag, 4.0),
    (lambda x: (x * C).imag ** 2, 8.0),  # the cotangent is zero
    (lambda x: (x * np.complex128(C)).imag ** 2, 8.0),
    (lambda x: (x / C).imag ** 2, 0.32),
    (lambda x: np.float64(x) * np.float64(3.0) * x, 6.0),
]


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("outer", ["forward", "reverse"])
@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize(("f", "wanted"), OF_COMPLEX)
def test_what_is_zero_has_a_derivative(
    f: Any, wanted: float, inner: str, outer: str, speculation: Any
) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        assert _second(f, outer, inner)(0.0) == pytest.approx(wanted, rel=1e-6)
