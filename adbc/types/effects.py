"""Effect summaries: what a call does with the memory of its arguments, one by one.

Several analyses ask: which parameters a function only reads (`types.readers`), which arrays nobody can see
the memory of (`forward.values`, `reverse.array_values`), what is in lists (`passes.typed.list_elements`),
which functions meet no memory but that of their arguments (`types.closed`).  The answer is put together here
once, from the table below for what the interpreter defines, from the rule of a function, and for functions
written in Python from what they do themselves.  What is not known does anything.

The memory in question is that of an array, or of a list of numbers.  Needs types.
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.rules.effects import ANYTHING, HANDS_ON, KEEPS, READS, RETURNS, WRITES, Use
from adbc.rules.kinds import RowKind
from adbc.types.callsites import DESCRIPTIONS, Binding, Called, called
from adbc.types.inference import call_parts, type_of
from adbc.types.keywords import deciding
from adbc.types.lattice import (
    AbstractType,
    ArrayType,
    ConstType,
    Exact,
    IteratorType,
    ListType,
    TupleType,
    has_cotangent,
    has_shadow,
    is_list,
    is_number,
    is_numpy_number,
)

__all__ = [
    "HARMLESS",
    "OPERATORS",
    "SUMMARIES",
    "EffectKnowledge",
    "Use",
    "bound_types",
    "exposed",
    "is_harmless",
    "is_passive",
    "makes_array",
    "uses",
]


class EffectKnowledge(Protocol):
    """What the analysis of effects must be told by the rest of the system."""

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


def bound_types(
    binding: Binding, arguments: Sequence[Value], known: Callable[[Value], AbstractType] = type_of
) -> tuple[AbstractType, ...]:
    """The types of the parameters of a function that is given `arguments`; `known` says what is known of
    the arguments."""
    return tuple(type_of(s) if isinstance(s, Const) else known(arguments[s]) for s in binding.slots)


# -- what the interpreter defines ------------------------------------------------------------------------

HARMLESS: frozenset[Any] = frozenset(
    {
        len, isinstance, callable, id, type, bool, print, repr, str, format, hasattr, range,
        operator.is_, operator.is_not, operator.not_, intrinsics._bool_, intrinsics._class_is_,
        intrinsics._array_is_, intrinsics._form_is_,
        intrinsics._method_is_, intrinsics._code_is_, intrinsics._has_field_, intrinsics._observe_,
        intrinsics._format_,
        intrinsics._remember_, intrinsics._recognise_,
        intrinsics._exhausted_,
        intrinsics._not_nan_, intrinsics._check_length_, intrinsics._takes_,
        intrinsics._takes_named_, intrinsics._members_,
    }
)  # fmt: skip
"""Functions that read, and of whose result no memory is that of an argument, whatever else they are given."""

_ELEMENTS: tuple[Any, ...] = (
    abs, sum, min, max, sorted, list, tuple, zip, enumerate, reversed, iter, list.copy, operator.getitem,
    intrinsics._iter_, intrinsics._list_iterator_, intrinsics._list_reversed_,
    intrinsics._view_iterator_, intrinsics._next_,
    intrinsics._next_key_, intrinsics._next_value_, intrinsics._next_entry_, intrinsics._next_place_,
    intrinsics._entry_key_, intrinsics._entry_value_, intrinsics._unpack_,
    intrinsics._unpack_ex_, intrinsics._unpack_list_, intrinsics._element_, intrinsics._project_,
)  # fmt: skip
"""Functions that give elements of their arguments, at once or later."""
OPERATORS: frozenset[Any] = frozenset(
    getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "invert",
        "eq", "ne", "lt", "le", "gt", "ge",
    )
)  # fmt: skip
"""Operators that give something new.  The class of the other operand may answer for them and keep the array;
but if that was taken for a constant, what is written into it later is refused when it runs."""
_IN_PLACE = tuple(
    getattr(operator, name)
    for name in dir(operator)
    if name.startswith("i") and name[1:] in dir(operator) and name not in ("is_", "index")
)
_SETS_ITEM = (WRITES, READS, KEEPS, READS)

SUMMARIES: Mapping[Any, tuple[Use, ...]] = {
    **dict.fromkeys((*HARMLESS, any, all), (READS,)),
    **dict.fromkeys(_ELEMENTS, (HANDS_ON,)),
    **dict.fromkeys((intrinsics._check_, intrinsics._assume_), (RETURNS, READS)),
    **dict.fromkeys(OPERATORS, (READS,)),
    **dict.fromkeys(_IN_PLACE, (WRITES | RETURNS, KEEPS)),
    **dict.fromkeys((operator.contains, intrinsics._not_contains_), (READS,)),
    **dict.fromkeys((operator.setitem, intrinsics._overwrite_item_), _SETS_ITEM),
    **dict.fromkeys((list.append, intrinsics._list_append_), (WRITES, KEEPS)),
    list.insert: (WRITES, READS, KEEPS),
    list.extend: (WRITES, KEEPS),
    operator.delitem: (WRITES, READS),
    list.reverse: (WRITES,),
    list.clear: (WRITES,),
}
"""By function of the interpreter, what it does with each argument; the last entry is for all arguments that
follow."""

_DECIDED_BY_ALL: frozenset[Any] = frozenset({*_IN_PLACE, operator.contains, intrinsics._not_contains_})
"""Functions that may do anything with an argument if the class of another argument answers for them."""

_WITH_OPTIONS: frozenset[Any] = frozenset({zip, enumerate})
"""Functions whose keyword arguments are neither called nor changed."""
_CHOOSING: frozenset[Any] = frozenset({sum, min, max})
"""Functions that may give one of several arguments."""


def uses(call: Instruction, knowledge: EffectKnowledge, *, is_list: bool = False) -> Sequence[Use] | None:
    """Per argument, what `call` does with its memory: with that of an array, or (`is_list`) of a list of
    numbers. None if the function is not known."""
    found = called(call)
    if found is None:
        return None
    use = _uses(found, call, knowledge, is_list)
    lost = HANDS_ON if is_list else READS  # what is in a list has no memory
    if is_number(type_of(call)):
        lost = HANDS_ON | RETURNS
    return [u if u is ANYTHING else u & ~lost for u in use]


def _uses(found: Called, call: Instruction, knowledge: EffectKnowledge, is_list: bool) -> Sequence[Use]:
    function, arguments = found
    count = len(arguments)
    if function in HARMLESS:
        return [READS] * count
    if function is intrinsics._getattr_:
        return _of_attribute(arguments, is_list)
    if function is intrinsics._new_:
        is_slice = isinstance(arguments[0], Const) and arguments[0].value is slice
        return [RETURNS if is_slice else ANYTHING] * count
    summary = SUMMARIES.get(function)
    if summary is None and is_function(function) and not knowledge.rows(function):
        return _of_function(function, call, arguments, knowledge)
    if summary is None or (function in _BY_RULE and not is_list):
        return _of_rows(function, call, arguments, knowledge, is_list)
    is_open = function in _DECIDED_BY_ALL and not all(map(_has_no_say, arguments))
    if is_open or (call.keywords and function not in _WITH_OPTIONS):
        return [ANYTHING] * count
    if arguments and _takes_copies(arguments[0]):
        summary = tuple(use & ~KEEPS for use in summary)
    if function in _CHOOSING and count > 1:
        return [HANDS_ON | RETURNS] * count
    return [summary[min(i, len(summary) - 1)] for i in range(count)]


_BY_RULE: frozenset[Any] = frozenset({sum, min, max, abs, sorted, list, tuple, any, all})
"""Functions whose rules say more of what is done with arrays than `SUMMARIES` does."""


def _has_no_say(value: Value) -> bool:
    """Whether the class of `value` leaves to others what an operator does."""
    known = type_of(value)
    return is_list(known) or is_passive(known)


def is_passive(type_: AbstractType) -> bool:
    """Whether values of `type_` have no memory but that of arrays of numbers, and no class that has a say
    in what is done to them."""
    if isinstance(type_, TupleType):
        return all(map(is_passive, type_.elements))
    if isinstance(type_, IteratorType | ListType):
        return is_passive(type_.element)
    if isinstance(type_, ArrayType):
        return not type_.dtype.startswith(("object", "void", "record"))
    if isinstance(type_, ConstType):
        return isinstance(type_.value, type | types.ModuleType)
    return is_number(type_) or (isinstance(type_, Exact) and _is_passive_class(type_.cls))


_PASSIVE = (str, types.NoneType, slice, range, type(...), type)


def _is_passive_class(cls: type) -> bool:
    is_array = cls.__name__ == "ndarray" and cls.__module__ == "numpy"
    return cls in _PASSIVE or is_array or is_numpy_number(cls, "number") or is_numpy_number(cls, "bool")


def _takes_copies(target: Value) -> bool:
    """Whether `target` takes copies of the numbers that are written into it, as an array does: a list would
    keep what it gets."""
    known = type_of(target)
    return isinstance(known, ArrayType) and not known.dtype.startswith(("object", "void", "record"))


def makes_array(function: Any, call: Instruction) -> bool:
    """Whether `call` has NumPy make a new array of a list of numbers."""
    module = str(getattr(function, "__module__", None) or "")
    is_maker = getattr(function, "__name__", "") in ("array", "asarray")
    return is_maker and module.partition(".")[0] == "numpy" and not call.keywords


def _of_attribute(arguments: Sequence[Value], is_list: bool) -> Sequence[Use]:
    name = arguments[1]
    if is_list or not isinstance(name, Const):
        return [ANYTHING, ANYTHING]
    # A method that is read is a name of the array; calls of it that are known do not use what was read.
    return [READS if name.value in DESCRIPTIONS else RETURNS, READS]


def _of_function(
    function: Any, call: Instruction, arguments: Sequence[Value], knowledge: EffectKnowledge
) -> Sequence[Use]:
    """Per argument, what a function written in Python does with it."""
    binding = knowledge.bind(function, len(arguments), call.keywords)
    if binding is None:
        return [ANYTHING] * len(arguments)
    reads = knowledge.only_reads(binding.function, bound_types(binding, arguments))
    # What a function returns it does more than read; but a generator that it makes has its parameters.
    found = [RETURNS if function.__code__.co_flags & _MAKES_OBJECT else READS] * len(arguments)
    for slot, only_reads in zip(binding.slots, reads, strict=True):
        if not isinstance(slot, Const) and not only_reads:
            found[slot] = ANYTHING
    return found


_MAKES_OBJECT = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_DERIVED = (RowKind.OVERLAY, RowKind.PER_MODE, RowKind.OPT_OUT)
"""Kinds of rows whose function is, or may be, derived."""


def _of_rows(
    function: Any,
    call: Instruction,
    arguments: Sequence[Value],
    knowledge: EffectKnowledge,
    is_list: bool,
) -> Sequence[Use]:
    """Per argument, what a function that has rules does with it, as far as the rules say it."""
    if is_list:
        return [READS if makes_array(function, call) else ANYTHING] * len(arguments)
    row = knowledge.row(function, deciding([type_of(v) for v in arguments], call.keywords))
    rows = knowledge.rows(function) if row is None else [row]
    if len(rows) == 1 and rows[0].kind is RowKind.OVERLAY:
        return _of_function(rows[0].body, call, arguments, knowledge)
    if not rows or any(row.kind in _DERIVED for row in rows) or not _keeps_nothing(function):
        return [ANYTHING] * len(arguments)
    found = [READS] * len(arguments)
    for row in rows:
        found = [u | more for u, more in zip(found, row.uses(len(arguments), call.keywords), strict=True)]
    return found


def _keeps_nothing(function: Any) -> bool:
    """Whether a function with rules is of a library that keeps no argument unless a rule says so."""
    owner = getattr(function, "__objclass__", function)
    module = str(getattr(owner, "__module__", None) or type(function).__module__)
    return module.partition(".")[0] in ("numpy", "scipy", "_operator", "operator", "builtins", "math")


# -- what builders may treat like a number ---------------------------------------------------------------


def is_harmless(call: Instruction) -> bool:
    """Whether `call` asks only for the attributes that describe an array, not for its numbers, or does
    nothing to it."""
    found = called(call)
    if found is None:
        return False
    function, arguments = found
    if function is intrinsics._getattr_:
        name = arguments[1]
        is_description = isinstance(name, Const) and name.value in DESCRIPTIONS
        return is_description and isinstance(type_of(arguments[0]), ArrayType)
    return function in HARMLESS


def exposed(call: Instruction, row: Any, arrays: Collection[int] | None) -> Sequence[Value]:
    """The arguments of `call` whose memory somebody may see: the call may keep them, hand them on or change
    them, or its rule wants to be given their companions.

    row: the rule of `call`, if it is known.  arrays: which arguments its formulas differentiate by, if it is
    differentiated by formulas.
    """
    if call.op != "call" or call.block is None or call.block.handler is not None:
        return call.operands
    if row is None:
        return () if is_harmless(call) else call.operands
    arguments = call_parts(call)[1]
    options = row.uncovered(len(arguments) - len(call.keywords))
    if any(has_shadow(t) or has_cotangent(t) for t in (type_of(arguments[i]) for i in options)):
        return call.operands  # if one is active, the call is made at run time, and is given all companions
    if row.mutates:
        return [arguments[0], *arguments[max(row.takes_values, 1) :]]  # what is overwritten is memory
    if row.is_zero(len(arguments), call.keywords):
        return ()
    if arrays is not None:
        return [v for i, v in enumerate(arguments) if i not in arrays]
    return arguments if call.keywords else arguments[row.takes_values :]
