"""What is interpreted gives what written code gives, in both modes, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import AdbcError, ConstWriteError
from adbc.ir.parser import parse_graph
from adbc.runtime.state.graph_functions import GraphFunction
from adbc.testing import test_rule as check_rule


class Body:
    scale = 2.0

    def __init__(self, x: Any, mass: Any = 1.0) -> None:
        self.x = x
        self.mass = mass

    def __add__(self, other: Body) -> Body:
        return type(self)(self.x + other.x, self.mass * other.mass)

    @property
    def energy(self) -> Any:
        return self.mass * self.x**2 * self.scale


def phis_that_are_assigned_together(x: float, y: float) -> Any:
    for _ in range(3):
        x, y = y, x * 0.5
    return x * 3.0 + y


def sometimes_active(x: float, flag: float) -> Any:
    """In one iteration `t` has a derivative, in the next it has none."""
    total = t = 0.0
    for i in range(4):
        t = x * t if i % 2 else 0.25 * i
        t = t * 1.5 + (x if i == 1 else 0.0)
        total += t * t * flag
    return total


def caught_half_way(x: float, row: list[Any]) -> Any:
    def spoil(row: list[Any]) -> float:
        row[0] *= x
        row[1] = row[1] ** 2
        raise ValueError(row[0] * x)

    try:
        spoil(row)
    except KeyError:
        return 0.0
    except ValueError as error:
        x = x * 2.0 + error.args[0]
    finally:
        row[1] *= 3.0
    return x * row[0] + row[1]


@contextlib.contextmanager
def halved(values: list[Any]) -> Iterator[list[Any]]:
    values[0] *= 0.5
    yield values
    values[0] *= 2.0


def with_managers(x: float, row: list[Any]) -> Any:
    with halved(row) as held, np.errstate(all="ignore"), contextlib.suppress(ZeroDivisionError):
        x = x * held[0]
        x = x / (row[1] - row[1])
    return x * row[0]


def objects_and_closures(x: float, y: float) -> Any:
    a = Body(x) + Body(y, x)
    a.mass += y
    count = 0.0

    def step(k: float, by: Any = y, *more: Any, power: Any = x, **others: Any) -> Any:
        nonlocal count
        count += by * k
        return count**2 + power + sum(more) * others.get("z", 1.0)

    return a.energy * step(2.0) + step(0.5, x, y, x, z=x) + functools.partial(step, power=y)(1.5)


def containers(x: float, y: float) -> Any:
    d = {"a": x, "b": [y, x * y]}
    d["c"] = {**d}["b"]
    d["b"][0] *= x
    first, *others = [x, y, *d["c"]]
    rows = [v * w for v, w in zip(others, d["c"], strict=False) if v is not None]
    return first + sum(rows) + d["c"][0] * max(rows) + (x, y)[1] * {0: x}[0]


def generators(x: float, y: float) -> Any:
    def powers() -> Iterator[Any]:
        t = x
        while True:
            got = yield t
            t = t * y if got is None else t + got

    p = powers()
    return next(p) + next(p) * p.send(x) + sum(v * v for v in (x, y))


def arrays(v: Any, m: Any) -> Any:
    w = m @ v
    v[1:] += w[:-1] * v[0]
    m[:, 0] = v
    return np.sum(np.sin(v) * w) + m.T.dot(v)[0] + np.linalg.norm(w) + np.where(v > 0, v, 0.0).sum()


def patterns(x: float, point: Any) -> Any:
    match point:
        case {"kind": "a", "at": [u, v]}:
            return x * u + v
        case (u, *rest):
            return u * x + sum(rest)
        case _:
            return x


V, M = np.array([0.3, -1.2, 0.7]), np.arange(9.0).reshape(3, 3) / 7.0 + 0.1
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (phis_that_are_assigned_together, (0.3, 1.2)),
    (sometimes_active, (0.3, 1.2)),
    (caught_half_way, (0.3, [0.5, 0.7])),
    (with_managers, (0.3, [0.5, 0.7])),
    (objects_and_closures, (0.3, 1.2)),
    (containers, (0.3, 1.2)),
    (generators, (0.3, 1.2)),
    (arrays, (V, M)),
    (patterns, (0.3, {"kind": "a", "at": [0.5, 0.7]})),
    (patterns, (0.3, (0.5, 0.7, 0.2))),
]


@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_both_modes(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    with adbc.use(adbc.Config(speculation="interpret")):
        check_rule(f, *args)


@pytest.mark.parametrize("f, args", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_code_is_written_between_two_calls(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    for warm_after in (1, 2):
        with adbc.use(adbc.Config(warm_after=warm_after)):
            for _ in range(3):
                check_rule(f, *args)


def test_no_code_is_written() -> None:
    with adbc.use(adbc.Config(speculation="interpret")):
        adbc.grad(objects_and_closures)(0.3, 1.2)
        rules = adbc.runtime.default_engine().rules.values()
        assert rules and all(rule.cold is not None for rule in rules if rule.is_built)
        assert not any(rule.graphs for rule in rules)


def raising(x: float) -> Any:
    try:
        return x / (x - x)
    except ZeroDivisionError as error:
        raise RuntimeError("no") from error


def test_what_is_being_handled_is_as_before() -> None:
    with adbc.use(adbc.Config(speculation="interpret")):
        for derivative in (lambda: adbc.grad(raising)(1.0), lambda: adbc.jvp(raising, (1.0,), (1.0,))):
            with pytest.raises(RuntimeError, match="no") as found:
                derivative()
            assert type(found.value.__cause__) is ZeroDivisionError
            assert sys.exception() is None
            lines = [(e.name, e.lineno - raising.__code__.co_firstlineno) for e in found.traceback]
            assert lines[-1:] == [("raising", 3)]
            found = None


def test_refusals_name_the_line() -> None:
    def f(x: float, held: list[float]) -> Any:
        y = x * 2.0
        held.append(y)
        return y

    with adbc.use(adbc.Config(speculation="interpret")), pytest.raises(ConstWriteError) as found:
        adbc.grad(f)(1.0, adbc.Const([1.0]))
    assert f"test_machine.py:{f.__code__.co_firstlineno + 2}" in str(found.value)


def test_a_refusal_passes_handlers() -> None:
    met = []

    def f(x: float) -> Any:
        try:
            return float(repr(x))
        except Exception:  # what a program would write
            met.append(1)
            return x

    with adbc.use(adbc.Config(speculation="interpret")), pytest.raises(AdbcError):
        adbc.grad(f)(1.0)
    assert met == []


UNPACKED = """graph unpacked(l)
entry:
    %1 = call _unpack_list_(%l, 2)
    %2 = call _element_(%1, %l, 0)
    %3 = call _element_(%1, %l, 1)
    %4 = call operator.truediv(%2, %3)
    return %4
"""
"""What is left of a function behind a wrong guess, and unpacks a list of what nothing is known."""

unpacked = GraphFunction(parse_graph(UNPACKED), globals())


def of_unpacked(x: float) -> Any:
    return unpacked([x * x * x, x + 1.0])


@pytest.mark.parametrize("speculation", SPECULATION)
def test_elements_of_lists_are_read_where_code_had_been_meant_to(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(4):
            assert adbc.value_and_grad(of_unpacked)(1.0) == (0.5, 1.25)
            assert adbc.jvp(of_unpacked, (1.0,), (1.0,)) == (0.5, 1.25)
