"""Instances of classes that are derived from builtin containers and numbers, made of what these are made of.

A call of such a class, which has no constructor of its own, is a call of the builtin class whose result gets
another class.  Written so, what is known of calls of the builtin class is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir.values import Const, Value
from adbc.types.lattice import AbstractType, Exact

__all__ = ["BASES", "as_instance", "as_tuple", "empty", "instance_type"]

BASES: tuple[Any, ...] = (list, dict, tuple, float)
"""The builtin classes of which this is known."""


def empty(cls: Any, /) -> Any:
    """A new instance of `cls`, a class derived from `list` or `dict`, made without its ``__init__``."""
    base = list if issubclass(cls, list) else dict
    return base.__new__(cls)


def as_instance(cls: Any, value: Any, /) -> Any:
    """What `value`, a tuple or float, is as an instance of `cls`, which is derived from its class."""
    base: Any = tuple if issubclass(cls, tuple) else float
    return base.__new__(cls, value)


def as_tuple(value: Any, /) -> tuple[Any, ...]:
    """The plain tuple of the elements of `value`, an instance of a class derived from `tuple`."""
    return tuple.__getitem__(value, slice(None))


def instance_type(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of the result of these functions, of the class that they are given first."""
    cls = values[0].value if isinstance(values[0], Const) else None
    return Exact(cls) if isinstance(cls, type) else None
