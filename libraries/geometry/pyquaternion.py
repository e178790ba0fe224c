"""pyquaternion: rotations as quaternions."""

import numpy as np
from pyquaternion import Quaternion

from libraries.package import Package

package = Package("pyquaternion")


@package.call(0.7, np.array([1.0, 2.0, 3.0]))
def rotated_vector(angle, vector):
    return Quaternion(axis=[0.0, 0.6, 0.8], angle=angle).rotate(vector)


@package.call(0.3, 1.1)
def composed(first, second):
    q = Quaternion(axis=[1, 0, 0], radians=first) * Quaternion(axis=[0, 0, 1], radians=second)
    return q.elements


@package.call(np.array([0.9, 0.1, -0.3, 0.2]))
def rotation_matrix(elements):
    return Quaternion(elements).normalised.rotation_matrix


@package.call(0.4, 0.35)
def interpolated(angle, amount):
    start, end = Quaternion(axis=[1, 1, 0], angle=0.2), Quaternion(axis=[0, 1, 1], angle=angle)
    return Quaternion.slerp(start, end, amount).elements


@package.call(1.2, 0.4)
def distance(first, second):
    a, b = Quaternion(axis=[1, 0, 0], angle=first), Quaternion(axis=[0, 1, 0], angle=second)
    return Quaternion.distance(a, b) + Quaternion.absolute_distance(a, b)


@package.call(np.array([0.3, -0.2, 0.5]))
def exponential(vector):
    q = Quaternion.exp(Quaternion(vector=vector))
    return Quaternion.log(q * Quaternion(0.8, 0.6, 0.0, 0.0)).elements


@package.call(0.5, 0.2, -0.1)
def yaw_pitch_roll(x, y, z):
    return Quaternion(0.8, x, y, z).yaw_pitch_roll


@package.call(0.1)
def integrated(step):
    q = Quaternion(axis=[0, 0, 1], angle=0.3)
    for _ in range(3):
        q.integrate([0.1, 0.2, 0.5], step)
    return q.elements
