"""Ordinary programs of three numbers, in a list or an array, whose second derivatives are taken in all ways.

They go through iterators, print, raise and catch, and make objects, as programs do that were written for no
one in particular.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import enum
import heapq
import io
import itertools
import logging
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ITERATING: dict[str, Callable[[Any], Any]] = {}
PRINTING: dict[str, Callable[[Any], Any]] = {}
RAISING: dict[str, Callable[[Any], Any]] = {}
MAKING: dict[str, Callable[[Any], Any]] = {}

Form = Callable[[Any], Any]


def of(group: dict[str, Form]) -> Callable[[Form], Form]:
    def add(f: Form) -> Form:
        group[f.__name__] = f
        return f

    return add


def cube(v: Any) -> Any:
    return v * v * v


# -- iterators -----------------------------------------------------------------------------------------------


@of(ITERATING)
def backwards(x: Any) -> Any:
    s = 0.0
    for v in reversed(x):
        s = s * 0.5 + cube(v)
    return s


@of(ITERATING)
def strictly(x: Any) -> Any:
    s = 0.0
    for a, b in zip(x, x, strict=True):
        s = s * 0.5 + cube(a) * b
    return s


@of(ITERATING)
def counted_backwards(x: Any) -> Any:
    s = 0.0
    for i, v in enumerate(reversed(x), 1):
        s = s * 0.5 + i * cube(v)
    return s


@of(ITERATING)
def chained(x: Any) -> Any:
    s = 0.0
    for v in itertools.chain.from_iterable([x, x]):
        s = s * 0.5 + cube(v)
    return s


@of(ITERATING)
def grouped(x: Any) -> Any:
    s = 0.0
    for _, values in itertools.groupby(x, lambda v: bool(v > 0.0)):
        for v in values:
            s = s * 0.5 + cube(v)
    return s


@of(ITERATING)
def twice(x: Any) -> Any:
    a, b = itertools.tee(x)
    return sum(cube(p) * q for p, q in zip(a, b, strict=True))


@of(ITERATING)
def one_by_one(x: Any) -> Any:
    it = zip(x, x, strict=True)
    a, b = next(it)
    s = cube(a) * b
    try:
        while True:
            a, b = next(it)
            s = s * 0.5 + cube(a) * b
    except StopIteration:
        return s


@of(ITERATING)
def items(x: Any) -> Any:
    d = {i: (cube(v), v * v) for i, v in enumerate(x)}
    s = 0.0
    for k, (a, b) in d.items():
        s = s * 0.5 + k * a * b
    for a, b in d.values():
        s += a * b
    return s


@of(ITERATING)
def polynomials(x: Any) -> Any:
    p = np.poly1d([cube(v) for v in x])
    return p(0.7) * p.deriv()(0.3)


def _pairs(x: Any) -> Iterator[Any]:
    for i in range(len(x)):
        for j in range(i):
            yield i, x[i] * x[j]


def _rest(x: Any) -> Iterator[Any]:
    yield cube(x[0])
    if len(x) > 1:
        yield from _rest(x[1:])


def _running(scale: Any) -> Any:
    total = 0.0
    while True:
        v = yield total
        total = total * 0.5 + scale * v * v


@of(ITERATING)
def generators(x: Any) -> Any:
    it = iter(_pairs(x))
    s = next(it)[1]
    for i, v in it:
        s = s * 0.5 + i * cube(v)
    for v in _rest(x):
        s += v * v
    return s


def _in_turn(*streams: Any, weight: Any, **named: Any) -> Iterator[Any]:
    """The elements of all `streams` and the `named` ones, while there are any."""
    waiting = [iter(stream) for stream in [*streams, *named.values()]]
    while waiting:
        stream = waiting.pop(0)
        for v in stream:
            yield cube(v) * weight
            waiting.append(stream)
            break


@of(ITERATING)
def in_turn(x: Any) -> Any:
    s = 0.0
    for v in _in_turn([x[0], x[1] * x[2]], [x[2]], weight=x[1], more=(x[0] * x[1],)):
        s = s * x[0] + v
    return s + sum(_in_turn(weight=x[0])) + sum(_in_turn([x[1]], weight=x[1]))


@of(ITERATING)
def merged(x: Any) -> Any:
    s = 0.0
    for v in heapq.merge([x[0] * x[1], 9.0], [cube(x[2])], []):
        s = s * x[0] + v * v
    return s


@of(ITERATING)
def sent(x: Any) -> Any:
    average = _running(x[0])
    next(average)
    return sum([average.send(v) * v for v in x])


@of(ITERATING)
def closed_early(x: Any) -> Any:
    left = [0.0]

    def values() -> Iterator[Any]:
        try:
            for v in x:
                yield cube(v)
        finally:
            left[0] += x[0] * x[1]

    it = values()
    first = next(it)
    it.close()  # type: ignore[attr-defined]  # a generator
    return first * left[0]


# -- text that is printed ------------------------------------------------------------------------------------

SHOWN = io.StringIO()
LOG = logging.getLogger("tests.nested.ordinary")
LOG.addHandler(logging.StreamHandler(SHOWN))
LOG.propagate = False
LOG.setLevel(logging.INFO)


@of(PRINTING)
def printed(x: Any) -> Any:
    s = cube(x[0]) * x[1]
    print(f"{s:.3f}", s, x, file=SHOWN)
    return s * s


@of(PRINTING)
def logged(x: Any) -> Any:
    s = cube(x[0]) * x[1]
    LOG.info("value %s", s)
    LOG.info(f"value {s:.3e}")
    LOG.debug("not %g", s)
    return s * s


@of(PRINTING)
def formatted(x: Any) -> Any:
    s = cube(x[0]) * x[1]
    found = ["%g" % s, str(s), repr(x), format(s, ".3f"), f"{s:.2e}", str(round(float(s), 2))]  # noqa: UP031  # one way of several
    return s * s * len(found)


@of(PRINTING)
def labelled(x: Any) -> Any:
    weights = {f"w{i}": cube(v) for i, v in enumerate(x)}
    print(", ".join(f"{k}={v:.2f}" for k, v in weights.items()), file=SHOWN)
    return sum(weights.values()) ** 2


# -- exceptions and contexts ---------------------------------------------------------------------------------


class Stop(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__("stop")
        self.value = value


def _fails(values: list[Any], x: Any) -> None:
    values.append(cube(x[0]))
    raise KeyError(values[0] * x[1])


@of(RAISING)
def caught_from_a_helper(x: Any) -> Any:
    values = [x[2] * x[0]]
    try:
        _fails(values, x)
    except KeyError as error:
        values.append(error.args[0])
    return values[0] * values[1] * values[2]


@of(RAISING)
def of_a_class_of_its_own(x: Any) -> Any:
    try:
        for v in x:
            if v < 0.0:
                raise Stop(cube(v) * x[0])
    except Stop as error:
        return error.value * x[1]
    return 0.0


@of(RAISING)
def with_cleaning_up(x: Any) -> Any:
    total = 0.0
    for v in x:
        values = [v * v]
        try:
            try:
                _fails(values, x)
            finally:
                values[0] = values[0] * x[0]
        except KeyError:
            total += values[0] * values[1]
    return total


class Doubling:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __enter__(self) -> Doubling:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.v = self.v * self.v
        return kind is KeyError


@of(RAISING)
def in_a_context(x: Any) -> Any:
    values: list[Any] = [x[2]]
    with Doubling(x[0]) as c:
        _fails(values, x)
    with contextlib.suppress(KeyError):
        _fails(values, x)
    return c.v * values[1] * values[2]


# -- objects -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Box:
    v: Any
    w: Any = 2.0

    def __lt__(self, other: Box) -> bool:
        return bool(self.v < other.v)

    def __str__(self) -> str:
        return f"Box({self.v:.2f})"


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: Any
    w: Any = 2.0


Pair = collections.namedtuple("Pair", "v w")


class Kind(enum.Enum):
    ONE = 1.5
    TWO = 2.0


@of(MAKING)
def records(x: Any) -> Any:
    box = dataclasses.replace(Box(cube(x[0])), w=x[1])
    frozen = dataclasses.replace(Frozen(x[1], w=x[2]), v=box.v * x[2])
    pair = Pair(frozen.v, w=frozen.w)._replace(w=x[0])
    return pair.v * pair.w * dataclasses.asdict(box)["w"] * frozen.w


@of(MAKING)
def sorted_and_printed(x: Any) -> Any:
    boxes = sorted([Box(v) for v in x])
    print([*map(str, boxes)], boxes[0], boxes, file=SHOWN)
    return cube(boxes[0].v) * boxes[1].v * sum(map(operator.attrgetter("w"), boxes))


@of(MAKING)
def kinds_and_copies(x: Any) -> Any:
    ordered = collections.OrderedDict((k.name, k.value * cube(v)) for k, v in zip(Kind, x, strict=False))
    copied = copy.deepcopy(ordered)
    copied["ONE"] *= x[1]
    return copied["ONE"] * ordered["TWO"] * getattr(Box(x[2]), "missing", x[2])


@of(MAKING)
def importing(x: Any) -> Any:
    import math

    return math.sin(x[0]) * cube(x[1])
