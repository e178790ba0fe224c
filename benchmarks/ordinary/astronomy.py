"""Orbits, the sky and maps of the earth."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from functools import cached_property
from math import atan2, cos, hypot, pi, radians, sin, sqrt, tan
from typing import NamedTuple

import numpy as np

from benchmarks.program import Program

# -- positions of a planet ------------------------------------------------------------


class Elements(NamedTuple):
    a: float
    e: float
    omega: float
    m0: float


def eccentric_anomaly(m, e, tolerance=1e-12):
    """Kepler's equation by Newton's method."""
    big_e = m if e < 0.8 else pi
    while True:
        delta = (big_e - e * sin(big_e) - m) / (1.0 - e * cos(big_e))
        big_e -= delta
        if abs(delta) < tolerance:
            return big_e


def orbit_residuals(elements, observations):
    """Sum of squared errors of positions in the plane of the orbit."""
    el = Elements(*elements)
    n = 2 * pi / el.a**1.5
    total = 0.0
    for t, x, y in observations:
        big_e = eccentric_anomaly(el.m0 + n * t, el.e)
        px = el.a * (cos(big_e) - el.e)
        py = el.a * sqrt(1 - el.e**2) * sin(big_e)
        dx = px * cos(el.omega) - py * sin(el.omega) - x
        dy = px * sin(el.omega) + py * cos(el.omega) - y
        total += dx * dx + dy * dy
    return total


class Orbit:
    def __init__(self, a, e, omega, m0):
        self.a, self.e, self.omega, self.m0 = a, e, omega, m0

    @cached_property
    def mean_motion(self):
        return 2 * np.pi / self.a**1.5

    @cached_property
    def rotation(self):
        c, s = np.cos(self.omega), np.sin(self.omega)
        return np.array([[c, -s], [s, c]])

    def solve_kepler(self, m):
        e = self.e
        x = m + e * np.sin(m)
        for _ in range(50):
            step = (x - e * np.sin(x) - m) / (1 - e * np.cos(x))
            x = x - step
            if np.max(np.abs(step)) < 1e-12:
                break
        return x

    def positions(self, times):
        x = self.solve_kepler(self.m0 + self.mean_motion * times)
        plane = np.stack([self.a * (np.cos(x) - self.e), self.a * np.sqrt(1 - self.e**2) * np.sin(x)])
        return self.rotation @ plane


def orbit_residuals_of_arrays(elements, observations):
    t, x, y = np.array(observations).T
    return np.sum((Orbit(*elements).positions(t) - np.array([x, y])) ** 2)


# -- great circles ------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    latitude: float
    longitude: float

    RADIUS = 6371.0

    def distance(self, other):
        """By the haversine formula, in kilometres."""
        p, q = radians(self.latitude), radians(other.latitude)
        dl = radians(other.longitude - self.longitude)
        h = sin((q - p) / 2) ** 2 + cos(p) * cos(q) * sin(dl / 2) ** 2
        return 2 * self.RADIUS * math.asin(sqrt(h))

    def __sub__(self, other):
        return self.distance(other)


def journey(stops, names):
    """Length of a round trip, and a penalty for long legs."""
    places = {name: Place(*stops[name]) for name in names}
    legs = [places[b] - places[a] for a, b in zip(names, names[1:] + names[:1])]
    return sum(legs) + 1e-4 * sum(leg**2 for leg in legs)


def vincenty(p, q):
    """The angle by vectors, which is stable everywhere."""

    def unit(place):
        lat, lon = map(radians, place)
        return cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)

    (ax, ay, az), (bx, by, bz) = unit(p), unit(q)
    cross = hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    return atan2(cross, ax * bx + ay * by + az * bz)


def journey_by_vectors(stops, names):
    total = penalty = 0.0
    previous = stops[names[-1]]
    for name in names:
        here = stops[name]
        leg = 6371.0 * vincenty(previous, here)
        total += leg
        penalty += leg * leg
        previous = here
    return total + 1e-4 * penalty


# -- projections ------------------------------------------------------------


class Projection:
    registry = {}

    def __init_subclass__(cls, /, name, **kwargs):
        super().__init_subclass__(**kwargs)
        Projection.registry[name] = cls

    def __init__(self, centre, parallel):
        self.centre, self.parallel = centre, parallel

    def __call__(self, lat, lon):
        return self.project(radians(lat), radians(lon - self.centre))

    def project(self, phi, lam):
        raise NotImplementedError


class Mercator(Projection, name="mercator"):
    def project(self, phi, lam):
        k = cos(radians(self.parallel))
        return k * lam, k * math.log(tan(pi / 4 + phi / 2))


class EqualArea(Projection, name="equal area"):
    def project(self, phi, lam):
        k = cos(radians(self.parallel))
        return k * lam, sin(phi) / k


class Sinusoidal(Projection, name="sinusoidal"):
    def project(self, phi, lam):
        return lam * cos(phi), phi


def map_distortion(centre, parallel, points):
    """How much lengths on three maps differ from those on the sphere."""
    total = 0.0
    for cls in Projection.registry.values():
        project = cls(centre, parallel)
        images = [project(*p) for p in points]
        for (p, q), (a, b) in zip(zip(points, points[1:]), zip(images, images[1:])):
            total += (math.dist(a, b) - vincenty(p, q)) ** 2
    return total


def map_distortion_of_functions(centre, parallel, points):
    k = np.cos(np.radians(parallel))
    phi, lam = np.radians(np.array(points) - [0.0, 1.0] * np.array([0.0, centre])).T
    maps = {
        "mercator": lambda: (k * lam, k * np.log(np.tan(np.pi / 4 + phi / 2))),
        "equal area": lambda: (k * lam, np.sin(phi) / k),
        "sinusoidal": lambda: (lam * np.cos(phi), phi),
    }
    unit = np.array([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    chord = np.linalg.norm(np.diff(unit, axis=1), axis=0)
    angle = 2 * np.arcsin(chord / 2)
    total = 0.0
    for project in maps.values():
        x, y = project()
        total += np.sum((np.hypot(np.diff(x), np.diff(y)) - angle) ** 2)
    return total


# -- sunshine ------------------------------------------------------------


def declination(day):
    return radians(-23.44) * cos(2 * pi * (day + 10) / 365.0)


def day_length(latitude, date):
    day = date.timetuple().tm_yday
    x = -tan(radians(latitude)) * tan(declination(day))
    return 24.0 / pi * math.acos(max(-1.0, min(1.0, x)))


def sunshine(latitude, tilt, start, weeks):
    """Hours of sun over weeks, weighted by the height of the sun at noon on a tilted roof."""
    total = 0.0
    date = start
    for _ in range(weeks):
        height = radians(90.0 - latitude) + declination(date.timetuple().tm_yday)
        total += day_length(latitude, date) * max(sin(height + radians(tilt)), 0.0)
        date += datetime.timedelta(weeks=1)
    return total / weeks


class Roof:
    def __init__(self, latitude, tilt):
        self.latitude = np.radians(latitude)
        self.tilt = np.radians(tilt)

    def yearly(self, days):
        delta = np.radians(-23.44) * np.cos(2 * np.pi * (days + 10) / 365.0)
        hours = 24 / np.pi * np.arccos(np.clip(-np.tan(self.latitude) * np.tan(delta), -1, 1))
        height = np.pi / 2 - self.latitude + delta + self.tilt
        return np.mean(hours * np.maximum(np.sin(height), 0))


def sunshine_of_roof(latitude, tilt, start, weeks):
    dates = [start + datetime.timedelta(days=7 * i) for i in range(weeks)]
    return Roof(latitude, tilt).yearly(np.array([d.timetuple().tm_yday for d in dates]))


_OBSERVED = [(0.2 * i, 1.5 * cos(0.8 * i) - 0.3, 1.4 * sin(0.8 * i)) for i in range(12)]
_STOPS = {
    "Oslo": [59.9, 10.8],
    "Cairo": [30.0, 31.2],
    "Lima": [-12.0, -77.0],
    "Tokyo": [35.7, 139.7],
    "Perth": [-31.9, 115.9],
    "Accra": [5.6, -0.2],
}
_COAST = [(50.0 + 2.0 * sin(0.7 * i), 1.5 * i + cos(i)) for i in range(12)]

PROGRAMS = [
    Program(
        "orbit of a planet",
        {"named tuple": orbit_residuals, "cached properties": orbit_residuals_of_arrays},
        ([1.5, 0.2, 0.3, 0.1], _OBSERVED),
    ),
    Program(
        "round trip on the earth",
        {"frozen dataclass": journey, "functions": journey_by_vectors},
        (_STOPS, list(_STOPS) * 3),
    ),
    Program(
        "distortion of maps",
        {"registry of classes": map_distortion, "dict of functions": map_distortion_of_functions},
        (8.0, 49.0, _COAST),
        (0, 1),
    ),
    Program(
        "sun on a roof",
        {"dates": sunshine, "arrays": sunshine_of_roof},
        (51.3, 30.0, datetime.date(2023, 1, 4), 40),
        (0, 1),
    ),
]
