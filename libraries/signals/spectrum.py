"""spectrum: parametric estimates of spectra."""

import numpy as np
import spectrum
from spectrum import linear_prediction, toeplitz, window

from libraries.package import Package

package = Package("spectrum")

t = np.arange(32.0)
SERIES = np.cos(0.7 * t) + 0.4 * np.sin(1.9 * t) + 0.05 * np.random.default_rng(2).normal(size=32)


@package.call(SERIES)
def yule_walker(series):
    coefficients, noise, reflections = spectrum.aryule(series, 4)
    return coefficients.real, noise, reflections.real


@package.call(SERIES)
def burg(series):
    coefficients, noise, _ = spectrum.arburg(series, 4)
    return np.real(coefficients), np.real(noise)


@package.call(np.array([2.0, 0.9, 0.3, -0.2]))
def levinson(correlations):
    coefficients, error, reflections = spectrum.LEVINSON(correlations)
    return coefficients, error, reflections


@package.call(SERIES)
def correlation(series):
    return spectrum.CORRELATION(series, maxlags=4, norm="unbiased").real


@package.call(np.array([0.4, -0.3, 0.2]))
def polynomial_from_reflections(reflections):
    coefficients, error = linear_prediction.rc2poly(reflections, 1.5)
    return coefficients, error


@package.call(0.3)
def window_of_kaiser(beta):
    return window.window_kaiser(8, beta=10.0 * beta)


@package.call(2.5)
def window_of_gauss(alpha):
    return window.window_gaussian(8, alpha=alpha)


@package.call(SERIES[:12])
def periodogram(series):
    return spectrum.speriodogram(series, NFFT=16, detrend=False)


@package.call(np.array([1.5, 0.5, 0.2]))
def hermitian_toeplitz(row):
    return np.real(toeplitz.HERMTOEP(4.0, row + 0j, np.array([1.0 + 0j, 2.0, 3.0, 4.0])))


@package.call(SERIES)
def predicted(series):
    return spectrum.lpc(series, 3)[0]
