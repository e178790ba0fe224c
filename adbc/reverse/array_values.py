"""Arrays that are treated like numbers.

An array in general is memory: it has a shadow from the moment it is made, zeros at first, in which its
cotangent grows.  But most arrays are computed, used in the next formula and forgotten.  If one is new where
it is computed, and is used by nothing but functions that only read it, then nobody can see its memory.  Its
cotangent needs no shadow: it is a value of the pullback, which begins with the first contribution, as that
of a float does.  For such arrays the reverse of the function is written inline.

Found here are these arrays; they get the type `ValueArrayType`:

- results of functions that are differentiated by formulas, and of those whose derivative is zero;
- parameters that a caller passes like that, because nobody else has the array (`ValueArrayType` is the type
  of the parameter then);
- views of them, whose cotangents are added to a part of that of the whole;
- variables that have nothing but such values.

All names of one memory (a variable and what it may stand for, a view and its base) are treated alike.

A parameter that the function does more to than to read it is *owned* instead::

    %x1: Array = call _own_(%x)

From there on it is memory with a shadow, and the cotangent of the parameter is what the shadow has in the
end.  So is a parameter of which a loop takes something in each iteration: what is added to its cotangent
again and again belongs in one place in memory.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import Loop, Loops
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value
from adbc.types.array_calls import (
    DTYPE_CODES,
    formula_call,
    is_inline_number,
    is_moved,
    is_part_write,
    is_view,
)
from adbc.types.callsites import Knowledge, row_of
from adbc.types.effects import bound_types, exposed, is_harmless
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import ArrayType, ValueArrayType, is_number
from adbc.types.library_calls import may_run_as_it_is
from adbc.types.texts import may_meet_text

__all__ = ["find_value_arrays"]


def find_value_arrays(
    graph: Graph, active_arguments: Sequence[bool], loops: Loops, knowledge: Knowledge
) -> None:
    """Write `ValueArrayType` into the typed `graph` where it is right, and `_own_` where a parameter is not
    treated like a number."""
    given: dict[Argument, ArrayType] = {}
    for argument in graph.arguments:
        known = type_of(argument)
        if isinstance(known, ValueArrayType):
            given[argument] = ArrayType(known.dtype, known.ndim, known.cls)
            argument.type = given[argument]
    search = _Search(graph, active_arguments, loops, knowledge)
    for argument, known in given.items():
        search.candidates[argument] = known
    search.run()
    for value, known in search.candidates.items():
        value.type = ValueArrayType(known.dtype, known.ndim, known.cls)
    owned: dict[Argument, Instruction] = {}
    for argument, known in given.items():
        argument.type = ValueArrayType(known.dtype, known.ndim, known.cls)
        if argument not in search.candidates:
            owned[argument] = Instruction("call", [], type=known, name=argument.name)
    replacements: dict[Value, Value] = dict(owned.items())
    graph.replace_uses(replacements)
    for argument, own in owned.items():
        own.operands = [Const(intrinsics._own_), argument]
        own.block = graph.entry
        graph.entry.instructions.insert(0, own)


class _Search:
    """The search for arrays that may be treated like numbers: `candidates` are taken away until the rest is
    consistent."""

    def __init__(
        self, graph: Graph, active_arguments: Sequence[bool], loops: Loops, knowledge: Knowledge
    ) -> None:
        self.graph = graph
        self.loops = loops
        self.knowledge = knowledge
        self.inactive = {
            argument
            for argument, is_active in zip(graph.arguments, active_arguments, strict=True)
            if not is_active
        }
        self.rows = {call: row_of(call, knowledge) for call in graph.instructions() if call.op == "call"}
        self.looked_at = {
            call
            for call, row in self.rows.items()
            if row is not None and (row.of_text or may_meet_text(row, call_parts(call)[1], call.keywords))
        }
        """The calls that are looked at when they are made, for they may meet text, or make it of an array."""
        self.formulas = {
            call: formula_call(row, [type_of(v) for v in call_parts(call)[1]], call.keywords, type_of(call))
            for call, row in self.rows.items()
            if row is not None and call not in self.looked_at
        }
        self.views = {
            call
            for call, row in self.rows.items()
            if _is_view_call(call)
            or (
                row is not None
                and type(type_of(call)) is ArrayType
                and is_moved(row, [type_of(v) for v in call_parts(call)[1]], call.keywords)
            )
        }
        self.windows = {
            call: call_parts(call)[1][found.arrays[0]]
            for call, found in self.formulas.items()
            if found is not None and found.window
        }
        self.candidates: dict[Value, ArrayType] = {}
        for value in self._values():
            known = type_of(value)
            if type(known) is ArrayType and known.dtype in DTYPE_CODES and self._may_be(value):
                self.candidates[value] = known

    def _values(self) -> Iterator[Phi | Instruction]:
        for block in self.graph.blocks:
            yield from block.phis
            yield from block.instructions

    def _may_be(self, value: Phi | Instruction) -> bool:
        if isinstance(value, Phi):
            return True
        if value.op != "call" or value.block is None or value.block.handler is not None:
            return False
        row = self.rows[value]
        if value in self.looked_at:
            return False
        if value in self.views or self.formulas.get(value) is not None:
            return True
        return row is not None and row.is_zero(len(call_parts(value)[1]), value.keywords)

    def run(self) -> None:
        if not self.candidates:
            return
        for block in self.graph.blocks:
            self._drop(block.terminator.values)
            for call in block.instructions:
                self._drop(self._exposed(call))
                self._drop(v for v in call.operands if self._grows_in_a_loop(v, call))
        size = -1
        while size != len(self.candidates):
            size = len(self.candidates)
            for view in self.views:
                base = call_parts(view)[1][0]
                if view not in self.candidates or not self._is_value(base):
                    self._drop((view, base))
            for call, base in self.windows.items():
                if call not in self.views and (call not in self.candidates or not self._is_value(base)):
                    self._drop((call, base))
            for call, found in self.formulas.items():
                if found is not None and call not in self.candidates and self._is_for_a_rule(call, found):
                    arguments = call_parts(call)[1]
                    self._drop(arguments[i] for i in found.arrays if i >= self.rows[call].takes_values)
            for block in self.graph.blocks:
                for phi in block.phis:
                    if phi not in self.candidates or not all(map(self._is_value, phi.operands.values())):
                        self._drop((phi, *phi.operands.values()))

    def _is_value(self, value: Value) -> bool:
        """Whether `value` is treated like a number, or is an array without a derivative."""
        if value in self.candidates or isinstance(value, Undef):
            return True
        return value in self.inactive and isinstance(type_of(value), ArrayType)

    def _drop(self, values: Any) -> None:
        for value in values:
            self.candidates.pop(value, None)

    def _is_for_a_rule(self, call: Instruction, found: Any) -> bool:
        """Whether `call` is differentiated by a rule although formulas could do it: the rule may want
        shadows of its arguments."""
        known = type_of(call)
        return found.window or not (isinstance(known, ArrayType) or is_inline_number(known))

    def _grows_in_a_loop(self, value: Value, user: Instruction) -> bool:
        """Whether `user` would add to the cotangent of `value` in each iteration of a loop that `value` is
        defined outside of: a shadow, which is incremented in place, is then the better place for it."""
        found = self.formulas.get(user)
        is_part = user in self.views or (found is not None and (found.parts or found.window))
        if value not in self.candidates or not (isinstance(value, Argument) or is_part):
            return False
        home = None if isinstance(value, Argument) else self._region(value.block)  # type: ignore[attr-defined]
        region = self._region(user.block)
        while home is not None and home is not region:
            home = home.parent
        return region is not home

    def _region(self, block: Block | None) -> Loop | None:
        return None if block is None else self.loops.innermost.get(block)

    def _exposed(self, call: Instruction) -> Sequence[Value]:
        """The arguments of `call` whose memory somebody may see."""
        if call in self.looked_at:
            return call.operands
        row, found = self.rows.get(call), self.formulas.get(call)
        is_protected = call.block is None or call.block.handler is not None
        if call in self.views and not is_protected:
            return ()
        if _is_write(call, row):
            return call_parts(call)[1][:1]
        if row is None and call.op == "call" and not is_protected and not is_harmless(call):
            return self._kept_by_function(call)
        return exposed(call, row, None if found is None else found.arrays)

    def _kept_by_function(self, call: Instruction) -> Sequence[Value]:
        """The arguments that a function written in Python, called by `call`, does more to than to read
        them."""
        callee, arguments = call_parts(call)
        function = callee.value if isinstance(callee, Const) else None
        memory = [v for v in arguments if not is_number(type_of(v))]
        if not is_function(function) or may_run_as_it_is(function, call, memory):
            return call.operands  # what becomes of the call is found out at run time, by the shadows
        binding = self.knowledge.bind(function, len(arguments), call.keywords)
        if binding is None:
            return call.operands
        reads = self.knowledge.only_reads(binding.function, bound_types(binding, arguments))
        read = {
            slot for slot, is_read in zip(binding.slots, reads, strict=True)
            if is_read and not isinstance(slot, Const)
        }  # fmt: skip
        return [v for i, v in enumerate(arguments) if i not in read]


def _is_write(call: Instruction, row: Any) -> bool:
    """Whether `call` writes into a part of an array, whose shadow is then all that there is to it."""
    if row is None or row.inline != "store":
        return False
    return is_part_write(call, [type_of(v) for v in call_parts(call)[1]])


def _is_view_call(call: Instruction) -> bool:
    callee, arguments = call_parts(call)
    return (
        isinstance(callee, Const)
        and callee.value is operator.getitem
        and type(type_of(call)) is ArrayType
        and is_view([type_of(a) for a in arguments])
    )
