"""Frozen dataclasses and named tuples that are made with keywords, in any order."""

from __future__ import annotations

import cmath
import dataclasses
from typing import Any, NamedTuple

import pytest

import adbc
from adbc.testing import test_rule as check_rule


@dataclasses.dataclass(frozen=True)
class Pose:
    x: float
    y: float
    heading: float = 0.5


class Ray(NamedTuple):
    start: float
    slope: float = 0.25


def made_by_name(x: float, y: float) -> Any:
    total, makers = 0.0, [Pose, Ray]
    pose = makers[0](heading=x * y, x=x, y=y * y)
    ray = makers[1](slope=pose.heading, start=y)
    total += makers[0](x, heading=y, y=pose.y).y * ray.slope - ray.start
    total += makers[0](y=x, x=y).heading * makers[1](start=x).start  # what is left out has its default
    try:
        makers[0](x, z=y)
    except TypeError:
        total += pose.x
    return total + dataclasses.replace(pose, y=x, x=y).heading


def by_complex_numbers(x: float, y: float) -> Any:
    values = [x, 1j * y, x + 0j]
    total = values[0] * values[1] + 2.0 * values[2] - x / values[1]
    total = total * cmath.exp(values[1]) ** 2 + values[2] * 0.0 + values[1] * 0j
    return abs(total) + getattr(total, "real") * x  # noqa: B009  # as it is asked for


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic"])
@pytest.mark.parametrize("function", [made_by_name, by_complex_numbers], ids=lambda f: f.__name__)
def test_both_modes(function: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            check_rule(function, 0.7, 1.3)
