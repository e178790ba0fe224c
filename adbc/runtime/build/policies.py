"""What to guess in a copy of a function, and what only to watch."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from adbc.cpython.owners import kept_freevars
from adbc.flags import HEAP_TYPE
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _apply_, _dict_merge_, _getattr_, _list_to_tuple_, _takes_, _unpack_
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import target
from adbc.passes.typed.cell_reads import hoist_cell_reads
from adbc.passes.typed.guards import Guess, how_used, is_formless, made_class
from adbc.passes.typed.known_attributes import is_known_read
from adbc.passes.typed.known_slots import known_slots
from adbc.passes.typed.polymorphic_calls import Seen
from adbc.passes.typed.view_loops import is_step_by_entry, steps_taken_apart
from adbc.rules.kinds import RowKind
from adbc.runtime.build.knowledge import Knowledge
from adbc.runtime.build.speculation import Base, Continuation, Guesses, Names, Site, Unchangeable, tested_form
from adbc.types.callables import Callables
from adbc.types.inference import type_of
from adbc.types.lattice import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    members,
)
from adbc.types.places import method_front

__all__ = ["Policy", "Watching"]

Key = tuple[Any, ...]

_TAKING = {_takes_, _unpack_}
"""What is done with a tuple whose elements are unpacked."""


def _calls(user: Instruction, function: Value) -> bool:
    """Whether `user` calls `function`, and all it does beside is to name it if it fails."""
    if target(user) is _apply_:
        return function not in user.operands[2:]
    return target(user) is _dict_merge_ and function not in user.operands[1:3]


class Copied(Protocol):
    """The copy that is guessed in: `typed.Typing`."""

    knowledge: Knowledge
    guesses: Guesses
    base: Base
    key: Key
    globals: dict[str, Any]
    copies: dict[Value, Value]


class Policy:
    """What to guess in one copy of a base."""

    def __init__(self, copied: Copied, graph: Graph, originals: dict[Value, Value]) -> None:
        self.copied = copied
        self.knowledge, self.guesses, self.base = copied.knowledge, copied.guesses, copied.base
        self.originals = originals
        self.used = how_used(graph, self.is_scalar)
        is_whole = self.base.root is None or self.base.is_like_whole
        self.key = self.base.root if self.base.root is not None and is_whole else copied.key
        self.numbers = (
            self.base.roots
            if is_whole
            else {call: k for k, call in enumerate(self.base.graph.instructions())}
        )
        self.taken_apart = steps_taken_apart(graph)
        self.sites: list[Site] = []
        self.bound: dict[Value, Sequence[Value]] = {}
        """By the instruction that reads a method, the function that it is tested for, and what that is bound
        to."""

    def is_scalar(self, function: Any) -> bool:
        return any(row.kind is RowKind.SCALAR and row.is_of_floats for row in self.knowledge.rows(function))

    def _is_open(self, call: Instruction) -> bool:
        if is_known_read(call, self.knowledge):
            return False  # what it gives is called by its function
        if call in self.taken_apart and is_step_by_entry(call):
            return False  # `view_loops` gives each part a type of its own
        if is_formless(call) and self._is_only_spread(call):
            return False  # what was gathered for it is seen, and so is what is taken from it
        original = self.originals.get(call)
        if original in self.base.tested:
            return False
        return original in self.base.roots and self.base.roots[original] not in self.base.excluded

    def site(self, call: Instruction) -> Site:
        if self.guesses.mode == "always":
            return Unchangeable(self.guesses.lessons)
        return self.guesses.site((*self.key, self.numbers[self.originals[call]]))  # type: ignore[index]

    def guess(self, call: Instruction) -> Guess | None:
        if not self._is_open(call):
            return None
        if is_formless(call):
            return self._form(call)
        if self.guesses.mode == "always":
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
        site.guess = None if use is None else _BY_USE.get(use)
        return site.guess

    def _form(self, call: Instruction) -> TupleType | None:
        """The form that the result of `call`, a tuple, has had so far, or that of what stood in its place
        before: the state of a loop has one form mostly."""
        site = self.site(call)
        self.sites.append(site)
        if site.guess is None and not site.gave_up:
            site.guess = next((form for form in map(_state, self._merged_with(call)) if form), None)
        return site.guess if isinstance(site.guess, TupleType) and not site.gave_up else None

    def _is_only_spread(self, call: Instruction) -> bool:
        """Whether the elements of `call`, a tuple, are unpacked, or were gathered and are the arguments of a
        call, and nothing else is done with it."""
        assert call.block is not None
        users = {target(user) for user in call.block.graph.instructions() if call in user.operands}
        is_gathered = target(call) is _list_to_tuple_ and users == {_apply_}
        return (is_gathered or {_unpack_} <= users <= _TAKING) and not any(self._merged_with(call))

    def _merged_with(self, call: Instruction) -> Iterator[Value]:
        """The values that a phi has where it does not have `call`."""
        assert call.block is not None
        for block in call.block.graph.blocks:
            for phi in block.phis:
                if call in phi.operands.values():
                    yield from phi.operands.values()

    def method(self, call: Instruction) -> Sequence[Value] | None:
        if not self._is_open(call) or not self.is_method_read(call):
            return None
        site = self.site(call)
        if site.gave_up and site.misses:  # not because all that was seen so far were methods
            return None
        self.sites.append(site)
        found = method_front(call, self.knowledge)
        if found is not None:
            site.gave_up = False  # until this fails
            self.bound[call] = found
        return found

    def is_method_read(self, call: Instruction) -> bool:
        """Whether `call` reads an attribute that is only called, as methods are: nothing needs to be seen
        there, for the method is known with the class of its object."""
        callee = call.operands[0]
        if not isinstance(callee, Const) or callee.value is not _getattr_ or self._is_of_field(call):
            return False
        original = self.originals[call]
        for block in self.base.graph.blocks:
            if original in block.terminator.values or any(
                original in phi.operands.values() for phi in block.phis
            ):
                return False
            if any(
                original in user.operands[1:] for user in block.instructions if not _calls(user, original)
            ):
                return False
        return True

    def _is_of_field(self, read: Instruction) -> bool:
        """Whether `read` reads a field: what is in it, and may be called, has to be seen."""
        known, name = type_of(read.operands[1]), read.operands[2]
        if not isinstance(known, Exact) or not isinstance(name, Const):
            return False
        return self.knowledge.is_instances(known.cls, name.value)  # type: ignore[arg-type]  # a str

    def watch(self, call: Instruction) -> bool:
        if not self._is_open(call) or self.guesses.mode == "always" or self.is_method_read(call):
            return False
        site = self.site(call)
        return not site.gave_up and self.used(call) is not None

    def known_slots(self, graph: Graph) -> dict[Value, Value]:
        return known_slots(
            graph,
            self.knowledge.is_instances,
            self.knowledge.is_field,
            lambda call: method_front(call, self.knowledge) is not None,
            self.kept_freevars,
        )

    def hoist_cell_reads(self, graph: Graph) -> bool:
        return hoist_cell_reads(graph, self.knowledge.is_instances, self.kept_freevars)

    @functools.cached_property
    def kept_freevars(self) -> frozenset[int]:
        """The numbers of the free variables that nobody sets while the function runs.  A rule that is kept on
        disk is known by its own code: what the code around it does is not asked then."""
        if self.knowledge.kept is not None:
            return frozenset()
        return kept_freevars(self.copied.key[0], self.copied.globals, self.knowledge.written)

    def seen(self, value: Value) -> Seen | None:
        """What `value`, of unknown type, turned out to be where it is called or asked."""
        if self.guesses.mode != "learn":
            return None
        if isinstance(value, Phi):
            return self._seen_together(value)
        if not isinstance(value, Instruction) or not self._is_open(value):
            return None
        site = self.site(value)
        self.sites.append(site)
        return site

    def names(self, call: Instruction) -> Names | None:
        """What `call`, of an attribute that is named by a text which is not known, was given so far."""
        original = self.originals.get(call)
        if self.guesses.mode != "learn" or not isinstance(original, Instruction):
            return None
        if original not in self.base.roots or self.base.roots[original] in self.base.excluded:
            return None
        found = self.guesses.named((*self.key, self.numbers[original]))
        self.sites.append(found)
        return found

    def _seen_together(self, phi: Phi) -> Seen:
        """What all that may come to `phi` turned out to be."""
        found, waiting, met = _Together(), [phi], {phi}
        while waiting:
            for operand in waiting.pop().operands.values():
                known = type_of(operand)
                if isinstance(operand, Phi) and known is ANY:
                    if operand not in met:
                        met.add(operand)
                        waiting.append(operand)
                elif known is ANY:
                    if (of_operand := self.seen(operand)) is not None:
                        found.callables.adopt(of_operand.callables)
                        found.guess = found.guess or of_operand.guess
                        found.meet(of_operand.reals)
                elif (classes := members(known)) is not None:
                    found.meet([Exact(cls) for cls in classes if cls is not int])
                elif isinstance(known, Exact) and known.cls.__flags__ & HEAP_TYPE:
                    found.callables.add(known)
                elif isinstance(known, ArrayType | TupleType):
                    found.guess = known
        found.callables.is_open = False  # there is no place to look at more
        return found

    def method_of(self, read: Instruction) -> Sequence[Value] | None:
        """The function that the attribute `read` is expected to be, by the class of the object, and what it
        is bound to."""
        return method_front(read, self.knowledge)

    def rest(self, call: Instruction) -> tuple[Any, Sequence[Value]]:
        original: Any = self.originals[call]
        continuation = Continuation.behind(self.base, original, self.copied.globals, self.copied.key)
        return continuation, [self.copied.copies[v] for v in continuation.live]


def _state(value: Value) -> TupleType | None:
    """The form that tuples in the place of `value` are expected to have: numbers that are no floats now may
    be floats later."""
    known = type_of(value)
    if not isinstance(known, TupleType):
        return None
    return tested_form(TupleType(tuple([ANY if t in (INT, BOOL) else t for t in known.elements])))


_BY_USE = {"number": FLOAT, "index": INT, "container": Exact(list)}
"""What a value is guessed to be, by the way in which it is used (`guards.how_used`)."""


class _Together:
    """What several values turned out to be."""

    gave_up = True

    def __init__(self) -> None:
        self.callables = Callables()
        self.guess: AbstractType | None = None
        self.reals: tuple[Exact, ...] = ()

    def meet(self, reals: Iterable[Exact]) -> None:
        """Learn that one of the values was one of these kinds of numbers."""
        self.reals = tuple(dict.fromkeys((*self.reals, *reals)))


class Watching(Policy):
    """What is watched in the rest of a function that a side exit leads to, where nothing is guessed: the next
    version of the whole function then knows more than what the wrong guess should have been."""

    def site(self, call: Instruction) -> Site:
        return self.guesses.site((*self.base.root, self.base.roots[self.originals[call]]))  # type: ignore[index]

    def watch(self, call: Instruction) -> bool:
        if self.originals.get(call) not in self.base.roots:
            return False
        return made_class(call) is not None or super().watch(call)
