"""Objects in lists, whose methods are called in loops: every wrong guess gives the right derivative."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.inspect import explain
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.testing.values import assert_same


class Body:
    def __init__(self, x: Any, mass: Any) -> None:
        self.x = x
        self.mass = mass

    def pull(self, other: Any, h: Any) -> None:
        d = self.x - other.x
        self.x -= h * other.mass * d
        other.x += h * self.mass * d

    def energy(self) -> Any:
        return self.mass * self.x * self.x


class Heavy(Body):
    def energy(self) -> Any:
        return 3.0 * self.mass * self.x


class Stone:
    """Nothing in common but the names."""

    __slots__ = ("mass", "x")

    def __init__(self, x: Any, mass: Any) -> None:
        self.x, self.mass = x, mass

    def pull(self, other: Any, h: Any) -> None:
        other.x *= 1.0 + h * self.mass

    def energy(self) -> Any:
        return math.sin(self.x) * self.mass


class Computed:
    """`x` is a property and `energy` is found by ``__getattr__``."""

    def __init__(self, x: Any, mass: Any) -> None:
        self.y = 2.0 * x
        self.mass = mass

    @property
    def x(self) -> Any:
        return 0.5 * self.y

    @x.setter
    def x(self, value: Any) -> None:
        self.y = 2.0 * value

    pull = Body.pull

    def __getattr__(self, name: str) -> Any:
        if name != "energy":
            raise AttributeError(name)
        return lambda: self.mass * self.y


class Shouting(Body):
    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return 1.5 * found if name == "mass" else found


KINDS = {kind.__name__: kind for kind in (Body, Heavy, Stone, Computed, Shouting)}


def system(xs: list[Any], h: Any, kinds: list[str]) -> Any:
    bodies = [KINDS[kind](x, 1.0 + 0.5 * x) for kind, x in zip(kinds, xs)]  # noqa: B905  # as people write it
    for _ in range(2):
        for i, body in enumerate(bodies):
            for other in bodies[i + 1 :]:
                body.pull(other, h)
    energy = 0.0
    for body in bodies:
        energy += body.energy()
    return energy


@pytest.fixture(params=["learn", "never", "always", "dynamic"], autouse=True)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param, verify=True)):
        default_engine().clear()
        yield request.param
        default_engine().clear()


def agree(f: Any, *args: Any, by: int = 0) -> None:
    """The gradient is what forward mode and differences say, and stays that."""
    check_rule(f, *args, step=1e-3)
    with adbc.use(adbc.Config(speculation="dynamic", verify=True)):
        expected = adbc.value_and_grad(f, by)(*args)
    for _ in range(4):
        assert_same(expected, adbc.value_and_grad(f, by)(*args), "gradient", rtol=1e-12)
    check_rule(f, *args, step=1e-3)


XS = [0.3, -0.7, 1.1]


def test_one_class() -> None:
    agree(system, XS, 0.1, ["Body"] * 3)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "Body"])
@pytest.mark.parametrize("at", [0, 1])
def test_another_class_in_the_list(kind: str, at: int) -> None:
    for _ in range(4):
        adbc.grad(system)(XS, 0.1, ["Body"] * 3)
    kinds = ["Body"] * 3
    kinds[at] = kind
    agree(system, XS, 0.1, kinds)
    agree(system, XS, 0.1, ["Body"] * 3)
    agree(system, XS, 0.1, kinds[::-1])


def given(bodies: list[Any], h: float) -> Any:
    for i, body in enumerate(bodies):
        for other in bodies[i + 1 :]:
            body.pull(other, h)
    energy = 0.0
    for body in bodies:
        energy += body.energy()
    return energy


def test_objects_as_arguments() -> None:
    agree(given, [Body(0.3, 1.0), Body(-0.7, 2.0), Body(1.1, 0.5)], 0.1)
    agree(given, [Body(0.3, 1.0), Stone(-0.7, 2.0), Heavy(1.1, 0.5)], 0.1)


def test_the_same_object_twice() -> None:
    agree(given, [Body(0.3, 1.0), Body(-0.7, 2.0)], 0.1)
    body = Body(0.3, 1.0)
    agree(given, [body, Body(-0.7, 2.0), body], 0.1)
    agree(given, [body, body], 0.1)


def apart(bodies: list[Any], h: float) -> Any:
    for body in bodies:
        for other in bodies[:]:
            if body is not other:
                body.pull(other, h)
    return bodies[0].energy() + bodies[-1].energy()


def test_identity() -> None:
    body = Body(0.3, 1.0)
    agree(apart, [body, Body(-0.7, 2.0), body], 0.1)


def test_a_field_of_one_element_hides_the_method() -> None:
    def hidden(x: float, which: int) -> Any:
        bodies = [Body(x, 1.0), Body(2.0 * x, x), Body(x, 3.0)]
        bodies[which].energy = lambda: x * bodies[0].x  # type: ignore[method-assign]
        energy = 0.0
        for body in bodies:
            energy += body.energy()
        return energy

    for which in (0, 1, 2):
        agree(hidden, 0.7, which)


def test_the_method_of_another_object_hides_the_method() -> None:
    """It is the same function, so what is called is not enough to know."""

    def borrowed(x: float, is_borrowed: bool) -> Any:
        a, b = Body(x, 1.0), Body(3.0 * x, x)
        if is_borrowed:
            a.energy = b.energy  # type: ignore[method-assign]
        total = 0.0
        for body in [a, b]:
            total += body.energy()
        return total

    def lent(bodies: list[Any]) -> Any:
        total = 0.0
        for body in bodies:
            total += body.energy()
        return total

    for is_borrowed in (False, True, False):
        agree(borrowed, 0.7, is_borrowed)
        a, b = Body(0.7, 1.0), Body(2.1, 3.0)
        for _ in range(3):
            assert [t.x for t in adbc.grad(lent)([a, b])] == pytest.approx([1.4, 12.6], rel=1e-14)
        a.energy = b.energy  # type: ignore[method-assign]
        for _ in range(3):
            assert [t.x for t in adbc.grad(lent)([a, b])] == pytest.approx([0.0, 25.2], rel=1e-14)


def test_the_method_is_hidden_while_the_loop_runs() -> None:
    def hiding(x: float) -> Any:
        body = Body(x, 1.0)
        total = 0.0
        for k in range(4):
            if k == 2:
                body.energy = lambda: 5.0 * body.x  # type: ignore[method-assign]
            total += body.energy()
            body.x += 0.1 * x
        del body.energy
        return total + body.energy()

    agree(hiding, 0.7)


def test_the_class_of_an_element_changes() -> None:
    def changing(x: float) -> Any:
        bodies = [Body(x, 1.0), Body(2.0 * x, x)]
        total = 0.0
        for k in range(3):
            for body in bodies:
                total += body.energy()
            if k == 1:
                bodies[0].__class__ = Heavy
        return total

    def slope(x: float) -> float:
        # (x^2 + 4 x^3) * 2 + 3 x + 4 x^3
        return 4.0 * x + 36.0 * x * x + 3.0

    for _ in range(4):
        try:
            assert adbc.grad(changing)(0.7) == pytest.approx(slope(0.7), rel=1e-13)
        except adbc.AdbcError:
            return  # refused: also well


def test_the_method_is_replaced() -> None:
    class Local(Body):
        def energy(self) -> Any:
            return self.mass * self.x

    def use(bodies: list[Any]) -> Any:
        total = 0.0
        for body in bodies:
            total += body.energy()
        return total

    def slopes() -> list[float]:
        gradient = adbc.grad(use)([Local(0.5, 2.0), Local(0.25, 3.0)])
        return [t.x for t in gradient]

    for _ in range(4):
        assert slopes() == [2.0, 3.0]
    Local.energy = lambda self: self.mass * self.x * self.x  # type: ignore[method-assign]
    for _ in range(4):
        assert slopes() == [2.0, 1.5]
    Local.energy = property(lambda self: lambda: 7.0 * self.x)  # type: ignore[method-assign,assignment]
    for _ in range(4):
        assert slopes() == [7.0, 7.0]


def test_a_field_becomes_something_else() -> None:
    class Local(Body):
        pass

    def use(bodies: list[Any]) -> Any:
        total = 0.0
        for body in bodies:
            body.pull(bodies[0], 0.5)
            total += body.energy()
        return total

    bodies = [Local(0.5, 2.0), Local(0.25, 3.0)]
    for _ in range(3):
        agree(use, bodies)
    Local.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 2.0 * value)  # type: ignore[method-assign,assignment]
    agree(use, bodies)
    del Local.__setattr__
    agree(use, bodies)
    Local.mass = property(lambda self: 4.0 * self.x, lambda self, value: None)  # type: ignore[assignment]
    agree(use, [Local(0.5, 2.0), Local(0.25, 3.0)])
    del Local.mass
    agree(use, bodies)
    Local.__getattribute__ = lambda self, name: (  # type: ignore[method-assign,assignment]
        0.5 if name == "mass" else object.__getattribute__(self, name)
    )
    agree(use, bodies)


def weighted(xs: list[Any], weights: list[Any]) -> Any:
    total = 0.0
    for weight, x in zip(weights, xs):  # noqa: B905
        total += weight * x * x
    return total


def test_what_was_stepped_to_together_with_a_wrong_guess() -> None:
    for weights in ([1.0, 2.0, 3.0], [1, 2, 3], [1.0, 2, True], [True, 0.5, 2]):
        agree(weighted, XS, weights)
        agree(weighted, weights, XS, by=1)
        agree(weighted, XS, weights, by=0)


class Fragile:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.count = 0.0

    def step(self, k: Any) -> None:
        self.x = self.x * k
        self.count += 1.0
        if self.x > 2.0:
            self.x = self.x - k
            raise OverflowError("too far")
        self.x = self.x + k * self.count


def caught(xs: list[float], k: float) -> Any:
    items = [Fragile(x) for x in xs]
    fell = 0.0
    for _ in range(3):
        for item in items:
            try:
                item.step(k)
            except OverflowError:
                fell += item.x
    total = fell
    for item in items:
        total += item.x * item.count
    return total


def test_an_exception_in_the_middle_of_a_method() -> None:
    agree(caught, [0.3, 1.7, 0.9], 1.2)
    with pytest.raises(ConstWriteError):
        adbc.grad(given, argnums=1)(adbc.Const([Body(0.3, 1.0), Body(0.7, 1.0)]), 0.1)


def escaping(items: list[Any], k: float) -> None:
    for item in items:
        item.step(k)


def test_an_exception_that_is_not_caught() -> None:
    for _ in range(4):
        items = [Fragile(0.3), Fragile(2.7)]
        with pytest.raises(OverflowError):
            adbc.vjp(escaping, items, 1.1)


class Versatile:
    __slots__ = ("__dict__", "a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a
        self.b = 2.0 * a
        self.c = self.a * self.b


def remade(x: Any) -> Any:
    """Fields that are new, gone and new again."""
    made = [Versatile(x), Versatile(3.0 * x)]
    total = 0.0
    for one in made:
        total += one.a * one.c
        del one.b
        one.b = total
        del one.c
        one.c = one.b * x
        one.d = one.c
        total += one.d * hasattr(one, "e")
        one.__init__(one.d)  # type: ignore[misc]
    return total + made[0].c + made[1].b


def test_fields_that_are_new() -> None:
    agree(remade, 0.7)


def mixed(x: float) -> Any:
    row = [x, Body(x, 2.0), 2.0 * x, [x], Body(3.0, x)]
    part = row[1:4]
    part[0].x = part[0].x * x  # type: ignore[attr-defined]
    part[1] = part[1] * x  # type: ignore[operator]
    part[2][0] = 5.0 * x  # type: ignore[index]
    objects = row[1::3]
    for one in objects:
        one.x += x  # type: ignore[attr-defined]
    objects[0] = objects[1]
    objects[0].mass = x * x  # type: ignore[attr-defined]
    return sum([row[0], row[1].x, row[2], row[3][0], row[4].x * row[4].mass, part[1]])  # type: ignore[attr-defined]


def test_slices() -> None:
    agree(mixed, 0.7)


def stretched(xs: list[float]) -> Any:
    """The list changes while a slice of it is run through."""
    bodies = [Body(x, 1.0) for x in xs]
    total = 0.0
    for body in bodies[:]:
        bodies.append(Body(body.x * 2.0, 1.0))
        bodies[0] = body
        total += body.energy()
    for body in bodies:
        body.pull(bodies[0], 0.1)
    return total + bodies[-1].x


def test_a_slice_is_a_list_of_its_own() -> None:
    agree(stretched, XS)


def nested(rows: list[list[Any]]) -> Any:
    total = 0.0
    for row in rows:
        for body in row:
            body.pull(rows[0][0], 0.25)
            total += body.energy()
    rows[0], rows[1] = rows[1], rows[0]
    return total * rows[0][0].x


def test_lists_of_lists_of_objects() -> None:
    a, b = Body(0.5, 1.0), Body(0.25, 2.0)
    agree(nested, [[a, b], [Body(0.75, 1.0)], []])
    agree(nested, [[a, b], [b, a], [a]])
    row = [a, b]
    agree(nested, [row, [Stone(0.1, 0.2)], row])


def test_methods_are_called_without_dispatch(speculation: str) -> None:
    if speculation != "learn":
        return
    for _ in range(4):
        adbc.grad(system)(XS, 0.1, ["Body"] * 3)
        adbc.grad(given)([Body(0.3, 1.0), Body(-0.7, 2.0)], 0.1)
    found = str(explain(given, [Body(0.3, 1.0), Body(-0.7, 2.0)], 0.1)).partition("\n\n")[0]
    assert "dynamic" not in found, found
