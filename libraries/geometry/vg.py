"""vg: vectors by name."""

import numpy as np
import vg

from libraries.package import Package

package = Package("vg")

UP = np.array([0.0, 1.0, 0.0])


@package.call(np.array([1.0, 2.0, -0.5]), np.array([0.3, -1.0, 2.0]))
def angle(a, b):
    return vg.angle(a, b)


@package.call(np.array([1.0, 2.0, -0.5]))
def signed_angle(vector):
    return vg.signed_angle(vector, np.array([1.0, 0.0, 0.3]), look=UP, units="rad")


@package.call(np.array([[1.0, 2.0, -0.5], [0.2, 0.4, 3.0]]))
def normalised(vectors):
    return vg.normalize(vectors)


@package.call(np.array([1.0, 2.0, -0.5]), 30.0)
def rotated(vector, degrees):
    return vg.rotate(vector, UP, degrees)


@package.call(np.array([1.0, 2.0, -0.5]), np.array([0.3, -1.0, 2.0]))
def projections(a, b):
    return vg.project(a, onto=b), vg.reject(a, from_v=b), vg.scalar_projection(a, b)


@package.call(np.array([1.0, 2.0, -0.5]), np.array([0.3, -1.0, 2.0]))
def perpendicular(a, b):
    return vg.perpendicular(a, b)


@package.call(np.array([[1.0, 2.0, -0.5], [0.2, 0.4, 3.0], [1.0, -1.0, 0.1]]))
def distances(points):
    return vg.euclidean_distance(points, np.array([[0.1, 0.2, 0.3]] * 3)), vg.magnitude(points)


@package.call(np.array([[1.0, 2.0, -0.5], [0.2, 0.4, 3.0], [1.0, -1.0, 0.1], [2.0, 1.0, 0.5]]))
def main_axis(points):
    return vg.farthest(points, np.zeros(3))[0]
