"""Ranks, distances and flows in graphs."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from benchmarks.program import Program

# -- PageRank with weighted links ------------------------------------------------------------


def pagerank_entropy(weights, links, damping, rounds):
    nodes = sorted({n for link in links for n in link})
    out = defaultdict(float)
    for (source, _), w in zip(links, weights):
        out[source] += w
    rank = {n: 1.0 / len(nodes) for n in nodes}
    for _ in range(rounds):
        dangling = sum(rank[n] for n in nodes if n not in out)
        new = dict.fromkeys(nodes, (1 - damping + damping * dangling) / len(nodes))
        for (source, target), w in zip(links, weights):
            new[target] += damping * rank[source] * w / out[source]
        rank = new
    return -sum(p * math.log(p) for p in rank.values())


class Graph:
    def __init__(self):
        self.index = {}
        self.edges = []

    def node(self, name):
        return self.index.setdefault(name, len(self.index))

    def connect(self, a, b, weight):
        self.edges.append((self.node(a), self.node(b), weight))

    def __len__(self):
        return len(self.index)

    @cached_property
    def transition(self):
        matrix = np.zeros((len(self), len(self)))
        for a, b, w in self.edges:
            matrix[b, a] += w
        sums = matrix.sum(axis=0)
        matrix[:, sums == 0] = 1.0 / len(self)
        sums[sums == 0] = 1.0
        return matrix / sums

    def stationary(self, damping, rounds):
        p = np.full(len(self), 1.0 / len(self))
        for _ in range(rounds):
            p = damping * self.transition @ p + (1 - damping) / len(self)
        return p


def pagerank_entropy_of_graph(weights, links, damping, rounds):
    graph = Graph()
    for (a, b), w in zip(links, weights):
        graph.connect(a, b, w)
    p = graph.stationary(damping, rounds)
    return -np.sum(p * np.log(p))


# -- shortest ways ------------------------------------------------------------


def dijkstra(graph, start):
    distance = {start: 0.0}
    queue = [(0.0, start)]
    done = set()
    while queue:
        d, node = heapq.heappop(queue)
        if node in done:
            continue
        done.add(node)
        for neighbour, length in graph[node]:
            new = d + length
            if new < distance.get(neighbour, math.inf):
                distance[neighbour] = new
                heapq.heappush(queue, (new, neighbour))
    return distance


def mean_distance(lengths, streets):
    graph = defaultdict(list)
    for (a, b), length in zip(streets, lengths):
        graph[a].append((b, length))
        graph[b].append((a, length))
    total = 0.0
    for start in list(graph):
        total += sum(dijkstra(graph, start).values())
    return total / len(graph) ** 2


def mean_distance_floyd(lengths, streets):
    n = 1 + max(max(s) for s in streets)
    d = [[0.0 if i == j else float("inf") for j in range(n)] for i in range(n)]
    for (a, b), length in zip(streets, lengths):
        d[a][b] = d[b][a] = min(d[a][b], length)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return sum(map(sum, d)) / n**2


# -- soft shortest path ------------------------------------------------------------


def soft_bellman(lengths, arcs, temperature, count):
    """Relaxed distances: minus temperature times the logarithm of the sum over ways."""
    incoming = defaultdict(list)
    for (a, b), w in zip(arcs, lengths):
        incoming[b].append((a, w))
    values = [0.0] + [None] * (count - 1)
    for node in range(1, count):
        terms = [values[a] + w for a, w in incoming[node]]
        least = min(terms)
        z = sum(math.exp((least - t) / temperature) for t in terms)
        values[node] = least - temperature * math.log(z)
    return values[-1]


@dataclass
class Vertex:
    name: int
    arcs: list = field(default_factory=list, repr=False)
    _cost: float | None = None

    def cost(self, temperature):
        """Of the soft way from here to the end; computed once."""
        if self._cost is None:
            if not self.arcs:
                self._cost = 0.0
            else:
                logits = [-(w + v.cost(temperature)) / temperature for v, w in self.arcs]
                m = max(logits)
                self._cost = -temperature * (m + math.log(math.fsum(math.exp(l - m) for l in logits)))
        return self._cost


def soft_distance_of_vertices(lengths, arcs, temperature, count):
    vertices = [Vertex(i) for i in range(count)]
    for (a, b), w in zip(arcs, lengths):
        vertices[a].arcs.append((vertices[b], w))
    return vertices[0].cost(temperature)


# -- maximal flow and its cost ------------------------------------------------------------


def max_flow(capacities, pipes, source, sink):
    """Edmonds-Karp; then a cost of what flows."""
    residual = defaultdict(dict)
    for (a, b), c in zip(pipes, capacities):
        residual[a][b] = residual[a].get(b, 0.0) + c
        residual[b].setdefault(a, 0.0)
    flow = 0.0
    while True:
        parents = {source: None}
        queue = deque([source])
        while queue and sink not in parents:
            here = queue.popleft()
            for there, left in residual[here].items():
                if left > 1e-12 and there not in parents:
                    parents[there] = here
                    queue.append(there)
        if sink not in parents:
            return flow
        way = []
        node = sink
        while parents[node] is not None:
            way.append((parents[node], node))
            node = parents[node]
        amount = min(residual[a][b] for a, b in way)
        for a, b in way:
            residual[a][b] -= amount
            residual[b][a] += amount
        flow += amount


class Pipe:
    __slots__ = ("capacity", "flow", "reverse", "target")

    def __init__(self, target, capacity):
        self.target = target
        self.capacity = capacity
        self.flow = 0.0
        self.reverse = None

    @property
    def left(self):
        return self.capacity - self.flow

    def push(self, amount):
        self.flow += amount
        self.reverse.flow -= amount


class Network:
    def __init__(self, size):
        self.pipes = [[] for _ in range(size)]

    def lay(self, a, b, capacity):
        there, back = Pipe(b, capacity), Pipe(a, 0.0)
        there.reverse, back.reverse = back, there
        self.pipes[a].append(there)
        self.pipes[b].append(back)

    def augment(self, node, sink, limit, seen):
        if node == sink:
            return limit
        seen.add(node)
        for pipe in self.pipes[node]:
            if pipe.left > 1e-12 and pipe.target not in seen:
                pushed = self.augment(pipe.target, sink, min(limit, pipe.left), seen)
                if pushed > 0:
                    pipe.push(pushed)
                    return pushed
        return 0.0

    def max_flow(self, source, sink):
        total = 0.0
        while (pushed := self.augment(source, sink, 1e9, set())) > 0:
            total += pushed
        return total


def max_flow_of_pipes(capacities, pipes, source, sink):
    network = Network(1 + max(map(max, pipes)))
    for (a, b), c in zip(pipes, capacities):
        network.lay(a, b, c)
    return network.max_flow(source, sink)


# -- influence in a group ------------------------------------------------------------


def consensus(trust, opinions, friends, rounds):
    """Disagreement left after people have moved towards their friends."""
    current = dict(opinions)
    for _ in range(rounds):
        current = {
            person: value + trust * sum(current[f] - value for f in friends[person]) / len(friends[person])
            for person, value in current.items()
        }
    mean = sum(current.values()) / len(current)
    return sum((v - mean) ** 2 for v in current.values())


def consensus_by_counter(trust, opinions, friends, rounds):
    current = Counter(opinions)
    for _ in range(rounds):
        change = Counter()
        for person, near in friends.items():
            for friend in near:
                change[person] += trust * (current[friend] - current[person]) / len(near)
        current.update(change)
    values = np.array(list(current.values()))
    return len(values) * values.var()


_LINKS = [(i, (i * i + j) % 9) for i in range(8) for j in (1, 3, 4) if i != (i * i + j) % 9]
_STREETS = [(i, i + 1) for i in range(8)] + [(0, 4), (2, 7), (1, 5), (3, 8), (0, 8)]
_ARCS = [(i, j) for i in range(9) for j in (i + 1, i + 2, i + 3) if j < 10]
_PIPES = [
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 4),
    (2, 4),
    (2, 5),
    (3, 5),
    (1, 2),
    (4, 6),
    (5, 6),
    (4, 7),
    (6, 7),
    (5, 7),
]
_PEOPLE = ["ann", "bob", "cem", "dan", "eve", "fay"]

PROGRAMS = [
    Program(
        "entropy of PageRank",
        {"dicts": pagerank_entropy, "matrix of a graph class": pagerank_entropy_of_graph},
        ([1.0 + 0.1 * ((i * 5) % 7) for i in range(len(_LINKS))], _LINKS, 0.85, 15),
    ),
    Program(
        "mean distance in a city",
        {"heap": mean_distance, "nested loops": mean_distance_floyd},
        ([1.0 + 0.37 * ((i * 5) % 11) for i in range(len(_STREETS))], _STREETS),
    ),
    Program(
        "soft shortest path",
        {"lists": soft_bellman, "vertices that remember": soft_distance_of_vertices},
        ([0.5 + 0.2 * ((i * 3) % 8) for i in range(len(_ARCS))], _ARCS, 0.4, 10),
        (0, 2),
    ),
    Program(
        "maximal flow",
        {"dicts and a queue": max_flow, "objects with slots": max_flow_of_pipes},
        ([1.0 + 0.53 * ((i * 7) % 10) + 0.013 * i for i in range(len(_PIPES))], _PIPES, 0, 7),
    ),
    Program(
        "consensus",
        {"dict comprehensions": consensus, "counters": consensus_by_counter},
        (
            0.3,
            {p: math.sin(3.0 * i) for i, p in enumerate(_PEOPLE)},
            {p: [_PEOPLE[(i + 1) % 6], _PEOPLE[(i + 2) % 6]] for i, p in enumerate(_PEOPLE)},
            8,
        ),
        (0, 1),
    ),
]
