"""Which generators may be written into the loops that consume them, and what stands for a loop in C."""

from __future__ import annotations

import array
import collections
import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from adbc import passes
from adbc.errors import LiftError
from adbc.functions import is_function
from adbc.ir.graph import Graph, Guard, globals_made
from adbc.ir.intrinsics import _foreigncall_, _getattr_, _iter_, _new_, _setattr_
from adbc.ir.traverse import copy_graph, uses
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Value
from adbc.passes.normal.asked_methods import as_generator, gives_itself
from adbc.passes.normal.consumed_generators import (
    LARGEST,
    MOST,
    Written,
    consumed_generators,
    is_simple_generator,
    makes_one,
)
from adbc.passes.normal.delegations import without_delegations
from adbc.passes.normal.dropped_generators import makes_generators
from adbc.passes.normal.stopping_nexts import stopping_nexts
from adbc.passes.normal.zipped_loops import zipped_loops
from adbc.passes.query import constant, target
from adbc.rules.consumers import (
    FOLDS,
    Consumer,
    Unset,
    added,
    begun,
    consumer_of,
    dict_of_pairs,
    extended,
    listed,
    pushed,
    pushed_by_operator,
    taken,
)  # fmt: skip
from adbc.rules.lookup import RuleTable
from adbc.rules.producers import PRODUCERS
from adbc.runtime.build import calling
from adbc.runtime.build.bindings import ANY_NUMBER
from adbc.runtime.build.calling import Calling, bound_arguments, is_plain_class, made_here, stands_in
from adbc.runtime.build.stopping import calls_what_stops, may_stop

__all__ = ["Consuming"]


class Graphs(calling.Graphs, Protocol):
    """Who knows the graphs of functions: `graphs.Graphs`."""

    @property
    def table(self) -> RuleTable: ...

    def primal(self, function: types.FunctionType) -> Graph: ...


_SET: Any = object.__setattr__
_IN_C = types.BuiltinFunctionType


def _is_known(value: Value) -> bool:
    """Whether `value` is a function written in Python that is known, or made in the graph."""
    if isinstance(value, Instruction):
        return target(value) is _new_ and constant(value.operands[1]) is types.FunctionType
    return type(constant(value)) is types.FunctionType


def _codes_made(graph: Graph) -> Iterator[tuple[types.CodeType, dict[str, Any]]]:
    """The code and globals of each function that is made in `graph`."""
    for call in graph.instructions():
        if target(call) is _new_ and constant(call.operands[1]) is types.FunctionType:
            code = constant(call.operands[2])
            globals = globals_made(call)
            if isinstance(code, types.CodeType) and globals is not None:
                yield code, globals


def _joins(called: Value) -> bool:
    """Whether what is called is the method that joins texts, of a text that is written down: it takes all
    texts before it looks at one."""
    if not isinstance(called, Instruction) or target(called) is not _getattr_:
        return False
    return type(constant(called.operands[1])) is str and constant(called.operands[2]) == "join"


def _grown(call: Instruction, number: int) -> tuple[Value, type] | None:
    """The list, deque or array that a call adds the elements of its operand `number` to, by its method
    ``extend`` or in place, if it was made in the graph, and its class."""
    if number == 2 and target(call) is operator.iadd:
        made, classes = call.operands[1], _GROWING[:2]
    elif number == 1 and len(call.operands) == 2 and isinstance(called := call.operands[0], Instruction):
        if target(called) is not _getattr_ or constant(called.operands[2]) != "extend":
            return None
        made, classes = called.operands[1], _GROWING
    else:
        return None
    cls = _class_made(made)
    return (made, cls) if cls in classes else None


_GROWING: tuple[type, ...] = (list, collections.deque, array.array)


_LOOPS = ((pushed, extended), (pushed_by_operator, added))
"""What stands for adding many elements: by the method or in place, to something else or to a list."""


def _class_made(value: Value) -> type | None:
    """The class in `_GROWING` of which `value` is an instance that was made in the graph, on all ways that
    lead to it; None if that is not seen."""
    pending, met, found = [value], set[Value](), set[Any]()
    while pending:
        value = pending.pop()
        if value in met:
            continue
        met.add(value)
        if isinstance(value, Phi):
            pending += value.operands.values()
        elif isinstance(value, Instruction) and target(value) is operator.iadd:
            pending.append(value.operands[1])
        else:
            is_made = isinstance(value, Instruction) and target(value) in (_new_, _foreigncall_)
            made = constant(value.operands[1]) if is_made else None  # type: ignore[attr-defined]
            found.add(list if made is sorted else made)
    made = found.pop() if len(found) == 1 else None
    return next((cls for cls in _GROWING if made is cls), None)


def is_unasked(cls: type, name: Any) -> bool:
    """Whether no code runs where the attribute `name` of an instance of `cls` is set."""
    found = getattr(cls, name, None)
    is_plain = type(found) is types.MemberDescriptorType or not hasattr(type(found), "__set__")
    return cls.__setattr__ is _SET and is_plain


def _begins_with_all(body: Graph, parameter: Value, cls: type) -> bool:
    """Whether the ``__init__`` of `cls` makes a list or tuple of `parameter`, and does nothing else with
    it, before it does anything but set fields."""
    users = uses(body).get(parameter, ())
    for call in body.entry.instructions:
        if list(users) == [call] and target(call) is _foreigncall_ and len(call.operands) == 3:
            return constant(call.operands[1]) in (list, tuple)
        is_write = target(call) is _setattr_ and call.operands[1] is body.arguments[0]
        if not is_write or not is_unasked(cls, constant(call.operands[2])):
            return False
    return False


def _takes_all_in_c(cls: type, place: int) -> bool:
    """Whether a call of `cls`, which is derived from `list` or `tuple`, takes all of its argument number
    `place`, which is the first, before it does anything else."""
    base: Any = next((base for base in (list, tuple) if issubclass(cls, base)), None)
    made: Any = cls
    return place == 1 and base is not None and made.__new__ is base.__new__ and made.__init__ is base.__init__


def _note_made_in_c(graph: Graph, cls: type) -> bool:
    """Have `graph` hold for as long as instances of `cls` are made in C; whether it knows the class by a
    name."""
    path = next((g.path for g in graph.guards if g.value is cls), None)
    if path is not None:
        made: Any = cls
        graph.guards += [Guard((*path, "__new__"), made.__new__), Guard((*path, "__init__"), made.__init__)]
    return path is not None


def _chooses_one(function: Any) -> bool:
    return function is max or function is min


class Consuming:
    """What `consumed_generators` asks about the functions that a graph calls."""

    def __init__(self, graphs: Graphs) -> None:
        self.graphs = graphs
        self._bodies: dict[tuple[types.CodeType, int], Graph | None] = {}
        """By code and globals, what may be written in for a generator; None while that is found out, too."""
        self._delegating: set[Graph] = set()
        """The graphs among these of generators that delegate to others."""
        self._asking: dict[Graph, set[int]] = {}
        """The numbers of the parameters of these that have to be iterators already."""

    def consume(self, graph: Graph, globals: dict[str, Any]) -> None:
        """Write generators into `graph`, which stays in normal form."""
        changed = True
        while changed:
            zipped_loops(graph)  # a generator that is an argument of zip has one place that takes from it
            changed = consumed_generators(graph, self)
            if changed:
                passes.normalise(graph, globals)

    def _body(self, code: types.CodeType, graph: Graph, globals: dict[str, Any]) -> Graph | None:
        """`graph`, that of a generator of this code, as it may be written into others: with those that it
        consumes or delegates to written into it."""
        key = code, id(globals)
        if key not in self._bodies:
            self._bodies[key] = None
            if graph.is_generator and not calls_what_stops(code, globals):
                body, _, _ = copy_graph(graph)
                body.namespace = globals
                asked = stopping_nexts(body, lambda: self._template(taken))
                if not is_simple_generator(body):
                    return None
                if asked:
                    self._asking[body] = asked
                if without_delegations(body):
                    self._delegating.add(body)
                    self.consume(body, globals)
                self._bodies[key] = body if is_simple_generator(body) else None
        return self._bodies[key]

    def _written(
        self,
        graph: Graph,
        body: Graph | None,
        globals: dict[str, Any],
        values: Sequence[Value],
        cells: Sequence[Value] = (),
    ) -> Written | None:
        """`body`, which runs with `globals`, with these arguments, unless it asks one for a value that may
        not be an iterator."""
        asked = () if body is None else self._asking.get(body, ())
        if any(target(values[k]) is not _iter_ and not makes_one(graph, self, values[k]) for k in asked):
            return None
        moved = None if body is None else self.graphs.moved(body, globals, graph)
        if body is None or moved is None:
            return None
        if body in self._delegating:
            self._delegating.add(moved)
        return Written(moved, values, cells)

    def generator(self, graph: Graph, call: Instruction) -> Written | None:
        """The generator that `call` makes, if it may be written into `graph`: it is simple, and its names
        mean the same there."""
        made = call.operands[0]
        if isinstance(made, Instruction):
            is_function = target(made) is _new_ and constant(made.operands[1]) is types.FunctionType
            return self._made_here(graph, call, made) if is_function else None
        function = constant(made)
        if function is _foreigncall_:
            return self._made_in_c(graph, call)
        if function is _iter_:
            return self._of_instance(graph, call)
        if type(function) is not types.FunctionType:
            return None
        if (function.__code__, id(function.__globals__)) in self.graphs.lifting:
            return None
        if stands_in(call, function.__code__):
            return None
        arguments = call.operands[1:]
        binding = self.graphs.bindings.find(function, len(arguments), call.keywords, makes_generator=True)
        if binding is None:
            return None
        try:
            body = self.graphs.primal(function)
        except LiftError:  # it stays a call, and says why when it is made
            return None
        values = [slot if isinstance(slot, Const) else arguments[slot] for slot in binding.slots]
        globals = function.__globals__
        return self._written(graph, self._body(function.__code__, body, globals), globals, values)

    def iterates(self, graph: Graph, made: Instruction) -> bool:
        """Whether `made` is an object whose ``__iter__`` is a generator that may be written into `graph`."""
        if not is_plain_class(constant(made.operands[1])):
            return False
        return self._of_instance(graph, Instruction("call", [Const(_iter_), made])) is not None

    def _of_instance(self, graph: Graph, call: Instruction) -> Written | None:
        """The generator that ``__iter__`` of an instance makes, which has been made in `graph`."""
        made = call.operands[1]
        if not isinstance(made, Instruction) or target(made) is not _new_:
            return None
        cls = constant(made.operands[1])
        if not is_plain_class(cls):
            return None
        path = next((g.path for g in graph.guards if g.value is cls), None)
        function = getattr(cls, "__iter__", None)
        if path is None or type(function) is not types.FunctionType or stands_in(call, function.__code__):
            return None
        is_generator = makes_generators(function.__code__)
        binding = self.graphs.bindings.find(function, 1, (), makes_generator=is_generator)
        if binding is None or len(binding.slots) != 1:
            return None
        try:
            body = self.graphs.primal(function)
        except LiftError:
            return None
        if not is_generator and gives_itself(body):
            does_something = len(body.blocks) > 1 or body.entry.instructions
            return self._asked(graph, path, cls, made, {0: function} if does_something else {})
        globals = function.__globals__
        written = self._written(graph, self._body(function.__code__, body, globals), globals, [made])
        guard = Guard((*path, "__iter__"), function)
        if written is not None and all(known.path != guard.path for known in graph.guards):
            graph.guards.append(guard)
        return written

    def _asked(
        self, graph: Graph, path: tuple[str, ...], cls: type, made: Value, prepared: Mapping[int, Any]
    ) -> Written | None:
        """The generator that an iterator of the class `cls`, which is found by `path`, is."""
        function = getattr(cls, "__next__", None)
        if type(function) is not types.FunctionType or not self.graphs.bindings.is_followed(function):
            return None
        if calls_what_stops(function.__code__, function.__globals__):
            return None
        try:
            body = as_generator(self.graphs.primal(function))
        except LiftError:
            return None
        if body is None or not is_simple_generator(body):
            return None
        body = self.graphs.moved(body, function.__globals__, graph)
        if body is None:
            return None
        guarded = {guard.path for guard in graph.guards}
        methods = (getattr(cls, name) for name in ("__iter__", "__next__"))
        known = [Guard((*path, method.__name__), method) for method in methods]
        graph.guards += [guard for guard in known if guard.path not in guarded]
        return Written(body, [made], (), prepared, is_endless=True)

    def _made_in_c(self, graph: Graph, call: Instruction) -> Written | None:
        """The generator that gives what an iterator in C gives, if `call` makes such an iterator."""
        given = call.operands[2:]
        try:
            producers = PRODUCERS.get(constant(call.operands[1]), ())
        except TypeError:  # it cannot be hashed
            return None
        for producer in producers:
            if call.keywords != producer.keywords:
                continue
            known = {k: constant(given[k]) for k in producer.given if k < len(given)}
            if len(given) != producer.arity or repr(known) != repr(producer.given):
                continue
            assert call.block is not None
            if call.block.handler is not None and len(producer.prepared) > 1:
                return None  # the last of several that may raise would have the handler
            left = [k for k in range(len(given)) if k not in producer.given]
            prepared = {left.index(k): prepare for k, prepare in producer.prepared.items()}
            body = producer.body
            if producer.apart is not None and any(makes_one(graph, self, value) for value in given):
                body = producer.apart
            return Written(self._template(body), [given[k] for k in left], (), prepared)
        return None

    def _made_here(self, graph: Graph, call: Instruction, made: Instruction) -> Written | None:
        """The generator of a function that is made in the graph, as that of a generator expression is."""
        callee = made_here(made)
        if callee is None or callee.globals is None or not makes_generators(callee.code):
            return None
        code, globals, cells = callee.code, callee.globals, callee.cells or ()
        bound = bound_arguments(callee, call)
        if bound is None or code.co_flags & ANY_NUMBER:
            return None
        if cells and any(may_stop(*made) for made in _codes_made(graph)):
            return None  # a cell may hold the function
        try:
            body = self.graphs.lifted(code, globals)
        except LiftError:
            return None
        return self._written(graph, self._body(code, body, globals), globals, bound.parameters, cells)

    def consumer(self, call: Instruction, number: int) -> Written | bool:
        """How a call consumes its operand `number` (`rules.consumers`): the function that it calls does, or
        one in C for which a loop stands."""
        function = target(call)
        if _joins(call.operands[0]):
            return number == 1 and len(call.operands) == 2
        if (grown := _grown(call, number)) is not None:
            made, cls = grown
            loop = _LOOPS[target(call) is operator.iadd][cls is list]
            return Written(self._template(loop), [made, call.operands[number]])
        skipped = 1
        if function is _foreigncall_:
            function, skipped = constant(call.operands[1]), 2
        try:
            found = consumer_of(function)
        except TypeError:  # it cannot be hashed
            return False
        if function is _new_:
            return self._makes_of_all(call, constant(call.operands[1]), number - 1)
        if isinstance(function, type) and skipped == 1:
            return self._makes_of_all(call, function, number)
        found = found or self._consumer_by_row(function)
        if found is None and skipped == 1:
            return self._followed(call, number)
        if found is None or number - skipped != found.position:
            return False
        if found.loop is None:
            return True
        given = call.operands[skipped:]
        count = len(given) - len(call.keywords)
        parameters = inspect.signature(found.loop)
        try:
            bound = parameters.bind(*given[:count], **dict(zip(call.keywords, given[count:], strict=True)))
        except TypeError:  # it is called in another way, or wrongly
            return False
        values = [bound.arguments.get(name, Const(p.default)) for name, p in parameters.parameters.items()]
        return Written(self._template(found.loop), values)

    def _consumer_by_row(self, function: Any) -> Consumer | None:
        """How a function in C consumes an iterable, as the body says that stands in for it."""
        row = next(iter(self.graphs.table.rows(function)), None)
        return None if row is None or row.when or row.consuming is None else Consumer(*row.consuming)

    def _followed(self, call: Instruction, number: int) -> Written | bool:
        """The function in Python that `call` calls, if all that it does with operand `number` is to iterate
        over it."""
        if call.op != "call" or call.block is None:
            return False
        chosen = Calling(self.graphs, call.block.graph).consumer(call, number, self._only_iterates)
        return False if chosen is None else Written(*chosen)

    def _only_iterates(self, body: Graph, parameter: Value) -> bool:
        if sum(len(block.instructions) for block in body.blocks) > LARGEST:
            return False
        users = uses(body).get(parameter, ())
        for user in users:
            if not isinstance(user, Instruction) or user.operands.count(parameter) != 1:
                return False
            if target(user) is not _iter_ and not self.consumer(user, user.operands.index(parameter)):
                return False
        return bool(users)

    def _makes_of_all(self, call: Instruction, cls: Any, place: int) -> bool:
        """Whether `call` makes an instance of `cls`, whose ``__init__`` begins by making a list or tuple of
        its argument number `place`, so that it may as well be given a list."""
        graph = None if call.block is None else call.block.graph
        function = getattr(cls, "__init__", None)
        if graph is None or type(cls) is not type:
            return False
        if _takes_all_in_c(cls, place) and not call.keywords:
            return _note_made_in_c(graph, cls)
        if not is_plain_class(cls) or type(function) is not types.FunctionType:
            return False
        path = next((g.path for g in graph.guards if g.value is cls), None)
        count = len(call.operands) - (target(call) is _new_)
        binding = self.graphs.bindings.find(function, count, call.keywords)
        if path is None or binding is None:
            return False
        if (function.__code__, id(function.__globals__)) in self.graphs.lifting:
            return False
        try:
            body = self.graphs.primal(function)
        except LiftError:
            return False
        moved = self.graphs.moved(body, function.__globals__, graph)
        places = [k for k, slot in enumerate(binding.slots) if slot == place]
        if moved is None or len(places) != 1 or not _begins_with_all(moved, moved.arguments[places[0]], cls):
            return False
        graph.guards.append(Guard((*path, "__init__"), function))
        known = {guard.path for guard in graph.guards}
        graph.guards += [guard for guard in moved.guards if guard.path not in known]
        return True

    def applied(self, call: Instruction) -> tuple[Written, int] | None:
        """What a call does that applies a function that is known here to the elements of an iterable, and
        which operand that is."""
        if target(call) is not _foreigncall_:
            return None
        function, *given = call.operands[1:]
        if constant(function) is functools.reduce and 2 <= len(given) <= 3 and not call.keywords:
            applied, place = given[0], 3
        elif _chooses_one(constant(function)) and "key" in call.keywords:
            applied, place = given[call.keywords.index("key") - len(call.keywords)], 2
        else:
            return None
        if not _is_known(applied) and type(constant(applied)) is not _IN_C:
            return None
        written = self.consumer(call, place)
        return (written, place) if isinstance(written, Written) else None

    def chooses(self, call: Instruction) -> bool:
        """Whether `call` chooses the largest or smallest of its arguments, and that by tuples or a key."""
        if target(call) is not _foreigncall_ or not _chooses_one(constant(call.operands[1])):
            return False
        given = call.operands[2 : len(call.operands) - len(call.keywords)]
        if not 2 <= len(given) <= MOST:
            return False
        makes = any(target(a) is _new_ and constant(a.operands[1]) is tuple for a in given)  # type: ignore[attr-defined]
        return makes if not call.keywords else call.keywords == ("key",)

    def folded(self, call: Instruction) -> Written | None:
        """What a call does that makes one value of the elements of its first argument."""
        written = self.consumer(call, 2) if constant(call.operands[1]) in FOLDS else False
        return written if isinstance(written, Written) else None

    def paired(self, call: Instruction) -> Written | None:
        """What a call does that makes a dict of a `zip` of two iterables: a loop takes from both at once."""
        if target(call) is not _foreigncall_ or constant(call.operands[1]) is not dict:
            return None
        made = call.operands[-1]
        if len(call.operands) != 3 or call.keywords or not isinstance(made, Instruction):
            return None
        if target(made) is not _foreigncall_ or constant(made.operands[1]) is not zip:
            return None
        if len(made.operands) - len(made.keywords) != 4 or made.keywords not in ((), ("strict",)):
            return None
        return Written(self._template(dict_of_pairs), [made])

    def listing(self) -> Graph:
        """A function that makes a list of an iterable."""
        return self._template(listed)

    def receives(self, written: Written) -> bool:
        """Whether the generator `written` delegates to no other."""
        return written.graph not in self._delegating

    def begun(self) -> Graph:
        """A function that refuses what is sent to a generator first, unless that is None."""
        return self._template(begun)

    def _template(self, function: Callable[..., Any]) -> Graph:
        """The graph of a function of adbc's own that stands for one in C: its names are known for good."""
        assert is_function(function)
        graph, _, _ = copy_graph(self.graphs.primal(function))
        graph.guards.clear()
        for phi in [phi for block in graph.blocks for phi in block.phis]:
            unset = [b for b, v in phi.operands.items() if constant(v) is Unset]
            phi.operands.update(dict.fromkeys(unset, UNDEF))
        for block in graph.blocks:
            # Its lines are nobody's: they are those of the call.
            block.terminator.position = None
            for value in (*block.phis, *block.instructions):
                value.position = None
        return graph
