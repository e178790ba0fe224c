"""What computes an array and writes it into another is a computation and a write.

before::

    %1: Array[float64, 1] = call operator.imul(%u, %v)
    %2 = call numpy.sin(%x, out=%u)

after::

    %3: Array[float64, 1] = call operator.mul(%u, %v)
    %4: None = call operator.setitem(%u, Ellipsis, %3)
    %1: Array[float64, 1] = call _assume_(%u, Array[float64, 1])
    %5: Array[float64, 1] = call numpy.sin(%x)
    %6: None = call operator.setitem(%u, Ellipsis, %5)
    %2: Array[float64, 1] = call _assume_(%u, Array[float64, 1])

For the computation there are formulas, and of what is overwritten it is known who reads it.  NumPy, too,
computes as if it wrote last where memory is read and written.  Not what adds to an array in place, which is
linear, and needs no other memory.  Needs types.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _assume_
from adbc.ir.values import Const, Instruction, Value
from adbc.types.array_calls import is_part_write
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import NONE, AbstractType, ArrayType

__all__ = ["Oracle", "separate_writes"]

_PURE = {operator.imul: operator.mul, operator.itruediv: operator.truediv, operator.ipow: operator.pow}
"""By operator in place, the one that makes a new array."""


class Oracle(Protocol):
    """What the pass must be told by the rest of the system."""

    def oracle(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        """The type of a call's result."""


class _Found(NamedTuple):
    """The computation, and the array that its result is written into."""

    function: Any
    arguments: list[Value]
    target: Value


def separate_writes(graph: Graph, knowledge: Oracle) -> None:
    """Take calls that write what they compute into an array apart, in place."""
    for block in graph.blocks:
        if block.handler is not None:
            continue
        for call in [i for i in block.instructions if i.op == "call"]:
            found = _taken_apart(call)
            if found is not None:
                _separate(call, found, knowledge)


def _taken_apart(call: Instruction) -> _Found | None:
    """What `call` computes and where it writes that, if it is of this kind."""
    callee, arguments = call_parts(call)
    function: Any = callee.value if isinstance(callee, Const) else None
    if any(function is inplace for inplace in _PURE) and len(arguments) == 2 and not call.keywords:
        return _Found(_PURE[function], arguments, arguments[0])
    if type(function).__name__ != "ufunc" or type(function).__module__ != "numpy":
        return None
    is_by_name = call.keywords == ("out",)
    if function.nout != 1 or len(arguments) != function.nin + 1 or (call.keywords and not is_by_name):
        return None
    return _Found(function, arguments[:-1], arguments[-1])


def _separate(call: Instruction, found: _Found, knowledge: Oracle) -> None:
    known, block = type_of(found.target), call.block
    if type(known) is not ArrayType or block is None:
        return
    made = knowledge.oracle(found.function, [type_of(v) for v in found.arguments], ())
    if type(made) is not ArrayType or (made.dtype, made.ndim) != (known.dtype, known.ndim):
        return
    whole = Const(...)
    if not is_part_write(call, [known, type_of(whole), made]):
        return
    out = Instruction("call", [Const(found.function), *found.arguments], type=made, position=call.position)
    write = Instruction(
        "call", [Const(operator.setitem), found.target, whole, out], type=NONE, position=call.position
    )
    at = block.instructions.index(call)
    block.instructions[at:at] = [out, write]
    out.block = write.block = block
    call.operands = [Const(_assume_), found.target, Const(known)]
    call.keywords = ()
    call.type = known
