"""What is unpacked from a list is read from the slots of that list.

before::

    %u = call _unpack_(%l, 2)
    %x: Any = call _project_(%u, 0)
    %y: Any = call _project_(%u, 1)

after::

    %u = call _unpack_list_(%l, 2)
    %x: Any = call _element_(%u, %l, 0)
    %y: Any = call _element_(%u, %l, 1)

The tuple then needs no shadow, and each value is as good as one that was read by its index.  Where nobody
sees the tuple itself.  Needs types.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _element_, _project_, _unpack_, _unpack_list_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction
from adbc.passes.query import target
from adbc.types.inference import type_of
from adbc.types.lattice import is_list

__all__ = ["list_unpackings"]


def list_unpackings(graph: Graph) -> bool:
    """Read what is unpacked from lists by index, in place; returns whether anything changed."""
    found = [call for call in graph.instructions() if target(call) is _unpack_ and _is_of_list(call)]
    users = uses(graph) if found else {}
    changed = False
    for call in found:
        assert call.block is not None
        at = call.block.instructions.index(call) + 1
        behind = call.block.instructions[at : at + len(users.get(call, ()))]
        if {*behind} != {*users.get(call, ())} or not all(target(user) is _project_ for user in behind):
            continue
        values = call.operands[1]
        call.operands[0] = Const(_unpack_list_)
        for user in behind:
            user.operands = [Const(_element_), call, values, user.operands[2]]
        changed = True
    return changed


def _is_of_list(call: Instruction) -> bool:
    return is_list(type_of(call.operands[1])) and isinstance(call.operands[2], Const)
