"""Speculation: what was seen where, and the rest of a function for when a guess was wrong.

A `Site` is one call in one function for one list of parameter types; it remembers what its results
turned out to be.  A guess that failed once is replaced by what was seen; if that fails too, or differs
from time to time, there are no more guesses at this site.  Derived rules that were built on a guess that
has changed are stale: they stay right, and are built anew when something is next called from outside
(`lessons` says when that is worth while).

To leave a rule where a guess is wrong is deoptimisation, and the rest of the function is its side exit.
That is a `Continuation`: to the engine, one more function.  It is made when it is first
needed, from the function as it was before any guesses; in it the site that failed is not guessed at
again, so there are no more levels than sites.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir.continuation import rest_of
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _freevar_
from adbc.ir.sentinels import Sentinel
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.typed.guards import (
    Guess,
    Liveness,
    point_behind,
)
from adbc.runtime.build.lessons import MILESTONES, Lessons
from adbc.runtime.state.graph_functions import GraphFunction
from adbc.types.callables import Callables
from adbc.types.lattice import (
    ANY,
    FLOAT,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    is_float64,
    is_guessable_array,
)
from adbc.types.typeof import typeof

__all__ = [
    "Base",
    "Continuation",
    "Guesses",
    "Site",
    "Unchangeable",
    "cell_of",
    "guessable",
    "numbered",
    "tested_form",
]


Key = tuple[Any, ...]


class Site:
    """What the results of one call turned out to be."""

    __slots__ = ("callables", "gave_up", "guess", "lessons", "misses", "of", "reals", "seen")

    def __init__(self, lessons: Lessons, of: Key = ()) -> None:
        self.lessons = lessons
        self.of = of
        """The function, by code and address of the globals."""
        self.seen = 0
        """How often something was learnt, or seen again, since rules were built on what is known."""
        self.guess: Guess | None = None
        self.gave_up = False
        self.misses = 0
        self.callables = Callables()
        self.reals: tuple[Exact, ...] = ()
        """Which of Python's and NumPy's numbers of 64 bits values were."""

    def see(self, value: object) -> None:
        """Learn from `value`, which is not what was guessed, or of which nothing was guessed."""
        self.meet(value)
        self.note(None if self.gave_up else guessable(value))

    def meet(self, value: object) -> None:
        """Remember which function or class `value` is of, as long as these are few."""
        if self.callables.meet(value):
            self.lessons.add(self)

    def meet_number(self, seen: Guess | None) -> bool:
        """Remember that a value was of the type `seen`, if that is one of `reals`; whether it is new."""
        if not isinstance(seen, Exact) or seen in self.reals or not (seen == FLOAT or is_float64(seen)):
            return False
        self.reals += (seen,)
        return True

    def note(self, seen: Guess | None) -> None:
        """Learn that a value was of the type `seen`, None if that is not one to guess."""
        self.seen += 1
        if self.seen in MILESTONES:
            self.lessons.weigh(self)
        if self.meet_number(seen) and self.gave_up:
            self.lessons.add(self)
        if self.gave_up or (seen is not None and seen == self.guess):
            return
        if isinstance(seen, TupleType) and isinstance(self.guess, TupleType | Exact):
            if self.guess == _FORMLESS:
                return
            if isinstance(self.guess, TupleType):
                seen = common_form(self.guess, seen) or _FORMLESS
                if seen == self.guess:
                    return
        self.misses += 1
        self.guess = seen
        self.gave_up = seen is None or self.misses > 2
        self.lessons.add(self)

    def expect(self, seen: Guess | None) -> None:
        """Take for the first guess what all values have been so far; None if that is not one to guess."""
        if self.guess is None and not self.gave_up:
            self.guess, self.gave_up = seen, seen is None


class Names(Site):
    """What texts named attributes at one place, as long as these are few."""

    __slots__ = ("is_open", "texts")

    def __init__(self, lessons: Lessons, of: Key = ()) -> None:
        super().__init__(lessons, of)
        self.texts: list[str] = []
        self.is_open = True

    def see(self, value: object) -> None:
        """Learn that an attribute was named by `value`."""
        self.seen += 1
        if self.seen in MILESTONES:
            self.lessons.weigh(self)
        if not self.is_open or type(value) is not str or value in self.texts:
            return
        if len(self.texts) == _MOST_TEXTS:
            self.is_open = False
            self.texts.clear()
        else:
            self.texts.append(value)
        self.lessons.add(self)


_MOST_TEXTS = 12
"""Where attributes are named by more texts than these, they are found when they are asked for."""


class Guesses:
    """What one engine has learnt about the functions that it made rules for."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        """`Config.speculation`.  Whoever changes it in a test has the engine forget everything."""
        self.bases: dict[Key, Base] = {}
        self.sites: dict[Key, Site] = {}
        self.names: dict[Key, Names] = {}
        self.lessons = Lessons()
        self.caches = (self.bases, self.sites, self.names, *self.lessons.caches)

    def typeof(self, value: object) -> AbstractType:
        """The type that a rule for the argument `value` is made for."""
        return ANY if self.mode == "dynamic" else typeof(value)

    def site(self, key: Key) -> Site:
        """The site of this key: code, address of the globals, types of the parameters, number of the call."""
        found = self.sites.get(key)
        if found is None:
            found = self.sites[key] = Site(self.lessons, key[:2])
        return found

    def named(self, key: Key) -> Names:
        """What named attributes at the site of this key."""
        found = self.names.get(key)
        if found is None:
            found = self.names[key] = Names(self.lessons, key[:2])
        return found

    def base(self, code: types.CodeType, globals: dict[str, Any], primal: Callable[[], Graph]) -> Base:
        """The base of the function with this code; `primal` gives its graph, if there is none yet."""
        key = (code, id(globals))
        found = self.bases.get(key)
        if found is None:
            found = self.bases[key] = Base(primal())
        return found


_USELESS = frozenset(
    {types.NoneType, types.MethodType, types.FunctionType, types.BuiltinFunctionType, Sentinel}
)
"""Nothing becomes faster for knowing that a value is of one of these classes."""


class Unchangeable(Site):
    """A site for forced guesses: nothing is learnt."""

    __slots__ = ()

    def see(self, value: object) -> None:
        pass


def guessable(value: object) -> Guess | None:
    """The type that would be guessed where `value` was seen, if there is one."""
    known = typeof(value)
    if isinstance(known, ArrayType):
        return known if is_guessable_array(known) else None
    if isinstance(known, TupleType):
        return tested_form(known) or _FORMLESS
    return known if isinstance(known, Exact) and known.cls not in _USELESS else None


_FORMLESS = Exact(tuple)
"""What tuples are that are too long, or had different lengths at one place."""
_LONGEST, _DEEPEST = 8, 3
"""What is longer, or nested more deeply, is data: tuples are not guessed to have that form."""

_TESTED = frozenset({float, int, bool, str, bytes, complex, list, dict, set})
"""The classes that elements of tuples are tested for; what others are is asked where they are used."""


def tested_form(known: TupleType, depth: int = _DEEPEST) -> TupleType | None:
    """`known` with all forgotten that is not tested at once."""
    if len(known.elements) > _LONGEST:
        return None
    return TupleType(tuple([_tested_element(t, depth - 1) for t in known.elements]))


def _tested_element(known: AbstractType, depth: int) -> AbstractType:
    if isinstance(known, TupleType):
        return (tested_form(known, depth) if depth else None) or ANY
    if isinstance(known, ArrayType) and is_guessable_array(known):
        return ArrayType(known.dtype, known.ndim, known.cls)
    return known if type(known) is Exact and known.cls in _TESTED else ANY


def common_form(a: TupleType, b: TupleType) -> TupleType | None:
    """The form that tuples of both forms have; None if they differ in length."""
    if len(a.elements) != len(b.elements):
        return None
    return TupleType(tuple([_common(x, y) for x, y in zip(a.elements, b.elements, strict=True)]))


def _common(a: AbstractType, b: AbstractType) -> AbstractType:
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return common_form(a, b) or ANY
    return a if a == b else ANY


class Base:
    """A function in normal form into copies of which guesses are inserted: its cells are read at the
    beginning."""

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
        """The number of each call in the whole function, of which this may be a rest."""
        self.excluded = excluded
        self.root = root
        """The key of the whole function and its types, if this is a rest."""
        self.is_like_whole = False
        """Whether what is known of values of the whole function is true of this rest of it."""
        self.is_special = False
        """Whether functions were written in that only the types of parameters tell."""
        self.tested: frozenset[Value] = frozenset()
        """Reads that are tested already: nothing needs to be seen there."""
        self.early: list[Site] = []
        """The sites that said what some of these are tested for."""
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
            cell = cell_of(call)
            if cell >= 0:
                known = first.setdefault(cell, call)
                if known is not call:
                    replaced[call] = known
            else:
                kept.append(call)
        block.instructions = kept
    for call in first.values():
        call.block = graph.entry
    graph.entry.instructions[:0] = first.values()
    graph.replace_uses(replaced)


def cell_of(call: Instruction) -> int:
    """The number of the cell of the closure that `call` reads; -1 if it does something else."""
    callee = call.operands[0] if call.operands else None
    if not isinstance(callee, Const) or callee.value is not _freevar_:
        return -1
    index = call.operands[1]
    assert isinstance(index, Const)
    return index.value  # type: ignore[return-value]  # an int


def numbered(graph: Graph) -> dict[Instruction, int]:
    """The number that each call of a graph in normal form has in the base that is made of it."""
    first: dict[int, Instruction] = {}
    others = []
    for call in graph.instructions():
        cell = cell_of(call)
        if cell >= 0:
            first.setdefault(cell, call)
        else:
            others.append(call)
    return {call: k for k, call in enumerate([*first.values(), *others])}


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
    """The rest of a function from a point in it, of which `key` are the code, globals and parameters: a side
    exit, behind a call whose result was not what had been guessed, or what is left of a loop.

    call: that call, which is not guessed at again; None if no guess was wrong.
    """

    is_rest = True
    is_hot = False
    """Whether it is known to be run for long."""

    def __init__(
        self,
        base: Base,
        point: tuple[Block, int],
        globals: dict[str, Any],
        key: Any,
        call: Instruction | None = None,
    ) -> None:
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
    def behind(cls, base: Base, call: Instruction, globals: dict[str, Any], key: Any) -> Continuation:
        """The rest behind `call`, of whose result the guess was wrong."""
        point = point_behind(call)
        assert point is not None
        return cls(base, point, globals, key, call)

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
        """The rest as a base for guesses, made when it is first needed."""
        if self._base is None and self._make is not None:
            self._base = self._make().base
        if self._base is None:
            whole = self.whole
            rest = rest_of(whole.graph, *self.point, first=self.live)
            assert len(rest.live) == len(self.live), "a value is needed that was not live"
            roots = {copy: whole.roots[call] for call, copies in rest.copies.items() for copy in copies}
            failed = () if self.call is None else (whole.roots[self.call],)
            self._base = Base(rest.graph, roots, whole.excluded.union(failed), self.root)
            self._base.is_like_whole = self.is_hot
        return self._base

    @property
    def graph(self) -> Graph:  # type: ignore[override]  # made late
        return self.base.graph
