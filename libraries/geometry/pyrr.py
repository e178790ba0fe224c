"""pyrr: matrices for three-dimensional pictures."""

import numpy as np
import pyrr
from pyrr import Matrix44, Quaternion, Vector3

from libraries.package import Package

package = Package("pyrr")


@package.call(60.0, 1.3)
def perspective(angle, aspect):
    return pyrr.matrix44.create_perspective_projection(angle, aspect, 0.1, 100.0)


@package.call(np.array([3.0, 4.0, 5.0]))
def look_at(eye):
    return pyrr.matrix44.create_look_at(eye, np.array([0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))


@package.call(0.4)
def object_of_matrix(angle):
    matrix = Matrix44.from_x_rotation(angle) * Matrix44.from_translation([1.0, 2.0, 3.0])
    return np.array(matrix * Vector3([1.0, 0.5, 0.2]))


@package.call(0.4, 0.8)
def quaternions(first, second):
    product = Quaternion.from_x_rotation(first) * Quaternion.from_y_rotation(second)
    return np.array(product.matrix44)


@package.call(np.array([0.2, 0.4, -0.3]))
def ray_and_plane(direction):
    ray = pyrr.ray.create([0.0, 5.0, 0.0], pyrr.vector.normalise(direction - np.array([0.0, 2.0, 0.0])))
    return pyrr.geometric_tests.ray_intersect_plane(ray, np.array([0.0, 1.0, 0.0, 0.5]))


@package.call(0.3)
def interpolated(amount):
    a = pyrr.quaternion.create_from_z_rotation(0.2)
    return pyrr.quaternion.slerp(a, pyrr.quaternion.create_from_x_rotation(1.0), amount)


@package.call(np.array([1.0, 2.0, 2.0]))
def vector_length(vector):
    return pyrr.vector.length(vector) + pyrr.vector.squared_length(vector)


@package.call(np.array([0.1, 0.2, 0.3]))
def from_euler_angles(angles):
    return pyrr.matrix33.create_from_eulers(angles)
