"""Where the first derivative is zero, what loses the second one is refused as well.

A tangent of zero is that of a constant for one derivative.  For a derivative of that derivative it is not.
"""

from __future__ import annotations

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
