"""Bases for parameters of known classes: what is called of these is known, and written in.

A base is the function in normal form into copies of which guesses are inserted.  Where the class of a
parameter says which functions methods, operators, properties and loops lead to, small ones are written in
before anything is guessed: then what they read can be guessed at like anything else in the function, and a
side exit leads into the middle of what was written in.

A generator that a method makes is written into the loop that consumes it.  An attribute of the object might
hide the method, so that is tested where the method is read, with a side exit like that of a guess.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from adbc import passes  # loaded when it is first used
from adbc.flags import HEAP_TYPE
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _getattr_, _iter_, _method_is_
from adbc.ir.traverse import copy_graph, uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.consumed_generators import consumed_generators
from adbc.passes.normal.dropped_generators import makes_generators
from adbc.passes.normal.inline_calls import inline_calls
from adbc.passes.normal.managers import managers
from adbc.passes.normal.step_edges import step_edges
from adbc.passes.query import constant, target, use_counts
from adbc.passes.typed.guards import behind_handlers, cut, point_behind
from adbc.runtime.build.consuming import Consuming
from adbc.runtime.build.graphs import Graphs
from adbc.runtime.build.knowledge import Knowledge
from adbc.runtime.build.managing import Managing, makes_managers
from adbc.runtime.build.speculation import Base, Continuation
from adbc.types import AbstractType
from adbc.types.inference import type_of
from adbc.types.lattice import Exact, inferred_type
from adbc.types.places import is_method

__all__ = ["SpecialBases"]

_ROUNDS = 3
"""How often at most calls of what was found in functions that were written in are looked for."""
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
        known = self.bases.get(key)
        notes = self.knowledge.notes
        if known is None or not notes.recall(("base", *key)):
            with notes.behind(("base", *key)):
                known = self.bases[key] = self._made(base, code, globals, parameters)
        return known

    def _made(
        self, base: Base, code: Any, globals: dict[str, Any], parameters: Sequence[AbstractType]
    ) -> Base:
        graph, copies, _ = copy_graph(base.graph)
        tested: set[Value] = set()
        key = (code, id(globals), tuple(parameters))
        types_ = tuple(map(inferred_type, parameters))
        lifting = self.graphs.lifting
        is_new = (code, id(globals)) not in lifting
        lifting.add((code, id(globals)))
        changed = False
        try:
            for _ in range(_ROUNDS):
                self.knowledge.infer(graph, types_)
                is_asked = self._iterate(graph, globals)
                if inline_calls(graph, functools.partial(self._small, graph)) or is_asked:
                    changed = True
                    continue
                loop = self._with_generator(graph, globals, base, copies, key, tested)
                if loop is None:
                    break
                graph, moved = loop
                copies = {value: moved.get(copy, copy) for value, copy in copies.items()}
                tested = {moved.get(read, read) for read in tested}
                changed = True
        finally:
            if is_new:
                lifting.discard((code, id(globals)))
        if not changed:
            return base
        made = _base(graph, base, copies)
        made.is_special = True
        made.tested = frozenset(tested)
        return made

    def _small(self, graph: Graph, call: Instruction) -> tuple[Graph, Sequence[Value]] | None:
        """What is written in for `call`: a small function that is given an instance of a known class."""
        if sum(len(block.instructions) for block in graph.blocks) > _ENOUGH:
            return None
        if not any(_is_instance(type_of(v)) for v in call.operands[1:] if not isinstance(v, Const)):
            return None
        return self.graphs.small_callee(graph, call)

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
            if not is_manager and not makes_generators(function.__code__):
                continue
            users = users or uses(graph)
            takers, block = users[call], read.block
            is_consumed = is_manager or (len(takers) == 1 and self._is_consumed(call, takers[0]))
            if users[read] != [call] or not is_consumed or block in handling or point_behind(read) is None:
                continue
            changed, moved, _ = copy_graph(graph)
            before, earlier, _ = copy_graph(graph)
            rest = Continuation.behind(
                _base(before, base, {v: earlier[c] for v, c in copies.items() if c in earlier}),
                earlier[read], globals, key,  # type: ignore[arg-type]  # an instruction, like `read`
            )  # fmt: skip
            back = {copy: moved[value] for value, copy in earlier.items()}
            made: Any = moved[call]
            _test_method(changed, moved[read], made, function, rest, [back[v] for v in rest.live])
            if is_manager:
                written = Managing(self.graphs, changed).manager(made)
                is_written = managers(changed, {made: written}.get)
            else:
                is_written = consumed_generators(changed, Consuming(self.graphs))
            if is_written and made not in set(changed.instructions()):
                passes.normalise(changed, globals)
                tested.add(read)
                return changed, moved
        return None

    def _is_consumed(self, made: Instruction, taker: object) -> bool:
        """Whether `taker` takes what the generator gives that `made` makes, and does nothing else with it."""
        if not isinstance(taker, Instruction) or made not in taker.operands:
            return False
        if target(taker) is _iter_:
            return True
        return bool(Consuming(self.graphs).consumer(taker, taker.operands.index(made)))

    # -- loops over instances ------------------------------------------------------------------------------

    def _iterate(self, graph: Graph, globals: dict[str, Any]) -> bool:
        """Ask instances of known classes for iterators by their functions; whether there were any."""
        changed = False
        uses = use_counts(graph)
        for block in graph.blocks:
            if block.handler is not None:
                continue
            for call in list(block.instructions):
                if target(call) is not _iter_:
                    continue
                source = call.operands[1]
                if target(source) is _foreigncall_ and constant(source.operands[1]) is iter:  # type: ignore[attr-defined]  # a call
                    # Not if something else takes elements from that iterator, or is done in between.
                    at = block.instructions.index(call)
                    is_next = bool(at) and block.instructions[at - 1] is source
                    if len(source.operands) == 3 and is_next and uses[source] == 1:  # type: ignore[attr-defined]
                        call.operands[1] = source.operands[2]  # type: ignore[attr-defined]
                        block.instructions.remove(source)  # type: ignore[arg-type]
                        changed = True
                    continue
                known = type_of(source)
                function = self._asked(known.cls) if isinstance(known, Exact) else None
                if function is None:
                    continue
                made = Instruction("call", [Const(function), source], position=call.position)
                made.block = block
                block.instructions.insert(block.instructions.index(call), made)
                call.operands[1] = made
                changed = True
        if changed and consumed_generators(graph, Consuming(self.graphs)):
            passes.normalise(graph, globals)
        return changed

    def _asked(self, cls: type) -> Any:
        """The function that instances of `cls` are asked for an iterator by, if what it gives is seen to be
        one: that of a generator, or of something else."""
        function = self.knowledge.special(cls, "__iter__")
        if function is None:
            return None
        if makes_generators(function.__code__):
            return function
        if self.knowledge.bind(function, 1, ()) is None:
            return None
        graph = self.graphs.primal(function)
        if len(graph.blocks) != 1:
            return None
        end = graph.entry.terminator.values[0]
        is_iterator = target(end) is _foreigncall_ and constant(end.operands[1]) is iter  # type: ignore[attr-defined]
        return function if is_iterator and len(end.operands) == 3 else None  # type: ignore[attr-defined]


def _is_instance(known: AbstractType) -> bool:
    return isinstance(known, Exact) and bool(known.cls.__flags__ & HEAP_TYPE)


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
