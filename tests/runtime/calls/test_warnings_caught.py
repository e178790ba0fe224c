"""Warnings that are caught in a list, which grows by the hand of C code."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError


def looped_over(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("once", UserWarning, stacklevel=1)
        y = x * x
        warnings.warn("twice", UserWarning, stacklevel=1)
    total = y * len(caught)
    for warning in caught:
        total = total + x * len(str(warning.message))
    return total


def by_number(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("once", UserWarning, stacklevel=1)
    return x * len(str(caught[0].message)) + x * len(str(caught[-1].message))


def taken_out(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("once", UserWarning, stacklevel=1)
        first = caught.pop()
    return x * len(str(first.message)) + len(caught)


def in_other_ways(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("once", UserWarning, stacklevel=1)
    first, *_ = caught
    texts = [str(first.message), *(str(w.message) for w in reversed(caught))]
    texts += [str(w.message) for w, _ in zip(caught, [x], strict=True)]
    return x * len("".join(texts)) + sum(1 for w in caught if issubclass(w.category, UserWarning))


class Recorder(warnings.catch_warnings):  # type: ignore[type-arg]  # not generic before 3.12
    def __init__(self) -> None:
        super().__init__(record=True)
        self.kept: list[Any] = []

    def __enter__(self) -> Any:
        self.kept = super().__enter__()  # type: ignore[assignment]
        warnings.simplefilter("always")
        return self

    def __iter__(self) -> Any:
        return iter(self.kept)


def by_a_class(x: Any) -> Any:
    with Recorder() as recorder:
        warnings.warn("once", UserWarning, stacklevel=1)
    total = x
    for warning in recorder:
        total = total + x * len(str(warning.message))
    return total


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
    return x * len(log) * len(str(last.message))


def nested(x: float) -> float:
    with warnings.catch_warnings(record=True) as outer:
        warnings.simplefilter("always")
        warnings.warn("one", stacklevel=1)
        with warnings.catch_warnings(record=True) as inner:
            warnings.warn("three", stacklevel=1)
            warnings.warn("four", stacklevel=1)
        warnings.warn("seven", stacklevel=1)
    return x * sum(len(str(w.message)) for w in outer) ** sum(len(str(w.message)) for w in inner[1:])


@pytest.mark.parametrize("f", [
    looped_over, by_number, taken_out, in_other_ways, by_a_class, by_place, from_c_code,
    changed_between, nested,
])  # fmt: skip
def test_warnings_that_were_caught(f: Callable[[Any], Any]) -> None:
    step = 1e-6
    slope = (f(1.5 + step) - f(1.5 - step)) / (2.0 * step)
    filters = list(warnings.filters)
    for _ in range(3):
        assert adbc.jvp(f, (1.5,), (1.0,)) == (f(1.5), pytest.approx(slope))
        assert adbc.value_and_grad(f)(1.5) == (f(1.5), pytest.approx(slope))
    assert list(warnings.filters) == filters


def test_a_number_among_the_warnings() -> None:
    def f(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            caught.append(x)  # type: ignore[union-attr]
        return caught[0] * 2.0  # type: ignore[index]

    for run in (lambda: adbc.jvp(f, (1.5,), (1.0,)), lambda: adbc.grad(f)(1.5)):
        with pytest.raises(ConstWriteError):
            run()
