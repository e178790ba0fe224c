"""N bodies under gravity, with lists of floats and with a class."""

from __future__ import annotations

import math


def energy_of_lists(positions, velocities, masses):
    total = 0.0
    n = len(masses)
    for i in range(n):
        vx, vy = velocities[i]
        total += 0.5 * masses[i] * (vx * vx + vy * vy)
        for j in range(i + 1, n):
            dx = positions[i][0] - positions[j][0]
            dy = positions[i][1] - positions[j][1]
            total -= masses[i] * masses[j] / math.sqrt(dx * dx + dy * dy + 0.01)
    return total


def nbody_lists(positions, velocities, masses, h, steps):
    """Moves the bodies in place."""
    n = len(masses)
    for _ in range(steps):
        for i in range(n):
            ax = ay = 0.0
            for j in range(n):
                if i == j:
                    continue
                dx = positions[j][0] - positions[i][0]
                dy = positions[j][1] - positions[i][1]
                cube = (dx * dx + dy * dy + 0.01) ** 1.5
                ax += masses[j] * dx / cube
                ay += masses[j] * dy / cube
            velocities[i][0] += h * ax
            velocities[i][1] += h * ay
        for position, velocity in zip(positions, velocities):
            position[0] += h * velocity[0]
            position[1] += h * velocity[1]
    return energy_of_lists(positions, velocities, masses) + positions[0][0]


class Body:
    def __init__(self, position, velocity, mass):
        self.position = position
        self.velocity = velocity
        self.mass = mass

    def kick(self, other, h):
        dx = other.position[0] - self.position[0]
        dy = other.position[1] - self.position[1]
        pull = h * other.mass / (dx * dx + dy * dy + 0.01) ** 1.5
        self.velocity[0] += pull * dx
        self.velocity[1] += pull * dy

    def drift(self, h):
        # A new list each time: the attribute is re-pointed.
        self.position = [x + h * v for x, v in zip(self.position, self.velocity)]

    @property
    def kinetic(self):
        return 0.5 * self.mass * (self.velocity[0] ** 2 + self.velocity[1] ** 2)


def nbody_objects(bodies, h, steps):
    for _ in range(steps):
        for body in bodies:
            for other in bodies:
                if other is not body:
                    body.kick(other, h)
        for body in bodies:
            body.drift(h)
    total = 0.0
    for body in bodies:
        total += body.kinetic + body.position[0] * body.position[1]
    return total


def two_bodies():
    return [Body([0.0, 0.1], [0.2, -0.3], 1.5), Body([1.0, 0.4], [-0.1, 0.5], 0.7)]
