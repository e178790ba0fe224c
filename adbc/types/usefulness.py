"""Numbers whose derivative nobody wants: those that only decide where the program goes.

``while abs(step) > 1e-12`` computes a number from active ones, but nothing that is returned or stored is
computed from it.  Activity looks forwards from the arguments; this looks backwards from the results, and
what is not met is not differentiated, so nothing is saved for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from adbc.ir.graph import Graph
from adbc.ir.terminators import Branch, Switch
from adbc.ir.values import Instruction, Phi, Value
from adbc.types.array_calls import is_inline_number
from adbc.types.callsites import CallSite
from adbc.types.inference import type_of
from adbc.types.kinds import Kind

__all__ = ["drop_useless"]

_COMPUTED = (Kind.SCALAR, Kind.LOAD)
"""The kinds of calls that compute a number and do nothing else."""


def drop_useless(graph: Graph, active: set[Value], sites: dict[Instruction, CallSite]) -> None:
    """Take the numbers that only decide where the program goes out of `active`, and let their `sites` be
    inactive, in place."""
    useful: set[Value] = set()
    worklist: list[Value] = []

    def use(values: Iterable[Value]) -> None:
        for value in values:
            if value in active and value not in useful:
                useful.add(value)
                worklist.append(value)

    for block in graph.blocks:
        for instruction in block.instructions:
            site = sites.get(instruction)
            if site is None or (site.kind is not Kind.PRIMAL and not _is_computed(instruction, site)):
                use(instruction.operands)
        if not isinstance(block.terminator, Branch | Switch):
            use(block.terminator.values)
        for phi in block.phis:
            if not is_inline_number(type_of(phi)):
                use(phi.operands.values())
    while worklist:
        value = worklist.pop()
        if isinstance(value, Phi):
            use(value.operands.values())
        elif isinstance(value, Instruction):
            use(value.operands)
    for block in graph.blocks:
        for phi in block.phis:
            if phi not in useful and is_inline_number(type_of(phi)):
                active.discard(phi)
        for instruction in block.instructions:
            site = sites.get(instruction)
            if site is not None and instruction not in useful and _is_computed(instruction, site):
                active.discard(instruction)
                sites[instruction] = dataclasses.replace(site, kind=Kind.PRIMAL)


def _is_computed(instruction: Instruction, site: CallSite) -> bool:
    return site.kind in _COMPUTED and is_inline_number(type_of(instruction))
