"""Generators that are dropped where something has still to run: it runs there, or they are refused."""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import AdbcError, UnsupportedError
from adbc.testing import test_rule as check_rule

from . import dropping
from .dropping import DROPPED, Failed, Program, failing, guarded, managed

FRAMES_KEEP = {
    # The comprehension is a function, whose variables the traceback keeps.
    "comprehended": sys.version_info < (3, 12),
    # The order depends on how a generator is left.
    "expression_with_two": sys.version_info[:2] == (3, 13),
    "of_two_held": sys.version_info[:2] == (3, 13),
}
"""Where functions are refused by some versions of the interpreter."""


@pytest.mark.parametrize("function", DROPPED, ids=lambda f: f.__name__)
def test_a_dropped_generator_runs_where_it_is_dropped(function: Program) -> None:
    if FRAMES_KEEP.get(function.__name__, False):
        refused(function)
    else:
        check_rule(function, [1.3], 0.7)


def refused(function: Callable[..., float], message: str = "left suspended inside a try or with") -> None:
    with pytest.raises(UnsupportedError, match=message):
        adbc.jvp(function, ([1.3], 0.7), (None, 1.0))
    given = [1.3]
    with pytest.raises(UnsupportedError, match=message):
        adbc.value_and_grad(function, 1)(given, 0.7)


# -- what has nothing to do with being closed ------------------------------------------------------------


class Measured(Sequence[float]):
    """Is walked by the generator of `collections.abc.Sequence`, which catches an IndexError."""

    def __init__(self, values: list[float], x: float) -> None:
        self.values, self.x = values, x

    def __getitem__(self, where: Any) -> Any:
        return self.values[where] * self.x

    def __len__(self) -> int:
        return len(self.values)


def walked(a: list[float], x: float) -> float:
    row = Measured([x, 2.0, a[0]], a[0])
    total = sum(u * v for u, v in zip(row, [x, x * x]))  # noqa: B905
    first = next(iter(row))
    return total * first + collections.UserList([x, x * x, 2.0]).index(x * x)


def caught(a: list[float], x: float, fails: bool = False) -> Iterator[float]:
    for k in range(3):
        try:
            yield x * a[0] ** k
            if fails:
                raise KeyError(k)
        except (ValueError, LookupError):
            a[0] *= x
            yield a[0]
        except Exception:
            a[0] *= 2.0
        try:
            yield x
        except ArithmeticError as error:
            yield float(len(error.args))


def compared(a: list[float], x: float) -> float:
    held = [caught(a, x), caught(a, x, True), caught(a, x)]
    y = next(held[0]) + next(held[1]) * next(held[1]) + next(held[2])
    y += held[2].throw(ZeroDivisionError()) * next(held[0])  # type: ignore[attr-defined]
    held.clear()
    return y * a[0] * next(caught(a, y))


def catching_more(kind: type[BaseException] | tuple[type[BaseException], ...]) -> Callable[..., float]:
    def values(a: list[float], x: float) -> Iterator[float]:
        try:
            yield x
        except kind:
            a[0] *= x

    def dropping(a: list[float], x: float) -> float:
        held = [values(a, x)]
        y = next(held[0])
        held.clear()
        return y * a[0]

    return dropping


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("function", [walked, compared])
def test_handlers_that_do_not_catch_it_do_not_matter(function: Program, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation, verify=True)):
        for _ in range(3):
            check_rule(function, [1.3], 0.7)


def catching_all(a: list[float], x: float) -> Iterator[float]:
    try:
        yield x
    except BaseException:
        a[0] *= x
        raise


def catching_it(a: list[float], x: float) -> Iterator[float]:
    try:
        yield x
    except ValueError:
        yield 0.0
    except (IndexError, GeneratorExit):
        a[0] *= x


def catching_in_turn(a: list[float], x: float) -> Iterator[float]:
    try:
        try:
            yield x
        except IndexError:
            yield 0.0
    finally:
        a[0] *= x


@pytest.mark.parametrize("made", [catching_all, catching_it, catching_in_turn])
def test_handlers_that_catch_it_are_seen(made: Callable[..., Iterator[float]]) -> None:
    def stored(a: list[float], x: float) -> float:
        held = [made(a, x)]
        y = next(held[0])
        held.clear()
        return y * a[0]

    def left(a: list[float], x: float) -> float:
        for y in made(a, x):
            return y * x
        return x

    refused(stored)
    refused(catching_more((IndexError, GeneratorExit)))
    check_rule(lambda a, x: left(a, x) * a[0], [1.3], 0.7)


# -- refused ---------------------------------------------------------------------------------------------


class Holder:
    held: Iterator[float] | None = None


def stored_in_list(a: list[float], x: float) -> float:
    held = [guarded(a, x)]
    y = next(held[0])
    held.clear()
    return y * a[0]


def stored_in_object(a: list[float], x: float) -> float:
    holder = Holder()
    holder.held = guarded(a, x)
    y = next(holder.held)
    holder.held = None
    return y * a[0]


def starting(a: list[float], x: float) -> Iterator[float]:
    g = guarded(a, x)
    next(g)
    return g


def returned(a: list[float], x: float) -> float:
    for y in starting(a, x):
        return y * a[0]
    return x


def keeping(a: list[float], g: Iterator[float], kept: list[Iterator[float]]) -> float:
    kept.append(g)
    return next(g) * a[0]


def passed_on(a: list[float], x: float) -> float:
    return keeping(a, guarded(a, x), []) * a[0]


def letting_go(a: list[float], g: Iterator[float] | None) -> float:
    assert g is not None
    y = next(g)
    g = None
    a[0] = a[0] * a[0]
    return y


def let_go_of(a: list[float], x: float) -> float:
    """It is dropped before the function returns that it is passed on to."""
    return letting_go(a, guarded(a, x)) * a[0]


def dropping_both(a: list[float], g: Iterator[float], x: float) -> float:
    h = managed(a, x)
    return next(h) * next(g)


def dropped_before_another(a: list[float], x: float) -> float:
    """Before the variable behind the parameter."""
    return dropping_both(a, guarded(a, x), x) * a[0]


def passed_on_together(a: list[float], x: float) -> float:
    """The first is dropped first."""
    return product(guarded(a, x), managed(a, x)) * a[0]


def product(g: Iterator[float], h: Iterator[float]) -> float:
    y = next(g)
    return y * next(h)


def failing_with_parameter(a: list[float], g: Iterator[float]) -> float:
    y = next(g)
    return y * failing(a)


def kept_by_traceback_of_call(a: list[float], x: float) -> float:
    """It is dropped when the handler has ended."""
    try:
        failing_with_parameter(a, guarded(a, x))
    except Failed:
        a[0] = a[0] * 2.0 + x
    return a[0]


def captured(a: list[float], x: float) -> float:
    g = guarded(a, x)
    take = lambda: next(g)  # noqa: E731  # it is what captures
    y = take()
    g = managed(a, x)  # type: ignore[assignment]  # another kind
    return y * a[0] * take()


def of_unknown(a: list[float], x: float, make: Callable[..., Iterator[float]] = guarded) -> float:
    for y in make(a, x):
        return y * a[0]
    return x


def failing_with_variable(a: list[float], x: float) -> float:
    g = guarded(a, x)
    return next(g) + failing(a)


def kept_by_traceback(a: list[float], x: float) -> float:
    """It is dropped when the handler has ended."""
    try:
        failing_with_variable(a, x)
    except Failed:
        a[0] = a[0] * 2.0 + x
    return a[0]


def keeping_exception(a: list[float], x: float) -> float:
    """The exception keeps the frame, and that the variable."""
    g = guarded(a, x)
    kept: list[Exception] = []
    try:
        next(g)
        failing(a)
    except Failed as error:
        kept.append(error)
    return a[0] * x


def behind_keeping_exception(a: list[float], x: float) -> float:
    return keeping_exception(a, x) * a[0]


def sliced_by_name(a: list[float], x: float) -> float:
    """It is dropped by what has had enough of it."""
    import itertools

    part = itertools.islice(guarded(a, x), 1)
    y = next(part)
    next(part, None)
    a[0] = a[0] * a[0]
    return y * a[0]


class Suppressing:
    def __init__(self) -> None:
        self.kept: list[object] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> bool:
        self.kept.append(exception)
        return True


def beside_suppressing_manager(a: list[float], x: float, manager: Suppressing) -> float:
    """The manager has the exception, which keeps the variable."""
    g = guarded(a, x)
    with manager:
        next(g)
        failing(a)
    return a[0] * x


def behind_beside_suppressing_manager(a: list[float], x: float) -> float:
    manager = Suppressing()
    return beside_suppressing_manager(a, x, manager) * a[0]


REFUSED: list[Program] = [
    stored_in_list, stored_in_object, returned, passed_on, let_go_of, dropped_before_another,
    passed_on_together, captured, kept_by_traceback, kept_by_traceback_of_call, behind_keeping_exception,
    sliced_by_name, behind_beside_suppressing_manager,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_a_generator_that_somebody_may_keep_is_refused(function: Program) -> None:
    refused(function)


def test_of_unknown_is_refused() -> None:
    refused(lambda a, x: of_unknown(a, x, guarded))


def raising_at_its_end(a: list[float], x: float) -> Iterator[float]:
    try:
        yield a[0] * x
    finally:
        failing(a)


def ignoring(a: list[float], x: float) -> Iterator[float]:
    try:
        yield a[0] * x
    finally:
        yield a[0]


def first_of_raising(a: list[float], x: float) -> float:
    return next(raising_at_its_end(a, x)) * a[0]


def first_of_ignoring(a: list[float], x: float) -> float:
    return next(ignoring(a, x)) * a[0]


@pytest.mark.parametrize("function", [first_of_raising, first_of_ignoring], ids=lambda f: f.__name__)
def test_exceptions_that_python_prints_are_refused(function: Program) -> None:
    refused(function, "which was dropped inside a try or with statement, raised")


def test_of_things_without_derivative() -> None:
    """Such generators are the interpreter's own, and are closed where they are dropped as well."""
    log: list[str] = []

    def events() -> Iterator[str]:
        try:
            yield "one"
            yield "two"
        finally:
            log.append("finally")

    def counting(x: float) -> float:
        for event in events():
            log.append(event)
            break
        log.append("behind")
        return x * len(log)

    assert adbc.jvp(counting, (2.0,), (1.0,)) == (6.0, 3.0)
    assert log == ["one", "finally", "behind"]
    log.clear()
    assert adbc.value_and_grad(counting)(2.0) == (6.0, 3.0)


def test_the_caller_keeps_its_generator() -> None:
    """One that comes from outside is not closed, whether it is followed or refused."""
    closed: list[int] = []

    def numbers() -> Iterator[int]:
        try:
            yield 2
            yield 3
        finally:
            closed.append(1)

    def scaled(x: float, values: Iterator[int]) -> float:
        for k in values:
            return x * k
        return x

    values = numbers()
    with pytest.raises(AdbcError):
        adbc.jvp(scaled, (2.0, values), (1.0, None))
    assert not closed
    assert list(values) == [2, 3]


def test_loops_without_generators_are_not_changed() -> None:
    """Their graphs have no drops, and no handlers."""
    from adbc.runtime import default_engine

    def looping(a: list[float], n: int) -> float:
        for k in range(n):
            for y in a:
                if y > k:
                    return y
        for y in (z * z for z in a):
            return y
        return 0.0

    text = str(default_engine().primal(looping))  # type: ignore[arg-type]  # a function
    assert "_drop_" not in text and "_release_" not in text and "handler" not in text
    assert "_drop_" in str(default_engine().primal(dropping.by_break))  # type: ignore[arg-type]  # a function


def smoothed(items: Any, closed: list[float]) -> Any:
    total = 0.0
    try:
        for e in items:
            total = 0.5 * total + e
            yield total
    finally:
        closed.append(total)


def dropped_in_turn(x: float, closed: list[float]) -> Any:
    """The variable has no value when it is first set, and drops the generator before from then on."""
    first, second, total = (x, x * x), (x, 2.0, x), 0.0
    for _ in range(3):
        first, second = second, tuple([1.5 * e for e in first])
        steps = smoothed(first if total > 0.2 else second, closed)
        total += next(steps, 0.5) * x
    return total + sum(closed) * x


@pytest.mark.parametrize("warm_after", [0, 3])
def test_generators_that_are_dropped_in_turn(warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(4):
            check_rule(dropped_in_turn, 0.5, [])
