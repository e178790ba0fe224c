"""What stands in the body of a ``try`` or a ``with``, as people write it.

Each program takes a float and a list of floats, returns a float, and writes what happens when into `LOG`.
"""

from __future__ import annotations

import abc
import contextlib
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["LOG", "PROGRAMS"]

LOG: list[Any] = []
PROGRAMS: list[Callable[[float, list[float]], Any]] = []
LOCK = threading.Lock()


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(function)
    return function


class Tank:
    def __init__(self, level: float) -> None:
        self.level = level
        self.added: list[float] = []

    def add(self, amount: float) -> None:
        self.level += amount
        if self.level > 3.0:
            raise OverflowError(f"{len(self.added)} were added")
        self.added.append(amount)


class Checked:
    made = 0

    def __init__(self, value: float) -> None:
        self.value = value
        Checked.made += 1
        LOG.append("making")
        if value > 0.5:
            raise ValueError("too large")
        self.rest = 1.0 - value


class Kept:
    __slots__ = ("factor", "log", "sums")

    def __init__(self, factor: float, swallowed: type = ArithmeticError) -> None:
        self.factor, self.sums, self.log = factor, [0.0], swallowed

    def __enter__(self) -> Kept:
        LOG.append("enter")
        self.sums.append(self.factor)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        LOG.append(("exit", None if kind is None else kind.__name__))
        self.sums[0] += self.sums.pop() * 2.0
        return kind is not None and issubclass(kind, self.log)


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> float: ...


@program
def appended_and_lost(x: float, xs: list[float]) -> float:
    found: list[float] = []
    try:
        for v in xs:
            found.append(v * x)
            found[len(found) - 1] *= x
        LOG.append(found[99])
    except IndexError as error:
        LOG.append(str(error))
        found.append(x)
    return sum(found) + found.pop(0)


@program
def looked_up(x: float, xs: list[float]) -> float:
    table = {"a": x, "b": xs[0]}
    total = 0.0
    for key in ["a", "c", "b", "a", "d"]:
        try:
            total += table[key] ** 2
        except KeyError as error:
            LOG.append(error.args)
            table[key] = total * x
    return total + table["c"]


@program
def filled_until_full(x: float, xs: list[float]) -> float:
    tank = Tank(x)
    try:
        for v in xs * 4:
            tank.add(v)
    except OverflowError as error:
        LOG.append(str(error))
        tank.level -= 1.0
    return tank.level * sum(tank.added)


@program
def half_made(x: float, xs: list[float]) -> float:
    before, total = Checked.made, 0.0
    for v in xs:
        try:
            made = Checked(v * x)
            total += made.value * made.rest
        except ValueError as error:
            LOG.append(str(error))
            total -= v * x
    Checked.made = before
    return total


@program
def elements(x: float, xs: list[float]) -> float:
    values = np.array(xs)
    try:
        for i in range(9):
            values[i] = x * values[i] + values[i - 1]
    except IndexError as error:
        LOG.append(str(error))
    return float(values @ values)


@program
def not_writable(x: float, xs: list[float]) -> float:
    values = np.array(xs)
    values.flags.writeable = False
    total = 0.0
    for i in range(2):
        try:
            values[i] = x
        except ValueError as error:
            LOG.append(str(error))
            total += x * float(values[i])
    return total


@program
def locked(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        try:
            with LOCK:
                LOG.append(LOCK.locked())
                total += v / (x if v < 0.8 else 0.0 * x)
        except ZeroDivisionError:
            LOG.append(LOCK.locked())
            total *= x
    with threading.RLock():
        return total


@program
def no_context(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in xs:
        with contextlib.nullcontext(v * x) as w, contextlib.nullcontext():
            total += w * w
    return total


@program
def suppressed(x: float, xs: list[float]) -> float:
    table, total = dict(zip("ab", xs, strict=False)), 0.0
    for key in ("a", "z", "b"):
        with contextlib.suppress(KeyError, IndexError):
            total += x
            total *= table[key]
            LOG.append(key)
    return total


@program
def unbound(x: float, xs: list[float]) -> float:
    total = 0.0
    for v in (0.0, xs[0]):
        with contextlib.suppress(ZeroDivisionError):
            y = x / v
        try:
            total += y * x
        except UnboundLocalError as error:
            LOG.append(str(error))
    return total


@program
def deleted(x: float, xs: list[float]) -> float:
    y = x * xs[0]
    try:
        total = y
        del y
        total += y  # type: ignore[used-before-def]  # noqa: F821
    except NameError as error:
        LOG.append(str(error))
        total = x * x  # what it was is gone
    return total


@program
def settings(x: float, xs: list[float]) -> float:
    values = np.array([*xs, 0.0]) * x
    with np.errstate(divide="ignore", invalid="raise"):
        logs = np.log(values)
        for i in range(1, len(xs)):
            logs[i] += 0.5 * logs[i - 1]
    try:
        with np.errstate(all="raise"):
            LOG.append(np.log(values - x).shape)
    except FloatingPointError as error:
        LOG.append(str(error))
    return float(logs[:-1].sum())


@program
def kept(x: float, xs: list[float]) -> float:
    with Kept(x) as outer:
        for i, v in enumerate(xs):
            with Kept(v * x) as inner:
                outer.sums[-1] += inner.sums[-1] / (i - 1)
            outer.sums[0] += inner.sums[0]
    try:
        with Kept(x, KeyError) as last:
            last.sums[-1] *= math.sqrt(-x)
    except ValueError as error:
        LOG.append(str(error))
        return outer.sums[0] * last.sums[0]
    return 0.0


@program
def popped(x: float, xs: list[float]) -> float:
    stack, total = [x * v for v in xs], 0.0
    while True:
        try:
            total = total * x + stack.pop()
        except IndexError as error:
            LOG.append(str(error))
            break
        finally:
            LOG.append(len(stack))
    return total


@program
def not_there(x: float, xs: list[float]) -> float:
    tank = Tank(x)
    try:
        tank.level = tank.level * x
        tank.rest = x  # type: ignore[attr-defined]
        tank.level += tank.more  # type: ignore[attr-defined]
    except AttributeError as error:
        LOG.append(error.name)
    kept = Kept(x)
    try:
        kept.factor *= x
        kept.other = x  # type: ignore[attr-defined]
    except AttributeError as error:
        LOG.append(error.name)
    return tank.level + tank.rest * kept.factor  # type: ignore[attr-defined]


@program
def abstract(x: float, xs: list[float]) -> float:
    try:
        return Shape().area()  # type: ignore[abstract]
    except TypeError as error:
        LOG.append(str(error))
    return x * xs[0]


@program
def ended_in_a_finally(x: float, xs: list[float]) -> float:
    values, settings = np.array(xs), {"scale": 1.0}
    for i in range(len(xs)):
        old = settings["scale"]
        try:
            settings["scale"] = x
            values[i] *= settings["scale"]
            if i == 1:
                continue
            if i == 2:
                break
        finally:
            settings["scale"] = old + 0.5
            values[i] += settings["scale"] * x
    return float(values.sum()) * settings["scale"]
