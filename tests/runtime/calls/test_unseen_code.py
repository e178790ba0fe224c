"""Python code that is run by C code: what it binds is seen, and what the classes of its objects lead to."""

from __future__ import annotations

import json
import string
from collections import UserDict
from typing import Any

import pytest

import adbc


class Counts:
    total = 0.0


KEPT: list[Any] = []


def mapping(effect: str, x: Any, notes: Any) -> tuple[Any, Any]:
    """An object that has an `effect` when it is asked for an item, and what that comes to."""
    scale = 1.0

    class Mapping(UserDict):
        count = 1.0

        def __getitem__(self, key):
            nonlocal scale
            if effect == "a list of the closure":
                notes.append(x)
            elif effect == "a global list":
                KEPT.append(x)
            elif effect == "an attribute":
                Counts.total = Counts.total + 1.0
            elif effect == "a variable of the closure":
                scale = scale * x
            else:
                Mapping.count = Mapping.count + 1.0
            return super().__getitem__(key)

    def comes_to():
        return sum(notes) * x + sum(KEPT) * x + Counts.total * x + scale + Mapping.count * x

    return Mapping({"a": 1, "b": 2}), comes_to


EFFECTS = [
    "a list of the closure", "a global list", "an attribute", "a variable of the closure",
    "a variable of the class",
]  # fmt: skip
USES: dict[str, Any] = {
    "text": lambda o: "%(a)s" % o,  # noqa: UP031  # it is what is tested
    "template": lambda o: string.Template("$a").substitute(o),
    "json": lambda o: json.dumps({"q": 1j}, default=lambda z: o["a"]),
    "sum": lambda o: sum(o.values()),
}


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("use", USES)
def test_effects_are_followed_or_refused(use, effect):
    def f(x):
        o, comes_to = mapping(effect, x, [])
        USES[use](o)
        return comes_to()

    def plain(x):
        value = f(x)
        KEPT.clear()
        Counts.total = 0.0
        return value

    value, slope = plain(1.3), (plain(1.3 + 1e-6) - plain(1.3 - 1e-6)) / 2e-6
    for _ in range(2):
        for take in (lambda: adbc.jvp(f, (1.3,), (1.0,)), lambda: adbc.value_and_grad(f)(1.3)):
            try:
                assert take() == pytest.approx((value, slope), rel=1e-6)
            except adbc.errors.AdbcError:
                assert use in ("text", "json")
            KEPT.clear()
            Counts.total = 0.0


def test_what_is_bound_by_code_that_is_watched_is_put_back():
    count = 0

    class Shown:
        def __repr__(self):
            nonlocal count
            count = count + 1
            return f"shown {count}"

    def f(o, x):
        return x * x if repr([o]) == "[shown 1]" else x

    assert adbc.value_and_grad(f, 1)(Shown(), 3.0) == (9.0, 6.0)
    assert adbc.value_and_grad(f, 1)(Shown(), 3.0) == (9.0, 6.0)
    assert count == 0
