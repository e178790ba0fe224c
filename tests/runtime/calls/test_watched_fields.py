"""Descriptors that define one half of access, and functions that are found in their own defaults."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION


class Watched:
    """A field whose writes drop what was computed from it, as graph libraries keep their adjacency."""

    def __set__(self, obj: Any, value: Any) -> None:
        fields = obj.__dict__
        fields["rows"] = value
        if "total" in fields:
            del fields["total"]


class Kept:
    """A field that cannot be deleted, and is read by way of the descriptor."""

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        return 2.0 * obj.__dict__["kept"]

    def __delete__(self, obj: Any) -> None:
        raise AttributeError("it stays")


class Table:
    rows = Watched()
    kept = Kept()

    def __init__(self, x: float) -> None:
        self.rows = [x, 2.0 * x]

    @functools.cached_property
    def total(self) -> float:
        return sum(self.rows)


def cached_and_dropped(x: float) -> float:
    table = Table(x)
    first = table.total
    table.rows = [x * x]
    return first + 10.0 * table.total


def read_by_name(x: float) -> Any:
    table = Table(x)
    return getattr(table, "rows")[1] * table.__dict__["rows"][0]  # noqa: B009  # that is what is tested


def without_a_value(x: float) -> float:
    table = Table(x)
    del table.__dict__["rows"]
    return x * (type(table.rows) is Watched)


def deleting_counts_as_data(x: float) -> float:
    table = Table(x)
    table.__dict__["kept"] = x
    return table.kept * x


def scaled(x: float, *, again: Any = None, k: float = 3.0) -> float:
    return k * x


scaled.__kwdefaults__ = {"again": scaled, "k": 3.0}


def in_its_own_defaults(x: float) -> float:
    return scaled(x) * x


PROGRAMS: list[tuple[Callable[[float], Any], float]] = [
    (cached_and_dropped, 3.0 + 20.0 * 1.5), (read_by_name, 4.0 * 1.5), (without_a_value, 1.0),
    (deleting_counts_as_data, 4.0 * 1.5), (in_its_own_defaults, 6.0 * 1.5),
]  # fmt: skip


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize(("f", "derivative"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_what_an_instance_has_is_read_as_by_the_interpreter(
    f: Callable[[float], Any], derivative: float, speculation: str
) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            assert adbc.value_and_grad(f)(1.5) == pytest.approx((f(1.5), derivative))
            assert adbc.jvp(f, (1.5,), (1.0,)) == pytest.approx((f(1.5), derivative))
