"""Which names become constants, and under which guards; ``resolve_globals.ir`` has more."""

from __future__ import annotations

import math
import sys
import types
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.ir.graph import Graph, Guard
from adbc.ir.parser import parse_graph as parse
from adbc.ir.printer import print_graph
from adbc.ir.values import Const
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import normalise
from adbc.passes.normal.resolve_globals import is_stable, resolve_globals


def calls(graph: Graph) -> list[Any]:
    """The constant targets of all calls."""
    return [
        i.operands[0].value
        for i in graph.instructions()
        if i.op == "call" and isinstance(i.operands[0], Const)
    ]


def test_methods_of_ufuncs_and_new_axes_are_resolved() -> None:
    graph = parse("""
        graph f(x: Any, i: Any)
        entry:
            %1 = call _global_('np')
            %2 = call _getattr_(%1, 'add')
            %3 = call _getattr_(%2, 'at')
            %4 = call _getattr_(%1, 'newaxis')
            %5 = call _getattr_(%2, 'nin')
            %6 = call %3(%x, %i, %4, %5)
            return %6
        """)
    resolve_globals(graph, {"np": np})
    verify(graph)
    assert calls(graph)[-1] == np.add.at
    assert "'nin'" in print_graph(graph)
    assert "'newaxis'" not in print_graph(graph)
    assert [g.path for g in graph.guards] == [("np",), ("np", "add"), ("np", "newaxis")]


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


def test_modules_that_a_function_imports_are_resolved() -> None:
    def f(x: float) -> Any:
        import math as m
        import os.path
        import xml.dom.minidom  # nobody has loaded it

        from numpy.linalg import norm

        return m.sqrt(norm(x)) + m.pi + os.path.isabs("/") + xml.dom.minidom

    sys.modules.pop("xml.dom.minidom", None)
    graph = normalise(lift(f), vars(math))
    verify(graph)
    paths = [guard.path for guard in graph.guards]
    assert ("import math", "sqrt") in paths and ("import numpy", "linalg", "norm") in paths
    assert "_foreigncall_(math.sqrt" in str(graph) and "_getattr_(math" not in str(graph)
    assert str(graph).count("_import_") >= 4  # they are still made
    parts = "graph f(x)\n    guard import math.sqrt is math.sqrt\nentry:\n    return %x"
    assert parse(parts).guards == [Guard(("import math", "sqrt"), math.sqrt)]


def test_another_module_of_the_name_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: float) -> Any:
        import statistics as s

        return s.fmean([x, 2.0 * x])

    for _ in range(3):
        assert adbc.grad(f)(1.0) == 1.5
    other = types.ModuleType("statistics")
    other.fmean = lambda values: 5.0 * values[0]
    monkeypatch.setitem(sys.modules, "statistics", other)
    assert adbc.grad(f)(1.0) == 5.0
    other.fmean = lambda values: 7.0 * values[0]
    assert adbc.grad(f)(1.0) == 7.0
    monkeypatch.undo()
    assert adbc.grad(f)(1.0) == 1.5
    assert adbc.jvp(f, (1.0,), (1.0,)) == (1.5, 1.5)


def test_methods_of_distributions_are_known_as_functions_are() -> None:
    stats = pytest.importorskip("scipy.stats")
    source = "graph f(x)\nentry:\n    %1 = call _global_('st')\n    %2 = call _getattr_(%1, 'norm')\n"
    source += (
        "    %3 = call _getattr_(%2, 'logpdf')\n    %4 = call %3(%x)\n    %5 = call _getattr_(%2, 'a')\n"
    )
    source += "    %6 = call _getattr_(%2, 'no_such_name')\n    return %4\n"
    graph = resolve_globals(parse(source), {"st": stats})
    assert calls(graph)[0] == stats.norm.logpdf
    assert str(graph).count("_getattr_(") == 2  # data, and what raises
    paths = [("st",), ("st", "norm"), ("st", "norm", "logpdf", "__func__")]
    assert [g.path for g in graph.guards] == paths
    assert not is_stable(stats.norm(0.3))  # which has parameters
