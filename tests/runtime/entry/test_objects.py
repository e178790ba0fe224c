"""Objects among the arguments: from the second call on no walk is needed for them, and the gradients are
those of the first call, however the objects hang together."""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule


@dataclasses.dataclass
class Spring:
    stiffness: float
    length: float
    name: str = "spring"


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b


class Node:
    def __init__(self, value: float, rest: Node | None = None) -> None:
        self.value, self.rest = value, rest


class Looking:
    """An object whose attributes have the names of an array's."""

    def __init__(self, dtype: float) -> None:
        self.dtype, self.ndim, self.base = dtype, 2.0, None


class Mode(enum.Enum):
    FAST = 2.0


class Model:
    def __init__(self) -> None:
        self.weights = np.array([0.5, -1.0])
        self.rates = {"a": 2.0, "b": [0.5, 0.25]}
        self.parts = [Spring(1.5, 2.0), Spring(0.5, 1.0)]
        self.mode, self.link = Mode.FAST, math.sin
        self.pair = (0.3, "x")


def square(x: float) -> float:
    return x * x


def many(f: Any, *args: Any, argnums: Any = 0) -> list[Any]:
    """Gradients in calls one after the other."""
    return [adbc.grad(f, argnums)(*args) for _ in range(4)]


def test_attributes() -> None:
    def energy(s: Spring, x: float) -> float:
        return 0.5 * s.stiffness * (x - s.length) ** 2

    for b in many(energy, Spring(2.0, 0.5), 1.5):
        assert (b.stiffness, b.length, b.name) == (0.5, -2.0, adbc.NoTangent())
    assert many(energy, Spring(2.0, 0.5), 1.5, argnums=1) == [2.0] * 4
    for _ in range(3):
        check_rule(energy, Spring(2.0, 0.5), 1.5)


def test_slots_and_names_of_arrays() -> None:
    for b in many(lambda s: s.a * s.b**2, Slotted(2.0, 3.0)):
        assert (b.a, b.b) == (9.0, 12.0)
    for b in many(lambda o: o.dtype * o.ndim, Looking(3.0)):
        assert (b.dtype, b.ndim) == (2.0, 3.0)


def test_what_an_object_may_hold() -> None:
    def f(m: Model, x: float) -> Any:
        total = m.weights @ m.weights * m.rates["a"] + m.rates["b"][1] * m.link(x) + m.pair[0]
        m.weights[0] = x
        m.parts[1].length *= x
        return total + m.mode.value * m.parts[1].length * m.parts[0].stiffness + m.weights[0]

    model = Model()
    found = many(f, model, 0.7)
    for b in found:
        assert b.weights.tolist() == [2.0, -4.0]
        assert b.rates == {"a": 1.25, "b": [0.0, math.sin(0.7)]}
        assert b.pair == (1.0, adbc.NoTangent())
        assert b.parts[0].stiffness == 2.0 * 0.7
        assert b.parts[1].length == pytest.approx(2.0 * 0.7 * 1.5)
    assert model.weights.tolist() == [0.5, -1.0] and model.parts[1].length == 1.0
    for _ in range(2):
        check_rule(f, model, 0.7)
    by_x = many(f, model, 0.7, argnums=1)
    assert by_x == pytest.approx([0.25 * math.cos(0.7) + 2.0 * 1.5 + 1.0] * 4)


def test_one_object_reached_by_two_ways() -> None:
    def f(s: Spring, t: Spring) -> float:
        s.length = s.length * 2.0
        return t.length * s.stiffness

    a, b = Spring(3.0, 1.0), Spring(2.0, 5.0)
    for _ in range(3):
        assert adbc.grad(f)(a, b).stiffness == 5.0
        assert adbc.grad(f)(a, a).length == 6.0
        assert adbc.grad(lambda both: f(*both))([a, a])[0].length == 6.0
    assert (a.length, b.length) == (1.0, 5.0)


def test_attributes_by_their_own_name() -> None:
    def f(s: Spring, space: dict[str, Any]) -> float:
        space["length"] = space["length"] * 3.0
        return s.length * s.stiffness

    def through_vars(s: Spring) -> float:
        vars(s)["length"] *= 3.0
        return s.length * s.stiffness

    a = Spring(3.0, 1.0)
    for _ in range(3):
        assert adbc.grad(f)(a, {"length": 4.0}).length == 3.0
        assert adbc.grad(f)(a, vars(a)).length == 9.0
        assert adbc.grad(through_vars)(a).length == 9.0


def test_objects_that_share_their_attributes() -> None:
    def f(s: Spring, t: Spring) -> float:
        s.length = s.length * 2.0
        return t.length * s.stiffness

    a, b = Spring(3.0, 1.0), Spring(2.0, 5.0)
    apart = many(f, a, b)[-1]
    assert (apart.stiffness, apart.length) == (5.0, 0.0)
    b.__dict__ = a.__dict__
    for together in many(f, a, b):
        assert (together.stiffness, together.length) == (2.0, 6.0)


def test_linked_objects_and_rings() -> None:
    def total(node: Node | None) -> float:
        found = 0.0
        while node is not None:
            found += node.value**2
            node = node.rest
        return found

    long = Node(1.0, Node(2.0, Node(3.0, Node(4.0, Node(5.0, Node(6.0, Node(7.0)))))))
    for b in many(total, long):
        values = []
        while b is not adbc.NoTangent():
            values.append(b.value)
            b = b.rest
        assert values == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    ring = Node(1.0, Node(2.0))
    ring.rest.rest = ring  # type: ignore[union-attr]
    for b in many(lambda n: n.value * n.rest.rest.value, ring):
        assert b.value == 2.0 and b.rest.rest is b


def test_functions_in_a_list() -> None:
    def f(x: float, steps: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    def scaled(by: list[float]) -> Any:
        return lambda x: by[0] * x

    for _ in range(3):
        assert adbc.grad(f)(3.0, [square, math.sqrt, square]) == pytest.approx(6.0)
        assert adbc.grad(f)(3.0, [scaled([2.0]), square]) == 24.0
        by = [2.0]
        assert adbc.grad(lambda by: f(3.0, [square, scaled(by)]))(by) == [9.0]


def test_classes_that_change_from_call_to_call() -> None:
    def f(o: Any) -> Any:
        return o.a * o.b

    class Other:
        def __init__(self) -> None:
            self.a, self.b, self.c = 2.0, np.float64(3.0), np.ones(2)[:1]

    gradient = adbc.grad(f)
    for _ in range(3):
        assert gradient(Slotted(2.0, 3.0)).b == 2.0
        b = gradient(Other())
        assert (b.a, b.b) == (3.0, 2.0)
        assert gradient(Slotted(2, 3.0)).b == 2.0


def test_an_object_without_numbers() -> None:
    class Empty:
        def __init__(self) -> None:
            self.name = "a"

    for b in many(lambda o, x: x * len(o.name), Empty(), 2.0):
        assert vars(b) == {"name": adbc.NoTangent()}


class Pair(NamedTuple):
    a: float
    b: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: Any


@pytest.mark.parametrize("cls", [Pair, Frozen])
def test_records(cls: Any) -> None:
    def f(p: Any, x: float) -> Any:
        return p.a * p.a * x + (p.b * x if isinstance(p.b, float) else 2.0 * x)

    gradient, both = adbc.grad(f), adbc.grad(f, (0, 1))
    for _ in range(4):
        b = gradient(cls(3.0, 4.0), 0.5)
        assert (b.a, b.b) == (3.0, 0.5)
        b = gradient(cls(3.0, "name"), 0.5)
        assert (b.a, b.b) == (3.0, adbc.NoTangent())
        b, bx = both(cls(3, 4.0), 0.5)
        assert (b.a, b.b, bx) == (adbc.NoTangent(), 0.5, 13.0)
        assert gradient(cls(3.0, [4.0]), 0.5).b == [0.0]
        check_rule(f, cls(3.0, 4.0), 0.5)


def test_a_record_with_attributes_beside() -> None:
    class Wide(Pair):
        pass

    wide = Wide(3.0, 4.0)
    wide.scale = 2.0  # type: ignore[attr-defined]
    for b in many(lambda p, x: p.a * p.scale * x, Wide(3.0, 4.0) if False else wide, 0.5, argnums=1):
        assert b == 6.0


def test_sets_and_members_of_enumerations() -> None:
    class Other(enum.Enum):
        FAST = 5.0

    def f(x: float, mode: Any, names: Any) -> float:
        return x * mode.value * len(names)

    gradient = adbc.grad(f)
    for _ in range(3):
        assert gradient(3.0, Mode.FAST, {"a", "b"}) == 4.0
        assert gradient(3.0, Other.FAST, {"a", "b", "c"}) == 15.0
        assert gradient(3.0, Mode.FAST, frozenset({"a"})) == 2.0


def along(f: Any, args: tuple[Any, ...], tangents: tuple[Any, ...]) -> list[Any]:
    """Derivatives in one direction, in calls one after the other."""
    return [adbc.jvp(f, args, tangents)[1] for _ in range(4)]


def test_directions() -> None:
    def energy(s: Spring, x: float) -> float:
        return 0.5 * s.stiffness * (x - s.length) ** 2

    spring = Spring(2.0, 0.5)
    direction = adbc.zero_tangent(spring)
    direction.stiffness, direction.length = 3.0, 1.0
    assert along(energy, (spring, 1.5), (direction, 0.0)) == [0.5 * 3.0 - 2.0] * 4
    assert along(energy, (spring, 1.5), (direction, 1.0)) == [1.5] * 4
    assert along(energy, (spring, 1.5), (None, 1.0)) == [2.0] * 4
    direction.length = -1.0
    assert along(energy, (spring, 1.5), (direction, 0.0)) == [3.5] * 4
    record = Pair(3.0, 4.0)
    assert along(lambda p: p.a * p.b, (record,), (adbc.Tangent(a=1.0, b=2.0),)) == [10.0] * 4
    assert along(lambda x, p: x * p.a, (2.0, Frozen(3.0, "n")), (1.0, None)) == [3.0] * 4


def test_directions_of_objects_that_hang_together() -> None:
    def f(s: Spring, t: Spring) -> float:
        s.length = s.length * 2.0
        return t.length * s.stiffness

    def through_vars(s: Spring, x: float) -> float:
        vars(s)["length"] *= x
        return s.length * s.stiffness

    a, b = Spring(3.0, 1.0), Spring(2.0, 5.0)
    da, db = adbc.zero_tangent(a), adbc.zero_tangent(b)
    da.length, db.length = 1.0, 10.0
    for _ in range(3):
        assert adbc.jvp(f, (a, b), (da, db))[1] == 30.0
        a.length, da.length = 1.0, 1.0
        assert adbc.jvp(f, (a, a), (da, da))[1] == 6.0
        a.length, da.length = 1.0, 1.0
        assert adbc.jvp(through_vars, (a, 2.0), (None, 1.0))[1] == 3.0
        a.length = 1.0
        assert adbc.jvp(through_vars, (a, 2.0), (da, 0.0))[1] == 6.0
        a.length, da.length = 1.0, 1.0
    c = Spring(2.0, 5.0)
    c.__dict__ = a.__dict__
    for _ in range(3):
        a.length = 1.0
        dc = adbc.zero_tangent(c)
        dc.__dict__ = da.__dict__
        da.length = 1.0
        assert adbc.jvp(f, (a, c), (da, dc))[1] == 6.0
        with pytest.raises(adbc.errors.InvalidTangentError, match="share memory"):
            adbc.jvp(f, (a, c), (da, adbc.zero_tangent(c)))


def test_directions_of_constants_that_hold_arrays_and_functions() -> None:
    def f(x: float, m: Model, steps: Any) -> Any:
        m.weights[1] = x * 2.0
        m.parts[0].length = x
        for step in steps:
            x = step(x)
        return m.weights @ m.weights + x + m.parts[0].length

    for _ in range(4):
        model = Model()
        value = adbc.jvp(f, (0.7, model, [square, math.sin]), (1.0, None, None))[1]
        assert value == pytest.approx(8.0 * 0.7 + math.cos(0.49) * 1.4 + 1.0)
