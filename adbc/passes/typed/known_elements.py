"""Short sequences of which the elements are known are taken apart where they are read.

before::

    %l: list = call _new_(list, %x, %y)                     # %x, %y: float
    %1: float = call _foreigncall_(math.fsum, %l)
    %2: Any = call operator.getitem(%l, -1)
    %3: Any = call operator.getitem(%l, %i)                 # %i: int
    %4: list = call _foreigncall_(sorted, %l)

after::

    %l: list = call _new_(list, %x, %y)
    %t: Tuple[float, float] = call _new_(tuple, %x, %y)
    %1: float = call fsum_of(%x, %y)
    %2: float = call _project_(%t, 1)
    %3: float = call element_at(%i, %x, %y)
    %r: Tuple[int, int] = call ranks_of(%x, %y)
    %i0: int = call _project_(%r, 0)
    %e0: float = call element_at(%i0, %x, %y)
    ...
    %4: list = call _new_(list, %e0, %e1)

The elements of a tuple are known by its type, those of a list while all that is done with it is to read it.
What functions of sequences of numbers do is said in terms of the elements by their rows (`Rule.elements`), so
that no derivative goes by way of a list.

What was there stays, as the rest of a function is given it where a guess is wrong, until all guesses have
been made.  Then `unread_displays` takes out lists that nobody reads any more; the rest is given one of its
own.  Needs types.
"""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Sequence
from typing import Any, Protocol

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _foreigncall_, _iter_, _new_, _next_, _not_contains_, _project_, _unpack_
from adbc.ir.traverse import uses
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import NOTHING, constant, drop, target
from adbc.records import record
from adbc.types.array_calls import is_inline_number
from adbc.types.inference import call_parts, is_rest, type_of
from adbc.types.keywords import deciding
from adbc.types.lattice import FLOAT, INT, LIST, AbstractType, Exact, TupleType, is_list, is_real, join_all

__all__ = ["ElementKnowledge", "iterate_over_tuples", "known_elements", "unread_displays"]

_LONGEST = 8
"""A sequence that is longer is data."""


class ElementKnowledge(Protocol):
    """What `known_elements` asks of the rest of the system."""

    def row(self, function: object, types: Sequence[AbstractType]) -> Any | None:
        """The rule of `function` for arguments of these types, if the types decide it."""


def known_elements(graph: Graph, knowledge: ElementKnowledge) -> bool:
    """Take known sequences apart where they are read, in place; returns whether anything changed."""
    if not any(map(_may_be_read, graph.instructions())):
        return False
    reading = _Reading(knowledge, uses(graph))
    for block in graph.blocks:
        for call in [*block.instructions]:
            if call.op == "call" and len(call.operands) > 1:
                reading.rewrite(call)
    return reading.is_changed


def iterate_over_tuples(graph: Graph, knowledge: ElementKnowledge) -> dict[Instruction, Value]:
    """Let loops over lists that are only read go over tuples of the same elements, in place; returns the
    lists, by the calls that make the iterators.

    Not if the rest of the function behind a wrong guess is given the list: it might change it there.
    """
    found: dict[Instruction, Value] = {}
    makers = [call for call in graph.instructions() if target(call) is _iter_]
    reading = _Reading(knowledge, uses(graph) if makers else {})
    for call in makers:
        source = call.operands[1]
        elements = reading.elements_of_list(source)
        users = reading.users.get(source, ())
        if elements and not any(isinstance(user, Instruction) and is_rest(user) for user in users):
            found[call] = source
            call.operands[1] = reading.as_tuple(source, elements)
    return found


def _may_be_read(call: Instruction) -> bool:
    """Whether `call` is given a short tuple, makes a list, or gives a tuple that is not known."""
    if target(call) is _new_:
        return constant(call.operands[1]) is list
    if call.op != "call":
        return False
    return type_of(call) == _TUPLE or any(isinstance(value.type, TupleType) for value in call.operands)


_TUPLE = Exact(tuple)


_READERS: frozenset[Any] = frozenset((
    operator.getitem, operator.contains, _not_contains_, _unpack_, len, sum, min, max, any, all, sorted, list,
    tuple,
))  # fmt: skip
"""Functions that keep nothing of a list, their first argument, but its elements, and change nothing in it."""


def _kind(value: Value) -> Any:
    """The class of a list or tuple, if it is known to be one; else None."""
    known = type_of(value)
    return list if is_list(known) else tuple if isinstance(known, TupleType) else None


@record(eq=False)
class _Reading:
    """How the sequences of a graph are read.

    users: who uses which value.  tuples: by list that is made, a tuple of its elements.
    """

    knowledge: ElementKnowledge
    users: dict[Value, list[Any]]
    tuples: dict[Value, Instruction] = dataclasses.field(default_factory=dict)
    is_changed: bool = False

    # -- what is known -------------------------------------------------------------------------------------

    def _elements(self, sequence: Value, call: Instruction) -> list[Value] | None:
        """The elements of a `sequence` that `call` reads, if they are known; those of a tuple are projected
        in front of it."""
        if isinstance(sequence, Const):
            value = sequence.value
            is_short = type(value) is tuple and len(value) <= _LONGEST
            return [Const(element) for element in value] if is_short else None  # type: ignore[attr-defined]
        if target(sequence) is _new_ and constant(sequence.operands[1]) is tuple:  # type: ignore[attr-defined]
            elements: list[Value] = sequence.operands[2:]  # type: ignore[attr-defined]
            return elements[:] if len(elements) <= _LONGEST else None
        if target(sequence) is _new_:
            return self.elements_of_list(sequence)
        known = type_of(sequence)
        if not isinstance(known, TupleType) or len(known.elements) > _LONGEST:
            return None
        return [
            self._put(call, [Const(_project_), sequence, Const(k)], element)
            for k, element in enumerate(known.elements)
        ]

    def elements_of_list(self, made: Value) -> list[Value] | None:
        """The elements of a list, if it is `made` here and is only read."""
        if target(made) is not _new_ or constant(made.operands[1]) is not list:  # type: ignore[attr-defined]
            return None
        elements: list[Value] = made.operands[2:]  # type: ignore[attr-defined]
        return elements[:] if len(elements) <= _LONGEST and self._is_only_read(made) else None

    def _is_only_read(self, made: Value) -> bool:
        """Whether nobody does anything with the list that is `made` but read it."""
        return all(
            isinstance(user, Instruction) and (is_rest(user) or self._reads(user, made))
            for user in self.users.get(made, ())
            if not isinstance(user, Instruction) or made in user.operands
        )

    def _reads(self, call: Instruction, sequence: Value) -> bool:
        if call.op != "call":
            return False
        callee, arguments = call_parts(call)
        function = constant(callee)
        if call.operands.count(sequence) != 1:
            return False
        positional = len(arguments) - len(call.keywords)
        if function is _iter_:
            return all(
                isinstance(user, Instruction) and (is_rest(user) or target(user) is _next_)
                for user in self.users.get(call, ())
            )
        if function is operator.add:
            return all(_kind(argument) is list for argument in arguments)
        if function is operator.mul:
            return any(type_of(argument) == INT for argument in arguments)
        if _is_in(function, _READERS):
            is_one = (function is not min and function is not max) or positional == 1
            return arguments[0] is sequence and is_one
        row = (
            self.knowledge.row(function, deciding([type_of(a) for a in arguments], call.keywords))
            if callee is not None
            else None
        )
        elements = getattr(row, "elements", None)
        return elements is not None and sequence in arguments[: elements.sequences]

    # -- what is written -----------------------------------------------------------------------------------

    def _put(self, call: Instruction, operands: list[Value], type: AbstractType | None) -> Instruction:
        """Put another call in front of `call`."""
        made = Instruction("call", operands, type=type, position=call.position)
        block = call.block
        assert block is not None
        made.block = block
        block.instructions.insert(block.instructions.index(call), made)
        return made

    def as_tuple(self, made: Value, elements: Sequence[Value]) -> Value:
        """A tuple of the elements of the list that is `made`."""
        if made not in self.tuples:
            assert isinstance(made, Instruction)
            known = TupleType(tuple(map(type_of, elements)))
            self.tuples[made] = self._put(made, [Const(_new_), Const(tuple), *elements], known)
        return self.tuples[made]

    def _become(self, call: Instruction, operands: list[Value], type: AbstractType | None) -> None:
        call.operands, call.keywords, call.type = operands, (), type
        self.is_changed = True

    def _become_display(self, call: Instruction, kind: Any, elements: Sequence[Value]) -> None:
        known = LIST if kind is list else TupleType(tuple(map(type_of, elements)))
        self._become(call, [Const(_new_), Const(kind), *elements], known)

    def rewrite(self, call: Instruction) -> None:
        """Say what `call` does in terms of elements, if it reads a known sequence."""
        callee, arguments = call_parts(call)
        function = constant(callee)
        if not arguments or function is _new_:
            return
        if type_of(call) == _TUPLE and all(is_real(type_of(argument)) for argument in arguments):
            self._in_parts(call, function, arguments)
            return
        if not any(map(_kind, arguments)):
            return
        first, count = arguments[0], len(arguments)
        if function is operator.getitem:
            self._subscript(call, first, arguments[1])
        elif function is operator.add or function is operator.mul:
            self._joined(call, function, *arguments)
        elif call.keywords or not _is_in(function, _WITH_ELEMENTS) or count != 1 + (function is _unpack_):
            self._of_elements(call, function, arguments)
        elif (elements := self._elements(first, call)) is None:
            return
        elif function is len:
            if not isinstance(first, Const):
                self._become(call, [*call.operands[:-1], Const((None,) * len(elements))], INT)
        elif function is _unpack_:
            if _kind(first) is list and constant(arguments[1]) == len(elements):
                self._become_display(call, tuple, elements)
        elif function is not tuple or _kind(first) is not tuple:
            self._become_display(call, function, elements)

    def _in_parts(self, call: Instruction, function: Any, arguments: list[Value]) -> None:
        """Let a function of numbers that gives a tuple be several, one for each element."""
        row = self.knowledge.row(function, [*map(type_of, arguments)])
        parts = () if row is None or call.keywords else row.splits
        if not parts or call.block is None or call.block.handler is not None:
            return
        if FLOAT in map(type_of, arguments):
            found = [self._put(call, [Const(part), *arguments], None) for part in parts]
            self._become_display(call, tuple, found)

    def _subscript(self, call: Instruction, sequence: Value, index: Value) -> None:
        place, kind = constant(index), _kind(sequence)
        if kind is None:
            return
        if target(index) is _new_ and constant(index.operands[1]) is slice:  # type: ignore[attr-defined]
            bounds = [*map(constant, index.operands[2:])]  # type: ignore[attr-defined]
            place = slice(*bounds)
        if type(place) is slice and not _is_plain(place):
            return
        is_any = place is NOTHING and type_of(index) == INT and call.block.handler is None  # type: ignore[union-attr]
        if not (is_any or type(place) is slice or (type(place) is int and kind is list)):
            return
        if isinstance(sequence, Const) and place is NOTHING:
            return  # a table of constants
        elements = self._elements(sequence, call)
        if elements is None:
            return
        if type(place) is slice:
            self._become_display(call, kind, elements[place])
        elif type(place) is int:
            if -len(elements) <= place < len(elements):
                place %= len(elements)
                whole = self.as_tuple(sequence, elements)
                self._become(call, [Const(_project_), whole, Const(place)], type_of(elements[place]))
        elif elements and all(is_inline_number(type_of(element)) for element in elements):
            row = self.knowledge.row(operator.getitem, [type_of(sequence), INT])
            found = getattr(row, "elements", None)
            if found is not None and found.element is not None:
                self._become(call, [Const(found.element), index, *elements], None)

    def _joined(self, call: Instruction, function: Any, one: Value, other: Value) -> None:
        """Say what ``one + other`` or ``one * other`` is in terms of elements."""
        if function is operator.add:
            kind = _kind(one)
            if kind is None or _kind(other) is not kind:
                return
            first, second = self._elements(one, call), self._elements(other, call)
            if first is not None and second is not None and len(first) + len(second) <= _LONGEST:
                self._become_display(call, kind, [*first, *second])
            return
        if _kind(one) is None:
            one, other = other, one
        times = constant(other)
        if type(times) is int and 0 <= times <= _LONGEST and _kind(one) is not None:
            elements = self._elements(one, call)
            if elements is not None and len(elements) * times <= _LONGEST:
                self._become_display(call, _kind(one), elements * times)

    def _of_elements(self, call: Instruction, function: Any, arguments: list[Value]) -> None:
        """Let `call`, that of a function of sequences of numbers, be one of numbers."""
        positional = arguments[: len(arguments) - len(call.keywords)]
        row = self.knowledge.row(function, deciding([type_of(a) for a in arguments], call.keywords))
        found = getattr(row, "elements", None)
        if found is None or len(positional) < found.sequences:
            return
        others = [*positional[found.sequences :]]
        options = dict(zip(call.keywords, arguments[len(positional) :], strict=True))
        is_falling = constant(options.pop("reverse", Const(False))) if found.ranks is not None else False
        if found.start is not None:
            name, default = found.start
            others = others or [options.pop(name, Const(default))]
            if not is_inline_number(type_of(others[0])):
                return
        if options or len(others) != (found.start is not None) or type(is_falling) is not bool:
            return
        parts = [self._elements(sequence, call) for sequence in positional[: found.sequences]]
        if None in parts or len({len(part) for part in parts}) != 1 or not parts[0]:  # type: ignore[arg-type]
            return
        elements = [element for part in parts for element in part]  # type: ignore[union-attr]
        if not all(is_inline_number(type_of(element)) for element in elements):
            return
        if found.step is None and found.ranks is None:
            self._become(call, [Const(found.function), *others, *elements], call.type)
        elif call.block is None or call.block.handler is not None:
            return
        elif found.step is not None:
            self._join(call, found, [*others, *elements])
        else:
            self._rank(call, found.falling if is_falling else found.ranks, found.element, elements)

    def _join(self, call: Instruction, found: Any, values: list[Value]) -> None:
        """Let `call` join `values`, the first few first."""
        called = [Const(found.step)]
        if target(call) is _foreigncall_ and len(values) > 1:
            while len(values) > found.most:
                values[: found.most] = [self._put(call, [*called, *values[: found.most]], None)]
            self._become(call, [*called, *values], None)

    def _rank(self, call: Instruction, ranks: Any, element: Any, elements: list[Value]) -> None:
        """Let `call` be a list of the elements, each found by its rank."""
        count = len(elements)
        order = self._put(call, [Const(ranks), *elements], TupleType((INT,) * count))
        known = join_all(map(type_of, elements))
        chosen = []
        for k in range(count):
            place = self._put(call, [Const(_project_), order, Const(k)], INT)
            chosen.append(self._put(call, [Const(element), place, *elements], known))
        self._become_display(call, list, chosen)


_WITH_ELEMENTS: frozenset[Any] = frozenset((len, list, tuple, _unpack_))
"""Functions that give what is known when the elements are, whatever these are."""


def _is_plain(place: slice) -> bool:
    """Whether a slice has bounds that are ints, as far as it has any, and can be taken."""
    bounds = (place.start, place.stop, place.step)
    return all(bound is None or type(bound) is int for bound in bounds) and place.step != 0


def _is_in(function: Any, functions: frozenset[Any]) -> bool:
    try:
        return function in functions
    except TypeError:  # it cannot be hashed
        return False


def unread_displays(graph: Graph, knowledge: ElementKnowledge) -> bool:
    """Take out lists and elements that nobody uses but the rest of the function behind a wrong guess, in
    place; returns whether there were any."""
    changed = False
    while True:
        users = uses(graph)
        gone: set[Instruction] = set()
        instead: dict[Value, Value] = {}
        for call in [*graph.instructions()]:
            kind = _removable(call, knowledge)
            if kind is None:
                continue
            left = users.get(call, [])
            rests = {user for user in left if isinstance(user, Instruction) and is_rest(user)}
            is_left = kind is list and len(rests) == len(left)
            found = _known(call)
            if found is not None and found not in instead:
                instead[call] = found
            elif is_left and any(rest.block is not call.block for rest in rests):
                for rest in rests:
                    _remake(call, rest)
            elif left:
                continue
            gone.add(call)
        if not gone:
            return changed
        graph.replace_uses(instead)
        drop(graph, gone)
        changed = True


def _known(call: Instruction) -> Value | None:
    """The length of a constant, or the element of a new tuple, that `call` gives."""
    if target(call) is _foreigncall_:
        return Const(len(constant(call.operands[2])))
    if target(call) is not _project_ or target(call.operands[1]) is not _new_:
        return None
    place = constant(call.operands[2])
    elements = call.operands[1].operands[2:]  # type: ignore[attr-defined]  # a call
    return elements[place] if type(place) is int and 0 <= place < len(elements) else None


def _removable(call: Instruction, knowledge: ElementKnowledge) -> Any:
    """What `call` makes if nothing else happens there: a list, a tuple, a length or an element; else None."""
    function = target(call)
    if function is _new_:
        kind = constant(call.operands[1])
        return kind if kind is list or (kind is tuple and len(call.operands) > 2) else None
    if function is _project_:
        return object
    if function is _foreigncall_ and constant(call.operands[1]) is len:
        return len if len(call.operands) == 3 and type(constant(call.operands[2])) is tuple else None
    if type(function) is not types.FunctionType:
        return None
    row = knowledge.row(function, [*map(type_of, call.operands[1:])])
    return object if row is not None and row.whole is operator.getitem else None


def _remake(made: Instruction, rest: Instruction) -> None:
    """Give `rest` a list of its own, of what was in the list that is `made`."""
    own = Instruction("call", [*made.operands], type=made.type, position=made.position, name=made.name)
    block = rest.block
    assert block is not None
    own.block = block
    block.instructions.insert(block.instructions.index(rest), own)
    rest.operands = [own if value is made else value for value in rest.operands]
