"""Programs whose objects are keys of dicts and elements of sets, and are taken out again.

Objects that compare by identity stand in a set in the order of their addresses, which differs from run to
run, so that the sets here have two elements, or the order does not matter to the last bit.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import graphlib
import heapq
import itertools
import operator
import types
from collections.abc import Callable
from typing import Any

PROGRAMS: dict[str, Callable[[float], Any]] = {}


def program(f: Callable[[float], Any]) -> Callable[[float], Any]:
    PROGRAMS[f.__name__] = f
    return f


class Point:
    def __init__(self, m: Any) -> None:
        self.m = m


class Named:
    """Compares by its name."""

    def __init__(self, name: str, m: Any) -> None:
        self.name, self.m = name, m

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name


@dataclasses.dataclass(eq=False)
class Body:
    m: float


@dataclasses.dataclass(unsafe_hash=True)
class Labelled:
    name: str
    m: float = dataclasses.field(compare=False)


@dataclasses.dataclass(frozen=True)
class Setting:
    a: float = 1.5
    n: int = 2


def two(x: Any) -> list[Any]:
    return [Point(x), Point(x * x)]


def total(points: Any) -> Any:
    return sum(p.m for p in points)


# -- dicts --------------------------------------------------------------------------------------------------


@program
def items(x):
    return sum(k.m * v for k, v in {Point(x): 1, Point(x * x): 2}.items())


@program
def looked_up(x):
    d = {p: i for i, p in enumerate(two(x))}
    s = 0.0
    for k in d:
        s += k.m * (1 + d[k])
    return s


@program
def of_active_values(x):
    d = {Body(x): [1.0], Body(2 * x): [2.0, x]}
    return sum(b.m * sum(v) for b, v in d.items())


@program
def listed(x):
    return total(list(dict.fromkeys(two(x), 1)))


@program
def starred(x):
    d = {p: 1 for p in two(x)}
    return total([*d]) + total((*d,))


@program
def popped_items(x):
    d = {p: 1.0 for p in two(x)}
    e = collections.OrderedDict(d)
    return d.popitem()[0].m + 3.0 * e.popitem(last=False)[0].m


@program
def edges(x):
    a, b = two(x)
    return sum(w * p.m * q.m * q.m for (p, q), w in {(a, b): 2.0, (b, a): 3.0}.items())


@program
def best_pair(x):
    points = [*two(x), Point(3.0 * x)]
    d = {(a, b): a.m * b.m for a, b in itertools.combinations(points, 2)}
    best = max(d, key=d.get)
    return best[0].m + 2 * best[1].m


@program
def smallest(x):
    d = {p: p.m for p in two(x)}
    return min(d, key=d.__getitem__).m


@program
def counted(x):
    a, b = two(x)
    c = collections.Counter([a, b, a])
    return sum(p.m * n for p, n in c.most_common()) + sum(p.m for p in c.elements())


@program
def grouped(x):
    d = collections.defaultdict(list)
    a, b = two(x)
    d[a].append(2.0)
    d[b].append(3.0)
    d[a].append(x)
    return sum(p.m * v for p, vs in d.items() for v in vs)


@program
def chained_maps(x):
    maps = collections.ChainMap({Point(x): 1.0}, {Point(x * x): 2.0})
    return sum(k.m * v for k, v in maps.items())


@program
def inverted(x):
    d = {1: Point(x), 2: Point(x * x)}
    return sum(p.m * k for p, k in {v: k for k, v in d.items()}.items())


@program
def zipped(x):
    return sum(p.m * k for p, k in dict(zip(two(x), (1.0, 2.0), strict=True)).items())


@program
def joined(x):
    d: dict[Any, float] = {}
    d.update({p: 1.0 for p in two(x)})
    return sum(p.m * k for p, k in ({**d} | d).items())


@program
def neighbours(x):
    d: dict[Any, list[Any]] = {}
    a, b = two(x)
    d.setdefault(a, []).append(b)
    d.setdefault(b, []).append(a)
    return sum(p.m * q.m * p.m for p, qs in d.items() for q in qs)


@program
def backwards(x):
    return total(reversed({Point(x): 1, Point(x * x): 2}))


@program
def common_keys(x):
    a, b = two(x)
    return total({a: 1, b: 2}.keys() & {b: 1}.keys())


@program
def equal_keys(x):
    d = {Named("a", x): 1.0}
    d[Named("a", 5 * x)] = 2.0  # the key that was there stays
    return sum(q.m * v for q, v in d.items())


@program
def named_tuples(x):
    pair = collections.namedtuple("pair", "p k")
    return sum(n.p.m * v for n, v in {pair(Point(x), 1): 2.0}.items())


@program
def constants(x):
    d = {Setting(): x, Setting(2.0, 3): x * x}
    return sum(c.a * v * c.n for c, v in d.items())


@program
def functions(x):
    def g(y):
        return x * y

    d = {g: 2.0, functools.partial(operator.mul, x): 3.0, Point(x * x).__init__: None, (lambda y=x: y): None}
    return sum(f(v) for f, v in d.items() if v is not None)


@program
def exceptions(x):
    return sum(e.args[0] * n for e, n in {ValueError(x): 1, KeyError(x * x): 2}.items())


@program
def methods_of_keys(x):
    class C:
        def __init__(self, m):
            self.m = m

        def go(self):
            return self.m

    return sum(f() for f in {C(x).go, C(x * x).go})


@program
def kept_results(x):
    @functools.lru_cache
    def twice(p):
        return p.m * 2

    a = Point(x)
    return twice(a) + twice(a) * x


@program
def sorted_by_dependence(x):
    a, b = two(x)
    order = graphlib.TopologicalSorter({a: [b], b: []}).static_order()
    return sum(p.m * i for i, p in enumerate(order, 1))


# -- sets ---------------------------------------------------------------------------------------------------


@program
def collected(x):
    s = set(two(x))
    out: list[Any] = []
    out.extend(s)
    out += s
    return total(out) + total(tuple(s)) + total(collections.deque(s))


@program
def displayed(x):
    (a,) = {Point(x)}
    return a.m + total({p for p in two(x)}) + total([*set(two(x))])


@program
def ordered(x):
    s = frozenset(two(x))
    return sorted(s, key=lambda p: p.m)[-1].m + 3 * max(s, key=lambda p: p.m).m


@program
def emptied(x):
    s, a = set(two(x)), 0.0
    while s:
        a += s.pop().m
    return a


@program
def taken_by_size(x):
    s, r = {*two(x), Point(3 * x)}, 0.0
    while s:
        p = max(s, key=lambda p: p.m)
        s.remove(p)
        r = 2 * r + p.m
    return r


@program
def combined(x):
    a, b, c = Point(x), Point(x * x), Point(3 * x)
    s = {a, b}
    other = s.copy()
    other.discard(a)
    s &= {b, c}
    return total(s) + total(other | {c}) + total({a, b} ^ {b})


@program
def combined_with_others(x):
    a, b, c = Point(x), Point(x * x), Point(3 * x)
    d = collections.defaultdict(float, {a: 1.0, b: 2.0})
    s = {b, c}
    found = s.intersection(d, (p for p in (a, b))).union(iter([b])).difference(iter((a, c)))
    s.intersection_update(p for p in (b, a))
    return total(found) + total(s) + total(frozenset([b]).symmetric_difference(collections.deque([b, c])))


@program
def updated(x):
    s: set[Any] = set()
    s.update(two(x))
    return total(s)


@program
def through_iterators(x):
    s = set(two(x))
    return (
        sum(map(operator.attrgetter("m"), s))
        + sum(a.m * b for a, b in zip(s, (2.0, 2.0), strict=True))
        + total(itertools.chain({Point(x)}, {Point(x): 1}))
        + sum(p.m * (i + 1) for i, p in enumerate({Point(x)}))
        + next(iter({Point(x)})).m
    )


@program
def written_to(x):
    s = set(two(x))
    for p in s:
        p.m = p.m * 2.0
    return total(s)


@program
def equal_elements(x):
    s = {Named("a", x), Named("b", x * x), Named("a", 3 * x)}
    return sum(q.m for q in sorted(s, key=lambda q: q.name))


@program
def inactive_fields_compared(x):
    return sum(h.m for h in sorted({Labelled("a", x), Labelled("b", x * x)}, key=lambda h: h.name))


@program
def sets_in_sets(x):
    return sum(p.m for f in {frozenset(two(x))} for p in f)


@program
def tuples_in_sets(x):
    a, b = two(x)
    s = set()
    s.add((a, "left"))
    s.add((b, "right"))
    return sum(p.m * len(n) for p, n in s)


@program
def sets_in_dicts(x):
    out = collections.defaultdict(set)
    for p in two(x):
        out["a"].add(p)
    return total(out["a"])


@program
def visited(x):
    class Node:
        def __init__(self, v, after=()):
            self.v, self.after = v, after

    a = Node(x)
    b = Node(x * x, (a,))
    seen, todo, s = set(), [Node(3.0, (a, b))], 0.0
    while todo:
        n = todo.pop()
        if n in seen:
            continue
        seen.add(n)
        s += n.v
        todo.extend(n.after)
    return s + sum(sorted(n.v for n in seen))


@program
def registered(x):
    class Part:
        parts: set[Any] = set()

        def __init__(self, m):
            self.m = m
            Part.parts.add(self)

    Part(x)
    Part(x * x)
    return total(Part.parts)


@program
def held_by_an_object(x):
    class Graph:
        def __init__(self):
            self.nodes, self.weights = set(), {}

        def __setitem__(self, node, weight):
            self.nodes.add(node)
            self.weights[node] = weight

        def __iter__(self):
            return iter(self.nodes)

    g = Graph()
    for p in two(x):
        g[p] = 2.0
        p.m *= 3.0
    return total(g) + total(g.weights)


@program
def generated(x):
    def points():
        yield from set(two(x))

    return total(points())


@program
def given_as_arguments(x):
    def g(*points):
        return total(points)

    return g(*set(two(x)))


# -- copied, and given to libraries -------------------------------------------------------------------------


@program
def copied(x):
    return total(copy.copy(set(two(x)))) + total({p: 1 for p in two(x)}.copy())


@program
def copied_deeply(x):
    return (
        total(copy.deepcopy(set(two(x))))
        + total(copy.deepcopy({p: 1 for p in two(x)}))
        + total(copy.deepcopy(types.SimpleNamespace(points=frozenset(two(x)))).points)
    )


@program
def in_library_code(x):
    s = {contextlib.nullcontext(x), contextlib.nullcontext(x * x)}
    largest = heapq.nlargest(1, s, key=lambda c: c.enter_result)[0]
    return largest.enter_result + next(iter(copy.deepcopy({contextlib.nullcontext(x): 1}))).enter_result


CONSTANTS = {Point(3.0): 2.0}
POINTS = {Point(4.0)}


@program
def global_objects(x):
    return sum(k.m * v * x for k, v in CONSTANTS.items()) + sum(p.m * x for p in POINTS)


@program
def written_to_globals(x):
    for p in POINTS:
        p.m = x * x
    r = total(POINTS)
    for p in POINTS:
        p.m = 4.0
    return r
