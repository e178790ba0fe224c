"""Which tangents are known not to be None.

The tangent of an object may be None: then it is a constant.  That of one which was made here, or which came
as an argument with a tangent, is there, and so is that of a view of it.  To a fixed point over loops,
beginning with all that might be.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from adbc.ir import intrinsics
from adbc.ir.graph import Graph, Instruction, Phi, Undef, Value
from adbc.types.callsites import CallSite
from adbc.types.inference import type_of
from adbc.types.lattice import ArrayType, ValueArrayType

__all__ = ["PERHAPS", "present_tangents"]

PERHAPS = 2
"""Of an argument: it is active, and its tangent may be None nevertheless."""


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
        if argument in active and flag != PERHAPS and isinstance(type_of(argument), ArrayType)
    }
    sources: dict[Value, list[Value]] = {}
    for block in graph.blocks:
        values: list[Phi | Instruction] = [*block.phis, *block.instructions]
        for value in values:
            if value in active:
                source = _sources(value, sites, formulas)
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


def _sources(
    value: Phi | Instruction, sites: Mapping[Instruction, CallSite], formulas: Collection[Instruction]
) -> list[Value] | None:
    """The values whose tangents that of `value` is there with; None if it may be None in any case."""
    if isinstance(value, Phi):
        return [v for v in value.operands.values() if not isinstance(v, Undef)]
    if value not in sites:
        return None
    site, known = sites[value], type_of(value)
    if type(known) is ValueArrayType or value in formulas or site.kind == "empty_list":
        return []
    if site.kind == "fresh" and isinstance(known, ArrayType):
        return []
    if site.kind == "contextual" and site.function is intrinsics._instance_:
        return []
    follows = site.kind in ("view", "copy") or (site.kind in ("row", "formula") and site.row.follows_first)
    return site.arguments[:1] if follows and isinstance(known, ArrayType) else None
