"""Objects of ordinary classes that are made here, and that nobody writes to or sees, are the values of their
fields.

before::

    loop:
        %p: V = phi [b: %q, body: %r]
        ...
    body:
        %1: Any = call _getattr_(%p, 'x')
        %2: float = call operator.mul(%1, 0.5)
        %r: V = call _instance_(V)
        %3: None = call _init_field_(%r, 'x', %2)
        jump loop

after::

    loop:
        %p.x: float = phi [b: %a, body: %2]
        ...
    body:
        %2: float = call operator.mul(%p.x, 0.5)
        jump loop

For that the calls by which an object is made are written as one, of `made_object`, whose result is typed as
a record; small methods and operators are written into the function, and `record_values` does the rest.

Other than a record, an object may be changed by whoever has it.  So a group of objects, those that come
together in phis, is left as it is if anything is done to one of them but to read fields that it was made
with.  One may be handed to the rest of the function behind a wrong guess, or be returned: it is made there,
and nobody has had it before.  Two values of a group may be the same object; so only one may be handed over.

All is tried on a copy first, and the classes of groups that have to stay are left out.  Needs types.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _getattr_, _init_field_, _instance_, _method_is_, _setattr_
from adbc.ir.terminators import Return
from adbc.ir.traverse import copy_graph, uses
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.passes.query import constant, drop, target, use_counts
from adbc.passes.typed.decided_branches import BranchKnowledge, drop_idle_tests
from adbc.passes.typed.record_values import (
    Choose,
    is_left,
    record_values,
    records_of,
    with_methods,
    without_assumptions,
)
from adbc.types.callsites import Binding
from adbc.types.inference import is_rest, type_of
from adbc.types.lattice import ANY, NEVER, NONE, AbstractType, Exact, RecordType
from adbc.types.records import made_object, record_field

__all__ = ["ObjectKnowledge", "Result", "object_values"]


Result = Callable[[object, Sequence[AbstractType], tuple[str, ...]], "AbstractType | None"]
"""A function that may know the type of a call's result."""
InferWith = Callable[[Graph, tuple[AbstractType, ...], "Result | None"], AbstractType]


class ObjectKnowledge(BranchKnowledge, Protocol):
    """What `object_values` asks of the rest of the system."""

    def method(self, cls: type, name: str) -> types.FunctionType | None:
        """The function that attribute `name` of instances of exactly `cls` is bound to, without a rule."""

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""

    def is_field(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field."""

    def is_default(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else an object that the
        class has."""

    def is_kept(self, cls: type, name: str) -> bool:
        """Whether attribute `name` of instances of exactly `cls` is a plain field, or else a constant that
        the class has."""


def object_values(
    graph: Graph,
    knowledge: ObjectKnowledge,
    choose: Choose,
    infer: InferWith,
    drop_reads: Callable[[Graph], object],
) -> bool:
    """Read fields of objects where these were made, in place; returns whether there were any.

    choose: the graph of what is called and what its parameters are, if it may be written in.  infer: writes
    types into a graph with parameters of these types, asking the given function for those of results.
    drop_reads: removes reads of methods that are called by their functions.
    """
    if not any(_is_instance(call) for call in graph.instructions()):
        return False

    def attempt(tried: Graph, excluded: set[type]) -> _Attempt:
        return _Attempt(tried, knowledge, choose, infer, drop_reads, excluded)

    changed = False
    while True:  # objects that were fields of others may be alone now
        excluded: set[type] = set()
        while True:
            trial = attempt(copy_graph(graph)[0], excluded)
            if not trial.open():
                return changed
            unclean = trial.unclean()
            if not unclean:
                break
            excluded |= unclean
        found = attempt(graph, excluded)
        found.open()
        found.replace()
        changed = True


def _is_instance(call: Instruction) -> bool:
    return target(call) is _instance_ and not hasattr(constant(call.operands[1]), "__del__")


class _Attempt:
    """An attempt to replace all objects of a graph, but for those of some classes."""

    def __init__(
        self,
        graph: Graph,
        knowledge: ObjectKnowledge,
        choose: Choose,
        infer: InferWith,
        drop_reads: Callable[[Graph], object],
        excluded: set[type],
    ) -> None:
        self.graph = graph
        self.parameters = tuple(map(type_of, graph.arguments))
        self.knowledge = knowledge
        self.choose = choose
        self.infer_with = infer
        self.drop_reads = drop_reads
        self.excluded = excluded
        self.classes: set[type] = set()
        """The classes of objects that may become values."""
        self.results: dict[object, AbstractType] = {}

    def open(self) -> bool:
        """Write the objects as records, and small functions that are given them into the graph; returns
        whether there are any."""
        if not self._prepare(self.graph, self.parameters):
            return False
        with_methods(self.graph, self.choose, self._infer, self._is_own)
        if without_assumptions(self.graph):
            self._infer(self.graph, self.parameters)
        self.drop_reads(self.graph)
        drop_idle_tests(self.graph, self.knowledge)
        return self._is_worth_it()

    def _is_worth_it(self) -> bool:
        """Whether fields of objects are read, or objects come together in a phi: not where some of them are
        behind what is seen to raise always."""
        found = records_of(self.graph)
        if any(type_of(v) is NEVER for v in found):
            return False
        made = {v for v in found if type_of(v).cls in self.classes}  # type: ignore[attr-defined]
        is_read = any(
            target(call) is record_field and call.operands[1] in made for call in self.graph.instructions()
        )
        return is_read or any(isinstance(value, Phi) for value in made)

    def _is_own(self, value: Value) -> bool:
        """Whether what is given `value`, one of the objects or one to be set up, may be written in."""
        known = type_of(value)
        is_new = target(value) is _instance_ and known.cls not in self.excluded  # type: ignore[attr-defined]
        return is_new or isinstance(known, RecordType)

    def _infer(self, graph: Graph, parameters: tuple[AbstractType, ...]) -> AbstractType:
        """Write types into a graph, and objects and reads of their fields as those of records; returns the
        type of the result."""
        found = self.infer_with(graph, parameters, self._result)
        while self._make(graph) | self._read(graph):
            found = self.infer_with(graph, parameters, self._result)
        return found

    def _prepare(self, graph: Graph, parameters: tuple[AbstractType, ...]) -> bool:
        if not self._make(graph):
            return False
        self._infer(graph, parameters)
        return True

    def _result(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType | None:
        """The type of the result of a small function that is given one of the objects; None if it is none."""
        if not any(isinstance(t, RecordType) and t.cls in self.classes for t in types_):
            return None
        key = function, tuple(types_), keywords
        if key not in self.results:
            self.results[key] = ANY  # a function that calls itself
            given = [Argument(str(k), k) for k in range(len(types_))]
            for argument, known in zip(given, types_, strict=True):
                argument.type = known
            found = self.choose(self.graph, Instruction("call", [Const(function), *given], keywords=keywords))
            if found is None:
                del self.results[key]
                return None
            callee = copy_graph(found[0])[0]
            self.results[key] = self._infer(callee, tuple(map(type_of, found[1])))
        return self.results[key]

    def _make(self, graph: Graph) -> bool:
        """Write each object together with its first fields; returns whether there were any."""
        changed = False
        for block in graph.blocks:
            for call in list(block.instructions):
                if not _is_instance(call) or constant(call.operands[1]) in self.excluded:
                    continue
                stores = self._stores(call, block.instructions[block.instructions.index(call) + 1 :])
                if stores:
                    last, values = stores[-1], {}
                    for store in stores:
                        values[str(constant(store.operands[2]))] = store.operands[3]
                    cls, names = call.operands[1], Const(tuple(values))
                    call.operands = [Const(made_object), cls, names, *values.values()]
                    self.classes.add(constant(cls))
                    block.instructions.remove(call)
                    block.instructions.insert(block.instructions.index(last) + 1, call)
                    drop(graph, set(stores))
                    changed = True
        return changed

    def _stores(self, made: Instruction, behind: Sequence[Instruction]) -> list[Instruction]:
        """What sets the fields of the object, before anything else is done with it."""
        cls, found = constant(made.operands[1]), []
        for call in behind:
            if made not in call.operands:
                continue
            is_store = target(call) in (_init_field_, _setattr_) and made not in call.operands[2:]
            name = constant(call.operands[2]) if is_store else None
            if type(name) is not str or not self._is_own_field(cls, name):
                break
            found.append(call)
        return found

    def _read(self, graph: Graph) -> bool:
        """Write reads of fields, and calls of methods, as such; returns whether there were any."""
        changed = False
        counts = use_counts(graph)
        gone: set[Instruction] = set()
        proved: dict[Value, Value] = {}
        for call in graph.instructions():
            callee = call.operands[0] if call.op == "call" else None
            if self._reads_field(call):
                call.operands = [Const(record_field), *call.operands[1:]]
                changed = True
            elif target(call) is _method_is_ and self._method(call.operands[1]) is constant(call.operands[2]):
                gone.add(call)
                proved[call] = Const(True)
            elif isinstance(callee, Instruction):
                changed |= self._call_method(callee, call)
            elif self._reads_default(call):
                call.operands[1] = Const(type_of(call.operands[1]).cls)  # type: ignore[attr-defined]
                changed = True
            if not counts.get(call) and self._method(call) is not None:
                gone.add(call)
        drop(graph, gone)
        graph.replace_uses(proved)
        return changed or bool(gone)

    def _reads_field(self, call: Instruction) -> bool:
        return constant(call.operands[2]) in self._fields(call) if target(call) is _getattr_ else False

    def _fields(self, read: Instruction) -> dict[str, AbstractType]:
        """The fields of the object that an attribute is read from; none if it is another."""
        known = type_of(read.operands[1])
        return dict(known.fields) if isinstance(known, RecordType) and known.cls in self.classes else {}

    def _reads_default(self, call: Instruction) -> bool:
        """Whether `call` reads from an object what its class has for all, and it has not."""
        if target(call) is not _getattr_ or not self._fields(call) or self._reads_field(call):
            return False
        cls, name = type_of(call.operands[1]).cls, constant(call.operands[2])  # type: ignore[attr-defined]
        return type(name) is str and self._method(call) is None and self.knowledge.is_default(cls, name)

    def _method(self, read: Value) -> types.FunctionType | None:
        """The method that `read` reads from one of the objects, no field of which hides it."""
        if not isinstance(read, Instruction) or target(read) is not _getattr_ or not self._fields(read):
            return None
        source, name = read.operands[1:3]
        if self._reads_field(read):
            return None
        return self.knowledge.method(type_of(source).cls, str(constant(name)))  # type: ignore[attr-defined]

    def _call_method(self, read: Instruction, call: Instruction) -> bool:
        """Call what is read from an object by its function, if it is a method; whether it is one."""
        method = self._method(read)
        if method is None or self.knowledge.bind(method, len(call.operands), call.keywords) is None:
            return False
        call.operands[:1] = [Const(method), read.operands[1]]
        return True

    def _is_own_field(self, cls: type, name: str) -> bool:
        return self.knowledge.is_field(cls, name) or self.knowledge.is_kept(cls, name)

    # -- who sees them -------------------------------------------------------------------------------------

    def unclean(self) -> set[type]:
        """The classes of objects that somebody else may see or change."""
        group = _grouped(records_of(self.graph))
        wrong = {group[value] for value in self._seen(group)} | set(self._handed_together(group))
        made = {value for value, of in group.items() if of in wrong and isinstance(value, Instruction)}
        loose = {call for call in self.graph.instructions() if target(call) is made_object} - group.keys()
        return {constant(call.operands[1]) for call in made | loose if target(call) is made_object}

    def _seen(self, group: dict[Value, Value]) -> Iterator[Value]:
        """The values that are used otherwise than by reading a field, or by leaving the function."""
        users = uses(self.graph)
        for value in group:
            known = type_of(value)
            fields = {name for name, _ in known.fields} if isinstance(known, RecordType) else set()
            for user in users[value]:
                if isinstance(user, Phi):
                    is_hidden = user in group
                elif isinstance(user, Instruction):
                    is_read = target(user) is record_field and constant(user.operands[2]) in fields
                    is_hidden = is_read or is_left(user)
                else:
                    is_hidden = isinstance(user, Return)
                if not is_hidden:
                    yield value

    def _handed_together(self, group: dict[Value, Value]) -> Iterator[Value]:
        """The groups of which the rest of the function is given several values, which may be one object."""
        for call in self.graph.instructions():
            if is_rest(call):
                given = {v for v in call.operands if v in group}
                seen: set[Value] = set()
                for value in given:
                    if group[value] in seen:
                        yield group[value]
                    seen.add(group[value])

    # -- replacing -----------------------------------------------------------------------------------------

    def replace(self) -> None:
        """Replace the objects, none of which is seen by anybody."""
        record_values(self.graph)
        for block in self.graph.blocks:
            calls: list[Instruction] = []
            for call in block.instructions:
                calls += _apart(call) if target(call) is made_object else [call]
            block.instructions = calls
        self.infer_with(self.graph, self.parameters, None)


def _apart(call: Instruction) -> list[Instruction]:
    """What makes an object and sets its fields, one after the other."""
    cls, names, values = call.operands[1], constant(call.operands[2]), call.operands[3:]
    stores = []
    for name, value in zip(names, values, strict=True):
        operands = [Const(_init_field_), call, Const(name), value]
        store = Instruction("call", operands, type=NONE, position=call.position)
        store.block = call.block
        stores.append(store)
    call.operands, call.type = [Const(_instance_), cls], Exact(constant(cls))
    return [call, *stores]


def _grouped(values: set[Value]) -> dict[Value, Value]:
    """A value that stands for all that come together in phis, for each of `values`."""
    group: dict[Value, Value] = {value: value for value in values}

    def of(value: Value) -> Value:
        while group[value] is not value:
            value = group[value]
        return value

    for value in values:
        for other in value.operands.values() if isinstance(value, Phi) else ():
            group[of(other)] = of(value)
    return {value: of(value) for value in values}
