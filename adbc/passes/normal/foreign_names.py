"""A function that is written into one of another module looks its names up in its own.

before::

    graph speed(v)
        guard math is <module math>
    entry:
        %1 = call _global_('LIMIT')
        ...

after, with the globals of the module ``traffic``::

    graph speed(v)
        guard traffic: math is <module math>
    entry:
        %1 = call _getattr_(<module traffic>, 'LIMIT')
        ...

What names mean for good is in the graph already, under guards; their paths begin with the name of the module
from now on.  Data is read as an attribute of the module, and what makes a function is given the module whose
names that function knows.  A function that binds names of its module, or does anything else that depends on
where it stands, stays a call.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from adbc.ir.graph import HOME, IMPORT, MODULE, Graph, Guard
from adbc.ir.intrinsics import (
    CONTEXTUAL,
    _freevar_,
    _getattr_,
    _global_,
    _import_,
    _new_,
    _yield_,
    _yield_from_,
)
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target

__all__ = ["foreign_names", "module_of"]

_ANYWHERE = (_freevar_, _yield_, _yield_from_)
"""What depends on the frame, but on no names."""


def module_of(globals: dict[str, Any]) -> types.ModuleType | None:
    """The module whose names `globals` holds, if it is found under its name."""
    name = globals.get("__name__")
    module = sys.modules.get(name) if type(name) is str else None
    return module if type(module) is types.ModuleType and vars(module) is globals else None


def foreign_names(graph: Graph, module: types.ModuleType) -> Graph | None:
    """A copy of `graph`, a function of `module`, that may be written into functions of other modules; None if
    there can be none."""
    if not all(_is_movable(call, module) for call in graph.instructions()):
        return None
    found, _, _ = copy_graph(graph)
    for call in found.instructions():
        if target(call) is _global_:
            call.operands = [Const(_getattr_), Const(module), call.operands[1]]
        elif _makes_function(call) and len(call.operands) == MODULE:
            call.operands.append(Const(module))
    home = f"{module.__name__}{HOME}"
    found.guards = [
        guard if guard.path[0].startswith(IMPORT) or guard.path[0].endswith(HOME)
        else Guard((home, *guard.path), guard.value)
        for guard in graph.guards
    ]  # fmt: skip
    return found


def _makes_function(call: Instruction) -> bool:
    return target(call) is _new_ and constant(call.operands[1]) is types.FunctionType


def _is_movable(call: Instruction, module: types.ModuleType) -> bool:
    """Whether `call` means the same elsewhere, or can be told what it means in `module`."""
    function = target(call)
    if function is _global_:
        return constant(call.operands[1]) in vars(module)
    if function is _import_:
        return bool(constant(call.operands[2]) == 0)
    return not any(function is of for of in CONTEXTUAL) or any(function is of for of in _ANYWHERE)
