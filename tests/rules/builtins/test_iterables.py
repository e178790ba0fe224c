"""Builtins over iterables, and all of `operator`, in both modes: one line per kind of argument."""

# ruff: noqa: B905, C416, C417, RUF017
# What is tested is just what these would have written in another way.

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc.testing import test_rule as check


def gen(a: Any) -> Any:
    for v in a:
        yield v * 1.5


class Stack:
    """An iterator that changes what it iterates over, and notes down what it saw before it ends."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.seen: list[Any] = []
        self.last = 0.0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.last = self.last * 0.5 + sum(self.values)
        if not self.values:
            self.seen.append(self.last)
            raise StopIteration
        self.seen.append(self.values[-1] * self.last)
        return self.values.pop()


class Indexed:
    """Iterated over by ``__getitem__``, with an effect before the `IndexError` that ends it."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.last = 0.0

    def __getitem__(self, i: int) -> Any:
        self.last = self.last + i * self.values[0]
        if i >= len(self.values):
            raise IndexError
        return self.values[i]


class Sized(Indexed):
    def __len__(self) -> int:
        return len(self.values)


class Node:
    def __init__(self, value: Any, child: Any = None) -> None:
        self.value = value
        self.child = child

    def scaled(self, by: Any, *, plus: Any = 0.0) -> Any:
        self.value = self.value * by
        return self.value + plus

    def __call__(self, x: Any) -> Any:
        return self.value * x

    def __matmul__(self, other: Any) -> Any:
        return self.value * other.value

    def __imatmul__(self, other: Any) -> Any:
        self.value = self.value * other.value
        return self

    def __length_hint__(self) -> int:
        return 3


def effects_before_the_end(a: Any, x: Any) -> Any:
    s = Stack([*a, x])
    out = [v * v for v in s]
    return out, s.seen, s.last


def effects_of_an_indexed_one(a: Any, x: Any) -> Any:
    s = Indexed([*a, x])
    return [v * v for v in s], s.last, s.values


def sentinel(a: Any, x: Any) -> Any:
    state = [x]

    def step() -> Any:
        state[0] = state[0] * 2.0
        return state[0] if state[0] < 5.0 else None

    return list(iter(step, None)), state[0]


def callable_and_sentinel_stopped(a: Any, x: Any) -> Any:
    b = [*a, x]

    def step() -> Any:
        if not b:
            raise StopIteration
        return b.pop()

    it = iter(step, "never")
    return next(it), list(it), next(it, x)


def zip_takes_one_more(a: Any, x: Any) -> Any:
    left, right = iter([*a, x]), iter([x, 2.0 * x])
    return list(zip(left, right)), list(left)


def order_of_map_and_filter(a: Any, x: Any) -> Any:
    log: list[Any] = [x]

    def note(v: Any) -> Any:
        log.append(log[-1] * v)
        return log[-1]

    m = map(note, a)
    u = next(m)
    log[-1] = log[-1] * 2.0
    return u, list(filter(lambda v: note(v) > 0.1, m)), log


def sort_with_effects(a: Any, x: Any) -> Any:
    log = [x]

    def key(v: Any) -> Any:
        log.append(v * log[-1])
        return -v

    return sorted(a, key=key), max(a, key=key), min(gen(a), key=key), log


def stops_early(a: Any, x: Any) -> Any:
    log = [x]

    def note(v: Any) -> Any:
        log.append(log[-1] * v)
        return v > 1.0

    return any(map(note, a)), all(note(v) for v in a), log


def next_with_default(a: Any, x: Any) -> Any:
    it = iter(a[:1])
    return next(it, x), next(it, x), next(it, None)


def length_changed_while_iterated(a: Any, x: Any) -> Any:
    b = list(a)
    out = []
    for v in b:
        out.append(v * x)
        if len(b) < 6:
            b.append(v * v)
    return out, b


def reversed_while_changed(a: Any, x: Any) -> Any:
    b = [*a, x]
    it = reversed(b)
    u = next(it)
    b[0] = u * x
    return list(it)


def an_int_for_a_number(a: Any, x: Any) -> Any:
    y = 1 if x > 0.1 else x
    n = Node(y)
    b = list(a)
    b[0] = y
    return [y, x], {"p": y}, n.value, b, list(map(lambda v: v > 1.0, a)), [y * v for v in a]


BUILTINS: dict[str, Callable[[Any, Any], Any]] = {
    "effects before the end": lambda a, x: effects_before_the_end(a, x),
    "an int for a number": lambda a, x: an_int_for_a_number(a, x),
    "effects of indexing": lambda a, x: effects_of_an_indexed_one(a, x),
    "iter sentinel": lambda a, x: sentinel(a, x),
    "iter stopped": lambda a, x: callable_and_sentinel_stopped(a, x),
    "next default": lambda a, x: next_with_default(a, x),
    "next generator": lambda a, x: next(gen(a)) * x,
    "next array": lambda a, x: next(iter(np.array(a) * x)),
    "range": lambda a, x: [a[i] * x for i in range(2, -1, -1)],
    "range reversed": lambda a, x: [a[i] * x for i in reversed(range(0, 3, 2))],
    "zip": lambda a, x: [u * v for u, v in zip(a, (x, x * x, 2.0))],
    "zip generators": lambda a, x: list(zip(gen(a), gen([x, x]))),
    "zip strict": lambda a, x: list(zip(a, gen(a), strict=True)),
    "zip one": lambda a, x: list(zip(a)),
    "zip transposed": lambda a, x: list(zip(*[a, [x, 1, x * x]])),
    "zip takes one more": lambda a, x: zip_takes_one_more(a, x),
    "zip arrays": lambda a, x: [u * v for u, v in zip(np.array(a), np.array(a) * x)],
    "zip dict views": lambda a, x: [v * u for (k, v), u in zip({"p": x, "q": 2.0}.items(), a)],
    "enumerate": lambda a, x: [i * v * x for i, v in enumerate(a)],
    "enumerate start": lambda a, x: [i * v for i, v in enumerate(gen(a), 5)],
    "enumerate keyword": lambda a, x: list(enumerate((x, a[0]), start=-1)),
    "enumerate array": lambda a, x: [i * v for i, v in enumerate(np.array(a))],
    "reversed list": lambda a, x: list(reversed([*a, x])),
    "reversed tuple": lambda a, x: list(reversed((a[0], x))),
    "reversed dict": lambda a, x: [k for k in reversed({"p": x, "q": a[0]})],
    "reversed values": lambda a, x: list(reversed({"p": x, "q": a[0]}.values())),
    "reversed items": lambda a, x: list(reversed({"p": x, "q": a[0]}.items())),
    "reversed array": lambda a, x: list(reversed(np.array(a) * x)),
    "reversed indexed": lambda a, x: list(reversed(Sized([*a, x]))),
    "in indexed": lambda a, x: (a[1] in Indexed(a), 9.0 in Indexed(a), x),
    "unpack indexed": lambda a, x: [*Indexed([*a, x])],
    "reversed deque": lambda a, x: list(reversed(deque([*a, x]))),
    "reversed changed": lambda a, x: reversed_while_changed(a, x),
    "map": lambda a, x: list(map(lambda v: v * x, a)),
    "map several": lambda a, x: list(map(lambda u, v, w: u * v * w, a, gen(a), (x, x * x, 7.0, 8.0))),
    "map operator": lambda a, x: list(map(operator.mul, a, [x, 2.0])),
    "map class": lambda a, x: [n.value for n in map(Node, a)],
    "map method": lambda a, x: [n.value for n in [Node(x)] for _ in map(n.scaled, a)],
    "map float": lambda a, x: list(map(float, a)),
    "map array": lambda a, x: list(map(lambda v: v * x, np.array(a))),
    "filter": lambda a, x: list(filter(lambda v: v > 0.6, a)),
    "filter None": lambda a, x: list(filter(None, [0.0, x, *a, ""])),
    "filter generator": lambda a, x: list(filter(lambda v: v > 1.0, gen(a))),
    "order of effects": lambda a, x: order_of_map_and_filter(a, x),
    "sorted": lambda a, x: sorted([*a, x]),
    "sorted reverse": lambda a, x: sorted((*a, x), reverse=True),
    "sorted key": lambda a, x: sorted(gen(a), key=lambda v: -v * x),
    "sorted pairs": lambda a, x: sorted([(2, x), (1, a[0]), (1, a[1])], key=lambda p: p[0]),
    "sorted tuples": lambda a, x: sorted([(a[1], x), (a[0], 2.0 * x)]),
    "sorted dict": lambda a, x: sorted({"q": x, "p": a[0]}.items()),
    "sorted array": lambda a, x: sorted(np.array(a) * x),
    "sorted lists": lambda a, x: sorted([[a[1], x], [a[0]]]),
    "sort with effects": lambda a, x: sort_with_effects(a, x),
    "min": lambda a, x: min(a) * x,
    "min of several": lambda a, x: min(a[0], x, a[1]),
    "min key": lambda a, x: min(a, key=lambda v: -v),
    "min default": lambda a, x: min([], default=x),
    "min of lists": lambda a, x: min([a[1], x], [a[0], 2.0]),
    "max": lambda a, x: max(gen(a)) * x,
    "max of several": lambda a, x: max(a[0], x, key=lambda v: -v),
    "max default": lambda a, x: max(gen([]), default=x),
    "max of dict": lambda a, x: max({"p": x, "q": a[0]}.values()),
    "max of array": lambda a, x: max(np.array(a) * x),
    "sum": lambda a, x: sum(a) * x,
    "sum start": lambda a, x: sum(gen(a), x),
    "sum start keyword": lambda a, x: sum((x, 2), start=a[0]),
    "sum lists": lambda a, x: sum([a, [x]], []),
    "sum tuples": lambda a, x: sum([(x,), tuple(a)], ()),
    "sum arrays": lambda a, x: sum([np.array(a), x], np.zeros(3)),
    "sum array": lambda a, x: sum(np.array(a) * x),
    "sum dict": lambda a, x: sum({1: x, 2: a[0]}.values()),
    "any all": lambda a, x: stops_early(a, x),
    "reduce": lambda a, x: functools.reduce(lambda u, v: u * v + x, a),
    "reduce initial": lambda a, x: functools.reduce(operator.mul, gen(a), x),
    "reduce list": lambda a, x: functools.reduce(operator.iadd, [a, [x]], []),
    "length changed": lambda a, x: length_changed_while_iterated(a, x),
    "list of iterators": lambda a, x: [next(it) for it in (iter(a), iter((x,)), gen(a))],
    "unpack": lambda a, x: (lambda p, *q: (p * x, q))(*gen(a)),
    "unpack map": lambda a, x: [*map(lambda v: v * x, a), *reversed(a)],
    "tuple of map": lambda a, x: tuple(map(lambda v: v * x, a)),
    "dict of zip": lambda a, x: dict(zip("pqr", map(lambda v: v * x, a))),
    "in generator": lambda a, x: (1.5 * a[0] in gen(a), x in a, x),
}


def in_place(name: str, b: Any, by: Any) -> Any:
    """The result of an in-place form, what it was applied to, and whether these are the same object."""
    out = getattr(operator, name)(b, by)
    return out, b, out is b


def deleted(b: Any, where: Any) -> Any:
    operator.delitem(b, where)
    return b


def stored(b: Any, where: Any, value: Any) -> Any:
    operator.setitem(b, where, value)
    return b


def called(b: Any, x: Any) -> Any:
    n = Node(x)
    return operator.methodcaller("scaled", b, plus=x)(n), n.value


def matmul(x: Any, y: Any) -> Any:
    n = Node(x)
    m = operator.imatmul(n, Node(y))
    return m is n, n.value


def vector(a: Any) -> Any:
    return np.array(a)


SECOND, VALUE = operator.itemgetter(1), operator.attrgetter("value")
SCALED = operator.methodcaller("scaled", 3.0, plus=1.0)

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: functools.partial(lambda f, a, x: f(a[0], x), getattr(operator, name))
        for name in (
            "add",
            "sub",
            "mul",
            "truediv",
            "pow",
            "mod",
            "floordiv",
            "lt",
            "le",
            "eq",
            "ne",
            "gt",
            "ge",
        )
    },
    **{
        name: functools.partial(lambda f, a, x: (f(a[0], x), f(x, 2)), getattr(operator, name))
        for name in ("iadd", "isub", "imul", "itruediv", "ipow", "imod", "ifloordiv")
    },
    **{
        f"{name} list": functools.partial(lambda name, a, x: in_place(name, a, [x]), name)
        for name in ("iadd", "iconcat")
    },
    **{
        f"{name} array": functools.partial(lambda name, a, x: in_place(name, vector(a), x), name)
        for name in ("iadd", "isub", "imul", "itruediv", "ipow", "imod")
    },
    "neg pos abs": lambda a, x: (operator.neg(x), operator.pos(x), operator.abs(-x), operator.__neg__(x)),
    "imul list": lambda a, x: in_place("imul", [*a, x], 2),
    "iadd tuple": lambda a, x: operator.iadd((x,), tuple(a)),
    "concat": lambda a, x: operator.concat(a, [x]),
    "concat tuples": lambda a, x: operator.concat((x,), tuple(a)),
    "concat text": lambda a, x: (operator.concat("p", "q"), x),
    "iconcat tuple": lambda a, x: operator.iconcat((x,), (a[0],)),
    "iconcat generator": lambda a, x: in_place("iconcat", a, gen([x])),
    "contains": lambda a, x: (operator.contains(a, x), operator.contains(gen(a), x), x),
    "countOf": lambda a, x: operator.countOf([x, *a, x], x) * x,
    "countOf generator": lambda a, x: operator.countOf(gen([x, x]), 1.5 * x) * x,
    "indexOf": lambda a, x: operator.indexOf([*a, x], x) * x,
    "indexOf generator": lambda a, x: operator.indexOf(gen([*a, x]), 1.5 * x) * x,
    "length_hint": lambda a, x: operator.length_hint(a) * x,
    "length_hint object": lambda a, x: operator.length_hint(Node(x)) * x,
    "length_hint default": lambda a, x: operator.length_hint(gen(a), 4) * x,
    "truth": lambda a, x: (operator.truth(x), operator.not_(a), operator.is_(x, x), x),
    "index": lambda a, x: a[operator.index(True)] * x,
    "getitem": lambda a, x: operator.getitem(a, 1) * x,
    "getitem slice": lambda a, x: operator.getitem(a, slice(None, None, 2)),
    "getitem dict": lambda a, x: operator.getitem({"p": x}, "p"),
    "setitem": lambda a, x: stored(a, 1, x),
    "setitem slice": lambda a, x: stored(a, slice(0, 2), [x]),
    "setitem step": lambda a, x: stored(a, slice(None, None, 2), (x, x * x)),
    "setitem dict": lambda a, x: stored({"p": a[0]}, "q", x),
    "setitem array": lambda a, x: stored(vector(a), slice(1, None), x),
    "delitem": lambda a, x: deleted([*a, x], 1),
    "delitem slice": lambda a, x: deleted([*a, x], slice(None, None, 2)),
    "delitem dict": lambda a, x: deleted({"p": x, "q": a[0]}, "p"),
    "matmul": lambda a, x: operator.matmul(vector(a), vector(a) * x),
    "matmul object": lambda a, x: operator.matmul(Node(x), Node(a[0])),
    "imatmul object": lambda a, x: matmul(x, a[0]),
    "itemgetter": lambda a, x: operator.itemgetter(1)(a) * x,
    "itemgetter global": lambda a, x: (
        SECOND(a) * x,
        VALUE(Node(x)),
        SCALED(Node(x)),
        list(map(SECOND, [a, a])),
    ),
    "itemgetter several": lambda a, x: operator.itemgetter(2, 0)([*a, x]),
    "itemgetter slice": lambda a, x: operator.itemgetter(slice(1, None))(a),
    "itemgetter dict": lambda a, x: operator.itemgetter("p", "q")({"p": x, "q": a[0]}),
    "itemgetter array": lambda a, x: operator.itemgetter(1, slice(0, 2))(vector(a) * x),
    "itemgetter key": lambda a, x: sorted([(2, x), (1, a[0])], key=operator.itemgetter(0)),
    "itemgetter map": lambda a, x: list(map(operator.itemgetter(1), enumerate(a))),
    "attrgetter": lambda a, x: operator.attrgetter("value")(Node(x)),
    "attrgetter dotted": lambda a, x: operator.attrgetter("child.value")(Node(x, Node(a[0]))),
    "attrgetter several": lambda a, x: operator.attrgetter("value", "child.value")(Node(x, Node(a[0]))),
    "attrgetter key": lambda a, x: [n.value for n in sorted(map(Node, a), key=operator.attrgetter("value"))],
    "attrgetter array": lambda a, x: operator.attrgetter("T")(vector(a) * x),
    "methodcaller": lambda a, x: called(a[0], x),
    "methodcaller list": lambda a, x: (operator.methodcaller("append", x)(a), a),
    "methodcaller array": lambda a, x: operator.methodcaller("sum")(vector(a) * x),
    "call": lambda a, x: operator.call(Node(x), a[0]),
    "call keywords": lambda a, x: operator.call(dict, p=x, q=a[0]),
    "dunder": lambda a, x: operator.__mul__(x, operator.__getitem__(a, 0)),
}

CASES = BUILTINS | OPERATORS


@pytest.mark.parametrize("name", CASES)
def test_builtins_over_iterables_are_right(name: str) -> None:
    check(CASES[name], [0.5, 1.5, 0.7], 0.8)


@pytest.mark.parametrize("choose", [max, min])
def test_nothing_to_choose_from_is_an_error_of_the_program(choose: Any) -> None:
    def of_none(x: float) -> float:
        try:
            return choose([v for v in (x,) if v > 9.0])  # type: ignore[no-any-return]
        except ValueError as error:
            return x * len(str(error))

    def of_nothing(x: float) -> float:
        try:
            return choose()  # type: ignore[no-any-return]
        except TypeError as error:
            return x * len(str(error))

    for program in (of_none, of_nothing):
        check(program, 0.7)
