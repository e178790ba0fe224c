"""`stop_gradient`, which the public interface hands out without loading the rules of builtins."""

from __future__ import annotations

from typing import Any, TypeVar

from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.rules.sequences import nothing
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Rule
from adbc.tangents import NO_TANGENT, Const, MutableTangent

__all__ = ["ROWS", "stop_gradient"]

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x`, as a constant: nothing is differentiated through it.

    Of an object the result is the object itself, seen as a constant: to write an active value into
    it by this name raises `adbc.errors.ConstWriteError`. Of a float it is another float with the same value.

    Raises `adbc.errors.UnsupportedError` for a function that has captured variables that may have a
    derivative: it reads them whatever it is called by. Stop what it returns, or what it captures.

    >>> import adbc
    >>> adbc.grad(lambda x: x * adbc.stop_gradient(x))(3.0)
    3.0
    """
    # What is the same object depends on the same things: recursions with a cache rest on it (`rules.cached`).
    value: Any = x
    return value * 1.0 if type(x) is float else value  # type: ignore[no-any-return]  # as `x`


def _check(x: Any, derivative: Any) -> None:
    """Raise if `x` is a function that has captured something that may have a derivative."""
    if not is_function(x) or not isinstance(derivative, MutableTangent):
        return
    for name in x.__code__.co_freevars:
        cell = derivative.__dict__.get(name)
        content = getattr(cell, "cell_contents", None)
        if content is not None and content is not NO_TANGENT:
            raise UnsupportedError(
                f"stop_gradient is given {x.__qualname__}, which has captured {name!r}, a variable that may"
                " have a derivative",
                "the function reads its variables whatever it is called by",
                f"stop what it returns, adbc.stop_gradient({x.__name__}(...)), or what it captures",
            )


def _frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    _check(args[0], dargs[0])
    return stop_gradient(args[0]), None


def _rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    _check(args[0], fargs[0])
    return stop_gradient(args[0]), None, nothing(1)


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
