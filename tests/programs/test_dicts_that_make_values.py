"""`defaultdict` and `Counter`, read, written, walked through and shared, however code is written."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_once_warm

WORDS = "the cat and the dog and the bird".split()


def by_word(x: float) -> Any:
    """Sums by key, in a new dict for each step."""
    amount = defaultdict(float, {"the": x})
    for k in range(4):
        change = defaultdict(float)
        for word in WORDS:
            change[word] += x * amount[word] + 0.1 * len(word) + k * x
            change[word[0]] -= 0.01 * x
        for word, rate in change.items():
            amount[word] += 0.1 * rate
        amount.pop("b", None)
        if "c" in amount:
            del amount["c"]
    return sum(amount.values()) + len(amount) * x + max(amount.values())


def neighbours(x: float) -> Any:
    """Lists and dicts by key."""
    graph: dict[int, Any] = defaultdict(list)
    weights: dict[int, Any] = defaultdict(dict)
    numbers: dict[int, int] = defaultdict(int)
    for k in range(12):
        a, b = k % 4, (3 * k + 1) % 5
        graph[a].append((b, x * k))
        weights[a][b] = weights[a].get(b, 0.0) + x * x * k
        numbers[b] += 1
    total = 0.0
    for a in graph:
        for b, w in graph[a]:
            total += w * weights[a][b] * numbers[b]
    for a, row in weights.items():
        total += a * sum(row.values())
    return total + sum(len(row) for row in graph.values()) * x + len(graph[99]) + (99 in graph) * x


def nested(x: float) -> Any:
    rows: Any = defaultdict(lambda: defaultdict(float))
    for i in range(4):
        for j in range(4):
            rows[i][j] += x * (i + 1) / (j + 1)
            rows[j][i] += x * x
    del rows[0][0]
    rows[1].update({2: x, 7: 2.0})
    return sum(rows[i][j] * rows[j][i] for i in range(4) for j in range(4)) + len(rows[9]) + rows[1].get(7, x)


def counted(x: float) -> Any:
    votes: Any = Counter()
    for k, word in enumerate(WORDS):
        votes[word] += x * (k + 1) - votes["none"]
    votes["bird"] -= votes["cat"] * votes[word] + votes[None]
    change: Any = Counter()
    for word in ("the", "cat", "cow"):
        change[word] += 0.5 * x
    votes.update(change)
    (first, most), *_ = votes.most_common(2)
    return sum(v * v for v in votes.values()) + most * len(first) + votes["cow"] + len(votes) * x


def shared(x: float) -> Any:
    """Two names for one dict, which is changed behind a read, and factories that are changed."""
    made = defaultdict(float)
    other, holder = made, [made]
    total = 0.0
    for k in range(6):
        made[k % 3] += x * k
        total += other[k % 3] * holder[0][5]
        holder[0][5] = x * made[k]
        if k == 3:
            made.default_factory = int
        if k == 4:
            made.default_factory = lambda: x
    try:
        made.default_factory = None
        total += made["missing"]
    except KeyError:
        total += made[5] * x
    copied = made.copy()
    copied[0] *= 2.0
    return total + made[0] + copied[0] + sum(other.values())


class Grown(defaultdict[Any, Any]):
    def __missing__(self, key: Any) -> Any:
        self[key] = value = 0.5 * len(self)
        return value


class Tally(Counter[Any]):
    def __missing__(self, key: Any) -> Any:
        return 0.25


def of_classes(x: float) -> Any:
    grown, tally = Grown(float), Tally()
    total = 0.0
    for k in range(5):
        grown[k % 3] += x * k
        tally[k % 2] += x * tally[7]
        total += grown[k] * tally[0] + tally[9]
    return total + sum(grown.values()) + sum(tally.values())


def written_in_a_try(x: float) -> Any:
    totals: Any = defaultdict(float)
    for k, word in enumerate(WORDS):
        try:
            totals[word] += x / (k - 3)
            totals[k] += totals[word] * x
        except ZeroDivisionError:
            totals["wrong"] += x * x
    return sum(totals.values()) * len(totals)


class Player:
    def __init__(self, strength: Any) -> None:
        self.strength = strength


class Named(Player):
    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and bool(self.strength == other.strength)


def best(x: float) -> Any:
    """Keys by what stands there, products of what stands there."""
    players = [Player(x * k) for k in (1, 3, 2)]
    bids = {player: player.strength * (4 - k) for k, player in enumerate(players)}
    words: dict[Any, Any] = {"a": x, "b": x * x, 3: 0.5}
    total = 0.0
    for k in range(3):
        winner = max(bids, key=bids.get)  # type: ignore[arg-type]
        total += bids[winner] * winner.strength
        bids[winner] *= 0.5 * x
        total += words[min(words, key=words.__getitem__)] * k
        total += math.prod(words[word] for word in ("a", "b", 3)[: k + 1]) * math.prod([x, 2.0, x * k])
        words["b"] += x
    named = {Named(x): x, Named(2.0 * x): 3.0 * x}
    choice = max(named, key=named.get)  # type: ignore[arg-type]
    places = max([("a", 1), ("b", 2)], key={("a", 1): x, ("b", 2): 0.1}.get)  # type: ignore[arg-type]
    return total + choice.strength + places[1] * x + math.prod([x]) * math.prod([], start=x)


NAMES = ("a", "b", "c", "a")


def tables(x: float) -> Any:
    """Dicts of pairs, and updates by keywords."""
    total = 0.0
    for k in range(4):
        table = dict(zip(NAMES, [x * k, x, 2.0 * x, x * x]))  # noqa: B905
        other = dict((name, value * k) for name, value in table.items() if value > 0.0)  # noqa: C402
        third = dict([name.upper(), x * k] for name in NAMES)  # noqa: C402
        table.update(b=x * x, d=other.get("a", x))
        other.update(table)
        other.update(e=x)
        other.update({"c": 0.5})
        table["a"] *= third["A"] + other["c"]
        total += sum(table.values()) + sum(other.values()) * k + sum(third.values()) + len(other)
    return total


PROGRAMS = [tables, best, by_word, neighbours, nested, counted, shared, of_classes, written_in_a_try]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_written_at_once(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(4):
        check_gradient(function, 0.7, step=1e-4)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_interpreted_first(function: Callable[[float], Any]) -> None:
    for _ in range(3):
        check_gradient(function, 0.7, step=1e-4)
    check_once_warm(function)


COSTS: list[tuple[Callable[[float], Any], float]] = [
    (by_word, 35.0),
    (neighbours, 26.0),
    (nested, 45.0),
    (counted, 120.0),
    (tables, 40.0),
]
"""How many times the instructions of the plain function its gradient may execute."""


@pytest.mark.parametrize(("function", "times"), COSTS, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.usefixtures("at_once")
def test_what_it_costs(function: Callable[[float], Any], times: float) -> None:
    gradient = adbc.grad(function)
    for _ in range(12):
        gradient(0.7)
    assert executed(lambda: gradient(0.7)) < times * executed(lambda: function(0.7))


def held(table: Any, x: float) -> Any:
    """Of a dict that is an argument."""
    total = 0.0
    for k in range(4):
        table["a"] += x * table["b"]
        total += table["a"] * table[k]
    return total


@pytest.mark.parametrize("factory", [float, int, lambda: 0.5, lambda: 2])
def test_an_argument_is_left_as_it_was(factory: Any, speculation: str) -> None:
    table: Any = defaultdict(factory, {"a": 1.5, "b": 0.5})
    for _ in range(4):
        gradient = adbc.grad(held, 1)(table, 0.7)
        assert dict(table) == {"a": 1.5, "b": 0.5}
        plain = [held(defaultdict(factory, table), 0.7 + step) for step in (1e-6, -1e-6)]
        assert gradient == pytest.approx((plain[0] - plain[1]) / 2e-6, rel=1e-6, abs=1e-9)
        assert adbc.jvp(held, (defaultdict(factory, table), 0.7), (adbc.zero_tangent(table), 1.0))[
            1
        ] == pytest.approx(gradient)


def test_what_a_counter_gives_may_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(x: float) -> Any:
        counter: Any = Counter()
        for k in range(3):
            counter[k] += x
        return sum(counter.values()) * counter["other"] + counter[0]

    gradient = adbc.grad(total)
    for _ in range(50):
        assert gradient(0.5) == 1.0
    monkeypatch.setattr(Counter, "__missing__", lambda self, key: 2.0)
    assert gradient(0.5) == 7.0


def test_what_is_missing_without_a_factory() -> None:
    def missing(x: float) -> Any:
        table: Any = defaultdict(None)
        table["a"] = x
        return table["a"] * table["b"]

    for _ in range(3):
        with pytest.raises(KeyError, match="'b'"):
            adbc.grad(missing)(0.5)
        with pytest.raises(KeyError, match="'b'"):
            adbc.jvp(missing, (0.5,), (1.0,))


def wrong_pairs(kind: int, x: float) -> Any:
    seen: list[Any] = []

    def parts() -> Any:
        for item in ((1, x), [2, x], "ab", (3, x, x) if kind == 0 else x if kind == 1 else ([], x)):
            seen.append(x)
            yield item

    try:
        table: Any = dict(item for item in parts())  # noqa: C402
    except (TypeError, ValueError) as error:
        return len(seen) * x + (len(str(error)) if kind < 2 else 0.0)
    return table[1]


@pytest.mark.parametrize("kind", range(3))
def test_what_is_no_pair(kind: int, speculation: str) -> None:
    for _ in range(3):
        assert adbc.grad(wrong_pairs, 1)(kind, 0.5) == 4.0
        assert adbc.value_and_grad(wrong_pairs, 1)(kind, 0.5)[0] == wrong_pairs(kind, 0.5)
        assert adbc.jvp(lambda x: wrong_pairs(kind, x), (0.5,), (1.0,)) == (wrong_pairs(kind, 0.5), 4.0)
