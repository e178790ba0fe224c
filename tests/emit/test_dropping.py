"""The round trip of functions that leave generators: what these have still to do comes in the same order."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adbc.inspect import round_trip, roundtrip
from adbc.lift import lift
from tests.runtime.calls import dropping
from tests.runtime.calls.dropping import DROPPED, Program
from tests.runtime.calls.test_dropped_generators import REFUSED

from .checking import checked_roundtrip, opnames

LOG: list[Any] = []


@functools.cache
def copies(normal: bool) -> dict[types.FunctionType, types.CodeType]:
    """The round trips of all functions of the programs."""
    functions = [f for f in vars(dropping).values() if isinstance(f, types.FunctionType)]
    ours = [f for f in functions if f.__module__ == dropping.__name__]
    return {f: checked_roundtrip(f, normal=normal).__code__ for f in ours}


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize("program", [*DROPPED, *REFUSED], ids=lambda f: f.__name__)
def test_generators_are_dropped_where_the_program_drops_them(
    program: Program, normal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the generators that they call, which leave others in turn."""
    assert isinstance(program, types.FunctionType)
    a = [1.3]
    expected = program(a, 0.7), a[:]
    copy = checked_roundtrip(program, normal=normal)
    for function, code in copies(normal).items():
        monkeypatch.setattr(function, "__code__", code)
    a = [1.3]
    assert (copy(a, 0.7), a) == expected


def noting(name: str) -> Iterator[int]:
    try:
        yield 1
        yield 2
    finally:
        LOG.append(name)


def note(name: str, value: int = 0) -> int:
    LOG.append(name)
    return value


def of_parameter(g: Iterator[int]) -> None:
    next(g)
    note("behind next")


def looping_over_parameter(g: Iterator[int]) -> None:
    for _ in g:
        break
    note("behind the loop")


def looping_in_handler() -> int:
    try:
        raise ValueError
    except ValueError:
        for k in noting("in handler"):
            return note("value", k)
    return 0


def raising_with_value() -> None:
    for k in noting("raising"):
        raise ValueError(note("value", k))


def two_and_a_finally() -> int:
    try:
        for _ in noting("outer"):
            for k in noting("inner"):
                try:
                    if k:
                        return note("value", k)
                finally:
                    note("finally")
    finally:
        note("last")
    return 0


def continuing() -> int:
    total = 0
    for k in noting("outer"):
        for j in noting("inner"):
            try:
                if j == 1:
                    continue
                total += note("body", k)
                break
            finally:
                note("finally")
    return total


def with_else() -> int:
    for k in noting("first"):
        if k == 2:
            break
    else:
        note("else")
    note("between")
    for _ in noting("second"):
        pass
    else:
        note("else")
    return note("value")


def caught_inside() -> None:
    for _ in noting("caught"):
        try:
            raise ValueError
        except ValueError:
            note("handler")
            break
        finally:
            note("finally")
    note("behind")


def overwritten() -> None:
    g = noting("first")
    next(g)
    g = noting("second")
    note("between")
    next(g)
    del g
    note("behind")


def in_variables_of_generator() -> None:
    def inner() -> Iterator[int]:
        g = noting("variable")
        next(g)
        for k in noting("stack"):
            yield k + 1

    for _ in inner():
        note("body")
        break
    note("behind")


CASES: list[Callable[[], object]] = [
    looping_in_handler,
    raising_with_value,
    two_and_a_finally,
    continuing,
    with_else,
    caught_inside,
    overwritten,
    in_variables_of_generator,
]


def events(function: Callable[..., object], *arguments: Callable[[], object]) -> list[Any]:
    LOG.clear()
    try:
        LOG.append(function(*[make() for make in arguments]))
    except ValueError as error:
        LOG.append(("raised", error.args))
    note("end")
    return LOG[:]


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_events(function: Any, normal: bool) -> None:
    assert events(checked_roundtrip(function, normal=normal)) == events(function)


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize("function", [of_parameter, looping_over_parameter], ids=lambda f: f.__name__)
def test_a_parameter_is_let_go_of_where_the_function_lets_go(function: Any, normal: bool) -> None:
    copy = checked_roundtrip(function, normal=normal)
    assert events(copy, lambda: noting("parameter")) == events(function, lambda: noting("parameter"))


def over_range(n: int) -> int:
    total = 0
    for k in range(n):
        if k > 10:
            return total + k
        total += k
    return total


def over_list(values: list[int]) -> int:
    total = 0
    for k in values:
        for j in values:
            total += k * j
    return total


def over_list_left_early(values: list[int]) -> int:
    total = 0
    for k in values:
        if k > 10:
            break
        total += k
    return total


@pytest.mark.parametrize("function", [over_range, over_list, over_list_left_early], ids=lambda f: f.__name__)
def test_loops_that_need_nothing_are_as_short_as_ever(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code is that of a graph that says nothing about letting go; a parameter keeps its variable."""

    def plain(code: types.CodeType, *, globals: Any, releases: bool = False) -> Any:
        return lift(code, globals=globals)

    copy = roundtrip(function).__code__
    monkeypatch.setattr(round_trip, "lift", plain)
    expected = roundtrip(function).__code__
    assert opnames(copy) == opnames(expected)
    assert copy.co_code == expected.co_code or function is over_list_left_early


class Ring:
    """A ring of links with one link, that an iterator over it goes round."""

    def __init__(self) -> None:
        self.root = self.link = types.SimpleNamespace()
        self.root.next = self.root

    def steps(self) -> Iterator[int]:
        root = self.root
        link = root.next
        yield 1
        while link is not root:
            yield 2
            link = link.next


def test_a_sleeping_generator_holds_its_parameters() -> None:
    for function in (Ring.steps, checked_roundtrip(Ring.steps)):
        ring = Ring()
        gone = weakref.ref(ring)
        steps = function(ring)
        del ring
        assert next(steps) == 1
        assert gone() is not None
        assert next(steps, None) is None
        assert gone() is None
