"""Controllers and what they cost."""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from benchmarks.program import Program

# -- PID ------------------------------------------------------------


class PID:
    def __init__(self, kp, ki, kd, *, limit=math.inf):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.limit = limit
        self._integral = 0.0
        self._last = None

    def __call__(self, error, dt):
        self._integral += error * dt
        derivative = 0.0 if self._last is None else (error - self._last) / dt
        self._last = error
        u = self.kp * error + self.ki * self._integral + self.kd * derivative
        return max(-self.limit, min(self.limit, u))

    def reset(self):
        self._integral, self._last = 0.0, None


class Tank:
    """Two tanks in a row."""

    def __init__(self, area=1.0, outlet=0.4):
        self.area, self.outlet = area, outlet
        self.upper = self.lower = 0.0

    def flow(self, inflow, dt):
        between = self.outlet * (self.upper - self.lower)
        self.upper += dt * (inflow - between) / self.area
        self.lower += dt * (between - 0.5 * self.outlet * self.lower) / self.area


def settling_cost(gains, setpoints, dt, steps):
    controller = PID(**gains, limit=2.0)
    plant = Tank()
    cost = 0.0
    for target in setpoints:
        controller.reset()
        for _ in range(steps):
            u = controller(target - plant.lower, dt)
            plant.flow(u, dt)
            cost += dt * ((target - plant.lower) ** 2 + 0.01 * u**2)
    return cost


def settling_cost_plain(gains, setpoints, dt, steps):
    kp, ki, kd = gains["kp"], gains["ki"], gains["kd"]
    h1, h2 = 0.0, 0.0
    cost = 0.0
    for target in setpoints:
        total = 0.0
        last = target - h2
        for n in range(steps):
            e = target - h2
            total += e * dt
            u = kp * e + ki * total + kd * (e - last) / dt
            if u > 2.0:
                u = 2.0
            elif u < -2.0:
                u = -2.0
            last = e
            q = 0.4 * (h1 - h2)
            h1 += dt * (u - q)
            h2 += dt * (q - 0.2 * h2)
            cost += dt * ((target - h2) ** 2 + 0.01 * u * u)
    return cost


# -- LQR ------------------------------------------------------------


@dataclass
class LQR:
    A: np.ndarray
    B: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    P: np.ndarray = field(init=False)

    def __post_init__(self):
        self.P = self.Q.copy()

    def iterate(self, rounds):
        A, B = self.A, self.B
        for _ in range(rounds):
            S = self.R + B.T @ self.P @ B
            K = np.linalg.solve(S, B.T @ self.P @ A)
            self.P = self.Q + A.T @ self.P @ (A - B @ K)
        return K


def lqr_cost(mass, weights, dt, rounds, start):
    """Cost to go from a state of a cart, from its mass and what states and force weigh."""
    A = np.array([[1.0, dt], [0.0, 1.0]])
    B = np.array([[0.5 * dt**2 / mass], [dt / mass]])
    *q, r = weights
    regulator = LQR(A, B, np.diag(q), np.array([[r]]))
    regulator.iterate(rounds)
    x = np.array(start)
    return float(x @ regulator.P @ x)


def matmul(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def transpose(a):
    return [list(column) for column in zip(*a)]


def add(a, b, sign=1.0):
    return [[x + sign * y for x, y in zip(r, s)] for r, s in zip(a, b)]


def lqr_cost_of_lists(mass, weights, dt, rounds, start):
    a = [[1.0, dt], [0.0, 1.0]]
    b = [[0.5 * dt * dt / mass], [dt / mass]]
    q = [[weights[0], 0.0], [0.0, weights[1]]]
    p = [row[:] for row in q]
    at, bt = transpose(a), transpose(b)
    for _ in range(rounds):
        bp = matmul(bt, p)
        s = weights[2] + matmul(bp, b)[0][0]
        gain = [[v / s for v in row] for row in matmul(bp, a)]
        closed = add(a, matmul(b, gain), -1.0)
        p = add(q, matmul(matmul(at, p), closed))
    x = [[v] for v in start]
    return matmul(transpose(x), matmul(p, x))[0][0]


# -- model predictive control ------------------------------------------------------------


def pendulum(state, torque, dt, length):
    angle, speed = state
    speed = speed + dt * (-9.81 / length * math.sin(angle) + torque)
    return angle + dt * speed, speed


def plan_cost(torques, length, state, dt):
    """Swinging up: the cost of a plan, which an optimiser would make better."""
    total = 0.0
    for u in torques:
        state = pendulum(state, u, dt, length)
        total += (1.0 + math.cos(state[0])) + 0.1 * state[1] ** 2 + 0.02 * u**2
    return total + 10.0 * (1.0 + math.cos(state[0]))


class Model(ABC):
    @abstractmethod
    def derivative(self, x, u): ...

    def step(self, x, u, dt):
        return [xi + dt * fi for xi, fi in zip(x, self.derivative(x, u))]


class Pendulum(Model):
    def __init__(self, length):
        self.length = length

    def derivative(self, x, u):
        return [x[1], -9.81 / self.length * math.sin(x[0]) + u]

    def step(self, x, u, dt):
        speed = super().step(x, u, dt)[1]
        return [x[0] + dt * speed, speed]


class Cost:
    def __init__(self):
        self.terms = []

    def stage(self, x, u):
        self.terms.append((1.0 + math.cos(x[0])) + 0.1 * x[1] ** 2 + 0.02 * u**2)

    def final(self, x):
        self.terms.append(10.0 * (1.0 + math.cos(x[0])))

    def __float__(self):
        return float(sum(self.terms))

    @property
    def total(self):
        return sum(self.terms)


@contextlib.contextmanager
def rollout(model, x, torques, dt):
    cost = Cost()
    for u in torques:
        x = model.step(x, u, dt)
        cost.stage(x, u)
    yield cost
    cost.final(x)


def plan_cost_of_models(torques, length, state, dt):
    with rollout(Pendulum(length), list(state), torques, dt) as cost:
        pass
    return cost.total


# -- thermostat with hysteresis ------------------------------------------------------------


def heating_bill(house, outside, dt):
    """A thermostat that switches; the price follows the time of day."""
    temperature, heating, bill = house["start"], False, 0.0
    for n, cold in enumerate(outside):
        if temperature < 19.0:
            heating = True
        elif temperature > 21.0:
            heating = False
        power = house["power"] if heating else 0.0
        temperature += dt * (power - house["loss"] * (temperature - cold)) / house["capacity"]
        bill += power * dt * (0.3 + 0.1 * math.sin(2 * math.pi * n * dt / 24.0))
        bill += 0.05 * max(19.5 - temperature, 0.0) ** 2
    return bill


class Thermostat:
    def __init__(self, low, high):
        self.low, self.high = low, high
        self.state = self.off

    def on(self, temperature):
        return self.off if temperature > self.high else self.on

    def off(self, temperature):
        return self.on if temperature < self.low else self.off

    def update(self, temperature):
        self.state = self.state(temperature)
        return self.state == self.on


@dataclass
class House:
    start: float
    power: float
    loss: float
    capacity: float

    def __post_init__(self):
        self.temperature = self.start

    def live(self, outside, thermostat, dt):
        for cold in outside:
            power = self.power if thermostat.update(self.temperature) else 0.0
            lost = self.loss * (self.temperature - cold)
            self.temperature += dt * (power - lost) / self.capacity
            yield power, self.temperature


def heating_bill_of_house(house, outside, dt):
    bill = 0.0
    for n, (power, temperature) in enumerate(House(**house).live(outside, Thermostat(19.0, 21.0), dt)):
        price = 0.3 + 0.1 * math.sin(2 * math.pi * n * dt / 24.0)
        bill += power * dt * price + 0.05 * max(19.5 - temperature, 0.0) ** 2
    return bill


PROGRAMS = [
    Program(
        "two tanks and a PID controller",
        {"callable objects": settling_cost, "floats": settling_cost_plain},
        ({"kp": 2.1, "ki": 0.3, "kd": 0.5}, [1.0, 0.4], 0.1, 60),
    ),
    Program(
        "cost of an LQR",
        {"dataclass of arrays": lqr_cost, "nested lists": lqr_cost_of_lists},
        (1.4, [1.0, 0.5, 0.1], 0.1, 25, (1.0, -0.3)),
        (0, 1),
    ),
    Program(
        "a plan for a pendulum",
        {"tuples": plan_cost, "context manager": plan_cost_of_models},
        ([2.0 * math.sin(0.3 * i) for i in range(50)], 1.2, (0.1, 0.0), 0.05),
        (0, 1),
    ),
    Program(
        "heating bill",
        {"branches": heating_bill, "states as methods": heating_bill_of_house},
        (
            {"start": 18.0, "power": 6.0, "loss": 0.21, "capacity": 1.9},
            [5.0 * math.sin(0.1 * i) for i in range(120)],
            0.25,
        ),
    ),
]
