"""A generator that is consumed where it is made is written into the loop that consumes it.

before::                                     graph halves(n)
                                                 entry:
    b:                                               %1 = call _iter_(%n)
        %1 = call halves(%xs)                        jump loop
        %2 = call _iter_(%1)                     loop:
        jump head                                    %2 = call _next_(%1)
    head:                                            %3 = call _exhausted_(%2)
        %t = phi [b: 0.0, body: %5]                  branch %3, rest, more
        %3 = call _next_(%2)                     more:
        %4 = call _exhausted_(%3)                    %4 = call operator.truediv(%2, 2)
        branch %4, done, body                        call _yield_(%4)
    body:                                            jump loop
        %5 = call operator.add(%t, %3)           rest:
        jump head                                    return None

after::

    b:
        %1 = call _iter_(%xs)
        jump loop
    loop:
        %t = phi [b: 0.0, more: %5]
        %2 = call _next_(%1)
        %3 = call _exhausted_(%2)
        branch %3, done, more
    more:
        %4 = call operator.truediv(%2, 2)
        %5 = call operator.add(%t, %4)
        jump loop

What the generator does it still does when the next value is asked for, and not before; a loop that is left
goes on with none of it.  Who consumes in C is first replaced by a loop that does the same
(`Functions.consumer`), and so is an iterator that is made in C, by a generator that gives the same
(`Functions.generator`).

Written in are generators that nobody else can see, and that need not be closed.  One with one yield, that
goes to one loop which is entered once for each generator, is the loop; any other is written in with its state
(`generator_states`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple, Protocol

from adbc.functions import is_function
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.handlers import protect
from adbc.ir.intrinsics import (
    _exhausted_,
    _foreigncall_,
    _freevar_,
    _getattr_,
    _iter_,
    _new_,
    _next_,
    _yield_,
    _yield_from_,
)
from adbc.ir.repair import repair
from adbc.ir.terminators import Branch, Jump, Raise, Return
from adbc.ir.traverse import leads_to, predecessors, remove_unreachable, split_edge, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.normal.delegations import are_loops, passes_on
from adbc.passes.normal.generator_states import Asking, write_states
from adbc.passes.normal.inline_calls import adopted, put_graph, split, take_blocks
from adbc.passes.normal.sendings import Method, ask, close, method_of
from adbc.passes.normal.stopping_nexts import is_bare_next
from adbc.passes.query import NOTHING, constant, target, use_counts

__all__ = [
    "LARGEST", "MOST", "Functions", "Written", "consumed_generators", "is_simple_generator", "makes_one",
]  # fmt: skip

LARGEST = 150
"""A generator with more instructions than this stays an object."""

MOST = 8
"""A generator with more yields than this stays an object, too."""

ENOUGH = 1500
"""A caller does not grow beyond this."""


class Written(NamedTuple):
    """What is to be written in the place of a call.

    values: the parameters of `graph`.  cells: those of its closure.  prepared: by number of a parameter, what
    is made of its value where the call stands.  is_endless: whether it may go on behind its end, if it is
    asked again.
    """

    graph: Graph
    values: Sequence[Value]
    cells: Sequence[Value] = ()
    prepared: Mapping[int, Callable[..., Any]] = {}
    is_endless: bool = False


class Functions(Protocol):
    """What is asked about the functions that a graph calls."""

    def generator(self, graph: Graph, call: Instruction, /) -> Written | None:
        """The generator that `call` makes, if it may be written into `graph`."""

    def iterates(self, graph: Graph, made: Instruction, /) -> bool:
        """Whether ``iter(made)`` makes a generator that may be written into `graph`."""

    def consumer(self, call: Instruction, number: int, /) -> Written | bool:
        """What a call does with operand `number`, which is iterated over: a function in Python that does the
        same; True if it takes all elements before it does anything else; or False."""

    def applied(self, call: Instruction, /) -> tuple[Written, int] | None:
        """What a call does that applies a known function to the elements of an iterable, and which operand
        that is."""

    def chooses(self, call: Instruction, /) -> bool:
        """Whether a call does to its several arguments what it does to the elements of a tuple, and not just
        to numbers."""

    def folded(self, call: Instruction, /) -> Written | None:
        """What a call does that makes one value of the elements of its first argument."""

    def paired(self, call: Instruction, /) -> Written | None:
        """What a call does that makes a dict of what it takes from several iterables at once."""

    def listing(self) -> Graph:
        """A function that makes a list of an iterable."""

    def receives(self, written: Written, /) -> bool:
        """Whether what is sent to a generator is for itself, and not for one that it delegates to."""

    def begun(self) -> Graph:
        """A function that refuses what is sent to a generator first, unless that is None."""


def is_simple_generator(graph: Graph) -> bool:
    """Whether a generator in normal form may be written into a loop."""
    if not graph.is_generator or graph.has_varargs or graph.has_varkw:
        return False
    if not all(block.handler is None or _only_delegates(block) for block in graph.blocks):
        return False
    yields = [call for call in graph.instructions() if target(call) in (_yield_, _yield_from_)]
    size = sum(len(block.instructions) for block in graph.blocks)
    if not 0 < len(yields) <= MOST or size > LARGEST or any(map(_may_stop, graph.blocks)):
        return False
    return are_loops(graph)


def _only_delegates(block: Block) -> bool:
    """Whether all that `block` has a handler for is a delegation, and that passes on what it is given."""
    return all(target(i) is _yield_from_ for i in block.instructions) and (
        block.handler is None or passes_on(block.handler)
    )


def _may_stop(block: Block) -> bool:
    """Whether `block` itself may raise `StopIteration`, which a generator turns into another error."""
    if any(map(is_bare_next, block.instructions)):
        return True
    if not isinstance(block.terminator, Raise):
        return False
    raised = block.terminator.exception
    if isinstance(raised, Instruction):
        raised = raised.operands[1 if target(raised) in (_foreigncall_, _new_) else 0]
    cls = NOTHING if raised is None else constant(raised)
    return not isinstance(cls, type) or issubclass(cls, StopIteration)


def _returns_something(generator: Graph) -> bool:
    """Whether the `StopIteration` of a generator may have a value."""
    ends = [block.terminator for block in generator.blocks]
    return any(isinstance(end, Return) and constant(end.value) is not None for end in ends)


def _is_yield(call: Instruction) -> bool:
    return target(call) is _yield_


def consumed_generators(graph: Graph, functions: Functions) -> bool:
    """Write generators into the loops of `graph` that consume them, in place; returns whether it did."""
    changed = False
    left: set[Instruction] = set()
    while _open_consumer(graph, functions) or _write_one(graph, functions, left):
        changed = True
    for call in list(graph.instructions()):
        if functions.chooses(call):
            _gather(call)
        applied = functions.applied(call)
        written, place = applied if applied is not None else (None, 2)
        display = _display(graph, call, place)
        if written is None and display is not None:
            written = functions.folded(call)
        if written is None:
            written = functions.paired(call)
        if written is not None:
            if display is not None:
                display.operands[1] = Const(tuple)
            put_graph(graph, call, written.graph, written.values)
            changed = True
    return changed


def _open_consumer(graph: Graph, functions: Functions) -> bool:
    """Make a loop of the first call in C consuming an object of which the ``__iter__`` is a generator."""
    users = None
    for made in graph.instructions():
        if target(made) is not _new_ or not functions.iterates(graph, made):
            continue
        users = users or uses(graph)
        for user in users.get(made, ()):
            if not isinstance(user, Instruction) or target(user) is not _foreigncall_:
                continue
            if user.operands.count(made) != 1:
                continue
            consumer = functions.consumer(user, user.operands.index(made))
            if isinstance(consumer, Written):
                put_graph(graph, user, consumer.graph, consumer.values)
                return True
            if consumer:
                _make_list(graph, user, made, functions.listing())
                return True
    return False


def _gather(call: Instruction) -> None:
    """Let `call` be given its arguments by position in a tuple."""
    count = len(call.operands) - len(call.keywords)
    arguments = call.operands[2:count]
    made = Instruction("call", [Const(_new_), Const(tuple), *arguments], position=call.position)
    block = call.block
    assert block is not None
    made.block = block
    block.instructions.insert(block.instructions.index(call), made)
    call.operands[2:count] = [made]


def _display(graph: Graph, call: Instruction, place: int) -> Instruction | None:
    """The list or tuple that is written down for operand `place` of `call`, and that nobody else has: loops
    over tuples are unrolled."""
    if target(call) is not _foreigncall_ or len(call.operands) <= place:
        return None
    display = call.operands[place]
    if not isinstance(display, Instruction) or target(display) is not _new_:
        return None
    if constant(display.operands[1]) not in (list, tuple) or not 2 < len(display.operands) <= 2 + MOST:
        return None
    return display if use_counts(graph)[display] == 1 else None


def _write_one(graph: Graph, functions: Functions, left: set[Instruction]) -> bool:
    """Look for a generator that is consumed by something known, and take one step with it; calls that turn
    out not to make one are added to `left`."""
    size = sum(len(block.instructions) for block in graph.blocks)
    users = None
    for made in list(graph.instructions()):
        if made.op != "call" or made in left or size > ENOUGH:
            continue
        written = functions.generator(graph, made)
        if written is None:
            left.add(made)
            continue
        users = users or uses(graph)
        if _take_step(graph, functions, made, written, users):
            return True
    return False


def _take_step(
    graph: Graph,
    functions: Functions,
    made: Instruction,
    written: Written,
    users: Mapping[Value, Sequence[object]],
) -> bool:
    """Write the generator into its loop, or make a loop of what consumes it."""
    found = _uses_of(made, users)
    if found is None:
        return False
    chain, takers, methods = found
    is_bare = any(is_bare_next(user) for user, _ in takers) or any(m.name == "send" for m in methods)
    if is_bare and _returns_something(written.graph):
        return False  # whoever catches its StopIteration may ask for the value
    consuming = [(user, value) for user, value in takers if target(user) is not _next_]
    consumers = [functions.consumer(user, user.operands.index(value)) for user, value in consuming]
    if not all(consumers):
        return False
    if consumers:
        # One after the other: what is left is looked at again.
        (user, value), consumer = consuming[0], consumers[0]
        if isinstance(consumer, Written):
            put_graph(graph, user, consumer.graph, consumer.values)
        else:
            _make_list(graph, user, value, functions.listing())
        return True
    heads = [(step, _end_of_head(step)) for step, _ in takers]
    if any(end is None for _, end in heads):
        return False
    if methods:
        if target(made) is _foreigncall_:
            return False  # what C code makes is no generator, and has none of these methods
        return _write_with_methods(graph, functions, made, written, methods)
    step, end = heads[0]
    is_once = len(heads) == 1 and _is_entered_once(graph, made, step, end)
    if written.is_endless and not is_once:
        return False
    places = [_place(graph, step, end) for step, end in heads if end is not None]
    yields = [call for call in written.graph.instructions() if target(call) in (_yield_, _yield_from_)]
    if len(yields) == 1 and is_once:
        _write_in(graph, functions, chain, places[0].step, places[0].end, written)
    else:
        _write_with_state(graph, functions, chain, places, written)
    return True


def _place(graph: Graph, step: Instruction, end: Block, sent: Value | None = None) -> Asking:
    _own_body(graph, end)
    return Asking(step, end, sent)


def _write_with_methods(
    graph: Graph, functions: Functions, made: Instruction, written: Written, methods: Sequence[Method]
) -> bool:
    """Write a generator in that is sent values, or closed."""
    probe = Instruction("call", [Const(_foreigncall_), Const(next), made])
    asking = functions.consumer(probe, 2)
    if not isinstance(asking, Written) or not functions.receives(written):
        return False
    sent: dict[Instruction, Value] = {}
    for method in methods:
        if method.name == "send":
            sent |= ask(graph, method, asking.graph, asking.values)
    closing = [block for method in methods if method.name == "close" for block in close(graph, method)]
    if closing:  # what was to be done if a call of ``close`` raised is reached no more
        remove_unreachable(graph)
        closing = [block for block in closing if block in graph.blocks]
    found = _uses_of(made, uses(graph))
    if found is None:  # all else that was done with the generator stood there
        return True
    chain, takers, _ = found
    places = []
    for step, _ in takers:
        end = _end_of_head(step)
        assert end is not None
        places.append(_place(graph, step, end, sent.get(step)))
    _write_with_state(graph, functions, chain, places, written, closing)
    return True


def _write_with_state(
    graph: Graph,
    functions: Functions,
    chain: Sequence[Instruction],
    places: Sequence[Asking],
    written: Written,
    closing: Sequence[Block] = (),
) -> None:
    """Write a generator in that is asked at `places`, and closed where the blocks `closing` end."""
    generator = _copy(graph, functions, places[0].step, chain, written)
    write_states(graph, chain[0], places, generator, functions.begun(), closing)
    for instruction in chain:
        assert instruction.block is not None
        instruction.block.instructions.remove(instruction)


def _uses_of(
    made: Instruction, users: Mapping[Value, Sequence[object]]
) -> tuple[list[Instruction], list[tuple[Instruction, Instruction]], list[Method]] | None:
    """The generator and what `_iter_` makes of it, who takes values from which of these, and the methods that
    are called; None if there is anything else that knows it."""
    chain: list[Instruction] = [made]
    takers: list[tuple[Instruction, Instruction]] = []
    methods: list[Method] = []
    for value in chain:
        for user in users.get(value, ()):
            if not isinstance(user, Instruction) or user.operands.count(value) != 1:
                return None
            if target(user) is _iter_:
                chain.append(user)
            elif target(user) is _getattr_:
                method = method_of(user, users)
                if method is None:
                    return None
                methods.append(method)
            else:
                takers.append((user, value))
    is_asked = takers or any(method.name == "send" and method.calls for method in methods)
    return (chain, takers, methods) if is_asked else None


def _copy(
    graph: Graph, functions: Functions, step: Instruction, chain: Sequence[Instruction], written: Written
) -> Graph:
    """The generator as it is written in where `step` stands."""
    values = _arguments(chain, written)
    generator = adopted(graph, step, written.graph, values)
    _fill_cells(generator, written.cells)
    iterators = {values[number] for number, f in written.prepared.items() if f is _iter_}
    _are_iterators(generator, iterators.union(v for v in values if makes_one(graph, functions, v)))
    return generator


def makes_one(graph: Graph, functions: Functions, value: Value) -> bool:
    """Whether `value` is a generator that may be written into `graph`."""
    if not isinstance(value, Instruction) or value.op != "call" or target(value) is _iter_:
        return False
    return functions.generator(graph, value) is not None


def _own_body(graph: Graph, end: Block) -> None:
    """Let the body of the loop begin with a block that is entered from its head only."""
    assert isinstance(end.terminator, Branch)
    body = end.terminator.false
    if body.phis or predecessors(graph)[body] != [end]:
        split_edge(end, body)


def _is_entered_once(graph: Graph, made: Instruction, user: Instruction, end: Block | None) -> bool:
    """Whether there is a new generator whenever what consumes it begins; `end` ends the head of the loop."""
    start, home = made.block, user.block
    assert start is not None and home is not None
    if start is home:  # in this order, for one uses the other
        return True
    # Ways back to the consumer that stay in its loop do not count: they go on with the generator.
    going_on = {home} if end is None else {*_inside(graph, home, end), end}
    starts = [s for b in going_on for s in b.successors if end is None or s not in going_on]
    return not leads_to(starts, home, start)


def _inside(graph: Graph, head: Block, end: Block) -> set[Block]:
    """The blocks of the loop with this head: those from which its body leads back to it."""
    assert isinstance(end.terminator, Branch)
    body = end.terminator.false
    dominators = Dominators(graph)
    sources = predecessors(graph)
    inside: set[Block] = {head}
    waiting = [b for b in sources[head] if dominators.dominates(body, b)]
    while waiting:
        block = waiting.pop()
        if block not in inside:
            inside.add(block)
            waiting += sources[block]
    return inside


def _end_of_head(step: Instruction) -> Block | None:
    """The block that ends the head of a loop, if `step` and the test of its result are all that the head
    does: where exceptions have a handler these stand in two blocks."""
    head = step.block
    assert head is not None
    if head.instructions[0] is not step:  # it is no loop if something stands in front of it
        if head.handler is not None:
            return None
        head = _begin_with(head, step)
    end, tests = head, head.instructions[1:]
    if not tests and isinstance(head.terminator, Jump):
        end = head.terminator.target
        tests = end.instructions
        if end.phis or end is head or predecessors(head.graph)[end] != [head]:
            return None
    if len(tests) != 1 or target(tests[0]) is not _exhausted_ or tests[0].operands[1] is not step:
        return None
    branch = end.terminator
    is_test = isinstance(branch, Branch) and branch.condition is tests[0] and branch.true is not branch.false
    return end if is_test else None


def _begin_with(block: Block, step: Instruction) -> Block:
    """Let a block begin with `step`, which stands in `block`."""
    head = block.graph.add_block(f"{block.label}.step")
    at = block.instructions.index(step)
    for instruction in block.instructions[at:]:
        head.append(instruction)
    del block.instructions[at:]
    head.terminator = block.terminator
    for successor in head.successors:
        for phi in successor.phis:
            phi.operands = {head if b is block else b: v for b, v in phi.operands.items()}
    block.terminator = Jump(head, step.position)
    return head


def _write_in(
    graph: Graph,
    functions: Functions,
    chain: Sequence[Instruction],
    step: Instruction,
    end: Block,
    written: Written,
) -> None:
    """Replace the loop over a generator by what that does, with the body of the loop where it yields."""
    head = step.block
    assert head is not None and isinstance(end.terminator, Branch)
    done, body = end.terminator.true, end.terminator.false
    inside = _inside(graph, head, end)
    sources = predecessors(graph)[head]
    generator = _copy(graph, functions, step, chain, written)
    take_blocks(graph, generator)

    # The ways into the loop lead to where the generator begins, those back to where it goes on.
    (given,) = (call for block in generator.blocks for call in block.instructions if _is_yield(call))
    place = given.block
    assert place is not None
    enter = graph.add_block(f"{head.label}.enter")
    resume = graph.add_block(f"{head.label}.resume")
    enter.terminator = Jump(generator.entry, step.position)
    for source in sources:
        source.terminator.replace_successor(head, resume if source in inside else enter)
    instead: dict[Value, list[Instruction | Phi]] = {}
    for phi in head.phis:
        instead[phi] = []
        for block, is_inside in ((enter, False), (resume, True)):
            part = Phi(block, phi.type, phi.name)
            part.position = phi.position
            part.operands = {s: v for s, v in phi.operands.items() if (s in inside) == is_inside}
            block.phis.append(part)
            instead[phi].append(part)
    rest = split(graph, place, place.instructions.index(given))
    place.terminator = Jump(body, given.position)
    resume.terminator = Jump(rest, given.position)
    graph.replace_uses({given: Const(None), step: given.operands[1]})

    ends = [block for block in (*generator.blocks, rest) if isinstance(block.terminator, Return)]
    for block in ends:
        block.terminator = Jump(done, block.terminator.position)
    for phi in done.phis:
        value = phi.operands.pop(end)
        phi.operands.update(dict.fromkeys(ends, value))
    if head.handler is not None:
        caught = {phi: phi.operands.pop(head) for phi in head.handler.phis}
        protect(graph, (*generator.blocks, rest), head.handler, caught)
    gone = {head, end, *(() if len(predecessors(graph).get(resume, ())) else (resume,))}
    if resume in gone:
        instead = {phi: parts[:1] for phi, parts in instead.items()}
    graph.blocks = [block for block in graph.blocks if block not in gone]
    for instruction in chain:
        assert instruction.block is not None
        instruction.block.instructions.remove(instruction)
    remove_unreachable(graph)
    repair(graph, instead)


def _arguments(chain: Sequence[Instruction], written: Written) -> list[Value]:
    """The parameters of the generator, of which some are prepared where it was made."""
    made = chain[0]
    values = list(written.values)
    block = made.block
    assert block is not None
    for number, function in written.prepared.items():
        is_called = function is _iter_ or is_function(function)
        called = [Const(function)] if is_called else [Const(_foreigncall_), Const(function)]
        prepared = Instruction("call", [*called, values[number]], position=made.position)
        prepared.block = block
        block.instructions.insert(block.instructions.index(made), prepared)
        values[number] = prepared
    return values


def _are_iterators(generator: Graph, iterators: Set[Value]) -> None:
    """Let the generator take values from `iterators` as they are: who has asked for an iterator in C does not
    ask that for another one, which may be told in Python."""
    replaced: dict[Value, Value] = {}
    for block in generator.blocks:
        for call in list(block.instructions):
            if target(call) is _iter_ and call.operands[1] in iterators:
                replaced[call] = call.operands[1]
                block.instructions.remove(call)
    generator.replace_uses(replaced)


def _fill_cells(generator: Graph, cells: Sequence[Value]) -> None:
    """Let the generator use the cells of its closure as values."""
    replaced: dict[Value, Value] = {}
    for block in generator.blocks:
        for call in list(block.instructions):
            if target(call) is _freevar_:
                index = call.operands[1]
                assert isinstance(index, Const) and isinstance(index.value, int)
                replaced[call] = cells[index.value]
                block.instructions.remove(call)
    generator.replace_uses(replaced)


def _make_list(graph: Graph, call: Instruction, source: Instruction, listing: Graph) -> None:
    """Let `call` take a list of what `source` gives."""
    made = Instruction("call", [Const(_new_), Const(list), source], position=call.position)
    block = call.block
    assert block is not None
    made.block = block
    block.instructions.insert(block.instructions.index(call), made)
    call.operands = [made if v is source else v for v in call.operands]
    put_graph(graph, made, listing, [source])
