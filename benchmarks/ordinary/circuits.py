"""Networks of resistors, transients and frequency responses."""

from __future__ import annotations

import cmath
import math
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from benchmarks.program import Program

# -- nodal analysis from a netlist ------------------------------------------------------------


@dataclass
class Component:
    name: str
    plus: int
    minus: int
    value: float


def dissipation(values, netlist, count):
    """Power that the network takes from a source of one ampere into node 1, by nodal analysis."""
    parts = [Component(n, a, b, values[n]) for n, a, b in netlist]
    g = np.zeros((count + 1, count + 1))
    for part in parts:
        if part.name.startswith("R"):
            y = 1.0 / part.value
            g[part.plus, part.plus] += y
            g[part.minus, part.minus] += y
            g[part.plus, part.minus] -= y
            g[part.minus, part.plus] -= y
    current = np.zeros(count)
    current[0] = 1.0
    v = np.linalg.solve(g[1:, 1:], current)
    voltage = np.concatenate(([0.0], v))
    return sum((voltage[p.plus] - voltage[p.minus]) ** 2 / p.value for p in parts)


def dissipation_by_dicts(values, netlist, count):
    rows = defaultdict(lambda: defaultdict(float))
    for name, a, b in netlist:
        y = 1.0 / values[name]
        for here, there in ((a, b), (b, a)):
            if here != 0:
                rows[here][here] += y
                if there != 0:
                    rows[here][there] -= y
    injected = {n: 0.0 for n in range(1, count + 1)}
    injected[1] = 1.0
    order = sorted(rows)
    for i, pivot in enumerate(order):
        for other in order[i + 1 :]:
            if rows[other].get(pivot):
                factor = rows[other].pop(pivot) / rows[pivot][pivot]
                for column, y in rows[pivot].items():
                    if column > pivot:
                        rows[other][column] -= factor * y
                injected[other] -= factor * injected[pivot]
    voltage = {0: 0.0}
    for n in reversed(order):
        known = sum(y * voltage[m] for m, y in rows[n].items() if m > n)
        voltage[n] = (injected[n] - known) / rows[n][n]
    return sum((voltage[a] - voltage[b]) ** 2 / values[name] for name, a, b in netlist)


# -- transient of an RLC circuit ------------------------------------------------------------


def overshoot(r, l, c, dt, steps):
    """Energy in the capacitor over time after a unit step, trapezoidal rule in two variables."""
    i, v = 0.0, 0.0
    a = dt / (2 * l)
    b = dt / (2 * c)
    total = 0.0
    for _ in range(steps):
        # (1 + a r) i' + a v' = (1 - a r) i - a v + 2 a ;  v' - b i' = v + b i
        right_i = (1 - a * r) * i - a * v + 2 * a
        right_v = v + b * i
        i = (right_i - a * right_v) / (1 + a * r + a * b)
        v = right_v + b * i
        total += 0.5 * c * v * v * dt
    return total


class System:
    """x' = A x + B u with the trapezoidal rule."""

    def __init__(self, A, B, x0):
        self.A, self.B = np.asarray(A), np.asarray(B)
        self.state = np.asarray(x0, dtype=float)

    def discretise(self, dt):
        eye = np.eye(len(self.state))
        left = np.linalg.inv(eye - dt / 2 * self.A)
        return left @ (eye + dt / 2 * self.A), dt * (left @ self.B)

    def simulate(self, u, dt, steps):
        ad, bd = self.discretise(dt)
        for _ in range(steps):
            self.state = ad @ self.state + bd * u
            yield self.state


def overshoot_of_system(r, l, c, dt, steps):
    circuit = System([[-r / l, -1 / l], [1 / c, 0.0]], [1 / l, 0.0], [0.0, 0.0])
    return sum(0.5 * c * voltage**2 * dt for _, voltage in circuit.simulate(1.0, dt, steps))


# -- impedances ------------------------------------------------------------


class Impedance(ABC):
    @abstractmethod
    def at(self, omega): ...

    def __add__(self, other):
        return Series(self, other)

    def __or__(self, other):
        return Parallel(self, other)


class R(Impedance):
    def __init__(self, ohms):
        self.ohms = ohms

    def at(self, omega):
        return self.ohms + 0j


class L(Impedance):
    def __init__(self, henries):
        self.henries = henries

    def at(self, omega):
        return 1j * omega * self.henries


class C(Impedance):
    def __init__(self, farads):
        self.farads = farads

    def at(self, omega):
        return 1 / (1j * omega * self.farads)


class Series(Impedance):
    def __init__(self, *parts):
        self.parts = parts

    def at(self, omega):
        return sum(p.at(omega) for p in self.parts)


class Parallel(Impedance):
    def __init__(self, *parts):
        self.parts = parts

    def at(self, omega):
        return 1 / sum(1 / p.at(omega) for p in self.parts)


def mismatch(values, omegas, target):
    """Reflection at the port of a matching network, averaged over frequencies."""
    load = R(values["load"]) | C(values["stray"])
    port = L(values["series"]) + (C(values["shunt"]) | (R(0.4) + load))
    total = 0.0
    for w in omegas:
        z = port.at(w)
        gamma = (z - target) / (z + target)
        total += abs(gamma) ** 2
    return total / len(omegas)


def mismatch_by_chain(values, omegas, target):
    """The same from ABCD parameters."""

    def parallel(a, b):
        return a * b / (a + b)

    reflections = []
    for w in omegas:
        s = 1j * w
        load = parallel(values["load"], 1 / (s * values["stray"]))
        z = s * values["series"] + parallel(1 / (s * values["shunt"]), 0.4 + load)
        gamma, _ = cmath.polar((z - target) / (z + target))
        reflections.append(gamma)
    return sum(g**2 for g in reflections) / len(reflections)


# -- a rectifier, Newton's method in each step ------------------------------------------------------------

UNITS = {"": 1.0, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9}


def quantity(text):
    number, unit = re.fullmatch(r"([\d.]+)([kmun]?)", text).groups()
    return float(number) * UNITS[unit]


def ripple(saturation, thermal, parts, amplitude, dt, steps):
    """Mean output of a half-wave rectifier with a capacitor; the diode's saturation current is in nA."""
    resistance, capacitance = quantity(parts["R"]), quantity(parts["C"])
    v = 0.0
    total = 0.0
    for n in range(1, steps + 1):
        source = amplitude * math.sin(2 * math.pi * 50 * n * dt)
        new = v
        for _ in range(20):
            e = math.exp(min((source - new) / thermal, 40.0))
            current = 1e-9 * saturation * (e - 1.0)
            f = capacitance * (new - v) / dt + new / resistance - current
            df = capacitance / dt + 1 / resistance + 1e-9 * saturation * e / thermal
            step = f / df
            new -= step
            if abs(step) < 1e-13:
                break
        v = new
        total += v
    return total / steps


class Diode:
    def __init__(self, saturation, thermal):
        self.saturation, self.thermal = saturation, thermal

    def current(self, voltage):
        """Current and conductance."""
        e = math.exp(min(voltage / self.thermal, 40.0))
        return self.saturation * (e - 1.0), self.saturation * e / self.thermal


class Rectifier:
    def __init__(self, diode, resistance, capacitance):
        self.diode = diode
        self.conductance = 1 / resistance
        self.capacitance = capacitance
        self.output = 0.0

    def balance(self, source, guess, dt):
        current, slope = self.diode.current(source - guess)
        change = self.capacitance * (guess - self.output) / dt
        return change + guess * self.conductance - current, self.capacitance / dt + self.conductance + slope

    def advance(self, source, dt, tolerance=1e-13):
        guess = self.output
        for _ in range(20):
            f, df = self.balance(source, guess, dt)
            guess -= f / df
            if abs(f / df) < tolerance:
                break
        self.output = guess
        return guess


def ripple_of_objects(saturation, thermal, parts, amplitude, dt, steps):
    circuit = Rectifier(
        Diode(1e-9 * saturation, thermal),
        **{long: quantity(parts[short]) for short, long in (("R", "resistance"), ("C", "capacitance"))},
    )
    omega = 2 * math.pi * 50
    outputs = [circuit.advance(amplitude * math.sin(omega * n * dt), dt) for n in range(1, steps + 1)]
    return sum(outputs) / len(outputs)


_NETLIST = [
    ("R1", 1, 2),
    ("R2", 2, 0),
    ("R3", 2, 3),
    ("R4", 3, 0),
    ("R5", 1, 3),
    ("R6", 3, 4),
    ("R7", 4, 0),
    ("R8", 1, 4),
]

PROGRAMS = [
    Program(
        "power in a network of resistors",
        {"conductance matrix": dissipation, "nested dicts": dissipation_by_dicts},
        ({f"R{i}": 10.0 + 3.0 * i + (i * i) % 7 for i in range(1, 9)}, _NETLIST, 4),
    ),
    Program(
        "transient of an RLC circuit",
        {"floats": overshoot, "generator of states": overshoot_of_system},
        (0.6, 0.5, 0.2, 0.02, 150),
        (0, 1, 2),
    ),
    Program(
        "impedance matching",
        {"component classes": mismatch, "complex formulas": mismatch_by_chain},
        (
            {"load": 5.0, "stray": 0.02, "series": 0.9, "shunt": 0.15},
            [0.8 + 0.05 * i for i in range(20)],
            2.0,
        ),
    ),
    Program(
        "rectifier",
        {"loops": ripple, "objects": ripple_of_objects},
        (2.0, 0.05, {"R": "1k", "C": "10u"}, 5.0, 1e-3, 40),
        (0, 1, 3),
    ),
]
