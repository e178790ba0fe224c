"""Methods in Python of containers from libraries, through two derivatives: what they put in has a shadow."""

from __future__ import annotations

from collections import ChainMap, Counter, OrderedDict, UserDict, UserList
from collections.abc import Callable
from typing import Any

import pytest

import adbc


def by_keywords(x: float) -> Any:
    c: Any = Counter(a=2)
    c["b"] += x
    return c["a"] * x * x + c["b"] * x


def counted(x: float) -> Any:
    c = Counter("abba")
    c.update("ab")
    return c["a"] * x**3 + c["b"] * x * x


def added(x: float) -> Any:
    c: Any = Counter(a=3, b=1)
    c.update(a=x * x, z=x)
    c.subtract({"b": x * x * x})
    return c["a"] * x + c["b"] * x + c.get("zz", 1) * c["z"] * x


def combined(x: float) -> Any:
    c: Any = Counter(a=2, b=5) + Counter(a=x)
    d: Any = Counter(a=4, b=1) - Counter(b=3)
    most = [v for _, v in c.most_common(1)]
    return c["a"] ** 3 + d["a"] * x * x + most[0] * x * x


def ordered(x: float) -> Any:
    d: Any = OrderedDict(a=1)
    d.update(b=x * x)
    d.setdefault("c", x)
    d.move_to_end("a")
    return sum(v * x * i for i, v in enumerate(d.values()))


def of_users(x: float) -> Any:
    d: Any = UserDict(a=2)
    d.update({"b": 3})
    d["c"] = x * x
    d.setdefault("e", 4)
    return d["a"] * x * x + d["b"] * d["c"] * x + d["e"] * x * x


def list_of_users(x: float) -> Any:
    xs: Any = UserList([1, 2])
    xs.append(x)
    xs.extend([3, x * x])
    xs.insert(0, 5)
    return sum(v * x * i for i, v in enumerate(xs))


def chained(x: float) -> Any:
    m: Any = ChainMap({}, {"a": 2, "b": x})
    m.update(b=3)
    m["c"] = x
    return m["a"] * x * x + m["b"] * m["c"] * x + m.parents["b"] ** 3


class Table(dict[Any, Any]):
    def put(self, **named: Any) -> Table:
        for key, value in named.items():
            self[key] = value
        return self


def of_table(x: float) -> Any:
    t = Table().put(a=2).put(b=x)
    return t["a"] * x * x + t["b"] ** 3


PROGRAMS = [by_keywords, counted, added, combined, ordered, of_users, list_of_users, chained, of_table]
X, H = 1.3, 1e-5


def reverse_over_reverse(f: Callable[[float], Any]) -> Any:
    return adbc.grad(lambda x: adbc.grad(f)(x))(X)


def forward_over_reverse(f: Callable[[float], Any]) -> Any:
    return adbc.jvp(adbc.grad(f), (X,), (1.0,))[1]


def reverse_over_forward(f: Callable[[float], Any]) -> Any:
    return adbc.grad(lambda x: adbc.jvp(f, (x,), (1.0,))[1])(X)


def forward_over_forward(f: Callable[[float], Any]) -> Any:
    return adbc.jvp(lambda x: adbc.jvp(f, (x,), (1.0,))[1], (X,), (1.0,))[1]


WAYS = [reverse_over_reverse, forward_over_reverse, reverse_over_forward, forward_over_forward]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Callable[[float], Any], way: Callable[..., Any]) -> None:
    gradient = adbc.grad(f)
    expected = (gradient(X + H) - gradient(X - H)) / (2 * H)
    for _ in range(2):
        assert way(f) == pytest.approx(expected, rel=1e-6)
