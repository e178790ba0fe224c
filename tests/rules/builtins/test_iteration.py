"""Rows for iterators, and the Python bodies that stand in for builtins."""

from __future__ import annotations

import builtins
import functools
import math

import pytest

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics as i
from adbc.rules import default_table
from adbc.rules.table import Overlay, Primitive
from adbc.tangents import fill_tangent, random_tangent, slot_shadow, zero_tangent
from tests.rules.rows import find


def run(make: list, first: tuple, shadows: list) -> tuple[list, list]:
    """The elements of an iterator and the pullbacks of every step, made by a chain of rows."""
    out, fout, pullback = find(make[0], first).rrule(first, shadows)
    pullbacks = [pullback]
    for function in make[1:]:
        out, fout, pullback = find(function, (out,)).rrule((out,), (fout,))
        pullbacks.append(pullback)
    values = []
    while True:
        value, fvalue, pullback = find(i._next_, (out,)).rrule((out,), (fout,))
        if value is i.EXHAUSTED:
            return values, pullbacks
        values.append((value, fvalue))
        pullbacks.append(pullback)


def weights(values: list, pullbacks: list, chain: int, cotangents: list) -> list:
    for pullback, bout in zip(reversed(pullbacks[chain:]), reversed(cotangents), strict=True):
        pullback(bout)
    return [pullback(None) for pullback in reversed(pullbacks[:chain])]


def test_over_a_list() -> None:
    fa = [0.0, 0.0, [0.0]]
    values, pullbacks = run([i._iter_], ([1.0, 2.0, [3.0]],), [fa])
    assert values[2][1] is fa[2]
    weights(values, pullbacks, 1, [5.0, 7.0, None])
    assert fa == [5.0, 7.0, [0.0]]


def test_over_a_tuple_the_iterator_gathers() -> None:
    x = (1.0, 2.0, 3)
    values, pullbacks = run([i._iter_], (x,), [slot_shadow(zero_tangent(x))])
    assert weights(values, pullbacks, 1, [5.0, 7.0, None]) == [[(5.0, 7.0, None)]]


def test_over_a_dict_and_its_views() -> None:
    d, fd = {"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}
    assert [v for v, f in run([i._iter_], (d,), [fd])[0]] == ["a", "b"]
    values, pullbacks = run([dict.values, i._iter_], (d,), [fd])
    weights(values, pullbacks, 2, [5.0, 7.0])
    values, pullbacks = run([dict.items, i._iter_], (d,), [fd])
    weights(values, pullbacks, 2, [(None, 50.0), (None, 70.0)])
    assert fd == {"a": 55.0, "b": 77.0}


def test_enumerate_zip_and_reversed() -> None:
    a, fa = [1.0, 2.0], [0.0, 0.0]
    values, pullbacks = run([enumerate, i._iter_], (a,), [fa])
    assert [v for v, _ in values] == [(0, 1.0), (1, 2.0)]
    weights(values, pullbacks, 2, [(None, 5.0), (None, 7.0)])
    assert fa == [5.0, 7.0]
    values, pullbacks = run([reversed], (a,), [fa])
    weights(values, pullbacks, 1, [1.0, 2.0])
    assert fa == [7.0, 8.0]
    b = (3.0, 4.0)
    values, pullbacks = run([zip], (a, b), [fa, slot_shadow(zero_tangent(b))])
    rdata = weights(values, pullbacks, 1, [(10.0, 20.0), (30.0, 40.0)])
    assert fa == [17.0, 38.0]
    assert rdata == [[None, (20.0, 40.0)]]


def test_enumerate_from() -> None:
    a, fa = [1.0], [0.0]
    out, _, pullback = find(enumerate, (a, 3)).rrule((a, 3), (fa, None))
    assert next(out) == (3, 1.0)
    assert pullback(None) == (None, None)


def test_forward_over_everything() -> None:
    import random

    none = zero_tangent(0)
    cases = [
        ([1.0, 2.0], [i._iter_], list),
        ((1.0, 2), [i._iter_], list),
        ({"a": 1.0}, [dict.values, i._iter_], lambda d: list(d.values())),
        ([1.0, [2.0]], [enumerate], lambda d: [(none, t) for t in d]),
        ([1.0, 2.0], [reversed], lambda d: d[::-1]),
        ({"a": 1.0}, [dict.items, i._iter_], lambda d: [(none, t) for t in d.values()]),
        (range(2), [i._iter_], lambda d: [none, none]),
        ("ab", [i._iter_], lambda d: [none, none]),
    ]
    for x, make, expected in cases:
        dx = random_tangent(random.Random(0), x)
        out, dout = x, dx
        for function in make:
            out, dout = find(function, (out,)).frule((out,), (dout,))
        got = []
        while True:
            value, tangent = find(i._next_, (out,)).frule((out,), (dout,))
            if value is i.EXHAUSTED:
                break
            got.append(fill_tangent(value, tangent))
        assert got == expected(dx)


def test_objects_with_a_derivative_do_not_come_out_of_a_set() -> None:
    class Node:
        def __init__(self) -> None:
            self.value = 1.0

    nodes = {Node()}
    out, fout, _ = find(i._iter_, (nodes,)).rrule((nodes,), (None,))
    with pytest.raises(UnsupportedError):
        find(i._next_, (out,)).rrule((out,), (fout,))
    ints = {1}
    out, fout, _ = find(i._iter_, (ints,)).rrule((ints,), (None,))
    assert find(i._next_, (out,)).rrule((out,), (fout,))[:2] == (1, None)


def test_zip_of_an_iterator_is_followed_in_python() -> None:
    table = default_table()
    assert isinstance(table.find(zip, (list, tuple)), Primitive)
    assert isinstance(table.find(zip, (list, type(iter([])))), Overlay)


def numbers():
    yield from (3.0, 1.0, 2.0)


OVERLAYS = [
    (zip, lambda f: list(f([1, 2], iter([3, 4, 5])))),
    (zip, lambda f: list(f())),
    (zip, lambda f: list(f(numbers(), [1, 2, 3], strict=True))),
    (zip, lambda f: list(f(numbers(), [1], strict=True))),
    (zip, lambda f: list(f([1], numbers(), strict=True))),
    (zip, lambda f: list(f([1, 2], [1, 2], numbers(), strict=True))),
    (map, lambda f: list(f(lambda x, y: x * y, [1.0, 2.0], numbers()))),
    (map, lambda f: next(f(str, []), "none")),
    (filter, lambda f: list(f(None, [0.0, 1.0, 2.0]))),
    (filter, lambda f: list(f(lambda x: x > 1.0, numbers()))),
    (enumerate, lambda f: list(f(numbers(), 2))),
    (enumerate, lambda f: list(f(numbers(), start=2))),
    (next, lambda f: f(iter([1.0]))),
    (next, lambda f: f(iter([]))),
    (next, lambda f: f(iter([]), 5.0)),
    (next, lambda f: f(iter([]), None)),
    (list, lambda f: f(numbers())),
    (tuple, lambda f: f(numbers())),
    (set, lambda f: f(iter([1, 2]))),
    (frozenset, lambda f: f(iter([1, 2]))),
    (dict, lambda f: f([("a", 1.0)], b=2.0)),
    (dict, lambda f: f({"a": 1.0})),
    (dict, lambda f: f(a=1.0)),
    (dict, lambda f: f()),
    (sum, lambda f: f(numbers())),
    (sum, lambda f: f([[1.0], [2.0]], [])),
    (sum, lambda f: f([0.1] * 10)),
    (sum, lambda f: f([1, 2], start=0.5)),
    (sum, lambda f: f([1e100, 1.0, -1e100])),
    (max, lambda f: f(numbers())),
    (max, lambda f: f([])),
    (max, lambda f: f([], default=3.0)),
    (max, lambda f: f(1.0, 3.0, 2.0)),
    (max, lambda f: f([1.0, -3.0], key=abs)),
    (min, lambda f: f([])),
    (min, lambda f: f(["bb", "a"], key=len)),
    (min, lambda f: f(1.0, 3.0, 2.0)),
    (min, lambda f: f([1.0, math.nan])),
    (sorted, lambda f: f(numbers(), reverse=True)),
    (sorted, lambda f: f([(1, "b"), (1, "a"), (0, "c")], key=lambda p: p[0], reverse=True)),
    (any, lambda f: f([0.0, 1.0])),
    (any, lambda f: f([])),
    (all, lambda f: f([1.0, 0.0])),
    (all, lambda f: f([])),
    (functools.reduce, lambda f: f(lambda x, y: x * y, [1.0, 2.0, 3.0])),
    (functools.reduce, lambda f: f(lambda x, y: x, [])),
    (functools.reduce, lambda f: f(lambda x, y: x + y, numbers(), 10.0)),
    (math.prod, lambda f: f(numbers(), start=2)),
    (math.prod, lambda f: f([])),
    (math.fsum, lambda f: f(numbers())),
    (math.dist, lambda f: f((1.0, 2.0), [3.0, 4.0])),
    (math.dist, lambda f: f((1.0, 2.0), [3.0])),
]


def outcome(call, function):
    try:
        return "returned", call(function)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(("function", "call"), OVERLAYS)
def test_a_body_does_what_the_builtin_does(function, call) -> None:
    def body(*args, **keywords):
        row = default_table().find(function, tuple(map(type, args)))
        return (row.body if isinstance(row, Overlay) else function)(*args, **keywords)

    rows = [row for row in default_table().rows(function) if isinstance(row, Overlay)]
    bodies = [row.body for row in rows if row.when is None or row.when(object)]
    assert outcome(call, body) == outcome(call, bodies[-1]) == outcome(call, function)


def test_bodies_are_lazy_like_the_builtins() -> None:
    table = default_table()
    for function in (builtins.map, builtins.filter, builtins.zip, builtins.enumerate):
        body = next(row.body for row in table.rows(function) if isinstance(row, Overlay))
        source = iter([1.0, 2.0, 3.0])
        args = (lambda x: x > 0.0, source) if function in (map, filter) else (source,)
        made = body(*args)
        assert iter(made) is made
        next(made)
        assert next(source) == 2.0


def test_list_methods_in_python() -> None:
    bodies = {row.function: row.body for row in default_table() if isinstance(row, Overlay)}
    a = [3.0, 1.0, 2.0]
    bodies[list.sort](a, reverse=True)
    assert a == [3.0, 2.0, 1.0]
    bodies[list.remove](a, 2.0)
    assert a == [3.0, 1.0]
    with pytest.raises(ValueError, match="not in list"):
        bodies[list.remove](a, 9.0)
    d = {"a": 1.0, "b": 2.0}
    assert bodies[dict.popitem](d) == ("b", 2.0)
    assert bodies[dict.setdefault](d, "a", 5.0) == 1.0
    assert bodies[dict.setdefault](d, "c") is None
    assert bodies[i._unpack_ex_]([1, 2, 3, 4], 1, 1) == i._unpack_ex_([1, 2, 3, 4], 1, 1)
    assert bodies[i._unpack_](iter([1, 2]), 2) == (1, 2)
