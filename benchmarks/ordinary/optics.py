"""Lenses, mirrors, layers and rays."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import reduce
from operator import matmul
from typing import NamedTuple

import numpy as np

from benchmarks.program import Program

# -- meridional rays through a lens system ------------------------------------------------------------


class Surface(NamedTuple):
    curvature: float
    thickness: float
    index: float


def trace(surfaces, height):
    """Height and slope angle behind the last surface, for a ray that comes in parallel to the axis."""
    n, y, u = 1.0, height, 0.0
    for s in surfaces:
        if s.curvature == 0.0:
            u = math.asin(n / s.index * math.sin(u))
        else:
            r = 1.0 / s.curvature
            phi = math.asin(y / r)
            incidence = phi + u
            refracted = math.asin(n / s.index * math.sin(incidence))
            u = refracted - phi
        y = y + s.thickness * math.tan(u)
        n = s.index
    return y, u


def spot_size(curvatures, thicknesses, indices, heights):
    surfaces = [Surface(*row) for row in zip(curvatures, thicknesses, indices)]
    ends = [trace(surfaces, h)[0] for h in heights]
    return sum(e * e for e in ends) / len(ends)


class Ray:
    def __init__(self, y, u=0.0, index=1.0):
        self.y, self.u, self.index = y, u, index

    def __repr__(self):
        return f"Ray(y={self.y}, u={self.u})"


class Element:
    def apply(self, ray):
        raise NotImplementedError

    def __rshift__(self, other):
        return Train([self, other])


class Refraction(Element):
    def __init__(self, curvature, index):
        self.curvature, self.index = curvature, index

    def apply(self, ray):
        normal = math.asin(ray.y * self.curvature)
        inside = math.asin(ray.index / self.index * math.sin(normal + ray.u))
        ray.u = inside - normal
        ray.index = self.index


class Gap(Element):
    def __init__(self, length):
        self.length = length

    def apply(self, ray):
        ray.y += self.length * math.tan(ray.u)


class Train(Element):
    def __init__(self, elements=()):
        self.elements = list(elements)

    def __rshift__(self, other):
        return Train(self.elements + [other])

    def apply(self, ray):
        for element in self.elements:
            element.apply(ray)
        return ray


def spot_size_of_train(curvatures, thicknesses, indices, heights):
    train = Train()
    for c, t, n in zip(curvatures, thicknesses, indices):
        train = train >> Refraction(c, n) >> Gap(t)
    squares = [train.apply(Ray(h)).y ** 2 for h in heights]
    return sum(squares) / len(squares)


# -- ABCD matrices of a resonator ------------------------------------------------------------


def free_space(d):
    return np.array([[1.0, d], [0.0, 1.0]])


def thin_lens(f):
    return np.array([[1.0, 0.0], [-1.0 / f, 1.0]])


def mirror(r):
    return np.array([[1.0, 0.0], [-2.0 / r, 1.0]])


def beam_waist(design, wavelength, passes):
    """Spot on the output coupler from the round trip matrix, after some passes of a launched beam."""
    arm, focal, radius, launch = design
    trip = reduce(
        matmul,
        [
            mirror(radius),
            free_space(arm),
            thin_lens(focal),
            free_space(2 * arm),
            thin_lens(focal),
            free_space(arm),
        ],
    )
    (a, b), (c, d) = trip
    q = complex(0.0, math.pi * launch**2 / wavelength)
    for _ in range(passes):
        q = (a * q + b) / (c * q + d)
    return math.sqrt(-wavelength / (math.pi * (1 / q).imag))


@dataclass(frozen=True)
class ABCD:
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0

    def __matmul__(self, o):
        return ABCD(
            self.a * o.a + self.b * o.c,
            self.a * o.b + self.b * o.d,
            self.c * o.a + self.d * o.c,
            self.c * o.b + self.d * o.d,
        )

    def __call__(self, q):
        return (self.a * q + self.b) / (self.c * q + self.d)


def beam_waist_by_objects(design, wavelength, passes):
    arm, focal, radius, launch = design
    lens = ABCD(c=-1.0 / focal)
    gap = ABCD(b=arm)
    trip = ABCD(c=-2.0 / radius) @ gap @ lens @ gap @ gap @ lens @ gap
    q = 1j * math.pi * launch**2 / wavelength
    for _ in range(passes):
        q = trip(q)
    inverse = 1.0 / q
    return math.sqrt(-wavelength / (math.pi * inverse.imag))


# -- reflection of a stack of thin layers ------------------------------------------------------------


def reflectance(indices, thicknesses, substrate, wavelength, angle=0.0):
    """Transfer matrices of s-polarised light."""
    sine = math.sin(angle)

    def cosine(n):
        return cmath.sqrt(1.0 - (sine / n) ** 2)

    m11, m12, m21, m22 = 1.0 + 0j, 0j, 0j, 1.0 + 0j
    for n, d in zip(indices, thicknesses):
        eta = n * cosine(n)
        delta = 2.0 * math.pi * d * eta / wavelength
        c, s = cmath.cos(delta), 1j * cmath.sin(delta)
        m11, m12, m21, m22 = (
            m11 * c + m12 * s * eta,
            m11 * s / eta + m12 * c,
            m21 * c + m22 * s * eta,
            m21 * s / eta + m22 * c,
        )
    first, last = cosine(1.0), substrate * cosine(substrate)
    b, c = m11 + m12 * last, m21 + m22 * last
    r = (first * b - c) / (first * b + c)
    return abs(r) ** 2


def mean_reflectance(indices, thicknesses, substrate, wavelengths, angle):
    total = 0.0
    for w in wavelengths:
        total += reflectance(indices, thicknesses, substrate, w, angle=angle)
    return total / len(wavelengths)


def mean_reflectance_by_arrays(indices, thicknesses, substrate, wavelengths, angle):
    w = np.asarray(wavelengths)
    sine = np.sin(angle)
    cosine = lambda n: np.sqrt(1.0 - (sine / n) ** 2)
    last = substrate * cosine(substrate)
    b = np.ones(len(w), dtype=complex)
    c = np.full(len(w), last, dtype=complex)
    for n, d in reversed(list(zip(indices, thicknesses))):
        eta = n * cosine(n)
        delta = 2 * np.pi * d * eta / w
        b, c = (
            np.cos(delta) * b + 1j * np.sin(delta) / eta * c,
            1j * eta * np.sin(delta) * b + np.cos(delta) * c,
        )
    first = cosine(1.0)
    r = (first * b - c) / (first * b + c)
    return np.mean(np.abs(r) ** 2)


# -- a scene of spheres ------------------------------------------------------------


class Vec3(NamedTuple):
    x: float
    y: float
    z: float

    def plus(self, other, k=1.0):
        return Vec3(self.x + k * other.x, self.y + k * other.y, self.z + k * other.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self):
        n = math.sqrt(self.dot(self))
        return Vec3(self.x / n, self.y / n, self.z / n)


@dataclass
class Sphere:
    centre: Vec3
    radius: float
    shininess: float

    def hit(self, origin, direction):
        to = origin.plus(self.centre, -1.0)
        b = to.dot(direction)
        disc = b * b - to.dot(to) + self.radius**2
        if disc < 0:
            return None
        t = -b - math.sqrt(disc)
        return t if t > 1e-6 else None


def brightness(radii, light, scene, pixels):
    """Mean diffuse and specular light over rays from the origin along +z."""
    spheres = [Sphere(Vec3(*c), r, s) for (c, s), r in zip(scene, radii)]
    lamp = Vec3(*light).unit()
    eye = Vec3(0.0, 0.0, 0.0)
    total = 0.0
    for px, py in pixels:
        ray = Vec3(px, py, 1.0).unit()
        hits = [(t, s) for s in spheres if (t := s.hit(eye, ray)) is not None]
        if not hits:
            total += 0.05
            continue
        t, sphere = min(hits, key=lambda pair: pair[0])
        normal = eye.plus(ray, t).plus(sphere.centre, -1.0).unit()
        diffuse = max(normal.dot(lamp), 0.0)
        mirrored = lamp.plus(normal, -2.0 * lamp.dot(normal))
        total += diffuse + 0.5 * max(mirrored.dot(ray), 0.0) ** sphere.shininess
    return total / len(pixels)


def brightness_by_arrays(radii, light, scene, pixels):
    lamp = np.array(light) / np.linalg.norm(light)
    rays = np.array([(x, y, 1.0) for x, y in pixels])
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    nearest = np.full(len(rays), np.inf)
    colour = np.full(len(rays), 0.05)
    for (centre, shininess), radius in zip(scene, radii):
        centre = np.array(centre)
        b = -(rays @ centre)
        disc = b * b - centre @ centre + radius**2
        inside = disc >= 0
        t = -b - np.sqrt(np.where(inside, disc, 1.0))
        seen = inside & (t > 1e-6) & (t < nearest)
        normal = t[:, None] * rays - centre
        normal = normal / np.linalg.norm(normal, axis=1)[:, None]
        cosine = normal @ lamp
        mirrored = lamp - 2.0 * cosine[:, None] * normal
        specular = np.maximum(np.sum(mirrored * rays, axis=1), 0.0) ** shininess
        colour[seen] = (np.maximum(cosine, 0.0) + 0.5 * specular)[seen]
        nearest[seen] = t[seen]
    return colour.mean()


_SCENE = [((0.0, 0.0, 4.0), 8.0), ((1.1, 0.4, 3.2), 12.0), ((-0.9, -0.5, 5.0), 6.0)]
_PIXELS = [(0.11 * i - 0.37, 0.13 * j - 0.29) for i in range(7) for j in range(5)]

PROGRAMS = [
    Program(
        "spot size of a lens system",
        {"named tuples": spot_size, "elements that act on rays": spot_size_of_train},
        (
            [0.02, -0.018, 0.015, -0.005],
            [4.0, 1.5, 3.0, 60.0],
            [1.52, 1.0, 1.62, 1.0],
            [0.5 * i + 0.25 for i in range(12)],
        ),
        (0, 1),
    ),
    Program(
        "beam in a resonator",
        {"matrices": beam_waist, "frozen dataclass": beam_waist_by_objects},
        ([0.11, 0.4, 0.9, 3e-4], 1.064e-6, 30),
    ),
    Program(
        "reflection of layers",
        {"complex numbers": mean_reflectance, "complex arrays": mean_reflectance_by_arrays},
        ([1.38, 2.1, 1.46], [95.0, 130.0, 80.0], 1.52, [450.0 + 25.0 * i for i in range(12)], 0.3),
        (0, 1),
    ),
    Program(
        "light on spheres",
        {"rays one by one": brightness, "arrays of rays": brightness_by_arrays},
        ([1.0, 0.5, 0.8], (-1.0, 1.0, -2.0), _SCENE, _PIXELS),
        (0, 1),
    ),
]
