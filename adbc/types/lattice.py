"""Abstract types of values, ordered from `NEVER` (no value) up to `ANY` (nothing is known).

    ANY
     |-- Exact(cls)            an instance of exactly this class
    |    |-- ListType(element) a list that holds nothing else while the function runs
     |-- RealType              a real number of one of several classes; REAL: a bool, an int or a float
     |-- ComplexType           a complex number, Python's or NumPy's
     |    |-- INT, BOOL, FLOAT (which are Exact(int), Exact(bool), Exact(float))
     |-- TupleType(elements)   a tuple of exactly these elements
     |-- ArrayType(dtype, ndim)
     |-- IteratorType(element) an iterator over ints or other inactive values
     |-- ConstType(value)      this very object (a function, class or module)
     |-- ClosureType(code)     a function made from this code where functions are made while others run
    NEVER

A type also decides how a value is differentiated: `has_shadow` says whether something travels
beside it in the forwards pass (it is, or holds, memory identified by address), `has_cotangent`
whether something travels back in the pullback (it is, or holds, numbers identified by value).
Nothing here imports NumPy: array classes are recognised by name.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Sequence
from typing import Any

from adbc.flags import HEAP_TYPE
from adbc.functions import is_function
from adbc.records import record
from adbc.tangents.protocol import AddressKind, kind_of
from adbc.tangents.scalars import is_distribution

__all__ = [
    "ANY",
    "BOOL",
    "COMPLEX",
    "FLOAT",
    "GUESSED_CODES",
    "INT",
    "LIST",
    "NEVER",
    "NONE",
    "REAL",
    "STR",
    "TANGENT",
    "AbstractType",
    "AnyType",
    "ArrayType",
    "ClosureType",
    "ComplexType",
    "ConstType",
    "Exact",
    "IteratorType",
    "ListType",
    "NeverType",
    "RealType",
    "RecordType",
    "TangentType",
    "TupleType",
    "ValueArrayType",
    "class_of",
    "class_type",
    "has_cotangent",
    "has_shadow",
    "inferred_type",
    "is_complex128",
    "is_guessable_array",
    "is_list",
    "is_memory",
    "is_number",
    "is_place",
    "is_real",
    "is_service",
    "join",
    "join_all",
    "memory_type",
    "narrowed",
    "record_type",
    "tangent_of",
    "type_of_part",
    "without_layout",
]


@record(frozen=True)
class AbstractType:
    """The base of all abstract types."""


@record(frozen=True)
class AnyType(AbstractType):
    def __str__(self) -> str:
        return "Any"


@record(frozen=True)
class NeverType(AbstractType):
    def __str__(self) -> str:
        return "Never"


@record(frozen=True)
class RealType(AbstractType):
    """A real number of 64 bits of one of several classes: Python's (`REAL`), or `float` or `int` and NumPy's
    `float64`, as a sum is that began with 0.0.  Where `int` is a member, so is `bool`."""

    members: frozenset[type]

    def __str__(self) -> str:
        names = ", ".join(sorted(m.__name__ for m in self.members))
        return "Real" if names == "float, int" else f"Real[{names}]"


@record(frozen=True)
class ComplexType(AbstractType):
    """A complex number of twice 64 bits of one of several classes, `complex` and NumPy's `complex128`: as a
    sum is that began with ``0j``."""

    members: frozenset[type]

    def __str__(self) -> str:
        return "Complex"


@record(frozen=True)
class TangentType(AbstractType):
    """A tangent or cotangent of a number.  No value of a function has this type, only what rules compute."""

    def __str__(self) -> str:
        return "tangent"


TANGENT = TangentType()


@record(frozen=True, eq=False)
class Exact(AbstractType):
    cls: type

    # Types are compared all the time while rules are built, most of them of this kind.
    def __eq__(self, other: object) -> bool:
        return other.__class__ is Exact and other.cls is self.cls

    def __hash__(self) -> int:
        return hash(self.cls)

    def __str__(self) -> str:
        return self.cls.__name__ if self.cls is not types.NoneType else "None"


@record(frozen=True)
class SliceType(Exact):
    """Slices whose bounds may have a derivative: what an object that is not a sequence is indexed by."""

    def __str__(self) -> str:
        return "Slice"


@record(frozen=True)
class ListType(Exact):
    """A list all of whose elements have this type, for as long as the function that has the value runs.  As
    the type of a parameter it says that the caller has seen to that; inference is told so only where it is
    proved that the function keeps it so (`passes.typed.list_elements`)."""

    element: AbstractType

    def __str__(self) -> str:
        return f"List[{self.element}]"


@record(frozen=True)
class RecordType(Exact):
    """A frozen dataclass or named tuple that was made of values of these types, by name of the field."""

    fields: tuple[tuple[str, AbstractType], ...]

    def __str__(self) -> str:
        inside = ", ".join(f"{name}: {type_}" for name, type_ in self.fields)
        return f"{self.cls.__name__}[{inside}]"


def record_type(cls: type, fields: Sequence[tuple[str, AbstractType]]) -> AbstractType:
    """The type of a record of class `cls` with such `fields`, as far as it is said what is in these: what is
    nested, as the nodes of a list are, and what has many fields is of its class."""
    if len(fields) > _MOST_FIELDS:
        return Exact(cls)
    known = tuple([(name, _of_field(type_)) for name, type_ in fields])
    return Exact(cls) if all(type_ is ANY for _, type_ in known) else RecordType(cls, known)


_MOST_FIELDS = 8


def _of_field(type_: AbstractType) -> AbstractType:
    if isinstance(type_, RecordType):
        return Exact(type_.cls) if any(isinstance(t, RecordType) for _, t in type_.fields) else type_
    if isinstance(type_, RealType) or type(type_) is Exact:
        return type_
    return without_layout(memory_type(type_)) if isinstance(type_, ArrayType) else ANY


@record(frozen=True)
class TupleType(AbstractType):
    elements: tuple[AbstractType, ...]

    def __str__(self) -> str:
        return f"Tuple[{', '.join(map(str, self.elements))}]"


@record(frozen=True, eq=False, init=False)
class ArrayType(AbstractType):
    """An `ndarray` proper (no subclass); `ndim` is None if unknown.  `dtype` is the dtype's name.

    layout: how it lies in memory, "C", "F" or "strided" (neither; what is both is "C").  writable: whether it
    may be written to.  Both are None if unknown, as they are unless a backend asks (`Backend.by_layout`):
    rules for arrays that differ in nothing else are then one rule.
    """

    dtype: str
    ndim: int | None
    cls: type
    layout: str | None = None
    writable: bool | None = None

    # Dynamic calls make such types and look rules up by them: one tuple is made of what is compared.
    def __init__(
        self,
        dtype: str,
        ndim: int | None,
        cls: type,
        layout: str | None = None,
        writable: bool | None = None,
    ) -> None:
        parts = dtype, ndim, cls, layout, writable
        self.__dict__.update(dtype=dtype, ndim=ndim, cls=cls, layout=layout, writable=writable, _parts=parts)

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and other._parts == self._parts  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._parts)  # type: ignore[attr-defined]  # set in one step with the fields

    def __str__(self) -> str:
        parts = [self.dtype, "?" if self.ndim is None else str(self.ndim)]
        if self.layout is not None:
            parts.append(self.layout)
        if self.writable is not None:
            parts.append("writable" if self.writable else "read-only")
        return f"Array[{', '.join(parts)}]"


GUESSED_CODES = {
    "float64": "d", "float32": "f", "complex128": "D", "complex64": "F", "int64": "l", "bool": "?",
}  # fmt: skip
"""The dtypes of arrays that values of unknown type are guessed to be, each with its code (`_array_is_`)."""


def is_guessable_array(type: AbstractType) -> bool:
    """Whether values may be guessed to be of this type, that of arrays."""
    return isinstance(type, ArrayType) and bool(type.ndim) and type.dtype in GUESSED_CODES


class ValueArrayType(ArrayType):
    """An array that nobody changes, keeps or hands out where it has this type: like a number it has a
    cotangent instead of memory (`reverse.array_values`).  As the type of a parameter it says how the
    cotangent of the argument is passed, not what the function does to it."""


@record(frozen=True)
class IteratorType(AbstractType):
    element: AbstractType

    def __str__(self) -> str:
        return f"Iterator[{self.element}]"


class ConstType(AbstractType):
    """The type with one member.  Equal if the member is the same object."""

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", value)

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstType) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __str__(self) -> str:
        name = getattr(self.value, "__qualname__", None) or getattr(self.value, "__name__", self.value)
        return f"Const[{name}]"


@record(frozen=True, eq=False)
class ClosureType(AbstractType):
    """A function that a ``def`` or ``lambda`` inside another function made: its code and globals are known,
    its closure and its defaults are not."""

    code: types.CodeType
    namespace: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ClosureType) and other.code is self.code and other.namespace is self.namespace
        )

    def __hash__(self) -> int:
        return id(self.code)

    def __str__(self) -> str:
        return f"Closure[{self.code.co_qualname}]"


ANY = AnyType()
NEVER = NeverType()
REAL = RealType(frozenset({int, float}))
FLOAT = Exact(float)
COMPLEX = Exact(complex)
INT = Exact(int)
BOOL = Exact(bool)
STR = Exact(str)
LIST = Exact(list)
NONE = Exact(types.NoneType)
SLICE = SliceType(slice)

_INACTIVE_CLASSES = frozenset(
    {
        int, bool, str, bytes, types.NoneType, range, slice, type(...), type(NotImplemented), type,
        types.ModuleType, types.CodeType, types.MethodDescriptorType,
        types.WrapperDescriptorType,
    }
)  # fmt: skip
_OF_CHANCE = frozenset(
    {
        ("random", "Random"),
        ("numpy.random._generator", "Generator"), ("numpy.random.mtrand", "RandomState"),
    }
)  # fmt: skip
_ADDRESS_CLASSES = frozenset({list, dict, set, types.CellType, types.FunctionType})


def is_service(cls: type) -> bool:
    """Whether instances of exactly `cls` hold settings only, and stand in modules once and for all: code may
    name them as it does functions.  Those of `scipy.stats` are its distributions."""
    return is_distribution(cls) and kind_of(cls).inactive


def draws_numbers(cls: type) -> bool:
    """Whether instances of exactly `cls` are generators of random numbers, which have their state out of
    sight and hold no derivative."""
    return (cls.__module__, cls.__qualname__) in _OF_CHANCE and kind_of(cls).inactive


def class_type(cls: type) -> AbstractType:
    """The type of instances of exactly `cls`."""
    return Exact(cls)


def class_of(type: AbstractType) -> type | None:
    """The class that every member of `type` has exactly, or None."""
    if type.__class__ is Exact:
        return type.cls
    match type:
        case Exact(cls):
            return cls
        case TupleType():
            return tuple
        case ArrayType():
            return type.cls
        case ConstType():
            return type.value.__class__
        case ClosureType():
            return types.FunctionType
    return None


def is_real(type: AbstractType) -> bool:
    """Whether every member is a Python bool, int or float."""
    if type.__class__ is Exact:
        cls = type.cls
        return cls is float or cls is int or cls is bool
    return type == REAL


def is_number(type: AbstractType) -> bool:
    """Whether derivatives of this type are plain numbers: a real or complex scalar, proved."""
    return (
        isinstance(type, RealType | ComplexType)
        or is_real(type)
        or (isinstance(type, Exact) and type.cls.__name__ in ("complex", "float64", "complex128"))
    )


def is_bare(type: AbstractType) -> bool:
    """Whether values of this type have no derivative and nothing in them has one."""
    return isinstance(type, Exact) and type.cls in _BARE


_BARE = frozenset({int, bool, str, types.NoneType})


def tangent_of(type: AbstractType) -> AbstractType | None:
    """The type of tangents and cotangents for `type`, if they are numbers."""
    return TANGENT if is_number(type) else None


def is_complex128(type: AbstractType) -> bool:
    """Whether every member is NumPy's complex number of two times 64 bits."""
    return isinstance(type, Exact) and type.cls.__name__ == "complex128" and type.cls.__module__ == "numpy"


def is_float64(type: AbstractType) -> bool:
    """Whether every member is NumPy's number of 64 bits."""
    return isinstance(type, Exact) and type.cls.__name__ == "float64" and type.cls.__module__ == "numpy"


def is_place(type: AbstractType) -> bool:
    """Whether every member is an int, or a tuple of ints."""
    return type == INT or (isinstance(type, TupleType) and all(t == INT for t in type.elements))


def members(type: AbstractType) -> frozenset[type] | None:
    """The classes of the real numbers that `type` has, int standing for bool too, or None."""
    if isinstance(type, RealType):
        return type.members
    if type in (INT, BOOL):
        return frozenset({int})
    return frozenset({type.cls}) if type == FLOAT or is_float64(type) else None  # type: ignore[attr-defined]


def type_of_part(type: AbstractType) -> AbstractType | None:
    """The type of the real or imaginary part of a float or complex number of 64 bits; None for others."""
    if type in (FLOAT, COMPLEX):
        return FLOAT
    if isinstance(type, ComplexType):
        return join_all(Exact(cls(0).real.__class__) for cls in type.members)
    return Exact(type.cls(0).real.__class__) if is_float64(type) or is_complex128(type) else None  # type: ignore[attr-defined]


def _complex_members(type: AbstractType) -> frozenset[type] | None:
    """The classes of the complex numbers of twice 64 bits that `type` has, or None."""
    if isinstance(type, ComplexType):
        return type.members
    return frozenset({type.cls}) if type == COMPLEX or is_complex128(type) else None  # type: ignore[attr-defined]


def is_numpy_number(cls: type, kind: str) -> bool:
    """Whether `cls` is a NumPy scalar class below the abstract class called `kind`."""
    return cls.__module__ == "numpy" and any(c.__name__ == kind for c in cls.__mro__)


def is_memory(type: AbstractType) -> bool:
    """Whether values of `type` are objects identified by their address, and so is what stands for them in a
    shadow."""
    return isinstance(type, Exact) and isinstance(kind_of(type.cls), AddressKind)


def has_cotangent(type: AbstractType) -> bool:
    """Whether a member of `type` may hold numbers that are identified by value."""
    match type:
        case ValueArrayType() | SliceType():
            return True
        case NeverType() | ConstType() | IteratorType() | ArrayType() | ClosureType():
            return False
        case TupleType(elements):
            return any(map(has_cotangent, elements))
        case Exact(cls):
            if cls in _INACTIVE_CLASSES or cls in _ADDRESS_CLASSES or draws_numbers(cls):
                return False
            if cls.__flags__ & HEAP_TYPE and isinstance(kind_of(cls), AddressKind):
                return False
            if cls.__module__ == "numpy":
                return is_numpy_number(cls, "inexact")
            return True
    return True


def has_shadow(type: AbstractType) -> bool:
    """Whether a member of `type` may be or hold memory that is identified by address."""
    match type:
        case NeverType() | RealType() | ComplexType() | IteratorType() | ValueArrayType():
            return False
        case ConstType():
            value = type.value
            return is_function(value) and value.__closure__ is not None
        case ArrayType(dtype=dtype):
            return not dtype.startswith(("int", "uint", "bool", "str", "bytes", "datetime", "timedelta"))
        case TupleType(elements):
            return any(map(has_shadow, elements))
        case SliceType():
            return True
        case Exact(cls):
            if cls in _INACTIVE_CLASSES or cls in (float, complex) or draws_numbers(cls):
                return False
            return cls.__name__ in ("void", "record") or not (
                cls.__module__ == "numpy" and is_numpy_number(cls, "generic")
            )
    return True


def join(a: AbstractType, b: AbstractType) -> AbstractType:
    """The least type that has the members of both `a` and `b`."""
    if a is b or b is NEVER:
        return a
    if a is NEVER:
        return b
    if a == b:
        return a
    reals = members(a), members(b)
    if reals[0] is not None and reals[1] is not None:
        return RealType(reals[0] | reals[1])
    complexes = _complex_members(a), _complex_members(b)
    if complexes[0] is not None and complexes[1] is not None:
        return ComplexType(complexes[0] | complexes[1])
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.elements) == len(b.elements):
        return TupleType(tuple(join(x, y) for x, y in zip(a.elements, b.elements, strict=True)))
    if isinstance(a, ArrayType) and isinstance(b, ArrayType) and a.dtype == b.dtype:
        return ArrayType(
            a.dtype,
            a.ndim if a.ndim == b.ndim else None,
            a.cls,
            a.layout if a.layout == b.layout else None,
            a.writable if a.writable == b.writable else None,
        )
    if isinstance(a, Exact) and isinstance(b, Exact) and a.cls is b.cls:
        if isinstance(a, RecordType) and isinstance(b, RecordType):
            # Of an ordinary class one may have got fields that the other has not.
            names = [name for name, _ in a.fields]
            if names == [name for name, _ in b.fields]:
                pairs = zip(a.fields, b.fields, strict=True)
                return record_type(a.cls, [(name, join(x, y)) for (name, x), (_, y) in pairs])
        if isinstance(a, RecordType) or isinstance(b, RecordType):
            return Exact(a.cls)
    if class_of(a) is types.FunctionType and class_of(b) is types.FunctionType:
        return Exact(types.FunctionType)
    if isinstance(a, IteratorType) and isinstance(b, IteratorType):
        element = join(a.element, b.element)
        if element is not ANY:
            return IteratorType(element)
    return ANY


def narrowed(known: AbstractType, assumed: AbstractType) -> AbstractType:
    """What is known of a value of type `known` of which `assumed` is assumed.

    A tuple of another length, as code says of one for another way that does not come to pass, stays what it
    was known to be.
    """
    if isinstance(known, TupleType) and isinstance(assumed, TupleType):
        if len(known.elements) != len(assumed.elements):
            return known
        return TupleType(tuple(map(narrowed, known.elements, assumed.elements)))
    if isinstance(known, RecordType) and assumed == Exact(known.cls):
        return known
    return known if assumed is ANY or (isinstance(known, ListType) and assumed == LIST) else assumed


def memory_type(type: AbstractType) -> AbstractType:
    """`type` without what it says of how a cotangent is passed: an array that is treated like a number is
    an array."""
    if not isinstance(type, ValueArrayType):
        return type
    return ArrayType(type.dtype, type.ndim, type.cls, type.layout, type.writable)


def without_layout(type: AbstractType) -> AbstractType:
    """`type` without what it says of how arrays lie in memory and whether they may be written to."""
    if isinstance(type, ArrayType) and (type.layout is not None or type.writable is not None):
        return dataclasses.replace(type, layout=None, writable=None)
    if isinstance(type, TupleType):
        return TupleType(tuple(map(without_layout, type.elements)))
    return type


def inferred_type(type: AbstractType) -> AbstractType:
    """The type that inference is told of a parameter of this type."""
    return LIST if isinstance(type, ListType) else memory_type(type)


def is_list(type: AbstractType) -> bool:
    """Whether every member is a list, and no instance of a subclass."""
    return isinstance(type, Exact) and type.cls is list


def join_all(items: Iterable[AbstractType]) -> AbstractType:
    """The least type that has the members of all types; `NEVER` of none."""
    result: AbstractType = NEVER
    for item in items:
        result = join(result, item)
    return result
