"""What goes through the members of an enumeration goes through a tuple of them.

before::

    %1 = call _iter_(Colour)
    %2: list = call _foreigncall_(builtins.list, Colour)

after::

    %3: tuple = call _members_(Colour)
    %1 = call _iter_(%3)
    %4: tuple = call _members_(Colour)
    %2: list = call _foreigncall_(builtins.list, %4)

Members have no derivative, and the class of an enumeration gives them by a generator, which would be an
object.  They are asked for each time: libraries add to enumerations.  Needs foreign calls.
"""

from __future__ import annotations

import builtins
import enum
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _iter_, _list_extend_, _members_, _unpack_, _unpack_ex_
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target

__all__ = ["enumerations"]

_ITERATING: tuple[Any, ...] = (
    builtins.list, builtins.tuple, builtins.set, builtins.frozenset, builtins.enumerate, builtins.zip,
    builtins.len, builtins.sorted,
)  # fmt: skip
"""Functions that do nothing with an iterable but go through it."""


def enumerations(graph: Graph) -> Graph:
    for block in graph.blocks:
        for call in [*block.instructions]:
            function, first = target(call), 1
            if function is _foreigncall_:
                function, first = constant(call.operands[1]), 2
                if not any(function is f for f in _ITERATING):
                    continue
            elif function not in _STEPS:
                continue
            for place in range(first, len(call.operands) - len(call.keywords)):
                if type(constant(call.operands[place])) is enum.EnumType:
                    operands = [Const(_members_), call.operands[place]]
                    made = Instruction("call", operands, position=call.position)
                    made.block = block
                    block.instructions.insert(block.instructions.index(call), made)
                    call.operands[place] = made
    return graph


_STEPS = frozenset({_iter_, _list_extend_, _unpack_, _unpack_ex_})
