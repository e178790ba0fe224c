"""Special methods of a user's classes are asked as often, and in the order, as CPython's C code asks them."""

from __future__ import annotations

import bisect
import collections
import collections.abc
import dataclasses
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError

ASKED: list[str] = []


class Float(float):
    """C code that takes a float does not ask for ``__float__``, but `float` and NumPy do."""

    def __float__(self) -> float:
        ASKED.append("float")
        return float.__add__(self, 1.0)

    def __radd__(self, other: float) -> float:
        ASKED.append("radd")
        return float.__add__(self, other) * 3.0

    def __rmul__(self, other: float) -> float:
        ASKED.append("rmul")
        return float.__mul__(self, other) * 3.0


class Integer(int):
    """A logarithm is that of the integer; other functions ask for a float."""

    def __float__(self) -> float:
        ASKED.append("float")
        return 3.5

    def __neg__(self) -> int:
        ASKED.append("neg")
        return 3

    def __eq__(self, other: object) -> bool:
        ASKED.append("eq")
        return True

    def __hash__(self) -> int:
        return 0


class Place:
    """An object that stands for an index only."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __index__(self) -> int:
        ASKED.append("index")
        return self.index


class Elements:
    """What the sequences below answer for themselves."""

    base: Any = list

    def __iter__(self) -> Iterator[Any]:
        ASKED.append("iter")
        for x in self.base.__iter__(self):
            yield x * 2.0

    def __getitem__(self, where: Any) -> Any:
        ASKED.append("getitem")
        return self.base.__getitem__(self, where) * 3.0

    def __len__(self) -> int:
        ASKED.append("len")
        return self.base.__len__(self) + 1  # type: ignore[no-any-return]


class List(Elements, list[float]):  # type: ignore[misc]  # each its own
    base = list


class Tuple(Elements, tuple[float, ...]):  # type: ignore[misc]
    base = tuple


class Deque(Elements, collections.deque[float]):  # type: ignore[misc]
    base = collections.deque


class Sized(list[float]):
    def __len__(self) -> int:
        ASKED.append("len")
        return list.__len__(self) + 1


class InSequence(collections.abc.MutableSequence[float]):
    def __init__(self, values: Iterable[float]) -> None:
        self.values = list(values)

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return object.__getattribute__(self, name)

    def __getitem__(self, index: Any) -> Any:
        ASKED.append("getitem")
        return self.values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.values[index]

    def insert(self, index: int, value: float) -> None:
        ASKED.append("insert")
        self.values.insert(index, value)

    def __len__(self) -> int:
        ASKED.append("len")
        return len(self.values)


class Items(dict[str, float]):
    """C code that copies a dict asks for none of these, as long as ``__iter__`` is that of dict."""

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return dict.__getattribute__(self, name)

    def __getitem__(self, key: str) -> float:
        ASKED.append("getitem")
        return dict.__getitem__(self, key) * 3.0

    def keys(self) -> Any:
        ASKED.append("keys")
        return [k for k in dict.keys(self) if k != "z"]


class Iterated(Items):
    def __iter__(self) -> Iterator[str]:
        ASKED.append("iter")
        return iter([k for k in dict.keys(self) if k != "z"])


class Defaults(collections.defaultdict[str, float]):
    def __getitem__(self, key: str) -> float:
        ASKED.append("getitem")
        return dict.__getitem__(self, key) * 3.0


class InMapping(collections.abc.Mapping[str, float]):
    def __init__(self, x: float) -> None:
        self.x = x

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return object.__getattribute__(self, name)

    def __getitem__(self, key: str) -> float:
        ASKED.append("getitem")
        return self.x * len(key)

    def __iter__(self) -> Iterator[str]:
        ASKED.append("iter")
        return iter(["a", "bc"])

    def __len__(self) -> int:
        return 2


class Called:
    """A hash that nobody needs to call an instance."""

    def __init__(self, x: float) -> None:
        self.x = x

    def __hash__(self) -> int:
        ASKED.append("hash")
        return 1

    def __call__(self, y: float) -> float:
        return self.x * y


class Added:
    def __init__(self, x: float) -> None:
        self.x = x

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return object.__getattribute__(self, name)

    def __add__(self, other: float) -> Added:
        ASKED.append("add")
        return Added(self.x * other)


@dataclasses.dataclass(frozen=True)
class Record:
    a: float
    b: float = 1.0

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return object.__getattribute__(self, name)


def weighted(values: Iterable[float]) -> float:
    total, weight = 0.0, 1.0
    for x in values:
        total += x * weight
        weight += 1.0
    return total


def three(x: float) -> list[float]:
    return [x, 1.0, 2.0 * x]


def items(x: float) -> dict[str, float]:
    return {"a": x, "b": x * x, "z": 3.0}


def by_name(**named: float) -> float:
    return weighted(named.values()) + len(named)


def rested(o: Any) -> float:
    match o:
        case {"a": a, **rest}:
            return a * weighted(rest.values())  # type: ignore[no-any-return]
    return 0.0


def updated(o: Any) -> float:
    d = {"c": 1.0}
    d.update(o)
    return weighted(d.values())


def rotated(x: float, by: Any) -> float:
    d = collections.deque([x, x * x, 2.0])
    d.rotate(by)
    return weighted(d)


def removed(x: float) -> float:
    values = List(three(x))
    values.remove(1.0)
    return weighted(list.__iter__(values))


def inserted(x: float) -> float:
    values = InSequence([1.0, 2.0])
    bisect.insort(values, x)
    return weighted(values)


def over(values: list[float], times: Any) -> float:
    d = Deque(values)
    d *= times
    return weighted(collections.deque.__iter__(d))


PROGRAMS: dict[str, Callable[[float], float]] = {
    "sin": lambda x: math.sin(Float(x)) * float(Float(x)),
    "two": lambda x: math.atan2(Float(x), x * x) + math.pow(Float(x), 2.0) + math.fmod(5.0, Float(x)),
    "hypot": lambda x: math.hypot(Float(x), x * x, Float(2.0)) + math.ldexp(Float(x), 2),
    "log": lambda x: math.log(Float(x)) + math.log(x, Integer(2)) + x * math.log2(Integer(8)),
    "parts": lambda x: math.frexp(Integer(2))[0] * x + math.modf(Integer(2))[0] * math.frexp(Float(x))[0],
    "told": lambda x: (
        x * math.isnan(Integer(2)) + x * math.isclose(Integer(2), 3.5) + math.sin(Integer(2)) * x
    ),
    "fsum": lambda x: math.fsum([Float(x), x * x]) + statistics.fmean([Float(x), 1.0]),
    "dist": lambda x: math.dist(Tuple(three(x)), [x * x, 2.0, Float(3.0)]),
    "numpy float": lambda x: float((np.float64(x) + Float(x)) * Float(2.0)),
    "count": lambda x: x * List(three(x)).count(1.0) + x * x * Tuple(three(x)).count(1.0),
    "index": lambda x: x * List(three(x)).index(1.0) + x * x * Tuple(three(x)).index(1.0),
    "remove": removed,
    "islice": lambda x: weighted(itertools.islice(three(x), Place(1), Place(3))),
    "islice of an integer": lambda x: weighted(itertools.islice(three(x), Integer(2))),
    "islice kept": lambda x: weighted([*map(math.sin, itertools.islice(iter(three(x)), Place(2)))]),
    "rotate": lambda x: rotated(x, Integer(1)) + rotated(x * x, Place(-1)),
    "times": lambda x: over(three(x), 2) + over([x], 3),
    "deque": lambda x: weighted(Deque(three(x)) * 2),
    "mean": lambda x: statistics.mean(List(three(x))) + statistics.mean(Sized(three(x))),
    "harmonic": lambda x: (
        statistics.harmonic_mean(Sized(three(x))) * statistics.harmonic_mean(List(three(x)))
    ),
    "spread": lambda x: statistics.variance(Tuple(three(x))) + statistics.pstdev(InSequence(three(x))),
    "mode": lambda x: statistics.mode(Sized([x, x, 1.0])),
    "insort": inserted,
    "dict": lambda x: weighted(dict(Items(items(x))).values()) + weighted(dict(Iterated(items(x))).values()),
    "display": lambda x: weighted({**Items(items(x)), **Iterated(items(x))}.values()),
    "display of a mapping": lambda x: weighted({**InMapping(x), "k": x}.values()),
    "by name": lambda x: by_name(**Items(items(x))) * by_name(**Iterated(items(x))),
    "update": lambda x: updated(Items(items(x))) * updated(Iterated(items(x))),
    "rest": lambda x: rested(Iterated(items(x))) + rested(InMapping(x)),
    "ordered": lambda x: weighted(collections.OrderedDict(Items(items(x))).values()) * x,
    "ordered mapping": lambda x: weighted(collections.OrderedDict(InMapping(x)).values()) * x,
    "default": lambda x: weighted(collections.defaultdict(float, Items(items(x))).values()),
    "default copied": lambda x: weighted(Defaults(float, items(x)).copy().values()),
    "past keys": lambda x: x * len(list(Items(items(x)).keys())) + x * len(dict.keys(Items(items(x)))),
    "called": lambda x: Called(x)(x * x),
    "sum": lambda x: sum([x, 2.0], Added(x)).x,
    "record": lambda x: dataclasses.replace(Record(x), b=x * x).b * Record(x).a,
}


@pytest.mark.parametrize("config", [{}, {"warm_after": 0, "speculation": "always"}], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_asked_as_in_a_plain_run(name: str, config: dict[str, Any]) -> None:
    f = PROGRAMS[name]

    def counted(x: float) -> float:
        before = len(ASKED)
        value = f(x)
        return value + 1000.0 * (len(ASKED) - before)

    x, step = 1.3, 1e-6
    slope = (f(x + step) - f(x - step)) / (2 * step)
    ASKED.clear()
    value = counted(x)
    asked = [*ASKED]
    with adbc.use(adbc.Config(**config)):
        for _ in range(2):
            ASKED.clear()
            assert adbc.jvp(counted, (x,), (1.0,)) == (pytest.approx(value), pytest.approx(slope, abs=1e-6))
            assert asked == ASKED, f"{ASKED} in place of {asked}"
            ASKED.clear()
            assert adbc.value_and_grad(counted)(x) == (
                pytest.approx(value),
                pytest.approx(slope, abs=1e-6),
            )


class Doubled(float):
    def __float__(self) -> float:
        return float.__mul__(self, 2.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(np.array(List(three(x))).sum()),
        lambda x: float(np.sum(Tuple(three(x)))),
        lambda x: float(np.sum([Sized(three(x))])),
        lambda x: float(np.array([Doubled(x), 1.0]).sum()),
    ],
)
def test_arrays_of_sequences_that_answer_for_themselves_are_refused(f: Callable[[float], float]) -> None:
    with pytest.raises(UnsupportedError, match=r"becomes a(n array| part of an array)"):
        adbc.jvp(f, (1.3,), (1.0,))
    with pytest.raises(UnsupportedError, match=r"becomes a(n array| part of an array)"):
        adbc.value_and_grad(f)(1.3)
