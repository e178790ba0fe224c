"""Which methods of operators always have an answer."""

from __future__ import annotations

import operator

from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.values import Const, Instruction, Phi, Value

__all__ = ["is_seen_to_answer"]

_OPERATORS = frozenset(f for f in vars(operator).values() if is_builtin_function(f))


def is_seen_to_answer(graph: Graph) -> bool:
    """Whether `graph`, in normal form, never returns `NotImplemented`, as what it returns shows: results of
    operators, new objects, parameters, other constants."""
    waiting: list[Value] = [
        block.terminator.value for block in graph.blocks if isinstance(block.terminator, Return)
    ]
    seen: set[Value] = set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, Phi):
            waiting += value.operands.values()
        elif isinstance(value, Const):
            if value.value is NotImplemented:
                return False
        elif isinstance(value, Instruction) and not _answers(value):
            return False
    return True


def _answers(call: Instruction) -> bool:
    callee = call.operands[0] if call.op == "call" else None
    if not isinstance(callee, Const):
        return False
    function = callee.value
    if function is intrinsics._new_:
        return True
    if function is intrinsics._foreigncall_:
        called = call.operands[1]
        module = getattr(called.value, "__module__", None) if isinstance(called, Const) else None
        return isinstance(module, str) and module in ("math", "cmath")
    return is_builtin_function(function) and function in _OPERATORS
