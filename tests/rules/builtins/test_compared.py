"""What is chosen from a dict, and sorted, by what is looked up in one."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

import adbc
from adbc.rules.builtins.compared import are_looked_up, place_of_extreme
from adbc.testing import test_rule as check_rule


class Bidder:
    def __init__(self, budget: Any) -> None:
        self.budget = budget


class Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __lt__(self, other: Named) -> bool:
        return self.name < other.name


def by_get(x: float) -> Any:
    scores = {"a": x, "b": x * x, "c": 3.0 - x}
    best, worst = max(scores, key=scores.get), min(scores, key=scores.get)  # type: ignore[arg-type]
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    return scores[best] * 2.0 + scores[worst] * 3.0 + scores[order[1]] * 5.0


def of_objects(x: float) -> Any:
    """The keys are objects, and have their derivatives by their addresses."""
    bids = {b: 0.5 * b.budget for b in (Bidder(x), Bidder(x * x), Bidder(1.2))}
    winner = max(bids, key=bids.get)  # type: ignore[arg-type]
    ranked = sorted(bids, key=bids.get)  # type: ignore[arg-type]
    winner.budget -= bids[winner]
    return winner.budget * ranked[0].budget + ranked[1].budget


def of_classes_of_dicts(x: float) -> Any:
    counter: Any = Counter()
    made: Any = defaultdict(float)
    for i, k in enumerate("abcab"):
        counter[k] += x * i
        made[k] -= x * x * i
    chosen = max(counter, key=counter.get), min(made, key=made.get), max(made)
    return counter[chosen[0]] * made[chosen[1]] + made[chosen[2]]


def by_another(x: float) -> Any:
    """The order is that of another dict, which lacks some."""
    scores, rank = {"a": x, "b": x * x}, {"a": 2, "b": 1, "c": 0}
    return sum(k * scores[n] for k, n in enumerate(sorted(scores, key=rank.get), 1))  # type: ignore[arg-type]


def of_tuples(x: float) -> Any:
    cells = {(i, j): x * i - x * x * j for i in range(3) for j in range(2)}
    return cells[max(cells, key=cells.get)] + cells[min(cells)]  # type: ignore[arg-type]


def empty(x: float) -> Any:
    none: dict[str, Any] = {}
    return x * len(max(none, key=none.get, default="abc"))  # type: ignore[arg-type]


def named(x: float) -> Any:
    """The keys are hashed by Python code."""
    scores = {Named("a"): x, Named("b"): x * x}
    return scores[max(scores, key=scores.get)]  # type: ignore[arg-type]


PROGRAMS = [by_get, of_objects, of_classes_of_dicts, by_another, of_tuples, empty, named]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes(function: Any) -> None:
    for x in (0.7, 1.6):
        slope = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6
        for _ in range(4):
            value, found = adbc.value_and_grad(function)(x)
            assert value == function(x)
            assert found == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(function, (x,), (1.0,)) == pytest.approx((value, found), rel=1e-12)
        check_rule(function, x)


def test_errors_are_those_of_python() -> None:
    def nothing(x: float) -> Any:
        none: dict[str, Any] = {}
        return x * len(max(none, key=none.get))  # type: ignore[arg-type]

    def mixed(x: float) -> Any:
        d: dict[str, Any] = {"a": x, "b": "text"}
        return max(d, key=d.get)  # type: ignore[arg-type]

    for function, error in ((nothing, ValueError), (mixed, TypeError)):
        with pytest.raises(error) as expected:
            function(2.0)
        for _ in range(3):
            with pytest.raises(error) as found:
                adbc.grad(function)(2.0)
            assert str(found.value) == str(expected.value)


def test_look_ups_in_c_are_told_from_others() -> None:
    d = {"a": 1.0, "b": 2.0}
    assert place_of_extreme(d, d.get, True) == 1
    assert place_of_extreme(d, None, False) == 0
    assert place_of_extreme({}, d.get, True) == -1
    assert place_of_extreme(d, lambda k: d[k], True) == -1
    assert place_of_extreme({Named("a"): 1.0}, {}.get, True) == -1
    assert place_of_extreme({"a": 1.0}, {"a": Named("a"), Named("b"): 1}.get, True) == -1
    counter: Any = Counter("ab")
    assert place_of_extreme(counter, counter.get, True) == 0
    assert place_of_extreme(counter, counter.__getitem__, True) == -1  # ``__missing__`` is in Python
    assert are_looked_up(["a", "b"], d.get) and not are_looked_up(["a", Named("b")], d.get)
    assert not are_looked_up(["a"], {"a": Named("b")}.get)
