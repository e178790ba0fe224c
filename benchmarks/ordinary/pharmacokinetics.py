"""Concentrations of drugs in blood and tissue."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from benchmarks.program import Program

# -- one compartment, doses by mouth ------------------------------------------------------------


def bateman(dose, ka, ke, volume, t):
    """Concentration at time t after one oral dose."""
    if t < 0:
        return 0.0
    return dose * ka / (volume * (ka - ke)) * (math.exp(-ke * t) - math.exp(-ka * t))


def residuals_by_superposition(p, schedule, samples):
    ke = p["clearance"] / p["volume"]
    total = 0.0
    for time, observed in samples:
        c = sum(bateman(dose, p["ka"], ke, p["volume"], time - at) for at, dose in schedule)
        total += (math.log(c) - math.log(observed)) ** 2 / p["sigma"] ** 2 + 2 * math.log(p["sigma"])
    return total


@dataclass(frozen=True)
class Patient:
    clearance: float
    volume: float
    ka: float
    sigma: float

    @property
    def ke(self):
        return self.clearance / self.volume

    @property
    def half_life(self):
        return math.log(2) / self.ke


class OralModel:
    def __init__(self, patient, schedule):
        self.patient = patient
        self.schedule = list(schedule)

    def concentration(self, t):
        given = [(t - at, dose) for at, dose in self.schedule if at <= t]
        return sum(self._single(after, dose) for after, dose in given)

    def _single(self, after, dose):
        q = self.patient
        scale = dose * q.ka / (q.volume * (q.ka - q.ke))
        return scale * (math.exp(-q.ke * after) - math.exp(-q.ka * after))

    def minus_log_likelihood(self, samples):
        q = self.patient
        errors = [math.log(self.concentration(t)) - math.log(c) for t, c in samples]
        return sum((e / q.sigma) ** 2 for e in errors) + 2 * len(errors) * math.log(q.sigma)


def residuals_of_model(p, schedule, samples):
    return OralModel(Patient(**p), schedule).minus_log_likelihood(samples)


# -- three compartments ------------------------------------------------------------


def three_compartments(rates, doses, dt, steps):
    """Explicit Euler over central, fast and slow compartment; area under the curve of the first."""
    k10, k12, k21, k13, k31 = rates
    central, fast, slow = 0.0, 0.0, 0.0
    auc = 0.0
    for n in range(steps):
        if n in doses:
            central += doses[n]
        d_central = -(k10 + k12 + k13) * central + k21 * fast + k31 * slow
        d_fast = k12 * central - k21 * fast
        d_slow = k13 * central - k31 * slow
        central += dt * d_central
        fast += dt * d_fast
        slow += dt * d_slow
        auc += dt * central
    return auc


@dataclass
class Compartment:
    name: str
    amount: float = 0.0
    flows: list = field(default_factory=list)

    def leads_to(self, other, rate):
        self.flows.append((other, rate))


class Body:
    def __init__(self, rates):
        k10, k12, k21, k13, k31 = rates
        self.central, self.fast, self.slow = (Compartment(n) for n in ("central", "fast", "slow"))
        self.central.leads_to(None, k10)
        self.central.leads_to(self.fast, k12)
        self.fast.leads_to(self.central, k21)
        self.central.leads_to(self.slow, k13)
        self.slow.leads_to(self.central, k31)

    @property
    def compartments(self):
        return (self.central, self.fast, self.slow)

    def step(self, dt):
        change = {c.name: 0.0 for c in self.compartments}
        for source in self.compartments:
            for target, rate in source.flows:
                moved = dt * rate * source.amount
                change[source.name] -= moved
                if target is not None:
                    change[target.name] += moved
        for c in self.compartments:
            c.amount += change[c.name]


def three_compartments_as_objects(rates, doses, dt, steps):
    body = Body(rates)
    auc = 0.0
    for n in range(steps):
        body.central.amount += doses.get(n, 0.0)
        body.step(dt)
        auc += dt * body.central.amount
    return auc


# -- a population ------------------------------------------------------------


def population_by_loops(theta, omega, times, observations):
    """Penalised least squares over individuals with their own clearances."""
    base, volume, effect = theta
    total = 0.0
    for eta, row in zip(omega, observations):
        clearance = base * math.exp(eta)
        for t, y in zip(times, row):
            c = 100.0 / volume * math.exp(-clearance / volume * t)
            predicted = effect * c / (1.0 + c)
            total += (y - predicted) ** 2
        total += 0.5 * eta * eta
    return total


def population_by_arrays(theta, omega, times, observations):
    base, volume, effect = theta
    eta = np.array(omega)[:, None]
    t = np.asarray(times)[None, :]
    c = 100.0 / volume * np.exp(-base * np.exp(eta) / volume * t)
    predicted = effect * c / (1.0 + c)
    misfit = np.sum((np.array(observations) - predicted) ** 2)
    return misfit + 0.5 * np.sum(eta**2)


_PATIENT = {"clearance": 2.3, "volume": 31.0, "ka": 1.1, "sigma": 0.3}
_SCHEDULE = [(0.0, 300.0), (8.0, 300.0), (16.0, 150.0)]
_SAMPLES = [(0.6 + 1.7 * i, 2.0 + 0.3 * (i % 5)) for i in range(30)]
_OBSERVED = [[1.9 - 0.08 * j + 0.05 * i for j in range(6)] for i in range(30)]

PROGRAMS = [
    Program(
        "oral doses, likelihood",
        {"functions": residuals_by_superposition, "frozen dataclass": residuals_of_model},
        (_PATIENT, _SCHEDULE, _SAMPLES),
    ),
    Program(
        "three compartments",
        {"tuples": three_compartments, "objects": three_compartments_as_objects},
        ([0.1, 0.3, 0.2, 0.05, 0.02], {0: 100.0, 30: 50.0}, 0.1, 200),
    ),
    Program(
        "population",
        {"loops": population_by_loops, "arrays": population_by_arrays},
        ([2.0, 20.0, 2.5], [0.03 * i - 0.4 for i in range(30)], [1.0, 2.0, 4.0, 6.0, 9.0, 12.0], _OBSERVED),
        (0, 1),
    ),
]
