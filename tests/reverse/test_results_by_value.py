"""A derived function gives a tuple of numbers, and the caller knows less of its type than the rule does."""

from __future__ import annotations

import math
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule


def both(t, s):
    for _ in range(2):  # small functions without loops would be written into their callers
        s = s * 0.5
    return math.cos(s), t * 0.5


def of_constants(x):
    t = both(0.5, 0.5)[1]
    return x * t


def unpacked(x):
    c, t = both(x, 0.5)
    [y, (z, *_)] = [t, (x, c)]
    return y * z * c


def in_another(x):
    (c, t), factor = (both(x, 0.5), 2.0)
    return c * t * factor


@pytest.mark.parametrize("f", [of_constants, unpacked, in_another])
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_both_modes(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(f, 1.5)
