"""Generators, context managers and what is set for all of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from tests.programs.elsewhere import settings
from tests.programs.elsewhere.settings import GAINS, half

log = logging.getLogger(__name__)

RATE = 0.9
LEVELS = [1.0, 2.0, 4.0]


def decaying(x: float, count: int) -> Iterator[float]:
    for _ in range(count):
        yield x
        x = x * RATE


def weighted(values: Iterable[float]) -> Iterator[float]:
    for k, value in enumerate(values):
        log.debug("value %d", k)
        yield value * LEVELS[k % len(LEVELS)]


def halved(values: Iterable[float]) -> Iterator[float]:
    return (half(v) for v in values)


def gained(values: Iterable[float], name: str = "low") -> Iterator[float]:
    for v in values:
        yield v * GAINS[name] + settings.OFFSET


def scaler(k: float) -> Callable[[float], float]:
    return lambda v: k * v * RATE


def counted(values: Iterable[float]) -> Iterator[float]:
    global seen
    for v in values:
        seen += 1
        yield v


seen = 0


def first(values: Iterator[float]) -> float:
    return next(values)


def firsts(values: list[list[float]]) -> Iterator[float]:
    for v in values:
        yield first(iter(v))


def inverse(values: Iterable[float]) -> Iterator[float]:
    for v in values:
        yield 1.0 / v


class Canvas:
    def __init__(self) -> None:
        self.scale = 1.0

    @contextmanager
    def scaled(self, by: float) -> Iterator[Canvas]:
        before = self.scale
        self.scale = before * by
        try:
            yield self
        finally:
            self.scale = before


@contextmanager
def doubled(canvas: Canvas) -> Iterator[float]:
    canvas.scale *= 2.0
    yield canvas.scale * RATE
    canvas.scale /= 2.0
