"""scikit-commpy: pulses, channels and modulations."""

import numpy as np
from commpy import filters, utilities
from commpy.modulation import PSKModem, QAMModem

from libraries.package import Package

package = Package("scikit-commpy")


@package.call(0.35)
def raised_cosine(roll_off):
    _, pulse = filters.rcosfilter(9, roll_off, 1.0, 3.1)
    return pulse


@package.call(0.35)
def root_raised_cosine(roll_off):
    _, pulse = filters.rrcosfilter(9, roll_off, 1.0, 3.1)
    return pulse


@package.call(0.5)
def gaussian_pulse(width):
    _, pulse = filters.gaussianfilter(8, width, 1.0, 4.0)
    return pulse


@package.call(np.array([0.4, -0.2, 0.9, 1.3]))
def power_of_a_signal(signal):
    return utilities.signal_power(signal)


@package.call(0.8)
def received_symbols(gain):
    symbols = QAMModem(16).modulate(np.array([1, 0, 1, 1, 0, 0, 1, 0]))
    return (gain * symbols).real, np.abs(gain * symbols + 0.1) ** 2


@package.call(0.3)
def soft_bits(variance):
    modem = PSKModem(4)
    symbols = modem.modulate(np.array([1, 0, 1, 1])) + 0.1
    return modem.demodulate(symbols, "soft", variance)


@package.call(np.array([1.0, 0.4, -0.2]))
def through_a_channel(taps):
    return np.convolve(taps, utilities.upsample(np.array([1.0, -1.0, 1.0]), 2)).real
