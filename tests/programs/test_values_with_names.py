"""Named tuples, frozen dataclasses and functions that gather arguments, where classes are known and not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import adbc
from benchmarks.instructions import executed


class Vec3(NamedTuple):
    x: Any
    y: Any
    z: Any = 1.0

    def plus(self, other: Any, k: Any = 1.0) -> Any:
        return Vec3(self.x + k * other.x, self.y + k * other.y, z=self.z + k * other.z)

    def dot(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y + self.z * other.z

    @property
    def norm(self) -> Any:
        return math.sqrt(self.dot(self))

    def __add__(self, other: Any) -> Any:
        return self.plus(other)

    def __mul__(self, k: Any) -> Any:
        return Vec3(self.x * k, self.y * k, self.z * k)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Mirror:
    scale: Any
    normal: Vec3
    offsets: list[Any]

    def reflect(self, q: Any) -> Any:
        if q > 0.4:
            return (self.scale * q + self.normal.x) / (self.normal.y * q + self.offsets[0])
        return q * self.scale


def of_vectors(xs: list[float]) -> Any:
    v = Vec3(xs[0], xs[1])
    w = v.plus(v, xs[2]) + 2.0 * v
    mirror = Mirror(xs[0], w, [1.0])
    mirror.offsets[0] = xs[1]
    return w.dot(v) * v.norm + mirror.reflect(0.5) + w[1]


def slopes(f: Callable[[list[float]], float], xs: list[float]) -> list[float]:
    def moved(i: int, h: float) -> float:
        return f([x + h * (i == j) for j, x in enumerate(xs)])

    return [(moved(i, 1e-6) - moved(i, -1e-6)) / 2e-6 for i in range(len(xs))]


@pytest.mark.parametrize("speculation", ["learn", "always", "never", "dynamic", "interpret"])
def test_fields_in_both_modes(speculation: str) -> None:
    xs = [0.3, 0.7, 1.1]
    expected = slopes(of_vectors, xs)
    with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
        for _ in range(3):
            assert adbc.grad(of_vectors)(xs) == pytest.approx(expected, rel=1e-6)
        tangent = adbc.jvp(of_vectors, (xs,), ([1.0, -2.0, 0.5],))[1]
    assert tangent == pytest.approx(expected[0] - 2.0 * expected[1] + 0.5 * expected[2], rel=1e-6)


def of_two(x: float, y: float) -> Any:
    v = Vec3(x, y)
    return v.x * v.y * v.x


def test_second_derivatives_by_fields() -> None:
    slope = (adbc.grad(of_two)(0.7 + 1e-6, 0.3) - adbc.grad(of_two)(0.7 - 1e-6, 0.3)) / 2e-6
    found = adbc.jvp(lambda x: adbc.grad(of_two)(x, 0.3), (0.7,), (1.0,))[1]
    assert found == pytest.approx(slope, rel=1e-5)


def length_of_path(x: float, n: int) -> Any:
    at, by, total = Vec3(0.0, x, 0.0), Vec3(x, 0.1, x * x), 0.0
    ways = {"on": by, "back": Vec3(-0.5 * x, 0.2, 0.0)}
    for i in range(n):
        at = at.plus(ways["on" if i % 3 else "back"], 0.01)
        total += at.dot(by)
    return total


def test_fields_of_named_tuples_are_read_in_written_code() -> None:
    gradient = adbc.grad(length_of_path)
    for n in (3, 6, 20, 40, 40):
        gradient(0.7, n)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (20, 40))  # type: ignore[misc]  # n is bound now
    assert (many - few) / 20 < 2500  # the plain function executes 78


def of_replaced(x: float) -> Any:
    class Point(NamedTuple):
        x: Any

        def double(self) -> Any:
            return 2.0 * self.x

    first = Point(x).double()
    Point.double = lambda self: 3.0 * self.x  # type: ignore[method-assign]
    return first + Point(x * x).double()


def test_methods_of_named_tuples_may_be_replaced() -> None:
    with adbc.use(adbc.Config(warm_after=40)):  # what code that is written uses may not be set any more
        for _ in range(2):
            assert adbc.grad(of_replaced)(0.7) == pytest.approx(2.0 + 6.0 * 0.7)


def gathered(*values: Any, scale: Any = 2.0) -> Any:
    total = len(values) * values[0]
    for value in values[1:]:
        total = total * value + scale
    return total


class Layer:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)

    def forward(self, x: Any, h: Any) -> Any:
        return self.weight * x + math.tanh(h)


def of_gathered(x: float, n: int) -> Any:
    layer, h = Layer(x), x
    for _ in range(n):
        h = layer(h, x)
    h += gathered(x) + gathered(x, h, x, scale=h) + gathered(*[x, h]) + gathered(*(h, x, 1.0))
    try:
        return layer(h)  # one argument is missing
    except TypeError:
        return h * x


@pytest.mark.parametrize("speculation", ["learn", "always", "never", "dynamic", "interpret"])
def test_what_is_gathered(speculation: str) -> None:
    slope = (of_gathered(0.7 + 1e-6, 5) - of_gathered(0.7 - 1e-6, 5)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
        for _ in range(3):
            assert adbc.grad(of_gathered)(0.7, 5) == pytest.approx(slope, rel=1e-6)
        assert adbc.jvp(lambda x: of_gathered(x, 5), (0.7,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


def through_layers(x: float, n: int) -> Any:
    layer, h = Layer(x), x
    for _ in range(n):
        h = layer(h, x)
    return h


def test_functions_that_gather_are_called_by_their_rules() -> None:
    gradient = adbc.grad(through_layers)
    for _ in range(5):
        gradient(0.7, 40)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (20, 40))  # type: ignore[misc]  # n is bound now
    assert (many - few) / 20 < 1100  # the plain function executes 27


class Stack:
    """Which word is wrong is said in an f-string, of what may have a ``__str__``."""

    def run(self, program: list[Any], x: Any) -> Any:
        for word in program:
            if word == "double":
                x = x + x
            elif word == "square":
                x = x * x * 1.0
            else:
                raise ValueError(f"{word} is unknown after {x}")
        return x


@pytest.mark.usefixtures("at_once")
def test_a_message_of_an_error_does_not_stop_guesses() -> None:
    program = ["double", "square"]
    gradient = adbc.grad(Stack().run, argnums=1)
    for _ in range(5):
        assert gradient(program, 0.7) == pytest.approx(8.0 * 0.7)
    few, many = (executed(lambda n=n: gradient(program * n, 0.01)) for n in (2, 4))  # type: ignore[misc]  # n is bound now
    assert (many - few) / 4 < 250
    with pytest.raises(ValueError, match=r"half is unknown after 1\.4"):
        gradient(["double", "half"], 0.7)
