"""Prices of options, yield curves and portfolios."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import reduce
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from benchmarks.program import Program

# -- binomial tree ------------------------------------------------------------


def american_put(spot, strike, rate, volatility, maturity, steps):
    dt = maturity / steps
    up = math.exp(volatility * math.sqrt(dt))
    down = 1.0 / up
    discount = math.exp(-rate * dt)
    p = (math.exp(rate * dt) - down) / (up - down)
    values = [max(strike - spot * up**j * down ** (steps - j), 0.0) for j in range(steps + 1)]
    for n in range(steps - 1, -1, -1):
        values = [
            max(
                discount * (p * values[j + 1] + (1 - p) * values[j]),
                strike - spot * up**j * down ** (n - j),
            )
            for j in range(n + 1)
        ]
    return values[0]


class Market(NamedTuple):
    spot: float
    rate: float
    volatility: float


class Option(ABC):
    def __init__(self, strike, maturity):
        self.strike = strike
        self.maturity = maturity

    @abstractmethod
    def payoff(self, spot): ...


class Put(Option):
    def payoff(self, spot):
        return max(self.strike - spot, 0.0)


class Tree:
    def __init__(self, market, steps):
        self.market, self.steps = market, steps

    def price(self, option):
        m, n = self.market, self.steps
        dt = option.maturity / n
        up = math.exp(m.volatility * math.sqrt(dt))
        p = (math.exp(m.rate * dt) - 1 / up) / (up - 1 / up)
        discount = math.exp(-m.rate * dt)

        def spot(level, j):
            return m.spot * up ** (2 * j - level)

        values = [option.payoff(spot(n, j)) for j in range(n + 1)]
        for level in reversed(range(n)):
            held = [discount * (p * b + (1 - p) * a) for a, b in pairwise(values)]
            values = [max(h, option.payoff(spot(level, j))) for j, h in enumerate(held)]
        return values[0]


def american_put_by_classes(spot, strike, rate, volatility, maturity, steps):
    return Tree(Market(spot, rate, volatility), steps).price(Put(strike, maturity))


# -- a curve of discount factors ------------------------------------------------------------


def curve_loss(forwards, swaps):
    """Squared errors of par rates from piecewise constant forward rates, a year each."""
    factors = [1.0]
    for f in forwards:
        factors.append(factors[-1] * math.exp(-f))
    loss = 0.0
    for maturity, quoted in swaps.items():
        annuity = 0.0
        for i in range(1, maturity + 1):
            annuity += factors[i]
        par = (1.0 - factors[maturity]) / annuity
        loss += (1e4 * (par - quoted)) ** 2
    return loss


def curve_loss_by_iterators(forwards, swaps):
    factors = [math.exp(-s) for s in accumulate(forwards)]
    annuities = list(accumulate(factors))
    pars = {n: (1.0 - factors[n - 1]) / annuities[n - 1] for n in swaps}
    return sum((1e4 * (pars[n] - quoted)) ** 2 for n, quoted in swaps.items())


# -- a portfolio ------------------------------------------------------------


def portfolio(weights, returns, aversion):
    w = np.array(weights)
    w = w / w.sum()
    r = np.array(returns)
    mean = r.mean(axis=0)
    centred = r - mean
    covariance = centred.T @ centred / (len(r) - 1)
    return w @ mean - 0.5 * aversion * (w @ covariance @ w)


def portfolio_by_columns(weights, returns, aversion):
    total = reduce(lambda a, b: a + b, weights)
    shares = [w / total for w in weights]
    columns = list(zip(*returns))
    means = [sum(c) / len(c) for c in columns]

    def covariance(i, j):
        pairs = zip(columns[i], columns[j])
        return sum((a - means[i]) * (b - means[j]) for a, b in pairs) / (len(returns) - 1)

    gain = sum(s * m for s, m in zip(shares, means))
    n = len(shares)
    risk = sum(shares[i] * shares[j] * covariance(i, j) for i in range(n) for j in range(n))
    return gain - 0.5 * aversion * risk


_RETURNS = [[0.01 * ((i * (j + 3)) % 7) - 0.02 for j in range(4)] for i in range(40)]

PROGRAMS = [
    Program(
        "American put on a tree",
        {"comprehensions": american_put, "classes": american_put_by_classes},
        (100.3, 105.0, 0.03, 0.25, 1.0, 24),
        (0, 2, 3),
    ),
    Program(
        "curve of par rates",
        {"loops": curve_loss, "iterators": curve_loss_by_iterators},
        (
            [0.02 + 0.0003 * i for i in range(60)],
            {1: 0.02, 2: 0.022, **{5 * n: 0.025 + 0.0005 * n for n in range(1, 13)}},
        ),
    ),
    Program(
        "mean and variance of a portfolio",
        {"arrays": portfolio, "lists": portfolio_by_columns},
        ([0.2, 0.5, 0.1, 0.4], _RETURNS, 3.0),
    ),
]
