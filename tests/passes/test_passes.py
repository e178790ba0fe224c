"""Each pass does what its docstring shows, on text where text can say it."""

from __future__ import annotations

import math
import operator
import types
from typing import Any

import pytest

from adbc.ir.graph import Graph
from adbc.ir.interpret import interpret
from adbc.ir.intrinsics import _cell_get_, _cell_new_, _foreigncall_, _new_, _next_
from adbc.ir.parser import parse_graph as parse
from adbc.ir.printer import print_graph
from adbc.ir.terminators import Jump
from adbc.ir.values import Const
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import NORMAL, normalise
from adbc.passes.normal.copy_propagation import copy_propagation
from adbc.passes.normal.dead_code import dead_code
from adbc.passes.normal.fold_constants import fold_constants
from adbc.passes.normal.foreigncall_to_call import foreigncall_to_call, is_foreign, is_python_class
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.normal.new_to_call import new_to_call
from adbc.passes.normal.operators_to_call import operators_to_call
from adbc.passes.normal.promote_cells import promote_cells
from adbc.passes.normal.resolve_globals import is_stable, resolve_globals
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.normal.truth import truth
from adbc.passes.normal.unreachable import unreachable
from adbc.passes.pipeline import clean


def check(run: Any, before: str, after: str) -> None:
    """`run` turns one text into the other (values are numbered anew)."""
    graph = parse(before)
    run(graph)
    verify(graph)
    assert print_graph(graph) == print_graph(parse(after))


def calls(graph: Graph) -> list[Any]:
    """The constant targets of all calls."""
    return [
        i.operands[0].value
        for i in graph.instructions()
        if i.op == "call" and isinstance(i.operands[0], Const)
    ]


# -- to calls --------------------------------------------------------------------------------------


def test_new_to_call() -> None:
    check(
        new_to_call,
        """
        graph f(x: Any)
        entry:
            %1 = build_list %x, 2.0
            %2 = build_map 'a', %1
            %3 = mul %x, %x
            return %2
        """,
        """
        graph f(x: Any)
        entry:
            %1 = call _new_(builtins.list, %x, 2.0)
            %2 = call _new_(builtins.dict, 'a', %1)
            %3 = mul %x, %x
            return %2
        """,
    )


def test_operators_to_call() -> None:
    check(
        operators_to_call,
        """
        graph f(x: Any, y: Any)
        entry:
            %1 = mul %x, %y
            %2 = getattr %x 'shape'
            %3 = setattr %x, %1 'area'
            %4 = unpack_ex %2 (1, 2)
            %5 = format %4, '' 2
            %6 = store_global %5 'name'
            %7 = build_tuple %1
            return %7
        """,
        """
        graph f(x: Any, y: Any)
        entry:
            %1 = call operator.mul(%x, %y)
            %2 = call _getattr_(%x, 'shape')
            %3 = call _setattr_(%x, 'area', %1)
            %4 = call _unpack_ex_(%2, 1, 2)
            %5 = call _format_(%4, 2, '')
            %6 = call _store_global_('name', %5)
            %7 = build_tuple %1
            return %7
        """,
    )


# -- globals ---------------------------------------------------------------------------------------


def test_functions_and_modules_are_resolved_under_guards() -> None:
    graph = parse("""
        graph f(x: Any)
        entry:
            %1 = call _global_('m')
            %2 = call _getattr_(%1, 'sin')
            %3 = call %2(%x)
            %4 = call _global_('own')
            %5 = call _getattr_(%4, 'rate')
            %6 = call _getattr_(%1, 'pi')
            %7 = call _global_('len')
            %8 = call %7(%3, %5, %6)
            return %8
        """)
    own = types.ModuleType("own")
    own.rate = 0.5  # type: ignore[attr-defined]
    resolve_globals(graph, {"m": math, "own": own})
    verify(graph)
    assert calls(graph)[0] is math.sin
    assert calls(graph)[-1] is len
    assert "'rate'" in print_graph(graph)
    assert "'pi'" not in print_graph(graph)
    assert [(g.path, g.value) for g in graph.guards] == [
        (("m",), math),
        (("m", "sin"), math.sin),
        (("own",), own),
        (("m", "pi"), math.pi),
        (("len",), len),
    ]


@pytest.mark.parametrize("value", [1, 2.0, "a", [1], {}, (1,), None, True, 3j])
def test_data_is_not_resolved(value: object) -> None:
    assert not is_stable(value)
    graph = parse("graph f()\nentry:\n    %1 = call _global_('x')\n    return %1\n")
    resolve_globals(graph, {"x": value})
    assert len(list(graph.instructions())) == 1 and not graph.guards


def test_names_that_are_stored_to_are_not_resolved() -> None:
    def f(x: Any) -> Any:
        global operator_in_use
        operator_in_use = x
        return operator_in_use(1), abs(x)

    graph = normalise(lift(f), {"operator_in_use": math.sin})
    assert [g.path for g in graph.guards] == [("abs",)]


def test_names_that_an_inner_function_stores_to_are_not_resolved() -> None:
    source = "def f(x):\n def g():\n  global h\n  h = x\n g()\n return h(x)"
    space: dict[str, Any] = {"h": math.sin}
    exec(source, space)
    graph = normalise(lift(space["f"]), space)
    assert graph.guards == []


def test_missing_names_are_left_to_raise() -> None:
    graph = parse("graph f()\nentry:\n    %1 = call _global_('nowhere_defined')\n    return %1\n")
    resolve_globals(graph, {})
    assert len(list(graph.instructions())) == 1


def test_own_builtins_are_looked_up() -> None:
    graph = parse("graph f()\nentry:\n    %1 = call _global_('abs')\n    return %1\n")
    resolve_globals(graph, {"__builtins__": {"abs": math.fabs}})
    assert graph.guards[0].value is math.fabs


# -- foreign calls ---------------------------------------------------------------------------------


class Plain:
    pass


class Slotted:
    __slots__ = ()


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return args


class WithMeta(metaclass=Meta):
    pass


class Callable_:
    def __call__(self) -> int:
        return 1


def test_targets_are_told_apart() -> None:
    import collections
    import functools

    for foreign in (
        len,
        math.sin,
        int,
        list,
        list.append,
        "a".join,
        type,
        ValueError,
        collections.deque,
        dict.fromkeys,
    ):
        assert is_foreign(foreign)
        assert not is_python_class(foreign)
    for kind in (Plain, Slotted, WithMeta, types.SimpleNamespace().__class__):
        assert is_python_class(kind) != is_foreign(kind)
    assert is_python_class(Plain) and is_python_class(Slotted) and is_python_class(WithMeta)
    for own in (
        lambda: 1,
        Callable_(),
        Plain().__init_subclass__.__class__ and Callable_().__call__,
        functools.wraps,
    ):
        assert not is_foreign(own)


def test_foreign_calls_and_new_instances() -> None:
    def f(x: Any) -> Any:
        return len(x), Plain(), Slotted(), WithMeta(x), operator.mul(x, x), dict(k=x), check(x, x, x)  # noqa: C408

    graph = lift(f)
    for step in NORMAL.stages[:6]:
        step.run(graph, f.__globals__)
    verify(graph, normal_form=True)
    found = []
    for i in graph.instructions():
        head, *rest = [v.value if isinstance(v, Const) else None for v in i.operands]
        found.append((head, rest[0]) if head in (_foreigncall_, _new_) else (head, None))
    assert found == [
        (_foreigncall_, len),
        (_new_, Plain),
        (_new_, Slotted),
        (WithMeta, None),
        (operator.mul, None),
        (_foreigncall_, dict),
        (check, None),
        (_new_, tuple),
    ]


def test_class_called_with_keywords_stays_a_call() -> None:
    graph = parse("graph f(x: Any)\nentry:\n    %1 = call %x(k=%x)\n    return %1\n")
    (call,) = graph.instructions()
    call.operands[0] = Const(Plain)
    foreigncall_to_call(graph)
    assert calls(graph) == [Plain]


# -- comprehensions --------------------------------------------------------------------------------


def test_comprehensions_are_loops_on_every_version() -> None:
    def f(xs: Any, k: Any) -> Any:
        return [[x * k for x in row] for row in xs], {x + k for x in xs}, {x: (k, x) for x in xs}

    graph = normalise(lift(f, inline=True), f.__globals__)
    verify(graph, normal_form=True)
    assert not any(
        isinstance(v, Const) and v.value is types.FunctionType
        for i in graph.instructions()
        for v in i.operands
    )
    assert calls(graph).count(_next_) == 4
    assert not {_cell_new_, _cell_get_} & set(calls(graph))


def test_generator_expressions_stay_functions() -> None:
    def f(xs: Any) -> Any:
        return sum(x for x in xs)

    graph = normalise(lift(f), f.__globals__)
    assert any(
        isinstance(v, Const) and v.value is types.FunctionType
        for i in graph.instructions()
        for v in i.operands
    )


def test_private_cells_are_values() -> None:
    def both(graph: Graph) -> None:
        promote_cells(graph)
        trivial_phis(graph)

    check(
        both,
        """
        graph f(x: Any, n: Any)
        entry:
            %c = call _cell_new_(%x)
            %e = call _cell_new_()
            %s = call _cell_set_(%e, %n)
            jump loop
        loop:
            %1 = call _cell_get_(%c, 'x', False)
            %2 = call operator.add(%1, %n)
            %3 = call _cell_set_(%c, %2)
            %4 = call _cell_get_(%e, 'e', True)
            %5 = call _bool_(%4)
            branch %5, loop, out
        out:
            %6 = call _cell_get_(%c, 'x', False)
            return %6
        """,
        """
        graph f(x: Any, n: Any)
        entry:
            jump loop
        loop:
            %1 = phi [entry: %x, loop: %2]
            %2 = call operator.add(%1, %n)
            %5 = call _bool_(%n)
            branch %5, loop, out
        out:
            return %2
        """,
    )


def test_cells_that_escape_or_may_be_empty_stay() -> None:
    text = """
        graph f(x: Any)
        entry:
            %c = call _cell_new_(%x)
            %t = call _new_(builtins.tuple, %c)
            %e = call _cell_new_()
            %1 = call _bool_(%x)
            branch %1, a, b
        a:
            %2 = call _cell_set_(%e, 1)
            jump b
        b:
            %3 = call _cell_get_(%e, 'e', False)
            %4 = call _cell_get_(%c, 'x', False)
            return %t
        """
    check(promote_cells, text, text)


# -- truth -----------------------------------------------------------------------------------------


def test_certain_bools_are_not_asked_again() -> None:
    check(
        truth,
        """
        graph f(x: Any)
        entry:
            %1 = call operator.is_(%x, None)
            %2 = call _bool_(%1)
            branch %2, a, b
        a:
            %3 = call operator.lt(%x, 1)
            %4 = call _bool_(%3)
            branch %4, b, c
        b:
            %5 = phi [entry: %1, a: True]
            %6 = call _bool_(%5)
            branch %6, c, d
        c:
            return 1
        d:
            return 2
        """,
        """
        graph f(x: Any)
        entry:
            %1 = call operator.is_(%x, None)
            branch %1, a, b
        a:
            %3 = call operator.lt(%x, 1)
            %4 = call _bool_(%3)
            branch %4, b, c
        b:
            %5 = phi [entry: %1, a: True]
            branch %5, c, d
        c:
            return 1
        d:
            return 2
        """,
    )


def test_inverted_condition_turns_the_branch_round() -> None:
    check(
        truth,
        """
        graph f(x: Any)
        entry:
            %1 = call operator.not_(%x)
            %2 = call _bool_(%1)
            branch %2, a, b
        a:
            return 1
        b:
            %3 = call _bool_(%x)
            %4 = call operator.not_(%3)
            return %4
        """,
        """
        graph f(x: Any)
        entry:
            %1 = call _bool_(%x)
            branch %1, b, a
        a:
            return 1
        b:
            %4 = call operator.not_(%x)
            return %4
        """,
    )


# -- cleaning --------------------------------------------------------------------------------------


def test_tuple_that_is_taken_apart_is_not_needed() -> None:
    def both(graph: Graph) -> None:
        copy_propagation(graph)
        dead_code(graph)

    check(
        both,
        """
        graph f(a: Any, b: Any)
        entry:
            %1 = call _new_(builtins.tuple, %a, %b)
            %2 = call _unpack_(%1, 2)
            %3 = call _project_(%2, 0)
            %4 = call _project_(%2, 1)
            %5 = call operator.sub(%4, %3)
            return %5
        """,
        """
        graph f(a: Any, b: Any)
        entry:
            %5 = call operator.sub(%b, %a)
            return %5
        """,
    )


def test_wrong_count_is_left_to_raise() -> None:
    text = """
        graph f(a: Any)
        entry:
            %1 = call _new_(builtins.tuple, %a, %a)
            %2 = call _unpack_(%1, 3)
            %3 = call _project_(%2, 0)
            return %3
        """
    check(copy_propagation, text, text)


def test_constants_are_folded_and_branches_with_them() -> None:
    check(
        fold_constants,
        """
        graph f(x: Any)
        entry:
            %1 = call operator.mul(2, 0.5)
            %2 = call operator.lt(%1, 2)
            %3 = call _bool_(%2)
            branch %3, a, b
        a:
            jump c
        b:
            jump c
        c:
            %4 = phi [a: %1, b: 5]
            return %4
        """,
        """
        graph f(x: Any)
        entry:
            jump a
        a:
            jump c
        b:
            jump c
        c:
            %4 = phi [a: 1.0, b: 5]
            return %4
        """,
    )


@pytest.mark.parametrize(
    "call",
    [
        "operator.truediv(1, 0)",
        "operator.mul('a', 3)",
        "operator.lt(1j, 2)",
        "operator.mul(18446744073709551615, 99)",
        "operator.is_(1, 1)",
        "operator.add(1, %x)",
        "_global_('x')",
        "operator.lt('a', 'b')",
    ],
)
def test_what_is_not_folded(call: str) -> None:
    text = f"graph f(x: Any)\nentry:\n    %1 = call {call}\n    return %1\n"
    check(fold_constants, text, text)


def test_unreachable_blocks_go_and_phis_forget_them() -> None:
    def both(graph: Graph) -> None:
        unreachable(graph)
        trivial_phis(graph)

    check(
        both,
        """
        graph f(a: Any, b: Any)
        entry:
            jump join
        dead:
            jump join
        join:
            %1 = phi [entry: %a, dead: %b]
            return %1
        """,
        """
        graph f(a: Any, b: Any)
        entry:
            jump join
        join:
            return %a
        """,
    )


def test_what_may_raise_or_act_is_not_dead() -> None:
    text = """
        graph f(x: Any)
        entry:
            %1 = call operator.add(%x, 1)
            %2 = call _global_('x')
            %3 = call _new_(builtins.set, %x)
            %4 = call _next_(%x)
            %5 = call _bool_(%x)
            return %x
        """
    check(dead_code, text, text)


def test_unused_chain_is_dead() -> None:
    check(
        dead_code,
        """
        graph f(x: Any)
        entry:
            %1 = call _new_(builtins.list, %x)
            %2 = call _new_(builtins.tuple, %1, %1)
            %3 = call _cell_new_(%2)
            %4 = call operator.is_(%3, None)
            return %x
        """,
        """
        graph f(x: Any)
        entry:
            return %x
        """,
    )


def test_lines_are_merged_and_forwarding_blocks_skipped() -> None:
    check(
        merge_blocks,
        """
        graph f(x: Any, c: Any)
        entry:
            %1 = call operator.add(%x, 1)
            jump b
        b:
            %2 = phi [entry: %1]
            %3 = call _bool_(%2)
            branch %3, f, g
        f:
            jump join
        g:
            %4 = call operator.add(%x, 2)
            jump join
        join:
            %5 = phi [f: %2, g: %4]
            return %5
        """,
        """
        graph f(x: Any, c: Any)
        entry:
            %1 = call operator.add(%x, 1)
            %3 = call _bool_(%1)
            branch %3, join, g
        g:
            %4 = call operator.add(%x, 2)
            jump join
        join:
            %5 = phi [entry: %1, g: %4]
            return %5
        """,
    )


def test_forwarding_blocks_stay_where_phis_need_them() -> None:
    text = """
        graph f(x: Any)
        entry:
            %1 = call _bool_(%x)
            branch %1, a, join
        a:
            jump join
        join:
            %2 = phi [a: 1, entry: 2]
            return %2
        """
    check(merge_blocks, text, text)


def test_branch_around_nothing_becomes_straight() -> None:
    graph = parse("""
        graph f(x: Any)
        entry:
            %1 = call _bool_(%x)
            branch %1, a, b
        a:
            jump join
        b:
            jump join
        join:
            return %x
        """)
    merge_blocks(graph)
    verify(graph)
    assert len(graph.blocks) == 1
    assert [i.op for i in graph.instructions()] == ["call"]


def test_loop_to_itself_is_kept() -> None:
    graph = parse("graph f()\nentry:\n    jump a\na:\n    jump b\nb:\n    jump a\n")
    merge_blocks(graph)
    verify(graph)
    assert isinstance(graph.blocks[-1].terminator, Jump)


def test_nothing_comes_to_stand_in_front_of_a_raise_with_a_handler() -> None:
    graph = parse("""
        graph f(x)
        entry:
            %1 = call _new_(builtins.tuple, %x, 2)
            jump raising
        raising: handler h
            raise builtins.KeyError
        h:
            %2 = catch
            %3 = call _new_(builtins.tuple, %1, %2)
            return %3
        """)
    merge_blocks(graph)
    verify(graph)
    value, error = interpret(graph, 5.0)
    assert value == (5.0, 2)
    assert isinstance(error, KeyError)


def test_handlers_of_what_is_taken_apart_go() -> None:
    graph = parse("""
        graph f(x)
        entry: handler h
            %1 = call _new_(builtins.tuple, %x, 2)
            %2 = call _unpack_(%1, 2)
            jump behind
        behind:
            %3 = call _project_(%2, 0)
            return %3
        h:
            %4 = catch
            jump other
        other:
            return 0
        """)
    clean(graph)
    verify(graph, normal_form=True)
    assert len(graph.blocks) == 1
    assert interpret(graph, 5.0) == 5.0


# -- the pipeline ----------------------------------------------------------------------------------


def test_pipeline_reports_each_stage_in_order() -> None:
    def f(x: Any) -> Any:
        return [math.sin(x)] if not x else None

    seen: list[str] = []
    graph = normalise(lift(f), f.__globals__, after=lambda step, graph: seen.append(step.name))
    verify(graph, normal_form=True)
    assert seen == [step.name for step in NORMAL.stages]
    assert all(step.reason for step in NORMAL.stages)
