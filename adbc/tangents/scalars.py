"""Numbers and the values without derivative.

The tangent of a float is a float, of a complex number a complex number: the complex plane is the
real plane, with inner product Re(conj(a) b).
"""

from __future__ import annotations

import enum
import types
from typing import Any

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents.fields import has_attributes_beside, instance_dict, instance_fields, is_python_class
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import INACTIVE, Inactive, Kind

__all__ = [
    "INACTIVE_CLASSES",
    "NUMBERS",
    "ScalarKind",
    "Service",
    "check_attributes",
    "is_distribution",
    "resolve_scalar",
]


NUMBERS: dict[type, Any] = {}
"""By class of numbers, made in C, whose tangents are of the same class, the zero of that class."""


class ScalarKind(Kind):
    """Numbers whose tangent is a number of class `tangent`."""

    def __init__(self, tangent: type) -> None:
        self.tangent = tangent
        self.zero = tangent(0.0)
        if not is_python_class(tangent):
            NUMBERS[tangent] = self.zero
        dtype = getattr(self.zero, "dtype", None)
        self.is_complex = issubclass(type(self.zero), complex) if dtype is None else dtype.kind == "c"

    def tangent_type(self, cls: type) -> type:
        return self.tangent

    def make(self, x: Any, walk: Any) -> Any:
        if type(x) is not self.tangent:
            check_attributes(x, walk)
        return walk.number(self.tangent, self.is_complex)

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            raise InvalidTangentError(f"the tangent of a {type(x).__name__} is a number, not NoTangent()")
        cls = type(x)
        moved = walk.combine(self.tangent(x), t)
        if not has_attributes_beside(cls):
            return self.tangent(moved) if cls is self.tangent else cls(moved)
        y = self.tangent.__new__(cls, moved)
        instance_dict(y).update(instance_dict(x))
        return y

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return self.tangent(walk.combine(self.tangent(p), self.tangent(q)))

    def project(self, d: Any, x: Any) -> Any:
        if type(d) is self.tangent:
            return d
        if getattr(d, "is_batch", False):
            return d.as_number(self.tangent, self.is_complex)
        try:
            return self.tangent(d if self.is_complex else d.real)
        except (AttributeError, TypeError, ValueError):
            raise InvalidTangentError(
                f"{d!r:.60}, a {type(d).__name__}, is given as the derivative of a {type(x).__name__}"
            ) from None

    def zero_rdata(self, x: Any) -> Any:
        return self.zero


class InactiveSubclassKind(Inactive):
    """Instances of subclasses of int, str and bytes."""

    def make(self, x: Any, walk: Any) -> Any:
        check_attributes(x, walk)
        return NO_TANGENT


def check_attributes(x: Any, walk: Any) -> None:
    """Raise `UnsupportedError` if `x`, an immutable value that is asked for its tangent, has attributes that
    have tangents.  Where it is only found, its attributes are found as well, when they are read."""
    if walk.is_found:
        return
    names = [name for name, value in instance_fields(x) if walk(value) is not NO_TANGENT]
    if names:
        builtin = next(c for c in type(x).__mro__ if not is_python_class(c))
        raise UnsupportedError(
            f"a {type(x).__name__} is a value like {builtin.__name__} with attributes besides, like an object"
            f" ({', '.join(names)})",
            "the tangent of such a value has no place for those of its attributes",
            "keep those in an object, for instance of a dataclass, or pass them by themselves",
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
    *((m, "StringDtype") for m in ("pandas", "pandas.core.arrays.string_")),  # its NaN is a missing text
    ("numba.core.registry", "CPUDispatcher"),
    ("numba.np.ufunc.dufunc", "DUFunc"),
    ("numba.np.ufunc.gufunc", "GUFunc"),
}
"""Classes written in Python whose instances are values or services without derivative."""


class Service(Inactive):
    """Instances of classes in Python that have no derivative, but attributes that lead to memory which may be
    the program's: what is found there is known by its address."""


_SERVICE = Service()
_SERVICE_NAMES = {("logging", "Logger")}  # with the handlers of the program's


_DISTRIBUTIONS = tuple(
    f"scipy.stats.{m}" for m in ("_continuous_distns", "_discrete_distns", "_multivariate")
)
"""Modules whose classes with this end of their names hold settings; frozen ones hold parameters apart."""
_OF_DISTRIBUTIONS = "_gen"

INACTIVE_CLASSES: tuple[type, ...] = (
    type(None), type(...), type(NotImplemented), bool, int, str, bytes, bytearray, range,
    property, staticmethod, classmethod, object, super,
    types.ModuleType, types.CodeType, types.FrameType, types.TracebackType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.ClassMethodDescriptorType,
    types.GenericAlias, types.UnionType,
)  # fmt: skip


def is_distribution(cls: type) -> bool:
    """Whether instances of exactly `cls` are distributions of `scipy.stats`, without parameters."""
    return cls.__module__ in _DISTRIBUTIONS and cls.__name__.endswith(_OF_DISTRIBUTIONS)


def resolve_scalar(cls: type) -> Kind | None:
    """The kind of a metaclass, an enumeration, or a subclass of a number or string; else None."""
    if issubclass(cls, enum.Enum | type | types.ModuleType):
        return INACTIVE
    if issubclass(cls, int | str | bytes | bytearray):
        return InactiveSubclassKind()
    if (cls.__module__, cls.__name__) in _INERT_NAMES:  # exactly: a subclass may have fields of its own
        return INACTIVE
    if (cls.__module__, cls.__name__) in _SERVICE_NAMES:
        return _SERVICE
    if is_distribution(cls):
        return INACTIVE
    if issubclass(cls, float):
        return ScalarKind(float)
    if issubclass(cls, complex):
        return ScalarKind(complex)
    return None
