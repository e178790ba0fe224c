"""Store-to-load forwarding: what is known to be in fields of instances and in slots of lists and dicts, from
earlier reads and writes.

before::

    %1: float = call _assume_(%0, float)            # %0 was read from %self.x
    ...
    %2: None = call _setattr_(%self, 'x', %v)
    %3: Any = call _getattr_(%self, 'x')

after::

    %1: float = call _assume_(%0, float)
    ...
    %2: None = call _overwrite_field_(%self, 'x', %v, %1)
                                                     # and %v instead of %3

A read of what is known needs no test of its class and no way through the shadow, and a write that puts a
float in place of a float needs neither a look at what was there nor a rule.  The same is true where a value
without a derivative takes the place of one: a count, a flag, a text.

What is known is lost where anything could run that this module cannot see through.  A write to a field
says nothing of fields with other names; to a field of the same name, or to a list, of another object, it
may be a write to this one.  So it is with the items of dicts, of keys that are texts or whole numbers, of
which two that are written in the code are known to be different.  An item of a `defaultdict` is there once it
was read, whichever way it came (`present_items`).  Needs types; fields are those that `Knowledge.is_field`
calls plain.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Any

from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import forget_handler, is_idle
from adbc.ir.traverse import predecessors, remove_unreachable, reverse_postorder
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import (
    BOOL,
    FLOAT,
    INT,
    AbstractType,
    Exact,
    TupleType,
    class_of,
    is_bare,
    is_list,
    is_real,
)
from adbc.types.quiet_calls import HARMLESS, is_quiet

__all__ = ["is_kept_cell", "known_slots"]

Place = tuple[str, Value, object]
"""A field, an element, an item of a dict or what is in a cell: what kind of place, of which object, and its
name, index or key."""
Known = dict[Place, Value]

FIELD, ELEMENT, ITEM, CELL = "field", "element", "item", "cell"
_DICTS = (dict, defaultdict, Counter)
"""The classes of dicts whose items are read and written by C code."""

_TOUCHING = frozenset(
    map(
        id,
        (
            intrinsics._getattr_, intrinsics._setattr_, operator.getitem, operator.setitem,
            intrinsics._cell_get_, intrinsics._cell_set_,
        ),
    )
)  # fmt: skip
"""Functions that read or write a field, an element or a cell."""


def known_slots(
    graph: Graph,
    is_instances: Callable[[type, str], bool],
    is_field: Callable[[type, str], bool],
    is_method: Callable[[Instruction], bool],
    kept: Collection[int] = (),
) -> dict[Value, Value]:
    """Replace reads of fields and slots whose values are known, in place; gives the values, by read.

    `is_instances` says of the attributes of a class that they are fields of its instances, or objects of the
    class until these have one, `is_field` that they are fields.  `is_method` says of a call of `_getattr_`
    that it only looks up a method.  `kept`: the numbers of the free variables that nobody sets while the
    function runs.
    """
    return _KnownSlots(graph, is_instances, is_field, is_method, kept).run()


class _KnownSlots:
    def __init__(
        self,
        graph: Graph,
        is_instances: Callable[[type, str], bool],
        is_field: Callable[[type, str], bool],
        is_method: Callable[[Instruction], bool],
        kept: Collection[int],
    ) -> None:
        self.graph = graph
        self.kept = kept
        self.is_instances = is_instances
        self.is_field = is_field
        self.is_method = is_method
        self.places: dict[Instruction, Place] = {}

    def run(self) -> dict[Value, Value]:
        self.places = {
            i: place
            for block in self.graph.blocks
            for i in block.instructions
            if i.op == "call"
            and isinstance(callee := i.operands[0], Const)
            and id(callee.value) in _TOUCHING
            and (place := self._place(i))
        }
        first = {
            (FIELD, i.operands[1], _key(i.operands[2]))
            for i in self.graph.instructions()
            if i.op == "call" and _is_call_of(i, intrinsics._init_field_)
        }
        if len(self.places) == len(set(self.places.values())) and first.isdisjoint(self.places.values()):
            return {}  # no place is touched twice
        order = reverse_postorder(self.graph)
        # What does nothing to what is known need not be looked at in every round.
        steps = {block: [i for i in block.instructions if self._matters(i)] for block in order}
        sources = predecessors(self.graph)
        handlers = {block.handler for block in order}
        before: dict[Block, Known] = {}
        behind: dict[Block, Known] = {}
        changed = True
        while changed:
            changed = False
            for block in order:
                if block in handlers or block is self.graph.entry:
                    known: Known = {}
                else:
                    known = _common(block, [(s, behind[s]) for s in sources[block] if s in behind])
                before[block] = dict(known)
                for instruction in steps[block]:
                    self._step(instruction, known)
                if behind.get(block) != known:
                    behind[block] = known
                    changed = True
        replaced: dict[Value, Value] = {}
        for block in order:
            known = before[block]
            for instruction in steps[block]:
                place = self.places.get(instruction)
                present = None if place is None else known.get(place)
                if present is not None:
                    if _is_read(instruction):
                        replaced[instruction] = present
                    elif self._is_overwritten(place):
                        _overwrite(instruction, present)
                self._step(instruction, known)
        return self._replace(replaced)

    def _replace(self, replaced: dict[Value, Value]) -> dict[Value, Value]:
        """Take the reads that were `replaced` out of the graph."""
        for read, value in replaced.items():
            while value in replaced:  # a read is known by an earlier one
                value = replaced[value]
            replaced[read] = value
        self.graph.replace_uses(replaced)
        unhandled = False
        for read in replaced:
            assert isinstance(read, Instruction) and read.block is not None
            block = read.block
            block.instructions.remove(read)
            if block.handler is not None and is_idle(block):
                forget_handler(block)
                unhandled = True
        if unhandled:
            remove_unreachable(self.graph)
        return replaced

    # -- places ----------------------------------------------------------------------------------------

    def _place(self, instruction: Instruction) -> Place | None:
        """What a call of one of `_TOUCHING` reads or writes, if it is a place that we keep an eye on."""
        if len(instruction.operands) < 3 or instruction.keywords:
            return None
        callee, obj, key = instruction.operands[:3]
        function = callee.value  # type: ignore[attr-defined]  # a Const
        if function is intrinsics._cell_get_ or function is intrinsics._cell_set_:
            return CELL, obj, None
        if function is intrinsics._getattr_ or function is intrinsics._setattr_:
            kind = type_of(obj)
            if not isinstance(kind, Exact) or not isinstance(key, Const) or not isinstance(key.value, str):
                return None
            return (FIELD, obj, key.value) if self.is_instances(kind.cls, key.value) else None
        if is_list(type_of(obj)) and type_of(key) == INT:
            return ELEMENT, obj, _key(key)
        if class_of(type_of(obj)) in _DICTS and _is_plain_key(type_of(key)):
            return ITEM, _unassumed(obj), _key(key)
        return None

    def _is_overwritten(self, place: Place | None) -> bool:
        """Whether a write at `place` replaces what is read there: an instance may get a field of its own
        beside what the class has."""
        if place is None or place[0] != FIELD:
            return place is not None and place[0] != CELL
        _, obj, name = place
        known = type_of(obj)
        return isinstance(known, Exact) and isinstance(name, str) and self.is_field(known.cls, name)

    # -- what an instruction does to what is known -----------------------------------------------------

    def _matters(self, instruction: Instruction) -> bool:
        """Whether `_step` would do something for `instruction`."""
        if instruction.op != "call" or instruction in self.places:
            return True
        callee, *arguments = instruction.operands
        function = callee.value if isinstance(callee, Const) else None
        return function is intrinsics._assume_ or not self._is_harmless(function, instruction, arguments)

    def _step(self, instruction: Instruction, known: Known) -> None:
        place = self.places.get(instruction)
        if place is not None:
            if _is_read(instruction):
                if place in known or place[0] != ITEM or self._is_there(instruction, known):
                    known.setdefault(place, instruction)
            else:
                _forget_aliases(known, place)
                known[place] = instruction.operands[2 if place[0] == CELL else 3]
            return
        if instruction.op != "call":
            self._lose(known)
            return
        callee, *arguments = instruction.operands
        function = callee.value if isinstance(callee, Const) else None
        if function is intrinsics._init_field_:
            known[FIELD, arguments[0], _key(arguments[1])] = arguments[2]  # of an object that nobody else has
        elif function is intrinsics._overwrite_field_:
            place = FIELD, arguments[0], _key(arguments[1])
            _forget_aliases(known, place)
            known[place] = arguments[2]
        elif function is intrinsics._overwrite_item_:
            of_dict = class_of(type_of(arguments[0])) in _DICTS
            place = ITEM if of_dict else ELEMENT, _unassumed(arguments[0]), _key(arguments[1])
            _forget_aliases(known, place)
            known[place] = arguments[2]
        elif function is intrinsics._assume_:
            for at, value in known.items():
                if value is arguments[0]:
                    known[at] = instruction  # the same, and its type is known
        elif is_quiet(instruction, self.is_instances):
            # Only functions in Python set cells, and fields too, but where they are the items of a dict.
            is_of_dict = function is operator.setitem and class_of(type_of(arguments[0])) is dict
            _keep(known, lambda place: place[0] == CELL or (place[0] == FIELD and not is_of_dict))
        else:
            self._lose(known)

    def _is_there(self, read: Instruction, known: Known) -> bool:
        """Whether what `read` gives, an item that nothing was known of, is in the dict from then on.  Where
        it is missing, code may run that makes it."""
        cls = class_of(type_of(read.operands[1]))
        if cls is not dict:
            self._lose(known)
        return cls is not Counter

    def _lose(self, known: Known) -> None:
        """Forget what may have changed where anything could run."""
        _keep(known, lambda place: place[0] == CELL and is_kept_cell(place[1], self.kept))

    def _is_harmless(self, function: Any, instruction: Instruction, arguments: list[Value]) -> bool:
        if id(function) in HARMLESS:
            return True
        if function is intrinsics._foreigncall_:
            function = arguments[0].value if isinstance(arguments[0], Const) else None
            arguments = arguments[1:]
        if is_builtin_function(function) or function in (abs, range, float, int):
            return all(_is_number(type_of(a)) for a in arguments)
        if function is dict.__contains__:
            return class_of(type_of(arguments[0])) in _DICTS and _is_plain_key(type_of(arguments[1]))
        if function is intrinsics._new_:
            return isinstance(arguments[0], Const) and arguments[0].value in (tuple, list, slice)
        if function is intrinsics._iter_ or function is intrinsics._next_:
            source = arguments[0]
            if isinstance(source, Instruction) and function is intrinsics._next_:
                source = source.operands[-1]
            return type_of(source) == Exact(range)
        return function is intrinsics._getattr_ and self.is_method(instruction)


def is_kept_cell(cell: Value, kept: Collection[int]) -> bool:
    """Whether `cell` is that of a free variable whose number is among `kept`."""
    return target(cell) is intrinsics._freevar_ and constant(cell.operands[1]) in kept  # type: ignore[attr-defined]


def _keep(known: Known, is_kept: Callable[[Place], bool]) -> None:
    for place in [place for place in known if not is_kept(place)]:
        del known[place]


def _is_call_of(call: Instruction, function: object) -> bool:
    callee = call.operands[0]
    return isinstance(callee, Const) and callee.value is function


def _key(value: Value) -> object:
    return value.value if isinstance(value, Const) else value


def _is_number(type: AbstractType) -> bool:
    return is_real(type) or type == BOOL


def _is_read(instruction: Instruction) -> bool:
    callee = instruction.operands[0]
    return isinstance(callee, Const) and (
        callee.value is intrinsics._getattr_
        or callee.value is operator.getitem
        or callee.value is intrinsics._cell_get_
    )


def _forget_aliases(known: Known, place: Place) -> None:
    """Forget what is known of the places that a write to `place` may change."""
    for other in [p for p in known if _may_be(place, p)]:
        del known[other]


def _may_be(place: Place, other: Place) -> bool:
    """Whether two places may be one: an item of a dict may be a field, too."""
    kind, _, key = place
    if kind != other[0]:
        return {kind, other[0]} == {FIELD, ITEM} and _may_be_equal(key, other[2])
    if kind == FIELD:
        return bool(key == other[2])
    return kind != ITEM or _may_be_equal(key, other[2])


def _may_be_equal(key: object, other: object) -> bool:
    """Whether two names or keys may be equal: those that are computed may be any."""
    return isinstance(key, Value) or isinstance(other, Value) or bool(key == other)


def _is_plain_key(known: AbstractType) -> bool:
    """Whether keys of this type are hashed and compared by C code, and have no derivative."""
    if isinstance(known, TupleType):
        return all(map(_is_plain_key, known.elements))
    return class_of(known) in _PLAIN_KEYS


_PLAIN_KEYS = (str, int, bool)


def _unassumed(obj: Value) -> Value:
    """The object that `obj` is, of which more may be assumed."""
    while target(obj) is intrinsics._assume_:
        obj = obj.operands[1]  # type: ignore[attr-defined]  # a call
    return obj


def _common(block: Block, states: list[tuple[Block, Known]]) -> Known:
    """What is known in all `states`, those behind the predecessors of `block`, where they come together: an
    item that differs is known by the phi that chooses."""
    if not states:
        return {}
    (source, first), *rest = states
    found = {}
    for place, value in first.items():
        others = [(s, state.get(place)) for s, state in rest]
        if all(other is value for _, other in others):
            found[place] = value
        elif place[0] == ITEM and all(other is not None for _, other in others):
            phi = _chosen(block, [(source, value), *others])
            if phi is not None:
                found[place] = phi
    return found


def _chosen(block: Block, values: Sequence[tuple[Block, Value | None]]) -> Value | None:
    """The phi of `block` that is one of `values` by the predecessor; None if there is none."""
    for phi in block.phis:
        if len(phi.operands) == len(values) and all(
            _is_same(phi.operands.get(source), value) for source, value in values
        ):
            return phi
    return None


def _is_same(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one, or the same number."""
    if one is other:
        return True
    if not isinstance(one, Const) or not isinstance(other, Const):
        return False
    return type(one.value) is type(other.value) is float and one.value == other.value


def _overwrite(write: Instruction, present: Value) -> None:
    """Turn a write over `present` into one that names what it writes over, if both are floats, or neither has
    a derivative."""
    before, behind = type_of(present), type_of(write.operands[3])
    if before == behind == FLOAT or (is_bare(before) and is_bare(behind)):
        is_field = write.operands[0].value is intrinsics._setattr_  # type: ignore[attr-defined]  # a Const
        write.operands[0] = Const(intrinsics._overwrite_field_ if is_field else intrinsics._overwrite_item_)
        write.operands.append(present)
