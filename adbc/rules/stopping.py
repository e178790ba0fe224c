"""`stop_gradient`, which the public interface hands out without loading the rules of builtins."""

from __future__ import annotations

from typing import Any, TypeVar

from adbc.rules.sequences import nothing
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Rule
from adbc.tangents import Const

__all__ = ["ROWS", "stop_gradient"]

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x`, as a constant: nothing is differentiated through it.

    Of an object the result is the object itself, seen as a constant: to write an active value into
    it by this name raises `adbc.errors.ConstWriteError`.

    >>> import adbc
    >>> adbc.grad(lambda x: x * adbc.stop_gradient(x))(3.0)
    3.0
    """
    return x


def _frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return args[0], None


def _rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    return args[0], None, nothing(1)


def _const_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return Const(*args, **kwargs), None


def _const_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    return Const(*args, **kwargs), None, nothing(len(args))


class _Stopping(Primitive):
    """The row of `stop_gradient`: what has no memory is a constant like any other behind it."""

    stops = True


ROWS: list[Rule] = [
    _Stopping(stop_gradient, frule=_frule, rrule=_rrule),
    Primitive(Const, frule=_const_frule, rrule=_const_rrule, parameters=("value",)),
]
