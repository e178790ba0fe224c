"""Which parameters a function only reads.

A parameter that is not asked for a gradient, and that the function never writes into, hands on or
returns, can be taken for a constant: nothing is saved or computed for its cotangent.  Found here is
whether a function keeps to reading an array, or a list of plain numbers; whether the object is also
reached in other ways is for the caller to see.

What is followed are the names of the object's memory: the parameter, phis, and views.  Every use must
be one that is known to read; whatever else is met (a store, a container that keeps it, a closure, a
call of something unknown) counts as writing.  Needs types.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.terminators import Branch, Switch
from adbc.ir.values import Const, Instruction, Value
from adbc.rules.kinds import RowKind
from adbc.types.callsites import Binding
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import AbstractType, ArrayType, is_number

__all__ = ["HARMLESS", "PLAIN_ATTRIBUTES", "ReaderKnowledge", "only_reads"]


class ReaderKnowledge(Protocol):
    """What is asked of the rest of the system."""

    def rows(self, function: object) -> Sequence[Any]:
        """All rules of `function`."""

    def row(self, function: object, types: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` for arguments of these types, if the types decide it."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""

    def only_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> Sequence[bool]:
        """Per parameter, whether `function` only reads it."""


HARMLESS: frozenset[Any] = frozenset(
    {
        len, isinstance, callable, id, type, bool, print, repr, str, format, hasattr, range,
        operator.is_, operator.is_not, operator.not_, intrinsics._bool_, intrinsics._class_is_,
        intrinsics._method_is_, intrinsics._observe_, intrinsics._format_, intrinsics._exhausted_,
    }
)  # fmt: skip
"""Functions that read, and of whose result no memory is that of an argument."""

_NUMBERS_OF: frozenset[Any] = HARMLESS | {
    sum, min, max, abs, sorted, list, tuple, zip, enumerate, reversed, iter, any, all,
    operator.getitem, operator.contains, intrinsics._not_contains_, intrinsics._iter_,
    intrinsics._list_iterator_, intrinsics._unpack_, intrinsics._unpack_ex_, intrinsics._next_,
    intrinsics._unpack_list_, intrinsics._element_,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.add, operator.mul,
}  # fmt: skip
"""Functions that read a list of numbers: what they give has its numbers, not its memory."""

_PASSED_ON: frozenset[Any] = frozenset(
    {
        zip, enumerate, reversed, iter, operator.getitem, intrinsics._iter_, intrinsics._next_,
        intrinsics._unpack_, intrinsics._unpack_ex_, intrinsics._project_,
    }
)  # fmt: skip
"""Functions that hand out views of an array, or what will."""

_SAME: frozenset[Any] = frozenset({intrinsics._check_, intrinsics._assume_})
_IN_PLACE = frozenset(
    getattr(operator, name)
    for name in dir(operator)
    if name.startswith("i") and name[1:] in dir(operator) and name not in ("is_", "index")
)
_FRESH_OPERATORS = frozenset(
    getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "abs", "invert",
        "eq", "ne", "lt", "le", "gt", "ge",
    )
)  # fmt: skip
"""Operators whose result on arrays is new."""


def only_reads(graph: Graph, parameter: Value, knowledge: ReaderKnowledge) -> bool:
    """Whether the typed `graph` only reads `parameter`, an array or a list of numbers."""
    is_array = isinstance(parameter.type, ArrayType)
    names: set[Value] = {parameter}
    size = 0
    while size != len(names):
        size = len(names)
        for block in graph.blocks:
            for phi in block.phis:
                if not names.isdisjoint(phi.operands.values()):
                    names.add(phi)
            for call in block.instructions:
                if names.isdisjoint(call.operands):
                    continue
                if block.handler is not None:
                    return False  # what is raised may keep it
                answer = _use(call, names, is_array, knowledge)
                if answer is None:
                    return False
                if answer:
                    names.add(call)
            terminator = block.terminator
            if not isinstance(terminator, Branch | Switch) and not names.isdisjoint(terminator.values):
                return False
    return True


def _use(call: Instruction, names: set[Value], is_array: bool, knowledge: ReaderKnowledge) -> bool | None:
    """Whether the result of `call` has the memory of one of `names`; None if it may do more than read it."""
    if call.op != "call":
        return None
    callee, arguments = call_parts(call)
    if not isinstance(callee, Const):
        return None
    function: Any = callee.value
    if function is intrinsics._getattr_:
        return _attribute(call, is_array)
    if function is intrinsics._new_:
        kind = arguments[0]
        return False if isinstance(kind, Const) and kind.value is slice else None
    try:
        hash(function)
    except TypeError:
        return None
    if function in HARMLESS:
        return False
    if function in _SAME:
        return True
    if isinstance(function, types.FunctionType) and not knowledge.rows(function):
        return _derived(function, call, arguments, names, knowledge)
    if not is_array:
        return False if function in _NUMBERS_OF and not call.keywords else _given_to_numpy(function, call)
    if function in _PASSED_ON:
        return not is_number(type_of(call))
    if function in _FRESH_OPERATORS:
        return False
    if function in _IN_PLACE:
        return None if arguments[0] in names else False
    if function is operator.setitem and arguments[0] not in names:
        # An array takes copies of the numbers; a list would keep the array itself.
        return False if isinstance(type_of(arguments[0]), ArrayType) else None
    row = knowledge.row(function, [type_of(v) for v in arguments])
    rows = knowledge.rows(function) if row is None else [row]
    if len(rows) == 1 and rows[0].kind is RowKind.OVERLAY:
        return _derived(rows[0].body, call, arguments, names, knowledge)
    if not rows or any(row.kind is RowKind.OVERLAY or row.mutates for row in rows):
        return None
    by_name = dict(zip(reversed(call.keywords), reversed(arguments), strict=False))
    if by_name.get("out") in names or not _reads_arrays(function):
        return None
    at = max(i for i, v in enumerate(arguments) if v in names)
    if all(row.takes_values > at for row in rows):
        return False
    if at > 0:
        return None  # it may be the array that the result is written into
    return not (is_number(type_of(call)) or all(row.kind is RowKind.SCALAR for row in rows))


def _reads_arrays(function: Any) -> bool:
    """Whether a function with rules, none of which changes an array, is one that keeps no argument."""
    owner = getattr(function, "__objclass__", function)
    module = str(getattr(owner, "__module__", None) or type(function).__module__)
    return module.partition(".")[0] in ("numpy", "scipy", "_operator", "operator", "builtins", "math")


def _given_to_numpy(function: Any, call: Instruction) -> bool | None:
    """A list of numbers that NumPy makes an array of: the array is new."""
    module = str(getattr(function, "__module__", None) or "")
    is_maker = module.partition(".")[0] == "numpy" and getattr(function, "__name__", "") in (
        "array",
        "asarray",
    )
    return False if is_maker and not call.keywords else None


PLAIN_ATTRIBUTES = frozenset({"shape", "size", "ndim", "dtype", "nbytes", "itemsize", "strides"})


def _attribute(call: Instruction, is_array: bool) -> bool | None:
    name = call.operands[2]
    if not is_array or not isinstance(name, Const):
        return None
    # A method that is read is a name of the array; calls of it that are known do not use what was read.
    return name.value not in PLAIN_ATTRIBUTES


def _derived(
    function: types.FunctionType,
    call: Instruction,
    arguments: Sequence[Value],
    names: set[Value],
    knowledge: ReaderKnowledge,
) -> bool | None:
    binding = knowledge.bind(function, len(arguments), call.keywords)
    if binding is None:
        return None
    parameters = tuple(
        type_of(slot) if isinstance(slot, Const) else type_of(arguments[slot]) for slot in binding.slots
    )
    reads = knowledge.only_reads(function, parameters)
    for slot, reads_it in zip(binding.slots, reads, strict=True):
        if not isinstance(slot, Const) and arguments[slot] in names and not reads_it:
            return None
    return not is_number(type_of(call))
