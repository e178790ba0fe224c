"""A display that begins with the items or elements of another container begins as a copy of it.

before::                                             after::

    %m: dict = call _new_(dict)                          %m: dict = call _foreigncall_(dict, %d)
    %1 = call _dict_update_(%m, %d)     # %d: dict       %2 = call _map_add_(%m, 't', %t)
    %2 = call _map_add_(%m, 't', %t)

    %l: list = call _new_(list)                          %l: list = call _foreigncall_(list, %p)
    %3 = call _list_extend_(%l, %p)     # %p: list       %4 = call _list_append_(%l, %t)
    %4 = call _list_append_(%l, %t)

So nothing has to be undone that was done to what is new.  Needs types.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _dict_update_, _foreigncall_, _list_extend_, _new_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import Exact, is_list

__all__ = ["copied_containers"]


def copied_containers(graph: Graph) -> bool:
    """Copy containers in place of adding all that is in them to new ones; returns whether there were any."""
    found = [call for call in graph.instructions() if target(call) in (_dict_update_, _list_extend_)]
    users = uses(graph) if found else {}
    changed = False
    for step in found:
        made, source = step.operands[1:3]
        block = step.block
        if not isinstance(made, Instruction) or block is None or block.handler is not None or users.get(step):
            continue
        at = block.instructions.index(step)
        if at == 0 or block.instructions[at - 1] is not made or not _is_empty(made):
            continue
        cls = dict if target(step) is _dict_update_ else list
        is_such = type_of(source) == Exact(dict) if cls is dict else is_list(type_of(source))
        if is_such and constant(made.operands[1]) is cls and made is not source:
            made.operands = [Const(_foreigncall_), Const(cls), source]
            block.instructions.remove(step)
            changed = True
    return changed


def _is_empty(made: Instruction) -> bool:
    return target(made) is _new_ and len(made.operands) == 2
