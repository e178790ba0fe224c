"""Planets, molecules and springs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.program import Program

# -- planets ------------------------------------------------------------


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k, self.z * k)

    __rmul__ = __mul__

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def norm(self):
        return math.sqrt(self.dot(self))


@dataclass
class Planet:
    mass: float
    position: Vector
    velocity: Vector

    @property
    def kinetic_energy(self):
        return 0.5 * self.mass * self.velocity.dot(self.velocity)


def energy_of_planets(bodies, dt, steps):
    planets = [Planet(m, Vector(*p), Vector(*v)) for m, p, v in bodies]
    for _ in range(steps):
        for a, b in combinations(planets, 2):
            d = b.position - a.position
            pull = d * (1.0 / d.norm() ** 3)
            a.velocity = a.velocity + dt * b.mass * pull
            b.velocity = b.velocity - dt * a.mass * pull
        for p in planets:
            p.position = p.position + dt * p.velocity
    kinetic = sum(p.kinetic_energy for p in planets)
    return kinetic - sum(
        a.mass * b.mass / (a.position - b.position).norm() for a, b in combinations(planets, 2)
    )


def energy_of_arrays(bodies, dt, steps):
    mass = np.array([m for m, _, _ in bodies])
    x = np.array([p for _, p, _ in bodies])
    v = np.array([w for _, _, w in bodies])
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                d = x[j] - x[i]
                pull = d / np.linalg.norm(d) ** 3
                v[i] += dt * mass[j] * pull
                v[j] -= dt * mass[i] * pull
        x += dt * v
    energy = 0.5 * np.sum(mass * (v * v).sum(axis=1))
    for i in range(n):
        for j in range(i):
            energy -= mass[i] * mass[j] / np.linalg.norm(x[i] - x[j])
    return energy


# -- a chain of springs ------------------------------------------------------------


def chain(stiffness, damping, n, dt, steps):
    x = [float(i) for i in range(n)]
    v = [0.0] * n
    x[0] += 0.3
    for _ in range(steps):
        force = [0.0] * n
        for i in range(n - 1):
            f = stiffness * (x[i + 1] - x[i] - 1.0)
            force[i] += f
            force[i + 1] -= f
        for i in range(n):
            v[i] += dt * (force[i] - damping * v[i])
            x[i] += dt * v[i]
    return sum((x[i] - i) ** 2 for i in range(n))


class Bead:
    def __init__(self, x):
        self.x = x
        self.v = 0.0
        self.force = 0.0

    def advance(self, dt):
        self.v += dt * self.force
        self.x += dt * self.v


class Spring:
    def __init__(self, left, right, stiffness, length=1.0):
        self.left, self.right = left, right
        self.stiffness, self.length = stiffness, length

    def pull(self):
        f = self.stiffness * (self.right.x - self.left.x - self.length)
        self.left.force += f
        self.right.force -= f


class Chain:
    def __init__(self, n, stiffness, damping):
        self.beads = [Bead(float(i)) for i in range(n)]
        self.springs = [Spring(a, b, stiffness) for a, b in zip(self.beads, self.beads[1:])]
        self.damping = damping

    def __iter__(self):
        return iter(self.beads)

    def __len__(self):
        return len(self.beads)

    def run(self, dt, steps):
        for _ in range(steps):
            for bead in self:
                bead.force = -self.damping * bead.v
            for spring in self.springs:
                spring.pull()
            for bead in self:
                bead.advance(dt)
        return self


def chain_of_objects(stiffness, damping, n, dt, steps):
    system = Chain(n, stiffness, damping)
    system.beads[0].x += 0.3
    return sum((bead.x - i) ** 2 for i, bead in enumerate(system.run(dt, steps)))


_BODIES = [
    (10.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    (0.1, (1.0, 0.0, 0.1), (0.0, 3.0, 0.0)),
    (0.2, (0.0, 2.0, 0.0), (-2.2, 0.0, 0.1)),
    (0.05, (-3.0, 0.0, 0.2), (0.0, -1.8, 0.0)),
]

PROGRAMS = [
    Program(
        "energy of planets",
        {"objects": energy_of_planets, "arrays": energy_of_arrays},
        (_BODIES, 0.01, 5),
    ),
    Program(
        "chain of springs", {"lists": chain, "objects": chain_of_objects}, (4.0, 0.1, 8, 0.05, 20), (0, 1)
    ),
]
