"""Populations and reactions."""

from __future__ import annotations

import csv
import io
import math
from collections import ChainMap, OrderedDict, defaultdict
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from typing import NamedTuple

import numpy as np

from benchmarks.program import Program

# -- predators and prey ------------------------------------------------------------


def rk4(f, y, dt):
    k1 = f(y)
    k2 = f([a + 0.5 * dt * b for a, b in zip(y, k1)])
    k3 = f([a + 0.5 * dt * b for a, b in zip(y, k2)])
    k4 = f([a + dt * b for a, b in zip(y, k3)])
    return [a + dt / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]


def lynx_and_hares(rates, start, dt, counts):
    """Squared logarithmic errors against counted animals."""
    birth, eaten, growth, death = rates

    def derivative(y):
        hares, lynx = y
        return [birth * hares - eaten * hares * lynx, growth * hares * lynx - death * lynx]

    y = list(start)
    error = 0.0
    for hares, lynx in counts:
        for _ in range(2):
            y = rk4(derivative, y, dt)
        error += math.log(y[0] / hares) ** 2 + math.log(y[1] / lynx) ** 2
    return error


class Species(Enum):
    HARE = "hare"
    LYNX = "lynx"


class Ecosystem:
    def __init__(self, rates, start):
        self.rates = np.asarray(rates)
        self.state = np.array(start)

    def __call__(self, y):
        h, l = y
        a, b, c, d = self.rates
        return np.array([a * h - b * h * l, c * h * l - d * l])

    def advance(self, dt):
        y = self.state
        k1 = self(y)
        k2 = self(y + dt / 2 * k1)
        k3 = self(y + dt / 2 * k2)
        k4 = self(y + dt * k3)
        self.state = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def population(self, species):
        return self.state[list(Species).index(species)]


def lynx_and_hares_of_ecosystem(rates, start, dt, counts):
    system = Ecosystem(rates, start)
    error = 0.0
    for row in counts:
        system.advance(dt)
        system.advance(dt)
        for species, counted in zip(Species, row):
            error += np.log(system.population(species) / counted) ** 2
    return error


# -- reaction networks ------------------------------------------------------------


class Reaction(NamedTuple):
    left: tuple
    right: tuple
    factor: float
    energy: float

    def rate(self, temperature):
        return self.factor * math.exp(-self.energy / (8.314 * temperature))


def parse(line):
    """'A + B -> C' to two tuples of names."""
    left, right = line.split("->")
    return tuple(s.strip() for s in left.split("+")), tuple(s.strip() for s in right.split("+"))


def product_yield(energies, temperature, network, start, dt, steps):
    """How much of C there is in the end."""
    reactions = [Reaction(*parse(line), a, e) for (line, a), e in zip(network, energies)]
    amount = defaultdict(float, start)
    constants = [r.rate(temperature) for r in reactions]
    for _ in range(steps):
        change = defaultdict(float)
        for reaction, k in zip(reactions, constants):
            speed = k * math.prod(amount[s] for s in reaction.left)
            for s in reaction.left:
                change[s] -= speed
            for s in reaction.right:
                change[s] += speed
        for s, rate in change.items():
            amount[s] += dt * rate
    return amount["C"]


def product_yield_by_matrix(energies, temperature, network, start, dt, steps):
    names = sorted(set(chain.from_iterable(side for line, _ in network for side in parse(line))))
    stoichiometry = np.zeros((len(names), len(network)))
    orders = np.zeros((len(network), len(names)), dtype=int)
    for j, (line, _) in enumerate(network):
        left, right = parse(line)
        for s in left:
            stoichiometry[names.index(s), j] -= 1
            orders[j, names.index(s)] += 1
        for s in right:
            stoichiometry[names.index(s), j] += 1
    factors = np.array([a for _, a in network])
    k = factors * np.exp(-np.asarray(energies) / (8.314 * temperature))
    y = np.array([start.get(s, 0.0) for s in names])
    for _ in range(steps):
        speed = k * np.prod(y**orders, axis=1)
        y = y + dt * stoichiometry @ speed
    return y[names.index("C")]


# -- Arrhenius from a table ------------------------------------------------------------

TABLE = """temperature,rate,weight
290,0.021,1
300,0.043,1
310,0.081,2
320,0.150,2
330,0.262,1
340,0.447,1
350,0.730,1
295,0.031,2
305,0.058,1
315,0.112,1
325,0.199,2
335,0.344,1
345,0.575,1
355,0.917,1
"""


def arrhenius_misfit(log_factor, energy, table):
    """Weighted squared errors of logarithms of rates."""
    misfit = weight = 0.0
    for row in csv.DictReader(io.StringIO(table)):
        t, k, w = float(row["temperature"]), float(row["rate"]), int(row["weight"])
        predicted = log_factor - 1000.0 * energy / (8.314 * t)
        misfit += w * (predicted - math.log(k)) ** 2
        weight += w
    return misfit / weight


@dataclass
class Measurement:
    temperature: float
    rate: float
    weight: int = 1

    @classmethod
    def from_line(cls, line):
        t, k, w = line.split(",")
        return cls(float(t), float(k), int(w))


@dataclass
class Fit:
    log_factor: float
    energy: float
    data: list = field(default_factory=list)

    GAS = 8.314e-3

    def residual(self, m):
        return self.log_factor - self.energy / (self.GAS * m.temperature) - math.log(m.rate)

    @property
    def misfit(self):
        top = sum(m.weight * self.residual(m) ** 2 for m in self.data)
        return top / sum(m.weight for m in self.data)


def arrhenius_misfit_of_fit(log_factor, energy, table):
    header, *lines = table.splitlines()
    assert header.startswith("temperature")
    return Fit(log_factor, energy, [Measurement.from_line(line) for line in lines]).misfit


# -- Leslie matrices ------------------------------------------------------------


def growth_rate(fertility, survival, years):
    """Growth per year, in the end, of a population by age."""
    n = len(fertility)
    ages = [1.0] + [0.0] * (n - 1)
    total = 1.0
    growth = 1.0
    for _ in range(years):
        born = sum(f * a for f, a in zip(fertility, ages))
        ages = [born, *(s * a for s, a in zip(survival, ages))]
        new = sum(ages)
        growth = new / total
        ages = [a / new for a in ages]
        total = 1.0
    return growth


def growth_rate_by_matrix(fertility, survival, years):
    leslie = np.diag(survival, -1)
    leslie[0] = fertility
    x = np.eye(len(leslie))[0]
    for _ in range(years):
        y = leslie @ x
        growth = y.sum() / x.sum()
        x = y / np.linalg.norm(y, 1)
    return growth


# -- an epidemic ------------------------------------------------------------


DEFAULTS = {"beta": 0.3, "gamma": 0.1, "sigma": 0.2, "waning": 0.0}


def peak_infected(parameters, population, days):
    """A smooth maximum of the infected."""
    p = ChainMap(parameters, DEFAULTS)
    s, e, i, r = population - 1.0, 0.0, 1.0, 0.0
    values = []
    for _ in range(days):
        infections = p["beta"] * s * i / population
        s, e, i, r = (
            s - infections + p["waning"] * r,
            e + infections - p["sigma"] * e,
            i + p["sigma"] * e - p["gamma"] * i,
            r + p["gamma"] * i - p["waning"] * r,
        )
        values.append(i)
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values))


class Epidemic:
    def __init__(self, population, **parameters):
        self.population = population
        self.parameters = {**DEFAULTS, **parameters}
        self.people = OrderedDict(S=population - 1.0, E=0.0, I=1.0, R=0.0)

    def __getattr__(self, name):
        try:
            return self.parameters[name]
        except KeyError:
            raise AttributeError(name) from None

    def flows(self):
        x = self.people
        yield "S", "E", self.beta * x["S"] * x["I"] / self.population
        yield "E", "I", self.sigma * x["E"]
        yield "I", "R", self.gamma * x["I"]
        yield "R", "S", self.waning * x["R"]

    def day(self):
        for source, target, amount in list(self.flows()):
            self.people[source] -= amount
            self.people[target] += amount
        return self.people["I"]


def peak_infected_of_epidemic(parameters, population, days):
    epidemic = Epidemic(population, **parameters)
    infected = np.array([epidemic.day() for _ in range(days)])
    return infected.max() + np.log(np.sum(np.exp(infected - infected.max())))


_COUNTS = [(10.0 + 3.0 * math.sin(0.4 * i), 5.0 + 2.0 * math.cos(0.4 * i)) for i in range(12)]
_NETWORK = [("A + B -> C", 4e3), ("C -> A + B", 2e5), ("A -> D", 1e4), ("B + D -> C", 8e3)]

PROGRAMS = [
    Program(
        "predators and prey",
        {"nested function": lynx_and_hares, "arrays of a class": lynx_and_hares_of_ecosystem},
        ([0.5, 0.07, 0.035, 0.45], [9.0, 5.0], 0.25, _COUNTS),
        (0, 1),
    ),
    Program(
        "reaction network",
        {"dicts from text": product_yield, "stoichiometric matrix": product_yield_by_matrix},
        ([2.1e4, 3.9e4, 2.6e4, 2.2e4], 310.0, _NETWORK, {"A": 1.0, "B": 0.8}, 0.02, 25),
        (0, 1),
    ),
    Program(
        "Arrhenius table",
        {"csv": arrhenius_misfit, "dataclasses from lines": arrhenius_misfit_of_fit},
        (18.1, 53.0, TABLE),
        (0, 1),
    ),
    Program(
        "growth of a population",
        {"lists": growth_rate, "Leslie matrix": growth_rate_by_matrix},
        ([0.0, 1.2, 1.5, 0.7, 0.2], [0.6, 0.7, 0.5, 0.3], 15),
        (0, 1),
    ),
    Program(
        "peak of an epidemic",
        {"chain of dicts": peak_infected, "flows from a generator": peak_infected_of_epidemic},
        ({"beta": 0.6, "gamma": 0.12}, 1000.0, 60),
        (0, 1),
    ),
]
