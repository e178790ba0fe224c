"""pyloudnorm: loudness as broadcasters measure it."""

import numpy as np
import pyloudnorm as pyln

from libraries.package import Package

package = Package("pyloudnorm")

t = np.arange(4800) / 8000.0
SOUND = 0.4 * np.sin(2 * np.pi * 440 * t) + 0.1 * np.sin(2 * np.pi * 90 * t)
meter = pyln.Meter(8000)


@package.call(0.8)
def loudness(gain):
    return meter.integrated_loudness(gain * SOUND)


@package.call(0.8)
def of_two_channels(gain):
    return meter.integrated_loudness(np.column_stack([SOUND, gain * SOUND[::-1]]))


@package.call(-20.0)
def normalised(loudness):
    return pyln.normalize.loudness(SOUND[:40], -12.0, loudness)


@package.call(-1.5)
def peak(target):
    return pyln.normalize.peak(SOUND[:40], target)


@package.call(4.0, 0.7)
def shelf(gain, quality):
    found = pyln.IIRfilter(gain, quality, 1500.0, 8000.0, "high_shelf")
    return found.a, found.b


@package.call(1.2)
def filtered(gain):
    return pyln.IIRfilter(4.0, 0.7, 1500.0, 8000.0, "peaking").apply_filter(SOUND[:30] * gain)
