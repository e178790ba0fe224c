"""Which methods of operators always have an answer, and which methods always give an iterator."""

from __future__ import annotations

import inspect
import operator
import types
from typing import Any

from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.values import Const, Instruction, Phi, Value

__all__ = ["is_seen_to_answer", "iterators_seen"]

_OPERATORS = frozenset(f for f in vars(operator).values() if is_builtin_function(f))


def is_seen_to_answer(graph: Graph) -> bool:
    """Whether `graph`, in normal form, never returns `NotImplemented`, as what it returns shows: results of
    operators, new objects, parameters, other constants."""
    returned = _returned(graph)
    if any(isinstance(value, Const) and value.value is NotImplemented for value in returned):
        return False
    return all(_answers(value) for value in returned if isinstance(value, Instruction))


def iterators_seen(graph: Graph) -> frozenset[str] | None:
    """Whether `graph`, in normal form and of a method, returns iterators, as what it returns shows: what
    ``iter`` gives, iterators in C, what generator expressions make.  None if that is not seen; else the names
    of methods on which it depends: ``__next__`` if the object itself, the first parameter, is returned, and
    methods of that which have to be generator functions."""
    names = set[str]()
    for value in _returned(graph):
        if isinstance(value, Phi) or _iterates(value):
            continue
        name = "__next__" if value is graph.arguments[0] else _own_method(graph, value)
        if name is None:
            return None
        names.add(name)
    return frozenset(names)


def _own_method(graph: Graph, value: Value) -> str | None:
    """The name of the method of the first parameter of `graph` that gives `value`; None if there is none."""
    read = _callee(value)
    if not isinstance(read, Instruction) or _known(_callee(read)) is not intrinsics._getattr_:
        return None
    name = _known(read.operands[2])
    return name if read.operands[1] is graph.arguments[0] and isinstance(name, str) else None


def _callee(value: Value | None) -> Value | None:
    """What `value` is a call of."""
    return value.operands[0] if isinstance(value, Instruction) and value.op == "call" else None


def _known(value: Value | None) -> Any:
    """The object that `value` is, if it is a constant."""
    return value.value if isinstance(value, Const) else None


def _returned(graph: Graph) -> set[Value]:
    """What `graph` returns, by way of phis too."""
    waiting: list[Value] = [
        block.terminator.value for block in graph.blocks if isinstance(block.terminator, Return)
    ]
    seen: set[Value] = set()
    while waiting:
        value = waiting.pop()
        if value not in seen:
            seen.add(value)
            if isinstance(value, Phi):
                waiting += value.operands.values()
    return seen


def _iterates(value: Value) -> bool:
    """Whether `value` is seen to be an iterator."""
    callee = _callee(value)
    if not isinstance(value, Instruction) or callee is None:
        return False
    if isinstance(callee, Instruction):
        code = _known(callee.operands[2]) if _known(_callee(callee)) is intrinsics._new_ else None
        return isinstance(code, types.CodeType) and bool(code.co_flags & inspect.CO_GENERATOR)
    function = _known(callee)
    if function is not intrinsics._foreigncall_:
        return function is intrinsics._iter_
    cls = _known(value.operands[1])
    if not isinstance(cls, type) or not isinstance(cls.__new__, types.BuiltinFunctionType):
        return False
    return isinstance(getattr(cls, "__next__", None), types.WrapperDescriptorType)


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
