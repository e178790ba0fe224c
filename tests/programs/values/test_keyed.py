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


REMEMBERED: dict[Any, Any] = {1.7: 5.0, (1.7, 1): 6.0, Frozen(1.7): 7.0}
DEFAULTS = collections.defaultdict(float, {1.7: 5.0})


class _Missing(dict[Any, Any]):
    def __missing__(self, key: float) -> float:
        self[key] = key * key
        return self[key]


MISSING = _Missing({1.7: 2.89})


def _remembered(x: float) -> Any:
    if x not in REMEMBERED:
        REMEMBERED[x] = 3 * x
    return REMEMBERED[x]


def _remembered_or_made(x: float) -> Any:
    try:
        return REMEMBERED[x, 1]
    except KeyError:
        return 4 * x


def _remembered_in_a_loop(x: float) -> float:
    out, places = 0.0, {1.7: x * x}
    for i in range(3):
        out += places[x] * i
    return out


FOUND = {
    "remembered": _remembered,
    "remembered or made": _remembered_or_made,
    "in a loop": _remembered_in_a_loop,
    "in a frozen object": lambda x: REMEMBERED[Frozen(x)] * x,
    "by get": lambda x: REMEMBERED.get(x),
    "by get with a default": lambda x: REMEMBERED.get(x, 0.0) * x,
    "by pop": lambda x: dict(REMEMBERED).pop(x),
    "by pop with a default": lambda x: dict(REMEMBERED).pop(x, 0.0),
    "by setdefault": lambda x: REMEMBERED.setdefault(x, 1.0),
    "in a defaultdict": lambda x: DEFAULTS[x],
    "in an OrderedDict": lambda x: collections.OrderedDict(REMEMBERED)[x],
    "in a class with __missing__": lambda x: MISSING[x],
    "by map": lambda x: sum(map(REMEMBERED.get, [x, x])),
    "in a proxy": lambda x: types.MappingProxyType(REMEMBERED)[x],
}


@pytest.mark.parametrize("config", [{}, {"speculation": "never"}, {"warm_after": 0}], ids=str)
@pytest.mark.parametrize("what", FOUND)
def test_numbers_that_are_found_by_a_number_with_a_derivative_are_refused(
    what: str, config: dict[str, Any]
) -> None:
    f = FOUND[what]
    with adbc.use(adbc.Config(**config)):
        for run in (lambda: adbc.grad(f)(1.7), lambda: adbc.jvp(f, (1.7,), (1.0,))):
            for _ in range(2):
                with pytest.raises(
                    adbc.errors.UnsupportedError, match="the key under which a value is found"
                ):
                    run()


def _by_constants(x: float) -> float:
    places: dict[Any, float] = {"a": x}
    for k in [1.0, 2.0]:
        places[k] = x * k
    return places[1.0] * sum(places[k] for k in [1.0, 2.0])


FREE = {
    "nothing is found": lambda x: REMEMBERED.get(x + 1, x * x),
    "a text": lambda x: x * x if {1.7: "a"}.get(x, "a") == "a" else x,
    "a whole number": lambda x: {1.7: 3}.get(x, 3) * x,
    "a rounded key": lambda x: {2: 0.5}[round(x)] * x * x,
    "the floor": lambda x: {1.0: 0.5}[x // 1] * x * x,
    "a constant beside the number": lambda x: {1.0: 0.5}[[1.0, x][0]] * x * x,
    "constants in a loop": _by_constants,
}


@pytest.mark.parametrize("config", [{}, {"speculation": "never"}, {"warm_after": 0}], ids=str)
@pytest.mark.parametrize("what", FREE)
def test_keys_that_find_what_has_no_derivative_or_have_none_themselves_are_free(
    what: str, config: dict[str, Any]
) -> None:
    with adbc.use(adbc.Config(**config)):
        check_rule(FREE[what], 1.7)
