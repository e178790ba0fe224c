"""Questions that several passes ask of an instruction in normal form."""

from __future__ import annotations

import collections
import inspect
import types
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.handlers import forget_handler, is_idle
from adbc.ir.intrinsics import _assume_, _observe_
from adbc.ir.terminators import Return
from adbc.ir.values import Const, Instruction, Value

__all__ = [
    "NOTHING",
    "assumption",
    "constant",
    "drop",
    "is_rest_call",
    "target",
    "tells_its_class",
    "use_counts",
]

NOTHING: Any = object()
"""The answer where there is no constant: any Python object may be one."""


def constant(value: Value) -> Any:
    """The object that `value` is, or `NOTHING`."""
    return value.value if isinstance(value, Const) else NOTHING


def target(value: Value) -> Any:
    """The function that `value` is a call of, or `NOTHING`."""
    if value.__class__ is Instruction and value.op == "call":
        callee = value.operands[0]
        if callee.__class__ is Const:
            return callee.value
    return NOTHING


def is_rest_call(call: Instruction) -> bool:
    """Whether `call` is the rest of the function in a side exit, given the values that are live."""
    block = call.block
    assert block is not None
    return (
        isinstance(block.terminator, Return)
        and block.terminator.value is call
        and len(block.instructions) >= 2
        and target(block.instructions[0]) is _observe_
    )


def assumption(value: Instruction, known: Any) -> Instruction:
    """The call that says that `value` is of the abstract type `known`, at the same place of the source."""
    operands = [Const(_assume_), value, Const(known)]
    return Instruction("call", operands, type=known, position=value.position, name=value.name)


def drop(graph: Graph, instructions: set[Instruction]) -> bool:
    """Remove `instructions`, and with them the exceptional edges that nothing else can take.

    Returns whether there were such edges: their handlers may now be unreachable.
    """
    changed = False
    for block in {i.block for i in instructions}:
        assert block is not None
        block.instructions = [i for i in block.instructions if i not in instructions]
        if block.handler is not None and is_idle(block):
            forget_handler(block)
            changed = True
    return changed


def use_counts(graph: Graph) -> dict[Value, int]:
    """How often each value is an operand of an instruction, phi or terminator."""
    used: list[Value] = []
    for block in graph.blocks:
        for phi in block.phis:
            used += phi.operands.values()
        for instruction in block.instructions:
            used += instruction.operands
        used += block.terminator.values
    return dict(collections.Counter(used))


def tells_its_class(cls: type) -> bool:
    """Whether `cls` has nothing to say about ``x.__class__`` of its instances."""
    reads = inspect.getattr_static(cls, "__getattribute__", None)
    return inspect.getattr_static(cls, "__class__", None) is _CLASS and type(reads) in _READS_IN_C


_CLASS = vars(object)["__class__"]
_READS_IN_C = (types.WrapperDescriptorType, types.MethodDescriptorType)
