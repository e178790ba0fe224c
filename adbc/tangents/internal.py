"""The flat protocol: what rules and generated code use, with None for a symbolic zero.

During a reverse pass the *shadow* of a value is None (inactive), `NO_FDATA` (active, identified by
value), the tangent object itself (identified by address), or a tuple or `FData` of such.  Internal
rdata is a number, a tuple or `RData` with None for zero parts, or None.  These functions are on hot
paths: the common classes are tested first, the table of kinds is asked last.
"""

from __future__ import annotations

import itertools
import operator
from cmath import isfinite
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from itertools import chain, repeat
from types import MethodType
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.duals import ArrayTangent, DictTangent, FData, MutableTangent, RData, Tangent, with_fields
from adbc.tangents.nothing import NO_FDATA, NO_RDATA, NO_TANGENT
from adbc.tangents.operations import increment, zero_tangent
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.tangents.scalars import NUMBERS, ScalarKind
from adbc.tangents.split import fdata, record, split_parts, zero_rdata
from adbc.tangents.walk import is_address_tangent

__all__ = [
    "TABLES", "accumulate", "add", "addresses", "cotangent_of", "external_fdata", "external_rdata",
    "fill_tangent", "fresh_shadow",
    "fresh_tangent", "in_order", "internal_fdata", "internal_rdata", "multiply", "project", "slot_increment",
    "slot_rdata", "slot_shadow", "slot_tangent",
]  # fmt: skip


# -- what stands in a container's slot -------------------------------------------------------------


_FLOATS = frozenset({float})
_LISTS: frozenset[type] = frozenset({list})
_TUPLES: frozenset[type] = frozenset({tuple})
_NONE = frozenset({type(None)})
_ATOMS: frozenset[type] = frozenset({float, int, str, bool, type(None)})
_FLAT = frozenset({float, type(NO_TANGENT)})
"""The classes in the tangents of tuples that hold nothing but atoms.  These are frequent, and are not taken
apart."""
_OF_OBJECTS: frozenset[type] = frozenset({MutableTangent, type(NO_TANGENT), type(None)})
"""The classes in the tangents and shadows of records of objects, of which none has a value part."""
_MEMORY: frozenset[type] = frozenset({MutableTangent, list, dict})
"""The most frequent classes of tangents with an address: these need not be asked for."""
_ZEROS: dict[type, Any] = {float: 0.0, **dict.fromkeys(_ATOMS - _FLOATS, NO_TANGENT)}
"""By class of atom, the tangent of a new one."""
_SHADOWS: dict[type, Any] = {float: NO_FDATA, type(NO_TANGENT): None}
"""By class of tangent of an atom, its shadow."""


_SHORT = 3
_OF_ATOMS: dict[tuple[type, ...], Any] = {
    classes: tuple(map(_ZEROS.__getitem__, classes)) if float in classes else NO_TANGENT
    for length in range(_SHORT + 1)
    for classes in itertools.product(_ATOMS, repeat=length)
}
"""By the classes of what is in it, the tangent of a short tuple of atoms: zero, in each slot of a new one.
All are made at once, for derivatives of derivatives follow what looks them up."""


def _zero_of_tuple(x: tuple[Any, ...]) -> Any:
    """The tangent of a short tuple that holds nothing but atoms; None for others."""
    return _OF_ATOMS.get(tuple(map(type, x))) if len(x) <= _SHORT else None


_OF_FLAT: dict[tuple[Any, ...], FData] = {}
"""By the names of their fields, and the classes of the tangents there unless all are floats, the shadow of
records that hold nothing but atoms, one of them a number."""


def slot_shadow(t: Any) -> Any:
    """The shadow of a value whose tangent is `t`; if `t` is a shadow already, `t` itself."""
    cls = t.__class__
    if cls is float:
        return NO_FDATA
    if cls in _MEMORY or cls in ARRAY_FRESH:
        return t
    if cls in NUMBERS:
        return NO_FDATA
    if t is NO_TANGENT or t is None:
        return None
    if cls is tuple:
        classes = {*map(type, t)}
        if classes == _FLOATS or (t and classes <= NUMBERS.keys()):
            return (NO_FDATA,) * len(t)
        if classes <= _FLAT:
            return tuple(map(_SHADOWS.__getitem__, map(type, t))) if float in classes else None
        parts = tuple([c if type(c) in _MEMORY else slot_shadow(c) for c in t])
        return None if _NONE.issuperset(map(type, parts)) else parts
    if cls is not Tangent and cls is not FData:
        return t if t is not NO_FDATA and is_address_tangent(cls) else NO_FDATA
    fields = t.__dict__
    classes = {*map(type, fields.values())}
    if classes == _FLOATS:
        names: tuple[Any, ...] = tuple(fields)
    elif float in classes and classes <= _FLAT:
        names = *fields, *map(type, fields.values())
    elif classes <= _OF_OBJECTS and MutableTangent in classes:  # as that of a method bound to an object
        if cls is FData:
            return t
        return with_fields(FData, {k: None if c is NO_TANGENT else c for k, c in fields.items()})
    else:
        return split_parts(t, slot_shadow, FData, None)
    found = _OF_FLAT.get(names)
    if found is None:
        found = _OF_FLAT[names] = FData(**{k: _SHADOWS[type(c)] for k, c in fields.items()})
    return found


def slot_tangent(x: Any, f: Any) -> Any:
    """The tangent to put into a slot for primal `x` with shadow `f`: zero for the parts without an address.

    An object without a shadow is a constant, and stays one in the slot: a zero of its own would take
    what is written to the object by way of the slot, and whoever reads the object would not see it.
    """
    cls = type(x)
    if cls is float:
        return 0.0
    if cls in _ATOMS:
        return NO_TANGENT
    if cls in NUMBERS:
        return NUMBERS[cls]
    if cls is tuple:
        known = _zero_of_tuple(x)
        if known is not None:
            return known
        classes = {*map(type, x)}
        if classes == _FLOATS:
            return (0.0,) * len(x)
        if classes <= _ATOMS:
            if float not in classes:
                return NO_TANGENT
            return tuple(map(_ZEROS.__getitem__, map(type, x)))
        if classes <= NUMBERS.keys():
            return tuple(map(NUMBERS.__getitem__, map(type, x)))
        if f.__class__ is tuple:
            slots = [slot_tangent(c, g) for c, g in zip(x, f, strict=True)]
        else:
            slots = [slot_tangent(c, f) for c in x]
        return NO_TANGENT if all(c is NO_TANGENT for c in slots) else tuple(slots)
    of = f.__class__
    if cls is MethodType and of is FData and f.__dict__.get("__func__", f) is None:
        own = f.__dict__["__self__"]
        if own.__class__ is MutableTangent:
            return with_fields(Tangent, {"__self__": own, "__func__": NO_TANGENT})
    if of is MutableTangent or of is list or (of is cls and (cls is dict or cls in ARRAY_FRESH)):
        return f
    kind = kind_of(cls)
    if kind.inactive:
        return NO_TANGENT
    if isinstance(kind, ValueKind):
        if (zero := kind.zero(x)) is not None:
            return zero
        parts = [(k, slot_tangent(c, _part(f, kind, k))) for k, c in kind.parts(x)]
        return NO_TANGENT if all(c is NO_TANGENT for _, c in parts) else kind.join(x, parts)
    if kind.address and f is not NO_FDATA:
        return NO_TANGENT if f is None else f
    return zero_tangent(x, is_found=True)


def _part(f: Any, kind: ValueKind, key: Any) -> Any:
    """The part of shadow, fdata or rdata `f` at `key`."""
    return f if f is None or f is NO_FDATA or f is NO_RDATA or f is NO_TANGENT else kind.part(f, key)


def slot_rdata(t: Any) -> Any:
    """The value part of `t`, the tangent in a slot; None if it has none."""
    cls = t.__class__
    if cls in NUMBERS:
        return t
    if cls in _MEMORY or cls in ARRAY_FRESH or t is NO_TANGENT or t is None:
        return None
    if cls is tuple:
        if len(t) == 2:  # the most frequent: a number and its time, an index and a weight
            one, other = t
            if type(other) is float:
                if type(one) is float:
                    return t
                if one is NO_TANGENT:
                    return None, other
        classes = {*map(type, t)}
        if classes == _FLOATS or (t and classes <= NUMBERS.keys()):
            return t
        if classes <= _FLAT:
            return tuple([c if type(c) is float else None for c in t]) if float in classes else None
        parts = tuple([None if type(c) in _MEMORY else slot_rdata(c) for c in t])
        return None if _NONE.issuperset(map(type, parts)) else parts
    if cls is not Tangent:
        return None if is_address_tangent(cls) else t
    fields = t.__dict__
    classes = {*map(type, fields.values())}
    if classes == _FLOATS:
        return with_fields(RData, fields.copy())
    if classes <= _OF_OBJECTS:
        return None
    if float in classes and classes <= _FLAT:
        return with_fields(RData, {k: c if type(c) is float else None for k, c in fields.items()})
    return split_parts(t, slot_rdata, RData, None)


def slot_increment(t: Any, r: Any) -> Any:
    """The tangent `t` of a slot with `r` added to it: the new tangent for the slot.

    What `r` has for a part with an address is added to that part in place.
    """
    cls = t.__class__
    if cls is float and r.__class__ is float:
        return t + r
    if r is None or r is NO_RDATA:
        return t
    if cls is r.__class__ and cls in NUMBERS:
        return t + r
    if cls is float:
        total = t + r
        return total if type(total) is float else project(total, t)
    if t is NO_TANGENT:
        return t
    if cls is tuple:
        if r.__class__ is tuple and len(t) == len(r) == 2:
            (one, other), (d, e) = t, r
            return (
                one if d is None else one + d if type(one) is type(d) is float else slot_increment(one, d),
                other
                if e is None
                else other + e
                if type(other) is type(e) is float
                else slot_increment(other, e),
            )
        if r.__class__ is tuple and len(t) == len(r):
            both = t + r
            if _FLOATS.issuperset(map(type, both)):
                return tuple(map(operator.add, t, r))
            classes = {*map(type, both)}
            if len(classes) == 1 and classes <= NUMBERS.keys():
                return tuple(map(operator.add, t, r))
        return tuple(
            [
                c if d is None else c + d if type(c) is float and type(d) is float else slot_increment(c, d)
                for c, d in zip(t, r, strict=True)
            ]
        )
    if cls is Tangent:
        fields = t.__dict__.copy()
        for name, part in r.__dict__.items():  # reading one field gives rdata of one field
            old = fields[name]
            is_quick = old.__class__ is float and part.__class__ is float
            fields[name] = old + part if is_quick else slot_increment(old, part)
        return with_fields(Tangent, fields)
    if is_address_tangent(cls):
        accumulate(t, t, r)
        return t
    return t + r


# -- values that are new ---------------------------------------------------------------------------


_DICTS: frozenset[type] = frozenset({Counter, OrderedDict, defaultdict})
"""Subclasses of dict of which empty ones are made often."""


def fresh_shadow(out: Any, active: bool = True) -> Any:
    """The shadow of the newly made value `out`; an object gets one even if nothing active is in it yet."""
    cls = type(out)
    special = ARRAY_FRESH.get(cls)
    t = None if special is None else special(out)
    if t is not None:
        return t
    if cls is float:
        return NO_FDATA if active else None
    if cls in _ATOMS:
        return None
    if cls in _DICTS and not out and not getattr(out, "__dict__", None):
        return DictTangent()
    kind = kind_of(cls)
    if kind.inactive:
        return None
    if isinstance(kind, ScalarKind):
        return NO_FDATA if active else None
    t = zero_tangent(out, is_found=True)
    return slot_shadow(t) if active else addresses(t)


def addresses(t: Any) -> Any:
    """The shadow of a value whose tangent is `t` and whose numbers are all inactive."""
    if type(t) is tuple:
        parts = tuple([addresses(c) for c in t])
        return None if all(f is None for f in parts) else parts
    if type(t) is Tangent:
        fields = {k: addresses(c) for k, c in t.__dict__.items()}
        return None if all(f is None for f in fields.values()) else FData(**fields)
    return t if is_address_tangent(type(t)) else None


def fresh_tangent(out: Any) -> Any:
    """The tangent of `out`, a new value that depends on nothing: None unless a part of it has an address."""
    cls = type(out)
    if cls is float or cls is int or cls is bool or cls is str or out is None:
        return None
    kind = kind_of(cls)
    if kind.inactive or isinstance(kind, ScalarKind):
        return None
    t = zero_tangent(out, is_found=True)
    return t if addresses(t) is not None else None


def fill_tangent(x: Any, dx: Any) -> Any:
    """The tangent to put into a slot that holds `x`, given `dx`, which is None for zero.

    In the place of None a number gets a zero, and an object, which is a constant then (see `slot_tangent`),
    `NoTangent`.
    """
    if dx is not None:
        # of "a number" it may be known that its derivative is one, and then it turns out to be an int
        if dx.__class__ is not float or type(x) is float:
            return dx
        cls = type(x)
        if kind_of(cls).inactive:
            return NO_TANGENT
        # Of a number of NumPy's the tangent was computed with Python's floats.
        return cls(dx) if cls.__module__ == "numpy" and cls.__name__ != "ndarray" else dx
    cls = type(x)
    if cls in _ZEROS:
        return _ZEROS[cls]
    known = _zero_of_tuple(x) if cls is tuple else None
    if known is not None:
        return known
    kind = kind_of(cls)
    if isinstance(kind, ValueKind):
        parts = [(k, fill_tangent(c, None)) for k, c in kind.parts(x)]
        return NO_TANGENT if all(c is NO_TANGENT for _, c in parts) else kind.join(x, parts)
    return NO_TANGENT if kind.address else zero_tangent(x, is_found=True)


# -- arithmetic of cotangents ----------------------------------------------------------------------


def add(a: Any, b: Any) -> Any:
    """The sum of rdata `a` and `b`, where None is zero."""
    if a is None or a is NO_RDATA:
        return b
    if b is None or b is NO_RDATA:
        return a
    cls = a.__class__
    if cls is float:
        return a + b
    if cls is tuple:
        if b.__class__ is tuple and len(a) == len(b) and _FLOATS.issuperset(map(type, a + b)):
            return tuple(map(operator.add, a, b))
        return tuple(
            [
                d if c is None else c if d is None else c + d if type(c) is float is type(d) else add(c, d)
                for c, d in zip(a, b, strict=True)
            ]
        )
    if cls is RData:  # a field that is not there is zero: reading one field gives rdata of one field
        fields, others = a.__dict__, b.__dict__
        total = {**others, **fields}
        if len(total) == len(fields) == len(others):
            theirs = [*map(others.get, fields)]
            if _FLOATS.issuperset(map(type, fields.values())) and _FLOATS.issuperset(map(type, theirs)):
                return RData(**dict(zip(fields, map(operator.add, fields.values(), theirs), strict=True)))
        if len(total) < len(fields) + len(others):
            for k, c in fields.items():
                if k in others:
                    d = others[k]
                    total[k] = c + d if type(c) is float and type(d) is float else add(c, d)
        return RData(**total)
    return a + b


def multiply(p: Any, d: Any) -> Any:
    """`p` times `d`, a partial derivative and a tangent or cotangent, in which zero wins: where one of them
    is zero, so is the product, even if the other is infinite or not a number.

    With this, and only if it holds for both factors, a path of partial derivatives has the same product from
    whichever end it is computed.  A product with zero is computed where it is zero anyway: what is zero has a
    derivative where this function is differentiated.
    """
    if p.__class__ is float and d.__class__ is float:
        product = p * d
        return product if product == product or (p and d) else 0.0
    if p.__class__ in _OF_PYTHON and d.__class__ in _OF_PYTHON:
        whole = p * d
        return whole if whole == whole or (p and d) else 0j
    special = _hook(ARRAY_MULTIPLY, d.__class__) or _hook(ARRAY_MULTIPLY, p.__class__)
    if special is not None:
        return special(p, d)
    return p * d if (p and d) or (isfinite(p) and isfinite(d)) else _zero(p) * _zero(d)


_OF_PYTHON: frozenset[Any] = frozenset({float, complex})


def divide(d: Any, y: Any) -> Any:
    """`d`, a tangent or cotangent, over `y`: what `multiply` gives for the reciprocal of `y`."""
    special = _hook(ARRAY_DIVIDE, d.__class__) or _hook(ARRAY_DIVIDE, y.__class__)
    if special is not None:
        return special(d, y)
    return d / y if (d or y) and y - y == 0.0 else _zero(d) / (_zero(y) + 1)


def _zero(x: Any) -> Any:
    """Zero, of the class that arithmetic with `x` gives: a subclass may not have an instance that is zero."""
    for cls in (int, float, complex):
        if isinstance(x, cls):
            return cls(0)
    return x.__class__(0)


ARRAY_MULTIPLY: dict[type, Any] = {}
"""By class of array, a function that does for its instances what `multiply` does for numbers."""

ARRAY_DIVIDE: dict[type, Any] = {}
"""By class of array, a function that does for its instances what `divide` does for numbers."""

ARRAY_REDUCE: dict[type, Any] = {}
"""By class of array, a function that sums all elements, for the projection to a scalar."""

ARRAY_ACCUMULATE: dict[type, Any] = {}
"""By class of array, a function of a shadow, its primal and a cotangent that adds this to the shadow."""

ARRAY_OF_SEQUENCE: dict[type, Any] = {}
"""By class of array, a function of an array and a list or tuple that gives the array the shape of the array
that is made of the list or tuple: broadcasting is undone."""

ARRAY_FRESH: dict[type, Any] = {}
"""By class of array, a function that gives a new array the shadow, or None if it must be made by a walk."""


ARRAY_FINITE: dict[type, Any] = {}
"""By class of array, a function that says whether all numbers of an array are finite."""

TABLES = (
    NUMBERS, _OF_FLAT, ARRAY_MULTIPLY, ARRAY_DIVIDE, ARRAY_REDUCE, ARRAY_ACCUMULATE, ARRAY_OF_SEQUENCE,
    ARRAY_FRESH, ARRAY_FINITE,
)  # fmt: skip
"""What is looked up by class here, and grows whenever a class is first met."""


def _hook(table: dict[type, Any], cls: type) -> Any:
    """The entry of `table` for `cls`; those of arrays are put there when the first array is met."""
    special = table.get(cls)
    if special is None:
        kind_of(cls)
        special = table.get(cls)
    return special


_PLAIN_NUMBERS = (float, complex, int)


def project(d: Any, x: Any, fresh: bool = False) -> Any:
    """`d` in the tangent space of `x`: of its class, real if `x` is real, with broadcasting undone.

    None if `x` has no tangent.  fresh: the result must share no memory with `d`.
    """
    if d is None:
        return None
    cls = type(x)
    if cls is float:
        if type(d) is float:
            return d
        if issubclass(type(d), float):
            return float(d)
        of_array = ARRAY_REDUCE.get(d.__class__)
        if of_array is not None:
            d = of_array(d)
            if issubclass(type(d), float):
                return float(d)
    elif cls is int or cls is bool:
        return None
    elif type(d) is cls and cls in NUMBERS:
        return d
    kind = kind_of(cls)
    if isinstance(kind, ScalarKind):
        reduce = ARRAY_REDUCE.get(d.__class__)
        if reduce is None and not issubclass(type(d), _PLAIN_NUMBERS):
            reduce = _hook(ARRAY_REDUCE, type(d))
        if reduce is not None:
            d = reduce(d)
        return d if d.__class__ is kind.tangent else kind.project(d, x)
    if isinstance(kind, ValueKind):
        if type(d) not in (tuple, Tangent, RData):
            return d
        get = d.__getitem__ if type(d) is tuple else d.__dict__.get
        parts = [(k, project(get(k), c, fresh)) for k, c in kind.parts(x)]
        return kind.join(x, parts) if type(d) is not RData else record(kind, x, parts, RData)
    special = getattr(kind, "project_array", None)
    return kind.project(d, x) if special is None else special(d, x, fresh)


def cotangent_of(fout: Any, bout: Any) -> Any:
    """The cotangent of a result, from its shadow `fout` and its rdata `bout`; None is zero."""
    if fout is NO_FDATA or fout is None:
        return bout
    if type(fout) is tuple:
        parts = (None,) * len(fout) if bout is None else bout
        whole = tuple([cotangent_of(f, b) for f, b in zip(fout, parts, strict=True)])
        return None if all(c is None for c in whole) else whole
    if type(fout) is FData:
        fields = {} if bout is None else bout.__dict__
        return RData(**{k: cotangent_of(f, fields.get(k)) for k, f in fout.__dict__.items()})
    return fout


def accumulate(f: Any, x: Any, d: Any) -> Any:
    """Fit `d`, the cotangent that a rule gives for its argument `x`, to the argument, whose shadow is `f`.

    This is the one place where that is done.  What is identified by address there is added to the shadow in
    place, what is by value is returned as rdata, of the class and the shape of `x`: broadcasting is undone,
    the dtype kept, the real part taken.  `d` has the structure of `x`, but an array may stand for a list or
    tuple of numbers.  Raises `InvalidTangentError` if `d` cannot be the cotangent of `x`.
    """
    if f is None or d is None or d is NO_RDATA:
        return None
    if f is NO_FDATA:
        return project(d, x)
    cls = type(f)
    special = _hook(ARRAY_ACCUMULATE, cls)
    if special is not None:
        special(f, x, d)
        return None
    if cls is ArrayTangent and type(d) is not ArrayTangent:  # of the array that the instance is
        return accumulate(None if f.array is NO_TANGENT else f.array, x, d)
    gather = _hook(ARRAY_OF_SEQUENCE, type(d))
    if gather is not None and issubclass(type(x), list | tuple):
        d = gather(d, x)
        if d is None:
            return None
    if cls is tuple:
        left = tuple([accumulate(a, b, c) for a, b, c in zip(f, x, _parts_of(d, x), strict=True)])
        return None if all(r is None for r in left) else left
    if cls is FData:
        parts: Any = kind_of(type(x))
        fields = parts.parts(x)
        by_name = d.__dict__ if type(d) in (RData, Tangent) else _named(d, x, fields)
        given = {k: accumulate(f.__dict__[k], c, by_name.get(k)) for k, c in fields}
        return None if all(r is None for r in given.values()) else RData(**given)
    if issubclass(cls, list):
        given = d.tolist() if hasattr(d, "tolist") else d
        if add_floats(f, x, given):
            return None
        if _are_rows(f, x, given, _LISTS):
            sums = map(map, repeat(operator.add), f, given)
            any(map(list.__setitem__, f, repeat(slice(None)), sums))  # nothing is true: all are set
            return None
        if _are_rows(f, x, given, _TUPLES):
            f[:] = map(tuple, map(map, repeat(operator.add), f, given))
            return None
        if _are_numbers(f, x, given := _parts_of(d, x)):
            f[:] = map(operator.add, f, given)
            return None
        for i, (y, c) in enumerate(zip(x, given, strict=True)):
            t = f[i]
            if c is not None and t is not NO_TANGENT:
                f[i] = slot_increment(t, accumulate(slot_shadow(t), y, c))
        return None
    increment(f, d)
    return None


REALS: set[type] = {float}
"""The classes of numbers of 64 bits of which lists may be mixed: a float is a tangent of each."""


def add_floats(f: Any, x: Any, given: Any) -> bool:
    """Add a list of floats to the shadow `f` of the list `x`, if both hold as many real numbers; returns
    whether they do."""
    if type(given) is not list or not len(given) == len(f) == len(x):
        return False
    if not (REALS.issuperset(map(type, f)) and REALS.issuperset(map(type, x))):
        return False
    if not _FLOATS.issuperset(map(type, given)):
        return False
    f[:] = map(operator.add, f, given)
    return True


def _are_rows(f: Any, x: Any, given: Any, classes: frozenset[type]) -> bool:
    """Whether a shadow, its list and the cotangent of that are lists of as many lists of as many floats; the
    rows of the first two are all of the class in `classes`."""
    if type(given) is not list or not len(given) == len(f) == len(x):
        return False
    if not _LISTS.issuperset(map(type, given)) or not all(classes.issuperset(map(type, r)) for r in (f, x)):
        return False
    if not [*map(len, f)] == [*map(len, x)] == [*map(len, given)]:
        return False
    return all(_FLOATS.issuperset(map(type, chain.from_iterable(rows))) for rows in (f, x, given))


def _are_numbers(f: Any, x: Any, given: Any) -> bool:
    """Whether a shadow, its list and the cotangent of that are as many numbers of one class, not a batch."""
    classes = {*map(type, x)}
    if len(classes) != 1 or not classes == {*map(type, f)} == {*map(type, given)}:
        return False
    (cls,) = classes
    kind = kind_of(cls)
    return isinstance(kind, ScalarKind) and kind.tangent is cls and len(f) == len(x)


def _parts_of(d: Any, x: Any) -> Any:
    """The parts of `d`, which is the cotangent of the list or tuple `x`; raises if it has others."""
    if not hasattr(type(d), "__len__") or issubclass(type(d), dict) or len(d) != len(x):
        raise _misfit(x, d)
    return d


def _named(d: Any, x: Any, fields: Any) -> dict[str, Any]:
    """The parts of `d` by the names of `fields`: the cotangent of a named tuple, as that of a plain one."""
    if not issubclass(type(x), tuple):
        raise _misfit(x, d)
    return {k: c for (k, _), c in zip(fields, _parts_of(d, x), strict=True)}


def in_order(x: Any, dx: Any) -> Any:
    """The tangents of the elements of the list or tuple `x`, in their order, from its tangent `dx`."""
    if type(dx) is not Tangent:
        return dx
    kind: Any = kind_of(type(x))
    return tuple([dx.__dict__[name] for name, _ in kind.parts(x)])


def _misfit(x: Any, d: Any) -> InvalidTangentError:
    many = f" of {len(x)}" if issubclass(type(x), list | tuple) else ""
    return InvalidTangentError(
        f"a rule gives {d!r:.60}, a {type(d).__name__}, as the cotangent of a {type(x).__name__}{many}"
    )


# -- the boxed interface ---------------------------------------------------------------------------


def _of_parts(
    convert: Callable[[Any, Any], Any], d: Any, x: Any, kind: ValueKind, nothing: Any, cls: type
) -> Any:
    """A tuple or `cls` of ``convert(part of d, part of x)`` for each part; `nothing` if all of these are."""
    parts = [(k, convert(_part(d, kind, k), c)) for k, c in kind.parts(x)]
    return nothing if all(c is nothing for _, c in parts) else record(kind, x, parts, cls)


def external_fdata(shadow: Any, x: Any) -> Any:
    """The fdata of `x` for a public rule.  An object without shadow (a constant) gets one to write to."""
    kind = kind_of(type(x))
    if isinstance(kind, ValueKind):
        return _of_parts(external_fdata, shadow, x, kind, NO_FDATA, FData)
    if not kind.address:
        return NO_FDATA
    return fdata(zero_tangent(x, is_found=True)) if shadow is None else shadow


def internal_fdata(f: Any, x: Any) -> Any:
    """The shadow of `x` from `f`, the fdata that a public rule gave for it."""
    kind = kind_of(type(x))
    if kind.inactive:
        return None
    if isinstance(kind, ValueKind):
        return _of_parts(internal_fdata, f, x, kind, None, FData)
    if kind.address and f is NO_FDATA:
        return None
    return f


def external_rdata(r: Any, x: Any) -> Any:
    """The rdata `r` of `x` as a public rule has it: with zeros in the place of None."""
    kind = kind_of(type(x))
    if isinstance(kind, ValueKind):
        return _of_parts(external_rdata, r, x, kind, NO_RDATA, RData)
    return zero_rdata(x) if r is None else r


def internal_rdata(r: Any) -> Any:
    """The rdata `r` that a public rule gave, with None in the place of `NoRData`."""
    if r is NO_RDATA:
        return None
    if type(r) is tuple:
        parts = tuple([internal_rdata(c) for c in r])
        return None if all(c is None for c in parts) else parts
    if type(r) is RData:
        fields = {k: internal_rdata(c) for k, c in r.__dict__.items()}
        return None if all(c is None for c in fields.values()) else RData(**fields)
    return r
