"""Modules that a function loads write into memory that it has met: shadows are in step with it then."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError

X = 1.3
TABLE: dict[str, Any] = {"own": lambda x: x}
ORDER: list[float] = []
NAMES: list[tuple[str, float]] = []
PLUGIN = f"""
import {__name__} as home

home.TABLE["plugin"] = lambda x: x * x
home.NAMES.append(("plugin", 2.0))
home.ORDER.append(3.0)
"""
REORDERING = f"import {__name__} as home\nhome.ORDER.insert(0, 5.0)\n"


class Registry:
    def __init__(self) -> None:
        self.loaded = False

    def __getitem__(self, name: str) -> Any:
        if not self.loaded:
            self.loaded = True
            importlib.import_module("plugin_of_test")
        return TABLE[name]


registry = Registry()


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    (tmp_path / "plugin_of_test.py").write_text(PLUGIN)
    (tmp_path / "reordering_of_test.py").write_text(REORDERING)
    monkeypatch.syspath_prepend(tmp_path)

    def forget() -> None:
        for name in ("plugin_of_test", "reordering_of_test"):
            sys.modules.pop(name, None)
        registry.loaded = False
        TABLE.pop("plugin", None)
        ORDER.clear()
        NAMES.clear()

    forget()
    yield forget
    forget()


def by_statement(x: float) -> float:
    y = x * TABLE["own"](x) + len(NAMES)
    import plugin_of_test  # noqa: F401

    return TABLE["plugin"](y) + sum(v for _, v in NAMES) * x + sum(ORDER) * x


def by_name(x: float) -> float:
    y = x * len(ORDER) + sum(v for _, v in NAMES)
    importlib.import_module("plugin_of_test")
    return TABLE["plugin"](x + y) * sum(ORDER)


def by_registry(x: float) -> float:
    return registry["own"](x) * registry["plugin"](x) + len(TABLE) * x


def in_loop(x: float) -> float:
    y = x
    for k in range(3):
        y = y * TABLE["own"](x) + len(NAMES)
        if k == 1:
            import plugin_of_test  # noqa: F401
        for v in ORDER:
            y = y + v * x
    return TABLE["plugin"](y)


@pytest.mark.parametrize("function", [by_statement, by_name, by_registry, in_loop], ids=lambda f: f.__name__)
def test_what_a_module_enters_is_found(function: Any, fresh: Callable[[], None]) -> None:
    value = function(X)
    again = function(X)
    for run in (
        lambda: adbc.value_and_grad(function)(X),
        lambda: adbc.jvp(function, (X,), (1.0,)),
    ):
        fresh()
        assert run()[0] == pytest.approx(value)
        assert "plugin" in TABLE and ORDER == [3.0]
        got = run()
        step = (function(X + 1e-6) - function(X - 1e-6)) / 2e-6
        assert got == (pytest.approx(again), pytest.approx(step, rel=1e-6))
        assert function(X) == again


def reordered(x: float) -> float:
    ORDER.append(x)
    import reordering_of_test  # noqa: F401

    return ORDER[-1] * ORDER[0]


@pytest.mark.parametrize("config", [{}, {"warm_after": 0}, {"speculation": "never"}], ids=str)
def test_a_list_with_a_derivative_that_a_module_reorders_is_refused(config: dict[str, Any]) -> None:
    with adbc.use(adbc.Config(**config)):
        with pytest.raises(UnsupportedError, match="Import the module before") as caught:
            adbc.grad(reordered)(X)
        assert "in reordered (" in str(caught.value)
        assert adbc.grad(reordered)(X) == pytest.approx(5.0)
