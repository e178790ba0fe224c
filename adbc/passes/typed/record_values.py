"""A field of a record that is made here is the value that it was made of, also around a loop.

before::

    b:
        %p: V[x: float] = call made_record(V, %a)
        jump loop
    loop:
        %q: V[x: float] = phi [b: %p, body: %r]
        ...
    body:
        %1: float = call record_field(%q, 'x')
        %2: float = call operator.mul(%1, 0.5)
        %r: V[x: float] = call made_record(V, %2)
        jump loop

after::

    loop:
        %q.x: float = phi [b: %a, body: %2]
        ...
    body:
        %2: float = call operator.mul(%q.x, 0.5)
        jump loop

Records, frozen dataclasses and named tuples, do not change, so it does not matter for its fields who else has
got one.  One that nobody needs, escape analysis says, is not made; where a guess was wrong and the rest of
the function is given it, it is made there.  What a named tuple is unpacked into, or what a tuple is made of,
are its values too.

So that what methods and operators do with records is seen, those that are small, and of which nothing has to
be guessed, are written into the function (`with_methods`).  Needs types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adbc.ir.builder import remove_dead_phis
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _assume_, _foreigncall_, _new_, _unpack_
from adbc.ir.terminators import Return
from adbc.ir.traverse import copy_graph, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.normal.inline_calls import inline_calls
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.query import constant, drop, target
from adbc.types.inference import is_rest, type_of
from adbc.types.lattice import ANY, AbstractType, Exact, RecordType
from adbc.types.records import MAKERS, made_fields, making, record_field, record_names, unhidden

__all__ = ["Choose", "is_left", "record_values", "records_of", "with_methods", "without_assumptions"]

Choose = Callable[[Graph, Instruction], tuple[Graph, Sequence[Value]] | None]
Infer = Callable[[Graph, tuple[AbstractType, ...]], object]


def is_record(value: Value) -> bool:
    """Whether `value` is known to be a record, and what is in it."""
    return isinstance(type_of(value), RecordType)


def with_methods(
    graph: Graph, choose: Choose, infer: Infer, is_given: Callable[[Value], bool] = is_record
) -> bool:
    """Write small functions that are given records into `graph`, in place; returns whether there were any.

    choose: the graph of what is called and what its parameters are, if it may be written in.  infer: writes
    types into a graph with parameters of these types.  is_given: whether a function that is given this value
    is looked at.
    """
    parameters = tuple(map(type_of, graph.arguments))
    asked: set[Instruction] = set()

    def chosen(call: Instruction) -> tuple[Graph, Sequence[Value]] | None:
        if call in asked or not any(map(is_given, call.operands[1:])):
            return None
        asked.add(call)
        found = choose(graph, call)
        if found is None:
            return None
        callee, _, _ = copy_graph(found[0])
        infer(callee, tuple(map(type_of, found[1])))
        merge_blocks(callee)  # behind branches that the types have decided
        is_known = len(callee.blocks) == 1 and all(type_of(i) is not ANY for i in callee.instructions())
        return (callee, found[1]) if is_known else None

    changed = False
    while inline_calls(graph, chosen):
        infer(graph, parameters)
        changed = True
    return changed


def record_values(graph: Graph) -> bool:
    """Read fields of records where these were made, in place; returns whether there were any."""
    changed = without_assumptions(graph)
    return _Records(graph).replace() or changed


def records_of(graph: Graph) -> set[Value]:
    """The records, and objects that are taken for records, that are made in `graph`, and phis of them."""
    return _Records(graph).found


def without_assumptions(graph: Graph) -> bool:
    """Leave out what is assumed of records that are known to be such."""
    idle: dict[Instruction, Value] = {}
    for call in graph.instructions():
        if target(call) is _assume_:
            record, assumed = call.operands[1], constant(call.operands[2])
            known = type_of(record)
            if isinstance(known, RecordType) and isinstance(assumed, Exact) and assumed.cls is known.cls:
                idle[call] = record
    drop(graph, set(idle))
    graph.replace_uses(idle)  # type: ignore[arg-type]  # instructions are values
    return bool(idle)


class _Records:
    """The records of one graph that are seen to be made in it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.users = uses(graph)
        self.made = [call for call in graph.instructions() if target(call) in MAKERS]
        self.found: set[Value] = {*self.made, *self._phis()} if self.made else set()
        self.fields: dict[Value, dict[str, Value]] = {}
        for value in self.found:
            self.fields[value] = self._fields(value)

    def _phis(self) -> set[Value]:
        """The phis of records all of which are made here: it is assumed that all are, and those are taken
        away of which it is not true."""
        phis = {
            phi for block in self.graph.blocks for phi in block.phis if isinstance(type_of(phi), RecordType)
        }
        while True:
            wrong = {
                phi
                for phi in phis
                if not all(v in phis or target(v) in MAKERS for v in phi.operands.values())
            }
            if not wrong:
                return phis  # type: ignore[return-value]  # a set of values
            phis -= wrong

    def _fields(self, value: Value) -> dict[str, Value]:
        if isinstance(value, Instruction):
            return dict(made_fields(value.operands))
        known = type_of(value)
        assert isinstance(value, Phi)
        assert isinstance(known, RecordType)
        parts: dict[str, Value] = {}
        for name, type_ in known.fields:
            part = Phi(value.block, name=f"{value.name}.{name}" if value.name else name)
            part.type, part.position = type_, value.position
            parts[name] = part
        return parts

    def replace(self) -> bool:
        for value in self.found:
            if isinstance(value, Phi):
                for name, part in self.fields[value].items():
                    part.operands = {b: self.fields[v][name] for b, v in value.operands.items()}  # type: ignore[attr-defined]
                    value.block.phis.append(part)  # type: ignore[arg-type]
        replaced = self._reads()
        changed = self._tuples()
        drop(self.graph, set(replaced))
        self.graph.replace_uses(replaced)  # type: ignore[arg-type]  # instructions are values
        for parts in self.fields.values():  # a record may be made of fields of another
            for name, part in parts.items():
                while part in replaced:
                    part = replaced[part]
                parts[name] = part
        changed |= self._without(self._kept())
        remove_dead_phis(self.graph)
        return changed or bool(replaced)

    def _reads(self) -> dict[Instruction, Value]:
        """What stands for each field that is read."""
        return {
            user: self.fields[value][str(constant(user.operands[2]))]
            for value in self.found
            for user in self.users.get(value, ())
            if isinstance(user, Instruction) and target(user) is record_field
        }

    def _tuples(self) -> bool:
        """Make tuples of values of what named tuples are unpacked into."""
        changed = False
        for value in self.found:
            for user in self.users.get(value, ()):
                if isinstance(user, Instruction) and self._is_unpacked(user, value):
                    user.operands = [Const(_new_), Const(tuple), *self.fields[value].values()]
                    changed = True
        return changed

    def _is_unpacked(self, user: Instruction, record: Value) -> bool:
        cls = type_of(record).cls  # type: ignore[attr-defined]  # of a record
        if not issubclass(cls, tuple) or cls.__iter__ is not tuple.__iter__ or user.keywords:
            return False
        if target(user) is _unpack_:
            return bool(constant(user.operands[2]) == len(record_names(cls)))
        is_tuple = target(user) is _foreigncall_ and constant(user.operands[1]) is tuple
        return is_tuple and user.operands[2:] == [record]

    def _kept(self) -> set[Value]:
        """The records that somebody may see, other than the rest of a function behind a wrong guess, and who
        called it."""
        users = uses(self.graph)
        kept: set[Value] = set()
        for block in self.graph.blocks:
            if not isinstance(block.terminator, Return):
                kept.update(v for v in block.terminator.values if v in self.found)
            for phi in block.phis:
                if phi not in self.found:
                    kept.update(v for v in phi.operands.values() if v in self.found)
        for value in self.found:
            seen = [user for user in users.get(value, ()) if isinstance(user, Instruction)]
            if not all(map(_is_blind, seen)):
                kept.add(value)
        waiting = list(kept)
        while waiting:
            value = waiting.pop()
            for v in value.operands.values() if isinstance(value, Phi) else ():
                if v not in kept:
                    kept.add(v)
                    waiting.append(v)
        return kept

    def _without(self, kept: set[Value]) -> bool:
        """Make the others only where the rest of a function is given them."""
        gone = self.found - kept
        if not gone:
            return False
        idle = set()
        for block in self.graph.blocks:
            for call in list(block.instructions):
                given = dict.fromkeys(v for v in call.operands if v in gone)
                if not given:
                    continue
                if target(call) is unhidden:
                    idle.add(call)
                else:
                    again = {value: self._again(value, block, call) for value in given}
                    call.operands = [again.get(v, v) for v in call.operands]
            if isinstance(block.terminator, Return) and block.terminator.value in gone:
                block.terminator.value = self._again(block.terminator.value, block, None)
        drop(self.graph, idle | {v for v in gone if isinstance(v, Instruction)})
        return True

    def _again(self, value: Value, block: Block, call: Instruction | None) -> Instruction:
        """The record, made in front of `call` or at the end of the block."""
        fields = self.fields[value]
        cls = type_of(value).cls  # type: ignore[attr-defined]  # of a record
        position = value.position if call is None else call.position
        made = Instruction("call", making(cls, fields), position=position)
        made.type, made.block = type_of(value), block
        at = len(block.instructions) if call is None else block.instructions.index(call)
        block.instructions.insert(at, made)
        return made


def _is_blind(user: Instruction) -> bool:
    """Whether `user`, which is given a record, can be given one made in front of it, or needs none."""
    return target(user) is unhidden or is_left(user)


def is_left(call: Instruction) -> bool:
    """Whether `call` runs the rest of the function, where no exception is handled."""
    return is_rest(call) and call.block is not None and call.block.handler is None
