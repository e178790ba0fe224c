"""Verification and dumps while rules are built, as `Config` says."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import adbc
from adbc.config import Config
from adbc.errors import VerificationError
from adbc.ir.builder import Builder
from adbc.ir.graph import Graph
from adbc.ir.terminators import Return
from adbc.ir.values import Const
from adbc.passes import CLEAN, NORMAL
from adbc.passes.stages import Stage, in_place
from adbc.rules import default_table
from adbc.runtime import default_engine, make_engine
from adbc.runtime.build.engine import Engine
from adbc.runtime.build.primal import LIFT
from adbc.types.lattice import FLOAT


def cube(x: float) -> float:
    return x * x * x


def engine_with(config: Config) -> Engine:
    return make_engine(default_table(), config)


def build(engine: Engine, mode: str) -> None:
    engine.entry(cube, [FLOAT], [True], mode).build(at_once=True)


def test_the_suite_is_verified() -> None:
    if "ADBC_VERIFY" in os.environ:
        assert default_engine().observer.config.verify == Config.from_environment().verify


def test_the_environment_is_asked_once_per_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADBC_VERIFY", "0")
    assert not make_engine(default_table()).observer.config.verify
    monkeypatch.setenv("ADBC_VERIFY", "1")
    assert make_engine(default_table()).observer.config.verify


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_broken_graph_is_found(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(graph: Graph) -> None:
        foreign = Graph("another").add_argument("x")
        graph.entry.terminator = Return(foreign)

    stage = Stage("breaks", in_place(broken), (), (), "to be found")
    monkeypatch.setitem(vars(CLEAN), "stages", (stage, *CLEAN.stages))
    part = "dual" if mode == "forward" else "forwards"
    with pytest.raises(VerificationError, match=rf"behind the stage breaks \({part} of cube\): 1 problem"):
        build(engine_with(Config(verify=True)), mode)


def test_broken_code_is_found() -> None:
    observer = engine_with(Config(verify=True)).observer
    # The value returned is taken from an empty stack.
    broken = cube.__code__.replace(co_code=_without_pushes(cube.__code__.co_code))
    with pytest.raises(VerificationError):
        observer.code(cube.__code__, "dual", broken)
    engine_with(Config()).observer.code(cube.__code__, "dual", broken)


def _without_pushes(code: bytes) -> bytes:
    import dis

    resume, result = dis.opmap["RESUME"], dis.opmap["RETURN_VALUE"]
    return bytes([resume, 0, result, 0])


def test_a_lifted_graph_need_not_be_in_normal_form() -> None:
    graph = Graph("g")
    builder = Builder(graph)
    builder.ret(builder.emit("add", Const(1.0), Const(2.0)))
    after = engine_with(Config(verify=True)).observer.watcher(cube.__code__, "primal")
    assert after is not None
    after(LIFT.stages[0], graph)
    makes_calls = next(stage for stage in NORMAL.stages if "calls" in stage.leaves)
    with pytest.raises(VerificationError, match="behind the stage operators_to_call"):
        after(makes_calls, graph)


def test_nobody_is_told_of_stages_without_need() -> None:
    observer = engine_with(Config()).observer
    assert observer.watcher(cube.__code__, "primal") is None


def test_a_parameter_may_have_the_name_of_an_internal_one() -> None:
    def clash(context: float, dcontext: float, saved: float) -> float:
        return context * dcontext * saved

    engine = engine_with(Config(verify=True))
    for mode in ("forward", "reverse"):
        engine.entry(clash, [FLOAT] * 3, [True] * 3, mode).build()
    assert adbc.grad(clash, (0, 1, 2))(2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)


def dumped(directory: pathlib.Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_dump(tmp_path: pathlib.Path) -> None:
    engine = engine_with(Config(dump="cube", dump_directory=str(tmp_path / "new" / "folder")))
    build(engine, "reverse")
    build(engine, "forward")
    assert dumped(tmp_path / "new" / "folder") == [
        "001-cube-primal-lift.txt",
        "002-cube-primal-operators_to_call.txt",
        "003-cube-primal-infer.txt",
        "004-cube-forwards-reverse.txt",
        "005-cube-pullback-reverse.txt",
        "006-cube-pullback-merge_blocks.txt",
        "007-cube-pullback-completion.txt",
        "008-cube-pullback-strong_zeros.txt",
        "009-cube-pullback-bytecode.txt",
        "010-cube-forwards-bytecode.txt",
        "011-cube-primal-copy.txt",
        "012-cube-primal-infer.txt",
        "013-cube-dual-dualise.txt",
        "014-cube-dual-completion.txt",
        "015-cube-dual-strong_zeros.txt",
        "016-cube-dual-gather.txt",
        "017-cube-dual-bytecode.txt",
    ]
    text = (tmp_path / "new" / "folder" / "003-cube-primal-infer.txt").read_text()
    assert text.startswith("graph cube(x: float)")
    assert "RETURN_VALUE" in (tmp_path / "new" / "folder" / "017-cube-dual-bytecode.txt").read_text()


def test_only_the_function_named_is_dumped(tmp_path: pathlib.Path) -> None:
    build(engine_with(Config(dump="square", dump_directory=str(tmp_path))), "forward")
    assert dumped(tmp_path) == []


def test_dump_by_the_environment(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "adbc", "grad", "examples.rosenbrock:rosenbrock", "[1.0, 2.0]"]
    switches = {"ADBC_DUMP": "rosenbrock", "ADBC_DUMP_DIRECTORY": str(tmp_path)}
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **switches})
    assert [name[:3] for name in dumped(tmp_path)] == [f"{k + 1:03}" for k in range(len(dumped(tmp_path)))]
    assert dumped(tmp_path)[-1].endswith("-forwards-bytecode.txt")
