"""Classes that are derived from builtin containers and numbers: what is known of them is what they do."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime.calls.driver import Calls
from tests.programs.checks import check_gradient
from tests.programs.derived_builtins import PROGRAMS, Point

X = [1.3, 0.7, 1.9]


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name: str) -> None:
    check_gradient(PROGRAMS[name], X)


@pytest.mark.parametrize("name", PROGRAMS)
def test_from_call_to_call(name: str) -> None:
    """What is interpreted, what is guessed and what has code agree."""
    gradient = adbc.value_and_grad(PROGRAMS[name])
    first = gradient(list(X))
    for _ in range(60):
        last = gradient(list(X))
    assert last == first
    check_gradient(PROGRAMS[name], X)


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("stack", 0),
        ("polynomials", 0),
        ("directions", 0),
        ("parameters", 0),
        ("grid", 0),
        ("recorded", 0),
        ("points", 13),
        ("vectors", 6),
    ],  # fmt: skip
)
def test_calls_that_are_decided_beforehand(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = adbc.value_and_grad(PROGRAMS[name])
    for _ in range(80):
        gradient(list(X))
    steps = 0
    run = Calls.run

    def counted(self: Any, *args: Any) -> Any:
        nonlocal steps
        steps += 1
        return run(self, *args)

    monkeypatch.setattr(Calls, "run", counted)
    gradient(list(X))
    assert steps <= most


def test_a_tuple_with_an_attribute_that_hides_a_method() -> None:
    def f(x: list[float]) -> Any:
        p = Point(x[0], x[1])
        p.scaled = lambda k: p
        return abs(p.scaled(2.0))

    gradient = adbc.value_and_grad(f)
    for _ in range(60):
        try:
            assert gradient(X)[0] == f(X)
        except UnsupportedError as e:
            refused = str(e)
    assert "attribute 'scaled' of a Point was set, of which the class has a method" in refused


def test_a_class_that_is_changed_later() -> None:
    class Row(list[Any]):
        def total(self) -> Any:
            return sum(self)

    def f(x: list[float]) -> Any:
        row = Row(x)
        return row.total() + sum(v for v in row) + row[0]

    gradient = adbc.value_and_grad(f)
    for _ in range(60):
        assert gradient(list(X)) == (f(X), [3.0, 2.0, 2.0])
    Row.total = lambda self: 5.0 * self[1]  # type: ignore[method-assign]
    assert gradient(list(X)) == (f(X), [2.0, 6.0, 1.0])
    Row.__iter__ = lambda self: iter([self[2]])  # type: ignore[assignment,method-assign]
    assert gradient(list(X)) == (f(X), [1.0, 5.0, 1.0])
    Row.__init__ = lambda self, values: list.__init__(self, [v * v for v in values])  # type: ignore[misc]
    assert gradient(list(X)) == (f(X), [2.0 * X[0], 10.0 * X[1], 2.0 * X[2]])
    Row.__getattribute__ = lambda self, name: lambda: 7.0 * self[2]  # type: ignore[assignment,method-assign]
    assert gradient(list(X)) == (f(X), pytest.approx([2.0 * X[0], 0.0, 16.0 * X[2]]))
