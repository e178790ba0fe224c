"""What a function in C may call is looked for without recursion, however many functions call each other."""

from __future__ import annotations

import atexit
import types
from typing import Any

import pytest

import adbc

COUNT = 3000


def chain(last: str, box: list[float]) -> Any:
    """The first of many functions, each of which calls the next."""
    space: dict[str, Any] = vars(types.ModuleType("chain"))
    space["BOX"] = box
    lines = [f"def f{i}(x): return f{i + 1}(x)" for i in range(COUNT)]
    exec("\n".join([*lines, f"def f{COUNT}(x): {last}"]), space)
    return space["f0"]


def test_a_long_way_leads_to_nothing() -> None:
    first = chain("return x", [])

    def f(x: Any) -> Any:
        atexit.unregister(first)
        return x * x

    assert adbc.grad(f)(1.5) == 3.0
    assert adbc.jvp(f, (1.5,), (1.0,)) == (2.25, 3.0)


def test_what_is_at_the_end_of_a_long_way_is_found() -> None:
    box = [1.0]
    first = chain("return x * BOX[0]", box)

    def f(x: Any) -> Any:
        box[0] = x
        atexit.unregister(first)
        return box[0]

    with pytest.raises(adbc.MissingRuleError, match="uses the global 'BOX', whose derivative"):
        adbc.grad(f)(1.5)
