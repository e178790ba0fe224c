"""From callee to opcodes: one row per function that has syntax of its own.

A *plan* says how an instruction is written: a list of steps in order of evaluation.  A step is a
`Value` to push, a `Callee` to push as the function of a call, or a tuple that names a method of the
assembler and its arguments.  The scheduler reads the values of a plan to see what may stay on the
stack; the writer then performs the steps.

This module refuses to know where values live and which interpreter is running.
"""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable
from typing import Any

from adbc.emit.delegation import delegate, iterator_to_delegate_to
from adbc.ir import intrinsics as i
from adbc.ir.interpret import new_function
from adbc.ir.ops import OPS
from adbc.ir.values import Const, Instruction, Value
from adbc.records import record
from adbc.types.records import record_field

__all__ = ["BINARY", "COMPARE", "UPDATES", "Callee", "Form", "Plan", "Step", "form_of", "plan_of"]


@record(frozen=True, slots=True)
class Callee:
    """A step that pushes `value` as the function of a call, with the NULL that goes with it.

    It may be pushed as a method and its receiver, unless it `is_alone`: calls with ``*`` take no receiver.
    """

    value: Value
    is_alone: bool = False


Step = Value | Callee | tuple[Any, ...]


@record(slots=True)
class Plan:
    """How an instruction is written: `steps` in order; `pushes` tells whether a value is left on the stack
    (else the result is None).

    With `container`, what is left is not the result but the container that was updated in place.
    """

    steps: list[Step]
    pushes: bool = True
    container: bool = False


@record(slots=True)
class Form:
    """An instruction seen as a call: `function` is the Python object called, or None if it is not known."""

    function: Any
    callee: Value
    arguments: list[Value]
    keywords: tuple[str, ...]


class _Unknown:
    """Stands for the function of a call whose callee is not a constant."""


UNKNOWN = _Unknown()


def form_of(instruction: Instruction) -> Form:
    """The call that an instruction stands for; raw operations become calls as their row in `OPS` says."""
    if instruction.op == "call":
        callee = instruction.operands[0]
        function = callee.value if isinstance(callee, Const) else UNKNOWN
        return Form(function, callee, instruction.operands[1:], instruction.keywords)
    row = OPS[instruction.op]
    if row.function is None:
        return Form(UNKNOWN, Const(None), list(instruction.operands), ())
    arguments: list[Value] = list(instruction.operands)
    if row.attribute is not None:
        attribute = instruction.attribute
        extra: list[Value] = [Const(x) for x in (attribute if type(attribute) is tuple else (attribute,))]
        at = {"leading": 0, "middle": 1, "trailing": len(arguments)}[row.attribute]
        arguments[at:at] = extra
    if row.kind is not None:
        arguments.insert(0, Const(row.kind))
    return Form(row.function, Const(row.function), arguments, ())


BINARY: dict[int, str] = {}
COMPARE: dict[int, str] = {id(getattr(operator, name)): name for name in ["lt", "le", "eq", "ne", "gt", "ge"]}
_TABLE: dict[int, Callable[[list[Value]], Plan | None]] = {}


def _fill_binary() -> None:
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "lshift",
        "rshift",
        "xor",
    ]:
        BINARY[id(getattr(operator, name))] = name
        BINARY[id(getattr(operator, f"i{name}"))] = f"i{name}"
    for name in ("and", "or"):
        BINARY[id(getattr(operator, f"{name}_"))] = name
        BINARY[id(getattr(operator, f"i{name}"))] = f"i{name}"


_fill_binary()


def _row(
    function: Callable[..., Any], arity: int | None = None
) -> Callable[[Callable[[list[Value]], Plan | None]], None]:
    """Register what makes the plan of `function`, for calls with `arity` arguments (None: any number)."""

    def register(make: Callable[[list[Value]], Plan | None]) -> None:
        _TABLE[id(function)] = lambda a: make(a) if arity is None or len(a) == arity else None

    return register


def _simple(
    function: Callable[..., Any],
    arity: int,
    *step: Any,
    order: tuple[int, ...] | None = None,
    pushes: bool = True,
) -> None:
    """Register a plan of `function` that pushes the arguments in `order` and does one step."""
    chosen = tuple(range(arity)) if order is None else order
    _row(function, arity)(lambda a: Plan([*(a[k] for k in chosen), step], pushes))


def _text(value: Value) -> str | None:
    return value.value if isinstance(value, Const) and type(value.value) is str else None


_simple(operator.getitem, 2, "getitem")
_simple(operator.setitem, 3, "setitem", order=(2, 0, 1), pushes=False)
_simple(operator.delitem, 2, "delitem", pushes=False)
_simple(operator.contains, 2, "contains", False, order=(1, 0))
_simple(i._not_contains_, 2, "contains", True, order=(1, 0))
_simple(operator.is_, 2, "is_", False)
_simple(operator.is_not, 2, "is_", True)
_simple(operator.not_, 1, "not_")
_simple(operator.neg, 1, "unary", "neg")
_simple(operator.pos, 1, "unary", "pos")
_simple(operator.invert, 1, "unary", "invert")
_simple(i._bool_, 1, "truth")
_simple(i._iter_, 1, "iter")
_simple(i._project_, 2, "getitem")
_simple(i._list_to_tuple_, 1, "list_to_tuple")

_simple(i._yield_, 1, "yield_value")
_simple(delegate, 2, "yield_from")
_simple(iterator_to_delegate_to, 1, "iter_to_yield_from")

_simple(i._push_exc_info_, 1, "push_exc_info")
_simple(i._pop_except_, 1, "pop_except", pushes=False)
_simple(i._reraise_, 1, "reraise", pushes=False)
_simple(i._check_exc_match_, 2, "check_exc_match")
_simple(i._check_eg_match_, 2, "check_eg_match")
_simple(i._prep_reraise_star_, 2, "prep_reraise_star")
_simple(i._get_len_, 1, "get_len")
_simple(i._match_sequence_, 1, "match_sequence")
_simple(i._match_mapping_, 1, "match_mapping")
_simple(i._match_keys_, 2, "match_keys")


def _numbered(function: Callable[..., Any], arity: int, step: str) -> None:
    """Register a plan of `function` where the last argument must be a constant: it is the argument of the
    opcode."""

    def make(a: list[Value]) -> Plan | None:
        number = a[-1].value if isinstance(a[-1], Const) else None
        return Plan([*a[:-1], (step, number)]) if type(number) is int else None

    _row(function, arity)(make)


_numbered(i._match_class_, 4, "match_class")
_numbered(i._intrinsic_1_, 2, "intrinsic_1")
_numbered(i._intrinsic_2_, 3, "intrinsic_2")


@_row(i._load_special_, 2)
def _load_special(a: list[Value]) -> Plan | None:
    name = _text(a[1])
    if name not in ("__enter__", "__exit__"):
        return None
    return Plan([Callee(Const(i._load_special_)), a[0], ("check_special", name), a[1], ("call", 2, ())])


_OPCODES: dict[Callable[..., Any], str] = {
    i._list_append_: "LIST_APPEND",
    i._list_extend_: "LIST_EXTEND",
    i._set_add_: "SET_ADD",
    i._set_update_: "SET_UPDATE",
    i._map_add_: "MAP_ADD",
    i._dict_update_: "DICT_UPDATE",
}

UPDATES = frozenset(id(f) for f in (*_OPCODES, i._dict_merge_))
"""The ids of functions that change their first argument in place, by opcodes that leave it on the stack."""


def _update_row(function: Callable[..., Any], opcode: str) -> None:
    arity = 3 if opcode == "MAP_ADD" else 2
    _row(function, arity)(lambda a: Plan([*a, ("extend", opcode)], container=True))


for _function, _opcode in _OPCODES.items():
    _update_row(_function, _opcode)


@_row(i._globals_, 0)
def _globals(a: list[Value]) -> Plan:
    return call_plan(Const(builtins.globals), [])


@_row(i._dict_merge_, 3)
def _dict_merge(a: list[Value]) -> Plan:
    return Plan([a[2], ("padding",), a[0], a[1], ("dict_merge",), ("unpadding",)], container=True)


def _next_plan(iterator: Value) -> Plan:
    return call_plan(Const(builtins.next), [iterator, Const(i.EXHAUSTED)])


@_row(i._next_, 1)
def _next(a: list[Value]) -> Plan:
    return _next_plan(a[0])


_simple(i._list_iterator_, 1, "iter")


@_row(i._list_reversed_, 1)
def _list_reversed(a: list[Value]) -> Plan:
    return call_plan(Const(builtins.reversed), a)


@_row(i._view_iterator_, 2)
def _view_iterator(a: list[Value]) -> Plan:
    return Plan([Callee(a[1]), a[0], ("call", 1, ()), ("iter",)])


@_row(i._record_)
def _record(a: list[Value]) -> Plan:
    steps = [step for value in a[1:] for step in (value, ("extend", "LIST_APPEND"))]
    return Plan([a[0], *steps], container=True)


@_row(i._recall_, 1)
def _recall(a: list[Value]) -> Plan:
    return call_plan(Const(builtins.next), [a[0]])


@_row(i._take_at_, 3)
def _take_at(a: list[Value]) -> Plan:
    return call_plan(Const(builtins.next), [a[0]])


@_row(i._next_at_, 3)
def _next_at(a: list[Value]) -> Plan:
    return _next_plan(a[0])


@_row(i._exhausted_, 1)
def _exhausted(a: list[Value]) -> Plan:
    return Plan([a[0], Const(i.EXHAUSTED), ("is_", False)])


@_row(i._class_is_, 2)
def _class_is(a: list[Value]) -> Plan:
    return Plan([Callee(Const(type)), a[0], ("call", 1, ()), a[1], ("is_", False)])


@_row(i._form_is_, 2)
def _form_is(a: list[Value]) -> Plan | None:
    return Plan([a[0], ("form_is", a[1].value)]) if isinstance(a[1], Const) else None


def _of_name(function: Callable[..., Any], operation: str) -> None:
    """Register the plan of `function`, which does `operation` on an object and a name."""

    @_row(function, 2)
    def make(a: list[Value]) -> Plan | None:
        name = _text(a[1])
        return None if name is None else Plan([a[0], (operation, name)])


_of_name(i._getattr_, "getattr")
_of_name(record_field, "getattr")
_of_name(i._import_from_, "import_from")
_of_name(i._check_, "check")


@_row(i._setattr_, 3)
def _setattr(a: list[Value]) -> Plan | None:
    name = _text(a[1])
    return None if name is None else Plan([a[2], a[0], ("setattr", name)], False)


@_row(i._or_else_, 2)
def _or_else(a: list[Value]) -> Plan | None:
    return Plan([a[0], ("or_else", a[1].value)]) if isinstance(a[1], Const) else None


@_row(i._not_nan_, 1)
def _not_nan(a: list[Value]) -> Plan:
    return Plan([a[0], ("copy", 1), ("compare", "eq", True)])


@_row(i._nonzero_, 2)
def _nonzero(a: list[Value]) -> Plan | None:
    return Plan([a[0], ("nonzero", a[1].value)]) if isinstance(a[1], Const) else None


@_row(i._product_, 2)
def _product(a: list[Value]) -> Plan:
    return Plan([a[0], a[1], ("strong", i._product_)])


@_row(i._quotient_, 2)
def _quotient(a: list[Value]) -> Plan:
    return Plan([a[0], a[1], ("strong", i._quotient_)])


@_row(i._real_, 2)
def _real(a: list[Value]) -> Plan | None:
    return Plan([a[0], ("real", a[1].value)]) if isinstance(a[1], Const) else None


@_row(i._slot_, 3)
def _slot(a: list[Value]) -> Plan | None:
    return Plan([a[0], a[1], ("slot", a[2].value)]) if isinstance(a[2], Const) else None


@_row(i._method_is_, 3)
def _method_is(a: list[Value]) -> Plan | None:
    if isinstance(a[2], Const) and a[2].value is None:
        return Plan([a[0], a[1], ("is_", False)])
    return Plan([a[0], a[2], ("method_is", a[1].value)]) if isinstance(a[1], Const) else None


@_row(i._require_, 3)
def _require(a: list[Value]) -> Plan | None:
    return Plan([a[2], a[0], ("require", a[1].value)], False) if isinstance(a[1], Const) else None


@_row(i._within_)
def _within(a: list[Value]) -> Plan | None:
    value, limit, complain, *others = a
    if not isinstance(limit, Const) or not isinstance(complain, Const):
        return None
    return Plan([*others, value, ("within", (limit.value, complain.value, len(others)))], False)


@_row(i._init_field_, 3)
def _init_field(a: list[Value]) -> Plan | None:
    name = _text(a[1])
    return None if name is None else Plan([a[2], a[0], ("setattr", name)], False)


@_row(i._overwrite_field_, 4)
def _overwrite_field(a: list[Value]) -> Plan | None:
    name = _text(a[1])
    return None if name is None else Plan([a[2], a[0], ("setattr", name)], False)


@_row(i._overwrite_item_, 4)
def _overwrite_item(a: list[Value]) -> Plan:
    return Plan([a[2], a[0], a[1], ("setitem",)], False)


@_row(i._delattr_, 2)
def _delattr(a: list[Value]) -> Plan | None:
    name = _text(a[1])
    return None if name is None else Plan([a[0], ("delattr", name)], False)


@_row(i._global_, 1)
def _global(a: list[Value]) -> Plan:
    return Plan([("load_global", _text(a[0]))])


@_row(i._class_global_, 2)
def _class_global(a: list[Value]) -> Plan:
    return Plan([a[0], ("class_global", _text(a[1]))])


@_row(i._store_global_, 2)
def _store_global(a: list[Value]) -> Plan:
    return Plan([a[1], ("store_global", _text(a[0]))], False)


@_row(i._delete_global_, 1)
def _delete_global(a: list[Value]) -> Plan:
    return Plan([("delete_global", _text(a[0]))], False)


@_row(i._import_, 3)
def _import(a: list[Value]) -> Plan:
    return Plan([a[1], a[2], ("import_name", _text(a[0]))])


@_row(i._format_, 3)
def _format(a: list[Value]) -> Plan | None:
    conversion = a[1].value if isinstance(a[1], Const) else None
    if type(conversion) is not int:
        return None
    if _text(a[2]) == "":
        return Plan([a[0], ("format", conversion, False)])
    return Plan([a[0], a[2], ("format", conversion, True)])


@_row(i._join_)
def _join(a: list[Value]) -> Plan:
    return Plan([*a, ("build", "STRING", len(a))])


@_row(i._foreigncall_)
def _foreigncall(a: list[Value]) -> Plan | None:
    return call_plan(a[0], a[1:]) if a else None


@_row(i._apply_)
def _apply(a: list[Value]) -> Plan | None:
    if len(a) == 2 or (len(a) == 3 and isinstance(a[2], Const) and a[2].value is None):
        return Plan([Callee(a[0], True), a[1], ("call_ex", False)])
    if len(a) != 3:
        return None
    # The interpreter wants an exact dict: the mapping is merged into a new one, as `f(**m)` does.
    return Plan([Callee(a[0], True), a[1], ("build", "MAP", 0), a[2], ("dict_merge",), ("call_ex", True)])


@_row(i._new_)
def _new(a: list[Value]) -> Plan | None:
    if not a or not isinstance(a[0], Const):
        return call_plan(a[0], a[1:]) if a else None
    kind, parts = a[0].value, a[1:]
    if kind is tuple and not parts:
        return None  # a constant, see `schedule`
    if kind is tuple or kind is list or kind is set:
        return Plan([*parts, ("build", kind.__name__.upper(), len(parts))])
    if kind is dict and len(parts) % 2 == 0:
        return Plan([*parts, ("build", "MAP", len(parts) // 2)])
    if kind is slice and len(parts) in (2, 3):
        return Plan([*parts, ("build", "SLICE", len(parts))])
    if kind is types.FunctionType and len(parts) == 5:
        code, *attributes = parts
        flags, present = 0, []
        for bit, value in zip((1, 2, 4, 8), attributes, strict=True):
            if not (isinstance(value, Const) and value.value is None):
                flags |= 16 if bit == 4 and _is_function(value) else bit
                present.append(value)
        return Plan([*present, code, ("make_function", flags)])
    if kind is types.FunctionType and len(parts) == 6:
        return call_plan(Const(new_function), [Const(None), *parts])
    return call_plan(a[0], parts)


def _is_function(value: Value) -> bool:
    """Whether `value` is a function that the graph makes; among the attributes of a new function, that is
    the one which makes its annotations."""
    if not isinstance(value, Instruction):
        return False
    form = form_of(value)
    kind = form.arguments[0] if form.arguments else None
    return form.function is i._new_ and isinstance(kind, Const) and kind.value is types.FunctionType


def call_plan(callee: Value, arguments: list[Value], keywords: tuple[str, ...] = ()) -> Plan:
    """The plan of a call that has nothing special about it."""
    return Plan([Callee(callee), *arguments, ("call", len(arguments), keywords)])


def plan_of(form: Form) -> Plan:
    """The plan of an instruction, seen as a call."""
    key = id(form.function)
    arguments = form.arguments
    if not form.keywords:
        if len(arguments) == 2:
            name = BINARY.get(key)
            if name is not None:
                return Plan([*arguments, ("binary", name)])
            name = COMPARE.get(key)
            if name is not None:
                return Plan([*arguments, ("compare", name)])
        make = _TABLE.get(key)
        if make is not None:
            plan = make(arguments)
            if plan is not None:
                return plan
    elif (form.function is i._foreigncall_ or form.function is i._new_) and len(arguments) > len(
        form.keywords
    ):
        return call_plan(arguments[0], arguments[1:], form.keywords)
    return call_plan(form.callee, arguments, form.keywords)
