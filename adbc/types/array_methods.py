"""Methods of arrays are called as the functions that they are.

before::

    %1: Any = call _getattr_(%x, 'sum')
    %2: Any = call %1(0)
    %3: Any = call _getattr_(%x, 'T')

after::

    %2: Any = call numpy.ndarray.sum(%x, 0)
    %3: Array = call numpy.ndarray.transpose(%x)

So the rule is known, and with it often the type of the result.  For arrays that are proved to be of
NumPy's own class.  Needs types.
"""

from __future__ import annotations

import types

from adbc.ir.graph import Const, Graph, Instruction, Value
from adbc.ir.intrinsics import _getattr_
from adbc.types.inference import type_of
from adbc.types.lattice import ArrayType

__all__ = ["array_methods", "drop_method_reads"]


def array_methods(graph: Graph) -> bool:
    """See the module, in place, but for the reads of methods, which stay; whether anything was changed."""
    changed = False
    for block in graph.blocks:
        for call in block.instructions:
            if call.op != "call":
                continue
            transpose = _transpose(call)
            if transpose is not None:
                call.operands = [Const(transpose), call.operands[1]]
                changed = True
            read = call.operands[0]
            method = _method(read)
            if isinstance(read, Instruction) and method is not None:
                call.operands[:1] = [Const(method), read.operands[1]]
                changed = True
    return changed


def drop_method_reads(graph: Graph) -> None:
    """Remove the reads of methods that nobody uses any more."""
    used: set[Value] = set()
    for block in graph.blocks:
        used.update(block.terminator.values)
        for phi in block.phis:
            used.update(phi.operands.values())
        for user in block.instructions:
            used.update(user.operands)
    for block in graph.blocks:
        if block.handler is None:
            block.instructions = [i for i in block.instructions if i in used or _method(i) is None]


def _read(value: Value) -> tuple[type, str] | None:
    """The class and the name, if `value` reads an attribute of an array."""
    if not isinstance(value, Instruction) or value.op != "call" or len(value.operands) != 3:
        return None
    callee, array, name = value.operands
    if not isinstance(callee, Const) or callee.value is not _getattr_:
        return None
    known = type_of(array)
    if type(known) is not ArrayType:
        return None
    return (known.cls, name.value) if isinstance(name, Const) and isinstance(name.value, str) else None


def _transpose(value: Value) -> object | None:
    """The function that ``x.T`` is."""
    read = _read(value)
    return getattr(read[0], "transpose", None) if read is not None and read[1] == "T" else None


def _method(value: Value) -> object | None:
    """The method descriptor that `value` reads from an array."""
    read = _read(value)
    found = getattr(read[0], read[1], None) if read is not None else None
    return found if isinstance(found, types.MethodDescriptorType) else None
