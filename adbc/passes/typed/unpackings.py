"""What is unpacked from a list or an array is read from the slots of that.

before::

    %u = call _unpack_(%l, 2)
    %x: Any = call _project_(%u, 0)
    %y: Any = call _project_(%u, 1)

after::

    %u = call _unpack_list_(%l, 2)
    %x: Any = call _element_(%u, %l, 0)
    %y: Any = call _element_(%u, %l, 1)

and of an array::

    %u = call _check_length_(%a, 2)
    %x: float64 = call operator.getitem(%a, 0)
    %y: float64 = call operator.getitem(%a, 1)

Of a list or an array that is made a tuple of only to be unpacked, as what stands behind a star in a call is,
no tuple is made.

The tuple then needs no shadow, and each value is as good as one that was read by its index.  Where nobody
sees the tuple itself.  Needs types.
"""

from __future__ import annotations

import operator

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import (
    _check_length_,
    _element_,
    _foreigncall_,
    _project_,
    _takes_,
    _unpack_,
    _unpack_list_,
)
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import AbstractType, ArrayType, Exact, TupleType, is_list

__all__ = ["list_unpackings"]


def list_unpackings(graph: Graph) -> bool:
    """Read what is unpacked from lists and arrays by index, in place; returns whether anything changed."""
    changed = _pass_by_tuples(graph)
    found = [call for call in graph.instructions() if target(call) is _unpack_ and _is_by_index(call)]
    users = uses(graph) if found else {}
    for call in found:
        assert call.block is not None
        at = call.block.instructions.index(call) + 1
        behind = call.block.instructions[at : at + len(users.get(call, ()))]
        if {*behind} != {*users.get(call, ())} or not all(target(user) is _project_ for user in behind):
            continue
        values = call.operands[1]
        is_of_list = is_list(type_of(values))
        call.operands[0] = Const(_unpack_list_ if is_of_list else _check_length_)
        for user in behind:
            index = user.operands[2]
            user.operands = (
                [Const(_element_), call, values, index]
                if is_of_list
                else [Const(operator.getitem), values, index]
            )
        changed = True
    return changed


def _pass_by_tuples(graph: Graph) -> bool:
    """Unpack lists, arrays and tuples in place of tuples that are made of them; returns whether there were
    any."""
    made = [call for call in graph.instructions() if _is_made_of_several(call)]
    gone = []
    users = uses(graph) if made else {}
    for call in made:
        block = call.block
        assert block is not None
        at = block.instructions.index(call)
        takers = [user for user in users.get(call, ()) if isinstance(user, Instruction)]
        if len(takers) < len(users.get(call, ())):
            continue
        if {*takers} != {*block.instructions[at + 1 : at + 1 + len(takers)]}:
            continue
        if any(target(taker) not in (_takes_, _unpack_) for taker in takers):
            continue
        for taker in takers:
            taker.operands = [call.operands[2] if v is call else v for v in taker.operands]
        gone.append(call)
    for call in gone:
        assert call.block is not None
        call.block.instructions.remove(call)
    return bool(gone)


def _is_made_of_several(call: Instruction) -> bool:
    """Whether `call` makes a tuple of a list, of the rows or elements of an array or of a tuple."""
    is_call = target(call) is _foreigncall_ and len(call.operands) == 3
    if not is_call or constant(call.operands[1]) is not tuple:
        return False
    known = type_of(call.operands[2])
    return _is_gone_through(known) or known == Exact(tuple) or isinstance(known, TupleType)


def _is_gone_through(known: AbstractType) -> bool:
    """Whether this is a list, or an array that has rows or elements."""
    return is_list(known) or (type(known) is ArrayType and bool(known.ndim))


def _is_by_index(call: Instruction) -> bool:
    return _is_gone_through(type_of(call.operands[1])) and isinstance(call.operands[2], Const)
