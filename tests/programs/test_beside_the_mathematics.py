"""What programs do beside the mathematics: text, tables, enumerations, exceptions that are expected.

It is right in every way that code is written, and costs what it costs by itself a few times, not hundreds.
"""

from __future__ import annotations

import enum
import math
import re
import string
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from benchmarks.instructions import executed
from tests.programs.checks import check_gradient, check_once_warm

LINE = string.Template("$count pieces at $$$price: $total")
TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>\w+)|(?P<operator>.))")


def bill(x: float) -> Any:
    lines, total = [], 0.0
    for k in range(1, 9):
        price = x * k
        total += price * price
        lines.append(LINE.substitute(count=k, price=f"{price:.2f}", total=total))
    text = "\n".join(lines)
    return total * len(LINE.template) + len(text.splitlines()) * x


def tokens(x: float) -> Any:
    """A tokenizer that runs while text of numbers with a derivative is about."""
    said, total = [], 0.0
    names = {"x": x, "y": x * x}
    for source in ("2 * x + 3.5 * y", "y * y + x", "x*x*0.25 + 12"):
        said.append(f"{source} at {x}")
        sign, term = "+", 1.0
        for match in TOKEN.finditer(source):
            kind, start = match.lastgroup, match.start()
            word = source[start : match.end()].strip()
            if kind == "number":
                term *= float(match.group(kind))
            elif kind == "name":
                term *= names[word.lower()]
            elif word == "+":
                total, term = (total + term, 1.0) if sign == "+" else (total - term, 1.0)
        total += term
    return total + len(said) * x


def kept(pattern: Any, text: str, found: list[Any]) -> Any:
    found.append(pattern.sub(lambda match: match.group(0).upper() + text[:1], text))
    return found[-1]


def substitutions(x: float) -> Any:
    found: list[Any] = []
    total = 0.0
    for k in range(6):
        words = kept(re.compile(r"[aeiou]"), "some words of text", found)
        found.append(f"{words} {x * k}")
        total += x * words.count("O") + len(found) * x * x
    return total


def listed_numbers(x: float) -> Any:
    """Arrays of lists of what NumPy computes, and of tuples."""
    errors = [np.sin(x * k) * np.float64(k) for k in range(12)]
    points = [(x * k, 1.0, x * x) for k in range(12)]
    phases = [np.exp(1j * x * k) for k in range(5)]
    whole = np.array(errors) ** 2
    return whole.sum() + (np.array(points) @ np.array([1.0, x, 2.0])).sum() + np.abs(np.sum(np.array(phases)))


def shared_numbers(x: float) -> Any:
    """The list goes on to be read, changed and made an array again."""
    errors = [np.float64(x) * k for k in range(6)]
    pairs = [(x, x * k) for k in range(6)]
    first = np.array(errors)
    errors[2] = errors[3] * first[4]
    pairs[1] = (pairs[2][1], x)
    again, other = np.array(errors), np.array(pairs)
    return (first * again).sum() + errors[2] * x + (other * other).sum() + pairs[1][0]


class Suit(enum.Enum):
    CLUBS = "c"
    HEARTS = "h"
    SPADES = "s"


class Near:
    """Numbers that are equal if they are near."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Near) and abs(self.value - other.value) < 0.3

    __hash__ = None  # type: ignore[assignment]


def ranks(x: float) -> Any:
    """What looks for equal elements."""
    names = ["w", "x", "y", "z", "x"]
    suits = [Suit.SPADES, Suit.CLUBS, Suit.HEARTS]
    weights = [x, x * x, 0.5, 2.0 * x, 1.0]
    total = 0.0
    for k, name in enumerate(("x", "y", "z")):
        total += weights[names.index(name)] * names.count(name) + x * suits.index(Suit.CLUBS)
        total += x * weights.index(max(weights)) + weights[(1, "a", k).index("a")]
        if [name, k] == ["y", 1] and (k, x) < (2, x) and (name, (k, 1)) != ("y", (1, 0)):
            total += weights[names.index("x", 2)]
    near = [Near(x), Near(2.0 * x), Near(3.0 * x)]
    return total + weights[near.index(Near(2.0 * x + 0.1))] * near.count(Near(x))


def lookup(table: Any, name: str) -> Any:
    try:
        return table[name]
    except KeyError:
        return table["default"]


def defaults(x: float) -> Any:
    table = {"a": x, "default": x * x}
    total, places = 0.0, [x, 2.0]
    for name in ("a", "b", "c", "a", "d"):
        total += lookup(table, name)
        try:
            total += places[(name == "a") * 3]
        except IndexError:
            total += x
    return total


class Weight(enum.IntFlag):
    LIGHT = 1
    HEAVY = 2
    BOTH = 3


def by_member(x: float) -> Any:
    """Loops over enumerations."""
    rates = dict(zip(Suit, (x, x * x, 2.0), strict=True))
    total, places = 0.0, list(Suit)
    for k, suit in enumerate(Suit):
        total += rates[suit] * places.index(suit) + x * sorted(s.value for s in Suit).index(suit.value)
        for other in Suit:
            if other is not suit and Suit(suit.value) in (*Suit, None):
                total += rates[other] * (k + len(Suit))
    first, *rest = Suit
    try:
        for suit in Suit:
            total += rates[suit] / (len(rest) - list(Weight).index(Weight(suit is first)))
    except (ValueError, ZeroDivisionError):
        total += sum(weight.value * x for weight in Weight)
    clubs, hearts, spades = Suit
    return total + rates[hearts] * (clubs is first) + rates[spades]


def spread(x: float) -> Any:
    """Calls with the elements of generators."""
    parts = [lambda v: v, lambda v: v * v, lambda v: 1.0 + v]
    functions: dict[str, Any] = {"hypot": math.hypot, "max": max, "sum": lambda *args: sum(args)}
    total = 0.0
    for name, function in functions.items():
        total += function(*(part(x * k) for k, part in enumerate(parts, 1)))
        total += len(", ".join(f"{name}{k}" for k in range(4))) * x
        total += weighted(*(part(x) for part in parts), **{"by": total})
    return total


def weighted(*values: Any, by: Any) -> Any:
    return sum(value * by for value in values)


def stopped(x: float) -> Any:
    """A generator that raises while its elements are gathered for a call."""
    seen: list[Any] = []

    def parts(n: int) -> Any:
        for k in range(5):
            seen.append(x * k)
            if k == n:
                raise ValueError(k)
            yield x * k

    total = 0.0
    for n in (2, 7):
        try:
            total += max(*parts(n)) * x
        except ValueError:
            total += seen[-1]
    return total + len(seen) * x


PROGRAMS = [
    bill, tokens, substitutions, listed_numbers, shared_numbers, ranks, defaults, by_member, spread, stopped,
]  # fmt: skip


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
    (bill, 270.0),
    (tokens, 140.0),
    (substitutions, 130.0),
    (ranks, 90.0),
    (defaults, 29.0),
    (by_member, 140.0),
    (spread, 60.0),
    (listed_numbers, 28.0),
]
"""How many times the instructions of the plain function its gradient may execute."""


@pytest.mark.parametrize(("function", "times"), COSTS, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.usefixtures("at_once")
def test_what_it_costs(function: Callable[[float], Any], times: float) -> None:
    gradient = adbc.grad(function)
    for _ in range(12):
        gradient(0.7)
    assert executed(lambda: gradient(0.7)) < times * executed(lambda: function(0.7))


def read_again(x: float) -> Any:
    text = f"{x} and 2"
    return float(next(TOKEN.finditer(text)).group("number"))


def read_part(x: float) -> Any:
    return float(f"x = {x}"[4:])


def read_match(x: float) -> Any:
    match = TOKEN.match(f"{x}")
    assert match is not None
    return x * float(match[0])


@pytest.mark.parametrize("function", [read_again, read_part, read_match], ids=lambda f: f.__name__)
def test_numbers_read_from_text_are_refused(function: Callable[[float], Any], speculation: str) -> None:
    for _ in range(3):
        with pytest.raises(UnsupportedError, match="reads a number from"):
            adbc.grad(function)(0.7)
        with pytest.raises(UnsupportedError, match="reads a number from"):
            adbc.jvp(function, (0.7,), (1.0,))


def test_enumerations_that_grow() -> None:
    class Stage(enum.Enum):
        FIRST = 1
        SECOND = 2

    def total(x: float) -> Any:
        result = 0.0
        for stage in Stage:
            result += x**stage.value
        return result * len(list(Stage))

    gradient = adbc.grad(total)
    for _ in range(60):
        assert gradient(2.0) == pytest.approx(2.0 * (1.0 + 2.0 * 2.0))
    third = object.__new__(Stage)
    third._name_, third._value_ = "THIRD", 3
    Stage._member_map_["THIRD"] = third  # as libraries do that add to enumerations
    Stage._member_names_.append("THIRD")
    assert gradient(2.0) == pytest.approx(3.0 * (1.0 + 2.0 * 2.0 + 3.0 * 4.0))


def test_who_else_gives_the_members(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(x: float) -> Any:
        return sum(len(suit.value) * x for suit in Suit)

    gradient = adbc.grad(total)
    assert gradient(2.0) == 3.0
    monkeypatch.setattr(enum.EnumType, "__iter__", lambda cls: iter([Suit.CLUBS]))
    assert gradient(2.0) == 1.0
