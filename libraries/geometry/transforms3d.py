"""transforms3d: rotations and affine transformations."""

import numpy as np
from transforms3d import affines, axangles, euler, quaternions, reflections, shears

from libraries.package import Package

package = Package("transforms3d")


@package.call(0.3, -0.4, 0.9)
def euler_to_matrix(a, b, c):
    return euler.euler2mat(a, b, c, "syxz")


@package.call(0.3, -0.4, 0.9)
def euler_and_back(a, b, c):
    return euler.mat2euler(euler.euler2mat(a, b, c, "sxyz"), "rzyx")


@package.call(0.3, -0.4, 0.9)
def euler_to_quaternion(a, b, c):
    return euler.euler2quat(a, b, c)


@package.call(np.array([0.5, 0.5, -0.5, 0.4]))
def quaternion_to_matrix(q):
    return quaternions.quat2mat(q)


@package.call(np.array([0.9, 0.1, -0.3, 0.2]), np.array([0.7, 0.2, 0.6, 0.1]))
def products_of_quaternions(p, q):
    return quaternions.qmult(p, quaternions.qinverse(q)), quaternions.rotate_vector(
        [1.0, 2.0, 3.0], q / quaternions.qnorm(q)
    )


@package.call(np.array([1.0, 2.0, -0.5]), 0.8)
def about_an_axis(axis, angle):
    return axangles.axangle2mat(axis, angle)


@package.call(0.8)
def axis_from_a_matrix(angle):
    return axangles.mat2axangle(axangles.axangle2mat([0.0, 0.6, 0.8], angle))


@package.call(np.array([2.0, 3.0, 4.0]), 0.25)
def affine(zooms, angle):
    matrix = affines.compose([10.0, 20.0, 30.0], euler.euler2mat(angle, 0.1, 0.2), zooms, [0.1, 0.2, 0.3])
    return matrix


@package.call(np.array([2.0, 3.0, 4.0]), 0.25)
def decomposed(zooms, angle):
    return affines.decompose44(affines.compose([10.0, 20.0, 30.0], euler.euler2mat(angle, 0.1, 0.2), zooms))


@package.call(np.array([0.2, 0.5, 0.8]))
def reflection(normal):
    return reflections.rfnorm2aff(normal, [0.1, 0.2, 0.3])


@package.call(0.3)
def shear(angle):
    return shears.sadn2aff(angle, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 2.0, 3.0])
