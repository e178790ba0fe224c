"""What is assumed of values where they are made: what was proved, as the class of an element of a list.

A guess is assumed behind its test only, and says nothing of the value itself.
"""

from __future__ import annotations

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import predecessors
from adbc.ir.values import Instruction, Value
from adbc.passes.query import target
from adbc.types.lattice import ANY

__all__ = ["Assumed", "renames"]


def renames(function: object) -> bool:
    """Whether `function` gives its first argument by another name."""
    return (
        function is intrinsics._assume_
        or function is intrinsics._resume_iterator_
        or function is intrinsics._resume_view_
        or function is intrinsics._own_
    )


class Assumed:
    """The assumptions of a primal `graph`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sources: dict[Block, list[Block]] | None = None

    def tell(self, assumed: Instruction, made: Value, copy: Value) -> None:
        """Let `copy`, that of the value `made`, know what `assumed` says of that, if it always holds.

        Not if `made` is another name, as it is behind a guess: the copy is that of what was guessed about.
        """
        if not isinstance(made, Instruction) or renames(target(made)):
            return
        if isinstance(copy, Instruction) and copy.type is ANY:
            if self.sources is None:
                self.sources = predecessors(self.graph)
            if self._holds(assumed, made, self.sources):
                copy.type = assumed.type

    def _holds(self, assumed: Instruction, made: Instruction, sources: dict[Block, list[Block]]) -> bool:
        """Whether `assumed` holds wherever `made` is a value: there is no other way on from there."""
        block, start = assumed.block, made.block
        while block is not None and block is not start:
            if len(sources[block]) != 1:
                return False
            (before,) = sources[block]
            end = before.terminator
            if isinstance(end, Branch):
                if end.false is not block or not _is_end_of(end.condition, made):
                    return False
            elif not isinstance(end, Jump):
                return False
            block = before
        return block is not None


def _is_end_of(test: Value, step: Instruction) -> bool:
    """Whether `test` asks if `step` has found the end of its iterator."""
    if not isinstance(test, Instruction) or target(test) is not intrinsics._exhausted_:
        return False
    return test.operands[1] is step
