"""python_speech_features: filter banks and cepstra."""

import numpy as np
import python_speech_features as psf
from python_speech_features import base, sigproc

from libraries.package import Package

package = Package("python_speech_features")

t = np.arange(400) / 8000.0
SOUND = (
    np.sin(2 * np.pi * 440 * t)
    + 0.3 * np.cos(2 * np.pi * 1200 * t)
    + 0.01 * np.random.default_rng(1).normal(size=400)
)


@package.call(1.5)
def loudness_of_cepstra(gain):
    return psf.mfcc(gain * SOUND + 0.1 * SOUND**2, samplerate=8000, nfft=256, numcep=5)[0]


@package.call(0.95)
def preemphasis(coefficient):
    return sigproc.preemphasis(SOUND[:20], coefficient)


@package.call(SOUND[:24] * 1.0)
def frames(signal):
    return sigproc.framesig(signal, 8, 4)


@package.call(SOUND[:16] * 1.0)
def power_spectrum(frame):
    return sigproc.powspec(frame.reshape(1, -1), 16)


@package.call(440.0)
def mel_scale(hertz):
    return psf.hz2mel(hertz) + psf.mel2hz(0.5 * hertz)


@package.call(np.linspace(1.0, 3.0, 8))
def lifter(cepstra):
    return psf.lifter(cepstra.reshape(1, 8), 22)


@package.call(np.linspace(1.0, 3.0, 12).reshape(6, 2) ** 2)
def deltas(features):
    return psf.delta(features, 2)


@package.call(1.1)
def filter_bank(gain):
    features, energy = psf.fbank(SOUND * gain, samplerate=8000, nfft=256, nfilt=10)
    return np.log(features).sum(), energy


@package.call(0.7)
def centroids(gain):
    return base.ssc(SOUND + gain * np.roll(SOUND, 3), samplerate=8000, nfft=256, nfilt=6)[0]
