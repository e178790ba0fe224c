"""Loops as ordinary programs have them: over tallies, memo tables, objects that are called, enumerations."""

from __future__ import annotations

import enum
import math
from collections import defaultdict


def tallies(k: float, x: float, n: int) -> float:
    found: defaultdict[str, float] = defaultdict(float)
    for i in range(n):
        key = "even" if i % 2 == 0 else "odd"
        found[key] += k * x
    return found["even"] * found["odd"]


def table(k: float, n: int) -> float:
    memo: dict[tuple[int, int], float] = {}
    total = 0.0
    for i in range(n):
        key = i % 3, i % 2
        if key not in memo:
            memo[key] = k * i
        total += memo[key] * k
    return total


class Scaled:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x: float) -> float:
        return self.k * x


class Shifted(Scaled):
    def __call__(self, x: float) -> float:
        return self.k + x


def callables(k: float, x: float, n: int) -> float:
    stages = [Scaled(k), Shifted(0.5), Scaled(0.1)]
    for _ in range(n):
        for stage in stages:
            x = stage(x)
    return x


class Kind(enum.Enum):
    LOSS = "loss"
    GAIN = "gain"


def ledger(k: float, x: float, n: int) -> float:
    rates = {Kind.LOSS: -0.01 * k, Kind.GAIN: 0.02 * k}
    for i in range(n):
        kind = Kind.LOSS if i % 3 == 0 else Kind.GAIN
        x += rates[kind] * x if kind is Kind.GAIN else rates[Kind.LOSS]
    return x


def totals(xs: list[float], n: int) -> float:
    total = 0.0
    for _ in range(n):
        zeros = [0.0] * 8
        total += sum(xs) * 0.5 + sum(zeros)
    return total


def soft_least(values: tuple[float, ...], width: float) -> float:
    total = 0.0
    for v in values:
        total += math.exp(-v / width)
    return -width * math.log(total)


def ways(k: float, x: float, n: int) -> float:
    for _ in range(n):
        x = x + 0.1 * soft_least((x, k, k * x), 0.5)
        for a, b in zip((x, k), (k, 2.0)):
            x += 0.01 * a * b
        for stage in (Scaled(k), Shifted(x)):
            x += 0.01 * stage(x)
    return x
