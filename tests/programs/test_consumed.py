"""Generators that are consumed where they are made, in both modes, with what happens when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule
from tests.programs import consumed

X, XS = 0.7, [0.11, 0.45, 0.32, 0.83, 0.21]


def logged(run: Callable[[], Any]) -> tuple[Any, list[Any]]:
    consumed.LOG.clear()
    out = run()
    return out, list(consumed.LOG)


@pytest.mark.parametrize("function", consumed.PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", ["learn", "never", "interpret"])
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        expected, events = logged(lambda: function(X, list(XS)))
        for _ in range(2):
            found, happened = logged(lambda: adbc.vjp(function, X, list(XS))[0])
            assert found == pytest.approx(expected, rel=1e-14) if isinstance(found, float) else True
            assert happened == events
            (value, _), happened = logged(lambda: adbc.jvp(function, (X, list(XS)), (1.0, [0.5] * len(XS))))
            assert happened == events and repr(value) == repr(expected)
        check_rule(function, X, list(XS))
