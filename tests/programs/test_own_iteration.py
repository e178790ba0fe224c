"""Objects that say themselves what they are iterated over by: by a generator, a generator expression, an
iterator in C or of another object; in variables, fields, lists and closures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

import adbc
from tests.programs.checks import (
    check_five_calls,
    check_gradient,
    check_once_warm,
    check_second_derivative,
)

SCALES = [0.5, 1.0, 1.5, 2.0]


class Bag:
    """Numbers, and which of them are wanted."""

    def __init__(self, x: float) -> None:
        self.items = [x * s for s in SCALES]
        self.wanted = [True, False, True, True]

    def doubled(self) -> Iterator[float]:
        for item in self.items:
            yield 2.0 * item

    def pairs(self) -> Iterator[tuple[float, bool]]:
        return zip(self.items, self.wanted)

    def chosen(self, least: float = 0.5) -> Iterator[float]:
        return (item * item for item in self.items if item > least)

    def mapped(self) -> Iterator[float]:
        return map(math.sin, self.items)

    @property
    def halves(self) -> Iterator[float]:
        return (0.5 * item for item in self.items)

    @property
    def numbered(self) -> Iterator[tuple[int, float]]:
        return enumerate(self.items, 1)

    def either(self, is_mapped: bool) -> Iterator[float]:
        return self.mapped() if is_mapped else (item for item in self.items)


class ByList(Bag):
    def __iter__(self) -> Iterator[float]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class ByExpression(Bag):
    def __iter__(self) -> Iterator[float]:
        return (item * item for item, is_wanted in zip(self.items, self.wanted, strict=True) if is_wanted)


class ByMethod(Bag):
    def __iter__(self) -> Iterator[float]:
        return self.doubled()


class ByDelegation(Bag):
    def __iter__(self) -> Iterator[float]:
        yield from self.items
        yield self.items[0] * self.items[1]


class ByMap(Bag):
    def __iter__(self) -> Iterator[float]:
        return map(math.sin, self.items)


class ByChain(Bag):
    def __iter__(self) -> Iterator[float]:
        return itertools.chain(self.items, reversed(self.items), [1.0])


class ByItself(Bag):
    def __iter__(self) -> ByItself:
        self.at = 0
        return self

    def __next__(self) -> float:
        self.at += 1
        if self.at > len(self.items):
            raise StopIteration
        return self.items[self.at - 1] ** 2


class ByDict:
    def __init__(self, x: float) -> None:
        self.rates = {"a": x, "bc": x * x, "d": 2.0 * x}

    def __iter__(self) -> Iterator[str]:
        return iter(self.rates)

    def __getitem__(self, name: str) -> float:
        return self.rates[name]

    def items(self) -> Iterable[tuple[str, float]]:
        return ((name, rate * len(name)) for name, rate in self.rates.items())


CLASSES: list[Callable[[float], Any]] = [
    ByList, ByExpression, ByMethod, ByDelegation, ByMap, ByChain, ByItself,
]  # fmt: skip


class Holder:
    def __init__(self, bag: Any) -> None:
        self.bag = bag

    def total(self) -> float:
        total = 0.0
        for k in range(3):
            for item in self.bag:
                total += item * (k + 1)
            total += sum(item * item for item in self.bag)
        return total + max(self.bag) - min(self.bag)


def of_class(cls: Callable[[float], Any]) -> list[Callable[[float], float]]:
    def in_a_field(x: float) -> float:
        return Holder(cls(x)).total()

    def in_a_closure(x: float) -> float:
        bag = cls(x)
        total = 0.0
        for k in range(3):
            for item in bag:
                total += item * k
        return total + sum(bag)

    def as_an_argument(x: float) -> float:
        return walked(cls(x)) + walked(cls(2.0 * x))

    def in_a_list(x: float) -> float:
        bags = [cls(x), cls(x * x)]
        return sum(k * item for k, bag in enumerate(bags, 1) for item in bag)

    def left_early(x: float) -> float:
        total, bag = 0.0, cls(x)
        for k in range(3):
            for n, item in enumerate(bag):
                if n == k:
                    break
                total += item
        return total * x

    def in_c(x: float) -> float:
        bag = cls(x)
        both = [a * b for a, b in zip(bag, range(1, 9), strict=False)]
        return sum(sorted(bag)[:2]) + both[1] + list(bag)[0] * len(tuple(bag)) + sum(map(math.cos, bag))

    found: list[Any] = [in_a_field, in_a_closure, as_an_argument, in_a_list, left_early, in_c]
    for program in found:
        program.__name__ = f"{cls.__name__}-{program.__name__}"  # type: ignore[attr-defined]  # a class
    return found


def walked(bag: Iterable[float]) -> float:
    total = 1.0
    for item in bag:
        total = total * 0.5 + item * total
    return total


def pairs_of_a_method(x: float) -> float:
    bag = Bag(x)
    return sum(item * is_wanted for _ in range(4) for item, is_wanted in bag.pairs())


class Owner:
    """Its bag is asked for by methods and properties."""

    def __init__(self, x: float) -> None:
        self.bag = Bag(x)
        self.others = [Bag(x * x), Bag(1.5 * x)]

    def total(self) -> float:
        total = 0.0
        for k in range(3):
            for item in self.bag.chosen():
                total += item * k
            for item in self.bag.halves:
                total = 0.9 * total + item
        total += sum(self.bag.mapped()) + sum(n * item for n, item in self.bag.numbered)
        total += max(self.bag.chosen(0.1)) + len(list(self.bag.chosen())) * self.bag.items[0]
        for bag in self.others:
            total += sum(item for item in bag.chosen() if item > 0.2)
            total += sum(bag.either(True)) - sum(bag.either(False))
        return total


def members_that_give_iterators(x: float) -> float:
    return Owner(x).total()


def a_member_that_is_hidden(x: float) -> float:
    """An instance has a function of its own in the place of a method; another gives a list."""
    owner, total = Owner(x), 0.0
    for k in range(4):
        if k == 2:
            owner.bag.chosen = lambda least=0.0: iter([x, least])  # type: ignore[method-assign]
        if k == 3:
            owner.bag.chosen = lambda least=0.0: [2.0 * x, x * x]  # type: ignore[assignment, method-assign, return-value]
        for item in owner.bag.chosen():
            total += item * (k + 1)
    return total


def a_generator_that_is_kept(x: float) -> float:
    """What a method gives is taken from in two places, and stored."""
    owner = Owner(x)
    chosen = owner.bag.chosen()
    total = next(chosen) * 3.0
    for item in chosen:
        total += item
    kept = [owner.bag.chosen(), owner.bag.halves]
    return total + sum(next(each) for each in kept) + sum(sum(each) for each in kept)


class Pool(ByDict):
    """It has ``keys``, so that a dict is made of it by these."""

    def keys(self) -> Iterable[str]:
        return self.rates.keys()


class User:
    def __init__(self, x: float) -> None:
        self.pool = Pool(x)

    def total(self) -> float:
        total = 0.0
        for k in range(3):
            for name in self.pool:
                total += self.pool[name] * k
            total += dict(self.pool)["bc"] + {**self.pool}["d"]  # type: ignore[dict-item]
        return total


def dicts_of_an_object(x: float) -> float:
    return User(x).total()


def asked_when_it_is_come_to(x: float) -> float:
    """A chain asks an object for an iterator when it comes to it, and not before."""
    owner, total = Owner(x), 0.0
    owner.bag = ByList(x)
    for k, item in enumerate(itertools.chain([x, 1.0], owner.bag)):
        if k == 1:
            owner.bag.items = [x * x, 3.0]
        total += item * (k + 1)
    return total


def names_and_items(x: float) -> float:
    table, total = ByDict(x), 0.0
    for k in range(4):
        for name in table:
            total += table[name] * k
        for name, rate in table.items():
            total += rate * len(name)
    return total


class Tree:
    def __init__(self, value: float, left: Tree | None = None, right: Tree | None = None) -> None:
        self.value, self.left, self.right = value, left, right

    def __iter__(self) -> Iterator[float]:
        if self.left is not None:
            yield from self.left
        yield self.value
        if self.right is not None:
            yield from self.right


def trees(x: float) -> float:
    tree = Tree(x, Tree(x * x, None, Tree(0.5)), Tree(1.5 * x))
    return sum(k * value for k, value in enumerate(tree, 1)) + sum(tree)


PROGRAMS = [p for cls in CLASSES for p in of_class(cls)] + [
    pairs_of_a_method, names_and_items, trees, members_that_give_iterators, a_member_that_is_hidden,
    a_generator_that_is_kept, dicts_of_an_object, asked_when_it_is_come_to,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients(program: Callable[[float], float], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8):
        check_gradient(program, at)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_once_warm(program: Callable[[float], float]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("cls", CLASSES)
def test_second_derivatives(cls: Callable[[float], Any]) -> None:
    check_second_derivative(of_class(cls)[2], 0.8, rtol=1e-5, atol=1e-6)


def test_another_class_in_the_field() -> None:
    """What was of one class each time is of another, is a list, has an ``__iter__`` that changes, or a field
    that hides the method that makes the generator."""

    def program(x: float, make: Callable[[float], Any]) -> float:
        return Holder(make(x)).total()

    def hiding(x: float) -> Any:
        bag: Any = ByMethod(x)
        bag.doubled = lambda: iter([x, 3.0 * x])
        return bag

    def plain(x: float) -> Any:
        return [x, x * x]

    def compare(make: Callable[[float], Any]) -> None:
        step = 1e-6
        expected = (program(0.8 + step, make) - program(0.8 - step, make)) / (2 * step)
        value, gradient = adbc.value_and_grad(program)(0.8, make)
        assert value == program(0.8, make)
        assert gradient == pytest.approx(expected, rel=1e-6)
        assert adbc.jvp(program, (0.8, make), (1.0, None))[1] == pytest.approx(gradient, rel=1e-12)

    for cls in CLASSES:
        for _ in range(40):
            compare(cls)
        for make in (hiding, plain, *CLASSES):
            compare(make)
            compare(cls)
    before = ByList.__iter__
    try:
        for _ in range(40):
            compare(ByList)
        ByList.__iter__ = ByExpression.__iter__  # type: ignore[method-assign, assignment]
        for _ in range(3):
            compare(ByList)
    finally:
        ByList.__iter__ = before  # type: ignore[method-assign]
    compare(ByList)


def test_it_changes_in_the_middle_of_a_loop() -> None:
    def program(x: float) -> float:
        holder = Holder(ByExpression(x))
        total = 0.0
        for k in range(8):
            for item in holder.bag:
                total += item * k
            if k == 5:
                holder.bag = ByMethod(x * x)
            if k == 6:
                holder.bag = (x, 2.0 * x)
        return total

    for _ in range(60):
        check_gradient(program, 0.8)


class NoIterator(Bag):
    def __iter__(self) -> Any:
        return self.items


class Counting(Bag):
    """It is asked for its length by what makes lists of it."""

    asked = 0

    def __iter__(self) -> Iterator[float]:
        return iter(self.items)

    def __len__(self) -> int:
        Counting.asked += 1
        return len(self.items)


def test_what_is_no_iterator_is_none() -> None:
    def program(x: float) -> float:
        return sum(NoIterator(x))  # type: ignore[no-any-return, call-overload]

    with pytest.raises(TypeError, match="non-iterator of type 'list'"):
        program(0.8)
    for _ in range(60):
        with pytest.raises(TypeError, match="non-iterator of type 'list'"):
            adbc.grad(program)(0.8)


def test_lengths_are_asked_for_as_often() -> None:
    def program(x: float) -> float:
        bag = Counting(x)
        return sum(list(bag)) + sum(bag) + len(tuple(bag)) + sum(sorted(bag))

    Counting.asked = 0
    program(0.8)
    once = Counting.asked
    assert once > 0
    for _ in range(60):
        Counting.asked = 0
        assert adbc.jvp(program, (0.8,), (1.0,))[1] == pytest.approx(3 * sum(SCALES))
        assert Counting.asked == once
        Counting.asked = 0
        _, pullback = adbc.vjp(program, 0.8)
        assert Counting.asked == once
        assert pullback(1.0)[0] == pytest.approx(3 * sum(SCALES))
        assert Counting.asked == 0


class Raising(Bag):
    """It gives two numbers and then raises, always."""

    def __iter__(self) -> Iterator[float]:
        for n, item in enumerate(self.items):
            if n == 2:
                raise ValueError(item)
            yield item


def raising(x: float) -> float:
    holder, total = Holder(Raising(x)), 0.0
    for k in range(3):
        try:
            for item in holder.bag:
                total += item * (k + 1)
        except ValueError as error:
            total += error.args[0] ** 2
        try:
            total += sum(holder.bag)
        except ValueError as error:
            total += error.args[0]
    return total


@pytest.mark.parametrize("warm_after", [0, 2])
def test_an_iterator_that_raises(warm_after: int) -> None:
    """Code that is written at once knows what is behind it that never runs."""
    check_five_calls(raising, warm_after, rel=1e-8)


ORDER: list[str] = []


class Telling(Bag):
    """It tells when it is asked for an iterator."""

    def __iter__(self) -> Iterator[float]:
        ORDER.append(type(self).__name__)
        return iter(self.items)


class Other(Telling):
    pass


class Third(Telling):
    pass


def test_each_is_asked_in_its_turn() -> None:
    """One of a known class, behind one that is of another class each time."""

    def program(x: float, first: Any) -> float:
        holder: Any = Holder(Other(x))
        holder.first = first(x)
        return in_pairs(holder)

    for k in range(90):
        first = (Telling, Third, Other)[k % 3]
        ORDER.clear()
        value = program(0.8, first)
        expected = [*ORDER]
        ORDER.clear()
        assert adbc.jvp(program, (0.8, first), (1.0, None))[0] == value
        assert expected == ORDER
        assert adbc.grad(program)(0.8, first) == pytest.approx(2 * (value - 6.0) / 0.8)


def in_pairs(holder: Any) -> float:
    total = 0.0
    for _ in range(2):
        pairs = zip(holder.first, holder.bag, strict=False)
        a, b = next(pairs)
        total += a * b + len(list(pairs))
    return total
