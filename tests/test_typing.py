"""The annotations of adbc are there for those who use it: mypy checks a small program against the package."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).parent.parent

PROGRAM = """
    from collections.abc import Callable
    from typing import Any

    import adbc

    def energy(x: float, k: float) -> float:
        return 0.5 * k * x * x

    version: str = adbc.__version__
    gradient: Callable[..., Any] = adbc.grad(energy, argnums=(0, 1))
    value, slope = adbc.value_and_grad(energy)(1.0, 2.0)
    along: tuple[Any, Any] = adbc.jvp(energy, (1.0, 2.0), (1.0, 0.0))
    adbc.testing.test_rule(energy, 1.0, 2.0)
    text: str = adbc.inspect.show(energy, 1.0, 2.0)
    with adbc.use(adbc.Config(debug=True)):
        adbc.grad(energy)(1.0, 2.0)
    """

MISTAKES = {
    "adbc.grad(1.0)": "arg-type",
    "adbc.jvp(abs, (1.0,))": "call-arg",
    "adbc.no_such_name": "attr-defined",
    "adbc.Config(debug='yes')": "arg-type",
}


def check(tmp_path: pathlib.Path, program: str) -> str:
    """What mypy says of a program in a folder of its own, where the sources of adbc are not at hand."""
    (tmp_path / "program.py").write_text(textwrap.dedent(program), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    command += ["--cache-dir", str(tmp_path / "cache"), "program.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "adbc" / "py.typed").exists()


def test_mypy_accepts_a_small_program_and_finds_mistakes_in_it(tmp_path: pathlib.Path) -> None:
    found = check(tmp_path, PROGRAM + "".join(f"{line}\n    " for line in MISTAKES))
    first = 1 + len(textwrap.dedent(PROGRAM).splitlines())
    expected = {first + k: code for k, code in enumerate(MISTAKES.values())}
    lines = {}
    for line in found.splitlines():
        assert line.startswith("program.py:"), found
        lines[int(line.split(":")[1])] = line.rpartition("[")[2].rstrip("]")
    assert lines == expected, found
