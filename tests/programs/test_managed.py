"""Context managers that are generators, in both modes, with what happens when."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.passes.query import target
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from tests.programs import managed

X, XS = 0.7, [0.11, 0.45, 0.32, 0.83]


def logged(run: Callable[[], Any]) -> tuple[Any, list[Any]]:
    managed.LOG.clear()
    out = run()
    return out, list(managed.LOG)


@pytest.mark.parametrize("function", managed.PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", ["learn", "never", "interpret"])
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        expected, events = logged(lambda: function(X, list(XS)))
        for _ in range(2):
            found, happened = logged(lambda: adbc.vjp(function, X, list(XS))[0])
            assert found == pytest.approx(expected, rel=1e-14) and happened == events
            (value, _), happened = logged(lambda: adbc.jvp(function, (X, list(XS)), (1.0, [0.5] * len(XS))))
            assert happened == events and repr(value) == repr(expected)
        check_rule(function, X, list(XS))


WRITTEN = {
    "in_a_handler", "measured", "nested", "nested_and_left", "nested_and_raised", "plainly",
    "pushed_in_a_loop", "raised_in_front", "raised_in_front_and_caught_around",
}  # fmt: skip
"""The programs in which no manager is left."""


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_no_manager_is_left(name: str) -> None:
    graph = default_engine().graphs.primal(getattr(managed, name))
    called = {getattr(target(i), "__name__", None) for i in graph.instructions()}
    assert called.isdisjoint({"_load_special_", "scaled", "timed", "pushed", "checked", "helper"})


def test_the_generator_behind_a_manager_is_replaced() -> None:
    cell = managed.scaled.__closure__[0]  # type: ignore[attr-defined]
    found = cell.cell_contents

    def other(x: float, *, by: float = 1.0) -> Any:
        yield x * x * by

    gradient = adbc.grad(managed.plainly, argnums=0)(X, XS)
    try:
        cell.cell_contents = other
        value, changed = adbc.value_and_grad(managed.plainly, argnums=0)(X, XS)
        assert value == managed.plainly(X, XS) and changed != gradient
    finally:
        cell.cell_contents = found
    assert adbc.grad(managed.plainly, argnums=0)(X, XS) == gradient


@pytest.mark.parametrize("place", ["method", "cell", "class"])
def test_a_method_that_makes_managers_is_replaced(place: str, at_once: None) -> None:
    def gradient() -> Any:
        return adbc.value_and_grad(managed.methods, argnums=0)(X, list(XS))

    helper: Any = managed.Canvas.moved
    cell = helper.__closure__[0]
    found = cell.cell_contents

    def other(self: Any, scale: float, by: float = 0.0) -> Any:
        self.stack.append((scale * scale, by))
        yield self
        self.stack.pop()

    before = [gradient() for _ in range(3)]
    assert before[0] == before[1] == before[2]
    try:
        if place == "cell":
            cell.cell_contents = other
        elif place == "method":
            managed.Canvas.moved = contextlib.contextmanager(other)  # type: ignore[assignment]
        else:
            managed.Canvas.__enter__ = lambda self: self  # type: ignore[attr-defined]
            managed.Canvas.__exit__ = lambda self, *error: None  # type: ignore[attr-defined]
            managed.Canvas.moved = lambda self, scale, by=0.0: self  # type: ignore[assignment]
        h = 1e-6
        wanted = (managed.methods(X + h, list(XS)) - managed.methods(X - h, list(XS))) / (2.0 * h)
        for _ in range(3):
            value, changed = gradient()
            assert value == managed.methods(X, list(XS)) != before[0][0]
            assert changed == pytest.approx(wanted, rel=1e-6)
    finally:
        cell.cell_contents, managed.Canvas.moved = found, helper
        for name in {"__enter__", "__exit__"} & vars(managed.Canvas).keys():
            delattr(managed.Canvas, name)
    assert gradient() == before[0]


def test_methods_that_make_managers_are_written_around_their_bodies(at_once: None) -> None:
    for _ in range(3):
        adbc.grad(managed.methods, argnums=0)(X, list(XS))
    shown = str(adbc.inspect.explain(managed.methods, X, list(XS)))
    assert "GeneratorContextManager" not in shown and "helper" not in shown
