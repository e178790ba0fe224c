"""What stands in the body of a ``try`` or a ``with``, in both modes, with what happens when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule
from tests.programs import protected

X, XS = 0.7, [0.11, 0.45, 0.32, 0.83]


def logged(run: Callable[[], Any]) -> tuple[Any, list[Any]]:
    protected.LOG.clear()
    out = run()
    return out, list(protected.LOG)


@pytest.mark.parametrize("function", protected.PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", ["learn", "never", "interpret"])
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        expected, events = logged(lambda: function(X, list(XS)))
        for _ in range(2):
            xs = list(XS)
            (found, pullback), happened = logged(lambda xs=xs: adbc.vjp(function, X, xs))
            assert found == pytest.approx(expected, rel=1e-14) and happened == events
            pullback(1.0)
            assert xs == XS and not protected.LOCK.locked()
            (value, _), happened = logged(lambda: adbc.jvp(function, (X, list(XS)), (1.0, [0.5] * len(XS))))
            assert happened == events and repr(value) == repr(expected)
        check_rule(function, X, list(XS))


AS_FAST = {"appended_and_lost": "found.append", "popped": "stack.pop"}
"""By program, a method that is called in a protected region as it is outside of one."""


@pytest.mark.parametrize("name", sorted(AS_FAST))
def test_what_is_known_is_called_by_its_function(name: str, at_once: None) -> None:
    sites = explained(getattr(protected, name)).sections[0].sites
    kinds = {site.kind for site in sites if (site.source or "").startswith(AS_FAST[name])}
    assert kinds and "dynamic" not in kinds


def test_locks_cost_nothing_but_themselves(at_once: None) -> None:
    sites = explained(protected.locked).sections[0].sites
    first, *_ = [site.kind for site in sites if site.source == "LOCK.locked()"]
    assert first == "inactive"


def test_small_methods_of_libraries_are_followed(at_once: None) -> None:
    names = [section.name for section in explained(protected.no_context).sections]
    assert "nullcontext.__enter__" in names


def explained(function: Any) -> adbc.inspect.Explanation:
    for _ in range(4):
        adbc.grad(function, argnums=0)(X, list(XS))
    return adbc.inspect.explain(function, X, list(XS))
