"""Tangents of arrays by the formulas of rules, written where the function is called.

    %1: Array[float64, 1] = call operator.mul(%x, %y)

becomes

    %1: Array[float64, 1] = call operator.mul(%x, %y)
    %2 = call operator.mul(%y, %dx)
    %3 = call operator.mul(%x, %dy)
    %4 = call operator.add(%2, %3)

and, where that is not known from the types, what gives it shape and dtype of the result, and memory of its
own.  An array that nobody can see the memory of (`ValueArrayType`) may have a tangent that shares memory with
another of that kind.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adbc.forward.support import ForwardSupport
from adbc.forward.values import tangent_call
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.values import Instruction, Value
from adbc.passes.derived.partials import needed, taken_apart
from adbc.rules.formulas import Formula
from adbc.types.array_calls import is_inline_number
from adbc.types.callsites import CallSite
from adbc.types.derived import TangentOf
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import AbstractType, ArrayType, ValueArrayType, has_shadow, is_number, memory_type

__all__ = ["formula_of", "is_of_numbers", "write_formulas"]


def formula_of(call: Instruction, site: CallSite) -> Any | None:
    """The formulas for the tangent of `call`, if its result is an array or a number."""
    result = type_of(call)
    if (
        site.kind not in (Kind.FORMULA, Kind.ROW)
        or site.options is not None
        or not (isinstance(result, ArrayType) or is_inline_number(result))
    ):
        return None
    return tangent_call(site.row, [type_of(v) for v in site.arguments], call.keywords)


def is_of_numbers(call: Instruction, site: CallSite) -> bool:
    """Whether `call` makes an array of numbers that are given one by one: its tangent is what the same call
    makes of their tangents."""
    result = type_of(call)
    if site.kind is not Kind.FORMULA or not site.row.makes_arrays or call.keywords != ("shape",):
        return False
    is_double = isinstance(result, ArrayType) and result.dtype == "float64"
    return is_double and all(is_inline_number(type_of(v)) for v in site.arguments[:-1])


def write_formulas(
    builder: Builder,
    support: ForwardSupport,
    found: Any,
    out: Value,
    sources: Sequence[Value],
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
) -> Value | None:
    """Write the tangent of `out` by the formulas `found`; None if it is zero.

    sources: the arguments in the primal graph; primals, tangents: the same in the dual graph, None for a
    tangent that is zero.
    """
    others = dict(found.others)
    given = [primals[i] for i in (*found.arrays, *others.values())]
    terms: list[tuple[bool, Value]] = []  # whether it is subtracted
    products: dict[tuple[Value, Value], Value] = {}
    only = tangents[0]  # the tangent that the only term is made of
    is_new = False  # shares no memory with it
    are_values = True
    for formula, i in zip(found.formulas, found.arrays, strict=True):
        tangent = tangents[i]
        if formula is None or tangent is None:
            continue
        term = only = tangent
        is_negative, factor = formula == -1, None
        if isinstance(formula, Formula):
            graph = None if formula.slope is None else support.straight(formula.slope)
            if graph is None:
                given_type = TangentOf(memory_type(type_of(out)))
                term = builder.call(
                    support.formula(formula.function),
                    tangent,
                    out,
                    *given,
                    keywords=tuple(others),
                    type=given_type,
                )
            else:
                is_negative, factor = _factor(builder, graph, [out, *given])
        if factor is not None:
            term = products.get((factor, tangent)) or builder.call(operator.mul, factor, tangent)
            products[factor, tangent] = term
        is_new = bool(terms) or is_negative or (term is not tangent and found.is_elementwise)
        are_values = are_values and not has_shadow(type_of(sources[i]))
        terms.append((is_negative, term))
    if not terms:
        return None
    is_negative, total = terms[0]
    if is_negative:
        total = builder.call(operator.neg, total)
    for is_negative, term in terms[1:]:
        total = builder.call(operator.sub if is_negative else operator.add, total, term)
    known = type_of(out)
    if is_number(known):
        return builder.call(support.fit_number, total, out)
    is_whole = _is_whole(found, known, sources, tangents)
    if is_new or (are_values and type(known) is ValueArrayType):
        if is_whole:
            return total
        if type(known) is ValueArrayType:
            return builder.call(support.fit_array, total, out)
    return builder.call(support.own_array, total, out, only)


def _factor(builder: Builder, graph: Graph, values: Sequence[Value]) -> tuple[bool, Value | None]:
    """The factor by which a tangent is multiplied, None for 1, and whether the product is subtracted."""
    (result,) = graph.entry.terminator.values
    is_negative, factor, _ = taken_apart(result, False)
    if factor is None:
        return is_negative, None
    written: dict[Value, Value] = dict(zip(graph.arguments, values, strict=True))
    wanted = needed([factor])
    for instruction in graph.entry.instructions:
        if instruction in wanted:
            written[instruction] = builder.emit(
                instruction.op,
                *(written.get(v, v) for v in instruction.operands),
                keywords=instruction.keywords,
                attribute=instruction.attribute,
            )
    return is_negative, written.get(factor, factor)


def _is_whole(
    found: Any, result: AbstractType, sources: Sequence[Value], tangents: Sequence[Value | None]
) -> bool:
    """Whether the sum of all terms has the shape and dtype of the result: each array has a term, and each
    term is an elementwise product with a tangent."""
    if not found.is_elementwise or not _is_double(result):
        return False
    arrays = [
        (formula, tangents[i], type_of(sources[i]))
        for formula, i in zip(found.formulas, found.arrays, strict=True)
        if isinstance(type_of(sources[i]), ArrayType)
    ]
    return all(
        formula is not None and tangent is not None and _is_double(known)
        for formula, tangent, known in arrays
    )


def _is_double(type: AbstractType) -> bool:
    return isinstance(type, ArrayType) and type.dtype == "float64"
