"""Rows of the table in flat form, for what cannot be seen from outside of a rule."""

from __future__ import annotations

from typing import Any

from adbc.rules import default_table
from adbc.rules.table import Rule
from adbc.tangents import NO_FDATA
from adbc.testing.values import assert_same

__all__ = ["find", "gradient"]


def find(function: Any, args: tuple[Any, ...]) -> Rule:
    """The row of `function` for these arguments."""
    rule = default_table().find(function, tuple(type(x) for x in args))
    assert rule is not None, f"no rule of {function} for {[type(x).__name__ for x in args]}"
    return rule


def gradient(function: Any, *args: float) -> list[Any]:
    """The cotangents of real arguments for cotangent 1.0, which are the tangents too, None being zero."""
    rule = find(function, args)
    fargs = [NO_FDATA if isinstance(x, (float, complex)) else None for x in args]
    _, _, pullback = rule.rrule(args, fargs)
    reverse = list(pullback(1.0))
    for i, x in enumerate(args):
        if isinstance(x, float):
            _, dout = rule.frule(args, [1.0 if j == i else None for j in range(len(args))])
            if dout is not None or reverse[i] not in (None, 0.0):
                assert_same(dout, reverse[i], f"derivative by argument {i}")
    return reverse
