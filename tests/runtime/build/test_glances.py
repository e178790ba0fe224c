"""Whatever a derivative was specialised on may be changed between two calls, however many came before."""

from __future__ import annotations

import abc
import dataclasses
import enum
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.runtime.build.facts import QuestionFact, class_fact, together
from adbc.runtime.build.glances import Shot
from benchmarks.instructions import executed

RATE = 2.0


def rate(x: Any, power: Any = 2) -> Any:
    return x**power * RATE


def shifted(x: Any, *, by: Any = 1.0) -> Any:
    return x + by * x


def slow(x: Any, *, by: Any = 3.0, then: Any = shifted) -> Any:
    return then(x * by)


class Meta(type):
    pass


class Base:
    offset = 1.0

    def value(self, x: Any) -> Any:
        return self.scale * x + self.offset  # type: ignore[attr-defined]

    @property
    def double(self) -> Any:
        return 2.0 * self.scale  # type: ignore[attr-defined]


class Other:
    offset = 1.0

    def value(self, x: Any) -> Any:
        return 5.0 * x

    @property
    def double(self) -> Any:
        return 2.0


class Model(Base, metaclass=Meta):
    calls = 0

    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return self.value(x) * self.double

    @staticmethod
    def helper(x: Any) -> Any:
        return x * 3.0


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> Any: ...


class Square(Shape):
    def __init__(self, side: Any) -> None:
        self.side = side

    def area(self) -> Any:
        return self.side**2


class Point(NamedTuple):
    x: Any
    y: Any

    def norm(self) -> Any:
        return self.x * self.x + self.y


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any

    def cube(self) -> Any:
        return self.x**3


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


def program(x: float) -> Any:
    model = Model(x)
    total = model(x) + Model.helper(x) + rate(x) + slow(x)
    total += Square(x).area() + Point(x, 1.0).norm() + Frozen(x).cube()
    for kind in (Kind.ONE, Kind.TWO):
        total += kind.value * x
    return total


def slope(x: float) -> float:
    found: float = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
    return found


def _replaced(owner: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(owner, name, value)


def _by_keyword(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(slow.__kwdefaults__, "by", 7.0)


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "method": _replaced(Base, "value", lambda self, x: 4.0 * x),
    "method of the class itself": lambda patch: patch.setattr(
        Model, "value", lambda self, x: 4.0 * x, raising=False
    ),
    "property": _replaced(Base, "double", property(lambda self: 6.0 * self.scale)),
    "static method": _replaced(Model, "helper", staticmethod(lambda x: x * 11.0)),
    "constructor": _replaced(Model, "__init__", lambda self, scale: setattr(self, "scale", 2.0 * scale)),
    "call": _replaced(Model, "__call__", lambda self, x: 9.0 * x),
    "default of the class": _replaced(Base, "offset", 13.0),
    "a field becomes a property": lambda patch: patch.setattr(
        Base, "scale", property(lambda self: 8.0, lambda self, value: None), raising=False
    ),
    "reads": lambda patch: patch.setattr(
        Base,
        "__getattribute__",
        lambda self, name: 2.0 if name == "scale" else object.__getattribute__(self, name),
    ),
    "writes": lambda patch: patch.setattr(
        Base, "__setattr__", lambda self, name, value: object.__setattr__(self, name, 3.0 * value)
    ),
    "calls of the class": lambda patch: patch.setattr(
        Meta, "__call__", lambda cls, scale: type.__call__(cls, 5.0 * scale), raising=False
    ),
    "defaults": lambda patch: patch.setattr(rate, "__defaults__", (3,)),
    "defaults by keyword": _by_keyword,
    "defaults by keyword of a default": lambda patch: patch.setitem(shifted.__kwdefaults__, "by", 2.5),
    "a default that is a function": lambda patch: patch.setitem(
        slow.__kwdefaults__, "then", lambda x: 23.0 * x
    ),
    "code of a default": lambda patch: patch.setattr(
        shifted, "__code__", (lambda x, *, by: 29.0 * x).__code__
    ),
    "global": lambda patch: patch.setitem(globals(), "RATE", 5.0),
    "global function": lambda patch: patch.setitem(globals(), "rate", lambda x: 21.0 * x),
    "abstract class": _replaced(Square, "area", lambda self: 31.0 * self.side),
    "named tuple": _replaced(Point, "norm", lambda self: 17.0 * self.x),
    "frozen dataclass": _replaced(Frozen, "cube", lambda self: 19.0 * self.x),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("warm", [0, 40])
def test_what_is_changed_is_seen(change: str, warm: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with adbc.use(adbc.Config(warm_after=warm)):
        default_engine().clear()
        gradient = adbc.grad(program)
        before = slope(0.7)
        for _ in range(6):
            assert gradient(0.7) == pytest.approx(before, rel=1e-6)
        with monkeypatch.context() as patch:
            CHANGES[change](patch)
            assert slope(0.7) != pytest.approx(before, rel=1e-4)
            for _ in range(4):
                assert gradient(0.7) == pytest.approx(slope(0.7), rel=1e-6)
            assert adbc.jvp(program, (0.7,), (1.0,))[1] == pytest.approx(slope(0.7), rel=1e-6)
        for _ in range(4):
            assert gradient(0.7) == pytest.approx(before, rel=1e-6)


def test_other_bases_and_other_code() -> None:
    class First:
        def value(self, x: Any) -> Any:
            return 2.0 * x

    class Second:
        def value(self, x: Any) -> Any:
            return 7.0 * x

    class Derived(First):
        def __init__(self, x: Any) -> None:
            self.x = x

    def f(x: float) -> Any:
        return Derived(x).value(x)

    gradient = adbc.grad(f)
    for _ in range(5):
        assert gradient(3.0) == 2.0
    Derived.__bases__ = (Second,)
    assert gradient(3.0) == 7.0
    Derived.__bases__ = (First,)
    for _ in range(5):
        assert gradient(3.0) == 2.0
    First.value.__code__ = (lambda self, x: 11.0 * x).__code__
    assert gradient(3.0) == 11.0


def test_a_number_of_another_class() -> None:
    class Holder:
        factor: Any = 2

    def f(x: float) -> Any:
        return x ** Holder().factor

    gradient = adbc.grad(f)
    for _ in range(5):
        assert gradient(3.0) == 6.0
    Holder.factor = 2.0  # equal, and another object
    assert gradient(3.0) == 6.0
    Holder.factor = 3
    assert gradient(3.0) == 27.0


def test_classes_that_change_all_the_time() -> None:
    class Counted:
        made = 0

        def __init__(self, x: Any) -> None:
            self.x = x

        def twice(self) -> Any:
            return 2.0 * self.x

    def f(x: float) -> Any:
        return Counted(x).twice() * x

    gradient = adbc.grad(f)
    for k in range(40):
        Counted.made = object()  # type: ignore[assignment]
        assert gradient(3.0) == 12.0
        if k == 30:
            Counted.twice = lambda self: 5.0 * self.x  # type: ignore[method-assign]
            assert gradient(3.0) == 30.0
            Counted.twice = lambda self: 2.0 * self.x  # type: ignore[method-assign]


def test_a_variable_that_is_deleted() -> None:
    def made() -> tuple[Callable[[float], Any], Callable[[], None]]:
        def inner(x: Any) -> Any:
            return x * x

        def outer(x: float) -> Any:
            return inner(x) * 3.0

        def forget() -> None:
            nonlocal inner
            del inner

        return outer, forget

    outer, forget = made()
    gradient = adbc.grad(outer)
    for _ in range(5):
        assert gradient(2.0) == 12.0
    forget()
    with pytest.raises(NameError):
        gradient(2.0)


def test_what_it_costs_to_look() -> None:
    """Classes together cost little more than one."""
    classes: list[type] = [Model, Base, Square, Point, Frozen]
    facts = [class_fact(cls, f"{name}.none", None) for cls in classes for name in ("a", "b", "c", "d")]
    (glance,) = together(facts)
    for _ in range(3):
        assert glance.holds()
    assert executed(glance.holds) < 200
    Base.d = 1.0  # type: ignore[attr-defined]
    assert not glance.holds()
    del Base.d  # type: ignore[attr-defined]
    assert glance.holds()


class Scale:
    def __init__(self) -> None:
        self.by = 2.0

    def times(self, x: Any) -> Any:
        return self.by * x


SCALE = Scale()


def scaled(x: Any) -> Any:
    return SCALE.times(x) + math.sin(x)


@pytest.mark.parametrize("home", ["class", "object", "global"])
def test_a_method_of_an_object_by_its_name(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is another one if the class or the object is given another, or the name another object."""
    gradient = adbc.grad(scaled)
    for _ in range(40):
        assert gradient(0.5) == 2.0 + math.cos(0.5)
    if home == "class":
        monkeypatch.setattr(Scale, "times", lambda self, x: 3.0 * x)
    elif home == "object":
        monkeypatch.setattr(SCALE, "times", lambda x: 3.0 * x, raising=False)
    else:
        other = Scale()
        other.by = 3.0
        monkeypatch.setitem(globals(), "SCALE", other)
    for _ in range(3):
        assert gradient(0.5) == 3.0 + math.cos(0.5)


class Parent:
    def area(self) -> float:
        return 1.0


class Child(Parent):
    pass


class Described:
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return Described.found

    found: Any = None


def test_answers_that_descriptors_give_are_asked_for() -> None:
    """What a class inherits follows from what stands there only where no descriptor has a say."""
    fact = QuestionFact(Child, "area", Parent, True)
    assert fact.holds()
    assert fact.rests_on(Shot())
    assert QuestionFact(Child, "volume", Parent, True).rests_on(Shot())
    for name in ("__name__", "__doc__"):
        assert not QuestionFact(Child, name, Parent, True).rests_on(Shot())
    has_descriptor = type("HasDescriptor", (Parent,), {"area": Described()})
    fact = QuestionFact(has_descriptor, "area", Parent, False)
    assert fact.holds()
    assert not fact.rests_on(Shot())
    Described.found = Parent.area
    assert not fact.holds()
    Described.found = None
    assert not QuestionFact(Meta("WithMeta", (Parent,), {}), "area", Parent, True).rests_on(Shot())


def test_classes_of_which_there_are_no_instances() -> None:
    """What the bases of a class are differentiated as is asked only where somebody asks."""

    def f(x: np.ndarray) -> Any:
        return sum(v * v for v in x if isinstance(v, np.inexact) and not isinstance(v, np.complexfloating))

    gradient = adbc.grad(f)
    for _ in range(5):
        np.testing.assert_allclose(gradient(np.array([1.0, 2.0])), [2.0, 4.0])
