"""What is asked of one random function: round trip, interpreted graph, forward mode and reverse mode, against
the plain function.

Functions are checked in chunks of `CHUNK`, which share one prelude (so that the rules of its functions are
built once per chunk, and what one function has taught them meets the next) and one way of speculating.  What
a seed finds may therefore depend on the seeds of its chunk before it.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import math
import os
import random
from collections.abc import Iterable, Iterator
from typing import Any

import adbc
from adbc.errors import AdbcError, LiftError
from adbc.inspect.round_trip import primal_graph, roundtrip
from adbc.ir.interpret import interpret
from adbc.runtime import default_engine
from adbc.testing import directional_derivative
from tests.properties.functions import Prelude, Program, inputs

__all__ = ["CHUNK", "check", "check_chunk", "fresh_engine", "speculation", "warmth"]

CHUNK = 50


def speculation(seed: int) -> str:
    """Whether types are guessed for the chunk of `seed`: mostly they are, as users have it."""
    forced = os.environ.get("ADBC_RANDOM_SPECULATION", "")
    of_chunk = {3: "never", 5: "dynamic", 7: "always", 9: "interpret"}
    return forced or of_chunk.get(seed // CHUNK % 10, "learn")


def warmth(seed: int) -> int:
    """How often code is interpreted before it is written, in the chunk of `seed`."""
    return {0: 40, 2: 1, 4: 3}.get(seed // CHUNK % 10, 0)


@contextlib.contextmanager
def fresh_engine() -> Iterator[None]:
    """An engine that has learnt nothing, and forgets all afterwards."""
    engine = default_engine()
    before, collecting = (engine.guesses.mode, engine.tiers.warm_after), gc.isenabled()
    engine.clear()
    gc.disable()  # graphs are cyclic and many; a chunk fits into memory
    try:
        yield
    finally:
        engine.guesses.mode, engine.tiers.warm_after = before
        engine.clear()
        if collecting:
            gc.enable()
        gc.collect()


def check_chunk(seeds: Iterable[int]) -> None:
    """Check the functions of some seeds of one chunk, in this order.

    Raises what the first failure raised, with a note of seed and source.
    """
    with fresh_engine():
        prelude = Prelude()
        for seed in seeds:
            default_engine().guesses.mode = speculation(seed)
            default_engine().tiers.warm_after = warmth(seed)
            check(Program(seed, prelude))


def check(program: Program) -> None:
    """Check one function with two inputs."""
    args: list[Any] = []
    try:
        for number in range(2):
            args = inputs(program, number)
            expected = outcome(program.function, args)
            assert expected[0] != "value" or near(expected[1], expected[1], 0.0), "generator: not finite"
            if number == 0:
                check_identity(program, args, expected)
            check_derivatives(program, args, expected, random.Random(program.seed))
    except Exception as error:  # whatever it is: it goes on, and says where it comes from
        mode = default_engine().guesses.mode
        error.add_note(f"seed {program.seed}, speculation {mode}, arguments {args}\n{program.source}")
        raise


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


def flat(x: Any) -> list[Any]:
    """The leaves of tuples and lists."""
    return [leaf for part in x for leaf in flat(part)] if isinstance(x, tuple | list) else [x]


def spread(value: Any, tangent: Any) -> Any:
    """`tangent` in the structure of `value`: what has no float in it, a tuple of integers say, has one
    tangent altogether, `NoTangent()`."""
    if isinstance(value, tuple | list) and isinstance(tangent, adbc.NoTangent):
        tangent = [tangent] * len(value)
    if isinstance(value, tuple | list):
        return [spread(part, t) for part, t in zip(value, tangent, strict=True)]
    assert isinstance(value, float) != isinstance(tangent, adbc.NoTangent), (value, tangent)
    return tangent


def inner(a: Any, b: Any) -> tuple[float, float]:
    """The inner product, and the sum of the sizes of its terms."""
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        parts = [inner(s, t) for s, t in zip(a, b, strict=False)]
        return sum(p[0] for p in parts), sum(p[1] for p in parts)
    return (a * b, abs(a * b)) if isinstance(a, float) and isinstance(b, float) else (0.0, 0.0)


def same_identity(before: list[Any], after: list[Any]) -> bool:
    return len(before) == len(after) and all(s is t for s, t in zip(before, after, strict=False))


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
    tangent = spread(value, tangent)
    assert near(expected[1:], (value, changed[-1]), 1e-13), f"forward value {value}, not {expected[1]}"

    def run(args: list[Any]) -> Any:
        return function(*args), args[-1]

    found, errors = directional_derivative(run, args, direction, step=2e-3)
    forward = [t for v, t in zip(flat((value, changed[-1])), flat((tangent, tangents[-1])), strict=True)
               if isinstance(v, float)]  # fmt: skip  # an integer (a sum over nothing) has no tangent
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
            parts = value if isinstance(value, tuple) else (value,)
            # The sum of nothing is an int, which has no cotangent.
            given_parts = tuple(
                rng.uniform(0.5, 1.0) if isinstance(part, float) else adbc.NoTangent() for part in parts
            )
            cotangent = given_parts if isinstance(value, tuple) else given_parts[0]
            result, pullback = adbc.vjp(function, *given)
            assert near(expected[2], given[-1], 1e-13), "list after the forwards pass"
            gradient = pullback(cotangent)
        assert near(expected[1], result, 1e-13), f"reverse value {result}, not {expected[1]}"
        assert same_identity(before, given[-1]), f"argument not restored: {given[-1]}, was {before}"
        along, size = inner(list(gradient), direction)
        wanted, other = inner(cotangent, tangent)
        assert abs(along - wanted) <= 1e-10 * max(size, other, 1e-3), f"reverse {along}, forward {wanted}"
