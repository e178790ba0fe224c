"""Speculation: what was seen where, and the rest of a function for when a guess was wrong.

A `Site` is one call in one function for one list of parameter types; it remembers what its results
turned out to be.  A guess that failed once is replaced by what was seen; if that fails too, or differs
from time to time, there are no more guesses at this site.  Derived rules that were built on a guess that
has changed are stale: they stay right, and are built anew when something is next called from outside.

The rest of a function is a `Continuation`: to the engine, one more function.  It is made when it is first
needed, from the function as it was before any guesses; in it the site that failed is not guessed at
again, so there are no more levels than sites.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.continuation import rest_of
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _format_, _freevar_, _getattr_
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.typed.guards import (
    Liveness,
    how_used,
    insert_guards,
    made_class,
    point_behind,
    watch_results,
)
from adbc.passes.typed.known_slots import known_slots
from adbc.passes.typed.list_loops import count_list_loops
from adbc.rules.kinds import RowKind
from adbc.runtime.state.graph_functions import GraphFunction
from adbc.types.callsites import is_method
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import FLOAT, INT, Exact, class_of, is_real
from adbc.types.typeof import typeof

__all__ = ["Base", "Continuation", "Site", "speculate"]

_DEPTH = 0
"""A function that has gone wrong at this many sites is not guessed at any more."""


class Site:
    """What the results of one call turned out to be."""

    __slots__ = ("gave_up", "guess", "misses", "stale")

    def __init__(self, stale: set[Site]) -> None:
        self.stale = stale
        self.guess: Exact | None = None
        self.gave_up = False
        self.misses = 0

    def see(self, value: object) -> None:
        """`value` is not what was guessed, or nothing was guessed."""
        seen = _guessable(value)
        if self.gave_up or (seen is not None and seen == self.guess):
            return
        self.misses += 1
        self.guess = seen
        self.gave_up = seen is None or self.misses > 2
        self.stale.add(self)


_USELESS = frozenset({types.NoneType, types.MethodType, types.FunctionType, types.BuiltinFunctionType})
"""Nothing becomes faster for knowing that a value is of one of these classes."""


class Unchangeable(Site):
    """A site for forced guesses: nothing is learnt."""

    __slots__ = ()

    def see(self, value: object) -> None:
        pass


def _guessable(value: object) -> Exact | None:
    known = typeof(value)
    return known if isinstance(known, Exact) and known.cls not in _USELESS else None


class Base:
    """A function in normal form as guesses are inserted into copies of it: its cells are read in front."""

    def __init__(
        self,
        graph: Graph,
        roots: dict[Instruction, int] | None = None,
        excluded: frozenset[int] = frozenset(),
        root: Any = None,
    ) -> None:
        if roots is None:
            graph, _, _ = copy_graph(graph)
            _hoist_cells(graph)
            roots = {call: k for k, call in enumerate(graph.instructions())}
        self.graph = graph
        self.roots = roots
        """The number of each call in the function that this is a rest of."""
        self.excluded = excluded
        self.root = root
        """The key of that function and its types, if this is a rest."""
        self._liveness: Liveness | None = None

    def live(self, block: Block, index: int) -> list[Value]:
        if self._liveness is None:
            self._liveness = Liveness(self.graph)
        return self._liveness.at(block, index)


def _hoist_cells(graph: Graph) -> None:
    """Read each cell of the closure once, at the beginning, so that a rest gets it as an argument."""
    first: dict[int, Instruction] = {}
    replaced: dict[Value, Value] = {}
    for block in graph.blocks:
        kept = []
        for call in block.instructions:
            callee = call.operands[0] if call.operands else None
            if isinstance(callee, Const) and callee.value is _freevar_:
                index = call.operands[1]
                assert isinstance(index, Const)
                known = first.setdefault(index.value, call)  # type: ignore[arg-type]  # an int
                if known is not call:
                    replaced[call] = known
            else:
                kept.append(call)
        block.instructions = kept
    for call in first.values():
        call.block = graph.entry
    graph.entry.instructions[:0] = first.values()
    graph.replace_uses(replaced)


class _Code:
    """What a code object says of a function, for a continuation."""

    co_freevars: tuple[str, ...] = ()
    co_flags = 0
    co_kwonlyargcount = 0

    def __init__(self, graph: Graph, live: Sequence[Value]) -> None:
        self.co_name = graph.qualname.rpartition(".")[2]
        self.co_qualname = graph.qualname
        self.co_filename = graph.filename
        self.co_firstlineno = graph.first_line
        self.co_argcount = self.co_posonlyargcount = len(live)
        self.co_varnames = tuple(f"v{i}" for i in range(len(live)))


class Continuation(GraphFunction):
    """The rest of a function behind one call, whose result was not what had been guessed."""

    def __init__(self, base: Base, call: Instruction, globals: dict[str, Any], key: Any) -> None:
        point = point_behind(call)
        assert point is not None
        self.root = base.root or key
        self.whole = base
        self.call = call
        self.point = point
        self.live = base.live(*point)
        self.__code__ = _Code(base.graph, self.live)  # type: ignore[assignment]  # as much as is asked of it
        self.__globals__ = globals
        self.__name__ = base.graph.name
        self.__qualname__ = base.graph.qualname
        self._plain = None
        self._base: Base | None = None
        self._make: Callable[[], Continuation] | None = None

    @classmethod
    def known_later(
        cls, code: types.CodeType, count: int, globals: dict[str, Any], make: Callable[[], Continuation]
    ) -> Continuation:
        """The rest of the function with this code, of `count` live values; `make` finds it when it is needed.

        For code from the cache on disk: mostly guesses are right, and nothing has to be lifted.
        """
        rest = cls.__new__(cls)
        graph = Graph(code.co_name)
        graph.qualname, graph.filename = code.co_qualname, code.co_filename
        graph.first_line = code.co_firstlineno
        rest.__code__ = _Code(graph, [graph.add_argument(f"v{k}") for k in range(count)])  # type: ignore[assignment]
        rest.__globals__ = globals
        rest.__name__, rest.__qualname__ = graph.name, graph.qualname
        rest._plain, rest._base, rest._make = None, None, make
        return rest

    @property
    def base(self) -> Base:
        """The rest, made when it is first needed."""
        if self._base is None and self._make is not None:
            self._base = self._make().base
        if self._base is None:
            whole = self.whole
            rest = rest_of(whole.graph, *self.point, first=self.live)
            assert len(rest.live) == len(self.live), "a value is needed that was not live"
            roots = {copy: whole.roots[call] for call, copies in rest.copies.items() for copy in copies}
            self._base = Base(rest.graph, roots, whole.excluded | {whole.roots[self.call]}, self.root)
        return self._base

    @property
    def graph(self) -> Graph:  # type: ignore[override]  # made late
        return self.base.graph


class _Policy:
    """What to guess in one copy of a base."""

    def __init__(
        self,
        engine: Any,
        key: Any,
        base: Base,
        globals: dict[str, Any],
        graph: Graph,
        originals: dict[Value, Value],
        copies: dict[Value, Value],
    ) -> None:
        self.engine = engine
        self.key = key
        self.base = base
        self.globals = globals
        self.originals = originals
        self.copies = copies
        self.used = how_used(graph, self._is_scalar)
        self.numbers = {call: k for k, call in enumerate(base.graph.instructions())}
        self.sites: list[Site] = []

    def _is_scalar(self, function: Any) -> bool:
        return any(row.kind is RowKind.SCALAR for row in self.engine.table.rows(function))

    def _is_open(self, call: Instruction) -> bool:
        original = self.originals.get(call)
        return original in self.base.roots and self.base.roots[original] not in self.base.excluded

    def site(self, call: Instruction) -> Site:
        if self.engine.speculation == "always":
            return Unchangeable(set())
        key = (*self.key, self.numbers[self.originals[call]])  # type: ignore[index]  # the original of a call
        site: Site | None = self.engine.sites.get(key)
        if site is None:
            site = self.engine.sites[key] = Site(self.engine.stale)
        return site

    def guess(self, call: Instruction) -> Exact | None:
        if not self._is_open(call):
            return None
        if self.engine.speculation == "always":
            return FLOAT
        site = self.site(call)
        self.sites.append(site)
        if site.gave_up or site.guess is not None:
            return None if site.gave_up else site.guess
        made = made_class(call)
        if made is not None:
            site.guess = Exact(made)
            return site.guess
        use = self.used(call)
        site.guess = (
            FLOAT
            if use == "number"
            else INT
            if use == "index"
            else Exact(list)
            if use == "container"
            else None
        )
        return site.guess

    def method(self, call: Instruction) -> Any:
        if not self._is_open(call) or not self.is_method_read(call):
            return None
        site = self.site(call)
        if site.gave_up:
            return None
        self.sites.append(site)
        return is_method(call, self.engine)

    def is_method_read(self, call: Instruction) -> bool:
        """Whether `call` reads an attribute that is only called, as methods are: there is nothing to be seen,
        it will be known with the class of its object."""
        callee = call.operands[0]
        if not isinstance(callee, Const) or callee.value is not _getattr_:
            return False
        original = self.originals[call]
        for block in self.base.graph.blocks:
            if original in block.terminator.values or any(
                original in phi.operands.values() for phi in block.phis
            ):
                return False
            if any(original in user.operands[1:] for user in block.instructions):
                return False
        return True

    def watch(self, call: Instruction) -> bool:
        if not self._is_open(call) or self.engine.speculation == "always" or self.is_method_read(call):
            return False
        site = self.site(call)
        return not site.gave_up and self.used(call) is not None

    def known_slots(self, graph: Graph) -> dict[Value, Value]:
        return known_slots(graph, self.engine.is_field, lambda call: is_method(call, self.engine) is not None)

    def rest(self, call: Instruction) -> tuple[Any, Sequence[Value]]:
        original: Any = self.originals[call]
        continuation = Continuation(self.base, original, self.globals, self.key)
        return continuation, [self.copies[v] for v in continuation.live]


class _Watching(_Policy):
    """In the rest of a function that was left for a wrong guess: nothing is guessed, but all is watched, so
    that the next version of the whole function knows more than what this guess should have been."""

    def site(self, call: Instruction) -> Site:
        key = (*self.base.root, self.base.roots[self.originals[call]])  # type: ignore[index]  # a call
        site: Site | None = self.engine.sites.get(key)
        if site is None:
            site = self.engine.sites[key] = Site(self.engine.stale)
        return site

    def watch(self, call: Instruction) -> bool:
        if self.originals.get(call) not in self.base.roots:
            return False
        return made_class(call) is not None or super().watch(call)


_SPELLING = frozenset(map(id, (_format_, format, repr, str, ascii, print, hash)))
"""What turns objects into text or numbers by running special methods of theirs, in C."""


def _runs_special_methods(graph: Graph) -> bool:
    """Whether code that adbc does not see may run: ``__repr__`` and its like, of objects of any class.

    It may change lists that are in use; dispatch notices that, inline loads would not.
    """
    for call in graph.instructions():
        if call.op != "call":
            continue
        callee, arguments = call_parts(call)
        if isinstance(callee, Const) and id(callee.value) in _SPELLING:
            for argument in arguments:
                cls = class_of(type_of(argument))
                if cls not in _SPELT_BY_C and not is_real(type_of(argument)):
                    return True
    return False


_SPELT_BY_C = frozenset({int, float, bool, str, bytes, complex, type(None), type})


def speculate(
    engine: Any, key: Any, base: Base, globals: dict[str, Any], infer: Any
) -> tuple[Graph, list[Site]]:
    """A typed copy of `base` with guesses, and the sites they were made at.  `infer(graph)` writes types."""
    graph, copies, _ = copy_graph(base.graph)
    if engine.speculation in ("never", "dynamic") or len(base.excluded) > (
        3 if engine.speculation == "always" else _DEPTH
    ):
        infer(graph)
        if engine.speculation == "learn" and not _runs_special_methods(graph):
            originals = {copy: value for value, copy in copies.items()}
            watch_results(graph, _Watching(engine, key, base, globals, graph, originals, copies))
        return graph, []
    infer(graph)
    if _runs_special_methods(graph):
        return graph, []
    originals = {copy: value for value, copy in copies.items()}
    policy = _Policy(engine, key, base, globals, graph, originals, copies)
    if insert_guards(graph, lambda: infer(graph), policy):
        infer(graph)
    while policy.known_slots(graph):
        infer(graph)
    if count_list_loops(graph):
        infer(graph)
    return graph, policy.sites
