"""Arms, rotations, wheels and trajectories."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from benchmarks.program import Program

# -- the tip of an arm ------------------------------------------------------------


class DH(NamedTuple):
    """Denavit-Hartenberg parameters of a link."""

    a: float
    alpha: float
    d: float


def dh_matrix(theta, a, alpha, d):
    ct, st = np.cos(theta), np.sin(theta)
    ca, sa = np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def tip_error(angles, links, target):
    """Squared distance of the tip to the target, and a penalty on the angles."""
    frames = [dh_matrix(q, *DH(*link)) for q, link in zip(angles, links)]
    pose = reduce(np.matmul, frames)
    miss = pose[:3, 3] - np.asarray(target)
    return miss @ miss + 1e-3 * np.sum(np.square(angles))


@dataclass
class Joint:
    length: float
    twist: float
    offset: float
    angle: float = 0.0
    child: "Joint | None" = None

    def attach(self, other):
        self.child = other
        return other

    def to_parent(self, point):
        """Coordinates of a point of this link's frame in that of its parent."""
        x, y, z = point
        ca, sa = math.cos(self.twist), math.sin(self.twist)
        ct, st = math.cos(self.angle), math.sin(self.angle)
        y, z = ca * y - sa * z, sa * y + ca * z
        x = x + self.length
        return ct * x - st * y, st * x + ct * y, z + self.offset

    def tip(self):
        return self.to_parent(self.child.tip() if self.child is not None else (0.0, 0.0, 0.0))


def tip_error_by_joints(angles, links, target):
    root = last = None
    for q, (a, alpha, d) in zip(angles, links):
        joint = Joint(a, alpha, d, angle=q)
        if root is None:
            root = joint
        else:
            last.attach(joint)
        last = joint
    squares = [(p - t) ** 2 for p, t in zip(root.tip(), target)]
    return sum(squares) + 1e-3 * sum(q * q for q in angles)


# -- attitude from a gyroscope ------------------------------------------------------------


class Quaternion:
    __slots__ = ("w", "x", "y", "z")

    def __init__(self, w=1.0, x=0.0, y=0.0, z=0.0):
        self.w = w
        self.x = x
        self.y = y
        self.z = z

    @classmethod
    def from_rotation_vector(cls, rx, ry, rz):
        angle = math.sqrt(rx * rx + ry * ry + rz * rz)
        if angle < 1e-9:
            return cls(1.0, 0.5 * rx, 0.5 * ry, 0.5 * rz)
        s = math.sin(0.5 * angle) / angle
        return cls(math.cos(0.5 * angle), s * rx, s * ry, s * rz)

    def __mul__(self, o):
        return Quaternion(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def __abs__(self):
        return math.hypot(self.w, self.x, self.y, self.z)

    def rotate(self, v):
        q = self * Quaternion(0.0, *v) * self.conjugate()
        return q.x, q.y, q.z


def heading_error(bias, rates, dt, expected):
    """How far the nose of the craft is from where it should be, given the gyroscope's bias."""
    attitude = Quaternion()
    for p, q, r in rates:
        attitude = attitude * Quaternion.from_rotation_vector(
            (p - bias[0]) * dt, (q - bias[1]) * dt, (r - bias[2]) * dt
        )
    size = abs(attitude)
    nose = attitude.rotate((1.0, 0.0, 0.0))
    return 1.0 - sum(a * b for a, b in zip(nose, expected)) / size**2


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rodrigues(w):
    angle = np.linalg.norm(w)
    if angle < 1e-9:
        return np.eye(3) + skew(w)
    k = skew(w / angle)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def heading_error_by_matrices(bias, rates, dt, expected):
    b = np.array(bias)
    attitude = np.eye(3)
    for rate in rates:
        attitude = attitude @ rodrigues((np.array(rate) - b) * dt)
    nose = attitude @ np.array([1.0, 0.0, 0.0])
    return 1.0 - nose.dot(expected)


# -- a robot on two wheels ------------------------------------------------------------


@dataclass(frozen=True)
class Pose:
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0

    def moved(self, distance, turn):
        middle = self.heading + 0.5 * turn
        return replace(
            self,
            x=self.x + distance * math.cos(middle),
            y=self.y + distance * math.sin(middle),
            heading=self.heading + turn,
        )


@dataclass
class Rover:
    radius: float
    track: float
    pose: Pose = Pose()
    history: list = field(default_factory=list)

    def drive(self, left, right, dt):
        v = 0.5 * self.radius * (left + right)
        w = self.radius * (right - left) / self.track
        self.history.append(self.pose)
        self.pose = self.pose.moved(v * dt, w * dt)

    def length_of_way(self):
        way = [*self.history, self.pose]
        return sum(math.hypot(b.x - a.x, b.y - a.y) for a, b in zip(way, way[1:]))


def calibration(radius, track, wheels, dt, goal):
    rover = Rover(radius, track)
    for left, right in wheels:
        rover.drive(left, right, dt)
    gx, gy = goal
    return (rover.pose.x - gx) ** 2 + (rover.pose.y - gy) ** 2 + 0.01 * rover.length_of_way()


def calibration_by_sums(radius, track, wheels, dt, goal):
    left, right = zip(*wheels)
    distances = [0.5 * radius * dt * (l + r) for l, r in zip(left, right)]
    turns = [radius * dt * (r - l) / track for l, r in zip(left, right)]
    headings = accumulate(turns, initial=0.0)
    x = y = 0.0
    for s, h, turn in zip(distances, headings, turns):
        x += s * math.cos(h + turn / 2)
        y += s * math.sin(h + turn / 2)
    return (x - goal[0]) ** 2 + (y - goal[1]) ** 2 + 0.01 * sum(map(abs, distances))


# -- a trajectory through points ------------------------------------------------------------


def minimum_jerk(points, t):
    """Position, velocity and acceleration at time t of a path that is at points[i] at time i, with stops."""
    i = min(int(t), len(points) - 2)
    s = t - i
    a, b = points[i], points[i + 1]
    d = b - a
    position = a + d * (10 * s**3 - 15 * s**4 + 6 * s**5)
    velocity = d * (30 * s**2 - 60 * s**3 + 30 * s**4)
    acceleration = d * (60 * s - 180 * s**2 + 120 * s**3)
    return {"position": position, "velocity": velocity, "acceleration": acceleration}


def effort(points, mass, friction, times):
    total = 0.0
    for t in times:
        state = minimum_jerk(points, t)
        torque = mass * state["acceleration"] + friction * state["velocity"]
        torque += 9.81 * mass * math.cos(state["position"])
        total += torque**2
    return total / len(times)


class Segment:
    SHAPE = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.coefficients = [self.SHAPE.coef, self.SHAPE.deriv().coef, self.SHAPE.deriv(2).coef]

    @staticmethod
    def horner(coefficients, s):
        result = 0.0
        for c in coefficients[::-1]:
            result = result * s + c
        return result

    def at(self, s):
        d = self.end - self.start
        p, v, a = (d * self.horner(c, s) for c in self.coefficients)
        return self.start + p, v, a


def effort_of_segments(points, mass, friction, times):
    segments = [Segment(a, b) for a, b in zip(points[:-1], points[1:])]

    def torque(t):
        i = min(int(t), len(segments) - 1)
        p, v, a = segments[i].at(t - i)
        return mass * a + friction * v + 9.81 * mass * math.cos(p)

    return sum(torque(t) ** 2 for t in times) / len(times)


_LINKS = [
    (0.4, 0.3, 0.1),
    (0.35, -0.4, 0.0),
    (0.3, 0.9, 0.05),
    (0.2, 0.0, 0.1),
    (0.1, 0.5, 0.0),
    (0.1, 0.0, 0.0),
]
_RATES = [(0.3 + 0.01 * i, 0.2 * math.sin(i), -0.1 + 0.02 * (i % 5)) for i in range(20)]
_WHEELS = [(3.0 + 0.5 * math.sin(0.3 * i), 3.2 + 0.4 * math.cos(0.2 * i)) for i in range(40)]

PROGRAMS = [
    Program(
        "tip of an arm",
        {"matrices": tip_error, "linked dataclasses": tip_error_by_joints},
        ([0.3, -0.5, 0.8, 0.2, -0.3, 0.4] * 3, _LINKS * 3, (0.9, 0.3, 0.4)),
    ),
    Program(
        "heading from a gyroscope",
        {"quaternions": heading_error, "matrices": heading_error_by_matrices},
        ([0.02, -0.01, 0.015], _RATES, 0.05, (0.95, -0.1, -0.2)),
    ),
    Program(
        "calibration of wheels",
        {"frozen dataclass": calibration, "iterators": calibration_by_sums},
        (0.11, 0.42, _WHEELS, 0.1, (1.0, 0.5)),
        (0, 1),
    ),
    Program(
        "effort of a trajectory",
        {"dicts": effort, "classes": effort_of_segments},
        ([0.1, 0.8, 0.5, 1.4], 1.3, 0.4, [0.061 + 0.1 * i for i in range(29)]),
        (0, 1, 2),
    ),
]
