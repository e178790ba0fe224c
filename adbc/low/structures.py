"""Rows for calls about structure: tuples, ranges, lists that are read, iterators, and what is saved."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.sentinels import Sentinel
from adbc.low import kinds
from adbc.low.emitter import Emitter, Refusal
from adbc.low.kinds import (
    Kind,
    Known,
    Links,
    ListIterator,
    ListValue,
    Maybe,
    Number,
    NumberKind,
    Played,
    Range,
    RangeIterator,
    TapeValue,
    Tuple,
    Value,
    Variant,
    built,
    kind_of,
    types,
)
from adbc.low.program import BOOL, F64, I64, Arena, Operand, Tape, type_of
from adbc.types.derived import TapeType, UnionType
from adbc.types.lattice import NONE, Exact

__all__ = ["STRUCTURES", "Structures"]

_MARKS = (None, intrinsics.BEGINNING)
_FAR, _INDEX = "a range with bounds of more than 61 bits", "an index out of range"


class Structures:
    """What rows about structure work with.

    formats: of each tape the kinds of what is on it, in the order of its formats, with the abstract types
    that values of it have in the graph; None for a mark.  nodes: of each arena the kind of its nodes.
    """

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.formats: dict[Tape, dict[Kind | None, list[Any]]] = {}
        self.nodes: dict[Arena, Kind] = {}
        self.place: Any = None
        """The instruction that is lowered."""
        self.tapes: dict[Any, Tape] = {}
        """By instruction that makes a list for records, the tape.  A function that is written in at several
        places has one there, because the pullbacks of its calls run in the opposite order."""
        self.arenas: dict[Any, Arena] = {}
        self.type: Any = None
        """The abstract type of the result that is asked for."""
        self.argument_types: Sequence[Any] = ()

    # -- tapes ---------------------------------------------------------------------------------------------

    def new_tape(self) -> Value:
        tape = self.tapes.get(self.place)
        if tape is None:
            tape = self.tapes[self.place] = self.emitter.tape()
            self.formats[tape] = {}
        return TapeValue(tape, self.emitter.height(tape))

    def arena(self, place: Any) -> Arena:
        """The arena for the nodes of a loop whose records are linked by the phi `place`."""
        if place not in self.arenas:
            self.arenas[place] = self.emitter.arena()
        return self.arenas[place]

    def push(self, tape: Tape, value: Value, type: Any) -> None:
        """Put one value on a tape."""
        is_mark = isinstance(value, Known) and any(value.value is mark for mark in _MARKS)
        kind = None if is_mark else kind_of(value)
        if kind is None and not is_mark:
            raise Refusal("what is saved is no number, nor a tuple of such")
        if isinstance(kind, kinds.OpaqueKind | kinds.NothingKind):
            raise Refusal("what is saved is no number, nor a tuple of such")
        known = self.formats[tape]
        if kind is not None and not types(kind):
            raise Refusal("an empty tuple is saved")
        if kind not in known:
            known[kind] = []
            tape.formats.append(() if kind is None else types(kind))
        if type not in known[kind]:
            known[kind].append(type)
        kept = () if kind is None else self.emitter.kept(value)
        self.emitter.about("push", tape, kept, format=list(known).index(kind))

    def _wanted(self, tape: Tape, type: Any) -> tuple[int, Kind]:
        """The format of what is taken off a tape, and its kind: the one that was put there with this type."""
        known = self.formats[tape]
        found = [kind for kind, of in known.items() if kind is not None and type in of]
        if not found:
            wanted = kinds.kind_of_type(type)
            found = [kind for kind in known if kind is not None and kind == wanted]
        if not found:
            found = [kind for kind in known if kind is not None]
        if len(found) != 1:
            raise Refusal("it is not known what was saved")
        return list(known).index(found[0]), found[0]

    def off(self, name: str, played: Played, type: Any) -> list[Any]:
        """What ``next``, ``take`` or ``pop`` gives of a tape: registers, then the kind of the value."""
        tape, base, why = played.tape, played.base, "what was saved is not there"
        format, kind = self._wanted(tape, type)
        gives = types(kind) if name == "pop" else (BOOL, *types(kind))
        found = self.emitter.about(name, tape, (base,), gives, format=format, reason=why)
        return [kind, *found]


def _record(s: Structures, tape: Value, *values: Value) -> Value:
    tape = s.emitter.present(tape)
    if not isinstance(tape, TapeValue):
        raise Refusal("a record on something that is no tape")
    for value, type in zip(values, s.argument_types[1:], strict=True):
        s.push(tape.tape, value, type)
    return Known(None)


def _reversed(s: Structures, tape: Value) -> Value:
    tape = s.emitter.present(tape)
    if not isinstance(tape, TapeValue):
        raise Refusal("`reversed`")
    if tape.end is not None:
        is_other = s.emitter.op("ine", s.emitter.height(tape.tape), tape.end)
        s.emitter.bail_if(is_other, "records that are not the last ones")
    return Played(tape.tape, tape.base)


def _recall(s: Structures, played: Value) -> Value:
    played = s.emitter.present(played)
    if not isinstance(played, Played):
        raise Refusal("a record of something that is no tape")
    marks = [of for of in _members(s.type) if of == NONE or of == Exact(Sentinel)]
    if not marks:
        kind, *found = s.off("pop", played, s.type)
        return built(kind, found)
    rest = [of for of in _members(s.type) if of not in marks]
    if len(marks) != 1 or len(rest) != 1:
        raise Refusal("it is not known what was saved")
    kind, absent, *found = s.off("take", played, rest[0])
    token = None if marks[0] == NONE else intrinsics.BEGINNING
    return Maybe(absent, built(kind, found), token)


def _members(type: Any) -> list[Any]:
    return sorted(type.members, key=str) if isinstance(type, UnionType) else [type]


# -- iterators ---------------------------------------------------------------------------------------------


def _range(s: Structures, *given: Value) -> Value:
    e = s.emitter
    numbers = [e.to_int(e.number(value)) for value in given]
    if len(numbers) == 1:
        return Range(0, numbers[0], 1)
    if not 2 <= len(numbers) <= 3:
        raise Refusal("a range of no bounds")
    step = numbers[2] if len(numbers) == 3 else 1
    if step == 0 or not isinstance(step, int):
        e.bail_if(e.op("ieq", step, 0), "a step of zero")
    return Range(numbers[0], numbers[1], step)


def _count(e: Emitter, r: Range) -> Operand:
    """How many elements a range has."""
    for bound in (r.start, r.stop, r.step):
        if not isinstance(bound, int):
            is_far = e.op("or", e.op("igt", bound, 2**61), e.op("ilt", bound, -(2**61)))
            e.bail_if(is_far, _FAR)
        elif abs(bound) > 2**61:
            raise Refusal(_FAR)
    far = e.op("isub", r.stop, r.start, reason=_FAR)
    if r.step == 1:
        count: Operand = far
    else:
        is_up = e.op("igt", r.step, 0)
        room = e.op("iselect", is_up, far, e.op("isub", 0, far, reason=_FAR))
        size = e.op("iselect", is_up, r.step, e.op("isub", 0, r.step, reason=_FAR))
        # Neither 0 nor -1: a step of zero has bailed out.
        less = e.op(
            "ifloordiv", e.op("isub", room, 1, reason=_FAR), e.op("iselect", e.op("ieq", size, 0), 1, size)
        )
        count = e.op("iadd", less, 1, reason=_FAR)
        count = e.op("iselect", e.op("ilt", room, 1), 0, count)
    return e.op("iselect", e.op("ilt", count, 0), 0, count)


def _iter(s: Structures, over: Value) -> Value:
    e = s.emitter
    over = e.present(over)
    if isinstance(over, RangeIterator | ListIterator):
        return over
    if isinstance(over, ListValue):
        return _list_iterator(s, over)
    if not isinstance(over, Range):
        raise Refusal("an iteration over something that is neither a range nor a list of floats")
    made = RangeIterator(e.slot(I64), e.slot(I64), e.slot(I64))
    e.set(made.left, _count(e, over))
    e.set(made.following, over.start)
    e.set(made.step, over.step)
    return made


def _list_iterator(s: Structures, over: Value) -> Value:
    if not isinstance(over, ListValue):
        raise Refusal("an iteration over something that is no list of floats")
    made = ListIterator(over.register, s.emitter.slot(I64))
    s.emitter.set(made.index, 0)
    return made


def _next(s: Structures, iterator: Value) -> Value:
    e = s.emitter
    iterator = e.present(iterator)
    if isinstance(iterator, RangeIterator):
        left, following = e.get(iterator.left), e.get(iterator.following)
        is_done = e.op("ieq", left, 0)
        # What comes behind the last one is nobody's; it does not overflow, for bounds have 61 bits.
        e.set(iterator.following, e.op("iadd", following, e.get(iterator.step), reason=_FAR))
        e.set(iterator.left, e.op("iselect", is_done, 0, e.op("isub", left, 1, reason=_FAR)))
        return Maybe(is_done, Number(following), intrinsics.EXHAUSTED)
    if isinstance(iterator, ListIterator):
        at = e.get(iterator.index)
        is_done = e.op("ige", at, e.op("length", iterator.register))
        e.set(iterator.index, e.op("iselect", is_done, at, e.op("iadd", at, 1, reason=_FAR)))
        return Maybe(is_done, _element(s, iterator, is_done, at), intrinsics.EXHAUSTED)
    if isinstance(iterator, Played):
        if isinstance(s.type, UnionType):
            raise Refusal("it is not known what was saved")
        kind, absent, *found = s.off("next", iterator, s.type)
        return Maybe(absent, built(kind, found), intrinsics.EXHAUSTED)
    raise Refusal("the next value of something that is no iterator over numbers")


def _element(s: Structures, iterator: ListIterator, is_done: Operand, at: Operand) -> Value:
    """The element at `at`; behind the end, one that is there if there are any."""
    e = s.emitter
    place = e.op("iselect", is_done, 0, at)
    return Number(*e.about("load", None, (iterator.register, place), (F64,)))


def _next_at(s: Structures, iterator: Value, values: Value, index: Value) -> Value:
    return _next(s, iterator)


def _exhausted(s: Structures, value: Value) -> Value:
    if isinstance(value, Maybe) and value.token is intrinsics.EXHAUSTED:
        return Number(value.absent)
    if isinstance(value, Number | Tuple | Range):
        return Known(False)
    raise Refusal("the end of something that is no iterator over numbers")


# -- tuples ------------------------------------------------------------------------------------------------


def _new(s: Structures, cls: Value, *given: Value) -> Value:
    made = cls.value if isinstance(cls, Known) else None
    if made is builtins.tuple:
        return Tuple(given)
    if made is builtins.list and not given and isinstance(s.type, TapeType):
        return s.new_tape()
    raise Refusal(f"a new {getattr(made, '__name__', 'object')}")


def _unpack(s: Structures, value: Value, count: Value) -> Value:
    e = s.emitter
    wanted = count.value if isinstance(count, Known) else None
    value = e.present(value)
    if isinstance(value, Variant):
        alike = [m for m in value.members if len(e.elements(m) or ()) == wanted]
        if len(alike) > 1:
            alike = [m for m in alike if kinds.agrees(kind_of(m) or kinds.NOTHING, s.type)]
        if len(alike) != 1:
            raise Refusal("a tuple of one of several forms")
        number = value.members.index(alike[0])
        e.bail_if(e.op("ine", value.tag, number), "a tuple of another form")
        value = alike[0]
    if isinstance(value, Links):
        fields = value.arena.fields
        found = e.about("fields", value.arena, (value.node,), fields, reason="what was saved is not there")
        value = built(s.nodes[value.arena], found)
    elements = e.elements(value)
    if elements is None:
        raise Refusal("what is unpacked is no tuple")
    if len(elements) != wanted:
        raise Refusal("what is unpacked is a tuple of another length")
    return Tuple(elements)


def _project(s: Structures, value: Value, place: Value) -> Value:
    e = s.emitter
    value = e.present(value)
    at = place.value if isinstance(place, Known) else None
    if type(at) is not int:
        raise Refusal("an element of a tuple at a place that is computed")
    if isinstance(value, Variant):
        found = [(e.elements(member) or ())[at] for member in value.members]
        if any(kind_of(x) != kind_of(found[0]) or not isinstance(kind_of(x), NumberKind) for x in found):
            raise Refusal("an element of a tuple of one of several forms")
        result = e.number(found[0])
        select = {F64: "fselect", I64: "iselect", BOOL: "bselect"}[type_of(result)]
        for number, other in enumerate(found[1:], 1):
            result = e.op(select, e.op("ieq", value.tag, number), e.number(other), result)
        return Number(result)
    elements = e.elements(value)
    if elements is None:
        raise Refusal("an element of something that is no tuple")
    if not -len(elements) <= at < len(elements):
        raise Refusal(_INDEX)
    return elements[at]


def _getitem(s: Structures, value: Value, place: Value) -> Value:
    e = s.emitter
    value = e.present(value)
    if not isinstance(value, ListValue):
        return _project(s, value, place)
    return Number(*e.about("load", None, (value.register, _index(e, value, place)), (F64,)))


def _index(e: Emitter, value: ListValue, place: Value) -> Operand:
    """The index of an element of a list, which is in range."""
    at = e.to_int(e.number(place))
    length = e.op("length", value.register)
    at = e.op("iselect", e.op("ilt", at, 0), e.op("iadd", at, length, reason=_INDEX), at)
    e.bail_if(e.op("or", e.op("ilt", at, 0), e.op("ige", at, length)), _INDEX)
    return at


def _setitem(s: Structures, value: Value, place: Value, x: Value) -> Value:
    e = s.emitter
    value = e.present(value)
    if not isinstance(value, ListValue) or not value.is_shadow:
        raise Refusal("something that is written to")
    number = e.number(x)
    if type_of(number) != F64:
        raise Refusal("a derivative that is no float")
    e.about("store", None, (value.register, _index(e, value, place), number))
    return Known(None)


def _or_else(s: Structures, value: Value, other: Value) -> Value:
    if isinstance(value, ListValue | Number | Tuple):
        return value
    raise Refusal("something that may be None")


def _len(s: Structures, value: Value) -> Value:
    e = s.emitter
    value = e.present(value)
    if isinstance(value, ListValue):
        return Number(e.op("length", value.register))
    if isinstance(value, Range):
        return Number(_count(e, value))
    elements = e.elements(value)
    if elements is None:
        raise Refusal("the length of something that is neither a tuple nor a list of floats")
    return Known(len(elements))


# -- what may be absent --------------------------------------------------------------------------------------


def _is(s: Structures, value: Value, other: Value) -> Value:
    if isinstance(value, Known) and isinstance(other, Known):
        return Known(value.value is other.value)
    if not isinstance(other, Known):
        value, other = other, value
    token = other.value if isinstance(other, Known) else value
    if isinstance(value, Links) and token is None:
        return Number(s.emitter.op("ieq", value.node, 0))
    if isinstance(value, Maybe) and value.token is token:
        return Number(value.absent)
    if token is None and isinstance(value, Number | Tuple | Range | TapeValue | Variant):
        return Known(False)
    raise Refusal("the identity of objects")


def _is_not(s: Structures, value: Value, other: Value) -> Value:
    found = _is(s, value, other)
    if isinstance(found, Known):
        return Known(not found.value)
    return Number(s.emitter.op("not", s.emitter.number(found)))


def _real(s: Structures, value: Value, nothing: Value) -> Value:
    return Known(0.0) if isinstance(value, Known) and value.value is None else value


def _class_is(s: Structures, value: Value, cls: Value) -> Value:
    classes = {F64: float, I64: int, BOOL: bool}
    kind = kind_of(value)
    if isinstance(kind, NumberKind) and isinstance(cls, Known):
        return Known(classes[kind.type] is cls.value)
    raise Refusal("a test for a class")


def _assume(s: Structures, value: Value, type: Value) -> Value:
    return value


def _is_raised(s: Structures, value: Value) -> Value:
    return Known(False)


STRUCTURES: dict[object, Callable[..., Value]] = {
    builtins.range: _range,
    builtins.len: _len,
    builtins.reversed: _reversed,
    operator.getitem: _getitem,
    operator.setitem: _setitem,
    operator.is_: _is,
    operator.is_not: _is_not,
    intrinsics._iter_: _iter,
    intrinsics._list_iterator_: _list_iterator,
    intrinsics._next_: _next,
    intrinsics._next_at_: _next_at,
    intrinsics._exhausted_: _exhausted,
    intrinsics._new_: _new,
    intrinsics._unpack_: _unpack,
    intrinsics._project_: _project,
    intrinsics._record_: _record,
    intrinsics._recall_: _recall,
    intrinsics._real_: _real,
    intrinsics._or_else_: _or_else,
    intrinsics._class_is_: _class_is,
    intrinsics._assume_: _assume,
    intrinsics._is_raised_: _is_raised,
}
"""By function, what writes operations for a call of it on values of any kind."""
