"""Functions of containers that are called by keyword: what is given so counts, or the call is refused.

Rules are chosen by the arguments by position, and one for an empty container once dropped the others.
"""

# ruff: noqa: C408, RUF026
# What is tested is just what these would have written in another way.

from __future__ import annotations

import heapq
import itertools
import math
import statistics
import types
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.rules.table import Primitive
from adbc.testing import test_rule as check


def moved(x: Any) -> Any:
    d = OrderedDict(a=x, b=2.0 * x)
    d.move_to_end(key="a", last=True)
    return [*d.values()]


def counted(x: Any) -> Any:
    c = Counter(a=2, b=1)
    c.update(a=x)
    c.subtract(b=3)
    return c, +c, c + Counter(a=1, c=x), Counter("aab", b=x), Counter({"a": x}, b=2), Counter(None, a=x)


def constants_counted(x: Any) -> Any:
    c = Counter(a=2, b=1)
    c["a"] += 3
    return x * c["a"], sorted(c.elements()), c == Counter("aaaaab"), Counter(a=1) <= c, len(Counter(a=1, b=0))


def missing(x: Any) -> Any:
    d = defaultdict(float, a=2.0, b=x)
    d["a"] += x
    d["c"] += d["b"] * x
    return d, defaultdict(list, {"a": [x]}, b=[2.0])["b"], defaultdict(None, a=x), defaultdict(a=x)


def named_like_parameters(x: Any) -> Any:
    d = defaultdict(default_factory=x)
    return d, Counter(iterable=x), OrderedDict(self=x, other=2.0), dict(self=x), UserDict(other=x)


CASES: dict[str, Callable[[Any], Any]] = {
    "counter": counted,
    "counter of constants": constants_counted,
    "defaultdict": missing,
    "names of parameters": named_like_parameters,
    "move_to_end": moved,
    "ordered pop": lambda x: OrderedDict(a=x).pop(key="a") * x,
    "ordered pop with a default": lambda x: OrderedDict(a=x).pop("b", default=x * x),
    "ordered pop with a constant": lambda x: OrderedDict(a=x).pop("b", default=5.0) * x,
    "ordered popitem": lambda x: OrderedDict(a=x, b=2.0 * x).popitem(last=False),
    "ordered setdefault": lambda x: OrderedDict(a=x).setdefault(key="b", default=x) * x,
    "ordered fromkeys": lambda x: OrderedDict.fromkeys("ab", value=x)["a"] * x,
    "deque": lambda x: [*deque(iterable=[x, 2.0 * x, 3.0], maxlen=2)],
    "dict": lambda x: (dict({"a": x}, a=2.0 * x), dict(a=x, b=2)),
    "update": lambda x: (lambda d: (d.update(a=x * x), d))({"a": 1.0}),
    "sum": lambda x: sum([x, x], start=x * x),
    "max": lambda x: (max([], default=x), max([x, -2.0 * x], key=abs)),
    "enumerate": lambda x: [k * v for k, v in enumerate(iterable=[x, x], start=2)],
    "sorted": lambda x: sorted([x, -x], key=None, reverse=True),
    "accumulate": lambda x: list(itertools.accumulate([x, x], initial=x * x)),
    "zip_longest": lambda x: [a * b for a, b in itertools.zip_longest([x, x], [x], fillvalue=3.0 * x)],
    "repeat": lambda x: sum(itertools.repeat(object=x, times=3)),
    "nlargest": lambda x: heapq.nlargest(n=1, iterable=[x, 2.0 * x]),
    "fmean": lambda x: statistics.fmean([x, 3.0 * x], weights=[1, 2]) * x,
    "namespace": lambda x: types.SimpleNamespace(a=x, b=2.0 * x).b * x,
}


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("name", CASES)
def test_arguments_by_keyword_count(name: str, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation, verify=True)):
        for _ in range(2):
            check(CASES[name], 0.7)


@pytest.mark.parametrize("call", [lambda x: Counter(x, x), lambda x: Counter([x], [x])])
def test_what_cannot_be_raises_the_error_of_python(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError) as plain:
        call(0.7)
    for run in (lambda: adbc.vjp(call, 0.7), lambda: adbc.jvp(call, (0.7,), (1.0,))):
        with pytest.raises(TypeError) as derived:
            run()
        assert str(derived.value) == str(plain.value)


# -- keywords that a rule written by hand does not look at ---------------------------------------------------


def popped(x: Any) -> Any:
    d: Any = {1: x}
    return d.pop(1, default=x * x)


def of_corners(x: Any) -> Any:
    return math.hypot(x, k=2)  # type: ignore[call-arg]


def appended(x: Any) -> Any:
    found: Any = deque([x])
    found.append(x=2.0)
    return found[0]


@pytest.mark.parametrize("function", [popped, of_corners, appended], ids=lambda f: f.__name__)
@pytest.mark.parametrize("warm_after", [0, 40])
def test_what_the_rule_would_drop_is_refused(function: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for mode in (adbc.grad(function), lambda x: adbc.jvp(function, (x,), (1.0,))):
            with pytest.raises(adbc.MissingRuleError, match="does not know the keyword argument"):
                mode(1.5)


def scaled(x: float, by: float = 1.0) -> float:
    return x * by


def scaled_with(x: float, by: float = 1.0) -> float:
    return x * by


def test_a_rule_of_a_user_is_asked_for_what_it_reads() -> None:
    def dropping(args: Any, fargs: Any, kwargs: Any) -> Any:
        return args[0], fargs[0], lambda bout: (bout,)

    def reading(args: Any, fargs: Any, kwargs: Any) -> Any:
        by = kwargs.get("by", 1.0)
        return args[0] * by, fargs[0], lambda bout: (bout * by,)

    table = adbc.Layer()
    table.add([Primitive(scaled, frule=dropping, rrule=dropping)])
    table.add([Primitive(scaled_with, frule=reading, rrule=reading)])
    with adbc.use(table=table):
        assert adbc.grad(lambda x: scaled_with(x, by=3.0))(2.0) == 3.0
        assert adbc.grad(lambda x: scaled(x))(2.0) == 1.0
        with pytest.raises(adbc.MissingRuleError, match="'by'"):
            adbc.grad(lambda x: scaled(x, by=3.0))(2.0)
