"""A subscript of a dict whose class makes what is missing is a plain read where the key is present.

before::

    b:
        %v: Any = call operator.getitem(%d, %k)        %d: defaultdict, %k: str
        ...

after::

    b:
        %t: bool = call dict.__contains__(%d, %k)
        branch %t, b.present, b.missing
    b.present:
        %d1: dict = call _assume_(%d, dict)
        %v1: Any = call operator.getitem(%d1, %k)
        jump b.read
    b.missing:
        %f: bool = call _factory_is_(%d, float)
        branch %f, b.made, b.other
    b.made:
        %d2: dict = call _assume_(%d, dict)
        %1 = call operator.setitem(%d2, %k, 0.0)
        jump b.read
    b.other:
        %v2: Any = call operator.getitem(%d, %k)
        jump b.read
    b.read:
        %v: Any = phi [b.present: %v1, b.made: 0.0, b.other: %v2]
        ...

For the one read of a key that is there, such an object is a dict like any other: so its shadow is read in
place.  Only for keys whose look-up runs no Python code, for it is done twice.  Needs types.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, BOOL, NONE, AbstractType, Exact, TupleType, class_of

__all__ = ["read_present_items"]

_MAKING = (Exact(defaultdict), Exact(Counter))
"""The classes that have ``__missing__`` and read what is there as a dict does."""
_NOTHING: Any = object()
_FACTORIES = frozenset({float, int, list, dict})
_LIKELY = (float, list)
"""The classes by which missing values are mostly made."""
_HASHED_IN_C = frozenset({int, float, bool, str, bytes, type(None)})


def read_present_items(graph: Graph) -> bool:
    """Read what is present in place, in place; returns whether anything changed."""
    found = [
        call
        for call in graph.instructions()
        if target(call) is operator.getitem
        and type_of(call.operands[1]) in _MAKING
        and _is_hashed_in_c(type_of(call.operands[2]))
    ]
    changed = False
    for call in found:
        assert call.block is not None
        if call.block.handler is None:
            _split(graph, call.block, call)
            changed = True
    return changed


def _is_hashed_in_c(known: AbstractType) -> bool:
    if isinstance(known, TupleType):
        return all(map(_is_hashed_in_c, known.elements))
    return class_of(known) in _HASHED_IN_C


def _makers(container: Value) -> list[tuple[Any, Any]]:
    """What missing values are likely to be made by, each with what is asked for it."""
    if type_of(container) == Exact(Counter):
        return [(intrinsics._counts_from_zero_, _NOTHING)]
    made = container
    while target(made) is intrinsics._assume_:
        made = made.operands[1]  # type: ignore[attr-defined]  # a call
    likely: tuple[Any, ...] = _LIKELY
    if target(made) is intrinsics._empty_default_:
        factory = constant(made.operands[1])  # type: ignore[attr-defined]  # a call
        likely = (factory,) if factory in _FACTORIES else ()
    return [(intrinsics._factory_is_, factory) for factory in likely]


def _make(builder: Builder, container: Value, key: Value, factory: Any) -> Value:
    """Write what makes a missing value by `factory` and stores it."""
    if factory is _NOTHING:
        return Const(0)
    made: Value = Const(factory())
    if factory is list or factory is dict:
        made = builder.call(intrinsics._new_, Const(factory), type=Exact(factory))
    as_dict = builder.call(intrinsics._assume_, container, Const(Exact(dict)), type=Exact(dict))
    builder.call(operator.setitem, as_dict, key, made, type=NONE)
    return made


def _split(graph: Graph, block: Block, call: Instruction) -> None:
    at = block.instructions.index(call)
    read = graph.cut(block, at + 1, f"{block.label}.read")
    block.instructions.remove(call)
    result = Phi(read, ANY, call.name)
    read.phis.append(result)
    graph.replace_uses({call: result})
    present, missing = graph.add_block(f"{block.label}.present"), graph.add_block(f"{block.label}.missing")
    builder = Builder(graph, block)
    builder.position = call.position
    container, key = call.operands[1:]
    builder.branch(builder.call(dict.__contains__, container, key, type=BOOL), present, missing)
    builder.block = present
    as_dict: Any = builder.call(intrinsics._assume_, container, Const(Exact(dict)), type=Exact(dict))
    result.operands[present] = builder.call(operator.getitem, as_dict, key, type=call.type)
    builder.jump(read)
    builder.block = missing
    for test, value in _makers(container):
        known, missing = graph.add_block(f"{block.label}.made"), graph.add_block(f"{block.label}.missing")
        operands = [] if value is _NOTHING else [Const(value)]
        builder.branch(builder.call(test, container, *operands, type=BOOL), known, missing)
        builder.block = known
        result.operands[known] = _make(builder, container, key, value)
        builder.jump(read)
        builder.block = missing
    missing.instructions.append(call)
    call.block = missing
    result.operands[missing] = call
    builder.jump(read)
