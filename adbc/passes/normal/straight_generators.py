"""A generator that gives a number of values one after the other, whatever happens, is a function that gives
them all in a tuple.

before::                                             after::

    graph __iter__(self)                                 graph __iter__(self)
        %1 = call _getattr_(%self, 'x')                      %1 = call _getattr_(%self, 'x')
        %2 = call _yield_(%1)                                %2 = call _getattr_(%self, 'y')
        %3 = call _getattr_(%self, 'y')                      %3 = call _new_(tuple, %1, %2)
        %4 = call _yield_(%3)                                return %3
        return None

Whoever asks for just so many values, and for one more to see that there is none, as an unpacking does, sees
no difference: between two of its questions nothing else is done.
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _new_, _yield_, _yield_from_
from adbc.ir.terminators import Return
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target

__all__ = ["given_at_once"]


def given_at_once(graph: Graph) -> tuple[Graph, int] | None:
    """The function that gives all values of the generator `graph`, in normal form, and how many these are;
    None if that is not known."""
    end = graph.entry.terminator
    if not graph.is_generator or len(graph.blocks) > 1 or graph.entry.handler is not None:
        return None
    if not isinstance(end, Return) or constant(end.value) is not None:
        return None
    if any(target(call) is _yield_from_ for call in graph.instructions()):
        return None
    copy, _, _ = copy_graph(graph)
    yields = [call for call in copy.instructions() if target(call) is _yield_]
    if not yields:
        return None
    copy.replace_uses(dict.fromkeys(yields, Const(None)))  # nobody sends anything
    parts = [call.operands[1] for call in yields]
    copy.entry.instructions = [call for call in copy.entry.instructions if call not in yields]
    made = Instruction("call", [Const(_new_), Const(tuple), *parts], position=yields[-1].position)
    copy.entry.append(made)
    copy.entry.terminator = Return(made, copy.entry.terminator.position)
    copy.is_generator = False
    return copy, len(parts)
