"""Exceptions that are made or read in a derivative which is differentiated once more.

They are made and read at the outer level like any others; what stands beside their arguments at the inner
level is kept by code that the outer level follows.
"""

from __future__ import annotations

from typing import Any

from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.runtime.calls import exceptions
from adbc.runtime.calls.nested import apart
from adbc.runtime.state.context import Context
from adbc.tangents import MutableTangent, fields, fill_tangent, slot_tangent

__all__ = ["ROWS", "met", "shadow", "tangent"]


def shadow(context: Context, error: Any, args: Any, shadows: Any) -> Any:
    """The shadow of `error`, an exception that was made of these arguments."""
    return _beside(context, error, args, shadows, slot_tangent)


def tangent(context: Context, error: Any, args: Any, tangents: Any) -> Any:
    """The tangent of `error`, an exception that was made of these arguments."""
    return _beside(context, error, args, tangents, fill_tangent)


def _beside(context: Context, error: Any, args: Any, given: Any, fill: Any) -> Any:
    beside = MutableTangent()
    if not fields.hides_arguments(type(error)):
        beside.__dict__["args"] = exceptions.kept_arguments(error, args, given, fill)
    register(context, error, beside)
    return beside


def register(context: Context, error: Any, beside: Any) -> None:
    """Let the memo of the inner level know an exception."""
    context.shadows.register(error, beside)


def met(context: Context, error: Any) -> Any:
    """The shadow of an exception that is looked at."""
    return exceptions.caught(context, error)


def _arguments(error: Any) -> Any:
    return error.args


def _set_arguments(error: Any, args: Any) -> None:
    error.args = args


ROWS: list[Rule] = [
    Overlay(fields.arguments, _arguments),
    Overlay(exceptions.set_arguments, _set_arguments),
    ZeroRule(fields.hides_arguments),
    *apart(register, met),
]
