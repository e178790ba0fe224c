"""What stands in classes and is read through instances: static and class methods, names, classes that are
called, attributes that are named by texts."""

from __future__ import annotations

import abc
import enum
import functools
import math
import random
import string
import types
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import adbc
from adbc.errors import UnsupportedError
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative


class Option(abc.ABC):
    registry: ClassVar[dict[str, type[Option]]] = {}

    def __init_subclass__(cls) -> None:
        Option.registry[cls.__name__] = cls

    def __init__(self, spot: float, rate: float) -> None:
        self.spot, self.rate = spot, rate

    @staticmethod
    def squash(x: float, by: float = 1.0) -> float:
        return math.tanh(x * by)

    @classmethod
    def at(cls, spot: float, **named: float) -> Any:
        return cls(spot, **named)

    @abc.abstractmethod
    def price(self) -> float: ...

    def moved(self, by: float) -> Any:
        return type(self)(self.spot + by, self.rate)

    def again(self) -> Any:
        return self.__class__.at(self.spot, rate=self.rate * 1.1)


class Call(Option):
    def __init__(self, spot: float, rate: float = 0.3) -> None:
        super().__init__(spot, rate=rate)

    def price(self) -> float:
        return self.squash(self.spot) * self.rate + self.squash(self.rate, by=self.spot)


class Put(Call):
    unit = 2.0

    def price(self) -> float:
        return super().price() * self.unit - self.at(self.rate).spot


class Slotted:
    __slots__ = ("w", "x")

    def __init__(self, x: float) -> None:
        self.x = x

    @staticmethod
    def half(x: float) -> float:
        return x / 2.0

    @classmethod
    def twice(cls, x: float) -> Slotted:
        return cls(2.0 * x)

    def total(self) -> float:
        return self.half(self.x) * self.twice(self.x).x


def through_instances(x: float) -> float:
    option = Put(x, rate=x * x)
    return option.price() * option.moved(0.5).price() + option.again().price() + Slotted(x).total()


def through_a_registry(x: float) -> float:
    total = 0.0
    for name in ("Call", "Put", "Call"):
        total += Option.registry[name](x, 0.7).price() * x
    for kind in (Call, Put):
        total *= kind(x).price()
    return total


class Visitor:
    def visit_num(self, node: Any) -> float:
        return float(node.value) if isinstance(node.value, int) else node.value

    def visit_sum(self, node: Any) -> Any:
        return node.left.accept(self) + node.right.accept(self)

    def visit_product(self, node: Any) -> Any:
        return node.left.accept(self) * node.right.accept(self)


class Num:
    def __init__(self, value: Any) -> None:
        self.value = value

    def accept(self, visitor: Any) -> Any:
        return getattr(visitor, f"visit_{type(self).__name__.lower()}")(self)


class Sum(Num):
    def __init__(self, left: Num, right: Num) -> None:
        self.left, self.right = left, right

    def accept(self, visitor: Any) -> Any:
        return getattr(visitor, "visit_" + self.__class__.__name__.lower())(self)


class Product(Sum):
    pass


def visited(x: float) -> Any:
    tree = Product(Sum(Num(x), Num(2)), Sum(Product(Num(x), Num(x)), Num(0.5)))
    return tree.accept(Visitor())


class Bag:
    label = "bag"
    scale = 3.0

    def __init__(self, x: float, **more: float) -> None:
        self.x = x
        for name, value in more.items():
            setattr(self, name, value)

    @property
    def double(self) -> float:
        return self.x * 2.0

    def cube(self) -> float:
        return self.x**3


def named(x: float) -> float:
    bag, total = Bag(x, y=x * x), 0.0
    for name in ("x", "double", "scale"):
        total += getattr(bag, name) * x
    for name in ("cube", "nothing"):
        if hasattr(bag, name):
            total *= getattr(bag, name)()
    setattr(bag, "x", total * x)  # noqa: B010
    return getattr(bag, "x") * getattr(bag, "y", 1.0) + getattr(bag, "z", x) * bag.cube()  # noqa: B009


def with_defaults(x: float) -> float:
    total = 0.0
    for k in range(6):
        bag = Bag(x, y=x * k) if k % 2 else Bag(x * k)
        if k == 4:
            bag.scale = x
        total += getattr(bag, "y", x * x) * getattr(bag, "scale", 1.0) + getattr(bag, "missing", k)
        total += getattr(bag, "double", 0.0) * getattr(bag, "cube", None)()  # type: ignore[misc]
        if hasattr(bag, "y"):
            total -= bag.y * x
        if isinstance(bag, (Num, Bag)) and not isinstance(bag, Num | Sum):
            total *= 0.9
    return total


def hidden_now_and_then(x: float) -> float:
    """An instance has a function of its own where its class has a static method, and one with a cell."""
    total = 0.0
    for k in range(8):
        option = Call(x, 0.1 * k)
        if k in (3, 6):
            own = (lambda y, by=1.0: y * y * by) if k == 3 else (lambda y, by=1.0: y * x * by)
            option.squash = own  # type: ignore[method-assign]
        if k == 5:
            option.at = lambda spot: Call(spot * x)  # type: ignore[method-assign]
        total += option.price() * option.at(x).spot
    return total


class Positive:
    """A descriptor that keeps what it is given in the instance, and counts in itself."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.kept = name, "_" + name

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else getattr(obj, self.kept)

    def __set__(self, obj: Any, value: Any) -> None:
        if value <= 0:
            raise ValueError(self.name)
        setattr(obj, self.kept, value)


class Summing(Positive):
    """A descriptor that holds a number of its own, which depends on all instances."""

    def __init__(self) -> None:
        self.total: Any = 0.0

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return super().__get__(obj, owner) * self.total

    def __set__(self, obj: Any, value: Any) -> None:
        self.total = self.total + value
        super().__set__(obj, value)


class Beam:
    length = Positive()
    width = Positive()
    load = Summing()

    def __init__(self, length: float, width: float, load: float = 1.0) -> None:
        self.length = length
        self.width = width
        self.load = load

    def stiffness(self) -> Any:
        return self.width**3 / self.length + self.load


def by_descriptors(x: float) -> Any:
    total: Any = 0.0
    for k in range(1, 4):
        beam = Beam(x * k, x)
        beam.width = beam.width * 2.0
        total += beam.stiffness() * beam.length
    Beam.__dict__["load"].total = 0.0
    return total


def through_a_descriptor_with_state(x: float) -> Any:
    """What one instance is given is read through another."""
    first, second = Beam(x, x, x), Beam(1.0, 2.0, x * x)
    result = first.load * second.load + Beam.__dict__["load"].total
    Beam.__dict__["load"].total = 0.0
    return result


def refused_by_a_descriptor(x: float) -> float:
    total = 0.0
    for k in range(5):
        try:
            beam = Beam(x, x - 0.31 * k)
        except ValueError as error:
            total += len(error.args[0]) * x
        else:
            total += beam.length * beam.width
    Beam.__dict__["load"].total = 0.0
    return total


class Steps:
    def __init__(self, x: float) -> None:
        self.a = self.b = self.c = self.d = self.e = self.f = x
        self.steps: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def do_scale(self, y: float, k: Any) -> Any:
        return y * k * self.a

    def do_shift(self, y: float, k: Any) -> Any:
        return y + k + self.b

    def do_bend(self, y: float, k: Any) -> Any:
        return math.tanh(y)

    @staticmethod
    def do_square(y: float, k: Any) -> Any:
        return y * y * k

    @classmethod
    def do_count(cls, y: float, k: Any) -> Any:
        return y * len(cls.__name__)


class Walk(Steps):
    __getattr__ = object.__getattribute__

    def do_scale(self, y: float, k: Any) -> Any:
        return y * k


def by_names_in_data(x: float, names: str = "abcabc", kind: Any = Bag) -> Any:
    """Attributes that are named by what stands in lists and in dicts."""
    total = 0.0
    bag = kind(x) if kind is not Bag else Bag(x, a=x, b=x * x, c=2.0, d=0.5, e=x, f=1.0)
    for name in list(names):
        total += getattr(bag, name) * x
        setattr(bag, name, total)
    return total


def by_names_of_methods(x: float) -> Any:
    steps = Walk(x)
    steps.steps = [("scale", 2.0), ("shift", x), ("bend", None), ("square", x), ("scale", x), ("count", 0)]
    y: Any = x
    for name, k in steps.steps:
        y = getattr(steps, f"do_{name}")(y, k)
    return y


PROGRAMS: list[Callable[[float], Any]] = [
    through_instances, through_a_registry, visited, named, with_defaults, hidden_now_and_then, by_descriptors,
    through_a_descriptor_with_state, refused_by_a_descriptor, by_names_in_data, by_names_of_methods,
    functools.partial(by_names_in_data, names="abcdefabcdef"),
    functools.partial(by_names_in_data, names="abab", kind=Steps),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], Any], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8, 0.75):
        check_gradient(program, at)


@pytest.mark.parametrize("program", [through_instances, visited, named, with_defaults])
def test_second_derivatives(program: Callable[[float], Any]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], Any]) -> None:
    check_once_warm(program)


def test_other_members_from_call_to_call(speculation: str) -> None:
    """What is read through an instance becomes a static or class method, a function, a property, and an
    object that is called."""

    class Scaled:
        def __call__(self, x: float) -> float:
            return x * 5.0

    class Meter:
        read: Any = staticmethod(lambda x: x * 3.0)

        def __init__(self, rate: float) -> None:
            self.rate = rate

    def reading(x: float) -> Any:
        return sum(Meter(x * k).read(x) for k in (1.0, 2.0, 3.0))

    def other(x: float) -> float:
        return x * x * x

    for member in (
        staticmethod(lambda x: x * 3.0), staticmethod(other), classmethod(lambda cls, x: cls(x).rate * x),
        lambda self, x: self.rate * x, property(lambda self: lambda x: self.rate * x), Scaled(),
        staticmethod(math.sin), staticmethod(lambda x: x * 3.0),
    ):  # fmt: skip
        Meter.read = member
        for _ in range(3):
            check_gradient(reading, 1.3)


def test_the_code_of_a_member_changes(speculation: str) -> None:
    class Meter:
        def __init__(self, rate: float) -> None:
            self.rate = rate

        @staticmethod
        def read(x: float) -> float:
            return x * 3.0

        @classmethod
        def made(cls, x: float) -> Any:
            return cls(x)

    def squared(x: float) -> float:
        return x * x

    def doubled(cls: Any, x: float) -> Any:
        return cls(x * 2.0)

    def reading(x: float) -> Any:
        meter = Meter(x)
        return sum(meter.read(x * k) * meter.made(x).rate for k in (1.0, 2.0))

    for _ in range(3):
        check_gradient(reading, 1.3)
    Meter.read.__code__ = squared.__code__
    for _ in range(3):
        check_gradient(reading, 1.3)
    Meter.made.__func__.__code__ = doubled.__code__  # type: ignore[attr-defined]
    for _ in range(3):
        check_gradient(reading, 1.3)


def test_attributes_that_come_and_go(speculation: str) -> None:
    """What is asked for by name gets a default in the class, a property that has nothing, and hooks."""

    class Meter:
        def __init__(self, rate: float) -> None:
            self.rate = rate

    def reading(x: float) -> Any:
        meter = Meter(x)
        found = getattr(meter, "gain", x * x) * (x if hasattr(meter, "gain") else 1.0)
        return found * meter.rate * len(type(meter).__name__)

    def refusing(self: Any) -> Any:
        raise AttributeError("gain")

    def check() -> None:
        for _ in range(3):
            check_gradient(reading, 1.3)

    check()
    for gain in (2.0, None, property(lambda self: self.rate * 2.0), property(refusing)):
        if gain is None:
            del Meter.gain  # type: ignore[attr-defined]
        else:
            Meter.gain = gain  # type: ignore[attr-defined]
        check()
    del Meter.gain  # type: ignore[attr-defined]
    Meter.__getattr__ = lambda self, name: self.rate * 4.0  # type: ignore[attr-defined]
    check()
    del Meter.__getattr__  # type: ignore[attr-defined]
    Meter.__name__ = "Longer name"
    check()


def _changed(x: float, name: str) -> Any:
    """A member of the class, or its name, becomes another while its instances are used."""

    total, option = 0.0, Put(x, 0.5)
    try:
        for k in range(6):
            if k == 3:
                setattr(Call, name, "Changed" if name == "__name__" else staticmethod(_squared))
            total += option.price() * len(type(Call(x)).__name__) * Call(x).squash(x)
            total += getattr(option, "added", lambda y: 3.0 * y)(x)
    finally:
        Call.__name__ = "Call"
        if name in vars(Call):
            delattr(Call, name)
    return total


def _squared(y: float, by: float = 1.0) -> float:
    return y * y + by


@pytest.mark.parametrize("name", ["squash", "__name__", "added"])
def test_members_that_change_within_a_call(name: str, speculation: str) -> None:
    """Code that was derived for what the class was is found out."""
    program = functools.partial(_changed, name=name)
    for at in (0.7, 0.8, 0.9):
        try:
            check_gradient(program, at)
        except UnsupportedError as error:
            assert "is set or deleted" in str(error)


def test_instances_of_other_classes_at_one_place(speculation: str) -> None:
    class Left:
        def __init__(self, x: float) -> None:
            self.x = x

        @staticmethod
        def of(x: float) -> float:
            return x * x

    class Right(Left):
        @classmethod
        def of(cls, x: float) -> float:  # type: ignore[override]
            return cls(x).x * 3.0

    class Neither(Left):
        of = Left  # type: ignore[assignment]

        def __mul__(self, other: float) -> float:
            return self.x * other

    def mixed(x: float) -> Any:
        total = 0.0
        for kind in (Left, Right, Left, Right):
            it = kind(x)
            total += it.of(math.sin(x)) * x
        for it in (Neither(x), Right(x)):
            total += it.of(x).x if isinstance(it, Neither) else it.of(x)  # type: ignore[attr-defined]
        return total

    for at in (0.7, 0.9, 1.1):
        check_gradient(mixed, at)
    check_once_warm(mixed)


def test_what_is_missing_is_told_as_ever(speculation: str) -> None:
    def missing(x: float) -> Any:
        return getattr(Bag(x), "nothing") * x  # noqa: B009

    with pytest.raises(AttributeError, match="'Bag' object has no attribute 'nothing'"):
        adbc.grad(missing)(1.0)


def test_names_of_modules_and_functions(speculation: str) -> None:
    space = types.SimpleNamespace(x=2.0)

    def named_elsewhere(x: float) -> Any:
        space.x = x
        setattr(space, "y", x * 2.0)  # noqa: B010
        found = getattr(math, "sin")(x) * getattr(space, "x") * getattr(space, "y", 0.0)  # noqa: B009
        del space.y
        return found * getattr(space, "y", x)

    for _ in range(3):
        check_gradient(named_elsewhere, 0.8)


def test_other_descriptors_from_call_to_call(speculation: str) -> None:
    class Doubled(Positive):
        def __get__(self, obj: Any, owner: Any = None) -> Any:
            return super().__get__(obj, owner) * 2.0

    class Bar:
        size: Any = Positive()

        def __init__(self, size: float) -> None:
            self.size = size

    def sized(x: float) -> Any:
        return sum(Bar(x * k).size * Bar(x).size for k in (1.0, 2.0))

    def check() -> None:
        for _ in range(3):
            check_gradient(sized, 1.3)

    check()
    tripled = property(lambda self: 3.0 * self._size, lambda self, value: setattr(self, "_size", value))
    for found in (Doubled(), tripled, Positive()):
        if isinstance(found, Positive):
            found.__set_name__(Bar, "size")
        Bar.size = found
        check()
    before = Positive.__get__
    Positive.__get__ = lambda self, obj, owner=None: before(self, obj) ** 2  # type: ignore[method-assign]
    try:
        check()
        vars(Bar)["size"].kept = "_size"
        check()
    finally:
        Positive.__get__ = before  # type: ignore[method-assign]
    del Bar.size
    check()


def test_settings_of_libraries(speculation: str) -> None:
    def set_by(x: float) -> Any:
        total: Any = x
        for _ in range(3):
            total = total * random.Random.VERSION + x**random.Random.VERSION
        return total * len(string.Template.delimiter)

    before = random.Random.VERSION
    try:
        for version in (before, 2, 2.5, 1, True, float("nan"), 3):
            random.Random.VERSION = version  # type: ignore[assignment]
            if version == version:
                for _ in range(3):
                    check_gradient(set_by, 0.8)
            else:
                assert math.isnan(adbc.grad(set_by)(0.8))
    finally:
        random.Random.VERSION = before


class Way(enum.Enum):
    UP = 1.0
    DOWN = -1.0


def _along(x: float, way: Way = Way.UP, by: Any = math.sin, kind: type[Option] = Call) -> Any:
    return by(x) * way.value + kind(x).price() * (1.0 if way is Way.UP else x)


def test_settings_as_defaults(speculation: str) -> None:
    def along(x: float) -> Any:
        return _along(x) * _along(x, Way.DOWN) + _along(x, by=math.cos) * _along(x, kind=Put)

    for at in (0.7, 0.9, 0.8):
        check_gradient(along, at)
    before = _along.__defaults__
    try:
        _along.__defaults__ = Way.DOWN, math.exp, Put
        for _ in range(3):
            check_gradient(along, 0.8)
    finally:
        _along.__defaults__ = before
