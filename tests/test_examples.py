"""Every example is differentiated as its docstring says, and its gradient is right."""

from __future__ import annotations

import ast
import importlib
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

import adbc
from adbc.__main__ import find_function, parse_argument

FOLDER = pathlib.Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.name != "__init__.py")


def command(path: pathlib.Path) -> list[str]:
    """The arguments of the command line in the docstring of an example."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    (line,) = re.findall(r"^python -m adbc (grad .*)$", text, re.MULTILINE)
    return shlex.split(line)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_from_a_shell(path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "adbc", *command(path)], capture_output=True, text=True, cwd=FOLDER.parent
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"value +\S+\ngradient +\S+", done.stdout)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_gradient_of_an_example(path: pathlib.Path) -> None:
    _, target, text = command(path)
    assert importlib.import_module(target.partition(":")[0])
    function, point = find_function(target), parse_argument(text)
    gradient = adbc.grad(function)(point)
    step = 1e-6
    for i, slope in enumerate(gradient):
        up = [x + step * (k == i) for k, x in enumerate(point)]
        down = [x - step * (k == i) for k, x in enumerate(point)]
        assert slope == pytest.approx((function(up) - function(down)) / (2 * step), rel=1e-6, abs=1e-6)


def test_there_are_examples() -> None:
    assert EXAMPLES
