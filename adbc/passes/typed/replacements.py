"""``dataclasses.replace`` of an object whose class is known calls that class, and so does ``_replace``.

before::

    %q: Any = call dataclasses.replace(%p, x=%x)            # %p: Point, which has the fields x and y
    %1: Any = call _getattr_(%s, '_replace')                # %s: Step, a named tuple of time and size
    %r: Any = call %1(size=%x)

after::

    %2: Any = call _getattr_(%p, 'y')
    %q: Any = call _new_(Point, x=%x, y=%2)
    %3: Any = call _getattr_(%s, 'time')
    %r: Any = call _new_(Step, %3, %x)

What `replace` does with each field is decided by the class: which fields there are, and that ``__init__`` is
given each of them.  Needs types.  What is assumed about named tuples is for `ReplacementKnowledge` to note.
"""

from __future__ import annotations

import collections
import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _getattr_, _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target, tells_its_class
from adbc.types.inference import type_of
from adbc.types.lattice import Exact

__all__ = ["ReplacementKnowledge", "replacements"]

_Some = collections.namedtuple("_Some", ())  # for the code that all named tuples have
_REPLACE, _MAKE = _Some._replace.__code__, _Some._make.__func__.__code__  # type: ignore[attr-defined]


class ReplacementKnowledge(Protocol):
    """What `replacements` asks of the rest of the system."""

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        """The fields of `cls`, if it is a frozen dataclass or a named tuple and making and reading its
        instances is nothing else."""

    def class_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """The function in Python that ``cls.name`` calls, and whether `cls` is put in front of the
        arguments."""


def replacements(graph: Graph, knowledge: ReplacementKnowledge) -> bool:
    """Write calls of `dataclasses.replace` and of ``_replace`` as calls of classes, in place.

    Returns whether anything changed.
    """
    replaced = [
        _replace(call) if target(call) is dataclasses.replace else _replace_parts(call, knowledge)
        for call in list(graph.instructions())
    ]
    return any(replaced)


def _replace(call: Instruction) -> bool:
    """Have `call` call the class of its argument, if that is known to be all; returns whether it is."""
    block, count = call.block, len(call.keywords)
    assert block is not None
    if block.handler is not None or len(call.operands) != 2 + count:
        return False
    obj = call.operands[1]
    known = type_of(obj)
    names = _fields(known.cls) if isinstance(known, Exact) else None
    given: dict[str, Value] = dict(zip(call.keywords, call.operands[2:], strict=True))
    if names is None or not given.keys() <= set(names):
        return False
    values = _with_the_others(call, obj, names, given)
    call.operands = [Const(_new_), Const(known.cls), *values]  # type: ignore[attr-defined]  # of Exact
    call.keywords = names
    return True


def _replace_parts(call: Instruction, knowledge: ReplacementKnowledge) -> bool:
    """Have `call` call the class of a named tuple whose ``_replace`` it calls, if that is known to be all;
    returns whether it is."""
    read = call.operands[0] if call.op == "call" else None
    if not isinstance(read, Instruction) or target(read) is not _getattr_:
        return False
    obj, name = read.operands[1:]
    known, count = type_of(obj), len(call.keywords)
    if constant(name) != "_replace" or len(call.operands) != 1 + count or not isinstance(known, Exact):
        return False
    assert call.block is not None
    if call.block.handler is not None or not issubclass(known.cls, tuple):
        return False
    given: dict[str, Value] = dict(zip(call.keywords, call.operands[1:], strict=True))
    names = knowledge.record_names(known.cls)
    if names is None or not given.keys() <= set(names):
        return False
    for method, code in (("_replace", _REPLACE), ("_make", _MAKE)):
        found = knowledge.class_member(known.cls, method)
        if found is None or found[0].__code__ is not code:
            return False
    call.operands = [Const(_new_), Const(known.cls), *_with_the_others(call, obj, names, given)]
    call.keywords = ()
    return True


def _with_the_others(
    call: Instruction, obj: Value, names: tuple[str, ...], given: Mapping[str, Value]
) -> list[Value]:
    """The values of the fields `names`: those that are `given`, and those of `obj`, read in front of
    `call`."""
    block = call.block
    assert block is not None
    values = []
    for name in names:
        value = given.get(name)
        if value is None:
            value = Instruction("call", [Const(_getattr_), obj, Const(name)], position=call.position)
            value.block = block
            block.instructions.insert(block.instructions.index(call), value)
        values.append(value)
    return values


def _fields(cls: type) -> tuple[str, ...] | None:
    """The fields of the dataclass `cls`, if ``__init__`` is given all of them and nothing else."""
    fields: dict[str, Any] | None = getattr(cls, "__dataclass_fields__", None)
    if fields is None or not tells_its_class(cls):
        return None
    normal = [field for field in fields.values() if field._field_type is not _OF_CLASS]
    if any(field._field_type is not dataclasses._FIELD for field in normal):  # type: ignore[attr-defined]
        return None  # one that only ``__init__`` has must be said anew
    return tuple(field.name for field in normal if field.init)


_OF_CLASS = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
"""What `dataclasses` marks the annotations with that are no fields of instances."""
