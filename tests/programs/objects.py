"""Programs made of objects that know each other: graphs, lists, trees, events, caches, observers."""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable

import adbc

# -- a graph with cycles ---------------------------------------------------------------------------


class Unit:
    """A node of a network: its edges lead to other nodes, and back."""

    def __init__(self, bias: float) -> None:
        self.bias = bias
        self.edges: list[tuple[Unit, list[float]]] = []
        self.state = 0.0
        self.owner: Ring | None = None

    def step(self) -> float:
        total = self.bias
        for unit, weight in self.edges:
            total += weight[0] * unit.state
        return math.tanh(total)


class Ring:
    """Units in a circle, each with an edge to the next and one back."""

    def __init__(self, biases: list[float], weights: list[float]) -> None:
        self.units = [Unit(b) for b in biases]
        n = len(biases)
        for i, unit in enumerate(self.units):
            unit.owner = self
            unit.edges.append((self.units[(i + 1) % n], [weights[i]]))
            unit.edges.append((self.units[i - 1], [0.5 * weights[i]]))

    def run(self, steps: int) -> float:
        for _ in range(steps):
            new = [unit.step() for unit in self.units]
            for unit, state in zip(self.units, new, strict=True):
                unit.state = state
        return sum(unit.state * unit.state for unit in self.units)


def ring() -> Ring:
    return Ring([0.3, -0.2, 0.1], [0.7, -0.4, 0.9])


def ring_energy(net: Ring, steps: int) -> float:
    return net.units[0].owner.run(steps)  # type: ignore[union-attr]  # it has one


def ring_from_scratch(b: float, w: float, steps: int) -> float:
    return Ring([b, -b, b * w], [w, w * w, 0.5]).run(steps)


def train(net: Ring, rate: float, rounds: int) -> list[float]:
    """Plain gradient descent: the gradient has the shape of the network, cycles and all."""
    history = []
    for _ in range(rounds):
        value, gradient = adbc.value_and_grad(ring_energy)(net, 3)
        history.append(value)
        for unit, change in zip(net.units, gradient.units, strict=True):
            unit.bias -= rate * change.bias
            for (_, weight), (_, by_weight) in zip(unit.edges, change.edges, strict=True):
                weight[0] -= rate * by_weight[0]
    return history


# -- linked lists and trees ------------------------------------------------------------------------


class Link:
    __slots__ = ("next", "value")

    def __init__(self, value: float, next: Link | None = None) -> None:
        self.value = value
        self.next = next


def chain(values: list[float]) -> Link | None:
    head = None
    for value in reversed(values):
        head = Link(value, head)
    return head


def weighted_sum(link: Link | None, k: float) -> float:
    """The sum of value times k to the place in the list, as a recursion."""
    if link is None:
        return 0.0
    return link.value + k * weighted_sum(link.next, k)


def reverse_and_sum(link: Link | None, k: float) -> float:
    """Turn the list round in place, scale every second value, and sum."""
    last = None
    while link is not None:
        link.next, last, link = last, link, link.next
    node, i = last, 0
    while node is not None:
        if i % 2:
            node.value *= k
        node, i = node.next, i + 1
    return weighted_sum(last, k)


class Tree:
    def __init__(self, value: float, left: Tree | None = None, right: Tree | None = None) -> None:
        self.value = value
        self.left = left
        self.right = right
        self.parent: Tree | None = None
        for child in (left, right):
            if child is not None:
                child.parent = self

    def total(self, k: float) -> float:
        below = sum(child.total(k) for child in (self.left, self.right) if child is not None)
        return self.value * math.exp(k * below) + below * self.depth()

    def depth(self) -> int:
        return 0 if self.parent is None else 1 + self.parent.depth()


def tree() -> Tree:
    return Tree(0.5, Tree(-0.3, Tree(0.2), Tree(0.9)), Tree(0.7, None, Tree(-0.4)))


def tree_total(root: Tree, k: float) -> float:
    return root.total(k)


def insert(root: Tree | None, value: float) -> Tree:
    """Into a search tree."""
    if root is None:
        return Tree(value)
    if value < root.value:
        root.left = insert(root.left, value)
    else:
        root.right = insert(root.right, value)
    return root


def tree_sort(values: list[float], k: float) -> float:
    root = None
    for value in values:
        root = insert(root, value * k)
    ordered: list[float] = []

    def walk(node: Tree | None) -> None:
        if node is not None:
            walk(node.left)
            ordered.append(node.value)
            walk(node.right)

    walk(root)
    return sum(i * value * value for i, value in enumerate(ordered))


# -- events ----------------------------------------------------------------------------------------


def simulation(rate: float, service: list[float]) -> float:
    """Customers come, wait and are served; the heap holds when what happens next, and to whom."""
    counts = [0]

    def push(time: float, what: str, who: int) -> None:
        counts[0] += 1
        heapq.heappush(events, (time, counts[0], what, who))

    events: list[tuple[float, int, str, int]] = []
    log: dict[str, list[float]] = {"come": [], "go": []}
    queue: list[tuple[int, float]] = []
    free = True
    for who in range(len(service)):
        push(rate * (who + 1), "come", who)
    waited = 0.0
    while events:
        time, _, what, who = heapq.heappop(events)
        log[what].append(time)
        if what == "come":
            queue.append((who, time))
        else:
            free = True
        if free and queue:
            first, since = queue.pop(0)
            waited += time - since
            free = False
            push(time + service[first], "go", first)
    return waited + 0.1 * sum(t * t for t in log["go"]) - 0.01 * sum(log["come"])


# -- caches ----------------------------------------------------------------------------------------


class Cache:
    """Computes on demand and keeps what it has; forgets the oldest."""

    def __init__(self, function: Callable[[float], float], size: int) -> None:
        self.function = function
        self.size = size
        self.known: dict[int, float] = {}
        self.hits = 0

    def __getitem__(self, i: int) -> float:
        if i in self.known:
            self.hits += 1
            return self.known[i]
        if len(self.known) >= self.size:
            del self.known[next(iter(self.known))]
        self.known[i] = self.function(float(i))
        return self.known[i]


def cached_sum(a: float, b: float) -> float:
    cache = Cache(lambda t: math.sin(a * t) * b, 3)
    total = sum(cache[i % 4] * cache[0] for i in range(9))
    return total + cache.hits


def lru_recursion(a: float, n: int) -> float:
    """Chebyshev's polynomials by a recursion that remembers what it has found."""

    @functools.lru_cache(maxsize=None)
    def term(i: int) -> float:
        if i == 0:
            return 1.0
        if i == 1:
            return a
        return 2.0 * a * term(i - 1) - term(i - 2)

    return sum(term(i) / (i + 1) for i in range(n))


# -- observers -------------------------------------------------------------------------------------


class Subject:
    def __init__(self, value: float) -> None:
        self._value = value
        self._observers: list[Callable[[float, float], None]] = []

    def subscribe(self, observer: Callable[[float, float], None]) -> Callable[[float, float], None]:
        self._observers.append(observer)
        return observer

    @property
    def value(self) -> float:
        return self._value

    @value.setter
    def value(self, new: float) -> None:
        old, self._value = self._value, new
        for observer in self._observers:
            observer(old, new)


class Account:
    """Keeps how far the subject has moved, and passes part of it on."""

    def __init__(self, share: float, to: Subject | None = None) -> None:
        self.share = share
        self.total = 0.0
        self.to = to

    def moved(self, old: float, new: float) -> None:
        self.total += self.share * (new - old) ** 2
        if self.to is not None:
            self.to.value = self.to.value + self.share * new


def observed(x: float, share: float) -> float:
    source, target = Subject(x), Subject(0.5)
    first, second = Account(share, target), Account(2.0 * share)
    peaks: list[float] = []
    source.subscribe(first.moved)
    target.subscribe(second.moved)
    target.subscribe(lambda old, new: peaks.append(max(old, new)))
    for k in (1.5, -0.5, 2.0):
        source.value = source.value * k + share
    return first.total + second.total * target.value + sum(peaks)


# -- classes and properties ------------------------------------------------------------------------


class Shape:
    scale = 2.0

    def __init__(self, size: float) -> None:
        self.size = size

    @property
    def area(self) -> float:
        raise NotImplementedError

    @classmethod
    def unit(cls) -> Shape:
        return cls(1.0)

    def compare(self, other: Shape) -> float:
        return self.scale * self.area / other.area

    def __add__(self, other: Shape) -> Shape:
        return type(self)(self.size + other.size)


class Circle(Shape):
    @property
    def area(self) -> float:
        return math.pi * self.size**2

    @property
    def radius(self) -> float:
        return self.size

    @radius.setter
    def radius(self, value: float) -> None:
        self.size = abs(value)


class Square(Shape):
    scale = 3.0

    @property
    def area(self) -> float:
        return self.size * self.size


class Frame(Square):
    """A square with a hole."""

    def __init__(self, size: float, hole: float) -> None:
        super().__init__(size)
        self.hole = Square(hole)

    @property
    def area(self) -> float:
        return super().area - self.hole.area

    @functools.cached_property
    def diagonal(self) -> float:
        return math.sqrt(2.0) * self.size


def shapes(x: float, y: float) -> float:
    circle, frame = Circle(x), Frame(2.0 * x + y, y)
    circle.radius = -circle.radius * y
    figures: list[Shape] = [circle, frame, Circle.unit() + circle, Square(y)]
    total = sum(a.compare(b) for a in figures for b in figures)
    frame.size *= 0.5
    return total + frame.diagonal * frame.diagonal + frame.area


# -- matrices of lists -----------------------------------------------------------------------------


def eliminate(rows: list[list[float]], right: list[float]) -> float:
    """Solve a system by elimination with pivots, all in place."""
    n = len(rows)
    for j in range(n):
        p = max(range(j, n), key=lambda i: abs(rows[i][j]))
        rows[j], rows[p] = rows[p], rows[j]
        right[j], right[p] = right[p], right[j]
        for i in range(j + 1, n):
            factor = rows[i][j] / rows[j][j]
            for k in range(j, n):
                rows[i][k] -= factor * rows[j][k]
            right[i] -= factor * right[j]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            right[i] -= rows[i][k] * right[k]
        right[i] /= rows[i][i]
    return sum(value * value for value in right)


def transposed_twice(rows: list[list[float]], k: float) -> float:
    turned = [list(column) for column in zip(*rows, strict=True)]
    turned[0], turned[-1] = turned[-1], turned[0]
    for row in turned:
        row[:] = [value * k for value in row]
        row.reverse()
    rows[0] = turned[0]
    rows[0][1] += rows[1][1]
    return sum(
        a * b for row, other in zip(rows, turned, strict=False) for a, b in zip(row, other, strict=False)
    )
