"""What is asked of the second derivative of one random function: the four ways to nest the two modes agree,
and with differences of the first derivative.

The function is followed along a line through its arguments, so that its second derivative is one number: that
of the sum of all it gives and of what it leaves in its list.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import adbc
from adbc.errors import UnsupportedError
from tests.properties.checks import flat, outcome
from tests.properties.functions import Program, inputs

__all__ = ["WAYS", "check_second"]

STEP = 1e-4

Function = Callable[[float], float]


def _forward_over_forward(f: Function, t: float) -> Any:
    return adbc.jvp(lambda s: adbc.jvp(f, (s,), (1.0,))[1], (t,), (1.0,))[1]


def _forward_over_reverse(f: Function, t: float) -> Any:
    return adbc.jvp(adbc.grad(f), (t,), (1.0,))[1]


def _reverse_over_forward(f: Function, t: float) -> Any:
    return adbc.grad(lambda s: adbc.jvp(f, (s,), (1.0,))[1])(t)


def _reverse_over_reverse(f: Function, t: float) -> Any:
    return adbc.grad(adbc.grad(f))(t)


WAYS: tuple[Callable[[Function, float], Any], ...] = (
    _forward_over_forward,
    _forward_over_reverse,
    _reverse_over_forward,
    _reverse_over_reverse,
)


def along(program: Program, args: list[Any], direction: list[Any]) -> Function:
    """The sum of what the function of `program` gives, by how far its arguments move in `direction`."""
    function = program.function

    def f(t: float) -> float:
        moved = []
        for x, d in zip(args, direction, strict=True):
            moved.append([a + t * b for a, b in zip(x, d, strict=True)] if isinstance(x, list) else x + t * d)
        value = function(*tuple(moved))
        total = 0.0 * t
        for part in value if isinstance(value, tuple) else (value,):
            total += part
        for part in moved[-1]:
            total += part
        return total

    return f


def check_second(program: Program) -> str:
    """Check the second derivative by one input; whether it is right, refused, or not there: "raises"."""
    args = inputs(program, 0)
    expected = outcome(program.function, args)
    if expected[0] != "value":
        return "raises"
    rng = random.Random(program.seed)
    direction = [
        [rng.uniform(-1.0, 1.0) for _ in x] if isinstance(x, list) else rng.uniform(-1.0, 1.0) for x in args
    ]
    f = along(program, args, direction)
    first = [adbc.jvp(f, (h,), (1.0,))[1] for h in (-STEP, STEP)]
    difference = (first[1] - first[0]) / (2 * STEP)
    size = max(1.0, abs(difference), *map(abs, first), *map(abs, flat(expected[1])))
    try:
        found = [(way.__name__, way(f, 0.0)) for way in WAYS]
    except UnsupportedError:
        return "refused"
    for name, second in found:
        assert abs(second - found[0][1]) <= 1e-9 * size, f"{name[1:]}: {found}"
        assert abs(second - difference) <= 1e-4 * size, f"{name[1:]} {second}, difference {difference}"
    return "right"
