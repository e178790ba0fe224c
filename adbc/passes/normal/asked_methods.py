"""The method ``__next__`` of an iterator is a generator that begins anew each time that it is asked.

before::                                      after::

    graph __next__(self)                          generator __next__(self)
    entry:                                        start:
        %1 = call _getattr_(%self, 'k')               jump entry
        %2 = call operator.ge(%1, 3)              entry:
        %3 = call _bool_(%2)                          %1 = call _getattr_(%self, 'k')
        branch %3, ends, more                         %2 = call operator.ge(%1, 3)
    ends:                                             %3 = call _bool_(%2)
        raise StopIteration                           branch %3, ends, more
    more:                                         ends:
        return %1                                     return None
                                                  more:
                                                      %4 = call _yield_(%1)
                                                      jump entry

Its state are the fields of the object, so that one loop over it goes on where another has stopped.  For
graphs in normal form.

What the method calls may raise the `StopIteration` that ends the loop, and there would be nothing to catch
it.  So it may call what is known by its name, of which others ask whether it stops, and methods that have the
names of those of containers, numbers and random generators.
"""

from __future__ import annotations

import random
from collections import deque

from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _apply_, _foreigncall_, _getattr_, _new_, _yield_
from adbc.ir.terminators import Jump, Raise, Return
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target

__all__ = ["as_generator", "gives_itself"]


def gives_itself(graph: Graph) -> bool:
    """Whether a method returns the object that it is called of, if anything."""
    ends = [block.terminator for block in graph.blocks]
    return len(graph.arguments) == 1 and all(
        end.value is graph.arguments[0] for end in ends if isinstance(end, Return)
    )


def as_generator(graph: Graph) -> Graph | None:
    """The generator that gives what the method ``__next__`` with this graph gives, until that raises
    `StopIteration` without a value; None if it may end in another way, or what it calls may, or it catches
    something."""
    if graph.is_generator or len(graph.arguments) != 1 or any(block.handler for block in graph.blocks):
        return None
    if not any(isinstance(block.terminator, Return) for block in graph.blocks):
        return None
    if any(map(_may_stop, graph.instructions())):
        return None
    copy, _, _ = copy_graph(graph)
    copy.is_generator = True
    again = copy.entry
    for block in list(copy.blocks):
        end = block.terminator
        if isinstance(end, Return):
            block.append(Instruction("call", [Const(_yield_), end.value], position=end.position))
            block.terminator = Jump(again, end.position)
        elif isinstance(end, Raise):
            if not _is_plain_stop(block, end):
                return None
            block.terminator = Return(Const(None), end.position)
    start = copy.add_block("start")
    start.terminator = Jump(again)
    copy.blocks.remove(start)
    copy.blocks.insert(0, start)
    return copy


def _is_plain_stop(block: Block, end: Raise) -> bool:
    """Whether a block ends by raising `StopIteration` without a value and without a cause."""
    raised = end.exception
    if raised is None or end.cause is not None:
        return False
    if isinstance(raised, Instruction):
        made_by = raised.operands[1:] if target(raised) in (_foreigncall_, _new_) else []
        return len(made_by) == 1 and constant(made_by[0]) is StopIteration
    return constant(raised) is StopIteration


_OF_VALUES = frozenset(
    name
    for cls in (list, dict, set, frozenset, deque, str, bytes, tuple, float, int, complex, random.Random)
    for name in dir(cls)
    if name[0] != "_"
) | {"normal", "standard_normal", "integers", "item"}
"""Names of methods that do not end a loop."""


def _may_stop(call: Instruction) -> bool:
    """Whether an instruction calls something that may raise `StopIteration`, apart from what has a name."""
    if target(call) is _apply_:
        return True
    callee = call.operands[1] if target(call) is _foreigncall_ else call.operands[0]
    if isinstance(callee, Const):
        return False
    if not isinstance(callee, Instruction) or target(callee) is not _getattr_:
        return True
    return constant(callee.operands[2]) not in _OF_VALUES
