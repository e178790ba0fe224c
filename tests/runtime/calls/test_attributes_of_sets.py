"""Attributes of instances of classes derived from set: a set has no tangent, its dictionary has one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import adbc


class Marked(set):
    def __init__(self, elements, weight):
        super().__init__(elements)
        self.weight = weight
        self.seen = [weight]

    def add(self, element):
        self.weight = self.weight * 2.0
        super().add(element)


class Open(set):
    """Has a dictionary, and no attributes so far."""


class Frozen(frozenset):
    """Has a dictionary, and no attributes so far."""


class Slotted(set):
    __slots__ = ("place",)


class Loud(set):
    """Has methods that the C code of sets does not call."""

    def __iter__(self):
        self.asked = self.asked * 3.0
        return super().__iter__()

    def __contains__(self, element):
        self.asked = self.asked * 5.0
        return super().__contains__(element)

    def __len__(self):
        self.asked = self.asked * 7.0
        return super().__len__()


KEPT = Marked([1], 2.0)


def right(f: Any, x: float = 1.3) -> None:
    value, step = f(x), 1e-6
    slope = (f(x + step) - f(x - step)) / (2.0 * step)
    assert adbc.jvp(f, (x,), (1.0,)) == pytest.approx((value, slope), rel=1e-6)
    for _ in range(2):
        assert adbc.value_and_grad(f)(x) == pytest.approx((value, slope), rel=1e-6)


def test_attributes_are_followed_by_all_names():
    def f(x):
        s = Marked([1, 2], x)
        same = s
        s.add(3)
        s.add(2)
        s.seen.append(x * x)
        s.more = s.weight * x
        vars(s)["last"] = s.more * x
        s.discard(1)
        return same.weight + s.more * len(s) + same.last + sum(s.seen) + (2 in s)

    right(f)


@pytest.mark.parametrize("cls", [Open, Frozen])
def test_copies_have_attributes_of_their_own(cls):
    def f(x):
        s = cls([1, 2])
        s.weight = x * x
        t, u = copy.copy(s), copy.deepcopy(s)
        s.weight = s.weight * x
        return s.weight + t.weight * u.weight + len(t | {3})

    right(f)


def test_constants_are_changed_and_restored():
    def f(s, x):
        s.weight = s.weight * x
        s.seen.append(x)
        s.add(7)
        return s.weight + s.seen[0] + s.seen[1] * 2.0

    s = Marked([1], 2.0)
    assert adbc.value_and_grad(f, 1)(s, 3.0) == (20.0, 6.0)
    assert (s, vars(s)) == ({1}, {"weight": 2.0, "seen": [2.0]})
    assert adbc.value_and_grad(lambda held, x: held["it"].weight * x, 1)({"it": s}, 3.0) == (6.0, 2.0)


def test_a_set_of_the_module_is_changed_and_restored():
    def f(x):
        KEPT.weight = KEPT.weight * x
        KEPT.add(5)
        return KEPT.weight * x

    for _ in range(2):
        assert adbc.value_and_grad(f)(3.0) == (36.0, 24.0)
        assert (KEPT, vars(KEPT)) == ({1}, {"weight": 2.0, "seen": [2.0]})


def test_as_an_argument_with_numbers_beside_it_is_refused():
    s = Marked([1], 2.0)
    with pytest.raises(adbc.errors.UnsupportedError, match="a value like set with attributes besides"):
        adbc.grad(lambda s: s.weight * 2.0)(s)
    with pytest.raises(adbc.errors.UnsupportedError, match="a value like set with attributes besides"):
        adbc.grad(lambda held: held[0].weight * held[1])([s, 1.0])


def test_as_a_result_with_a_derivative_beside_it_is_refused():
    def f(x):
        s = Frozen([1])
        s.weight = x
        return s, x

    for take in (lambda: adbc.jvp(f, (2.0,), (1.0,)), lambda: adbc.vjp(f, 2.0)):
        with pytest.raises(adbc.errors.UnsupportedError, match="attributes that have a derivative"):
            take()


def test_an_attribute_in_a_slot_is_refused():
    def f(x):
        s = Slotted()
        s.place = x
        return s.place

    with pytest.raises(adbc.errors.ConstWriteError, match="no derivatives are kept"):
        adbc.grad(f)(2.0)


USES = {
    "add": lambda s, x: s.add(9),
    "update": lambda s, x: s.update([8, 9], (7,), {6}, (y for y in (5, 4))),
    "update by one of its kind": lambda s, x: s.update(s),
    "discard": lambda s, x: s.discard(1),
    "remove": lambda s, x: s.remove(2),
    "remove what is not there": lambda s, x: s.remove(99),
    "clear": lambda s, x: s.clear(),
    "pop": lambda s, x: s.pop(),
    "made again": lambda s, x: s.__init__([11, 12]),
    "made of what is none": lambda s, x: s.__init__(x),
    "in": lambda s, x: 1 in s,
    "length": lambda s, x: len(s),
    "elements": lambda s, x: sorted(s),
    "or": lambda s, x: s | {9},
    "in place": lambda s, x: s.__ior__({9}),
    "less": lambda s, x: s <= {1, 2, 3, 4},
    "text": lambda s, x: repr(s),
    "text of a list": lambda s, x: repr([s]),
    "made a set": lambda s, x: {1}.union(set(s), s, frozenset(s)),
}


@pytest.mark.parametrize("use", USES)
def test_methods_in_python_are_called_where_the_interpreter_calls_them(use):
    def f(x):
        s = Loud([1, 2, 3])
        s.asked = x
        try:
            USES[use](s, x)
        except (KeyError, TypeError):
            s.asked = s.asked * 2.0
        return s.asked * x + 0.1 * sum(set.__iter__(s))

    def refused(take):
        try:
            return take()
        except adbc.AdbcError:
            return None

    value, slope = f(1.3), (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    answers = [refused(lambda: adbc.jvp(f, (1.3,), (1.0,)))]
    answers += [refused(lambda: adbc.value_and_grad(f)(1.3)) for _ in range(2)]
    for answer in answers:
        assert answer is None or answer == pytest.approx((value, slope), rel=1e-6)
    assert use in REFUSED or None not in answers


REFUSED = {"text", "text of a list"}
"""What the interpreter makes text of by methods that change what has a derivative."""
