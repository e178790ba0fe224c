"""The command line."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import adbc
from adbc.__main__ import main, parse_argnums, parse_argument

ROSENBROCK = "examples.rosenbrock:rosenbrock"
POINT = "[1.3, 0.7, 0.8, 1.9, 1.2]"


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    lines = capsys.readouterr().out.splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def test_grad(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grad", ROSENBROCK, POINT]) == 0
    shown = printed(capsys)
    assert float(shown["value"]) == pytest.approx(848.22, rel=1e-12)
    expected = [515.4, -285.4, -341.6, 2085.4, -482.0]
    assert eval(shown["gradient"]) == pytest.approx(expected, rel=1e-12)


def test_grad_by_several_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grad", "--argnums", "0,1", "operator:mul", "2.0", "5.0"]) == 0
    assert printed(capsys) == {"value": "10.0", "gradient": "(5.0, 2.0)"}


@pytest.mark.parametrize("stage", ["lifted", "normal", "primal", "dual", "fwd", "rvs"])
def test_ir(stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ir", "--stage", stage, ROSENBROCK, POINT]) == 0
    shown = capsys.readouterr().out
    assert ("operator." in shown) == (stage != "lifted")


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", ROSENBROCK, POINT]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("rosenbrock(x: List[float])")
    assert "x[i] ** 2" in shown and "inline" in shown
    assert main(["explain", "--mode", "forward", ROSENBROCK, POINT]) == 0
    assert "saved" not in capsys.readouterr().out


def test_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--repeat", "2", ROSENBROCK, POINT]) == 0
    shown = capsys.readouterr().out
    assert "for i in range(len(x) - 1):" in shown
    assert "one gradient" in shown


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ROSENBROCK, POINT]) == 0
    assert capsys.readouterr().out.startswith(f"{ROSENBROCK}: right")


def test_check_finds_a_wrong_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{__name__}:wrongly_declared", "2.0"]) == 1
    shown = capsys.readouterr().out
    assert "wrongly_declared: wrong" in shown
    assert "forward" in shown


def wrongly_declared(x: float) -> float:
    """Its derivative is ``2 x``, and not what the rule says."""
    return x * x


adbc.scalar_rule(wrongly_declared)(lambda out, x: 3.0 * x)


def test_from_a_shell() -> None:
    command = [sys.executable, "-m", "adbc", "grad", ROSENBROCK, POINT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("value     848.2")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grad", "rosenbrock", POINT], "module:function"),
        (["grad", "no_such_module_at_all:f"], "no_such_module_at_all"),
        (["grad", "math:no_such_function"], "no_such_function"),
        (["grad", "math:pi"], "not callable"),
        (["grad", "math:sin", "x + 1"], "not a Python literal"),
    ],
)
def test_a_command_line_that_makes_no_sense(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_refusal_is_printed_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grad", "math:sin", "3"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ArgumentError" in captured.err and "int" in captured.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        ("3.0", 3.0),
        ("[1, 2]", [1.0, 2.0]),
        ("[[1, 2], [3]]", [[1.0, 2.0], [3.0]]),
        ("(1, [2])", (1, [2.0])),
        ("{'a': [1]}", {"a": [1.0]}),
        ("['a', 1]", ["a", 1]),
        ("[True]", [True]),
    ],
)
def test_arguments_are_literals(text: str, expected: Any) -> None:
    found = parse_argument(text)
    assert found == expected and repr(found) == repr(expected)


def test_argnums() -> None:
    assert (parse_argnums("1"), parse_argnums("0,2"), parse_argnums("1,")) == (1, (0, 2), (1,))
