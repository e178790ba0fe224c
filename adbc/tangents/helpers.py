"""Pairs with a zero beside the primal, and single fields of tangents: for rules that are written by hand."""

from __future__ import annotations

from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.duals import CoDual, Dual, FData, MutableTangent, RData, Tangent
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.operations import zero_tangent
from adbc.tangents.split import fdata

__all__ = ["set_tangent_field", "tangent_field", "zero_codual", "zero_dual"]


def zero_dual(x: Any) -> Dual:
    """`x` with a zero tangent: what a forward rule is given for a constant.

    >>> import adbc
    >>> adbc.zero_dual((1.5, 2))
    Dual((1.5, 2), (0.0, NoTangent()))
    """
    return Dual(x, zero_tangent(x))


def zero_codual(x: Any) -> CoDual:
    """`x` with the fdata of a zero tangent: what a reverse rule is given for an argument that nobody has
    differentiated by yet.

    >>> import adbc
    >>> adbc.zero_codual([1.5]), adbc.zero_codual(1.5)
    (CoDual([1.5], [0.0]), CoDual(1.5, NoFData()))
    """
    return CoDual(x, fdata(zero_tangent(x)))


_BY_NAME = (Tangent, MutableTangent, FData, RData)


def tangent_field(t: Any, key: Any) -> Any:
    """The part of a tangent (or fdata, rdata) at `key`: a field by name, an element by index or key.

    What has no tangent has none in any part: `NoTangent`.  Raises `adbc.errors.InvalidTangentError` if there
    is no such part.

    >>> import adbc
    >>> adbc.tangent_field((0.0, [1.0]), 1), adbc.tangent_field(adbc.NoTangent(), "k")
    ([1.0], NoTangent())
    """
    if t is NO_TANGENT:
        return NO_TANGENT
    try:
        return t.__dict__[key] if isinstance(t, _BY_NAME) else t[key]
    except (KeyError, IndexError, TypeError) as error:
        raise InvalidTangentError(f"the tangent {t!r:.60} has no part {key!r}") from error


def set_tangent_field(t: Any, key: Any, value: Any) -> None:
    """Set the part of a tangent of an object, list or dict at `key`, in place.

    Raises `adbc.errors.InvalidTangentError` if there is no such part, or if it has no tangent, and for the
    tangents of tuples and other values, which are not changed but made anew.

    >>> import adbc
    >>> t = [0.0, 0.0]
    >>> adbc.set_tangent_field(t, 1, 3.0)
    >>> t
    [0.0, 3.0]
    """
    if isinstance(t, tuple | Tangent | FData | RData):
        raise InvalidTangentError(
            f"the tangent {t!r:.60} is a value", "it is not changed in place", "make another with that part"
        )
    if tangent_field(t, key) is NO_TANGENT:
        raise InvalidTangentError(f"part {key!r} of the tangent {t!r:.60} has no derivative")
    if isinstance(t, MutableTangent):
        t.__dict__[key] = value
    else:
        t[key] = value
