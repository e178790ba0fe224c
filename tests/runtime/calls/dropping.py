"""Functions that leave generators in which something has still to run.

Each does something to ``a[0]`` that does not commute with what the generators do to it at their end, so
that the result shows when that was done.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
from collections.abc import Callable, Generator, Iterator

Program = Callable[[list[float], float], float]


class Failed(Exception):
    """What programs here raise."""


@contextlib.contextmanager
def scaled(a: list[float], x: float) -> Iterator[None]:
    a[0] = a[0] * x
    try:
        yield
    finally:
        a[0] = a[0] * x + 1.5


class Doubling:
    def __init__(self, a: list[float], x: float) -> None:
        self.a = a
        self.x = x

    def __enter__(self) -> float:
        return self.x

    def __exit__(self, *exception: object) -> None:
        self.a[0] = self.a[0] * 2.0 + self.x


def guarded(a: list[float], x: float) -> Generator[float, float, None]:
    try:
        for k in range(4):
            yield a[0] * x + k
    finally:
        a[0] = a[0] * x + 0.5


def managed(a: list[float], x: float) -> Iterator[float]:
    with Doubling(a, x) as y:
        yield a[0] * y
        yield a[0] + y


def contextual(a: list[float], x: float) -> Iterator[float]:
    with scaled(a, x):
        yield a[0] * x
        yield a[0] * x * x


def nested(a: list[float], x: float) -> Iterator[float]:
    try:
        for y in guarded(a, x):
            yield y * x
    finally:
        a[0] = a[0] * a[0] + 0.25


def passing_on(a: list[float], x: float) -> Iterator[float]:
    """It has nothing to do at its end but to drop another."""
    for y in managed(a, x):
        yield y * 1.5


def delegating(a: list[float], x: float) -> Iterator[float]:
    yield from guarded(a, x)


def finishing(a: list[float], x: float) -> Iterator[float]:
    """Exhausted like any other."""
    try:
        yield a[0]
    finally:
        a[0] = a[0] * x + 3.0


def failing(a: list[float]) -> float:
    a[0] = a[0] * 1.25 + 1.0
    raise Failed


# -- loops -------------------------------------------------------------------------------------------


def by_break(a: list[float], x: float) -> float:
    y = 0.0
    for z in guarded(a, x):
        y = y + z
        if y > 1.0:
            break
    a[0] = a[0] * a[0] + x
    return y * a[0]


def by_break_managed(a: list[float], x: float) -> float:
    y = 0.0
    for z in managed(a, x):
        y = z
        break
    a[0] = a[0] * a[0] + x
    return y * a[0]


def by_break_contextual(a: list[float], x: float) -> float:
    y = 0.0
    for z in contextual(a, x):
        y = z
        break
    a[0] = a[0] * a[0] + x
    return y * a[0]


def by_break_or_not(a: list[float], x: float) -> float:
    y = 0.0
    for z in guarded(a, x):
        y = y + z
        if y > 1e9:
            break
    else:
        a[0] = a[0] * a[0] + x
    return y * a[0]


def by_return(a: list[float], x: float) -> float:
    """The value that is returned was computed before."""
    for _ in guarded(a, x):
        return a[0] * x
    return 0.0


def returning(a: list[float], x: float) -> float:
    for z in managed(a, x):
        return z * x
    return 0.0


def behind_return(a: list[float], x: float) -> float:
    y = returning(a, x)
    a[0] = a[0] * a[0] + y
    return y * a[0]


def by_return_through_finally(a: list[float], x: float) -> float:
    try:
        for z in guarded(a, x):
            try:
                return z * a[0]
            finally:
                a[0] = a[0] * a[0] + x
    finally:
        a[0] = a[0] * 3.0 - x
    return 0.0


def through_finally(a: list[float], x: float) -> float:
    y = by_return_through_finally(a, x)
    return y + a[0]


def by_break_through_finally(a: list[float], x: float) -> float:
    y = 0.0
    for z in guarded(a, x):
        try:
            y = z
            break
        finally:
            a[0] = a[0] * a[0] + x
    a[0] = a[0] * 3.0 - x
    return y + a[0]


def by_break_through_with(a: list[float], x: float) -> float:
    y = 0.0
    for z in guarded(a, x):
        with Doubling(a, z):
            y = z
            break
    a[0] = a[0] * 3.0 - x
    return y + a[0]


def by_exception(a: list[float], x: float) -> float:
    y = 0.0
    try:
        for z in guarded(a, x):
            y = y + z
            if y > 1.0:
                raise Failed
    except Failed:
        a[0] = a[0] * a[0] + x
    return y * a[0]


def by_exception_of_call(a: list[float], x: float) -> float:
    y = 0.0
    try:
        for z in guarded(a, x):
            y = y + z + failing(a)
    except Failed:
        a[0] = a[0] * a[0] + x
    return y * a[0] + a[0]


def leaving(a: list[float], x: float) -> float:
    y = 0.0
    for z in guarded(a, x):
        y = y + z + failing(a)
    return y


def by_exception_out_of_function(a: list[float], x: float) -> float:
    try:
        leaving(a, x)
    except Failed:
        a[0] = a[0] * a[0] + x
    return a[0] * x


def by_exception_through_finally(a: list[float], x: float) -> float:
    try:
        for z in guarded(a, x):
            try:
                failing(a)
            finally:
                a[0] = a[0] * 2.0 + z
    except Failed:
        a[0] = a[0] * a[0] + x
    return a[0] * x


def handled_inside(a: list[float], x: float) -> float:
    """It goes on after an exception: nothing is dropped there."""
    y = 0.0
    for z in guarded(a, x):
        try:
            failing(a)
        except Failed:
            a[0] = a[0] * 0.5 + z
            if y > 2.0:
                break
        y = y + a[0]
    a[0] = a[0] * a[0] + x
    return y * a[0]


def two_loops(a: list[float], x: float) -> float:
    """The inner one is dropped first."""
    for y in guarded(a, x):
        for z in managed(a, x):
            return y * z
    return 0.0


def of_two_loops(a: list[float], x: float) -> float:
    return two_loops(a, x) * a[0]


def two_loops_raising(a: list[float], x: float) -> float:
    try:
        for y in guarded(a, x):
            for z in managed(a, x):
                a[0] = a[0] + y * z
                failing(a)
    except Failed:
        a[0] = a[0] * a[0] + x
    return a[0]


def again_and_again(a: list[float], x: float) -> float:
    y = 0.0
    for k in range(3):
        for z in guarded(a, x):
            y = y + z * k
            if k == 1:
                break
            if k == 2:
                continue
        a[0] = a[0] * 0.5 + x
    return y + a[0]


def of_nested(a: list[float], x: float) -> float:
    y = 0.0
    for z in nested(a, x):
        y = z
        break
    a[0] = a[0] * 3.0 - x
    return y + a[0]


def of_passing_on(a: list[float], x: float) -> float:
    y = 0.0
    for z in passing_on(a, x):
        y = z
        break
    a[0] = a[0] * a[0] - x
    return y + a[0]


def of_delegating(a: list[float], x: float) -> float:
    y = 0.0
    for z in delegating(a, x):
        y = z
        break
    a[0] = a[0] * a[0] - x
    return y + a[0]


# -- temporaries -------------------------------------------------------------------------------------


def first(a: list[float], x: float) -> float:
    y = next(guarded(a, x))
    a[0] = a[0] * a[0] + y
    return y * a[0]


def first_in_sum(a: list[float], x: float) -> float:
    return next(guarded(a, x)) * a[0] + next(managed(a, x)) * a[0]


def first_of_expression(a: list[float], x: float) -> float:
    y = next(z * x for z in guarded(a, x))
    a[0] = a[0] * a[0] + y
    return y * a[0]


def first_of_expression_of_expression(a: list[float], x: float) -> float:
    y = next(w + 1.0 for w in (z * x for z in guarded(a, x)))
    a[0] = a[0] * a[0] + y
    return y * a[0]


def expression_with_two(a: list[float], x: float) -> float:
    y = next(z * w for z in guarded(a, x) for w in managed(a, x))
    a[0] = a[0] * a[0] + y
    return y * a[0]


def is_any(a: list[float], x: float) -> float:
    found = any(z > 1.0 for z in guarded(a, x))
    a[0] = a[0] * a[0] + x
    return a[0] if found else x


def are_all(a: list[float], x: float) -> float:
    found = all(z < 1.0 for z in guarded(a, x))
    a[0] = a[0] * a[0] + x
    return a[0] if found else a[0] * x


def sliced(a: list[float], x: float) -> float:
    y = sum(itertools.islice(guarded(a, x), 2))
    a[0] = a[0] * a[0] + y
    return y * a[0]


def sliced_in_loop(a: list[float], x: float) -> float:
    y = 0.0
    for z in itertools.islice(guarded(a, x), 2):
        y = y + z
    a[0] = a[0] * a[0] + y
    return y * a[0]


def zipped_with_shorter(a: list[float], x: float) -> float:
    y = 0.0
    for k, z in zip(range(2), guarded(a, x), strict=False):
        y = y + k * z
    a[0] = a[0] * a[0] + y
    return y * a[0]


def zipped_list(a: list[float], x: float) -> float:
    pairs = list(zip([x, 2.0], guarded(a, x), strict=False))
    a[0] = a[0] * a[0] + x
    return pairs[0][1] * pairs[1][1] * a[0] + pairs[0][0]


def two_zipped(a: list[float], x: float) -> float:
    y = 0.0
    for z, w in zip(guarded(a, x), managed(a, x), strict=False):
        y = z * w
        break
    a[0] = a[0] * a[0] + y
    return y * a[0]


def enumerated(a: list[float], x: float) -> float:
    y = 0.0
    for k, z in enumerate(guarded(a, x)):
        y = y + z
        if k == 1:
            break
    a[0] = a[0] * a[0] + y
    return y * a[0]


def mapped(a: list[float], x: float) -> float:
    y = 0.0
    for z in map(functools.partial(operator.mul, x), guarded(a, x)):
        y = y + z
        break
    a[0] = a[0] * a[0] + y
    return y * a[0]


def comprehended(a: list[float], x: float) -> float:
    """It is left by an exception."""
    y = 0.0
    try:
        y = sum([z + failing(a) for z in guarded(a, x)])
    except Failed:
        a[0] = a[0] * a[0] + x
    return y + a[0]


def exhausted(a: list[float], x: float) -> float:
    y = sum(guarded(a, x))
    a[0] = a[0] * a[0] + y
    return y * a[0] + max(managed(a, x))


# -- names -------------------------------------------------------------------------------------------


def named(a: list[float], x: float) -> float:
    g = guarded(a, x)
    y = next(g)
    a[0] = a[0] * a[0] + y
    return y * a[0]


def behind_named(a: list[float], x: float) -> float:
    y = named(a, x)
    return y * a[0]


def deleted(a: list[float], x: float) -> float:
    g = guarded(a, x)
    y = next(g)
    del g
    a[0] = a[0] * a[0] + y
    return y * a[0]


def set_to_none(a: list[float], x: float) -> float:
    g: Iterator[float] | None = guarded(a, x)
    assert g is not None
    y = next(g)
    g = None
    a[0] = a[0] * a[0] + y
    return y * a[0]


def of_two_names(a: list[float], x: float) -> float:
    g = guarded(a, x)
    h = g
    y = next(g)
    del g
    a[0] = a[0] * a[0] + y
    y = y + next(h)
    del h
    a[0] = a[0] * 2.0 - x
    return y * a[0]


def named_and_looped(a: list[float], x: float) -> float:
    """The name outlives the loop."""
    g = guarded(a, x)
    y = 0.0
    for z in g:
        y = z
        break
    a[0] = a[0] * a[0] + y
    for z in g:
        y = y + z
        break
    a[0] = a[0] * a[0] + y
    return y * a[0]


def of_named_and_looped(a: list[float], x: float) -> float:
    return named_and_looped(a, x) * a[0]


def replaced(a: list[float], x: float) -> float:
    """The second is made before the first is dropped, and begins behind that."""
    g: Iterator[float] = guarded(a, x)
    y = next(g)
    g = managed(a, x)
    a[0] = a[0] * a[0] + y
    y = y + next(g)
    return y * a[0]


def behind_replaced(a: list[float], x: float) -> float:
    return replaced(a, x) * a[0]


def replaced_in_loop(a: list[float], x: float) -> float:
    y = 0.0
    for _ in range(3):
        g = guarded(a, x)
        y = y + next(g)
        a[0] = a[0] * 0.5 + y
    return y * a[0]


def behind_replaced_in_loop(a: list[float], x: float) -> float:
    return replaced_in_loop(a, x) * a[0]


def made_or_not(a: list[float], x: float) -> float:
    if a[0] > 0.0:
        g = guarded(a, x)
        a[0] = a[0] + next(g)
    a[0] = a[0] * a[0] + x
    return a[0]


def behind_made_or_not(a: list[float], x: float) -> float:
    return made_or_not(a, x) * a[0]


def one_of_two(a: list[float], x: float) -> float:
    g = guarded(a, x) if a[0] > 0.0 else managed(a, x)
    y = next(g)
    a[0] = a[0] * a[0] + x
    del g
    return a[0] * y


def sent(a: list[float], x: float) -> float:
    g = guarded(a, x)
    y = next(g) + g.send(x)
    a[0] = a[0] * a[0] + y
    del g
    return a[0] * y


def closed_before(a: list[float], x: float) -> float:
    g = guarded(a, x)
    y = next(g)
    g.close()
    a[0] = a[0] * a[0] + y
    return a[0] * y


def reduced(a: list[float], x: float) -> float:
    g = guarded(a, x)
    next(g)
    y = functools.reduce(lambda u, v: u * v, itertools.islice(g, 2), x)
    a[0] = a[0] * a[0] + y
    return a[0]


def made_here(a: list[float], x: float) -> float:
    """The generator function is made where it is called, with variables of the function around it."""

    def inner() -> Iterator[float]:
        try:
            yield a[0] * x
            yield a[0]
        finally:
            a[0] = a[0] * x + 0.5

    y = 0.0
    for z in inner():
        y = z
        break
    a[0] = a[0] * a[0] + y
    return a[0] * y


def unpacked(a: list[float], x: float) -> float:
    """It is found out when there is one too many."""
    y = x
    try:
        y, z = guarded(a, x)
        y = y + z
    except ValueError:
        a[0] = a[0] * a[0] + x
    return a[0] * y


def held_in_operand(a: list[float], x: float) -> float:
    """It lies on the stack while a call of another function raises."""
    try:
        return min(guarded(a, x), key=failing(a))  # type: ignore[arg-type]
    except Failed:
        a[0] = a[0] * a[0] + x
    return a[0]


def two_named(a: list[float], x: float) -> float:
    """Which of them goes first depends on the version of the interpreter."""
    g = guarded(a, x)
    h = managed(a, x)
    return next(g) * next(h)


def behind_two_named(a: list[float], x: float) -> float:
    return two_named(a, x) * a[0]


def both(a: list[float], x: float) -> float:
    """The stack before the variables."""
    g = guarded(a, x)
    y = next(g)
    for z in managed(a, x):
        return y * z
    return y


def behind_both(a: list[float], x: float) -> float:
    return both(a, x) * a[0]


def two_held(a: list[float], x: float) -> Iterator[float]:
    for y in guarded(a, x):
        for z in managed(a, x):
            yield y * z


def of_two_held(a: list[float], x: float) -> float:
    y = next(two_held(a, x))
    a[0] = a[0] * a[0] + y
    return y * a[0]


class Series:
    """Objects whose methods are generators."""

    def __init__(self, a: list[float], x: float) -> None:
        self.a = a
        self.x = x

    def terms(self) -> Iterator[float]:
        try:
            yield self.a[0] * self.x
            yield self.a[0]
        finally:
            self.a[0] = self.a[0] * self.x + 0.5

    def __iter__(self) -> Iterator[float]:
        return iter(self.a)

    def first(self) -> float:
        for y in self.terms():
            return y
        return 0.0


def of_method(a: list[float], x: float) -> float:
    y = 0.0
    for z in Series(a, x).terms():
        y = y + z
        break
    a[0] = a[0] * a[0] + y
    return y * a[0]


def in_method(a: list[float], x: float) -> float:
    y = Series(a, x).first()
    a[0] = a[0] * a[0] + y
    return y * a[0]


def of_method_of_argument(a: list[float], x: float) -> float:
    series = Series(a, x)
    y = next(series.terms())
    a[0] = a[0] * a[0] + y
    return y * a[0] + next(z * x for z in series.terms())


def closure() -> Program:
    def inner(a: list[float], x: float) -> Iterator[float]:
        try:
            yield a[0] * x
        finally:
            a[0] = a[0] * x + 0.5

    def of_closure(a: list[float], x: float) -> float:
        y = 0.0
        for z in inner(a, x):
            y = z
            break
        a[0] = a[0] * a[0] + y
        return y * a[0]

    return of_closure


def of_arguments_of_tuple(a: list[float], x: float) -> float:
    arguments = (a, x)
    y = 0.0
    for z in guarded(*arguments):
        y = z
        break
    a[0] = a[0] * a[0] + y
    return a[0] * y


def exchanged(a: list[float], x: float) -> float:
    g: Iterator[float] = guarded(a, x)
    h = managed(a, x)
    y = next(g) + next(h)
    g, h = h, g
    del g
    a[0] = a[0] * a[0] + y
    del h
    return a[0] * y


def only_later(a: list[float], x: float) -> float:
    """There is none in the first round."""
    g: Iterator[float] | None = None
    y = 0.0
    for k in range(3):
        if k == 1:
            g = guarded(a, x)
        if g is not None:
            y = y + next(g)
        a[0] = a[0] * 0.5 + x
    return y * a[0]


def behind_only_later(a: list[float], x: float) -> float:
    return only_later(a, x) * a[0]


def recursive(a: list[float], x: float, n: int = 2) -> Iterator[float]:
    try:
        yield a[0] * x
        if n:
            for y in recursive(a, x, n - 1):
                yield y * x
                break
        yield a[0]
    finally:
        a[0] = a[0] * x + n


def of_recursive(a: list[float], x: float) -> float:
    y = 0.0
    for z in recursive(a, x):
        y = y + z
        if y > 1.5:
            break
    a[0] = a[0] * a[0] + y
    return a[0] * y


def loops_in_handled_loop(a: list[float], x: float) -> float:
    y = 0.0
    for k in range(3):
        try:
            for z in guarded(a, x):
                for w in managed(a, x):
                    y = y + z * w
                    if k:
                        failing(a)
                    break
                if k == 2:
                    break
        except Failed:
            a[0] = a[0] * 0.3 + y
    return y + a[0]


# -- made or consumed by other functions ---------------------------------------------------------------


def starting(a: list[float], x: float) -> Iterator[float]:
    return guarded(a, x)


def starting_one_of_two(a: list[float], x: float) -> Iterator[float]:
    if x > 0.5:
        return starting(a, x)
    return managed(a, x)


def returned(a: list[float], x: float) -> float:
    y = 0.0
    for z in starting_one_of_two(a, x):
        y = z
        break
    a[0] = a[0] * a[0] + y
    for z in starting_one_of_two(a, x - 0.5):
        y = y * z
        break
    return y * a[0]


def consuming(a: list[float], g: Iterator[float]) -> float:
    y = next(g)
    a[0] = a[0] * a[0]
    return y


def passed_on(a: list[float], x: float) -> float:
    y = consuming(a, guarded(a, x)) * a[0]
    return y + consuming(a, g=starting(a, x)) * a[0]


def taking(n: int, numbers: Iterator[float]) -> float:
    total = 0.0
    for y in itertools.islice(numbers, n):
        total = total * 2.0 + y
    return total


def times(u: list[float], v: Iterator[float]) -> float:
    return sum(p * q for p, q in zip(u, v, strict=False))


def counting_down(g: Iterator[float], n: int) -> float:
    return next(g) + 2.0 * counting_down(g, n - 1) if n else 0.0


def passed_on_to_each(a: list[float], x: float) -> float:
    def here(g: Iterator[float]) -> float:
        return next(g) - next(g)

    y = taking(2, guarded(a, x))
    a[0] = a[0] * a[0] + y
    y = y * times([x, 2.0], guarded(a, x))
    a[0] = a[0] * 2.0 + y
    y = y + here(guarded(a, x))
    a[0] = a[0] * x + y
    y = y * counting_down(guarded(a, x), 3)
    return y * a[0]


def passed_on_by_name(a: list[float], x: float) -> float:
    """The variable keeps it from one call to the next."""
    g = guarded(a, x)
    y = taking(1, g) * a[0]
    return y + taking(2, g)


def behind_passed_on_by_name(a: list[float], x: float) -> float:
    return passed_on_by_name(a, x) * a[0]


# -- beside exceptions ---------------------------------------------------------------------------------


def beside_manager(a: list[float], x: float) -> float:
    """The manager might keep an exception, which would keep the variable; there is none."""
    with Doubling(a, x):
        g = guarded(a, x)
        y = next(g)
    return y * a[0]


def behind_beside_manager(a: list[float], x: float) -> float:
    return beside_manager(a, x) * a[0]


def might_keep_exception(a: list[float], x: float, kept: list[Exception]) -> float:
    g = guarded(a, x)
    try:
        y = next(g)
        if x > 10.0:
            failing(a)
    except Failed as error:
        kept.append(error)
        y = x
    a[0] = a[0] * a[0]
    return y * next(g)


def behind_might_keep_exception(a: list[float], x: float) -> float:
    return might_keep_exception(a, x, []) * a[0]


# -- objects that make generators when they are asked for an iterator --------------------------------------


class Walk:
    """As progress bars do, it notes at the end of a walk how far that has come."""

    def __init__(self, a: list[float], x: float) -> None:
        self.a, self.x, self.seen = a, x, 0

    def __iter__(self) -> Iterator[float]:
        seen = 0
        try:
            for k in range(4):
                yield self.a[0] * self.x + k
                seen += 1
        finally:
            self.seen = seen
            self.a[0] = self.a[0] * self.x + 0.5


class Stroll(Walk):
    """A class that has its ``__iter__`` from another."""


def strolling(a: list[float], x: float) -> Walk:
    return Stroll(a, x)


def walked_until(walk: Walk, a: list[float], x: float) -> float:
    y = 0.0
    for z in walk:
        y = y + z
        if y > 2.0:
            break
    a[0] = a[0] * a[0] + y
    return y * a[0]


def of_object(a: list[float], x: float) -> float:
    walk = strolling(a, x)
    y = walked_until(walk, a, x)
    return y * (walk.seen + 1) + walked_until(Walk(a, x), a, x)


def of_objects_enumerated(a: list[float], x: float) -> float:
    y = 1.0
    walk = strolling(a, x)
    for k, z in enumerate(walk):
        y = y * z
        if k == 1:
            break
    a[0] = a[0] * a[0] + y
    for z, w in zip(range(2), Walk(a, x), strict=False):
        y = y + z * w
    a[0] = a[0] * a[0] + y
    return y * a[0] * (walk.seen + 1)


def failing_on(walk: Walk, x: float) -> float:
    for z in walk:
        if z * x > 2.0:
            raise Failed
    return x


def of_object_by_exception(a: list[float], x: float) -> float:
    walk = Walk(a, x)
    try:
        y = failing_on(walk, x)
    except Failed:
        y = a[0] * walk.seen
    return y * a[0]


DROPPED: list[Program] = [
    of_object, of_objects_enumerated, of_object_by_exception,
    by_break, by_break_managed, by_break_contextual, by_break_or_not, by_return, behind_return,
    through_finally,    by_break_through_finally, by_break_through_with, by_exception, by_exception_of_call,
    by_exception_out_of_function, by_exception_through_finally, handled_inside, of_two_loops,
    two_loops_raising, again_and_again, of_nested, of_passing_on, of_delegating,
    first, first_in_sum, first_of_expression, first_of_expression_of_expression, expression_with_two, is_any,
    are_all, sliced, sliced_in_loop, zipped_with_shorter, zipped_list, two_zipped, enumerated, mapped,
    comprehended, exhausted,
    named, behind_named, deleted, set_to_none, of_two_names, of_named_and_looped, behind_replaced,
    behind_replaced_in_loop, behind_made_or_not, one_of_two, sent, closed_before, reduced, made_here,
    unpacked, held_in_operand, behind_two_named, behind_both, of_two_held,
    of_arguments_of_tuple, exchanged, behind_only_later, of_recursive, loops_in_handled_loop,
    of_method, in_method, of_method_of_argument, closure(),
    returned, passed_on, passed_on_to_each, behind_passed_on_by_name,
    behind_beside_manager, behind_might_keep_exception,
]  # fmt: skip
"""Functions that are right."""
