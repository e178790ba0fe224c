"""Abstract types that only derived graphs have: of shadows and cotangents, of what is saved, of the context.

    TANGENT                 a number: the tangent or cotangent of one (in `lattice`)
    ShadowOf(type)          memory that stands beside memory of `type`; None beside a constant
    CotangentOf(type)       what travels back for a value of `type` that is no proved number; None for zero
    TangentOf(type)         what travels beside it in forward mode; None for zero
    UnionType(members)      a value of one of several types: one that is saved by some ways only, say
    TapeType, LinksType     the records of the iterations of a loop, as a list or as linked tuples
    PlayedType              the iterator that goes back over such a list
    SavedOf(rule)           the record of a call of another derived rule
    UndoType                what the reverse of a write needs, which only it understands
    CallableType(gives)     a function that was made while the program runs, by what it gives: a pullback

A second backend lays values out by these.  They say nothing about how a value is differentiated.
"""

from __future__ import annotations

import types
from collections.abc import Iterable

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import Sentinel
from adbc.ir.values import Value
from adbc.records import record
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.types.lattice import (
    ANY,
    NEVER,
    NONE,
    TANGENT,
    AbstractType,
    Exact,
    TangentType,
    TupleType,
    has_cotangent,
    has_shadow,
    is_number,
    join,
    memory_type,
)

__all__ = [
    "CONTEXT",
    "EXCEPTION",
    "FUNCTION",
    "RAISED",
    "UNDO",
    "CallableType",
    "ContextType",
    "CotangentOf",
    "DerivativeType",
    "ExceptionType",
    "LinksType",
    "PlayedType",
    "SavedOf",
    "SequenceType",
    "ShadowOf",
    "TangentOf",
    "TapeType",
    "UndoType",
    "UnionType",
    "cotangent_type",
    "count_typed",
    "derivative_of",
    "is_known",
    "merge",
    "merge_all",
    "present",
    "primal_type",
    "rule_cotangent_type",
    "rule_tangent_type",
    "shadow_type",
    "tangent_type",
]


@record(frozen=True)
class DerivativeType(AbstractType):
    """A derivative of a value of type `of`, in the form that such derivatives have.  None is among its
    values: it stands for zero, or for the memory of a constant."""

    of: AbstractType
    word = ""

    def __str__(self) -> str:
        return f"{self.word}[{self.of}]"


class ShadowOf(DerivativeType):
    """Memory that stands beside memory of type `of`."""

    word = "Shadow"


class CotangentOf(DerivativeType):
    """A cotangent that is passed by value."""

    word = "Cotangent"


class TangentOf(DerivativeType):
    """A tangent of forward mode."""

    word = "Tangent"


@record(frozen=True)
class UnionType(AbstractType):
    """A value of one of several types."""

    members: frozenset[AbstractType]

    def __str__(self) -> str:
        return " | ".join(sorted(map(str, self.members)))


@record(frozen=True)
class ContextType(AbstractType):
    """The state of one top-level call."""

    def __str__(self) -> str:
        return "Context"


@record(frozen=True)
class RecordsType(AbstractType):
    """What holds the records of the iterations of the loop `loop`."""

    loop: str
    word = ""

    def __str__(self) -> str:
        return f"{self.word}[{self.loop}]"


class TapeType(RecordsType):
    """A list with the records of the iterations of the outermost loop `loop`, and of the loops inside."""

    word = "Tape"


class PlayedType(RecordsType):
    """The iterator that runs backwards over a `TapeType`."""

    word = "Played"


class LinksType(RecordsType):
    """The record of an iteration of the loop `loop`, as a tuple that ends in the record of the iteration
    before; None in the place of the first."""

    word = "Links"


@record(frozen=True)
class SavedOf(AbstractType):
    """What a call of the derived rule of the function `rule` has saved."""

    rule: str

    def __str__(self) -> str:
        return f"Saved[{self.rule}]"


@record(frozen=True)
class UndoType(AbstractType):
    """What was kept when something was written; it is for the function that takes the write back."""

    def __str__(self) -> str:
        return "Undo"


@record(frozen=True)
class SequenceType(AbstractType):
    """A tuple or list of exactly these elements: the cotangents that the pullback of a rule gives."""

    elements: tuple[AbstractType, ...]

    def __str__(self) -> str:
        return f"Sequence[{', '.join(map(str, self.elements))}]"


@record(frozen=True)
class ExceptionType(AbstractType):
    """An exception of any class; or one that is returned, packed in a `Raised`, where it would be raised."""

    is_packed: bool = False

    def __str__(self) -> str:
        return "Raised" if self.is_packed else "Exception"


@record(frozen=True)
class CallableType(AbstractType):
    """A function of which nothing is known but the type of its result."""

    gives: AbstractType

    def __str__(self) -> str:
        return f"Callable[{self.gives}]"


CONTEXT = ContextType()
UNDO = UndoType()
EXCEPTION = ExceptionType()
RAISED = ExceptionType(is_packed=True)
FUNCTION = Exact(types.FunctionType)
_ABSENT = frozenset({Exact(type(NO_FDATA)), Exact(type(NO_TANGENT)), NONE})
"""The types of the values that stand for the absence of a derivative."""
_MARK = Exact(Sentinel)
"""The type of what stands on a tape in front of the records of a loop."""
_MOST = 8
"""The most members of a union: one of more members would say nothing."""


def is_known(type: object) -> bool:
    """Whether `type` says something of a value: whether the value is *typed*."""
    return isinstance(type, AbstractType) and type is not ANY and type != ANY


def count_typed(graph: Graph) -> tuple[int, int]:
    """The number of values of `graph` that are typed, and the number of all: arguments, phis and
    instructions."""
    values: list[Value] = [*graph.arguments]
    for block in graph.blocks:
        values += block.phis
        values += block.instructions
    return sum(is_known(value.type) for value in values), len(values)


def derivative_of(kind: type[DerivativeType], type: AbstractType) -> AbstractType:
    """The type of a derivative, of the class `kind`, of values of `type`: the derivative of a proved number
    is a number."""
    if isinstance(type, TangentType) or is_number(type):
        return TANGENT
    return type if isinstance(type, DerivativeType) else kind(memory_type(type))


def shadow_type(type: AbstractType) -> AbstractType:
    """The type of the shadow of an active value of `type`."""
    if has_shadow(type):
        return ShadowOf(memory_type(type))
    return Exact(NO_FDATA.__class__) if has_cotangent(type) else NONE


def tangent_type(type: AbstractType) -> AbstractType:
    """The type of the tangent of an active value of `type`."""
    if not has_shadow(type) and not has_cotangent(type):
        return NONE
    return derivative_of(TangentOf, type)


def cotangent_type(type: AbstractType) -> AbstractType:
    """The type of the cotangent of a value of `type` in code that knows `type`."""
    if not has_cotangent(type):
        return NONE
    if isinstance(type, TupleType) and _has_number(type):
        return TupleType(tuple(map(cotangent_type, type.elements)))
    return derivative_of(CotangentOf, type)


def rule_cotangent_type(type: AbstractType) -> AbstractType:
    """The type of a cotangent of a value of `type` that a rule gives: any part of it may be None."""
    return CotangentOf(memory_type(type)) if has_cotangent(type) else NONE


def rule_tangent_type(type: AbstractType) -> AbstractType:
    """The type of a tangent of a value of `type` that a rule gives: any part of it may be None."""
    return TangentOf(memory_type(type)) if has_cotangent(type) or has_shadow(type) else NONE


def _has_number(type: AbstractType) -> bool:
    """Whether a number is among the leaves of `type`: then the cotangent of a tuple is never None."""
    if isinstance(type, TupleType):
        return any(map(_has_number, type.elements))
    return is_number(type) and has_cotangent(type)


def primal_type(type: AbstractType) -> AbstractType:
    """The type of the values of which something of `type` is a derivative; `type` itself if it is of no
    derivative."""
    if isinstance(type, DerivativeType):
        return type.of
    if isinstance(type, TangentType):
        return Exact(float)
    if isinstance(type, TupleType):
        return TupleType(tuple(map(primal_type, type.elements)))
    return type


def present(type: AbstractType) -> AbstractType:
    """`type` without its members that stand for what is absent: for no derivative, or for the mark on a
    tape."""
    if not isinstance(type, UnionType):
        return type
    return merge_all(t for t in type.members if t not in _ABSENT and t != _MARK)


def merge(a: AbstractType, b: AbstractType) -> AbstractType:
    """The least type of derived graphs that has the members of both `a` and `b`."""
    if a is b or b is NEVER or a == b:
        return a
    if a is NEVER:
        return b
    if a is ANY or b is ANY:
        return ANY
    for one, other in ((a, b), (b, a)):
        if isinstance(one, TangentType) and is_number(other):
            return TANGENT
        if isinstance(one, DerivativeType):
            if other in _ABSENT:
                return one
            if other.__class__ is one.__class__:
                return one.__class__(merge(one.of, other.of))
        if isinstance(one, LinksType) and (other is NONE or other == NONE):
            return one
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.elements) == len(b.elements):
        return TupleType(tuple(map(merge, a.elements, b.elements)))
    joined = join(a, b)
    if joined is not ANY:
        return joined
    members: set[AbstractType] = set()
    for type in (a, b):
        members |= type.members if isinstance(type, UnionType) else {type}
    return UnionType(frozenset(members)) if len(members) <= _MOST else ANY


def merge_all(types: Iterable[AbstractType]) -> AbstractType:
    """The least type of derived graphs that has the members of all; `NEVER` of none."""
    result: AbstractType = NEVER
    for type in {id(type): type for type in types}.values():  # a phi of many ways has few types
        result = merge(result, type)
    return result
