"""Records: tangents with named fields, and pairs of a primal with its derivative.

`Tangent`, `FData` and `RData` are values (immutable, compared by their fields).  `MutableTangent`
is an object: two of them are the same only if they are one, since the address is what matters.
Fields read as attributes.  Nothing here knows how the fields came about.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from adbc.tangents.nothing import NO_TANGENT

__all__ = [
    "OPERATORS",
    "ArrayTangent",
    "CoDual",
    "DequeTangent",
    "DictTangent",
    "Dual",
    "FData",
    "ListTangent",
    "MutableTangent",
    "RData",
    "Tangent",
    "with_fields",
    "without_fields",
    "zero_record",
]


def _show(name: str, fields: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in fields.items())})"


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {}
"""What the operators of tangents do, by their symbols; the module `arithmetic` puts it here, for it needs
walks over tangents."""


class _Arithmetic:
    """Tangents of objects are vectors: they are added, and multiplied by real numbers.

    An object plus a tangent of it is a new object of its class, moved by the tangent.
    """

    __array_ufunc__ = None  # NumPy's numbers leave the operation to the tangent

    def __add__(self, other: Any) -> Any:
        return OPERATORS["+"](self, other)

    def __radd__(self, other: Any) -> Any:
        return OPERATORS["object +"](other, self)

    def __sub__(self, other: Any) -> Any:
        return OPERATORS["-"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return OPERATORS["object -"](other, self)

    def __mul__(self, other: Any) -> Any:
        return OPERATORS["*"](self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return OPERATORS["/"](self, other)

    def __neg__(self) -> Any:
        return OPERATORS["*"](self, -1.0)

    def __pos__(self) -> Any:
        return OPERATORS["*"](self, 1.0)


class _Record:
    """An immutable record whose fields are in its instance dictionary."""

    def __init__(self, /, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set field '{name}'")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete field '{name}'")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.__dict__.items())))

    def __repr__(self) -> str:
        return _show(type(self).__name__, self.__dict__)


AnyRecord = TypeVar("AnyRecord", bound=_Record)


class Tangent(_Record, _Arithmetic):
    """The tangent of an immutable record: a NamedTuple, a frozen dataclass, a bound method.

    It has a field for each field of the record, which holds the tangent of that field and reads as an
    attribute.  It is immutable, and two are equal if their fields are.

    >>> import typing, adbc
    >>> class Point(typing.NamedTuple):
    ...     x: float
    ...     label: str
    >>> adbc.zero_tangent(Point(1.0, "a"))
    Tangent(x=0.0, label=NoTangent())
    """


_NEW, _SET = object.__new__, object.__setattr__


def with_fields(cls: type[AnyRecord], fields: dict[str, Any]) -> AnyRecord:
    """``cls(**fields)``; `fields` becomes the instance dictionary, for a copy takes as long as the rest."""
    made = _NEW(cls)
    _SET(made, "__dict__", fields)
    return made


_ATOMS: frozenset[type] = frozenset({float, int, str, bool, type(None)})


def zero_record(names: tuple[str, ...], classes: tuple[type, ...]) -> Any:
    """The tangent zero of a record with these `names`, whose values are floats and other atoms, of these
    `classes`; None if some of them are something else."""
    if not _ATOMS.issuperset(classes):
        return None
    return _zero_of_atoms(names, classes) if float in classes else NO_TANGENT


@functools.cache
def _zero_of_atoms(names: tuple[str, ...], classes: tuple[type, ...]) -> Tangent:
    """One tangent for all such records, as none can be changed."""
    return Tangent(**{n: 0.0 if cls is float else NO_TANGENT for n, cls in zip(names, classes, strict=True)})


class FData(_Record):
    """The parts of a `Tangent` that are identified by address: arrays, lists, tangents of objects.

    It has the fields of the tangent; ``NoFData()`` stands where nothing of a field has an address.  See
    `fdata`.

    >>> import adbc
    >>> adbc.fdata(adbc.Tangent(weights=[0.5], bias=2.0))
    FData(weights=[0.5], bias=NoFData())
    """


class RData(_Record):
    """The parts of a `Tangent` that are identified by value: numbers, and tuples of numbers.

    It has the fields of the tangent; ``NoRData()`` stands where nothing of a field is a value.  See `rdata`.

    >>> import adbc
    >>> adbc.rdata(adbc.Tangent(weights=[0.5], bias=2.0))
    RData(weights=NoRData(), bias=2.0)
    """


class MutableTangent(_Arithmetic):
    """The tangent of an object with fields, in a ``__dict__`` or in ``__slots__``.

    It has the tangent of each field under its name; a field that the object lacks is absent here too.  The
    gradient by an object is a `MutableTangent`.  It is an object itself: the same object has the same tangent
    wherever it stands, and two mutable tangents are equal only if they are one.

    >>> import adbc
    >>> class Spring:
    ...     def __init__(self, k):
    ...         self.k = k
    >>> adbc.grad(lambda spring: 0.5 * spring.k * spring.k)(Spring(3.0)).k
    3.0

    Tangents of objects are added, and multiplied by numbers; an object is moved by adding a tangent, which
    makes a new object (its constructor is not called).

    >>> g = adbc.grad(lambda spring: 0.5 * spring.k * spring.k)(Spring(3.0))
    >>> 2 * g + g
    MutableTangent(k=9.0)
    >>> (Spring(3.0) - 0.5 * g).k
    1.5
    """

    def __init__(self, /, **fields: Any) -> None:
        if fields:  # without, the interpreter need not make a dictionary
            self.__dict__.update(fields)

    def __repr__(self) -> str:
        return f"MutableTangent({', '.join(_shown(self))})"


def _shown(t: MutableTangent) -> list[str]:
    """The fields of `t` as its text shows them: they may lead back to it."""
    return [f"{k}={f'<{type(v).__name__}>' if _nested(v) else v!s}" for k, v in t.__dict__.items()]


def _nested(value: Any) -> bool:
    return isinstance(value, MutableTangent | list | dict | tuple) and bool(
        value.__dict__ if isinstance(value, MutableTangent) else value
    )


class ArrayTangent(MutableTangent):
    """The tangent of an instance of a subclass of `numpy.ndarray`: the tangent of the array that the instance
    is, as `array`, and those of its attributes under their names.

    `array` is an array of NumPy's own class, and what ``numpy.asarray`` gives for the tangent; `NoTangent`
    if the instance holds no numbers with a derivative.  Otherwise it is like a `MutableTangent`.

    >>> import adbc, numpy
    >>> class Signal(numpy.ndarray):
    ...     def __array_finalize__(self, obj):
    ...         self.rate = getattr(obj, "rate", 1.0)
    >>> adbc.grad(lambda s: (s * s).sum() * s.rate)(numpy.array([1.0, 3.0]).view(Signal))
    ArrayTangent(array([2., 6.]), rate=10.0)
    """

    __slots__ = ("array",)

    def __init__(self, array: Any = None, /, **fields: Any) -> None:
        super().__init__(**fields)
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """The tangent of the array, for NumPy."""
        if not hasattr(self.array, "dtype"):
            raise TypeError("the instance holds no numbers with a derivative, and so its tangent is no array")
        made = self.array if dtype is None else self.array.astype(dtype, copy=False)
        return made.copy() if copy and made is self.array else made

    def __repr__(self) -> str:
        return f"ArrayTangent({', '.join([repr(self.array), *_shown(self)])})"


def without_fields(cls: type) -> MutableTangent:
    """What stands beside a new instance of `cls`, a class with fields, which has none yet."""
    return ArrayTangent() if cls is ArrayTangent else MutableTangent()


class ListTangent(list[Any]):
    """The tangent of an instance of a subclass of list: a list with the tangents of attributes."""


class DictTangent(dict[Any, Any]):
    """The tangent of an instance of a subclass of dict: a dict with the tangents of attributes."""


class DequeTangent(deque[Any]):
    """The tangent of an instance of a subclass of deque: a deque with the tangents of attributes."""


WITH_FIELDS = frozenset({MutableTangent, ArrayTangent, ListTangent, DictTangent, DequeTangent})
"""The classes of tangents in whose dictionary stand those of the attributes of an object."""


class Dual:
    """A primal and its tangent: what a forward rule takes and returns.

    `tangent` has the structure of `primal` (a float for a float, an array of the same shape and dtype for
    an array, and so on); ``NoTangent()`` is the tangent of a value that has none, such as a function.

    >>> import adbc
    >>> rule = adbc.build_frule((lambda x: x * x, float))
    >>> rule(adbc.Dual(rule.signature.function, adbc.NoTangent()), adbc.Dual(3.0, 1.0))
    Dual(9.0, 6.0)
    """

    __slots__ = ("primal", "tangent")

    def __init__(self, primal: Any, tangent: Any) -> None:
        self.primal = primal
        self.tangent = tangent

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tangent!r})"


class CoDual:
    """A primal and its fdata: what a reverse rule takes and returns.

    `fdata` is the part of the cotangent that has an address, and is incremented in place: an array of the
    same shape and dtype for an array, a list for a list.  It is ``NoFData()`` where there is no such part,
    as for a float.

    >>> import adbc
    >>> adbc.CoDual(3.0, adbc.NoFData())
    CoDual(3.0, NoFData())
    >>> adbc.CoDual([3.0], [0.0])
    CoDual([3.0], [0.0])
    """

    __slots__ = ("fdata", "primal")

    def __init__(self, primal: Any, fdata: Any) -> None:
        self.primal = primal
        self.fdata = fdata

    def __repr__(self) -> str:
        return f"CoDual({self.primal!r}, {self.fdata!r})"
