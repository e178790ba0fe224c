"""The arithmetic of what stands for a tangent without being a number: who decides what a sum is.

Rules add, scale and conjugate tangents without asking what they are.  Each class here says two things about
itself: what it and something of a later class make together (`_plus`), and what a linear map makes of it
(`_linear`).  Everything else follows, on either side of an operator, so there is one table and not one method
for each pair of classes.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, Self

__all__ = ["Linear", "Precedence", "Single", "add", "times"]


class Precedence(IntEnum):
    """Which operand decides what a sum is: the one whose class stands first.

    ======================  ==================================================================
    NOT_IMPLEMENTED         nobody has written the derivative: so is every sum with it
    ZERO                    the other operand
    NO_TANGENT              the other operand
    THUNK                   is computed, and the sum is that of the result
    STRUCTURED              part by part; parts that one operand lacks are those of the other
    NUMBER                  ``+`` of Python: numbers, arrays
    ======================  ==================================================================

    ``ZeroTangent() + NoTangent()`` is `NoTangent`: where there is no tangent, zero is none either.
    """

    NOT_IMPLEMENTED = 0
    ZERO = 1
    NO_TANGENT = 2
    THUNK = 3
    STRUCTURED = 4
    NUMBER = 5


def _precedence(x: Any) -> int:
    return getattr(type(x), "_precedence", Precedence.NUMBER)


def add(a: Any, b: Any) -> Any:
    """``a + b`` of two tangents, by the table of `Precedence`."""
    first, second = _precedence(a), _precedence(b)
    if first == second == Precedence.NUMBER:
        return a + b
    return a._plus(b) if first <= second else b._plus(a)


def times(a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    """``operation(a, b)``, which is linear in that of `a` and `b` that is a tangent."""
    if _precedence(a) <= _precedence(b):
        return a._linear(lambda v: operation(v, b))
    return b._linear(lambda v: operation(a, v))


class Linear:
    """What stands for a tangent: the operators, made of `_plus` and `_linear`."""

    __slots__ = ()
    __array_ufunc__ = None  # an array hands its operators over
    _precedence: ClassVar[int] = Precedence.NUMBER

    def _plus(self, other: Any) -> Any:
        """The sum with `other`, whose class does not stand before this one."""
        raise NotImplementedError

    def _linear(self, function: Callable[[Any], Any]) -> Any:
        """What the linear map `function` makes of it."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self)

    def __sub__(self, other: Any) -> Any:
        return add(self, -other)

    def __rsub__(self, other: Any) -> Any:
        return add(other, -self)

    def __neg__(self) -> Any:
        return self._linear(lambda v: -v)

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        return times(self, other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return times(other, self, lambda a, b: a * b)

    def __matmul__(self, other: Any) -> Any:
        return times(self, other, lambda a, b: a @ b)

    def __rmatmul__(self, other: Any) -> Any:
        return times(other, self, lambda a, b: a @ b)

    def __truediv__(self, other: Any) -> Any:
        return self._linear(lambda v: v / other)


class Single:
    """A class with one instance, which survives copying and pickling as itself."""

    __slots__ = ()
    _instance: Single

    def __new__(cls) -> Self:
        found = cls.__dict__.get("_instance")
        if found is None:
            found = cls._instance = object.__new__(cls)
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()
