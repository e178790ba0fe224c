"""Classes derived from those of the interpreter: what they say in Python is run once, and followed."""

from __future__ import annotations

import types
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule
from tests.programs.language import inherited


class Tally:
    count = 0


def asked_in_a_function(x, u):
    class Flag(int):
        def __bool__(self):
            u[0] = u[0] * 1.1 + 0.1 * x
            return False

    def chosen(o):
        return 2.0 if o else 3.0

    o = Flag(3)
    return (lambda: chosen(o))() + 0.3 * sum(u)


def asked_where_it_is_made(x, u):
    class Flag(int):
        def __bool__(self):
            u[0] = u[0] * 1.1 + 0.1 * x
            return True

        def __len__(self):
            u[0] *= x
            return 2

    return (2.0 if Flag(3) else 3.0) * len(Flag(3)) + 0.3 * sum(u) + (not Flag(0))


def asked_for_elements(x, u):
    class Word(str):
        def __iter__(self):
            u[0] += x
            return iter("ab")

        def __contains__(self, other):
            u[0] *= x
            return True

    def count(word):
        return sum(1.0 for _ in word) + ("z" in word)

    return count(Word("xyz")) + u[0]


def handed_to_methods(x, u):
    class Row(tuple):
        def __iter__(self):
            u[0] = u[0] * 1.1 + 0.1 * x
            return iter([x, 2.0])

        def __bool__(self):
            return False

        def first(self):
            return self[0]

    row = Row((x, 3.0))
    return (2.0 if row else 3.0) * row.first() + sum(u)


def on_the_right(x, u):
    class Number(int):
        def __add__(self, other):
            u[0] *= x
            return x + 1.0

        def __radd__(self, other):
            return 100.0 * x

        def __rmul__(self, other):
            return 100.0 * x

    o = Number(3)
    return (o + 1.0) + (x + o) + (x * o) + (x**o) + u[0]


def at_positions(x, u):
    class Number(int):
        def __index__(self):
            u[0] *= x
            return 0

    values = [x, 2.0 * x, x * x]
    o = Number(1)
    values[o] *= 3.0
    return values[o] + sum(values[o:]) + len(range(o)) + u[0]


def by_a_metaclass(x, u):
    class Counting(type):
        def __call__(cls, *args):
            u[0] += x
            return super().__call__(*args)

    class Names(set, metaclass=Counting):
        def __bool__(self):
            return False

    class Numbers(list, metaclass=Counting):
        pass

    names, numbers = Names(["a"]), Numbers([x, 2.0])
    return (2.0 if names else 3.0) * len(names) * sum(numbers) + u[0]


def remainders_of_text(x, u):
    class Word(str):
        def __mod__(self, other):
            u[0] = u[0] * 1.1 + x
            return x * other

    class Raw(bytes):
        def __mod__(self, other):
            return x * other

    class Grown(str):
        def __imod__(self, other):
            return x * 3.0 * other

    class Last(str):
        def __rmod__(self, other):
            return x * 5.0

    class Asked(str):
        def __rmod__(self, other):
            u[0] = u[0] * 1.2 + x
            return NotImplemented

    grown = Grown("a")
    grown %= x
    y = (Word("a") % x) + (Word("%s") % 2.0) + (Raw(b"a") % 3.0) + grown
    text = "a"
    y += text % Last("b")
    return y + x * len("ab%s" % Asked("c")) + x * len(Asked("%s") % "ab") + u[0]


def bound_to_constants(x, u):
    """A method whose object is a constant, and whose function is an object with a state."""

    class Grows:
        def __init__(self, v):
            self.v = v

        def __call__(self, o):
            self.v = self.v * u[0]
            return self.v * o

    grows = Grows(x)
    method, other = types.MethodType(grows, 3), types.MethodType(grows, "word")
    held = {"method": method}
    return method() + held["method"]() + len(other.__self__) * other.__func__.v + grows.v


@pytest.mark.parametrize(
    "f",
    [
        bound_to_constants,
        remainders_of_text,
        asked_in_a_function,
        asked_where_it_is_made,
        asked_for_elements,
        handed_to_methods,
        on_the_right,
        at_positions,
        by_a_metaclass,
    ],
)
@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
def test_programs(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(f, 1.5, [1.2])


@pytest.mark.parametrize("name", ["stack", "numbers", "tuples", "records"])
def test_methods_of_the_base(name: str) -> None:
    function, (x,) = inherited.case[name]
    h = 1e-6
    expected = (function(x + h) - function(x - h)) / (2 * h)
    with adbc.use(adbc.Config(speculation="dynamic")):
        assert adbc.grad(function)(x) == pytest.approx(expected, rel=1e-7)
        assert adbc.jvp(function, (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)


def test_the_value_of_a_function_may_be_a_number_of_a_class_of_its_own() -> None:
    class Metres(float):
        pass

    assert adbc.value_and_grad(lambda x: Metres(x * x))(3.0) == (9.0, 6.0)
