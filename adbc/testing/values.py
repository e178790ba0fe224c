"""Copying, comparing and taking apart arbitrary values, so that testers can hold two runs side by side.

Everything here walks values by what they are made of and knows nothing of derivatives: tangents are walked
like any other object.  `copy.deepcopy` will not do for the copies: it shares closures, and it tears apart
views of one array.  Aliasing is kept throughout: one object, one copy; one memory, one memory.
"""

from __future__ import annotations

import collections
import copy
import enum
import functools
import types
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adbc.flags import HEAP_TYPE
from adbc.functions import is_function
from adbc.rules import default_table
from adbc.rules.types import behind
from adbc.tangents import FData, RData, Tangent
from adbc.tangents.array_instances import bare, instance_of
from adbc.tangents.array_memory import record_array, ultimate_owner
from adbc.tangents.fields import instance_dict

__all__ = [
    "ARRAY",
    "address",
    "assert_same",
    "duplicate",
    "has_identity",
    "inner",
    "leaves",
    "parts",
    "precision",
]

FieldName = str
ARRAY = ".<array>"
"""The label of the array that an instance of a subclass of ndarray is."""
_MISSING = object()


def _slots(cls: type) -> list[str]:
    names: list[str] = []
    for base in cls.__mro__:
        declared = base.__dict__.get("__slots__", ())
        for name in (declared,) if isinstance(declared, str) else tuple(declared):
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                names.append(name)
    return names


def _fields(x: Any) -> dict[FieldName, Any]:
    """The attributes that an instance itself holds."""
    found = {name: getattr(x, name) for name in _slots(type(x)) if hasattr(x, name)}
    found.update(getattr(x, "__dict__", {}))
    return found


def _is_plain_instance(x: Any) -> bool:
    """Whether `x` is made of its attributes and nothing else."""
    cls = type(x)
    return (
        bool(cls.__flags__ & HEAP_TYPE)  # defined by a class statement
        and cls.__basicsize__ == object.__basicsize__ + 8 * _extra_words(cls)
        and not issubclass(cls, type | enum.Enum)
    )


def _extra_words(cls: type) -> int:
    """How many machine words slots, `__dict__` and `__weakref__` add to the bare object, where its layout has
    them."""
    words = len(_slots(cls))
    words += cls.__dictoffset__ > 0
    words += cls.__weakrefoffset__ > 0
    return words


def _is_instance(x: Any) -> bool:
    """Whether `x` is an instance of a subclass of ndarray: an array, and attributes."""
    return isinstance(x, np.ndarray) and type(x) is not np.ndarray


def parts(x: Any) -> list[tuple[str, Any]] | None:
    """What `x` is made of, with labels that read as Python; None if it is made of nothing we look into."""
    if isinstance(x, tuple):
        names = getattr(type(x), "_fields", None)
        if names:
            return [(f".{name}", item) for name, item in zip(names, x, strict=True)]
        return [(f"[{i}]", item) for i, item in enumerate(x)]
    if type(x) is array:
        return [(".typecode", x.typecode), *((f"[{i}]", item) for i, item in enumerate(x))]
    if isinstance(x, list | collections.deque):
        return [*((f"[{i}]", item) for i, item in enumerate(x)), *_labelled_fields(x)]
    if isinstance(x, dict):
        return [*((f"[{key!r}]", item) for key, item in x.items()), *_labelled_fields(x)]
    if _is_instance(x):
        return [(ARRAY, bare(x)), *_labelled_fields(x)]
    if isinstance(x, np.ndarray):
        if x.dtype == object:
            return [(f"[{', '.join(map(str, index))}]", item) for index, item in np.ndenumerate(x)]
        return None
    if is_function(x):
        cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        return [(f".<{name}>", cell) for name, cell in cells]
    if isinstance(x, types.CellType):
        try:
            return [("", x.cell_contents)]
        except ValueError:  # an empty cell
            return []
    if isinstance(x, types.MethodType):
        return [(".__self__", x.__self__), (".__func__", x.__func__)]
    if isinstance(x, types.MappingProxyType):
        return [("", behind(x))]
    if isinstance(x, np.flatiter):
        return [(".base", x.base)]
    if isinstance(x, functools.partial):
        return [(".func", x.func), (".args", x.args), (".keywords", x.keywords)]
    if _is_plain_instance(x):
        return _labelled_fields(x)
    return None


def _labelled_fields(x: Any) -> list[tuple[str, Any]]:
    return [(f".{name}", item) for name, item in _fields(x).items()]


def has_identity(x: Any) -> bool:
    """Whether it matters which object `x` is."""
    # The tangent of a record is a value as the record is; what has memory in it counts by itself.
    if isinstance(x, tuple | functools.partial | types.MethodType | Tangent | FData | RData):
        return False
    if is_function(x):
        return bool(x.__closure__)
    if isinstance(x, list | dict | collections.deque | types.CellType | np.ndarray | array):
        return True
    # An instance without fields is as good as any other: singletons such as NoTangent are among them.
    return _is_plain_instance(x) and bool(_fields(x))


# -- copying ---------------------------------------------------------------------------------------


def duplicate(x: Any) -> Any:
    """A copy of everything mutable that can be reached from `x`, aliased as the original is."""
    return _duplicate(x, {})


def _duplicate(x: Any, memo: dict[int, tuple[Any, Any]]) -> Any:
    if id(x) in memo:
        return memo[id(x)][1]
    known = _start(x, memo)
    if known is not _MISSING:
        # Registered before its parts are visited, so that cycles close.
        memo[id(x)] = (x, known)
        _fill(x, known, memo)
        return known
    if isinstance(x, tuple):
        items = [_duplicate(item, memo) for item in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return tuple.__new__(type(x), items)
    if isinstance(x, types.MethodType):
        return types.MethodType(_duplicate(x.__func__, memo), _duplicate(x.__self__, memo))
    if isinstance(x, functools.partial):
        keywords = {name: _duplicate(item, memo) for name, item in x.keywords.items()}
        return type(x)(_duplicate(x.func, memo), *(_duplicate(item, memo) for item in x.args), **keywords)
    if isinstance(x, memoryview) and x.nbytes:
        return memoryview(_duplicate(np.asarray(x), memo))
    if isinstance(x, np.void):
        record = record_array(x)
        return _duplicate(record, memo)[()] if record.flags.writeable else x.copy()
    if isinstance(x, np.flatiter):
        made = _duplicate(x.base, memo).flat
        for _ in range(x.index):
            next(made)
        return made
    if isinstance(x, types.MappingProxyType):
        return types.MappingProxyType(_duplicate(behind(x), memo))
    if isinstance(x, enum.Enum | type | types.ModuleType | types.BuiltinFunctionType | types.FunctionType):
        return x
    copied = copy.deepcopy(x)
    memo[id(x)] = (x, copied)
    return copied


def _start(x: Any, memo: dict[int, tuple[Any, Any]]) -> Any:
    """A copy of `x` without its parts, if it is something that can be made that way."""
    if type(x) is list:
        return []
    if type(x) is dict:
        return {}
    if isinstance(x, list | dict | collections.deque | set):
        return copy.copy(x)
    if isinstance(x, np.ndarray):
        return _duplicate_array(x, memo)
    if isinstance(x, types.CellType):
        return types.CellType()
    if is_function(x):
        if not x.__closure__ or default_table().rows(x):  # a copy would not have its rules
            return _MISSING
        cells = tuple(_duplicate(cell, memo) for cell in x.__closure__)
        if id(x) in memo:  # one of its cells holds the function itself
            return memo[id(x)][1]
        made = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        made.__kwdefaults__ = x.__kwdefaults__
        made.__dict__.update(x.__dict__)
        made.__qualname__ = x.__qualname__
        return made
    if _is_plain_instance(x) and _fields(x):
        new = object.__new__(type(x))
        own = instance_dict(x)
        if id(own) in memo:
            new.__dict__ = memo[id(own)][1]
        elif own:  # it may be met by itself as well
            memo[id(own)] = (own, instance_dict(new))
        return new
    return _MISSING


def _fill(x: Any, made: Any, memo: dict[int, tuple[Any, Any]]) -> None:
    if isinstance(x, list | collections.deque):
        made.clear()
        made.extend(_duplicate(item, memo) for item in x)
    elif isinstance(x, dict):
        for key, item in x.items():
            made[key] = _duplicate(item, memo)
    elif isinstance(x, types.CellType):
        for _, item in parts(x) or []:
            made.cell_contents = _duplicate(item, memo)
        return
    if is_function(x) or type(x) is np.ndarray:
        return
    own = instance_dict(x)
    for name, item in _fields(x).items():
        copy = _duplicate(item, memo)
        if name in own:  # where a property of its name may stand in front
            instance_dict(made)[name] = copy
        else:
            object.__setattr__(made, name, copy)


def _duplicate_array(x: np.ndarray[Any, Any], memo: dict[int, tuple[Any, Any]]) -> np.ndarray[Any, Any]:
    owner = _array_in_memory(x)
    buffer = ultimate_owner(x)
    if type(buffer) is array:
        flat = np.frombuffer(_duplicate(buffer, memo), np.uint8)
        offset = address(x) - address(np.frombuffer(buffer, np.uint8))
        made = np.ndarray(x.shape, x.dtype, buffer=flat, offset=offset, strides=x.strides)
    elif owner is x:
        made = x.copy(order="K")
        if x.dtype == object:
            for index, item in np.ndenumerate(x):
                made[index] = _duplicate(item, memo)
    else:
        whole = _duplicate(owner, memo)
        memory = whole.ravel(order="K").view(np.uint8) if x.dtype != object else whole.ravel(order="K")
        offset = address(x) - address(owner)
        made = np.ndarray(x.shape, x.dtype, buffer=memory, offset=offset, strides=x.strides)
    made.flags.writeable = x.flags.writeable
    return made if type(x) is np.ndarray else instance_of(type(x), made)


def _array_in_memory(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The outermost array that `x` is a view of, past what `as_strided` puts between."""
    owner: np.ndarray[Any, Any] = x
    base: Any = x.base
    seen = set()
    while base is not None and id(base) not in seen:  # views of Cython's lead back to each other
        seen.add(id(base))
        if isinstance(base, np.ndarray):
            owner = base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return owner


def address(x: np.ndarray[Any, Any]) -> int:
    """Where the first element of an array is."""
    return int(x.__array_interface__["data"][0])


# -- comparing -------------------------------------------------------------------------------------


def assert_same(
    expected: Any,
    actual: Any,
    where: str | Sequence[str],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    numbers: bool = True,
) -> None:
    """Raise AssertionError unless `actual` has the types, structure, aliasing and numbers of `expected`.

    `where` is the name of the value in messages, or, for two sequences, the names of their items.

    Numbers may differ by `rtol`, relative to the largest magnitude of an array, and by `atol`; with
    ``numbers=False`` they are not looked at, which compares a tangent with a template.  NaN equals NaN.
    """
    comparison = _Comparison(rtol, atol, numbers)
    if isinstance(where, str):
        comparison.visit(expected, actual, where)
    else:
        for name, item, other in zip(where, expected, actual, strict=True):
            comparison.visit(item, other, name)
    comparison.compare_memory()


class _Comparison:
    def __init__(self, rtol: float, atol: float, numbers: bool) -> None:
        self.rtol, self.atol = rtol, atol
        self.numbers = numbers
        self.partner: dict[int, tuple[Any, Any, str]] = {}
        self.taken: dict[int, str] = {}
        self.arrays: list[tuple[Any, Any, str]] = []

    def visit(self, expected: Any, actual: Any, where: str) -> None:
        if type(expected) is not type(actual):
            raise AssertionError(f"{where} is {_describe(actual)}, expected {_describe(expected)}")
        if has_identity(expected):
            if id(expected) in self.partner:
                _, other, first = self.partner[id(expected)]
                if other is not actual and not isinstance(expected, np.ndarray):
                    raise AssertionError(f"{where} should be the same object as {first}, and is another one")
                if other is actual:
                    return
            elif id(actual) in self.taken and not isinstance(expected, np.ndarray):
                raise AssertionError(
                    f"{where} is the same object as {self.taken[id(actual)]}, and should not be"
                )
            self.partner[id(expected)] = (expected, actual, where)
            self.taken[id(actual)] = where
        if type(expected) is np.ndarray:
            self.visit_array(expected, actual, where)
            return
        if isinstance(expected, memoryview):
            self.visit_array(np.asarray(expected), np.asarray(actual), where)
            return
        if isinstance(expected, np.void):
            self.visit_array(record_array(expected), record_array(actual), where)
            return
        if isinstance(expected, float | complex | np.inexact):
            self.visit_numbers(expected, actual, where)
            return
        inside = parts(expected)
        if inside is None:
            self.visit_opaque(expected, actual, where)
            return
        other_inside = parts(actual) or []
        labels, other_labels = [label for label, _ in inside], [label for label, _ in other_inside]
        if labels != other_labels:
            if set(labels) == set(other_labels):
                raise AssertionError(
                    f"{where} has its items in another order: {other_labels}, expected {labels}"
                )
            extra = sorted(set(other_labels) - set(labels))
            lacking = sorted(set(labels) - set(other_labels))
            raise AssertionError(
                f"{where} lacks {lacking or 'nothing'} and has {extra or 'nothing'} too many"
            )
        for (label, item), (_, other) in zip(inside, other_inside, strict=True):
            self.visit(item, other, where + label)

    def visit_array(self, expected: Any, actual: Any, where: str) -> None:
        if expected.shape != actual.shape or expected.dtype != actual.dtype:
            raise AssertionError(f"{where} is {_describe(actual)}, expected {_describe(expected)}")
        self.arrays.append((expected, actual, where))
        if expected.dtype == object:
            for index, item in np.ndenumerate(expected):
                self.visit(item, actual[index], f"{where}[{', '.join(map(str, index))}]")
        elif expected.dtype.kind in "fc":
            self.visit_numbers(expected, actual, where)
        elif expected.dtype.names:
            for name in expected.dtype.names:
                self.visit_array(expected[name], actual[name], f"{where}[{name!r}]")
        elif self.numbers and not np.array_equal(expected, actual):
            raise AssertionError(f"{where} is {actual!r}, expected {expected!r}")

    def visit_numbers(self, expected: Any, actual: Any, where: str) -> None:
        if not self.numbers:
            return
        a, b = np.asarray(expected), np.asarray(actual)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if not same.all():
            finite = np.abs(a[np.isfinite(a)])
            scale = float(finite.max()) if finite.size else 0.0
            with np.errstate(invalid="ignore"):
                same |= np.abs(a - b) <= self.rtol * scale + self.atol
        if not same.all():
            raise AssertionError(f"{where} is {actual!r}, expected {expected!r}")

    def visit_opaque(self, expected: Any, actual: Any, where: str) -> None:
        if expected is actual or "__eq__" not in _attributes(type(expected)):
            # Objects of C types that compare by identity tell nothing about their state.
            return
        if self.numbers and not bool(expected == actual):
            raise AssertionError(f"{where} is {actual!r}, expected {expected!r}")

    def compare_memory(self) -> None:
        """Check that arrays overlap where they should, with the same offsets, and nowhere else."""
        for i, (expected, actual, where) in enumerate(self.arrays):
            for other_expected, other_actual, other_where in self.arrays[:i]:
                should = np.may_share_memory(expected, other_expected)
                if should != np.may_share_memory(actual, other_actual):
                    what = "should share memory and do not" if should else "share memory and should not"
                    raise AssertionError(f"{where} and {other_where} {what}")
                if not should:
                    continue
                offset = address(expected) - address(other_expected)
                if offset != address(actual) - address(other_actual) or expected.strides != actual.strides:
                    raise AssertionError(f"{where} and {other_where} overlap in another way than they should")


def _attributes(cls: type) -> set[str]:
    """What `cls` and its bases define, beyond what every object has."""
    return {name for base in cls.__mro__[:-1] for name in base.__dict__}


def _describe(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"an array of {x.dtype} and shape {x.shape}"
    text = repr(x)
    return f"{type(x).__name__} {text if len(text) < 60 else text[:57] + '...'}"


# -- numbers ---------------------------------------------------------------------------------------


def leaves(x: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The real and complex numbers and arrays in `x`, each shared part once, with labels."""
    yield from _leaves(x, where, {})


def _leaves(x: Any, where: str, seen: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(x, float | complex | np.inexact):
        yield where, x
        return
    if type(x) is array and x.typecode in "fd":
        x = np.frombuffer(x, x.typecode)  # as an array, since others may show its memory
    if isinstance(x, np.ndarray | np.void) and x.dtype != object and not _is_instance(x):
        yield from _number_leaves(x if isinstance(x, np.ndarray) else record_array(x), where)
        return
    if has_identity(x):
        if id(x) in seen:
            return
        seen[id(x)] = x
        own = instance_dict(x)
        if own and not isinstance(x, list | dict | collections.deque | types.FunctionType):
            if id(own) in seen:  # the attributes were met as a dictionary
                return
            seen[id(own)] = own
    cells = list(_addresses(x).flat) if type(x) is np.ndarray else None
    for i, (label, item) in enumerate(parts(x) or []):
        if cells is not None:  # views of one array of objects share its elements
            if ("cell", cells[i]) in seen:
                continue
            seen["cell", cells[i]] = x
        yield from _leaves(item, where + label, seen)


def _number_leaves(x: np.ndarray[Any, Any], where: str) -> Iterator[tuple[str, Any]]:
    if x.dtype.kind in "fc":
        yield where, x
    for name in x.dtype.names or ():
        yield from _number_leaves(x[name], f"{where}[{name!r}]")


def inner(t: Any, s: Any) -> tuple[float, float]:
    """The inner product of two tangents of one structure, and the sum of the magnitudes of its terms.

    Each number counts once however many names it has: memory that several arrays of `t` share included.
    """
    seen: set[int] = set()
    total = magnitude = 0.0
    for (where, a), (_, b) in zip(leaves(t), leaves(s), strict=True):
        if isinstance(a, np.ndarray) and np.shape(a) != np.shape(b):
            raise AssertionError(f"tangents of shapes {np.shape(a)} and {np.shape(b)} at {where}")
        terms = np.asarray(np.real(a) * np.real(b))
        if isinstance(a, np.ndarray):
            terms = terms * _new_cells(a.real, seen)
        if np.iscomplexobj(a):  # two places: a view of one of them may be there as well
            imaginary = np.asarray(np.imag(a) * np.imag(b))
            terms = terms + (imaginary * _new_cells(a.imag, seen) if isinstance(a, np.ndarray) else imaginary)
        total += float(np.sum(terms))
        magnitude += float(np.sum(np.abs(terms)))
    return total, magnitude


def _new_cells(a: np.ndarray[Any, Any], seen: set[int]) -> np.ndarray[Any, Any]:
    """For each element of `a`, 1 if its address has not been seen, and else 0."""
    new = np.zeros(a.size)
    for position, cell in enumerate(_addresses(a).reshape(-1).tolist()):
        if cell not in seen:
            seen.add(cell)
            new[position] = 1.0
    return new.reshape(a.shape)


def _addresses(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The address of each element of `a`."""
    addresses = np.full(a.shape, address(a), dtype=np.int64)
    for axis, (size, stride) in enumerate(zip(a.shape, a.strides, strict=True)):
        shape = [1] * a.ndim
        shape[axis] = size
        addresses += (np.arange(size, dtype=np.int64) * stride).reshape(shape)
    return addresses


def precision(x: Any) -> float:
    """The unit in the last place at 1 of the coarsest floating-point numbers in `x`."""
    return max(
        (float(np.finfo(np.asarray(leaf).dtype).eps) for _, leaf in leaves(x)),
        default=float(np.finfo(np.float64).eps),
    )
