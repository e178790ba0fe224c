"""Generators that are not exhausted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from adbc.testing import test_rule as check_rule


def plain(a: list[float], x: float) -> Iterator[float]:
    for _ in range(3):
        a[0] = a[0] * x
        yield a[0] * x


def guarded(a: list[float], x: float) -> Iterator[float]:
    try:
        for _ in range(3):
            yield a[0] * x
    finally:
        a[0] = a[0] * x * 2.0


def managed(a: list[float], x: float) -> Iterator[float]:
    with contextlib.nullcontext():
        yield a[0] * x
    a[0] = a[0] * x
    yield a[0] * x


def inner_guarded(a: list[float], x: float) -> Iterator[float]:
    yield from guarded(a, x)


def first_of_plain(a: list[float], x: float) -> float:
    return next(plain(a, x)) + a[0]


def of_another(a: list[float], x: float) -> Iterator[float]:
    yield from plain(a, x)


def first_of_another(a: list[float], x: float) -> float:
    return next(of_another(a, x)) + a[0]


def left_by_break(a: list[float], x: float) -> float:
    y = 0.0
    for z in guarded(a, x):
        y = z
        break
    return y + a[0]


def first_of_expression(a: list[float], x: float) -> float:
    return next(y for y in guarded(a, x)) + a[0]


def first_of_managed(a: list[float], x: float) -> float:
    return next(managed(a, x)) + a[0]


def first_of_inner(a: list[float], x: float) -> float:
    return next(inner_guarded(a, x)) + a[0]


def never_started(a: list[float], x: float) -> float:
    guarded(a, x)
    return a[0] * x


def exhausted(a: list[float], x: float) -> float:
    return sum(guarded(a, x)) + a[0]


def closed(a: list[float], x: float) -> float:
    values = guarded(a, x)
    y = next(values)
    values.close()  # type: ignore[attr-defined]  # it is a generator
    return y + a[0]


def closing(a: list[float], x: float) -> float:
    with contextlib.closing(guarded(a, x)) as values:  # type: ignore[type-var]  # it is a generator
        y = next(values)
    return y + a[0]


def behind_the_block(a: list[float], x: float) -> float:
    """Nothing has to run any more where it is left."""
    values = managed(a, x)
    next(values)
    return next(values) + a[0]


@pytest.mark.parametrize(
    "function",
    [
        first_of_plain, first_of_another, never_started, exhausted, closed, closing, behind_the_block,
        left_by_break, first_of_expression, first_of_managed, first_of_inner,
    ],
)  # fmt: skip
def test_generators_that_are_not_exhausted_are_right(function: Callable[..., float]) -> None:
    check_rule(function, [1.3], 0.7)
