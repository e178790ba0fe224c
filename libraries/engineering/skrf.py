"""scikit-rf: networks at radio frequencies."""

import numpy as np
import skrf as rf
from skrf import mathFunctions as functions
from skrf import network, tlineFunctions

from libraries.package import Package

package = Package("scikit-rf")

FREQUENCY = rf.Frequency(1, 3, 3, "GHz")


@package.call(75.0, 0.3)
def reflection_of_a_load(resistance, reactance):
    return abs(tlineFunctions.zl_2_Gamma0(50.0, resistance + 10j * reactance))


@package.call(1.2)
def seen_through_a_line(theta):
    return np.real(tlineFunctions.input_impedance_at_theta(50.0, 75.0 + 20j, 1j * theta))


@package.call(0.5)
def decibels(gain):
    return functions.complex_2_db(gain + 0.2j), functions.mag_2_db(gain), functions.db_2_np(gain)


@package.call(np.array([60.0, 70.0, 80.0]))
def scattering_of_impedances(resistances):
    s = network.z2s(resistances.reshape(3, 1, 1) + 0j, 50.0)
    return np.abs(s).ravel()


@package.call(0.4)
def cascaded(loss):
    s = np.array([[[0.1, 1.0 - loss], [1.0 - loss, 0.05]]] * 3, dtype=complex)
    found = network.connect_s(s, 1, s, 0)
    return np.abs(found)


@package.call(0.4)
def network_object(reflection):
    s = np.full((3, 1, 1), reflection + 0.1j)
    return rf.Network(frequency=FREQUENCY, s=s, z0=50.0).s_mag.ravel()


@package.call(1.4)
def constant_media(scale):
    line = rf.media.DefinedGammaZ0(FREQUENCY, z0=50.0, gamma=1j).line(0.1, "m")
    return scale**2 * np.abs(line.s[:, 1, 0])


@package.call(0.02)
def skin_depth(conductivity):
    return tlineFunctions.skin_depth(1e9, 1e9 * conductivity, 1.0) * 1e6
