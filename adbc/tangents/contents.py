"""What stands in mutable objects: noted before code runs that is not followed, and compared or put back."""

from __future__ import annotations

import itertools
import operator
import types
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

from adbc.tangents.fields import (
    instance_dict,
    instance_fields,
    is_python_class,
    may_have_attributes,
    slots_of,
)
from adbc.tangents.protocol import kind_of

__all__ = [
    "contents", "differs", "elements_of", "glance", "has_bits_of", "is_of_array", "may_move_numbers",
    "put_back", "seems_moved",
]  # fmt: skip


_ATOMS = frozenset({str, int, float, bool, type(None)})
"""Classes of values that hold nothing."""
_PLAIN = (tuple, list, deque, dict, set)
"""Containers; instances of classes derived from them have attributes besides."""


def contents(
    roots: Any, *, with_arrays: bool = True, seen: dict[int, Any] | None = None
) -> Iterator[tuple[Any, Any]]:
    """The mutable objects reached from `roots`, each with what stands in it.

    with_arrays: whether arrays are among them, of which that is a copy.
    seen: by address, what has been looked at before, which is passed over; what is met is added, so that it
    lives on and its address stays its own.
    Classes are asked, never the objects: these may answer to ``__class__`` as they please.
    """
    seen = {} if seen is None else seen
    pending = list(roots)
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls is str or cls is int or cls is float or id(x) in seen:
            continue
        seen[id(x)] = x
        if cls not in _PLAIN and issubclass(cls, _PLAIN):
            pending.append(instance_dict(x))
        if issubclass(cls, tuple):
            pending.extend(tuple.__iter__(x))
        elif issubclass(cls, list | deque):
            inside = elements_of(x)
            if not _ATOMS.issuperset(map(type, inside)):  # tables of numbers are long
                pending.extend(inside)
            yield x, inside
        elif issubclass(cls, dict):
            items = list(dict.items(x))
            values = dict.values(x)
            if not _ATOMS.issuperset(map(type, values)):
                pending.extend(values)
            yield x, items
        elif issubclass(cls, set):
            yield x, set(set.__iter__(x))
        elif issubclass(cls, bytearray) or cls.__name__ == "array":
            if with_arrays:
                yield x, x[:]
        elif (bare := getattr(kind_of(cls), "bare", None)) is not None:
            array = bare(x)
            if with_arrays and array.flags.writeable:
                yield x, array.copy()
            if array is not x:
                fields = instance_fields(x)
                pending.extend([value for _, value in fields])
                yield x, fields
        elif not issubclass(cls, type | types.ModuleType | types.FunctionType):
            fields = instance_fields(x)
            if fields or may_have_attributes(cls):  # its first one, maybe
                pending.extend([value for _, value in fields])
                yield x, fields


def differs(x: Any, old: Any) -> bool:
    """Whether something else stands in object `x` now than `old`, which `contents` has found there."""
    cls = type(x)
    if issubclass(cls, list | deque):
        found = elements_of(x)
        return len(found) != len(old) or not all(map(operator.is_, found, old))
    if is_of_array(x, old):
        array = _bare(x)
        return bool(array.shape != old.shape or not has_bits_of(array, old))
    if issubclass(cls, set | bytearray) or type(x).__name__ == "array":
        return bool(x != old)
    now = list(dict.items(x)) if issubclass(cls, dict) else instance_fields(x)
    pairs = itertools.chain.from_iterable(now), itertools.chain.from_iterable(old)
    return len(now) != len(old) or not all(map(operator.is_, *pairs))


_WITHOUT_NUMBERS = "biuSUMm"
"""The kinds of dtypes whose values have no derivative."""
_FEW = 32
"""How many elements are looked at, at the beginning and at the end of what holds many."""
_SAMPLE = 256
"""How many numbers of an array are looked at, at least, spread over all of it."""


def glance(x: Any) -> list[Any] | bytes | None:
    """Some of what stands in the object `x` itself, in a time that does not grow with it; None if no number
    with a derivative can be there, or if it cannot be changed."""
    cls = type(x)
    if issubclass(cls, list | deque):
        base: Any = list if issubclass(cls, list) else deque
        last = itertools.islice(base.__reversed__(x), _FEW) if base.__len__(x) > _FEW else ()
        return [*itertools.islice(base.__iter__(x), _FEW), *last]
    if issubclass(cls, dict):
        last = itertools.islice(reversed(dict.items(x)), _FEW) if dict.__len__(x) > _FEW else ()
        items = [*itertools.islice(dict.items(x), _FEW), *last]
        return [*itertools.chain.from_iterable(items)]
    if (bare := getattr(kind_of(cls), "bare", None)) is not None:
        array = bare(x)
        if not array.flags.writeable or array.dtype.kind in _WITHOUT_NUMBERS:
            return None
        some = array.flat[:: max(array.size // _SAMPLE, 1)]
        return [*some] if array.dtype.hasobject else bytes(some.tobytes())
    if not is_python_class(cls):
        return None
    return [*itertools.chain.from_iterable(instance_fields(x)[:_FEW])]


def seems_moved(x: Any, old: list[Any] | bytes) -> bool:
    """Whether a number with a derivative seems to stand elsewhere in object `x` now than in `old`, which
    `glance` has found there."""
    now = glance(x)
    if isinstance(old, bytes) or not isinstance(now, list):
        return now != old
    pairs = itertools.zip_longest(now, old)
    return any(a is not b and not all(kind_of(type(v)).inactive for v in (a, b)) for a, b in pairs)


def has_bits_of(array: Any, old: Any) -> bool:
    """Whether two arrays of one shape and dtype hold the same bits: a NaN is itself, and 0.0 is not -0.0."""
    size = array.dtype.itemsize
    if not (array.flags.c_contiguous and old.flags.c_contiguous) or array.dtype.hasobject or size % 4 != 0:
        return bool(array.tobytes() == old.tobytes())
    word = "u8" if size % 8 == 0 else "u4"  # compared where they stand: the bytes would be two more copies
    return bool((array.reshape(-1).view(word) == old.reshape(-1).view(word)).all())


def may_move_numbers(x: Any, old: Any) -> bool:
    """Whether the difference between object `x` and `old`, which `contents` has found there, may be one of
    numbers: what has come or gone is of a class that may have a derivative."""
    cls = type(x)
    if issubclass(cls, set | bytearray) or cls.__name__ == "array":
        return False
    if is_of_array(x, old):
        return old.dtype.kind not in _WITHOUT_NUMBERS
    pairs: Any
    if issubclass(cls, list | deque):
        pairs = itertools.zip_longest(old, elements_of(x))
    else:
        was, now = dict(old), dict(dict.items(x) if issubclass(cls, dict) else instance_fields(x))
        pairs = [(was.get(key), now.get(key)) for key in {**was, **now}]
    return any(a is not b and not all(kind_of(type(v)).inactive for v in (a, b)) for a, b in pairs)


def is_of_array(x: Any, content: Any) -> bool:
    """Whether `content` is what stands in the array `x`, and not the attributes that one of a subclass has
    besides."""
    return hasattr(type(x), "__array_interface__") and type(content) is not list


def _bare(x: Any) -> Any:
    """The array of NumPy's own class that `x` is."""
    bare = getattr(kind_of(type(x)), "bare", None)
    return x if bare is None else bare(x)


def elements_of(x: Any) -> list[Any]:
    """The elements of the list or deque `x`, read without the methods of its class."""
    return list(list.__iter__(x) if issubclass(type(x), list) else deque.__iter__(x))


def put_back(x: Any, content: Any) -> None:
    """Let `content`, which `contents` has found in object `x`, stand in `x` again.

    Methods that its class has in Python are passed by: they may count, check or refuse what is set.
    """
    base: Any
    cls = type(x)
    if issubclass(cls, list | bytearray):
        base = list if issubclass(cls, list) else bytearray
        base.__setitem__(x, slice(None), content)
    elif type(x).__name__ == "array":
        x[:] = content
    elif issubclass(cls, deque):
        deque.clear(x)
        deque.extend(x, content)
    elif issubclass(cls, OrderedDict):
        OrderedDict.clear(x)
        for key, value in content:
            OrderedDict.__setitem__(x, key, value)
    elif issubclass(cls, dict | set):
        base = dict if issubclass(cls, dict) else set
        base.clear(x)
        base.update(x, content)
    elif is_of_array(x, content):
        _bare(x)[...] = content
    else:
        slots, content = slots_of(type(x)), dict(content)
        for name, slot in slots:
            if name in content:
                slot.__set__(x, content.pop(name))
        put_back(instance_dict(x), content)
