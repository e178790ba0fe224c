"""Where a frame lets go of the iterator of a loop that has been left.

The iterator of a loop lies on the stack while the loop runs.  Where a graph says (`_release_`) that it is
held for longer, because a ``finally`` runs first, the blocks up to there belong to the loop as well.  A block
ends where it is let go of; the instruction itself has no code.
"""

from __future__ import annotations

from adbc.ir import intrinsics as i
from adbc.ir.graph import Block, Graph
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Jump
from adbc.ir.values import Const, Instruction, Value

__all__ = ["cut_at_releases", "is_kept", "is_next", "is_release", "released"]


def is_release(instruction: Instruction, on_stack: bool) -> bool:
    """Whether `instruction` is a release: of what is on the stack if `on_stack`, else of what is in a
    variable."""
    if instruction.op != "call":
        return False
    callee = instruction.operands[0]
    if not isinstance(callee, Const) or callee.value is not i._release_:
        return False
    place = instruction.operands[2]
    assert isinstance(place, Const)
    return (place.value == i.STACK) == on_stack


def cut_at_releases(graph: Graph) -> dict[Block, Value]:
    """End blocks, in place, where iterators on the stack are let go of, and take away the instructions that
    say so; return these blocks, each with its iterator."""
    found: dict[Block, Value] = {}
    waiting = list(graph.blocks)
    while waiting:
        block = waiting.pop()
        for at, instruction in enumerate(block.instructions):
            if is_release(instruction, True):
                found[block] = instruction.operands[1]
                block.instructions.remove(instruction)
                waiting.append(_cut(graph, block, at))
                break
    held = set(found.values())
    for block in list(graph.blocks):  # the iterator is there before its loop begins
        for at, instruction in enumerate(block.instructions):
            if at and is_next(instruction) and instruction.operands[-1] in held:
                behind = _cut(graph, block, at)
                if block in found:
                    found[behind] = found.pop(block)
                break
    return found


def is_next(instruction: Instruction) -> bool:
    """Whether `instruction` asks an iterator for its next value."""
    if instruction.op != "call":
        return instruction.op == "next"
    callee = instruction.operands[0]
    return isinstance(callee, Const) and callee.value is i._next_


def _cut(graph: Graph, block: Block, at: int) -> Block:
    """Move the instructions of `block` from number `at` on into a block of their own, which is returned."""
    behind = graph.add_block(f"{block.label}.on")
    behind.instructions = block.instructions[at:]
    for instruction in behind.instructions:
        instruction.block = behind
    block.instructions = block.instructions[:at]
    behind.terminator = block.terminator
    block.terminator = Jump(behind, behind.terminator.position)
    for successor in behind.terminator.successors:
        for phi in successor.phis:
            if block in phi.operands:
                phi.operands[behind] = phi.operands.pop(block)
    handler = block.handler
    if handler is not None:
        behind.handler = handler
        for phi in handler.phis:
            phi.operands[behind] = phi.operands[block]
        if not any(map(may_raise, block.instructions)):
            block.handler = None
            for phi in handler.phis:
                del phi.operands[block]
    return behind


def is_kept(release: Instruction) -> bool:
    """Whether what a release lets go of stays where it is until the frame ends."""
    place = release.operands[2]
    return isinstance(place, Const) and place.value == i.KEPT


def released(instruction: Instruction) -> Value:
    """The value that a release lets go of."""
    return instruction.operands[1]
