"""Keys that change something later than when they are first asked are refused; those whose code is seen to
change nothing are not looked at, however many there are."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime.calls import foreign
from adbc.runtime.calls.quiet_keys import are_quiet, classes_in
from adbc.testing import test_rule as check_rule


class Named:
    def __init__(self, name: Any) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.key() == other.key()

    def key(self) -> Any:
        return (self.name, self.kind)

    @property
    def kind(self) -> str:
        return "named"


@dataclasses.dataclass(frozen=True, order=True)
class Pair:
    a: Any
    b: Any


class CountsLater(Named):
    counts = False
    count = 0

    def __hash__(self) -> int:
        if self.counts:
            self.count += 1
        return 3

    __eq__ = Named.__eq__


class CountsComparisons(Named):
    count = 0

    def __eq__(self, other: object) -> bool:
        self.count += 1
        return isinstance(other, Named) and self.name == other.name

    __hash__ = Named.__hash__


class CountsInClass(Named):
    count = 0

    def __hash__(self) -> int:
        CountsInClass.count += 1
        return 3

    __eq__ = Named.__eq__


class Logging(Named):
    log: list[int] = []  # noqa: RUF012

    def __eq__(self, other: object) -> bool:
        return self.log.append(1) is None

    __hash__ = Named.__hash__


class KeepsHash(Named):
    hash: int | None = None

    def __hash__(self) -> int:
        if self.hash is None:
            self.hash = hash(self.name)
        return self.hash

    __eq__ = Named.__eq__


@functools.total_ordering
class Ordered(Named):
    def __lt__(self, other: Named) -> bool:
        return bool(self.name < other.name)


def later(x: Any) -> Any:
    key = CountsLater(1)
    d = {key: x}
    key.counts = True
    d[key] = x * 2.0
    return d[key] * key.count


def among_many(x: Any) -> Any:
    d = {CountsComparisons(i): x * i for i in range(1200)}
    key = list(d)[5]
    return d[CountsComparisons(5)] * key.count


def in_class(x: Any) -> Any:
    CountsInClass.count = 0
    d = {CountsInClass(1): x}
    d[CountsInClass(1)] = 2.0 * x
    return x * CountsInClass.count


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", [later, among_many, in_class])
def test_keys_that_change_something_later(f: Callable[[Any], Any], speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for run in (lambda: adbc.grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
            with pytest.raises(UnsupportedError, match="changes something") as caught:
                run()
            assert __file__ in str(caught.value)


@pytest.mark.parametrize("cls", [Named, KeepsHash, Ordered, lambda i: Pair(i, "x")])
def test_keys_that_change_nothing(cls: Callable[[int], Any]) -> None:
    def f(x: Any) -> Any:
        d = {cls(i): x * i for i in range(4)}
        d[cls(2)] = x * x
        d.pop(cls(1))
        return sum(d.values()) + d[cls(3)]

    check_rule(f, 1.5)


class Place:
    """A vector: its arithmetic makes others, of which hashes and comparisons know nothing."""

    made = 0

    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y
        Place.made += 1

    def __add__(self, other: Place) -> Place:
        return Place(self.x + other.x, self.y + other.y)

    def __neg__(self) -> Place:
        return Place(-self.x, -self.y)

    def __abs__(self) -> float:
        Place.made += 1
        return math.hypot(self.x, self.y)

    def __iter__(self) -> Iterator[int]:
        yield self.x
        yield self.y

    def __eq__(self, other: object) -> bool:
        return type(other) is Place and (self.x, self.y) == (other.x, other.y)

    def __hash__(self) -> int:
        return hash((self.x, self.y))


class Summing(Place):
    """Its comparison adds, and so changes something."""

    def __eq__(self, other: object) -> bool:
        return hash(self + other) == 0  # type: ignore[operator]

    __hash__ = Place.__hash__


class Negating(Place):
    def __hash__(self) -> int:
        return hash((-self).x)


class Measuring(Place):
    def __hash__(self) -> int:
        return hash(abs(self))


class Walking(Place):
    def __hash__(self) -> int:
        return hash(tuple(self))


class Searching(Place):
    def __hash__(self) -> int:
        return hash(1 in self)


def test_only_operators_that_are_used_are_asked_for() -> None:
    def quiet(key: Any) -> bool:
        classes = classes_in([key])
        return classes is not None and are_quiet(classes)

    assert quiet(Place(1, 2))
    for cls in (Summing, Negating, Measuring, Walking, Searching):
        assert not quiet(cls(1, 2)), cls


def test_what_is_seen_of_classes() -> None:
    def quiet(*keys: Any) -> bool:
        classes = classes_in(keys)
        return classes is not None and are_quiet(classes)

    assert quiet(Named("a"), Pair(1, Named(2)), "text", (1, Pair(2, 3)))
    for key in (
        CountsLater(1),
        CountsComparisons(1),
        CountsInClass(1),
        Logging(1),
        Pair(1, Logging(1)),
        KeepsHash(1),
    ):
        assert not quiet(key)
    assert not quiet(Named([1]))  # who knows what comes into a list


def test_what_is_seen_to_change_nothing_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "watched", None)

    def f(x: Any) -> Any:
        d = {Named(i): x * i for i in range(10)}
        return d[Named(7)]

    assert adbc.grad(f)(1.5) == 7.0

    def around(x: Any) -> Any:
        d = {Place(i, 1): x * i for i in range(10)}
        return d[Place(2, 0) + Place(1, 1)] * x

    assert adbc.value_and_grad(around)(1.5) == (6.75, 9.0)
    assert adbc.jvp(around, (1.5,), (1.0,)) == (6.75, 9.0)


def test_too_many_keys_from_outside_are_refused() -> None:
    d = {KeepsHash(i): 1.0 for i in range(1200)}
    with pytest.raises(UnsupportedError, match="of 1200 keys"):
        adbc.grad(lambda x: d[KeepsHash(3)] * x)(1.5)


def test_classes_of_libraries_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    watched = foreign.watched

    def counting(*args: Any, **kwargs: Any) -> Any:
        looked.append(args)
        return watched(*args, **kwargs)

    monkeypatch.setattr(foreign, "watched", counting)

    def f(x: Any) -> Any:
        d: dict[Any, Any] = {}
        for i in range(12):
            d[Fraction(i % 4, 3), "m"] = x * i
        return sum(d[Fraction(i, 3), "m"] for i in range(4)) * x

    assert adbc.value_and_grad(f)(1.5) == (85.5, 114.0)
    assert len(looked) <= 2
    looked.clear()
    assert adbc.jvp(f, (1.5,), (1.0,)) == (85.5, 114.0)
    assert len(looked) <= 2


def test_classes_of_the_users_are_looked_at_beside_those_of_libraries() -> None:
    def f(x: Any) -> Any:
        d = {Fraction(i, 3): x for i in range(4)}
        key = CountsLater(1)
        d[key] = x  # type: ignore[index]
        key.counts = True
        return d[key] * key.count  # type: ignore[index]

    with pytest.raises(UnsupportedError, match="changes something"):
        adbc.grad(f)(1.5)
