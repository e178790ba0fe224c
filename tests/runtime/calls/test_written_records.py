"""Attributes of frozen dataclasses and named tuples that are set past what makes these immutable."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.errors import ConstWriteError, UnsupportedError
from tests.programs.checks import check_gradient


@dataclasses.dataclass(frozen=True)
class Place:
    latitude: float
    radius = 3.5

    def height(self) -> float:
        return self.radius * self.latitude


class Pair(collections.namedtuple("Pair", "a b")):
    pass


def over_a_field(x: float) -> float:
    place = Place(x)
    object.__setattr__(place, "latitude", x * x)
    return place.latitude


def constant_over_a_field(x: float) -> float:
    place = Place(x)
    object.__setattr__(place, "latitude", 2.0)
    return place.latitude * x


def over_a_constant_of_the_class(x: float) -> float:
    place = Place(x)
    object.__setattr__(place, "radius", x * x)
    return place.height()


def after_a_field_is_deleted(x: float) -> float:
    place = Place(x)
    before = place.latitude
    object.__delattr__(place, "latitude")
    object.__setattr__(place, "latitude", x * x)
    return place.latitude + before


@pytest.mark.parametrize(
    "program", [over_a_field, constant_over_a_field, over_a_constant_of_the_class, after_a_field_is_deleted]
)
def test_what_would_be_lost_is_refused(program: Callable[[float], float], speculation: str) -> None:
    for _ in range(3):
        with pytest.raises(UnsupportedError, match="of a Place is set") as refused:
            adbc.grad(program)(2.0)
        assert __file__ in str(refused.value)
        with pytest.raises(UnsupportedError, match="of a Place is set"):
            adbc.jvp(program, (2.0,), (1.0,))


def constant_beside_the_fields(x: float) -> float:
    place = Place(x)
    object.__setattr__(place, "note", "a hill")
    return place.height() * len(place.note)  # type: ignore[attr-defined]


def beside_a_named_tuple(x: float) -> float:
    pair = Pair(x, 2.0)
    pair.c = x * x
    pair.d = 3.0
    return float(pair.a * pair.c * pair.d)


@pytest.mark.parametrize("program", [constant_beside_the_fields, beside_a_named_tuple])
def test_what_can_be_followed_is_right(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8):
        check_gradient(program, at)


def in_the_dictionary(x: float) -> float:
    place = Place(x)
    vars(place)["latitude"] = x * x * x
    return place.height()


def test_its_dictionary_is_no_place_for_derivatives(speculation: str) -> None:
    with pytest.raises(ConstWriteError, match="written into a constant dict"):
        adbc.grad(in_the_dictionary)(2.0)
