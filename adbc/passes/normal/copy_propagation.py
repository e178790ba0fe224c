"""Values that are only taken apart again after having been put together are used directly.

before::

    %1 = call _new_(tuple, %a, %b)
    %2 = call _unpack_(%1, 2)
    %3 = call _project_(%2, 0)
    %4 = call operator.add(%3, 1)

after::

    %1 = call _new_(tuple, %a, %b)
    %4 = call operator.add(%a, 1)

(`dead_code` then removes the tuple.)  SSA construction leaves no plain copies, so these are all
there are.  Only tuples: other containers may have changed in between.  Needs calls.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _new_, _project_, _unpack_
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, drop, target

__all__ = ["copy_propagation"]


def copy_propagation(graph: Graph) -> Graph:
    replaced: dict[Value, Value] = {}
    unpackings: list[Instruction] = []
    projections: list[Instruction] = []
    for block in graph.blocks:
        for instruction in block.instructions:
            function = target(instruction)
            if function is _unpack_:
                unpackings.append(instruction)
            elif function is _project_:
                projections.append(instruction)
    for instruction in unpackings:
        parts = _parts(instruction.operands[1])
        if parts is not None and len(parts) == constant(instruction.operands[2]):
            replaced[instruction] = instruction.operands[1]
    left_handlers = drop(graph, {i for i in replaced if isinstance(i, Instruction)})
    graph.replace_uses(replaced)
    replaced.clear()
    for instruction in projections:
        parts = _parts(instruction.operands[1])
        if parts is not None:
            replaced[instruction] = parts[constant(instruction.operands[2])]
    left_handlers |= drop(graph, {i for i in replaced if isinstance(i, Instruction)})
    graph.replace_uses(replaced)
    if left_handlers:
        remove_unreachable(graph)
    return graph


def _parts(value: Value) -> list[Value] | None:
    """The elements of `value`, if it is a tuple that is made in the graph."""
    if isinstance(value, Const) and type(value.value) is tuple:
        return [Const(x) for x in value.value]
    if isinstance(value, Instruction) and target(value) is _new_ and constant(value.operands[1]) is tuple:
        return value.operands[2:]
    return None
