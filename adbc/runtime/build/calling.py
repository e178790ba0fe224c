"""Which functions may be written into those that call them, and what their parameters are there.

Beside functions of the module these are such that were made by others: what a decorator has made of a
function, a ``lambda``, a ``def`` inside the caller.  What they find in their cells is known if it is a
function, class or module (under a guard), or the cell stands in the caller.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from adbc.cpython.size import may_be_straight
from adbc.errors import LiftError
from adbc.ir.graph import MODULE, Graph, Guard, globals_made
from adbc.ir.intrinsics import _cell_get_, _freevar_, _new_
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.inline_calls import MOST_IN_CODE, is_open, is_small
from adbc.passes.normal.resolve_globals import is_stable
from adbc.passes.normal.spread_sequences import Signature
from adbc.passes.query import NOTHING, constant, target
from adbc.runtime.build.bindings import ANY_NUMBER, Bindings, is_constant

__all__ = ["Calling", "bound_arguments", "cell_step", "is_plain_class", "made_here", "stands_in"]

_NOT_CALLED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Graphs(Protocol):
    """Who knows the graphs of functions: `graphs.Graphs`."""

    lifting: set[Any]

    @property
    def bindings(self) -> Bindings: ...

    def small_callee(self, graph: Graph, call: Instruction) -> tuple[Graph, list[Value]] | None: ...

    def moved(self, body: Graph, globals: dict[str, Any], graph: Graph) -> Graph | None: ...

    def lifted(self, code: types.CodeType, globals: dict[str, Any]) -> Graph: ...


class Callee(NamedTuple):
    """What is known of a function: its code, its defaults by name, and by number the cells of its closure (if
    these stand in the caller) or what is in them (with the path that leads to the function)."""

    code: types.CodeType
    defaults: Mapping[str, Value]
    cells: Sequence[Value] | None = None
    contents: Sequence[object] = ()
    path: tuple[str, ...] = ()
    globals: dict[str, Any] | None = None
    """The globals in which its names are looked up, if they are known."""


Fits = Callable[[Graph, Value], bool]
"""Whether a function may be written in where a generator is given for one of its parameters."""


_NEW: Any = object.__new__


def is_plain_class(cls: Any) -> bool:
    """Whether instances of `cls` are made by its ``__init__``, and by nothing else that is written down."""
    return isinstance(cls, type) and type(cls) is type and cls.__new__ is _NEW


class Calling:
    """What `inline_calls` asks about the calls of one graph."""

    def __init__(self, graphs: Graphs, graph: Graph) -> None:
        self.graphs = graphs
        self.graph = graph

    def choose(self, call: Instruction) -> tuple[Graph, list[Value]] | None:
        """The function that `call` calls, if it may be written in, and its parameters."""
        return self.graphs.small_callee(self.graph, call) or self._chosen(call, _is_straight, _is_small)

    def signature(self, function: Value) -> Signature | None:
        """What `function` takes, or the ``__init__`` of a class beside the new object, if it is written in
        Python and does not take any number of arguments."""
        made = made_here(function) if isinstance(function, Instruction) else None
        if made is not None:
            return _signature(made.code, made.defaults)
        known = constant(function)
        if isinstance(known, type) and is_plain_class(known):
            return signature_of(getattr(known, "__init__", None), self.graphs.bindings, 1)
        return signature_of(known, self.graphs.bindings)

    def consumer(self, call: Instruction, number: int, fits: Fits) -> tuple[Graph, list[Value]] | None:
        """The function that `call` calls with operand `number` and that `fits`, given its graph and the
        parameter that is this operand; and its parameters."""
        if call.operands.count(call.operands[number]) > 1:
            return None

        def is_fit(body: Graph, parameters: Sequence[Value]) -> bool:
            place = next((k for k, v in enumerate(parameters) if v is call.operands[number]), None)
            return place is not None and is_open(body) and fits(body, body.arguments[place])

        return self._chosen(call, _has_parameters_only, is_fit)

    def _chosen(
        self,
        call: Instruction,
        may_be: Callable[[types.CodeType], bool],
        is_fit: Callable[[Graph, Sequence[Value]], bool],
    ) -> tuple[Graph, list[Value]] | None:
        callee = self._callee(call.operands[0])
        namespace = None if callee is None else callee.globals
        if callee is None or namespace is None or callee.code.co_flags & _NOT_CALLED:
            return None
        if (callee.code, id(namespace)) in self.graphs.lifting or stands_in(call, callee.code):
            return None
        if not may_be(callee.code):
            return None
        bound = bound_arguments(callee, call)
        if bound is None:
            return None
        try:
            body = self.graphs.lifted(callee.code, namespace)
        except LiftError:  # it stays a call, and says why when it is made
            return None
        if not is_fit(body, bound.parameters):
            return None
        moved = self.graphs.moved(body, namespace, self.graph)
        if moved is not None and moved.free:
            moved = self._filled(moved, callee)
        if moved is None:
            return None
        return moved, [*_values(bound, call), *(callee.cells or ())]

    def _callee(self, value: Value) -> Callee | None:
        if isinstance(value, Instruction) and target(value) is _new_:
            return made_here(value)
        function = constant(value)
        if type(function) is not types.FunctionType or not self.graphs.bindings.is_followed(function):
            return None
        defaults = _defaults_of(function)
        path = next((g.path for g in self.graph.guards if g.value is function), ())
        cells = function.__closure__ or ()
        if defaults is None or (cells and not path):
            return None
        contents = [NOTHING if cell == types.CellType() else cell.cell_contents for cell in cells]
        return Callee(function.__code__, defaults, None, contents, path, function.__globals__)

    def _filled(self, body: Graph, callee: Callee) -> Graph | None:
        """A copy of `body` that has what is known of the cells of its closure, or the cells as parameters
        behind the others; None if it asks for more."""
        body, _, _ = copy_graph(body)
        replaced: dict[Value, Value] = {}
        read: dict[int, object] = {}
        places = [] if callee.cells is None else [body.add_argument(f"{name}_cell") for name in body.free]
        for block in body.blocks:
            for call in list(block.instructions):
                function = target(call)
                if function is _freevar_:
                    number = constant(call.operands[1])
                    if callee.cells is not None:
                        replaced[call] = places[number]
                    elif not is_stable(callee.contents[number]):
                        return None
                elif callee.cells is not None:
                    continue
                elif function is _cell_get_ and target(call.operands[1]) is _freevar_:
                    number = constant(call.operands[1].operands[1])  # type: ignore[attr-defined]
                    read[number] = callee.contents[number]
                    replaced[call] = Const(callee.contents[number])
                elif any(target(v) is _freevar_ for v in call.operands):
                    return None  # the cell itself is wanted
                else:
                    continue
                block.instructions.remove(call)
        body.replace_uses(replaced)
        body.guards += [Guard((*callee.path, cell_step(k)), value) for k, value in read.items()]
        body.free = ()
        return body


def _is_straight(code: types.CodeType) -> bool:
    return may_be_straight(code, MOST_IN_CODE)


def _is_small(body: Graph, parameters: Sequence[Value]) -> bool:
    return is_small(body, is_bound=True)


def _has_parameters_only(code: types.CodeType) -> bool:
    return not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def cell_step(number: int) -> str:
    """The step of a path that leads from a function to what is in a cell of its closure."""
    return f"__closure__[{number}]"


def stands_in(call: Instruction, code: types.CodeType) -> bool:
    """Whether `call` was written into its graph with the function of this code: recursion has no end."""
    around = None if call.position is None else call.position.inlined
    while around is not None:
        place = around.qualname, around.filename, around.first_line
        if place == (code.co_qualname, code.co_filename, code.co_firstlineno):
            return True
        around = None if around.call is None else around.call.inlined
    return False


def made_here(made: Instruction) -> Callee | None:
    """The function that a ``def`` or ``lambda`` in the graph makes; None if `made` is something else."""
    if target(made) is not _new_ or len(made.operands) < MODULE:
        return None
    if constant(made.operands[1]) is not types.FunctionType:
        return None
    code, defaults, kwdefaults, _, closure = made.operands[2:MODULE]
    code = constant(code)
    if not isinstance(code, types.CodeType):
        return None
    by_position, by_name = _display(defaults, tuple), _display(kwdefaults, dict)
    cells = _display(closure, tuple)
    if by_position is None or by_name is None or cells is None or len(cells) != len(code.co_freevars):
        return None
    names = code.co_varnames[: code.co_argcount]
    found = dict(zip(reversed(names), reversed(by_position), strict=False))
    for key, value in zip(by_name[::2], by_name[1::2], strict=True):
        found[constant(key)] = value
    return Callee(code, found, cells, globals=globals_made(made))


def _display(value: Value, kind: type) -> list[Value] | None:
    """The parts of a display that nobody but the function has; of none, if there is no such value."""
    if isinstance(value, Const):
        if value.value is None:
            return []
        return [*map(Const, value.value)] if kind is tuple and type(value.value) is tuple else None
    if isinstance(value, Instruction) and target(value) is _new_ and constant(value.operands[1]) is kind:
        return value.operands[2:]
    return None


def signature_of(function: object, bindings: Bindings, bound: int = 0) -> Signature | None:
    """What `function` takes behind the first `bound` arguments, if it is written in Python and does not take
    any number of arguments."""
    if type(function) is not types.FunctionType or not bindings.is_followed(function):
        return None
    defaults = _defaults_of(function)
    return None if defaults is None else _signature(function.__code__, defaults, bound)


def _signature(code: types.CodeType, defaults: Mapping[str, Value], bound: int = 0) -> Signature | None:
    if code.co_flags & ANY_NUMBER or code.co_argcount < bound:
        return None
    n = code.co_argcount
    only = max(code.co_posonlyargcount - bound, 0)
    named = code.co_varnames[n : n + code.co_kwonlyargcount]
    return Signature(code.co_varnames[bound:n], only, named, defaults)


def _defaults_of(function: types.FunctionType) -> dict[str, Value] | None:
    """The defaults of `function` by name, None if one of them is more than a constant."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    found: dict[str, Any] = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
    found.update(function.__kwdefaults__ or {})
    return {k: Const(v) for k, v in found.items()} if all(map(is_constant, found.values())) else None


class _Bound(NamedTuple):
    """The arguments of a call by parameter; those left over, by position and by keyword, if the function
    takes any number of them."""

    parameters: Sequence[Value]
    others: Sequence[Value] | None
    named: Mapping[str, Value] | None


def bound_arguments(callee: Callee, call: Instruction) -> _Bound | None:
    """How the arguments of `call` meet the parameters, None if they do not."""
    code = callee.code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    arguments = call.operands[1:]
    n = len(arguments) - len(call.keywords)
    given: dict[str, Value] = dict(zip(names[: code.co_argcount], arguments[:n], strict=False))
    others = arguments[code.co_argcount : n]
    named: dict[str, Value] = {}
    for name, value in zip(call.keywords, arguments[n:], strict=True):
        if name in names[code.co_posonlyargcount :]:
            if name in given:
                return None
            given[name] = value
        else:
            named[name] = value
    takes_others = bool(code.co_flags & inspect.CO_VARARGS)
    takes_named = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    if (others and not takes_others) or (named and not takes_named):
        return None
    for name in names:
        if name not in given:
            if name not in callee.defaults:
                return None
            given[name] = callee.defaults[name]
    parameters = [given[name] for name in names]
    return _Bound(parameters, others if takes_others else None, named if takes_named else None)


def _values(bound: _Bound, call: Instruction) -> list[Value]:
    """The values of all parameters; displays of arguments that are left over are made in front of `call`."""
    values = [*bound.parameters]
    if bound.others is not None:
        values.append(_made(call, tuple, bound.others) if bound.others else Const(()))
    if bound.named is not None:
        entries = [part for name, value in bound.named.items() for part in (Const(name), value)]
        values.append(_made(call, dict, entries))
    return values


def _made(call: Instruction, kind: type, parts: Sequence[Value]) -> Instruction:
    made = Instruction("call", [Const(_new_), Const(kind), *parts], position=call.position)
    block = call.block
    assert block is not None
    made.block = block
    block.instructions.insert(block.instructions.index(call), made)
    return made
