"""Which rules are interpreted at first, and when they get code.

Code of libraries mostly parses, checks and looks things up, once per call: to write derivatives of it takes a
thousand times as long as to run it.  So does what is left of a function behind a guess that was wrong.  Such
rules begin cold (`runtime.cold`); those that turn out to be run often are built after all.  A loop that has
been run for long is left in the middle, for code of the rest of the function from there on.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from adbc.collector import paused
from adbc.config import Config
from adbc.cpython.libraries import is_library_code, is_own_code, stands_for_builtins
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _import_
from adbc.ir.traverse import cycles
from adbc.ir.values import Value
from adbc.passes.query import constant, target
from adbc.passes.typed.guards import behind_handlers
from adbc.runtime.build.derived import Derived, install, rule_of, stub
from adbc.runtime.build.speculation import Base, Continuation, cell_of, guessable, numbered
from adbc.runtime.calls.imports import loads_anew
from adbc.runtime.cold import REPEATED, ColdRule, Frame, Mode, Program, Record, Thermostat, can_be_run
from adbc.runtime.state.context import Context
from adbc.runtime.state.stack import STACK
from adbc.types import AbstractType

if TYPE_CHECKING:  # the tiers are a part of an engine
    from adbc.runtime.build.engine import Engine

__all__ = ["Tiers"]


class Tiers:
    """The cold rules of one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.programs: dict[Any, Program] = {}
        """By code, address of the globals, and whether it is for forward mode."""
        self._modes: dict[bool, Mode] = {}
        self._thermostat = Thermostat()
        self._hot: set[Any] = set()
        """The functions that have been found to be worth code, by code, address of the globals and whether it
        is for forward mode: they are not interpreted again when a guess about them was wrong."""
        self.warm_after = engine.config.warm_after
        """`Config.warm_after`.  Whoever changes it in a test has the engine forget everything."""
        self._rests: dict[tuple[Program, int], Any] = {}
        """By program and section, the step that calls the rest of the function from there; None if there can
        be none."""
        self.caches: tuple[Any, ...] = (self.programs, self._hot, self._rests)

    def begin_cold(self, rule: Derived) -> bool:
        """Let `rule` be interpreted, if that is what is to become of it; whether it is."""
        if not self._may_be_cold(rule):
            program = self.programs.get((rule.code, id(rule.globals), rule.mode == "forward"))
            if program is not None and self.engine.guesses.mode == "learn":
                self._expect(rule, program)
            return False
        graph = self.engine.primal_of(rule)
        waits = self._is_always() or rule.waits
        if not waits or not can_be_run(graph):
            return False
        program = self._program(rule, graph)
        warm = None if self._is_always() else lambda: self.warm(rule)
        rest = rule.function
        learn = (lambda: self._learn(rest, program)) if isinstance(rest, Continuation) else None
        cold = ColdRule(
            program, rule.parameters, rule.active, rule.result, rule.mode, rule.takes_function, warm, learn,
            lambda frame, at: self._leave(rule, frame, at), self.warm_after or Config.warm_after,
            (lambda context: self._retire(rule, context)) if rule.is_provisional else None,
        )  # fmt: skip
        rule.cold = cold
        rule.class_facts.update(graph.facts)
        named = [self.engine.graphs.fact(rule.code, rule.globals, g) for g in graph.guards]
        rule.guards = [*named, *rule.name_facts.values(), *rule.class_facts.values()]
        self.engine.guarded.update((id(fact.globals), fact.path[0]) for fact in named)
        if rule.mode == "forward":
            install(rule.forwards, cold.dual)
        else:
            install(rule.forwards, cold.forwards)
            install(rule.pullback, cold.pullback)
        rule.is_built = True
        self.engine.builds += 1
        return True

    def begins_cold(self, function: Any, parameters: tuple[AbstractType, ...], mode: str) -> bool:
        """Whether a rule of `function` for these types is interpreted at first where a call enters it that is
        decided when it is made.

        Raises `LiftError` if it cannot be lifted.
        """
        engine = self.engine
        if engine.guesses.mode != "learn" or not self.warm_after or engine.is_watched:
            return False
        is_rest = isinstance(function, Continuation)
        if is_rest or self._is_hot(function.__code__, function.__globals__, mode):
            return False
        graph = engine.graphs.primal(function)
        return can_be_run(graph) and self.waits(function, parameters, is_dynamic=True)

    def waits(self, function: Any, parameters: tuple[AbstractType, ...], *, is_dynamic: bool) -> bool:
        """Whether a function is interpreted at first for arguments of these types: a library's, adbc's own,
        without loops, what was derived, or one in which something must be guessed, which is better seen.  One
        that loads modules waits until they are there: their code may change what was met (`calls.imports`).

        What stands for a builtin function does not wait where code calls it, whose loops are the user's.
        """
        code, namespace = function.__code__, function.__globals__
        graph = self.engine.graphs.primal(function)
        is_looping = _is_looping(graph)
        if not is_looping or rule_of(function) is not None or _loads_modules(graph, namespace):
            return True
        if is_own_code(code.co_filename):
            return is_dynamic or not stands_for_builtins(code.co_filename)
        if is_library_code(code.co_filename, namespace):
            return True
        return not self.engine.knowledge.is_settled(function, parameters)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let no rule come to have code that is interpreted now: what is done twice is done the same way."""
        before = self._thermostat.is_held
        self._thermostat.is_held = True
        try:
            yield
        finally:
            self._thermostat.is_held = before

    def show(self, rule: Derived) -> None:
        """Make code for `rule`, whatever is made for others."""
        rule.is_shown = True
        if rule.cold is not None:
            self.warm(rule)
        rule.build(at_once=True)

    def warm(self, rule: Derived) -> Callable[..., Any]:
        """Write the code of `rule`, which has been interpreted; what is to be called instead of that."""
        engine = self.engine
        with paused(), engine.lock, STACK.room():
            cold = rule.cold
            if cold is not None:
                rule.cold, rule.is_warm, rule.is_built = None, True, False
                self._expect(rule, cold.program)
                self._hot.add((rule.code, id(rule.globals), rule.mode == "forward"))
                try:
                    engine.build(rule)
                finally:
                    if not rule.is_built:  # interrupted: it goes on as it was
                        rule.cold, rule.is_warm, rule.is_built = cold, False, True
                if rule.mode != "forward" and cold.records:
                    _read_either(rule, cold)
        return rule.forwards

    def _retire(self, rule: Derived, context: Context) -> None:
        """Let a rule that has code be entered in place of `rule`, which is provisional and has been
        interpreted, from the next call on."""
        with self.engine.lock:
            if rule.cold is not None and not rule.is_retired:
                self._expect(rule, rule.cold.program)
                self._hot.add((rule.code, id(rule.globals), rule.mode == "forward"))
                self.engine.retire(rule)
        context.checked.discard(rule)

    def warm_all(self) -> None:
        """Write the code of all rules that have been interpreted."""
        for rule in list(self.engine.rules.values()):
            if rule.cold is not None and rule.cold.steps and rule.cold.warm is not None:
                self.warm(rule)

    def _is_always(self) -> bool:
        return self.engine.guesses.mode == "interpret"

    def _may_be_cold(self, rule: Derived) -> bool:
        engine = self.engine
        if rule.is_shown or engine.is_watched:
            return False
        if self._is_always():
            return True
        if rule.is_warm or self._is_hot(rule.code, rule.globals, rule.mode):
            return False
        if isinstance(rule.function, Continuation) and rule.function.is_hot:
            return False
        if engine.guesses.mode == "learn" and self.warm_after > 0:
            return True
        return rule.waits and _loads_modules(engine.primal_of(rule), rule.globals)

    def _is_hot(self, code: Any, namespace: dict[str, Any], mode: str) -> bool:
        """Whether this function has been found to be worth code, or was met in so many calls from outside
        that the next makes code of it."""
        is_forward = mode == "forward"
        if (code, id(namespace), is_forward) in self._hot:
            return True
        program = self.programs.get((code, id(namespace), is_forward))
        return program is not None and program.is_of_user and program.rounds >= REPEATED - 1

    def _program(self, rule: Derived, graph: Graph) -> Program:
        is_forward = rule.mode == "forward"
        key = (rule.code, id(rule.globals), is_forward)
        known = self.programs.get(key)
        if known is None:
            mode = self._mode(is_forward)
            function = rule.function
            if isinstance(function, Continuation):
                base = function.base
                numbers = {call: k for call, k in base.roots.items() if k not in base.excluded}
            else:
                numbers = numbered(graph)
            known = self.programs[key] = Program(
                graph, rule.code, rule.globals, rule.is_rest, mode, numbers, guessable
            )
        return known

    def _leave(self, rule: Derived, frame: Frame, at: int) -> int | None:
        """Run what is left of `rule` from section `at` on, where a loop has been run for long, by code that
        is made for it; the place of the result, or None if there can be no such code."""
        program = frame.program
        step = self._rests.get((program, at), program)
        if step is program:
            with self.engine.lock:
                step = self._rests[program, at] = self._rest_step(rule, program, at)
                self._expect(rule, program)
        if step is None:
            return None
        step.run(frame)
        return program.rest_place

    def _rest_step(self, rule: Derived, program: Program, at: int) -> Any:
        if program.graph.blocks[at] in behind_handlers(program.graph):
            return None
        made = rule.function
        base = made.base if isinstance(made, Continuation) else Base(program.graph)
        key = rule.code, id(rule.globals), rule.parameters
        rest = Continuation(base, (base.graph.blocks[at], 0), rule.globals, key)
        rest.is_hot = True
        places = _places(program.graph, base.graph)
        return program.rest_step(at, rest, [places[value] for value in rest.live])

    def _learn(self, rest: Continuation, program: Program) -> None:
        """Tell the guesses of the whole function what was seen in a rest of it."""
        for step in program.news:
            site = self.engine.guesses.site((*rest.base.root, step.number))
            if step.known is None and site.guess is None:
                site.expect(None)  # no guess was wrong, as a method is not one
            else:
                site.note(step.known)
            if site.callables.adopt(step.callables):
                self.engine.guesses.lessons.add(site)
        program.news.clear()

    def _expect(self, rule: Derived, program: Program) -> None:
        """Let what was seen while `rule` was interpreted be the first guesses about it."""
        if not rule.is_rest:
            for step in program.observed():
                key = (rule.code, id(rule.globals), rule.parameters, step.number)
                site = self.engine.guesses.site(key)
                site.expect(None if step.is_mixed else step.known)
                for kind in step.kinds:
                    site.meet_number(kind)
                site.callables.adopt(step.callables)

    def _mode(self, is_forward: bool) -> Mode:
        found = self._modes.get(is_forward)
        if found is None:
            engine = self.engine
            support: Any = engine.forward if is_forward else engine.reverse
            found = self._modes[is_forward] = Mode(
                is_forward,
                self._thermostat,
                engine.forward_calls if is_forward else engine.reverse_calls,
                None if is_forward else support.attempt,
                support.known,
                support.kept,
                support.caught,
                support.instance,
                support.function,
                support.store_global,
                support.check_global,
            )
        return found


def _loads_modules(graph: Graph, namespace: dict[str, Any]) -> bool:
    """Whether ``import`` in a graph would run the code of a module."""
    return any(
        loads_anew(namespace, *map(constant, call.operands[1:]))
        for call in graph.instructions()
        if target(call) is _import_
    )


def _is_looping(graph: Graph) -> bool:
    return bool(cycles(graph.blocks, lambda block: block.terminator.successors))


def _places(graph: Graph, copy: Graph) -> dict[Value, tuple[int, int]]:
    """By value of `copy`, the base that was made of `graph`, or `graph` itself: its place in the program of
    `graph`, and the number of the cell that it is, or -1."""
    found: dict[Value, tuple[int, int]] = {}
    place = 0
    for value in copy.arguments:
        found[value] = place, -1
        place += 1
    for block, other in zip(graph.blocks, copy.blocks, strict=True):
        for phi in other.phis:
            found[phi] = place, -1
            place += 1
        others = iter([call for call in other.instructions if cell_of(call) < 0])
        for call in block.instructions:
            if cell_of(call) < 0:
                found[next(others)] = place, -1
            place += 1
    for block in copy.blocks:
        for call in block.instructions:
            if cell_of(call) >= 0:
                found[call] = -1, cell_of(call)
    return found


def _read_either(rule: Derived, cold: ColdRule) -> None:
    """Let the pullback of `rule`, which has code now, also take the records that `cold` has made, as long as
    there are some."""
    made = types.FunctionType(rule.pullback.__code__, rule.globals)
    made.__kwdefaults__ = rule.pullback.__kwdefaults__

    def is_own(saved: Any) -> bool:
        # What code saves may be the record of a function that it calls, and nothing else.
        return saved.__class__ is Record and saved.rule is cold

    def pullback(saved: Any, *bout: Any) -> Any:
        return cold.pullback(saved, *bout) if is_own(saved) else made(saved, *bout)

    # What an outer level follows: of a forwards pass that is followed, code has saved what there is.
    pullback.coded = lambda saved: None if is_own(saved) else made  # type: ignore[attr-defined]
    rule.pullback.__code__ = stub(rule.pullback.__name__, rule.globals, pullback).__code__
    install(rule.pullback, pullback)
    cold.when_none = lambda: install(rule.pullback, made)
