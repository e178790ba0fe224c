"""Results that a program remembers: where a value is compared with what the last call has left.

before::

    %1 = call _getattr_(%self, 'x')
    %2 = call operator.ne(%x, %1)
    ...
    call _setattr_(%self, 'x', %x)
    call _setattr_(%self, 'y', %y)

after::

    %1 = call _getattr_(%self, 'x')
    %2 = call operator.ne(%x, %1)
    call _recognise_(%2, False, %x, %1, %self, 'x')
    ...
    call _remember_(%self, 'x')
    call _setattr_(%self, 'x', %x)
    call _setattr_(%self, 'y', %y)

A place that is compared with a value and written by the same function is most likely the key of a memo of
one result.  If a plain call has filled it, the function finds itself at the same point, and gives back a
constant in place of what depends on the input.  Which values are active, and which places this call has
written itself, is known when it runs: the rules of both calls are in `rules.recollections`.

Parameters and results of operators that stand in a new list or dict are written there by the display that
makes it; what else does may have been remembered elsewhere, and handed over by a call.

A place is an attribute or an item with a constant key, of any owner, what is in a cell, or a global variable;
or part of a tuple that stands there.  The comparison may be one of operators, of identities, or of the
functions of NumPy that tell whether arrays are equal.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import edge_values
from adbc.ir.intrinsics import (
    _assume_,
    _cell_get_,
    _cell_set_,
    _check_,
    _foreigncall_,
    _getattr_,
    _global_,
    _new_,
    _project_,
    _recognise_,
    _remember_,
    _setattr_,
    _store_global_,
    _unpack_,
)
from adbc.ir.terminators import Jump
from adbc.ir.values import Argument, Const, Instruction, Value
from adbc.passes.query import NOTHING, constant, target

__all__ = ["recollections"]

_COMPARISONS: dict[Any, bool] = {
    operator.eq: True, operator.ne: False, operator.is_: True, operator.is_not: False,
}  # fmt: skip
"""By operator, whether it says that two values are the same."""
_FUNCTIONS = {
    "math": ("isclose",),
    "numpy": ("array_equal", "array_equiv", "allclose", "isclose", "equal"),
}
"""By module, names of functions that say so."""
_NAMED = frozenset(name for names in _FUNCTIONS.values() for name in names)
_WRITES: tuple[tuple[Any, int], ...] = (
    (_setattr_, 3), (operator.setitem, 3), (_cell_set_, 2), (_store_global_, 2),
)  # fmt: skip
"""The functions that write a place, with the number of their arguments."""

_Place = tuple[Any, Any]
"""What tells a place from others in one function: the kind, and a name, a key, or the value of a cell."""


def recollections(graph: Graph) -> None:
    """Let all comparisons with places that `graph` writes itself be noted, and these writes."""
    written: dict[_Place, list[Instruction]] = {}
    for call in graph.instructions():
        function = target(call)
        if any(function is write and len(call.operands) == 1 + count for write, count in _WRITES):
            place = _written(call)
            if place is not None:
                written.setdefault(place, []).append(call)
    if not written:
        return
    noted: set[_Place] = set()
    for call in [*graph.instructions()]:
        for is_equality, value, remembered in _compared(call):
            read = next((r for r in _reads(remembered) if r[0] in written), None)
            if read is not None:
                place, owner, key = read
                noted.add(place)
                operands = [Const(_recognise_), call, Const(is_equality), value, remembered, owner, key]
                _insert_behind(graph, call, Instruction("call", operands, position=call.position))
    for call, key in _displayed(graph, noted):
        _insert_behind(
            graph, call, Instruction("call", [Const(_remember_), call, key], position=call.position)
        )
    for place in noted:
        for write in written[place]:
            block = write.block
            assert block is not None
            note = Instruction("call", [Const(_remember_), *_named(write)], position=write.position)
            note.block = block
            block.instructions.insert(block.instructions.index(write), note)


def _written(call: Instruction) -> _Place | None:
    """The place that `call` of one of `_WRITES` writes."""
    function = target(call)
    if function is _cell_set_:
        return _cell_get_, call.operands[1]
    if function is _store_global_:
        return _global_, constant(call.operands[1])
    key = constant(call.operands[2])
    if type(key) is not str and type(key) is not int:
        return None
    return (_getattr_ if function is _setattr_ else operator.getitem), key


def _displayed(graph: Graph, places: set[_Place]) -> list[tuple[Instruction, Value]]:
    """The displays of lists and dicts that write one of `places`, each with the key."""
    found: list[tuple[Instruction, Value]] = []
    for call in graph.instructions():
        made = constant(call.operands[1]) if target(call) is _new_ and len(call.operands) > 2 else None
        given = call.operands[2:]
        entries: list[tuple[Value, Value]] = []
        if made is list:
            entries = [(Const(k), v) for at, v in enumerate(given) for k in (at, at - len(given))]
        elif made is dict:
            entries = list(zip(given[::2], given[1::2], strict=True))
        for key, value in entries:
            if (operator.getitem, constant(key)) in places and _is_new(value):
                found.append((call, key))
    return found


def _is_new(value: Value) -> bool:
    """Whether `value` is a parameter, a constant, or computed by an operator."""
    if not isinstance(value, Instruction):
        return isinstance(value, Argument | Const)
    function = target(value)
    is_operator = isinstance(function, _BUILTIN) and function.__module__ == operator.add.__module__
    return is_operator and function is not operator.getitem


def _named(call: Instruction) -> tuple[Value, Value]:
    """The owner and the key of the place that `call` writes."""
    if target(call) is _cell_set_:
        return call.operands[1], Const(None)
    if target(call) is _store_global_:
        return Const(None), call.operands[1]
    return call.operands[1], call.operands[2]


def _reads(value: Value) -> Iterator[tuple[_Place, Value, Value]]:
    """The places that `value` was read from, itself or as part of what was read there, with their owners and
    keys."""
    while isinstance(value, Instruction):
        function, operands = target(value), value.operands
        if function is _global_:
            yield (_global_, constant(operands[1])), Const(None), operands[1]
            return
        if function is _cell_get_:
            yield (_cell_get_, operands[1]), operands[1], Const(None)
            return
        if len(operands) == 3 and (function is _getattr_ or function is operator.getitem):
            key = constant(operands[2])
            if type(key) is str or type(key) is int:
                yield (function, key), operands[1], operands[2]
        elif function not in _PARTS:
            item = _asked(value)
            if item is None:
                return
            yield item
            return
        value = operands[1]


def _asked(call: Instruction) -> tuple[_Place, Value, Value] | None:
    """The place that ``d.get(key)`` reads, if `call` is that of such a method."""
    method = call.operands[0] if call.op == "call" and len(call.operands) >= 2 else None
    if method is None or target(method) is not _getattr_ or call.keywords:
        return None
    assert isinstance(method, Instruction)
    key = constant(call.operands[1])
    if constant(method.operands[2]) != "get" or (type(key) is not str and type(key) is not int):
        return None
    return (operator.getitem, key), method.operands[1], call.operands[1]


def _compared(call: Instruction) -> Iterator[tuple[bool, Value, Value]]:
    """If `call` compares two values, none of them a constant: whether it says that they are the same, and
    both, in either order."""
    function = target(call)
    operands = call.operands
    if function is _foreigncall_ or function is NOTHING:
        first = 2 if function is _foreigncall_ else 1
        if len(operands) < first + 2 or not _tells_equality(operands[first - 1]):
            return
        is_equality, pair = True, operands[first : first + 2]
    elif isinstance(function, _BUILTIN) and function in _COMPARISONS:
        is_equality, pair = _COMPARISONS[function], operands[1:3]
    else:
        return
    a, b = pair
    if not isinstance(a, Const) and not isinstance(b, Const):
        yield is_equality, a, b
        yield is_equality, b, a


_BUILTIN = type(operator.eq)
_PARTS = frozenset({_assume_, _check_, _project_, _unpack_})


def _tells_equality(function: Value) -> bool:
    """Whether `function` is one of `_FUNCTIONS`, or is read under the name of one."""
    if isinstance(function, Const):
        module, name = getattr(function.value, "__module__", None), getattr(function.value, "__name__", None)
        return type(module) is str and type(name) is str and name in _FUNCTIONS.get(module, ())
    if not isinstance(function, Instruction) or target(function) is not _getattr_:
        return False
    return constant(function.operands[2]) in _NAMED


def _insert_behind(graph: Graph, call: Instruction, note: Instruction) -> None:
    """Put `note`, which may raise, behind `call`."""
    block = call.block
    assert block is not None
    at = block.instructions.index(call) + 1
    if block.handler is None:
        note.block = block
        block.instructions.insert(at, note)
        return
    handler, values = block.handler, edge_values(block)
    behind: Block = graph.cut(block, at, f"{block.label}.noted")
    block.terminator = Jump(behind, call.position)
    note.block = behind
    behind.instructions.insert(0, note)
    behind.handler = handler
    for phi, value in values.items():
        phi.operands[behind] = value
