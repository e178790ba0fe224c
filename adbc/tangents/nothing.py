"""The absence of derivative information, in three senses, each a class with one instance.

`NoTangent` is the tangent of a value that cannot be perturbed: an int, a string, a module.
`NoFData` says that a tangent has no part identified by address, `NoRData` that it has no part
identified by value.  A tangent plus `NoTangent` is that tangent; the other two are halves of tangents and no
numbers: adding a number to one is a mistake, so it raises.
"""

from __future__ import annotations

from adbc.chainrules.linear import Single
from adbc.chainrules.zeros import NoTangent

__all__ = ["NO_FDATA", "NO_RDATA", "NO_TANGENT", "NoFData", "NoRData", "NoTangent"]


class NoFData(Single):
    """The fdata of a tangent that has no part identified by address, such as a float.

    There is one instance.

    >>> import adbc
    >>> adbc.fdata(1.5)
    NoFData()
    """

    __slots__ = ()


class NoRData(Single):
    """The rdata of a tangent that has no part identified by value, such as a list; there is one instance.

    >>> import adbc
    >>> adbc.rdata([1.5])
    NoRData()
    """

    __slots__ = ()


NO_TANGENT = NoTangent()
NO_FDATA = NoFData()
NO_RDATA = NoRData()
