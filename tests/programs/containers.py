"""Programs around containers and around library objects that hold no derivative, as their authors write them:
tables, queues, counters, memos, random numbers; by globals, closures, attributes and arguments."""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import random
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

RNG = random.Random(7)
OLD = np.random.RandomState(5)
TABLE = [0.1 * i * i for i in range(12)]
PLACES = [3, 1, 4, 1, 5, 9, 2, 6]
WEIGHTS = (0.5, 0.25, 0.125, 0.0625)
PRICES = {"apple": 1.2, "pear": 0.7, "fig": 2.5}
LINKS = {0: {1: 0.5, 2: 0.5}, 1: {2: 1.0}, 2: {0: 0.75, 1: 0.25}}
GRID = np.linspace(0.0, 1.0, 9)
MATRIX = [[1.0, 2.0, 3.0], [0.5, 0.25, 0.125]]
CACHE: dict[int, float] = {}


class Simulation:
    """Paths, with what they need as attributes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.steps = [0.1, 0.2, 0.3]
        self.history: deque[float] = deque(maxlen=3)

    def path(self, x: float) -> float:
        self.rng.seed(4)
        for i in range(12):
            x = x * (1.0 + self.steps[i % 3] * (self.rng.random() - 0.5))
        return x

    def smoothed(self, x: float) -> float:
        self.history.clear()
        s = 0.0
        for i in range(8):
            self.history.append(x * i)
            s += sum(self.history) / len(self.history)
        return s


SIMULATION = Simulation(3)


# -- random numbers -----------------------------------------------------------------------------------------


def monte_carlo(x: float) -> float:
    RNG.seed(1)
    total = 0.0
    for _ in range(20):
        s = x
        for _ in range(3):
            s *= math.exp(0.1 * RNG.gauss(0.0, 1.0))
        total += max(s - 1.0, 0.0)
    return total / 20


def volatility(x: float) -> float:
    RNG.seed(2)
    return sum(RNG.gauss(0.1, x) * x + RNG.uniform(0.0, x) for _ in range(10))


def mixed_draws(x: float) -> float:
    rng = random.Random(11)
    s = 0.0
    for i in range(6):
        s += x * rng.random() + rng.randint(0, 4) * x * x + x * rng.choice(TABLE) + rng.randrange(3) * i
    return s


def drawn_parameters(x: float) -> float:
    rng = random.Random(5)
    s = rng.expovariate(x) + rng.triangular(0.0, 3.0, x)
    return s + rng.lognormvariate(0.0, x) + rng.normalvariate(x, 2.0)


def shared_generator(x: float) -> float:
    random.seed(8)
    return sum(x * random.random() + random.gauss(x, 1.0) + random.uniform(0.0, x) for _ in range(8))


def by_generator(x: float) -> float:
    rng = np.random.default_rng(9)
    s = 0.0
    for _ in range(10):
        s += x * rng.normal() + rng.normal(0.0, x) + rng.random() * rng.standard_normal() * x
    return s


def by_old_generator(x: float) -> float:
    OLD.seed(3)
    return sum(x * OLD.rand() + OLD.normal(x, 1.0) * OLD.random_sample() for _ in range(6))


def method_of_attribute(x: float) -> float:
    return SIMULATION.path(x)


def bound_draw(x: float) -> float:
    draw = random.Random(2).random
    return sum(x * draw() for _ in range(5))


def closed_over(x: float) -> float:
    rng = random.Random(21)

    def step(y: float) -> float:
        return y * (1.0 + 0.1 * rng.random())

    for _ in range(9):
        x = step(x)
    return x


def shuffled(x: float) -> float:
    rng = random.Random(6)
    values = [x, 2.0 * x, x * x, 3.0]
    rng.shuffle(values)
    return values[0] * values[1] - values[2]


# -- queues -------------------------------------------------------------------------------------------------


def event_queue(x: float) -> float:
    events = deque([(0.0, x)])
    total = 0.0
    while events:
        time, size = events.popleft()
        total += size / (1.0 + time)
        if time < 4.0:
            events.append((time + 1.0, size * 0.5))
            if size > 0.4:
                events.appendleft((time + 2.0, size * 0.25))
    return total


def both_ends(x: float) -> float:
    q: deque[float] = deque()
    s = 0.0
    for i in range(6):
        q.append(x * i)
        q.appendleft(x + i)
        s += q.pop() * q.popleft() if i % 2 else q[0]
    return s + sum(q)


def moving_average(x: float) -> float:
    window: deque[float] = deque(maxlen=4)
    s = 0.0
    for i in range(10):
        window.append(math.sin(x * i))
        s += sum(window) / len(window)
    return s


def fed_from_the_left(x: float) -> float:
    window: deque[float] = deque([1.0, 2.0], maxlen=2)
    for i in range(4):
        window.appendleft(x**i)
    return window[0] * 3.0 + window[-1]


def history(x: float) -> float:
    return SIMULATION.smoothed(x)


# -- dicts --------------------------------------------------------------------------------------------------


def page_rank(x: float) -> float:
    rank = dict.fromkeys(LINKS, 1.0 / 3)
    for _ in range(5):
        new = {node: (1.0 - x) / 3 for node in LINKS}
        for node, links in LINKS.items():
            for other, share in links.items():
                new[other] = new[other] + x * share * rank[node]
        rank = new
    return rank[0] + 2.0 * rank[2]


def inventory(x: float) -> float:
    stock: defaultdict[str, float] = defaultdict(float)
    for i, name in enumerate(["fig", "pear", "fig", "apple", "pear"]):
        stock[name] += x * (i + 1)
        stock["all"] += x * x
    return sum(stock[name] * PRICES[name] for name in PRICES) + stock["all"]


def grouped(x: float) -> float:
    groups: defaultdict[int, list[float]] = defaultdict(list)
    for i in range(9):
        groups[i % 3].append(x * i)
    return sum(max(values) * len(values) for values in groups.values())


def tallied(x: float) -> float:
    counts: dict[int, float] = {}
    for place in PLACES:
        counts[place % 4] = counts.get(place % 4, 0.0) + x * place
    return sum(v * v for v in counts.values())


def histogram(x: float) -> float:
    counts: Counter[int] = Counter()
    for place in PLACES:
        counts[place // 3] += 1
    return sum(x**k * n for k, n in counts.items())


def weighted_counts(x: float) -> float:
    counts: Any = Counter()
    for name in ("a", "b", "a"):
        counts[name] += x
    return float(counts["a"] * counts["b"] + counts["c"])


def settings(x: float) -> float:
    s = 0.0
    for i in range(4):
        options = {"rate": x, "power": 2.0, "steps": i}
        s += options["rate"] ** options["power"] * options["steps"] + options.get("shift", 0.5)
    return s


def ordered(x: float) -> float:
    d: OrderedDict[str, float] = OrderedDict()
    for i, name in enumerate("abcab"):
        d[name] = d.get(name, 1.0) * x + i
    return sum(i * v for i, v in enumerate(d.values()))


def kept_by_default(x: float) -> float:
    d: dict[int, list[float]] = {}
    for i in range(6):
        d.setdefault(i % 2, []).append(x * i)
    return sum(d[0]) * d[1][-1]


def priced(x: float) -> float:
    return sum(PRICES.get(name, x) * x for name in ("fig", "kiwi", "apple"))


# -- tables -------------------------------------------------------------------------------------------------


def looked_up(x: float) -> float:
    s = 0.0
    for i in range(10):
        s += x * TABLE[i] + TABLE[-1] * x ** WEIGHTS[i % 4] + len(PLACES) * x
    return s


def by_places(x: float) -> float:
    s = 0.0
    for i in PLACES:
        s += x * TABLE[i] * GRID[i % 9]
    return s


def interpolated(x: float) -> float:
    k = bisect.bisect_right(TABLE, x) - 1
    a, b = TABLE[k], TABLE[k + 1]
    return k + (x - a) / (b - a)


def sliced(x: float) -> float:
    s = 0.0
    for i in range(4):
        s += x * sum(TABLE[i:]) + TABLE[1:5][i] * x
        ours = [x, x * x, 2.0][1:]
        s += ours[0] * ours[1]
    return s


def nested_table(x: float) -> float:
    return sum(MATRIX[i % 2][j] * x**j for i in range(3) for j in range(3))


def chosen(x: float) -> float:
    s = 0.0
    for i in range(6):
        s += [x, 2.0][i % 2] + (x * x, 3.0, x)[i % 3] + {0: x, 1: 0.5}[i % 2]
    return s


def steps_of(x: float) -> float:
    numbers = itertools.count(1)
    return sum(x / next(numbers) for _ in range(6))


# -- memos --------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def fibonacci(n: int) -> float:
    return float(n) if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.lru_cache(maxsize=64)
def binomial(n: int, k: int) -> float:
    return 1.0 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


@functools.cache
def coefficients(n: int) -> list[float]:
    return [1.0 / (i + 1) for i in range(n)]


def memoised(x: float) -> float:
    return sum(fibonacci(i) * x**i for i in range(8))


def bernstein(x: float) -> float:
    return sum(binomial(5, k) * x**k * (1.0 - x) ** (5 - k) * k for k in range(6))


def memoised_memory(x: float) -> float:
    return sum(c * x**i for i, c in enumerate(coefficients(5)))


def own_memo(x: float) -> float:
    memo: dict[int, float] = {}

    def power(n: int) -> float:
        if n not in memo:
            memo[n] = 1.0 if n == 0 else x * power(n - 1)
        return memo[n]

    return sum(power(i) for i in (2, 5, 3))


def global_memo(x: float) -> float:
    s = 0.0
    for i in range(6):
        if i not in CACHE:
            CACHE[i] = math.sqrt(i + 1.0)
        s += CACHE[i] * x
    return s


PROGRAMS: list[tuple[Any, float]] = [
    (f, 0.7)
    for f in (
        monte_carlo, volatility, mixed_draws, drawn_parameters, shared_generator, by_generator,
        by_old_generator, method_of_attribute, bound_draw, closed_over, shuffled, event_queue, both_ends,
        moving_average, fed_from_the_left, history, page_rank, inventory, grouped, tallied, histogram,
        weighted_counts, settings, ordered, kept_by_default, priced, looked_up, by_places, interpolated,
        sliced, nested_table, chosen, steps_of, memoised, bernstein, memoised_memory, own_memo, global_memo,
    )
]  # fmt: skip
