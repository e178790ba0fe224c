"""Derived rules: two functions whose code is a *stub* until they are first called.

The first call of a stub has the engine build the rule and put the real code in place.  So a rule can refer
to itself, error paths that never run are never built, and calls between derived rules are plain calls of
Python functions.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adbc.collector import paused
from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.ir.values import inlined_at
from adbc.reverse.layout import Records
from adbc.runtime.build.facts import Fact, NameFact, together
from adbc.runtime.build.glances import Checked
from adbc.runtime.build.speculation import Continuation, Site
from adbc.runtime.state.graph_functions import GraphFunction
from adbc.runtime.state.stack import STACK
from adbc.types import AbstractType, has_cotangent, has_shadow
from adbc.types.lattice import FLOAT

if TYPE_CHECKING:  # a rule belongs to an engine, which makes it
    from adbc.runtime.build.disk_cache import Stored
    from adbc.runtime.build.engine import Engine
    from adbc.runtime.cold import ColdRule

__all__ = ["Derived", "install", "rule_of", "rules_of", "stub", "written"]


class Derived:
    """A derived rule for one function body, one list of parameter types, and one set of active ones.

    mode is "reverse", "protected" (reverse, but exceptions are returned) or "forward".  How `forwards` and
    `pullback` are called, `reverse.DerivedEntry` says; in forward mode `forwards` is the dual function, and
    there is no pullback.
    """

    computes_with_numpy = True
    """Whether what is computed may be an array or a number of NumPy's, as far as is known."""
    warns = True
    """Whether NumPy may warn of what the pullback computes, as of when `holds` was asked: this rule has to do
    with NumPy, as far as is known, or one that it calls."""

    def __init__(
        self,
        engine: Engine,
        function: types.FunctionType,
        parameters: tuple[AbstractType, ...],
        active: tuple[int, ...],
        mode: str,
        result: AbstractType,
        is_provisional: bool = False,
    ) -> None:
        self.engine = engine
        self.is_provisional = is_provisional
        """Whether it is only there to be interpreted, entered by calls that are decided when they are made,
        and nothing is promised of its result: what that is takes longer to infer than to run the function."""
        self.waits = False
        """Whether it is interpreted at first."""
        self.code = function.__code__
        self.globals = function.__globals__
        self.parameters = parameters
        self.active = active
        self.mode = mode
        self.result = result
        self.takes_function = bool(function.__code__.co_freevars)
        """Whether the rule is given the function and its shadow, behind the context, to find the closure."""
        self.primal: Graph | None = None
        """The graph of the function until code is made: the engine may have given it up by then."""
        self.graphs: tuple[Graph, ...] = ()
        self.records: Records | None = None
        """What the forwards pass saves for the pullback."""
        self.native: Any = None
        """What has become of the rule as machine code (`runtime.build.native`), once that is known."""
        self.is_typed = False
        """Whether the type of every value of the primal is known, and so that of every derivative."""
        self.is_special = False
        """Whether functions were written in that only the types of parameters tell."""
        self.is_built = False
        self.cold: ColdRule | None = None
        """What interprets the rule, as long as it has no code (`tiers`)."""
        self.is_retired = False
        """Whether this rule, which is provisional, was found to be worth code: another is to be entered."""
        self.is_entered = False
        """Whether calls from outside go by this rule."""
        self.is_warm = False
        """Whether it is built, and no longer interpreted."""
        self.is_kept = True
        """Whether the cache on disk can name what it is the rule of: not the code of another rule."""
        self.is_shown = False
        """Whether it has code even where nothing is written, because somebody wants to see that."""
        self.needs: set[Derived] = set()
        """The derived rules that this one calls directly."""
        self.entered: dict[Derived, types.FunctionType] = {}
        """By derived rule that this one calls directly, the function that the rule differentiates."""
        self.entrances: dict[Any, Callable[..., Any]] = {}
        """The functions that enter this rule from code that is differentiated (`runtime.entry.nested`)."""
        self.late: list[tuple[types.FunctionType, Callable[[], None]]] = []
        """Functions whose code is made when they are called, and what makes it: for the cache on disk."""
        self.stored: Stored | None = None
        """Code from the cache on disk, not installed yet."""
        self.returns_float = result == FLOAT
        self.returns_shadow = has_shadow(result)
        self.returns_cotangent = has_cotangent(result)
        self.guards: list[Fact] = []
        self.class_facts: dict[tuple[type, str], Fact] = {}
        self.name_facts: dict[tuple[Any, ...], NameFact] = {}
        """What is known of the names that other functions look up, which are not called by rules."""
        self.callees: dict[int, NameFact] = {}
        """What is known of the functions that this rule calls directly, by their addresses."""
        self.sites: list[Site] = []
        """The places where the type of a value was guessed."""
        made: Any = function
        self.function = made if isinstance(made, GraphFunction) else None
        self.is_rest = isinstance(made, Continuation)
        name = function.__name__
        self._facts: Sequence[Checked] = ()
        self._builds = -1
        self.forwards = stub(name, self.globals, self._first_call)
        self.pullback = stub(name, self.globals, self._first_call)
        rules_of[self.forwards] = rules_of[self.pullback] = weakref.ref(self)

    def _first_call(self, *arguments: Any) -> Any:
        self.build()
        return self.forwards(*arguments)

    def build(self, at_once: bool = False) -> None:
        """Make the code, if that has not been done; or let the rule be interpreted for a while, unless it is
        to have code `at_once`."""
        with paused(), self.engine.lock:  # a collection that was put off finds the lock free
            if not self.is_built:
                self.is_warm = self.is_warm or at_once
                with STACK.room():
                    self.engine.build(self)
                self.primal = None
            elif at_once and self.cold is not None and self.cold.warm is not None:
                self.engine.tiers.warm(self)

    def forget(self) -> None:
        """Give up the code, as if nothing had been built.

        Code leads to other rules, and to the functions that they differentiate, where the garbage collector
        does not look.
        """
        with self.engine.lock:
            self.is_built, self.graphs, self.records, self.stored = False, (), None, None
            self.cold = self.native = None
            self.late.clear()
            self.entrances.clear()
            for function in (self.forwards, self.pullback):
                fresh = stub(function.__name__, self.globals, self._first_call)
                function.__code__, function.__kwdefaults__ = fresh.__code__, fresh.__kwdefaults__

    def depend(self, callee: Derived, function: types.FunctionType) -> None:
        """Note that this rule calls `callee`, the rule of `function`."""
        self.needs.add(callee)
        self.entered[callee] = function
        if id(function) not in self.callees:  # it may not be found by a name: an argument, a default
            self.callees[id(function)] = NameFact({"callee": function}, ("callee",), function)

    def note(self, key: Any, fact: Fact) -> None:
        """Let this rule depend on `fact`; facts with the same key are the same."""
        if isinstance(fact, NameFact):
            self.name_facts[key] = fact
        else:
            self.class_facts[key] = fact

    def facts(self) -> Sequence[Checked]:
        """The facts that this rule and all that it calls depend on, as far as they have been built."""
        if self._builds != self.engine.builds:
            rules = self._reached()
            self._facts, self._builds = together(_facts_of(rules)), self.engine.builds
            self.warns = any(rule.computes_with_numpy for rule in rules)
        return self._facts

    def holds(self) -> bool:
        """Whether all facts that this rule and all that it calls depend on are true."""
        facts = self._facts if self._builds == self.engine.builds else self.facts()
        for fact in facts:  # noqa: SIM110  # quicker than a generator
            if not fact.holds():
                return False
        return True

    def goes_on(self) -> bool:
        """Whether this rule, of which some facts do not hold any more, is still what it was made for: it is
        interpreted, and functions of libraries, which it calls, have been given another code and nothing
        else.  The next call of these is looked up anew."""
        if self.cold is None:
            return False
        broken = [fact for fact in _facts_of(self._reached()) if not fact.holds()]
        inlined = {
            (place.qualname, place.filename)
            for value in self.cold.program.graph.instructions()
            for place in inlined_at(value.position)
        }
        return all(
            isinstance(fact, NameFact)
            and fact.is_of_code_alone()
            and (fact.value.__qualname__, fact.meaning[0].co_filename) not in inlined
            for fact in broken
        )

    def mend(self) -> list[str]:
        """Bind names to what they were bound to when this rule was built; the names, as messages say them."""
        broken = [
            fact for fact in _facts_of(self._reached()) if isinstance(fact, NameFact) and not fact.holds()
        ]
        for fact in broken:
            fact.mend()
        return list(map(str, broken))

    def _reached(self) -> Sequence[Derived]:
        """This rule and all that it calls directly, or that those call."""
        seen: dict[Derived, None] = {}
        waiting = [self]
        while waiting:
            rule = waiting.pop()
            if rule not in seen:
                seen[rule] = None
                waiting += rule.needs
        return list(seen)

    def __repr__(self) -> str:
        types_ = ", ".join(map(str, self.parameters))
        return f"<derived {self.mode} rule of {self.code.co_qualname}({types_})>"


def _facts_of(rules: Sequence[Derived]) -> Iterator[Fact]:
    for rule in rules:
        yield from rule.guards
        yield from rule.callees.values()


def stub(name: str, globals: dict[str, Any], first_call: Callable[..., Any]) -> types.FunctionType:
    """A function that hands its arguments to `first_call`, until it is given code of its own."""

    made = types.FunctionType(_STUB, globals, name)
    made.__kwdefaults__ = {"_first_call": first_call}
    return made


def _stub_code() -> types.CodeType:
    def code(*arguments: Any, _first_call: Any) -> Any:
        return _first_call(*arguments)

    return code.__code__


_STUB = _stub_code()

rules_of: weakref.WeakKeyDictionary[types.FunctionType, weakref.ref[Derived]] = weakref.WeakKeyDictionary()
"""By function of a rule, the rule."""


def written(function: types.FunctionType) -> bool:
    """Give `function`, which may be a stub, code that can be lifted, if it has none yet; whether it has that
    now.  Who differentiates derivatives asks."""
    if function.__code__ is not _STUB:
        return True
    make = getattr((function.__kwdefaults__ or {}).get("_first_call"), "make", None)
    rule = rule_of(function)
    if make is not None:
        make()
    elif rule is not None:
        rule.engine.tiers.show(rule)
    return function.__code__ is not _STUB


def rule_of(function: Any) -> Derived | None:
    """The rule that `function` is a part of, or was made to enter."""
    found = rules_of.get(function) if type(function) is types.FunctionType else None
    return None if found is None else found()


def install(function: types.FunctionType, made: Callable[..., Any]) -> None:
    """Let `function`, a stub, do what a backend has made."""
    if (
        is_function(made)
        and made.__globals__ is function.__globals__
        and not (made.__closure__ or made.__defaults__ or made.__kwdefaults__)
    ):
        function.__code__ = made.__code__
        function.__kwdefaults__ = None  # None means no defaults
    else:
        function.__kwdefaults__ = {"_first_call": made}
