"""What values of graphs are made of in a low program: *kinds*, and values of each.

A kind says which registers a value has.  A number has one, a tuple has those of its elements, a tape has
none, because the program has it by name.  `Maybe` is a value that may be absent (None, or what an iterator
gives at its end), and has a register that says so; `Variant` is a tuple of one of several forms.  A `Known`
value is a Python object, which becomes what it is needed as.

Values of which nothing is known are `Unknown`: their program is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir.sentinels import Sentinel
from adbc.low.interpret import ZEROS
from adbc.low.program import BOOL, F64, I64, Arena, Operand, Register, Slot, Tape, type_of
from adbc.records import record
from adbc.types.derived import LinksType, TapeType, UnionType
from adbc.types.lattice import BOOL as BOOL_TYPE
from adbc.types.lattice import FLOAT, INT, NONE, TANGENT, AbstractType, Exact, TupleType

__all__ = [
    "FLOAT_KIND", "INT_KIND", "NOTHING", "UNKNOWN", "Kind", "Known", "Links", "LinksKind", "ListIterator",
    "ListKind", "ListValue", "Maybe", "MaybeKind", "Number", "NumberKind", "Opaque", "Played", "PlayedKind",
    "Range", "RangeIterator", "RangeKind", "TapeKind", "TapeValue", "Tuple", "TupleKind", "Unknown", "Value",
    "Variant", "VariantKind", "agrees", "built", "fits", "kind_of", "kind_of_type", "merged", "parts",
    "types",
]  # fmt: skip


# -- values ------------------------------------------------------------------------------------------------


class Value:
    """A value of a graph, in a low program."""


@record(frozen=True, eq=False)
class Known(Value):
    value: Any


@record(frozen=True, eq=False)
class Number(Value):
    """A float, an int of 64 bits or a bool."""

    operand: Operand


@record(frozen=True, eq=False)
class Tuple(Value):
    parts: tuple[Value, ...]


@record(frozen=True, eq=False)
class Maybe(Value):
    """`inner`, or what `token` is where `absent` is true."""

    absent: Operand
    inner: Value
    token: Any


@record(frozen=True, eq=False)
class Variant(Value):
    """One of the tuples `members`: that which `tag` says."""

    tag: Operand
    members: tuple[Value, ...]


@record(frozen=True, eq=False)
class Range(Value):
    start: Operand
    stop: Operand
    step: Operand


@record(frozen=True, eq=False)
class RangeIterator(Value):
    """The slots of what comes next, of how many come, and of the step."""

    following: Slot
    left: Slot
    step: Slot


@record(frozen=True, eq=False)
class ListValue(Value):
    """A list of floats that is read only, or one of derivatives (`is_shadow`), which nobody else has."""

    register: Register
    is_shadow: bool = False


@record(frozen=True, eq=False)
class ListIterator(Value):
    register: Register
    index: Slot


@record(frozen=True, eq=False)
class TapeValue(Value):
    """The records on a tape from height `base` on: all that are there, or those up to height `end`, if they
    are complete."""

    tape: Tape
    base: Operand
    end: Operand | None = None


@record(frozen=True, eq=False)
class Played(Value):
    """The iterator that goes back over the records on a tape from height `base` on, and takes them off."""

    tape: Tape
    base: Operand


@record(frozen=True, eq=False)
class Links(Value):
    """The number of a node, or 0 for None."""

    node: Operand
    arena: Arena


@record(frozen=True, eq=False)
class Opaque(Value):
    """What is only passed on: the context of a call."""


@record(frozen=True, eq=False)
class Unknown(Value):
    """What could not be lowered."""


UNKNOWN = Unknown()


# -- kinds -------------------------------------------------------------------------------------------------


@record(frozen=True)
class Kind:
    """Which registers a value has."""


@record(frozen=True)
class NumberKind(Kind):
    type: str


@record(frozen=True)
class NothingKind(Kind):
    """None."""


@record(frozen=True)
class TupleKind(Kind):
    elements: tuple[Kind, ...]


@record(frozen=True)
class MaybeKind(Kind):
    inner: Kind
    token: Any


@record(frozen=True)
class VariantKind(Kind):
    members: tuple[Kind, ...]


@record(frozen=True)
class RangeKind(Kind):
    pass


@record(frozen=True)
class TapeKind(Kind):
    tape: Tape


@record(frozen=True)
class PlayedKind(Kind):
    tape: Tape


@record(frozen=True)
class LinksKind(Kind):
    arena: Arena


@record(frozen=True)
class ListKind(Kind):
    """A list of floats, or of derivatives: a parameter of the program, which may not be known yet."""

    is_shadow: bool
    register: Register | None = None


@record(frozen=True)
class OpaqueKind(Kind):
    pass


FLOAT_KIND, INT_KIND, BOOL_KIND = NumberKind(F64), NumberKind(I64), NumberKind(BOOL)
NOTHING = NothingKind()
_NUMBERS = {float: FLOAT_KIND, int: INT_KIND, bool: BOOL_KIND}


def fits(number: int) -> bool:
    """Whether an int has 64 bits."""
    return -(2**63) <= number < 2**63


def kind_of(value: Value) -> Kind | None:
    """The kind of `value`; None if it has none that could be kept."""
    match value:
        case Known(constant):
            return _kind_of_constant(constant)
        case Number(operand):
            return NumberKind(type_of(operand))
        case Tuple(elements):
            kinds = [kind_of(part) for part in elements]
            return None if None in kinds else TupleKind(tuple(kinds))  # type: ignore[arg-type]
        case Maybe(_, inner, token):
            kind = kind_of(inner)
            return None if kind is None else MaybeKind(kind, token)
        case Variant(_, members):
            kinds = [kind_of(member) for member in members]
            return None if None in kinds else VariantKind(tuple(kinds))  # type: ignore[arg-type]
        case Range():
            return RangeKind()
        case TapeValue(tape):
            return TapeKind(tape)
        case Played(tape):
            return PlayedKind(tape)
        case Links(_, arena):
            return LinksKind(arena)
        case ListValue(register, is_shadow):
            return ListKind(is_shadow, register)
        case Opaque():
            return OpaqueKind()
    return None


def _kind_of_constant(constant: Any) -> Kind | None:
    cls = type(constant)
    if cls in _NUMBERS:
        return _NUMBERS[cls] if cls is not int or fits(constant) else None
    if constant is None:
        return NOTHING
    if cls is tuple:
        return kind_of(Tuple(tuple(map(Known, constant))))
    return None


def kind_of_type(type: Any) -> Kind | None:
    """The kind of values of an abstract type; None if the type does not tell."""
    if type in (FLOAT, TANGENT):
        return FLOAT_KIND
    if type == INT:
        return INT_KIND
    if type == BOOL_TYPE:
        return BOOL_KIND
    if type == NONE:
        return NOTHING
    if type == Exact(range):
        return RangeKind()
    if isinstance(type, TupleType):
        kinds = [kind_of_type(element) for element in type.elements]
        return None if None in kinds else TupleKind(tuple(kinds))  # type: ignore[arg-type]
    if isinstance(type, UnionType):
        return _kind_of_union(sorted(type.members, key=str))
    return None


def _kind_of_union(members: Sequence[AbstractType]) -> Kind | None:
    present = [t for t in members if t != NONE and t != Exact(Sentinel)]
    kinds = [kind_of_type(t) for t in present]
    if None in kinds or len(present) == len(members) or Exact(Sentinel) in members:
        return None  # which of several tuples it is, and what marks the end, is seen where it is made
    return MaybeKind(kinds[0], None) if len(kinds) == 1 else None  # type: ignore[arg-type]


def agrees(kind: Kind, type: Any) -> bool:
    """Whether values of an abstract type may be of this kind."""
    if isinstance(type, UnionType):
        if isinstance(kind, MaybeKind):
            return any(agrees(kind.inner, member) for member in type.members)
        return any(agrees(kind, member) for member in type.members)
    match kind:
        case TupleKind(elements):
            return (
                isinstance(type, TupleType)
                and len(type.elements) == len(elements)
                and all(map(agrees, elements, type.elements))
            )
        case TapeKind():
            return isinstance(type, TapeType)
        case LinksKind():
            return isinstance(type, LinksType)
    return kind_of_type(type) == kind


def merged(a: Kind | None, b: Kind | None) -> Kind | None:
    """The kind that has the values of both; None if there is none."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    for one, other in ((a, b), (b, a)):
        if isinstance(one, LinksKind) and other == NOTHING:
            return one
        if isinstance(one, MaybeKind):
            if other == NOTHING and one.token is None:
                return one
            inner = merged(one.inner, other.inner if isinstance(other, MaybeKind) else other)
            if isinstance(other, MaybeKind) and other.token is not one.token:
                return None
            return None if inner is None else MaybeKind(inner, one.token)
        if one == NOTHING:
            return MaybeKind(other, None)
    first = a.members if isinstance(a, VariantKind) else (a,)
    second = b.members if isinstance(b, VariantKind) else (b,)
    every = tuple(dict.fromkeys((*first, *second)))
    if not all(isinstance(kind, TupleKind) for kind in every):
        return None
    return VariantKind(every)


def types(kind: Kind) -> tuple[str, ...]:
    """The types of the registers of values of this kind."""
    match kind:
        case NumberKind(type):
            return (type,)
        case TupleKind(elements):
            return tuple(t for element in elements for t in types(element))
        case MaybeKind(inner, _):
            return (BOOL, *types(inner))
        case VariantKind(members):
            return (I64, *[t for member in members for t in types(member)])
        case RangeKind():
            return (I64, I64, I64)
        case TapeKind():
            return (I64, I64)
        case LinksKind() | PlayedKind():
            return (I64,)
    return ()


def built(kind: Kind, registers: Sequence[Operand]) -> Value:
    """The value of this kind that has these registers."""
    value, rest = _built(kind, list(registers))
    assert not rest
    return value


def _built(kind: Kind, given: list[Operand]) -> tuple[Value, list[Operand]]:
    match kind:
        case NumberKind():
            return Number(given[0]), given[1:]
        case NothingKind():
            return Known(None), given
        case TupleKind(elements):
            made, given = _all_built(elements, given)
            return Tuple(made), given
        case MaybeKind(inner, token):
            value, rest = _built(inner, given[1:])
            return Maybe(given[0], value, token), rest
        case VariantKind(members):
            made, rest = _all_built(members, given[1:])
            return Variant(given[0], made), rest
        case RangeKind():
            return Range(*given[:3]), given[3:]
        case TapeKind(tape):
            return TapeValue(tape, *given[:2]), given[2:]
        case PlayedKind(tape):
            return Played(tape, given[0]), given[1:]
        case LinksKind(arena):
            return Links(given[0], arena), given[1:]
        case ListKind(is_shadow, register):
            assert register is not None
            return ListValue(register, is_shadow), given
    return Opaque(), given


def _all_built(kinds: Sequence[Kind], given: list[Operand]) -> tuple[tuple[Value, ...], list[Operand]]:
    made = []
    for kind in kinds:
        value, given = _built(kind, given)
        made.append(value)
    return tuple(made), given


def parts(value: Value) -> list[Operand]:
    """The registers of `value`, which has a kind."""
    match value:
        case Known(constant):
            if type(constant) is tuple:
                return [x for element in constant for x in parts(Known(element))]
            return [] if constant is None else [constant]
        case Number(operand):
            return [operand]
        case Tuple(elements):
            return [x for element in elements for x in parts(element)]
        case Maybe(absent, inner, _):
            return [absent, *parts(inner)]
        case Variant(tag, members):
            return [tag, *[x for member in members for x in parts(member)]]
        case Range(start, stop, step):
            return [start, stop, step]
        case TapeValue(_, base, end):
            assert end is not None, "the records are complete where they are kept"
            return [base, end]
        case Played(_, base):
            return [base]
        case Links(node, _):
            return [node]
    return []


def zeros(kind: Kind) -> Value:
    """A value of this kind for where there is none."""
    return built(kind, [ZEROS[type] for type in types(kind)])
