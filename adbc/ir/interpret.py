"""A slow, obvious interpreter of graphs: the judge of the lifter, the passes and the builders.

It runs raw operations and normal form alike: an operation becomes the call that its row in `ops`
says, and the call is made.  Intrinsics are ordinary functions; those that need a frame get it here.

While running it checks what cannot be checked by looking: that a condition is a bool, that no
undefined value is used, and that in a block with a handler only the last instruction raises.  Such a
finding is a `VerificationError`, which no handler of the graph sees.

What is being handled is the state of the thread, as it is for a function: the graph changes it by
`_push_exc_info_` and `_pop_except_`, a bare `Raise` raises it again, and what is raised meanwhile
gets it as its ``__context__``.

The graph of a generator gives a generator, in whose frame its blocks are run; what is thrown into it
while it waits for an inner iterator is sent there as a `Thrown`.
"""

from __future__ import annotations

import builtins as python_builtins
import sys
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from adbc.errors import AdbcError, ArgumentError, VerificationError
from adbc.functions import is_function
from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.ops import call_form
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Terminator
from adbc.ir.values import UNDEF, Const, Instruction, Value

__all__ = ["IterationLimitError", "interpret", "new_function"]


class IterationLimitError(AdbcError):
    """A graph entered more blocks than it was allowed to."""


def interpret(
    graph: Graph,
    *arguments: object,
    globals: dict[str, Any] | None = None,
    closure: Sequence[types.CellType] = (),
    builtins: Mapping[str, Any] | None = None,
    limit: int | None = None,
) -> Any:
    """Run `graph` and return what it returns (or the generator); exceptions that it does not handle come out.

    `arguments` stand for `graph.arguments` one to one: defaults are filled in, and the tuple of
    ``*args`` and the dict of ``**kwargs`` are made, by the caller.  `closure` holds the cells that
    `graph.free` names.  `builtins` are those of `globals` unless given.  `limit` is the number of
    blocks that may be entered.
    """
    if len(arguments) != len(graph.arguments):
        raise ArgumentError(
            f"graph {graph.name} has {len(graph.arguments)} arguments, but {len(arguments)} were given"
        )
    if len(closure) != len(graph.free):
        raise ArgumentError(
            f"graph {graph.name} has {len(graph.free)} free variables, but {len(closure)} cells were given"
        )
    frame = _Frame(graph, {} if globals is None else globals, closure, builtins)
    frame.values.update(zip(graph.arguments, arguments, strict=True))
    if graph.is_generator:
        return _generate(frame, limit)
    handled = sys.exception()
    try:
        return _run(frame, limit)
    except BaseException as error:  # only to put right what a broken graph left behind
        raised = error
    intrinsics._pop_except_(handled)
    intrinsics._reraise_(raised)


def _run(frame: _Frame, limit: int | None) -> Any:
    source: Block | None = None
    block = frame.graph.entry
    while True:
        frame.enter(block, source, limit)
        error = frame.instructions(block)
        if error is None and isinstance(block.terminator, Return):
            return frame.value(block.terminator.value, block.terminator, block)
        source, block = block, frame.leave(block, error)


def _generate(frame: _Frame, limit: int | None) -> Generator[Any, Any, Any]:
    """Run a generator's graph, as a generator that is suspended where the graph is: `_run` and
    `_Frame.instructions` in one function, because only its own body can yield."""
    source: Block | None = None
    block = frame.graph.entry
    while True:
        frame.enter(block, source, limit)
        error: BaseException | None = None
        for instruction in block.instructions:
            kind = frame.suspension(instruction)
            if kind is None:
                error = frame.instruction(instruction, block)
            else:
                handed_out = frame.prepare(instruction, block)[1][0]
                try:
                    frame.values[instruction] = yield handed_out
                except BaseException as thrown:  # any exception may be thrown in
                    error = thrown
                if error is not None and kind is intrinsics._yield_from_:
                    frame.values[instruction] = intrinsics._thrown_(error)
                    error = None
            if error is not None:
                break
        if error is None and isinstance(block.terminator, Return):
            return frame.value(block.terminator.value, block.terminator, block)
        source, block = block, frame.leave(block, error)


class _Frame:
    """The state of one call."""

    def __init__(
        self,
        graph: Graph,
        globals: dict[str, Any],
        closure: Sequence[types.CellType],
        builtins: Mapping[str, Any] | None,
    ) -> None:
        self.graph = graph
        self.globals = globals
        self.closure = closure
        if builtins is None:
            found = globals.get("__builtins__", python_builtins)
            builtins = vars(found) if isinstance(found, types.ModuleType) else found
        self.builtins: Mapping[str, Any] = builtins
        self.values: dict[Value, Any] = {}
        self.caught: BaseException | None = None
        self.entered = 0
        self.contextual: dict[int, Callable[..., Any]] = {
            id(intrinsic): meaning
            for intrinsic, meaning in (
                (intrinsics._global_, self.get_global),
                (intrinsics._class_global_, self.get_class_global),
                (intrinsics._store_global_, self.store_global),
                (intrinsics._delete_global_, self.delete_global),
                (intrinsics._globals_, self.get_globals),
                (intrinsics._freevar_, self.free_variable),
                (intrinsics._import_, self.import_module),
                (intrinsics._new_, self.new),
            )
        }

    # -- running -------------------------------------------------------------------------------------

    def enter(self, block: Block, source: Block | None, limit: int | None) -> None:
        """Give the phis of `block` their values, all at the same time; count the blocks, up to `limit`."""
        self.entered += 1
        if limit is not None and self.entered > limit:
            raise IterationLimitError(f"graph {self.graph.name} entered more than {limit} blocks")
        # A phi passes on a value that does not exist; only a use of it is wrong.
        merged: dict[Value, Any] = {}
        for phi in block.phis:
            if source is None or source not in phi.operands:
                raise self.broken(block, f"{phi!r} has no operand for {source!r}")
            operand = phi.operands[source]
            if not isinstance(operand, Const) and operand is not UNDEF and operand not in self.values:
                raise self.broken(block, f"{operand!r}, an operand of {phi!r}, has no value")
            merged[phi] = self.known(operand)
        self.values.update(merged)

    def leave(self, block: Block, error: BaseException | None) -> Block:
        """The block to enter after `block`, which does not end in a return; `error` is what was raised in
        `block`."""
        target: Block | None = None
        if error is None:
            target, error = self.terminator(block)
        if error is not None:
            if block.handler is None:
                intrinsics._reraise_(error)
            self.caught = error
            target = block.handler
        assert target is not None
        return target

    def instructions(self, block: Block) -> BaseException | None:
        """Run the instructions of `block`; returns what the last one raised, if the block has a handler."""
        for instruction in block.instructions:
            error = self.instruction(instruction, block)
            if error is not None:
                return error
        return None

    def instruction(self, instruction: Instruction, block: Block) -> BaseException | None:
        """Run one instruction; returns what it raised, if it is the last of a block with a handler."""
        if instruction.op == "catch":
            if self.caught is None:
                raise self.broken(block, "catch outside of a handler")
            self.values[instruction] = self.caught
            return None
        function, positional, keywords = self.prepare(instruction, block)
        if block.handler is None:
            self.values[instruction] = function(*positional, **keywords)
            return None
        try:
            self.values[instruction] = function(*positional, **keywords)
        except BaseException as error:  # a handler sees every exception; here it is only carried
            if instruction is block.instructions[-1]:
                return error
            if isinstance(error, Exception):
                message = f"{instruction!r} raised, but is not the last of a block with a handler"
                raise self.broken(block, message) from error
            raise
        return None

    def suspension(self, instruction: Instruction) -> Callable[..., Any] | None:
        """`_yield_` or `_yield_from_` if that is what `instruction` calls."""
        function = None if instruction.op == "catch" else call_form(instruction)[0]
        kinds = (intrinsics._yield_, intrinsics._yield_from_)
        return next((k for k in kinds if isinstance(function, Const) and function.value is k), None)

    def prepare(
        self, instruction: Instruction, block: Block
    ) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
        """The call that `instruction` is: the function, positional arguments, keyword arguments."""
        function, *arguments = [self.value(v, instruction, block) for v in call_form(instruction)]
        count = len(arguments) - len(instruction.keywords)
        keywords = dict(zip(instruction.keywords, arguments[count:], strict=True))
        return self.contextual.get(id(function), function), arguments[:count], keywords

    def terminator(self, block: Block) -> tuple[Block | None, BaseException | None]:
        """The block that the terminator of `block` leads to, or the exception that it raises instead."""
        terminator = block.terminator
        match terminator:
            case Jump():
                return terminator.target, None
            case Branch():
                condition = self.value(terminator.condition, terminator, block)
                if not isinstance(condition, bool):
                    raise self.broken(block, f"branches on {condition!r}, which is not a bool")
                return terminator.true if condition else terminator.false, None
            case Switch():
                value = self.value(terminator.value, terminator, block)
                if not isinstance(value, int):
                    raise self.broken(block, f"switches on {value!r}, which is not an int")
                return terminator.cases.get(value, terminator.default), None
            case Raise():
                return None, self.raised(terminator, block)
        raise self.broken(block, f"reached {type(terminator).__name__.lower()}")

    def raised(self, terminator: Raise, block: Block) -> BaseException:
        """The exception that a ``raise`` terminator raises."""
        if terminator.exception is None:
            current = sys.exception()
            return RuntimeError("No active exception to reraise") if current is None else current
        exception = self.value(terminator.exception, terminator, block)
        # Let Python decide what may be raised, and make an instance of a class.
        try:
            if terminator.cause is not None:
                raise exception from self.value(terminator.cause, terminator, block)
            raise exception
        except BaseException as error:  # raised again, or carried to the handler, by the caller
            return error

    # -- values --------------------------------------------------------------------------------------

    def known(self, value: Value) -> Any:
        if isinstance(value, Const):
            return value.value
        return UNDEF if value is UNDEF else self.values[value]

    def value(self, value: Value, user: Instruction | Terminator, block: Block) -> Any:
        """The Python object that `value` is now."""
        if not isinstance(value, Const) and self.values.get(value, UNDEF) is UNDEF:
            raise self.broken(block, f"{user!r} uses {value!r}, which has no value")
        return self.known(value)

    def broken(self, block: Block, message: str) -> VerificationError:
        return VerificationError(f"graph {self.graph.name}, block {block.label}: {message}\n\n{self.graph}")

    # -- intrinsics that need a frame ------------------------------------------------------------------

    def get_globals(self) -> dict[str, Any]:
        return self.globals

    def get_global(self, name: str) -> Any:
        if name in self.globals:
            return self.globals[name]
        if name in self.builtins:
            return self.builtins[name]
        raise NameError(f"name '{name}' is not defined", name=name)

    def get_class_global(self, namespace: Mapping[str, Any], name: str) -> Any:
        found = intrinsics.in_namespace(namespace, name)
        return self.get_global(name) if found is intrinsics.MISSING else found

    def store_global(self, name: str, value: object) -> None:
        self.globals[name] = value

    def delete_global(self, name: str) -> None:
        if name not in self.globals:
            raise NameError(f"name '{name}' is not defined", name=name)
        del self.globals[name]

    def free_variable(self, index: int) -> types.CellType:
        return self.closure[index]

    def import_module(self, name: str, level: int, fromlist: tuple[str, ...] | None) -> Any:
        return self.builtins["__import__"](name, self.globals, None, fromlist, level)

    def new(self, kind: type, *parts: Any) -> Any:
        if kind is types.FunctionType:
            return new_function(self.globals, *parts)
        return intrinsics._new_(kind, *parts)


def new_function(
    namespace: dict[str, Any] | None,
    code: types.CodeType,
    defaults: tuple[Any, ...] | None = None,
    keyword_defaults: dict[str, Any] | None = None,
    annotations: Any = None,
    closure: tuple[types.CellType, ...] | None = None,
    module: types.ModuleType | None = None,
) -> types.FunctionType:
    """The function that a ``def`` or ``lambda`` makes whose globals are `namespace`, or those of `module`."""
    space = namespace if module is None else vars(module)
    assert space is not None
    function = types.FunctionType(code, space, None, defaults, closure)
    function.__kwdefaults__ = keyword_defaults
    if isinstance(annotations, tuple):  # the bytecode has names and annotations in turn
        annotations = dict(zip(annotations[::2], annotations[1::2], strict=True))
    if is_function(annotations):  # from 3.14: the function that makes them
        setattr(function, "__annotate__", annotations)  # noqa: B010 (mypy checks for 3.11)
    elif annotations is not None:
        function.__annotations__ = annotations
    return function
