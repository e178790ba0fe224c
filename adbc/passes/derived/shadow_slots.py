"""Store-to-load forwarding in a pullback: numbers in shadows are not read where they are known, nor written
where that is not seen.

before::

    %1 = call _getattr_(%f, 'x')
    %2 = call _setattr_(%f, 'x', 0.0)
    ...
    %4 = call _getattr_(%f, 'x')
    %5 = call operator.add(%4, %3)
    %6 = call _setattr_(%f, 'x', %5)

after::

    %1 = call _getattr_(%f, 'x')
    ...
    %6 = call _setattr_(%f, 'x', %3)

What was only read from a slot is not written back to it.

For pullbacks only: what they read and write with these functions are shadows, whose fields and elements
run no code, and what they do arithmetic with are numbers.  What they restore are primals, by functions of
their own, and a primal is never a shadow.  Within a block, as nothing else is simple enough to pay.
"""

from __future__ import annotations

import operator
from typing import Any

from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import (
    _getattr_,
    _new_,
    _overwrite_field_,
    _overwrite_item_,
    _project_,
    _setattr_,
    _unpack_,
)
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.types.inference import type_of
from adbc.types.lattice import INT

__all__ = ["shadow_slots"]

_READS = {id(_getattr_): "field", id(operator.getitem): "element"}
_WRITES = {id(_setattr_): "field", id(operator.setitem): "element"}
_HARMLESS = frozenset(
    map(
        id,
        (
            operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
            operator.is_, _project_, _unpack_, _new_, _overwrite_field_, _overwrite_item_,
        ),
    )
)  # fmt: skip
_MAY_RAISE = frozenset(map(id, (operator.truediv, operator.pow)))

_Place = tuple[str, Value, Any]


def shadow_slots(graph: Graph) -> Graph:
    """Forward stores to loads of numbers in shadows, and drop dead stores; in place."""
    replaced: dict[Value, Value] = {}
    plain = [block for block in graph.blocks if block.handler is None]
    for block in plain:
        _block(block, replaced)
    for value in list(replaced):
        while replaced[value] in replaced:
            replaced[value] = replaced[replaced[value]]
    graph.replace_uses(replaced)
    for block in plain:
        _drop_unseen_writes(block)
        _drop_idle_writes(block)
    return graph


def _places(instruction: Instruction) -> tuple[_Place | None, _Place | None]:
    """The place that an instruction reads and the place that it writes; None where there is none."""
    function = id(target(instruction))
    if function in _READS:
        return _place(instruction, _READS[function]), None
    if function in _WRITES:
        return None, _place(instruction, _WRITES[function])
    return None, None


def _place(instruction: Instruction, kind: str) -> _Place:
    obj, key = instruction.operands[1:3]
    return kind, obj, (type(key.value), key.value) if isinstance(key, Const) else key


def _may_be(a: _Place, b: _Place) -> bool:
    """Whether two places may be the same: fields of different names are not, elements of different indices
    may be, and so may a field and what a dict, that of the object, has under its name."""
    if a[0] == b[0]:
        return a[0] == "element" or bool(a[2] == b[2])
    (_, _, name), (_, _, key) = (a, b) if a[0] == "field" else (b, a)
    return type_of(key) != INT if isinstance(key, Value) else bool(key == name)


def _block(block: Block, replaced: dict[Value, Value]) -> None:
    """Replace loads in a block by values that are known, from its beginning to its end."""
    known: dict[_Place, Value] = {}
    kept = []
    for instruction in block.instructions:
        read, write = _places(instruction)
        if read is not None:
            if _is_hashable(read) and read in known:
                replaced[instruction] = known[read]
                continue
            if _is_hashable(read):
                known[read] = instruction
        elif write is not None:
            known = {place: value for place, value in known.items() if not _may_be(place, write)}
            if _is_hashable(write):
                known[write] = instruction.operands[3]
        elif target(instruction) is operator.add:
            # Nothing was there yet: the first contribution is the sum.
            first, second = instruction.operands[1:]
            first = replaced.get(first, first)
            if isinstance(first, Const) and type(first.value) is float and first.value == 0.0:
                replaced[instruction] = second
                continue
        elif id(target(instruction)) not in _HARMLESS:
            known.clear()
        kept.append(instruction)
    block.instructions = kept


def _drop_idle_writes(block: Block) -> None:
    """Drop writes of what is in their place already, from the beginning of a block to its end."""
    known: dict[_Place, Value] = {}
    kept = []
    for instruction in block.instructions:
        read, write = _places(instruction)
        if read is not None and _is_hashable(read):
            known[read] = instruction
        elif write is not None:
            if _is_hashable(write) and known.get(write) is instruction.operands[3]:
                continue
            known = {place: value for place, value in known.items() if not _may_be(place, write)}
        elif read is None and id(target(instruction)) not in _HARMLESS:
            known.clear()
        kept.append(instruction)
    block.instructions = kept


def _is_hashable(place: _Place) -> bool:
    key = place[2]
    return isinstance(key, Value) or isinstance(key[1], str | int)


def _drop_unseen_writes(block: Block) -> None:
    """Drop writes that are written over before anything can read them, from the end of a block to its
    beginning."""
    covered: set[_Place] = set()
    kept = []
    for instruction in reversed(block.instructions):
        read, write = _places(instruction)
        if read is not None:
            covered = {place for place in covered if not _may_be(place, read)}
        elif write is not None:
            if _is_hashable(write):
                if write in covered:
                    continue
                covered.add(write)
        elif id(target(instruction)) not in _HARMLESS or id(target(instruction)) in _MAY_RAISE:
            covered.clear()
        kept.append(instruction)
    block.instructions = kept[::-1]
