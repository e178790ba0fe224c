"""Pullbacks that run again on the record of one forwards pass give what another forwards pass would give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime.calls.replaying import Memory
from adbc.tangents import random_tangent
from adbc.testing.values import assert_same, duplicate
from tests.programs.corpus import PROGRAMS, Program
from tests.properties.functions import Prelude, inputs
from tests.properties.functions import Program as RandomProgram

V = np.array([0.5, 1.5, -0.7, 0.2])
TOTALS: dict[str, float] = {}
PRELUDE = Prelude()


class Counted:
    calls = 0

    def __init__(self, x: Any) -> None:
        self.x, self.seen = x, []

    def step(self) -> Any:
        self.x = self.x * self.x
        self.seen.append(self.x)
        return self.x


def overwritten(x: Any) -> Any:
    x[1:] *= x[:-1]
    y = x * 2.0
    x[0] = 0.0
    return y


def lists(x: Any) -> Any:
    values = [float(v) * 2.0 for v in x]
    for i in range(10):
        values[i % 4] = values[(i + 1) % 4] * values[i % 4]
        values.append(values[0] + 1.0)
        if i % 3 == 0:
            values.pop(1)
    return values


def objects(x: Any) -> Any:
    counted = Counted(x[0])
    for _ in range(3):
        counted.step()
    return [counted.x, *counted.seen, x[1] * 2.0]


def keys(x: Any) -> Any:
    found: dict[str, Any] = {}
    for i, v in enumerate(x):
        found[f"k{i % 3}"] = found.get(f"k{i % 3}", 1.0) * v
    del found["k1"]
    return list(found.values())


def closed_over(x: Any) -> Any:
    total = x[0]

    def add(y: Any) -> None:
        nonlocal total
        total = total * y

    for v in x:
        add(v)
    return [total, total * x[1]]


def of_a_class(x: Any) -> Any:
    Counted.calls += 1
    return x * Counted.calls


def of_a_global(x: Any) -> Any:
    TOTALS["last"] = 1.0
    return x * len(TOTALS)


def generated(x: Any) -> Any:
    def numbers() -> Iterator[Any]:
        for v in x:
            yield v * v

    g = numbers()
    first = next(g)
    return [first, sum(g)]


def solved(x: Any) -> Any:
    a = np.diag(x + 3.0) + 0.1
    return np.linalg.solve(a, x)


def of_objects(x: Any) -> Any:
    held = np.empty(4, dtype=object)
    for i, v in enumerate(x):
        held[i] = float(v) * 2.0
    held[0] = held[1] * held[2]
    return [held[0], held[3] * held[1], held[2]]


FUNCTIONS = [
    of_objects,
    overwritten, lists, objects, keys, closed_over, of_a_class, of_a_global, generated, solved,
]  # fmt: skip


def check(f: Callable[..., Any], *args: Any, count: int = 4) -> bool:
    """Compare runs of one pullback with runs of new ones; whether they needed no other forwards pass."""
    cotangents, wanted = [], []
    for k in range(count):
        value, pullback = adbc.vjp(f, *duplicate(list(args)))
        cotangents.append(random_tangent(np.random.default_rng(k), value))
        wanted.append(pullback(duplicate(cotangents[k])))
    given = duplicate(list(args))
    value, pullback = adbc.vjp(f, *given, reusable=True)
    is_kept = isinstance(pullback._memory, Memory)
    for k in [*range(count), 0]:
        found = pullback(duplicate(cotangents[k]))
        assert_same(wanted[k], found, f"run with cotangent {k}", rtol=1e-12)
        assert_same(list(args), given, "arguments after a run")
    return is_kept


@pytest.mark.parametrize("f", [of_objects, lists, keys, closed_over], ids=lambda f: f.__name__)
def test_what_the_first_run_leaves_alone_is_put_back_all_the_same(f: Any) -> None:
    size = len(f(V.copy()))
    units = [[float(i == k) for i in range(size)] for k in range(size)]
    wanted = [adbc.vjp(f, V.copy())[1](unit)[0] for unit in units]
    _, pullback = adbc.vjp(f, V.copy(), reusable=True)
    for _ in range(2):
        for unit, gradient in zip(units, wanted, strict=True):
            np.testing.assert_allclose(pullback(list(unit))[0], gradient, rtol=1e-13)


@pytest.mark.parametrize("speculation", ["learn", "dynamic", "interpret"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_runs_again_are_as_the_first(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        is_kept = check(f, V)
    if speculation == "learn" and f in (overwritten, lists, objects, closed_over, solved):
        assert is_kept


def test_classes_and_globals_that_have_been_changed_meanwhile_are_left_alone() -> None:
    _, pullback = adbc.vjp(of_a_class, V, reusable=True)
    pullback(V)
    Counted.calls = 7
    try:
        assert (pullback(V)[0] == 8.0 * V).all()
        assert Counted.calls == 7
    finally:
        Counted.calls = 0


def test_the_results_of_a_run_stay() -> None:
    value, pullback = adbc.vjp(lambda x: (x * 2.0, x.copy()), V, reusable=True)
    first = pullback((np.ones(4), np.zeros(4)))[0]
    second = pullback((np.zeros(4), np.ones(4)))[0]
    assert (first == 2.0).all() and (second == 1.0).all()
    value[0][:] = 100.0
    third = pullback((np.ones(4), np.ones(4)))[0]
    assert (third == 3.0).all() and (value[0] == 100.0).all()


def test_a_jacobian_takes_one_run_of_the_function() -> None:
    runs = []

    def f(x: Any) -> Any:
        runs.append(1)
        return np.sin(x) * x

    found = adbc.jacrev(f)(V)
    np.testing.assert_allclose(found, np.diag(np.cos(V) * V + np.sin(V)), rtol=1e-13)
    assert len(runs) <= 1  # none of them stays, as the call is undone


# Those that take long to build are checked by `test_rule`; what is asked here does not depend on their size.
BRIEF = [p for p in PROGRAMS if len(p.function.__code__.co_code) < 160][::2]


@pytest.mark.parametrize("program", BRIEF, ids=lambda program: program.name)
def test_programs(program: Program) -> None:
    f = program.function
    if program.keywords:
        pytest.skip("vjp takes arguments by position")
    check(f, *program.arguments, count=2)


@pytest.mark.parametrize("seed", range(8))
def test_random_functions(seed: int) -> None:
    program = RandomProgram(seed, PRELUDE)
    args = inputs(program, 0)
    try:
        program.function(*duplicate(args))
    except Exception as error:  # a random function may raise, and has no value then
        pytest.skip(f"it raises {type(error).__name__}")
    check(program.function, *args, count=2)
