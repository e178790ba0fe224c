"""Programs on lists, attributes, small functions and objects: types are only known when the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.workload import Workload

__all__ = ["WORKLOADS"]

Vector = list[float]
Matrix = list[list[float]]


# -- Lists -------------------------------------------------------------------------------------------


def horner(x: float, coefficients: Vector) -> float:
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


def horner_adjoint(x: float, coefficients: Vector) -> tuple[float, float]:
    result = 0.0
    saved = []
    for c in coefficients:
        saved.append(result)
        result = result * x + c
    dx, d_result = 0.0, 1.0
    for r in reversed(saved):
        dx += d_result * r
        d_result *= x
    return result, dx


def dot_lists(a: Vector, b: Vector) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def dot_lists_adjoint(a: Vector, b: Vector) -> tuple[float, Vector]:
    return dot_lists(a, b), list(b)


def heat_elements(u: Vector, k: float, steps: int) -> float:
    """In place on a list of floats."""
    n = len(u)
    for _ in range(steps):
        left = u[0]
        for i in range(1, n - 1):
            here = u[i]
            u[i] = here + k * (u[i + 1] - 2.0 * here + left)
            left = here
    return sum(u)


def heat_elements_adjoint(u: Vector, k: float, steps: int) -> tuple[float, Vector]:
    """The updates are linear in u, so nothing is saved."""
    value = heat_elements(u.copy(), k, steps)
    n = len(u)
    du = [1.0] * n
    for _ in range(steps):
        d_left = 0.0
        for i in range(n - 2, 0, -1):
            d_new = du[i]
            du[i] = d_new + k * (-2.0 * d_new) + d_left
            du[i + 1] += k * d_new
            d_left = k * d_new
        du[0] += d_left
    return value, du


def product_of_lists(a: Matrix, b: Matrix) -> float:
    """The sum of the squares of the elements of a matrix product."""
    product = []
    for row in a:
        new = []
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += row[k] * b[k][j]
            new.append(total)
        product.append(new)
    return sum([x * x for row in product for x in row])


def product_of_lists_adjoint(a: Matrix, b: Matrix) -> tuple[float, tuple[Matrix, Matrix]]:
    columns = [list(column) for column in zip(*b, strict=True)]
    product = [[sum([x * y for x, y in zip(row, column, strict=True)]) for column in columns] for row in a]
    value = sum([x * x for row in product for x in row])
    db = [[0.0] * len(columns) for _ in b]
    da = []
    for row, products in zip(a, product, strict=True):
        d_row = [2.0 * x for x in products]
        da.append([sum([d * y for d, y in zip(d_row, other, strict=True)]) for other in b])
        for x, d_other in zip(row, db, strict=True):
            for j, d in enumerate(d_row):
                d_other[j] += x * d
    return value, (da, db)


# -- N bodies, as lists and as objects ---------------------------------------------------------------


def energy_of_lists(positions: Matrix, velocities: Matrix, masses: Vector) -> float:
    energy = 0.0
    for i in range(len(masses)):
        x, y, z = positions[i]
        u, v, w = velocities[i]
        energy += 0.5 * masses[i] * (u * u + v * v + w * w)
        for j in range(i + 1, len(masses)):
            dx = x - positions[j][0]
            dy = y - positions[j][1]
            dz = z - positions[j][2]
            energy -= masses[i] * masses[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return energy


def nbody_lists(positions: Matrix, velocities: Matrix, masses: Vector, h: float, steps: int) -> float:
    positions = [list(p) for p in positions]
    velocities = [list(v) for v in velocities]
    n = len(masses)
    for _ in range(steps):
        for i in range(n):
            p, v = positions[i], velocities[i]
            for j in range(i + 1, n):
                q, w = positions[j], velocities[j]
                dx = p[0] - q[0]
                dy = p[1] - q[1]
                dz = p[2] - q[2]
                square = dx * dx + dy * dy + dz * dz
                pull = h / (square * math.sqrt(square))
                v[0] -= dx * masses[j] * pull
                v[1] -= dy * masses[j] * pull
                v[2] -= dz * masses[j] * pull
                w[0] += dx * masses[i] * pull
                w[1] += dy * masses[i] * pull
                w[2] += dz * masses[i] * pull
        for p, v in zip(positions, velocities):
            p[0] += h * v[0]
            p[1] += h * v[1]
            p[2] += h * v[2]
    return energy_of_lists(positions, velocities, masses)


def nbody_sweeps(
    positions: Matrix, velocities: Matrix, masses: Vector, h: float, steps: int
) -> tuple[float, Matrix, Matrix]:
    """The energy after `steps`, and its derivatives by the first positions and velocities."""
    positions = [p.copy() for p in positions]
    velocities = [v.copy() for v in velocities]
    n = len(masses)
    saved = []
    for _ in range(steps):
        for i in range(n):
            p, v, m = positions[i], velocities[i], masses[i]
            for j in range(i + 1, n):
                q, w = positions[j], velocities[j]
                x, y, z = p[0] - q[0], p[1] - q[1], p[2] - q[2]
                square = x * x + y * y + z * z
                pull = h / (square * math.sqrt(square))
                saved.append((x, y, z, square, pull))
                a, b = masses[j] * pull, m * pull
                v[0] -= x * a
                v[1] -= y * a
                v[2] -= z * a
                w[0] += x * b
                w[1] += y * b
                w[2] += z * b
        for p, v in zip(positions, velocities, strict=True):
            p[0] += h * v[0]
            p[1] += h * v[1]
            p[2] += h * v[2]

    value = 0.0
    d_positions = [[0.0, 0.0, 0.0] for _ in range(n)]
    d_velocities = [[m * c for c in v] for m, v in zip(masses, velocities, strict=True)]
    for i in range(n):
        value += 0.5 * masses[i] * sum([c * c for c in velocities[i]])
        p, dp = positions[i], d_positions[i]
        for j in range(i + 1, n):
            q, dq = positions[j], d_positions[j]
            x, y, z = p[0] - q[0], p[1] - q[1], p[2] - q[2]
            square = x * x + y * y + z * z
            part = masses[i] * masses[j] / math.sqrt(square)
            value -= part
            part /= square
            for k, c in enumerate((x, y, z)):
                dp[k] += part * c
                dq[k] -= part * c

    for _ in range(steps):
        for dp, dv in zip(d_positions, d_velocities, strict=True):
            dv[0] += h * dp[0]
            dv[1] += h * dp[1]
            dv[2] += h * dp[2]
        for i in range(n - 1, -1, -1):
            dp, dv, m = d_positions[i], d_velocities[i], masses[i]
            for j in range(n - 1, i, -1):
                dq, dw, other = d_positions[j], d_velocities[j], masses[j]
                x, y, z, square, pull = saved.pop()
                a = m * dw[0] - other * dv[0]
                b = m * dw[1] - other * dv[1]
                c = m * dw[2] - other * dv[2]
                d_square = -3.0 * (a * x + b * y + c * z) * pull / square
                dx, dy, dz = a * pull + d_square * x, b * pull + d_square * y, c * pull + d_square * z
                dp[0] += dx
                dp[1] += dy
                dp[2] += dz
                dq[0] -= dx
                dq[1] -= dy
                dq[2] -= dz
    return value, d_positions, d_velocities


def nbody_lists_adjoint(
    positions: Matrix, velocities: Matrix, masses: Vector, h: float, steps: int
) -> tuple[float, Matrix]:
    value, d_positions, _ = nbody_sweeps(positions, velocities, masses, h, steps)
    return value, d_positions


class Body:
    def __init__(self, position: Vector, velocity: Vector, mass: float) -> None:
        self.x, self.y, self.z = position
        self.u, self.v, self.w = velocity
        self.mass = mass

    def attract(self, other: Body, h: float) -> None:
        dx = self.x - other.x
        dy = self.y - other.y
        dz = self.z - other.z
        square = dx * dx + dy * dy + dz * dz
        pull = h / (square * math.sqrt(square))
        self.u -= dx * other.mass * pull
        self.v -= dy * other.mass * pull
        self.w -= dz * other.mass * pull
        other.u += dx * self.mass * pull
        other.v += dy * self.mass * pull
        other.w += dz * self.mass * pull

    def drift(self, h: float) -> None:
        self.x += h * self.u
        self.y += h * self.v
        self.z += h * self.w

    def kinetic_energy(self) -> float:
        return 0.5 * self.mass * (self.u * self.u + self.v * self.v + self.w * self.w)

    def potential_energy(self, other: Body) -> float:
        dx = self.x - other.x
        dy = self.y - other.y
        dz = self.z - other.z
        return -self.mass * other.mass / math.sqrt(dx * dx + dy * dy + dz * dz)


def nbody_objects(positions: Matrix, velocities: Matrix, masses: Vector, h: float, steps: int) -> float:
    bodies = [Body(*given) for given in zip(positions, velocities, masses)]
    for _ in range(steps):
        for i, body in enumerate(bodies):
            for other in bodies[i + 1 :]:
                body.attract(other, h)
        for body in bodies:
            body.drift(h)
    energy = 0.0
    for i, body in enumerate(bodies):
        energy += body.kinetic_energy()
        for other in bodies[i + 1 :]:
            energy += body.potential_energy(other)
    return energy


def solar_system(count: int) -> tuple[Matrix, Matrix, Vector]:
    """A sun, and planets on slightly tilted orbits."""
    positions, velocities, masses = [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]], [40.0]
    for i in range(1, count):
        distance, angle = 1.0 + 0.8 * i, 2.4 * i
        speed = math.sqrt(40.0 / distance)
        positions.append([distance * math.cos(angle), distance * math.sin(angle), 0.05 * i])
        velocities.append([-speed * math.sin(angle), speed * math.cos(angle), 0.02 * i])
        masses.append(0.04 / i)
    return positions, velocities, masses


# -- Attributes and methods --------------------------------------------------------------------------


class Particle:
    """Attributes that are read and written in a loop."""

    def __init__(self, x: float, v: float) -> None:
        self.x = x
        self.v = v

    def step(self, stiffness: float, h: float) -> None:
        # Not in place: PyTorch would change tensors that its graph still needs.
        self.v = self.v - h * stiffness * self.x
        self.x = self.x + h * self.v


def oscillator(stiffness: float, h: float, steps: int) -> float:
    particle = Particle(1.0, 0.0)
    for _ in range(steps):
        particle.step(stiffness, h)
    return particle.x * particle.x


def oscillator_adjoint(stiffness: float, h: float, steps: int) -> tuple[float, float]:
    x, v = 1.0, 0.0
    saved = []
    for _ in range(steps):
        saved.append(x)
        v = v - h * stiffness * x
        x = x + h * v
    d_stiffness, dx, dv = 0.0, 2.0 * x, 0.0
    for y in reversed(saved):
        dv += h * dx
        part = h * dv
        d_stiffness -= part * y
        dx -= part * stiffness
    return x * x, d_stiffness


# -- Recursion, and a function as an argument --------------------------------------------------------


def simpson(
    f: Callable[[float], float],
    a: float,
    fa: float,
    b: float,
    fb: float,
    m: float,
    fm: float,
    whole: float,
    tolerance: float,
) -> float:
    """Simpson's rule on halves of an interval, and on halves of those, until they agree."""
    left, right = 0.5 * (a + m), 0.5 * (m + b)
    f_left, f_right = f(left), f(right)
    first = (m - a) / 6.0 * (fa + 4.0 * f_left + fm)
    second = (b - m) / 6.0 * (fm + 4.0 * f_right + fb)
    error = first + second - whole
    if abs(error) < 15.0 * tolerance:
        return first + second + error / 15.0
    return simpson(f, a, fa, m, fm, left, f_left, first, 0.5 * tolerance) + simpson(
        f, m, fm, b, fb, right, f_right, second, 0.5 * tolerance
    )


def quadrature(decay: float, frequency: float, tolerance: float) -> float:
    def f(x: float) -> float:
        return math.exp(-decay * x) * math.sin(frequency * x)

    a, b = 0.0, 2.0
    m = 0.5 * (a + b)
    fa, fb, fm = f(a), f(b), f(m)
    return simpson(f, a, fa, b, fb, m, fm, (b - a) / 6.0 * (fa + 4.0 * fm + fb), tolerance)


def quadrature_adjoint(decay: float, frequency: float, tolerance: float) -> tuple[float, tuple[float, float]]:
    def f(x: float) -> tuple[float, Any]:
        damping, phase = math.exp(-decay * x), frequency * x
        sine = math.sin(phase)
        return damping * sine, (x, damping, phase, sine)

    def forwards(
        a: float, fa: float, b: float, fb: float, m: float, fm: float, whole: float, tolerance: float
    ) -> tuple[float, Any]:
        left, right = 0.5 * (a + m), 0.5 * (m + b)
        f_left, at_left = f(left)
        f_right, at_right = f(right)
        first = (m - a) / 6.0 * (fa + 4.0 * f_left + fm)
        second = (b - m) / 6.0 * (fm + 4.0 * f_right + fb)
        error = first + second - whole
        if abs(error) < 15.0 * tolerance:
            return first + second + error / 15.0, (b - a, at_left, at_right, None)
        lower, below = forwards(a, fa, m, fm, left, f_left, first, 0.5 * tolerance)
        upper, above = forwards(m, fm, b, fb, right, f_right, second, 0.5 * tolerance)
        return lower + upper, (b - a, at_left, at_right, (below, above))

    d_decay = d_frequency = 0.0

    def f_adjoint(saved: Any, df: float) -> None:
        nonlocal d_decay, d_frequency
        x, damping, phase, sine = saved
        d_decay -= df * x * damping * sine
        d_frequency += df * x * damping * math.cos(phase)

    def backwards(saved: Any) -> tuple[float, float, float, float]:
        """The derivatives by the integrand at both ends and in the middle, and by Simpson's first guess."""
        length, at_left, at_right, halves = saved
        if halves is None:
            da = dm = db = d_left = d_right = 0.0
            d_first = d_second = 16.0 / 15.0
            d_whole = -1.0 / 15.0
        else:
            da, d_left, dm, d_first = backwards(halves[0])
            lower, d_right, db, d_second = backwards(halves[1])
            dm += lower
            d_whole = 0.0
        d_first *= length / 12.0
        d_second *= length / 12.0
        f_adjoint(at_left, d_left + 4.0 * d_first)
        f_adjoint(at_right, d_right + 4.0 * d_second)
        return da + d_first, dm + d_first + d_second, db + d_second, d_whole

    a, b = 0.0, 2.0
    m = 0.5 * (a + b)
    (fa, at_a), (fb, at_b), (fm, at_m) = f(a), f(b), f(m)
    value, saved = forwards(a, fa, b, fb, m, fm, (b - a) / 6.0 * (fa + 4.0 * fm + fb), tolerance)
    da, dm, db, d_whole = backwards(saved)
    d_whole *= (b - a) / 6.0
    f_adjoint(at_a, da + d_whole)
    f_adjoint(at_m, dm + 4.0 * d_whole)
    f_adjoint(at_b, db + d_whole)
    return value, (d_decay, d_frequency)


WORKLOADS = [
    Workload(
        "Horner, list of 1000",
        horner,
        horner_adjoint,
        (0.9, [1.0 / (i + 1.0) for i in range(1000)]),
        (0.9, [1.0, -0.5, 0.25, 2.0]),
    ),
    Workload(
        "inner product, lists of 1000",
        dot_lists,
        dot_lists_adjoint,
        ([0.5] * 1000, [0.25] * 1000),
        ([0.5, 1.5, -2.0], [0.25, 3.0, 1.0]),
    ),
    Workload(
        "matrix product, lists of lists, 10 x 10",
        product_of_lists,
        product_of_lists_adjoint,
        tuple([[math.sin(a * i + b * j) for j in range(10)] for i in range(10)] for a, b in ((3, 5), (7, 2))),
        ([[0.5, 1.5, -2.0], [0.25, 3.0, 1.0]], [[1.0, 2.0], [-0.5, 0.75], [0.1, -1.2]]),
        argnums=(0, 1),
    ),
    Workload(
        "heat, list in place, 50 x 20",
        heat_elements,
        heat_elements_adjoint,
        ([0.02 * i * i for i in range(50)], 0.2, 20),
        ([0.0, 1.0, 4.0, 9.0, 16.0], 0.2, 3),
    ),
    Workload(
        "oscillator, attributes, 300 steps",
        oscillator,
        oscillator_adjoint,
        (2.0, 0.01, 300),
        (2.0, 0.1, 4),
    ),
    Workload(
        "N-body, lists, 5 x 5 steps",
        nbody_lists,
        nbody_lists_adjoint,
        (*solar_system(5), 0.01, 5),
        (*solar_system(3), 0.01, 2),
    ),
    Workload(
        "N-body, objects, 5 x 5 steps",
        nbody_objects,
        nbody_lists_adjoint,
        (*solar_system(5), 0.01, 5),
        (*solar_system(3), 0.01, 2),
    ),
    Workload(
        "recursive quadrature, closure",
        quadrature,
        quadrature_adjoint,
        (0.7, 9.0, 1e-6),
        (0.7, 3.0, 5e-3),
        argnums=(0, 1),
    ),
]
