"""Tangents that are no numbers: there is none, it is zero, nobody has written it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from adbc.chainrules.linear import Linear, Precedence, Single
from adbc.errors import UnsupportedError

__all__ = ["NoTangent", "NotImplementedTangent", "ZeroTangent", "not_implemented"]


class NoTangent(Linear, Single):
    """The tangent of a value that has no derivative: an int, a string, a module, a function without active
    cells.

    There is one instance, which every call returns.  Added to a tangent it leaves that as it is, for nothing
    is perturbed where there is nothing to perturb; a product with it is `NoTangent` again.

    >>> import adbc
    >>> adbc.zero_tangent("text"), adbc.NoTangent() is adbc.NoTangent()
    (NoTangent(), True)
    >>> 1.5 + adbc.NoTangent()
    1.5
    """

    __slots__ = ()
    _precedence = Precedence.NO_TANGENT

    def _plus(self, other: Any) -> Any:
        return other

    def _linear(self, function: Callable[[Any], Any]) -> Any:
        return self

    def conjugate(self) -> NoTangent:
        """What is zero, or not there, is its own conjugate."""
        return self


class ZeroTangent(Linear, Single):
    """The tangent of a value that could be perturbed, but is not: zero, of whatever shape.

    Rules are given it for arguments that nobody differentiates by, and give it back for those that the result
    does not depend on.  There is one instance.  It is false, and equal to the number zero.

    >>> from adbc import chainrules as cr
    >>> cr.ZeroTangent() + 2.0, 2.0 * cr.ZeroTangent()
    (2.0, ZeroTangent())
    """

    __slots__ = ()
    _precedence = Precedence.ZERO

    def _plus(self, other: Any) -> Any:
        return other

    def _linear(self, function: Callable[[Any], Any]) -> Any:
        return self

    def __getitem__(self, key: Any) -> ZeroTangent:
        return self

    def __getattr__(self, name: str) -> ZeroTangent:
        if name.startswith("_"):
            raise AttributeError(name)
        return self  # a field of what is not perturbed is not perturbed

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZeroTangent) or (isinstance(other, int | float | complex) and other == 0)

    def __hash__(self) -> int:
        return hash(0)

    @property
    def T(self) -> ZeroTangent:  # the name that arrays have
        """A zero is its own transpose."""
        return self

    @property
    def real(self) -> ZeroTangent:
        """A zero is its own real part."""
        return self

    def conjugate(self) -> ZeroTangent:
        """What is zero, or not there, is its own conjugate."""
        return self

    def sum(self, *args: Any, **kwargs: Any) -> ZeroTangent:
        """The sum of zeros."""
        return self


class NotImplementedTangent(Linear):
    """A tangent that exists, but that nobody has written (`not_implemented`): an error where it is needed.

    It passes through sums and products; a product with `ZeroTangent` is zero.  What asks for its number, and
    an engine in which a result depends on it, raises `adbc.errors.UnsupportedError`.
    """

    __slots__ = ("reason",)
    _precedence = Precedence.NOT_IMPLEMENTED
    reason: str

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def _plus(self, other: Any) -> Any:
        return self

    def _linear(self, function: Callable[[Any], Any]) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        return other if isinstance(other, ZeroTangent) else self

    __rmul__ = __mul__

    def conjugate(self) -> NotImplementedTangent:
        """What it stands for has a conjugate that nobody has written either."""
        return self

    def raise_error(self, where: str = "a tangent") -> NoReturn:
        """Raise the error that says what is missing.  where: what depends on it."""
        raise UnsupportedError(
            f"{where} depends on a derivative that is not implemented",
            self.reason,
            "write this part of the rule, or keep what depends on it out of the result",
        )

    def _refuse(self, *args: Any) -> NoReturn:
        self.raise_error()

    __float__ = __complex__ = __int__ = __bool__ = __array__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __iter__ = _refuse

    def __repr__(self) -> str:
        return f"not_implemented({self.reason!r})"


def not_implemented(reason: str) -> NotImplementedTangent:
    """What a rule gives for an argument whose derivative exists, but is not written.

    It is no error yet: whoever differentiates by the other arguments never meets it.  If a result depends on
    it, `adbc.errors.UnsupportedError` gives the `reason`.

    >>> from adbc import chainrules as cr
    >>> import adbc
    >>> t = 2.0 * cr.not_implemented("by the order of a Bessel function")
    >>> try:
    ...     float(t)
    ... except adbc.errors.UnsupportedError as error:
    ...     error.why
    'by the order of a Bessel function'
    """
    return NotImplementedTangent(reason)
