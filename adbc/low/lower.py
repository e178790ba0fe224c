"""Typed graphs of derivatives become a low program, instruction by instruction, by tables of rows.

before::

    loop:
        %x: float = phi [entry: 1.0, b0: %6]
        %3: int = call _next_(%2)
        %4: bool = call _exhausted_(%3)
        branch %4, b1, b0

after::

    loop:
        %x: f64 = phi [entry: 1.0, b0: %6]
        poll
        %1: i64 = get s1
        ...
        branch %2, b1, b0

Forwards pass and pullback become one program: what is saved is in registers, or on tapes.  Derived functions
that are called are written in where they are called.  What raises, and what seldom runs (`Callees`), is a
place to bail out.  What has no row is a reason not to be native, and all reasons are gathered before one is
told of them.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Protocol

from adbc.ir import intrinsics
from adbc.ir import terminators as ends
from adbc.ir import values as ir
from adbc.ir.graph import Block as GraphBlock
from adbc.ir.graph import Graph
from adbc.ir.ops import call_form
from adbc.ir.traverse import cycles, reverse_postorder
from adbc.low import kinds
from adbc.low.emitter import Emitter, Refusal
from adbc.low.kinds import UNKNOWN, Kind, Known, Links, LinksKind, Number, Tuple, Unknown, Value, kind_of
from adbc.low.numbers import NUMBERS, accepts, of_numbers
from adbc.low.program import (
    F64,
    LIST,
    Bail,
    Block,
    Branch,
    Jump,
    Operand,
    Phi,
    Program,
    Register,
    Return,
    Switch,
)
from adbc.low.reasons import NotNative, Reason
from adbc.low.structures import STRUCTURES, Structures
from adbc.passes.query import NOTHING, constant
from adbc.records import record
from adbc.types.derived import LinksType
from adbc.types.inference import type_of
from adbc.types.lattice import BOOL, FLOAT, INT, TANGENT

__all__ = ["Callees", "Seldom", "lower_dual", "lower_gradient"]


class Seldom(enum.Enum):
    """What is called where the program may as well give up."""

    SELDOM = "seldom"


class Callees(Protocol):
    """What is known of functions that graphs call and that have no rows."""

    def find(self, function: Any) -> Graph | Seldom | None:
        """The graph of a function, which is written in; `Seldom.SELDOM` of one that is called where something
        unusual has happened; None of any other."""


Parameter = tuple[str, Kind]
"""The name of a parameter, and its kind."""

_DEEPEST = 12
"""The most levels of functions that are written into each other: a recursion ends here."""
_LONGEST = 20_000
"""The most operations of a program."""


def lower_gradient(
    name: str,
    forwards: Graph,
    pullback: Graph,
    parameters: Sequence[Parameter],
    callees: Callees,
) -> Program:
    """The program that gives the value of a function, and its gradients: zero, to which is added what the
    pullback gives for a cotangent of 1.

    parameters: those of `forwards` behind the context.  Raises `NotNative` if there is none.
    """
    work = _Lowering(name, callees)
    given = work.parameters(parameters)
    result = work.begin(forwards, given)
    out, saved = work.two(result, forwards)
    if work.may_go_on:
        back = work.call(pullback, (saved, Known(1.0)))
        work.finish([out, *work.sums(work.floats_of(back, pullback))])
    return work.done()


def lower_dual(name: str, dual: Graph, parameters: Sequence[Parameter], callees: Callees) -> Program:
    """The program that gives value and tangent of a function; `parameters` as of `lower_gradient`."""
    work = _Lowering(name, callees)
    result = work.begin(dual, work.parameters(parameters))
    if work.may_go_on:
        work.finish(list(work.two(result, dual)))
    return work.done()


@record(frozen=True, eq=False)
class _Edge:
    """A way from one block of a graph to another, and the low block in between."""

    source: GraphBlock
    target: GraphBlock
    block: Block


class _Lowering:
    """The work on one program."""

    def __init__(self, name: str, callees: Callees) -> None:
        self.program = Program(name)
        self.emitter = Emitter(self.program)
        self.structures = Structures(self.emitter)
        self.callees = callees
        self.reasons: list[Reason] = []
        self.depth = 0
        self.emitter.block = self.emitter.new_block("entry")

    @property
    def may_go_on(self) -> bool:
        return self.emitter.is_open and not self.reasons

    def parameters(self, parameters: Sequence[Parameter]) -> list[Value]:
        """Declare parameters; their values."""
        made: list[Value] = []
        for name, kind in parameters:
            if isinstance(kind, kinds.ListKind):
                register = Register(LIST, name)
                self.program.parameters.append(register)
                made.append(kinds.ListValue(register, kind.is_shadow))
            else:
                types = kinds.types(kind)
                registers = [
                    Register(t, name if len(types) == 1 else f"{name}.{i}") for i, t in enumerate(types)
                ]
                self.program.parameters += registers
                made.append(kinds.built(kind, registers))
        return made

    def refuse(self, reason: str, graph: Graph, position: ir.Position | None, what: str = "") -> None:
        found = Reason.at(reason, what, graph, position)
        if found not in self.reasons:
            self.reasons.append(found)

    def two(self, value: Value, graph: Graph) -> tuple[Value, Value]:
        """The two elements of what a graph returns."""
        elements = self.emitter.elements(value)
        if self.may_go_on and (elements is None or len(elements) != 2):
            self.refuse("it does not return a number", graph, None)
        if elements is None or len(elements) != 2:
            return UNKNOWN, UNKNOWN
        return elements[0], elements[1]

    def floats_of(self, value: Value, graph: Graph) -> Sequence[Value]:
        """The elements of the tuple that a pullback returns."""
        elements = self.emitter.elements(value)
        if elements is None and self.may_go_on:
            self.refuse("its pullback returns no numbers", graph, None)
        return elements or ()

    def sums(self, values: Sequence[Value]) -> list[Value]:
        """Zero with each of `values`, which are floats, added to it: minus zero becomes zero."""
        if not self.may_go_on:
            return []
        try:
            return [Number(self.emitter.op("fadd", 0.0, self.emitter.number(v))) for v in values]
        except Refusal:
            self.reasons.append(Reason("a derivative that is no float", "", self.program.name, None))
            return []

    def finish(self, values: Sequence[Value]) -> None:
        """Return these, which are floats."""
        if not self.may_go_on:
            return
        try:
            found = [self.emitter.number(self.emitter.coerced(v, kinds.FLOAT_KIND)) for v in values]
        except Refusal:
            self.reasons.append(
                Reason("a result or derivative that is no float", "", self.program.name, None)
            )
            return
        assert self.emitter.block is not None
        self.emitter.block.terminator = Return(found)
        self.program.results = [F64] * len(found)

    def done(self) -> Program:
        if not self.reasons and not any(isinstance(b.terminator, Return) for b in self.program.blocks):
            self.reasons.append(Reason("it never returns", "", self.program.name, None))
        if self.reasons:
            raise NotNative(self.reasons)
        for block in self.program.blocks:
            if block.terminator is None:  # nothing leads there
                block.terminator = Bail(self.emitter.site("what is never reached"))
        _join(self.program)
        return self.program

    def begin(self, graph: Graph, given: Sequence[Value]) -> Value:
        """What the graph that stands for the function returns, for these arguments behind the context."""
        if len(graph.arguments) != 1 + len(given):
            self.refuse("an argument that has a shadow: it is no number", graph, None)
            return UNKNOWN
        return self.call(graph, (kinds.Opaque(), *given))

    # -- calls of graphs ----------------------------------------------------------------------------------

    def call(self, graph: Graph, arguments: Sequence[Value]) -> Value:
        """Write `graph` in, for these arguments; what it returns.  There is no block to go on in if it never
        does."""
        if not self.may_go_on:
            return UNKNOWN
        if len(arguments) != len(graph.arguments) or graph.free or graph.is_generator or graph.has_varargs:
            raise Refusal("a function with a closure, or that takes any number of arguments")
        if self.depth >= _DEEPEST:
            raise Refusal("a recursion")
        self.depth += 1
        try:
            return _Call(self, graph, arguments).run()
        finally:
            self.depth -= 1


class _Call:
    """One graph that is written into a program."""

    def __init__(self, work: _Lowering, graph: Graph, arguments: Sequence[Value]) -> None:
        self.work, self.graph = work, graph
        self.emitter, self.structures = work.emitter, work.structures
        self.values: dict[ir.Value, Value] = dict(zip(graph.arguments, arguments, strict=True))
        self.edges: list[_Edge] = []
        self.current = graph.entry
        self.places: dict[GraphBlock, int] = {}
        """The place of each block in the order in which they are written."""
        self.starts: dict[GraphBlock, Block] = {}
        """The low blocks in which blocks begin."""
        self.phis: dict[ir.Phi, tuple[Kind, list[Phi]]] = {}
        self.returns: list[tuple[Block, Value]] = []
        self.looping = {
            block for cycle in cycles(graph.blocks, lambda b: b.terminator.successors) for block in cycle
        }
        self.links = {
            operand
            for block in graph.blocks
            for phi in block.phis
            if isinstance(phi.type, LinksType)
            for operand in phi.operands.values()
        }

    def run(self) -> Value:
        entry = self.emitter.block
        before = self.emitter.line
        order = reverse_postorder(self.graph)
        self.places = {block: i for i, block in enumerate(order)}
        for block in order:
            self.block(block, entry if block is self.graph.entry else None)
        if not self.work.reasons:
            for edge in self.edges:
                self.pass_on(edge)
        self.emitter.line = before
        return self.returned()

    # -- blocks ------------------------------------------------------------------------------------------

    def block(self, block: GraphBlock, entry: Block | None) -> None:
        incoming = [edge for edge in self.edges if edge.target is block]
        if entry is None and not incoming:
            return
        self.current = block
        if entry is not None:
            self.starts[block] = self.emitter.block = entry
        else:
            start = self.emitter.new_block(block.label)
            for edge in incoming:
                edge.block.terminator = Jump(start)
            self.starts[block] = start
            self.emitter.block = start
            for phi in block.phis:
                self.phi(phi, incoming)
        if block in self.looping and self._is_header(block):
            self.emitter.about("poll", None)
        if isinstance(block.terminator, ends.Raise | ends.Unreachable):
            self.terminator(block.terminator)  # what is done before an exception is bytecode's business too
            return
        for instruction in block.instructions:
            if not self.emitter.is_open:
                return
            self.instruction(instruction)
        if self.emitter.is_open:
            self.terminator(block.terminator)

    def _is_header(self, block: GraphBlock) -> bool:
        """Whether a way around a loop may come back here: all ways around pass such a block."""
        return any(
            source is block or source not in self.starts
            for source in self.looping
            if block in source.terminator.successors
        )

    def phi(self, phi: ir.Phi, incoming: Sequence[_Edge]) -> None:
        found = [self.value(phi.operands[edge.source]) for edge in incoming if edge.source in phi.operands]
        if len(found) != len(incoming) or any(isinstance(v, Unknown) for v in found):
            self.values[phi] = UNKNOWN
            return
        # What comes before this block and has not begun is never come to: a condition is known there.
        own = self.places[phi.block]
        is_open = any(self.places.get(b, -1) >= own for b in phi.operands)
        if not is_open and all(v is found[0] for v in found):
            self.values[phi] = found[0]
            return
        kind = self.kind_of_phi(phi, found)
        if kind is None:
            self.refuse("a variable that is now one thing and now another", None, phi)
            self.values[phi] = UNKNOWN
            return
        made = [self.emitter.phi(t, phi.name or "") for t in kinds.types(kind)]
        self.phis[phi] = kind, made
        self.values[phi] = kinds.built(kind, [p.result for p in made])

    def kind_of_phi(self, phi: ir.Phi, found: Sequence[Value]) -> Kind | None:
        if isinstance(phi.type, LinksType):
            known = [kind_of(v) for v in found if isinstance(v, Links)]
            return known[0] if known else LinksKind(self.structures.arena(phi))
        of_type = kinds.kind_of_type(phi.type)
        if of_type is not None:
            return of_type
        kind: Kind | None = None
        for value in found:
            own = kind_of(value)
            kind = None if own is None else kinds.merged(own, kind)
            if kind is None:
                return None
        return kind

    def pass_on(self, edge: _Edge) -> None:
        """Give the phis of the target of `edge` their operands."""
        self.emitter.block = edge.block
        for phi in edge.target.phis:
            if phi not in self.phis:
                continue
            kind, made = self.phis[phi]
            try:
                value = self.emitter.coerced(self.value(phi.operands[edge.source]), kind)
            except Refusal as refusal:
                self.refuse(str(refusal), None, phi)
                continue
            for low, operand in zip(made, self.emitter.kept(value), strict=True):
                low.operands[edge.block] = operand

    def returned(self) -> Value:
        """What the graph returns, in the block to go on in."""
        if len(self.returns) == 1:
            self.emitter.block, value = self.returns[0]
            return self.emitter.complete(value)
        if not self.returns or self.work.reasons:
            self.emitter.block = None
            return UNKNOWN
        kind: Kind | None = None
        for _, value in self.returns:
            own = kind_of(value)
            kind = None if own is None else kinds.merged(own, kind)
            if kind is None:
                self.refuse("it returns now one thing and now another", None, None)
                self.emitter.block = None
                return UNKNOWN
        assert kind is not None
        behind = self.emitter.new_block(f"{self.graph.name}.end")
        made = [Phi(Register(t)) for t in kinds.types(kind)]
        for block, value in self.returns:
            self.emitter.block = block
            parts = self.emitter.kept(self.emitter.coerced(value, kind))
            block.terminator = Jump(behind)
            for low, operand in zip(made, parts, strict=True):
                low.operands[block] = operand
        behind.phis = made
        self.emitter.block = behind
        return kinds.built(kind, [p.result for p in made])

    # -- instructions ----------------------------------------------------------------------------------------

    def refuse(self, reason: str, position: ir.Position | None, what: ir.Value | None) -> None:
        if position is None and isinstance(what, ir.Phi):
            position = what.position or next(
                (i.position for i in what.block.instructions if i.position), None
            )
        self.work.refuse(reason, self.graph, position, _called(what))

    def value(self, value: ir.Value) -> Value:
        if isinstance(value, ir.Const):
            return Known(value.value)
        return self.values.get(value, UNKNOWN)

    def instruction(self, instruction: ir.Instruction) -> None:
        position = instruction.position
        if position is not None and position.line is not None:
            self.emitter.line = position.line
        if instruction.op != "call":
            self.refuse("an exception that is caught", position, instruction)
            self.values[instruction] = UNKNOWN
            return
        function, *operands = call_form(instruction)
        callee = constant(function)
        arguments = list(map(self.value, operands))
        while callee in (intrinsics._foreigncall_, intrinsics._attempt_) and arguments:
            first, *arguments = arguments
            callee = first.value if isinstance(first, Known) else NOTHING
            operands = operands[1:]
        if any(isinstance(v, Unknown) for v in arguments):
            self.values[instruction] = UNKNOWN
            return
        try:
            self.values[instruction] = self.result(instruction, callee, operands, arguments)
        except Refusal as refusal:
            self.refuse(str(refusal), position, instruction)
            self.values[instruction] = UNKNOWN

    def result(
        self, call: ir.Instruction, callee: Any, operands: Sequence[ir.Value], arguments: list[Value]
    ) -> Value:
        if callee is NOTHING or not _is_hashable(callee):
            raise Refusal("a call of something that is computed")
        if call.keywords:
            raise Refusal("a call with keywords")
        s = self.structures
        s.place, s.type = call, call.type
        s.argument_types = [type_of(v) for v in operands]
        if call in self.links and callee is intrinsics._new_:
            return self.node(arguments)
        if callee is not intrinsics._exhausted_:
            arguments = [self.emitter.present(v) if _is_from_iterator(v) else v for v in arguments]
        row = STRUCTURES.get(callee)
        if row is not None and not self._is_about_numbers(callee, arguments):
            if not accepts(row, len(arguments)):
                raise Refusal(f"a call with {len(arguments)} arguments")
            return self.checked(call, row(s, *arguments))
        if callee in NUMBERS:
            return self.checked(call, of_numbers(self.emitter, callee, arguments))
        found = self.work.callees.find(callee)
        if found is Seldom.SELDOM:
            assert self.emitter.block is not None
            self.emitter.block.terminator = Bail(self.emitter.site("a derivative that is not finite"))
            self.emitter.block = None
            return UNKNOWN
        if isinstance(found, Graph):
            return self.work.call(found, arguments)
        raise Refusal("there is no native form of this call")

    def _is_about_numbers(self, callee: Any, arguments: Sequence[Value]) -> bool:
        """Whether a call is one of numbers, where its function has rows of both sorts."""
        return callee in NUMBERS and all(isinstance(kind_of(v), kinds.NumberKind) for v in arguments)

    def node(self, arguments: Sequence[Value]) -> Value:
        """The record of an iteration, linked to the one before."""
        *_, before = arguments
        if not isinstance(before, Links):
            raise Refusal("it is not known what was saved")
        value = Tuple(tuple(arguments[1:]))
        kind = kind_of(value)
        arena = before.arena
        if kind is None or self.structures.nodes.setdefault(arena, kind) != kind:
            raise Refusal("what is saved is no number, nor a tuple of such")
        arena.fields = kinds.types(kind)
        (made,) = self.emitter.about("node", arena, self.emitter.kept(value), ("i64",))
        return Links(made, arena)

    def checked(self, call: ir.Instruction, value: Value) -> Value:
        """`value`, if it is of the kind that the type of the call says, as far as that says one."""
        known = _NUMBERS.get(call.type)
        if known is not None:
            own = value.inner if isinstance(value, kinds.Maybe) else value
            kind = kind_of(own)
            if kind != known:
                raise Refusal(f"a number of another class than {call.type}")
        return value

    # -- terminators -----------------------------------------------------------------------------------------

    def edge(self, target: GraphBlock) -> Block:
        """The low block on the way from the block that ends to `target`."""
        made = self.emitter.new_block(f"to_{target.label}")
        self.edges.append(_Edge(self.current, target, made))
        start = self.starts.get(target)
        if start is not None:
            made.terminator = Jump(start)
        return made

    def terminator(self, terminator: ends.Terminator) -> None:
        block = self.emitter.block
        assert block is not None
        if terminator.position is not None and terminator.position.line is not None:
            self.emitter.line = terminator.position.line
        match terminator:
            case ends.Jump():
                block.terminator = Jump(self.edge(terminator.target))
            case ends.Branch():
                self.branch(block, terminator)
            case ends.Switch():
                self.switch(block, terminator)
            case ends.Return():
                self.returns.append((block, self.value(terminator.value)))
            case _:
                block.terminator = Bail(self.emitter.site("an exception"))
        self.emitter.block = None

    def branch(self, block: Block, terminator: ends.Branch) -> None:
        condition = self.value(terminator.condition)
        if isinstance(condition, Known):
            block.terminator = Jump(self.edge(terminator.true if condition.value else terminator.false))
            return
        if isinstance(condition, Number | kinds.Maybe):
            tested: Operand = self.emitter.number(condition)
        else:
            tested = True  # there are reasons already, or the next line is one
            if not isinstance(condition, Unknown):
                self.refuse("a condition that is no bool", terminator.position, None)
        block.terminator = Branch(tested, self.edge(terminator.true), self.edge(terminator.false))

    def switch(self, block: Block, terminator: ends.Switch) -> None:
        value = self.value(terminator.value)
        if isinstance(value, Known):
            block.terminator = Jump(self.edge(terminator.cases.get(value.value, terminator.default)))
            return
        value = self.emitter.present(value)
        tested = self.emitter.number(value) if isinstance(value, Number) else 0
        if not isinstance(value, Number | Unknown):
            self.refuse("a choice by something that is no int", terminator.position, None)
        cases = {number: self.edge(target) for number, target in terminator.cases.items()}
        block.terminator = Switch(tested, cases, self.edge(terminator.default))


_NUMBERS = {FLOAT: kinds.FLOAT_KIND, INT: kinds.INT_KIND, BOOL: kinds.BOOL_KIND, TANGENT: kinds.FLOAT_KIND}


def _is_from_iterator(value: Value) -> bool:
    return isinstance(value, kinds.Maybe) and value.token is intrinsics.EXHAUSTED


def _is_hashable(value: object) -> bool:
    return type(value).__hash__ is not None


def _called(value: ir.Value | None) -> str:
    """The name of the function that `value` is a call of."""
    if not isinstance(value, ir.Instruction) or value.op != "call":
        return ""
    function, *operands = call_form(value)
    callee = constant(function)
    if callee in (intrinsics._foreigncall_, intrinsics._attempt_) and operands:
        callee = constant(operands[0])
    return str(getattr(callee, "__name__", "")) if callee is not NOTHING else ""


def _join(program: Program) -> None:
    """Let blocks that only jump on be gone, where that changes nothing."""
    for block in list(program.blocks[1:]):
        jump = block.terminator
        if block.phis or block.ops or not isinstance(jump, Jump) or jump.target is block:
            continue
        sources = [b for b in program.blocks if block in b.successors]
        if len(sources) != 1 or jump.target in sources[0].successors:
            continue
        _redirect(sources[0], block, jump.target)
        for phi in jump.target.phis:
            phi.operands[sources[0]] = phi.operands.pop(block)
        program.blocks.remove(block)


def _redirect(source: Block, old: Block, new: Block) -> None:
    match source.terminator:
        case Jump() as jump:
            jump.target = new
        case Branch() as branch:
            branch.true = new if branch.true is old else branch.true
            branch.false = new if branch.false is old else branch.false
        case Switch() as switch:
            switch.cases = {n: new if b is old else b for n, b in switch.cases.items()}
            switch.default = new if switch.default is old else switch.default
