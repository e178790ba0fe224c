"""The operators of tangents of objects, as walks over tangents; and of objects and tangents, over both."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.duals import OPERATORS, MutableTangent, Tangent
from adbc.tangents.fit import misfit
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.operations import add_to_primal
from adbc.tangents.walk import TangentWalk

__all__ = ["install"]

_TANGENTS = (MutableTangent, Tangent)


class _Combined:
    """The leaf of a walk that combines the numbers of two tangents."""

    def __init__(self, combine: Callable[[Any, Any], Any]) -> None:
        self.on_arrays = self.combine = combine

    def __call__(self, t: Any, s: Any) -> Any:
        if type(t) is not type(s):
            raise InvalidTangentError(f"a {type(t).__name__} does not go together with a {type(s).__name__}")
        return self.combine(t, s)


class _ByNumber:
    """The leaf of a walk that combines each number of a tangent with one and the same number."""

    def __init__(self, combine: Callable[[Any, Any], Any], number: Any) -> None:
        self.combine, self.number = combine, number

    def __call__(self, t: Any) -> Any:
        return type(t)(self.combine(t, self.number))

    def on_arrays(self, t: Any) -> Any:
        return self.combine(t, self.number)


def _is_real(x: Any) -> bool:
    """Whether `x` is a real number, of Python or NumPy."""
    return issubclass(type(x), int | float) or (
        getattr(x, "ndim", None) == 0 and getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u", "f")
    )


def _of_tangents(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def combined(t: Any, s: Any) -> Any:
        if type(s) is not type(t):
            return NotImplemented
        return TangentWalk(_Combined(combine), in_place=False).run(t, s)

    return combined


def _by_number(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def combined(t: Any, number: Any) -> Any:
        return (
            TangentWalk(_ByNumber(combine, number), in_place=False).run(t)
            if _is_real(number)
            else NotImplemented
        )

    return combined


def _moved(x: Any, t: Any) -> Any:
    """Object `x` moved by tangent `t`, as a new object."""
    if isinstance(x, _TANGENTS) or x is NO_TANGENT or misfit(x, t) is not None:
        return NotImplemented
    return add_to_primal(x, t)


def _moved_back(x: Any, t: Any) -> Any:
    return _moved(x, -t)


def _sum(t: Any, s: Any) -> Any:
    """Tangent `t` plus `s`, a tangent or an object that is moved."""
    return _added(t, s) if type(s) is type(t) else _moved(s, t)


_added = _of_tangents(operator.add)


def install() -> None:
    """Fill the table of operators."""
    OPERATORS.update(
        {
            "+": _sum,
            "-": _of_tangents(operator.sub),
            "object +": _moved,
            "object -": _moved_back,
            "*": _by_number(operator.mul),
            "/": _by_number(operator.truediv),
        }
    )
