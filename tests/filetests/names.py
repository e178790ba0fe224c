"""Classes and functions that the graphs in ``*.ir`` files name."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import typing
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from typing import NamedTuple

__all__ = ["Counter", "defaultdict"]  # types of values in the graphs name it


class Particle:
    """An ordinary class: calling it is an instance and its ``__init__``."""

    def __init__(self, x: float, v: float) -> None:
        self.x = x
        self.v = v

    def step(self, h: float) -> None:
        self.x = self.x + h * self.v

    def energy(self) -> float:
        return 0.5 * self.v * self.v


class Timer:
    """A context manager."""

    def __enter__(self) -> Timer:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        pass


class Row(list[float]):
    """A class of lists."""

    def total(self) -> float:
        return sum(self)

    def push(self, value: float) -> None:
        super().append(value)


class Settings(dict[str, float]):
    """A class of dicts, the items of which are attributes as well."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__  # type: ignore[assignment]


class Direction(tuple[float, ...]):
    """A class of tuples."""

    __slots__ = ()

    def scaled(self, k: float) -> object:
        return k


class Bag:
    """A class with a length."""

    def __len__(self) -> int:
        return 3


class Vector:
    """A class with operators, which may leave the answer to the other operand, and a property."""

    def __init__(self, x: float) -> None:
        self.x = x

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x)

    def __mul__(self, other: object) -> object:
        return Vector(self.x * other) if isinstance(other, float) else NotImplemented

    def __lt__(self, other: object) -> object:
        return self.x < other.x if isinstance(other, Vector) else NotImplemented

    def __gt__(self, other: object) -> object:
        return self.x > other.x if isinstance(other, Vector) else NotImplemented

    def __rmul__(self, other: float) -> Vector:
        return Vector(other * self.x)

    def __call__(self, x: float) -> float:
        return self.x * x

    @property
    def norm(self) -> float:
        return abs(self.x)


class Polygon:
    """A class whose instances are iterated over as a list of theirs is."""

    def __init__(self, corners: list[float]) -> None:
        self.corners = corners

    def __iter__(self) -> Iterator[float]:
        return iter(self.corners)


class Point:
    """A class that keeps what it is given, with functions that are called through it, in slots."""

    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x = x
        self.y = y

    @classmethod
    def on_axis(cls, x: float) -> Point:
        return cls(x, 0.0)

    @staticmethod
    def of(x: float, y: float) -> Point:
        return Point(x, y)

    def scaled(self, k: float) -> Point:
        return Point(k * self.x, k * self.y)

    def __lt__(self, other: Point) -> bool:
        return self.x < other.x


class Weighted(Point):
    """A class that is derived from another, with a default."""

    weight = 1.0

    def scaled(self, k: float) -> Point:
        return super().scaled(2.0 * k)


class Doubled:
    """A class that computes what it keeps."""

    def __init__(self, x: float) -> None:
        self.x = 2.0 * x


@dataclasses.dataclass(frozen=True)
class Pair:
    """A record."""

    first: float
    second: float = 0.5

    def total(self) -> float:
        return self.first + self.second


class Span(typing.NamedTuple):
    """A named tuple."""

    low: float
    high: float


class Counted:
    """A class that does more than to initialise what it makes."""

    made = 0

    def __new__(cls, x: float) -> Counted:
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, x: float) -> None:
        self.x = x


def scaled(k: float, v: float) -> float:
    return k * v


def damped(t: float, rate: float, *, gain: float = 2.0) -> float:
    return gain * t - rate


def chosen(x: float) -> float:
    if x > 0.0:
        return x
    return -x


def looping(x: float) -> float:
    while x < 100.0:
        x = x * x
    return x


def halves(values: list[float]) -> Iterator[float]:
    for value in values:
        yield value / 2.0


def received(x: float) -> Generator[float, float | None, None]:
    given = yield x
    yield x if given is None else given + x * 1.25


class Place(NamedTuple):
    a: float
    b: float


Place.__new__.__module__ = Place._replace.__module__ = __name__  # so that graphs can name them


@contextlib.contextmanager
def doubled(x: float) -> Iterator[float]:
    yield x * 2.0


def both(x: float) -> Iterator[float]:
    yield x
    yield -x


def and_more(values: list[float], x: float) -> Iterator[float]:
    yield from values
    yield from both(x)


def guarded(x: float) -> Iterator[float]:
    """A generator that has something to do when it is closed."""
    try:
        yield x
    finally:
        print("closed")


def walk(x: float) -> object:
    """What gives an object whose ``__iter__`` is such a generator."""
    return x


def plain(x: float) -> Iterator[float]:
    """A generator that has not."""
    yield x


def consumed(items: Iterator[float]) -> float:
    total = 0.0
    for x in items:
        total = total + x
    return total


def again(*arguments: object) -> object:
    """Stands for a function that computes once more, with care, what has come out as NaN."""
    return arguments


def rest(*values: object) -> object:
    """What a function goes on with where a guess was wrong."""
    return values


class Rest:
    """What a function goes on with is told by its class."""

    is_rest = True
    __name__ = "left"  # texts of graphs name an object whose class has this

    def __call__(self, *values: object) -> object:
        return values


left = Rest()


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1
    GREEN = 2
