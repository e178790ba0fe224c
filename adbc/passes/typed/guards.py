"""Guesses: values of unknown type are tested for the class they are likely to have; the way out of a wrong
guess is a side exit.

before::

    b:
        %c: Any = call operator.getitem(%l, %i)
        %2: Any = call operator.mul(%c, %x)
        ...

after::

    b:
        %c: Any = call operator.getitem(%l, %i)
        %t: bool = call _class_is_(%c, float)
        branch %t, b.typed, b.otherwise
    b.typed:
        %c1: float = call _assume_(%c, float)
        %2: float = call operator.mul(%c1, %x)
        ...
    b.otherwise:
        %s = call _observe_(site, %c)
        %r: Any = call <the rest of the function>(%c, %l, %i, %x, ...)
        return %r

Code that was wrong once is left for good: the rest of the function from there is a function of its own,
of the values that are live, so nothing behind the test has to be prepared for both.  Every use of the
value but the test is dominated by the typed block, which makes the rewriting a matter of names.

Where there is nothing to guess from, the value is only looked at (`_observe_`), and whoever builds the
function again knows.  What to guess, and what the rest of a function is, are the caller's business.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import natural_loops
from adbc.ir.terminators import Branch, Jump, Raise
from adbc.ir.traverse import predecessors
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.query import assumption
from adbc.types.inference import BUILT_BY_SYNTAX, call_parts, type_of
from adbc.types.lattice import (
    ANY,
    BOOL,
    GUESSED_CODES,
    NONE,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    class_of,
)

__all__ = [
    "LIMIT",
    "Guess",
    "Liveness",
    "Policy",
    "SideExits",
    "behind_handlers",
    "behind_steps",
    "cut",
    "guard",
    "how_used",
    "insert_guards",
    "is_formless",
    "is_guessed",
    "made_class",
    "point_behind",
    "test_for_method",
    "watch_results",
]

_ROUNDS = 40
LIMIT = 60
"""In a function with more values of unknown type than this, not counting what is computed from them, only
those in loops are guessed at, and of these no more than this."""

_NEVER_GUESSED: frozenset[Any] = frozenset(
    {
        intrinsics._assume_, intrinsics._check_, intrinsics._attempt_, intrinsics._new_, intrinsics._iter_,
        intrinsics._import_, intrinsics._import_from_, intrinsics._exception_, intrinsics._raised_,
        intrinsics._observe_, intrinsics._unpack_, intrinsics._unpack_list_, intrinsics._next_at_,
        intrinsics._take_at_,
        intrinsics._resume_iterator_, intrinsics._next_key_, intrinsics._next_value_, intrinsics._next_place_,
        intrinsics._entry_key_, intrinsics._entry_value_, intrinsics._resume_view_,
        intrinsics._view_iterator_,
    }
)  # fmt: skip

_ARITHMETIC: frozenset[Any] = frozenset(
    getattr(operator, prefix + name)
    for name in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod")
    for prefix in ("", "i")
) | {
    operator.neg, operator.pos, operator.lt, operator.le, operator.gt, operator.ge, operator.abs, abs,
    max, min, float, round,
}  # fmt: skip


_TESTS: frozenset[Any] = frozenset({intrinsics._class_is_, intrinsics._array_is_, intrinsics._form_is_})

_READS: frozenset[Any] = frozenset({intrinsics._getattr_, operator.getitem})

_TUPLE = Exact(tuple)


Guess = Exact | TupleType | ArrayType
"""What can be tested: that a value is an instance of a class, a tuple of a form, or a kind of array."""


class SideExits(Protocol):
    """What becomes of a wrong guess."""

    def site(self, call: Instruction) -> object:
        """The object by which `_observe_` identifies the place of `call`."""

    def rest(self, call: Instruction) -> tuple[object, Sequence[Value]]:
        """The rest of the function from where the result of `call` is tested, and its arguments."""


class Policy(SideExits, Protocol):
    """What the caller decides for each call whose result has no known type."""

    def guess(self, call: Instruction) -> Guess | None:
        """What the result of `call` is to be tested for; None if there is no guess."""

    def method(self, call: Instruction) -> Sequence[Value] | None:
        """The function that the result of `call`, a method, is expected to be, and what it is bound to, if
        that is anything; None if nothing is expected."""

    def watch(self, call: Instruction) -> bool:
        """Whether the result of `call` is to be observed, there being no guess."""

    def known_slots(self, graph: Graph) -> dict[Value, Value]:
        """Replace reads of fields and elements whose values are known; returns the values, by the reads."""


def point_behind(call: Instruction) -> tuple[Block, int] | None:
    """Where the result of `call` can be tested: in front of instruction number so-and-so of a block.

    The result of `_next_` is a value only where the iterator was not exhausted; where several iterators take
    a step together, only where none of them was.  What is unpacked at once is tested when all of it is there,
    so that nobody needs what it was unpacked from.  None if there is no such place.
    """
    block = call.block
    assert block is not None
    if _callee(call) is intrinsics._next_:
        inside = behind_steps(call)
        return None if inside is None else _behind_tests(inside, 0, _is_step)
    at = block.instructions.index(call) + 1
    if _is_unpacked(call):
        source = call.operands[1]
        while at < len(block.instructions) and _is_unpacked(block.instructions[at], source):
            at += 1
        block, at = _behind_tests(block, at, lambda value: _is_unpacked(value, source))
    if block.handler is not None and at == len(block.instructions):
        return _behind_protected(block)
    return block, at


def _behind_protected(block: Block) -> tuple[Block, int] | None:
    """The place behind `block`, whose last instruction may raise into a handler: the beginning of the block
    that only it leads to."""
    end = block.terminator
    if not isinstance(end, Jump) or end.target.phis or end.target is block:
        return None
    behind = end.target
    sources = [b for b in block.graph.blocks if behind in b.successors]
    return (behind, 0) if sources == [block] else None


def behind_steps(step: Instruction) -> Block | None:
    """Where a loop goes on with what `step`, and others directly behind it, took from iterators: nobody wants
    to know what one has given if another has nothing more."""
    inside = _behind_step(step)
    while inside is not None and inside.instructions and _callee(inside.instructions[0]) is intrinsics._next_:
        following = _behind_step(inside.instructions[0])
        if following is None or not _is_used_behind(step, following):
            break
        inside = following
    return inside


def _is_used_behind(step: Instruction, place: Block) -> bool:
    """Whether what `step` took is used only where all ways lead through `place`, but for the test of it."""
    dominators = Dominators(place.graph)
    for block in place.graph.blocks:
        ends = [b for phi in block.phis for b, value in phi.operands.items() if value is step]
        ends += [block] if step in block.terminator.values else []
        ends += [
            block for call in block.instructions
            if step in call.operands and _callee(call) is not intrinsics._exhausted_
        ]  # fmt: skip
        if not all(dominators.dominates(place, end) for end in ends):
            return False
    return True


def _behind_tests(block: Block, at: int, is_sibling: Callable[[Value], bool]) -> tuple[Block, int]:
    """The place for a guard: place `at` in `block`, or behind the guards of siblings that stand there.

    Siblings are other steps, and what else was unpacked; what follows may use what their guards prove.  A
    test alone is no guard: code that is differentiated once more has such tests of its own.
    """
    while (
        isinstance(block.terminator, Branch)
        and len(block.instructions) == at + 1
        and _callee(block.instructions[at]) in _TESTS
        and block.terminator.condition is block.instructions[at]
        and is_sibling(block.instructions[at].operands[1])
        and _assumes(block.terminator.true, block.instructions[at].operands[1])
    ):
        block, at = block.terminator.true, 1  # behind the assumption
    return block, at


def _assumes(block: Block, value: Value) -> bool:
    """Whether `block` begins by assuming what a guard has tested `value` for."""
    first = block.instructions[0] if block.instructions else None
    return first is not None and _callee(first) is intrinsics._assume_ and first.operands[1] is value


def _is_step(value: Value) -> bool:
    return _callee(value) is intrinsics._next_


def _is_unpacked(value: Value, source: Value | None = None) -> bool:
    """Whether `value` is an element of something that was unpacked, namely of `source`."""
    if _callee(value) not in (intrinsics._project_, intrinsics._element_):
        return False
    unpacked = value.operands[1]  # type: ignore[attr-defined]  # a call
    if source is not None:
        return unpacked is source
    return _callee(unpacked) in (intrinsics._unpack_, intrinsics._unpack_list_)


def _behind_step(step: Instruction) -> Block | None:
    """Where a loop goes on with what `step` took from an iterator, if that is all that leads there."""
    block = step.block
    assert block is not None
    if block.handler is not None:  # the test stands behind it
        place = _behind_protected(block)
        if place is None:
            return None
        block = place[0]
    terminator = block.terminator
    if not isinstance(terminator, Branch) or not isinstance(terminator.condition, Instruction):
        return None
    test = terminator.condition
    if _callee(test) is not intrinsics._exhausted_ or test.operands[1] is not step:
        return None
    inside = terminator.false
    sources = [b for b in inside.graph.blocks if inside in b.successors]
    return inside if sources == [block] and not inside.phis else None


def insert_guards(graph: Graph, infer: Callable[[], object], policy: Policy, limit: int = LIMIT) -> bool:
    """Guess the types of `graph`, in place; `infer` writes types into it, and has done so once.

    limit: what takes the place of `LIMIT`.  Returns whether types have to be inferred again.
    """
    seen: set[Value] = {call for block in behind_handlers(graph) for call in block.instructions}
    seen |= _promised(graph)
    current: dict[Value, Value] = {}
    changed = False
    if sum(is_guessed(call) and _is_ready(call) for call in graph.instructions()) > limit:
        # Every way out makes the pullback longer, and where nothing repeats there is little to gain.  What is
        # computed from values of unknown type needs no guess when these have theirs.
        loops = natural_loops(graph)
        seen.update(call for call in graph.instructions() if call.block not in loops.innermost)
    guards = 0
    candidates: list[Instruction] | None = None  # those that were left, while nothing has changed
    for _ in range(_ROUNDS):
        if changed:
            infer()
            changed, candidates = False, None
        if candidates is None:
            while known := policy.known_slots(graph):
                current.update(known)
                infer()  # with more types, more calls are known to leave the slots alone
            candidates = list(filter(is_guessed, graph.instructions()))
        candidates = [call for call in candidates if call not in seen]
        ready = [c for c in candidates if _is_ready(c)]
        chosen = ready or candidates[:1]
        if not chosen:
            break
        read: set[tuple[Any, ...]] = set()
        taken_apart: set[Value] = set()  # tuples whose elements are tested with them
        for call in chosen:
            if _is_unpacked(call) and call.operands[1].operands[1] in taken_apart:  # type: ignore[attr-defined]
                continue  # what is known of it then may be enough
            again = (_callee(call), *(v.value if isinstance(v, Const) else v for v in call.operands[1:]))
            if _callee(call) in _READS:
                if again in read:
                    continue  # with what is known of the first time, it may not need a test of its own
                read.add(again)
            seen.add(call)
            place = point_behind(call)
            if place is None:
                continue
            front = policy.method(call)
            if front is not None:
                guards += 1
                _guard_method(graph, call, place, front, policy, current)
                changed = True
                continue
            guess = policy.guess(call)
            if guess is not None:
                guards += 1
                if guards > limit:
                    return changed
                guard(graph, call, place, guess, policy, current)
                changed = True
                if isinstance(guess, TupleType):
                    taken_apart.add(current[call])
            elif policy.watch(call):
                _watch(call, place, policy)
    return changed


def watch_results(graph: Graph, policy: Policy) -> None:
    """Guess nothing in `graph`, but observe what has no type."""
    skipped, promised = behind_handlers(graph), _promised(graph)
    for call in list(graph.instructions()):
        if call.block not in skipped and call not in promised and is_guessed(call) and policy.watch(call):
            place = point_behind(call)
            if place is not None:
                _watch(call, place, policy)


def _promised(graph: Graph) -> set[Value]:
    """What needs no guess, because code that was derived says what it is (`types.promises`)."""
    return {call.operands[1] for call in graph.instructions() if _callee(call) is intrinsics._assume_}


def _watch(call: Instruction, place: tuple[Block, int], policy: Policy) -> None:
    block, at = place
    look = Instruction(
        "call",
        [Const(intrinsics._observe_), Const(policy.site(call)), call],
        type=NONE,
        position=call.position,
    )
    look.block = block
    block.instructions.insert(at, look)


def behind_handlers(graph: Graph) -> set[Block]:
    """The blocks in which an exception is being handled: the interpreter knows that, so the rest of the
    function cannot be another function there."""
    handled: dict[Block, frozenset[Value]] = {}
    waiting: list[tuple[Block, frozenset[Value]]] = []
    handlers = dict.fromkeys(block.handler for block in graph.blocks if block.handler is not None)
    for handler in handlers:
        # What catches an exception hands it to the interpreter, or is behind all that is handled.
        pushes = any(_callee(call) is intrinsics._push_exc_info_ for call in handler.instructions)
        waiting.append((handler, frozenset() if pushes else frozenset(handler.instructions[:1])))
    while waiting:
        block, now = waiting.pop()
        known = handled.get(block)
        if known is not None and now <= known:
            continue
        now = handled[block] = now | (known or frozenset())
        for call in block.instructions:
            if block.handler is not None and call is block.instructions[-1]:  # the only one that may raise
                raised = {call.operands[1]} if _callee(call) is intrinsics._reraise_ else frozenset()
                waiting.append((block.handler, now - raised))
            if _callee(call) is intrinsics._push_exc_info_:
                now |= {call}
            elif _callee(call) is intrinsics._pop_except_:
                now -= {call.operands[1]}
        if block.handler is not None and isinstance(block.terminator, Raise):
            waiting.append((block.handler, now))
        waiting += [(successor, now) for successor in block.terminator.successors]
    return {block for block, open_ in handled.items() if open_ or block in handlers}


def is_guessed(call: Instruction) -> bool:
    """Whether the result of `call` is of a type that may be guessed."""
    if call.op != "call" or (type_of(call) is not ANY and not is_formless(call)):
        return False
    return made_class(call) is not None or _callee(call) not in _NEVER_GUESSED


def is_formless(call: Instruction) -> bool:
    """Whether the result of `call` is known to be a tuple, but not how many elements it has and of which
    types: as long as that is so, nothing is known of what is taken out of it."""
    return type_of(call) == _TUPLE


def _is_ready(call: Instruction) -> bool:
    """Whether it is known what `call` is given, and of what it calls the method, if that is one: when more is
    known of that, the result may need no guess."""
    callee, arguments = call_parts(call)
    if _callee(callee) is intrinsics._getattr_:
        arguments = [*arguments, callee.operands[1]]  # type: ignore[attr-defined]  # a call
    return all(map(_is_known, arguments))


def _is_known(value: Value) -> bool:
    """Whether it is known what `value` is, or what it iterates over; of a tuple, as subscripts are, what is
    in it."""
    if _callee(value) is intrinsics._iter_:
        value = value.operands[1]  # type: ignore[attr-defined]  # a call
    if isinstance(value, Instruction) and _callee(value) is intrinsics._new_ and type_of(value) is not ANY:
        return all(map(_is_known, value.operands[2:]))
    return type_of(value) is not ANY


def made_class(call: Instruction) -> type | None:
    """The class that `call` makes an instance of by calling it, if it is known."""
    kind = call.operands[1] if _callee(call) is intrinsics._new_ else None
    if isinstance(kind, Const) and isinstance(kind.value, type) and kind.value not in BUILT_BY_SYNTAX:
        return kind.value
    return None


def _callee(call: Value) -> Any:
    if call.__class__ is not Instruction or call.op != "call":
        return None
    callee = call.operands[0]
    if callee.__class__ is not Const:
        return None
    try:
        hash(callee.value)
    except TypeError:
        return None
    return callee.value


def guard(
    graph: Graph,
    call: Instruction,
    place: tuple[Block, int],
    guess: Guess,
    policy: SideExits,
    current: dict[Value, Value],
) -> None:
    """Test the result of `call` for the type `guess` at `place` (`point_behind`), and let what follows use it
    as one of that type; what stands for values by now is in `current`."""
    assumed = assumption(call, guess)
    exhausted = [
        u for u in graph.instructions() if _callee(u) is intrinsics._exhausted_ and u.operands[1] is call
    ]
    elsewhere = _tested_with(call, place)
    graph.replace_uses({call: assumed})
    for rest_call in elsewhere:
        rest_call.operands = [call if v is assumed else v for v in rest_call.operands]
    assumed.operands[1] = call
    for test in exhausted:
        test.operands[1] = call
    rest, live = policy.rest(call)
    arguments = [v if v is call else _latest(v, current) for v in live]
    current[call] = assumed

    _branch(graph, call, place, _test_for(guess), [assumed], policy, rest, arguments)


def _test_for(guess: Guess) -> tuple[Any, *tuple[Any, ...]]:
    """The function that tests a value for the type `guess`, and what else it is given."""
    if isinstance(guess, ArrayType):
        code = GUESSED_CODES[guess.dtype]
        return intrinsics._array_is_, Const(guess.cls), Const(code), Const(guess.ndim)
    if isinstance(guess, TupleType):
        return intrinsics._form_is_, Const(form_of(guess))
    return intrinsics._class_is_, Const(guess.cls)


def form_of(guess: TupleType) -> tuple[Any, ...]:
    """The form that `_form_is_` tests a tuple for: nothing is asked about elements of unknown type."""
    return tuple(map(_form_of_element, guess.elements))


def _form_of_element(known: AbstractType) -> Any:
    if isinstance(known, ArrayType):
        return "array", known.cls, GUESSED_CODES[known.dtype], known.ndim
    return form_of(known) if isinstance(known, TupleType) else class_of(known)


def _tested_with(call: Instruction, place: tuple[Block, int]) -> list[Instruction]:
    """The instructions in the side exits of the guards that `place` stands behind: they use `call` as it
    is."""
    found: list[Instruction] = []
    block = behind_steps(call) if _is_step(call) else call.block if _is_unpacked(call) else None
    while block is not None and block is not place[0] and isinstance(block.terminator, Branch):
        found += block.terminator.false.instructions
        block = block.terminator.true
    return found


def _latest(value: Value, current: dict[Value, Value]) -> Value:
    """The value that now stands for `value`."""
    while value in current:
        value = current[value]
    return value


def _branch(
    graph: Graph,
    call: Instruction,
    place: tuple[Block, int],
    test: tuple[Any, *tuple[Any, ...]],
    first: list[Instruction],
    policy: SideExits,
    rest: object,
    arguments: Sequence[Value],
) -> None:
    """Cut the block at `place`: it goes on with `first` if ``test[0](call, *test[1:])`` holds, else with
    `rest`."""
    block, at = place
    position = call.position
    typed = cut(graph, block, at)
    if first and typed.handler is not None and not typed.instructions:
        # What stands last in front of a handler is what raised, and does not exist there: `first` exists.
        cut(graph, typed, 0)
        typed.terminator = Jump(graph.blocks[-1])
    for instruction in first:
        instruction.block = typed
    typed.instructions[:0] = first
    otherwise = graph.add_block(f"{block.label}.otherwise")
    builder = Builder(graph, block)
    builder.position = position
    test_result = builder.call(test[0], call, *test[1:], type=BOOL)
    builder.branch(test_result, typed, otherwise)
    builder.block = otherwise
    builder.call(intrinsics._observe_, Const(policy.site(call)), call, type=NONE)
    builder.ret(builder.call(Const(rest), *arguments, type=ANY))


def cut(graph: Graph, block: Block, at: int) -> Block:
    """Move what stands in `block` from instruction number `at` on, and its end, into a block of its own."""
    behind = graph.add_block(f"{block.label}.typed")
    behind.instructions = block.instructions[at:]
    for instruction in behind.instructions:
        instruction.block = behind
    del block.instructions[at:]
    behind.terminator, behind.handler, block.handler = block.terminator, block.handler, None
    for successor in behind.successors:
        for phi in successor.phis:
            if block in phi.operands:
                phi.operands[behind] = phi.operands.pop(block)
    return behind


def _guard_method(
    graph: Graph,
    call: Instruction,
    place: tuple[Block, int],
    front: Sequence[Value],
    policy: Policy,
    current: dict[Value, Value],
) -> None:
    """Test ``obj.method`` for the function that it is guessed to be, which is then called with what it is
    bound to in front."""
    rest, live = policy.rest(call)
    arguments = [v if v is call else _latest(v, current) for v in live]
    for user in list(graph.instructions()):
        if user.op == "call" and user.operands[0] is call:
            user.operands[:1] = front
    _branch(graph, call, place, test_for_method(front), [], policy, rest, arguments)


def test_for_method(front: Sequence[Value]) -> tuple[Any, Value, Value]:
    """The function that tests whether a value is a method, and what it is given besides that: the function
    and what that is bound to, None if that is nothing."""
    function, *owner = front
    return intrinsics._method_is_, function, owner[0] if owner else Const(None)


# -- what a value is used for --------------------------------------------------------------------------


def how_used(graph: Graph, is_scalar: Callable[[Any], bool]) -> Callable[[Value], str | None]:
    """A function that says what a value is used for: as a "number", an "index", a "container", otherwise
    ("other") or not at all (None); `is_scalar` knows the functions of numbers."""
    users: dict[Value, list[tuple[Any, int]]] = {}
    for block in graph.blocks:
        for phi in block.phis:
            for value in phi.operands.values():
                users.setdefault(value, []).append((phi, 0))
        for instruction in block.instructions:
            for i, value in enumerate(instruction.operands):
                users.setdefault(value, []).append((instruction, i))

    def uses(value: Value) -> Iterator[tuple[Instruction, int]]:
        waiting, seen = [value], {value}
        while waiting:
            for user, i in users.get(waiting.pop(), ()):
                if isinstance(user, Instruction):
                    yield user, i
                if user not in seen and (isinstance(user, Phi) or _callee(user) is intrinsics._check_):
                    seen.add(user)
                    waiting.append(user)

    def used(value: Value) -> str | None:
        found: str | None = None
        for user, i in uses(value):
            function = _callee(user)
            if function is intrinsics._foreigncall_ and isinstance(user.operands[1], Const):
                function, i = user.operands[1].value, i - 1
            if function in _ARITHMETIC or is_scalar(function):
                return "number"
            if function in (operator.getitem, operator.setitem):
                found = (
                    "container"
                    if i == 1
                    else "index"
                    if i == 2 and found != "container"
                    else found or "other"
                )
            elif function in (len, intrinsics._iter_) and found != "index":
                found = "container"
            elif function not in (intrinsics._exhausted_, intrinsics._check_, operator.is_, operator.is_not):
                found = found or "other"
        return found

    return used


# -- what is live --------------------------------------------------------------------------------------


class Liveness:
    """The values that are live at points of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.order: dict[Value, int] = {}
        for argument in graph.arguments:
            self.order[argument] = len(self.order)
        for block in graph.blocks:
            for value in (*block.phis, *block.instructions):
                self.order[value] = len(self.order)
        entering: dict[Block, set[Value]] = {block: set() for block in graph.blocks}
        self.entering = entering
        sources = predecessors(graph)
        waiting = list(graph.blocks)
        while waiting:
            block = waiting.pop()
            live = self._at(block, 0) - set(block.phis)
            if live != entering[block]:
                entering[block] = live
                waiting += sources[block]

    def _at(self, block: Block, index: int) -> set[Value]:
        live: set[Value] = set()
        for successor in block.successors:
            live |= self.entering[successor]
            for phi in successor.phis:
                operand = phi.operands.get(block)
                if operand is not None and operand in self.order:
                    live.add(operand)
        live.update(v for v in block.terminator.values if v in self.order)
        for instruction in reversed(block.instructions[index:]):
            live.discard(instruction)
            live.update(v for v in instruction.operands if v in self.order)
        return live

    def at(self, block: Block, index: int) -> list[Value]:
        """What is live in front of instruction number `index` of `block`, in the order of definition."""
        return sorted(self._at(block, index), key=self.order.__getitem__)
