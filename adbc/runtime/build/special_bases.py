"""Bases for parameters of known classes: what is called of these is known, and written in.

A base is the function in normal form into copies of which guesses are inserted.  Where the class of a
parameter says which functions methods, operators, properties and loops lead to, small ones are written in
before anything is guessed: then what they read can be guessed at like anything else in the function, and a
side exit leads into the middle of what was written in.

A generator that a method makes is written into the loop that consumes it.  An attribute of the object might
hide the method, so that is tested where the method is read, with a side exit like that of a guess.

What is asked for an iterator may also be found in a field, a list or a variable of a closure.  Where that was
an instance of one class whenever it was seen, it is tested for that class here, and not only when all guesses
are inserted.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, TypeGuard

from adbc import passes  # loaded when it is first used
from adbc.flags import HEAP_TYPE
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import _foreigncall_, _getattr_, _iter_, _method_is_, _next_
from adbc.ir.traverse import copy_graph, uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.consumed_generators import consumed_generators
from adbc.passes.normal.dropped_generators import HOLDERS, makes_generators
from adbc.passes.normal.inline_calls import inline_calls
from adbc.passes.normal.managers import managers
from adbc.passes.normal.step_edges import step_edges
from adbc.passes.query import NOTHING, constant, target
from adbc.passes.typed.guards import behind_handlers, cut, guard, point_behind
from adbc.runtime.build.consuming import Consuming
from adbc.runtime.build.graphs import Graphs
from adbc.runtime.build.knowledge import Knowledge
from adbc.runtime.build.managing import Managing, makes_managers
from adbc.runtime.build.speculation import Base, Continuation, Site
from adbc.types import ANY, AbstractType
from adbc.types.inference import type_of
from adbc.types.lattice import Exact, class_of, inferred_type
from adbc.types.operators import length, stepped
from adbc.types.places import is_method

__all__ = ["SpecialBases"]

_ROUNDS = 20
"""How often at most calls of what was found in functions that were written in are looked for."""
_ASKING_LENGTHS = (list, tuple, sorted)
"""Functions that ask what they iterate over for its length too."""
_ASKING = (*_ASKING_LENGTHS, sum, min, max, any, all, set, frozenset, math.fsum, math.prod, *HOLDERS)
"""Functions in C that begin by asking for an iterator: a dict would be made of what has ``keys`` by these."""
_APPLYING = (filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.starmap)
"""Iterators in C that apply their first argument to what the second gives."""
_ENOUGH = 160
"""A function with more instructions than this has nothing written into it here."""


class SpecialBases:
    """The bases of one engine for parameters of known classes."""

    def __init__(self, graphs: Graphs, knowledge: Knowledge) -> None:
        self.graphs, self.knowledge = graphs, knowledge
        self.bases: dict[tuple[Any, ...], Base] = {}
        self.caches = (self.bases,)

    def find(
        self, base: Base, code: Any, globals: dict[str, Any], parameters: Sequence[AbstractType]
    ) -> Base:
        """The base of the function with this code for parameters of these types: `base`, if nothing is
        written into it."""
        if base.graph.namespace is not globals or base.graph.is_generator or not self.graphs.inlines:
            return base
        key = (code, id(globals), tuple(parameters))
        seen = self._seen(base, key)
        place = (*key, *[(number, site.guess) for number, site in seen.items()])
        known = self.bases.get(place)
        notes = self.knowledge.notes
        if known is None or not notes.recall(("base", *place)):
            with notes.behind(("base", *place)):
                known = self.bases[place] = self._made(base, key, globals, seen)
        return known

    def _seen(self, base: Base, key: tuple[Any, ...]) -> dict[int, Site]:
        """What turned out to be an instance of one class, of all that is iterated over in `base`, by the
        numbers of the calls that gave it."""
        found: dict[int, Site] = {}
        for number in base.roots.values():
            site = self.knowledge.guesses.sites.get((*key, number))
            if site is not None and not site.gave_up and _is_instance(site.guess):
                found[number] = site
        if not found:
            return found
        users = uses(base.graph)
        calls = {number: call for call, number in base.roots.items()}
        return {
            number: site
            for number, site in found.items()
            if _is_instance(site.guess) and self._is_walked(calls[number], site.guess.cls, users)
        }

    def _made(
        self, base: Base, key: tuple[Any, ...], globals: dict[str, Any], seen: Mapping[int, Site]
    ) -> Base:
        graph, copies, _ = copy_graph(base.graph)
        tested: set[Value] = set()
        early: list[Site] = []
        types_ = tuple(map(inferred_type, key[2]))
        lifting = self.graphs.lifting
        is_new = key[:2] not in lifting
        lifting.add(key[:2])
        changed = False
        try:
            for _ in range(_ROUNDS):
                self.knowledge.infer(graph, types_)
                is_asked = self._iterate(graph, globals)
                if inline_calls(graph, functools.partial(self._small, graph)) or is_asked:
                    changed = True
                    self._consume(graph, globals)  # what was written in may have made a generator
                    continue
                loop = self._with_generator(graph, globals, base, copies, key, tested)
                if loop is None:
                    loop = self._with_class(graph, globals, base, copies, key, tested, seen, early)
                if loop is None:
                    break
                graph, moved = loop
                copies = {value: moved.get(copy, copy) for value, copy in copies.items()}
                tested = {moved.get(read, read) for read in tested}
                changed = True
        finally:
            if is_new:
                lifting.discard(key[:2])
        if not changed:
            return base
        made = _base(graph, base, copies)
        made.is_special = True
        made.tested = frozenset(tested)
        made.early = early
        return made

    def _small(self, graph: Graph, call: Instruction) -> tuple[Graph, Sequence[Value]] | None:
        """What is written in for `call`: a small function that is given an instance of a known class."""
        if sum(len(block.instructions) for block in graph.blocks) > _ENOUGH:
            return None
        if not any(_is_instance(type_of(v)) for v in call.operands[1:] if not isinstance(v, Const)):
            return None
        return self.graphs.small_callee(graph, call)

    def _of_this(
        self, graph: Graph, made: Instruction, call: Instruction
    ) -> tuple[Graph, Sequence[Value]] | None:
        """What is written in for `call`, if that is `made`."""
        return self.graphs.small_callee(graph, call) if call is made else None

    # -- generators that methods make ----------------------------------------------------------------------

    def _with_generator(
        self,
        graph: Graph,
        globals: dict[str, Any],
        base: Base,
        copies: Mapping[Value, Value],
        key: tuple[Any, ...],
        tested: set[Value],
    ) -> tuple[Graph, dict[Value, Value]] | None:
        """A copy of `graph` in which one more generator, which a method of an instance of a known class
        makes, is written into its loop, and what became of the values; None if there is none.

        base, copies: what `graph` is a copy of.  The read of the method is added to those that are `tested`.
        """
        if sum(len(block.instructions) for block in graph.blocks) > _ENOUGH:
            return None
        users, handling = None, behind_handlers(graph)
        for call in list(graph.instructions()):
            read = call.operands[0] if call.op == "call" else None
            if not isinstance(read, Instruction) or target(read) is not _getattr_ or read in tested:
                continue
            function = is_method(read, self.knowledge)
            if type(function) is not FunctionType:
                continue
            is_manager = makes_managers(function)
            if not is_manager and not self._gives_iterators(function):
                continue
            users = users or uses(graph)
            takers, block = users[call], read.block
            is_consumed = is_manager or (len(takers) == 1 and self._is_consumed(call, takers[0]))
            if users[read] != [call] or not is_consumed or block in handling or point_behind(read) is None:
                continue
            changed, moved, rest, live = _copied_with_rest(graph, base, copies, read, globals, key)
            made: Any = moved[call]
            _test_method(changed, moved[read], made, function, rest, live)
            if is_manager:
                written = Managing(self.graphs, changed).manager(made)
                is_written = managers(changed, {made: written}.get)
            elif makes_generators(function.__code__):
                is_written = consumed_generators(changed, Consuming(self.graphs))
            else:
                is_written = inline_calls(changed, functools.partial(self._of_this, changed, made))
                consumed_generators(changed, Consuming(self.graphs))
            if is_written and made not in set(changed.instructions()):
                passes.normalise(changed, globals)
                tested.add(read)
                return changed, moved
        return None

    def _with_class(
        self,
        graph: Graph,
        globals: dict[str, Any],
        base: Base,
        copies: Mapping[Value, Value],
        key: tuple[Any, ...],
        tested: set[Value],
        seen: Mapping[int, Site],
        early: list[Site],
    ) -> tuple[Graph, dict[Value, Value]] | None:
        """A copy of `graph` in which one more value that was `seen` to be an instance of one class is tested
        for that, and what became of the values; None if there is none.

        base, copies: what `graph` is a copy of.  What gives the value is added to those that are `tested`,
        and its site to `early`.
        """
        if not seen or sum(len(block.instructions) for block in graph.blocks) > _ENOUGH:
            return None
        handling, present = behind_handlers(graph), set(graph.instructions())
        for original, number in base.roots.items():
            site, read = seen.get(number), copies.get(original)
            if site is None or site in early or not isinstance(read, Instruction) or read not in present:
                continue
            if read.block in handling or type_of(read) is not ANY or point_behind(read) is None:
                continue
            changed, moved, rest, live = _copied_with_rest(graph, base, copies, read, globals, key)
            call: Any = moved[read]
            place = point_behind(call)
            assert place is not None and site.guess is not None
            guard(changed, call, place, site.guess, _Exit(site, rest, live), {})
            tested.add(read)
            early.append(site)
            return changed, moved
        return None

    def _is_walked(self, read: Instruction, cls: type, users: Mapping[Value, Sequence[object]]) -> bool:
        """Whether `read`, if it is an instance of `cls`, is asked for an iterator, or for a method or
        property that gives one."""
        for user in users.get(read, ()):
            if not isinstance(user, Instruction):
                continue
            function = target(user)
            if function is _iter_ and self._asked(cls) is not None:
                return True
            if function is _getattr_:
                name = str(constant(user.operands[2]))
                member = self.knowledge.special(cls, name) or self.knowledge.accessor(cls, name, "get")
                if member is not None and self._gives_iterators(member):
                    return True
            if function is _foreigncall_ and user.operands.count(read) == 1:
                at = user.operands.index(read)
                if at > 1 and _asks(constant(user.operands[1]), at - 2) and self._may_be_asked(user, at, cls):
                    return True
        return False

    def _gives_iterators(self, function: FunctionType) -> bool:
        """Whether `function`, a method, makes a generator, or is seen to return an iterator."""
        if makes_generators(function.__code__):
            return True
        return not makes_managers(function) and self.knowledge.returns_iterators(function) == frozenset()

    def _is_consumed(self, made: Instruction, taker: object) -> bool:
        """Whether `taker` takes what the generator gives that `made` makes, and does nothing else with it."""
        if not isinstance(taker, Instruction) or made not in taker.operands:
            return False
        if target(taker) is _iter_ or target(taker) is _next_:
            return True
        return bool(Consuming(self.graphs).consumer(taker, taker.operands.index(made)))

    # -- loops over instances ------------------------------------------------------------------------------

    def _iterate(self, graph: Graph, globals: dict[str, Any]) -> bool:
        """Ask instances of known classes for iterators by their functions; whether there were any."""
        changed = False
        for block in graph.blocks:
            if block.handler is not None:
                continue
            for call in list(block.instructions):
                if target(call) is _next_:
                    changed = self._step(call) or changed
                    continue
                if target(call) is not _iter_:
                    changed = self._ask_for_consumer(block, call) or changed
                    continue
                source = call.operands[1]
                known = type_of(source)
                function = self._asked(known.cls) if isinstance(known, Exact) else None
                if function is None:
                    continue
                made = Instruction("call", [Const(function), source], position=call.position)
                made.block = block
                block.instructions.insert(block.instructions.index(call), made)
                call.operands[1] = made
                changed = True
        if changed:
            self._consume(graph, globals)
        return changed

    def _step(self, call: Instruction) -> bool:
        """Ask an iterator for its next value by its method, if it is an instance of a known class; whether it
        is."""
        known = type_of(call.operands[1])
        method = self.knowledge.special(known.cls, "__next__") if _is_instance(known) else None
        if method is None or makes_generators(method.__code__):
            return False
        call.operands = [Const(stepped), Const(method), call.operands[1]]
        return True

    def _ask_for_consumer(self, block: Block, call: Instruction) -> bool:
        """Ask for iterators what `call`, of a function in C, begins by asking for one; whether there was
        such an instance of a known class."""
        function = constant(call.operands[1]) if target(call) is _foreigncall_ else NOTHING
        changed = False
        for number in range(2, len(call.operands) - len(call.keywords)):
            if not _asks(function, number - 2):
                continue
            source = call.operands[number]
            known = type_of(source)
            if not _is_instance(known) or not self._may_be_asked(call, number, known.cls):
                if _is_instance(known) or class_of(known) is None:
                    break  # it may run code of its own when it is asked, which is before the next are
                continue
            asked = self._asked(known.cls)
            if target(source) is asked:
                continue  # what is its own iterator was asked for it
            steps = [Instruction("call", [Const(asked), source], position=call.position)]
            method = self.knowledge.special(known.cls, "__len__")
            if method is not None and any(function is of for of in _ASKING_LENGTHS):
                operands = [Const(length), Const(method), source]
                steps.append(Instruction("call", operands, position=call.position))
            at = block.instructions.index(call)
            block.instructions[at:at] = steps
            for step in steps:
                step.block = block
            call.operands[number] = steps[0]
            changed = True
        return changed

    def _may_be_asked(self, call: Instruction, number: int, cls: type) -> bool:
        """Whether operand `number` of `call`, of a function in C that begins by asking it for an iterator,
        may be asked in front of the call, if it is an instance of `cls`; what makes a list then asks it for
        its length."""
        if self._asked(cls) is None or call.operands.count(call.operands[number]) != 1:
            return False
        function = constant(call.operands[1])
        if any(function is holder for holder in HOLDERS):
            return True
        if any(function is of for of in _ASKING_LENGTHS):
            method, lacks = self.knowledge.special(cls, "__len__"), self.knowledge.lacks
            is_told = lacks(cls, "__len__") or (
                method is not None and self.knowledge.bind(method, 1, ()) is not None
            )
            if not is_told or not lacks(cls, "__length_hint__"):
                return False
        return bool(Consuming(self.graphs).consumer(call, number))

    def _consume(self, graph: Graph, globals: dict[str, Any]) -> None:
        """Write generators into the loops of `graph` that consume them."""
        if consumed_generators(graph, Consuming(self.graphs)):
            passes.normalise(graph, globals)

    def _asked(self, cls: type) -> Any:
        """The function that instances of `cls` are asked for an iterator by, if what it gives is seen to be
        one: that of a generator, or of something else."""
        function = self.knowledge.special(cls, "__iter__")
        if function is not None and makes_generators(function.__code__):
            return function
        return self.knowledge.asked_for_iterator(cls)


def _is_instance(known: AbstractType | None) -> TypeGuard[Exact]:
    return isinstance(known, Exact) and bool(known.cls.__flags__ & HEAP_TYPE)


def _asks(function: Any, number: int) -> bool:
    """Whether `function` in C begins by asking argument `number` for an iterator: `itertools.chain` does so
    when it comes to it."""
    if not any(function is of for of in _ASKING) or function is itertools.chain:
        return False
    if any(function is cls for cls in (zip, itertools.zip_longest, itertools.compress)):
        return True
    if function is map:
        return number > 0
    return number == (1 if any(function is cls for cls in _APPLYING) else 0)


class _Exit:
    """The way out of a test: the `rest` of the function, which is given `live`; what was met is learnt at
    `of`."""

    def __init__(self, of: Site, rest: Continuation, live: Sequence[Value]) -> None:
        self._site, self._rest, self._live = of, rest, live

    def site(self, call: Instruction) -> Site:
        return self._site

    def rest(self, call: Instruction) -> tuple[Continuation, Sequence[Value]]:
        return self._rest, self._live


def _base(graph: Graph, base: Base, copies: Mapping[Value, Value]) -> Base:
    """`graph`, made of a copy of `base`, as a base itself; `copies` says what became of the values."""
    step_edges(graph)
    present = set(graph.instructions())
    roots = {
        copy: number
        for copy, number in ((copies.get(original), number) for original, number in base.roots.items())
        if isinstance(copy, Instruction) and copy in present
    }
    following = len(base.roots)
    for call in graph.instructions():
        if call not in roots:
            roots[call] = following
            following += 1
    for block in graph.blocks:
        for value in (*block.phis, *block.instructions):
            value.type = None
    return Base(graph, roots)


def _copied_with_rest(
    graph: Graph,
    base: Base,
    copies: Mapping[Value, Value],
    read: Instruction,
    globals: dict[str, Any],
    key: tuple[Any, ...],
) -> tuple[Graph, dict[Value, Value], Continuation, list[Value]]:
    """A copy of `graph` to put a test behind `read` into, what became of the values, the rest of the function
    for when that fails, and the values of the copy that the rest is given."""
    changed, moved, _ = copy_graph(graph)
    before, earlier, _ = copy_graph(graph)
    again: Any = earlier[read]
    unchanged = _base(before, base, {v: earlier[c] for v, c in copies.items() if c in earlier})
    rest = Continuation.behind(unchanged, again, globals, key)
    back = {copy: moved[value] for value, copy in earlier.items()}
    return changed, moved, rest, [back[v] for v in rest.live]


def _test_method(
    graph: Graph, read: Any, call: Any, function: Any, rest: Continuation, live: Sequence[Value]
) -> None:
    """Let `call`, of the method that `read` reads, be one of `function`, if that is the method; else what is
    left is `rest`, which is given the values `live`."""
    place = point_behind(read)
    assert place is not None
    block, at = place
    known = cut(graph, block, at)
    builder = Builder(graph, block)
    builder.position = read.position
    test = builder.call(_method_is_, read, function, read.operands[1])
    otherwise = graph.add_block(f"{block.label}.otherwise")
    builder.branch(test, known, otherwise)
    builder.block = otherwise
    builder.ret(builder.call(rest, *live))
    call.operands[:1] = [Const(function), read.operands[1]]
