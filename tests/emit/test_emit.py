"""Single decisions of the emitter, each on a small graph."""

from __future__ import annotations

import operator
import traceback
import types
from typing import Any

import pytest

from adbc.emit import emit_function
from adbc.ir import intrinsics as i
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Phi, Position, Value
from tests.emit.checking import checked, opnames


def straight(*parameters: str) -> tuple[Builder, list[Value]]:
    graph = Graph("f")
    arguments: list[Value] = [graph.add_argument(name) for name in parameters]
    return Builder(graph), arguments


def test_equal_constants_stay_apart() -> None:
    first, second = [1.0], [1.0]
    builder, _ = straight()
    builder.ret(builder.call(i._new_, tuple, first, second, 0.0, -0.0, 1, True, 1.0, first))
    result = checked(builder.graph)()
    assert result[0] is first
    assert result[1] is second
    assert result[7] is first
    assert list(map(repr, result[2:7])) == ["0.0", "-0.0", "1", "True", "1.0"]


def test_constants_with_hostile_equality() -> None:
    class Hostile:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise AssertionError("constants are told apart by identity")

    value = Hostile()
    builder, _ = straight()
    builder.ret(builder.call(i._new_, list, value, value, "constant 1"))
    result = checked(builder.graph)()
    assert result[0] is value
    assert result[2] == "constant 1"


def test_the_first_string_is_not_the_docstring() -> None:
    builder, _ = straight()
    builder.ret("text")
    assert checked(builder.graph).__doc__ is None
    assert checked(builder.graph, docstring="what it is").__doc__ == "what it is"


@pytest.mark.parametrize("count", [15, 16, 17, 18, 40, 300])
def test_many_locals(count: int) -> None:
    # Superinstructions have four bits per variable; from 256 variables on there are prefixes.
    names = [f"x{k}" for k in range(count)]
    builder, arguments = straight(*names)
    total: Value = Const(0)
    for argument in arguments:
        product = builder.call(str, argument)
        again = builder.call(i._new_, tuple, product, product, argument, arguments[-1])
        total = builder.call(i._new_, tuple, total, again)
    builder.ret(total)
    expected: Any = 0
    for k in range(count):
        expected = (expected, (str(k), str(k), k, count - 1))
    result = checked(builder.graph)(*range(count))
    while isinstance(result, tuple):  # too deeply nested to compare at once
        assert result[1] == expected[1]
        result, expected = result[0], expected[0]
    assert result == expected


def test_swap_and_rotation_of_phis() -> None:
    function = checked(
        """
        graph f(n)
        entry:
            jump head
        head:
            %a = phi [entry: 1, body: %b]
            %b = phi [entry: 2, body: %c]
            %c = phi [entry: 3, body: %a]
            %k = phi [entry: 0, body: %m]
            %t = call operator.lt(%k, %n)
            branch %t, body, done
        body:
            %m = call operator.add(%k, 1)
            jump head
        done:
            %r = call _new_(builtins.tuple, %a, %b, %c)
            return %r
        """
    )
    assert [function(n) for n in range(4)] == [(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 2, 3)]


def test_lost_copy() -> None:
    function = checked(
        """
        graph f(n)
        entry:
            jump loop
        loop:
            %x = phi [entry: 1, loop: %y]
            %y = call operator.add(%x, 1)
            %t = call operator.lt(%y, %n)
            branch %t, loop, done
        done:
            return %x
        """
    )
    assert function(10) == 9


@pytest.mark.parametrize("keys", [[0], [0, 1], [3, 5, 9], list(range(16)), [-2, 0, 7, 100, 5000]])
def test_switch(keys: list[int]) -> None:
    builder, (x,) = straight("x")
    graph, entry = builder.graph, builder.block
    cases = {}
    for key in keys:
        builder.block = cases[key] = graph.add_block()
        builder.ret(f"case {key}")
    builder.block = default = graph.add_block("default")
    builder.ret("none")
    builder.block = entry
    builder.switch(x, cases, default)
    function = checked(graph)
    for value in {*keys, *(k + 1 for k in keys), -10, 10_000}:
        assert function(value) == (f"case {value}" if value in keys else "none")


def test_unpacking_keeps_messages_and_drops_what_is_unused() -> None:
    function = checked(
        """
        graph f(s)
        entry:
            %u = call _unpack_(%s, 3)
            %c = call _project_(%u, 2)
            %a = call _project_(%u, 0)
            %d = call _project_(%u, 2)
            %r = call _new_(builtins.list, %c, %a, %d)
            return %r
        """
    )
    assert "UNPACK_SEQUENCE" in opnames(function.__code__)
    assert function("abc") == ["c", "a", "c"]
    with pytest.raises(ValueError, match=r"not enough values to unpack \(expected 3, got 2\)"):
        function("ab")


def test_unpacked_tuple_that_is_needed_whole() -> None:
    function = checked(
        """
        graph f(s)
        entry:
            %u = call _unpack_(%s, 2)
            %a = call _project_(%u, 0)
            %r = call _new_(builtins.list, %a, %u)
            return %r
        """
    )
    assert function([1, 2]) == [1, (1, 2)]


def test_loop_variable_that_is_needed_after_the_loop() -> None:
    # Here the value of `_next_` is seen when it is EXHAUSTED, so FOR_ITER will not do.
    function = checked(
        """
        graph f(it)
        entry:
            %i = call _iter_(%it)
            jump head
        head:
            %v = call _next_(%i)
            %t = call _exhausted_(%v)
            branch %t, done, body
        body:
            jump head
        done:
            return %v
        """
    )
    assert "FOR_ITER" not in opnames(function.__code__)
    assert function("ab") is i.EXHAUSTED


def test_an_iterator_that_waits_in_a_variable_is_not_overwritten_by_a_phi() -> None:
    # The first values of phis are put into their variables before the iterator is loaded from its own.
    function = checked(
        """
        graph f(it, n)
        entry:
            %i = call _iter_(%it)
            %c = call operator.lt(%n, 0)
            branch %c, none, before
        none:
            return None
        before:
            jump head
        head:
            %last = phi [before: 7, body: %v]
            %v = call _next_(%i)
            %t = call _exhausted_(%v)
            branch %t, done, body
        body:
            %p = call builtins.print(%last, %v)
            jump head
        done:
            return %n
        """
    )
    assert "FOR_ITER" in opnames(function.__code__)
    assert function([1, 2], 3) == 3


def test_iterator_that_is_used_in_the_loop() -> None:
    function = checked(
        """
        graph f(it)
        entry:
            %i = call _iter_(%it)
            %l = call _new_(builtins.list)
            jump head
        head:
            %v = call _next_(%i)
            %t = call _exhausted_(%v)
            branch %t, done, body
        body:
            %w = call builtins.next(%i)
            %p = call operator.sub(%w, %v)
            %1 = call _list_append_(%l, %p)
            jump head
        done:
            return %l
        """
    )
    assert "FOR_ITER" in opnames(function.__code__)
    assert function([1, 5, 2, 9]) == [4, 7]


def test_unbound_local() -> None:
    builder, (flag,) = straight("flag")
    graph, entry = builder.graph, builder.block
    there, here = graph.add_block("there"), graph.add_block("here")
    builder.branch(builder.call(i._bool_, flag), there, here)
    builder.block = there
    builder.jump(here)
    phi = Phi(here, name="x")
    phi.operands = {entry: Const(i.UNBOUND), there: Const(5)}
    here.phis.append(phi)
    builder.block = here
    builder.ret(builder.call(i._check_, phi, "x"))
    function = checked(graph)
    assert function(True) == 5
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'x' where") as caught:
        function(False)
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 2


def test_emitted_code_has_the_signature_of_the_graph() -> None:
    graph = Graph("f")
    for name in ("a", "b", "k", "rest", "more"):
        graph.add_argument(name)
    graph.posonly_count, graph.kwonly_count, graph.has_varargs, graph.has_varkw = 1, 1, True, True
    builder = Builder(graph)
    builder.ret(builder.call(i._new_, tuple, *graph.arguments))
    function = checked(graph, defaults=(2,), kwdefaults={"k": 3})
    assert function(1, a=5) == (1, 2, 3, (), {"a": 5})
    assert function(1, 7, 8, 9, k=0) == (1, 7, 0, (8, 9), {})
    with pytest.raises(TypeError, match=r"f\(\) missing 1 required positional argument: 'a'"):
        function()


def test_positions_and_names() -> None:
    graph = Graph("f")
    graph.filename, graph.first_line, graph.qualname = "somewhere.py", 40, "C.f"
    x = graph.add_argument("x")
    builder = Builder(graph)
    builder.position = Position(42, 43, 4, 9)
    y = builder.call(operator.truediv, 1, x)
    builder.position = Position(44)
    builder.ret(y)
    function = checked(graph)
    assert function.__qualname__ == "C.f"
    assert function.__code__.co_firstlineno == 40
    with pytest.raises(ZeroDivisionError) as caught:
        function(0)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.name, frame.lineno, frame.end_lineno, frame.colno, frame.end_colno) == (
        "somewhere.py",
        "f",
        42,
        43,
        4,
        9,
    )


def test_closures() -> None:
    graph = Graph("f")
    graph.free = ("total",)
    builder = Builder(graph)
    cell = builder.call(i._freevar_, 0)
    old = builder.call(i._cell_get_, cell, "total", True)
    builder.call(i._cell_set_, cell, builder.call(operator.add, old, 1))
    builder.ret(cell)
    shared = types.CellType(1)
    function = checked(graph, closure=(shared,))
    assert function() is shared
    assert shared.cell_contents == 2
    with pytest.raises(NameError, match="free variable 'total'"):
        checked(graph, closure=(types.CellType(),))()


def test_cell_made_in_a_loop_is_new_each_time() -> None:
    function = checked(
        """
        graph f(n)
        entry:
            %l = call _new_(builtins.list)
            jump head
        head:
            %k = phi [entry: 0, body: %m]
            %t = call operator.lt(%k, %n)
            branch %t, body, done
        body:
            %c = call _cell_new_(%k)
            %1 = call _list_append_(%l, %c)
            %m = call operator.add(%k, 1)
            jump head
        done:
            return %l
        """
    )
    assert [cell.cell_contents for cell in function(3)] == [0, 1, 2]


def test_captured_parameter_whose_first_value_is_used_too() -> None:
    builder, (x,) = straight("x")
    cell = builder.call(i._cell_new_, x)
    builder.call(i._cell_set_, cell, 7)
    builder.ret(builder.call(i._new_, tuple, x, builder.call(i._cell_get_, cell, "x", False)))
    assert checked(builder.graph)(1) == (1, 7)


def test_keywords_and_unpacked_arguments() -> None:
    builder, (f, a, k) = straight("f", "a", "k")
    first = builder.call(f, 1, a, keywords=("key",))
    second = builder.call(i._apply_, f, a, k)
    third = builder.call(i._foreigncall_, f, 2, keywords=("z",))
    builder.ret(builder.call(i._new_, tuple, first, second, third))

    def show(*args: Any, **keywords: Any) -> Any:
        return args, keywords

    class Mapping(dict):  # type: ignore[type-arg]
        pass

    function = checked(builder.graph)
    assert function(show, [5], Mapping(u=6)) == (((1,), {"key": [5]}), ((5,), {"u": 6}), ((), {"z": 2}))
    with pytest.raises(TypeError, match="must be a mapping, not int"):
        function(show, [5], 3)


def test_deep_expression() -> None:
    builder, (x,) = straight("x")
    value: Value = x
    for _ in range(5000):
        value = builder.call(operator.add, value, 1)
    builder.ret(value)
    function = checked(builder.graph)
    assert function(0) == 5000
    assert function.__code__.co_stacksize < 100


def test_jumps_over_long_distances() -> None:
    builder, (x,) = straight("x")
    graph, entry = builder.graph, builder.block
    head, body, done = graph.add_block("head"), graph.add_block("body"), graph.add_block("done")
    phi = Phi(head)
    head.phis.append(phi)
    builder.jump(head)
    builder.block = head
    builder.branch(builder.call(operator.lt, phi, 70_000), body, done)
    builder.block = body
    value: Value = phi
    for _ in range(30_000):
        value = builder.call(operator.add, value, 1)
    builder.jump(head)
    builder.block = done
    builder.ret(phi)
    phi.operands = {entry: x, body: value}
    assert checked(graph)(1) == 90_001


def test_dead_values_do_not_stay_alive() -> None:
    # Values whose lives do not overlap share a variable, so big intermediates are let go.
    builder, (x,) = straight("x")
    value: Value = x
    for _ in range(10):
        again = builder.call(operator.mul, value, 2)
        value = builder.call(operator.add, again, again)
    builder.ret(value)
    assert checked(builder.graph).__code__.co_nlocals <= 3


def test_raise_with_cause() -> None:
    builder, (e, c) = straight("e", "c")
    builder.raise_(e, c)
    with pytest.raises(KeyError) as caught:
        checked(builder.graph)(KeyError("x"), ValueError("y"))
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_handler_gets_the_exception() -> None:
    builder, (f,) = straight("f")
    handler = builder.graph.add_block("handler")
    builder.ret(builder.call(f))
    builder.block.handler = handler
    builder.block = handler
    builder.ret(builder.emit("catch"))
    error = KeyError(1)

    def fails() -> None:
        raise error

    function = checked(builder.graph)
    assert function(fails) is error
    assert function(int) == 0


def test_globals_are_those_of_the_function() -> None:
    builder, _ = straight()
    names = builder.call(i._global_, "name")
    builder.ret(builder.call(i._new_, tuple, names, builder.call(i._globals_)))
    globals_: dict[str, Any] = {"name": "value"}
    function = emit_function(builder.graph, globals_)
    assert function() == ("value", globals_)
    with pytest.raises(NameError, match="name 'name' is not defined"):
        emit_function(builder.graph, {})()


def test_columns_behind_127() -> None:
    """They do not fit into the shorter entries of the table."""
    builder, (x,) = straight("x")
    builder.position = Position(1, 1, 3, 9)
    x = builder.call(operator.mul, x, x)
    builder.position = Position(2, 2, 120, 140)
    x = builder.call(operator.add, x, 1.0)
    builder.position = Position(4, 4, 130, 250)
    x = builder.call(operator.mul, x, 3.0)
    builder.position = Position(5, 7, 200, 1)
    x = builder.call(operator.sub, x, 1.0)
    builder.position = Position(3, 3, 200, 2600)
    builder.ret(builder.call(operator.neg, x))
    function = checked(builder.graph)
    assert function(2.0) == -14.0
    positions = list(function.__code__.co_positions())
    assert len(positions) * 2 == len(function.__code__.co_code)
    expected = [(1, 1, 3, 9), (2, 2, 120, 140), (4, 4, 130, 250), (5, 7, 200, 1), (3, 3, 200, 2600)]
    assert list(dict.fromkeys(p for p in positions if p in expected)) == expected
