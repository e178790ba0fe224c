"""Bonds, volatility, credit and plans for retirement."""

from __future__ import annotations

import abc
import enum
import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from statistics import NormalDist

import numpy as np

from benchmarks.program import Program

# -- bootstrapping ------------------------------------------------------------


def bootstrap(rates):
    """Discount factors from annual par rates."""
    factors = []
    for r in rates:
        factors.append((1 - r * sum(factors)) / (1 + r))
    return factors


def interpolated(times, factors, t):
    i = bisect_left(times, t)
    if i == 0:
        return factors[0] ** (t / times[0])
    if i == len(times):
        return factors[-1] ** (t / times[-1])
    w = (t - times[i - 1]) / (times[i] - times[i - 1])
    return math.exp((1 - w) * math.log(factors[i - 1]) + w * math.log(factors[i]))


def bonds_value(rates, bonds):
    """Value of bonds (amount, coupon, months to the end) on a curve of par rates."""
    factors = bootstrap(rates)
    times = [float(i) for i in range(1, len(rates) + 1)]
    total = 0.0
    for amount, coupon, months in bonds:
        m = months
        while m > 0:
            total += amount * coupon / 2 * interpolated(times, factors, m / 12)
            m -= 6
        total += amount * interpolated(times, factors, months / 12)
    return total


class Curve(Mapping):
    """Discount factors by time."""

    def __init__(self, points):
        self._points = dict(points)
        self._times = sorted(self._points)

    @classmethod
    def from_par_rates(cls, rates):
        points, annuity = {}, 0.0
        for year, r in enumerate(rates, start=1):
            df = (1 - r * annuity) / (1 + r)
            annuity += df
            points[float(year)] = df
        return cls(points)

    def __len__(self):
        return len(self._points)

    def __iter__(self):
        return iter(self._times)

    def zero_rate(self, t):
        return -math.log(self._points[t]) / t

    def __getitem__(self, t):
        times = self._times
        if t in self._points:
            return self._points[t]
        if t <= times[0] or t >= times[-1]:
            return math.exp(-t * self.zero_rate(times[0 if t <= times[0] else -1]))
        after = next(s for s in times if s >= t)
        before = times[times.index(after) - 1]
        x, y = (math.log(self._points[s]) for s in (before, after))
        return math.exp(x + (y - x) * (t - before) / (after - before))


@dataclass
class Bond:
    amount: float
    coupon: float
    months: int

    def payments(self):
        for m in range(self.months, 0, -6):
            yield m / 12, self.amount * self.coupon / 2
        yield self.months / 12, self.amount

    def value(self, curve):
        return sum(cash * curve[t] for t, cash in self.payments())


def bonds_value_of_objects(rates, bonds):
    curve = Curve.from_par_rates(rates)
    return sum(Bond(*row).value(curve) for row in bonds)


# -- GARCH ------------------------------------------------------------


def garch_likelihood(parameters, returns):
    omega, alpha, beta, mu = parameters
    variance = omega / (1 - alpha - beta)
    total = 0.0
    for r in returns:
        e = r - mu
        total += 0.5 * (math.log(2 * math.pi * variance) + e * e / variance)
        variance = omega + alpha * e * e + beta * variance
    return total


class GARCH:
    parameters = ("omega", "alpha", "beta", "mu")

    def __init__(self, theta):
        for name, value in zip(self.parameters, theta):
            setattr(self, name, value)

    @property
    def long_run(self):
        return self.omega / (1 - self.alpha - self.beta)

    def variances(self, shocks):
        v = np.empty(len(shocks) + 1)
        v[0] = self.long_run
        for t, e in enumerate(shocks):
            v[t + 1] = self.omega + self.alpha * e**2 + self.beta * v[t]
        return v[:-1]

    def negative_log_likelihood(self, returns):
        e = np.asarray(returns) - self.mu
        v = self.variances(e)
        return 0.5 * np.sum(np.log(2 * np.pi * v) + e**2 / v)


def garch_likelihood_of_class(parameters, returns):
    return GARCH(parameters).negative_log_likelihood(returns)


# -- yields of bonds ------------------------------------------------------------


def accrued(start, today, coupon):
    return coupon * (today - start).days / 365


def yield_to_maturity(price, coupon, years):
    """By Newton's method."""
    y = coupon
    for _ in range(50):
        value = slope = 0.0
        for t in range(1, years + 1):
            cash = coupon + (1.0 if t == years else 0.0)
            value += cash / (1 + y) ** t
            slope -= t * cash / (1 + y) ** (t + 1)
        step = (value - price) / slope
        y -= step
        if abs(step) < 1e-14:
            break
    return y


def average_yield(prices, coupons, years, today):
    total = 0.0
    for p, c, n in zip(prices, coupons, years):
        dirty = p + accrued(date(today.year, 1, 1), today, c)
        total += yield_to_maturity(dirty, c, n)
    return total / len(prices)


class Solver:
    def __init__(self, tolerance=1e-14, limit=50):
        self.tolerance, self.limit = tolerance, limit

    def __call__(self, f, x):
        for _ in range(self.limit):
            value, slope = f(x)
            x = x - value / slope
            if abs(value / slope) < self.tolerance:
                return x
        raise RuntimeError("no convergence")


def average_yield_by_polynomials(prices, coupons, years, today):
    solve = Solver()
    yields = []
    for p, c, n in zip(prices, coupons, years):
        dirty = p + accrued(today.replace(month=1, day=1), today, c)
        cash = np.full(n, c)
        cash[-1] += 1.0
        powers = np.arange(1, n + 1)

        def f(v):
            return cash @ v**powers - dirty, cash @ (powers * v ** (powers - 1))

        yields.append(1.0 / solve(f, 1.0 / (1.0 + c)) - 1.0)
    return np.mean(yields)


# -- a plan for retirement ------------------------------------------------------------


class Phase(enum.Enum):
    SAVING = 1
    SPENDING = 2


def pension(plan, market, years):
    """What is left in the end, with taxes on gains."""
    wealth, basis = plan["start"], plan["start"]
    phase = Phase.SAVING
    for year in range(years):
        if year >= plan["retire"]:
            phase = Phase.SPENDING
        gain = wealth * market[year % len(market)]
        wealth += gain
        if phase is Phase.SAVING:
            wealth += plan["rate"]
            basis += plan["rate"]
        elif phase is Phase.SPENDING and wealth > 0:
            taken = min(plan["draw"], wealth)
            tax = plan["tax"] * taken * max(1 - basis / wealth, 0.0)
            basis -= basis * taken / wealth
            wealth -= taken + tax
    return wealth


class Account:
    def __init__(self, start, tax):
        self.wealth = self.basis = start
        self.tax = tax

    def grow(self, rate):
        self.wealth *= 1 + rate
        return self

    def deposit(self, amount):
        self.wealth += amount
        self.basis += amount

    def withdraw(self, amount):
        if self.wealth <= 0:
            return
        amount = min(amount, self.wealth)
        share = amount / self.wealth
        tax = self.tax * amount * max(1 - self.basis / self.wealth, 0.0)
        self.basis *= 1 - share
        self.wealth -= amount + tax


class Saver(abc.ABC):
    def __init__(self, account):
        self.account = account

    @abc.abstractmethod
    def live(self, rate): ...


class Worker(Saver):
    def __init__(self, account, saved):
        super().__init__(account)
        self.saved = saved

    def live(self, rate):
        self.account.grow(rate).deposit(self.saved)


class Pensioner(Saver):
    def __init__(self, account, draw):
        super().__init__(account)
        self.draw = draw

    def live(self, rate):
        self.account.grow(rate).withdraw(self.draw)


def pension_of_savers(plan, market, years):
    account = Account(plan["start"], plan["tax"])
    person = Worker(account, plan["rate"])
    for year in range(years):
        if year == plan["retire"]:
            person = Pensioner(person.account, plan["draw"])
        person.live(market[year % len(market)])
    return account.wealth


# -- credit ------------------------------------------------------------


def expected_shortfall(loans, correlation, nodes):
    """Mean squared loss of a portfolio in a one-factor model, integrated over the factor."""
    normal = NormalDist()

    def conditional(p, m):
        z = (barrier[p] - math.sqrt(correlation) * m) / math.sqrt(1 - correlation)
        return 0.5 * math.erfc(-z / math.sqrt(2))

    barrier = {p: normal.inv_cdf(p) for _, p, _ in loans}
    total = weight = 0.0
    for m in nodes:
        w = math.exp(-0.5 * m * m)
        loss = sum(exposure * lgd * conditional(p, m) for exposure, p, lgd in loans)
        total += w * loss**2
        weight += w
    return total / weight


def expected_shortfall_by_arrays(loans, correlation, nodes):
    exposure, p, lgd = (np.array(column) for column in zip(*loans))
    barrier = np.array([NormalDist().inv_cdf(x) for x in p.tolist()])
    m = np.array(nodes)[:, np.newaxis]
    z = (barrier - np.sqrt(correlation) * m) / np.sqrt(1 - correlation)
    conditional = np.vectorize(math.erfc)(-z / np.sqrt(2)) / 2
    loss = conditional @ (exposure * lgd)
    w = np.exp(-(m[:, 0] ** 2) / 2)
    return np.average(loss**2, weights=w)


_RATES = [0.02 + 0.001 * i for i in range(10)]
_BONDS = [(100.0, 0.03, 30), (50.0, 0.05, 54), (80.0, 0.01, 110), (20.0, 0.06, 75)]
_RETURNS = [2.0 * math.sin(5.0 * i) * (1 + 0.5 * math.cos(0.1 * i)) for i in range(80)]
_PLAN = {"start": 10.0, "rate": 3.0, "retire": 30, "draw": 14.0, "tax": 0.25}

PROGRAMS = [
    Program(
        "bonds on a bootstrapped curve",
        {"lists and bisection": bonds_value, "mapping class": bonds_value_of_objects},
        (_RATES, _BONDS),
    ),
    Program(
        "likelihood of GARCH",
        {"floats": garch_likelihood, "class with setattr": garch_likelihood_of_class},
        ([0.1, 0.08, 0.85, 0.02], _RETURNS),
    ),
    Program(
        "yields of bonds",
        {"Newton in loops": average_yield, "solver object": average_yield_by_polynomials},
        ([0.95, 1.02, 0.88], [0.03, 0.045, 0.02], [5, 8, 10], date(2024, 5, 17)),
        (0, 1),
    ),
    Program(
        "pension",
        {"dict and enum": pension, "changing roles": pension_of_savers},
        (_PLAN, [0.05, 0.08, -0.03, 0.06], 45),
        (0, 1),
    ),
    Program(
        "losses of loans",
        {"nested function": expected_shortfall, "arrays": expected_shortfall_by_arrays},
        (
            [(100.0, 0.02, 0.4), (50.0, 0.05, 0.5), (70.0, 0.01, 0.45), (20.0, 0.1, 0.6)],
            0.15,
            [0.5 * i - 4.0 for i in range(17)],
        ),
        (1,),
    ),
]
