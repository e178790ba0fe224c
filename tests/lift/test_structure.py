"""The shape of lifted graphs: signatures, phis, checks, positions, loops."""

from __future__ import annotations

import sys
import types
from typing import Any

from adbc.inspect import roundtrip
from adbc.ir.graph import Graph
from adbc.ir.intrinsics import UNBOUND
from adbc.ir.terminators import Branch
from adbc.ir.values import Const, Instruction
from adbc.lift import lift


def ops(graph: Graph) -> list[str]:
    return [i.op for i in graph.instructions()]


def test_signature_is_that_of_the_code() -> None:
    def f(a: Any, /, b: Any, *args: Any, c: Any, **kwargs: Any) -> Any:
        return a, b, args, c, kwargs

    graph = lift(f)
    assert [a.name for a in graph.arguments] == ["a", "b", "c", "args", "kwargs"]
    assert (graph.posonly_count, graph.kwonly_count, graph.has_varargs, graph.has_varkw) == (1, 1, True, True)
    assert graph.qualname == f.__qualname__
    assert graph.filename == __file__
    assert graph.first_line == f.__code__.co_firstlineno


def test_loop_reads_like_the_specification() -> None:
    def f(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total += x
        return total

    graph = lift(f)
    assert ops(graph) == ["iter", "next", "exhausted", "iadd"]
    loop = graph.entry.successors[0]
    assert [phi.name for phi in loop.phis] == ["total"]
    following, exhausted = loop.instructions
    assert exhausted.operands == [following]
    assert isinstance(loop.terminator, Branch) and loop.terminator.condition is exhausted
    assert loop.terminator.true.instructions == []
    assert [i.op for i in loop.terminator.false.instructions] == ["iadd"]


def test_phis_of_a_swap_take_each_other() -> None:
    def f(n: Any) -> Any:
        a, b = 0, 1
        while n:
            a, b = b, a
            n -= 1
        return a, b

    graph = lift(f)
    (loop,) = (block for block in graph.blocks if block.label == "loop")
    phis = {phi.name: phi for phi in loop.phis}
    assert phis["b"] in phis["a"].operands.values()
    assert phis["a"] in phis["b"].operands.values()


def test_known_bound_locals_are_not_checked() -> None:
    def bound(x: Any, n: Any) -> Any:
        y = x
        for i in range(n):
            y = y + i
        if n:
            z = y
        else:
            z = x
        return y, z

    def maybe(n: Any) -> Any:
        for i in range(n):
            pass
        return i, i

    assert "check" not in ops(lift(bound))
    assert ops(lift(maybe)).count("check") == 1


def test_no_phi_without_use() -> None:
    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            t = x * 2
            x = t
        return n

    graph = lift(f)
    used = {v for i in graph.instructions() for v in i.operands}
    phis = {phi for block in graph.blocks for phi in block.phis}
    assert {phi.name for phi in phis} == {"x"}
    assert phis <= used


def test_captured_parameter_is_put_into_a_cell_at_entry() -> None:
    def f(x: Any) -> Any:
        return lambda: x

    graph = lift(f)
    first = graph.entry.instructions[0]
    assert (first.op, first.operands) == ("cell_new", [graph.arguments[0]])


def test_free_variables_are_numbered() -> None:
    a, b = 1, 2

    def f() -> Any:
        nonlocal b
        b = a
        return b

    graph = lift(f)
    assert graph.free == ("a", "b")
    reads = [i for i in graph.instructions() if i.op == "freevar"]
    assert [i.attribute for i in reads] == [0, 1]
    gets = [i.attribute for i in graph.instructions() if i.op == "cell_get"]
    assert gets == [("a", True), ("b", True)]


def test_zero_argument_super_gets_its_arguments() -> None:
    class A:
        def f(self) -> Any:
            return super().__repr__()

    graph = lift(A.f)
    call = next(i for i in graph.instructions() if i.op == "call")
    cell, instance = call.operands[1:]
    assert isinstance(cell, Instruction) and cell.attribute == ("__class__", True)
    assert instance is graph.arguments[0]


def test_own_super_is_left_alone() -> None:
    space: dict[str, Any] = {}
    exec(
        "def super(): return 5\nclass A:\n    def f(self):\n        return super() + 1 if __class__ else 0",
        space,
    )
    graph = lift(space["A"].f)
    call = next(i for i in graph.instructions() if i.op == "call")
    # From 3.12 on the compiler passes them itself where it sees an attribute; here it does not.
    assert len(call.operands) == 1


def test_positions_come_from_the_source() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        return y + 1

    graph = lift(f)
    first = f.__code__.co_firstlineno
    lines = [i.position.line for i in graph.instructions() if i.position]
    assert lines == [first + 1, first + 2]
    assert graph.entry.terminator.position is not None
    position = graph.entry.instructions[0].position
    assert position is not None and position.column is not None and position.end_column == position.column + 5


def test_comprehensions_are_loops_on_every_version() -> None:
    def f(xs: Any) -> Any:
        return [x * 2 for x in xs]

    assert ops(lift(f, inline=True)).count("list_append") == 1
    assert ops(lift(f)).count("list_append") == (sys.version_info >= (3, 12))


def test_annotations_are_a_dict_or_the_function_that_makes_it() -> None:
    space: dict[str, Any] = {}
    exec("def f():\n    def g(x: int) -> float: pass\n    return g", space)
    graph = lift(space["f"])
    *made, function = (i for i in graph.instructions() if i.op == "make_function")
    annotations = function.operands[3]
    if sys.version_info >= (3, 14):
        assert [annotations] == made
        return
    assert isinstance(annotations, Instruction) and annotations.op == "build_map"
    names = [v.value for v in annotations.operands[::2] if isinstance(v, Const)]
    assert names == ["x", "return"]


def test_a_variable_may_hold_the_mark_of_unbound_ones_in_code_that_adbc_has_written() -> None:
    def moved(is_bound: bool) -> Any:
        value: Any = "the mark"
        if is_bound:
            value = 1
        return (value,)

    code = moved.__code__
    marked = tuple(UNBOUND if constant == "the mark" else constant for constant in code.co_consts)
    written = types.FunctionType(code.replace(co_consts=marked), globals())
    assert roundtrip(written)(True) == (1,)
    assert roundtrip(written)(False) == (UNBOUND,)
