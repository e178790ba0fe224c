"""Calls of `dict`, `list` and `tuple` that are displays, copies or slices become these.

before::

    %d = call _foreigncall_(dict, a=%x, b=%y)
    %e = call _foreigncall_(dict, %d)                       # %d: dict
    %f = call _foreigncall_(dict, %d, a=%x)
    %r = call _foreigncall_(reversed, %l)                   # %l: list
    %m = call _foreigncall_(list, %r)
    %c = call _foreigncall_(defaultdict, float)
    %n = call _new_(Counter)
    %2 = call _getattr_(%d, 'update')
    %3 = call %2(a=%x, b=%y)

after::

    %d = call _new_(dict, 'a', %x, 'b', %y)
    %e = call dict.copy(%d)
    %f = call dict.copy(%d)
    %1 = call operator.setitem(%f, 'a', %x)
    %r = call _new_(slice, None, None, -1)
    %m = call operator.getitem(%l, %r)
    %c = call _empty_default_(float)
    %n = call _empty_counter_()
    %2 = call _getattr_(%d, 'update')
    %3 = call operator.setitem(%d, 'a', %x)
    %4 = call operator.setitem(%d, 'b', %y)

So the rule is that of the simpler call, and the result has a type.  A list that is walked backwards is sliced
only if what walks it is C code that follows at once: nothing can change the list in between.  Needs types.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _empty_counter_, _empty_default_, _foreigncall_, _getattr_, _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target, use_counts
from adbc.types.inference import type_of
from adbc.types.lattice import NONE, Exact, class_of

__all__ = ["container_calls"]


def container_calls(graph: Graph) -> bool:
    """Write such calls as what they are, in place; returns whether anything changed."""
    found = [call for call in graph.instructions() if _made(call) in (dict, list, tuple)]
    changed = False
    counts: dict[Value, int] | None = None
    for call in list(graph.instructions()):
        if call.op == "call":
            changed = _simplify_empty(call) or _simplify_update(call) or changed
    for call in found:
        if _made(call) is dict:
            changed = _simplify_dict(call) or changed
        elif len(call.operands) == 3 and _made(call.operands[2]) is reversed:
            counts = use_counts(graph) if counts is None else counts
            changed = _slice(call, counts) or changed
    return changed


def _made(call: Value) -> Any:
    """The builtin class that is called, if one is."""
    return constant(call.operands[1]) if target(call) is _foreigncall_ else None  # type: ignore[attr-defined]


def _simplify_empty(call: Instruction) -> bool:
    """Write a call that makes an empty `defaultdict` of a class, or an empty `Counter`, as that."""
    if call.keywords:
        return False
    is_made = target(call) in (_new_, _foreigncall_) and constant(call.operands[1]) is Counter
    if is_made and len(call.operands) == 2:
        call.operands = [Const(_empty_counter_)]
        return True
    if _made(call) is not defaultdict or len(call.operands) > 3:
        return False
    factory = call.operands[2] if len(call.operands) == 3 else Const(None)
    if constant(factory) is not None and not isinstance(constant(factory), type):
        return False
    call.operands = [Const(_empty_default_), factory]
    return True


def _simplify_update(call: Instruction) -> bool:
    """Write ``d.update(x=v)`` of a dict as what it is, a store for each keyword; a dict that is given by
    position is stored in front of these."""
    read, block, names = call.operands[0], call.block, call.keywords
    if not isinstance(read, Instruction) or target(read) is not _getattr_ or block is None:
        return False
    source = read.operands[1]
    if constant(read.operands[2]) != "update" or type_of(source) != Exact(dict):
        return False
    given = call.operands[1 : len(call.operands) - len(names)]
    if len(given) > 1 or any(class_of(type_of(other)) is not dict for other in given):
        return False
    if names and block.handler is not None:
        return False
    stores = []
    for name, value in zip(names, call.operands[len(call.operands) - len(names) :], strict=True):
        store = Instruction(
            "call", [Const(operator.setitem), source, Const(name), value], type=NONE, position=call.position
        )
        store.block = block
        stores.append(store)
    at = block.instructions.index(call)
    block.instructions[at + 1 : at + 1] = stores
    if given:
        call.operands, call.keywords = [Const(dict.update), source, *given], ()
    elif stores:  # the first of them gives the same
        first = stores[0]
        block.instructions.remove(first)
        call.operands, call.keywords = first.operands, ()
    else:
        return False
    return True


def _simplify_dict(call: Instruction) -> bool:
    """Write a call of `dict` by keywords as a display, one of a dict as a copy that is then written into."""
    block, names = call.block, call.keywords
    assert block is not None
    positional = call.operands[2 : len(call.operands) - len(names)]
    named = call.operands[len(call.operands) - len(names) :]
    if not positional:
        parts = [part for name, value in zip(names, named, strict=True) for part in (Const(name), value)]
        call.operands = [Const(_new_), Const(dict), *parts]
        call.keywords = ()
        return True
    if len(positional) != 1 or class_of(type_of(positional[0])) is not dict:
        return False
    if names and block.handler is not None:
        return False
    call.operands = [Const(dict.copy), positional[0]]
    call.keywords = ()
    at = block.instructions.index(call)
    for name, value in zip(names, named, strict=True):
        at += 1
        operands = [Const(operator.setitem), call, Const(name), value]
        store = Instruction("call", operands, position=call.position)
        store.block = block
        block.instructions.insert(at, store)
    return True


def _slice(call: Instruction, counts: dict[Value, int]) -> bool:
    """Slice the list of which `call` makes another, or a tuple, by way of `reversed`."""
    walk = call.operands[2]
    assert isinstance(walk, Instruction)
    block = call.block
    if block is None or walk.block is not block or counts[walk] != 1:
        return False
    if call.keywords or walk.keywords or len(walk.operands) != 3:
        return False
    source, made = walk.operands[2], _made(call)
    is_next = block.instructions.index(walk) + 1 == block.instructions.index(call)
    if not is_next or class_of(type_of(source)) is not made:
        return False
    walk.operands = [Const(_new_), Const(slice), Const(None), Const(None), Const(-1)]
    call.operands = [Const(operator.getitem), source, walk]
    return True
