"""What is done to a `defaultdict` as to any dict is done to a dict.

before::

    %1: Any = call _getattr_(%d, 'items')          # %d: defaultdict
    %2: Any = call %1()
    %3 = call operator.setitem(%d, %k, %v)

after::

    %4: dict = call _assume_(%d, dict)
    %1: Any = call _getattr_(%4, 'items')
    %2: Any = call %1()
    %5: dict = call _assume_(%d, dict)
    %3 = call operator.setitem(%5, %k, %v)

Its methods are those of dict, but for what makes missing values and for copies; so its loops step by key and
its slots are read in place as those of dicts are.  Needs types.
"""

from __future__ import annotations

import builtins
import operator
from collections import defaultdict
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _assume_, _foreigncall_, _getattr_, _iter_
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import Exact

__all__ = ["dicts_of_classes"]

_DICT = Exact(dict)
_OWN = Exact(defaultdict)
_SHARED = frozenset(
    name
    for name in ("items", "keys", "values", "popitem", "clear", "get", "setdefault", "pop", "update")
    if getattr(defaultdict, name) is getattr(dict, name)
)
"""The methods that instances have from dict."""
_DOING: frozenset[Any] = frozenset({operator.setitem, operator.delitem, operator.contains, _iter_})
_ASKING: tuple[Any, ...] = (
    builtins.len, builtins.list, builtins.tuple, builtins.sum, builtins.sorted, builtins.max, builtins.min,
)  # fmt: skip


def dicts_of_classes(graph: Graph) -> bool:
    """Take such objects for dicts where that is the same, in place; returns whether anything changed."""
    changed = False
    for block in graph.blocks:
        for call in [*block.instructions]:
            place = _place(call)
            if place is None or type_of(call.operands[place]) != _OWN:
                continue
            operands = [Const(_assume_), call.operands[place], Const(_DICT)]
            made = Instruction("call", operands, type=_DICT, position=call.position)
            made.block = block
            block.instructions.insert(block.instructions.index(call), made)
            call.operands[place] = made
            changed = True
    return changed


def _place(call: Instruction) -> int | None:
    """The number of the operand of `call` that may be such an object and is treated as any dict is."""
    function = target(call)
    if function is _getattr_:
        return 1 if constant(call.operands[2]) in _SHARED else None
    if function is _foreigncall_ and not call.keywords and len(call.operands) == 3:
        return 2 if any(constant(call.operands[1]) is f for f in _ASKING) else None
    return 1 if any(function is f for f in _DOING) else None
