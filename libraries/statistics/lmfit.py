"""lmfit: models that are fitted to data."""

import lmfit
import numpy as np
from lmfit import lineshapes, models

from libraries.package import Package

package = Package("lmfit")

X = np.linspace(-3.0, 3.0, 13)
DATA = 2.0 * np.exp(-((X - 0.4) ** 2) / 1.3) + 0.1 * X
model = models.GaussianModel(prefix="peak_") + models.LinearModel(prefix="base_")


@package.call(1.5, 0.3, 0.8)
def voigt(amplitude, center, sigma):
    return lineshapes.voigt(X, amplitude, center, sigma, gamma=0.4)


@package.call(1.5, 0.3, 0.8)
def skewed_voigt(amplitude, center, sigma):
    return lineshapes.pvoigt(X, amplitude, center, sigma, fraction=0.3)


@package.call(2.0, 0.4, 0.9, 0.1)
def evaluated_model(amplitude, center, sigma, slope):
    return model.eval(
        x=X,
        peak_amplitude=amplitude,
        peak_center=center,
        peak_sigma=sigma,
        base_slope=slope,
        base_intercept=0.0,
    )


@package.call(2.0, 0.4)
def residual_of_parameters(amplitude, center):
    parameters = lmfit.Parameters()
    parameters.add("amplitude", value=amplitude)
    parameters.add("center", value=center, min=-2.0, max=2.0)
    parameters.add("sigma", expr="center / 2 + 0.6")
    values = parameters.valuesdict()
    residual = DATA - lineshapes.gaussian(X, **values)
    return float(np.sum(residual**2))


@package.call(2.0, 0.4, 0.8)
def lorentzian_with_offset(amplitude, center, sigma):
    return models.LorentzianModel().eval(x=X, amplitude=amplitude, center=center, sigma=sigma) + 0.2


@package.call(1.2, 0.7)
def exponential_decay(amplitude, decay):
    return lineshapes.exponential(np.abs(X), amplitude, decay)


@package.call(1.0, 0.2, 0.5)
def step(amplitude, center, sigma):
    return lineshapes.step(X, amplitude, center, sigma, form="erf")


@package.call(0.7, 1.4)
def breit_wigner(sigma, q):
    return lineshapes.breit_wigner(X, 1.0, 0.1, sigma, q)


@package.call(1.0, 0.4)
def own_model(rate, phase):
    def wave(x, rate, phase):
        return np.sin(rate * x + phase)

    return lmfit.Model(wave).eval(x=X, rate=rate, phase=phase)
