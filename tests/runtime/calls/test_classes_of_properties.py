"""Classes derived from `property` that do something else, and properties that cannot do what is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from tests.programs.checks import check_five_calls


class Doubled(property):
    """What is read is twice what the getter gives, and what is written is squared."""

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return super().__get__(owner, cls) * 2.0

    def __set__(self, owner: Any, value: Any) -> None:
        super().__set__(owner, value * value)

    def __delete__(self, owner: Any) -> None:
        owner.side = 5.0


class Kept(property):
    """A property without a setter that is computed once, and can be set."""

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)["kept"] = value

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if "kept" not in vars(owner):
            vars(owner)["kept"] = super().__get__(owner, cls)
        return vars(owner)["kept"]


class Square:
    def __init__(self, side: Any) -> None:
        self.side = side

    def _read(self) -> Any:
        return self.side * self.side

    def _write(self, value: Any) -> None:
        self.side = value

    def _drop(self) -> None:
        self.side = 0.0

    area = Doubled(_read, _write, _drop)
    lazy = Kept(_read)
    fixed = property(_read)
    hidden = property(None, _write)


class Answering(Square):
    def __getattr__(self, name: str) -> Any:
        return self.side * len(name)


class Inner(Square):
    def read(self) -> Any:
        return super().area


class Meta(type):
    size: Any

    def _read(cls) -> Any:
        return cls.size

    def _write(cls, value: Any) -> None:
        cls.size = value

    twice = Doubled(_read, _write)


def of_a_class(x: Any) -> Any:
    class Made(metaclass=Meta):
        size = 2.0

    Made.twice = x
    return Made.twice


def is_set(x: Any) -> Any:
    square = Square(x)
    square.area = 3.0 * x
    return square.area


def is_deleted(x: Any) -> Any:
    square = Square(x)
    del square.area
    return square.area * x


def is_kept(x: Any) -> Any:
    square = Square(x)
    first = square.lazy
    square.side = 7.0
    return first * square.lazy


def is_kept_when_set(x: Any) -> Any:
    square = Square(x)
    square.lazy = 3.0 * x
    return square.lazy * square.side


def of_several(x: Any) -> Any:
    total = 0.0
    for square in [Square(x), Inner(2.0 * x), Square(x * x)]:
        square.area = square.area * x
        total += square.area + square.lazy
    return total


def without_a_setter(x: Any) -> Any:
    square = Square(x)
    try:
        square.fixed = 3.0 * x
    except AttributeError as error:
        square.side = x * len(str(error))
    return square.fixed


def without_a_deleter(x: Any) -> Any:
    square = Square(x)
    try:
        del square.fixed
    except AttributeError:
        square.side = x * x
    return square.fixed


def without_a_getter(x: Any) -> Any:
    square = Square(x)
    square.hidden = 3.0 * x
    try:
        return square.hidden
    except AttributeError:
        return square.side * x


def in_a_loop(x: Any) -> Any:
    squares = [Square(x), Square(2.0 * x)]
    for name in ("fixed", "side"):
        for square in squares:
            try:
                setattr(square, name, x * x)
            except AttributeError:
                square.side *= x
    return squares[0].fixed + squares[1].fixed


PROGRAMS = [
    of_a_class, is_set, is_deleted, is_kept, is_kept_when_set, of_several, without_a_setter,
    without_a_deleter, without_a_getter, in_a_loop, lambda x: Inner(x).read(),
]  # fmt: skip


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients(f: Callable[[Any], Any], warm_after: int) -> None:
    check_five_calls(f, warm_after, rel=1e-7)


def test_what_has_no_getter_but_a_method_that_answers_is_refused() -> None:
    def f(x: Any) -> Any:
        return Answering(x).hidden * x

    assert f(2.0) == 24.0
    for differentiated in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(adbc.MissingRuleError, match="'hidden'"):
            differentiated()
