"""Values of classes derived from str, float, tuple and their like, and attributes that they have beside."""

from __future__ import annotations

import collections
import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError, MissingRuleError, UnsupportedError


class Channel(str):
    low: Any
    high: Any

    def __new__(cls, name: str, low: Any = 0.0, high: Any = 1.0) -> Any:
        made = super().__new__(cls, name)
        made.low, made.high = low, high
        return made


class Named(str):
    low: Any

    def __new__(cls, name: str, low: Any = 0.0) -> Any:
        made = super().__new__(cls, name)
        made.low = low
        return made


class Measured(float):
    sigma: Any

    def __new__(cls, value: Any, sigma: Any) -> Any:
        made = float.__new__(cls, value)
        made.sigma = sigma
        return made

    def __add__(self, other):
        return Measured(float(self) + float(other), math.hypot(self.sigma, other.sigma))


class Celsius(float):
    """Has a dictionary, and no attributes so far."""


class Phase(complex):
    pass


class Count(int):
    pass


class Bytes(bytes):
    pass


class Row(tuple):
    def __new__(cls, values: Any, names: Any) -> Any:
        made = super().__new__(cls, values)
        made.names = names
        return made


class Point(collections.namedtuple("Point", "a b")):
    def __init__(self, *coordinates: Any) -> None:
        self.weight = 1.0


CHANNELS = (Channel("r", 0.25), Channel("g", 0.5))
BY_CHANNEL = {c: c.low + 2.0 for c in CHANNELS}


def constants(x):
    return sum(x * c.low + x * x * c.high for c in CHANNELS)


def constant_keys(x):
    return sum(x * k.low * v for k, v in BY_CHANNEL.items())


def inherited_methods(x):
    c = Channel("b", x, x * x)
    return c.low * c.high * len(c.upper()) * ("b" in c) * (c == "b") * len(f"{c}-{c!r}") + hash(c) * 0 * x


def sums(x):
    total = Measured(x, x * 0.1) + Measured(2.0 * x, 0.3)
    return float(total) * total.sigma


def arithmetic(x):
    a = Measured(x, x * x)
    return a * 3.0 * a.sigma + math.sin(a) - 2.0 / a + abs(-a) ** 2 + (a if a > 1.0 else 0.0)


def no_attributes(x):
    return Celsius(x) * Celsius(x * 2) + (Phase(x, 2 * x) * Phase(1j)).imag * Celsius("2.0")


def in_lists(x):
    made = [Channel(n, x * i) for i, n in enumerate("abc", 1)]
    return sum(c.low for c in made) * x


def as_keys(x):
    made = {}
    for i, n in enumerate("abc", 1):
        made[Channel(n, x * i)] = i
    return sum(k.low * v for k, v in made.items())


def in_a_set(x):
    return sum(c.low for c in {Channel("a", x), Channel("b", 2 * x)})


def counts(x):
    n, b = Count(3), Bytes(b"abc")
    n.weight = x
    n.weight *= 2.0
    b.weight = x * n.weight
    return n * n.weight + len(b) * b.weight


def rows(x):
    row = Row((x, 2.0 * x), ("u", "v"))
    row.scale = x
    return row[0] * row[1] * row.scale * len(row.names)


def named(x):
    p = Point(x, 2.0)
    p.weight = x * x
    a, b = p
    return a * b * p.weight * p.a


def by_the_dictionary(x):
    c = Channel("a", 1.0)
    c.low = x
    c.__dict__["high"] = x * x
    return vars(c)["low"] * c.high + sum(c.__dict__.values())


def put_back(x):
    c = CHANNELS[0]
    before = c.low
    c.low = x
    result = c.low**3
    c.low = before
    return result


def changed(x):
    CHANNELS[1].low = x
    return CHANNELS[1].low ** 2 * CHANNELS[1].high


def deleted(x):
    c = Channel("a", x)
    low = c.low
    del c.low
    return low * low * (2.0 - hasattr(vars(c), "low"))


def memory(x):
    c = Channel("a")
    c.numbers, c.array = [1.0], np.zeros(2)
    c.numbers.append(x)
    c.array[0] = x
    return sum(c.numbers) ** 2 + (c.array * c.array).sum()


def loops(x):
    total = Measured(0.0, 0.0)
    for i in range(4):
        total = total + Measured(x * i, x)
    return total + Measured(0.0, x) if False else total * total.sigma


PROGRAMS = [
    constants, constant_keys, inherited_methods, sums, arithmetic, no_attributes, in_lists, as_keys, in_a_set,
    counts, rows, named, by_the_dictionary, put_back, changed, deleted, memory, loops,
]  # fmt: skip
MODES = [{}, {"speculation": "interpret"}, {"speculation": "never"}, {"warm_after": 0}]


@pytest.fixture(autouse=True)
def _as_before() -> Any:
    yield
    CHANNELS[1].low = 0.5


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("options", MODES, ids=str)
def test_values_with_attributes(f: Any, options: dict[str, Any]) -> None:
    step = 1e-5
    expected = (8 * (f(1.5 + step) - f(1.5 - step)) - f(1.5 + 2 * step) + f(1.5 - 2 * step)) / (12 * step)
    CHANNELS[1].low = 0.5
    with adbc.use(adbc.Config(**options)):
        for _ in range(2):
            assert adbc.grad(f)(1.5) == pytest.approx(expected, rel=1e-8)
            assert CHANNELS[1].low == 0.5, "what was set is not as before"
            assert adbc.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)
            CHANNELS[1].low = 0.5


@pytest.mark.parametrize("f", [arithmetic, in_lists, memory])
def test_by_the_tester(f: Any) -> None:
    adbc.testing.test_rule(f, 1.5)


# -- as arguments ----------------------------------------------------------------------------------


class Unit(float):
    unit = "m"


def test_arguments() -> None:
    """A value has the derivative of the builtin one where no attribute has any."""
    length, row = Unit(1.5), Row((1.0, 2.0), ("a", "b"))
    length.unit = "km"
    assert adbc.grad(lambda u: u * u if u.unit == "km" else u)(length) == 3.0
    assert adbc.grad(lambda r: r[0] * r[1] ** 2 * len(r.names))(row) == (8.0, 8.0)
    assert adbc.grad(lambda c, x: x * c.low, 1)(CHANNELS[0], 2.0) == 0.25
    moved = adbc.tangents.add_to_primal(length, 0.5)
    assert (moved, moved.unit, type(moved)) == (2.0, "km", Unit)
    again = adbc.tangents.add_to_primal(row, (1.0, 0.0))
    assert (again, again.names, type(again)) == ((2.0, 2.0), ("a", "b"), Row)


@pytest.mark.parametrize("value", [Measured(1.5, 0.1), Row((1.0,), 2.0), [CHANNELS[0], 1.0], Channel("a")])
def test_arguments_with_numbers_beside(value: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"with attributes besides.*(sigma|names|low, high)"):
        adbc.grad(lambda v: 1.0)(value)


# -- what is refused -------------------------------------------------------------------------------


def test_results() -> None:
    for f in (lambda x: Channel("a", x), lambda x: [1.0, (Channel("a", x),)], lambda x: Measured(x, x)):
        with pytest.raises(UnsupportedError, match="the result holds a"):
            adbc.vjp(f, 1.5)
        with pytest.raises(UnsupportedError, match="the result holds a"):
            adbc.jvp(f, (1.5,), (1.0,))
    out, pullback = adbc.vjp(lambda x: Measured(x * x, 0.1), 1.5)
    assert type(out) is Measured
    assert pullback(1.0) == (3.0,)


def test_code_in_c() -> None:
    """C code without a rule may look at attributes; the methods of the builtin class do not."""

    def counted(x):
        return len(json.dumps({Channel("a", x): 1}, default=str)) * x

    def looked_at(x):
        return len(copy._copy_dispatch) * x * len(collections.Counter([[Channel("a", x)][0]].copy()))

    def written(x):
        return x * len(pickle.dumps(Channel("a", x)))

    def copied(x):
        return copy.copy(Named("a", x)).low ** 2 * Named("a", x).__reduce_ex__(4)[2]["low"]

    assert adbc.grad(counted)(1.5) == 8.0
    assert adbc.grad(looked_at)(1.5) == len(copy._copy_dispatch)
    assert adbc.grad(copied)(1.5) == pytest.approx(3 * 1.5**2)
    for run in (lambda: adbc.grad(written)(1.5), lambda: adbc.jvp(written, (1.5,), (1.0,))):
        with pytest.raises(MissingRuleError, match="a Channel is a window on memory"):
            run()


class Slotted(float):
    __slots__ = ("sigma",)


def test_slots() -> None:
    def f(x):
        made = Slotted(x)
        made.sigma = x
        return made * made.sigma

    for run in (lambda: adbc.grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
        with pytest.raises((UnsupportedError, ConstWriteError)):
            run()
