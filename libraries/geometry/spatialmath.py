"""spatialmath-python: poses and rotations."""

import numpy as np
import spatialmath.base as smb
from spatialmath import SE3, SO3, UnitQuaternion

from libraries.package import Package

package = Package("spatialmath-python")


@package.call(0.3)
def rotation(angle):
    return smb.rotx(angle) @ smb.rotz(2.0 * angle)


@package.call(0.3, -0.2, 0.8)
def roll_pitch_yaw(roll, pitch, yaw):
    return smb.rpy2r(roll, pitch, yaw), smb.tr2rpy(smb.rpy2r(roll, pitch, yaw))


@package.call(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
def exponential(twist):
    return smb.trexp(twist)


@package.call(0.3)
def logarithm(angle):
    return smb.trlog(smb.rotx(angle) @ smb.roty(0.2), twist=True)


@package.call(0.3, 1.5)
def poses(angle, distance):
    pose = SE3.Rx(angle) * SE3.Tx(distance) * SE3.Rz(0.2)
    return pose.A


@package.call(0.3)
def transformed_point(angle):
    return (SE3.Ry(angle) * SE3(1.0, 2.0, 3.0) * np.array([0.1, 0.2, 0.3])).ravel()


@package.call(0.4)
def quaternion(angle):
    return (UnitQuaternion.Rx(angle) * UnitQuaternion.Ry(0.3)).vec


@package.call(0.35)
def interpolated(amount):
    return SO3.Rx(0.2).interp(SO3.Rz(0.9), amount).A


@package.call(np.array([1.0, 2.0, 2.0]))
def skew(vector):
    return smb.skew(vector), smb.unitvec(vector), smb.norm(vector)
