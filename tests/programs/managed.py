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
