"""The types of results that rules find out by example: from abstract types to descriptions, and back."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from adbc.ir.intrinsics import _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.rules.table import ArrayLike, Known
from adbc.types.inference import type_of
from adbc.types.lattice import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    AbstractType,
    ArrayType,
    ConstType,
    Exact,
    RealType,
    TupleType,
    class_of,
    is_numpy_number,
    is_service,
)

__all__ = ["sampled_type", "with_large"]


def sampled_type(
    row: Any,
    function: Any,
    values: Sequence[Value],
    keywords: tuple[str, ...],
    known: dict[Any, AbstractType | None],
) -> AbstractType | None:
    """The type of ``function(*values)``, the last of them by keyword, if `row` finds it; kept in `known`."""
    if row.sample is None or "out" in keywords:
        return None
    descriptions = [_describe(v) for v in values]
    if any(d is None for d in descriptions):
        return None
    key = (function, *map(_key, descriptions), keywords, frozenset(t.members for t in _reals(values)))
    if key not in known:
        by_position = len(values) - len(keywords)
        named = dict(zip(keywords, descriptions[by_position:], strict=True))
        cases = [(descriptions[:by_position], named)]
        reals = {t.members for t in _reals(values)}
        if reals:
            cases = [
                (_with(descriptions[:by_position], m), {k: _with(d, m) for k, d in named.items()})
                for m in sorted(frozenset().union(*reals), key=str)
            ]
        large = set(row.numeric(by_position)).intersection(
            i for i, d in enumerate(descriptions[:by_position]) if d is int
        )
        found = set()
        for given, by_name in cases:
            found.add(row.sample(function, given, by_name, with_large(given, large)))
        known[key] = _type(found.pop()) if len(found) == 1 and None not in found else None
    return known[key]


_LARGE = Known(2**64, is_exact=True)
"""An int that no integer of NumPy's can hold: arrays that are made of such are arrays of objects."""


def with_large(given: Sequence[Any], places: Collection[int]) -> list[list[Any]]:
    """`given` with a large int in one of `places`, for each of them, and in all: a function may take a large
    step and not a large start (``np.arange``)."""
    groups = [{i} for i in places] + [set(places)] * (len(places) > 1)
    return [[_LARGE if i in group else d for i, d in enumerate(given)] for group in groups]


def _reals(values: Sequence[Value]) -> Iterator[RealType]:
    """Each `RealType` among the types of `values` and of the elements of list displays."""
    for value in values:
        if isinstance(value, Instruction) and _is_list_display(value):
            yield from _reals(value.operands[2:])
        elif isinstance(type_of(value), RealType):
            yield type_of(value)  # type: ignore[misc]


def _with(description: Any, member: type) -> Any:
    """`description` with `member` as the class of all numbers that are of one of several classes."""
    if description is RealType:
        return member
    if isinstance(description, tuple | list):
        return type(description)(_with(d, member) for d in description)
    return description


def _describe(value: Value) -> Any:
    if isinstance(value, Const):
        constant = value.value
        kind = type(constant)
        if constant is None or kind in (int, bool, str, float, complex, type) or is_service(kind):
            return Known(constant)
        if type(constant) is tuple:
            parts = [_describe(Const(x)) for x in constant]
            return None if any(p is None for p in parts) else tuple(parts)
    if isinstance(value, Instruction) and _is_list_display(value):
        parts = [_describe(v) for v in value.operands[2:]]
        return None if any(p is None for p in parts) else parts
    return _described(type_of(value))


def _is_list_display(value: Instruction) -> bool:
    """Whether `value` is a list that was just made for this call, so that nobody has changed it."""
    if value.op != "call" or len(value.operands) < 3 or value.block is None:
        return False
    callee, kind = value.operands[:2]
    if not (isinstance(callee, Const) and callee.value is _new_):
        return False
    if not (isinstance(kind, Const) and kind.value is list):
        return False
    graph = value.block.graph
    uses = sum(i.operands.count(value) for i in graph.instructions())
    return uses == 1 and not any(value in b.terminator.values for b in graph.blocks)


def _described(type: AbstractType) -> Any:
    if isinstance(type, ArrayType):
        return None if type.ndim is None else ArrayLike(type.dtype, type.ndim)
    if isinstance(type, TupleType):
        parts = [_described(t) for t in type.elements]
        return None if any(p is None for p in parts) else tuple(parts)
    if isinstance(type, ConstType):
        return Known(type.value)
    if isinstance(type, RealType):
        return RealType
    if type in (INT, FLOAT, BOOL) or type == NONE:
        return Known(None) if type == NONE else class_of(type)
    if isinstance(type, Exact) and (
        type.cls in (complex, slice) or is_numpy_number(type.cls, "generic")
    ):  # fmt: skip
        return type.cls
    return None


def _key(description: Any) -> Any:
    """`description` as a key of dictionaries: 1, 1.0 and True are equal, but not the same."""
    if isinstance(description, Known):
        return description.value.__class__, repr(description.value)
    if isinstance(description, list):
        return (list, *map(_key, description))
    if isinstance(description, tuple):
        return tuple(map(_key, description))
    return description


def _type(found: Any) -> AbstractType | None:
    if isinstance(found, ArrayLike):
        return ArrayType(found.dtype, found.ndim, sys.modules["numpy"].ndarray)
    if isinstance(found, tuple):
        parts = [_type(f) for f in found]
        return None if any(p is None for p in parts) else TupleType(tuple(parts))  # type: ignore[arg-type]
    return NONE if found is None.__class__ else Exact(found)
