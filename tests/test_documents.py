"""What the README and the documentation show is what happens."""

from __future__ import annotations

import ast
import math
import pathlib
import re
import subprocess
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import adbc
from adbc.rules import declared
from adbc.runtime import default_engine
from adbc.testing.values import assert_same

ROOT = pathlib.Path(__file__).parent.parent


def blocks(path: pathlib.Path) -> list[str]:
    """The Python code that a document shows."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]
    found = re.findall(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", text, re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.rst"))] if blocks(path)]


def shown(line: str) -> Any:
    """The value in the comment at the end of a line, or None."""
    _, comment, text = line.partition("    # ")
    names: dict[str, Any] = {"NoRData": adbc.NoRData, "NoFData": adbc.NoFData}
    if comment and "array(" in text:
        import numpy as np

        names["array"] = np.array
    return eval(text, names) if comment else None


@pytest.fixture
def own_rules() -> Iterator[None]:
    """Rules that a document declares go with it: other tests take such functions for ones without."""
    table = default_engine().table
    before = {rule for _, rules in table.by_function() for rule in rules}
    with adbc.chainrules.scoped():
        yield
    for _, rules in table.by_function():
        rules[:] = [rule for rule in rules if rule in before or type(rule).__module__ != declared.__name__]
    table.add((), first=True)  # what was derived with them is stale


@pytest.mark.usefixtures("own_rules")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_code(path: pathlib.Path) -> None:
    names: dict[str, Any] = {"adbc": adbc}
    for block in blocks(path):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            decorators = getattr(statement, "decorator_list", [])
            first = min(node.lineno for node in [statement, *decorators])
            source = "\n".join(lines[first - 1 : statement.end_lineno])
            expected = shown(source) if isinstance(statement, ast.Expr) else None
            if expected is None:
                exec(compile(source, path.name, "exec"), names)
            else:
                assert_same(expected, eval(source.partition("    # ")[0], names), source, rtol=1e-15)


def test_documents_show_something() -> None:
    assert len(DOCUMENTS) >= 3


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]
PAGES += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_of_a_page_lead_somewhere(page: pathlib.Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_files_that_a_page_names_exist(page: pathlib.Path) -> None:
    """`adbc/rules/math.py` and `rules/math.py` are the same file; a star stands for versions, NN for one."""
    for path in re.findall(r"`(\w[\w*./]*/[\w*.]*|\.ci/run)`", page.read_text(encoding="utf-8")):
        path = path.strip("/").replace("NN", "*")
        found = [*ROOT.glob(path), *(ROOT / "adbc").glob(path)]
        assert found or path in (".ci/run", "adbc-dump"), f"{page.name} names {path}"


def test_the_map_is_short() -> None:
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150


def test_the_check_before_a_merge_finds_the_test_command() -> None:
    """`.ci/run` takes the command out of the README with this expression."""
    pattern = r"^pip install .*\[test\].* python -m pytest"
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert pattern in script
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if re.match(pattern, line)]) == 1


def test_the_check_before_a_merge_is_a_valid_script() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)


def test_the_square_root_of_the_readme() -> None:
    """The numbers shown are right, not only those that adbc prints."""
    assert shown("x    # (1.4142135623730951, 0.35355339059327373)") == pytest.approx(
        (math.sqrt(2.0), 0.5 / math.sqrt(2.0)), rel=1e-15
    )
