"""Which tangents are known not to be None.

The tangent of an object may be None: then it is a constant.  That of one which was made here, or which came
as an argument with a tangent, is there, and so is that of a view or slice of it.  To a fixed point over
loops, beginning with all that might be.

An argument that is a list of lists comes with tangents for these as well, or its tangent counts as one that
may be None.  They stay there while the function only reads the list, and appends to it such as have theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.values import Instruction, Phi, Undef, Value
from adbc.passes.query import constant, target
from adbc.types.array_calls import is_complex
from adbc.types.callsites import CallSite
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    INT,
    ArrayType,
    ListType,
    ValueArrayType,
    class_of,
    is_list,
)

__all__ = ["PERHAPS", "is_list_of_lists", "is_slice", "is_told", "mirrored_lists", "present_tangents"]

PERHAPS = 2
"""What a callee is told of an argument that is active though its tangent may be None."""


def present_tangents(
    graph: Graph,
    active: Collection[Value],
    active_arguments: Sequence[int],
    sites: Mapping[Instruction, CallSite],
    formulas: Collection[Instruction],
) -> set[Value]:
    """The active values of `graph` whose tangents are not None.

    formulas: the calls that are differentiated by formulas, whose results always have a tangent.
    """
    found: set[Value] = {
        argument
        for argument, flag in zip(graph.arguments, active_arguments, strict=True)
        if argument in active and flag != PERHAPS and is_told(argument)
    }
    sources: dict[Value, list[Value]] = {}
    lists = [v for v in found if is_list_of_lists(v)]
    made = [
        v for v, site in sites.items() if site.kind is Kind.EMPTY_LIST and v in active and is_list_of_lists(v)
    ]
    for row, needed in _rows_read([*lists, *made], graph, sites):
        found.add(row)
        sources[row] = needed
    for block in graph.blocks:
        values: list[Phi | Instruction] = [*block.phis, *block.instructions]
        for value in values:
            if value in active:
                source = _sources(value, sites, formulas)
                if source is not None and isinstance(value, Phi) and is_complex(type_of(value)):
                    source = [v for v in source if v in active]  # the others are given zero
                if source is not None:
                    found.add(value)
                    sources[value] = source
    changed = True
    while changed:
        changed = False
        for result, needed in sources.items():
            if result in found and not all(v in found for v in needed):
                found.discard(result)
                changed = True
    return found


_READS_ELEMENT = (Kind.SLOT_LOAD, Kind.NEXT, Kind.ELEMENT)


def _rows_read(
    lists: Sequence[Value], graph: Graph, sites: Mapping[Instruction, CallSite]
) -> list[tuple[Instruction, list[Value]]]:
    """The elements that are read from those of `lists`, lists of lists, that are only read and appended to;
    with each, the values that its list has been given."""
    if not lists:
        return []
    others: set[Value] = set()
    read: list[tuple[Instruction, Value]] = []
    given: dict[Value, list[Value]] = {v: [] for v in lists}
    for block in graph.blocks:
        known = [(i, sites[i]) for i in block.instructions if i in sites]
        found = [(i, v) for i, site in known if site.kind in _READS_ELEMENT for v in i.operands if v in given]
        read += found
        for _, site in known:
            if _appends(site):
                given.get(site.arguments[0], []).append(site.arguments[1])
        if isinstance(block.terminator, Return) and not found:
            continue  # what is done with the list here comes behind all reading
        others.update(v for phi in block.phis for v in phi.operands.values())
        others.update(block.terminator.values)
        for i in block.instructions:
            kind = sites[i].kind if i in sites else None
            if i in sites and _appends(sites[i]):
                others.add(sites[i].arguments[1])
            elif kind is not Kind.PRIMAL and kind not in _READS_ELEMENT:
                others.update(i.operands)
    return [(instruction, given[v]) for instruction, v in read if v not in others]


def _appends(site: CallSite) -> bool:
    return site.kind is Kind.ROW and site.row.inline == "append" and len(site.arguments) == 2


def is_list_of_lists(value: Value) -> bool:
    known = type_of(value)
    return isinstance(known, ListType) and is_list(known.element)


def is_told(argument: Value) -> bool:
    """Whether functions are told, by `PERHAPS`, that a tangent of `argument`, an active array or list, may
    be None, be it its own or one of those in it."""
    return isinstance(type_of(argument), ArrayType | ListType)


def mirrored_lists(site: CallSite) -> list[Value] | None:
    """The lists among the arguments of a call that makes the tangent of its result where it is given the
    tangents of these lists in their place; else None."""
    if site.kind is not Kind.ROW or not site.row.mirrored or site.keywords or site.options:
        return None
    lists = [v for v in site.arguments if class_of(type_of(v)) is list]
    return lists if lists and all(v in lists or _is_int(v) or is_slice(v) for v in site.arguments) else None


def is_slice(value: Value) -> bool:
    """Whether `value` is a slice of ints that an instruction of the graph makes."""
    return (
        target(value) is intrinsics._new_
        and isinstance(value, Instruction)
        and constant(value.operands[1]) is slice
        and all(_is_int(v) or constant(v) is None for v in value.operands[2:])
    )


def _is_int(value: Value) -> bool:
    return type_of(value) == INT


def _sources(
    value: Phi | Instruction, sites: Mapping[Instruction, CallSite], formulas: Collection[Instruction]
) -> list[Value] | None:
    """The values whose tangents must not be None for the tangent of `value` not to be; None if it may be
    None in any case."""
    if isinstance(value, Phi):
        return [v for v in value.operands.values() if not isinstance(v, Undef)]
    if value not in sites:
        return None
    site, known = sites[value], type_of(value)
    if type(known) is ValueArrayType or value in formulas or site.kind is Kind.EMPTY_LIST:
        return []
    if site.kind is Kind.FRESH and isinstance(known, ArrayType):
        return []
    if site.kind is Kind.CONTEXTUAL and site.function is intrinsics._instance_:
        return []
    lists = mirrored_lists(site)
    if lists is not None:
        return lists
    if site.function is intrinsics._assume_:
        return site.arguments[:1]
    follows = site.kind in (Kind.VIEW, Kind.COPY, Kind.UPDATE) or (
        site.kind in (Kind.ROW, Kind.FORMULA) and site.row.follows_first
    )
    return site.arguments[:1] if follows and isinstance(known, ArrayType) else None
