"""Scalar replacement: objects that never leave the function that makes them, as escape analysis shows, become
the values of their fields.

before::

    %p = call _new_(Particle, 1.0, %v)                 class Particle:
    %step = call _getattr_(%p, 'step')                     def __init__(self, x, v): ...
    %1 = call %step(0.1)                                   def step(self, h): self.x = self.x + h * self.v
    %x = call _getattr_(%p, 'x')

after::

    %2 = call operator.mul(0.1, %v)
    %x = call operator.add(1.0, %2)

The call of an ordinary class is an instance and its ``__init__``; that and the methods of the object are
written into the function (`inline_calls`), and if then all that is done to the object is to read and write
its fields, none of which is read before it was surely written, they become values like any other.  If
anything else is done to it, it stays as it was: somebody might look at it.
Needs calls; leaves trivial phis.  What is assumed about classes goes into the `facts` of the graph.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from adbc.ir.builder import Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _getattr_, _new_, _setattr_
from adbc.ir.terminators import Return
from adbc.ir.traverse import copy_graph
from adbc.ir.values import UNDEF, Const, Instruction, Value
from adbc.passes.normal.inline_calls import inline_calls
from adbc.passes.query import drop, target, use_counts

__all__ = ["Classes", "scalar_replacement"]

Choose = Callable[[Graph, Instruction], tuple[Graph, Sequence[Value]] | None]
Variable = tuple[Instruction, str]


class Classes(Protocol):
    """Questions about classes; each answer is noted in `facts`, by class and name."""

    def constructor(self, cls: type, facts: dict[Any, Any]) -> types.FunctionType | None:
        """The ``__init__`` that a call of `cls` runs on a new object, if the call does nothing else."""

    def method(self, cls: type, name: str, facts: dict[Any, Any]) -> types.FunctionType | None:
        """The function that ``instance.name`` is bound to, unless the instance has such a field."""

    def is_default(self, cls: type, name: str, facts: dict[Any, Any]) -> bool:
        """Whether attribute `name` of an instance of exactly `cls` without such a field is an object that the
        class has, which is given as it is."""

    def keeps(self, cls: type, name: str, facts: dict[Any, Any]) -> bool:
        """Whether what is set as attribute `name` of an instance of exactly `cls` is what is read there."""


def scalar_replacement(graph: Graph, classes: Classes, choose: Choose) -> Graph:
    """`graph`, or another one in its place, with the fields of objects that do not escape as values.

    choose: like that of `inline_calls`, but it is given the graph too.
    """
    while True:
        found = _once(graph, classes, choose)
        if found is graph:
            return graph
        graph = found  # objects that were fields of others may be alone now


def _once(graph: Graph, classes: Classes, choose: Choose) -> Graph:
    numbers = [
        k for k, call in enumerate(graph.instructions()) if _class_called(call) is not None and _is_free(call)
    ]
    while numbers:
        attempt = _Attempt(graph, numbers, classes, choose)
        kept = attempt.run()
        if kept == numbers:
            return attempt.graph
        numbers = kept
    return graph


def _class_called(call: Instruction) -> type | None:
    if target(call) is not _new_ or len(call.operands) < 2 or not isinstance(call.operands[1], Const):
        return None
    kind = call.operands[1].value
    return kind if isinstance(kind, type) and kind.__module__ != "builtins" else None


def _is_free(call: Instruction) -> bool:
    return call.block is not None and call.block.handler is None


class _Attempt:
    """An attempt, on a copy of a graph, to replace all objects that the instructions with these numbers
    make."""

    def __init__(self, graph: Graph, numbers: list[int], classes: Classes, choose: Choose) -> None:
        self.numbers = numbers
        self.graph, _, _ = copy_graph(graph)
        self.classes = classes
        self.choose = choose
        calls = list(self.graph.instructions())
        self.classes_of = {calls[k]: _class_called(calls[k]) for k in numbers}
        self.number = {calls[k]: k for k in numbers}
        self.bound: set[tuple[Value, object]] = set()
        """The methods of objects that were found in their classes, as pairs of object and name."""

    def run(self) -> list[int]:
        """Replace the objects if that is possible for all; returns the numbers of those for which it may
        be."""
        opened = [call for call in self.number if self._open(call)]
        if len(opened) < len(self.number):
            return [self.number[call] for call in opened]
        while self._bind_methods() | inline_calls(self.graph, self._chosen):
            pass
        self._read_defaults()
        inside = [call for call in self.number if self._stays(call)]
        unset = self._read_too_early(set(inside))
        inside = [call for call in inside if call not in unset]
        if len(inside) == len(self.number):
            self._promote(set(inside))
        return [self.number[call] for call in inside]

    # -- calls -----------------------------------------------------------------------------------------

    def _open(self, call: Instruction) -> bool:
        """Put a call of ``__init__`` behind the call of a class; returns whether the former can be
        inlined."""
        cls = self.classes_of[call]
        assert cls is not None and call.block is not None
        function = self.classes.constructor(cls, self.graph.facts)
        if function is None:
            return False
        init = Instruction(
            "call",
            [Const(function), call, *call.operands[2:]],
            keywords=call.keywords,
            position=call.position,
        )
        init.block = call.block
        call.block.instructions.insert(call.block.instructions.index(call) + 1, init)
        chosen = self.choose(self.graph, init)
        return chosen is not None and all(
            isinstance(end.value, Const) and end.value.value is None
            for end in (block.terminator for block in chosen[0].blocks)
            if isinstance(end, Return)
        )

    def _bind_methods(self) -> bool:
        """Turn calls of methods of the objects into calls of functions; returns whether there were any."""
        changed = False
        uses = use_counts(self.graph)
        gone: set[Instruction] = set()
        for call in list(self.graph.instructions()):
            read = call.operands[0] if call.op == "call" else None
            if not isinstance(read, Instruction) or target(read) is not _getattr_ or call.block is None:
                continue
            obj, name = read.operands[1:3]
            cls = self.classes_of.get(obj) if isinstance(obj, Instruction) else None
            if cls is None or uses[read] != 1 or not isinstance(name, Const):
                continue
            function = self.classes.method(cls, str(name.value), self.graph.facts)
            if function is not None:
                self.bound.add((obj, name.value))
                call.operands[:1] = [Const(function), obj]
                gone.add(read)
                changed = True
        drop(self.graph, gone)
        return changed

    def _chosen(self, call: Instruction) -> tuple[Graph, Sequence[Value]] | None:
        """What `inline_calls` is to write in for `call`: every function that is given one of the objects, if
        it may be."""
        if not any(v in self.number for v in call.operands[1:]):
            return None
        return self.choose(self.graph, call)

    # -- fields ----------------------------------------------------------------------------------------

    def _field(self, instruction: Instruction) -> Variable | None:
        """The field of one of the objects that `instruction` reads or writes."""
        if target(instruction) not in (_getattr_, _setattr_):
            return None
        obj, name = instruction.operands[1:3]
        if not isinstance(obj, Instruction) or obj not in self.number or not isinstance(name, Const):
            return None
        return obj, str(name.value)

    def _read_defaults(self) -> None:
        """Read from the class what no object has of its own, as an attribute that its class has for all."""
        fields = [(i, f) for i in self.graph.instructions() if (f := self._field(i))]
        written = {field for i, field in fields if target(i) is _setattr_}
        for read, field in fields:
            cls = self.classes_of[field[0]]
            if field in written or cls is None or field in self.bound:
                continue
            if self.classes.is_default(cls, field[1], self.graph.facts):
                read.operands[1] = Const(cls)

    def _stays(self, obj: Instruction) -> bool:
        """Whether all that is done to an object is to read and write its fields."""
        cls = self.classes_of[obj]
        assert cls is not None
        for block in self.graph.blocks:
            if obj in block.terminator.values or any(obj in phi.operands.values() for phi in block.phis):
                return False
            for instruction in block.instructions:
                if obj not in instruction.operands:
                    continue
                field = self._field(instruction)
                if field is None or field[0] is not obj or obj in instruction.operands[2:]:
                    return False
                if field in self.bound:  # a field that may hide the method
                    return False
                if block.handler is not None or not self.classes.keeps(cls, field[1], self.graph.facts):
                    return False
        return True

    def _read_too_early(self, objects: set[Instruction]) -> set[Instruction]:
        """The objects of which a field may be read before it was written."""
        sources = self.graph.predecessors()
        fields = {f for i in self.graph.instructions() if (f := self._field(i)) and f[0] in objects}
        full: dict[Block, set[Variable]] = {block: set(fields) for block in self.graph.blocks}
        found: set[Instruction] = set()
        changed = True
        while changed:
            changed = False
            for block in self.graph.blocks:
                before = [full[source] for source in sources[block]]
                here = set.intersection(*before) if before and block is not self.graph.entry else set()
                for instruction in block.instructions:
                    if instruction in objects:
                        here = {f for f in here if f[0] is not instruction}
                    field = self._field(instruction)
                    if field is None or field[0] not in objects:
                        continue
                    if target(instruction) is _setattr_:
                        here.add(field)
                    elif field not in here:
                        found.add(field[0])
                if here != full[block]:
                    full[block] = here
                    changed = True
        return found

    def _promote(self, objects: set[Instruction]) -> None:
        variables = Variables(self.graph, initial=lambda variable: UNDEF)
        for block in self.graph.blocks:
            for successor in block.successors:
                variables.edge(block, successor)
        replaced: dict[Value, Value] = {}
        gone: set[Instruction] = set(objects)
        for block, instruction in self._in_order():
            field = self._field(instruction)
            if field is None:
                continue
            gone.add(instruction)
            if target(instruction) is _setattr_:
                variables.write(field, block, instruction.operands[3])
                replaced[instruction] = Const(None)
            else:
                replaced[instruction] = variables.read(field, block)
        for block in self.graph.blocks:
            variables.seal(block)
        drop(self.graph, gone)
        self.graph.replace_uses(replaced)

    def _in_order(self) -> Iterator[tuple[Block, Instruction]]:
        for block in self.graph.blocks:
            for instruction in list(block.instructions):
                yield block, instruction
