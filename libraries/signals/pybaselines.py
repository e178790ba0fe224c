"""pybaselines: baselines below spectra."""

import numpy as np
import pybaselines
from pybaselines import Baseline, utils

from libraries.package import Package

package = Package("pybaselines")

X = np.linspace(0.0, 10.0, 24)
Y = 0.5 * X + 3.0 * np.exp(-((X - 4.0) ** 2)) + 2.0 * np.exp(-((X - 7.0) ** 2) / 0.5) + 0.1 * np.sin(5 * X)


@package.call(Y)
def polynomial(spectrum):
    return pybaselines.polynomial.poly(spectrum, X, poly_order=2)[0]


@package.call(Y)
def asymmetric_least_squares(spectrum):
    return pybaselines.whittaker.asls(spectrum, lam=100.0, p=0.05, max_iter=3)[0]


@package.call(100.0)
def stiffness(stiffness):
    return pybaselines.whittaker.asls(Y, lam=stiffness, p=0.05, max_iter=3)[0]


@package.call(Y)
def penalised_polynomial(spectrum):
    fitter = Baseline(x_data=X)
    return fitter.penalized_poly(spectrum, poly_order=2, threshold=0.3, max_iter=2)[0]


@package.call(4.2, 0.8)
def peak(center, sigma):
    return utils.gaussian(X, 2.0, center, sigma)


@package.call(Y)
def smoothed(spectrum):
    return utils.whittaker_smooth(spectrum, lam=10.0)
