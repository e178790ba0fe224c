"""Generators that stay objects are cut anew when a name in their code has got another meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import adbc


def half(x: float) -> float:
    return x / 2.0


def squared(x: float) -> float:
    return x * x


def halves(values: list[float]) -> Iterator[float]:
    for v in values:
        yield half(v)


def by_next(x: float) -> float:
    parts = [halves([x]), halves([x * x])]
    return sum(next(part) for part in parts)


def by_loop(x: float) -> float:
    total = 0.0
    for part in [halves([x]), halves([x * x])]:
        for v in part:
            total += v
    return total


@contextmanager
def halved(x: float) -> Iterator[float]:
    yield half(x)


def by_manager(x: float) -> float:
    total = 0.0
    for manager in [halved(x), halved(x * x)]:
        with manager as v:
            total += v
    return total


@pytest.mark.parametrize("program", [by_next, by_loop, by_manager], ids=lambda p: p.__name__)
@pytest.mark.parametrize("warm_after", [0, 1, 64])
def test_the_first_call_behind_a_change_is_right(
    program: Callable[[float], float], warm_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        gradient: Any = adbc.grad(program)
        for _ in range(4):
            assert gradient(1.5) == pytest.approx(0.5 + 1.5)
            assert adbc.jvp(program, (1.5,), (1.0,))[1] == pytest.approx(0.5 + 1.5)
        monkeypatch.setitem(globals(), "half", squared)
        assert gradient(1.5) == pytest.approx(2.0 * 1.5 + 4.0 * 1.5**3)
        monkeypatch.undo()
        assert adbc.jvp(program, (1.5,), (1.0,))[1] == pytest.approx(0.5 + 1.5)


def test_a_second_derivative_behind_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    second: Any = adbc.grad(adbc.grad(by_next))
    assert second(1.5) == pytest.approx(1.0)
    monkeypatch.setitem(globals(), "half", squared)
    assert second(1.5) == pytest.approx(2.0 + 12.0 * 1.5**2)
