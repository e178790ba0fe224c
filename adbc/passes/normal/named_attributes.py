"""Attributes whose names are written in the code are read and written like any others.

before::

    %1 = call _foreigncall_(getattr, %p, 'mass')
    %2 = call _foreigncall_(setattr, %p, 'speed', %v)

after::

    %1 = call _getattr_(%p, 'mass')
    %2 = call _setattr_(%p, 'speed', %v)

What ``getattr`` gives where the attribute is missing is another matter.  Needs foreign calls.
"""

from __future__ import annotations

from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _getattr_, _setattr_
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target

__all__ = ["name_attribute", "named_attributes"]


def named_attributes(graph: Graph) -> Graph:
    for call in graph.instructions():
        name_attribute(call)
    return graph


def name_attribute(call: Instruction) -> bool:
    """Read or write the attribute that `call` names as syntax does, in place; whether it names one."""
    if target(call) is not _foreigncall_ or call.keywords:
        return False
    function, *given = call.operands[1:]
    way = _WAYS.get(len(given))
    if way is None or constant(function) is not way[0] or type(constant(given[1])) is not str:
        return False
    call.operands = [Const(way[1]), *given]
    return True


_WAYS: dict[int, tuple[Any, Any]] = {2: (getattr, _getattr_), 3: (setattr, _setattr_)}
"""By the number of arguments, the function that is called, and what syntax calls."""
