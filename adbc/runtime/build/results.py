"""What the functions that generated code calls give: a row per function, for `types.completion`.

The functions themselves are in `runtime.build.support`, `runtime.state` and `tangents`.
"""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.derive.support import CommonSupport
from adbc.forward import ForwardSupport
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Value
from adbc.passes.derived.strong_zeros import Later, strong_zeros
from adbc.passes.stages import Group, Stage
from adbc.records import record
from adbc.reverse import Support
from adbc.types.array_calls import DTYPE_CODES
from adbc.types.completion import Results, Row, complete, constant, part_of
from adbc.types.derived import (
    UNDO,
    CallableType,
    CotangentOf,
    DerivativeType,
    SequenceType,
    ShadowOf,
    TangentOf,
    derivative_of,
    merge,
    primal_type,
    tangent_type,
)
from adbc.types.inference import STRUCTURAL, Oracle, Sampler
from adbc.types.lattice import (
    ANY,
    BOOL,
    FLOAT,
    NONE,
    TANGENT,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    memory_type,
)

__all__ = ["COMPLETE", "Completing", "completion", "forward_results", "reverse_results"]

Values = Sequence[Value]
Types = Sequence[AbstractType]

_CELL = Exact(types.CellType)
_DTYPES = {code: name for name, code in DTYPE_CODES.items()}


def _shadow_of(place: int) -> Row:
    """The row of a function that gives the shadow of its argument number `place`."""
    return lambda values, types_: ShadowOf(memory_type(types_[place]))


def _tangent_of(place: int) -> Row:
    """The row of a function that gives the tangent of its argument number `place`."""
    return lambda values, types_: tangent_type(types_[place])


def _same_as(place: int) -> Row:
    """The row of a function whose result has the type of argument number `place`."""
    return lambda values, types_: types_[place]


def _part(values: Values, types_: Types) -> AbstractType | None:
    """The type of the derivative of an element, from that of the whole."""
    return part_of(types_[0], values[1], types_[1])


def _element(values: Values, types_: Types) -> AbstractType | None:
    """The type of what stood in an array at the index that is argument number 2."""
    return STRUCTURAL[operator.getitem]([values[0], values[2]], [types_[0], types_[2]])


def _shadow_in_slot(values: Values, types_: Types) -> AbstractType:
    """The type of the shadow of what stands in a slot; the shadow of a number is no number."""
    part = part_of(types_[0], values[1], types_[1])
    return part if isinstance(part, DerivativeType) else ShadowOf(FLOAT if part is TANGENT else ANY)


def _fitted(values: Values, types_: Types) -> AbstractType:
    """The type of a derivative that was made to fit argument number 1."""
    kind = TangentOf if isinstance(types_[0], TangentOf) else CotangentOf
    return derivative_of(kind, types_[1])


def _sum(values: Values, types_: Types) -> AbstractType:
    """The type of the sum of two cotangents."""
    return merge(types_[0], types_[1])


def _array(shape: int) -> Row:
    """The row of a function that makes the cotangent of an array from a shape, argument number `shape`, and
    the code of a dtype behind it."""

    def row(values: Values, types_: Types) -> AbstractType | None:
        code, known = values[shape + 1], types_[shape]
        if not isinstance(code, Const):
            return None
        ndim = len(known.elements) if isinstance(known, TupleType) else None
        numpy: Any = sys.modules["numpy"]  # loaded: there is an array
        return CotangentOf(ArrayType(_DTYPES[code.value], ndim, numpy.ndarray))  # type: ignore[index]

    return row


def _reshaped(values: Values, types_: Types) -> AbstractType:
    known, shape = primal_type(types_[0]), types_[1]
    if not isinstance(known, ArrayType):
        return types_[0]
    ndim = len(shape.elements) if isinstance(shape, TupleType) else None
    return CotangentOf(ArrayType(known.dtype, ndim, known.cls))


_OF_SECOND = ("known", "instance", "caught", "passed", "function")
"""Functions of both modes that give the derivative of their second argument; the first is the context."""
_LATER = CallableType(SequenceType(()))
_ITERATOR = Exact(type(iter([])))


def reverse_results(support: Support) -> Results:
    """The rows of the functions that reverse mode calls."""
    rows: dict[str, Row] = {
        "fresh_shadow": _shadow_of(0),
        **dict.fromkeys(("mark_active", "mark_inactive", "note_inactive", "carry"), constant(NONE)),
        **dict.fromkeys(_OF_SECOND, _shadow_of(1)),
        "bound": _shadow_of(0),
        "number_shadow": constant(ShadowOf(ANY)),
        "resumed": constant(ShadowOf(_ITERATOR)),
        "defaults_pullback": constant(CallableType(SequenceType((CotangentOf(ANY),)))),
        "freevar": constant(_CELL),
        "freevar_shadow": constant(ShadowOf(_CELL)),
        "item": _part,
        "item_rdata": _part,
        "item_slot": _shadow_in_slot,
        "field_slot": constant(ShadowOf(ANY)),
        "record_slot": constant(ShadowOf(ANY)),
        "record_rdata": constant(CotangentOf(ANY)),
        "exchange": _element,
        "store_item": constant(UNDO),
        "store_field": constant(UNDO),
        "put_field": constant(UNDO),
        "take_field": constant(CotangentOf(ANY)),
        "take_slot": constant(CotangentOf(ANY)),
        "slot_of": constant(TangentOf(ANY)),
        "undo_append": constant(CotangentOf(FLOAT)),
        "undo_flat": constant(CotangentOf(ANY)),
        "inner": constant(TANGENT),
        "share": constant(TANGENT),
        "float_rdata": constant(TANGENT),
        "copied": _same_as(0),
        "transposed": _same_as(0),
        "new_array": _same_as(0),
        "negate": _same_as(0),
        "reshaped": _reshaped,
        "fit": _fitted,
        "filled": _fitted,
        "fit_array": _array(1),
        "filled_array": _array(1),
        "full_array": _array(1),
        "as_part": _array(2),
        "as_negative_part": _array(2),
        "taken_part": _array(2),
        "taken_number": constant(TANGENT),
        "add_to_part": _array(3),
        "take_from_part": _array(3),
        "add_to_array": _sum,
        "add": _sum,
    }
    for name in ("restore_item", "restore_field", "restore_slot"):
        rows[name] = constant(TANGENT)
    for name in (
        "add_to_slot", "add_to_item", "add_to_field", "add_to_kept", "append_item", "append_array",
        "append_flat",
        "give_array", "take_array", "give_own", "take_own", "move_part", "clear_part", "clear",
    ):  # fmt: skip
        rows[name] = constant(NONE)
    return _by_address(support, rows)


def forward_results(support: ForwardSupport) -> Results:
    """The rows of the functions that forward mode calls."""
    rows: dict[str, Row] = {
        "fresh_tangent": _tangent_of(0),
        **dict.fromkeys(_OF_SECOND, _tangent_of(1)),
        "bound": _tangent_of(0),
        "fill_tangent": _tangent_of(0),
        "own_array": _tangent_of(1),
        "fit_array": _fitted,
        "fill_array": _fitted,
        "fit_number": constant(TANGENT),
        "captured": constant(Exact(tuple)),
        "resumed": constant(TangentOf(_ITERATOR)),
        "make_tuple": _tangent_of(0),
        "item": _part,
        "item_slot": _part,
        "field_slot": constant(TangentOf(ANY)),
        "record_slot": constant(TangentOf(ANY)),
        "append_tangent": constant(NONE),
        "put_field": constant(NONE),
        "kept_number": constant(TANGENT),
    }
    return _by_address(support, rows)


def _by_address(support: CommonSupport, rows: dict[str, Row]) -> Results:
    """The table of what `support` hands over: what both modes call, and `rows` by name."""
    rows = {
        "view": _part,
        "check_slot": constant(NONE),
        "check_kept": constant(NONE),
        "is_instance": constant(BOOL),
        "store_global": constant(_LATER),
        "store_attribute": constant(_LATER),
        "check_global": constant(NONE),
        **rows,
    }
    return {id(getattr(support, name)): row for name, row in rows.items()}


@record(frozen=True)
class Completing:
    """What the last stages of a derived graph work with."""

    support: CommonSupport
    later: Later | None = None
    """What makes functions of graphs when they are first called, if the rule of the graph is being built."""


COMPLETE: Group[Completing] = Group(
    "complete",
    (
        Stage("completion", lambda graph, completing: completing.support.complete(graph),
              ("normal form",), ("types of derivatives",),
              "what cleaning has put in gets its type with the rest; what comes later types its own"),
        Stage("strong_zeros", lambda graph, work: strong_zeros(graph, work.support.strong, work.later),
              ("types of derivatives",), ("products in which zero wins",),
              "types tell the products of derivatives, which no pass looks for any more"),
    ),
)  # fmt: skip
"""The last stages of a derived graph, whatever the backend."""


def completion(results: Callable[[], Results], oracle: Oracle, sample: Sampler) -> Callable[[Graph], Graph]:
    """What types the values of derived graphs that have no type yet; the table is made when it is needed."""
    table: Results | None = None

    def completed(graph: Graph) -> Graph:
        nonlocal table
        if table is None:
            table = results()
        return complete(graph, table, oracle, sample)

    return completed
