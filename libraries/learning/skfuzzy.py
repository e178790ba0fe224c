"""scikit-fuzzy: membership of fuzzy sets."""

import numpy as np
import skfuzzy as fuzz

from libraries.package import Package

package = Package("scikit-fuzzy")

UNIVERSE = np.linspace(0.0, 10.0, 21)


@package.call(4.3, 1.2)
def gaussian(mean, sigma):
    return fuzz.gaussmf(UNIVERSE, mean, sigma)


@package.call(2.1, 3.3, 5.2)
def bell(width, slope, center):
    return fuzz.gbellmf(UNIVERSE, width, slope, center)


@package.call(5.1, 1.4)
def sigmoid(center, width):
    return fuzz.sigmf(UNIVERSE, center, width)


@package.call(1.23, 4.56, 8.12)
def triangle(a, b, c):
    return fuzz.trimf(UNIVERSE, [a, b, c])


@package.call(4.3)
def centroid(mean):
    return fuzz.defuzz(UNIVERSE, fuzz.gaussmf(UNIVERSE, mean, 1.5), "centroid")


@package.call(4.3, 3.1)
def centre_of_area(mean, sigma):
    return fuzz.dcentroid(UNIVERSE, fuzz.gaussmf(UNIVERSE, mean, sigma), 5.0)


@package.call(4.3, 6.7)
def combined(first, second):
    union = fuzz.fuzzy_or(
        UNIVERSE, fuzz.gaussmf(UNIVERSE, first, 1.1), UNIVERSE, fuzz.gaussmf(UNIVERSE, second, 0.9)
    )
    return union[1]


@package.call(2.2)
def membership_of_a_value(value):
    return fuzz.interp_membership(UNIVERSE, fuzz.trapmf(UNIVERSE, [1.0, 3.0, 5.0, 9.0]) ** 2, value)
