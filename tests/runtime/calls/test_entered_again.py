"""What was decided for a call like this one holds only as long as all that it was decided from does."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc

MODES = [
    "dynamic",
    *[pytest.param(mode, marks=pytest.mark.slow) for mode in ("interpret", "learn", "always", "never")],
]  # fmt: skip


def check(f: Callable[[float], float]) -> None:
    """Both modes against differences."""
    step = 1e-4
    slope = (8 * (f(1.3 + step) - f(1.3 - step)) - f(1.3 + 2 * step) + f(1.3 - 2 * step)) / (12 * step)
    assert adbc.value_and_grad(f)(1.3) == (f(1.3), pytest.approx(slope, rel=1e-8))
    assert adbc.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-8)


def scaled(x: float, k: float = 2.0, *rest: float) -> float:
    return x * k + sum(rest)


class Shape(abc.ABC):
    """Has a metaclass, and a hook for subclasses."""

    unit = 0.5

    def __init__(self, size: float) -> None:
        self.size = size

    @abc.abstractmethod
    def area(self) -> float: ...

    @staticmethod
    def rule(x: float, factor: float = 3.0) -> float:
        return factor * x

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Square):
            return NotImplemented
        self.size = self.size * 2.0
        if not isinstance(other, float):
            raise TypeError("half way")
        return self.size * other


class Square(Shape):
    def area(self) -> float:
        return self.size * self.size * self.unit

    def __rmul__(self, other: Any) -> float:
        return float("1") * self.size + other.size  # type: ignore[no-any-return]


class Disc(Shape):
    unit = 2.0

    def area(self) -> float:
        return math.pi * self.size**2 * self.unit

    @staticmethod
    def rule(x: float, factor: float = 4.0) -> float:
        return factor * x * x


def attributes_over_methods(x: float) -> float:
    """An attribute of an instance hides a method, and a static method, of one object of the class only."""
    total = 0.0
    for i, shape in enumerate([Square(x), Square(2.0), Disc(x), Square(x * x)]):
        if i == 1:
            shape.area = lambda: 3.0 * x  # type: ignore[method-assign]
            shape.rule = lambda y, factor=1.0: y * x  # type: ignore[method-assign,misc]
        total += shape.area() + shape.rule(x) + shape.rule(x, shape.unit)
        shape.unit = total  # hides the attribute of the class from now on
        total += shape.area()
    return total


def static_methods_that_close(x: float) -> float:
    total = 0.0
    for k in (x, 2.0):

        class Local:
            @staticmethod
            def rule(y: float, power: int = 2) -> float:
                return k * y**power  # noqa: B023  # called at once

        total += Local().rule(x) + Local.rule(x, 3)
    return total


class Own(staticmethod):  # type: ignore[type-arg]
    """No static method: what it gives is another function."""

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return lambda x: 10.0 * x * x


class WithOwn:
    rule = Own(lambda x: x * x)


def own_static_methods(x: float) -> float:
    return sum(obj.rule(x) for obj in [WithOwn(), Square(x), WithOwn()])


def operators_that_stop_half_way(x: float) -> float:
    shapes: list[Any] = [Square(x), Disc(x), Disc(2.0)]
    total = 0.0
    for a in shapes:
        for b in (x, 2.0, shapes[0], "no", shapes[1]):
            try:
                total += a * b
            except TypeError:
                total += x * a.size
    return total + sum(s.size for s in shapes)


def kinds_in_a_generator(first: Any) -> Iterator[Any]:
    state = first
    while True:
        yield state
        state = (state, 2) if isinstance(state, float) else state[0] * 1.5


def generators_whose_state_changes(x: float) -> float:
    a, b = kinds_in_a_generator(x), kinds_in_a_generator((x * x, 1))
    total = 0.0
    for _ in range(4):
        u, v = next(a), next(b)
        total += (u if isinstance(u, float) else u[0] * u[1]) * (v if isinstance(v, float) else v[0])
    return total


def tuples_in_two_places(x: float) -> float:
    pair = (x, 2, None, "a")
    nested = (pair, x * x)
    rows = [pair, nested, pair, (x, x)]
    rows[1:1] = [rows[0]]
    kept = {"a": pair, "b": nested, 3: (1, 2)}
    kept["a"], kept["c"] = nested[0], (x, 3.0)
    total = 0.0
    for row in rows:
        total += row[0] if isinstance(row[0], float) else row[0][0] * row[1]
    for a, b in zip(rows, [*kept.values(), (x, 1)], strict=True):
        total += (a[0] if isinstance(a[0], float) else a[1]) * (b[0] if not isinstance(b[0], tuple) else b[1])
    return total


def iterators_over_what_changes(x: float) -> float:
    values, total = [x, 2.0, x * x], 0.0
    it, pairs = iter(values), iter(zip((x, None, 3.0), [1.0, x], strict=False))
    while (v := next(it, None)) is not None:
        total += v * x
        if len(values) < 5:
            values.append(v * 0.5)
    for a, b in pairs:
        total += (a or 2.0) * b
    return total


def methods_in_c(x: float) -> float:
    values, names = [x, 2.0, x * x], ["b", "a"]
    place = values.index
    total = values[place(2.0)] + values[values.index(x * x)] * values.count(2.0)
    table = dict.fromkeys(sorted(names, key=names.index), x)
    table.update(dict.fromkeys(["c"], 2.0 * x))
    shared = {}.fromkeys("ab", [x])
    shared["a"].append(x * x)
    return total + sum(table.values()) + sum(shared["b"])


class Near:
    def __init__(self, x: float) -> None:
        self.x = x

    def __eq__(self, other: Any) -> bool:
        other.x = other.x * 1.5  # what is compared is changed
        return bool(self.x > 1.0)

    __hash__ = None  # type: ignore[assignment]


def elements_that_compare(x: float) -> float:
    values = [Near(0.5), Near(x), Near(3.0)]
    return values.index(Near(x)) * x + sum(v.x for v in values)


PROGRAMS: list[Callable[[float], float]] = [
    attributes_over_methods, static_methods_that_close, own_static_methods, operators_that_stop_half_way,
    generators_whose_state_changes, tuples_in_two_places, iterators_over_what_changes, methods_in_c,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives(f: Callable[[float], float], mode: str) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(3):
            check(f)


@pytest.mark.parametrize("mode", MODES)
def test_elements_that_change_when_they_are_compared(mode: str) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            try:
                check(elements_that_compare)
            except adbc.AdbcError as error:
                assert "__eq__" in str(error) or "compare" in str(error)


def closing(c: float) -> Any:
    def closed(x: float, k: float = 2.0) -> float:
        return x * k * c

    return closed


FUNCTIONS: list[Any] = [scaled, Square.rule, scaled, closing(3.0)]
"""What is reached by no name is looked at by no guard."""


def of_defaults(x: float) -> float:
    first, *_ = FUNCTIONS
    return sum(f(x) * f(x, x) for f in FUNCTIONS) + first(x, x, x, 2.0)  # type: ignore[no-any-return]


@pytest.mark.parametrize("mode", MODES)
def test_defaults_are_replaced(mode: str) -> None:
    before = scaled.__defaults__, Square.rule.__defaults__
    try:
        with adbc.use(adbc.Config(speculation=mode)):
            for defaults in [(2.0,), (3,), (np.float64(0.5),), (1.0, 4.0)]:
                scaled.__defaults__, Square.rule.__defaults__ = defaults, defaults[:1]
                FUNCTIONS[-1].__defaults__ = defaults[-1:]
                check(of_defaults)
            scaled.__defaults__ = None
            with pytest.raises(TypeError, match="missing"):
                adbc.grad(of_defaults)(1.3)
    finally:
        scaled.__defaults__, Square.rule.__defaults__ = before


def of_classes(x: float) -> float:
    return sum(s.area() * s.rule(x) + s.unit * s.size for s in (Square(x), Disc(x), Square(x * x)))


@pytest.mark.parametrize("mode", MODES)
def test_classes_are_changed(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            check(of_classes)
        monkeypatch.setattr(Square, "area", lambda self: self.size**3)
        check(of_classes)
        monkeypatch.setattr(Shape, "rule", staticmethod(lambda x, factor=1.0: x**2 * factor))
        check(of_classes)
        monkeypatch.setattr(Disc, "area", property(lambda self: lambda: 7.0 * self.size))
        check(of_classes)
        monkeypatch.setattr(Square, "__getattribute__", lambda self, name: 2.0, raising=False)
        monkeypatch.setattr(Square, "__getattribute__", object.__getattribute__)
        check(of_classes)


@pytest.mark.parametrize("mode", ["learn", "dynamic"])
def test_a_rule_is_declared_later(mode: str) -> None:
    def called(x: float, k: float = 2.0) -> float:
        return x * k

    def f(x: float) -> float:
        return sum(g(x, k=3.0) + g(x) for g in (called, scaled, called))

    with adbc.use(adbc.Config(speculation=mode)):
        assert adbc.grad(f)(1.3) == pytest.approx(15.0)
        adbc.zero_derivative(called)
        assert adbc.grad(f)(1.3) == pytest.approx(5.0)


@pytest.mark.parametrize(
    "rows", [[[1.0, 2.0], [3.0]], [[], [1.5]], [[1.0, 2], [3.0, 4.0]], [[1.0], [np.float64(2.0)]]]
)
def test_rows_of_a_table(rows: list[list[float]]) -> None:
    def f(table: list[list[float]]) -> float:
        return sum(v * v for row in table for v in row)

    for _ in range(2):
        gradient = adbc.grad(f)(rows)
        for row, given in zip(rows, gradient, strict=True):
            assert [g for g in given if isinstance(g, float)] == [
                2.0 * v for v in row if isinstance(v, float)
            ]
    same = [0.5, 1.5]
    assert adbc.grad(f)([same, same]) == [[2.0, 6.0], [2.0, 6.0]]


@pytest.mark.parametrize("mode", MODES)
def test_arrays_that_become_active(mode: str) -> None:
    def f(x: float) -> float:
        data = np.array([[1.0, 2.0], [3.0, 4.0]])
        whole, view = data * 2.0, data[0]
        kept = [data, view, whole]
        total = float(np.sum(kept[2] @ kept[1]))
        view[1] = x
        for m in kept:
            total += float((m @ kept[1]).sum()) * x
        rows = [[x, 1.0], [2.0, x * x]]
        return total + float((np.array(rows) @ data).sum())

    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            check(f)
