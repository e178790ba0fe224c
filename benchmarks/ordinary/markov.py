"""Hidden Markov models and filters of sequences."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import islice

import numpy as np

from benchmarks.program import Program

# -- the forward algorithm ------------------------------------------------------------


def log_likelihood(initial, transition, emission, symbols):
    """Forward algorithm with scaling, on lists of lists."""
    n = len(initial)
    alpha = [initial[i] * emission[i][symbols[0]] for i in range(n)]
    scale = sum(alpha)
    alpha = [a / scale for a in alpha]
    result = math.log(scale)
    for s in symbols[1:]:
        alpha = [sum(alpha[i] * transition[i][j] for i in range(n)) * emission[j][s] for j in range(n)]
        scale = sum(alpha)
        alpha = [a / scale for a in alpha]
        result += math.log(scale)
    return result


class State:
    def __init__(self, name, emission):
        self.name = name
        self.emission = emission
        self.successors = {}

    def emits(self, symbol):
        return self.emission[symbol]


class Model:
    def __init__(self, initial, transition, emission):
        self.states = [State(f"s{i}", row) for i, row in enumerate(emission)]
        self.initial = {s.name: p for s, p in zip(self.states, initial)}
        for state, row in zip(self.states, transition):
            state.successors.update({t.name: p for t, p in zip(self.states, row)})

    def filtered(self, symbols):
        """Yields the probability of each symbol given those before it."""
        belief = dict(self.initial)
        for symbol in symbols:
            joint = {s.name: belief[s.name] * s.emits(symbol) for s in self.states}
            evidence = sum(joint.values())
            yield evidence
            belief = defaultdict(float)
            for state in self.states:
                for name, p in state.successors.items():
                    belief[name] += joint[state.name] / evidence * p


def log_likelihood_by_states(initial, transition, emission, symbols):
    model = Model(initial, transition, emission)
    return sum(math.log(p) for p in model.filtered(symbols))


# -- change points ------------------------------------------------------------


def switching(levels, noise, stay, data):
    """Two regimes with Gaussian noise, in logarithms."""

    def log_density(x, level):
        return -0.5 * ((x - level) / noise) ** 2 - math.log(noise)

    def log_add(a, b):
        m = max(a, b)
        return m + math.log(math.exp(a - m) + math.exp(b - m))

    low, high = levels
    a, b = math.log(0.5) + log_density(data[0], low), math.log(0.5) + log_density(data[0], high)
    for x in islice(data, 1, None):
        a, b = (
            log_add(a + math.log(stay), b + math.log(1 - stay)) + log_density(x, low),
            log_add(b + math.log(stay), a + math.log(1 - stay)) + log_density(x, high),
        )
    return log_add(a, b)


def switching_by_arrays(levels, noise, stay, data):
    levels = np.asarray(levels)
    matrix = np.array([[stay, 1 - stay], [1 - stay, stay]])
    belief = np.array([0.5, 0.5])
    total = 0.0
    for t, x in enumerate(data):
        if t > 0:
            belief = matrix.T @ belief
        likelihood = np.exp(-0.5 * ((x - levels) / noise) ** 2) / noise
        joint = likelihood * belief
        evidence = joint.sum()
        total += np.log(evidence)
        belief = joint / evidence
    return total


_INITIAL = [0.5, 0.3, 0.2]
_TRANSITION = [[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]]
_EMISSION = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
_SYMBOLS = [(i * i + i // 3) % 3 for i in range(25)]
_DATA = [0.2 * math.sin(3.0 * i) + (1.5 if 12 < i < 22 else 0.0) for i in range(30)]

PROGRAMS = [
    Program(
        "forward algorithm",
        {"lists": log_likelihood, "objects and dicts": log_likelihood_by_states},
        (_INITIAL, _TRANSITION, _EMISSION, _SYMBOLS),
        (1, 2),
    ),
    Program(
        "two regimes",
        {"floats": switching, "small arrays": switching_by_arrays},
        ([0.1, 1.4], 0.4, 0.9, _DATA),
        (0, 1, 2),
    ),
]
