"""Attributes are asked for as often as in a plain run where a class answers for them itself, in Python."""

from __future__ import annotations

import collections
import collections.abc
import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc

ASKED: list[str] = []


class Tells:
    """What is asked of an instance is noted."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return object.__getattribute__(self, name)


class Telling(Tells):
    def __init__(self, v: float) -> None:
        self.v = v
        self.w = [v]


class OwnCopies(Telling):
    def __copy__(self) -> OwnCopies:
        return OwnCopies(self.v)

    def __deepcopy__(self, memo: Any) -> list[float]:
        return [self.v]


class OwnState(Telling):
    def __getstate__(self) -> Any:
        return {"v": self.v * 2.0}


class InSlots(Tells):
    __slots__ = ("left", "v", "w")

    def __init__(self, v: float) -> None:
        self.v = v
        self.w = [v]


class Keyed(Telling):
    def keys(self) -> list[str]:
        return ["a", "b"]

    def __getitem__(self, key: str) -> float:
        return self.v * len(key)


class InMapping(Tells, collections.abc.Mapping[str, float]):
    def __init__(self, v: float) -> None:
        self.v = v

    def __getitem__(self, key: str) -> float:
        return self.v

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[str]:
        return iter("ab")


class OwnGet(dict[str, float]):
    """What a pattern finds is what ``get`` gives."""

    def get(self, key: str, default: Any = None) -> Any:
        ASKED.append("get")
        return self["a"] * 2.0 if key == "b" else super().get(key, default)


def matched_twice(o: Any) -> float:
    match o:
        case {"a": float(a), "c": _}:
            return a
        case {"a": a, "b": b}:
            return a * b  # type: ignore[no-any-return]
    return 0.0


def matched(o: Any) -> float:
    match o:
        case {"a": a}:
            return a  # type: ignore[no-any-return]
    return 0.0


def by_name(**named: float) -> float:
    return named["a"] + len(named)


def updated(o: Any) -> float:
    d = {"c": 1.0}
    d.update(o)
    return sum(d.values())


PROGRAMS: dict[str, Callable[[float], float]] = {
    "copy": lambda x: copy.copy(Telling(x)).v * x,
    "deep copy": lambda x: copy.deepcopy(Telling(x)).w[0] * x,
    "in a list": lambda x: copy.deepcopy([Telling(x)])[0].v * x,
    "own copies": lambda x: copy.copy(OwnCopies(x)).v * copy.deepcopy([OwnCopies(x)])[0][0],
    "own state": lambda x: copy.copy(OwnState(x)).v * x,
    "in slots": lambda x: copy.copy(InSlots(x)).v * copy.deepcopy(InSlots(x)).w[0],
    "dict": lambda x: dict(Keyed(x))["a"] * x,
    "by name": lambda x: by_name(**Keyed(x)) * x,
    "updated": lambda x: updated(Keyed(x)) * x,
    "mapping": lambda x: dict(InMapping(x))["b"] + by_name(**InMapping(x)),
    "own get": lambda x: matched_twice(OwnGet(a=x, z=1.0)),
    "default": lambda x: matched_twice(collections.defaultdict(Telling, a=x, z=1.0)) + Telling(x).v,
    "pattern": lambda x: matched(InMapping(x)) * x,
}


@pytest.mark.parametrize("config", [{}, {"warm_after": 0, "speculation": "always"}], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_asked_as_in_a_plain_run(name: str, config: dict[str, Any]) -> None:
    f = PROGRAMS[name]
    x, step = 1.3, 1e-6
    slope = (f(x + step) - f(x - step)) / (2 * step)
    ASKED.clear()
    value = f(x)
    asked = [*ASKED]
    assert asked
    with adbc.use(adbc.Config(**config)):
        for _ in range(3):
            ASKED.clear()
            assert adbc.jvp(f, (x,), (1.0,)) == (pytest.approx(value), pytest.approx(slope))
            assert asked == ASKED
            ASKED.clear()
            assert adbc.value_and_grad(f)(x)[1] == pytest.approx(slope)


def test_what_is_no_mapping_is_named() -> None:
    def f(x: float) -> float:
        return by_name(**Telling(x))  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"argument after \*\* must be a mapping, not Telling"):
        adbc.grad(f)(1.3)
