"""A class with operators of its own."""

from __future__ import annotations

import math


class Vector:
    def __init__(self, *components):
        self.components = list(components)

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(*[a + b for a, b in zip(self.components, other.components)])

    def __mul__(self, other):
        if isinstance(other, Vector):
            return sum([a * b for a, b in zip(self.components, other.components)])
        return Vector(*[a * other for a in self.components])

    def __rmul__(self, scalar):
        return self * scalar

    def __getitem__(self, i):
        return self.components[i]

    def __len__(self):
        return len(self.components)


def vector_program(x, y, scale):
    a = Vector(x, y, x * y)
    b = 2.0 * a + a * scale
    c = b + scale * Vector(y, x, 1.0)
    return math.sqrt(c * c) + b[1] * c[0] / len(c)


def vector_argument(v, scale):
    w = scale * v + v
    return w * v + w[0]
