"""Lists, tuples, deques, sets and copies, in both modes: results, and that arguments are put back."""

from __future__ import annotations

import copy
from collections import deque, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc.testing import test_rule as check

Point = namedtuple("Point", "u v")


def gen(a: Any) -> Any:
    for v in a:
        yield v * 1.5


class Node:
    def __init__(self, value: Any, *children: Any) -> None:
        self.value = value
        self.children = list(children)


class Slotted:
    __slots__ = ("first", "second")


class Own:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __copy__(self) -> Any:
        return Own(self.value * 2.0)

    def __deepcopy__(self, memo: Any) -> Any:
        return Own(copy.deepcopy(self.value, memo) * 3.0)


def changed(b: Any, *steps: Callable[[Any], Any]) -> Any:
    """What some statements return, and what they make of `b`."""
    return [step(b) for step in steps], b


def assigned(b: Any, where: Any, values: Any) -> Any:
    before = list(b)
    b[where] = values
    b[0] = b[0] * 2.0
    return b, before


def removed(b: Any, where: Any) -> Any:
    del b[where]
    return b


def augmented(b: Any, x: Any) -> Any:
    c = b
    c += [x]
    c += (x, 2.0)
    c += gen([x])
    c *= 2
    return b, c is b


def subscript_augmented(b: Any, x: Any) -> Any:
    b[0] += x
    b[-1] *= b[0]
    b[1:] += [x]
    return b


def chained(b: Any, x: Any) -> Any:
    b[0], b[1] = b[1], x
    c = b[:]
    c[0] = c[1] = x * x
    return b, c


def nested(b: Any, x: Any) -> Any:
    rows = [b, [x], b]
    rows[0][0] = x
    rows[2][1] *= rows[0][0]
    rows[1] = rows[0]
    return rows


def self_extending(b: Any, x: Any) -> Any:
    b.extend(b)
    b += b[:1]
    b.insert(1, x)
    b[1:3] = b
    return b


def sort_by_key(b: Any, x: Any) -> Any:
    log = [x]

    def key(v: Any) -> Any:
        log.append(log[-1] * v)
        return -v

    b.append(x)
    b.sort(key=key)
    return b, log


def copied_and_changed(b: Any, x: Any) -> Any:
    c, d = copy.copy(b), copy.deepcopy(b)
    c[0] = c[0] * x
    d[1] = d[1] * d[0] * x
    return b, c, d


def same(p: Any, q: Any) -> bool:
    """Asked by the addresses: a function that compares what stands in a place with another value, and writes
    such a place too, looks as if it remembered results from call to call, which is refused."""
    return id(p) == id(q)


def deep_aliased(b: Any, x: Any) -> Any:
    rows = [b, b, [x, b]]
    twin = copy.deepcopy(rows)
    twin[0][0] = twin[0][0] * x
    return rows, twin, same(twin[0], twin[1]), same(twin[0], rows[0])


def deep_cyclic(b: Any, x: Any) -> Any:
    n = Node(x, Node(b[0]))
    n.children.append(n)
    m = copy.deepcopy(n)
    return m.children[1] is m, m.value * m.children[0].value, m is n


def deep_object(b: Any, x: Any) -> Any:
    n = Node(x, b, b, {"p": x})
    m = copy.deepcopy(n)
    m.children[0][0] = m.value * m.children[1][0]
    m.children[2]["q"] = m.value
    return n.value, n.children, m.value, m.children


def shallow_object(b: Any, x: Any) -> Any:
    n = Node(x, b)
    m = copy.copy(n)
    m.value = m.value * 2.0
    return n.value, m.value, m.children is n.children


def deep_slotted(b: Any, x: Any) -> Any:
    s = Slotted()
    s.first = b
    t = copy.deepcopy(s)
    t.first[0] = x
    t.second = x * x
    u = copy.copy(t)
    return s.first, u.first, u.second, same(u.first, t.first)


def deque_full(a: Any, x: Any) -> Any:
    q = deque(a, maxlen=3)
    q.append(x)
    q.appendleft(x * x)
    q.extend([x, 2.0 * x])
    q.extendleft(gen([x]))
    return q, q.maxlen


def deque_ends(a: Any, x: Any) -> Any:
    q = deque(a)
    q.append(x)
    u = q.popleft() * q.pop()
    q.rotate(1)
    q.rotate(-2)
    q.reverse()
    q += [u]
    return q, q[0] * q[-1], len(q)


def deque_middle(a: Any, x: Any) -> Any:
    q = deque([*a, x])
    q.insert(1, x * x)
    q.remove(x)
    q[1] = q[1] * 2.0
    del q[0]
    return q, q.index(q[1]), q.count(q[0])


LISTS: dict[str, Callable[[Any, Any], Any]] = {
    "append": lambda a, x: changed(a, lambda b: b.append(x * x), lambda b: b.append([x])),
    "append method kept": lambda a, x: (lambda put: (put(x), put(2.0 * x), a))(a.append),
    "extend": lambda a, x: changed(a, lambda b: b.extend([x]), lambda b: b.extend((x, 1))),
    "extend generator": lambda a, x: changed(a, lambda b: b.extend(gen([x, x * x]))),
    "extend dict": lambda a, x: changed(a, lambda b: b.extend({"p": x}.values())),
    "extend array": lambda a, x: changed(a, lambda b: b.extend(np.array([x, 2.0]))),
    "extend self": lambda a, x: changed(a, lambda b: b.extend(b)),
    "extend itself": lambda a, x: self_extending(a, x),
    "insert": lambda a, x: changed(a, lambda b: b.insert(1, x), lambda b: b.insert(-1, x * x)),
    "insert far": lambda a, x: changed(a, lambda b: b.insert(99, x), lambda b: b.insert(-99, x * x)),
    "pop": lambda a, x: changed(a, lambda b: b.pop() * x),
    "pop at": lambda a, x: changed(a, lambda b: b.pop(0) * x, lambda b: b.pop(-2)),
    "remove": lambda a, x: changed([*a, x], lambda b: b.remove(x), lambda b: b.remove(b[1])),
    "clear": lambda a, x: changed(a, lambda b: b.clear(), lambda b: b.append(x)),
    "sort": lambda a, x: changed(a, lambda b: b.append(x), lambda b: b.sort()),
    "sort reverse": lambda a, x: changed(a, lambda b: b.sort(reverse=True)),
    "sort key": lambda a, x: sort_by_key(a, x),
    "reverse": lambda a, x: changed(a, lambda b: b.reverse(), lambda b: b[0] * x),
    "slice shorter": lambda a, x: assigned(a, slice(0, 2), [x]),
    "slice longer": lambda a, x: assigned(a, slice(1, 2), (x, x * x, 3.0)),
    "slice empty": lambda a, x: assigned(a, slice(1, 1), [x]),
    "slice to nothing": lambda a, x: assigned([*a, x], slice(1, 3), []),
    "slice generator": lambda a, x: assigned(a, slice(None), gen([x, 2.0])),
    "slice step": lambda a, x: assigned(a, slice(None, None, 2), [x, x * x]),
    "slice backwards": lambda a, x: assigned(a, slice(None, None, -1), [x, x * x, a[0]]),
    "slice of itself": lambda a, x: assigned(a, slice(1, 2), a),
    "delete": lambda a, x: removed([*a, x], 1) + removed(a, -1),
    "delete slice": lambda a, x: removed([*a, x], slice(1, 3)) + removed(a, slice(None, 2)),
    "delete step": lambda a, x: removed([*a, x], slice(None, None, 2)) + removed(a, slice(None, None, -2)),
    "add": lambda a, x: (a + [x]) + a,
    "multiply": lambda a, x: [a * 2, 2 * [x], a * 0, [a] * 2],
    "augmented": lambda a, x: augmented(a, x),
    "augmented subscript": lambda a, x: subscript_augmented(a, x),
    "exchange": lambda a, x: chained(a, x),
    "nested": lambda a, x: nested(a, x),
    "compare": lambda a, x: (a == a[:], a < [x], [x] >= a, a != a[:], x),
    "copy": lambda a, x: (lambda b: (b.append(x), a, b))(a.copy()),
    "index count in": lambda a, x: (a.index(a[1]), a.index(a[2], 1), a.count(a[0]), x in a, x not in a, x),
    "length": lambda a, x: len(a) * x,
    "comprehension": lambda a, x: [u * v for u in a if u < 1.0 for v in (x, u)],
    "star": lambda a, x: [*a, x, *gen(a), *(x, 2.0)],
    "unpack": lambda a, x: (lambda p, *q, r: (p, q, r * x))(*a[:2], r=a[2]),
    "subscript": lambda a, x: [a[-1] * x, a[1:][0], a[::-1][0], a[True]],
    "tuple of": lambda a, x: tuple(a) + (x,),
    "ints among them": lambda a, x: (lambda b: (b.__setitem__(0, x), b))([1, 2, *a]),
    "text": lambda a, x: (str([1]), x),
}

TUPLES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, x: (x, a[0]) + tuple(a),
    "multiply": lambda a, x: ((x, a[0]) * 2, 2 * (x,), (x,) * 0),
    "augmented": lambda a, x: (lambda t: t.__add__((x,)))((a[0], x)),
    "subscript": lambda a, x: ((a, x)[1], (x, *a)[1:3], (x, *a)[::-2]),
    "compare": lambda a, x: ((x, 1) == (x, 1), (x,) < (a[1],), (x, 2) != (1, 2), x),
    "index count in": lambda a, x: ((x, 1.0).index(x), (x, x).count(x), x in (1.0, x), x),
    "nested": lambda a, x: (((x, a), (a[0],)), (x, (x, (x,)))),
    "named": lambda a, x: Point(x, a)._replace(u=a[0] * x),
    "named fields": lambda a, x: (lambda p: (p.u * p[1], p._asdict(), p + (x,)))(Point(x, a[0])),
    "named make": lambda a, x: Point._make([x, a[0]]),
    "holds a list": lambda a, x: (lambda t: (t[0].append(x), t))((a, x)),
    "comprehension": lambda a, x: tuple(v * x for v in a),
    "hash": lambda a, x: (hash((1, "p")) == hash((1, "p")), x),
}

DEQUES: dict[str, Callable[[Any, Any], Any]] = {
    "full": lambda a, x: deque_full(a, x),
    "ends": lambda a, x: deque_ends(a, x),
    "middle": lambda a, x: deque_middle(a, x),
    "insert": lambda a, x: (lambda q: (q.insert(1, x), q.insert(-1, x * x), q.insert(9, x), q))(deque(a)),
    "remove": lambda a, x: (lambda q: (q.remove(q[1]), q))(deque([*a, x])),
    "index": lambda a, x: (deque(a).index(a[1]), deque([*a, x]).index(x, 1), x),
    "count": lambda a, x: deque([x, x, *a]).count(x) * x,
    "delete": lambda a, x: (lambda q: (q.__delitem__(1), q))(deque([*a, x])),
    "in": lambda a, x: (x in deque(a), x),
    "clear": lambda a, x: (lambda q: (q.clear(), q.append(x), q))(deque(a)),
    "copy": lambda a, x: (lambda q: (q.copy(), copy.copy(q), copy.deepcopy(q)))(deque([*a, x], 9)),
    "add": lambda a, x: deque(a) + deque([x]),
    "multiply": lambda a, x: (deque([a[0], x]) * 2, 2 * deque([x])),
    "augmented": lambda a, x: (lambda q: (q.__iadd__([x]), q.__imul__(2))[1])(deque(a)),
    "compare": lambda a, x: (deque(a) == deque(a), deque([x]) < deque(a), x),
    "iterate": lambda a, x: [v * x for v in deque(gen(a), maxlen=2)],
    "extend itself": lambda a, x: (lambda q: (q.extend(q), q.extendleft([x, 2.0]), q))(deque(a)),
    "length": lambda a, x: (len(deque(a)) * x, bool(deque())),
    "rotate empty": lambda a, x: (deque().rotate(3), x),
    "iterator kept": lambda a, x: [v for it in [reversed(deque([*a, x])), iter(deque(a))] for v in it],
    "window": lambda a, x: (lambda q: [(q.append(v * x), sum(q))[1] for v in a])(deque(maxlen=2)),
}

SETS: dict[str, Callable[[Any, Any], Any]] = {
    "visited": lambda a, x: (lambda s: [(s.add(i), len(s) * v * x)[1] for i, v in enumerate(a)])(set()),
    "operators": lambda a, x: (sorted({1, 2} & {2, 3} | {5} ^ {6} - {7}), x),
    "compare": lambda a, x: ({1} <= {1, 2}, {1, 2} > {1}, {1} == {1}, {1}.issubset([1, 2]), x),
    "methods": lambda a, x: (lambda s: (s.discard(1), s.remove(2), s.pop(), s.update([4]), sorted(s), x))(
        {1, 2, 3}
    ),
    "in place": lambda a, x: (lambda s: (s.__ior__({4}), s.__iand__({4}), s.__isub__({1}), sorted(s), x))(
        {1}
    ),
    "comprehension": lambda a, x: [a[i] * x for i in sorted({i % 2 for i in range(4)})],
    "frozen": lambda a, x: (frozenset([1, 2]) | {3} == {1, 2, 3}, {frozenset([1]): x}[frozenset([1])]),
    "of iterators": lambda a, x: (
        frozenset({float}).issuperset(map(type, a)),
        {float, int}.issuperset(iter([type(x)])),
        {1}.issubset(i for i in (1, 2)),
        {1}.isdisjoint(range(2, 4)),
        {1}.isdisjoint(iter([1])),
        x,
    ),
    "isdisjoint": lambda a, x: ({1}.isdisjoint([2]), {1}.symmetric_difference([2]) == {1, 2}, x),
    "in": lambda a, x: (1 in {1}, x in {1.0}, x),
    "copy": lambda a, x: (copy.copy({1}) == {1}, {1}.copy() == {1}, copy.deepcopy({1}) == {1}, x),
}

COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "list": lambda a, x: copied_and_changed(a, x),
    "aliased": lambda a, x: deep_aliased(a, x),
    "cyclic": lambda a, x: deep_cyclic(a, x),
    "object": lambda a, x: deep_object(a, x),
    "object, shallow": lambda a, x: shallow_object(a, x),
    "slots": lambda a, x: deep_slotted(a, x),
    "methods of its own": lambda a, x: (copy.copy(Own(x)).value, copy.deepcopy(Own(x)).value),
    "dict": lambda a, x: (copy.copy({"p": a, "q": x}), copy.deepcopy({"p": a, "q": x})),
    "tuple": lambda a, x: (copy.copy((x, a)), copy.deepcopy((x, a)), copy.deepcopy((x, 1))),
    "array": lambda a, x: (copy.copy(np.array(a) * x), copy.deepcopy(np.array(a) * x)),
    "array within": lambda a, x: copy.deepcopy({"p": [np.array(a) * x]}),
    "array scalar": lambda a, x: copy.deepcopy((np.array(a) * x)[0]),
    "number": lambda a, x: (copy.copy(x), copy.deepcopy(x), copy.deepcopy(None)),
    "named": lambda a, x: (copy.copy(Point(x, a)), copy.deepcopy(Point(x, a))),
    "memo": lambda a, x: (lambda memo: (copy.deepcopy(a, memo), copy.deepcopy(a, memo)))({}),
}

FAMILIES = {"list": LISTS, "tuple": TUPLES, "deque": DEQUES, "set": SETS, "copy": COPIES}
CASES = {f"{family}: {name}": f for family, cases in FAMILIES.items() for name, f in cases.items()}


@pytest.mark.parametrize("name", CASES)
def test_sequences_are_right_and_put_back(name: str) -> None:
    check(CASES[name], [0.5, 1.5, 0.7], 0.8)
