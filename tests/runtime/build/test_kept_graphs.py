"""Graphs of adbc's own functions, kept between processes: the same graphs, or none."""

from __future__ import annotations

import importlib
import math
import os
import pathlib
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import FOLDER, Config
from adbc.errors import LiftError
from adbc.ir.graph import Graph
from adbc.ir.verify import verify
from adbc.rules import SOURCES, default_table
from adbc.rules.lookup import RuleTable
from adbc.runtime import make_engine, using
from adbc.runtime.build import graphs, kept_graphs
from adbc.runtime.build.engine import Engine
from adbc.runtime.build.kept_graphs import KeptGraphs, Store
from adbc.runtime.build.sources import sources

MODULES = (
    "adbc.tangents.internal", "adbc.tangents.arrays", "adbc.tangents.fit", "adbc.tangents.walk",
    "adbc.rules.numpy.base", "adbc.rules.numpy.views", "adbc.rules.builtins.iteration", "adbc.rules.table",
    "adbc.runtime.entry.results", "adbc.runtime.state.slots", "adbc.rules.consumers", "adbc.rules.itertools",
)  # fmt: skip


def functions() -> Iterator[types.FunctionType]:
    """Functions of adbc's own, methods among them."""
    for name in MODULES:
        module = importlib.import_module(name)
        for value in list(vars(module).values()):
            members = list(vars(value).values()) if isinstance(value, type) else [value]
            for function in members:
                if type(function) is types.FunctionType and function.__globals__ is vars(module):
                    yield function


def positions(graph: Graph) -> list[Any]:
    values = [*graph.arguments]
    for block in graph.blocks:
        values += [*block.phis, *block.instructions, block.terminator]
    return [value.position for value in values]


def engine_with(store: Store | None, table: RuleTable | None = None) -> Engine:
    """An engine that has lifted nothing, and keeps graphs in `store`.  Other tests may have declared rules in
    the table of the process."""
    engine = make_engine(table or RuleTable(SOURCES), Config(verify=False))
    engine.graphs.kept = KeptGraphs(engine.table, engine.graphs.inlines, store)
    return engine


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    return Store(str(tmp_path / "made" / "graphs"), b"f" * 32)


def again(store: Store) -> Store:
    """What the next process finds."""
    store.write()
    return Store(store.path, store.fingerprint)


def test_what_is_read_is_what_was_lifted(store: Store) -> None:
    table = RuleTable(SOURCES)
    first = engine_with(store, table)
    lifted = {}
    for function in functions():
        try:
            lifted[function] = first.primal(function)
        except LiftError:
            continue
    assert len(lifted) > 250
    kept = engine_with(again(store), table).graphs.kept
    assert kept is not None
    found = {function: graph for function in lifted if (graph := kept.find(function)) is not None}
    assert len(found) > 0.9 * len(lifted)
    for function, graph in found.items():
        expected = lifted[function]
        verify(graph)
        assert str(graph) == str(expected)
        assert positions(graph) == positions(expected)
        assert graph.guards == expected.guards
        assert all(a.value is b.value for a, b in zip(graph.guards, expected.guards, strict=True))
        assert graph.namespace is function.__globals__
        assert not expected.facts


def quartic(x: float) -> float:
    total = 0.0
    for k in range(3):
        total += np.sum(np.array([x, x * k]) ** 4)
    return total


def second(engine: Engine, x: float) -> float:
    with using(engine):
        return float(adbc.grad(adbc.grad(quartic))(x))


def test_the_next_process_lifts_nothing_of_adbc(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    table = RuleTable(SOURCES)
    expected = second(make_engine(table, Config(verify=True)), 0.7)
    assert second(engine_with(store, table), 0.7) == expected
    lifted: list[types.FunctionType] = []
    make = graphs.primal_graph
    monkeypatch.setattr(
        graphs, "primal_graph", lambda of, seen: (lifted.append(of.function), make(of, seen))[1]
    )
    following = again(store)
    assert second(engine_with(following, table), 0.7) == expected
    assert len([f for f in lifted if store_would_keep(f)]) < 3, "but for what rests on facts about classes"
    assert len(following.used) > 10
    assert not following.new


def store_would_keep(function: types.FunctionType) -> bool:
    """Whether `function` is of a module of adbc, and was not emitted."""
    name = function.__globals__.get("__name__", "")
    if not name.startswith("adbc.") or vars(sys.modules[name]) is not function.__globals__:
        return False
    return function.__code__.co_filename.startswith(FOLDER) and "_stub" not in function.__qualname__


# -- what an entry goes by -----------------------------------------------------------------------------------

MODULE = "adbc.tangents.scratch_of_a_test"


def module_with(source: str) -> types.ModuleType:
    """A module of adbc with this source, as the next process has it."""
    module = types.ModuleType(MODULE)
    module.__file__ = os.path.join(FOLDER, "tangents", "scratch_of_a_test.py")
    exec(compile(source, module.__file__, "exec"), vars(module))
    sys.modules[MODULE] = module
    return module


@pytest.fixture
def scratch() -> Iterator[None]:
    yield
    sys.modules.pop(MODULE, None)


SOURCE = """
import math
FACTOR = 3.0

def small(x):
    return x * FACTOR

def entered(x):
    return math.sin(small(x))

def made(x):
    def inner(y):
        return y * x
    return inner
"""


def test_an_entry_is_for_this_code_and_for_what_its_names_lead_to(store: Store, scratch: None) -> None:
    module = module_with(SOURCE)
    table = RuleTable(SOURCES)
    for name in ("entered", "made"):
        engine_with(store, table).primal(getattr(module, name))
    following = again(store)

    def is_found(source: str, name: str = "entered", **changed: Any) -> bool:
        module = module_with(source)
        vars(module).update(changed)
        kept = engine_with(following, table).graphs.kept
        assert kept is not None
        return kept.find(getattr(module, name)) is not None

    assert is_found(SOURCE)
    assert is_found(SOURCE, "made")
    assert not is_found(SOURCE.replace("math.sin(small(x))", "math.cos(small(x))"))
    assert not is_found(SOURCE.replace("x * FACTOR", "x + FACTOR")), "what was written in has changed"
    assert is_found(SOURCE, FACTOR=4.0), "a number is read where the code runs"
    assert not is_found(SOURCE, small=lambda x: x)
    assert not is_found(SOURCE, math=np)
    assert is_found(SOURCE, "made", math=np), "which does not ask for it"
    engine = engine_with(following, table)
    engine.graphs.kept = KeptGraphs(table, not engine.graphs.inlines, following)
    assert engine.graphs.kept.find(module_with(SOURCE).entered) is None, "it has small functions written in"


def test_a_constant_that_is_code_is_that_of_the_function(store: Store, scratch: None) -> None:
    engine_with(store).primal(module_with(SOURCE).made)
    module = module_with(SOURCE)
    kept = engine_with(again(store)).graphs.kept
    assert kept is not None
    graph = kept.find(module.made)
    assert graph is not None
    (code,) = [c for c in module.made.__code__.co_consts if isinstance(c, types.CodeType)]
    assert any(getattr(v, "value", None) is code for call in graph.instructions() for v in call.operands)


def test_another_version_of_a_package(store: Store, scratch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import numpy as np\ndef entered(x):\n    return np.sin(x)\n"
    engine_with(store).primal(module_with(source).entered)
    kept = engine_with(again(store)).graphs.kept
    assert kept is not None
    assert kept.find(module_with(source).entered) is not None
    monkeypatch.setattr(np, "__version__", "0.0")
    assert kept.find(module_with(source).entered) is None


def test_what_is_said_of_the_sources_changes_with_them(tmp_path: pathlib.Path) -> None:
    folder = f"{tmp_path}{os.sep}"
    seen = set()

    def said() -> str:
        sources.cache_clear()
        return sources(folder)[0]

    try:
        (tmp_path / "a.py").write_text("x = 1\n")
        (tmp_path / "inside").mkdir()
        seen.add(said())
        assert said() in seen
        (tmp_path / "inside" / "b.py").write_text("y = 1\n")
        seen.add(said())
        (tmp_path / "inside" / "b.py").write_text("y = 22\n")
        seen.add(said())
        os.utime(tmp_path / "a.py", (1.0, 2.0))
        seen.add(said())
        (tmp_path / "a.py").rename(tmp_path / "c.py")
        seen.add(said())
        assert len(seen) == 5
        assert sources(folder)[1] == (tmp_path / "inside" / "b.py").stat().st_mtime
    finally:
        sources.cache_clear()


def test_a_file_for_something_else_or_damaged_is_as_none(store: Store) -> None:
    store.put(b"key", (1, "two"))
    assert again(store).find(b"key") == (1, "two")
    assert Store(store.path, b"g" * 32).find(b"key") is None
    path = pathlib.Path(store.path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"?", whole[:20], b"", b"x" + whole[1:]):
        path.write_bytes(damaged)
        assert Store(store.path, store.fingerprint).find(b"key") is None


def test_two_processes_that_write_keep_what_both_have_lifted(store: Store) -> None:
    other = Store(store.path, store.fingerprint)
    store.put(b"one", 1)
    other.put(b"two", 2)
    store.write()
    following = again(other)
    assert (following.find(b"one"), following.find(b"two")) == (1, 2)


def test_a_file_does_not_grow_without_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_graphs, "_MOST", 2)
    store.put(b"one", 1)
    store.put(b"two", 2)
    following = again(store)
    assert following.find(b"two") == 2
    following.put(b"three", 3)
    assert set(again(following).entries) == {b"two", b"three"}


def test_where_bytecode_is_not_written_nothing_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    store.put(b"one", 1)
    store.write()
    assert not pathlib.Path(store.path).exists()


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(str(tmp_path / "file" / "graphs"), b"f" * 32)
    store.put(b"one", 1)
    store.write()


def of_the_program(x: float) -> float:
    return 2.0 * x


def test_with_rules_of_what_adbc_may_call_nothing_is_kept(store: Store) -> None:
    from adbc.tangents.internal import add

    table = RuleTable(SOURCES)
    engine = engine_with(store, table)
    assert engine.graphs.kept is not None
    graph = engine.primal(add)
    assert engine.graphs.kept.find(add) is None
    following = again(store)
    engine.graphs.kept = KeptGraphs(table, engine.graphs.inlines, following)
    assert engine.graphs.kept.find(add) is not None
    adbc.scalar_rule(of_the_program, table=table)(lambda out, x: 2.0)
    assert table.declared == 1
    assert engine.graphs.kept.find(add) is not None
    adbc.scalar_rule(math.erf, table=table)(lambda out, x: 2.0)
    assert table.declared == 2
    assert engine.graphs.kept.find(add) is None
    engine.graphs.kept.add(add, graph)
    assert not following.new


def test_stages_that_are_looked_at_are_gone_through() -> None:
    assert make_engine(default_table(), Config(verify=True)).graphs.kept is None
    assert make_engine(default_table(), Config(dump="f")).graphs.kept is None
    assert make_engine(default_table(), Config()).graphs.kept is not None


def test_functions_of_the_user_are_not_kept(store: Store) -> None:
    engine_with(store).primal(quartic)
    assert not store.new


# -- whole processes -----------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
import adbc
from adbc.runtime.build import graphs

lifted = []
make = graphs.primal_graph
graphs.primal_graph = lambda of, seen: (lifted.append(of.function.__qualname__), make(of, seen))[1]

a = np.array([[1.0, 2.0], [0.0, 1.0]])

def f(x):
    return np.sum((a @ x) ** 2)

(found,) = adbc.hvp(f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
print(found[0], "matmul_b" in lifted)
"""


def run(tree: pathlib.Path, bytecode: pathlib.Path, **more: str) -> tuple[float, bool]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ADBC_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": str(bytecode), **more}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    value, is_lifted = done.stdout.split()
    return float(value), is_lifted == "True"


def test_a_source_that_changes_is_noticed(tmp_path: pathlib.Path) -> None:
    """A formula is made wrong on purpose: what was kept of it must not be used."""
    tree, bytecode = tmp_path / "tree", tmp_path / "bytecode"
    shutil.copytree(FOLDER, tree / "adbc", ignore=shutil.ignore_patterns("__pycache__"))
    for path in tree.rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    assert run(tree, bytecode) == (2.0, True)
    assert run(tree, bytecode) == (2.0, False)
    path = tree / "adbc" / "rules" / "numpy" / "products.py"
    source = path.read_text()
    line = "return dotted(conj(a).T, by)\n"
    assert source.count(line) == 1
    path.write_text(source.replace(line, "return np.dot(conj(a).T, 2 * by)\n"))
    os.utime(path, (1_600_000_001, 1_600_000_001))
    assert run(tree, bytecode) == (4.0, True)
    assert run(tree, bytecode) == (4.0, False)
    path.write_text(source)
    assert run(tree, bytecode) == (2.0, True)
