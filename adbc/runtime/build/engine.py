"""The engine: one rule table, and the derived rules that were made with it, each made once and kept.

It puts together what makes a rule: `graphs` (of functions), `knowledge` (what can be found out about them),
`guesses` (what was learnt while rules ran), and the dynamic calls and helpers of both modes, which generated
code uses.  Rules are keyed by code object, not function object, and by the identity of the globals the code
runs with; then by the types of the parameters and by which of them are active.

Facts about globals that a rule was specialised on (guards) are checked whenever a rule is entered
from outside generated code; if one fails, everything derived is dropped and built anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adbc.collector import loading, paused
from adbc.config import Config
from adbc.emit.backend import Bytecode
from adbc.errors import VerificationError
from adbc.forward import ForwardSupport
from adbc.ir.backend import Backend
from adbc.ir.graph import Graph
from adbc.reverse import Support
from adbc.rules.lookup import RuleTable
from adbc.runtime.build import lifetimes
from adbc.runtime.build.bindings import Bindings
from adbc.runtime.build.derived import Derived, install, rule_of, rules_of, written
from adbc.runtime.build.facts import Fact, NameFact, class_fact
from adbc.runtime.build.graphs import Graphs
from adbc.runtime.build.knowledge import Knowledge
from adbc.runtime.build.partials import Partials
from adbc.runtime.build.special_bases import SpecialBases
from adbc.runtime.build.speculation import Guesses
from adbc.runtime.build.support import forward_support, reverse_support
from adbc.runtime.build.tiers import Tiers
from adbc.runtime.build.watched import forward_calls, reverse_calls
from adbc.runtime.cold import ColdRule
from adbc.runtime.report.debug import Watch
from adbc.runtime.report.frames import note_inlined
from adbc.runtime.report.observer import Observer
from adbc.runtime.state.engine import DerivedView
from adbc.runtime.state.graph_functions import Segments
from adbc.runtime.state.stack import STACK
from adbc.tangents.fields import FORMS
from adbc.tangents.protocol import INACTIVE, KINDS, register_tangent
from adbc.types import AbstractType
from adbc.types.callsites import Binding
from adbc.types.decisions import Decisions
from adbc.types.lattice import ANY, without_layout
from adbc.types.typeof import keep_apart

if TYPE_CHECKING:  # loaded when they are first needed
    from adbc.runtime.build.disk_cache import DiskCache, Stored
    from adbc.runtime.build.native import Native
    from adbc.runtime.build.writing import Writer

__all__ = ["Engine"]

Key = tuple[Any, ...]


PROVISIONAL = "provisional"
"""Behind the key of a rule, says that it is."""


class Engine:
    """One rule table and all that was derived with it.

    backend: makes callables of the graphs of derivatives; by default it writes bytecode.  cache: makes the
    place where rules are kept for other processes.  told: is told what was decided for the calls of each
    function that a rule is built for.  plain: of an engine whose forward mode is for batches, the one that is
    as usual, which derives what is differentiated once more.
    """

    def __init__(
        self,
        table: RuleTable,
        config: Config,
        *,
        backend: Backend | None = None,
        cache: Callable[[Engine], DiskCache] | None = None,
        told: Callable[[Derived, Decisions], None] | None = None,
        plain: Engine | None = None,
    ) -> None:
        self.table = table
        for function in table.functions():
            keep_apart(function)
        if keep_apart not in table.listeners:
            table.listeners.append(keep_apart)
        self.backend = Bytecode(note_inlined) if backend is None else backend
        self.observer = Observer(config)
        self.lock = threading.RLock()
        self.epoch = table.epoch
        self.generation = 0
        """How often something was forgotten."""
        self.builds = 0
        """How many rules have been built: what rules need may have changed with it."""
        self.building: list[Derived] = []
        self.config = config
        self.inlines = not (config.debug or config.trace_nan)
        """Whether small functions are written into those that call them: not where each call is watched."""

        self.rules: dict[Key, Derived] = {}
        self.guarded: set[tuple[int, str]] = set()
        """The globals that some rule was specialised on: namespace and name."""
        self.plans: dict[Key, Any] = {}
        """The inline caches of dispatch: how functions are entered, by code and classes of arguments."""
        self.ways: dict[int, list[Any]] = {}
        self.entrances: dict[Key, Any] = {}
        """Short ways in for `jvp` and for gradients (`runtime.entry`), by the addresses of code."""
        self.read_places: dict[Key, list[int]] = {}
        """What `reading.only_read` has found, by code and classes of arguments."""
        self.forms: dict[Key, Any] = {}  # see `calls.forms`
        self.cache = None if cache is None else cache(self)
        self.guesses = Guesses(config.speculation)
        self.stale, self.pressing = self.guesses.lessons.stale, self.guesses.lessons.pressing
        self.bindings = Bindings(table)
        self.graphs = graphs = Graphs(table, self.bindings, self.observer, self.lock, self.inlines)
        self.knowledge = Knowledge(self.graphs, self.guesses, self.building, self.cache)
        self.special_bases = SpecialBases(graphs, self.knowledge)
        self.partials = Partials(self.graphs, self.knowledge)
        self.tiers = Tiers(self)
        self.is_watched = told is not None or config.trace_nan
        """Whether somebody looks at what becomes of calls where code is written for them, and only there."""
        self.native: Native | None = None
        """What makes machine code of rules, if that is wanted: where all is watched it is not."""
        if config.backend != "bytecode" and plain is None and not (self.is_watched or config.debug):
            from adbc.runtime.build.native import Native  # few want it

            self.native = Native(self)
        self.caches: tuple[Any, ...] = (
            self.rules, self.guarded, self.plans, self.ways, self.entrances, self.read_places, self.forms,
            *self.guesses.caches, *self.bindings.caches, *graphs.caches, *self.knowledge.caches,
            *self.tiers.caches, *self.special_bases.caches, *([self.native.ways] if self.native else []),
        )  # fmt: skip
        """All that is forgotten when something turns out to have changed."""
        self.identities: tuple[Any, ...] = (self.rules, graphs.generators, graphs.bodies, graphs.closed)
        """Caches whose values rules refer to: to forget them is to build rules anew."""

        # What dispatch and the ways in ask (`EngineView`), without one more function on the way.
        self.written = written
        self.primal, self.class_body = graphs.primal, graphs.class_body
        self.only_reads, self.is_closed = self.knowledge.only_reads, self.knowledge.is_closed
        self.typeof = self.guesses.typeof

        watch = Watch(config) if config.debug or config.trace_nan else None
        tell = None if told is None else lambda decisions: told(self.building[-1], decisions)
        self.plain = plain
        self.reverse_calls, self.reverse = self._reverse(watch, tell)
        self.forward_calls, self.forward = self._forward(watch, tell)
        _engines.add(self)

    def _reverse(self, watch: Watch | None, tell: Callable[[Decisions], None] | None) -> tuple[Any, Support]:
        """What makes calls in reverse mode, and what its builder asks; of batches, if that is what for."""
        if self.plain is None:
            calls = reverse_calls(self, watch)
            return calls, reverse_support(self, calls, watch, tell)
        from adbc.runtime.build.batched_reverse import BatchedReverseCalls, batched_reverse_support

        batched = BatchedReverseCalls(self)
        return batched, batched_reverse_support(reverse_support(self, batched, watch, tell))

    def _forward(
        self, watch: Watch | None, tell: Callable[[Decisions], None] | None
    ) -> tuple[Any, ForwardSupport]:
        """What makes calls in forward mode, and what its builder asks; of batches, if that is what for."""
        if self.plain is None:
            calls = forward_calls(self, watch)
            return calls, forward_support(self, calls, watch, tell)
        from adbc.runtime.build.batched import BatchedForwardCalls, batched_support  # few engines are such

        batched = BatchedForwardCalls(self)
        return batched, batched_support(forward_support(self, batched, watch, tell))

    def clear(self) -> None:
        """Forget everything that was derived."""
        with self.lock:
            self.generation += 1
            for cache in self.caches:
                cache.clear()
            self.epoch = self.table.epoch

    @functools.cached_property
    def inside(self) -> Engine:
        """The engine that derives what is differentiated once more: the checks of debug mode are left to the
        outermost level, for they have no derivative."""
        if self.plain is not None:
            return self.plain.inside
        if not (self.config.debug or self.config.trace_nan):
            return self
        return Engine(self.table, dataclasses.replace(self.config, debug=False, trace_nan=False))

    @functools.cached_property
    def batched(self) -> Engine:
        """The engine that carries batches of tangents and cotangents.  Its rules are its own, and are kept in
        no cache on disk: they are entered with batches only."""
        if self.plain is not None:
            return self
        config = dataclasses.replace(self.config, debug=False, trace_nan=False, cache=None)
        return Engine(self.table, config, backend=self.backend, plain=self)

    def is_idle(self) -> bool:
        """Whether no thread builds or looks through the caches; if so, they are locked (`lock`)."""
        return not self.lock._is_owned() and self.lock.acquire(blocking=False)  # type: ignore[attr-defined]

    # -- derived rules -------------------------------------------------------------------------------------

    def entry(
        self,
        function: types.FunctionType,
        parameters: Sequence[AbstractType],
        active: Sequence[int],
        mode: str,
        is_dynamic: bool = False,
    ) -> Derived:
        """The derived rule, perhaps not built yet.  Raises `LiftError` if `function` cannot be lifted.

        is_dynamic: it is for a call that is decided when it is made.  A rule that is to be interpreted at
        first is provisional then, unless there is another already: nobody has been told what it returns.
        """
        if self.epoch != self.table.epoch:
            self.clear()
        key = (function.__code__, id(function.__globals__), tuple(parameters), tuple(active), mode)
        known = self.rules.get(key)
        if known is None and is_dynamic:
            known = self.rules.get((*key, PROVISIONAL))
        return known or self._made_rule(function, parameters, active, mode, is_dynamic)

    def _made_rule(
        self,
        function: types.FunctionType,
        parameters: Sequence[AbstractType],
        active: Sequence[int],
        mode: str,
        is_dynamic: bool,
    ) -> Derived:
        """The derived rule for these types (without layout if the backend does not go by it), made if need
        be: a provisional one where the call `is_dynamic` and the rule is interpreted at first."""
        if not self.backend.by_layout:
            parameters = list(map(without_layout, parameters))
        key = (function.__code__, id(function.__globals__), tuple(parameters), tuple(active), mode)
        with paused(), self.lock, STACK.room():  # a collection that was put off finds the lock free
            rule = self.rules.get(key)
            if rule is None and is_dynamic:
                rule = self.rules.get((*key, PROVISIONAL))
            if rule is None:
                rule = self._new_rule(function, tuple(parameters), tuple(active), mode, is_dynamic)
                self.rules[(*key, PROVISIONAL) if rule.is_provisional else key] = rule
        return rule

    def _new_rule(
        self,
        function: types.FunctionType,
        parameters: tuple[AbstractType, ...],
        active: tuple[int, ...],
        mode: str,
        is_dynamic: bool,
    ) -> Derived:
        if _around_collections not in gc.callbacks and lifetimes.may_go(function):
            gc.callbacks.append(_around_collections)  # not before: each collection pays for it
        inner = rule_of(function)
        """The rule whose code is differentiated once more."""
        stored = None
        if self.cache is not None and inner is None:
            stored = self.cache.load(function, parameters, active, mode)
        is_provisional = is_dynamic and stored is None and self.tiers.begins_cold(function, parameters, mode)
        with self.knowledge.notes.collected() as facts:
            if is_provisional:
                result: AbstractType = ANY
            else:
                result = stored.result if stored else self.knowledge.promised(function, parameters, mode)
        rule = Derived(self, function, parameters, active, mode, result, is_provisional)
        for key, fact in facts.items():  # callers are compiled against the result
            rule.note(key, fact)
        rule.guards = list(facts.values())
        rule.waits = is_provisional or (
            stored is None and self.tiers.waits(function, parameters, is_dynamic=False)
        )
        rule.stored = stored
        if inner is not None:
            rule.needs.add(inner)
            rule.is_kept = False
        if rule.function is None:
            rule.primal = self.graphs.known(function.__code__, function.__globals__)
        return rule

    def retire(self, rule: Derived) -> None:
        """Let another be entered in place of `rule`, which is provisional."""
        with self.lock:
            rule.is_retired = True
            key = (rule.code, id(rule.globals), rule.parameters, rule.active, rule.mode, PROVISIONAL)
            if self.rules.get(key) is rule:
                del self.rules[key]
            # Other threads note plans, and forget them, as they go.
            for known, plan in self.plans.copy().items():
                if getattr(plan, "rule", None) is rule:
                    self.plans.pop(known, None)
            if rule.is_entered:
                self.generation += 1

    def static_entry(
        self, binding: Binding, types_: Sequence[AbstractType], active: Sequence[int], mode: str
    ) -> Derived:
        """The derived rule for a call in the code that is being generated, which then depends on it."""
        rule = self.entry(binding.function, types_, active, mode)
        self.building[-1].depend(rule, binding.function)
        return rule

    def note_part(self, function: types.FunctionType, rule: Derived) -> None:
        """Note that `function` enters `rule`: what is derived from it depends on what `rule` depends on."""
        rules_of[function] = weakref.ref(rule)

    def segments(self, function: types.FunctionType) -> Segments:
        """The segments of a generator function, as it is now: a generator that is made goes on with them
        however its rules are built."""
        if not self.graphs.are_segments_right(function):
            self.clear()
        return self.graphs.segments(function)

    def check(self, rule: DerivedView) -> bool:
        """Whether all that `rule` was specialised on still holds; if not, everything is dropped."""
        if rule.holds():
            return True
        self.clear()
        return False

    def refresh(self) -> None:
        """Forget the rules that were built on guesses that have changed, and those that call them."""
        with self.lock:
            stale = self.guesses.lessons.taken()
            gone = {rule for rule in self.rules.values() if not stale.isdisjoint(rule.sites)}
            size = -1
            while size != len(gone):
                size = len(gone)
                gone |= {rule for rule in self.rules.values() if not gone.isdisjoint(rule.needs)}
            for key in [key for key, rule in self.rules.items() if rule in gone]:
                del self.rules[key]
            self.plans.clear()
            self.ways.clear()
            self.generation += 1

    # -- building ------------------------------------------------------------------------------------------

    def build(self, rule: Derived) -> None:
        """Write the code of `rule`, or install what the cache has."""
        if rule.stored is not None and self._install_stored(rule, rule.stored):
            return
        if self.tiers.begin_cold(rule):
            return
        self.writer.write(rule)

    @functools.cached_property
    def writer(self) -> Writer:
        """What writes the code of rules."""
        with loading():
            from adbc.runtime.build.writing import Writer  # what is only interpreted needs none of it
        return Writer(self)

    def later(self, name: str, graph: Callable[[], Graph]) -> types.FunctionType:
        """A pullback whose graph is made when it is first called, for the rule that is being built."""
        return self.writer.later(name, graph)

    def primal_of(self, rule: Derived) -> Graph:
        """The graph of what `rule` differentiates, which may have been given up since the rule was made."""
        if rule.function is not None:
            return self.graphs.primal(rule.function)
        return rule.primal or self.graphs.lifted(rule.code, rule.globals)

    # -- rules from the cache on disk ----------------------------------------------------------------------

    def _install_stored(self, rule: Derived, stored: Stored) -> bool:
        """Install what the cache has for `rule`, if that still fits; whether it does."""
        assert self.cache is not None
        codes = self.cache.install(rule, stored)
        if codes is None:
            promised = self.knowledge.promised(stored.function, rule.parameters, rule.mode)
            if promised != rule.result:
                raise VerificationError(
                    f"the cache of rules said that {rule} returns {rule.result}, not {promised}: delete it"
                )
            rule.stored = None
            return False
        for which, code in codes.items():
            self.observer.code(rule.code, f"stored {which}", code)
        install(rule.forwards, types.FunctionType(codes["forwards"], rule.globals))
        if rule.mode != "forward":
            install(rule.pullback, types.FunctionType(codes["pullback"], rule.globals))
        rule.computes_with_numpy = stored.content["computes_with_numpy"]
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
            rule.depend(callee, function)
        return True


_engines: weakref.WeakSet[Engine] = weakref.WeakSet()
"""All engines: a function is gone if none but these hold it."""


_pace = lifetimes.Pace()


@contextlib.contextmanager
def _all_idle() -> Iterator[Sequence[Engine]]:
    """All engines, with the work of other threads shut out; none if one of them is at work."""
    locked: list[Engine] = []
    try:
        for engine in list(_engines):
            if not engine.is_idle():
                yield ()
                return
            locked.append(engine)
        yield locked
    finally:
        for engine in locked:
            engine.lock.release()


def _around_collections(phase: str, info: Mapping[str, int]) -> None:
    """Find what was derived from functions that are gone, around full collections.

    Before one, most of what refers to such functions is given up; behind it, when no garbage refers to them
    any more, the rest is looked at.  What is found then is for the next collection.
    """
    if info["generation"] != 2 or not (_pace.begin() if phase == "start" else _pace.is_looking):
        return
    with _all_idle() as engines:
        tables = {id(engine.table): engine.table for engine in engines}.values()  # engines may have one
        if phase == "start":
            for engine in engines:
                kept = engine.identities
                aids = [cache for cache in engine.caches if not any(cache is other for other in kept)]
                lifetimes.shed(aids, engine.rules.values())
        elif engines:
            caches: list[Any] = [KINDS, FORMS]
            anchors: list[Any] = [_engines]
            for engine in engines:
                caches += engine.identities
                anchors += [engine, *vars(engine).values(), *vars(engine.table).values()]
            for table in tables:
                caches += table.caches
            lifetimes.forget_the_dead(caches, anchors)
    if phase == "stop":
        _pace.end()


for _machinery in (Engine, Derived, ColdRule):
    register_tangent(_machinery, INACTIVE)  # an outer level may find one in a cell: it leads to everything
