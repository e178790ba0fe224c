"""`lift`: a function, or its code object, becomes a graph.

The blocks of the bytecode are visited in reverse postorder from the entry, so that every block but
a loop's head is reached after all that leads to it, and code that cannot be reached is never looked
at: a construct that is refused does not matter there.

Derivatives are unknown here; so is what an instruction does, which the handlers say.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

from adbc.cpython.decode import Code, decode
from adbc.cpython.refusals import refusal
from adbc.errors import LiftError
from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import UNBOUND
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Value
from adbc.lift import ssa
from adbc.lift.comprehensions import inline_comprehensions
from adbc.lift.frame import Frame
from adbc.lift.handlers import HANDLERS
from adbc.types.lattice import TupleType

__all__ = ["lift", "lift_class_body"]


def lift(
    function: types.FunctionType | types.MethodType | types.CodeType,
    *,
    globals: Mapping[str, Any] | None = None,
    inline: bool = False,
    releases: bool = False,
    looks: bool = False,
) -> Graph:
    """The graph of a function, a bound method's function or a code object.

    `globals` is what global names are looked up in (to see whether ``super`` or ``locals`` still is
    the builtin): those of the function if not given.  `inline` makes loops of comprehensions that are
    functions of their own, as they are on 3.11; a traceback through them then has one frame less.
    With `releases` the graph says where the frame lets go of what it holds (`_release_`).  With `looks` code
    that looks at its own frame is lifted too, for a graph that runs in another frame: ``locals()`` becomes a
    dict of the variables, and what cannot be given raises where it is called.

    Raises `LiftError` if there is no bytecode, or if it contains a construct that is refused.
    """
    code, namespace = _code_of(function, globals)
    _refuse_kinds(code)
    return _lifted(Frame(decode(code), _graph_for(code), namespace, releases, looks), inline)


def lift_class_body(function: types.FunctionType, *, inline: bool = False, looks: bool = False) -> Graph:
    """The graph of the function that a class statement makes of its body.

    Its one argument is the namespace that the body fills; like the function, the graph returns the cell of
    ``__class__``, or None.  Names are read and written there, by way of intrinsics.  Code that ``exec`` or
    ``eval`` runs is of this kind.
    """
    graph = _graph_for(function.__code__)
    frame = Frame(decode(function.__code__), graph, function.__globals__, looks=looks)
    frame.namespace = graph.add_argument("namespace")
    return _lifted(frame, inline)


def _lifted(frame: Frame, inline: bool) -> Graph:
    _Lifter(frame).run()
    if inline:
        globals, looks = frame.globals, frame.looks is not None
        inline_comprehensions(
            frame.graph,
            lambda nested: lift(nested, globals=globals, inline=True, looks=looks),
            releases=frame.releases,
        )
    return frame.graph


def _code_of(function: Any, globals: Mapping[str, Any] | None) -> tuple[types.CodeType, Mapping[str, Any]]:
    if isinstance(function, types.MethodType):
        function = function.__func__
    if is_function(function):
        return function.__code__, function.__globals__ if globals is None else globals
    if isinstance(function, types.CodeType):
        return function, {} if globals is None else globals
    raise LiftError(
        f"{function!r} is a {type(function).__name__}, which has no bytecode",
        "only functions written in Python can be lifted",
        "give it a rule: adbc.rule",
    )


def _refuse_kinds(code: types.CodeType) -> None:
    """Refuse code whose flags show that it is asynchronous, or not the code of a function."""
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE):
        raise refusal(code, "async")
    if not code.co_flags & inspect.CO_OPTIMIZED:
        raise refusal(code, "module" if code.co_name == "<module>" else "class")


def _graph_for(code: types.CodeType) -> Graph:
    """An empty graph with the signature of `code`."""
    graph = Graph(code.co_name)
    graph.qualname = code.co_qualname
    graph.filename = code.co_filename
    graph.first_line = code.co_firstlineno
    graph.posonly_count = code.co_posonlyargcount
    graph.kwonly_count = code.co_kwonlyargcount
    graph.has_varargs = bool(code.co_flags & inspect.CO_VARARGS)
    graph.has_varkw = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    graph.is_generator = bool(code.co_flags & inspect.CO_GENERATOR)
    graph.free = code.co_freevars
    count = code.co_argcount + code.co_kwonlyargcount + graph.has_varargs + graph.has_varkw
    for name in code.co_varnames[:count]:
        graph.add_argument(name)
    return graph


class _Lifter:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.code = frame.code
        self.leaders = _leaders(self.code)
        self.order = _reverse_postorder(self.code, self.leaders)
        self.handlers = {i.region.target for i in self.code.instructions if i.region is not None}
        self.targets: dict[int | None, list[int]] = {}  # leaders that may follow; None: the entry's own block
        self.remaining: dict[int, int] = {}  # how many leaders that lead to this one are not done

    def run(self) -> None:
        frame = self.frame
        self.make_blocks()
        frame.enter(frame.graph.entry)
        self.prologue()
        if frame.graph.entry is not frame.blocks[0]:
            frame.goto(0)
            self.left(None)
        # A handler into which nothing raises in the end is never reached, nor is what only it leads to.
        waiting = self.order
        while waiting:
            postponed = []
            for leader in waiting:
                block = frame.blocks[leader]
                if leader and block not in frame.shapes:
                    postponed.append(leader)
                    continue
                if block is not frame.block:
                    frame.enter(block)
                if leader in self.handlers:
                    frame.push(frame.emit("catch"))
                self.one_block(leader)
                self.left(leader)
            if len(postponed) == len(waiting):
                break
            waiting = postponed
        frame.variables.finish()
        remove_unreachable(frame.graph)
        live = set(frame.graph.blocks)
        ssa.clean(frame.graph, [check for check in frame.checks if check.block in live])

    def make_blocks(self) -> None:
        """Make a block for each reachable leader, and count the leaders that may lead to it."""
        frame, graph = self.frame, self.frame.graph
        edges: list[tuple[int | None, int]] = []
        for a in self.order:
            edges += [(a, b) for b in _next_leaders(self.code, self.leaders, a)]
        position = {leader: k for k, leader in enumerate(self.order)}
        loops = {b for a, b in edges if a is not None and position[b] <= position[a]} - self.handlers
        if 0 in {b for _, b in edges}:  # the entry has no predecessors
            graph.add_block("entry")
        for leader in self.order:
            label = "loop" if leader in loops else None if graph.blocks else "entry"
            frame.blocks[leader] = graph.add_block(label)
        if graph.entry is not frame.blocks[0]:
            edges.append((None, 0))
        for source, b in edges:
            self.targets.setdefault(source, []).append(b)
            self.remaining[b] = self.remaining.get(b, 0) + 1
        frame.variables.seal(graph.entry)

    def prologue(self) -> None:
        """Put arguments and free variables into their slots.  Cells of the function itself are made by its
        instructions."""
        frame = self.frame
        free = 0
        for slot in self.code.slots:
            value: Value = Const(UNBOUND)
            if slot.index < len(frame.parameters):
                value = frame.parameters[slot.index]
            elif slot.free:
                value = frame.emit("freevar", attribute=free)
                free += 1
            frame.write(slot, value)

    def one_block(self, leader: int) -> None:
        frame, instructions, jumps = self.frame, self.code.instructions, self.code.jumps
        index = leader
        while True:
            instruction = instructions[index]
            frame.index = index
            frame.at(instruction.positions)
            frame.region = instruction.region
            known = frame.promised() if frame.promises else None
            if isinstance(known, tuple):  # what will be taken apart
                frame.assume(TupleType(known))
            HANDLERS[instruction.name](frame, instruction.arg)
            if index in jumps:
                return
            if known is not None and not isinstance(known, tuple):
                frame.assume(known)
            index += 1
            if index in self.leaders:
                frame.goto(index)
                return

    def left(self, leader: int | None) -> None:
        """Say that the block at `leader` is done: the blocks that waited only for it are sealed."""
        for target in self.targets.get(leader, ()):
            self.remaining[target] -= 1
            if not self.remaining[target]:
                self.frame.variables.seal(self.frame.blocks[target])


# -- the blocks of the bytecode --------------------------------------------------------------------


def _leaders(code: Code) -> set[int]:
    """The instructions that begin a block: the first, targets, and what stands behind a jump."""
    leaders = {0}
    leaders.update([i.region.target for i in code.instructions if i.region is not None])
    for index, following in code.jumps.items():
        leaders.update((*following, index + 1))
    return leaders


def _next_leaders(code: Code, leaders: set[int], leader: int) -> tuple[int, ...]:
    """The leaders that may follow the block at `leader`, each once, handlers last."""
    index = leader
    handlers: list[int] = []
    while True:
        region = code.instructions[index].region
        if region is not None:
            handlers.append(region.target)
        if index in code.jumps:
            return tuple(dict.fromkeys((*code.jumps[index], *handlers)))
        index += 1
        if index in leaders:
            return tuple(dict.fromkeys((index, *handlers)))


def _reverse_postorder(code: Code, leaders: set[int]) -> list[int]:
    """The reachable leaders, each after its predecessors but for the back edges of loops."""
    order: list[int] = []
    seen = {0}
    waiting = [(0, iter(reversed(_next_leaders(code, leaders, 0))))]
    while waiting:
        leader, rest = waiting[-1]
        for following in rest:
            if following not in seen:
                seen.add(following)
                waiting.append((following, iter(reversed(_next_leaders(code, leaders, following)))))
                break
        else:
            waiting.pop()
            order.append(leader)
    return order[::-1]
