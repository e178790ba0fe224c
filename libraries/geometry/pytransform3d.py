"""pytransform3d: chains of transformations."""

import numpy as np
import pytransform3d.rotations as pr
import pytransform3d.transformations as pt
from pytransform3d.transform_manager import TransformManager

from libraries.package import Package

package = Package("pytransform3d")


@package.call(0.3, -0.4, 0.9)
def matrix_from_angles(a, b, c):
    return pr.matrix_from_euler([a, b, c], 0, 1, 2, extrinsic=True)


@package.call(np.array([0.2, -0.5, 0.7]))
def matrix_from_a_compact_axis(axis):
    return pr.matrix_from_compact_axis_angle(axis)


@package.call(np.array([0.9, 0.1, -0.3, 0.2]))
def quaternion_product(q):
    return pr.concatenate_quaternions(pr.check_quaternion(q), [0.5, 0.5, 0.5, 0.5])


@package.call(0.35)
def interpolated_orientation(amount):
    return pr.quaternion_slerp(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.8, 0.0, 0.6, 0.0]), amount)


@package.call(np.array([0.1, 0.2, 0.3]), 0.5)
def through_a_chain(offset, angle):
    manager = TransformManager(check=False)
    camera = pt.transform_from(pr.active_matrix_from_angle(2, angle), offset)
    manager.add_transform("camera", "robot", camera)
    manager.add_transform("object", "camera", pt.transform_from(np.eye(3), [0.5, 0.0, 1.0]))
    return pt.transform(manager.get_transform("object", "robot"), [1.0, 2.0, 3.0, 1.0])


@package.call(np.array([0.1, -0.2, 0.3, 1.0, 2.0, -1.0]))
def exponential_coordinates(screw):
    return pt.transform_from_exponential_coordinates(screw)


@package.call(np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.1, 0.2]))
def logarithm_of_a_pose(axis, position):
    pose = pt.transform_from(pr.matrix_from_compact_axis_angle(axis), position)
    return pt.exponential_coordinates_from_transform(pose)


@package.call(np.array([0.3, 0.4, 0.5]))
def modified_rodrigues(parameters):
    return pr.quaternion_from_mrp(parameters)


@package.call(np.array([1.0, 0.2, 0.1]), np.array([0.1, 1.0, -0.3]))
def two_directions(a, b):
    return pr.matrix_from_two_vectors(a, b)
