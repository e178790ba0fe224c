"""Dynamic programming: alignments, knapsacks and best ways."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import namedtuple
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from benchmarks.program import Program

# -- distance between words ------------------------------------------------------------


def edit_distance(costs, a, b):
    insert, delete, replace = costs["insert"], costs["delete"], costs["replace"]
    previous = [j * insert for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        current = [i * delete]
        for j, y in enumerate(b, 1):
            current.append(
                min(
                    previous[j] + delete,
                    current[j - 1] + insert,
                    previous[j - 1] + (0.0 if x == y else replace),
                )
            )
        previous = current
    return previous[-1]


class Aligner:
    def __init__(self, a, b, costs):
        self.a, self.b = a, b
        self.costs = costs
        self.memo = {}

    def distance(self, i, j):
        if (i, j) in self.memo:
            return self.memo[i, j]
        if i == 0 or j == 0:
            result = i * self.costs["delete"] + j * self.costs["insert"]
        else:
            change = 0.0 if self.a[i - 1] == self.b[j - 1] else self.costs["replace"]
            result = min(
                self.distance(i - 1, j) + self.costs["delete"],
                self.distance(i, j - 1) + self.costs["insert"],
                self.distance(i - 1, j - 1) + change,
            )
        self.memo[i, j] = result
        return result


def edit_distance_by_recursion(costs, a, b):
    return Aligner(a, b, costs).distance(len(a), len(b))


# -- soft time warping ------------------------------------------------------------


def soft_min(gamma, *values):
    least = min(values)
    return least - gamma * math.log(sum(math.exp(-(v - least) / gamma) for v in values))


def soft_dtw(x, y, gamma):
    n, m = len(x), len(y)
    r = {(i, j): math.inf for i in range(n + 1) for j in range(m + 1)}
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            r[i, j] = cost + soft_min(gamma, r[i - 1, j], r[i, j - 1], r[i - 1, j - 1])
    return r[n, m]


def soft_dtw_by_arrays(x, y, gamma):
    d = np.subtract.outer(np.array(x), np.array(y)) ** 2
    n, m = d.shape
    r = np.full((n + 1, m + 1), np.inf)
    r[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            three = -np.array([r[i, j + 1], r[i + 1, j], r[i, j]]) / gamma
            top = three.max()
            r[i + 1, j + 1] = d[i, j] - gamma * (top + np.log(np.exp(three - top).sum()))
    return r[-1, -1]


# -- knapsack with floats ------------------------------------------------------------

Item = namedtuple("Item", "name weight value")


def knapsack(values, weights, capacity, decay):
    """The best load; each further thing is worth a bit less."""
    best = [0.0] * (capacity + 1)
    for rank, (value, weight) in enumerate(zip(values, weights)):
        worth = value * decay**rank
        for c in range(capacity, weight - 1, -1):
            candidate = best[c - weight] + worth
            if candidate > best[c]:
                best[c] = candidate
    return best[capacity]


def knapsack_memo(values, weights, capacity, decay):
    items = [Item(f"item {i}", w, v * decay**i) for i, (v, w) in enumerate(zip(values, weights))]

    @lru_cache(maxsize=None)
    def best(i, left):
        if i == len(items):
            return 0.0
        item = items[i]
        without = best(i + 1, left)
        if item.weight > left:
            return without
        return max(without, item.value + best(i + 1, left - item.weight))

    return best(0, capacity)


# -- Viterbi ------------------------------------------------------------


def viterbi(start, transition, emission, observations):
    """Logarithm of the probability of the best path."""
    states = list(start)
    layer = {s: math.log(start[s]) + math.log(emission[s][observations[0]]) for s in states}
    for o in observations[1:]:
        layer = {
            s: max(layer[p] + math.log(transition[p][s]) for p in states) + math.log(emission[s][o])
            for s in states
        }
    return max(layer.values())


@dataclass
class Cell:
    score: float
    back: "Cell | None"
    state: str

    def path(self):
        cell = self
        while cell is not None:
            yield cell.state
            cell = cell.back


def viterbi_of_cells(start, transition, emission, observations):
    first, *others = observations
    cells = [Cell(math.log(p * emission[s][first]), None, s) for s, p in start.items()]
    for o in others:
        new = []
        for s in start:
            scored = [(c.score + math.log(transition[c.state][s]), c) for c in cells]
            score, back = max(scored, key=lambda pair: pair[0])
            new.append(Cell(score + math.log(emission[s][o]), back, s))
        cells = new
    best = max(cells, key=lambda c: c.score)
    path = list(best.path())[::-1]
    score = math.log(start[path[0]])
    score += sum(math.log(emission[s][o]) for s, o in zip(path, observations))
    return score + sum(math.log(transition[a][b]) for a, b in pairwise(path))


# -- weighted intervals ------------------------------------------------------------


def best_schedule(values, jobs):
    """Most value of jobs that do not overlap; lateness costs."""
    order = sorted(range(len(jobs)), key=lambda k: jobs[k][1])
    ends = [jobs[k][1] for k in order]
    best = [0.0]
    for n, k in enumerate(order):
        start, end = jobs[k]
        p = bisect_right(ends, start, hi=n)
        best.append(max(best[-1], best[p] + values[k] - 0.01 * end))
    return best[-1]


def best_schedule_by_recursion(values, jobs):
    triples = sorted((end, start, value) for (start, end), value in zip(jobs, values))

    def best(n):
        if n == 0:
            return 0.0
        if n not in known:
            end, start, value = triples[n - 1]
            p = n - 1
            while p > 0 and triples[p - 1][0] > start:
                p -= 1
            known[n] = max(best(n - 1), value - 0.01 * end + best(p))
        return known[n]

    known = {}
    return best(len(triples))


_COSTS = {"insert": 1.0, "delete": 1.13, "replace": 1.47}
_X = [math.sin(0.5 * i) for i in range(9)]
_Y = [math.sin(0.5 * i + 0.6) + 0.1 for i in range(8)]
_VALUES = [3.0 + 1.37 * ((i * 7) % 11) for i in range(12)]
_WEIGHTS = [2 + (i * 5) % 9 for i in range(12)]
_START = {"rain": 0.6, "sun": 0.3, "fog": 0.1}
_TRANSITION = {
    "rain": {"rain": 0.6, "sun": 0.3, "fog": 0.1},
    "sun": {"rain": 0.25, "sun": 0.65, "fog": 0.1},
    "fog": {"rain": 0.3, "sun": 0.3, "fog": 0.4},
}
_EMISSION = {
    "rain": {"walk": 0.1, "shop": 0.4, "clean": 0.5},
    "sun": {"walk": 0.6, "shop": 0.3, "clean": 0.1},
    "fog": {"walk": 0.2, "shop": 0.5, "clean": 0.3},
}
_OBSERVED = [
    "walk",
    "shop",
    "clean",
    "clean",
    "walk",
    "walk",
    "shop",
    "clean",
    "shop",
    "walk",
    "clean",
    "shop",
]
_JOBS = [(((i * 7) % 20) * 1.0, ((i * 7) % 20) + 2.1 + 0.37 * ((i * 3) % 10)) for i in range(25)]

PROGRAMS = [
    Program(
        "distance of words",
        {"two rows": edit_distance, "memo in an object": edit_distance_by_recursion},
        (_COSTS, "intention of the author", "execution by a reader"),
    ),
    Program(
        "soft time warping",
        {"dict by pairs": soft_dtw, "array element by element": soft_dtw_by_arrays},
        (_X, _Y, 0.3),
        (0, 1, 2),
    ),
    Program(
        "knapsack",
        {"table": knapsack, "lru_cache": knapsack_memo},
        (_VALUES, _WEIGHTS, 30, 0.97),
        (0, 3),
    ),
    Program(
        "best path of states",
        {"dict comprehensions": viterbi, "linked cells": viterbi_of_cells},
        (_START, _TRANSITION, _EMISSION, _OBSERVED),
        (0, 1, 2),
    ),
    Program(
        "schedule of jobs",
        {"bisection": best_schedule, "nested recursion": best_schedule_by_recursion},
        ([1.0 + 0.61 * ((i * 11) % 13) for i in range(25)], _JOBS),
    ),
]
