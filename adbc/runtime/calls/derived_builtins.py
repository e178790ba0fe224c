"""The rules of what makes instances of classes derived from builtin containers and numbers.

Those with memory are made empty, and filled by what fills lists and dicts; a tuple or number has the
derivative that it has without the class.
"""

from __future__ import annotations

from typing import Any

from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule, ZeroRule
from adbc.types.derived_builtins import as_instance, as_tuple, empty

__all__ = ["ROWS"]


def _instance_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return as_instance(*args), dargs[1]


def _instance_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return as_instance(*args), fargs[1], lambda bout: (None, bout)


def _tuple_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return as_tuple(*args), dargs[0]


def _tuple_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return as_tuple(*args), fargs[0], lambda bout: (bout,)


ROWS: tuple[Rule, ...] = (
    ZeroRule(empty),
    Primitive(as_instance, frule=_instance_frule, rrule=_instance_rrule),
    Primitive(as_tuple, frule=_tuple_frule, rrule=_tuple_rrule),
)
