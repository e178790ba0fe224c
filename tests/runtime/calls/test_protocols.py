"""Special methods, descriptors, hooks and metaclasses as the interpreter runs them, in both modes."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check


class Doubled:
    """A data descriptor."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else getattr(obj, self.name) * 2.0

    def __set__(self, obj: Any, value: Any) -> None:
        setattr(obj, self.name, value * 3.0)

    def __delete__(self, obj: Any) -> None:
        delattr(obj, self.name)


class Five:
    """A descriptor that an attribute of the instance hides."""

    def __get__(self, obj: Any, owner: Any) -> Any:
        return 5.0


class Meta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made.is_made = True
        return made

    def __iter__(cls) -> Any:
        return iter([1.0, 2.0])

    @property
    def of_class(cls) -> float:
        return 3.0


class Base(metaclass=Meta):
    made: ClassVar[list[str]] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Base.made.append(cls.__name__)


class Everything(Base):
    d: Any = Doubled()
    five: Any = Five()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made.tag = "t"  # type: ignore[attr-defined]  # made here
        return made

    def __init__(self, x: Any, y: Any = 1.0) -> None:
        self.d = x
        self.y = y

    def __getattr__(self, name: str) -> Any:
        if name.startswith("z"):
            return self.y * len(name)
        raise AttributeError(name)

    def __call__(self, u: Any, *, k: Any = 1.0) -> Any:
        return self.y * u * k

    def __len__(self) -> int:
        return 3

    def __bool__(self) -> bool:
        return bool(self.y > 0)

    def __index__(self) -> int:
        return 2

    def __contains__(self, u: Any) -> bool:
        return bool(u == self.y)

    def __iter__(self) -> Any:
        yield self.y
        yield self.d

    def __getitem__(self, i: Any) -> Any:
        return self.y * (i.stop or 1) if isinstance(i, slice) else self.y * i

    def __enter__(self) -> Any:
        self.y = self.y * 2.0
        return self

    def __exit__(self, *error: Any) -> bool:
        self.y = self.y + 1.0
        return True

    def __format__(self, spec: str) -> str:
        return "A" + spec

    def __float__(self) -> Any:
        return self.y * 4.0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.y, self.y * 2.0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Everything) and bool(self.y == other.y)

    def __hash__(self) -> int:
        return 1

    def __lt__(self, other: Any) -> bool:
        return bool(self.y < other.y)

    def __add__(self, other: Any) -> Any:
        return Everything(self.d + (other.d if isinstance(other, Everything) else other), self.y)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Everything(-self.d, self.y)

    def __reversed__(self) -> Any:
        return iter([self.d, self.y])

    def __round__(self, n: Any = None) -> Any:
        return self.y

    def __matmul__(self, other: Any) -> Any:
        return self.y * other.y


class Below(Everything):
    def __radd__(self, other: Any) -> Any:
        return self.y * 100.0

    def __iadd__(self, other: Any) -> Any:
        self.y = self.y + other
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value * 1.5 if name == "q" else value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__("y") * 9.0 if name == "w" else super().__getattribute__(name)


def everything(x: Any, y: Any) -> Any:
    a = Everything(x, y)
    fields = a.d, a.five, a.zz, a.zzz, a.is_made, a.tag, Everything.of_class * x
    calls = a(x), a(x, k=y), a[2], a[1:4], float(a), len(a) * x, [10.0, 20.0, 30.0][a] * x
    walks = [*a], list(reversed(a)), y in a, bool(a), f"{a:q}", round(a), [u * x for u in Everything]
    a.five = x
    with a as b:
        inside = b.y * x
        raise ValueError
    sums = a @ a, (-a).d, (a + 1.0).d, (2.0 + a).d, sum([a, a], 0.0).d, a == a, a < Everything(x, 9.0)
    whole, last = np.asarray(a) * x, a.d
    del a.d
    return fields, calls, walks, a.five, inside, sums, whole, last, hasattr(a, "_d"), a.y


def below(x: Any, y: Any) -> Any:
    a, b = Everything(x, y), Below(x, y * 2.0)
    reflected = a + b, 1.0 + b
    b.q = x
    q = b.q
    b += x
    del b.q
    object.__setattr__(b, "r", x)
    object.__delattr__(b, "tag")
    return reflected, q, b.y, b.w, b.r, hasattr(b, "q"), hasattr(b, "tag")


def a_class_made_inside(x: Any) -> Any:
    class Inner(Everything):
        factor = 2.0

        def total(self) -> Any:
            return self.y * self.factor

    return Inner(x, x).total(), Base.made[-1]


class Wrapped:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc(*[u.v if isinstance(u, Wrapped) else u for u in inputs]) * 2.0

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(args[0].v) * 3.0


class Declining:
    __array_ufunc__ = None

    def __init__(self, v: Any) -> None:
        self.v = v

    def __rmul__(self, other: Any) -> Any:
        return self.v * other * 7.0


class First:
    __array_priority__ = 1000.0

    def __init__(self, v: Any) -> None:
        self.v = v

    def __radd__(self, other: Any) -> Any:
        return self.v + other * 5.0


def with_arrays(v: Any, x: Any) -> Any:
    a = Wrapped(v)
    return np.multiply(a, x), np.sin(a), x * np.sum(a), v * Declining(x), v[0] * Declining(x), v + First(x)


class Walk:
    def __init__(self, values: Any) -> None:
        self.values = values
        self.at = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.values):
            raise StopIteration
        self.at += 1
        return self.values[self.at - 1]


def walks(a: Any, x: Any) -> Any:
    w = Walk(a)
    first = next(w) * x
    rest = [u * x for u in w], next(w, x)
    whole = sum(Walk(a)), max(Walk(a)), list(zip(Walk(a), a, strict=True)), sorted(Walk(a)), tuple(Walk(a))
    return first, rest, whole, dict(enumerate(Walk(a)))


class Pair(NamedTuple):
    a: Any
    b: Any = 2.0

    def product(self) -> Any:
        return self.a * self.b


class Cached:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.count = 0

    @functools.cached_property
    def square(self) -> Any:
        self.count += 1
        return self.x * self.x

    @property
    def scaled(self) -> Any:
        return self.x * 3.0

    @scaled.setter
    def scaled(self, value: Any) -> None:
        self.x = value * value

    @classmethod
    def twice(cls, x: Any) -> Any:
        return cls(x * 2.0)

    @staticmethod
    def squared(x: Any) -> Any:
        return x * x


def properties(x: Any) -> Any:
    k, n = Cached(x), Pair(x)
    before = k.square * k.square
    k.scaled = x
    compared = n == Pair(x), n < Pair(x, 3.0), n != (x, 2.0)
    return before, k.scaled, k.count, Cached.twice(x).x, k.squared(x), k.square, n.product(), compared


CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "everything": (everything, (0.8, 1.3)),
    "below": (below, (0.8, 1.3)),
    "class made inside": (a_class_made_inside, (0.8,)),
    "arrays": (with_arrays, (np.array([0.5, 0.7]), 0.8)),
    "walks": (walks, ([1.0, 2.0, 3.0], 0.8)),
    "properties": (properties, (0.8,)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_protocol_is_followed_in_both_modes(name: str) -> None:
    f, args = CASES[name]
    check(f, *args)


def halves(x: float) -> Iterator[float]:
    yield x
    yield x / 2.0


def by_class(x: float) -> float:
    made = halves(x)
    out = x * isinstance(made, types.GeneratorType) + 2.0 * x * (type(made) is types.GeneratorType)
    out += 4.0 * x * isinstance(made, (list, Iterator)) + 8.0 * x * (made.__class__ is types.GeneratorType)
    return out + 16.0 * x * inspect.isgenerator(made) + sum(made) * len(made.__qualname__)


def by_state(x: float) -> float:
    return x * (inspect.getgeneratorstate(halves(x)) == inspect.GEN_CREATED)  # type: ignore[arg-type]


def kept_busy(x: float) -> Iterator[float]:
    while True:
        x = x * (yield x)


def by_state_later(x: float) -> float:
    made = kept_busy(x)
    out = next(made) + made.send(x)
    if inspect.getgeneratorstate(made) == inspect.GEN_SUSPENDED:  # type: ignore[arg-type]
        out *= x
    made.close()
    ended = inspect.getgeneratorstate(made) == inspect.GEN_CLOSED  # type: ignore[arg-type]
    return out if ended and not made.gi_running else 0.0


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
def test_a_generator_says_whether_it_is_suspended_or_closed(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.value_and_grad(by_state_later)(2.0) == (12.0, 16.0)
        assert adbc.jvp(by_state_later, (2.0,), (1.0,)) == (12.0, 16.0)


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
def test_a_generator_is_of_the_class_of_generators(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.value_and_grad(by_class)(2.0) == (by_class(2.0), 40.0)
        assert adbc.jvp(by_class, (2.0,), (1.0,)) == (by_class(2.0), 40.0)
        with pytest.raises(adbc.errors.UnsupportedError, match="the generator halves is asked for"):
            adbc.grad(by_state)(2.0)
        with pytest.raises(adbc.errors.UnsupportedError, match="the generator halves is asked for"):
            adbc.jvp(by_state, (2.0,), (1.0,))


def in_units_of_the_machine(x: float) -> float:
    return x * sys.float_info.epsilon + x * os.stat(os.curdir).st_mtime * 0.0


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_records_of_the_system_hold_constants(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(in_units_of_the_machine)(2.0) == sys.float_info.epsilon
        assert adbc.jvp(in_units_of_the_machine, (2.0,), (1.0,))[1] == sys.float_info.epsilon


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
def test_attributes_of_functions_that_are_read_from_methods(guess: str) -> None:
    def read(x: Any, u: Any) -> Any:
        class Local:
            def method(self) -> Any:
                return x

        Local.method.seen, Local.method.weight = [x, u[0]], x * x  # type: ignore[attr-defined]
        method: Any = Local().method
        method.seen.append(method.weight * u[1])
        method.__func__.seen[1] *= method()
        return method.seen[1] * method.__func__.seen[2] * Local().method.seen[0]  # type: ignore[attr-defined]

    with adbc.use(adbc.Config(speculation=guess)):
        check(read, 1.5, [1.0, 2.0])
