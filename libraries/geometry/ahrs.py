"""AHRS: attitude from inertial sensors."""

import ahrs
import numpy as np
from ahrs.filters import Complementary, Madgwick, Mahony, Tilt

from libraries.package import Package

package = Package("AHRS")

GYROSCOPE = np.array([[0.01, 0.02, -0.01], [0.03, 0.01, 0.0], [0.02, -0.02, 0.05], [0.0, 0.01, 0.02]])
ACCELEROMETER = np.array([[0.1, 0.2, 9.7], [0.3, 0.1, 9.8], [0.2, 0.0, 9.75], [0.1, 0.1, 9.8]])
MAGNETOMETER = np.array([[20.0, 1.0, 40.0], [19.0, 3.0, 41.0], [21.0, 2.0, 39.0], [20.0, 2.0, 40.0]])


@package.call(0.033)
def madgwick_gain(gain):
    return Madgwick(gyr=GYROSCOPE, acc=ACCELEROMETER, gain=gain, Dt=0.01).Q


@package.call(np.array([0.1, 0.2, -0.1]), np.array([0.3, -0.2, 9.7]))
def one_step_of_madgwick(gyroscope, accelerometer):
    return Madgwick(Dt=0.01).updateIMU(np.array([1.0, 0.0, 0.0, 0.0]), gyr=gyroscope, acc=accelerometer)


@package.call(np.array([0.1, 0.2, -0.1]), np.array([0.3, -0.2, 9.7]))
def one_step_of_mahony(gyroscope, accelerometer):
    return Mahony(Dt=0.01).updateIMU(np.array([1.0, 0.0, 0.0, 0.0]), gyr=gyroscope, acc=accelerometer)


@package.call(np.array([0.5, 0.4, 9.0]), np.array([20.0, 3.0, 40.0]))
def tilt(accelerometer, magnetometer):
    return Tilt().estimate(acc=accelerometer, mag=magnetometer)


@package.call(0.9)
def complementary(gain):
    return Complementary(gyr=GYROSCOPE, acc=ACCELEROMETER, mag=MAGNETOMETER, gain=gain, Dt=0.01).Q


@package.call(np.array([0.9, 0.1, -0.3, 0.2]))
def quaternion_to_matrix(q):
    return ahrs.Quaternion(q).to_DCM()


@package.call(0.3, 0.2, 1.1)
def directions(roll, pitch, yaw):
    return ahrs.DCM(rpy=[roll, pitch, yaw]).to_quaternion()


@package.call(45.0, 11.0)
def geodesy(latitude, longitude):
    return ahrs.common.frames.geodetic2ecef(latitude, longitude, 500.0)
