"""Completion: the types of what builders write between the copied lines of the primal, to a fixed point.

before::

    %2: Tuple[Context, Shadow[Array[float64, 1]]] = ...
    %3 = call _project_(%2, 1)
    %4 = call operator.getitem(%3, 0)

after::

    %3: Shadow[Array[float64, 1]] = call _project_(%2, 1)
    %4: tangent = call operator.getitem(%3, 0)

The lines of the primal have the types that inference gave them; builders write types where they alone know
them (what a record holds, what a rule answers).  Everything else follows: from a table with a row per
function that generated code calls, from the structure of tuples, and for a function of numbers or arrays from
what it gives for primals: ``d * x`` is a cotangent of what ``x * x`` is.  Types are only added, never
replaced.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.traverse import reverse_postorder
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.types.derived import (
    EXCEPTION,
    RAISED,
    CallableType,
    CotangentOf,
    DerivativeType,
    PlayedType,
    SequenceType,
    ShadowOf,
    TapeType,
    UnionType,
    derivative_of,
    merge,
    merge_all,
    present,
    primal_type,
)
from adbc.types.inference import STRUCTURAL, Oracle, Sampler, call_parts, type_of
from adbc.types.lattice import (
    ANY,
    BOOL,
    INT,
    NEVER,
    NONE,
    TANGENT,
    AbstractType,
    ArrayType,
    Exact,
    ListType,
    TangentType,
    TupleType,
    is_number,
)

__all__ = ["Results", "Row", "complete", "element_of", "part_of"]

Row = Callable[[Sequence[Value], Sequence[AbstractType]], AbstractType | None]
"""The type of what a function gives, told by the arguments and their types; None if they do not tell it."""
Results = Mapping[int, Row]
"""Rows by the addresses of functions, which the owner of the table keeps alive."""

_Asked = Callable[[object, Sequence[Value], Sequence[AbstractType], tuple[str, ...]], AbstractType]
_ROUNDS = 12
"""The most rounds of the fixed point: types that have not settled then are taken for `ANY`."""


def complete(graph: Graph, results: Results, oracle: Oracle, sample: Sampler) -> Graph:
    """Write a type to every value of `graph` that has none and whose type follows from others, in place.

    `oracle` is asked what functions give for primals, and `sample` where it does not know.
    """

    def asked(
        function: object, values: Sequence[Value], types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        if _is_plain_python(function):
            return ANY
        answer = oracle(function, types_, keywords)
        if answer is ANY:
            examples = [
                v if v.__class__ is Const else Argument("", 0, t) for v, t in zip(values, types_, strict=True)
            ]
            answer = sample(function, examples, keywords) or ANY
        return answer

    unknown: list[Phi | Instruction] = []
    for block in reverse_postorder(graph):
        unknown += [phi for phi in block.phis if phi.type is None]
        unknown += [i for i in block.instructions if i.type is None]
    for value in unknown:
        value.type = NEVER
    # In this order operands come before their users, save for phis that look at a block behind their own:
    # after the first round, an instruction is looked at again only if something before it has moved.
    for round in itertools.count():
        moved: set[Value] = set()
        for value in unknown:
            if value.__class__ is Phi:
                found = merge_all(map(type_of, value.operands.values()))
            elif round and moved.isdisjoint(value.operands):
                continue
            else:
                found = _result(value, results, asked)  # type: ignore[arg-type]  # no phi
            old = value.type
            if found is not old:
                value.type = merge(old, found) if round < _ROUNDS else ANY
                if value.type != old:
                    moved.add(value)
        if not moved:
            return graph
    raise AssertionError("types have settled")


def _result(call: Instruction, results: Results, asked: _Asked) -> AbstractType:
    if call.op != "call":
        return EXCEPTION if call.op == "catch" else ANY
    callee, arguments = call_parts(call)
    types_ = list(map(type_of, arguments))
    for known in types_:
        if known is NEVER:
            return NEVER  # not reached yet
    if not isinstance(callee, Const):
        known = present(type_of(callee))
        return known.gives if isinstance(known, CallableType) else NEVER if known is NEVER else ANY
    function: Any = callee.value
    row = results.get(id(function)) or _ROWS.get(id(function))
    if row is not None:
        answer = row(arguments, types_)
        if answer is not None:
            return answer
    try:
        structural = STRUCTURAL.get(function)
    except TypeError:  # not hashable
        structural = None
    answer = None if structural is None else structural(arguments, types_)
    if answer is not None:
        return answer
    if isinstance(function, type) and issubclass(function, BaseException):
        return Exact(function)
    # A cotangent that may be an array, or one number for all of its elements, gives what either gives.
    members = [t.members if isinstance(t, UnionType) else (t,) for t in map(present, types_)]
    return merge_all(
        _of_members(function, arguments, list(one), call.keywords, asked)
        for one in itertools.product(*members)
    )


def _of_members(
    function: Any,
    arguments: Sequence[Value],
    types_: Sequence[AbstractType],
    keywords: tuple[str, ...],
    asked: _Asked,
) -> AbstractType:
    """The type of what `function` gives for arguments of `types_`, none of which is a union."""
    derivatives = [t for t in types_ if isinstance(t, DerivativeType | TangentType)]
    if derivatives:
        return _of_derivatives(function, derivatives, arguments, types_, keywords, asked)
    return asked(function, arguments, types_, keywords)


def _is_plain_python(function: object) -> bool:
    """Whether `function` is one of adbc's that is written in Python: reading what it gives from its code is
    not worth the time."""
    return is_function(function) and function.__module__.startswith("adbc.")


def _of_derivatives(
    function: Any,
    derivatives: Sequence[AbstractType],
    arguments: Sequence[Value],
    types_: Sequence[AbstractType],
    keywords: tuple[str, ...],
    asked: _Asked,
) -> AbstractType:
    """The type of what `function`, which is linear in derivatives, gives for derivatives: that of a
    derivative of what it gives for primals."""
    if function in _ARITHMETIC and all(isinstance(t, TangentType) or is_number(t) for t in types_):
        return TANGENT
    if function in _IN_PLACE and isinstance(primal_type(types_[0]), ArrayType):
        return types_[0]
    found = asked(function, arguments, list(map(primal_type, types_)), keywords)
    kinds = [t.__class__ for t in derivatives if isinstance(t, DerivativeType)]
    kind = kinds[0] if kinds else CotangentOf
    # An array that is computed from a shadow is no shadow.
    return derivative_of(CotangentOf if kind is ShadowOf else kind, found)


_ARITHMETIC = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.pow,
        operator.iadd, operator.isub, operator.imul, operator.itruediv,
    }
)  # fmt: skip
_IN_PLACE = frozenset({operator.iadd, operator.isub, operator.imul, operator.itruediv})


# -- rows --------------------------------------------------------------------------------------------------


def element_of(type: AbstractType) -> AbstractType:
    """The type of what stands at an index of a value of `type`, or in one of its fields."""
    if isinstance(type, TupleType):
        return merge_all(type.elements)
    if isinstance(type, ListType):
        return type.element
    if isinstance(type, ArrayType) and type.ndim == 1:
        return Exact(float)
    return ANY


def part_of(whole: AbstractType, place: Value, at: AbstractType) -> AbstractType | None:
    """The type of the part of the derivative `whole` that belongs to the element at `place`."""
    if isinstance(whole, UnionType):
        return merge_all(part_of(m, place, at) or ANY for m in whole.members if m != NONE)
    if isinstance(whole, TupleType):
        return STRUCTURAL[operator.getitem]([place, place], [whole, at])
    if whole == NONE:
        return NONE
    if not isinstance(whole, DerivativeType):
        return None
    of = STRUCTURAL[operator.getitem]([place, place], [whole.of, at])
    if of is None:
        of = element_of(whole.of) if at == INT else ANY
    return derivative_of(whole.__class__, of)


def _getitem(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of an element of a derivative, or of a record of one of several ways."""
    (whole, at), index = types_, values[1]
    if isinstance(whole, DerivativeType):
        of = STRUCTURAL[operator.getitem](values, [whole.of, at])
        return derivative_of(whole.__class__, ANY if of is None else of)
    if isinstance(whole, UnionType) and isinstance(index, Const) and isinstance(index.value, int):
        place = index.value
        parts = [m for m in whole.members if isinstance(m, TupleType) and place < len(m.elements)]
        return merge_all(m.elements[place] for m in parts) if parts else None
    return None


def _unpack(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    whole, count = types_[0], values[1]
    assert isinstance(count, Const) and isinstance(count.value, int)
    if isinstance(whole, UnionType):
        parts = [m for m in whole.members if isinstance(m, TupleType) and len(m.elements) == count.value]
        return merge_all(parts) if parts else None
    if isinstance(whole, SequenceType):
        return TupleType(whole.elements)
    if isinstance(whole, DerivativeType):
        return TupleType(tuple(part_of(whole, Const(i), INT) or ANY for i in range(count.value)))
    return None


def _attribute(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    whole, name = types_[0], values[1]
    if isinstance(whole, ArrayType) and isinstance(name, Const) and name.value == "shape":
        return Exact(tuple) if whole.ndim is None else TupleType((INT,) * whole.ndim)
    if not isinstance(whole, DerivativeType):
        return None
    if isinstance(whole.of, ArrayType) and isinstance(name, Const) and name.value == "item":
        return CallableType(TANGENT)
    return derivative_of(whole.__class__, ANY)


def _next(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    return ANY if isinstance(types_[0], PlayedType) else None


def _reversed(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    tape = types_[0]
    if isinstance(tape, UnionType):  # None where the loop is not reached, and nothing is played
        tapes = [member for member in tape.members if member != NONE]
        tape = tapes[0] if len(tapes) == 1 else tape
    return PlayedType(tape.loop) if isinstance(tape, TapeType) else None


def _slot(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    return part_of(types_[0], values[1], types_[1])


def _or_else(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of a derivative or of what stands in for it: both are read and written alike."""
    return types_[0]


def constant(type: AbstractType) -> Row:
    """The row of a function that always gives `type`."""
    return lambda values, types_: type


_ROWS: dict[int, Row] = {
    id(operator.getitem): _getitem,
    id(intrinsics._project_): _getitem,
    id(intrinsics._unpack_): _unpack,
    id(intrinsics._getattr_): _attribute,
    id(intrinsics._next_): _next,
    id(reversed): _reversed,
    id(intrinsics._slot_): _slot,
    id(intrinsics._or_else_): _or_else,
    id(intrinsics._nonzero_): _or_else,
    id(intrinsics._real_): constant(TANGENT),
    id(intrinsics._product_): constant(TANGENT),
    id(intrinsics._quotient_): constant(TANGENT),
    id(float): constant(TANGENT),
    id(intrinsics._require_): constant(NONE),
    id(intrinsics._within_): constant(NONE),
    id(intrinsics._record_): constant(NONE),
    id(operator.is_): constant(BOOL),
    id(operator.is_not): constant(BOOL),
    id(intrinsics._globals_): constant(Exact(dict)),
    id(operator.setitem): constant(NONE),
    id(intrinsics._raised_): constant(RAISED),
    id(intrinsics._go_on_raising_): constant(NONE),  # nobody sees it
    id(intrinsics._exception_): constant(EXCEPTION),
}
