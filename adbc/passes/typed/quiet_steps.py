"""Steps of iterators that cannot raise need no handler: in a ``try`` or ``with`` statement, too, a loop over
a list is one over a list.

before::

    a: handler h
        %it = call _iter_(%l)                       # %l: list
        jump head
    head: handler h
        %v = call _next_(%it)
        jump test
    test:
        %e = call _exhausted_(%v)
        branch %e, done, body
    body: handler h
        %x = call f(%v)
        ...

after::

    a:
        %it = call _iter_(%l)
        jump head
    head:
        %v = call _next_(%it)
        %e = call _exhausted_(%v)
        branch %e, done, inside
    inside:
        jump body
    body: handler h
        %x = call f(%v)
        ...

What counts the iterations of a loop has a place then, and the elements of an array can be read by an index.
Needs types.
"""

from __future__ import annotations

from typing import Any

from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import forget_handler
from adbc.ir.intrinsics import _exhausted_, _iter_, _next_
from adbc.ir.terminators import Branch, Jump, Raise
from adbc.ir.traverse import join_lines, predecessors, remove_unreachable
from adbc.ir.values import Instruction, Value
from adbc.passes.query import target
from adbc.types.inference import type_of
from adbc.types.lattice import ArrayType, Exact, TupleType

__all__ = ["quiet_steps"]

_QUIET: tuple[Any, ...] = (list, tuple, range, str)
"""Classes whose iterators never raise; that of a dict does if the dict has grown."""


def quiet_steps(graph: Graph) -> bool:
    """Take handlers away from what makes and asks iterators that cannot raise, and let no body of a loop over
    one begin with a handler, in place; returns whether anything changed."""
    quiet = [block for block in graph.blocks if block.handler is not None and _is_quiet(block)]
    for block in quiet:
        forget_handler(block)
    heads = {block for block in quiet if target(block.instructions[-1]) is _next_}
    join_lines(graph, lambda block, following: block in heads and _tests(following))
    changed = bool(quiet)
    if quiet:
        remove_unreachable(graph)
    sources = predecessors(graph)
    for block in list(graph.blocks):
        end = block.terminator
        if isinstance(end, Branch) and end.false.handler is not None and sources[end.false] == [block]:
            test = end.condition
            if target(test) is _exhausted_ and _takes_quietly(test.operands[1]):  # type: ignore[attr-defined]  # a call
                _put_between(graph, block, end.false)
                changed = True
    return changed


def _tests(block: Block) -> bool:
    """Whether `block` has no handler and begins by asking for the end of an iterator."""
    return block.handler is None and bool(block.instructions) and target(block.instructions[0]) is _exhausted_


def _put_between(graph: Graph, head: Block, body: Block) -> None:
    inside = graph.add_block(f"{head.label}.inside")
    inside.terminator = Jump(body, head.terminator.position)
    head.terminator.replace_successor(body, inside)
    for phi in body.phis:
        phi.operands[inside] = phi.operands.pop(head)


def _is_quiet(block: Block) -> bool:
    """Whether the last instruction of `block`, and so nothing in it, can raise."""
    if not block.instructions or isinstance(block.terminator, Raise):
        return False
    last = block.instructions[-1]
    if target(last) is _iter_:
        return _gives_quietly(last.operands[1])
    return _takes_quietly(last)


def _takes_quietly(step: Value) -> bool:
    """Whether `step` asks an iterator that never raises."""
    made = step.operands[1] if isinstance(step, Instruction) and target(step) is _next_ else None
    return isinstance(made, Instruction) and target(made) is _iter_ and _gives_quietly(made.operands[1])


def _gives_quietly(source: Value) -> bool:
    """Whether `source` makes an iterator that never raises."""
    known = type_of(source)
    if type(known) is ArrayType:
        return bool(known.ndim)
    return isinstance(known, TupleType) or (isinstance(known, Exact) and known.cls in _QUIET)
