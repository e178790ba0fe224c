"""Context managers that are generators, in both modes, with what happens when."""

from __future__ import annotations

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


WRITTEN = {"plainly", "measured"}
"""The programs in which no manager is left."""


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_no_manager_is_left(name: str) -> None:
    graph = default_engine().graphs.primal(getattr(managed, name))
    called = {getattr(target(i), "__name__", None) for i in graph.instructions()}
    assert called.isdisjoint({"_load_special_", "scaled", "timed", "helper"})


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
