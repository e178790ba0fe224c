"""Generators are closed where the frame lets go of them, as CPython does when it drops the last reference.

before (``guarded`` has a yield inside a ``try``; the loop is left by a ``break``)::

    entry:                                       loop:
        %1 = call guarded(%a)                        %3 = call _next_(%2)
        %2 = call _iter_(%1)                         %4 = call _exhausted_(%3)
        jump loop                                    branch %4, rest, body
                                                 body:
                                                     %5 = call f(%3)
                                                     call _release_(%2, STACK)
                                                     jump rest

after::

    entry:                                       body:                       body.raises:
        %1 = call guarded(%a)                        %5 = call f(%3)             %6 = catch
        %2 = call _iter_(%1)                         jump body.drops             call _drop_(%1, True)
        jump loop                                body.drops:                     call _reraise_(%6)
    loop: handler body.raises                        call _drop_(%1, True)
        ...                                          jump rest

An *object* is a generator, by all its names: what it is iterated by, and iterators in C that hold it
(`HOLDERS`).  It is made by a call of a generator function, or of a function that does nothing with what it
has made but return it.  If nobody but the frame ever refers to it, which is so if it is only iterated,
consumed by functions that keep nothing (`CONSUMERS`, and those written in Python that do with their parameter
no more than that) and asked for its methods, it is dropped where the last of these names is not live any
more.  The lifter has said where the frame lets go of stack and variables (`_release_`, which are uses, and go
here), so that this is where CPython drops it, and not before.  Where a phi chooses between two, it is another
object, to which these are handed over.

The traceback of an exception that somebody keeps keeps the variables of the frame: where one may have been
caught, which a flag says if several ways lead to a place, they are not dropped.

Not closed, but left for the runtime to refuse if that matters, are those, and generators that are stored,
returned, captured or passed on to somebody who may keep them.

Needs a graph with releases in normal form, straight after it has been made: functions that are written into
others would let go of their variables later.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import functools
import inspect
import itertools
import math
import operator
import types
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from adbc.cpython.decode import table
from adbc.functions import is_function
from adbc.ir import intrinsics as i
from adbc.ir.builder import Builder, Variables
from adbc.ir.graph import Block, Graph
from adbc.ir.ops import may_raise
from adbc.ir.terminators import Branch, Jump, Raise, Return
from adbc.ir.traverse import postorder, split_edge
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.normal.dead_code import dead_code
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.normal.needed_releases import ends_frame
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.query import constant, target
from adbc.records import record

__all__ = [
    "Functions",
    "Made",
    "ask_before_holders",
    "drop_generators",
    "generators_made",
    "generators_returned",
    "makes_generators",
    "only_consumes",
]

Made = types.FunctionType | types.CodeType | Instruction
"""What may make generators: a function, the code of a function that is made in the graph, or an instruction
of which only the running program knows whether it makes any: the one that reads a function from an attribute
or a cell, or that asks an object for an iterator."""


class Functions(Protocol):
    """What is asked about functions that a graph calls."""

    def must_be_closed(self, made: Made, /) -> bool:
        """Whether something has to run when a new generator from a call of `made` is closed; no if `made`
        makes none."""

    def only_consumes(self, function: types.FunctionType | types.CodeType, index: int, /) -> bool:
        """Whether parameter number `index` of a function is only iterated, and held until the function
        returns."""

    def makes_walked_by_closed(self, maker: object, /) -> bool:
        """Whether `maker`, a class or a function, may give an object whose ``__iter__`` makes generators in
        which something has to run when they are closed."""


_ALIASES = (i._iter_, i._check_, builtins.iter)
"""Functions whose result is their first argument if that is a generator."""

HOLDERS: tuple[Any, ...] = (
    zip, enumerate, map, filter, itertools.chain, itertools.takewhile, itertools.dropwhile,
    itertools.starmap, itertools.accumulate, itertools.compress, itertools.filterfalse, itertools.pairwise,
    itertools.zip_longest, itertools.islice,
)  # fmt: skip
"""Iterators that refer to their arguments for as long as there is something to be had from those."""

_FIRST = (
    next, list, tuple, set, frozenset, dict, sorted, sum, any, all, min, max, math.fsum, math.prod,
    collections.deque, i._next_, i._unpack_, i._unpack_ex_, i._send_, i._bool_, operator.contains,
)  # fmt: skip
_SECOND = (functools.reduce, i._list_extend_, i._set_update_, i._yield_from_)
CONSUMERS: dict[int, int] = {id(f): 0 for f in _FIRST} | {id(f): 1 for f in _SECOND}
"""Functions that no longer refer to what they iterate over when they have returned, and the position of the
argument that they iterate over.  They are found by identity, because a callee may be any object."""

_YES = Const(True)
_METHODS = ("__iter__", "__next__", "send", "throw", "close")

_HANDLING = (
    i._push_exc_info_, i._pop_except_, i._reraise_, i._check_exc_match_, i._check_eg_match_,
    i._prep_reraise_star_, i._project_, i._release_,
)  # fmt: skip
"""Functions that handlers call on an exception and that keep no reference to it."""


def generators_made(graph: Graph) -> list[tuple[Instruction, Made]]:
    """The calls of a graph in normal form that may make generators, and of which functions."""
    return [(call, made) for call in graph.instructions() if (made := _made(call)) is not None]


def _made(call: Instruction) -> Made | None:
    callee = call.operands[0] if call.op == "call" else None
    if target(call) is i._apply_:
        callee = call.operands[1] if isinstance(call.operands[1], Const) else None
    if target(call) is i._iter_:
        return call if _may_be_walked(call.operands[1]) else None
    if isinstance(callee, Const) and is_function(callee.value):
        return callee.value
    if callee is None:
        return None
    if target(callee) is i._getattr_ or target(callee) is i._cell_get_:
        assert isinstance(callee, Instruction)
        return callee
    return _code_made(callee)


def _may_be_walked(value: Value) -> bool:
    """Whether a value may be an object whose ``__iter__`` is a generator function, as far as its call says:
    what C functions and displays give, and generators, are not."""
    if isinstance(value, Const):
        return False
    if not isinstance(value, Instruction):
        return True
    if target(value) is i._new_:
        cls = constant(value.operands[1])
        return not isinstance(cls, type) or cls.__module__ != "builtins"
    made = _made(value)
    if isinstance(made, types.FunctionType):
        made = made.__code__
    return target(value) not in (i._foreigncall_, i._iter_) and not (
        isinstance(made, types.CodeType) and makes_generators(made)
    )


def _code_made(function: Value) -> types.CodeType | None:
    """The code of a function that is made in the graph."""
    if target(function) is i._new_ and isinstance(function, Instruction):
        made = [constant(x) for x in function.operands[1:3]]
        if made[0] is types.FunctionType and isinstance(made[1], types.CodeType):
            return made[1]
    return None


def makes_generators(code: types.CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_GENERATOR)


def generators_returned(graph: Graph) -> list[Made] | None:
    """What makes the generators that a function returns, if it returns nothing else and does nothing with
    them, so that they belong to its caller; else None."""
    calls = dict(generators_made(graph))
    users = _users(graph)
    found = []
    for block in graph.blocks:
        if isinstance(block.terminator, Return):
            value = block.terminator.value
            made = calls.get(value)  # type: ignore[call-overload]
            if made is None or isinstance(made, Instruction) or users[value] != [block.terminator]:
                return None
            found.append(made)
    return found or None


@record(eq=False)
class _Object:
    """A generator: the one that the call `owner` makes, or the one that the phi `owner` has chosen."""

    owner: Value
    members: list[Value]
    """The values of the graph that are the generator, or that hold it."""
    is_own: Value = dataclasses.field(default_factory=lambda: Const(True))
    """Whether the generator has been made by `owner`, and was not there before."""
    is_framed: bool = False
    """Whether the generator is held by the frame of a generator expression, or of a function that consumes
    it, and that frame may be kept by an exception."""
    ends_with_iterator: bool = True
    """Whether the generator is exhausted if and only if the iterator by which the graph knows it is."""
    is_named: bool = False
    """Whether the generator is in a local variable at any time."""
    may_stay: bool = False
    """Whether the frame, and the generator with it, may outlive the call where an exception has been
    caught."""
    is_lost: bool = False
    """Whether anything outside the frame may refer to the generator."""


def ask_before_holders(graph: Graph, functions: Functions) -> None:
    """Ask objects for their iterators in front of the calls that would ask (``enumerate(Walk(...))`` becomes
    ``enumerate(iter(Walk(...)))``), where these are generators that somebody has to close; in place."""
    for block in graph.blocks:
        for call in list(block.instructions):
            function, arguments = _parts(call)
            if not any(function is f for f in HOLDERS):
                continue
            for value in dict.fromkeys(arguments):
                if functions.makes_walked_by_closed(_maker(value)):
                    asked = Instruction("call", [Const(i._iter_), value], position=call.position)
                    asked.block = block
                    block.instructions.insert(block.instructions.index(call), asked)
                    call.operands = [asked if x is value else x for x in call.operands]


def _maker(value: Value) -> object:
    """The class or function that a call calls which gives `value`; None if there is none that is known."""
    if not isinstance(value, Instruction):
        return None
    callee, arguments = _parts(value)
    return constant(arguments[0]) if callee is i._new_ else callee


def drop_generators(graph: Graph, functions: Functions) -> Graph:
    """Close generators where the frame drops its last reference to them; in place."""
    found = _Objects(graph, functions)
    objects = found.found()
    if objects:
        for o in objects:
            _ask(o)
        _Drops(graph, objects, found.escaping).write()
    for block in graph.blocks:
        block.instructions = [x for x in block.instructions if target(x) is not i._release_]
    return merge_blocks(dead_code(trivial_phis(graph)))


def only_consumes(graph: Graph, index: int, functions: Functions) -> bool:
    """Whether the function of a graph with releases only iterates its parameter number `index`, and lets go
    of that when it returns: the generator that it iterates over is dropped then, if nobody else refers to it.

    The answer is no if the function drops generators of its own, because variables are let go of in their
    order.
    """
    found = _Objects(graph, functions)
    if found.objects or found.escaping:
        return False
    parameter = found.object(graph.arguments[index])
    return (
        not parameter.is_lost
        and not found.chosen
        and all(
            target(user) is not i._release_ or constant(user.operands[2]) == i.STACK or ends_frame(user)
            for member in parameter.members
            for user in found.users.get(member, ())
        )
    )


def _ask(o: _Object) -> None:
    """Ask, in front of a call of a function that is not known, or for an iterator over an object that is not
    known, whether that makes a generator."""
    call = o.owner
    if isinstance(call, Instruction) and (made := _made(call)) is not None and isinstance(made, Instruction):
        question = Const(i._iterates_by_generator_ if made is call else i._makes_generator_)
        subject = call.operands[1] if made is call else call.operands[0]
        asked = Instruction("call", [question, subject], position=call.position)
        asked.block = call.block
        assert call.block is not None
        call.block.instructions.insert(call.block.instructions.index(call), asked)
        o.is_own = asked


class _Objects:
    """Finds the objects that only the frame refers to."""

    def __init__(self, graph: Graph, functions: Functions) -> None:
        self.users = _users(graph)
        self.functions = functions
        self.given: dict[Instruction, set[_Object]] = {}
        """The objects that functions written in Python consume, by their calls."""
        self.calls: dict[Value, Made] = dict(generators_made(graph))
        self.objects: dict[Value, _Object] = {}
        self.chosen: list[tuple[_Object, _Object]] = []
        """Pairs of an object and the object of a phi to which it is handed over."""
        self.sliced: set[Value] = set()
        """Iterators that let go of a generator before it is exhausted, when they have taken enough from it
        (``islice``)."""
        self.waiting: list[_Object] = []
        for call, made in self.calls.items():
            if functions.must_be_closed(made):
                self._object(call)
        self._settle()
        self.escaping = _escaping(graph, self.users)

    def found(self) -> list[_Object]:
        known = {member for o in self.objects.values() for member in o.members}
        for o in self.objects.values():
            if isinstance(o.owner, Phi):
                o.is_lost |= not all(isinstance(v, Const) or v in known for v in o.owner.operands.values())
        changed = True
        while changed:  # what one is handed over to is like it, and the other way round
            changed = False
            for a, b in self.chosen:
                for name in ("is_lost", "is_named", "is_framed"):
                    if getattr(a, name) != getattr(b, name):
                        setattr(a, name, True)
                        setattr(b, name, True)
                        changed = True
        for o in self.objects.values():
            o.may_stay = o.is_named and bool(self.escaping)
        return [o for o in self.objects.values() if not o.is_lost]

    def object(self, owner: Value) -> _Object:
        """The object for a generator, with all that is known of it."""
        self._object(owner)
        self._settle()
        return self.objects[owner]

    def _settle(self) -> None:
        while self.waiting:
            self._follow(self.waiting.pop())
        for given in self.given.values():
            if len(given) > 1:  # the frame lets go of them in the order of its variables
                for o in given:
                    o.is_lost = True

    def _object(self, owner: Value) -> _Object:
        if owner not in self.objects:
            self.objects[owner] = _Object(owner, [owner])
            self.waiting.append(self.objects[owner])
        return self.objects[owner]

    def _follow(self, o: _Object) -> None:
        """Find all values that are or hold a generator, and what is done to the generator by way of them."""
        for member in o.members:
            for user in self.users.get(member, ()):
                if isinstance(user, Phi):
                    o.is_lost |= isinstance(self.calls.get(o.owner), Instruction)
                    other = self._object(user)
                    other.ends_with_iterator = False
                    self.chosen.append((o, other))
                    o.is_lost |= member in self.sliced
                elif isinstance(user, Instruction):
                    self._use(o, member, user)
                else:
                    o.is_lost = True

    def _use(self, o: _Object, member: Value, user: Instruction) -> None:
        """Note what `user` does to a generator by way of `member`, one of its values."""
        function, arguments = _parts(user)
        first = arguments[:1] == [member] and member not in arguments[1:]
        if function is i._release_:
            is_named = constant(arguments[1]) != i.STACK
            o.is_named |= is_named
            o.is_lost |= is_named and member in self.sliced
        elif function is operator.is_ or function is operator.is_not:
            pass
        elif target(member) is i._getattr_:  # a method of it
            o.is_lost |= function is not member or member in arguments
        elif function is i._getattr_ and first and constant(arguments[1]) in _METHODS:
            o.members.append(user)
        elif any(function is f for f in _ALIASES) and first:
            o.is_lost |= len(arguments) > 1 and function is builtins.iter
            o.members.append(user)
            if member in self.sliced:
                self.sliced.add(user)
        elif any(function is f for f in HOLDERS):
            o.is_lost |= member in self.sliced
            o.ends_with_iterator = False
            o.members.append(user)
            if function is itertools.islice:
                self.sliced.add(user)
        elif user in self.calls and arguments == [member] and _is_expression(self.calls[user]):
            o.is_lost |= member in self.sliced or (user in self.objects and table().CLOSES_FROM_FIRST)
            o.is_framed, o.ends_with_iterator = True, False
            o.members.append(user)
        else:
            place = CONSUMERS.get(id(function))
            places = [k for k, x in enumerate(arguments) if x is member]
            if len(places) == 1 and self._consumes(user, function, places[0]):
                o.is_framed = True
                self.given.setdefault(user, set()).add(o)
            else:
                o.is_lost |= place is None or places != [place]

    def _consumes(self, call: Instruction, callee: Any, place: int) -> bool:
        """Whether `callee` is a function written in Python that only iterates argument number `place`."""
        function = _code_made(callee) if isinstance(callee, Value) else callee
        if not isinstance(function, types.FunctionType | types.CodeType):
            return False
        named = place - (len(call.operands) - 1 - len(call.keywords))
        if named >= 0:
            code = function if isinstance(function, types.CodeType) else function.__code__
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if call.keywords[named] not in parameters:
                return False
            place = parameters.index(call.keywords[named])
        return self.functions.only_consumes(function, place)


class _Drops:
    """Writes the drops of generators into a graph.  Blocks are cut until a generator can only be dropped
    between two of them."""

    def __init__(self, graph: Graph, objects: Sequence[_Object], escaping: set[Instruction]) -> None:
        self.graph = graph
        self.objects = objects
        self.escaping = escaping
        self.of: dict[Value, set[_Object]] = {}
        for o in objects:
            for member in o.members:
                self.of.setdefault(member, set()).add(o)
        self.owned = {o.owner: o for o in objects}
        self._cut()
        blocks = postorder(graph)
        self.order = {block: len(blocks) - k for k, block in enumerate(blocks)}
        self.used = {block: self._used(block) for block in blocks}
        self.made = {
            block: {self.owned[v] for v in (*block.phis, *block.instructions) if v in self.owned}
            for block in blocks
        }
        self.alive: dict[Block, set[_Object]] = {block: set() for block in blocks}
        self._find_alive(blocks)

    def write(self) -> None:
        """Write the drops; none is written if a phi takes a generator that is still needed as another
        value."""
        if any(self._is_shared(a, b) for a in self.order for b in a.successors):
            return
        edges = [(a, b) for a in self.order for b in a.terminator.successors]
        caught = [(a, a.handler, self._dropped_raising(a)) for a in self.order if _raises(a)]
        normal = [(a, b, self._dropped(a, b)) for a, b in edges]
        end = self._ends([a for a, _, dropped in normal if any(o.may_stay for o in dropped)])
        for a, b, dropped in normal:
            if dropped:
                between = split_edge(a, b, f"{a.label}.drops")
                _drop(Builder(self.graph, between), a, dropped, end.get(a, Const(True)))
        pads: dict[tuple[Block | None, tuple[_Object, ...]], list[Block]] = {}
        for a, handler, dropped in caught:
            if dropped:
                pads.setdefault((handler, tuple(dropped)), []).append(a)
        for (handler, objects), blocks in pads.items():
            self._pad(blocks, handler, objects)

    def _ends(self, blocks: Sequence[Block]) -> dict[Block, Value]:
        """Whether at the ends of `blocks` the frame ends with the call: no exception has been caught that
        somebody may keep."""
        if not blocks:
            return {}
        variables = Variables(self.graph, initial=lambda variable: Const(True))
        for block in self.order:
            for successor in block.successors:
                variables.edge(block, successor)
            if not self.escaping.isdisjoint(block.instructions):
                variables.write("ends", block, Const(False))
        for block in self.order:
            variables.seal(block)
        return {block: variables.read("ends", block) for block in blocks}

    def _cut(self) -> None:
        """Cut blocks behind each instruction that may raise, or uses a generator."""
        for block in list(self.graph.blocks):
            rest, end, handler = block.instructions, block.terminator, block.handler
            last = rest[-1] if rest and not isinstance(end, Raise) else None
            targets = end.successors
            block.instructions, block.handler = [], None
            current = block
            for k, instruction in enumerate(rest):
                current.append(instruction)
                if instruction is last and handler is not None:
                    current.handler = handler
                    _rename_source(handler, block, current)
                if may_raise(instruction) or not self.of.keys().isdisjoint(instruction.operands):
                    following = self.graph.add_block(f"{block.label}.{k}")
                    current.terminator = Jump(following, instruction.position)
                    current = following
            current.terminator = end
            if isinstance(end, Raise) and handler is not None:
                current.handler = handler
                _rename_source(handler, block, current)
            for successor in targets:
                _rename_source(successor, block, current)

    def _used(self, block: Block) -> set[_Object]:
        found: set[_Object] = set()
        for instruction in block.instructions:
            for value in instruction.operands:
                found |= self.of.get(value, set())
        return found

    def _handed_over(self, a: Block, b: Block) -> set[_Object]:
        """The objects that phis of `b` take when it is entered from `a`."""
        found: set[_Object] = set()
        for phi in b.phis:
            if phi in self.owned and a in phi.operands:
                found |= self.of.get(phi.operands[a], set())
        return found

    def _is_shared(self, a: Block, b: Block) -> bool:
        """Whether a generator that a phi of `b` takes from `a` is also needed as another value."""
        taken: list[_Object] = []
        for phi in b.phis:
            if phi in self.owned and a in phi.operands:
                taken += self.of.get(phi.operands[a], set())
        return len(taken) != len(set(taken)) or not self.alive[b].isdisjoint(taken)

    def _find_alive(self, blocks: Sequence[Block]) -> None:
        """The objects that are alive where each block begins, before its phis."""
        changed = True
        while changed:
            changed = False
            for block in blocks:
                alive = set(self.used[block])
                for successor in block.successors:
                    alive |= self.alive[successor] | self._handed_over(block, successor)
                alive -= self.made[block]
                if alive != self.alive[block]:
                    self.alive[block] = alive
                    changed = True

    def _dropped(self, a: Block, b: Block) -> list[_Object]:
        """The generators that are dropped on the edge from `a` to `b`."""
        if any(_is_kept(x) for x in a.instructions):
            return []
        gone = (self.alive[a] | self.made[a]) - self.alive[b] - self._handed_over(a, b)
        if _exhausts(a, b):
            gone = {o for o in gone if not o.ends_with_iterator}
        return self._in_order(gone)

    def _dropped_raising(self, block: Block) -> list[_Object]:
        """The generators that are dropped if `block` raises."""
        before = self.alive[block] | {self.owned[phi] for phi in block.phis if phi in self.owned}
        handler = block.handler
        if handler is not None:
            before = before - self.alive[handler] - self._handed_over(block, handler)
        gone = {o for o in before if not (o.is_named or o.is_framed)}
        if len(gone) > 1 and handler is None and _is_yield(block) and table().CLOSES_FROM_FIRST:
            return []  # the order depends on whether it is closed or something is thrown into it
        return self._in_order(gone)

    def _in_order(self, objects: set[_Object]) -> list[_Object]:
        """The objects in the order in which they are dropped: the stack is emptied from its top."""
        return [o for o in reversed(self.objects) if o in objects]

    def _pad(self, blocks: Sequence[Block], handler: Block | None, dropped: Sequence[_Object]) -> None:
        """Drop objects on the way from `blocks` to `handler`, or out of the function."""
        pad = self.graph.add_block(f"{blocks[0].label}.raises")
        builder = Builder(self.graph, pad)
        caught = builder.emit("catch")
        _drop(builder, blocks[0], dropped)
        on = self.graph.add_block(f"{pad.label}.on")
        builder.jump(on)
        Builder(self.graph, on).call(i._reraise_, caught)
        on.handler = handler
        for phi in () if handler is None else handler.phis:
            merged = Phi(pad, name=phi.name)
            merged.operands = {block: phi.operands.pop(block) for block in blocks}
            pad.phis.append(merged)
            phi.operands[on] = merged
        for block in blocks:
            block.handler = pad


def _drop(builder: Builder, block: Block, objects: Sequence[_Object], ends: Value = _YES) -> None:
    builder.position = block.instructions[-1].position if block.instructions else block.terminator.position
    for o in objects:
        is_own = o.is_own
        if o.may_stay and constant(ends) is not True:
            is_own = ends if constant(is_own) is True else builder.call(operator.and_, is_own, ends)
        builder.call(i._drop_, o.owner, is_own)


def _raises(block: Block) -> bool:
    if isinstance(block.terminator, Raise):
        return True
    return bool(block.instructions) and may_raise(block.instructions[-1])


def _is_yield(block: Block) -> bool:
    return bool(block.instructions) and target(block.instructions[-1]) is i._yield_


def _is_kept(instruction: Instruction) -> bool:
    return target(instruction) is i._release_ and constant(instruction.operands[2]) == i.KEPT


def _exhausts(a: Block, b: Block) -> bool:
    """Whether `a` goes to `b` if an iterator is exhausted."""
    end = a.terminator
    return isinstance(end, Branch) and end.true is b and target(end.condition) is i._exhausted_


def _rename_source(block: Block, old: Block, new: Block) -> None:
    for phi in block.phis:
        if old in phi.operands:
            phi.operands[new] = phi.operands.pop(old)


def _parts(call: Instruction) -> tuple[Any, list[Value]]:
    """The callee of a call, as an object if that is known and else as a value, and the arguments."""
    if call.op != "call":
        return None, list(call.operands)
    callee, *arguments = call.operands
    if target(call) is i._foreigncall_:
        callee, *arguments = arguments
    return (callee.value if isinstance(callee, Const) else callee), arguments


def _is_expression(made: Made) -> bool:
    return isinstance(made, types.CodeType) and made.co_name == "<genexpr>"


def _users(graph: Graph) -> dict[Value, list[Any]]:
    """Phis, instructions and terminators that use each value."""
    users: dict[Value, list[Any]] = {}

    def note(user: object, values: Iterator[Value] | Sequence[Value]) -> None:
        for value in dict.fromkeys(values):
            users.setdefault(value, []).append(user)

    for block in graph.blocks:
        for phi in block.phis:
            note(phi, list(phi.operands.values()))
        for instruction in block.instructions:
            note(instruction, instruction.operands)
        note(block.terminator, block.terminator.values)
    return users


def _escaping(graph: Graph, users: dict[Value, list[Any]]) -> set[Instruction]:
    """The instructions that catch an exception which somebody may keep, and with it the variables of the
    frame."""
    return {x for x in graph.instructions() if x.op == "catch" and _escapes(x, users)}


def _escapes(caught: Instruction, users: dict[Value, list[Any]]) -> bool:
    found: dict[Value, None] = {caught: None}
    waiting: list[Value] = [caught]
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if isinstance(user, Raise):
                continue
            if isinstance(user, Instruction) and not any(target(user) is f for f in _HANDLING):
                return True
            if isinstance(user, Phi | Instruction) and user not in found:
                found[user] = None
                waiting.append(user)
    return False
