"""What a function reads from its lists before anything else happens is what the caller has seen there.

before, where the caller has looked that all elements of %p are floats::

    entry:
        %u = call _unpack_list_(%p, 2)
        %x: Any = call _element_(%u, %p, 0)
        %y: Any = call _element_(%u, %p, 1)
        %z: Any = call unknown(%p, %x)

after::

    entry:
        %u = call _unpack_list_(%p, 2)
        %v: Any = call _element_(%u, %p, 0)
        %x: float = call _assume_(%v, float)
        %w: Any = call _element_(%u, %p, 1)
        %y: float = call _assume_(%w, float)
        %z: Any = call unknown(%p, %x)

Parameters come in a list, and most functions begin by taking it apart.  Later somebody may have written into
it, so that nothing is known of its elements but what the whole function proves (`list_elements`); on the way
to the first call that could do so, nobody has.  Needs types.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.traverse import predecessors, reverse_postorder
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import assumption
from adbc.types.callsites import called
from adbc.types.effects import OPERATORS
from adbc.types.inference import type_of
from adbc.types.lattice import INT, LIST, AbstractType, Exact, ListType, is_float64, is_list

__all__ = ["first_reads"]

_FUNCTIONS = types.FunctionType, types.BuiltinFunctionType, type
_SCALARS = frozenset({float, int, bool, complex, str, type(None)})
_ELEMENTS: dict[Any, tuple[int, int]] = {operator.getitem: (0, 1), intrinsics._element_: (1, 2)}
"""By function that gives an element of a list, the places of the list and of the index."""
_QUIET: frozenset[Any] = frozenset(
    {
        intrinsics._project_, intrinsics._unpack_list_, intrinsics._check_, intrinsics._assume_,
        intrinsics._class_is_, intrinsics._freevar_, intrinsics._cell_get_, intrinsics._global_,
        operator.is_, operator.is_not,
    }
)  # fmt: skip
"""Functions that write nothing and ask nobody, whatever they are given."""
_OF_SCALARS: frozenset[Any] = OPERATORS | {
    operator.neg, operator.pos, operator.not_, intrinsics._bool_, abs, float, int, range, min, max,
}  # fmt: skip
"""Functions that write nothing and ask nobody, given numbers, and give numbers, or what has no memory."""


def first_reads(graph: Graph, parameters: Sequence[AbstractType]) -> bool:
    """Let what is read first from lists among the arguments have the types that `parameters` say, in place;
    returns whether there is something."""
    known: dict[Value, AbstractType] = {
        argument: type_
        for argument, type_ in zip(graph.arguments, parameters, strict=True)
        if isinstance(type_, ListType)
    }
    if not known:
        return False
    reads = _Reads(known)
    sources = predecessors(graph)
    quiet: set[Block] = set()
    for block in reverse_postorder(graph):
        if all(source in quiet for source in sources.get(block, ())) and reads.go_through(block):
            quiet.add(block)
    for read, type_ in reads.found.items():
        _assume(graph, read, type_)
    return bool(reads.found)


class _Reads:
    """The elements that are read, and what else is known to be a number."""

    def __init__(self, lists: dict[Value, AbstractType]) -> None:
        self.lists = lists
        self.scalars: set[Value] = set()
        self.found: dict[Instruction, AbstractType] = {}

    def go_through(self, block: Block) -> bool:
        """Look at the calls in `block`, up to the first that may write into a list; whether there is none."""
        return all(map(self._is_quiet, block.instructions))

    def _is_quiet(self, call: Instruction) -> bool:
        found = called(call)
        if found is None:
            return False
        function, arguments = found
        if not isinstance(function, _FUNCTIONS):
            return False
        places = _ELEMENTS.get(function)
        if places is not None and len(arguments) > places[1]:
            values, index = arguments[places[0]], arguments[places[1]]
            of = self.lists.get(values)
            if isinstance(of, ListType) and type_of(index) == INT:
                if call.block is not None and call.block.handler is None:
                    self._read(call, of.element)
                return True
            return function is not operator.getitem or is_list(type_of(values))
        if function in _QUIET:
            return True
        if function is intrinsics._new_:
            kind = arguments[0]
            return isinstance(kind, Const) and kind.value in (tuple, list)
        if function is len:
            return all(is_list(type_of(a)) for a in arguments)
        is_of_numbers = function in _OF_SCALARS or _is_of_math(function)
        if is_of_numbers and not call.keywords and all(map(self._is_scalar, arguments)):
            self.scalars.add(call)
            return True
        return False

    def _read(self, call: Instruction, element: AbstractType) -> None:
        if isinstance(element, ListType):
            self.lists[call] = element
            if not is_list(type_of(call)):
                self.found[call] = LIST
        elif isinstance(element, Exact) and (element.cls in _SCALARS or is_float64(element)):
            self.scalars.add(call)
            if type_of(call) != element:
                self.found[call] = element

    def _is_scalar(self, value: Value) -> bool:
        type_ = type_of(value)
        is_number = isinstance(type_, Exact) and (type_.cls in _SCALARS or is_float64(type_))
        return value in self.scalars or is_number


def _is_of_math(function: Any) -> bool:
    return type(function) is type(math.sin) and function.__module__ == "math"


def _assume(graph: Graph, read: Instruction, type_: AbstractType) -> None:
    """Let `read` be known to be of this type wherever it is used."""
    block = read.block
    assert block is not None
    assumed = assumption(read, type_)
    graph.replace_uses({read: assumed})
    assumed.operands[1] = read
    assumed.block = block
    block.instructions.insert(block.instructions.index(read) + 1, assumed)
