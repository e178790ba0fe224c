"""What arguments are made of: values without an address, and lists, dicts and objects that hold such.

A way in is found once per structure of the arguments.  Then a glance has to tell whether an argument has that
structure, and its zero tangent has to be made without a walk: what holds nothing but numbers, text, tuples of
these, or lists, dicts and attributes of objects of all this, needs neither the memory of a walk nor its
pending work.  Whole columns of classes are compared at once.
"""

from __future__ import annotations

import enum
import functools
import operator
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, compress, repeat
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from adbc.runtime.calls.classes import is_heap_type
from adbc.runtime.state.lasting import note_met, would_last
from adbc.tangents import NO_TANGENT, MutableTangent, Tangent
from adbc.tangents.activity_marks import mark_inactive
from adbc.tangents.fields import has_attributes_beside, instance_dict, instance_fields
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.types.typeof import typeof

__all__ = [
    "ALL", "ARRAYS", "FIRST", "OBJECTS", "Also", "Pairs", "are_apart", "fits", "is_met_again", "is_object",
    "is_plain", "record",
    "structure", "zeros",
]  # fmt: skip

Pairs = list[tuple[Any, Any]]
"""Objects and their tangents."""


class Also(NamedTuple):
    """What may stand in lists, dicts and tuples besides each other and values without an address.

    arrays: arrays of numbers that own their memory.  objects: instances of classes in Python with nothing
    but their attributes, functions that bring nothing along, and what has no derivative at all.
    """

    arrays: bool = True
    objects: bool = True


ALL, ARRAYS, OBJECTS = Also(), Also(True, False), Also(False, True)

_FLOAT = {float}
_INACTIVE = frozenset({str, bytes, int, bool, type(None)})
_ATOMS = _INACTIVE | _FLOAT
_KEYS = frozenset({str, int})
_NESTED = frozenset({list, dict})
_EMPTY = frozenset({type(NO_TANGENT), list, dict, MutableTangent})
"""Classes of the tangents of parts that by themselves are no sign of a derivative."""
_DEPTH = 4
"""How many containers may be nested; what holds itself has no end."""
_MANY = 64
"""The tangents of more objects had better last, if nobody asks for them."""
_LONGEST, _DEEPEST = 32, 8
"""Tuples that are longer, or nested more deeply, are data and no structure (`types.typeof`)."""


def structure(x: Any, depth: int = _DEEPEST) -> Any:
    """The class of a value without an address, of a tuple those of its elements as a tuple; None if that is
    not known to say all of its structure."""
    cls = type(x)
    if cls is not tuple:
        return cls if cls in _ATOMS or cls is complex or _is_time(cls) else None
    classes = (*map(type, x),)
    if _ATOMS.issuperset(classes):
        return classes if len(classes) <= _LONGEST else None
    if not depth or len(classes) > _LONGEST:
        return None
    parts = tuple([structure(c, depth - 1) for c in x])
    return None if None in parts else parts


def record(x: Any) -> Any:
    """The class of `x`, a frozen dataclass or a named tuple of values without parts, and the classes of
    these; class and type of a set or a member of an enumeration; None of anything else."""
    cls = type(x)
    if cls in _ATOMS:
        return None
    kind = kind_of(cls)
    if kind.inactive and (cls in _SETS or issubclass(cls, enum.Enum)):
        return cls, typeof(x)
    if not isinstance(kind, ValueKind) or cls in _NO_RECORDS or has_attributes_beside(cls):
        return None
    classes = tuple([type(part) for _, part in kind.parts(x)])
    return (cls, *classes) if _ATOMS.issuperset(classes) else None


_SETS = frozenset({set, frozenset})
_NO_RECORDS = frozenset({tuple, MethodType})
"""Classes of values with parts that have no names of their own."""


def _is_time(cls: type) -> bool:
    """Whether instances are dates, times or lengths of time, as the standard library has them."""
    return cls.__module__ == "datetime" and not is_heap_type(cls)


def is_plain(parts: Collection[Any]) -> bool:
    """Whether all `parts` are real numbers, text, None, or tuples of these, which have no address."""
    for _ in range(_DEEPEST):
        classes = {*map(type, parts)}
        if tuple not in classes:
            return classes <= _ATOMS or classes <= _ATOMS | {complex}
        if not classes <= _ATOMS | {tuple}:
            return False
        tuples = compress(parts, map(operator.is_, map(type, parts), repeat(tuple)))
        parts = [*chain.from_iterable(tuples)]
    return False


def zeros(x: Any, met: Pairs, is_asked: bool, also: Also = ALL) -> Any:
    """The zero tangent of a list or dict of values without an address, or of such lists and dicts; each of
    these comes into `met` with its own.  None if it holds anything else.

    is_asked: None too if nothing in it is seen to have a derivative, of which somebody asks for it, or if
    nobody does and its tangents last from call to call, which are found by a memo.
    also: what else may be there.
    """
    if not is_asked and would_last(x):
        return None
    first = len(met)
    t = _zeros(x, met, _DEPTH, also)
    if t is None:
        return t
    if not is_asked:
        if len(met) - first > _MANY:
            note_met(x)
        if also.arrays:
            for _, made in met[first:]:
                mark_inactive(made)
        return t
    return t if any(_may_move(made) for _, made in met[first:]) else None


def _may_move(made: Any) -> bool:
    """Whether there is a number in a tangent: an array is one of numbers, even if it has no axis."""
    if type(made) is not dict and type(made) is not list:
        if type(made) is not MutableTangent:
            return True
        made = vars(made)
    return not _EMPTY.issuperset(map(type, made.values() if type(made) is dict else made))


def is_object(x: Any) -> bool:
    """Whether `x` is an instance of a class in Python whose attributes are all that it has."""
    return type(kind_of(type(x))) is InstanceKind


def are_apart(met: Pairs) -> bool:
    """Whether no two of the objects that were met share their attributes, and none of their dictionaries was
    met by itself."""
    spaces = [id(instance_dict(x)) for x, t in met if type(t) is MutableTangent and type(x).__dictoffset__]
    return len({*spaces}) == len(spaces) and {id(x) for x, _ in met}.isdisjoint(spaces)


def _zeros(x: Any, met: Pairs, depth: int, also: Also) -> Any:
    cls = type(x)
    if cls is list:
        parts: Any = x
    elif cls is dict and {*map(type, x)} <= _KEYS and "__builtins__" not in x:  # the globals of a module
        parts = x.values()
    else:
        return _of_object(x, met, depth, also) if also.objects and is_object(x) else None
    classes = {*map(type, parts)}
    t: Any
    if classes == _FLOAT:
        t = [0.0] * len(x) if cls is list else dict.fromkeys(x, 0.0)
    elif classes <= _INACTIVE:
        t = [NO_TANGENT] * len(x) if cls is list else dict.fromkeys(x, NO_TANGENT)
    else:
        made = _of_tuples(parts) if classes == {tuple} else None
        if made is None:
            made = _parts(parts, met, depth, also)
            if made is None:
                return None
        t = made if cls is list else dict(zip(x, made, strict=True))
    met.append((x, t))
    return t


def _of_object(x: Any, met: Pairs, depth: int, also: Also) -> MutableTangent | None:
    """The zero tangent of an instance of a class in Python; None if something in it is not simple."""
    fields = instance_fields(x)
    made = _parts([value for _, value in fields], met, depth, also)
    if made is None:
        return None
    t = MutableTangent()
    t.__dict__.update(zip([name for name, _ in fields], made, strict=True))
    met.append((x, t))
    return t


def _parts(parts: Iterable[Any], met: Pairs, depth: int, also: Also) -> list[Any] | None:
    """The zero tangents of what is in a list, dict or tuple; None if some of that is not simple."""
    made = []
    for x in parts:
        cls = type(x)
        t: Any
        if cls is float:
            t = 0.0
        elif cls in _INACTIVE:
            t = NO_TANGENT
        elif not depth:
            return None
        elif cls is tuple:
            t = _of_tuple(x, met, depth - 1, also)
        elif cls in _NESTED or (also.objects and is_object(x)):
            t = _zeros(x, met, depth - 1, also)
        elif also.objects and (kind_of(cls).inactive or _is_bare_function(x)):
            t = NO_TANGENT
        else:
            t = _of_array(x, met) if also.arrays and cls.__name__ == "ndarray" else None
        if t is None:
            return None
        made.append(t)
    return made


def _is_bare_function(x: Any) -> bool:
    """Whether `x` is a function that brings nothing along that may have a derivative."""
    if type(x) is BuiltinFunctionType:
        return x.__self__ is None or type(x.__self__) is ModuleType
    return (
        type(x) is FunctionType
        and x.__closure__ is None
        and x.__defaults__ is None
        and x.__kwdefaults__ is None
    )


def _of_tuple(x: tuple[Any, ...], met: Pairs, depth: int, also: Also) -> Any:
    """The zero tangent of a tuple; None if something in it is not simple."""
    classes = (*map(type, x),)
    if _ATOMS.issuperset(classes):
        return _of_classes(classes)
    parts = _parts(x, met, depth, also)
    if parts is None:
        return None
    return NO_TANGENT if all(c is NO_TANGENT for c in parts) else tuple(parts)


def _of_array(x: Any, met: Pairs) -> Any:
    """The zero tangent of an array of numbers that owns its memory; None of another."""
    if type(x).__module__ != "numpy" or x.base is not None or x.dtype.kind not in "fc":
        return None
    t = kind_of(type(x)).zeros(x)  # type: ignore[attr-defined]  # of an array
    met.append((x, t))
    return t


def _of_tuples(parts: Iterable[Any]) -> list[Any] | None:
    """The zero tangents of tuples of the same atoms, as the rows of a table are; None of others."""
    rows = [*map(tuple, map(map, repeat(type), parts))]
    kinds = {*rows}
    if len(kinds) != 1:
        return None
    (classes,) = kinds
    return [_of_classes(classes)] * len(rows) if _ATOMS.issuperset(classes) else None


@functools.lru_cache(256)
def _of_classes(classes: tuple[type, ...]) -> Any:
    """The zero tangent of a tuple of atoms."""
    if float not in classes:
        return NO_TANGENT
    return tuple([0.0 if cls is float else NO_TANGENT for cls in classes])


def fits(x: Any, t: Any, met: Pairs, depth: int = _DEEPEST) -> bool:
    """Whether `t` is at a glance a tangent of `x`, which is a number, text, a list, tuple, dict or object of
    such, or an array of numbers that owns its memory; each object among these comes into `met` with its own.

    What is seen with a closer look only (ints for floats, other classes) does not fit here.
    """
    cls = type(x)
    parts: Sequence[Any]
    tangents: Sequence[Any]
    if cls is float:
        return type(t) is float
    if cls in _INACTIVE:
        return t is NO_TANGENT
    if cls is list:
        if type(t) is not list or len(t) != len(x):
            return False
        parts, tangents = x, t
        met.append((x, t))
    elif cls is dict:
        if type(t) is not dict or x.keys() != t.keys() or not {*map(type, x)} <= _KEYS or "__builtins__" in x:
            return False
        parts, tangents = [*x.values()], [*map(t.__getitem__, x)]
        met.append((x, t))
    elif cls is tuple:
        if t is NO_TANGENT:
            return all(map(fits, x, repeat(t), repeat(met), repeat(depth - 1))) if depth > 0 else False
        if type(t) is not tuple or len(t) != len(x):
            return False
        parts, tangents = x, t
    elif type(t) is MutableTangent or type(t) is Tangent:
        fields = _fields(x, t)
        if [name for name, _ in fields] != [*vars(t)]:
            return False
        parts, tangents = [value for _, value in fields], [*vars(t).values()]
        if type(t) is MutableTangent:
            met.append((x, t))
        return depth > 0 and all(map(fits, parts, tangents, repeat(met), repeat(depth - 1)))
    elif cls.__name__ == "ndarray":
        return _array_fits(x, t, met)
    else:
        return t is NO_TANGENT and (kind_of(cls).inactive or _is_bare_function(x))
    classes = {*map(type, parts)}
    if classes == _FLOAT:
        return {*map(type, tangents)} == _FLOAT or (cls is list and _are_numbers(tangents))
    if classes <= _INACTIVE:
        return {*map(type, tangents)} <= _NOTHING
    return depth > 0 and all(map(fits, parts, tangents, repeat(met), repeat(depth - 1)))


def _fields(x: Any, t: Any) -> list[tuple[str, Any]]:
    """The attributes of `x`, if that is an object or a record of which `t` may be a tangent."""
    if type(t) is MutableTangent:
        return instance_fields(x) if is_object(x) else []
    kind = kind_of(type(x))
    return kind.parts(x) if isinstance(kind, ValueKind) and type(x) not in _NO_RECORDS else []


_NOTHING = {type(NO_TANGENT)}


def _are_numbers(t: Sequence[Any]) -> bool:
    """Whether the elements are real numbers that a derivative may be computed with as they are, ints among
    them: their sum is a float, and takes a quarter of the time that their classes would."""
    try:
        return type(sum(t, 0.0)) is float
    except TypeError:
        return False


def _array_fits(x: Any, t: Any, met: Pairs) -> bool:
    """What `fits` says of an array; one of whole numbers has no tangent."""
    if type(x) is not sys.modules["numpy"].ndarray:  # loaded: there is an array
        return False
    if x.dtype.kind not in "fc":
        return t is NO_TANGENT and x.dtype.kind in "iub"
    met.append((x, t))
    if type(t) is not type(x) or x.base is not None or t.base is not None:
        return False
    return bool(t.shape == x.shape and t.dtype == x.dtype and t.flags.writeable)


def is_met_again(met: Pairs) -> bool:
    """Whether an object is met twice, with another mark: what is constant may be met as often as it likes."""
    if len(met) < 2 or len({*map(id, map(FIRST, met))}) == len(met):
        return False
    marks: dict[int, Any] = {}
    return any(marks.setdefault(id(x), mark) is not mark for x, mark in met)


FIRST = operator.itemgetter(0)
