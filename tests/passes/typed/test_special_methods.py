"""Operators on instances, properties and calls of instances, where the classes are known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

LOG: list[str] = []


class Vector:
    """Every operator tells when it runs."""

    def __init__(self, x: float, y: float) -> None:
        self._x, self._y = x, y

    @property
    def x(self) -> float:
        LOG.append("x")
        return self._x

    @x.setter
    def x(self, value: float) -> None:
        LOG.append("set x")
        self._x = value * 1.0

    @property
    def norm(self) -> float:
        return math.sqrt(self._x * self._x + self._y * self._y)

    def __add__(self, other: Vector) -> Vector:
        LOG.append("add")
        return Vector(self._x + other._x, self._y + other._y)

    def __iadd__(self, other: Vector) -> Vector:
        LOG.append("iadd")
        self._x += other._x
        return self

    def __sub__(self, other: Any) -> Any:
        LOG.append("sub")
        if isinstance(other, Vector):
            return Vector(self._x - other._x, self._y - other._y)
        return NotImplemented

    def __mul__(self, other: Any) -> Any:
        LOG.append("mul")
        if isinstance(other, (int, float)):
            return type(self)(self._x * other, self._y * other)
        return NotImplemented

    def __rmul__(self, other: float) -> Any:
        LOG.append("rmul")
        return self * other

    def __neg__(self) -> Vector:
        LOG.append("neg")
        return Vector(-self._x, -self._y)

    def __abs__(self) -> float:
        LOG.append("abs")
        return self.norm

    def __getitem__(self, index: int) -> float:
        LOG.append("getitem")
        return (self._x, self._y)[index]

    def __call__(self, x: float, *, power: float = 1.0) -> float:
        LOG.append("call")
        return self._x * x**power + self._y


class Heavier(Vector):
    """Is asked before its base class, when it stands on the right, for what it defines itself."""

    def __rsub__(self, other: Any) -> Any:
        LOG.append("rsub of a derived class")
        return Vector(other._x * 2.0, self._y)

    def __rmul__(self, other: Any) -> Any:
        LOG.append("rmul of a derived class")
        return other * 3.0


class Matrix:
    def __init__(self, a: float) -> None:
        self.a = a

    def __rsub__(self, other: Vector) -> Any:
        LOG.append("rsub")
        return Vector(other._x - self.a, other._y) if self.a > 0.0 else NotImplemented


def arithmetic(x: float, y: float) -> float:
    v = Vector(x, y)
    for k in range(4):
        w = v * 0.5 + 0.25 * v - (-v) * (k + 1)
        v = w + Vector(y, x)
    return v.norm * abs(v) + v[0] * v[1]


def properties(x: float, y: float) -> float:
    v = Vector(x, y)
    total = 0.0
    for _ in range(4):
        v.x = v.x * y + 0.1
        total += v.x * v.norm
    return total


def in_place(x: float, y: float) -> float:
    v = w = Vector(x, y)
    for _ in range(3):
        v += Vector(y, x)
        v *= 0.9
    return v.norm + w._x


def calls(x: float, y: float) -> float:
    v = Vector(x, y)
    return sum([v(k * y) for k in range(3)]) + v(x, power=2.0)


def right_operands(x: float, y: float) -> float:
    v = Vector(x, y)
    total = 0.0
    for _ in range(3):
        total += (v - Matrix(x)).norm + (v - Heavier(x, y)).norm + (Heavier(y, x) - v).norm
    return total


def mirrored_first(x: float, y: float) -> float:
    return sum([(2.0 * Heavier(x, y * k)) for k in range(1, 4)])  # type: ignore[misc]


def nobody_answers(x: float, y: float) -> float:
    v = Vector(x, y)
    messages = []
    for other in (x, Matrix(-x), "text"):
        try:
            v - other
        except TypeError as error:
            messages.append(str(error))
    try:
        x - v  # type: ignore[operator]
    except TypeError as error:
        messages.append(str(error))
    assert messages == [
        "unsupported operand type(s) for -: 'Vector' and 'float'",
        "unsupported operand type(s) for -: 'Vector' and 'Matrix'",
        "unsupported operand type(s) for -: 'Vector' and 'str'",
        "unsupported operand type(s) for -: 'float' and 'Vector'",
    ]
    return v.norm * len(messages)


PROGRAMS = [arithmetic, properties, in_place, calls, right_operands, mirrored_first, nobody_answers]


def logged(run: Any) -> tuple[Any, list[str]]:
    LOG.clear()
    return run(), list(LOG)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("config", [{}, {"warm_after": 0}, {"speculation": "never"}], ids=str)
def test_operands_are_asked_as_often_as_without_derivatives(program: Any, config: Any) -> None:
    expected, asked = logged(lambda: program(0.7, 1.3))
    with adbc.use(adbc.Config(**config)):
        default_engine().clear()
        for _ in range(4):
            value, happened = logged(lambda: adbc.vjp(program, 0.7, 1.3)[0])  # a pullback clears the log
            assert value == expected and happened == asked
            (value, _), happened = logged(lambda: adbc.jvp(program, (0.7, 1.3), (1.0, 0.5)))
            assert value == expected and happened == asked
        check_rule(program, 0.7, 1.3)


@pytest.fixture
def restored() -> Iterator[None]:
    before = {name: vars(Vector)[name] for name in ("__add__", "norm")}
    yield
    for name, value in before.items():
        setattr(Vector, name, value)
    for cls, name in ((Heavier, "__add__"), (Vector, "__imul__"), (Vector, "__getattr__")):
        if name in vars(cls):
            delattr(cls, name)


@pytest.mark.parametrize("warm_after", [0, 40])
def test_classes_that_change(warm_after: int, restored: None) -> None:
    def changed(name: str, value: Any, cls: Any = Vector) -> None:
        setattr(cls, name, value)
        expected = arithmetic(0.7, 1.3), in_place(0.7, 1.3)
        found = adbc.value_and_grad(arithmetic)(0.7, 1.3), adbc.value_and_grad(in_place)(0.7, 1.3)
        assert [v for v, _ in found] == pytest.approx(expected)
        check_rule(arithmetic, 0.7, 1.3)
        check_rule(in_place, 0.7, 1.3)

    with adbc.use(adbc.Config(warm_after=warm_after)):
        default_engine().clear()
        for _ in range(3):
            adbc.grad(arithmetic)(0.7, 1.3)
            adbc.grad(in_place)(0.7, 1.3)
        changed("__add__", lambda self, other: Vector(self._x * other._x, self._y + other._y))
        changed("norm", property(lambda self: self._x * self._y))
        changed("__imul__", lambda self, k: Vector(self._x * k * 2.0, self._y))
        changed("__getattr__", lambda self, name: 1.0)
        changed("norm", 3.0)


@pytest.mark.usefixtures("at_once")
def test_functions_are_called_where_classes_are_known() -> None:
    for _ in range(5):
        adbc.grad(arithmetic)(0.7, 1.3)
    texts = [
        str(r.graphs[0])
        for r in default_engine().rules.values()
        if r.code is arithmetic.__code__ and r.is_built
    ]
    (text,) = texts
    assert "Saved[__add__]" in text and "Saved[answered]" in text
    assert not [name for name in ("operator.neg", "builtins.abs", "_getattr_") if name in text]
