"""The absence of derivative information, in three senses, each a class with one instance.

`NoTangent` is the tangent of a value that cannot be perturbed: an int, a string, a module.
`NoFData` says that a tangent has no part identified by address, `NoRData` that it has no part
identified by value.  They are not numbers: adding a number to one is a mistake, so it raises.
"""

from __future__ import annotations

from typing import Self

__all__ = ["NO_FDATA", "NO_RDATA", "NO_TANGENT", "NoFData", "NoRData", "NoTangent"]


class _Nothing:
    """A class with one instance, which survives copying and pickling as itself."""

    __slots__ = ()
    _instance: _Nothing

    def __new__(cls) -> Self:
        found = cls.__dict__.get("_instance")
        if found is None:
            found = cls._instance = object.__new__(cls)
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()


class NoTangent(_Nothing):
    """The tangent of a value that has no derivative: an int, a string, a module, a function without active
    cells.

    There is one instance, which every call returns.  It is not a number: arithmetic with it raises
    ``TypeError``.

    >>> import adbc
    >>> adbc.zero_tangent("text"), adbc.NoTangent() is adbc.NoTangent()
    (NoTangent(), True)
    """

    __slots__ = ()


class NoFData(_Nothing):
    """The fdata of a tangent that has no part identified by address, such as a float.

    There is one instance.

    >>> import adbc
    >>> adbc.fdata(1.5)
    NoFData()
    """

    __slots__ = ()


class NoRData(_Nothing):
    """The rdata of a tangent that has no part identified by value, such as a list; there is one instance.

    >>> import adbc
    >>> adbc.rdata([1.5])
    NoRData()
    """

    __slots__ = ()


NO_TANGENT = NoTangent()
NO_FDATA = NoFData()
NO_RDATA = NoRData()
