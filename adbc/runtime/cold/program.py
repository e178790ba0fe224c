"""A graph made ready to be run: values have places in a list, and each call is a step.

This is done once for a graph and a mode, whatever the types of the arguments are, and looks at nothing twice.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from adbc.cpython.libraries import is_code_of_users, is_own_code
from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.loops import natural_loops
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator
from adbc.ir.values import UNDEF, Const, Instruction, Position, Value
from adbc.rules.quick import ONCE_PER_CALL
from adbc.runtime.cold import steps
from adbc.runtime.cold.lines import Lines
from adbc.runtime.cold.modes import Mode
from adbc.types.callsites import AS_THEY_ARE
from adbc.types.displays import is_constant_dict, is_constant_display
from adbc.types.inference import call_parts
from adbc.types.library_calls import is_kept

__all__ = ["End", "Program", "Section", "can_be_run"]


_SMALL = 200
"""Up to so many steps what stands for a function of a library counts as the user's."""
_PATIENCE = 100
"""How often all steps are run, on average, before an inner loop is left in the middle."""


class End(NamedTuple):
    """How a section ends.  kind: the class of the terminator.  places: of the values that it uses.  targets:
    the numbers of the sections that it leads to, of a `Switch` by case.  default: where else a `Switch` leads
    to."""

    kind: type[Terminator]
    places: tuple[int, ...] = ()
    targets: Any = ()
    default: int = -1
    line: Any = None


class Section:
    """A block.

    phis: by the number of the section that it is entered from, the pairs of places that are assigned.
    handler: the number of the section that exceptions lead to; -1 if there is none.  patience: how many more
    steps are run before a loop that begins here is left for code; without end where none begins.  An inner
    loop ends soon mostly, and in the rest of the one around it nothing has half been done.
    """

    __slots__ = ("end", "handler", "patience", "phis", "steps")

    def __init__(self) -> None:
        self.patience = inf
        self.phis: dict[int, tuple[tuple[int, int], ...]] = {}
        self.steps: list[steps.Step] = []
        self.handler = -1
        self.end = End(Terminator)


class Program:
    """What the machine runs for one graph in one mode.

    numbers: by call, the number by which guesses about it are kept.  guessable: gives the type that would be
    guessed where a value was seen, if any.  start: what is in the places at first; constants stand behind
    `first_constant`.  size: the number of steps.  rest_place: that of what the rest of the function gives,
    where a loop is left for code that was made for it.
    """

    def __init__(
        self,
        graph: Graph,
        code: Any,
        namespace: dict[str, Any],
        is_rest: bool,
        mode: Mode,
        numbers: Mapping[Instruction, int],
        guessable: Callable[[object], Any],
    ) -> None:
        self.graph = graph
        self.numbers = numbers
        self.guessable = guessable
        self.rounds = 0
        """In how many calls from outside it was met."""
        self.news: list[steps.Observed] = []
        """The steps whose results have been of another class than before, since somebody asked."""
        self.namespace = namespace
        self.mode = mode
        self._finds: dict[object, Any] = {}
        self.lines = Lines(graph, code, namespace, is_rest)
        self.names_self = bool(graph.arguments) and graph.arguments[0].name == "self"
        self._places: dict[Value, int] = {}
        self._constants: list[Any] = []
        self._users: dict[Value, list[Any]] | None = None
        values: list[Value] = [*graph.arguments]
        for block in graph.blocks:
            values += block.phis
            values += block.instructions
        for place, value in enumerate(values):
            self._places[value] = place
        self.rest_place = len(values)
        self.first_constant = len(values) + 1
        at = {block: number for number, block in enumerate(graph.blocks)}
        self.sections = [Section() for _ in graph.blocks]
        self._position: Position | None = None
        """Where the last instruction belongs that says so; those behind it that do not belong there too."""
        for block, section in zip(graph.blocks, self.sections, strict=True):
            self._fill(section, block, at)
        self.start: list[Any] = [None] * self.first_constant + self._constants
        self.size = sum(len(section.steps) + 1 for section in self.sections)
        is_small = code in ONCE_PER_CALL and self.size <= _SMALL  # what is large takes long to make code of
        self.is_own = is_own_code(code.co_filename)
        self.is_of_user = is_small or is_code_of_users(code.co_filename, namespace)
        loops = natural_loops(graph)
        for loop in loops.all:
            self.sections[at[loop.header]].patience = (loop.depth - 1) * _PATIENCE * self.size
        for block in graph.blocks:  # a loop that is entered in several places has no head, but a way back
            for successor in block.successors:
                if at[successor] <= at[block] and successor not in loops.innermost:
                    self.sections[at[successor]].patience = 0
        del self._places, self._users, self.numbers, self._position

    def find(self, context: Any, name: object, value: Any) -> Any:
        """What stands beside `value`, which was read as the global `name`."""
        found = self._finds.get(name)
        if found is None:
            found = self._finds[name] = self.mode.kept if is_kept(self.graph, name) else self.mode.known
        return found(context, value)

    def _fill(self, section: Section, block: Block, numbers: dict[Block, int]) -> None:
        pairs: dict[int, list[tuple[int, int]]] = {}
        for phi in block.phis:
            for source, operand in phi.operands.items():
                if source in numbers:
                    pairs.setdefault(numbers[source], []).append((self._place(phi), self._place(operand)))
        section.phis = {source: tuple(found) for source, found in pairs.items()}
        if block.handler is not None:
            section.handler = numbers[block.handler]
        for instruction in block.instructions:
            step = self._step(instruction)
            step.out = self._places[instruction]
            step.position = self._position = instruction.position or self._position
            step.is_protected = block.handler is not None
            if isinstance(step, steps.Observed):
                step.number = self.numbers.get(instruction, -1)
            section.steps.append(step)
        self._position = block.terminator.position or self._position
        section.end = self._end(block.terminator, numbers)

    def _place(self, value: Value) -> int:
        found = self._places.get(value)
        if found is None:
            found = self._places[value] = self.first_constant + len(self._constants)
            self._constants.append(value.value if isinstance(value, Const) else UNDEF)
        return found

    def _end(self, end: Terminator, numbers: dict[Block, int]) -> End:
        match end:
            case Jump():
                return End(Jump, (), (numbers[end.target],))
            case Branch():
                return End(Branch, (self._place(end.condition),), (numbers[end.false], numbers[end.true]))
            case Switch():
                cases = {case: numbers[to] for case, to in end.cases.items()}
                return End(Switch, (self._place(end.value),), cases, numbers[end.default])
            case Return():
                return End(Return, (self._place(end.value),))
            case Raise():
                given = [v for v in (end.exception, end.cause) if v is not None]
                return End(Raise, tuple(map(self._place, given)), line=self._position)
        return End(type(end))

    def observed(self) -> Iterator[steps.Observed]:
        """The steps that remember what their results were, as far as they have been run."""
        for section in self.sections:
            for step in section.steps:
                if isinstance(step, steps.Observed) and step.cls is not None and step.number >= 0:
                    yield step

    def rest_step(self, at: int, rest: Any, live: Sequence[tuple[int, int]]) -> steps.Rest:
        """The step that calls `rest`, the rest of the function from section `at` on: `live` are, by argument,
        the place of the value, and the number of the cell that it is, or -1."""
        places = []
        for place, cell in live:
            if cell < 0:
                places.append(place)
            else:
                places.append(len(self.start))
                self.start.append(None)
        self.start.append(rest)
        cells = tuple((place, cell) for place, (_, cell) in zip(places, live, strict=True) if cell >= 0)
        step = steps.Rest(len(self.start) - 1, tuple(places), cells)
        step.out = self.rest_place
        section = self.sections[at]
        step.position = section.steps[0].position if section.steps else None
        return step

    # -- calls -------------------------------------------------------------------------------------------

    def _step(self, instruction: Instruction) -> steps.Step:
        if instruction.op == "catch":
            return steps.Catch()
        callee, arguments = call_parts(instruction)
        function = callee.value if isinstance(callee, Const) else None
        places = tuple(map(self._place, arguments))
        if type(function) is not types.FunctionType and type(function) is not types.BuiltinFunctionType:
            return self._call(callee, arguments, places, instruction.keywords)
        made = _BY_FUNCTION.get(function)
        if made is not None:
            return made(places)
        if function in AS_THEY_ARE:
            return steps.AsItIs(function, places)
        if function is intrinsics._new_:
            return self._new(arguments, places)
        if function is intrinsics._element_:  # what was unpacked has no shadow, and the list has
            function, places = operator.getitem, places[1:]
        handle = None if instruction.keywords else self.mode.calls.handler(function)
        if handle is None:
            return self._call(callee, arguments, places, instruction.keywords)
        return steps.Handled(function, handle, places)

    def _new(self, arguments: Sequence[Value], places: tuple[int, ...]) -> steps.Step:
        kind = arguments[0].value if isinstance(arguments[0], Const) else None
        if kind is tuple:
            return steps.MakeTuple(places[1:])
        if kind is types.FunctionType:
            return steps.MakeFunction(places[1:], is_constant_dict(arguments[3]))
        handle = self.mode.calls.handler(intrinsics._new_)
        if handle is None:
            return steps.Call(self._place(Const(intrinsics._new_)), places, (), (), False)
        return steps.Handled(intrinsics._new_, handle, places)

    def _call(
        self, callee: Value, arguments: Sequence[Value], places: tuple[int, ...], keywords: tuple[str, ...]
    ) -> steps.Step:
        displays = tuple(i for i, a in enumerate(arguments) if is_constant_display(a, self._users_of))
        function = callee.value if isinstance(callee, Const) else None
        return steps.Call(self._place(callee), places, keywords, displays, function)

    def _users_of(self, value: Value) -> Sequence[Any]:
        """The instructions, phis and terminators that have `value` as an operand."""
        if self._users is None:
            self._users = {}
            for block in self.graph.blocks:
                for phi in block.phis:
                    for operand in phi.operands.values():
                        self._users.setdefault(operand, []).append(phi)
                for user in block.instructions:
                    for operand in user.operands:
                        self._users.setdefault(operand, []).append(user)
                for operand in block.terminator.values:
                    self._users.setdefault(operand, []).append(block.terminator)
        return self._users.get(value, ())


_BY_FUNCTION: dict[Any, Callable[[tuple[int, ...]], steps.Step]] = {
    intrinsics._check_: steps.Check,
    intrinsics._assume_: steps.Rename,
    intrinsics._freevar_: steps.FreeVariable,
    intrinsics._global_: steps.Global,
    intrinsics._globals_: steps.Globals,
    intrinsics._store_global_: steps.StoreGlobal,
    intrinsics._delete_global_: steps.DeleteGlobal,
    intrinsics._instance_: steps.NewInstance,
    intrinsics._import_: steps.Import,
}


def can_be_run(graph: Graph) -> bool:
    """Whether there is a step for whatever `graph` does that depends on its frame."""
    for instruction in graph.instructions():
        callee = instruction.operands[0] if instruction.operands else None
        function = callee.value if isinstance(callee, Const) else None
        if type(function) is types.FunctionType and function in intrinsics.CONTEXTUAL - _BY_FUNCTION.keys():
            return False
    return True
