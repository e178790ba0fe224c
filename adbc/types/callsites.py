"""What becomes of each call: the decision that both builders share.

A call is differentiated by the cheapest means that is right (design: inactive, inline, primitive,
derived, dynamic).  This module decides which, from the inferred types, from which values are active
and from what the rule table says; it writes no code.  The answers are the kinds of `types.kinds`.

The decision goes by what is called: syntax and operators have a small function each (`_BY_CALLEE`), which
may leave the answer open; then the rule decides, if there is one, or else the function's own code.
"""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.records import record
from adbc.rules.kinds import RowKind
from adbc.tangents.fields import plain_check
from adbc.types.array_calls import (
    DTYPE_CODES,
    formula_call,
    is_inline_number,
    is_item,
    is_moved,
    is_part_write,
    is_update,
    is_view,
    kind_of_numbers,
)
from adbc.types.inference import call_parts, may_answer_in_python, type_of
from adbc.types.keywords import deciding, drops_keywords
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    FLOAT,
    AbstractType,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    TupleType,
    ValueArrayType,
    class_of,
    has_cotangent,
    has_shadow,
)
from adbc.types.library_calls import is_of_constants, may_run_as_it_is
from adbc.types.number_calls import is_global_number, is_plain_step, part_of_number
from adbc.types.places import (
    Places,
    is_beside,
    is_count,
    is_default,
    is_field,
    is_kept,
    is_variable,
    method_front,
    named_place,
)
from adbc.types.records import record_field, unhidden
from adbc.types.slot_calls import is_container_slot, is_slot
from adbc.types.texts import is_open_text, of_text

__all__ = [
    "AS_THEY_ARE",
    "DESCRIPTIONS",
    "Binding",
    "CallSite",
    "Called",
    "Knowledge",
    "activity",
    "called",
    "classify",
    "name_of",
    "row_of",
]


@record(frozen=True)
class Binding:
    """How a call's arguments meet the parameters of a Python function known at build time.

    `slots` has, per parameter, the index of an argument of the call, or a `Const` holding the default.
    Where `function` has a closure it stands for all functions with its code: a rule is given the function
    that is called, and its shadow.
    """

    function: types.FunctionType
    slots: tuple[int | Const, ...]


@record(slots=True, eq=False)
class CallSite:
    """What becomes of a call, and its parts.  `function` is the Python object called, if known."""

    kind: Kind
    function: Any
    callee: Value
    arguments: list[Value]
    keywords: tuple[str, ...] = ()
    row: Any = None
    binding: Binding | None = None
    options: dict[str, Value] | None = None
    """The arguments that a rule is given by name; with these, `arguments` are those that it is given by
    position."""


class Knowledge(Places, Protocol):
    """What the builders may ask of the rest of the system."""

    def rows(self, function: object) -> Sequence[Any]:
        """All rules of `function`."""

    def row(self, function: object, types: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` for arguments of these types, if the types decide it."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How `count` arguments, the last ones by keyword, bind to `function` if it is written in Python, can
        be lifted and has no captured state; else None.  Of a `ClosureType` the defaults are not known."""

    def bind_called(
        self, function: types.FunctionType, count: int, keywords: tuple[str, ...]
    ) -> Binding | None:
        """How arguments bind to `function`, whose cells may get other contents, if it is called as all that
        have its code are: whoever calls it gives it to the rule."""

    def finds_nothing(self, function: object, types: Sequence[AbstractType]) -> bool:
        """Whether `function` has a cache, finds functions and constants only, and `types` are of numbers."""

    def only_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> Sequence[bool]:
        """Per parameter of these types, whether `function` only reads it (`types.readers`)."""


def name_of(function: Any) -> str:
    """The name of a function in messages.  Attributes of the user's objects are not asked for."""
    if not isinstance(function, _NAMED):
        return f"a {type(function).__name__}"
    module = getattr(function, "__module__", None)
    is_ours = module in (None, "builtins", "_operator") or str(module).partition(".")[0] == "adbc"
    name = getattr(function, "__qualname__", None) or repr(function)
    return str(name) if is_ours else f"{module}.{name}"


_NAMED = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.WrapperDescriptorType, type,
)  # fmt: skip


def classify(call: Instruction, active: Callable[[Value], bool], knowledge: Knowledge) -> CallSite:
    """Decide what becomes of `call`."""
    callee, arguments = call_parts(call)
    function: Any = None
    if isinstance(callee, Const):
        function = callee.value
    elif isinstance(known := type_of(callee), ConstType):
        function = known.value
    elif isinstance(known, ClosureType) and knowledge.bind(known, len(arguments), call.keywords) is not None:
        function = known
    of_each, any_active = [type_of(a) for a in arguments], any(map(active, arguments))
    open_call = _OpenCall(
        call, callee, function, arguments, active, knowledge, call.keywords, of_each, any_active
    )
    if function is None:
        return open_call.site(Kind.DYNAMIC)
    if function is intrinsics._attempt_:
        return _attempted(call, active, knowledge)
    try:
        decide = _BY_CALLEE.get(function)
    except TypeError:  # an unhashable callable
        return open_call.site(Kind.DYNAMIC)
    found = None if decide is None else decide(open_call)
    if isinstance(found, Kind):
        return open_call.site(found)
    if found is not None:
        return found
    row = knowledge.row(function, deciding(open_call.types, call.keywords))
    return _by_function(open_call) if row is None else _by_row(open_call, row)


def _attempted(call: Instruction, active: Callable[[Value], bool], knowledge: Knowledge) -> CallSite:
    """What becomes of a call that is attempted: one of a function whose rule is known is bound to that."""
    plain = Instruction("call", call.operands[1:], keywords=call.keywords)
    site = classify(plain, active, knowledge)
    if site.kind is Kind.DERIVED:
        return dataclasses.replace(site, kind=Kind.ATTEMPT)
    return CallSite(Kind.ATTEMPT, site.function, call.operands[1], list(call.operands[2:]), call.keywords)


@record(slots=True, eq=False)
class _OpenCall:
    """A call, taken apart, the kind of which is still open."""

    call: Instruction
    callee: Value
    function: Any
    arguments: list[Value]
    active: Callable[[Value], bool]
    knowledge: Knowledge
    keywords: tuple[str, ...]
    types: list[AbstractType]
    any_active: bool

    def site(self, kind: Kind, **more: Any) -> CallSite:
        return CallSite(kind, self.function, self.callee, self.arguments, self.keywords, **more)


# -- by what is called ----------------------------------------------------------------------------------

_Answer = Kind | CallSite | None
"""What becomes of a call; None if the rule or the code of what is called decides."""


def _inactive(call: _OpenCall) -> _Answer:
    return Kind.PRIMAL


def _asking(call: _OpenCall) -> _Answer:
    """What becomes of a call that asks the class of an argument, which may answer in Python and change
    active state."""
    may_answer = call.any_active or any(map(may_answer_in_python, call.arguments))
    is_unknown = may_answer and call.knowledge.row(call.function, deciding(call.types, call.keywords)) is None
    return Kind.DYNAMIC if is_unknown else Kind.PRIMAL


def _checking(call: _OpenCall) -> _Answer:
    if not _is_plain_check(call.arguments):
        return Kind.DYNAMIC
    if call.function is isinstance and call.knowledge.row(isinstance, call.types) is None:
        return Kind.DYNAMIC  # an instance is asked of which class it is
    return Kind.PRIMAL


def _in_context(call: _OpenCall) -> _Answer:
    return Kind.CONTEXTUAL


def _reading(kind: Kind, container: int) -> Callable[[_OpenCall], _Answer]:
    """What becomes of a call that reads: it is of this `kind` if argument number `container`, which is read
    from, is active."""
    return lambda call: kind if call.active(call.arguments[container]) else Kind.PRIMAL


def _getting(call: _OpenCall) -> _Answer:
    """What becomes of a call that reads an attribute."""
    is_active = call.active(call.arguments[0])
    if is_field(call.call, call.knowledge) or is_kept(call.call, call.knowledge):
        return Kind.FIELD_LOAD if is_active else Kind.PRIMAL
    if is_active and (is_default(call.call, call.knowledge) or is_beside(call.call, call.knowledge)):
        return Kind.FIELD_LOAD
    if is_variable(call.call, call.knowledge):
        return Kind.CONTEXTUAL
    if method_front(call.call, call.knowledge) is not None:
        return Kind.METHOD if is_active else Kind.PRIMAL
    if _is_description(call.arguments, call.types):
        return Kind.PRIMAL
    return _getting_part(call)


def _having(call: _OpenCall) -> _Answer:
    """What becomes of a call that asks whether there is an attribute."""
    place = named_place(call.arguments[0], call.arguments[1]) if len(call.arguments) == 2 else None
    if place is not None and call.knowledge.asks_nothing(*place):
        return Kind.PRIMAL
    return _asking(call)


def _getting_part(call: _OpenCall) -> _Answer:
    """What becomes of a call that reads the real or the imaginary part of a number."""
    part = part_of_number(call.types[0], call.arguments[1])
    if part is None or not call.any_active:
        return None if part is None else Kind.PRIMAL
    row, kind = call.knowledge.row(part, call.types[:1]), kind_of_numbers((call.types[0], FLOAT))
    if row is None or row.kind is not RowKind.SCALAR or kind is None:
        return None
    return CallSite(kind, call.function, call.callee, call.arguments[:1], row=row)


def _setting(call: _OpenCall) -> _Answer:
    """What becomes of a call that writes an attribute."""
    if is_count(call.call):
        return Kind.CONTEXTUAL
    if is_default(call.call, call.knowledge):
        return Kind.FIELD_PUT
    if not is_field(call.call, call.knowledge):
        return None
    return Kind.FIELD_STORE if call.types[2] == FLOAT else Kind.FIELD_PUT


def _getting_cell(call: _OpenCall) -> _Answer:
    if call.types[0] != _CELL:
        return None
    return Kind.CELL_LOAD if call.active(call.arguments[0]) else Kind.PRIMAL


def _overwriting_item(call: _OpenCall) -> _Answer:
    return call.site(Kind.OVERWRITE_ITEM, row=call.knowledge.row(operator.setitem, call.types[:3]))


def _owning(call: _OpenCall) -> _Answer:
    return Kind.OWN if call.any_active else Kind.PRIMAL


def _subscript(call: _OpenCall) -> _Answer:
    if len(call.arguments) != 2 or call.keywords:
        return None
    if call.any_active and is_view(call.types):
        if type(type_of(call.call)) is ArrayType:
            return Kind.VIEW
        if type(type_of(call.call)) is ValueArrayType:
            return Kind.PART
    return _projection(call)


def _projection(call: _OpenCall) -> _Answer:
    """What becomes of a call that takes an element of a tuple."""
    container, index = call.types[0], call.arguments[1]
    if not isinstance(container, TupleType):
        return None
    if not call.any_active:
        return Kind.PRIMAL
    count = len(container.elements)
    is_known = isinstance(index, Const) and isinstance(index.value, int) and -count <= index.value < count
    return Kind.PROJECT if is_known else None


def _making(call: _OpenCall) -> _Answer:
    """What becomes of a call that makes a display, a slice or a function."""
    kind = call.arguments[0].value if isinstance(call.arguments[0], Const) else None
    if kind is tuple:
        return Kind.TUPLE if call.any_active else Kind.PRIMAL
    if kind is types.FunctionType:
        return Kind.CONTEXTUAL
    if kind is list and (row := call.knowledge.row(call.function, call.types[:1])) is not None:
        return Kind.EMPTY_LIST if len(call.arguments) == 1 else call.site(Kind.ROW, row=row)
    if kind is slice:
        return Kind.DYNAMIC if call.any_active else Kind.PRIMAL
    return None


def _renaming(call: _OpenCall) -> _Answer:
    return Kind.COPY if call.any_active and not is_global_number(call.arguments) else Kind.PRIMAL


def _unpacking(call: _OpenCall) -> _Answer:
    known, wanted = call.types[0], call.arguments[1]
    if isinstance(known, TupleType) and isinstance(wanted, Const) and wanted.value == len(known.elements):
        return Kind.COPY if call.any_active else Kind.PRIMAL
    return None


_OF_CONSTANTS = (range, type(iter(range(0))), str)
"""Classes of iterables whose elements have no derivative."""


def _iterating(call: _OpenCall) -> _Answer:
    (source,) = call.types
    if call.function is intrinsics._iter_ and is_open_text(call.arguments[0]):
        return Kind.TEXT
    if may_answer_in_python(call.arguments[0]):
        return None
    has_derivative = has_shadow(source) or has_cotangent(source)
    return None if has_derivative and class_of(source) not in _OF_CONSTANTS else Kind.PRIMAL


AS_THEY_ARE: frozenset[Any] = frozenset((
    operator.is_, operator.is_not, intrinsics._exhausted_, callable, intrinsics._import_,
    intrinsics._import_from_, id, intrinsics._is_raised_, intrinsics._thrown_, intrinsics._exception_,
    intrinsics._raised_, intrinsics._class_is_, intrinsics._array_is_, intrinsics._form_is_,
    intrinsics._method_is_, intrinsics._code_is_,
    intrinsics._list_iterator_, intrinsics._list_reversed_,
    intrinsics._view_iterator_, intrinsics._next_entry_, intrinsics._next_place_, intrinsics._observe_,
    intrinsics._unpack_list_, intrinsics._check_length_, intrinsics._takes_,
    intrinsics._takes_named_, intrinsics._makes_generator_, intrinsics._iterates_by_generator_,
    # What is being handled is the state of the thread: the forwards pass keeps it as the primal does.
    intrinsics._push_exc_info_, intrinsics._pop_except_, intrinsics._reraise_, intrinsics._check_exc_match_,
    intrinsics._go_on_raising_,
    intrinsics._check_eg_match_, intrinsics._prep_reraise_star_, intrinsics._get_len_,
    intrinsics._match_sequence_, intrinsics._match_mapping_, intrinsics._intrinsic_1_,
    intrinsics._intrinsic_2_, intrinsics._pass_on_, intrinsics._refuse_, unhidden,
    intrinsics._has_field_,
))  # fmt: skip
"""Functions that nothing active comes out of, whatever they are given: their calls are made as they are."""
_ASKING: tuple[Any, ...] = (
    operator.not_, operator.contains, intrinsics._not_contains_, intrinsics._bool_, len,
)  # fmt: skip
_CONTEXTUAL: tuple[Any, ...] = (
    intrinsics._global_, intrinsics._freevar_, intrinsics._globals_, intrinsics._delete_global_,
    intrinsics._store_global_, intrinsics._instance_,
)  # fmt: skip

_BY_CALLEE: dict[Any, Callable[[_OpenCall], _Answer]] = {
    **dict.fromkeys(AS_THEY_ARE, _inactive),
    **dict.fromkeys(_ASKING, _asking),
    **dict.fromkeys(_CONTEXTUAL, _in_context),
    **dict.fromkeys((isinstance, issubclass), _checking),
    **dict.fromkeys(
        (intrinsics._next_at_, intrinsics._take_at_, intrinsics._next_value_), _reading(Kind.NEXT, 1)
    ),
    **dict.fromkeys((intrinsics._element_, intrinsics._entry_value_), _reading(Kind.ELEMENT, 1)),
    **dict.fromkeys((intrinsics._next_key_, intrinsics._entry_key_), lambda call: Kind.KEY),
    **dict.fromkeys((intrinsics._resume_iterator_, intrinsics._resume_view_), _reading(Kind.RESUME, 1)),
    intrinsics._getattr_: _getting,
    hasattr: _having,
    record_field: _reading(Kind.RECORD_LOAD, 0),
    intrinsics._setattr_: _setting,
    intrinsics._cell_get_: _getting_cell,
    intrinsics._cell_peek_: _getting_cell,
    intrinsics._init_field_: lambda call: Kind.FIELD_INIT,
    intrinsics._overwrite_field_: lambda call: Kind.OVERWRITE_FIELD,
    intrinsics._overwrite_item_: _overwriting_item,
    intrinsics._own_: _owning,
    intrinsics._expose_: lambda call: Kind.COPY if call.any_active else Kind.FRESH,
    intrinsics._new_: _making,
    intrinsics._check_: _renaming,
    intrinsics._assume_: _renaming,
    intrinsics._project_: _projection,
    intrinsics._unpack_: _unpacking,
    intrinsics._iter_: _iterating,
    intrinsics._next_: _iterating,
    operator.getitem: _subscript,
}
"""By callee that has a meaning of its own, the function that decides what becomes of a call."""


# -- by the rule, by the function -----------------------------------------------------------------------


def _by_row(call: _OpenCall, row: Any) -> CallSite:
    """What becomes of a call that has the rule `row`."""
    result = type_of(call.call)
    if (found := of_text(row, call.arguments, call.keywords, call.active)) is not None:
        return call.site(found, row=row)
    if row.stops and not any(map(has_shadow, call.types)) and not call.keywords:
        return call.site(Kind.PRIMAL, row=row)
    if row.is_apart or row.is_late:
        return call.site(Kind.DYNAMIC)
    if row.is_drawn and not call.any_active and not has_shadow(result):
        return call.site(Kind.PRIMAL, row=row)
    if row.kind in (RowKind.OVERLAY, RowKind.PER_MODE):
        binding = call.knowledge.bind(row.body, len(call.arguments), call.keywords)
        return call.site(Kind.DYNAMIC) if binding is None else call.site(Kind.DERIVED, binding=binding)
    if any(call.active(call.arguments[i]) for i in row.uncovered(len(call.arguments) - len(call.keywords))):
        return call.site(Kind.DYNAMIC)  # where the rule refuses it
    kind = _of_arrays(call, row, result)
    is_pure = not call.any_active and row.is_pure(len(call.arguments), call.keywords)
    is_zero = row.is_zero(len(call.arguments), call.keywords)
    if is_zero and row.is_step:
        is_zero = not call.any_active
    if is_zero and row.is_checked:
        is_zero = not any(call.active(a) and has_shadow(type_of(a)) for a in call.arguments)
    if kind is None and (is_zero or is_pure):
        kind = Kind.FRESH if has_shadow(result) else Kind.PRIMAL
    if kind is None and call.keywords:
        bound = _bound(call, row)
        if bound is None:
            return call.site(Kind.DYNAMIC)
        arguments, options = bound
        return CallSite(Kind.ROW, call.function, call.callee, arguments, call.keywords, row, options=options)
    if kind is None:
        kind = _of_slot(call, row)
    if kind is None and row.is_step and not call.keywords and is_plain_step(row, call.arguments, result):
        kind = Kind.STEP
    if kind is None and row.kind is RowKind.SCALAR and row.is_inline(len(call.arguments), call.keywords):
        kind = kind_of_numbers((*call.types, result))
        if kind is Kind.COMPLEX and row.is_looked_at and is_inline_number(result):
            kind = None  # the derivative of a real number by a real number is real: it checks that
    return call.site(Kind.ROW if kind is None else kind, row=row)


def _of_arrays(call: _OpenCall, row: Any, result: AbstractType) -> Kind | None:
    """The kind of a call that is differentiated by formulas, or whose result is treated like a number."""
    if type(result) is ValueArrayType:
        if call.any_active and is_moved(row, call.types, call.keywords):
            return Kind.MOVE
        is_zero = row.is_zero(len(call.arguments), call.keywords)
        return Kind.FORMULA if call.any_active and not is_zero else Kind.PRIMAL
    is_new = type(result) is ArrayType and result.dtype in DTYPE_CODES
    if not call.any_active or not (is_new or is_inline_number(result)):
        return None
    found = formula_call(row, call.types, call.keywords, result)
    return None if found is None or found.window else Kind.FORMULA


_OF_CONTAINERS = {"load": Kind.SLOT_LOAD, "store": Kind.SLOT_STORE, "append": Kind.SLOT_APPEND}
_OF_ARRAYS = {"load": Kind.LOAD, "store": Kind.STORE}


def _of_slot(call: _OpenCall, row: Any) -> Kind | None:
    """The kind of a call that reads or writes one slot, or updates an array."""
    access = row.inline
    if access is None:
        return None
    if access == "update":
        return Kind.UPDATE if is_update(call.types) else None
    if access == "item":
        read = Kind.LOAD if call.active(call.arguments[0]) else Kind.PRIMAL
        return read if is_item(call.types) else None
    if access == "store" and is_part_write(call.call, call.types):
        return Kind.WRITE
    if access == "load" and class_of(call.types[0]) is dict and call.active(call.arguments[1]):
        return None  # the rule sees whether the key has a derivative that is lost
    kinds = _OF_CONTAINERS if is_container_slot(access, call.types) else _OF_ARRAYS
    if kinds is _OF_ARRAYS and not is_slot(access, call.types):
        return None
    return Kind.PRIMAL if access == "load" and not call.active(call.arguments[0]) else kinds[access]


_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())


def _by_function(call: _OpenCall) -> CallSite:
    """What becomes of a call that no rule is known for."""
    function = call.function
    if not (call.any_active or call.keywords) and call.knowledge.finds_nothing(function, call.types):
        return call.site(Kind.CONTEXTUAL)
    is_written = is_function(function) and function not in _INTRINSICS
    if is_written and is_of_constants(function, call.arguments):
        return call.site(Kind.CONTEXTUAL)
    if is_written and may_run_as_it_is(function, call.call, [*filter(call.active, call.arguments)]):
        return call.site(Kind.DYNAMIC)
    if isinstance(function, ClosureType) or is_written:
        binding = call.knowledge.bind(function, len(call.arguments), call.keywords)
        if binding is None and is_written and _gives(call.callee, function):
            binding = call.knowledge.bind_called(function, len(call.arguments), call.keywords)
        if binding is not None:
            return call.site(Kind.DERIVED, binding=binding)
    return call.site(Kind.DYNAMIC)


def _gives(callee: Value, function: object) -> bool:
    """Whether `function` is what `callee` is, and not what an operator or an object asks."""
    known = type_of(callee)
    found = (
        callee.value if isinstance(callee, Const) else known.value if isinstance(known, ConstType) else None
    )
    return found is function


def _bound(call: _OpenCall, row: Any) -> tuple[list[Value], dict[str, Value]] | None:
    """The arguments that `row` is given by position and by name; None if those by name have a derivative,
    or if `row` is not the rule for the others."""
    positional = len(call.arguments) - len(call.keywords)
    by_name = dict(zip(call.keywords, call.arguments[positional:], strict=True))
    args, options = row.bind(call.arguments[:positional], by_name)
    values = [v if isinstance(v, Value) else Const(v) for v in args]
    if any(map(call.active, options.values())) or (options and drops_keywords(row)):
        return None
    if call.knowledge.row(call.function, [type_of(v) for v in values]) is not row:
        return None
    return values, options


def _is_description(arguments: Sequence[Value], types_: Sequence[AbstractType]) -> bool:
    """Whether an attribute that is read describes an array without being made of its numbers."""
    name = arguments[1]
    return isinstance(types_[0], ArrayType) and isinstance(name, Const) and name.value in DESCRIPTIONS


DESCRIPTIONS = frozenset({"shape", "size", "ndim", "dtype", "nbytes", "itemsize", "strides"})
"""The attributes that describe an array and are not made of its numbers."""


class Called(NamedTuple):
    """A call of a known function, taken apart."""

    function: Any
    arguments: Sequence[Value]


def called(call: Instruction) -> Called | None:
    """The function and the arguments of `call`; None if it is no call, or not of a known object that can be
    hashed."""
    if call.op != "call":
        return None
    callee, arguments = call_parts(call)
    if not isinstance(callee, Const):
        return None
    try:
        hash(callee.value)
    except TypeError:
        return None
    return Called(callee.value, arguments)


def row_of(call: Instruction, knowledge: Knowledge) -> Any:
    """The rule by which `call` is differentiated, if the types decide it."""
    found = called(call)
    return None if found is None else knowledge.row(found.function, [type_of(a) for a in found.arguments])


def _is_plain_check(arguments: Sequence[Value]) -> bool:
    """Whether it is known that the class that is checked against does not answer for itself."""
    kind = arguments[1] if len(arguments) == 2 else None
    if isinstance(kind, Const):
        return plain_check(kind.value)
    if kind is None:
        return True
    known = type_of(kind)
    if isinstance(known, ConstType):
        return plain_check(known.value)
    return isinstance(known, TupleType) and all(
        isinstance(t, ConstType) and plain_check(t.value) for t in known.elements
    )


_CELL = Exact(types.CellType)


class Memory(Protocol):
    """What is known of the arrays of a graph by the memory that they lie in (`types.quiet_memory`)."""

    def is_quiet(self, value: Value) -> bool:
        """Whether nothing active is in the memory of `value`, as far as is known."""

    def wake(self, value: Value) -> bool:
        """Let all arrays in the memory of `value` count as active; whether they did not before."""

    def written(self, call: Instruction) -> Sequence[Value]:
        """The arrays into which `call` writes."""

    def is_name(self, call: Instruction) -> bool:
        """Whether `call` changes nothing and gives another name of the memory of one of its arguments."""


_QUIET = frozenset({Kind.PRIMAL, Kind.FRESH, Kind.UPDATE, Kind.COPY})
"""The kinds of calls of which it is known where the memory of the result comes from."""


def activity(
    graph: Graph, active_arguments: Sequence[bool], knowledge: Knowledge, memory: Memory
) -> tuple[set[Value], dict[Instruction, CallSite]]:
    """The values that may carry a derivative, and what becomes of every call: activity analysis.

    Optimistic, to a fixed point: nothing is active until something makes it so, and in the `memory` of arrays
    nothing is until it is written there.
    """
    active: set[Value] = set()
    for argument, is_active in zip(graph.arguments, active_arguments, strict=True):
        if is_active and _differentiable(argument):
            active.add(argument)
    changed = True
    sites: dict[Instruction, CallSite] = {}
    # Of what a call is classified by: the values that were not active then, and the memory of the result.
    seen: dict[Instruction, tuple[set[Value], bool]] = {}
    while changed:
        changed = False
        for block in graph.blocks:
            values: list[Phi | Instruction] = [*block.phis, *block.instructions]
            for value in values:
                if isinstance(value, Phi):
                    now = not active.isdisjoint(value.operands.values())
                elif value.op != "call":
                    now = True  # what a handler catches may carry anything
                else:
                    is_quiet, known = memory.is_quiet(value), seen.get(value)
                    if known is not None and known[1] == is_quiet and active.isdisjoint(known[0]):
                        continue
                    asked = {v for v in value.operands if v not in active}
                    seen[value] = asked, is_quiet
                    if given_active := not active.isdisjoint(value.operands):
                        for array in memory.written(value):
                            changed = memory.wake(array) or changed
                    site = classify(value, partial(_ask, active, asked), knowledge)
                    is_name = site.kind is Kind.ROW and memory.is_name(value)
                    if is_quiet and (given_active or not (site.kind in _QUIET or is_name)):
                        changed = memory.wake(value) or changed
                        is_quiet = False
                    if is_quiet and (site.kind is Kind.FRESH or is_name):
                        site = dataclasses.replace(site, kind=Kind.PRIMAL)
                    sites[value] = site
                    now = not is_quiet and site.kind is not Kind.PRIMAL and site.kind is not Kind.STEP
                if now and value not in active and _differentiable(value):
                    active.add(value)
                    changed = True
    return active, sites


def _ask(active: set[Value], asked: set[Value], value: Value) -> bool:
    """Whether `value` is active as far as is known; if not, it is noted, for it may become so."""
    if value not in active:
        asked.add(value)
    return value in active


def _differentiable(value: Value | Argument) -> bool:
    type = type_of(value)
    return has_shadow(type) or has_cotangent(type)
