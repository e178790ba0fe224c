"""Thunks: cotangents that are computed when, and if, somebody needs them.

A pullback must give a cotangent for each argument, though its caller may want only one: the others would be
computed to be thrown away.  A thunk is computed at most once, when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.chainrules.arrays import loaded
from adbc.chainrules.linear import Linear, Precedence, add

__all__ = ["InplaceableThunk", "Thunk", "thunk", "unthunk"]

_NOT_YET: Any = object()


class Thunk(Linear):
    """A tangent that ``compute()`` gives, which is called at most once, when `unthunk` first asks for it.

    A sum or product with a thunk computes it; what is never asked for is never computed.

    >>> from adbc import chainrules as cr
    >>> t = cr.Thunk(lambda: print("computed") or 2.0)
    >>> cr.unthunk(t), cr.unthunk(t)
    computed
    (2.0, 2.0)
    """

    __slots__ = ("_compute", "_value")
    _precedence = Precedence.THUNK

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute: Callable[[], Any] | None = compute
        self._value = _NOT_YET

    @property
    def is_computed(self) -> bool:
        """Whether somebody has asked for it already."""
        return self._value is not _NOT_YET

    def value(self) -> Any:
        """The tangent.  What the function closes over is let go of when it has been called."""
        if self._value is _NOT_YET:
            compute = self._compute
            assert compute is not None
            self._value = unthunk(compute())  # an exception leaves it as it was
            self._compute = None
        return self._value

    def _plus(self, other: Any) -> Any:
        return add(self.value(), unthunk(other))

    def _linear(self, function: Callable[[Any], Any]) -> Any:
        return function(self.value())

    def conjugate(self) -> Any:
        """The complex conjugate of the tangent."""
        return self.value().conjugate()

    def __float__(self) -> float:
        return float(self.value())

    def __complex__(self) -> complex:
        return complex(self.value())

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return loaded().asarray(self.value(), *args, **kwargs)  # NumPy is who asks

    def __getitem__(self, key: Any) -> Any:
        return self.value()[key]

    def __repr__(self) -> str:
        inside = repr(self._value) if self.is_computed else "..."
        return f"{type(self).__name__}({inside})"


class InplaceableThunk(Thunk):
    """A thunk that can be added to a buffer without being computed by itself.

    add_into: ``add_into(buffer)`` adds the tangent to `buffer`, in place, and returns it.  value: a function
    that computes the tangent, or a `Thunk`.

    The cotangent of ``x[i]`` has one number that is not zero: to compute it is to allocate an array of the
    size of `x`; to add it to a buffer is to add one number.

    >>> import numpy as np
    >>> from adbc import chainrules as cr
    >>> def add_into(buffer):
    ...     buffer[2] += 5.0
    ...     return buffer
    >>> t = cr.InplaceableThunk(add_into, lambda: np.array([0.0, 0.0, 5.0]))
    >>> cr.accumulate(np.ones(3), t, owned=True), t.is_computed
    (array([1., 1., 6.]), False)
    """

    __slots__ = ("add_into",)

    def __init__(self, add_into: Callable[[Any], Any], value: Thunk | Callable[[], Any]) -> None:
        super().__init__(value.value if isinstance(value, Thunk) else value)
        self.add_into = add_into


def thunk(compute: Callable[[], Any]) -> Thunk:
    """The `Thunk` of a function, for use as a decorator.

    >>> from adbc import chainrules as cr
    >>> @cr.thunk
    ... def dx():
    ...     return 2.0 * 3.0
    >>> dx + 1.0
    7.0
    """
    return Thunk(compute)


def unthunk(x: Any) -> Any:
    """The tangent that a thunk computes; anything else as it is.

    >>> from adbc import chainrules as cr
    >>> cr.unthunk(cr.Thunk(lambda: 3.0)), cr.unthunk(4.0)
    (3.0, 4.0)
    """
    while isinstance(x, Thunk):
        x = x.value()
    return x
