"""Derived code says what its values are, and that is so."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.emit.assembly import Assembly
from adbc.ir.intrinsics import _assume_
from adbc.ir.values import Const, Instruction
from adbc.lift import lift
from adbc.runtime import default_engine
from adbc.types.lattice import ANY, FLOAT, LIST, AbstractType, ArrayType, TupleType, class_of
from adbc.types.promises import kept, promises
from tests.properties.checks import fresh_engine


def polynomial(x: float, n: int) -> float:
    powers = [1.0]
    for _ in range(n):
        powers.append(powers[-1] * x)
    return sum(powers)


def pairs(x: float, n: int) -> float:
    points = [(x * i, 0.5 * i) for i in range(n)]
    total = 0.0
    for (a, b), (c, d) in itertools.pairwise(points):
        total += math.hypot(a - c, b - d) * (a if a > b else d)
    return total


def table(x: float, n: int) -> float:
    rows = {"a": [x] * n, "b": [0.3 * i for i in range(n)]}
    for name, row in rows.items():
        for i, v in enumerate(row):
            row[i] = v * x if name == "a" else v + x
    return sum(map(sum, rows.values()))


def mesh(x: float, n: int) -> Any:
    u = np.linspace(0.0, 1.0, n + 2)
    for _ in range(n):
        u[1:-1] += 0.1 * x * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        if u.max() > 3.0:
            break
    return (u * u).sum() + np.sqrt(u[1]) * float(u[2])


def steps(x: float, n: int) -> float:
    def counted() -> Iterator[float]:
        v = x
        while v < 10.0:
            yield v
            v *= 1.5

    values = counted()
    first = next(values, 0.0)
    return first + sum(v * v for v in values) + next(values, 2.0 * x)


def recursive(x: float, n: int) -> float:
    return x if n <= 0 else math.sin(recursive(x, n - 1)) + recursive(x * 0.5, n - 2)


class Node:
    def __init__(self, v: float, following: Node | None) -> None:
        self.v, self.following = v, following


def linked(x: float, n: int) -> float:
    node: Node | None = None
    for i in range(n):
        node = Node(x * i, node)
    total = 0.0
    while node is not None:
        node.v *= x
        total += node.v
        node = node.following
    return total


def _read_twice(held: Any) -> Any:
    def later() -> Any:
        return held

    return held[0] * held[1] + held[1] * sum(later())


def captured(x: float, n: int) -> Any:
    """What a cell holds is guessed to be a list, and is a tuple at times."""
    return _read_twice([x, 2.0 * x]) + (_read_twice((x, 3.0)) if n > 6 else 0.0)


PROGRAMS: list[Callable[[float, int], Any]] = [
    polynomial,
    pairs,
    table,
    mesh,
    steps,
    recursive,
    linked,
    captured,
]


def _holds(x: Any, known: AbstractType) -> bool:
    if known is ANY:
        return True
    if isinstance(known, TupleType):
        # A variable that has no value on the way that was gone is None in the record of that way.
        return (
            type(x) is tuple and len(x) == len(known.elements) and all(map(_holds_if_set, x, known.elements))
        )
    if isinstance(known, ArrayType):
        return type(x) is np.ndarray and (x.dtype, x.ndim) == (known.dtype, known.ndim)
    return type(x) is class_of(known)


def _holds_if_set(x: Any, known: AbstractType) -> bool:
    return x is None or _holds(x, known)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> collections.Counter[str]:
    """How often what was said of values was looked at, by whether it was so: code looks as it runs."""
    found: collections.Counter[str] = collections.Counter()
    say = Assembly.say

    def looking(assembly: Any, promise: str) -> None:
        say(assembly, promise)
        if not promise or type(assembly.items[-1]) is not tuple:
            return
        (told,) = promises([kept([(0, promise)])]).values()
        for place, known in enumerate(told if isinstance(told, tuple) else (told,), 3):

            def look(x: Any, known: AbstractType = known) -> None:
                found["right" if _holds(x, known) else f"{x!r} is said to be {known}"] += 1

            assembly.null_before()
            assembly.const(look)
            assembly.null_after()
            assembly.copy(place)
            assembly.call(1)
            assembly.pop()

    monkeypatch.setattr(Assembly, "say", looking)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: str(f.__name__))
def test_what_is_said_holds(program: Any, seen: collections.Counter[str]) -> None:
    with fresh_engine():
        default_engine().tiers.warm_after = 0
        for n in (6, 6, 9, 6, 9):
            adbc.grad(program)(1.1, n)
            adbc.jvp(program, (1.1, n), (1.0, None))
    assert seen["right"] > 10
    assert set(seen) == {"right"}


def test_lifted_again_it_is_known() -> None:
    with fresh_engine():
        adbc.build_rrule((polynomial, float, int))
        engine = default_engine()
        graph = lift(
            next(rule.forwards for rule in engine.rules.values() if rule.code is polynomial.__code__)
        )
        said = [call.operands[2] for call in graph.instructions() if _assumes(call)]
        assert {FLOAT, LIST} <= {known.value for known in said if isinstance(known, Const)}


def _assumes(call: Instruction) -> bool:
    callee = call.operands[0] if call.op == "call" else None
    return isinstance(callee, Const) and callee.value is _assume_
