"""Checks of a program that is called for long with arguments that vary: as long as it is interpreted, where
code is written for it, and where guesses are wrong."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import adbc
from adbc.tangents import random_tangent, zero_tangent
from adbc.testing import directional_derivative
from adbc.testing.values import assert_same, duplicate, inner

__all__ = ["check_calls"]

CALLS = 60
"""Enough for code to be written, and guessed types to be wrong afterwards."""


def check_calls(
    f: Callable[..., Any],
    arguments: Callable[[int], tuple[Any, ...]],
    argnums: tuple[int, ...] = (0,),
    before: Callable[[int], object] = lambda call: None,
    calls: int = CALLS,
) -> int:
    """Check values, derivatives in both modes, output, exceptions and arguments of some calls of `f`.

    arguments: what call number so-and-so is given.  before: sets the state that the program finds.  Returns
    the number of calls that gave a value.
    """
    values = 0
    for call in range(calls):
        before(call)
        given = arguments(call)
        expected, error, printed = _run(lambda: f(*given))  # noqa: B023
        left = list(given)

        before(call)
        backwards = arguments(call)
        found, raised, shown = _run(lambda: adbc.value_and_grad(f, argnums)(*backwards))  # noqa: B023
        _same_end(call, error, raised)
        assert shown == printed, f"call {call} prints {shown!r}, not {printed!r}"

        before(call)
        forwards = arguments(call)
        direction = _direction(call, forwards, argnums)
        along, raised, shown = _run(lambda: adbc.jvp(f, tuple(forwards), tuple(direction)))  # noqa: B023
        _same_end(call, error, raised)
        assert shown == printed, f"call {call} prints {shown!r} in forward mode, not {printed!r}"
        if error is not None:
            continue
        values += 1
        assert_same(list(arguments(call)), list(backwards), f"arguments after call {call}")
        assert_same(left, list(forwards), f"arguments after call {call} in forward mode")

        value, gradient = found
        assert_same(expected, value, f"value of call {call}", rtol=1e-12)
        assert_same(expected, along[0], f"value of call {call} in forward mode", rtol=1e-12)
        reverse, size = inner([direction[i] for i in argnums], list(gradient))
        assert math.isclose(reverse, along[1], rel_tol=1e-9, abs_tol=1e-9 * size), f"call {call}"

        def plain(values: list[Any], call: int = call) -> Any:
            before(call)
            return _run(lambda: f(*values), catches=False)[0]

        slopes, errors = directional_derivative(plain, duplicate(list(arguments(call))), direction, step=1e-3)
        assert abs(slopes[0][1] - reverse) <= 1e-6 * max(abs(reverse), 1e-2 * size) + errors[0], (
            f"call {call}"
        )
    before(0)
    return values


def _run(call: Callable[[], Any], catches: bool = True) -> tuple[Any, Exception | None, str]:
    """What a call gives, or raises, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            return call(), None, out.getvalue()
        except Exception as error:
            if not catches:
                raise
            return None, error, out.getvalue()


def _same_end(call: int, expected: Exception | None, found: Exception | None) -> None:
    if type(found) is not type(expected) or str(found) != str(expected):
        raise AssertionError(f"call {call} raises {found!r}, not {expected!r}") from found


def _direction(call: int, arguments: tuple[Any, ...], argnums: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(call)
    direction = zero_tangent(list(arguments))
    for i in argnums:
        direction[i] = random_tangent(rng, arguments[i])
    return direction
