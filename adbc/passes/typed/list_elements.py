"""Alias analysis of lists: what is known of their elements makes tests of their classes needless.

before::

    %t = call _new_(list)
    ...
    call list.append(%t, %x)                         # %x: float
    ...
    %c: Any = call operator.getitem(%t, %i)
    %k: bool = call _class_is_(%c, float)
    branch %k, typed, otherwise

after::

    %c: Any = call operator.getitem(%t, %i)
    jump typed

A list that is made here and that nobody else gets to see has the elements that are put into it here.  Of one
that is an argument the elements are known if the caller has looked (`ListType` is the type of the parameter
then), and stay known if nobody but the function writes into it while it runs: every call must be one of which
the rule is known, or of a function that is like this itself (compare `types.closed`).

Elements are found by unification: each value that is a list, an iterator over one or an element of one has
a `_Term`; reading and writing make terms equal, and what cannot be equal is unknown.  A guess (`_assume_`)
proves nothing: what was read must be known from what was written.  Blocks that are only reached when a guess
was wrong are left for good, so they do not count.  Needs types.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Return
from adbc.ir.values import Const, Instruction, Phi, Undef, Value
from adbc.types.callsites import Binding, called
from adbc.types.closed import ClosedKnowledge, is_closed_call
from adbc.types.effects import OPERATORS, SUMMARIES, Use, bound_types, is_passive, makes_array
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import ANY, BOOL, INT, LIST, AbstractType, Exact, ListType, is_float64, is_list

__all__ = ["ListKnowledge", "drop_proved_tests", "kept_lists"]


class ListKnowledge(ClosedKnowledge, Protocol):
    """What the analysis of lists asks of the rest of the system."""

    def rows(self, function: object) -> Sequence[Any]:
        """All rules of `function`."""

    def kept_lists(self, function: Any, parameters: tuple[AbstractType, ...]) -> Sequence[bool]:
        """What the function `kept_lists` says of the graph of `function` for parameters of these types."""


def drop_proved_tests(graph: Graph, parameters: Sequence[AbstractType], knowledge: ListKnowledge) -> bool:
    """Drop tests of classes that follow from what lists hold, in place; returns whether anything changed.

    The graph is typed, and the lists among `parameters` hold what these types say.  Lists of which all
    elements are known get a `ListType`.
    """
    found = _Elements(graph, parameters, knowledge)
    return found.known and found.drop_tests()


def kept_lists(
    graph: Graph, parameters: Sequence[AbstractType], knowledge: ListKnowledge
) -> tuple[bool, ...]:
    """Whether nobody but the typed `graph` writes into lists while it runs; and per parameter, whether a list
    of this type is still one of the same type afterwards, and nobody was given it.

    There must be no guesses in `graph`: it is asked what the function does in any case.
    """
    found = _Elements(graph, parameters, knowledge, whole=True)
    kept = [found.known and not is_unknown(found.term(a)) for a in graph.arguments]
    return (found.is_closed, *kept)


# -- terms -------------------------------------------------------------------------------------------


class _Unknown:
    """The class of which nothing is known."""


class _Iterator:
    """The class of iterators over lists."""


class _Term:
    """What is known of values: their class, and for lists and iterators the term of their elements."""

    __slots__ = ("cls", "element", "escapes", "is_fresh", "same")

    def __init__(self, cls: type | None = None, is_fresh: bool = True) -> None:
        self.same: _Term | None = None
        self.cls = cls
        self.element: _Term | None = None
        self.escapes = False
        """Whether others are given the value: if it is a list, they may write into it."""
        self.is_fresh = is_fresh
        """Whether all lists that the term stands for are made in this graph."""


def _find(term: _Term) -> _Term:
    while term.same is not None:
        term = term.same
    return term


def _element(term: _Term) -> _Term:
    term = _find(term)
    if term.element is None:
        term.element = _Term()
        if term.cls is _Unknown or term.escapes:
            _forget(term.element)
    return _find(term.element)


def _forget(term: _Term) -> None:
    """Forget all that is known of `term` and of what is in it."""
    term = _find(term)
    while term.cls is not _Unknown:
        term.cls, term.is_fresh = _Unknown, False
        if term.element is None:
            return
        term = _find(term.element)


def _escape(term: _Term) -> None:
    term = _find(term)
    term.escapes = True
    if term.cls in _CONTAINERS or term.element is not None:
        _forget(term)


def _unify(a: _Term, b: _Term) -> None:
    pending = [(a, b)]
    while pending:
        a, b = map(_find, pending.pop())
        if a is b:
            continue
        b.same = a
        a.is_fresh &= b.is_fresh
        a.escapes |= b.escapes
        if b.element is not None:
            if a.element is None:
                a.element = b.element
            else:
                pending.append((a.element, b.element))
        cls, other = a.cls or b.cls, b.cls
        holds = cls in _CONTAINERS or a.element is not None
        if _Unknown in (cls, other) or (other is not None and cls is not other) or (a.escapes and holds):
            a.cls = None
            _forget(a)
        else:
            a.cls = cls


def is_unknown(term: _Term) -> bool:
    """Whether nothing is known of a value or of what is in it."""
    term = _find(term)
    while term.cls is list:
        if term.element is None:
            return False  # it is empty
        term = _find(term.element)
    return term.cls is _Unknown


def _list_of(term: _Term) -> _Term:
    """A new list with elements like `term`."""
    made = _Term(list)
    made.element = term
    return made


def _term_of(type_: AbstractType) -> _Term:
    """What is known of a parameter of this type."""
    if isinstance(type_, ListType):
        made = _Term(list, is_fresh=False)
        made.element = _term_of(type_.element)
        return made
    made = _Term(is_fresh=False)
    if isinstance(type_, Exact) and _is_immutable(type_.cls):
        made.cls = type_.cls
    else:
        _forget(made)
    return made


_IMMUTABLE = frozenset({float, int, bool, complex, str})


def _is_immutable(cls: type | None) -> bool:
    return cls in _IMMUTABLE or (cls is not None and is_float64(Exact(cls)))


_CONTAINERS = (list, _Iterator)

# -- what calls do to lists --------------------------------------------------------------------------

_READING: frozenset[Any] = frozenset(
    function
    for function, uses in SUMMARIES.items()
    if function not in OPERATORS and not any(use & ~Use.WRITES for use in uses)
)
"""Functions that neither keep a list nor put anything into it."""
_NUMBERS_OF: frozenset[Any] = frozenset(
    {sum, min, max, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)
"""Functions of lists that give one of the elements, if these are numbers, or what is computed from them."""
_ITERATORS: frozenset[Any] = frozenset(
    {intrinsics._iter_, intrinsics._list_iterator_, intrinsics._list_reversed_}
)
_AT_INDEX: frozenset[Any] = frozenset({intrinsics._next_at_, intrinsics._take_at_, intrinsics._element_})
"""Functions that give the element with an index, of the list that is the second argument."""
_COPIES: frozenset[Any] = frozenset({list, sorted, list.copy, operator.mul, operator.add})
_GROWS: frozenset[Any] = frozenset({list.extend, operator.iadd})
_WRITES: dict[Any, int] = {
    function: uses.index(Use.KEEPS)
    for function, uses in SUMMARIES.items()
    if uses[0] == Use.WRITES and Use.KEEPS in uses and function not in _GROWS
}
"""Functions that put an argument into a list, with the position of the argument."""
_INDICES = (INT, BOOL)


def _is_write(function: Any, types_: Sequence[Any]) -> bool:
    """Whether a value is written into a list by `function`, which may lack an argument, and raises then."""
    return function in _WRITES and len(types_) > _WRITES[function] and is_list(types_[0])


class _Elements:
    """The terms of the values of one graph."""

    def __init__(
        self,
        graph: Graph,
        parameters: Sequence[AbstractType],
        knowledge: ListKnowledge,
        whole: bool = False,
    ) -> None:
        self.graph = graph
        self.knowledge = knowledge
        self.whole = whole
        """Whether the result of the graph is given to a caller who goes on with it."""
        left = _left_for_good(graph)
        self.blocks = [block for block in graph.blocks if block not in left]
        self.is_closed = False
        self.known = any(map(_concerns_lists, self.calls()))
        if not self.known:
            self.is_closed = all(map(self._is_closed_call, self.calls()))
            return
        self._solve(parameters)
        self.is_closed = all(map(self._is_closed_call, self.calls()))
        if not self.is_closed and any(isinstance(t, ListType) for t in parameters):
            # Somebody may write into the arguments; the lists that are made here are nobody else's still.
            self._solve([LIST if isinstance(t, ListType) else t for t in parameters])

    def calls(self) -> list[Instruction]:
        return [call for block in self.blocks for call in block.instructions]

    def _solve(self, parameters: Sequence[AbstractType]) -> None:
        self.terms: dict[Value, _Term] = {}
        self.derived: list[tuple[Instruction, Binding]] = []
        self.asked: list[_Term] = []
        """Lists whose elements are given to other functions, which matters if the elements are not
        numbers."""
        for argument, type_ in zip(self.graph.arguments, parameters, strict=True):
            self.terms[argument] = _term_of(type_)
        for block in self.blocks:
            for phi in block.phis:
                for value in phi.operands.values():
                    if not isinstance(value, Undef):
                        _unify(self.term(phi), self.term(value))
        for call in self.calls():
            self._call(call)
        for block in self.blocks:
            kept = Branch | Jump if self.whole else Branch | Jump | Return
            if not isinstance(block.terminator, kept):
                self._leaves(*block.terminator.values)
        changed = True
        while changed:
            changed = False
            for call, binding in self.derived:
                changed |= self._give(call, binding)
            for term in self.asked:
                if not _is_immutable(_find(_element(term)).cls) and not _find(term).escapes:
                    _escape(term)
                    changed = True

    def term(self, value: Value) -> _Term:
        type_ = type_of(value)
        if isinstance(type_, Exact) and _is_immutable(type_.cls):
            return _Term(type_.cls)  # each time another: where a number is kept says nothing of it
        known = self.terms.get(value)
        if known is None:
            known = self.terms[value] = _Term()
            if not isinstance(value, Phi) and not (isinstance(value, Instruction) and value.op == "call"):
                _forget(known)
        return known

    def _leaves(self, *values: Value) -> None:
        for value in values:
            if value in self.terms or _may_be_list(value):
                _escape(self.term(value))

    def _call(self, call: Instruction) -> None:
        """Say what `call` does to terms."""
        if call.op != "call":
            self._leaves(*call.operands)
            return self._gives_unknown(call)
        found = called(call)
        function, arguments = (None, call_parts(call)[1]) if found is None else found
        types_ = [type_of(a) for a in arguments]
        first = arguments[0] if arguments else None
        if function is intrinsics._check_ and first is not None:
            _unify(self.term(first), self.term(call))
        elif function is intrinsics._assume_ and first is not None:
            if is_list(type_of(call)):
                _unify(self.term(first), self.term(call))
            elif not self._is_scalar(call):
                self._leaves(first)
                self._gives_unknown(call)
        elif function is intrinsics._new_ and isinstance(first, Const) and first.value is list:
            made = self.term(call)
            _unify(made, _Term(list))
            for value in arguments[1:]:
                _unify(_element(made), self.term(value))
        elif function is operator.getitem and is_list(types_[0]) and types_[1] in _INDICES:
            _unify(self.term(call), _element(self.term(arguments[0])))
        elif function is operator.getitem and is_list(types_[0]) and types_[1] == Exact(slice):
            _unify(self.term(call), _list_of(_element(self.term(arguments[0]))))
        elif function in _ITERATORS and is_list(types_[0]):
            made = _Term(_Iterator)
            made.element = _element(self.term(arguments[0]))
            _unify(self.term(call), made)
        elif function is intrinsics._next_ and _is_list_iterator(arguments[0]):
            _unify(self.term(call), _element(self.term(arguments[0])))
        elif function in _AT_INDEX:
            _unify(self.term(call), _element(self.term(arguments[1])))
        elif function is intrinsics._unpack_list_:
            pass
        elif function is list.pop and is_list(types_[0]):
            _unify(self.term(call), _element(self.term(arguments[0])))
        elif _is_write(function, types_) and self._at_index(function, types_):
            _unify(_element(self.term(arguments[0])), self.term(arguments[_WRITES[function]]))
        elif function in _GROWS and all(map(is_list, types_)) and len(types_) == 2:
            _unify(_element(self.term(arguments[0])), _element(self.term(arguments[1])))
            if function is operator.iadd:
                _unify(self.term(call), self.term(arguments[0]))
        elif function in _COPIES and is_list(type_of(call)) and not call.keywords and _are_lists(types_):
            made = _list_of(_Term())
            for value, type_ in zip(arguments, types_, strict=True):
                if is_list(type_):
                    _unify(_element(made), _element(self.term(value)))
            _unify(self.term(call), made)
        elif function in _READING:
            self._gives_unknown(call)
        elif function in _NUMBERS_OF or makes_array(function, call):
            self.asked += [self.term(a) for a in arguments if a in self.terms or _may_be_list(a)]
            self._gives_unknown(call)
        else:
            self._other(call, function, arguments)

    def _other(self, call: Instruction, function: Any, arguments: Sequence[Value]) -> None:
        """Say what `call` does to terms if it is of a function without a rule here, which may be written in
        Python."""
        self._gives_unknown(call)
        lists = [a for a in arguments if a in self.terms or _may_be_list(a)]
        if not lists:
            return
        binding = None
        if callable(function) and not self.knowledge.rows(function):
            binding = self.knowledge.bind(function, len(arguments), call.keywords)
        if binding is None:
            self._leaves(*lists)
        else:
            self.derived.append((call, binding))

    def _give(self, call: Instruction, binding: Binding) -> bool:
        """Forget lists that `call` gives to a function that may write into them or keep them; returns whether
        that is new."""
        arguments, (_, *kept) = call_parts(call)[1], self._is_kept(call, binding)
        changed = False
        for slot, is_kept in zip(binding.slots, kept, strict=True):
            if not isinstance(slot, Const) and not is_kept and arguments[slot] in self.terms:
                term = _find(self.terms[arguments[slot]])
                if not term.escapes:
                    _escape(term)
                    changed = True
        return changed

    def _is_kept(self, call: Instruction, binding: Binding) -> Sequence[bool]:
        """`kept_lists` of the function that is called, for what is known of the arguments now."""
        arguments = call_parts(call)[1]
        parameters = bound_types(binding, arguments, self.type_of)
        return self.knowledge.kept_lists(binding.function, parameters)

    def _gives_unknown(self, call: Instruction) -> None:
        if not self._is_scalar(call):
            _forget(self.term(call))

    def _is_scalar(self, call: Instruction) -> bool:
        type_ = type_of(call)
        return isinstance(type_, Exact) and _is_immutable(type_.cls)

    def _at_index(self, function: Any, types_: Sequence[AbstractType]) -> bool:
        """Whether `function`, which writes into a list, writes a single element and not a slice."""
        return function not in (operator.setitem, intrinsics._overwrite_item_) or types_[1] in _INDICES

    # -- what follows ------------------------------------------------------------------------------------

    def type_of(self, value: Value) -> AbstractType:
        """The type of `value`, with what is known of lists and their elements."""
        term = self.terms.get(value)
        found = None if term is None else _type(term)
        return type_of(value) if found is None else found

    def _is_closed_call(self, call: Instruction) -> bool:
        """Whether nobody but this function writes into lists while `call` runs."""
        found = called(call)
        if found is None:
            return False
        function, arguments = found
        if function in _TESTS:
            return True
        if not self.known:
            return is_closed_call(call, self.knowledge, type_of)
        types_ = [type_of(a) for a in arguments]
        if function in _ITERATORS | {intrinsics._next_, operator.getitem} and (
            is_list(types_[0]) or _is_list_iterator(arguments[0])
        ):
            return len(types_) == 1 or types_[1] in _INDICES or types_[1] == Exact(slice)
        if function in _AT_INDEX or function is intrinsics._unpack_list_:
            return True
        if _is_write(function, types_):
            # A list that is not known may be one that is.
            target, value = self.term(arguments[0]), self.term(arguments[_WRITES[function]])
            return _find(target).is_fresh or (
                not is_unknown(target) and not is_unknown(value) and self._at_index(function, types_)
            )
        if function in _COPIES | _NUMBERS_OF | _READING and any(map(is_list, types_)):
            return all(is_passive(self.type_of(a)) for a in arguments) and not call.keywords
        if function is intrinsics._new_ and isinstance(arguments[0], Const) and arguments[0].value is list:
            return True
        if function in (list.pop, list.extend, operator.iadd) and is_list(types_[0]):
            return _find(self.term(arguments[0])).is_fresh
        for derived, binding in self.derived:
            if derived is call:  # whatever it gives
                return all(is_passive(self.type_of(a)) for a in arguments) and self._is_kept(call, binding)[0]
        return is_closed_call(call, _Within(self), self.type_of)

    def drop_tests(self) -> bool:
        changed = False
        proved: dict[Value, Value] = {}
        for block in self.blocks:
            for value in (*block.phis, *block.instructions):
                if is_list(type_of(value)) and isinstance(known := self.type_of(value), ListType):
                    value.type = known
            terminator = block.terminator
            if not isinstance(terminator, Branch):
                continue
            test = terminator.condition
            if isinstance(test, Instruction) and test.block is block and self._is_proved(test):
                block.terminator = Jump(terminator.true, position=terminator.position)
                block.instructions.remove(test)
                proved[test] = Const(True)
                changed = True
        if proved:
            self.graph.replace_uses(proved)
        for argument in self.graph.arguments:
            known = self.type_of(argument)
            if isinstance(known, ListType):
                argument.type = known
        return changed

    def _is_proved(self, test: Instruction) -> bool:
        if test.op != "call" or not _is_const(test.operands[0], intrinsics._class_is_):
            return False
        value, cls = test.operands[1:3]
        term = self.terms.get(value)
        return term is not None and isinstance(cls, Const) and _find(term).cls is cls.value


class _Within:
    """The rest of the system, asked about functions that are given lists of which the elements are known."""

    def __init__(self, elements: _Elements) -> None:
        self.knowledge = elements.knowledge
        self.row = self.knowledge.row
        self.bind = self.knowledge.bind

    def is_closed(self, function: Any, parameters: tuple[AbstractType, ...]) -> bool:
        return self.knowledge.kept_lists(function, parameters)[0]


_TESTS: frozenset[Any] = frozenset(
    {
        intrinsics._class_is_, intrinsics._array_is_, intrinsics._assume_, intrinsics._observe_,
        intrinsics._exhausted_,
    }
)  # fmt: skip


def _type(term: _Term) -> AbstractType | None:
    """The type of all that `term` stands for; None if nothing, or nothing useful, is known."""
    term = _find(term)
    if term.cls in (None, _Unknown, _Iterator):
        return None
    if term.cls is not list:
        return Exact(term.cls)
    element = None if term.element is None else _type(term.element)
    return None if element is None else ListType(list, element)


def _is_const(value: Value, function: object) -> bool:
    return isinstance(value, Const) and value.value is function


def _is_list_iterator(value: Value) -> bool:
    if not isinstance(value, Instruction) or value.op != "call":
        return False
    callee, arguments = call_parts(value)
    return isinstance(callee, Const) and _is_iterator_of(callee.value, arguments)


def _is_iterator_of(function: Any, arguments: Sequence[Value]) -> bool:
    made: Collection[Any] = _ITERATORS
    return any(function is f for f in made) and is_list(type_of(arguments[0]))


def _are_lists(types_: Sequence[AbstractType]) -> bool:
    """Whether `types_` are those of lists, at least one, and of numbers of repetitions."""
    return any(map(is_list, types_)) and all(is_list(t) or t in _INDICES for t in types_)


def _may_be_list(value: Value) -> bool:
    type_ = type_of(value)
    return type_ is ANY or is_list(type_)


def _concerns_lists(call: Instruction) -> bool:
    return any(is_list(type_of(v)) for v in call.operands)


def _left_for_good(graph: Graph) -> set[Block]:
    """The blocks that go on elsewhere because a guess was wrong (`types.guards`)."""
    found = set()
    for block in graph.blocks:
        terminator = block.terminator
        if isinstance(terminator, Branch) and _is_test(terminator.condition):
            instructions = terminator.false.instructions
            look = instructions[0] if instructions else None
            if (
                look is not None
                and look.op == "call"
                and _is_const(look.operands[0], intrinsics._observe_)
                and look.operands[2] is terminator.condition.operands[1]  # type: ignore[attr-defined]  # a call
            ):
                found.add(terminator.false)
    return found


def _is_test(value: Value) -> bool:
    return (
        isinstance(value, Instruction)
        and value.op == "call"
        and any(_is_const(value.operands[0], f) for f in _GUARDS)
    )


_GUARDS = (intrinsics._class_is_, intrinsics._array_is_, intrinsics._method_is_)
