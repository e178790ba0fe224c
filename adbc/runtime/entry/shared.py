"""Entrances that gradients of one function share: ``adbc.grad(f)(x)`` makes a new one each time."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, TypeVar

from adbc.runtime.state.engine import EngineView

__all__ = ["is_alone", "is_simple", "kept_entrance", "shared"]

E = TypeVar("E")


def is_simple(f: Any, count: int) -> bool:
    """Whether `f` is a function that brings no defaults along into a call with so many arguments."""
    return type(f) is types.FunctionType and (not f.__defaults__ or count == f.__code__.co_argcount)


def is_alone(f: Any, count: int) -> bool:
    """Whether a function brings nothing along: neither a closure nor defaults."""
    return is_simple(f, count) and f.__closure__ is None


def shared(engine: EngineView, f: Any, numbers: Sequence[int], entrance: E) -> E:
    """The entrance that all gradients of `f` by the same arguments share: they are often made anew."""
    if type(f) is not types.FunctionType or f.__closure__ is not None or engine.table.rows(f):
        return entrance  # of functions with the same code, some may have a rule
    return kept_entrance(engine, (f.__code__, id(f.__globals__), tuple(numbers)), entrance)


def kept_entrance(engine: EngineView, key: Any, entrance: E) -> E:
    """The entrance that is kept under `key`: from now on `entrance`, if there was none."""
    if len(engine.entrances) >= _MOST_SHARED:
        engine.entrances.clear()
    found: E = engine.entrances.setdefault(key, entrance)
    return found


_MOST_SHARED = 1024
