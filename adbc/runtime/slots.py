"""Slots: what generated code calls where it reads or writes one number in a container.

A container that was declared constant has no shadow: reading it is free, writing an active number
into it is an error.  The shadow of a number's slot holds a number, so indices mean the same in both.
"""

from __future__ import annotations

from typing import Any

from adbc.errors import ConstWriteError

__all__ = ["add_to_slot", "check_slot", "load_tangent", "restore_slot", "store_tangent"]


def add_to_slot(shadow: Any, index: Any, b: Any) -> None:
    """The reverse of ``container[index]``."""
    if shadow is not None:
        shadow[index] += b


def check_slot(container: Any, shadow: Any) -> None:
    """Refuse to write a number that has a derivative into a constant."""
    if shadow is None:
        raise ConstWriteError(
            f"a value that has a derivative is written into a constant {type(container).__name__};"
            " pass it as an argument that is differentiated, or do not declare it Const"
        )


def restore_slot(container: Any, shadow: Any, index: Any, old: Any) -> Any:
    """The reverse of ``container[index] = value``: the cotangent of the value."""
    container[index] = old
    if shadow is None:
        return 0.0
    b = shadow.item(index)
    shadow[index] = 0.0
    return b


def load_tangent(tangent: Any, index: Any) -> Any:
    """The tangent of ``container[index]``."""
    return 0.0 if tangent is None else tangent[index]


def store_tangent(tangent: Any, index: Any, dvalue: Any) -> None:
    """The tangent of ``container[index] = value``."""
    if tangent is not None:
        tangent[index] = 0.0 if dvalue is None else dvalue
