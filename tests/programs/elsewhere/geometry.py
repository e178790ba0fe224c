"""Small classes with operators."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


class Vector:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k: float) -> Vector:
        return Vector(self.x * k, self.y * k)

    def __iter__(self) -> Iterator[float]:
        return iter((self.x, self.y))

    @property
    def norm(self) -> float:
        return math.hypot(self.x, self.y)


@dataclass
class Segment:
    start: Vector
    end: Vector

    def points(self, count: int) -> Iterator[Vector]:
        for k in range(count + 1):
            yield self.start * (1.0 - k / count) + self.end * (k / count)

    def heights(self, count: int) -> Iterator[float]:
        return (p.y for p in self.points(count))
