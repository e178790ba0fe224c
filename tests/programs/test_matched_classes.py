"""``case C(...)``: fields of instances, properties, slots, records, classes that answer for themselves."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from tests.programs.checks import check_gradient


class Circle:
    __match_args__ = ("radius",)

    def __init__(self, radius: Any) -> None:
        self.radius = radius


class Ring(Circle):
    inner = 0.5


class Rectangle:
    __match_args__ = ("width", "height")
    height = 3.0

    def __init__(self, width: Any) -> None:
        self.width = width


class Square:
    __match_args__ = ("area", "side")

    def __init__(self, side: Any) -> None:
        self.side = side
        self.reads = 0

    @property
    def area(self) -> Any:
        self.reads += 1
        return self.side * self.side * self.reads


class Slotted:
    __slots__ = ("a", "b")
    __match_args__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a


class Shaded:
    """Fields that a data descriptor stands in front of."""

    __match_args__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.__dict__["x"] = x

    x = property(lambda self: 2.0 * self.__dict__["x"])


class Answering:
    __match_args__ = ("x", "y")

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        if name == "y":
            return 3.0 * self.x
        raise AttributeError(name)


class Watching:
    __match_args__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return found * 2.0 if name == "x" else found


class Posing:
    """An instance that says that it is of another class."""

    def __init__(self, radius: Any) -> None:
        self.radius = radius

    @property
    def __class__(self) -> Any:
        return Circle


class Meta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return hasattr(instance, "radius")


class Round(metaclass=Meta):
    __match_args__ = ("radius",)


class Shape(abc.ABC):  # noqa: B024
    __match_args__ = ("side",)


Shape.register(Square)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


@dataclasses.dataclass(frozen=True)
class Pixel:
    x: Any
    y: Any


@dataclasses.dataclass(frozen=True)
class Deep(Pixel):
    depths: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Narrow:
    width: Any
    gaps: Any


class Pair(NamedTuple):
    first: Any
    second: Any


class Doubled(Pair):
    """A property stands in front of an element."""

    first = property(lambda self: 2.0 * self[0])  # type: ignore[assignment]


class Noted(Pair):
    """It has attributes beside its elements, of which one has the name of a field of others."""

    depth = 2.0


class Watched(Pair):
    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return found * 3.0 if name == "second" else found


class Wide(Slotted):
    """A property stands in front of a slot."""

    __slots__ = ("c",)
    a = property(lambda self: 2.0 * self.b)  # type: ignore[assignment]

    def __init__(self, a: Any) -> None:
        self.b = a
        self.c = [a]


def size(shape: Any, x: Any) -> Any:
    match shape:
        case Ring(r, inner=i):
            return r * r - i * x
        case Circle(radius=r):
            return r * r * x
        case Rectangle(w, h):
            return w * h
        case Square(area, side):
            return area + side * x
        case Wide(a, b, c=[d]):
            return a * b * d
        case Slotted(a, b):
            return a * b
        case Slotted(a):
            return a * x
        case Shaded(v):
            return v * v
        case Answering(v, w):
            return v * w
        case Watching(v):
            return v * v
        case Point(0, y):
            return y
        case Point(v, Point(w, z)):
            return v * w * z
        case Point(x=v, y=w):
            return v * w
        case Deep(v, w, depths=[d, *_]):
            return v * w * d
        case Deep():
            return x * x
        case Narrow(v, gaps=[w]):
            return v * w * w
        case Narrow(v):
            return v * v
        case Pixel(v, w):
            return v * (w[0] if isinstance(w, list) else w) + x
        case Pair([v], w):
            return v * w
        case Noted(v, depth=d):
            return v * d
        case Pair(v, second=w):
            return v - w * x
        case float(v):
            return v * v
        case int() | None:
            return x
        case str():
            return 2.0 * x
    return 0.0 * x


def ring_with_a_width(x: Any) -> Any:
    ring = Ring(x)
    ring.inner = 2.0 * x  # type: ignore[assignment]
    return ring


SHAPES: list[Callable[[Any], Any]] = [
    Circle, Ring, ring_with_a_width, Rectangle, Square, Slotted, Shaded, Answering, Watching, Posing,
    lambda x: Point(x, x * x), lambda x: Point(0, x), lambda x: Point(x, Point(x, 2.0)),
    lambda x: Pixel(x, x * x), lambda x: Pair(x, 3.0 * x), lambda x: x, lambda x: 3, lambda x: None,
    lambda x: Deep(x, x * x, [x, 1.0]), lambda x: Deep(x, x, ()), lambda x: Pixel(2.0, [x]),
    lambda x: Narrow(x, [x * x]), lambda x: Narrow(2.0 * x, ()),
    lambda x: Doubled(x, x * x), lambda x: Noted(x, 1.0), lambda x: Watched(2.0, x), lambda x: Pair([x], x),
    Wide,
    lambda x: "text", lambda x: [x], lambda x: {"radius": x},
]  # fmt: skip


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("make", SHAPES)
def test_one_shape(make: Callable[[Any], Any]) -> None:
    def f(x: float) -> Any:
        shape = make(x)
        s = 0.0
        for _ in range(3):
            s += size(shape, x) * x
        return s

    check_gradient(f, 1.5)


def several_shapes(x: Any) -> Any:
    shapes = [make(x * (k + 1)) for k, make in enumerate(SHAPES[::4])]
    s = 0.0
    for _ in range(2):
        for shape in shapes:
            s = s + size(shape, x)
    return s


@pytest.mark.usefixtures("speculation")
def test_several_shapes() -> None:
    check_gradient(several_shapes, 1.5)


@pytest.mark.slow
def test_several_shapes_again_and_again() -> None:
    g = adbc.value_and_grad(several_shapes)
    first = g(1.5)
    for _ in range(45):
        assert g(1.5) == pytest.approx(first, rel=1e-13)
    for other in (np.float64(1.5), np.array(1.5)):
        np.testing.assert_allclose(adbc.grad(several_shapes)(other), first[1])


@pytest.mark.usefixtures("speculation")
def test_shared_shapes_that_change() -> None:
    def f(x: float, p: Any) -> Any:
        q = p
        s = 0.0
        for _ in range(3):
            match p:
                case Point(v, [w, *_]):
                    q.x = v * x
                    q.y[0] = w + v
                    s += v * w
        return s + p.y[0] * q.x

    def of_numbers(x: float, a: float, b: float) -> Any:
        return f(x, Point(a, [b]))

    check_gradient(of_numbers, 0.5, 1.5, 2.5, argnums=(0, 1, 2))


@pytest.mark.usefixtures("speculation")
def test_classes_that_answer_for_themselves() -> None:
    def f(x: float) -> Any:
        s = 0.0
        for shape in (Circle(x), Rectangle(x), Square(2.0 * x)):
            match shape:
                case Round(r):
                    s += r * x
                case Shape(side):
                    s += side * side
                case _:
                    s += x
        return s

    check_gradient(f, 1.5)


@pytest.mark.usefixtures("speculation")
def test_too_many_patterns() -> None:
    def f(x: float) -> Any:
        match Circle(x):
            case Circle(a, b):
                return a * b
        return x

    with pytest.raises(TypeError, match=r"Circle\(\) accepts 1 positional sub-pattern \(2 given\)"):
        adbc.grad(f)(1.5)
