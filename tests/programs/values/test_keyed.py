"""Keys and elements of sets that are objects have their derivatives by their addresses."""

from __future__ import annotations

import collections
import dataclasses
import pickle
import types
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .keyed import PROGRAMS, Point, total, two


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    check_rule(PROGRAMS[name], 1.7)


@pytest.mark.parametrize(
    "config", [{"speculation": "never"}, {"speculation": "interpret"}, {"warm_after": 0}], ids=str
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_otherwise(name: str, config: dict[str, Any]) -> None:
    with adbc.use(adbc.Config(**config)):
        check_rule(PROGRAMS[name], 1.7)


@dataclasses.dataclass(frozen=True)
class Frozen:
    m: float


Pair = collections.namedtuple("Pair", "a b")

REFUSED = {
    "a frozen object as the key of a dict": lambda x: [k.m for k in {Frozen(x): 1}][0],
    "one in a set": lambda x: {Frozen(x)}.pop().m,
    "one that a set is made of": lambda x: [y.m for y in frozenset([Frozen(x)])][0],
    "one in a tuple": lambda x: [y[0].m for y in {(Frozen(x), 1)}][0],
    "keys made of a list": lambda x: [k.m for k in dict.fromkeys([Frozen(x)])][0],
    "a named tuple": lambda x: [k.a for k in {Pair(x, 1): 2}][0],
    "a number": lambda x: max({x, 2.0}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_values_with_a_derivative_are_refused_as_keys(what: str) -> None:
    f = REFUSED[what]
    for run in (lambda: adbc.grad(f)(1.7), lambda: adbc.jvp(f, (1.7,), (1.0,))):
        with pytest.raises(adbc.errors.UnsupportedError, match="becomes .*would lose its derivative there"):
            run()


@pytest.mark.parametrize(
    "hidden",
    [
        lambda x: set(two(x)),
        lambda x: [{(p, 1): 2} for p in two(x)],
        lambda x: types.SimpleNamespace(points=frozenset(two(x))),
    ],
)
def test_c_code_that_may_find_such_keys_is_refused(hidden: Any) -> None:
    def f(x: float) -> Any:
        pickle.dumps(hidden(x))
        return x

    for run in (lambda: adbc.grad(f)(1.7), lambda: adbc.jvp(f, (1.7,), (1.0,))):
        with pytest.raises(adbc.MissingRuleError, match="with a derivative is a key of a dict, or in a set"):
            run()


def test_keys_of_an_argument_are_constants() -> None:
    points = two(2.0)
    weights = dict.fromkeys(points, 1.5)

    def f(d: Any) -> Any:
        return sum(p.m * w for p, w in d.items())

    assert adbc.grad(f)(weights) == {points[0]: 2.0, points[1]: 4.0}
    check_rule(f, weights)
    check_rule(lambda s, x: total(s) * x, set(points), 3.0)


def test_a_key_that_is_also_elsewhere_in_the_arguments_is_not() -> None:
    p = Point(2.0)
    gradient = adbc.grad(lambda q, d: sum(k.m * w for k, w in d.items()))(p, {p: 3.0})
    assert gradient.m == 3.0
    assert adbc.grad(lambda q, s: total(s) ** 2)(p, {p}).m == 4.0


SHARED = {Point(2.0)}


def test_calls_inside_of_calls_have_memories_of_their_own() -> None:
    def inner(y: float) -> Any:
        return total(SHARED) * y

    def f(x: float) -> Any:
        s = {Point(x)} | SHARED
        slope = adbc.grad(inner)(5.0)  # of constants: not differentiated
        return total(s) * slope

    value, gradient = adbc.value_and_grad(f)(3.0)
    assert (value, gradient) == (10.0, 2.0)


class Counted:
    """A key that notes whenever it is compared, and is equal to others every second time."""

    def __init__(self, m: Any) -> None:
        self.m = m
        self.asked = 0

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return self.asked % 2 == 0

    def __hash__(self) -> int:
        return 7


@pytest.mark.parametrize(
    "f",
    [
        lambda x, o, r: x * len({o: 1, r: 2}),
        lambda x, o, r: x * len({o: x, r: 2}),
        lambda x, o, r: x * len({o, r}),
    ],
    ids=["a dict", "a dict of numbers", "a set"],
)
def test_keys_that_count_are_refused_in_displays(f: Any, speculation: str) -> None:
    with pytest.raises(adbc.errors.UnsupportedError, match="changes something whenever it is asked"):
        adbc.vjp(f, 1.5, Counted(1.0), Counted(2.0))
    with pytest.raises(adbc.errors.UnsupportedError, match="changes something whenever it is asked"):
        adbc.jvp(f, (1.5, Counted(1.0), Counted(2.0)), (1.0, None, None))
