"""One row per raw operation: what the lifter emits and normalising turns into a call.

A row says how many operands the operation takes, whether it can raise, whether it has an effect
besides its result, and which function it becomes a call of.  Interpretation, normalising, constant
folding and the verifier's checks of arity all read these rows.

``attribute`` tells what the instruction's immediate means: it becomes trailing constant arguments
of the call (or leading ones, for `leading`).
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

from adbc.ir import intrinsics as i
from adbc.ir.values import Const, Instruction, Value
from adbc.records import record

__all__ = ["BOOLS", "OPS", "PURE", "Op", "call_form", "may_raise"]


@record(frozen=True)
class Op:
    """A raw operation.

    name: as printed.  arity: number of operands, None if any.  function: what its call form calls; for
    allocations the class is the first argument.  kind: the class that an allocation makes.  attribute: None,
    "leading", "middle" (behind the first operand) or "trailing": where the immediate goes among the call's
    arguments (a tuple immediate is spread).
    """

    name: str
    arity: int | None
    function: Callable[..., Any] | None
    kind: type | None = None
    attribute: str | None = None


def _rows() -> list[Op]:
    rows = []
    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")
    for name in binary:
        rows.append(Op(name, 2, getattr(operator, name)))
        rows.append(Op(f"i{name}", 2, getattr(operator, f"i{name}")))
    for name in ("and", "or", "xor"):
        rows.append(Op(name, 2, getattr(operator, f"{name}_" if name != "xor" else "xor")))
        rows.append(Op(f"i{name}", 2, getattr(operator, f"i{name}")))
    others = ("lt", "le", "eq", "ne", "gt", "ge", "getitem", "contains")
    rows += [Op(name, 2, getattr(operator, name)) for name in others]
    rows += [
        Op("neg", 1, operator.neg),
        Op("pos", 1, operator.pos),
        Op("invert", 1, operator.invert),
        Op("not", 1, operator.not_),
        Op("is", 2, operator.is_),
        Op("is_not", 2, operator.is_not),
        Op("not_contains", 2, i._not_contains_),
        Op("setitem", 3, operator.setitem),  # container, index, value
        Op("delitem", 2, operator.delitem),
        Op("getattr", 1, i._getattr_, attribute="trailing"),
        Op("setattr", 2, i._setattr_, attribute="middle"),  # object, value; name goes between
        Op("delattr", 1, i._delattr_, attribute="trailing"),
        Op("bool", 1, i._bool_),
        Op("iter", 1, i._iter_),
        Op("next", 1, i._next_),
        Op("exhausted", 1, i._exhausted_),
        Op("unpack", 1, i._unpack_, attribute="trailing"),  # count
        Op("unpack_ex", 1, i._unpack_ex_, attribute="trailing"),  # (before, after)
        Op("project", 1, i._project_, attribute="trailing"),  # index
        Op("check", 1, i._check_, attribute="trailing"),  # name of the local
        Op("global", 0, i._global_, attribute="trailing"),
        Op("class_global", 1, i._class_global_, attribute="trailing"),  # namespace
        Op("class_cell", 2, i._class_cell_, attribute="trailing"),  # namespace, cell; (name, free)
        Op("store_global", 1, i._store_global_, attribute="leading"),
        Op("delete_global", 0, i._delete_global_, attribute="trailing"),
        Op("globals", 0, i._globals_),
        Op("freevar", 0, i._freevar_, attribute="trailing"),  # index
        Op("cell_new", None, i._cell_new_),  # nothing or the contents
        Op("cell_get", 1, i._cell_get_, attribute="trailing"),  # (name, free)
        Op("cell_set", 2, i._cell_set_),
        Op("cell_del", 1, i._cell_del_, attribute="trailing"),  # (name, free)
        Op("build_tuple", None, i._new_, kind=tuple),
        Op("build_list", None, i._new_, kind=list),
        Op("build_set", None, i._new_, kind=set),
        Op("build_map", None, i._new_, kind=dict),  # alternating keys and values
        Op("build_slice", None, i._new_, kind=slice),
        Op("make_function", 5, i._new_, kind=types.FunctionType),
        # code, defaults, keyword defaults, annotations, closure; None where absent
        Op("list_append", 2, i._list_append_),
        Op("list_extend", 2, i._list_extend_),
        Op("list_to_tuple", 1, i._list_to_tuple_),
        Op("set_add", 2, i._set_add_),
        Op("set_update", 2, i._set_update_),
        Op("map_add", 3, i._map_add_),
        Op("dict_update", 2, i._dict_update_),
        Op("dict_merge", 3, i._dict_merge_),  # target, other, function called
        Op("format", 2, i._format_, attribute="middle"),  # value, spec; conversion goes between
        Op("build_string", None, i._join_),
        Op("import_name", 2, i._import_, attribute="leading"),  # level, fromlist
        Op("import_from", 1, i._import_from_, attribute="trailing"),
        Op("yield", 1, i._yield_),
        Op("yield_from", 2, i._yield_from_),  # value, inner iterator
        Op("send", 2, i._send_),
        Op("apply", None, i._apply_),  # function, positional iterable, maybe keyword mapping
        Op("call", None, None),
        Op("catch", 0, None),  # the exception a handler was entered with
        Op("push_exc_info", 1, i._push_exc_info_),
        Op("pop_except", 1, i._pop_except_),  # what push_exc_info gave
        Op("reraise", 1, i._reraise_),
        Op("check_exc_match", 2, i._check_exc_match_),
        Op("check_eg_match", 2, i._check_eg_match_),  # gives (rest, match)
        Op("prep_reraise_star", 2, i._prep_reraise_star_),
        Op("load_special", 1, i._load_special_, attribute="trailing"),  # name of the method
        Op("get_len", 1, i._get_len_),
        Op("match_sequence", 1, i._match_sequence_),
        Op("match_mapping", 1, i._match_mapping_),
        Op("match_keys", 2, i._match_keys_),
        Op("match_class", 3, i._match_class_, attribute="trailing"),  # number of positional patterns
        Op("intrinsic_1", 1, i._intrinsic_1_, attribute="trailing"),
        Op("intrinsic_2", 2, i._intrinsic_2_, attribute="trailing"),
    ]
    return rows


OPS: dict[str, Op] = {row.name: row for row in _rows()}
"""Every raw operation by name."""


def call_form(instruction: Instruction) -> list[Value]:
    """The operands of the ``call`` that `instruction` is: the function, then its arguments."""
    row = OPS[instruction.op]
    if row.function is None:
        assert instruction.op == "call", f"{instruction.op} is not a call"
        return list(instruction.operands)
    operands = list(instruction.operands)
    if row.attribute is not None:
        attribute = instruction.attribute
        parts = attribute if isinstance(attribute, tuple) else (attribute,)
        at = {"leading": 0, "middle": 1, "trailing": len(operands)}[row.attribute]
        operands[at:at] = [Const(part) for part in parts]
    if row.kind is not None:
        operands.insert(0, Const(row.kind))
    return [Const(row.function), *operands]


PURE: frozenset[Callable[..., Any]] = frozenset(
    {
        operator.is_,
        operator.is_not,
        i._exhausted_,
        i._or_else_,
        i._project_,
        i._freevar_,
        i._globals_,
        i._makes_generator_,
        i._iterates_by_generator_,
    }
)
"""Functions whose calls may be removed if unused: no effect, never raise, whatever the operands."""

BOOLS: frozenset[Callable[..., Any]] = frozenset(
    {
        operator.is_,
        operator.is_not,
        operator.not_,
        operator.contains,
        i._not_contains_,
        i._bool_,
        i._exhausted_,
        i._check_exc_match_,
        i._match_sequence_,
        i._match_mapping_,
    }
)
"""Functions whose result is True or False, whatever the operands."""

_QUIET: frozenset[Callable[..., Any]] = PURE | {
    i._cell_new_,
    i._cell_set_,
    i._list_append_,
    i._list_to_tuple_,
    i._record_,
    i._recall_,
    i._join_,
    i._push_exc_info_,
    i._pop_except_,
    i._match_sequence_,
    i._match_mapping_,
    i._raised_,
    i._is_raised_,
    i._exception_,
    i._assume_,
    i._observe_,
    i._remember_,
    i._release_,
    i._instance_,
    i._init_field_,
}
"""Functions whose calls never raise."""


def may_raise(instruction: Instruction) -> bool:
    """Whether running `instruction` may raise, so that in a block with a handler it must come last.

    Running out of memory and signals do not count: they may strike anywhere.
    """
    if instruction.op == "catch":
        return False
    function = _function_of(instruction)
    if function is i._new_:
        row = OPS[instruction.op]
        kind = row.kind
        parts = instruction.operands
        if kind is None:
            first = instruction.operands[1]
            kind, parts = (first.value if isinstance(first, Const) else None), instruction.operands[2:]  # type: ignore[assignment]
        if kind is set or kind is dict:  # a key may be unhashable
            return bool(parts)
        return not any(kind is k for k in (tuple, list, slice, types.FunctionType))
    if function is i._bool_:
        operand = instruction.operands[-1]
        return not (isinstance(operand, Instruction) and _is_one_of(_function_of(operand), BOOLS))
    return not _is_one_of(function, _QUIET)


def _function_of(instruction: Instruction) -> Any:
    """The function that `instruction` calls if that is known, else None."""
    if instruction.op == "call":
        callee = instruction.operands[0]
        return callee.value if isinstance(callee, Const) else None
    return OPS[instruction.op].function


def _is_one_of(function: Any, functions: frozenset[Callable[..., Any]]) -> bool:
    # Objects of any kind may be called; only those of plain functions are surely hashable.
    return isinstance(function, types.FunctionType | types.BuiltinFunctionType) and function in functions
