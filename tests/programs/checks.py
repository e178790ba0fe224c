"""What has to be true of a gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.tangents import increment, random_tangent, scale, zero_tangent
from adbc.testing import directional_derivative
from adbc.testing.values import assert_same, duplicate, inner

DIRECTIONS = 3


def check_gradient(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | tuple[int, ...] = 0,
    kwargs: Mapping[str, Any] | None = None,
    rtol: float = 1e-6,
    reverse_rtol: float = 1e-12,
    step: float = 1e-2,
) -> Any:
    """Value, gradient against finite differences, forward mode against reverse, arguments restored.

    Returns the gradient.
    """
    keywords = dict(kwargs or {})
    positions = (argnums,) if isinstance(argnums, int) else argnums
    arguments = duplicate(list(args))
    expected = f(*duplicate(arguments), **keywords)

    value, gradient = adbc.value_and_grad(f, argnums)(*arguments, **keywords)
    assert_same(expected, value, "value", rtol=1e-12)
    assert_same(list(args), arguments, "arguments after the gradient")
    gradients = [gradient] if isinstance(argnums, int) else list(gradient)

    def plain(values: list[Any]) -> Any:
        return f(*values, **keywords)

    rng = np.random.default_rng(11)
    for _ in range(DIRECTIONS):
        direction = _direction(rng, arguments, positions)
        along, size = inner([direction[i] for i in positions], gradients)

        found, errors = directional_derivative(plain, arguments, direction, step=step)
        difference = float(found[0][1])
        allowed = rtol * max(abs(difference), 1e-3 * size) + 1e-10
        assert errors[0] <= allowed, (
            f"finite differences did not settle: {difference!r} up to {errors[0]:.1e}"
        )
        assert abs(along - difference) <= allowed, f"reverse {along!r}, finite differences {difference!r}"

        value, tangent = adbc.jvp(
            plain_call(f, keywords), tuple(duplicate(arguments)), tuple(duplicate(direction))
        )
        assert_same(expected, value, "value in forward mode", rtol=1e-12)
        assert abs(along - tangent) <= reverse_rtol * size, f"reverse {along!r}, forward {float(tangent)!r}"
    return gradient


def check_once_warm(program: Callable[[float], Any]) -> None:
    """`check_gradient` when code is written for what was seen in sixty calls before."""
    gradient = adbc.value_and_grad(program)
    for i in range(60):
        gradient(0.6 + 0.005 * i)
    check_gradient(program, 0.8)


def check_five_calls(f: Callable[[Any], Any], warm_after: int, rel: float) -> None:
    """Compare five calls of `f` at 1.5, in both modes, with the plain one, and slopes with differences."""
    x, h = 1.5, 1e-5
    expected = f(x)
    slope = (f(x + h) - f(x - h)) / (2.0 * h)
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(5):
            for value, derivative in (adbc.value_and_grad(f)(x), adbc.jvp(f, (x,), (1.0,))):
                assert value == expected
                assert derivative == pytest.approx(slope, rel=rel)


def plain_call(f: Callable[..., Any], keywords: dict[str, Any]) -> Callable[..., Any]:
    return (lambda *args: f(*args, **keywords)) if keywords else f


def check_second_derivative(
    f: Callable[[float], Any], x: float, *, rtol: float, atol: float = 0.0, step: float = 1e-5
) -> None:
    """The derivative of the gradient in both modes, three times, against differences of the gradient."""
    first = adbc.grad(f)
    for _ in range(3):
        difference = (first(x + step) - first(x - step)) / (2 * step)
        expected = pytest.approx(difference, rel=rtol, abs=atol)
        assert adbc.grad(first)(x) == expected
        assert adbc.jvp(first, (x,), (1.0,))[1] == expected


def _direction(rng: np.random.Generator, arguments: list[Any], positions: tuple[int, ...]) -> list[Any]:
    """A random tangent of the selected arguments, and of the others where they are the same memory."""
    drawn = random_tangent(rng, arguments)
    direction = zero_tangent(arguments)
    for i in positions:
        direction[i] = increment(direction[i], drawn[i])
    length = float(np.sqrt(inner(direction, direction)[0]))
    return scale(1.0 / length, direction)
