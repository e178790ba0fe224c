"""What loops do to containers at every turn: both modes, what is written there and put back, what raises."""

from __future__ import annotations

import copy
import heapq
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from tests.programs.checks import check_gradient

# -- lists ----------------------------------------------------------------------------------------------


def pops(a: list[Any], x: float) -> Any:
    s = 0.0
    for i in range(len(a)):
        a.append(x * i)
        s = s * 0.5 + a.pop(0) * a[-1]
        s += a.pop() * a.pop(-2)
        a.extend([s, x])
    return s


def pops_of_itself(a: list[Any], x: float) -> Any:
    b = a
    s = 0.0
    while len(b) > 1:
        s += b.pop(1) * a[0]
        a[0] *= x
    return s * a[0]


def inserts(a: list[Any], x: float) -> Any:
    for i in range(4):
        a.insert(i, x * a[-1])
        a.insert(-1, a[0])
        a.insert(100, 2)
    return sum(k * v for k, v in enumerate(a))


def extends(a: list[Any], b: list[Any], x: float) -> Any:
    for i in range(3):
        a.extend(b)
        a += [x, x * i]
        a.extend((x, 2.0 * x))
        a.extend(a[:2])
        b[0] = a[-1] * x
    a.extend(a)
    return sum(k * v for k, v in enumerate(a))


def joins(a: list[Any], b: list[Any], x: float) -> Any:
    s = 0.0
    for i in range(3):
        c = a + b + a
        c[i] *= x
        b = [*b, x * i] + a
        s += sum(k * v for k, v in enumerate(c))
    return s + b[-1] * c[0]


def joins_of_rows(a: list[Any], x: float) -> Any:
    rows = [a]
    for i in range(3):
        rows = [*rows, [x * i]] + [a]
        rows[1][0] += a[0] * x
    return sum(sum(row) * k for k, row in enumerate(rows))


def copies(a: list[Any], x: float) -> Any:
    s = 0.0
    for _ in range(3):
        b = list(a)
        c = a.copy()
        b[0] *= x
        c[-1] += b[0]
        s += sum(b) * c[-1] + a[0]
        a[0] = s
    return s


def backwards(a: list[Any], x: float) -> Any:
    s = 0.0
    for i in range(3):
        b = list(reversed(a))
        b[0] *= x
        s += sum(k * v for k, v in enumerate(b)) * a[i]
        t = tuple(reversed((x, s, 2.0)))
        s += t[0] * t[1] * t[2]
    return s


def sorts(a: list[Any], x: float) -> Any:
    s = 0.0
    for i in range(3):
        b = sorted(a, key=abs, reverse=True)
        a[i] = -b[0] * x
        c = sorted(a)
        s += b[0] * c[1] - b[-1] * c[0]
        a.sort(key=lambda v: -v)
    return s + a[0]


# -- dicts ----------------------------------------------------------------------------------------------


def dict_pops(d: dict[str, Any], x: float) -> Any:
    s = 0.0
    for _ in range(2):
        for key in ("a", "c"):
            s = s * x + d.pop(key)
            d[key] = s * x
            s += d.pop("none", x)
            del d["b"]
            d["b"] = s
    return s + sum(k * v for k, v in enumerate(d.values()))


def dict_copies(d: dict[str, Any], x: float) -> Any:
    s = 0.0
    for i in range(3):
        e = dict(d)
        e["a"] *= x
        f = dict(e, b=x * i, new=s)
        g = d.copy()
        g["c"] = f["a"]
        d["a"] = f["b"] + g["c"]
        s += sum(k * v for k, v in enumerate(f.values())) + e["b"] * g["c"]
    return s


def dict_displays(x: float, y: float) -> Any:
    s = 0.0
    for i in range(3):
        d = dict(a=x, b=y * i, c=2)
        d["a"] *= d["b"]
        s += d["a"] * d["c"] + len(dict())
        x = s
    return s


def dict_updates(d: dict[str, Any], e: dict[str, Any], x: float) -> Any:
    s = 0.0
    for i in range(3):
        d.update(e)
        e["a"] = d["b"] * x
        d.update({"k": x, "a": x * i})
        f = {**d, **e, "z": x}
        f |= e
        d.update(d)
        s += sum(k * v for k, v in enumerate(f.values())) + f["a"] * d["k"]
    return s


def dict_views(d: dict[Any, Any], x: float) -> Any:
    s = 0.0
    for i in range(3):
        s += sum(d.values()) * i + max(d.values()) * x - min(d.values())
        values, pairs, names = list(d.values()), list(d.items()), list(d.keys())
        values[0] *= x
        d[names[1]] = values[0] + pairs[2][1] * x
        s += sum(values) + pairs[1][1]
    return s


def dict_orders(d: dict[str, Any], x: float) -> Any:
    s = 0.0
    for _ in range(3):
        for k, v in sorted(d.items(), key=lambda kv: kv[1]):
            s = s * 0.5 + v
            d[k] *= x
        s += max(d.items(), key=lambda kv: kv[1])[1]
    return s


A, B = [1.5, -0.5, 2.5, 0.75], [0.25, 3.0]
MIXED = [1.5, 2, 2.5, 3]
D = {"a": 1.5, "b": -0.5, "c": 2.5}
E = {"a": 0.5, "k": 1.25}
NUMBERS = {"a": 1.5, "b": 2, "c": 2.5, "d": True}
ROW = [[1.0, 2.0], [3.0]]

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (pops, (A, 0.5)),
    (pops, (MIXED, 0.5)),
    (pops, ([np.float64(1.5), 2.5, np.float64(0.5)], 0.5)),
    (pops_of_itself, (A, 0.5)),
    (inserts, (A, 0.5)),
    (inserts, (MIXED, 0.5)),
    (extends, (A, B, 0.5)),
    (extends, (MIXED, B, 0.5)),
    (extends, (A, [np.float64(1.0), 2.0], 0.5)),
    (joins, (A, B, 0.5)),
    (joins, (MIXED, B, 0.5)),
    (joins_of_rows, (A, 0.5)),
    (copies, (A, 0.5)),
    (copies, (MIXED, 0.5)),
    (backwards, (A, 0.5)),
    (backwards, (MIXED, 0.5)),
    (sorts, (A, 0.75)),
    (sorts, ([1.5, -2, 0.5, 3], 0.75)),
    (dict_pops, (D, 0.5)),
    (dict_pops, (OrderedDict(D), 0.5)),
    (dict_pops, (defaultdict(float, D), 0.5)),
    (dict_pops, ({"a": 1.5, "b": 2, "c": 3}, 0.5)),
    (dict_copies, (D, 0.5)),
    (dict_copies, (defaultdict(float, D), 0.5)),
    (dict_copies, (OrderedDict(D), 0.5)),
    (dict_copies, (NUMBERS, 0.5)),
    (dict_displays, (1.5, 0.5)),
    (dict_updates, (D, E, 0.5)),
    (dict_updates, (NUMBERS, E, 0.5)),
    (dict_updates, (OrderedDict(D), E, 0.5)),
    (dict_views, (D, 0.5)),
    (dict_views, (NUMBERS, 0.5)),
    (dict_views, (OrderedDict(D), 0.5)),
    (dict_views, (defaultdict(float, D), 0.5)),
    (dict_views, (Counter(D), 0.5)),
    (dict_views, ({1: 1.5, (2, 3): 2.5, "c": 0.5}, 0.5)),
    (dict_orders, (D, 0.5)),
    (dict_orders, (OrderedDict(D), 0.5)),
]


def _name(value: Any) -> str:
    return getattr(value, "__name__", "")


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=_name)
def test_programs(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    active = tuple(i for i, arg in enumerate(args) if not isinstance(arg, int))
    check_gradient(f, *copy.deepcopy(args), argnums=active)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=_name)
def test_programs_again_and_again(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Interpreted at first, written then: the gradient stays the same."""
    gradient = adbc.value_and_grad(f, tuple(range(len(args))))
    first = gradient(*copy.deepcopy(args))
    for _ in range(45):
        again = gradient(*copy.deepcopy(args))
    assert repr(again) == repr(first)


# -- constants ------------------------------------------------------------------------------------------

TABLE = [1.0, 2.0, 3.0]
RATES = {"a": 1.0, "b": 2.0}


@pytest.mark.usefixtures("speculation")
def test_constants_have_copies() -> None:
    def f(x: float) -> Any:
        s = 0.0
        for i in range(3):
            a = TABLE + [x]
            b = list(TABLE)
            b.extend([x * i])
            c = dict(RATES)
            c["a"] = x
            s += a[-1] * b[-1] + c["a"] * sum(RATES.values()) + sum(list(reversed(TABLE))) * x
        return s

    check_gradient(f, 0.5)
    assert TABLE == [1.0, 2.0, 3.0]
    assert RATES == {"a": 1.0, "b": 2.0}


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize("write", ["insert", "extend", "update"])
def test_constants_are_not_written(write: str) -> None:
    def f(x: float, table: list[Any], rates: dict[str, Any]) -> Any:
        for _ in range(2):
            if write == "insert":
                table.insert(0, x)
            elif write == "extend":
                table.extend([x])
            else:
                rates.update({"a": x})
        return x

    table, rates = [1.0, 2.0], {"a": 1.0}
    g = adbc.grad(f)
    for _ in range(2):
        assert g(0.5, adbc.stop_gradient(table), rates) == 1.0
        assert (table, rates) == ([1.0, 2.0], {"a": 1.0})


# -- exceptions -----------------------------------------------------------------------------------------


def pops_too_much(a: list[float], x: float) -> float:
    s = x
    try:
        while True:
            s = s * 0.5 + a.pop() * x
    except IndexError as error:
        a.append(s)
        return s * a[0] * len(str(error))


def pops_what_is_not_there(d: dict[str, float], x: float) -> float:
    s = x
    for key in ("a", "z", "b", "a"):
        try:
            s = s * 0.5 + d.pop(key) * x
        except KeyError as error:
            s *= len(str(error))
    return s


def deletes_what_is_not_there(d: dict[str, float], x: float) -> float:
    s = x
    for key in ("a", "z", "b", "a"):
        try:
            del d[key]
            s *= x
        except KeyError as error:
            s = s * len(str(error)) + sum(d.values())
    return s


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize(
    ("f", "container"),
    [
        (pops_too_much, [1.5, 2.5]),
        (pops_what_is_not_there, D),
        (deletes_what_is_not_there, D),
        (pops_what_is_not_there, OrderedDict(D)),
        (deletes_what_is_not_there, defaultdict(float, D)),
    ],
    ids=_name,
)
def test_exceptions_that_are_caught(f: Callable[..., Any], container: Any) -> None:
    check_gradient(f, copy.deepcopy(container), 0.5, argnums=(0, 1))


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize(
    ("f", "container"),
    [
        (lambda a, x: [a.pop() * x for _ in range(9)], [1.0, 2.0]),
        (lambda a, x: [a.pop(i) * x for i in range(9)], [1.0, 2.0]),
        (lambda a, x: [a.extend(x) for _ in range(3)], [1.0, 2.0]),
        (lambda d, x: [d.pop("b") * x for _ in range(3)], D),
        (lambda d, x: [d.pop([]) * x for _ in range(3)], D),
        (lambda d, x: [d.update(x) for _ in range(3)], D),
        (lambda d, x: dict(x, a=x), D),
    ],
)
def test_exceptions_that_are_not(f: Callable[..., Any], container: Any) -> None:
    def loss(container: Any, x: float) -> Any:
        return sum(f(container, x))

    with pytest.raises(Exception) as expected:  # noqa: PT011  # whatever it is
        loss(copy.deepcopy(container), 0.5)
    for _ in range(3):
        given = copy.deepcopy(container)
        with pytest.raises(type(expected.value)) as found:
            adbc.grad(loss, 1)(given, 0.5)
        assert str(found.value) == str(expected.value)


# -- classes of the user's ------------------------------------------------------------------------------


class Stack(list):  # type: ignore[type-arg]
    """A list whose methods do more."""

    def pop(self, index: int = -1) -> Any:
        return 2.0 * super().pop(index)

    def insert(self, index: Any, value: Any) -> None:
        super().insert(index, 3.0 * value)

    def extend(self, values: Any) -> None:
        for value in values:
            self.append(4.0 * value)

    def copy(self) -> Any:
        return [5.0 * v for v in self]

    def __add__(self, other: Any) -> Any:
        return [*self, *(6.0 * v for v in other)]

    def __iter__(self) -> Any:
        return (7.0 * self[i] for i in range(len(self)))

    def __reversed__(self) -> Any:
        return iter([8.0 * self[0]])


class Record(dict):  # type: ignore[type-arg]
    """A dict whose methods do more."""

    def pop(self, key: Any, *default: Any) -> Any:
        return 2.0 * super().pop(key, *default)

    def update(self, other: Any) -> None:  # type: ignore[override]
        for key, value in other.items():
            self[key] = 3.0 * value

    def copy(self) -> Any:
        return {k: 4.0 * v for k, v in dict.items(self)}

    def values(self) -> Any:
        return [5.0 * v for v in super().values()]

    def items(self) -> Any:
        return [(k, 6.0 * v) for k, v in super().items()]

    def keys(self) -> Any:
        return list(reversed([*super().keys()]))


def uses_lists(kind: type, x: float) -> Any:
    s = 0.0
    for i in range(3):
        a = kind([x, 2.0 * x, 3.0])
        a.insert(1, x * i)
        s += a.pop() * a.pop(0)
        a.extend([x, s])
        b = a + [x]
        c = a.copy()
        d = list(a)
        e = list(reversed(a))
        s += b[-1] * c[0] + d[1] * e[0]
    return s


def uses_dicts(kind: type, x: float) -> Any:
    s = 0.0
    for i in range(3):
        d = kind(a=x, b=x * x, c=2.0)
        d.update({"d": x * i, "a": 3.0 * x})
        s += d.pop("a") * d.pop("b", x) + d.pop("none", x)
        e = dict(d)
        f = d.copy()
        s += e["c"] * f["d"] + sum(d.values()) * x
        s += sum(v for _, v in sorted(d.items(), key=lambda kv: kv[1])) + len(list(d.keys()))
    return s


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize("kinds", [(list, Stack), (Stack, list)])
def test_methods_of_lists_are_asked(kinds: tuple[type, ...]) -> None:
    for kind in kinds:
        check_gradient(lambda x, kind=kind: uses_lists(kind, x), 0.5)


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize("kinds", [(dict, Record), (Record, dict), (OrderedDict, Counter)])
def test_methods_of_dicts_are_asked(kinds: tuple[type, ...]) -> None:
    for kind in kinds:
        if kind is not Counter:
            check_gradient(lambda x, kind=kind: uses_dicts(kind, x), 0.5)


# -- other classes once the code is warm ----------------------------------------------------------------


def takes_anything(a: list[Any], d: dict[str, Any], x: Any) -> Any:
    s = 0.0
    for _ in range(3):
        b = a + [x]
        b.insert(0, b.pop())
        b.extend(list(reversed(a)))
        e = dict(d, y=x)
        e.update(d)
        s = s + sum(e.values()) * b[0] + e.pop("y") * b[-1]
    return s


def test_other_classes_later() -> None:
    a, d = [1.0, 2.0], {"a": 1.0}
    g = adbc.grad(takes_anything, (0, 1, 2))
    for _ in range(45):
        g(a, d, 0.5)
    for other in (0.5, np.float64(0.5), np.array(0.5), 2.0):
        found = adbc.grad(takes_anything, 2)(a, d, other)
        with adbc.use(adbc.Config(speculation="dynamic", warm_after=0)):
            np.testing.assert_allclose(found, adbc.grad(takes_anything, 2)(a, d, other))
    for values in ([1, 2], [1.0, 2], [np.float64(1.0), 2.0], [np.array(1.0), 2.0]):
        found = adbc.grad(takes_anything, 2)(values, {"a": values[0]}, 0.5)
        np.testing.assert_allclose(found, adbc.grad(takes_anything, 2)([1.0, 2.0], {"a": 1.0}, 0.5))


# -- heaps ----------------------------------------------------------------------------------------------


def heap_of_floats(a: list[Any], x: float) -> Any:
    heap: list[Any] = []
    for i, v in enumerate(a):
        heapq.heappush(heap, v * x)
        heapq.heappush(heap, v * v - i)
    s = heapq.heapreplace(heap, x) + heapq.heappushpop(heap, s_of(heap) * x)
    heap[0] -= x
    while heap:
        s = s * 0.75 + heapq.heappop(heap)
    return s


def s_of(heap: list[Any]) -> Any:
    return sum(k * v for k, v in enumerate(heap))


def heap_of_pairs(a: list[Any], x: float) -> Any:
    heap = [(v, i) for i, v in enumerate(a)]
    heapq.heapify(heap)
    s = 0.0
    for i in range(8):
        v, k = heapq.heappop(heap)
        s = s * 0.75 + v * (k + 1)
        heapq.heappush(heap, (v + x * (i % 3), k + 1))
        if i % 2:
            w, _ = heapq.heapreplace(heap, (s, i))
            s -= w
    return s + sum(v for v, _ in heap)


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < other.value)


def heap_of_objects(a: list[Any], x: float) -> Any:
    heap: list[Any] = []
    for i, v in enumerate(a):
        heapq.heappush(heap, (i % 2, Node(v * x)))
        heapq.heappush(heap, (i % 3, Node(v - i)))
    s = 0.0
    while heap:
        s = s * 0.75 + heapq.heappop(heap)[1].value
    return s


def heap_of_counted_objects(a: list[Any], x: float) -> Any:
    heap: list[Any] = []
    for i, v in enumerate(a):
        heapq.heappush(heap, (v * x, i, Node(v)))
        heapq.heappush(heap, (v, -i, Node(v * x)))
    s = 0.0
    while heap:
        cost, _, node = heapq.heappop(heap)
        node.value *= cost
        s = s * 0.75 + node.value
        a[0] = s
    return s


class Heap(list):  # type: ignore[type-arg]
    pass


def heap_of_a_class(a: list[Any], x: float) -> Any:
    heap = Heap()
    for v in a:
        heapq.heappush(heap, v * x)
        heapq.heappush(heap, v)
    s = 0.0
    while heap:
        s = s * 0.75 + heapq.heappop(heap)
    return s


def heap_of_what_does_not_compare(a: list[Any], x: float) -> Any:
    heap: list[Any] = list(a)
    s = 0.0
    for item in (x, "b", 0.25 * x, None):
        try:
            heapq.heappush(heap, item)
        except TypeError as error:
            s += len(str(error)) * x
    try:
        while True:
            heapq.heappop(heap)
            s += len(heap) * x
    except TypeError as error:
        s *= len(str(error)) * x
    return s + sum(k * v for k, v in enumerate(heap) if isinstance(v, float))


def heap_that_is_empty(a: list[Any], x: float) -> Any:
    s = 0.0
    for _ in range(len(a) + 2):
        try:
            s = s * x + heapq.heappop(a)
        except IndexError as error:
            s *= len(str(error))
    return s


LONG = [0.5, 1.75, -0.25, 1.25, 2.5, 0.125, -1.5, 0.875, 2.25]
HEAPS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (heap_of_floats, (LONG, 0.53)),
    (heap_of_floats, ([3, 0.5, 1, 2.25, -1], 0.53)),
    (heap_of_floats, ([np.float64(3.0), 0.5, np.float64(1.1)], 0.53)),
    (heap_of_pairs, (LONG, 0.375)),
    (heap_of_pairs, ([3, 0.5, 1, 2.25, -1], 0.375)),
    (heap_of_pairs, ([1.0, 1.0, 2.0, 2.0], 0.375)),
    (heap_of_objects, (LONG, 0.53)),
    (heap_of_counted_objects, (LONG, 0.53)),
    (heap_of_a_class, (LONG, 0.53)),
    (heap_of_what_does_not_compare, ([1.0, 2.0], 0.5)),
    (heap_that_is_empty, ([1.0, 2.0, 1.5], 0.5)),
]


@pytest.mark.usefixtures("speculation")
@pytest.mark.parametrize(("f", "args"), HEAPS, ids=_name)
def test_heaps(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    kinks = args[0] == [1.0, 1.0, 2.0, 2.0]  # where items are alike, a difference would change their order
    if kinks:
        value, gradient = adbc.value_and_grad(f, 1)(*copy.deepcopy(args))
        _, tangent = adbc.jvp(lambda x: f(list(args[0]), x), (args[1],), (1.0,))
        assert value == f(*copy.deepcopy(args))
        assert gradient == pytest.approx(tangent, rel=1e-12)
    else:
        check_gradient(f, *copy.deepcopy(args), argnums=(0, 1), step=1e-4, rtol=1e-4)


def test_heaps_are_those_of_the_library() -> None:
    """Whatever is pushed, replaced and popped: the list is what it would be, and is put back."""
    rng = np.random.default_rng(3)

    def run(numbers: list[float], steps: list[int], seen: list[Any]) -> float:
        heap: list[Any] = []
        s = 0.0
        for v, step in zip(numbers, steps, strict=True):
            if step < 3 or not heap:
                heapq.heappush(heap, (v, step))
            elif step == 3:
                s += heapq.heappop(heap)[0] * v
            else:
                s += heapq.heapreplace(heap, (v, step))[0] * v
            seen.append(repr(heap))
        return s

    for _ in range(10):
        numbers = [float(v) for v in rng.integers(0, 12, 40)]
        steps = [int(v) for v in rng.integers(0, 6, 40)]
        expected: list[Any] = []
        seen: list[Any] = []
        value = run(numbers, steps, expected)
        found, gradient = adbc.value_and_grad(run)(numbers, steps, seen)
        assert (found, seen) == (value, [])  # what was noted is taken back
        _, tangent = adbc.jvp(lambda numbers, steps=steps, seen=seen: run(numbers, steps, seen), (numbers,),
                              ([1.0] * 40,))  # fmt: skip
        assert seen == expected
        assert sum(gradient) == pytest.approx(tangent)
