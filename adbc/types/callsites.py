"""What becomes of each call: the decision that both builders share.

A call is differentiated by the cheapest means that is right (design: inactive, inline, primitive,
derived, dynamic).  This module decides which, from the inferred types, from which values are active
and from what the rule table says; it writes no code.

    primal      nothing to differentiate: the call stays as it is and its result is inactive
    fresh       likewise, but the result is new mutable memory and needs a zero shadow of its own
    scalar      a scalar rule on proved real numbers: partial derivatives are written inline
    load        one number is read from a slot of a container, written inline
    store       one number is written to a slot of a container, written inline
    slot_load, slot_store, slot_append, field_load, field_store, cell_load
                an element of a list or dict, or a plain field of an instance, is read, written or added
    empty_list  a list without elements is made
    overwrite_item, overwrite_field
                a float is written where a float is known to be
    method      a method is read from an instance
    next        the next element of a list
    element     an element of a list that was unpacked
    resume      an iterator over a list goes on elsewhere
    tuple       a tuple is built
    project     an element of a tuple whose structure is known, at a known index
    copy        the result is the first argument
    contextual  a name is read, a function is made: the builder knows what to do
    view        a view of an array is taken, and the same of its shadow
    part        a view of an array that is treated like a number
    move        a reshape or transpose of such an array
    own         a parameter that is treated like a number becomes memory
    formula     a function of arrays whose result is a number, or is treated like one, inline
    update      an array grows or shrinks in place, inline
    row         any other rule of the table, known now
    derived     a Python function, known now
    attempt     like dynamic, but an exception comes back as a value
    dynamic     found out at run time
"""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.tangents.fields import plain_check
from adbc.types.inference import array_getitem, call_parts, type_of
from adbc.types.lattice import (
    COMPLEX,
    FLOAT,
    INT,
    AbstractType,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    RealType,
    TupleType,
    ValueArrayType,
    class_of,
    has_cotangent,
    has_shadow,
    is_float64,
    is_list,
    is_numpy_number,
    is_real,
)

__all__ = [
    "DTYPE_CODES",
    "Binding",
    "CallSite",
    "Knowledge",
    "activity",
    "classify",
    "formula_call",
    "is_complex",
    "is_constant_dict",
    "is_inline_number",
    "is_method",
    "is_moved",
    "is_view",
    "name_of",
    "row_of",
]


@dataclasses.dataclass(frozen=True)
class Binding:
    """How a call's arguments meet the parameters of a Python function known at build time.

    `slots` has, per parameter, the index of an argument of the call, or a `Const` holding the
    default.  Where `function` has a closure it stands for all with its code: a rule is given the one that is
    called, and its shadow.
    """

    function: types.FunctionType
    slots: tuple[int | Const, ...]


@dataclasses.dataclass(slots=True, eq=False)
class CallSite:
    """A call, taken apart.  `function` is the Python object called, if known."""

    kind: str
    function: Any
    callee: Value
    arguments: list[Value]
    keywords: tuple[str, ...] = ()
    row: Any = None
    binding: Binding | None = None
    options: dict[str, Value] | None = None
    """What a rule is given by name: `arguments` are what it is given by position then."""


class Knowledge(Protocol):
    """What the builders may ask of the rest of the system."""

    def row(self, function: object, types: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` for arguments of these types, if the types decide it."""

    def is_field(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field."""

    def method(self, cls: type, name: str) -> types.FunctionType | None:
        """The Python function that attribute `name` of instances of exactly `cls` is bound to, if it is one
        and unless the instance has a field of that name."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How `count` arguments, the last ones by keyword, bind to `function` if it is written in Python, can
        be lifted and has no captured state; else None.  Of a `ClosureType` the defaults are not known."""

    def only_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> Sequence[bool]:
        """Per parameter of these types, whether `function` only reads it (`types.readers`)."""


_PRIMAL_ONLY: frozenset[Any] = frozenset(
    {
        operator.is_, operator.is_not, operator.not_, operator.contains, intrinsics._not_contains_,
        intrinsics._bool_, intrinsics._exhausted_, isinstance, issubclass, len, callable,
        intrinsics._format_, intrinsics._join_, intrinsics._import_, intrinsics._import_from_,
        hasattr, id, intrinsics._is_raised_, intrinsics._thrown_, intrinsics._exception_, intrinsics._raised_,
        intrinsics._class_is_, intrinsics._method_is_, intrinsics._list_iterator_, intrinsics._observe_,
        intrinsics._unpack_list_, intrinsics._makes_generator_,
        # What is being handled is the state of the thread: the forwards pass keeps it as the primal does.
        intrinsics._push_exc_info_, intrinsics._pop_except_, intrinsics._reraise_,
        intrinsics._check_exc_match_, intrinsics._check_eg_match_, intrinsics._prep_reraise_star_,
        intrinsics._get_len_, intrinsics._match_sequence_, intrinsics._match_mapping_,
        intrinsics._intrinsic_1_, intrinsics._intrinsic_2_,
    }
)  # fmt: skip
_ASKING: frozenset[Any] = frozenset(
    {
        operator.not_, operator.contains, intrinsics._not_contains_, intrinsics._bool_, len, hasattr,
        intrinsics._format_,
    }
)  # fmt: skip
"""Those among them that the class of an argument may answer in Python, which may change active state."""
_CHECKING: frozenset[Any] = frozenset({isinstance, issubclass})
_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, type(None)})
_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())
_CONTEXTUAL: frozenset[Any] = frozenset(
    {
        intrinsics._global_, intrinsics._freevar_, intrinsics._globals_,
        intrinsics._delete_global_, intrinsics._store_global_, intrinsics._instance_,
    }
)  # fmt: skip


def name_of(function: Any) -> str:
    """What a function is called in messages.  Attributes of the user's objects are not asked for."""
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


def is_inline_number(type: AbstractType) -> bool:
    """Whether derivative code for values of this type may be written inline: real, 64 bit."""
    return isinstance(type, RealType) or is_real(type) or is_float64(type)


def classify(call: Instruction, active: Callable[[Value], bool], knowledge: Knowledge) -> CallSite:
    """What becomes of `call`."""
    callee, arguments = call_parts(call)
    function: Any = None
    if isinstance(callee, Const):
        function = callee.value
    elif isinstance(known := type_of(callee), ConstType):
        function = known.value
    elif isinstance(known, ClosureType) and knowledge.bind(known, len(arguments), call.keywords) is not None:
        function = known
    site = _Site(callee, function, arguments, call.keywords)
    if function is None:
        return site("dynamic")
    if function is intrinsics._attempt_:
        return CallSite("attempt", None, arguments[0], arguments[1:], call.keywords)
    types_ = [type_of(a) for a in arguments]
    any_active = any(map(active, arguments))
    try:
        if function in _PRIMAL_ONLY:
            asks = function in _ASKING and any_active
            if function in _CHECKING and not _is_plain_check(arguments):
                return site("dynamic")
            return site("dynamic" if asks and knowledge.row(function, types_) is None else "primal")
        if function in _CONTEXTUAL:
            return site("contextual")
    except TypeError:  # unhashable callable
        return site("dynamic")
    if function is intrinsics._next_at_:
        return site("next" if active(arguments[1]) else "primal")
    if function is intrinsics._element_:
        return site("element" if active(arguments[1]) else "primal")
    if function is intrinsics._resume_iterator_:
        return site("resume" if active(arguments[1]) else "primal")
    if function in (intrinsics._getattr_, intrinsics._setattr_) and _is_field(arguments, types_, knowledge):
        if function is intrinsics._getattr_:
            return site("field_load" if active(arguments[0]) else "primal")
        if types_[2] == FLOAT:
            return site("field_store")
    if function is intrinsics._cell_get_ and types_[0] == _CELL:
        return site("cell_load" if active(arguments[0]) else "primal")
    if function is intrinsics._overwrite_field_:
        return site("overwrite_field")
    if function is intrinsics._overwrite_item_:
        return site("overwrite_item", row=knowledge.row(operator.setitem, types_[:3]))
    if function is intrinsics._getattr_ and is_method(call, knowledge) is not None:
        return site("method" if active(arguments[0]) else "primal")
    if function is intrinsics._getattr_ and _is_description(arguments, types_):
        return site("primal")
    if function is intrinsics._own_:
        return site("own" if any_active else "primal")
    if function is operator.getitem and any_active and is_view(types_):
        if type(type_of(call)) is ArrayType:
            return site("view")
        if type(type_of(call)) is ValueArrayType:
            return site("part")
    if not call.keywords:
        structural = _structural(function, arguments, types_, any_active)
        if structural is not None:
            return site(structural)
    result = type_of(call)
    row = knowledge.row(function, types_)
    if row is not None:
        if row.kind == "overlay":
            binding = knowledge.bind(row.body, len(arguments), call.keywords)
            return site("dynamic") if binding is None else site("derived", binding=binding)
        if type(result) is ValueArrayType and any_active and is_moved(row, types_, call.keywords):
            return site("move", row=row)
        if type(result) is ValueArrayType:
            return site("formula" if any_active and row.kind != "zero" else "primal", row=row)
        is_new = type(result) is ArrayType and result.dtype in DTYPE_CODES
        if any_active and (is_new or is_inline_number(result)):
            found = formula_call(row, types_, call.keywords, result)
            if found is not None and not found.window:
                return site("formula", row=row)
        if row.kind == "zero" or (not any_active and row.is_pure(len(arguments), call.keywords)):
            return site("fresh" if has_shadow(result) else "primal", row=row)
        if call.keywords:
            bound = _bound(row, function, arguments, call.keywords, active, knowledge)
            if bound is None:
                return site("dynamic")
            return CallSite("row", function, callee, bound[0], call.keywords, row=row, options=bound[1])
        if row.inline is not None and _is_container_slot(row.inline, types_):
            if row.inline == "load" and not active(arguments[0]):
                return site("primal", row=row)
            return site(f"slot_{row.inline}", row=row)
        if row.inline == "update" and _is_update(types_):
            return site("update", row=row)
        if row.inline is not None and _is_slot(row.inline, types_):
            return site(
                "primal" if row.inline == "load" and not active(arguments[0]) else row.inline, row=row
            )
        if (
            row.kind == "scalar"
            and all(is_inline_number(t) for t, a in zip(types_, arguments, strict=True))
            and is_inline_number(result)
        ):
            return site("scalar", row=row)
        return site("row", row=row)
    if isinstance(function, ClosureType) or (
        isinstance(function, types.FunctionType) and function not in _INTRINSICS
    ):
        binding = knowledge.bind(function, len(arguments), call.keywords)
        if binding is not None:
            return site("derived", binding=binding)
    return site("dynamic")


def _bound(
    row: Any,
    function: Any,
    arguments: list[Value],
    keywords: tuple[str, ...],
    active: Callable[[Value], bool],
    knowledge: Knowledge,
) -> tuple[list[Value], dict[str, Value]] | None:
    """The arguments that `row` is given by position and by name, if those by name have no derivative and it
    is the rule for the others."""
    positional = len(arguments) - len(keywords)
    args, options = row.bind(arguments[:positional], dict(zip(keywords, arguments[positional:], strict=True)))
    values = [v if isinstance(v, Value) else Const(v) for v in args]
    if any(map(active, options.values())) or knowledge.row(function, [type_of(v) for v in values]) is not row:
        return None
    return values, options


def _is_description(arguments: Sequence[Value], types_: Sequence[AbstractType]) -> bool:
    """Whether an attribute of an array is read that is not made of its numbers."""
    name = arguments[1]
    return isinstance(types_[0], ArrayType) and isinstance(name, Const) and name.value in _DESCRIPTIONS


_DESCRIPTIONS = frozenset({"shape", "size", "ndim", "dtype", "nbytes", "itemsize", "strides"})


def row_of(call: Instruction, knowledge: Knowledge) -> Any:
    """The rule by which `call` is differentiated, if the types decide it."""
    callee, arguments = call_parts(call)
    if not isinstance(callee, Const):
        return None
    try:
        hash(callee.value)
    except TypeError:
        return None
    return knowledge.row(callee.value, [type_of(a) for a in arguments])


def _is_plain_check(arguments: Sequence[Value]) -> bool:
    """Whether it is known that the class in question does not answer for itself."""
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


def formula_call(
    row: Any, types_: Sequence[AbstractType], keywords: tuple[str, ...], result: AbstractType
) -> Any | None:
    """The formulas by which a call with an array among its arguments is differentiated, or None.

    What formulas differentiate by are real numbers and arrays of such; what they are given besides has no
    derivative.
    """
    if not any(isinstance(t, ArrayType) for t in types_) and not row.makes_arrays:
        return None
    found = row.formula_call(len(types_), keywords, any(map(is_complex, types_)))
    if found is None or not all(_is_plain(types_[i]) for i in found.arrays):
        return None
    if found.parts and not isinstance(result, ArrayType):
        return None  # a number is read from its place
    others = [types_[i] for _, i in found.others]
    if found.window and any(map(_holds_array, others)):
        found = dataclasses.replace(found, window=False)  # an array among the subscripts makes a copy
    return None if any(has_shadow(t) or has_cotangent(t) for t in others) else found


DTYPE_CODES = {"float64": "d", "float32": "f", "complex128": "D", "complex64": "F"}
"""The dtypes of arrays that are differentiated by formulas, and their codes."""


def _is_plain(type: AbstractType) -> bool:
    """Whether all members are numbers or arrays of such."""
    if isinstance(type, ArrayType):
        return type.dtype in DTYPE_CODES or type.dtype.startswith(("int", "uint", "bool"))
    return is_inline_number(type) or is_complex(type) or _is_integer(type)


def is_complex(type: AbstractType) -> bool:
    """Whether members may be complex, being numbers or arrays of such."""
    if isinstance(type, ArrayType):
        return type.dtype.startswith("complex")
    return type == COMPLEX or (isinstance(type, Exact) and type.cls.__name__ in ("complex128", "complex64"))


def _is_integer(type: AbstractType) -> bool:
    return isinstance(type, Exact) and is_numpy_number(type.cls, "integer")


def _holds_array(type: AbstractType) -> bool:
    return isinstance(type, ArrayType) or (
        isinstance(type, TupleType) and any(map(_holds_array, type.elements))
    )


def is_view(types_: Sequence[AbstractType]) -> bool:
    """Whether a subscript takes a view of an array of real numbers: ints and slices, and nothing else."""
    array = types_[0]
    if not isinstance(array, ArrayType) or array.dtype not in ("float64", "float32"):
        return False
    return isinstance(array_getitem(array, types_[1]), ArrayType)


def is_moved(row: Any, types_: Sequence[AbstractType], keywords: tuple[str, ...]) -> bool:
    """Whether a call of a function with this row just gives the elements of an array in another shape."""
    if row.moves is None or keywords or not isinstance(types_[0], ArrayType):
        return False
    if row.moves == "transpose":
        return len(types_) == 1
    return all(
        t == INT or (isinstance(t, TupleType) and all(part == INT for part in t.elements)) for t in types_[1:]
    )


def _is_update(types_: Sequence[AbstractType]) -> bool:
    """Whether an array of real numbers is changed in place by a number or an array of such."""
    array, value = types_
    if type(array) is not ArrayType or array.dtype not in ("float64", "float32"):
        return False
    return _is_plain(value) and not is_complex(value)


def _is_slot(access: str, types_: Sequence[AbstractType]) -> bool:
    """Whether a read or write of a container concerns one slot that holds a real number of 64 bits."""
    container = types_[0]
    if access == "update" or not isinstance(container, ArrayType) or container.dtype != "float64":
        return False
    element = array_getitem(container, types_[1])
    if element is None or not is_inline_number(element):
        return False
    return access == "load" or is_inline_number(types_[2])


def _is_container_slot(access: str, types_: Sequence[AbstractType]) -> bool:
    """Whether a read or write concerns one slot of a list or dict, and in a write a Python float."""
    if access == "update":
        return False
    if access == "append":
        return is_list(types_[0]) and list(types_[1:]) == [FLOAT]
    if access == "store":
        return is_list(types_[0]) and types_[1] == INT and types_[2] == FLOAT
    return (is_list(types_[0]) and types_[1] == INT) or types_[0] == _DICT


_DICT, _CELL = Exact(dict), Exact(types.CellType)


def is_method(call: Instruction, knowledge: Knowledge) -> types.FunctionType | None:
    """The function that the attribute is which `call` reads, if it is a method written in Python."""
    _, obj, name = call.operands
    known = type_of(obj)
    if isinstance(known, Exact) and isinstance(name, Const) and isinstance(name.value, str):
        return knowledge.method(known.cls, name.value)
    return None


def _is_field(arguments: Sequence[Value], types_: Sequence[AbstractType], knowledge: Knowledge) -> bool:
    obj, name = types_[0], arguments[1]
    return (
        isinstance(obj, Exact)
        and isinstance(name, Const)
        and isinstance(name.value, str)
        and knowledge.is_field(obj.cls, name.value)
    )


class _Site:
    """A `CallSite` waiting for its kind."""

    def __init__(
        self, callee: Value, function: Any, arguments: list[Value], keywords: tuple[str, ...]
    ) -> None:
        self.parts = (function, callee, arguments, keywords)

    def __call__(self, kind: str, **more: Any) -> CallSite:
        return CallSite(kind, *self.parts, **more)


def is_constant_dict(value: Value) -> bool:
    """Whether `value` is a new dict of immutable constants, as the keyword defaults of a function are."""
    if not isinstance(value, Instruction) or value.op != "call":
        return False
    parts = [x.value if isinstance(x, Const) else value for x in value.operands]
    if parts[0] is not intrinsics._new_ or parts[1] is not dict:
        return False
    return all(type(part) in _IMMUTABLE for part in parts[2:])


def _structural(
    function: Any, arguments: list[Value], types_: list[AbstractType], any_active: bool
) -> str | None:
    first = types_[0] if types_ else None
    if function is intrinsics._new_:
        kind = arguments[0].value if isinstance(arguments[0], Const) else None
        if kind is tuple:
            return "tuple" if any_active else "primal"
        if kind is types.FunctionType:
            return "contextual"
        if kind is list and len(arguments) == 1:
            return "empty_list"
        if kind is slice:
            return "dynamic" if any_active else "primal"
    elif function in (intrinsics._check_, intrinsics._assume_):
        return "copy" if any_active and not _is_global_number(arguments) else "primal"
    elif function in (intrinsics._project_, operator.getitem) and isinstance(first, TupleType):
        if not any_active:
            return "primal"
        index = arguments[1]
        count = len(first.elements)
        if isinstance(index, Const) and isinstance(index.value, int) and -count <= index.value < count:
            return "project"
    elif function is intrinsics._unpack_ and isinstance(first, TupleType):
        wanted = arguments[1]
        if isinstance(wanted, Const) and wanted.value == len(first.elements):
            return "copy" if any_active else "primal"
    elif function in (intrinsics._iter_, intrinsics._next_):
        (source,) = types_
        if not has_shadow(source) and not has_cotangent(source):
            return "primal"
        if class_of(source) is range or class_of(source) is str:
            return "primal"
    return None


def _is_global_number(arguments: Sequence[Value]) -> bool:
    """Whether what was read from a global is assumed to be a number: it is a constant then, for to set a
    global to an active number is refused."""
    value, assumed = arguments
    if not isinstance(value, Instruction) or value.op != "call" or not isinstance(assumed, Const):
        return False
    callee = value.operands[0]
    is_global = isinstance(callee, Const) and callee.value is intrinsics._global_
    return is_global and isinstance(assumed.value, AbstractType) and is_inline_number(assumed.value)


def activity(
    graph: Graph, active_arguments: Sequence[bool], knowledge: Knowledge
) -> tuple[set[Value], dict[Instruction, CallSite]]:
    """The values that may carry a derivative, and what becomes of every call.

    Optimistic, to a fixed point: nothing is active until something makes it so.
    """
    active: set[Value] = set()
    for argument, is_active in zip(graph.arguments, active_arguments, strict=True):
        if is_active and _differentiable(argument):
            active.add(argument)
    changed = True
    sites: dict[Instruction, CallSite] = {}
    seen: dict[Instruction, list[bool]] = {}  # which operands were active when a call was classified
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
                    flags = [v in active for v in value.operands]
                    if seen.get(value) == flags:
                        continue
                    seen[value] = flags
                    site = classify(value, active.__contains__, knowledge)
                    sites[value] = site
                    now = site.kind != "primal"
                if now and value not in active and _differentiable(value):
                    active.add(value)
                    changed = True
    return active, sites


def _differentiable(value: Value | Argument) -> bool:
    type = type_of(value)
    return has_shadow(type) or has_cotangent(type)
