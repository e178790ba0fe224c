"""PyAstronomy: orbits, rotation and light."""

import numpy as np
from PyAstronomy import pyasl

from libraries.package import Package

package = Package("PyAstronomy")

WAVES = np.linspace(4000.0, 4010.0, 21)


@package.call(1.2, 0.4)
def orbit(axis, eccentricity):
    return pyasl.KeplerEllipse(axis, 2.3, e=eccentricity, Omega=20.0, i=70.0, w=10.0).xyzPos(0.7)


@package.call(0.4)
def distance_in_an_orbit(eccentricity):
    found = pyasl.KeplerEllipse(1.0, 2.3, e=eccentricity)
    return found.radius(0.7), found.trueAnomaly(0.7)


@package.call(0.4, 2.2)
def kepler_equation(eccentricity, anomaly):
    return pyasl.MarkleyKESolver().getE(anomaly, eccentricity)


@package.call(3.0)
def from_vacuum_to_air(shift):
    return pyasl.vactoair2(WAVES + shift)


@package.call(0.6)
def reddening(excess):
    return pyasl.unred(WAVES, np.ones(21), ebv=excess, R_V=3.1)


@package.call(5800.0)
def planck(temperature):
    return pyasl.planck(temperature, 5000e-10) * 1e-13


@package.call(0.3)
def phases(mass):
    return pyasl.foldAt(np.array([0.1, 0.7, 1.9]), 1.0 + mass)


@package.call(40.0)
def broadened(velocity):
    flux = 1.0 - 0.5 * np.exp(-((WAVES - 4005.0) ** 2))
    return pyasl.fastRotBroad(WAVES, flux, 0.6, 100.0 + velocity)


@package.call(5.0)
def distance_modulus(magnitude):
    return pyasl.absMagToPower(magnitude) * 1e-26
