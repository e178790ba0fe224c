"""A backend that writes no code: the slow interpreter runs the graphs, and each type is checked on the way.

It is the example of docs/internals/adding-a-backend.md.  It has nothing from `adbc.emit`: what it knows of a
pair of graphs is what `adbc.ir.backend` and `adbc.types` say.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.ir import intrinsics
from adbc.ir.backend import Pair, Unit
from adbc.ir.graph import Block, Graph
from adbc.ir.interpret import interpret
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target
from adbc.reverse.layout import Records
from adbc.runtime.state.context import Context
from adbc.runtime.state.slots import SINK
from adbc.types.derived import (
    CallableType,
    ContextType,
    DerivativeType,
    ExceptionType,
    LinksType,
    PlayedType,
    SequenceType,
    TapeType,
    UnionType,
)
from adbc.types.lattice import (
    AbstractType,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    IteratorType,
    ListType,
    RealType,
    TangentType,
    TupleType,
    class_of,
)

__all__ = ["Toy", "WrongTypeError", "fits"]


class WrongTypeError(Exception):
    """A value has another type than its graph says."""


@dataclasses.dataclass
class Toy:
    """The backend.  It keeps what it was given, and counts what it has checked."""

    pairs: list[Pair] = dataclasses.field(default_factory=list)
    checked: int = 0
    by_layout: bool = False

    def pair(self, pair: Pair, unit: Unit) -> tuple[Callable[..., Any], Callable[..., Any]]:
        assert isinstance(pair.records, Records)
        self.pairs.append(pair)
        return self.single(pair.forwards, unit), self.single(pair.pullback, unit)

    def single(self, graph: Graph, unit: Unit) -> Callable[..., Any]:
        checking, _, _ = copy_graph(graph)
        for block in checking.blocks:
            if block.handler is None:  # there, only the last instruction may raise
                self._check(block, unit)
        return lambda *arguments: interpret(checking, *arguments, globals=unit.namespace)

    def _check(self, block: Block, unit: Unit) -> None:
        """Let `block` check the type of each of its values as soon as it is there."""
        written = [self._check_of(phi, unit) for phi in block.phis if phi.type is not None]
        for instruction in block.instructions:
            written.append(instruction)
            if instruction.op == "call" and instruction.type is not None:
                written.append(self._check_of(instruction, unit))
        for instruction in written:
            instruction.block = block
        block.instructions = written

    def _check_of(self, value: Value, unit: Unit) -> Instruction:
        known = value.type
        what = target(value) if isinstance(value, Instruction) else value

        def check(found: object) -> None:
            self.checked += 1
            if not fits(found, known):
                raise WrongTypeError(f"{found!r} is no {known}, in {unit.qualname} from {what!r}")

        return Instruction("call", [Const(check), value])


def fits(value: Any, type: AbstractType) -> bool:
    """Whether `value` is a member of `type`, as far as a value tells.

    What says that an iterator is exhausted stands where an element would, also among the results of a
    rule; it is told apart by identity, before anything relies on the type.
    """
    if value is intrinsics.EXHAUSTED:
        return True
    match type:
        case TangentType():
            return isinstance(value, int | float | complex | np.number)
        case UnionType(members):
            return any(fits(value, member) for member in members)
        case TupleType(elements):
            return (
                value.__class__ is tuple and len(value) == len(elements) and all(map(fits, value, elements))
            )
        case SequenceType(elements):
            return isinstance(value, tuple | list) and fits(tuple(value), TupleType(elements))
        case DerivativeType(of):
            return value is None or value is SINK or has_form_of(value, of)
        case ArrayType():
            return (
                value.__class__ is type.cls
                and value.dtype.name == type.dtype
                and type.ndim in (None, value.ndim)
            )
        case RealType(members):
            return value.__class__ in members or (value.__class__ is bool and int in members)
        case ListType(element=element):
            return value.__class__ is list and all(fits(x, element) for x in value)
        case Exact(cls):
            return value.__class__ is cls
        case ConstType():
            return value is type.value
        case ClosureType():
            return isinstance(value, types.FunctionType) and value.__code__ is type.code
        case CallableType():
            return callable(value)
        case ContextType():
            return isinstance(value, Context)
        case ExceptionType():
            return isinstance(value, intrinsics.Raised if type.is_packed else BaseException)
        case TapeType():
            return value.__class__ is list
        case LinksType():
            return value is None or value.__class__ is tuple
        case PlayedType() | IteratorType():
            return hasattr(value, "__next__")
    return True


def has_form_of(derivative: Any, of: AbstractType) -> bool:
    """Whether `derivative` has the form of derivatives of values of type `of`."""
    if isinstance(of, ArrayType):
        is_number = of.ndim is None and isinstance(derivative, np.number)
        return (is_number or isinstance(derivative, np.ndarray)) and derivative.dtype.name == of.dtype
    if isinstance(of, TupleType):
        return derivative.__class__ is tuple and len(derivative) == len(of.elements)
    if class_of(of) is list:
        return isinstance(derivative, list)
    return True
