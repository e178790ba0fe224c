"""What is written into the code of ordinary programs does not change what they mean."""

from __future__ import annotations

import array
import datetime
import enum
import functools
import itertools
import math
import types
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient


def check(function: Callable[[float], Any], x: float) -> None:
    """Both modes give the slope that differences give, in the first call and in those that know more."""
    slope = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
    gradient = adbc.grad(function)
    for _ in range(3):
        assert gradient(x) == pytest.approx(slope, rel=1e-6)
    assert adbc.jvp(function, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


pytestmark = pytest.mark.usefixtures("at_once")
"""What is counted is what written code executes."""


def settled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    gradient = adbc.grad(function)
    for _ in range(5):
        gradient(*arguments)
    return gradient


def run_all(x: float, stages: list[Any]) -> Any:
    for stage in stages:
        x = stage(x)
    return x


def test_what_a_call_of_an_object_runs_may_be_replaced() -> None:
    class Doubled:
        def __call__(self, x: Any) -> Any:
            return 2.0 * x

    class Squared(Doubled):
        def __call__(self, x: Any) -> Any:
            return x * x

    stages = [Doubled(), Squared(), Doubled()]
    gradient = settled(run_all, 0.7, stages)
    assert gradient(0.7, stages) == pytest.approx(16.0 * 0.7)
    Squared.__call__ = lambda self, x: 5.0 * x  # type: ignore[method-assign]
    assert gradient(0.7, stages) == pytest.approx(20.0)
    stages[0].__call__ = lambda x: 100.0 * x  # Python looks in the class
    assert gradient(0.7, stages) == pytest.approx(20.0)


def of_defaults(x: float) -> Any:
    by_name: defaultdict[str, Any] = defaultdict(lambda: x * x)
    for name in ("a", "b", "a"):
        by_name[name] *= x
    del by_name["b"]
    return by_name["a"] * by_name["b"] * len(by_name)


def test_what_is_missing_is_made() -> None:
    check(of_defaults, 0.7)


def of_counts(x: float) -> Any:
    counts: Counter[Any] = Counter()
    for k in (1, 2, 1):
        counts[k] += x
    return counts[1] * counts[2] + counts[7]


def test_what_is_missing_counts_nothing() -> None:
    check(of_counts, 0.7)


class Level(enum.Enum):
    LOW = 1
    HIGH = 2
    TOP = 2


class Rights(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()


def of_members(x: float) -> Any:
    rates = {Level.LOW: x, Level.HIGH: x * x, "LOW": 3.0}
    total = rates[Level.TOP] * rates[Level["LOW"]] + rates["LOW"] * x
    if Level.LOW in rates and Rights.READ not in rates:
        total += (Rights.READ | Rights.WRITE).value * x
    return total * Level.HIGH.value


def test_members_of_enumerations() -> None:
    check(of_members, 0.7)


class Bid:
    def __init__(self, price: Any) -> None:
        self.price = price

    def __lt__(self, other: Bid) -> bool:
        return bool(self.price < other.price)


class Name:
    def __init__(self, text: str) -> None:
        self.text = text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self.text == other.text


def of_orders(x: float) -> Any:
    bids = [Bid(x), Bid(x * x), Bid(0.1)]
    bids.sort()
    rows = [(x, 1, "row"), (2.0 * x, 2, "row")]
    rows.sort(reverse=True)
    seen = {Name("a")}
    seen.add(Name("a"))
    seen.discard(Name("b"))
    return bids[0].price * 2.0 + bids[1].price + rows[0][0] * len(seen) * x


def test_what_compares_by_python_code_is_sorted_and_found() -> None:
    check(of_orders, 0.7)


def of_rows(x: float, row: list[float]) -> Any:
    matrix = np.array([row, row, [x, 1.0, 2.0]])
    return (matrix**2).sum() * np.asarray(row).sum() + np.array([[row], [row]]).sum()


def test_a_list_that_is_two_rows_of_an_array_gets_both() -> None:
    check_gradient(of_rows, 0.7, [0.3, -1.2, 0.5], argnums=(0, 1))


def days(x: float, n: int) -> Any:
    day = datetime.date(2024, 1, 1)
    for _ in range(n):
        day = day + datetime.timedelta(days=7)
        x = x * 1.01 + day.toordinal() * 1e-6
    return x


def test_values_made_by_keyword_are_made_as_they_are() -> None:
    settled(days, 0.7, 3)
    gradient = adbc.value_and_grad(days)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (10, 30))  # type: ignore[misc]  # n is bound now
    assert (many - few) / 20 < 900


def over_array(x: float, n: int) -> Any:
    values = array.array("d", [x] * n)
    return sum([v * v for v in values])


def over_deque(x: float, n: int) -> Any:
    values = deque([x] * n, maxlen=n)
    total = x
    for v in values:
        total += v * v
    return total


def backwards(x: float, n: int) -> Any:
    steps = reversed([x] * n)
    total = x
    for v in steps:
        total += v * v
    return total + sum(steps)


@pytest.mark.parametrize(("function", "most"), [(over_array, 130.0), (over_deque, 95.0), (backwards, 26.5)])
def test_steps_of_iterators_in_c(function: Callable[..., Any], most: float) -> None:
    """Of an iterator that stays an object it is not found out again at each step what is done with it."""
    check(lambda x: function(x, 3), 0.7)
    check_rule(function, 0.7, 4)
    gradient = settled(function, 0.7, 40)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (40, 60))  # type: ignore[misc]  # n is bound now
    one, two = (executed(lambda n=n: function(0.7, n)) for n in (40, 60))  # type: ignore[misc]
    assert (many - few) / (two - one) < most


class Tank:
    def __init__(self, level: Any, area: Any = 2.0, *, leak: Any = 0.1) -> None:
        self.level, self.area, self.leak = level, area, leak

    def levels(self, n: int) -> Any:
        for _ in range(n):
            self.level -= self.leak * self.level / self.area
            yield self.level


def of_keywords(x: float, n: int, area: float = 1.5) -> Any:
    total = 0.0
    for level in Tank(x, **{"area": area, "leak": x * x}).levels(n):
        total += level * level
    return total + sum(Tank(**{"level": x}).levels(n))


def test_a_class_that_is_called_with_a_dict_is_known() -> None:
    """The loop over what its method makes is one of numbers."""
    check(lambda x: of_keywords(x, 5), 0.7)
    check_rule(of_keywords, 0.7, 5)
    gradient = settled(of_keywords, 0.7, 40)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (40, 60))  # type: ignore[misc]  # n is bound now
    one, two = (executed(lambda n=n: of_keywords(0.7, n)) for n in (40, 60))  # type: ignore[misc]
    assert (many - few) / (two - one) < 7.5


def test_a_class_that_is_called_with_a_wrong_dict_says_so() -> None:
    def wrong(x: float, names: Any) -> Any:
        return Tank(x, **dict.fromkeys(names, x)).level

    gradient = adbc.grad(wrong)
    for _ in range(3):
        assert gradient(0.7, ["area"]) == 1.0
    for names in (["depth"], ["level"]):
        with pytest.raises(TypeError) as plain:
            wrong(0.7, names)
        with pytest.raises(TypeError) as found:
            gradient(0.7, names)
        assert str(found.value) == str(plain.value)


def damped(x: Any, *, factor: Any = 1.0, **rest: Any) -> Any:
    rest["factor"] = factor  # its own dict
    return x * factor + sum(rest.values())


def with_settings(x: float, settings: Any, n: int) -> Any:
    total = x
    for _ in range(n):
        total = damped(total, **settings)
        settings["more"] = total * 0.01
    del settings["more"]
    return total


def test_a_dict_of_arguments_is_handed_over() -> None:
    """What is called gets a copy: neither changes what the other has."""
    check(lambda x: with_settings(x, {"factor": x}, 5), 0.7)
    check_rule(with_settings, 0.7, {"factor": 0.3, "less": 0.2}, 5)
    default_engine().clear()  # nothing has been seen of other settings
    gradient = settled(with_settings, 0.7, {"factor": 0.3}, 40)
    for _ in range(10):  # until nothing is built any more
        gradient(0.7, {"factor": 0.3}, 60)
    few, many = (executed(lambda n=n: gradient(0.7, {"factor": 0.3}, n)) for n in (40, 60))  # type: ignore[misc]
    one, two = (executed(lambda n=n: with_settings(0.7, {"factor": 0.3}, n)) for n in (40, 60))  # type: ignore[misc]
    assert (many - few) / (two - one) < 130.0


def of_clock(x: float, n: int) -> Any:
    """Between an empty dict and what is merged into it something is guessed."""
    shape = functools.partial(damped, factor=x)

    def shapes(clock: Any) -> Any:
        for t in clock:
            yield shape(t) * sum(math.sin(k * t) for k in (1, 2))

    first, second = itertools.tee(itertools.islice(shapes(itertools.count(1)), n))
    return sum(first) + sum(v * x for v in second)


def test_what_is_guessed_while_a_dict_of_arguments_is_made() -> None:
    check(lambda x: of_clock(x, 6), 0.7)
    check_rule(of_clock, 0.7, 4)
    gradient = adbc.grad(of_clock)
    for _ in range(30):
        assert gradient(0.7, 6) == pytest.approx(gradient(0.7, 6), rel=1e-14)


def test_a_wrong_dict_of_arguments_says_so() -> None:
    gradient = settled(with_settings, 0.7, {"factor": 0.3}, 4)
    for wrong in ({1: 2.0}, {"x": 1.0}):
        with pytest.raises(TypeError) as plain:
            with_settings(0.7, dict(wrong), 4)
        with pytest.raises(TypeError) as found:
            gradient(0.7, dict(wrong), 4)
        assert str(found.value) == str(plain.value)


def test_functions_of_one_code_have_rules_of_their_own() -> None:
    """How a function is entered is known by its code, and a rule is of one of them."""

    def scaled(factor: float) -> Callable[[Any], Any]:
        return lambda x: factor * x

    plain, ruled = scaled(2.0), scaled(3.0)

    def total(x: float, functions: Any) -> Any:
        return sum([f(x) for f in functions])

    gradient = settled(total, 0.7, [plain] * 50)
    assert gradient(0.7, [plain] * 50) == pytest.approx(100.0)
    adbc.scalar_rule(ruled)(lambda out, x: 10.0)
    for _ in range(3):
        assert gradient(0.7, [plain, ruled, plain]) == pytest.approx(14.0)
        assert gradient(0.7, [plain] * 50) == pytest.approx(100.0)


def of_namespace(x: float, n: int) -> Any:
    state = types.SimpleNamespace(rate=x, level=1.0)
    for _ in range(n):
        state.level = state.level * state.rate + state.rate
    return state.level


def test_fields_of_a_namespace() -> None:
    check(lambda x: of_namespace(x, 5), 0.7)
    check_rule(of_namespace, 0.7, 5)
    gradient = settled(of_namespace, 0.7, 40)
    few, many = (executed(lambda n=n: gradient(0.7, n)) for n in (40, 60))  # type: ignore[misc]  # n is bound now
    one, two = (executed(lambda n=n: of_namespace(0.7, n)) for n in (40, 60))  # type: ignore[misc]
    assert (many - few) / (two - one) < 80.0
