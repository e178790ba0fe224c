"""Methods of builtin containers, typed and decided when they run: keys that are missing, that answer by
Python code, methods that are kept, and what ``super()`` finds."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check

WAYS = ["learn", "never", "dynamic", "always", "interpret"]


def reads(x: float) -> float:
    d = {"a": x, "b": 2.0 * x}
    total = 0.0
    for key in ("a", "q", "b", "a"):
        total += d.get(key, 3.0 * x) * x + d.get("b")  # type: ignore[operator]
        d[key] = total
    return total if d.get("none") is None else 0.0


def fills(d: dict[str, float], x: float) -> Any:
    total = 0.0
    for key in ("p", "z", "p", "y"):
        total = total * x + d.setdefault(key, x * x)
        d[key] *= x
    return total, d, list(d)


def takes(d: dict[str, float], x: float) -> Any:
    total = 1.0
    for key in ("p", "z", "p"):
        total = total * x + d.pop(key, 2.0 * x)
    d["p"] = total
    return total, d, list(d)


def missing(d: dict[str, float], x: float) -> Any:
    total = 0.0
    for key in ("p", "z"):
        try:
            total += d.pop(key) * x
        except KeyError:
            total += x
    return total, d


def of_several(x: float) -> Any:
    """One call place, containers of several classes."""
    containers: list[Any] = [[x], deque([x, 2.0]), [2.0, x], deque([x])]
    for c in containers:
        c.append(x * c[0])
        c.extend([x])
    dicts: list[Any] = [{"a": x}, OrderedDict(a=2.0 * x), defaultdict(float, b=x)]
    total = 0.0
    for d in dicts:
        total += d.get("a", x * x) * d.setdefault("b", 3.0 * x)
        d.update(a=x)
    return total, [list(c) for c in containers], [dict(d) for d in dicts]


def kept(d: dict[str, float], rows: list[list[float]], x: float) -> Any:
    """Methods that are read once, and go on to belong to what they were read from."""
    get, put = d.get, rows[0].append
    rows[0] = [x]
    total = 0.0
    for key in ("p", "z"):
        total += get(key, x) * x
        put(total)
        d[key] = total
    return total, rows, d


class Ordered(OrderedDict):  # type: ignore[type-arg]
    def pop(self, key: Any, default: Any = 0.0) -> Any:
        return super().pop(key, default) * 2.0


def inherited(x: float) -> float:
    d = Ordered(a=x, b=x * x)
    above = super(OrderedDict, d)
    return d.pop("a") * above.get("b", 1.0) + above.pop("b") * d.pop("b", x)  # type: ignore[no-any-return]


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (reads, (1.3,)),
    (fills, ({"p": 1.5}, 1.2)),
    (takes, ({"p": 1.5, "o": 0.5}, 1.2)),
    (missing, ({"p": 1.5}, 1.2)),
    (of_several, (1.3,)),
    (kept, ({"p": 1.5}, [[0.5], [1.0]], 1.2)),
    (inherited, (1.3,)),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda f: getattr(f, "__name__", ""))
def test_methods_are_right_in_every_way(
    function: Callable[..., Any], arguments: tuple[Any, ...], way: Any
) -> None:
    with adbc.use(adbc.Config(speculation=way)):
        for _ in range(2):
            check(function, *arguments)


class Key:
    def __init__(self) -> None:
        self.hash: int | None = None
        self.count = 0

    def __hash__(self) -> int:
        self.count += 1
        return self.count


def counts(x: float) -> float:
    d: dict[Any, float] = {"a": x}
    key = Key()
    return d.get(key, x * x) * key.count


@pytest.mark.parametrize("way", WAYS)
def test_keys_that_count_how_often_they_are_asked_are_refused(way: Any) -> None:
    with adbc.use(adbc.Config(speculation=way)), pytest.raises(UnsupportedError):
        adbc.grad(counts)(1.3)


def test_the_methods_of_a_dict_are_known() -> None:
    for _ in range(3):
        adbc.grad(reads)(1.3)
    lines = [line for line in str(adbc.inspect.explain(reads, 1.3)).splitlines() if "  d.get" in line]
    assert lines
    assert not [line for line in lines if "dynamic" in line]


class Point(NamedTuple):
    a: float
    b: float = 2.0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: float, b: float) -> None:
        self.a = a
        self.b = b


class Asked(Slotted):
    __slots__ = ()

    def __getattr__(self, name: str) -> float:
        if name != "b":
            raise AttributeError(name)
        return 7.0


class Below(Slotted):
    a = 5.0  # type: ignore[assignment]  # hides the slot


def places(x: float) -> Any:
    """One place that reads attributes of several classes, one of which is missing and asked for."""
    asked, below = Asked(x, x * x), Below.__new__(Below)
    del asked.b
    below.b = x
    total = 0.0
    for o in (Point(x), Slotted(2.0 * x, x), asked, below, Point(b=x * x, a=x), Point(*[x, x])):
        total += o.a * x + o.b * total
        if type(o) is Slotted:
            o.a = total
            total += o.a
    return total


def unset(x: float) -> float:
    o = Slotted(x, x)
    del o.b
    try:
        return o.b
    except AttributeError:
        return o.a * x


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", [places, unset])
def test_attributes_with_a_place_in_their_instances(function: Callable[..., Any], way: Any) -> None:
    with adbc.use(adbc.Config(speculation=way)):
        for _ in range(2):
            check(function, 1.3)
