"""filterpy: Kalman filters."""

import numpy as np
from filterpy import common, discrete_bayes
from filterpy.gh import GHFilter
from filterpy.kalman import (
    ExtendedKalmanFilter,
    FadingKalmanFilter,
    KalmanFilter,
    MerweScaledSigmaPoints,
    UnscentedKalmanFilter,
)
from filterpy.stats import gaussian, mahalanobis, multivariate_multiply

from libraries.package import Package

package = Package("filterpy")

MEASURED = [1.1, 1.9, 3.2, 3.9]


def tracker(kind=KalmanFilter, **settings):
    kalman = kind(dim_x=2, dim_z=1, **settings)
    kalman.x = np.array([[0.0], [1.0]])
    kalman.F = np.array([[1.0, 1.0], [0.0, 1.0]])
    kalman.H = np.array([[1.0, 0.0]])
    kalman.P *= 10.0
    return kalman


@package.call(0.3)
def noise_of_a_sensor(noise):
    kalman = tracker()
    kalman.R = np.array([[noise]])
    kalman.Q = common.Q_discrete_white_noise(dim=2, dt=1.0, var=0.1)
    for z in MEASURED:
        kalman.predict()
        kalman.update(z)
    return kalman.x, kalman.P


@package.call(np.array(MEASURED))
def measurements(values):
    kalman = tracker()
    kalman.R *= 0.5
    for z in values:
        kalman.predict()
        kalman.update(z)
    return kalman.x[:, 0]


@package.call(np.array(MEASURED))
def a_batch(values):
    kalman = tracker()
    means, _, _, _ = kalman.batch_filter(list(values))
    return means[-1]


@package.call(0.1)
def white_noise(variance):
    return common.Q_discrete_white_noise(3, dt=0.5, var=variance)


@package.call(0.4)
def continuous_noise(step):
    return common.Q_continuous_white_noise(2, dt=step, spectral_density=2.0)


@package.call(0.8, 0.2)
def g_and_h(g, h):
    simple = GHFilter(x=0.0, dx=1.0, dt=1.0, g=g, h=h)
    for z in MEASURED:
        simple.update(z)
    return simple.x, simple.dx


@package.call(1.05)
def fading(alpha):
    kalman = tracker(FadingKalmanFilter, alpha=alpha)
    for z in MEASURED:
        kalman.predict()
        kalman.update(np.array([[z]]))
    return kalman.x


@package.call(0.4)
def extended(noise):
    kalman = tracker(ExtendedKalmanFilter)
    kalman.R = np.array([[noise]])
    for z in MEASURED:
        kalman.predict()
        kalman.update(
            np.array([[z]]),
            lambda x: np.array([[2.0 * x[0, 0], 0.0]]),
            lambda x: np.array([[x[0, 0] ** 2]]),
        )
    return kalman.x


@package.call(0.5)
def unscented(noise):
    def move(x, dt):
        return np.array([x[0] + dt * x[1], x[1]])

    points = MerweScaledSigmaPoints(2, alpha=0.1, beta=2.0, kappa=1.0)
    kalman = UnscentedKalmanFilter(2, 1, 1.0, hx=lambda x: x[:1] ** 2, fx=move, points=points)
    kalman.x = np.array([0.5, 1.0])
    kalman.R = np.array([[noise]])
    for z in MEASURED:
        kalman.predict()
        kalman.update(np.array([z]))
    return kalman.x


@package.call(0.3, 1.2)
def densities(x, variance):
    return gaussian(x, 0.5, variance), gaussian(1.0, x, 2.0)


@package.call(np.array([0.3, -0.5]))
def products_of_normals(mean):
    found, _ = multivariate_multiply(mean, np.eye(2), np.array([1.0, 2.0]), np.diag([2.0, 0.5]))
    return found, mahalanobis(mean, np.array([1.0, 1.0]), np.diag([2.0, 3.0]))


@package.call(np.array([0.1, 0.6, 0.3]))
def discrete(belief):
    return discrete_bayes.normalize(belief * np.array([0.5, 1.0, 2.0])) * np.arange(3.0)
