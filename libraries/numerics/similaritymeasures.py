"""similaritymeasures: distances between curves."""

import numpy as np
import similaritymeasures as sm

from libraries.package import Package

package = Package("similaritymeasures")

x = np.linspace(0.0, 1.0, 7)
REFERENCE = np.column_stack([x, np.sin(3 * x)])
CURVE = np.column_stack([x * 1.1, np.sin(3 * x) + 0.2 * x + 0.05])


@package.call(CURVE)
def frechet(curve):
    return sm.frechet_dist(curve, REFERENCE)


@package.call(CURVE)
def time_warping(curve):
    distance, _ = sm.dtw(curve, REFERENCE)
    return distance


@package.call(CURVE)
def area_between(curve):
    return sm.area_between_two_curves(curve, REFERENCE)


@package.call(CURVE)
def partial_curve_mapping(curve):
    return sm.pcm(curve, REFERENCE)


@package.call(CURVE)
def curve_length(curve):
    return sm.curve_length_measure(curve, REFERENCE)


@package.call(CURVE)
def mean_errors(curve):
    return sm.mae(curve, REFERENCE), sm.mse(curve, REFERENCE)
