"""Filters, windows and spectra."""

from __future__ import annotations

import cmath
import math
from array import array
from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise, tee

import numpy as np

from benchmarks.program import Program

# -- a biquad ------------------------------------------------------------


def low_pass(frequency, q, rate):
    w = 2 * math.pi * frequency / rate
    alpha = math.sin(w) / (2 * q)
    c = math.cos(w)
    a0 = 1 + alpha
    return [(1 - c) / 2 / a0, (1 - c) / a0, (1 - c) / 2 / a0], [-2 * c / a0, (1 - alpha) / a0]


def filtered_power(frequency, q, rate, signal):
    """Power behind two low-pass filters in a row."""
    (b0, b1, b2), (a1, a2) = low_pass(frequency, q, rate)
    for _ in range(2):
        x1 = x2 = y1 = y2 = 0.0
        out = []
        for x in signal:
            y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
            x2, x1, y2, y1 = x1, x, y1, y
            out.append(y)
        signal = out
    return sum(y * y for y in signal) / len(signal)


class Biquad:
    def __init__(self, b, a):
        self.b, self.a = b, a
        self.inputs = deque([0.0] * 3, maxlen=3)
        self.outputs = deque([0.0] * 2, maxlen=2)

    def __call__(self, signal):
        for x in signal:
            self.inputs.appendleft(x)
            y = sum(b * v for b, v in zip(self.b, self.inputs))
            y -= sum(a * v for a, v in zip(self.a, self.outputs))
            self.outputs.appendleft(y)
            yield y


class Cascade:
    def __init__(self, *stages):
        self.stages = stages

    def __call__(self, signal):
        for stage in self.stages:
            signal = stage(signal)
        return signal


def filtered_power_of_stages(frequency, q, rate, signal):
    chain = Cascade(*(Biquad(*low_pass(frequency, q, rate)) for _ in range(2)))
    power, count = 0.0, 0
    for y in chain(signal):
        power += y**2
        count += 1
    return power / count


# -- Goertzel ------------------------------------------------------------


def goertzel(samples, frequency):
    """Power at one frequency, in cycles per sample."""
    coefficient = 2.0 * math.cos(2.0 * math.pi * frequency)
    s1 = s2 = 0.0
    for x in samples:
        s1, s2 = x + coefficient * s1 - s2, s1
    return s1 * s1 + s2 * s2 - coefficient * s1 * s2


def tone_contrast(gain, offset, samples, tones):
    """Logarithm of the power at tones over that beside them, of an overdriven signal."""
    driven = [math.tanh(gain * x + offset) for x in samples]
    at = sum(goertzel(driven, f) for f in tones)
    beside = sum(goertzel(driven, f + 0.013) for f in tones)
    return math.log(at / beside)


def tone_contrast_by_phasors(gain, offset, samples, tones):
    driven = array("d", (math.tanh(gain * x + offset) for x in samples))

    def power(frequency):
        turn = cmath.exp(-2j * cmath.pi * frequency)
        phase, total = 1 + 0j, 0j
        for v in driven:
            total += v * phase
            phase *= turn
        return total.real**2 + total.imag**2

    beside = [power(f + 0.013) for f in tones]
    return math.log(sum(map(power, tones)) / sum(beside))


# -- windows ------------------------------------------------------------


def bessel_i0(x, terms=20):
    total, term = 1.0, 1.0
    for k in range(1, terms):
        term *= (x / (2 * k)) ** 2
        total += term
    return total


def kaiser_leakage(beta, scale, n):
    """Energy far from the main lobe of a window, over all."""
    half = (n - 1) / 2
    window = [scale * bessel_i0(beta * math.sqrt(1 - ((i - half) / half) ** 2)) for i in range(n)]
    energies = []
    for k in range(n):
        re = sum(w * math.cos(2 * math.pi * k * i / n) for i, w in enumerate(window))
        im = sum(w * math.sin(2 * math.pi * k * i / n) for i, w in enumerate(window))
        energies.append(re * re + im * im)
    return math.log(sum(energies[3:-2]) / sum(energies)) + 0.01 * math.log(energies[0])


def kaiser_leakage_by_fft(beta, scale, n):
    window = scale * np.i0(beta * np.sqrt(1 - (2 * np.arange(n) / (n - 1) - 1) ** 2))
    energies = np.abs(np.fft.fft(window)) ** 2
    return np.log(energies[3:-2].sum() / energies.sum()) + 0.01 * np.log(energies[0])


# -- a synthesizer ------------------------------------------------------------


@dataclass
class Envelope:
    attack: float
    decay: float
    sustain: float

    def __call__(self, t):
        if t < self.attack:
            return t / self.attack
        return self.sustain + (1 - self.sustain) * math.exp(-(t - self.attack) / self.decay)


def oscillator(frequency, rate, shape=math.sin):
    phase = 0.0
    while True:
        yield shape(phase)
        phase += 2 * math.pi * frequency / rate


def loudness(envelope, notes, rate, n):
    """Mean square of a chord, and of its steps."""
    env = Envelope(**envelope)
    voices = [oscillator(f, rate) for f in notes]
    samples = []
    for i, tones in zip(range(n), zip(*voices)):
        samples.append(env(i / rate) * sum(tones) / len(notes))
    steps = sum((b - a) ** 2 for a, b in pairwise(samples))
    return (sum(s * s for s in samples) + steps) / n


def adsr(t, attack, decay, sustain):
    rising = t / attack
    falling = sustain + (1 - sustain) * math.exp((attack - t) / decay)
    return rising if t < attack else falling


def loudness_of_pipeline(envelope, notes, rate, n):
    shape = partial(adsr, **envelope)

    def times():
        i = 0
        while True:
            yield i / rate
            i += 1

    def chord(clock):
        for t in clock:
            yield shape(t) * sum(math.sin(2 * math.pi * f * t) for f in notes) / len(notes)

    first, second = tee(islice(chord(times()), n))
    squares = sum(s**2 for s in first)
    previous, steps = None, 0.0
    for s in second:
        if previous is not None:
            steps += (s - previous) ** 2
        previous = s
    return (squares + steps) / n


# -- adaptive filter ------------------------------------------------------------


def lms_error(rate, leak, signal, noise, taps):
    """What noise an adaptive filter leaves."""
    weights = [0.0] * taps
    history = [0.0] * taps
    left = 0.0
    for s, v in zip(signal, noise):
        history = [v] + history[:-1]
        error = s + 0.5 * v - sum(w * h for w, h in zip(weights, history))
        weights = [(1 - leak) * w + rate * error * h for w, h in zip(weights, history)]
        left += (error - s) ** 2
    return left / len(signal)


class LMS:
    def __init__(self, taps, rate, leak):
        self.weights = np.zeros(taps)
        self.history = np.zeros(taps)
        self.rate, self.leak = rate, leak

    def feed(self, observed, reference):
        self.history[1:] = self.history[:-1].copy()
        self.history[0] = reference
        error = observed - self.weights @ self.history
        self.weights *= 1 - self.leak
        self.weights += self.rate * error * self.history
        return error


def lms_error_of_class(rate, leak, signal, noise, taps):
    f = LMS(taps, rate, leak)
    errors = [f.feed(s + 0.5 * v, v) for s, v in zip(signal, noise)]
    return np.mean((np.array(errors) - signal) ** 2)


_SIGNAL = [math.sin(0.3 * i) + 0.5 * math.sin(1.1 * i + 0.2) for i in range(60)]
_NOISE = [math.sin(12.9898 * i) * math.cos(78.233 * i) for i in range(60)]

PROGRAMS = [
    Program(
        "power behind low-pass filters",
        {"floats": filtered_power, "generators of a class": filtered_power_of_stages},
        (900.0, 0.8, 8000.0, _SIGNAL),
        (0, 1, 3),
    ),
    Program(
        "contrast of tones",
        {"Goertzel": tone_contrast, "complex phasors": tone_contrast_by_phasors},
        (1.3, 0.2, _SIGNAL, [0.047, 0.175]),
        (0, 1),
    ),
    Program(
        "leakage of a window",
        {"sums": kaiser_leakage, "Fourier transform": kaiser_leakage_by_fft},
        (5.3, 0.9, 24),
        (0, 1),
    ),
    Program(
        "loudness of a chord",
        {"endless generators": loudness, "pipeline": loudness_of_pipeline},
        ({"attack": 0.0113, "decay": 0.03, "sustain": 0.4}, [220.0, 277.2, 329.6], 2000.0, 50),
        (0, 1),
    ),
    Program(
        "adaptive filter",
        {"lists": lms_error, "class of arrays": lms_error_of_class},
        (0.05, 0.001, _SIGNAL, _NOISE, 5),
        (0, 1),
    ),
]
