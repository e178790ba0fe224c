"""``dataclasses.replace`` of an object whose class is known calls that class.

before::

    %q: Any = call dataclasses.replace(%p, x=%x)            # %p: Point, which has the fields x and y

after::

    %1: Any = call _getattr_(%p, 'y')
    %q: Any = call _new_(Point, x=%x, y=%1)

What `replace` does with each field is decided by the class: which fields there are, and that ``__init__`` is
given each of them.  Needs types.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _getattr_, _new_
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.types.inference import type_of
from adbc.types.lattice import Exact

__all__ = ["replacements"]


def replacements(graph: Graph) -> bool:
    """Write calls of `dataclasses.replace` as calls of classes, in place.

    Returns whether anything changed.
    """
    found = [call for call in graph.instructions() if target(call) is dataclasses.replace]
    replaced = [_replace(call) for call in found]
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
    reads = []
    for name in names:
        if name not in given:
            read = Instruction("call", [Const(_getattr_), obj, Const(name)], position=call.position)
            read.block = block
            given[name] = read
            reads.append(read)
    at = block.instructions.index(call)
    block.instructions[at:at] = reads
    call.operands = [Const(_new_), Const(known.cls), *(given[name] for name in names)]  # type: ignore[attr-defined]  # of Exact
    call.keywords = names
    return True


def _fields(cls: type) -> tuple[str, ...] | None:
    """The fields of the dataclass `cls`, if ``__init__`` is given all of them and nothing else."""
    fields: dict[str, Any] | None = getattr(cls, "__dataclass_fields__", None)
    if fields is None:
        return None
    normal = [field for field in fields.values() if field._field_type is not _OF_CLASS]
    if any(field._field_type is not dataclasses._FIELD for field in normal):  # type: ignore[attr-defined]
        return None  # one that only ``__init__`` has must be said anew
    return tuple(field.name for field in normal if field.init)


_OF_CLASS = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
"""What `dataclasses` marks the annotations with that are no fields of instances."""
