"""Numbers and the values without derivative.

The tangent of a float is a float, of a complex number a complex number: the complex plane is the
real plane, with inner product Re(conj(a) b).
"""

from __future__ import annotations

import enum
import types
from typing import Any

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents.fields import instance_fields
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import INACTIVE, Inactive, Kind

__all__ = ["INACTIVE_CLASSES", "ScalarKind", "resolve_scalar"]


class ScalarKind(Kind):
    """Numbers whose tangent is a number of class `tangent`."""

    def __init__(self, tangent: type) -> None:
        self.tangent = tangent
        self.zero = tangent(0.0)
        dtype = getattr(self.zero, "dtype", None)
        self.is_complex = isinstance(self.zero, complex) if dtype is None else dtype.kind == "c"

    def tangent_type(self, cls: type) -> type:
        return self.tangent

    def make(self, x: Any, walk: Any) -> Any:
        if type(x) is not self.tangent:
            refuse_attributes(x)
        return walk.number(self.tangent, self.is_complex)

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            raise InvalidTangentError(f"the tangent of a {type(x).__name__} is a number, not NoTangent()")
        cls = type(x)
        moved = walk.combine(self.tangent(x), t)
        return self.tangent(moved) if cls is self.tangent else cls(moved)

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return self.tangent(walk.combine(self.tangent(p), self.tangent(q)))

    def project(self, d: Any, x: Any) -> Any:
        if type(d) is self.tangent:
            return d
        try:
            return self.tangent(d if self.is_complex else d.real)
        except (AttributeError, TypeError, ValueError):
            raise InvalidTangentError(
                f"{d!r:.60}, a {type(d).__name__}, is given as the derivative of a {type(x).__name__}"
            ) from None

    def zero_rdata(self, x: Any) -> Any:
        return self.zero


class InactiveSubclassKind(Inactive):
    """Instances of subclasses of int, str and bytes, which must not have attributes with derivatives."""

    def make(self, x: Any, walk: Any) -> Any:
        if any(walk(value) is not NO_TANGENT for _, value in instance_fields(x)):
            refuse_attributes(x)
        return NO_TANGENT


def refuse_attributes(x: Any) -> None:
    """Raise `UnsupportedError` if `x`, which is a number or a string, has attributes too."""
    fields = [name for name, _ in instance_fields(x)]
    if fields:
        raise UnsupportedError(
            f"a {type(x).__name__} is a value like {type(x).__mro__[-2].__name__} with attributes"
            f" besides, like an object ({', '.join(fields)})",
            "such a thing has no tangent",
            "keep those in an object",
        )


_INERT_NAMES = {
    ("fractions", "Fraction"),
    ("decimal", "Decimal"),
    ("_pydecimal", "Decimal"),
    ("uuid", "UUID"),
    ("random", "Random"),
    *(
        (m, c)
        for m in ("pathlib", "pathlib._local")
        for c in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")
    ),
    ("logging", "Logger"),
    ("numba.core.registry", "CPUDispatcher"),
    ("numba.np.ufunc.dufunc", "DUFunc"),
    ("numba.np.ufunc.gufunc", "GUFunc"),
}
"""Classes written in Python whose instances are values or services without derivative."""

INACTIVE_CLASSES: tuple[type, ...] = (
    type(None), type(...), type(NotImplemented), bool, int, str, bytes, bytearray, range,
    property, staticmethod, classmethod, object, super,
    types.ModuleType, types.CodeType, types.FrameType, types.TracebackType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.ClassMethodDescriptorType,
    types.GenericAlias, types.UnionType,
)  # fmt: skip


def resolve_scalar(cls: type) -> Kind | None:
    """The kind of a metaclass, an enumeration, or a subclass of a number or string; else None."""
    if issubclass(cls, enum.Enum | type | types.ModuleType):
        return INACTIVE
    if issubclass(cls, int | str | bytes | bytearray):
        return InactiveSubclassKind()
    if (cls.__module__, cls.__name__) in _INERT_NAMES:  # exactly: a subclass may have fields of its own
        return INACTIVE
    if issubclass(cls, float):
        return ScalarKind(float)
    if issubclass(cls, complex):
        return ScalarKind(complex)
    return None
