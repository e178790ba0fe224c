"""The engine: graphs, inferred results and derived rules, each made once and kept.

Everything is keyed by code object, not function object, and by the identity of the globals the code
runs with; then by the types of the parameters and by which of them are active.  A derived rule is
made of two function objects whose code is a *stub* at first: the first call builds the rule and
puts the real code in place.  So a rule can refer to itself, error paths that never run are never
built, and calls between derived rules are plain calls of Python functions.

Facts about globals that a rule was specialised on (guards) are checked whenever a rule is entered
from outside generated code; if one fails, everything derived is dropped and built anew.
"""

from __future__ import annotations

import inspect
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adbc import forward, lift, passes, reverse  # their builders are loaded when they are first used
from adbc.config import Config
from adbc.emit.backend import Bytecode
from adbc.errors import LiftError, VerificationError
from adbc.forward import ForwardSupport
from adbc.ir import intrinsics
from adbc.ir.backend import Backend, Unit
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Argument, Const, Instruction, Value
from adbc.passes.normal.dropped_generators import (
    Made,
    drop_generators,
    generators_made,
    generators_returned,
    makes_generators,
    only_consumes,
)
from adbc.passes.normal.foreigncall_to_call import normal_call
from adbc.passes.normal.inline_calls import inline_calls, is_small
from adbc.passes.normal.scalar_replacement import scalar_replacement
from adbc.passes.normal.segments import cells_as_arguments, must_be_closed, segments
from adbc.passes.normal.zipped_loops import zipped_loops
from adbc.passes.query import target
from adbc.passes.typed.builtin_methods import builtin_methods, drop_method_reads
from adbc.passes.typed.constructions import constructions
from adbc.passes.typed.direct_calls import direct_calls
from adbc.passes.typed.displays import spread_displays
from adbc.passes.typed.list_elements import drop_proved_tests, kept_lists
from adbc.passes.typed.self_writes import drop_self_writes
from adbc.passes.typed.spreads import spread_calls
from adbc.passes.typed.unpackings import list_unpackings
from adbc.reverse import Support
from adbc.rules.kinds import RowKind
from adbc.rules.table import RuleTable
from adbc.runtime.build.facts import (
    Checked,
    Classes,
    ClassFact,
    ConstructorFact,
    Fact,
    NameFact,
    class_fact,
    together,
)
from adbc.runtime.build.sampling import sampled_type
from adbc.runtime.build.speculation import Base, Continuation, Site, speculate
from adbc.runtime.calls.fast import constructor, is_field, method
from adbc.runtime.calls.generators import (
    GeneratorsOf,
    candidates,
    function_of,
    may_return_generators,
)
from adbc.runtime.calls.resolve import is_asked, is_differentiation, runs_as_it_is
from adbc.runtime.report.observer import Observer
from adbc.runtime.report.tracebacks import continuations, note_inlined
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.engine import DerivedView
from adbc.runtime.state.graph_functions import GraphFunction, Segments
from adbc.types import ANY, NEVER, AbstractType, class_of, has_cotangent, has_shadow, infer
from adbc.types.callsites import Binding
from adbc.types.closed import is_closed
from adbc.types.derived import count_typed, is_known
from adbc.types.inference import ARRAY_RESULTS, type_of
from adbc.types.lattice import (
    FLOAT,
    ClosureType,
    Exact,
    ListType,
    RealType,
    ValueArrayType,
    inferred_type,
    memory_type,
)
from adbc.types.readers import only_reads
from adbc.types.typeof import keep_apart, typeof

if TYPE_CHECKING:  # they are made for an engine, and given to it by `make_engine`
    from adbc.reverse.layout import Records
    from adbc.runtime.build.disk_cache import DiskCache, Stored
    from adbc.runtime.calls.forward import ForwardCalls
    from adbc.runtime.calls.reverse import ReverseCalls

__all__ = ["Derived", "Engine"]

Key = tuple[Any, ...]


class Derived:
    """A derived rule for one function body, one list of parameter types, and one set of active ones.

    mode is "reverse", "protected" (reverse, but exceptions are returned) or "forward".  `forwards` and
    `pullback` are those of `reverse.DerivedEntry`; in forward mode `forwards` is the dual function and
    there is no pullback.
    """

    def __init__(
        self,
        engine: Engine,
        function: types.FunctionType,
        parameters: tuple[AbstractType, ...],
        active: tuple[bool, ...],
        mode: str,
        result: AbstractType,
    ) -> None:
        self.engine = engine
        self.code = function.__code__
        self.globals = function.__globals__
        self.parameters = parameters
        self.active = active
        self.mode = mode
        self.result = result
        self.takes_function = bool(function.__code__.co_freevars)
        """Whether it is given the function and its shadow, behind the context: they lead to the closure."""
        self.graphs: tuple[Graph, ...] = ()
        self.records: Records | None = None
        """What the forwards pass saves for the pullback."""
        self.is_typed = False
        """Whether the type of every value of the primal is known."""
        self.is_built = False
        self.needs: set[Derived] = set()
        """The derived rules that this one calls directly."""
        self.entered: dict[Derived, types.FunctionType] = {}
        """The functions that they are of."""
        self.late: list[tuple[types.FunctionType, Callable[[], None]]] = []
        """Functions whose code is made when they are called, and what makes it: for the cache on disk."""
        self.stored: Stored | None = None
        """Code from the cache on disk, not installed yet."""
        self.returns_float = result == FLOAT
        self.returns_shadow = has_shadow(result)
        self.returns_cotangent = has_cotangent(result)
        self.guards: list[Fact] = []
        self.class_facts: dict[tuple[type, str], Fact] = {}
        self.callees: dict[int, NameFact] = {}
        """What is known of the functions that it calls directly, by their addresses."""
        self.sites: list[Site] = []
        """Where it was guessed what a value is."""
        made: Any = function
        self.function = made if isinstance(made, GraphFunction) else None
        self.is_rest = isinstance(made, Continuation)
        name = function.__name__
        self._facts: Sequence[Checked] = ()
        self._builds = -1
        self.forwards = _stub(name, self.globals, self._first_call)
        self.pullback = _stub(name, self.globals, self._first_call)

    def _first_call(self, *arguments: Any) -> Any:
        self.build()
        return self.forwards(*arguments)

    def build(self) -> None:
        """Make the code, if that has not been done."""
        with self.engine.lock:
            if not self.is_built:
                self.engine.build(self)

    def facts(self) -> Sequence[Checked]:
        """The facts that this rule and those it calls directly depend on, as of what has been built."""
        if self._builds != self.engine.builds:
            self._facts, self._builds = together(self._all_facts()), self.engine.builds
        return self._facts

    def holds(self) -> bool:
        """Whether all of them are true."""
        facts = self._facts if self._builds == self.engine.builds else self.facts()
        for fact in facts:  # noqa: SIM110  # quicker than a generator
            if not fact.holds():
                return False
        return True

    def _all_facts(self) -> Iterator[Fact]:
        seen: set[Derived] = set()
        waiting = [self]
        while waiting:
            rule = waiting.pop()
            if rule not in seen:
                seen.add(rule)
                yield from rule.guards
                yield from rule.callees.values()
                waiting += rule.needs

    def __repr__(self) -> str:
        types_ = ", ".join(map(str, self.parameters))
        return f"<derived {self.mode} rule of {self.code.co_qualname}({types_})>"


def _stub(name: str, globals: dict[str, Any], first_call: Callable[..., Any]) -> types.FunctionType:
    def stub(*arguments: Any, _first_call: Any) -> Any:
        return _first_call(*arguments)

    made = types.FunctionType(stub.__code__, globals, name)
    made.__kwdefaults__ = {"_first_call": first_call}
    return made


def _unit(code: Any, namespace: dict[str, Any]) -> Unit:
    """What a backend is told of the function with this code."""
    return Unit(code.co_name, code.co_qualname, namespace)


def _nothing_left() -> Graph:
    raise AssertionError("a graph that was made already")


def _install(function: types.FunctionType, made: Callable[..., Any]) -> None:
    """Let `function`, a stub, do what a backend has made."""
    if isinstance(made, types.FunctionType) and made.__globals__ is function.__globals__:
        function.__code__ = made.__code__
        function.__kwdefaults__ = None  # None means no defaults
    else:
        function.__kwdefaults__ = {"_first_call": made}


class Engine:
    """One rule table and all that was derived with it."""

    def __init__(self, table: RuleTable, config: Config, backend: Backend | None = None) -> None:
        self.backend = Bytecode(note_inlined) if backend is None else backend
        """What makes callables of the graphs of derivatives."""
        self.table = table
        for function, _ in table.by_function():
            keep_apart(function)
        if keep_apart not in table.listeners:
            table.listeners.append(keep_apart)
        self.observer = Observer(config)
        self.lock = threading.RLock()
        self.epoch = table.epoch
        self.graphs: dict[Key, Graph | LiftError] = {}
        self.lifting: set[Key] = set()
        """The functions that are being lifted: none is written into itself."""
        self.generators: dict[Key, Segments] = {}
        self.closed: dict[Key, bool] = {}
        """Functions of which the generators have to be closed."""
        self.consumers: dict[Key, bool] = {}
        """Functions that only iterate over a parameter, and which parameter."""
        """Whether something has to run where generators are dropped."""
        self.bodies: dict[Key, GraphFunction] = {}
        self.results: dict[Key, AbstractType] = {}
        self.assumed: dict[Key, AbstractType] = {}
        self.recursive: set[Key] = set()
        self.rules: dict[Key, Derived] = {}
        self.inlines = not (config.debug or config.trace_nan)
        """Whether small functions are written into those that call them: not where each call is watched."""
        self.speculation = config.speculation
        """See `Config`.  Whoever changes it in a test has the engine forget everything (`clear`)."""
        self.bases: dict[Key, Base] = {}
        self.sites: dict[Key, Site] = {}
        self.stale: set[Site] = set()
        """Sites where a guess has changed since rules were built on it."""
        self.representatives: dict[Key, types.FunctionType] = {}
        """A function for each code and namespace of functions that are made while others run."""
        self.plans: dict[Key, Any] = {}
        self.ways: dict[int, list[Any]] = {}
        """Short ways in for `jvp`, by the address of the code (`runtime.forward_entry`)."""
        """What dispatch does to enter functions, by code and classes of arguments."""
        self.readers: dict[Key, tuple[bool, ...]] = {}
        self.keepers: dict[Key, tuple[bool, ...]] = {}
        """Whether functions are closed and which parameters they only read, by code, namespace and types of
        the parameters."""
        self.samples: dict[Any, AbstractType | None] = {}
        """What calls on examples have shown, by function and descriptions of arguments."""
        self.read_places: dict[Key, list[int]] = {}
        """What `reading.only_read` has found, by code and classes of arguments."""
        self.partials: dict[Key, Graph | None] = {}
        self.building: list[Derived] = []
        self.generation = 0
        """How often something was forgotten."""
        self.builds = 0
        """How many rules have been built: what rules need may have changed with it."""
        self.guarded: set[tuple[int, str]] = set()
        """The globals that some rule was specialised on: namespace and name."""
        self.cache: DiskCache | None = None
        """Where rules are kept for other processes."""
        self.reverse: Support
        self.forward: ForwardSupport
        self.reverse_calls: ReverseCalls
        self.forward_calls: ForwardCalls

    def clear(self) -> None:
        """Forget everything that was derived."""
        with self.lock:
            self.generation += 1
            self.graphs.clear()
            self.generators.clear()
            self.closed.clear()
            self.consumers.clear()
            self.bodies.clear()
            self.results.clear()
            self.rules.clear()
            self.plans.clear()
            self.ways.clear()
            self.readers.clear()
            self.keepers.clear()
            self.samples.clear()
            self.read_places.clear()
            self.guarded.clear()
            self.bases.clear()
            self.sites.clear()
            self.stale.clear()
            self.epoch = self.table.epoch

    # -- primal graphs -----------------------------------------------------------------------------

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
                        known = self._lift(function)
                except LiftError as error:
                    known = error
                self.graphs[key] = known
        if isinstance(known, LiftError):
            raise known.with_traceback(None)
        return known

    def _lift(self, function: types.FunctionType) -> Graph:
        graph = lift.lift(function, inline=True)
        graph.namespace = function.__globals__
        self.observer.graph(function.__code__, "lifted", graph, normal_form=False)
        passes.normalise(graph, function.__globals__)
        if self._makes_closed(graph, function):
            graph = lift.lift(function, inline=True, releases=True)
            graph.namespace = function.__globals__
            passes.normalise(graph, function.__globals__)
            drop_generators(graph, GeneratorsOf(self, function))
        zipped_loops(graph)
        if self.inlines:
            key = (function.__code__, id(function.__globals__))
            self.lifting.add(key)
            try:
                inline_calls(graph, lambda call: self._small_callee(graph, call))
                graph = scalar_replacement(graph, Classes(self.table), self._small_callee)
            finally:
                self.lifting.discard(key)
        self.observer.graph(function.__code__, "normal", graph)
        return graph

    def _small_callee(self, graph: Graph, call: Instruction) -> tuple[Graph, list[Value]] | None:
        """The function that `call` calls and what its parameters are, if it may be written into `graph`: it
        is small, and its names mean the same there."""
        function = target(call)
        if type(function) is not types.FunctionType or function.__globals__ is not graph.namespace:
            return None
        code = function.__code__
        if (code, id(function.__globals__)) in self.lifting:
            return None
        arguments = call.operands[1:]
        binding = self.bind(function, len(arguments), call.keywords)
        if binding is None:
            return None
        callee = self.primal(binding.function)
        if not is_small(callee):
            return None
        return callee, [slot if isinstance(slot, Const) else arguments[slot] for slot in binding.slots]

    def must_be_closed(self, made: Made, function: types.FunctionType) -> bool:
        """Whether something may have to run where a generator that `made` makes is dropped by `function`:
        what stands around a yield, or around that of another generator that is dropped with it.

        Of one that makes its own kind this is asked while it is being found out; it is no then.
        """
        if isinstance(made, Instruction):
            return any(self.must_be_closed(found, found) for found in candidates(made, function))
        if isinstance(made, types.CodeType):
            made = function_of(made, function)
        key = (made.__code__, id(made.__globals__))
        known = self.closed.get(key)
        if known is None:
            self.closed[key] = False
            if not makes_generators(made.__code__) and not may_return_generators(made):
                return False
            try:
                graph = passes.normalise(lift.lift(made, inline=True), made.__globals__)
            except LiftError:  # who calls it will hear of that
                return False
            if makes_generators(made.__code__):
                known = bool(must_be_closed(graph)) or self._makes_closed(graph, made)
            else:
                known = any(self.must_be_closed(r, made) for r in generators_returned(graph) or ())
            self.closed[key] = known
        return known

    def only_consumes(self, function: types.FunctionType | types.CodeType, index: int, caller: Any) -> bool:
        """Whether parameter number `index` of `function`, which `caller` calls, is only iterated, and held
        until it returns.  Of one that calls itself with it this is asked while it is being found out; it is
        yes then, until something else speaks against it."""
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
                graph = lift.lift(function, inline=True, releases=True)
                passes.normalise(graph, function.__globals__)
                known = only_consumes(graph, index, GeneratorsOf(self, function))
            except LiftError:
                known = False
            if not known:
                self.consumers.clear()  # some may have been found to be such because this one might be
                self.consumers[key] = False
        return known

    def _makes_closed(self, graph: Graph, function: types.FunctionType) -> bool:
        """Whether `function` makes generators that may have to be closed where it drops them."""
        return any(self.must_be_closed(made, function) for _, made in generators_made(graph))

    def segments(self, function: types.FunctionType) -> Segments:
        """The segments of a generator function."""
        key = (function.__code__, id(function.__globals__))
        known = self.generators.get(key)
        if known is None:
            with self.lock:
                graph = self.primal(function)
                functions = tuple(GraphFunction(part, function.__globals__) for part in segments(graph))
                known = self.generators[key] = Segments(functions, must_be_closed(graph), function.__code__)
        return known

    def class_body(self, function: types.FunctionType) -> GraphFunction:
        """The body of a class statement, as a function of its namespace and the cells of its closure."""
        key = (function.__code__, id(function.__globals__))
        known = self.bodies.get(key)
        if known is None:
            with self.lock:
                graph = lift.lift_class_body(function, inline=True)
                self.observer.graph(function.__code__, "lifted", graph, normal_form=False)
                passes.normalise(graph, function.__globals__)
                self.observer.graph(function.__code__, "normal", graph)
                cells_as_arguments(graph)
                known = self.bodies[key] = GraphFunction(graph, function.__globals__)
        return known

    def is_liftable(self, function: types.FunctionType) -> bool:
        try:
            self.primal(function)
        except LiftError:
            return False
        return True

    def only_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> tuple[bool, ...]:
        """Per parameter of these types, whether `function` only reads it (`types.readers`).

        A function that calls itself is taken to write into what it hands to itself.
        """
        return self._reading(function, parameters)[1:]

    def is_closed(self, function: types.FunctionType, parameters: tuple[AbstractType, ...]) -> bool:
        """Whether `function` meets no memory but that of its arguments (`types.closed`)."""
        return self._reading(function, parameters)[0]

    def _reading(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> tuple[bool, ...]:
        """Whether `function` is closed, and which parameters it only reads."""
        parameters = tuple(map(inferred_type, parameters))
        key = (function.__code__, id(function.__globals__), parameters)
        known = self.readers.get(key)
        if known is None:
            with self.lock:
                known = None if self.cache is None else self.cache.load_reads(function, parameters)
                if known is not None:
                    self.readers[key] = known
                    return known
                self.readers[key] = (False,) * (len(parameters) + 1)
                graph, _, _ = copy_graph(self.primal(function))
                self._infer(graph, parameters)
                reads = [only_reads(graph, argument, self) for argument in graph.arguments]
                known = self.readers[key] = (is_closed(graph, self), *reads)
                if self.cache is not None and not self.building:
                    self.cache.store_reads(function, parameters, known)
        return known

    def kept_lists(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> tuple[bool, ...]:
        """Whether nobody else writes into lists while `function` runs, and which it keeps as they are
        (`types.list_elements`).  Of a function that calls itself nothing is known."""
        key = (function.__code__, id(function.__globals__), parameters)
        known = self.keepers.get(key)
        if known is None:
            with self.lock:
                self.keepers[key] = (False,) * (len(parameters) + 1)
                graph, _, _ = copy_graph(self.primal(function))
                self._infer(graph, tuple(map(memory_type, parameters)))
                drop_method_reads(graph)
                known = self.keepers[key] = kept_lists(graph, parameters, self)
        return known

    def rows(self, function: object) -> Sequence[Any]:
        return self.table.rows(function)

    # -- knowledge: what the builders ask ------------------------------------------------------------

    def row(self, function: object, types_: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` if the types decide it: each has a class, or all choices agree."""
        rows = self.table.rows(function)
        if not rows or is_asked(function, types_):
            return None
        if len(rows) == 1 and rows[0].when is None:
            return rows[0]
        classes = list(map(class_of, types_))
        known = [cls for cls in classes if cls is not None]
        if len(known) == len(classes):
            return self.table.find(function, tuple(known))
        choices: list[tuple[type, ...]] = [()]
        for type, cls in zip(types_, classes, strict=True):
            if isinstance(type, RealType):
                choices = [(*before, c) for before in choices for c in type.members]
            elif cls is None:
                return None
            else:
                choices = [(*before, cls) for before in choices]
            if len(choices) > 16:
                return None
        found = {self.table.find(function, choice) for choice in choices}
        return found.pop() if len(found) == 1 else None

    def method(self, cls: type, name: str) -> types.FunctionType | None:
        found: types.FunctionType | None = method(cls, name)
        if found is None or self.table.rows(found):
            return None
        if self.building:
            self.building[-1].class_facts[cls, name] = ClassFact(cls, name, found)
        return found

    def constructor(self, cls: type) -> types.FunctionType | None:
        found: types.FunctionType | None = constructor(cls)
        if found is None or self.table.rows(found) or self.table.rows(cls):
            return None
        if self.building:
            self.building[-1].class_facts[cls, "()"] = ConstructorFact(cls, found)
        return found

    def is_field(self, cls: type, name: str) -> bool:
        answer = is_field(cls, name)
        if answer and self.building:
            self.building[-1].class_facts[cls, name] = ClassFact(cls, name)
        return answer

    def representative(self, made: ClosureType) -> types.FunctionType:
        """A function with empty cells and without defaults, for all of that code."""
        key = (made.code, id(made.namespace))
        known = self.representatives.get(key)
        if known is None:
            cells = tuple(types.CellType() for _ in made.code.co_freevars)
            known = types.FunctionType(made.code, made.namespace, closure=cells)
            self.representatives[key] = known
        return known

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        if isinstance(function, ClosureType):
            function = self.representative(function)
        elif not isinstance(function, types.FunctionType) or function.__closure__ is not None:
            return None
        if function in _INTRINSICS or self.table.rows(function) or is_differentiation(function):
            return None  # syntax, or a function whose rule depends on classes that are not known
        if runs_as_it_is(function) or function in with_active_defaults:
            return None
        code = function.__code__
        if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR):
            return None
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        positional = count - len(keywords)
        if positional > code.co_argcount:
            return None
        slots: list[int | Const | None] = [*range(positional), *[None] * (len(names) - positional)]
        for i, keyword in enumerate(keywords):
            if keyword not in names[code.co_posonlyargcount :]:
                return None
            at = names.index(keyword)
            if slots[at] is not None:
                return None
            slots[at] = positional + i
        defaults = dict(
            zip(reversed(names[: code.co_argcount]), reversed(function.__defaults__ or ()), strict=False)
        )
        defaults.update(function.__kwdefaults__ or {})
        for at, slot in enumerate(slots):
            if slot is None:
                if names[at] not in defaults or not _is_constant(defaults[names[at]]):
                    return None
                slots[at] = Const(defaults[names[at]])
        if not self.is_liftable(function):
            return None
        return Binding(function, tuple(slots))  # type: ignore[arg-type]  # no slot is None any more

    # -- inference -------------------------------------------------------------------------------------

    def typeof(self, value: object) -> AbstractType:
        """The type that a rule for the argument `value` is made for."""
        return ANY if self.speculation == "dynamic" else typeof(value)

    def oracle(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        """The type of a call's result."""
        row = self.row(function, types_)
        if row is not None:
            if row.kind is RowKind.OVERLAY:
                return self._python_result(row.body, types_, keywords)
            if keywords:
                return ANY
            return self._row_result(row, types_)
        return self._python_result(function, types_, keywords)

    def sample(
        self, function: object, values: Sequence[Value], keywords: tuple[str, ...]
    ) -> AbstractType | None:
        """The type of a call's result by the example that its rule makes, or None."""
        row = self.row(function, [type_of(v) for v in values[: len(values) - len(keywords)]])
        return None if row is None else sampled_type(row, function, values, keywords, self.samples)

    def _row_result(self, row: Any, types_: Sequence[AbstractType]) -> AbstractType:
        result = row.result
        if result is None:
            return ANY
        if isinstance(result, str):
            return ARRAY_RESULTS[result](types_)
        if isinstance(result, type):
            return Exact(result)
        classes = [class_of(t) for t in types_]
        if None in classes:
            return ANY
        answer = result(*classes)
        return Exact(answer) if isinstance(answer, type) else ANY

    def _python_result(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        binding = self.bind(function, len(types_), keywords)
        if binding is None:
            return ANY
        bound = tuple(type_of(s) if isinstance(s, Const) else inferred_type(types_[s]) for s in binding.slots)
        return self.result(binding.function, bound)

    def result(self, function: types.FunctionType, parameters: tuple[AbstractType, ...]) -> AbstractType:
        """The inferred type of what `function` returns.

        A recursive function is first assumed to return nothing, then what was found under that
        assumption, until the two agree.  Results found on the way under an assumption are not kept.
        """
        if self.speculation == "dynamic":
            return ANY
        key = (function.__code__, id(function.__globals__), parameters)
        known = self.results.get(key)
        if known is not None:
            return known
        with self.lock:
            if key in self.assumed:
                self.recursive.add(key)
                return self.assumed[key]
            if len(self.assumed) > 40:
                return ANY
            self.assumed[key] = NEVER
            try:
                found: AbstractType = ANY
                for _ in range(4):
                    graph, _, _ = copy_graph(self.primal(function))
                    found = infer(graph, parameters, self.oracle, self.sample)
                    if key not in self.recursive or found == self.assumed[key]:
                        break
                    self.assumed[key] = found
                else:
                    found = ANY
            finally:
                del self.assumed[key]
                self.recursive.discard(key)
            if found is NEVER:
                found = ANY if self.recursive else NEVER
            if not self.recursive:
                self.results[key] = found
            return found

    # -- derived rules -----------------------------------------------------------------------------------

    def entry(
        self,
        function: types.FunctionType,
        parameters: Sequence[AbstractType],
        active: Sequence[bool],
        mode: str,
    ) -> Derived:
        """The derived rule, perhaps not built yet.  Raises `LiftError` if `function` cannot be lifted."""
        if self.epoch != self.table.epoch:
            self.clear()
        key = (function.__code__, id(function.__globals__), tuple(parameters), tuple(active), mode)
        rule = self.rules.get(key)
        if rule is None:
            with self.lock:
                rule = self.rules.get(key)
                if rule is None:
                    stored = None
                    if self.cache is not None:
                        stored = self.cache.load(function, tuple(parameters), tuple(active), mode)
                    result = stored.result if stored else self._promised(function, tuple(parameters), mode)
                    rule = Derived(self, function, tuple(parameters), tuple(active), mode, result)
                    rule.stored = stored
                    self.rules[key] = rule
        return rule

    def _promised(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...], mode: str
    ) -> AbstractType:
        """The type of the result that callers are told."""
        self.primal(function)
        known = tuple(map(memory_type, parameters))
        if not self._keeps(function, known):
            known = tuple(map(inferred_type, known))
        result = self.result(function, known)
        # A protected rule may also return a `Raised`.
        return ANY if result is NEVER or mode == "protected" else result

    def _keeps(self, function: types.FunctionType, parameters: tuple[AbstractType, ...]) -> bool:
        """Whether lists of which the elements are known are such lists as long as `function` runs."""
        lists = [i for i, t in enumerate(parameters) if isinstance(t, ListType)]
        if not lists:
            return False
        is_closed, *kept = self.kept_lists(function, parameters)
        return is_closed and all(kept[i] for i in lists)

    def static_entry(
        self, binding: Binding, types_: Sequence[AbstractType], active: Sequence[bool], mode: str
    ) -> Derived:
        """The same for a call in generated code, which then depends on it."""
        rule = self.entry(binding.function, types_, active, mode)
        caller, callee = self.building[-1], binding.function
        caller.needs.add(rule)
        caller.entered[rule] = callee
        if id(callee) not in caller.callees:  # it may not be found by a name: an argument, a default
            caller.callees[id(callee)] = NameFact({"callee": callee}, ("callee",), callee)
        return rule

    def typed(self, rule: Derived) -> Graph:
        """A typed copy of the primal graph for `rule`."""
        key = (rule.code, id(rule.globals))
        base = self.bases.get(key)
        if base is None:
            if isinstance(rule.function, Continuation):
                base = rule.function.base
            else:
                function_graph = self.graphs[key]
                assert isinstance(function_graph, Graph)
                base = Base(function_graph)
            self.bases[key] = base
        graph, rule.sites = speculate(
            self,
            (*key, rule.parameters),
            base,
            rule.globals,
            lambda graph: self._infer(graph, tuple(map(inferred_type, rule.parameters))),
        )
        drop_method_reads(graph)
        drop_self_writes(graph)
        if self.speculation != "dynamic":
            drop_proved_tests(graph, rule.parameters, self)
        spread_displays(graph, self)
        for argument, passed in zip(graph.arguments, rule.parameters, strict=True):
            if isinstance(passed, ValueArrayType):
                argument.type = passed
        return graph

    def _infer(self, graph: Graph, parameters: tuple[AbstractType, ...]) -> None:
        """Write types into `graph`, and what follows from them at once."""
        if self.speculation == "dynamic":
            infer(graph, parameters, _knows_nothing)
            return
        infer(graph, parameters, self.oracle, self.sample)
        while (
            builtin_methods(graph)
            | list_unpackings(graph)
            | spread_calls(graph, normal_call)
            | constructions(graph, self, self.oracle)
        ):
            infer(graph, parameters, self.oracle, self.sample)

    def refresh(self) -> None:
        """Forget the rules that were built on guesses that have changed, and those that call them."""
        with self.lock:
            stale = set(self.stale)
            self.stale.clear()  # emptied, not replaced: the sites write to it
            gone = {rule for rule in self.rules.values() if not stale.isdisjoint(rule.sites)}
            size = -1
            while size != len(gone):
                size = len(gone)
                gone |= {rule for rule in self.rules.values() if not gone.isdisjoint(rule.needs)}
            self.rules = {key: rule for key, rule in self.rules.items() if rule not in gone}
            self.plans.clear()
            self.ways.clear()
            self.generation += 1

    def build(self, rule: Derived) -> None:
        """Write the code of `rule`, or install what the cache has."""
        if rule.stored is not None:
            if self._install_stored(rule, rule.stored):
                return
            promised = self._promised(rule.stored.function, rule.parameters, rule.mode)
            if promised != rule.result:
                raise VerificationError(
                    f"the cache of rules said that {rule} returns {rule.result}, not {promised}: delete it"
                )
            rule.stored = None
        self.building.append(rule)
        try:
            graph = self.typed(rule)
            self.observer.graph(rule.code, "typed", graph)
            known, total = count_typed(graph)
            rule.is_typed = known == total
            if rule.mode != "forward":
                pair = reverse.build_reverse(
                    graph, rule.active, rule.result, self.reverse, returns_exceptions=rule.mode == "protected"
                )
                rule.records = pair.records
                typed = self.reverse.complete
                rule.graphs = (
                    typed(passes.clean(pair.forwards)),
                    typed(passes.clean_pullback(pair.pullback)),
                )
            else:
                pair = None
                dual = forward.build_forward(graph, rule.active, rule.result, self.forward)
                rule.graphs = (self.forward.complete(passes.clean(dual)),)
        finally:
            self.building.pop()
        if self.inlines:
            direct_calls(rule.graphs[0], self)
        named = [NameFact(rule.globals, g.path, g.value) for g in graph.guards]
        self.guarded.update((id(fact.globals), fact.path[0]) for fact in named)
        rule.class_facts.update(graph.facts)
        rule.guards = [*named, *rule.class_facts.values()]
        unit = _unit(rule.code, rule.globals)
        if pair is not None:
            self._watch(rule, ("forwards", "pullback"))
            forwards, pullback = self.backend.pair(pair, unit)
            self._put(rule.code, rule.is_rest, "pullback", rule.pullback, pullback)
            self._put(rule.code, rule.is_rest, "forwards", rule.forwards, forwards)
        else:
            self._watch(rule, ("dual",))
            self._put(
                rule.code, rule.is_rest, "dual", rule.forwards, self.backend.single(rule.graphs[0], unit)
            )
        rule.is_built = True
        self.builds += 1
        if self.cache is not None:
            self.cache.store(rule)
            rule.late.clear()

    def _install_stored(self, rule: Derived, stored: Stored) -> bool:
        """Install what the cache has for `rule`; whether that still fits."""
        assert self.cache is not None
        codes = self.cache.install(rule, stored)
        if codes is None:
            return False
        for which, code in codes.items():
            self.observer.code(rule.code, f"stored {which}", code)
        _install(rule.forwards, types.FunctionType(codes["forwards"], rule.globals))
        if rule.mode != "forward":
            _install(rule.pullback, types.FunctionType(codes["pullback"], rule.globals))
        rule.is_built, rule.stored = True, None
        self.builds += 1
        return True

    def adopt_facts(
        self,
        rule: Derived,
        named: Sequence[tuple[tuple[str, ...], Any]],
        classes: Sequence[tuple[type, str, Any]],
        callees: Sequence[tuple[Derived, types.FunctionType]],
    ) -> bool:
        """Let `rule` depend on names of globals and what they lead to, on attributes of classes and on the
        rules of functions; whether all of it holds.  Nothing is changed if it does not."""
        guards = [NameFact(rule.globals, path, value) for path, value in named]
        of_classes: dict[tuple[type, str], Fact] = {
            (cls, name): class_fact(cls, name, function) for cls, name, function in classes
        }
        facts: list[Fact] = [*guards, *of_classes.values()]
        if not all(fact.holds() for fact in facts):
            return False
        self.guarded.update((id(fact.globals), fact.path[0]) for fact in guards)
        rule.class_facts.update(of_classes)
        rule.guards = facts
        for callee, function in callees:
            rule.needs.add(callee)
            rule.entered[callee] = function
            rule.callees.setdefault(id(function), NameFact({"callee": function}, ("callee",), function))
        return True

    def later(self, name: str, graph: Callable[[], Graph]) -> types.FunctionType:
        """A function whose graph is made when it is first called, for the rule that is being built."""
        # The rule itself is not held: its code has this function as a constant, and the garbage collector
        # does not look into code.
        rule, is_made = self.building[-1], False
        code, is_rest, unit = rule.code, rule.is_rest, _unit(rule.code, rule.globals)

        def make() -> None:
            nonlocal is_made, graph
            with self.lock:
                if not is_made:
                    stage = "pullback of other ways"
                    made = self.reverse.complete(passes.clean_pullback(graph()))
                    self.observer.graph(code, stage, made)
                    self._put(code, is_rest, stage, stub, self.backend.single(made, unit))
                    is_made = True
                    graph = _nothing_left

        def first_call(*arguments: Any) -> Any:
            make()
            return stub(*arguments)

        stub = _stub(name, rule.globals, first_call)
        if self.cache is not None:
            rule.late.append((stub, make))
        del rule
        return stub

    def _watch(self, rule: Derived, stages: Sequence[str]) -> None:
        """Show the graphs of `rule` to the observer."""
        for stage, graph in zip(stages, rule.graphs, strict=True):
            self.observer.graph(rule.code, stage, graph, is_typed=is_known if rule.is_typed else None)

    def _put(
        self, primal: Any, is_rest: bool, stage: str, function: types.FunctionType, made: Callable[..., Any]
    ) -> None:
        """Let `function`, one of those of the rule for the code `primal`, do what the backend has `made`.

        `is_rest`: what is differentiated is the rest of a function.
        """
        if isinstance(made, types.FunctionType):
            if is_rest:
                continuations[id(made.__code__)] = made.__code__
            self.observer.code(primal, stage, made.__code__)
        _install(function, made)

    def check(self, rule: DerivedView) -> bool:
        """Whether all that `rule` was specialised on still holds; if not, everything is dropped."""
        if rule.holds():
            return True
        self.clear()
        return False

    # -- partial derivatives -------------------------------------------------------------------------------

    def partial(self, row: Any, index: int) -> Graph | None:
        """The graph of partial derivative `index` of a scalar rule: one block, for any code."""
        key = (row, index)
        if key not in self.partials:
            partial = row.partials[index] if index < len(row.partials) else None
            if partial is None:
                self.partials[key] = None
                return None
            graph = self.straight(partial)
            self.partials[key] = _call_of(partial, self.primal(partial)) if graph is None else graph
        return self.partials[key]

    def straight(self, function: types.FunctionType) -> Graph | None:
        """The graph of `function` if it is one block that means the same in any code."""
        graph, _, _ = copy_graph(self.primal(function))
        infer(graph, (FLOAT,) * len(graph.arguments), self.oracle)
        return graph if _is_straight(graph) and not _reads_names(graph) else None


def _knows_nothing(
    function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
) -> AbstractType:
    return ANY


_INTRINSICS = frozenset(intrinsics.INTRINSICS.values())
"""Functions that stand for syntax: their bodies say what they mean, and are never differentiated."""


def _is_straight(graph: Graph) -> bool:
    return len(graph.blocks) == 1 and isinstance(graph.entry.terminator, Return)


_BY_NAME: tuple[Any, ...] = (
    intrinsics._global_, intrinsics._globals_, intrinsics._freevar_,
    intrinsics._store_global_, intrinsics._delete_global_,
)  # fmt: skip


def _reads_names(graph: Graph) -> bool:
    """Whether names are looked up at run time: elsewhere they mean something else."""
    return any(target(call) in _BY_NAME for call in graph.instructions())


def _call_of(partial: Callable[..., Any], like: Graph) -> Graph:
    """A graph that just calls `partial`, for derivatives with branches."""
    graph = Graph(like.name)
    arguments: list[Argument] = [graph.add_argument(a.name) for a in like.arguments]
    builder = Builder(graph)
    builder.ret(builder.call(partial, *arguments))
    return graph


def _is_constant(value: object) -> bool:
    """Whether a default may be written into code: immutable, without state."""
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or type(value) in (
        int, float, bool, str, bytes, complex, type, types.ModuleType
    ) or (type(value) is types.FunctionType and value.__closure__ is None)  # fmt: skip
