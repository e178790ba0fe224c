"""Writing the code of rules: from a primal graph to functions that the interpreter runs.

What begins cold is interpreted, and most of it never gets code: what writes code is a third of adbc, and is
loaded with the first rule that does.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adbc import forward, passes, reverse  # the builders of a mode are loaded when it is first used
from adbc.derive.support import CommonSupport
from adbc.functions import is_function
from adbc.ir.backend import Unit
from adbc.ir.graph import Graph
from adbc.passes.derived.strong_zeros import Later
from adbc.passes.stages import Watcher, run
from adbc.passes.typed import guards
from adbc.runtime.build.derived import Derived, install, rules_of, stub
from adbc.runtime.build.results import COMPLETE, Completing
from adbc.runtime.build.speculation import Continuation
from adbc.runtime.build.typed import DIRECT, TYPED, Typing
from adbc.runtime.build.warned import computes_with_numpy
from adbc.runtime.report.frames import continuations, note_original
from adbc.tangents.protocol import INACTIVE, register_tangent
from adbc.types.derived import count_typed

if TYPE_CHECKING:  # an engine has a writer
    from adbc.runtime.build.engine import Engine

__all__ = ["Writer"]


_OF_PULLBACKS = 240
"""How many values are guessed at in derived code that forward mode differentiates, as the pullback is in a
second derivative: everything comes off a tape there, and has no type."""


class Writer:
    """Writes the code of the rules of one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def write(self, rule: Derived) -> None:
        """Write the code of `rule`."""
        self.engine.building.append(rule)
        try:
            graph = self._typed(rule)
            known, total = count_typed(graph)
            rule.is_typed = known == total
            rule.computes_with_numpy = computes_with_numpy(graph)
            if rule.mode != "forward":
                returns_exceptions = rule.mode == "protected"
                after = self.engine.observer.watcher(rule.code, "primal", is_normal=True)
                pair = reverse.build_reverse(
                    graph,
                    rule.active,
                    rule.result,
                    self.engine.reverse,
                    returns_exceptions=returns_exceptions,
                    after=after,
                )
                rule.records = pair.records
                rule.graphs = (
                    self._clean(rule, "forwards", pair.forwards),
                    self._clean(rule, "pullback", pair.pullback),
                )
            else:
                pair = None
                after = self.engine.observer.watcher(rule.code, "primal", is_normal=True)
                support = self.engine.forward
                dual = forward.build_forward(graph, rule.active, rule.result, support, after=after)
                rule.graphs = (self._clean(rule, "dual", dual),)
        finally:
            self.engine.building.pop()
            if not self.engine.building:
                self.engine.knowledge.notes.end()
        part = "forwards" if pair is not None else "dual"
        if self.engine.inlines:
            after = self.engine.observer.watcher(rule.code, part, is_normal=True)
            run(DIRECT, rule.graphs[0], self.engine.knowledge, after)
        named = [self.engine.graphs.fact(rule.code, rule.globals, g) for g in graph.guards]
        self.engine.guarded.update((id(fact.globals), fact.path[0]) for fact in named)
        rule.class_facts.update(graph.facts)
        rule.guards = [*named, *rule.name_facts.values(), *rule.class_facts.values()]
        unit = self._unit(rule.code, rule.globals, forwards="forwards", pullback="pullback", single="dual")
        if pair is not None:
            forwards, pullback = self.engine.backend.pair(pair, unit)
            self._put(rule.code, rule.is_rest, "pullback", rule.pullback, pullback)
            self._put(rule.code, rule.is_rest, "forwards", rule.forwards, forwards)
        else:
            made = self.engine.backend.single(rule.graphs[0], unit)
            self._put(rule.code, rule.is_rest, "dual", rule.forwards, made)
        rule.is_built = True
        self.engine.builds += 1
        if self.engine.cache is not None:
            if rule.is_kept and all(callee.is_kept for callee in rule.needs):
                self.engine.cache.store(rule)
            rule.late.clear()

    def _typed(self, rule: Derived) -> Graph:
        """A typed copy of the primal graph for `rule`, with guesses."""
        if isinstance(rule.function, Continuation):
            base = rule.function.base
        else:
            where = rule.code, rule.globals
            base = self.engine.guesses.base(*where, lambda: self.engine.primal_of(rule))
            if self.engine.guesses.mode == "learn":
                base = self.engine.special_bases.find(base, *where, rule.parameters)
            rule.is_special = base.is_special
        key = (rule.code, id(rule.globals), rule.parameters)
        is_derived = rule.mode == "forward" and not rule.is_kept
        limit = _OF_PULLBACKS if is_derived else guards.LIMIT
        typing = Typing(
            self.engine.knowledge, self.engine.guesses, base, key, rule.globals, rule.parameters, limit
        )
        after = self.engine.observer.watcher(rule.code, "primal", is_normal=True)
        graph: Graph = run(TYPED, base, typing, after)
        rule.sites = [*typing.sites, *base.early]
        return graph

    def _clean(self, rule: Derived, part: str, graph: Graph) -> Graph:
        """Tidy up what a builder wrote, and type what has no type yet, in place."""
        group = passes.CLEAN_PULLBACK if part == "pullback" else passes.CLEAN
        after = self.engine.observer.watcher(rule.code, part, is_normal=True, is_typed=rule.is_typed)
        cleaned: Graph = run(group, graph, None, after)
        support: CommonSupport = self.engine.forward if part == "dual" else self.engine.reverse
        typed: Graph = run(COMPLETE, cleaned, Completing(support, self._careful(rule, part)), after)
        return typed

    def _careful(self, rule: Derived, part: str) -> Later:
        """What makes functions that are called where a derivative that `rule` has computed is NaN."""
        return lambda graph: self._when_called(rule.code.co_name, f"careful {part}", lambda after: graph())

    def _put(
        self, primal: Any, is_rest: bool, part: str, function: types.FunctionType, made: Callable[..., Any]
    ) -> None:
        """Let `function`, one of those of the rule for the code `primal`, do what the backend has `made`.

        `is_rest`: what is differentiated is the rest of a function.
        """
        if is_function(made):
            if is_rest:
                continuations[id(made.__code__)] = made.__code__
            elif isinstance(primal, types.CodeType):
                note_original(made.__code__, primal)
            elif primal.original is not None:
                note_original(made.__code__, primal.original)
            self.engine.observer.code(primal, part, made.__code__)
        install(function, made)

    def _unit(self, code: Any, globals: dict[str, Any], **parts: str) -> Unit:
        """What the backend is told of the function with this code, and what watches the graphs that `parts`
        names."""
        watcher = self.engine.observer.watcher
        watchers = {which: watcher(code, part, is_normal=True) for which, part in parts.items()}
        return Unit(code.co_name, code.co_qualname, globals, watchers)

    def later(self, name: str, graph: Callable[[], Graph]) -> types.FunctionType:
        """A pullback whose graph is made when it is first called, for the rule that is being built."""

        def finished(after: Watcher | None) -> Graph:
            cleaned = passes.clean_pullback(graph(), after=after)
            done: Graph = run(COMPLETE, cleaned, Completing(self.engine.reverse), after)
            return done

        return self._when_called(name, "pullback of other ways", finished)

    def _when_called(
        self, name: str, part: str, finished: Callable[[Watcher | None], Graph]
    ) -> types.FunctionType:
        """A function for the rule that is being built, whose graph `finished` makes when it is first called:
        it is given the watcher of the graph `part`."""
        # The rule itself is not held: its code has this function as a constant, and the garbage collector
        # does not look into code.
        rule, is_made = self.engine.building[-1], False
        code, is_rest, is_typed = rule.code, rule.is_rest, rule.is_typed
        unit = self._unit(code, rule.globals, single=part)

        def make() -> None:
            nonlocal is_made, finished
            with self.engine.lock:
                if not is_made:
                    watcher = self.engine.observer.watcher
                    graph = finished(watcher(code, part, is_normal=True, is_typed=is_typed))
                    self._put(code, is_rest, part, made, self.engine.backend.single(graph, unit))
                    is_made = True
                    finished = _nothing_left

        def first_call(*arguments: Any) -> Any:
            make()
            return made(*arguments)

        first_call.make = make  # type: ignore[attr-defined]  # for `derived.written`
        made = stub(name, rule.globals, first_call)
        rules_of[made] = weakref.ref(rule)
        if self.engine.cache is not None:
            rule.late.append((made, make))
        del rule
        return made


def _nothing_left(after: object) -> Graph:
    raise AssertionError("a graph that was made already")


register_tangent(Writer, INACTIVE)  # like the engine
