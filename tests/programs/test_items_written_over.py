"""Items of dicts that are read and written again: what is known of them, and what may have changed it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

WAYS = ["learn", "always", "never", "dynamic", "interpret"]


def same_key(x: float, n: int) -> Any:
    d: dict[Any, Any] = {"a": x, "b": x * x, 1: x}
    for i in range(n):
        a, b = "a", "a" if i % 3 else "b"
        d[a] *= 1.01
        d[b] += 0.1 * x
        d[a] -= 0.2 * d[b]
        d[True] += x * 0.1
        d[1] *= 1.01
    return d["a"] * d["b"] * d[1]


class Bag:
    u: Any
    v: Any


def attributes_too(x: float, n: int) -> Any:
    o = Bag()
    o.u, o.v = x, 2 * x
    d = o.__dict__
    for i in range(n):
        o.u += 0.1
        d["u"] *= 1.1
        d["v"] = d["u"] + o.v * 0.5
        o.v = o.v * 0.9 + d["v"] * 0.01
        k = "u" if i % 2 else "v"
        d[k] += 0.1 * x
        o.u = o.u * 1.01
    return o.u * o.v


def changing(x: float, n: int) -> Any:
    """The item is now a number, now something else, and is gone for a while."""
    d: dict[str, Any] = {"t": x, "k": 0}
    for i in range(n):
        if i == n // 2:
            d["t"] = None
        if d["t"] is None:
            d["t"] = [x]
        if isinstance(d["t"], list):
            d["t"].append(x * i)
            d["t"] = sum(d["t"])
        d["t"] = d["t"] * 1.01 + x
        d["k"] += 1
        if i % 7 == 0:
            d["t"] = int(d["k"])
        if i % 5 == 0:
            del d["t"]
            d["t"] = x
    return d["t"] * d["k"]


def made_when_missing(x: float, n: int) -> Any:
    d: Any = defaultdict(lambda: x * 0.5)
    total = 0.0
    for i in range(n):
        k = (i * i) % 5
        d[k] += x * i
        d[k, k + 1] -= d[k]
        total += d[k] * d[k, k + 1]
        if i % 6 == 5:
            d.pop(k)
    return total


class Telling(defaultdict[Any, Any]):
    def __missing__(self, k: Any) -> Any:
        self[k] = 3.0
        self["count"] = self.get("count", 0.0) + 1.0
        return 3.0


def made_by_its_class(x: float, n: int) -> Any:
    d = Telling()
    total = 0.0
    for i in range(n):
        d["count"] = d.get("count", 0.0) * 1.5
        d[i % 4] *= x
        total += d["count"] * d[i % 4]
        d["count"] -= 0.25 * x
    return total


def changed_by_the_factory(x: float, n: int) -> Any:
    d: Any = defaultdict()

    def make() -> Any:
        d["made"] = d["made"] + x
        return x

    d["made"] = x
    d.default_factory = make
    total = 0.0
    for i in range(n):
        d["made"] *= 1.1
        total += d[i % 4] * d["made"]
        d["made"] -= 0.1
        d[i % 4] *= x
    return total


def raising(x: float, n: int) -> Any:
    d, total = {"a": x}, 0.0
    for i in range(n):
        try:
            d["a"] += x
            total += d["a"] * d["zz" if i % 4 == 0 else "a"]
            d["a"] -= 0.5 * x
        except KeyError:
            total += d["a"]
            d["a"] *= 0.9
    return total


def counted(x: float, n: int) -> Any:
    """What a counter gives for a key that it lacks is not there afterwards."""
    c: Any = Counter()
    total = 0.0
    for i in range(n):
        total += c["never"] + c[i % 4]
        c[i % 4] += x * i
        c["x"] = c["x"] + c[i % 4] * 0.1
        if i % 4 == 3:
            del c["x"]
    return total + sum(c.values()) + len(c)


def two_names(x: float, n: int) -> Any:
    d = {"p": x, "q": 2 * x}
    e, f = d, {"p": 1.0, "q": x}
    for i in range(n):
        g = d if i % 2 else f
        d["p"] += x
        e["p"] *= 1.01
        g["p"] -= 0.1 * x
        d["q"] = d["p"] + g["q"] * 0.3
        e["q"] += 0.5 * d["q"]
    return d["p"] + d["q"] * f["p"] + f["q"]


def of_several_classes(x: float, n: int) -> Any:
    """One variable has a dict, then a defaultdict, then a counter."""
    beliefs: Any = {"a": x, "b": 1.0 - x}
    for i in range(n):
        new: Any = defaultdict(float) if i % 3 else Counter()
        for k in ("a", "b"):
            new[k] += 0.9 * beliefs[k]
            new["b" if k == "a" else "a"] += 0.1 * beliefs[k] * x
        beliefs = new
    return beliefs["a"] * beliefs["b"] + len(beliefs)


PROGRAMS = [
    same_key, attributes_too, changing, made_when_missing, made_by_its_class, changed_by_the_factory, raising,
    counted, two_names, of_several_classes,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", WAYS)
def test_both_modes(function: Any, speculation: Any) -> None:
    slope = (function(0.7 + 1e-6, 9) - function(0.7 - 1e-6, 9)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation, warm_after=2)):
        gradient = adbc.value_and_grad(function)
        for _ in range(6):
            value, found = gradient(0.7, 9)
            assert value == pytest.approx(function(0.7, 9), rel=1e-14)
            assert found == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(lambda x: function(x, 9), (0.7,), (1.0,))[1] == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_rules(function: Any) -> None:
    check_rule(function, 0.7, 9)


def moved(stock: dict[str, float], rate: float) -> Any:
    for a, b in [("x", "y"), ("y", "z"), ("z", "z"), ("x", "z")]:
        amount = rate * stock[a] * stock[b]
        stock[a] -= amount
        stock[b] += amount
    return sum(v * v for v in stock.values())


@pytest.mark.usefixtures("at_once")
def test_numbers_over_numbers_are_written_inline() -> None:
    default_engine().clear()
    for _ in range(4):
        adbc.grad(moved, (0, 1))({"x": 1.0, "y": 2.0, "z": 0.5}, 0.3)
    (rule,) = [r for r in default_engine().rules.values() if r.code is moved.__code__ and r.is_built]
    assert "_store_forwards" not in str(rule.graphs[0])
    assert "_overwrite_item_" in str(rule.graphs[1])


def test_an_argument_is_as_it_was() -> None:
    stock = {"x": 1.0, "y": 2.0, "z": 0.5}
    check_rule(moved, stock, 0.3)
    for _ in range(4):
        adbc.grad(moved)(stock, 0.3)
        assert stock == {"x": 1.0, "y": 2.0, "z": 0.5} and [*stock] == ["x", "y", "z"]


def test_a_constant_is_not_written_into() -> None:
    def f(rate: float, stock: dict[str, float]) -> Any:
        stock["x"] += rate
        return stock["x"]

    for _ in range(3):
        with pytest.raises(ConstWriteError, match="constant dict"):
            adbc.grad(f)(0.3, adbc.Const({"x": 1.0}))
