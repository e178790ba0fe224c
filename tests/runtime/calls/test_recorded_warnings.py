"""Warnings that are recorded in a derivative are found there as in a plain call, whoever warned."""

from __future__ import annotations

import unittest
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError


def looped_over(x: float) -> float:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        warnings.warn("careful", DeprecationWarning, stacklevel=1)
        warnings.warn("slow", stacklevel=1)
    for w in log:
        x = x * len(str(w.message))
    return x


def by_place(x: float) -> float:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        warnings.warn("careful", DeprecationWarning, stacklevel=1)
    return x * len(str(log[0].message)) if log[-1].category is DeprecationWarning else 0.0 * x


def from_c_code(x: float) -> float:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        y = np.sum(np.log(np.array([x, x - x])))
    return x * len([w for w in log if "divide" in str(w.message)]) + 0.0 * (y == 1.0)


def changed_between(x: float) -> float:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        warnings.warn("one", stacklevel=1)
        log.clear()
        warnings.warn("three", stacklevel=1)
        last = log.pop()
        warnings.warn("four", stacklevel=1)
        log.append(x)  # type: ignore[arg-type]
        warnings.warn("five", stacklevel=1)
    y: Any = log[1]
    return y * len(log) * len(str(last.message))


def nested(x: float) -> float:
    with warnings.catch_warnings(record=True) as outer:
        warnings.simplefilter("always")
        warnings.warn("one", stacklevel=1)
        with warnings.catch_warnings(record=True) as inner:
            warnings.warn("three", stacklevel=1)
            warnings.warn("four", stacklevel=1)
        warnings.warn("seven", stacklevel=1)
    return x * sum(len(str(w.message)) for w in outer) ** sum(len(str(w.message)) for w in inner[1:])


def asserted(x: float) -> float:
    case = unittest.TestCase()
    with case.assertWarnsRegex(DeprecationWarning, "care"):
        warnings.warn("careful", DeprecationWarning, stacklevel=1)
    return x * x


@pytest.mark.parametrize("f", [looped_over, by_place, from_c_code, changed_between, nested, asserted])
def test_recorded(f: Callable[[float], float]) -> None:
    before = warnings._showwarnmsg_impl  # type: ignore[attr-defined]
    value = f(1.5)
    slope = 2 * 1.5 if f is asserted else value / 1.5  # the others are linear
    assert adbc.jvp(f, (1.5,), (1.0,)) == (value, slope)
    assert adbc.value_and_grad(f)(1.5) == (value, slope)
    assert warnings._showwarnmsg_impl is before  # type: ignore[attr-defined]


def changed_before_c_code(x: float) -> float:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        log.append(x)  # type: ignore[arg-type]
        np.log(np.array([x, x - x]))
    y: Any = log[0]
    return y * len(log)


def test_what_c_code_appends_behind_a_change() -> None:
    assert adbc.jvp(changed_before_c_code, (1.5,), (1.0,)) == (3.0, 2.0)
    with pytest.raises(UnsupportedError, match="recorded warnings was changed"):
        adbc.grad(changed_before_c_code)(1.5)
