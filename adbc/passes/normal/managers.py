"""A context manager that is a generator is written around the body of its ``with``.

before::                                         generator scaled(x)
                                                     entry:
    b:                                                   %1 = call operator.mul(%x, 2.0)
        %1 = call scaled(%x)                             call _yield_(%1)
        %2 = call _load_special_(%1, '__enter__')        return None
        %3 = call _load_special_(%1, '__exit__')
        %4 = call %2()
        ...
        %5 = call %3(None, None, None)

after::

    b:
        %4 = call operator.mul(%x, 2.0)
        ...

``scaled`` is what `contextlib.contextmanager` has made of the generator function.  What stands in front of
its yield is done where the body is entered, what stands behind it where the body is left.  If an exception
leaves the body, it is thrown into the generator by a function that does that (`Managed.thrown`); a generator
that does not care has no part in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from adbc.ir.graph import Graph
from adbc.ir.handlers import forget_handler
from adbc.ir.intrinsics import _load_special_
from adbc.ir.traverse import remove_unreachable, uses
from adbc.ir.values import Const, Instruction, Phi, Value
from adbc.passes.normal.inline_calls import put_graph
from adbc.passes.normal.segments import FINISHED
from adbc.passes.query import constant, target

__all__ = ["Managed", "managers", "thrown"]


class Managed(NamedTuple):
    """What stands for the two ends of a ``with``.

    before, after: what is done when the body is entered and left; graphs that give what a segment does
    (`segments`), of the parameters `values`, and of the state.  thrown: a function that says whether an
    exception is swallowed, with its first argument, which the exception and the state follow; None if the
    generator does not care.
    """

    before: Graph
    after: Graph
    values: Sequence[Value]
    thrown: tuple[Callable[..., Any], Any] | None


class _With(NamedTuple):
    """The calls that a ``with`` makes of its manager."""

    gone: Sequence[Instruction]
    enters: Instruction
    leaves: Sequence[Instruction]
    raises: Sequence[Instruction]


def managers(graph: Graph, find: Callable[[Instruction], Managed | None]) -> bool:
    """Write context managers around the bodies of their statements, in place; `find` knows those that calls
    make.  Returns whether there were any."""
    changed = False
    for made in list(graph.instructions()):
        if made.op != "call" or made.block is None or made not in made.block.instructions:
            continue
        managed = find(made)
        statement = None if managed is None else _statement(made, uses(graph))
        if managed is not None and statement is not None:
            _write_around(graph, made, statement, managed)
            changed = True
    return changed


def _statement(made: Instruction, users: Mapping[Value, Sequence[object]]) -> _With | None:
    """The ``with`` that `made` is the manager of, if nobody else knows it."""
    methods: dict[Any, Instruction] = {}
    for user in users.get(made, ()):
        if not isinstance(user, Instruction) or target(user) is not _load_special_:
            return None
        methods[constant(user.operands[2])] = user
    if len(users[made]) != 2 or methods.keys() != {"__enter__", "__exit__"}:
        return None
    enters, leaves, raises = [], [], []
    for name, method in methods.items():
        for user in users.get(method, ()):
            if not isinstance(user, Instruction) or user.operands[0] is not method or user.keywords:
                return None
            given = user.operands[1:]
            if method in given:
                return None
            if name == "__enter__":
                enters.append(user)
            elif all(isinstance(v, Const) and v.value is None for v in given):
                leaves.append(user)
            else:
                raises.append(user)
    if len(enters) != 1 or enters[0].operands[1:] or any(len(c.operands) != 4 for c in (*leaves, *raises)):
        return None
    if any(getattr(call.operands[2], "op", None) != "catch" for call in raises):
        return None
    if any(i.block is None for i in (made, *methods.values(), enters[0])):
        return None
    return _With([made, *methods.values()], enters[0], leaves, raises)


def _write_around(graph: Graph, made: Instruction, statement: _With, managed: Managed) -> None:
    entered = put_graph(graph, statement.enters, managed.before, managed.values)
    assert isinstance(entered, Phi)
    triples = dict(entered.operands.items())

    def part(read: Callable[[Instruction], Value]) -> Phi:
        made = Phi(entered.block)
        made.operands = {source: read(triple) for source, triple in triples.items()}  # type: ignore[arg-type]
        entered.block.phis.append(made)
        return made

    value, state = part(lambda triple: triple.operands[3]), part(lambda triple: triple.operands[4])
    count = len(managed.after.arguments)
    unpacked = [part(functools.partial(_element_of_state, k)) for k in range(count)]
    graph.replace_uses({entered: value})
    entered.block.phis.remove(entered)
    for call in statement.leaves:
        put_graph(graph, call, managed.after, unpacked)
    for call in statement.raises:
        if managed.thrown is None:
            _pass_on(graph, call)
        else:
            call.operands = [*map(Const, managed.thrown), call.operands[2], state]
    for instruction in statement.gone:
        assert instruction.block is not None
        instruction.block.instructions.remove(instruction)
    remove_unreachable(graph)


def _element_of_state(index: int, triple: Instruction) -> Value:
    """An element of the state that `triple` has, which was made as a tuple."""
    state = triple.operands[4]
    if isinstance(state, Const):
        return Const(state.value[index])  # type: ignore[index]
    assert isinstance(state, Instruction)
    return state.operands[2 + index]


def _pass_on(graph: Graph, call: Instruction) -> None:
    """Let exceptions pass by the handler in which `call` tells the manager of them, and is told nothing."""
    home = call.block
    caught = call.operands[2]
    assert home is not None and isinstance(caught, Instruction)
    handler, block = caught.block, home
    assert handler is not None
    around = None if handler.handler is None else handler.handler.handler
    if around is None:
        for source in list(graph.blocks):
            if source.handler is handler:
                forget_handler(source)
    graph.replace_uses({call: Const(False)})
    block.instructions.remove(call)
    if block.handler is not None:
        forget_handler(block)


def thrown(segment: Any, error: BaseException, state: tuple[Any, ...]) -> bool:
    """Throw `error` into a generator that is suspended in front of `segment`, as ``__exit__`` of a
    `contextlib.contextmanager` does; returns whether it is swallowed."""
    try:
        number = segment(True, error, *state)[0]
    except StopIteration as raised:
        if raised is error:  # it was not caught
            return False
        raise RuntimeError("generator raised StopIteration") from raised
    except BaseException as raised:
        if raised is error:
            return False
        raise
    if number != FINISHED:
        raise RuntimeError("generator didn't stop after throw()")
    return True
