"""Methods of arrays and of builtin containers are called as the functions that they are.

before::

    %1: Any = call _getattr_(%x, 'sum')
    %2: Any = call %1(0)
    %3: Any = call _getattr_(%x, 'T')
    %4: Any = call _getattr_(%l, 'append')
    %5: Any = call %4(%2)

after::

    %2: Any = call numpy.ndarray.sum(%x, 0)
    %3: Array = call numpy.ndarray.transpose(%x)
    %5: None = call list.append(%l, %2)

So the rule is known, and with it often the type of the result.  For objects that are proved to be of a
class of C, whose methods cannot be replaced.  Needs types.
"""

from __future__ import annotations

from collections.abc import Callable

from adbc.ir.graph import Graph
from adbc.ir.handlers import forget_handler, is_idle
from adbc.ir.intrinsics import _observe_
from adbc.ir.values import Const, Instruction, Value
from adbc.types.inference import method_of, transpose_of

__all__ = ["builtin_methods", "drop_method_reads"]


def builtin_methods(graph: Graph) -> bool:
    """Call methods by their functions, in place, and leave their reads; returns whether anything changed."""
    changed = False
    for block in graph.blocks:
        for call in block.instructions:
            if call.op != "call":
                continue
            transpose = transpose_of(call)
            if transpose is not None:
                call.operands = [Const(transpose), call.operands[1]]
                changed = True
            read = call.operands[0]
            method = method_of(read)
            if isinstance(read, Instruction) and method is not None:
                call.operands[:1] = [Const(method), read.operands[1]]
                changed = True
    return changed


def drop_method_reads(graph: Graph, is_known: Callable[[Instruction], bool]) -> None:
    """Remove the reads of methods that nobody uses any more, those of builtin classes and others for which
    `is_known` holds.

    Where a guess was wrong, the rest of the function may still be given a method that was read before: that
    is read in the side exit.
    """
    while _drop_reads(graph, lambda read: method_of(read) is not None or is_known(read)):
        pass  # what was read from may have been found for that alone


def _drop_reads(graph: Graph, is_known: Callable[[Instruction], bool]) -> bool:
    changed = False
    used: set[Value] = set()
    rests: dict[Value, list[Instruction]] = {}
    for block in graph.blocks:
        used.update(block.terminator.values)
        for phi in block.phis:
            used.update(phi.operands.values())
        is_rest = any(_is_observation(i) for i in block.instructions[:1])
        for user in block.instructions:
            if is_rest and user in block.terminator.values:
                for value in user.operands:
                    rests.setdefault(value, []).append(user)
            else:
                used.update(user.operands)
    for block in graph.blocks:
        kept = []
        for read in block.instructions:
            in_exit = any(user.block is block for user in rests.get(read, ()))
            if read in used or in_exit or not is_known(read):
                kept.append(read)
                continue
            changed = True
            for user in rests.get(read, ()):
                used.add(_read_again(read, user))
        is_last = bool(block.instructions) and block.instructions[-1:] != kept[-1:]
        block.instructions = kept
        if is_last and block.handler is not None and is_idle(block):
            forget_handler(block)
    return changed


def _read_again(read: Instruction, user: Instruction) -> Instruction:
    """Give `user` a read of its own of the method that `read` reads."""
    again = Instruction("call", read.operands, type=read.type, position=read.position, name=read.name)
    again.block = user.block
    assert user.block is not None
    user.block.instructions.insert(user.block.instructions.index(user), again)
    user.operands = [again if v is read else v for v in user.operands]
    return again


def _is_observation(call: Instruction) -> bool:
    callee = call.operands[0] if call.op == "call" else None
    return isinstance(callee, Const) and callee.value is _observe_
