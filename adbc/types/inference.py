"""Inference: the abstract type of every value of a graph in normal form, to a fixed point.

Types only grow during the iteration and the lattice has no infinite ascending chains (tuples are
cut off at a depth), so it ends.  What a call of an ordinary function gives is not known here: the
`oracle` answers that, from rule rows and from the results of other functions.
"""

from __future__ import annotations

import _thread
import collections
import itertools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.flags import HEAP_TYPE, IMMUTABLE_TYPE
from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph, globals_made
from adbc.ir.terminators import Return
from adbc.ir.traverse import depth_first_postorder
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value
from adbc.tangents.fields import is_python_class
from adbc.types.array_results import array_element
from adbc.types.derived_builtins import as_instance, as_tuple, empty, instance_type
from adbc.types.kept_answers import Answer, answers_for, follows_from_operands
from adbc.types.lattice import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NONE,
    SLICE,
    STR,
    AbstractType,
    ArrayType,
    ClosureType,
    ComplexType,
    ConstType,
    Exact,
    IteratorType,
    ListType,
    RealType,
    TupleType,
    class_of,
    draws_numbers,
    has_cotangent,
    has_shadow,
    is_numpy_number,
    is_real,
    join,
    join_all,
    narrowed,
    type_of_part,
)
from adbc.types.records import field_type, made_object, made_record, made_type, object_type, record_field
from adbc.types.typeof import constant_type

__all__ = [
    "STRUCTURAL",
    "Oracle",
    "Sampler",
    "array_getitem",
    "call_parts",
    "can_only_raise",
    "infer",
    "is_rest",
    "iterated_array",
    "may_answer_in_python",
    "method_of",
    "runs_rest",
    "transpose_of",
    "type_of",
]

Oracle = Callable[[object, Sequence[AbstractType], tuple[str, ...]], AbstractType]

_DOTS = Exact(type(...))
Sampler = Callable[[object, Sequence[Value], tuple[str, ...]], AbstractType | None]

_DEPTH = 6
_ROUNDS = 40


def call_parts(call: Instruction) -> tuple[Value, list[Value]]:
    """The function and the arguments of a call, looking through `_foreigncall_` and through `_new_` of
    a class that is made by calling it."""
    callee, arguments = call.operands[0], call.operands[1:]
    if isinstance(callee, Const):
        if callee.value is intrinsics._foreigncall_:
            return arguments[0], arguments[1:]
        if callee.value is intrinsics._new_:
            kind = arguments[0]
            if isinstance(kind, Const) and kind.value not in BUILT_BY_SYNTAX:
                return kind, arguments[1:]
    return callee, arguments


BUILT_BY_SYNTAX: frozenset[Any] = frozenset({list, tuple, dict, set, slice, types.FunctionType})
"""The classes for which `_new_` stands for a display, a slice or a lambda, not for a call."""


def type_of(value: Value) -> AbstractType:
    """The inferred type of `value`; constants speak for themselves."""
    type = value.type
    if type is None:
        if isinstance(value, Const):
            type = value.type = constant_type(value.value)
            return type
        return NEVER if isinstance(value, Undef) else ANY
    return type if type.__class__ is Exact or isinstance(type, AbstractType) else ANY


def may_answer_in_python(value: Value) -> bool:
    """Whether `value` may be, or hold, an instance of a class that is written in Python: one that is derived
    from ``int`` has no derivative, but its methods may do anything."""
    return not isinstance(value, Const) and _may_answer(type_of(value))


def _may_answer(type: AbstractType) -> bool:
    if isinstance(type, TupleType):
        return any(map(_may_answer, type.elements))
    cls = class_of(type)
    if cls is None:
        return type == ANY
    return cls in _HOLDING or is_python_class(cls)


_HOLDING = (list, tuple, dict, set, frozenset)


def infer(
    graph: Graph, arguments: Sequence[AbstractType], oracle: Oracle, sample: Sampler | None = None
) -> AbstractType:
    """Write the type of every value into `graph`, given those of its arguments; return the result's.

    `sample` is asked for what the oracle cannot tell from types alone: it is given the arguments.
    """
    for argument, type in zip(graph.arguments, arguments, strict=True):
        argument.type = type
    for block in graph.blocks:
        for value in (*block.phis, *block.instructions):
            value.type = NEVER
    answers = answers_for(graph, oracle)
    order = depth_first_postorder([graph.entry], _SUCCESSORS)[::-1]
    number = {block: i for i, block in enumerate(order)}
    # In this order operands come before their users, save for phis that look at a block behind their own.
    backwards = [
        phi
        for block in order
        for phi in block.phis
        if any(number.get(source, -1) >= number[block] for source in phi.operands)
    ]
    for round in itertools.count():
        for block in order:
            for phi in block.phis:
                _widen(phi, _met_at(phi), round)
            for instruction in block.instructions:
                answer = answers.get(instruction)
                if answer is not None and answer.holds(instruction):
                    found = answer.type
                else:
                    found = _result(instruction, oracle, sample)
                    if follows_from_operands(instruction):
                        answers[instruction] = Answer(instruction, found)
                _widen(instruction, found, round)
        changed = False
        for phi in backwards:
            changed |= _widen(phi, _met_at(phi), round)
        if not changed:
            break
    returns = [b.terminator.value for b in order if isinstance(b.terminator, Return)]
    return join_all(map(type_of, returns))


def _met_at(phi: Phi) -> AbstractType:
    """The type of `phi`, as far as types of operands are known.  A variable that has no value on some way is
    looked at by `_check_` before anything is done with it, so that way does not count."""
    operands = phi.operands.values()
    bound = [v for v in operands if not (v.__class__ is Const and v.value is intrinsics.UNBOUND)]
    return join_all(map(type_of, bound or operands))


def _widen(value: Phi | Instruction | Argument, new: AbstractType, round: int) -> bool:
    old = value.type
    if new is old:
        return False
    joined = _cut(join(old, new), _DEPTH)
    value.type = joined
    if joined is old or joined == old:
        return False
    if round > _ROUNDS:
        value.type = ANY
        return bool(old != ANY)
    return True


def _cut(type: AbstractType, depth: int) -> AbstractType:
    """`type` with tuples below `depth` forgotten, so that recursion in data cannot grow for ever."""
    if isinstance(type, TupleType):
        if depth == 0:
            return ANY
        return TupleType(tuple(_cut(t, depth - 1) for t in type.elements))
    return type


_SUCCESSORS: Callable[[Block], Sequence[Block]] = operator.attrgetter("successors")


# -- attributes of builtin objects ------------------------------------------------------------


def _attribute_read(value: Value) -> tuple[type, str] | None:
    """The class and the name, if `value` reads an attribute of an array or of another builtin object, which
    has no attributes but those of its class, and they do not change."""
    if not isinstance(value, Instruction) or value.op != "call" or len(value.operands) != 3:
        return None
    callee, array, name = value.operands
    known = type_of(array)
    if not isinstance(callee, Const) or callee.value is not intrinsics._getattr_:
        return None
    if not (type(known) is ArrayType or (isinstance(known, Exact) and _is_closed(known.cls))):
        return None
    return (known.cls, name.value) if isinstance(name, Const) and isinstance(name.value, str) else None


_ASKING_OF_TEXT = ("format", "format_map", "join", "translate")
_UNQUESTIONING: dict[type, frozenset[str]] = {
    list: frozenset({"append", "extend", "insert", "clear", "copy", "reverse", "pop", "sort"}),
    dict: frozenset({"items", "keys", "values", "popitem", "clear", "copy", "get", "setdefault", "pop"}),
    collections.deque: frozenset({"append", "appendleft", "pop", "popleft", "clear", "copy", "reverse"}),
    set: frozenset({"add", "discard"}),
    float: frozenset({"conjugate", "is_integer"}),
    complex: frozenset({"conjugate"}),
    str: frozenset(
        name
        for name, method in vars(str).items()
        if type(method) is types.MethodDescriptorType and name[0] != "_" and name not in _ASKING_OF_TEXT
    ),
    _thread.LockType: frozenset({"acquire", "locked", "release"}),
    _thread.RLock: frozenset({"acquire", "release"}),
}


_DRAWING = frozenset({"cython_function_or_method", "method_descriptor"})
"""The names of the classes of methods that NumPy's generators of random numbers have."""


def _is_closed(cls: type) -> bool:
    """Whether neither `cls` nor its instances can be given attributes."""
    return cls.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) != HEAP_TYPE and not cls.__dictoffset__


def transpose_of(value: Value) -> object | None:
    """The function that gives ``x.T``, if `value` reads that of an array."""
    read = _attribute_read(value)
    if read is None or read[1] != "T" or not isinstance(value, Instruction):
        return None
    return getattr(read[0], "transpose", None) if type(type_of(value.operands[1])) is ArrayType else None


def method_of(value: Value) -> object | None:
    """The method descriptor that `value` reads from an array or a builtin container.

    Not the methods that ask objects questions (``index`` whether they are equal, ``format`` for their text):
    what classes written in Python answer is not a matter of types.  Those that look for a key are among them:
    whoever looks for their rules asks whether the key may answer in Python.  So is ``sort``, which stands for
    code that asks that itself.  Those of generators of random numbers that are made in C ask numbers only.
    """
    read = _attribute_read(value)
    if read is not None and draws_numbers(read[0]):
        found = getattr(read[0], read[1], None)
        return found if type(found).__name__ in _DRAWING else None
    if read is None or not (read[0].__name__ == "ndarray" or read[1] in _UNQUESTIONING.get(read[0], ())):
        return None
    found = getattr(read[0], read[1], None)
    return found if isinstance(found, types.MethodDescriptorType) else None


def _result(instruction: Instruction, oracle: Oracle, sample: Sampler | None) -> AbstractType:
    if instruction.op != "call":
        return ANY
    callee, arguments = call_parts(instruction)
    method = None if callee.__class__ is Const else method_of(callee)
    if method is not None and isinstance(callee, Instruction):
        arguments = [callee.operands[1], *arguments]
    if is_rest(instruction):
        return ANY  # it may be given variables that have no value, as long as it does not read them
    types_ = [type_of(a) for a in arguments]
    for type in types_:
        if type is NEVER:
            return NEVER  # not reached yet
    function: object
    if method is not None:
        function = method
    elif isinstance(callee, Const):
        function = callee.value
    elif isinstance(known := type_of(callee), ConstType):
        function = known.value
    elif isinstance(known, ClosureType):
        function = known
    elif type_of(callee) is NEVER:
        return NEVER
    else:
        return ANY
    if function is intrinsics._new_ and (made := _made_function(instruction)) is not None:
        return made
    try:
        row = STRUCTURAL.get(function)
    except TypeError:  # not hashable
        row = None
    if row is not None and not instruction.keywords:
        answer = row(arguments, types_)
        if answer is not None:
            return answer
    answer = ask(oracle, function, types_, instruction.keywords)
    if sample is not None and (answer is ANY or _is_some_array(answer)):
        found = sample(function, arguments, instruction.keywords)
        return answer if found is None else found
    return answer


def is_rest(call: Instruction) -> bool:
    """Whether `call` runs the rest of the function behind a wrong guess."""
    return call.op == "call" and runs_rest(call.operands[0])


def runs_rest(callee: Value) -> bool:
    """Whether a call of `callee` runs the rest of the function behind a wrong guess."""
    return isinstance(callee, Const) and bool(getattr(callee.value.__class__, "is_rest", False))


def _made_function(call: Instruction) -> ClosureType | None:
    """The type of the function that a ``def`` or ``lambda`` makes."""
    kind, code = call.operands[1:3] if len(call.operands) > 2 else (None, None)
    if not (isinstance(kind, Const) and kind.value is types.FunctionType and isinstance(code, Const)):
        return None
    namespace = globals_made(call)
    return None if namespace is None else ClosureType(code.value, namespace)  # type: ignore[arg-type]


def _is_some_array(type: AbstractType) -> bool:
    """Whether nothing is known of an array but its class."""
    return isinstance(type, Exact) and type.cls.__name__ == "ndarray"


def ask(
    oracle: Oracle, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
) -> AbstractType:
    """The type that the oracle tells, asked for each class where an argument is one of several numbers."""
    reals = sum(isinstance(t, RealType | ComplexType) for t in types_)
    if not reals:
        return oracle(function, types_, keywords)
    if not isinstance(function, types.FunctionType | ClosureType) and reals <= 4:
        choices = [
            tuple(map(Exact, t.members)) if isinstance(t, RealType | ComplexType) else (t,) for t in types_
        ]
        return join_all(
            oracle(function, combination, keywords) for combination in itertools.product(*choices)
        )
    return oracle(function, types_, keywords)


# -- results that depend on the structure of arguments -----------------------------------------------

Row = Callable[[Sequence[Value], Sequence[AbstractType]], AbstractType | None]


def _constant(type: AbstractType) -> Row:
    return lambda values, types_: type


def _new(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    kind = values[0].value if isinstance(values[0], Const) else None
    if kind is tuple:
        return TupleType(tuple(types_[1:]))
    if kind is slice and any(has_cotangent(t) or has_shadow(t) for t in types_[1:]):
        # Objects may have an ``__index__``, which is not for a rule of lists to call.
        return ANY if any(isinstance(t, Exact) and t.cls.__flags__ & HEAP_TYPE for t in types_[1:]) else SLICE
    if kind in (list, dict, set, slice, types.FunctionType):
        return Exact(kind)
    return None


def _project(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    container, index = types_[0], values[1]
    if isinstance(container, TupleType) and isinstance(index, Const):
        i = index.value
        if isinstance(i, int) and -len(container.elements) <= i < len(container.elements):
            return container.elements[i]
    return None


def _instance(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    cls = values[0].value if isinstance(values[0], Const) else None
    return Exact(cls) if isinstance(cls, type) else None


def _getitem(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    if len(types_) != 2:
        return None  # of a call that raises
    container, index = types_
    if isinstance(container, TupleType):
        known = _project(values, types_)
        if known is None and index in (INT, BOOL):
            return join_all(container.elements)
        return known
    if isinstance(container, ArrayType):
        return array_getitem(container, index)
    if isinstance(container, ListType) and index in (INT, BOOL):
        return container.element
    if isinstance(container, ListType) and index == Exact(slice):
        return container
    return None


def array_getitem(array: ArrayType, index: AbstractType) -> AbstractType | None:
    """The type of ``array[index]`` where `index` is of ints, slices, None and ``...``, else None."""
    if array.ndim is None:
        return None
    parts = index.elements if isinstance(index, TupleType) else (index,)
    remaining = array.ndim
    for part in parts:
        if part == INT or (isinstance(part, Exact) and is_numpy_number(part.cls, "integer")):
            remaining -= 1
        elif part == NONE:
            remaining += 1
        elif not (isinstance(part, Exact) and part.cls in (slice, type(...))):
            return None
    if any(part == _DOTS for part in parts) and remaining == 0:
        return None  # ``x[..., 0]`` of one axis is an array of none
    if remaining < 0:
        return None
    return array_element(array) if remaining == 0 else ArrayType(array.dtype, remaining, array.cls)


def _unpack(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    sequence, count = types_[0], values[1]
    if isinstance(sequence, TupleType) and isinstance(count, Const) and count.value == len(sequence.elements):
        return sequence
    if isinstance(count, Const) and isinstance(count.value, int):
        element: AbstractType = ANY
        if isinstance(sequence, ArrayType) and sequence.ndim:
            element = array_getitem(sequence, INT) or ANY
        if isinstance(sequence, ListType):
            element = sequence.element
        return TupleType((element,) * count.value)
    return None


def can_only_raise(call: Instruction) -> bool:
    """Whether `call` unpacks a tuple that has not as many elements as it is unpacked into."""
    callee, values = call_parts(call)
    if not isinstance(callee, Const) or callee.value is not intrinsics._unpack_:
        return False
    known, count = type_of(values[0]), values[1]
    return isinstance(known, TupleType) and isinstance(count, Const) and count.value != len(known.elements)


def _power(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of a power with a constant in it: that of a whole number to the power of a whole one, which is
    not whole if that is negative, and of what can only be real."""
    if len(values) != 2:
        return None
    base, exponent = [value.value if isinstance(value, Const) else None for value in values]
    if types_[0] == INT and type(exponent) is int and exponent >= 0:
        return INT
    if not all(map(is_real, types_)) or FLOAT not in types_:
        return None
    if type(exponent) is float and exponent.is_integer():
        return FLOAT
    return FLOAT if isinstance(base, int | float) and base >= 0 else None


def _iter(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    cls = class_of(types_[0])
    if isinstance(types_[0], IteratorType):
        return types_[0]
    if isinstance(types_[0], ListType):
        return IteratorType(types_[0].element)
    if cls is range:
        return IteratorType(INT)
    if cls is str:
        return IteratorType(STR)
    return None


def _element(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    return types_[1].element if isinstance(types_[1], ListType) else ANY


def _next(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    # The type after the exhaustion test: on the other branch nobody uses the value.
    if (rows := iterated_array(values[0])) is not None:
        return array_getitem(rows, INT)
    if isinstance(types_[0], Exact) and types_[0].cls in _RANGE_ITERATORS:
        return INT
    return types_[0].element if isinstance(types_[0], IteratorType) else None


_RANGE_ITERATORS = frozenset({type(iter(range(0))), type(iter(range(2**70)))})
"""The classes of iterators over a range; what enters a rest of a function may be one that has been begun."""


def iterated_array(iterator: Value) -> ArrayType | None:
    """The type of the array that `iterator` was made for, if it was made here and the array has axes."""
    if not isinstance(iterator, Instruction) or iterator.op != "call" or len(iterator.operands) != 2:
        return None
    callee, source = iterator.operands
    if not isinstance(callee, Const) or callee.value is not intrinsics._iter_:
        return None
    known = type_of(source)
    return known if type(known) is ArrayType and known.ndim else None


def _assume(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    assumed = values[1].value if isinstance(values[1], Const) else None
    return narrowed(types_[0], assumed) if isinstance(assumed, AbstractType) else None


def _first(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType:
    return types_[0]


def _attribute(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of an attribute of an array, where that follows; methods of arrays, dicts and lists are known
    to be C code."""
    if len(values) != 2:  # behind a wrong guess about what is called
        return ANY
    array, name = types_[0], values[1]
    if isinstance(name, Const) and name.value in ("real", "imag") and (part := type_of_part(array)):
        return part
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return ANY
    if type(array) is not ArrayType:
        found = getattr(class_of(array), name.value, None) if class_of(array) in (dict, list) else None
        return Exact(types.BuiltinMethodType) if isinstance(found, types.MethodDescriptorType) else ANY
    if name.value == "shape" and array.ndim is not None:
        return TupleType((INT,) * array.ndim)
    if name.value in ("size", "ndim", "nbytes", "itemsize"):
        return INT
    if name.value == "T":
        return array
    found = getattr(array.cls, name.value, None)
    return Exact(types.BuiltinMethodType) if isinstance(found, types.MethodDescriptorType) else ANY


def _range(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    return Exact(range) if all(t in (INT, BOOL) for t in types_) else None


STRUCTURAL: dict[Any, Row] = {
    intrinsics._new_: _new,
    intrinsics._instance_: _instance,
    as_tuple: _constant(Exact(tuple)),
    **dict.fromkeys((empty, as_instance), instance_type),
    made_record: made_type,
    made_object: object_type,
    record_field: field_type,
    super: _constant(Exact(super)),
    operator.pow: _power,
    intrinsics._project_: _project,
    intrinsics._unpack_: _unpack,
    intrinsics._iter_: _iter,
    intrinsics._next_: _next,
    intrinsics._unpack_list_: _unpack,
    intrinsics._check_length_: _constant(NONE),
    intrinsics._takes_: _constant(NONE),
    intrinsics._takes_named_: _constant(NONE),
    intrinsics._element_: _element,
    intrinsics._next_at_: _constant(ANY),
    intrinsics._take_at_: _constant(ANY),
    intrinsics._list_iterator_: _constant(Exact(type(iter([])))),
    intrinsics._list_reversed_: _constant(Exact(type(reversed([])))),
    intrinsics._resume_iterator_: _constant(ANY),
    intrinsics._view_iterator_: _constant(ANY),
    intrinsics._next_key_: _constant(ANY),
    intrinsics._next_value_: _constant(ANY),
    intrinsics._next_place_: _constant(ANY),
    intrinsics._next_entry_: _constant(TupleType((ANY, ANY))),
    intrinsics._entry_key_: _constant(ANY),
    intrinsics._entry_value_: _constant(ANY),
    intrinsics._resume_view_: _constant(ANY),
    intrinsics._check_: _first,
    intrinsics._nonzero_: _first,
    intrinsics._assume_: _assume,
    intrinsics._is_raised_: _constant(BOOL),
    intrinsics._class_is_: _constant(BOOL),
    intrinsics._array_is_: _constant(BOOL),
    intrinsics._form_is_: _constant(BOOL),
    intrinsics._check_exc_match_: _constant(BOOL),
    intrinsics._not_nan_: _constant(BOOL),
    intrinsics._makes_generator_: _constant(BOOL),
    intrinsics._iterates_by_generator_: _constant(BOOL),
    intrinsics._method_is_: _constant(BOOL),
    intrinsics._code_is_: _constant(BOOL),
    intrinsics._observe_: _constant(NONE),
    intrinsics._remember_: _constant(NONE),
    intrinsics._recognise_: _constant(NONE),
    intrinsics._has_field_: _constant(BOOL),
    intrinsics._bool_: _constant(BOOL),
    intrinsics._exhausted_: _constant(BOOL),
    intrinsics._not_contains_: _constant(BOOL),
    intrinsics._format_: _constant(STR),
    intrinsics._join_: _constant(STR),
    intrinsics._cell_new_: _constant(Exact(types.CellType)),
    intrinsics._freevar_: _constant(Exact(types.CellType)),
    intrinsics._cell_set_: _constant(NONE),
    intrinsics._list_append_: _constant(NONE),
    intrinsics._getattr_: _attribute,
    intrinsics._setattr_: _constant(NONE),
    intrinsics._init_field_: _constant(NONE),
    intrinsics._overwrite_field_: _constant(NONE),
    intrinsics._overwrite_item_: _constant(NONE),
    operator.getitem: _getitem,
    operator.setitem: _constant(NONE),
    operator.delitem: _constant(NONE),
    operator.is_: _constant(BOOL),
    operator.is_not: _constant(BOOL),
    operator.not_: _constant(BOOL),
    operator.contains: _constant(BOOL),
    range: _range,
    len: _constant(INT),
    isinstance: _constant(BOOL),
}
