"""Which functions meet no memory but that of their arguments.

An array that is given to such a function, and that shares its memory with no other argument, is nobody else's
while the function runs: it is not met a second time as a global, in a closure, or as what an unknown function
returns.  Then its cotangent need not be found by its address.

Every call must be one of which the rule is known before it runs, or of a function written in Python that is
closed itself.  Needs types.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.rules.kinds import RowKind
from adbc.types.callsites import Binding, called
from adbc.types.effects import HARMLESS, bound_types, is_passive
from adbc.types.inference import call_parts, type_of
from adbc.types.keywords import deciding
from adbc.types.lattice import AbstractType, ArrayType, IteratorType, class_of

__all__ = ["ClosedKnowledge", "is_closed", "is_closed_call"]


class ClosedKnowledge(Protocol):
    """What the question which functions are closed must be told by the rest of the system."""

    def row(self, function: object, types: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` for arguments of these types, if the types decide it."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""

    def is_closed(self, function: types.FunctionType, parameters: tuple[AbstractType, ...]) -> bool:
        """Whether `function` meets no memory but that of its arguments."""


_STRUCTURE: frozenset[Any] = HARMLESS | {
    intrinsics._project_, intrinsics._unpack_, intrinsics._check_, intrinsics._assume_,
}  # fmt: skip
_BUILT = (tuple, slice)


def is_closed(graph: Graph, knowledge: ClosedKnowledge) -> bool:
    """Whether the typed `graph` meets no memory but that of its arguments."""
    if graph.free:
        return False
    return all(
        block.handler is None and all(is_closed_call(call, knowledge, type_of) for call in block.instructions)
        for block in graph.blocks
    )


def is_closed_call(
    call: Instruction, knowledge: ClosedKnowledge, known: Callable[[Value], AbstractType]
) -> bool:
    """Whether `call` meets no memory but that of its arguments; `known` says what is known of values."""
    found = called(call)
    if found is None:
        return False
    function, arguments = found
    types_ = [known(v) for v in arguments]
    if not all(map(is_passive, types_)):
        return False
    if function is intrinsics._getattr_:
        return isinstance(types_[0], ArrayType)  # of a method, which is called as a function
    if not is_passive(known(call)):
        return False
    if function in _STRUCTURE:
        return True
    if function is intrinsics._new_:
        kind = arguments[0]
        return isinstance(kind, Const) and kind.value in _BUILT
    if function in (intrinsics._iter_, intrinsics._next_):
        return class_of(types_[0]) is range or isinstance(types_[0], IteratorType)
    row = knowledge.row(function, deciding(types_, call.keywords))
    if row is not None:
        if row.kind is RowKind.PER_MODE:
            return False
        return row.kind is not RowKind.OVERLAY or _is_closed_function(row.body, call, knowledge, known)
    return is_function(function) and _is_closed_function(function, call, knowledge, known)


def _is_closed_function(
    function: Any, call: Instruction, knowledge: ClosedKnowledge, known: Callable[[Value], AbstractType]
) -> bool:
    arguments = call_parts(call)[1]
    binding = knowledge.bind(function, len(arguments), call.keywords)
    if binding is None:
        return False
    return knowledge.is_closed(binding.function, bound_types(binding, arguments, known))
