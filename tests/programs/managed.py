"""Context managers that are generators, as people write them.

Each program takes a float and a list of floats, returns a float, and writes what happens when into `LOG`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["LOG", "PROGRAMS"]

LOG: list[Any] = []
PROGRAMS: list[Callable[[float, list[float]], Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


@contextlib.contextmanager
def scaled(x: float, *, by: float = 2.0) -> Iterator[float]:
    LOG.append("in")
    y = x * by
    yield y
    LOG.append(("out", round(y, 9)))


@contextlib.contextmanager
def timed(times: list[float]) -> Iterator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        times.append(time.perf_counter() - start)
        LOG.append(len(times))


@contextlib.contextmanager
def saved(state: dict[str, float], **changes: float) -> Iterator[dict[str, float]]:
    before = dict(state)
    state.update(changes)
    try:
        yield state
    finally:
        state.clear()
        state.update(before)


@contextlib.contextmanager
def forgiving(kinds: Any, log: list[Any]) -> Iterator[None]:
    try:
        yield
    except kinds as error:
        LOG.append(str(error))
        log.append(error)
    else:
        LOG.append("fine")


@contextlib.contextmanager
def replacing() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise KeyError("replaced") from error


@contextlib.contextmanager
def empty(x: float) -> Iterator[float]:
    if x > 100.0:
        yield x
    LOG.append("nothing")


@contextlib.contextmanager
def twice(x: float) -> Iterator[float]:
    yield x
    yield x


@contextlib.contextmanager
def chosen(x: float) -> Iterator[float]:
    if x > 0.5:
        yield x * x
    else:
        yield x * 3.0
    LOG.append("chosen")


@program
def plainly(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in xs:
        with scaled(x) as s, scaled(s * v, by=0.5) as t:
            total += s * t
    return total


@program
def measured(x: float, xs: list[float]) -> Any:
    times: list[float] = []
    total = x
    for v in xs:
        with timed(times):
            total = total * v + x
    return total * len(times)


@program
def left_early(x: float, xs: list[float]) -> Any:
    def found(limit: float) -> float:
        for v in xs:
            with scaled(v * x) as s:
                if s > limit:
                    return s * x
                if s < 0.2:
                    continue
                LOG.append("on")
        return x

    total = found(0.5) + found(100.0)
    for v in xs:
        with timed([]):
            if v > 0.4:
                break
            total += v * x
    return total


@program
def swallowed(x: float, xs: list[float]) -> Any:
    log: list[Any] = []
    total = x
    for v in xs:
        with forgiving(ValueError, log):
            total *= 1.5
            if v > 0.3:
                raise ValueError(f"{v}")
            total += v * x
    return total * len(log)


@program
def passed_on(x: float, xs: list[float]) -> Any:
    total = x
    times: list[float] = []
    for v in xs:
        try:
            with timed(times), scaled(x) as s:
                total += s
                if v > 0.3:
                    raise IndexError(v)
                total *= s
        except IndexError as error:
            total += x * error.args[0]
    try:
        with replacing():
            total *= x
            raise ValueError("no")
    except KeyError as error:
        total += x * len(str(error.__cause__))
    try:
        with scaled(x):
            raise StopIteration(3)
    except StopIteration as error:
        total *= error.value
    return total + len(times)


@program
def restored(x: float, xs: list[float]) -> Any:
    state = {"a": x, "b": xs[0]}
    total = 0.0
    for v in xs:
        with saved(state, b=v * x) as s:
            total += s["a"] * s["b"]
            s["a"] = total
        total += state["a"]
    return total


@program
def wrongly_made(x: float, xs: list[float]) -> Any:
    total = x
    for make in (1, 2):
        try:
            if make == 1:
                with empty(x) as y:
                    total *= y
            else:
                with twice(x) as y:
                    total *= y
        except RuntimeError as error:
            total += x * len(str(error))
    return total


@program
def without_the_statement(x: float, xs: list[float]) -> Any:
    manager = scaled(x)
    y = manager.__enter__()
    manager.__exit__(None, None, None)
    with contextlib.ExitStack() as stack:
        total = sum(stack.enter_context(scaled(v * y)) for v in xs)
    return total


@program
def of_two_ways(x: float, xs: list[float]) -> Any:
    total = x
    for v in xs:
        with chosen(v) as s:
            total += s * x
    return total


# -- one in another, and what may raise in front of the yield ------------------------------------------------


@contextlib.contextmanager
def pushed(stack: list[float], by: float) -> Iterator[float]:
    """What is yielded is found inside of the ``try``."""
    stack.append(stack[-1] * by)
    try:
        yield stack[-1]
    finally:
        LOG.append(round(stack.pop(), 9))


@contextlib.contextmanager
def checked(x: float, limit: float) -> Iterator[float]:
    try:
        if x > limit:
            raise ValueError("too large")
        found = 1.0 / x
    except ValueError as error:
        LOG.append(str(error))
        found = limit
    except ZeroDivisionError:
        LOG.append("zero")
        found = 3.0 * limit
    try:
        yield found
    except KeyError as error:
        LOG.append(repr(error))
        raise RuntimeError("translated") from error
    LOG.append("left")


@program
def pushed_in_a_loop(x: float, xs: list[float]) -> Any:
    stack, total = [1.0], 0.0
    for v in xs:
        with pushed(stack, x + v) as top:
            total += top * v
    return total + stack[0]


@program
def nested(x: float, xs: list[float]) -> Any:
    stack, total = [x], 0.0
    for v in xs:
        with pushed(stack, x + v) as outer, pushed(stack, v) as inner:
            total += outer * inner
            with pushed(stack, outer):
                with pushed(stack, 2.0):
                    total += stack[-1] * len(stack)
                total -= stack[-1]
    return total + sum(stack)


@program
def nested_and_left(x: float, xs: list[float]) -> Any:
    stack, total = [x], 0.0
    for k, v in enumerate(xs):
        with pushed(stack, x + v) as outer:
            if k == 1:
                continue
            with pushed(stack, v):
                total += stack[-1] * outer
                if k == 2:
                    break
            total *= 1.5
    else:
        total = -total
    return total + sum(stack) * len(stack)


@program
def nested_and_raised(x: float, xs: list[float]) -> Any:
    stack, total = [x], 0.0
    for k, v in enumerate(xs):
        try:
            with pushed(stack, x + v) as outer:
                total += outer
                with pushed(stack, v):
                    total += stack[-1]
                    if k % 2:
                        total += stack[17]
                    total *= 1.1
                total *= 1.2
            total *= 1.3
        except IndexError as error:
            LOG.append(str(error))
            total += stack[-1] * v
    return total + sum(stack) * len(stack)


@program
def raised_in_front(x: float, xs: list[float]) -> Any:
    total = 0.0
    for v in (*xs, 0.0, 9.0):
        with checked(v * x if v else 0.0, 5.0) as found:
            total += found * x
    return total


@program
def raised_in_front_and_caught_around(x: float, xs: list[float]) -> Any:
    stack: list[float] = []
    try:
        with pushed(stack, x):
            LOG.append("not here")
    except IndexError as error:
        LOG.append(str(error))
        stack.append(x * x)
    with pushed(stack, x) as top:
        return top * sum(xs)


@program
def translated(x: float, xs: list[float]) -> Any:
    total = 0.0
    for k, v in enumerate(xs):
        try:
            with checked(v * x, 5.0) as found, pushed([x], v) as top:
                total += found * top
                if k == 1:
                    raise KeyError(k)
                if k == 2:
                    raise LookupError("not translated")
        except RuntimeError as error:
            LOG.append((str(error), repr(error.__cause__), repr(error.__context__)))
            total *= x
        except LookupError as error:
            LOG.append((str(error), error.__cause__, error.__context__))
            total += x
    return total


@program
def in_a_handler(x: float, xs: list[float]) -> Any:
    stack, total = [x], 0.0
    for v in xs:
        try:
            total += stack[7]
        except IndexError as error:
            with pushed(stack, v) as top:
                total += top * len(str(error))
        finally:
            with pushed(stack, x) as top:
                total += top
    return total


@program
def returned_from_inside(x: float, xs: list[float]) -> Any:
    stack = [x]

    def found(limit: float) -> float:
        for v in xs:
            with pushed(stack, v) as top, forgiving(KeyError, stack):
                if top < limit:
                    return top * x
        return x

    return found(0.1) + found(0.3) * found(-1.0) + stack[0] + len(stack)


# -- methods -------------------------------------------------------------------------------------------------


class Canvas:
    """Has a stack of transformations, and what was drawn."""

    def __init__(self, scale: float) -> None:
        self.stack = [(scale, 0.0)]
        self.drawn: list[float] = []

    @contextlib.contextmanager
    def moved(self, scale: float, by: float = 0.0) -> Iterator[Canvas]:
        a, b = self.stack[-1]
        self.stack.append((a * scale, b + a * by))
        try:
            yield self
        finally:
            LOG.append(len(self.stack))
            self.stack.pop()

    def draw(self, x: float) -> None:
        a, b = self.stack[-1]
        self.drawn.append(a * x + b)

    def squares(self, x: float, n: int) -> None:
        with self.moved(x), self.moved(x, by=1.0):
            for k in range(n):
                self.draw(x * k)


class Mirrored(Canvas):
    @contextlib.contextmanager
    def moved(self, scale: float, by: float = 0.0) -> Iterator[Canvas]:
        with super().moved(-scale, by) as canvas:
            yield canvas


@program
def methods(x: float, xs: list[float]) -> Any:
    canvas = Canvas(1.0)
    for v in xs:
        with canvas.moved(x, v) as inner:
            inner.draw(v)
            with inner.moved(1.0 / x):
                inner.draw(x)
    return sum(d * d for d in canvas.drawn) + len(canvas.stack)


@program
def methods_of_self(x: float, xs: list[float]) -> Any:
    total = 0.0
    for canvas in (Canvas(x), Mirrored(x), Canvas(2.0 * x)):
        canvas.squares(x, len(xs))
        total += sum(d * v for d, v in zip(canvas.drawn, xs, strict=True))
    return total


@program
def methods_that_raise(x: float, xs: list[float]) -> Any:
    canvas = Canvas(x)
    for v in xs:
        try:
            with canvas.moved(v) as inner:
                inner.draw(v)
                with inner.moved(x, by=v):
                    if v > 0.4:
                        raise ValueError("too far")
                    inner.draw(1.0)
        except ValueError as error:
            LOG.append(str(error))
            canvas.draw(-x)
    return sum(canvas.drawn) * len(canvas.stack)


@program
def a_method_that_is_hidden(x: float, xs: list[float]) -> Any:
    canvas = Canvas(x)
    for k, v in enumerate(xs):
        if k == 2:
            canvas.moved = lambda scale, by=0.0: forgiving(KeyError, [scale])  # type: ignore[method-assign]
        with canvas.moved(v):
            canvas.draw(v)
    return sum(canvas.drawn)
