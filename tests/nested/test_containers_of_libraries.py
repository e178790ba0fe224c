"""Methods in Python of containers from libraries, through two derivatives: what they put in has a shadow."""

from __future__ import annotations

from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, deque
from collections.abc import Callable, MutableMapping, MutableSequence
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


# -- functions of libraries that nothing with a derivative reaches, run as they are --------------------------


def _by_name(owner: Any, name: str, *args: Any, **named: Any) -> Any:
    """Call the function of this name: which one that is, no code says before it runs."""
    return getattr(owner, name)(*args, **named)


def new_keys(x: float) -> Any:
    d: Any = {"a": 2}
    _by_name(MutableMapping, "update", d, b=3)
    d["c"] = x
    return d["a"] * x * x + d["b"] * d["c"] ** 3


def a_default(x: float) -> Any:
    d: Any = {"a": 2}
    b = _by_name(MutableMapping, "setdefault", d, "b", 3)
    d["c"] = x * x
    return sum(v * x * i for i, v in enumerate(d.values())) * b


def new_elements(x: float) -> Any:
    values: Any = [1, 2]
    _by_name(MutableSequence, "extend", values, (3, 4))
    values.append(x)
    values[2] = x * x
    return sum(v * x * i for i, v in enumerate(values))


def taken_from_the_front(x: float) -> Any:
    values: Any = [1, 2, 3]
    first = _by_name(MutableSequence, "pop", values, 0)
    values.append(x)
    return first * values[0] * values[2] ** 3


def at_both_ends(x: float) -> Any:
    values: Any = deque([1])
    _by_name(MutableSequence, "extend", values, [2, 3])
    values.appendleft(x)
    return sum(v * x * i * i for i, v in enumerate(values, 1))


def further_inside(x: float) -> Any:
    d: Any = {"a": ({"b": 2}, 1)}
    _by_name(MutableMapping, "update", d["a"][0], c=[3])
    d["a"][0]["c"].append(x)
    d["a"][0]["e"] = x
    return sum(d["a"][0]["c"]) ** 2 * d["a"][0]["e"] * d["a"][0]["b"]


AS_THEY_ARE = [new_keys, a_default, new_elements, taken_from_the_front, at_both_ends, further_inside]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", AS_THEY_ARE)
def test_what_is_run_as_it_is_changes_constants(f: Callable[[float], Any], way: Callable[..., Any]) -> None:
    gradient = adbc.grad(f)
    expected = (gradient(X + H) - gradient(X - H)) / (2 * H)
    for _ in range(2):
        assert way(f) == pytest.approx(expected, rel=1e-6)


def test_three_levels_follow_what_is_run_as_it_is() -> None:
    third = adbc.jvp(lambda x: forward_over_forward_at(taken_from_the_front, x), (X,), (1.0,))[1]
    assert third == pytest.approx(1 * 2 * 6.0, rel=1e-9)


def forward_over_forward_at(f: Callable[[float], Any], x: float) -> Any:
    return adbc.jvp(lambda y: adbc.jvp(f, (y,), (1.0,))[1], (x,), (1.0,))[1]


def raises_after_a_change(x: float) -> Any:
    d: Any = {"b": 5}
    try:
        _by_name(MutableMapping, "update", d, [("c", 3), 7])
    except TypeError:
        d["a"] = x
    return d["a"] ** 3 * d["b"] * d.get("c", 2)


@pytest.mark.parametrize("way", [reverse_over_forward, forward_over_forward])
def test_a_change_before_an_exception_is_refused(way: Callable[..., Any]) -> None:
    with pytest.raises(adbc.errors.UnsupportedError, match=r"update.* changes its arguments and raises"):
        way(raises_after_a_change)


@pytest.mark.parametrize("way", [reverse_over_reverse, forward_over_reverse])
def test_a_change_before_an_exception_is_followed(way: Callable[..., Any]) -> None:
    assert way(raises_after_a_change) == pytest.approx(5 * 3 * 6 * X, rel=1e-9)
