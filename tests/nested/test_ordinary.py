"""Second derivatives of ordinary programs, in all four ways, against differences of the first one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from tests.nested import ordinary

X = np.array([0.7, 1.1, -0.6])
V = np.array([0.3, -0.5, 0.8])
PROGRAMS = {**ordinary.ITERATING, **ordinary.PRINTING, **ordinary.RAISING, **ordinary.MAKING}


def forward(f: Any) -> Any:
    return lambda x: adbc.jvp(f, (x,), (V,))[1]


def reverse(f: Any) -> Any:
    return lambda x: adbc.grad(f)(x) @ V


MODES = {"forward": forward, "reverse": reverse}


def difference(f: Any) -> float:
    step = 1e-5
    return float((reverse(f)(X + step * V) - reverse(f)(X - step * V)) / (2.0 * step))


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name: str, outer: str, inner: str) -> None:
    def f(x: Any) -> Any:
        given = x * 1.0 if name in ordinary.ITERATING or name in ordinary.PRINTING else [x[0], x[1], x[2]]
        return PROGRAMS[name](given) * 1.0

    wanted = difference(f)
    for _ in range(2):
        assert MODES[outer](MODES[inner](f))(X) == pytest.approx(wanted, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize(
    "config", [{"speculation": "interpret"}, {"speculation": "dynamic"}, {"warm_after": 0}]
)
@pytest.mark.parametrize("name", ["caught_from_a_helper", "with_cleaning_up", "grouped", "closed_early"])
def test_what_was_done_before_an_exception(name: str, config: Any, outer: str, inner: str) -> None:
    def f(x: Any) -> Any:
        return PROGRAMS[name]([x[0], x[1], x[2]]) * 1.0

    with adbc.use(adbc.Config(**config)):
        assert MODES[outer](MODES[inner](f))(X) == pytest.approx(difference(f), rel=1e-6)


@pytest.mark.slow
def test_a_third_derivative() -> None:
    def f(x: float) -> Any:
        return ordinary.twice([x, x * x])  # x^4 + x^8

    third = adbc.grad(lambda x: adbc.jvp(lambda y: adbc.jvp(f, (y,), (1.0,))[1], (x,), (1.0,))[1])
    assert third(1.3) == pytest.approx(24 * 1.3 + 336 * 1.3**5, rel=1e-12)


# -- what is refused -----------------------------------------------------------------------------------------


def read_again(x: Any) -> Any:
    print(f"{x[0]:.3f}", file=ordinary.SHOWN)
    return float(f"{x[0]}") * x[1]


def left_open(x: Any) -> Any:
    def values() -> Iterator[Any]:
        try:
            yield from x
        finally:
            ordinary.LOG.debug("closed")

    kept = [values()]
    return next(kept[0]) ** 3


def of_a_class_that_is_defined(x: Any) -> Any:
    class Scaled:
        def times(self, v: Any) -> Any:
            return v * x[0]

    return Scaled().times(x[1])


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize(
    "f, message",
    [
        (read_again, r"float reads a number from a str.*read_again .*test_ordinary.py.*stop_gradient"),
        (left_open, r"left_open.<locals>.values.*was left suspended.*contextlib.closing"),
        (of_a_class_that_is_defined, r"of_a_class_that_is_defined .*a class is defined there.*stop_gradient"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_refusals(f: Any, message: str, outer: str, inner: str) -> None:
    with pytest.raises(UnsupportedError, match=f"(?s){message}"):
        MODES[outer](MODES[inner](lambda x: f([x[0], x[1], x[2]])))(X)
