"""Random functions: round trip, interpreted graph, forward mode and reverse mode against the plain function.

``ADBC_RANDOM_FUNCTIONS`` is how many (100 unless set), ``ADBC_RANDOM_FIRST`` the first seed, and
``ADBC_RANDOM_SPECULATION`` sets whether types are guessed (never, learn, always) for all of them; otherwise
every tenth is run without guesses.
"""

from __future__ import annotations

import inspect
import math
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc.errors import AdbcError, LiftError
from adbc.inspect.roundtrip import primal_graph, roundtrip
from adbc.ir.interpret import interpret
from adbc.runtime import default_engine
from adbc.testing import directional_derivative
from tests.properties.functions import Program, inputs

FIRST = int(os.environ.get("ADBC_RANDOM_FIRST", "0"))
COUNT = int(os.environ.get("ADBC_RANDOM_FUNCTIONS", "100"))
MODE = os.environ.get("ADBC_RANDOM_SPECULATION", "")


@pytest.fixture(autouse=True)
def speculation(request: pytest.FixtureRequest) -> Iterator[None]:
    engine = default_engine()
    before = engine.speculation
    seed = request.node.callspec.params["seed"]
    engine.speculation = MODE or ("never" if seed % 10 == 3 else before)
    yield
    engine.speculation = before


def copied(args: list[Any]) -> list[Any]:
    return [list(x) if isinstance(x, list) else x for x in args]


def outcome(function: Any, args: list[Any]) -> tuple[Any, ...]:
    """What can be seen of a call: the value or exception, and the list afterwards."""
    args = copied(args)
    try:
        value = function(*args)
    except AdbcError:  # never an outcome
        raise
    except Exception as error:  # an outcome to compare
        return type(error), str(error), args[-1]
    return "value", value, args[-1]


def near(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, tuple | list):
        same = type(a) is type(b) and len(a) == len(b)
        return same and all(near(s, t, tolerance) for s, t in zip(a, b, strict=True))
    if isinstance(a, float):
        return isinstance(b, float) and math.isfinite(a) and abs(a - b) <= tolerance * max(1.0, abs(a))
    return bool(a == b)


def inner(a: Any, b: Any) -> tuple[float, float]:
    """The inner product, and the sum of the sizes of its terms."""
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        parts = [inner(s, t) for s, t in zip(a, b, strict=False)]
        return sum(p[0] for p in parts), sum(p[1] for p in parts)
    return (a * b, abs(a * b)) if isinstance(a, float) and isinstance(b, float) else (0.0, 0.0)


def same_identity(before: list[Any], after: list[Any]) -> bool:
    return len(before) == len(after) and all(s is t for s, t in zip(before, after, strict=False))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_function(seed: int) -> None:
    program = Program(seed)
    print(f"seed {seed}, speculation {default_engine().speculation}\n{program.source}")  # seen on failure
    for number in range(2):
        args = inputs(program, number)
        print("arguments", args)
        expected = outcome(program.function, args)
        assert expected[0] != "value" or near(expected[1], expected[1], 0.0), "generator: not finite"
        if number == 0:
            check_identity(program, args, expected)
        check_derivatives(program, args, expected, random.Random(seed))


def check_identity(program: Program, args: list[Any], expected: tuple[Any, ...]) -> None:
    function = program.function
    try:
        copy = roundtrip(function)
    except LiftError:
        codes = [c for c in function.__code__.co_consts if inspect.iscode(c)]
        assert any(c.co_flags & inspect.CO_GENERATOR for c in codes), "refused without a generator in it"
        return
    assert outcome(copy, args) == expected, "round trip"
    graph = primal_graph(function)

    def interpreted(*args: Any) -> Any:
        return interpret(graph, *args, globals=program.space, limit=20000)

    assert outcome(interpreted, args) == expected, "interpreted"


def check_derivatives(
    program: Program, args: list[Any], expected: tuple[Any, ...], rng: random.Random
) -> None:
    function = program.function
    direction = [
        [rng.uniform(-1.0, 1.0) for _ in x] if isinstance(x, list) else rng.uniform(-1.0, 1.0) for x in args
    ]
    if expected[0] != "value":
        assert outcome(lambda *args: adbc.jvp(function, args, tuple(copied(direction))), args) == expected
        seen = outcome(lambda *args: adbc.vjp(function, *args), args)
        assert seen[:2] == expected[:2], "exception of reverse mode"
        return

    # Forward mode: value, changed arguments and both their tangents.
    changed, tangents = copied(args), copied(direction)
    value, tangent = adbc.jvp(function, tuple(changed), tuple(tangents))
    assert near(expected[1:], (value, changed[-1]), 1e-13), f"forward value {value}, not {expected[1]}"

    def run(args: list[Any]) -> Any:
        return function(*args), args[-1]

    found, errors = directional_derivative(run, args, direction, step=2e-3)
    numbers = [*(tangent if isinstance(tangent, tuple) else [tangent]), *tangents[-1]]
    # An integer result (a sum over nothing) has no tangent and no difference.
    forward = [float(t) if isinstance(t, float) else 0.0 for t in numbers]
    assert len(found) == len(forward), (found, forward)
    for (label, difference), error, got in zip(found, errors, forward, strict=False):
        allowed = 1e-5 * max(1.0, abs(difference))
        assert error <= allowed, f"finite differences did not settle at {label}: up to {error:.1e}"
        assert abs(float(difference) - got) <= allowed, f"{label}: forward {got}, difference {difference}"

    # Reverse mode, three times: what the first runs learnt may change the code of the next.
    for attempt in range(3):
        given = copied(args)
        before = list(given[-1])
        if attempt == 1 and isinstance(value, float):
            cotangent: Any = 1.0
            result, gradient = adbc.value_and_grad(function, tuple(range(len(args))))(*given)
        else:
            cotangent = tuple(rng.uniform(0.5, 1.0) for _ in value) if isinstance(value, tuple) else 0.7
            result, pullback = adbc.vjp(function, *given)
            assert near(expected[2], given[-1], 1e-13), "list after the forwards pass"
            gradient = pullback(cotangent)
        assert near(expected[1], result, 1e-13), f"reverse value {result}, not {expected[1]}"
        assert same_identity(before, given[-1]), f"argument not restored: {given[-1]}, was {before}"
        along, size = inner(list(gradient), direction)
        wanted, other = inner(cotangent, tangent)
        assert abs(along - wanted) <= 1e-10 * max(size, other, 1e-3), f"reverse {along}, forward {wanted}"
