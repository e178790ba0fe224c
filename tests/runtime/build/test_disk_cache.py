"""Rules kept on disk: found again when nothing has changed, built anew when anything has."""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.config import Config
from adbc.errors import ArgumentError
from adbc.rules import SOURCES, default_table
from adbc.rules.lookup import RuleTable
from adbc.runtime import make_engine, using
from adbc.runtime.build.engine import Engine

SOURCE = """
import math
import numpy as np

SCALE = 3.0

def inner(x):
    return x * math.sin(x)

def straight(x, y):
    return inner(x) * y + math.exp(y)

def loop(x, n):
    y = 1.0
    for _ in range(n):
        y = math.cos(y) * x
    return y

def element(xs, k):
    total = 0.0
    for x in xs:
        total = total + x * xs[k]
    return total

def inside(table, k):
    return element(table["xs"], k)

def data(x):
    return x * SCALE

def array(a):
    return np.sum(np.tanh(a) * a[0])

def caught(x):
    try:
        return math.sqrt(x - 5.0)
    except ValueError:
        return inner(x)

class Point:
    def __init__(self, u):
        self.u = u

    def squared(self):
        return self.u * self.u

def objects(x):
    p = Point(x)
    return p.squared() * x

def over(x, n):
    return x if n == 0 else inner(x) * over(x, n - 1)

def through(f, x):
    return f(x) * x

def with_default(x, f=inner):
    return f(x) + x

def calls_default(x):
    return with_default(x)

def angle(x):
    return x * math.pi

def makes_function(x):
    def scaled(y):
        return x * y
    return scaled(x) + scaled(2.0)

def hands_over(x):
    def scaled(y):
        return inner(x * y)
    return through(scaled, x) + through(lambda y: y * y * x, 2.0)
"""

CASES: dict[str, tuple[Any, ...]] = {
    "straight": (0.5, 1.5),
    "loop": (0.7, 5),
    "element": ([1.0, 2.0, 3.0], 1),
    "data": (2.0,),
    "array": (np.array([0.1, 0.2, 0.3]),),
    "caught": (2.0,),
    "objects": (3.0,),
    "over": (0.9, 3),
    "calls_default": (0.4,),
    "angle": (2.0,),
    "makes_function": (3.0,),
    "hands_over": (3.0,),
}


class World:
    """A module that can be changed, and engines that share a directory and nothing else."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.source = SOURCE
        self.path = directory / "cached_functions.py"
        self.cache = directory / "cache"
        self.module = types.ModuleType("cached_functions")
        self.table = RuleTable(SOURCES)  # without the rules that other tests declare
        self.write(SOURCE)

    def write(self, source: str) -> None:
        """What a new version of the file gives the next process."""
        module = types.ModuleType("cached_functions")
        module.__file__ = str(self.path)
        exec(compile(source, str(self.path), "exec"), module.__dict__)
        sys.modules["cached_functions"] = self.module = module
        self.source = source

    def change(self, old: str, new: str) -> None:
        assert self.source.count(old) == 1
        self.write(self.source.replace(old, new))

    def process(self) -> Engine:
        return make_engine(self.table, Config(verify=True, cache=str(self.cache), warm_after=0))

    def gradient(self, name: str, *args: Any, times: int = 1) -> tuple[Any, Engine]:
        """The gradient in a new process, and its engine."""
        engine = self.process()
        with using(engine):
            for _ in range(times):
                found = adbc.value_and_grad(getattr(self.module, name))(*args)
        return found, engine

    def expected(self, name: str, *args: Any) -> Any:
        with using(make_engine(self.table, Config(warm_after=0))):
            return adbc.value_and_grad(getattr(self.module, name))(*args)

    def counts(self, engine: Engine) -> dict[str, int]:
        assert engine.cache is not None
        return dict(engine.cache.counts)


@pytest.fixture
def world(tmp_path: pathlib.Path) -> Iterator[World]:
    yield World(tmp_path)
    sys.modules.pop("cached_functions", None)


def same(a: Any, b: Any) -> bool:
    return a[0] == b[0] and np.array_equal(a[1], b[1])


@pytest.mark.parametrize("name", CASES)
def test_the_next_process_builds_nothing(world: World, name: str) -> None:
    args = CASES[name]
    expected = world.expected(name, *args)
    found, first = world.gradient(name, *args, times=3)
    assert same(found, expected)
    assert world.counts(first)["stored"] > 0
    found, second = world.gradient(name, *args, times=3)
    assert same(found, expected)
    counts = world.counts(second)
    rules = [rule for rule in second.rules.values() if rule.function is None and rule.is_built]
    assert counts["loaded"] >= len(rules) > 0
    if name != "caught":  # the rest of a function behind an exception is built
        assert "stored" not in counts and "outdated" not in counts
        assert not second.graphs.graphs, "something was lifted"


@pytest.mark.parametrize("name", ["straight", "loop", "element", "array"])
def test_dual_functions_are_kept_too(world: World, name: str) -> None:
    args = CASES[name]
    direction = tuple(adbc.zero_tangent(x) for x in args)
    direction = (
        np.ones(3) if name == "array" else 1.0 if name != "element" else [1.0, 0.5, 0.0],
        *direction[1:],
    )
    found = []
    for _ in range(2):
        engine = world.process()
        with using(engine):
            copies = [list(x) if isinstance(x, list) else x for x in args]
            found.append(adbc.jvp(getattr(world.module, name), copies, direction))
    assert found[0] == found[1]
    assert world.counts(engine)["loaded"] > 0 and not engine.graphs.graphs


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("straight", "inner(x) * y + math.exp(y)", "inner(x) * y - math.exp(y)"),  # the function itself
        ("straight", "return x * math.sin(x)", "return x * math.cos(x)"),  # one that it calls
        ("over", "return x * math.sin(x)", "return x + math.sin(x)"),
        ("objects", "return self.u * self.u", "return self.u + self.u"),  # a method
        ("objects", "        self.u = u", "        self.u = 2.0 * u"),
        ("calls_default", "f(x) + x", "f(x) + 2.0 * x"),
        ("calls_default", "f=inner):", "f=math.sin):"),  # a default
        ("calls_default", "return x * math.sin(x)", "return x / 2.0"),  # code of a default
        ("data", "SCALE = 3.0", "SCALE = 4.0"),
        ("makes_function", "        return x * y", "        return x - y"),
        ("hands_over", "inner(x * y)", "inner(x / y)"),
        ("hands_over", "lambda y: y * y * x", "lambda y: y * x"),
        ("hands_over", "return f(x) * x", "return f(x) * x * x"),
        ("hands_over", "return x * math.sin(x)", "return x / 2.0"),
    ],
)
def test_what_has_changed_is_built_anew(world: World, name: str, old: str, new: str) -> None:
    args = CASES[name]
    before, _ = world.gradient(name, *args, times=3)
    world.change(old, new)
    expected = world.expected(name, *args)
    assert not same(before, expected)
    for _ in range(2):
        found, engine = world.gradient(name, *args, times=3)
        assert same(found, expected)
    assert "outdated" not in world.counts(engine)


def test_a_rebound_global(world: World) -> None:
    args = CASES["straight"]
    world.gradient("straight", *args)
    for name, value in [
        ("inner", lambda x: x * x),
        ("math", types.SimpleNamespace(exp=lambda y: y, sin=abs)),
    ]:
        setattr(world.module, name, value)
        found, _ = world.gradient("straight", *args)
        assert same(found, world.expected("straight", *args))


def test_a_global_rebound_after_the_entry_was_used(world: World) -> None:
    args = CASES["straight"]
    world.gradient("straight", *args)
    engine = world.process()
    with using(engine):
        adbc.value_and_grad(world.module.straight)(*args)
        world.module.inner = lambda x: 5.0 * x
        assert adbc.value_and_grad(world.module.straight)(*args) == world.expected("straight", *args)


def test_a_constant_of_a_module(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.gradient("angle", 2.0)
    monkeypatch.setattr(math, "pi", 3.0)
    found, _ = world.gradient("angle", 2.0)
    assert found == (6.0, 3.0)


def test_a_method_that_becomes_a_field(world: World) -> None:
    world.gradient("objects", 3.0, times=3)
    world.change("        self.u = u", "        self.u = u\n        self.squared = lambda: u")
    found, _ = world.gradient("objects", 3.0, times=3)
    assert found == (9.0, 6.0)


def test_guesses_that_turn_out_wrong(world: World) -> None:
    world.gradient("element", [1.0, 2.0], 1, times=3)
    engine = world.process()
    mixed = [1.0, 2, 3.0]
    with using(engine):
        for xs in ([1.0, 2.0], mixed, mixed, mixed, [1.0, 4.0], mixed):
            _, pullback = adbc.vjp(world.module.element, xs, 0)
            given = pullback(1.0)[0]
            slope = [sum(xs) + xs[0] if k == 0 else xs[0] for k in range(len(xs))]
            for got, wanted, x in zip(given, slope, xs, strict=True):
                if isinstance(x, float):
                    assert got == wanted
    assert world.counts(engine)["loaded"] > 0


def test_the_way_of_a_wrong_guess_in_an_entry(world: World) -> None:
    """The first call in the second process already takes the way out."""
    world.gradient("inside", {"xs": [1.0, 2.0]}, 1, times=3)
    engine = world.process()
    with using(engine):
        value, pullback = adbc.vjp(world.module.inside, {"xs": [1.0, 2, 3.0]}, 2)
        assert value == 18.0
        first = pullback(1.0)[0]["xs"]
        assert (first[0], first[2]) == (3.0, 9.0)
    assert world.counts(engine)["loaded"] > 0


def test_a_rule_for_lists_of_which_the_elements_are_known(world: World) -> None:
    world.gradient("element", [1.0, 2.0], 1, times=3)
    found, engine = world.gradient("element", [1.0, 4.0], 1)
    assert found == (20.0, [4.0, 9.0])
    assert world.counts(engine)["loaded"] > 0
    assert world.gradient("element", [1.0, 2], 0)[0] == world.expected("element", [1.0, 2], 0)


def test_what_was_learnt_is_kept(world: World) -> None:
    xs = [np.float64(1.0), np.float64(2.0)]
    world.gradient("element", xs, 1, times=4)
    found, engine = world.gradient("element", xs, 1)
    assert found[0] == 6.0
    assert "stored" not in world.counts(engine)


def test_damaged_entries_are_written_anew(world: World) -> None:
    args = CASES["straight"]
    expected, _ = world.gradient("straight", *args)
    for spoil in (b"", b"short", b"adbc rule 1\n" + bytes(100)):
        for path in world.cache.iterdir():
            path.write_bytes(spoil)
        with pytest.warns(RuntimeWarning, match="damaged"):
            found, engine = world.gradient("straight", *args)
        assert same(found, expected)
        assert world.counts(engine)["damaged"] > 0
        found, engine = world.gradient("straight", *args)
        assert same(found, expected) and not engine.graphs.graphs
    path = next(iter(world.cache.iterdir()))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.warns(RuntimeWarning, match="damaged"):
        found, _ = world.gradient("straight", *args)
    assert same(found, expected)


def test_another_version_has_entries_of_its_own(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from adbc.runtime.build import disk_cache

    args = CASES["straight"]
    world.gradient("straight", *args)
    for name, value in [("sources", lambda: ("other sources", 0.0)), ("sys", _other_interpreter())]:
        with monkeypatch.context() as patch:
            patch.setattr(disk_cache, name, value)
            _, engine = world.gradient("straight", *args)
            assert "loaded" not in world.counts(engine)
    _, engine = world.gradient("straight", *args)
    assert world.counts(engine)["loaded"] > 0


def _other_interpreter() -> Any:
    return types.SimpleNamespace(
        version="4.0", implementation=sys.implementation, modules=sys.modules, builtin_module_names=()
    )


def test_declared_rules_switch_it_off(world: World) -> None:
    args = CASES["straight"]
    world.gradient("straight", *args)
    adbc.scalar_rule(world.module.inner, table=world.table)(lambda out, x: 100.0)
    found, engine = world.gradient("straight", *args)
    assert found[1] == 150.0
    assert world.counts(engine) == {}


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_directory_that_others_may_write_to_is_refused(tmp_path: pathlib.Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for mode in (0o777, 0o770, 0o702):
        shared.chmod(mode)
        with pytest.raises(ArgumentError, match="others may write to it"):
            make_engine(default_table(), Config(cache=str(shared)))
    shared.chmod(0o755)
    make_engine(default_table(), Config(cache=str(shared)))
    made = tmp_path / "made" / "here"
    make_engine(default_table(), Config(cache=str(made)))
    assert made.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_goes_away(world: World) -> None:
    args = CASES["loop"]
    engine = world.process()
    world.cache.rmdir()
    with using(engine), pytest.warns(RuntimeWarning, match="cannot write"):
        assert adbc.value_and_grad(world.module.loop)(*args) == world.expected("loop", *args)


def test_functions_without_a_name_are_not_kept(world: World) -> None:
    local = eval("lambda x: x * x", {"__name__": "local"})

    def outer(x: float, f: Any) -> float:
        return f(x) + math.sin(x)  # type: ignore[no-any-return]

    engine = world.process()
    with using(engine):
        assert adbc.grad(outer)(2.0, local) == 4.0 + math.cos(2.0)
        assert engine.cache is not None
        assert any("lambda" in reason for reason in engine.cache.refused)
        found = adbc.inspect.explain(outer, 2.0, local)
        assert "lambda" in found.sections[0].not_kept
        assert "not kept on disk" in str(found)
        assert not adbc.inspect.explain(world.module.loop, 0.5, 3).sections[0].not_kept
    assert not adbc.inspect.explain(outer, 2.0, local).sections[0].not_kept


def test_closures_have_the_variables_of_their_own(world: World) -> None:
    def scaled(k: float) -> Any:
        return lambda x: k * x * x

    for _ in range(2):
        with using(world.process()):
            assert adbc.grad(scaled(2.0))(3.0) == 12.0
            assert adbc.grad(scaled(5.0))(3.0) == 30.0


def test_inspection_of_what_came_from_disk(world: World) -> None:
    signature = adbc.Signature.of(world.module.loop, 0.5, 3)
    texts = []
    for _ in range(2):
        with using(world.process()):
            adbc.grad(world.module.loop)(0.5, 3)
            texts.append(str(adbc.inspect.fwd_ir(signature)))
    assert texts[0] == texts[1]


def test_dumping_and_debugging_do_without(tmp_path: pathlib.Path) -> None:
    directory = str(tmp_path / "cache")
    assert make_engine(default_table(), Config(cache=directory, dump="f")).cache is None
    assert make_engine(default_table(), Config(cache=directory, debug=True)).cache is None
    assert make_engine(default_table(), Config()).cache is None
    assert Config.from_environment({"ADBC_CACHE": "d"}) == Config(cache="d")


PROGRAM = """
import sys
import adbc
import cached_functions as m
print(adbc.value_and_grad(m.loop)(0.7, 5), adbc.value_and_grad(m.objects)(3.0))
print(sorted(name for name in ("adbc.lift.driver", "adbc.emit.driver") if name in sys.modules))
"""


def run(directory: pathlib.Path, cache: pathlib.Path) -> list[str]:
    root = str(pathlib.Path(adbc.__file__).parent.parent)
    path = os.pathsep.join([str(directory), root])
    environment = {**os.environ, "ADBC_CACHE": str(cache), "PYTHONPATH": path, "ADBC_VERIFY": "0"}
    environment["ADBC_WARM_AFTER"] = "0"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout.splitlines()


def test_real_processes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "cached_functions.py").write_text(SOURCE)
    first, second = run(tmp_path, tmp_path / "cache"), run(tmp_path, tmp_path / "cache")
    assert first[0] == second[0]
    assert first[1] == "['adbc.emit.driver', 'adbc.lift.driver']"
    assert second[1] == "[]", "something was built"


def _gradients(arguments: tuple[str, str]) -> list[Any]:
    directory, cache = arguments
    sys.path.insert(0, directory)
    module = importlib.import_module("cached_functions")
    found = []
    for _ in range(5):
        engine = make_engine(default_table(), Config(cache=cache))
        with using(engine):
            found.append(adbc.value_and_grad(module.straight)(0.5, 1.5))
            found.append(adbc.value_and_grad(module.element)([1.0, 2.0], 1))
    return found


def test_processes_at_the_same_time(tmp_path: pathlib.Path) -> None:
    (tmp_path / "cached_functions.py").write_text(SOURCE)
    work = [(str(tmp_path), str(tmp_path / "cache"))] * 4
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(_gradients, work)
    assert all(found == results[0] for found in results)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.suffix != ".rule"]


BESIDE = """
RATE = 0.5

def decaying(x, n):
    for _ in range(n):
        yield x
        x = x * RATE
"""


def beside(monkeypatch: pytest.MonkeyPatch, source: str) -> types.ModuleType:
    """What a new version of another module gives the next process."""
    module = types.ModuleType("cached_beside")
    exec(compile(source, "cached_beside.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "cached_beside", module)
    return module


def test_generators_of_other_modules(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    beside(monkeypatch, BESIDE)
    caller = """
import cached_beside

def decays(x):
    y = 0.0
    for v in cached_beside.decaying(x, 4):
        y += v
    return y
"""
    world.write(caller)
    assert world.gradient("decays", 2.0, times=3)[0] == (3.75, 1.875)
    found, engine = world.gradient("decays", 2.0)
    assert found == (3.75, 1.875)
    assert world.counts(engine) == {"loaded": 1}
    other = beside(monkeypatch, BESIDE)
    other.__dict__["RATE"] = 1.0  # data is read anew
    world.write(caller)
    found, engine = world.gradient("decays", 2.0)
    assert found == (8.0, 4.0)
    assert world.counts(engine) == {"loaded": 1}
    other.__dict__["range"] = lambda n: [0] * (n + 1)  # and what a name means is looked at
    found, engine = world.gradient("decays", 2.0)
    assert found == (10.0, 5.0)
    assert world.counts(engine)["outdated"] == 1
