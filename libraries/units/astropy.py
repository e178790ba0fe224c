"""astropy: units, cosmology, models and coordinates."""

import astropy.units as u
import numpy as np
from astropy import constants, modeling
from astropy.convolution import Gaussian1DKernel
from astropy.cosmology import FlatLambdaCDM
from astropy.modeling import models
from astropy.stats import biweight_location, circmean, mad_std
from astropy.timeseries import LombScargle
from astropy.visualization import AsinhStretch, LogStretch

from libraries.package import Package

package = Package("astropy")

X = np.linspace(-2.0, 2.0, 9)
cosmology = FlatLambdaCDM(H0=70.0, Om0=0.3, Tcmb0=0.0)


@package.call(12.0)
def converted(parsecs):
    return (parsecs * u.pc).to(u.lyr).value


@package.call(5800.0)
def energy_of_a_star(temperature):
    flux = constants.sigma_sb * (temperature * u.K) ** 4
    return flux.to_value(u.W / u.m**2)


@package.call(1.4, 0.3, 0.8)
def gaussian_model(amplitude, mean, deviation):
    return models.Gaussian1D(amplitude, mean, deviation)(X)


@package.call(1.4, 0.3)
def evaluated_statically(amplitude, mean):
    return models.Gaussian1D.evaluate(X, amplitude, mean, 0.7) + models.Lorentz1D.evaluate(
        X, amplitude, mean, 0.5
    )


@package.call(0.7)
def compound_model(slope):
    return (models.Linear1D(slope, 1.0) * models.Sine1D(1.0, 0.3, 0.1))(X)


@package.call(0.5)
def hubble_rate(redshift):
    return cosmology.inv_efunc(redshift), cosmology.efunc(redshift)


@package.call(0.5)
def comoving_distance(redshift):
    return cosmology.comoving_distance(redshift).value


@package.call(np.array([1.0, 2.0, 2.5, 3.1, 9.0]))
def robust_location(values):
    return biweight_location(values), mad_std(values)


@package.call(np.array([0.1, 0.3, 1.2]))
def mean_of_angles(angles):
    return circmean(angles)


@package.call(np.sin(np.arange(12.0)))
def power_of_a_series(values):
    return LombScargle(np.arange(12.0) ** 1.1, values).power(0.17, method="slow")


@package.call(np.array([0.2, 0.5, 0.9]))
def stretched(values):
    return LogStretch()(values), AsinhStretch()(values)


@package.call(1.3)
def smoothed(scale):
    return scale * np.convolve(X**2, Gaussian1DKernel(2).array)[:5]


@package.call(2.0)
def black_body(temperature):
    return models.BlackBody(temperature * 1000.0 * u.K)(5000.0 * u.AA).value * 1e5


@package.call(np.array([1.0, 0.4, -0.2]))
def polynomial_model(coefficients):
    c0, c1, c2 = coefficients
    return modeling.polynomial.Polynomial1D(2, c0=c0, c1=c1, c2=c2)(X)
