"""Primal graphs, each made once and kept: of functions, of class bodies, and of the segments of generators.

Everything is keyed by code object, not function object, and by the identity of the globals the code runs
with.  Nothing here knows types.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections.abc import MutableMapping, Sequence
from typing import Any

from adbc import emit, lift, passes  # loaded when they are first used
from adbc.cpython.libraries import is_code_of_users
from adbc.cpython.size import may_be_straight
from adbc.errors import LiftError
from adbc.ir.graph import Graph, Guard
from adbc.ir.intrinsics import _new_
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Argument, Const, Instruction, Value
from adbc.passes.normal.dropped_generators import (
    Made,
    generators_made,
    generators_returned,
    makes_generators,
    only_consumes,
)
from adbc.passes.normal.foreign_names import foreign_names, module_of
from adbc.passes.normal.inline_calls import MOST_IN_CODE, is_small
from adbc.passes.normal.segments import must_be_closed, segments
from adbc.passes.normal.straight_generators import given_at_once
from adbc.passes.query import target
from adbc.rules.lookup import RuleTable
from adbc.runtime.build.bindings import ANY_NUMBER, Bindings, gathered_names
from adbc.runtime.build.derived import written
from adbc.runtime.build.facts import CellFact, NameFact, together
from adbc.runtime.build.glances import Checked
from adbc.runtime.build.kept_graphs import KeptGraphs
from adbc.runtime.build.primal import GeneratorsOf, Lifting, class_body_graph, primal_graph
from adbc.runtime.build.stopping import stops_inside
from adbc.runtime.calls.generators import (
    candidates,
    function_of,
    may_return_generators,
    walks_of,
)
from adbc.runtime.report.observer import Observer
from adbc.runtime.state.graph_functions import GraphCode, GraphFunction, Segments
from adbc.types.callsites import Binding
from adbc.types.lattice import ClosureType
from adbc.types.records import FACTORY

__all__ = ["Graphs"]

Key = tuple[types.CodeType | GraphCode, int]


def _contents(cell: types.CellType) -> Any:
    """What `cell` holds; itself if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _is_lasting(value: Any) -> bool:
    """Whether a variable with this value is not likely to get another one, and the value to outlive the
    program: a class or a function of a module, the mark of a default that `dataclasses` makes."""
    if value is FACTORY:
        return True
    if isinstance(value, type) or type(value) is types.FunctionType:
        return "<locals>" not in value.__qualname__
    return type(value) is types.BuiltinFunctionType and isinstance(value.__self__, types.ModuleType)


def with_gathered(graph: Graph, count: int, keywords: tuple[str, ...], flags: int) -> Graph:
    """A copy of `graph`, of a function whose last parameters are what ``*args`` and ``**kwargs`` gather, as
    its `flags` say, that has `count` parameters, of which it gathers the last ones itself: those behind, as
    many as there are `keywords`, under these names."""
    opened, _, _ = copy_graph(graph)
    named = opened.arguments.pop() if flags & inspect.CO_VARKEYWORDS else None
    gathered = opened.arguments.pop() if flags & inspect.CO_VARARGS else None
    opened.has_varargs = opened.has_varkw = False
    opened.posonly_count = opened.kwonly_count = 0
    if gathered is not None:
        rest = count - len(keywords) - len(opened.arguments)
        parts = [opened.add_argument(f"{gathered.name}_{i}") for i in range(rest)]
        _gather(opened, gathered, tuple, parts)
    if named is not None:
        items: list[Value] = []
        for keyword in keywords:
            items += Const(keyword), opened.add_argument(f"{named.name}_{keyword}")
        _gather(opened, named, dict, items)
    return opened


def _gather(graph: Graph, parameter: Argument, kind: type, parts: Sequence[Value]) -> None:
    """Let `graph` make an instance of `kind`, a container, of `parts` where it was given `parameter`."""
    made = Instruction("call", [Const(_new_), Const(kind), *parts], name=parameter.name)
    made.block = graph.entry
    graph.entry.instructions.insert(0, made)
    graph.replace_uses({parameter: made})


_MOST_PARAMETERS = 12
"""The most parameters of a form of a function with ``*args`` or ``**kwargs``."""


def _is_ours(globals: dict[str, Any]) -> bool:
    """Whether these are the globals of a module of adbc."""
    return str(globals.get("__name__")).partition(".")[0] == "adbc"


class Graphs:
    """The primal graphs of one engine."""

    def __init__(
        self, table: RuleTable, bindings: Bindings, observer: Observer, lock: threading.RLock, inlines: bool
    ) -> None:
        self.table = table
        self.bindings = bindings
        self.observer = observer
        self.lock = lock
        self.inlines = inlines
        """Whether small functions are written into those that call them."""
        is_seen = observer.config.verify or observer.config.dump is not None
        self.kept = None if is_seen else KeptGraphs(table, inlines)
        """The graphs of adbc's own functions that are kept between processes; stages that somebody wants to
        see are gone through."""
        self.graphs: dict[Key, Graph | LiftError] = {}
        self.facts: dict[Key, dict[tuple[Any, ...], NameFact]] = {}
        """What the guards of graphs say, as it was when the first of these was lifted."""
        self.generators: dict[Key, Segments] = {}
        self.cut_by: dict[Key, Sequence[Checked]] = {}
        """What the graphs were specialised on that were cut into these."""
        self.must_close: dict[Key, bool] = {}
        """Whether generators have to be closed where they are dropped, by the function that makes or returns
        them."""
        self.consumers: dict[tuple[types.CodeType, int, int], bool] = {}
        """Whether functions only iterate over a parameter, by function and number of the parameter."""
        self.bodies: dict[Key, GraphFunction] = {}
        self.closed: dict[tuple[Any, ...], GraphFunction] = {}
        """Functions with what is in their cells written into them."""
        self.opened: dict[tuple[Any, ...], GraphFunction] = {}
        """Functions with ``*args`` or ``**kwargs`` that have a number of parameters in place of that."""
        self.at_once: dict[Key, tuple[types.FunctionType, int] | None] = {}
        """By generator function, one that gives all its values in a tuple, and how many these are."""
        self.caches: tuple[MutableMapping[Any, Any], ...] = (
            self.graphs, self.generators, self.cut_by, self.must_close, self.consumers, self.bodies,
            self.closed, self.opened, self.at_once, self.facts,
        )  # fmt: skip
        self.lifting: set[Key] = set()
        """The functions that are being lifted: none is written into itself."""

    def primal(self, function: types.FunctionType | GraphFunction) -> Graph:
        """The graph of `function` in normal form; shared, so copy it before changing it.

        Raises `LiftError` if it cannot be lifted.
        """
        key = (function.__code__, id(function.__globals__))
        known = self.graphs.get(key)
        if known is None:
            with self.lock:
                try:
                    if isinstance(function, GraphFunction):
                        known = function.graph
                    else:
                        known = self._lifted_or_kept(function)
                except LiftError as error:
                    known = error
                else:
                    for guard in known.guards:
                        self.fact(function.__code__, function.__globals__, guard)
                self.graphs[key] = known
        if isinstance(known, LiftError):
            raise known.with_traceback(None)
        return known

    def _lifted_or_kept(self, function: types.FunctionType) -> Graph:
        """The graph of `function`, lifted now or by an earlier process."""
        known = None if self.kept is None else self.kept.find(function)
        if known is None:
            known = primal_graph(Lifting(self, function), self.observer)
            if self.kept is not None:
                self.kept.add(function, known)
        return known

    def fact(self, code: Any, globals: dict[str, Any], guard: Guard) -> NameFact:
        """What `guard` says of the graph of this code that runs with `globals`.

        A function may have got other code since the graph was lifted, in which the old one may stand: then
        the fact does not hold.
        """
        known = self.facts.setdefault((code, id(globals)), {})
        key = guard.path, id(guard.value)
        found = known.get(key)
        if found is None:
            found = known[key] = NameFact(globals, guard.path, guard.value)
        return found

    def known(self, code: types.CodeType, globals: dict[str, Any]) -> Graph | None:
        """The graph of the function with this code, if it has been lifted."""
        found = self.graphs.get((code, id(globals)))
        return found if isinstance(found, Graph) else None

    def lifted(self, code: types.CodeType, globals: dict[str, Any]) -> Graph:
        """The graph of a function with this code that has been lifted before; if it has been given up, it is
        lifted again."""
        found = self.known(code, globals)
        if found is None:
            cells = tuple(types.CellType() for _ in code.co_freevars)
            found = self.primal(types.FunctionType(code, globals, closure=cells or None))
        return found

    def is_liftable(self, function: types.FunctionType) -> bool:
        """Whether `function` can be lifted."""
        try:
            self.primal(function)
        except LiftError:
            return False
        return True

    def closed_form(self, function: types.FunctionType) -> GraphFunction | None:
        """`function` with what its cells hold written into it, if that is there to stay: classes, functions
        of modules, as in a method that calls `super`, or the ``__init__`` of a dataclass.  None if it is not,
        or if `function` cannot be lifted."""
        cells = function.__closure__ or ()
        contents = [_contents(cell) for cell in cells]
        if not all(map(_is_lasting, contents)):
            return None
        key = (function.__code__, id(function.__globals__), *map(id, cells), *map(id, contents))
        known = self.closed.get(key)
        if known is None:
            with self.lock:
                try:
                    graph = primal_graph(Lifting(self, function, contents), self.observer)
                except LiftError:
                    graph = self.primal(function) if self.is_liftable(function) else Graph("none")
                form = GraphFunction(graph, function.__globals__)
                form.__code__.original = function.__code__
                for cell, value in zip(cells, contents, strict=True):
                    graph.facts["cell", id(cell)] = CellFact(cell, value)
                known = self.closed[key] = form
        return None if known.graph.free or not known.graph.blocks else known

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` (`Bindings.find`) if it can be lifted, else None."""
        if type(function) is types.FunctionType:
            written(function)
            if function.__code__.co_flags & ANY_NUMBER:
                return self._bind_open(function, count, keywords)
        if isinstance(function, ClosureType) and function.code.co_flags & ANY_NUMBER:
            return self._bind_open(self.bindings.representative(function), count, keywords, is_any=True)
        if type(function) is types.FunctionType and function.__closure__ is not None:
            binding = self.bindings.find(function, count, keywords, is_closed=True)
            form = None if binding is None else self.closed_form(function)
            return None if binding is None or form is None else Binding(form, binding.slots)  # type: ignore[arg-type]
        binding = self.bindings.find(function, count, keywords)
        return binding if binding is not None and self.is_liftable(binding.function) else None

    def _bind_open(
        self, function: types.FunctionType, count: int, keywords: tuple[str, ...], *, is_any: bool = False
    ) -> Binding | None:
        """`bind` of a function with ``*args`` or ``**kwargs``: to a form of it with as many parameters in
        place of that.  is_any: the function stands for all that have its code, whatever is in their cells."""
        binding = self.bindings.find(function, count, keywords, is_closed=True, is_open=True)
        form: Any = None
        if binding is not None and len(binding.slots) <= _MOST_PARAMETERS:
            if function.__closure__ is not None and not is_any:
                form = self.closed_form(function)
            elif self.is_liftable(function):
                form = function
        if binding is None or form is None or self.primal(form).entry.handler is not None:
            return None
        others = gathered_names(function, keywords)
        key = (form.__code__, id(function.__globals__), len(binding.slots), others)
        known = self.opened.get(key)
        if known is None:
            opened = with_gathered(self.primal(form), len(binding.slots), others, function.__code__.co_flags)
            known = GraphFunction(opened, function.__globals__)
            known.__code__.original = function.__code__
            known.__code__.co_freevars = tuple(opened.free)
            self.opened[key] = known
        return Binding(known, binding.slots)  # type: ignore[arg-type]  # to the engine it is a function

    def small_callee(self, graph: Graph, call: Instruction) -> tuple[Graph, list[Value]] | None:
        """The function that `call` calls and what its parameters are, if it may be written into `graph`: it
        is small, and its names can be looked up there."""
        function = target(call)
        if type(function) is not types.FunctionType:
            return None
        if (function.__code__, id(function.__globals__)) in self.lifting:
            return None
        written(function)
        if not may_be_straight(function.__code__, MOST_IN_CODE):
            return None
        arguments = call.operands[1:]
        binding = self.bind(function, len(arguments), call.keywords)
        if binding is None:
            return None
        callee = self.primal(binding.function)
        if not is_small(callee):
            return None
        moved = self.moved(callee, function.__globals__, graph)
        if moved is None:
            return None
        return moved, [slot if isinstance(slot, Const) else arguments[slot] for slot in binding.slots]

    def moved(self, body: Graph, globals: dict[str, Any], graph: Graph) -> Graph | None:
        """`body`, of a function that runs with `globals`, as it may be written into `graph`; None if it may
        not.  Code of a library may run as it is, so it stays a call; so does that of adbc, and what it calls.
        """
        if globals is graph.namespace:
            return body
        if graph.namespace is None or not is_code_of_users(body.filename, globals):
            return None
        module = module_of(globals)
        if module is None or _is_ours(globals) or _is_ours(graph.namespace):
            return None
        return foreign_names(body, module)

    # -- generators ----------------------------------------------------------------------------------------

    def given_at_once(self, function: types.FunctionType, count: int) -> types.FunctionType | None:
        """A function that gives, in a tuple, the values that the generator of `function` gives, if these are
        `count`, one after the other, whatever happens."""
        key = (function.__code__, id(function.__globals__))
        if key not in self.at_once:
            self.at_once[key] = self._given_at_once(function)
        known = self.at_once[key]
        return None if known is None or known[1] != count else known[0]

    def _given_at_once(self, function: types.FunctionType) -> tuple[types.FunctionType, int] | None:
        code = function.__code__
        if not may_be_straight(code, MOST_IN_CODE) or function.__closure__ is not None:
            return None
        if stops_inside(code, function.__globals__):
            return None
        try:
            graph = lift.lift(function, inline=True)
        except LiftError:  # it stays a generator, and says why when it runs
            return None
        passes.normalise(graph, {})  # names are looked up where it runs
        found = None if graph.guards else given_at_once(graph)
        return None if found is None else (emit.emit_function(found[0], function.__globals__), found[1])

    def segments(self, function: types.FunctionType) -> Segments:
        """The segments of a generator function."""
        key = (function.__code__, id(function.__globals__))
        known = self.generators.get(key)
        if known is None:
            with self.lock:
                graph = self.primal(function)
                functions = tuple(GraphFunction(part, function.__globals__) for part in segments(graph))
                named = [self.fact(function.__code__, function.__globals__, guard) for guard in graph.guards]
                self.cut_by[key] = together([*named, *graph.facts.values()])
                known = self.generators[key] = Segments(functions, must_be_closed(graph), function.__code__)
        return known

    def are_segments_right(self, function: types.FunctionType) -> bool:
        """Whether the segments of a generator function are those of its code as it is now."""
        facts = self.cut_by.get((function.__code__, id(function.__globals__)), ())
        return all(fact.holds() for fact in facts)

    def makes_closed(self, graph: Graph, function: types.FunctionType) -> bool:
        """Whether `function` makes generators that may have to be closed where it drops them."""
        return any(self.must_be_closed(made, function) for _, made in generators_made(graph))

    def must_be_closed(self, made: Made, function: types.FunctionType) -> bool:
        """Whether something may have to run where a generator that `made` makes is dropped by `function`:
        what stands around a yield, or around that of another generator that is dropped with it.

        For a function that makes generators of its own kind the question comes up again before it is
        answered; the answer is no then.
        """
        if isinstance(made, Instruction):
            return any(self.must_be_closed(found, found) for found in candidates(made, function))
        if isinstance(made, types.CodeType):
            made = function_of(made, function)
        key = (made.__code__, id(made.__globals__))
        known = self.must_close.get(key)
        if known is None:
            self.must_close[key] = False
            if not makes_generators(made.__code__) and not may_return_generators(made):
                return False
            try:
                graph = passes.normalise(lift.lift(made, inline=True, looks=True), made.__globals__)
            except LiftError:  # who calls it will hear of that
                return False
            if makes_generators(made.__code__):
                known = bool(must_be_closed(graph)) or self.makes_closed(graph, made)
            else:
                known = any(self.must_be_closed(r, made) for r in generators_returned(graph) or ())
            self.must_close[key] = known
        return known

    def makes_walked_by_closed(self, maker: object) -> bool:
        """Whether `maker`, a class or a function, may give an object whose ``__iter__`` makes generators
        that may have to be closed where they are dropped."""
        return any(self.must_be_closed(found, found) for found in walks_of(maker))

    def only_consumes(self, function: types.FunctionType | types.CodeType, index: int, caller: Any) -> bool:
        """Whether parameter number `index` of `function`, which `caller` calls, is only iterated, and held
        until it returns.  For a function that hands the parameter to itself the question comes up again
        before it is answered; the answer is yes then, until something else speaks against it."""
        if isinstance(function, types.CodeType):
            function = function_of(function, caller)
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        if self.table.rows(function) or index >= count or makes_generators(code):
            return False
        key = (code, id(function.__globals__), index)
        known = self.consumers.get(key)
        if known is None:
            self.consumers[key] = True
            try:
                graph = lift.lift(function, inline=True, releases=True, looks=True)
                passes.normalise(graph, function.__globals__)
                known = only_consumes(graph, index, GeneratorsOf(self, function))
            except LiftError:
                known = False
            if not known:
                self.consumers.clear()  # some may have been found to be such because this one might be
                self.consumers[key] = False
        return known

    # -- classes -------------------------------------------------------------------------------------------

    def class_body(self, function: types.FunctionType) -> GraphFunction:
        """The body of a class statement, as a function of its namespace and the cells of its closure."""
        key = (function.__code__, id(function.__globals__))
        known = self.bodies.get(key)
        if known is None:
            with self.lock:
                graph = class_body_graph(Lifting(self, function), self.observer)
                known = self.bodies[key] = GraphFunction(graph, function.__globals__)
        return known
