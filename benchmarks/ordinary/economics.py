"""Games, ratings, auctions and growth."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import total_ordering
from itertools import product
from types import SimpleNamespace
from typing import Protocol

import numpy as np

from benchmarks.program import Program

# -- Elo ------------------------------------------------------------


def expected_score(a, b, scale=400.0):
    return 1.0 / (1.0 + 10 ** ((b - a) / scale))


def elo_loss(k, start, scale, games):
    """Log-loss of predictions while ratings are updated."""
    ratings = defaultdict(lambda: start)
    loss = 0.0
    for white, black, result in games:
        p = expected_score(ratings[white], ratings[black], scale)
        loss -= result * math.log(p) + (1 - result) * math.log(1 - p)
        ratings[white] += k * (result - p)
        ratings[black] -= k * (result - p)
    return loss + 1e-6 * sum(r * r for r in ratings.values())


@total_ordering
@dataclass(eq=False)
class Player:
    name: str
    rating: float
    games: int = 0

    def __eq__(self, other):
        return self.rating == other.rating

    def __lt__(self, other):
        return self.rating < other.rating

    def update(self, delta):
        self.rating += delta
        self.games += 1


class League:
    def __init__(self, k, start, scale):
        self.k, self.start, self.scale = k, start, scale
        self.players = {}

    def __getitem__(self, name):
        if name not in self.players:
            self.players[name] = Player(name, self.start)
        return self.players[name]

    def play(self, white, black, result):
        a, b = self[white], self[black]
        p = expected_score(a.rating, b.rating, self.scale)
        a.update(self.k * (result - p))
        b.update(self.k * (p - result))
        return p

    def table(self):
        return sorted(self.players.values(), reverse=True)


def elo_loss_of_league(k, start, scale, games):
    league = League(k, start, scale)
    loss = 0.0
    for white, black, result in games:
        p = league.play(white, black, result)
        loss -= math.log(p if result else 1 - p) if result != 0.5 else 0.5 * (math.log(p) + math.log(1 - p))
    return loss + 1e-6 * sum(p.rating**2 for p in league.table())


# -- Cournot competition by best responses ------------------------------------------------------------


def profits(costs, demand, slope, rounds):
    """Total profit of firms that answer each other's quantities, one after the other."""
    q = [0.0 for _ in costs]
    for _ in range(rounds):
        for i, c in enumerate(costs):
            others = sum(q) - q[i]
            q[i] = max((demand - c - slope * others) / (2 * slope), 0.0)
    price = demand - slope * sum(q)
    return sum((price - c) * amount for c, amount in zip(costs, q))


class Strategy(Protocol):
    def quantity(self, market: "Market", firm: "Firm") -> float: ...


class BestResponse:
    def quantity(self, market, firm):
        rest = market.supply - firm.output
        return max((market.demand - firm.cost - market.slope * rest) / (2 * market.slope), 0.0)


@dataclass
class Firm:
    cost: float
    strategy: Strategy
    output: float = 0.0

    def decide(self, market):
        self.output = self.strategy.quantity(market, self)

    def profit(self, price):
        return (price - self.cost) * self.output


@dataclass
class Market:
    demand: float
    slope: float
    firms: list = field(default_factory=list)

    @property
    def supply(self):
        return sum(f.output for f in self.firms)

    @property
    def price(self):
        return self.demand - self.slope * self.supply

    def settle(self, rounds):
        for _ in range(rounds):
            for firm in self.firms:
                firm.decide(self)
        return self


def profits_of_firms(costs, demand, slope, rounds):
    market = Market(demand, slope)
    strategy = BestResponse()
    market.firms.extend(Firm(c, strategy) for c in costs)
    market.settle(rounds)
    price = market.price
    return sum(f.profit(price) for f in market.firms)


# -- an auction ------------------------------------------------------------


def revenue(values, shade, reserve, rounds):
    """Second-price auctions of several lots; who has won has less to spend."""
    budgets = list(values)
    total = 0.0
    for _ in range(rounds):
        bids = [(shade * b, i) for i, b in enumerate(budgets) if shade * b >= reserve]
        if not bids:
            break
        bids.sort(reverse=True)
        winner = bids[0][1]
        price = bids[1][0] if len(bids) > 1 else reserve
        budgets[winner] -= price
        total += price
    return total


class Bidder:
    def __init__(self, ident, budget):
        self.ident = ident
        self.budget = budget

    def bid(self, shade):
        return shade * self.budget

    def pay(self, price):
        self.budget -= price


class Auction:
    def __init__(self, bidders, reserve):
        self.bidders = bidders
        self.reserve = reserve
        self.ledger = []

    def lot(self, shade):
        bids = {b: b.bid(shade) for b in self.bidders}
        bids = {b: amount for b, amount in bids.items() if amount >= self.reserve}
        if not bids:
            raise StopIteration
        winner = max(bids, key=bids.get)
        others = [amount for b, amount in bids.items() if b is not winner]
        price = max(others, default=self.reserve)
        winner.pay(price)
        self.ledger.append((winner.ident, price))


def revenue_of_auction(values, shade, reserve, rounds):
    auction = Auction([Bidder(i, v) for i, v in enumerate(values)], reserve)
    try:
        for _ in range(rounds):
            auction.lot(shade)
    except StopIteration:
        pass
    return sum(price for _, price in auction.ledger)


# -- growth ------------------------------------------------------------


def welfare(parameters, k0, years):
    """Discounted logarithmic utility in a Solow economy."""
    p = SimpleNamespace(**parameters)
    k, a, total = k0, 1.0, 0.0
    for t in range(years):
        output = a * k**p.alpha
        invested = p.saving * output
        total += p.beta**t * math.log(output - invested)
        k = (1 - p.depreciation) * k + invested
        a *= 1 + p.growth
    return total


@dataclass(frozen=True)
class Economy:
    capital: float
    technology: float = 1.0
    year: int = 0

    def output(self, alpha):
        return self.technology * self.capital**alpha

    def next(self, *, alpha, saving, depreciation, growth, **_):
        return Economy(
            (1 - depreciation) * self.capital + saving * self.output(alpha),
            self.technology * (1 + growth),
            self.year + 1,
        )


def history(economy, parameters, years):
    for _ in range(years):
        yield economy
        economy = economy.next(**parameters)


def welfare_of_history(parameters, k0, years):
    alpha, saving, beta = parameters["alpha"], parameters["saving"], parameters["beta"]
    return sum(
        beta**e.year * math.log((1 - saving) * e.output(alpha))
        for e in history(Economy(k0), parameters, years)
    )


# -- a game of mixed strategies ------------------------------------------------------------


def fictitious_value(payoff, temperature, rounds):
    """Value of a game against itself by smooth fictitious play."""
    n = len(payoff)
    row = [1.0 / n] * n
    column = [1.0 / n] * n
    for t in range(1, rounds + 1):
        for_row = [sum(payoff[i][j] * column[j] for j in range(n)) for i in range(n)]
        for_column = [-sum(payoff[i][j] * row[i] for i in range(n)) for j in range(n)]
        answer = []
        for utilities in (for_row, for_column):
            e = [math.exp(u / temperature) for u in utilities]
            answer.append([v / sum(e) for v in e])
        row = [r + (b - r) / (t + 1) for r, b in zip(row, answer[0])]
        column = [c + (b - c) / (t + 1) for c, b in zip(column, answer[1])]
    return sum(row[i] * payoff[i][j] * column[j] for i, j in product(range(n), repeat=2))


def fictitious_value_by_arrays(payoff, temperature, rounds):
    payoff = np.array(payoff)
    n = len(payoff)

    def softmax(u):
        e = np.exp(u / temperature)
        return e / e.sum()

    p, q = np.ones((2, n)) / n
    for t in range(1, rounds + 1):
        best_p, best_q = softmax(payoff @ q), softmax(-payoff.T @ p)
        p += (best_p - p) / (t + 1)
        q += (best_q - q) / (t + 1)
    return p @ payoff @ q


_GAMES = [(f"p{(i * 3) % 7}", f"p{(i * 5 + 1) % 7}", (1.0, 0.5, 0.0, 1.0)[i % 4]) for i in range(60)]
_GAMES = [g for g in _GAMES if g[0] != g[1]]
_ECONOMY = {"alpha": 0.33, "saving": 0.22, "depreciation": 0.07, "growth": 0.015, "beta": 0.96}

PROGRAMS = [
    Program(
        "Elo ratings",
        {"defaultdict": elo_loss, "league of players": elo_loss_of_league},
        (24.0, 1500.0, 400.0, _GAMES),
        (0, 1, 2),
    ),
    Program(
        "oligopoly",
        {"lists": profits, "firms with strategies": profits_of_firms},
        ([10.0, 12.0, 11.5, 14.0, 9.0, 13.0], 100.0, 1.5, 12),
        (0, 1, 2),
    ),
    Program(
        "auctions",
        {"sorted tuples": revenue, "bidders": revenue_of_auction},
        ([100.0, 93.0, 84.5, 77.1, 69.9, 50.3, 64.1, 57.7], 0.8, 4.0, 40),
        (0, 1),
    ),
    Program(
        "welfare in a growth model",
        {"namespace": welfare, "generator of frozen states": welfare_of_history},
        (_ECONOMY, 2.5, 60),
        (0, 1),
    ),
    Program(
        "value of a game",
        {"lists": fictitious_value, "arrays": fictitious_value_by_arrays},
        ([[0.0, -1.0, 1.2], [1.0, 0.0, -1.0], [-1.1, 1.0, 0.0]], 0.2, 20),
        (0, 1),
    ),
]
