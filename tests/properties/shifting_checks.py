"""What is asked of a program whose types change: in every call, what the plain function does, and its
derivative, in both modes."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np

import adbc
from adbc.errors import ConstWriteError, LiftError, MissingRuleError, UnsupportedError
from adbc.tangents import NO_TANGENT, add_to_primal, dot, random_tangent, scale
from tests.properties.shifting_programs import ShiftingProgram

__all__ = ["check_shifting"]

STEP = 1e-6
REFUSALS = (ConstWriteError, LiftError, MissingRuleError, UnsupportedError)

ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, UnboundLocalError, ValueError)
"""What a program may raise beside its own `Stop`."""


def check_shifting(program: ShiftingProgram, calls: int, at: int) -> str:
    """Check `calls` calls, of which those from `at` on are of other types; "right", or how it was refused."""
    space = program.space
    refused = ""
    n = -1
    try:
        for n in range(calls):
            program.change(space, n, at)
            refused = check_call(program, space, n, at) or refused
    except Exception as error:  # whatever it is: it goes on, and says where it comes from
        error.add_note(f"seed {program.seed} call {n} at {at} changes {program.changes}\n{program.source}")
        raise
    return refused or "right"


STATE = ("G", "level", "shape")
"""The globals that a program writes to; its function `kept` has a default that changes, too."""


def state_of(space: dict[str, Any]) -> Any:
    return copy.deepcopy([*(space[name] for name in STATE), space["kept"].__defaults__[0]])


def put_back(space: dict[str, Any], state: Any) -> None:
    """Give the globals the values that `state_of` has noted."""
    state = copy.deepcopy(state)
    for name, value in zip(STATE, state, strict=False):
        if name == "G":
            space["G"].clear()
            space["G"].update(value)
        else:
            space[name] = value
    space["kept"].__defaults__[0][:] = state[-1]


def described(x: Any) -> Any:
    """What can be compared of `x`, an argument or a part of one."""
    if isinstance(x, (list, tuple)):
        return type(x), [described(part) for part in x]
    if isinstance(x, dict):
        return [(key, described(part)) for key, part in x.items()]
    if hasattr(x, "asked"):
        return type(x).__name__, described(vars(x))
    return type(x), x


def outcome(space: dict[str, Any], state: Any, args: list[Any]) -> tuple[Any, ...]:
    """What a plain call does, which leaves the globals as they are."""
    f = space["f"]
    try:
        try:
            value = f(*args)
        except (space["Stop"], *ERRORS) as error:
            return type(error), None, described(args[1:4]), described(state_of(space))
        return "value", value, described(args[1:4]), described(state_of(space))
    finally:
        put_back(space, state)


def near(a: Any, b: Any, tolerance: float) -> bool:
    return math.isfinite(a) and abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def same(a: Any, b: Any) -> bool:
    """Whether two descriptions are the same, up to rounding."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (float, np.floating)):
        return isinstance(b, (float, np.floating)) and (a == b or near(a, b, 1e-11))
    return bool(a == b)


def check_call(program: ShiftingProgram, space: dict[str, Any], n: int, at: int) -> str:
    """Check call `n`: how it was refused, if it was."""

    def given() -> list[Any]:
        return program.arguments(space, n, at)

    f = space["f"]
    state = state_of(space)
    expected = outcome(space, state, given())
    if expected[0] != "value":
        for call in (_value_and_grad(f), lambda args: adbc.jvp(f, args, _direction(args))):
            args = given()
            try:
                call(args)
            except REFUSALS as error:
                return _said(error)
            except expected[0]:
                pass
            else:
                raise AssertionError(f"{expected[0]} expected")
            finally:
                put_back(space, state)
        return ""
    if not isinstance(expected[1], (float, np.floating)):
        return "no float"
    args = given()
    direction = _direction(args)
    ahead = outcome(space, state, _moved(given(), direction, STEP))
    behind = outcome(space, state, _moved(given(), direction, -STEP))
    assert ahead[0] == behind[0] == "value", "generator"
    slope = (ahead[1] - behind[1]) / (2.0 * STEP)
    refused = ""
    forward = None
    try:
        value, forward = adbc.jvp(f, tuple(args), direction)
        assert same(expected[1:], (value, described(args[1:4]), described(state_of(space)))), (
            f"forward: {(value, described(args[1:4]), state_of(space))}, not {expected}"
        )
        assert near(forward, slope, 2e-5), f"forward {forward}, difference {slope}"
    except REFUSALS as error:
        refused = _said(error)
    finally:
        put_back(space, state)
    args = given()
    direction = _direction(args)
    before, kept = described(args), list(args[1])
    try:
        if n % 3 == 2:
            value, pullback = adbc.vjp(f, *args)
            assert same(expected[1:], (value, described(args[1:4]), described(state_of(space)))), (
                f"forwards pass: {(value, described(args[1:4]), state_of(space))}, not {expected}"
            )
            gradient = pullback(1.0 if n % 2 else np.float64(1.0) if isinstance(value, np.float64) else 1.0)
        else:
            value, gradient = _value_and_grad(f)(args)
        assert same(value, expected[1]), f"reverse value {value}, not {expected[1]}"
        gone = described(args)
        assert gone == before and all(p is q for p, q in zip(kept, args[1], strict=True)), (
            f"{gone}, was {before}"
        )
        assert described(state_of(space)) == described(state), f"globals {state_of(space)}, were {state}"
        reverse = sum(
            dot(t, g)
            for t, g in zip(direction, gradient, strict=True)
            if g is not NO_TANGENT and t is not NO_TANGENT
        )
        assert near(reverse, slope, 2e-5), f"reverse {reverse}, difference {slope}"
        assert forward is None or near(reverse, forward, 1e-9), f"reverse {reverse}, forward {forward}"
    except REFUSALS as error:
        refused = refused or _said(error)
    finally:
        put_back(space, state)
    return refused


def _value_and_grad(f: Any) -> Any:
    def call(args: list[Any]) -> Any:
        which = (0, 1, 2, 3, 5) if _is_float(args[5]) else (0, 1, 2, 3)
        which = tuple(i for i in which if _is_float(args[i]))
        value, gradient = adbc.value_and_grad(f, which)(*args)
        full = [NO_TANGENT] * len(args)
        for i, g in zip(which, gradient, strict=True):
            full[i] = g
        return value, full

    return call


def _is_float(x: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return any(map(_is_float, x))
    if isinstance(x, dict):
        return any(map(_is_float, x.values()))
    if hasattr(x, "asked"):
        return _is_float(vars(x))
    return isinstance(x, (float, np.floating))


def _direction(args: list[Any]) -> tuple[Any, ...]:
    rng = random.Random(5)
    return tuple(random_tangent(rng, x) for x in args)


def _moved(args: list[Any], direction: Any, step: float) -> list[Any]:
    return [
        x if t is NO_TANGENT else add_to_primal(x, scale(step, t))
        for x, t in zip(args, direction, strict=True)
    ]


def _said(error: Exception) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text[:160]}"
