"""Derivatives as functions: what is asked of a function, `test_rule` asks of them for the next order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adbc import api
from adbc.tangents import random_tangent
from adbc.testing.finite import unit_direction
from adbc.testing.values import duplicate

__all__ = ["derivatives"]

Function = Callable[..., Any]


def derivatives(
    f: Function, args: Sequence[Any], modes: Sequence[str], rng: Any
) -> Iterator[tuple[str, Function]]:
    """The derivatives of `f` at `args` as functions of its arguments, with the names of the modes.

    "forward" is the derivative along a random direction, "reverse" the one by a random cotangent of the
    result.  Each changes the arguments as its mode does, and holds the direction or cotangent, by which it
    has derivatives too.
    """
    if "forward" in modes:
        yield "forward", _pushed(f, tuple(unit_direction(rng, list(args))))
    if "reverse" in modes:
        yield "reverse", _pulled(f, random_tangent(rng, f(*duplicate(list(args)))))


def _pushed(f: Function, direction: tuple[Any, ...]) -> Function:
    def pushed(*args: Any) -> Any:
        value, tangent = api.jvp(f, args, direction)
        return value, tangent

    return pushed


def _pulled(f: Function, cotangent: Any) -> Function:
    def pulled(*args: Any) -> Any:
        _, pullback = api.vjp(f, *args)
        return pullback(cotangent)

    return pulled
