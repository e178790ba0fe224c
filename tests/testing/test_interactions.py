"""`test_type`: what programs do with any value, for a value; a kind that is wrong is found."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.testing.interactions as interactions
from adbc.testing import has_equal_data, test_data, test_tangent, test_type

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Spring:
    k: float
    parts: list[float]


@pytest.mark.parametrize(
    "x",
    [
        1.5,
        2,
        "text",
        (1.0, [2.0]),
        [1.0, (2.0, 3)],
        {"a": 1.0},
        np.ones(2),
        Point(1.0, 2.0),
        Spring(1.0, [2.0]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_values_of_all_kinds(x: Any) -> None:
    test_type(x)
    test_tangent(x)
    test_data(x)
    assert has_equal_data(x, x)


class Wrong:
    """Immutable, and its kind forgets one of its numbers."""

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b


def test_a_wrong_kind_is_found() -> None:
    adbc.register_tangent(
        Wrong,
        adbc.Record(parts=lambda w: {"a": w.a}, rebuild=lambda w, parts: Wrong(w.a, w.b)),
    )
    with pytest.raises(AssertionError):
        test_data(Wrong(1.0, 2.0))


def doubled(x: float) -> float:
    return x + x


def test_what_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactions, "_interactions", lambda x: [("doubling", doubled)])
    test_type(1.5)
    mine = adbc.Layer()
    adbc.scalar_rule(doubled, table=mine)([lambda out, x: 3.0])
    with adbc.use(table=mine), pytest.raises(AssertionError, match=r"float, doubling: .*differences"):
        test_type(1.5)
