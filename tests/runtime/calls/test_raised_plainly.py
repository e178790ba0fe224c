"""What exceptions hold that were raised by code of a library which was called as it is: its own constants.

The same code is followed in other calls, and then that was known; so a derivative was refused from some call
on.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import adbc
from adbc.testing import test_rule as check_rule
from tests.installed import installed

SOURCE = '''
"""Parsers that say by exceptions where they stopped."""


class Stop(Exception):
    __slots__ = ("element", "at", "more")

    def __init__(self, text, at, element):
        super().__init__(text, at, 0.25)
        self.element, self.at = element, at
        self.more = [2.0, {"a": 1.5}]


class Note(Exception):
    def __init__(self, weight, element):
        self.weight = weight
        self.element = element


class Letter:
    def __init__(self, letter, weight):
        self.letter, self.weight = letter, weight

    def parse(self, text, at):
        if text[at] == self.letter:
            return at + 1
        raise Stop(text, at, self)

    def note(self, text):
        raise Note(0.5, self)


class Many:
    def __init__(self, inner, action):
        self.inner, self.action = inner, action

    def parse(self, text, at):
        """Code that is followed for its action's sake, around code that is not."""
        try:
            while True:
                at = self.inner.parse(text, at)
                self.action()
        except Stop as error:
            error.element = error.element or self
            raise


class Name(str):
    __slots__ = ("kind",)

    def __new__(cls, kind, text):
        made = str.__new__(cls, text)
        made.kind = kind
        return made


class Names(frozenset):
    def __repr__(self):
        return "{%s}" % ", ".join(map(repr, self))


class Pointer:
    __slots__ = ("name", "index")

    def __init__(self, name, index):
        self.name, self.index = name, index


def callbacks(names, actions):
    found = {}
    for name in names:
        try:
            found[name] = getattr(actions, name)
        except AttributeError:
            found[name] = None
    return found, Names({Pointer(name, 0) for name in names})
'''


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with installed(tmp_path_factory, "raising_letters", SOURCE) as module:
        yield module


def programs(letters: ModuleType) -> dict[str, Any]:
    """By name, functions of a number that look at what was raised."""
    letter = letters.Letter("a", 3.0)

    def an_object(x: float) -> float:
        try:
            letter.parse("abc", 1)
        except letters.Stop as error:
            return x * x * error.element.weight * error.at
        return 0.0

    def the_arguments(x: float) -> float:
        try:
            letter.parse("abc", 1)
        except letters.Stop as error:
            return x * x * error.args[2] * len(error.args[0])
        return 0.0

    def what_is_written_there(x: float) -> float:
        try:
            letter.parse("abc", 1)
        except letters.Stop as error:
            error.more[0] = x * x
            error.more[1]["a"] *= x
            return float(x * error.more[0] * error.more[1]["a"])
        return 0.0

    def a_number_that_is_set(x: float) -> float:
        try:
            letter.note("abc")
        except letters.Note as error:
            error.weight = error.weight * x
            return float(x * error.element.weight * error.weight)
        return 0.0

    def written_by_its_name(x: float) -> float:
        """The object that the exception holds is the global one."""
        try:
            letter.note("abc")
        except letters.Note as error:
            error.element.weight = x * x
            found = x * letter.weight
            letter.weight = 3.0
            return found
        return 0.0

    def with_an_action(x: float) -> float:
        found = [x]
        try:
            letters.Many(letter, lambda: found.append(found[-1] * x)).parse("aab", 0)
        except letters.Stop as error:
            return found[-1] * error.element.weight
        return 0.0

    def raised_again(x: float) -> float:
        kept = []
        for text in ("ab", "ba"):
            try:
                letters.Many(letter, lambda: None).parse(text, 0)
            except letters.Stop as error:
                error.at *= x
                kept.append(error)
        try:
            raise kept[0]
        except letters.Stop as error:
            return x * error.at * len(kept)

    return {f.__name__: f for f in vars().values() if callable(f) and f is not letters}


NAMES = (
    "an_object", "the_arguments", "what_is_written_there", "a_number_that_is_set", "written_by_its_name",
    "with_an_action", "raised_again",
)  # fmt: skip


@pytest.mark.parametrize("warm_after", [0, 40])
@pytest.mark.parametrize("name", NAMES)
def test_what_it_holds_is_known_in_each_call(letters: ModuleType, name: str, warm_after: int) -> None:
    program = programs(letters)[name]
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for x in (0.7, 1.3, 0.7):
            for _ in range(2):
                check_rule(program, x)
                slope = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
                assert adbc.value_and_grad(program)(x) == (program(x), pytest.approx(slope))
                assert adbc.jvp(program, (x,), (1.0,)) == (program(x), pytest.approx(slope))


class Actions:
    def __init__(self, v: float) -> None:
        self.v = v


@pytest.mark.parametrize("warm_after", [0, 40])
def test_names_that_an_error_says_are_no_numbers(letters: ModuleType, warm_after: int) -> None:
    """They are texts of a class of their own, without a digit, and an object with a derivative has none of
    such a name."""
    names = tuple(letters.Name("a kind", text) for text in ("v", "start", "nan"))

    def f(x: float) -> Any:
        found, pointers = letters.callbacks(names, Actions(x))
        return found["v"] * x + len(pointers) * x

    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(4):
            assert adbc.value_and_grad(f)(2.0) == (10.0, 7.0)
            assert adbc.jvp(f, (2.0,), (1.0,)) == (10.0, 7.0)
