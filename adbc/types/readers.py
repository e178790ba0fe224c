"""Which parameters a function only reads.

A parameter that is not asked for a gradient, and that the function never writes into, hands on or
returns, can be taken for a constant: nothing is saved or computed for its cotangent.  Found here is
whether a function keeps to reading an array, or a list of what has no address (numbers, text, tuples of
these); whether the object is also reached in other ways is for the caller to see.

What is followed are the names of the object's memory: the parameter, phis, and views.  Every use must
be one that is known to read; whatever else is met (a store, a container that keeps it, a closure, a
call of something unknown) counts as writing.  Needs types.
"""

from __future__ import annotations

from collections.abc import Sequence

from adbc.ir.graph import Graph
from adbc.ir.terminators import Branch, Switch
from adbc.ir.values import Instruction, Value
from adbc.rules.effects import ANYTHING, HANDS_ON, KEEPS, READS, RETURNS, WRITES, Use
from adbc.types.effects import EffectKnowledge, uses
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import is_list

__all__ = ["only_reads"]


def only_reads(graph: Graph, parameter: Value, knowledge: EffectKnowledge) -> bool:
    """Whether the typed `graph` only reads `parameter`, an array or a list of what has no address."""
    of_numbers = is_list(type_of(parameter))
    names: set[Value] = {parameter}
    known: dict[Instruction, Sequence[Use] | None] = {}
    size = 0
    while size != len(names):
        size = len(names)
        for block in graph.blocks:
            for phi in block.phis:
                if not names.isdisjoint(phi.operands.values()):
                    names.add(phi)
            for call in block.instructions:
                if names.isdisjoint(call.operands):
                    continue
                if block.handler is not None:
                    return False  # what is raised may keep it
                if call not in known:
                    known[call] = uses(call, knowledge, is_list=of_numbers)
                use = _use(call, names, known[call])
                if use & (WRITES | KEEPS):
                    return False
                if use & (RETURNS | HANDS_ON):
                    names.add(call)
            terminator = block.terminator
            if not isinstance(terminator, Branch | Switch) and not names.isdisjoint(terminator.values):
                return False
    return True


def _use(call: Instruction, names: set[Value], found: Sequence[Use] | None) -> Use:
    """What `call`, whose effects are `found`, does with the memory that `names` stand for."""
    if found is None:
        return ANYTHING
    use = READS
    for argument, does in zip(call_parts(call)[1], found, strict=True):
        if argument in names:
            use |= does
    return use
