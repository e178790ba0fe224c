"""Runs the ``*.ir`` files below this folder.

The first line of a file is a comment with one command word; the rest is a graph and expectations.

``; roundtrip``  the graph is right, and printing what was parsed gives the text back.
``; verify``     the graph is broken; each problem stands as ``; error: ...`` below its line.  With
                 ``; verify normal_form``, the graph must be in normal form as well.
``; interpret``  lines ``; run f(2.0, 3) -> 8.0`` or ``; run f(0) raises ValueError: message`` behind
                 the graph say what running it gives.  The graph must be right.

With ``REWRITE_FILETESTS=1`` in the environment, expectations are replaced by what was found; look at
the difference before committing it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from adbc.ir.interpret import interpret
from adbc.ir.parser import parse_graph
from adbc.ir.printer import print_graph
from adbc.ir.verify import problems, verify

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.rglob("*.ir"))
RUN = re.compile(r"; run (?P<call>f\(.*?\)) (?:->|raises) .*")


def found_by(text: str) -> str:
    """The text of a file as it would be if its expectations held."""
    first, body = text.split("\n", 1)
    command, *options = first.removeprefix(";").split()
    graph = parse_graph(body)
    if command == "roundtrip":
        verify(graph)
        return f"{first}\n{print_graph(graph)}\n"
    if command == "verify":
        notes: dict[int, list[str]] = {}
        for problem in problems(graph, normal_form="normal_form" in options):
            notes.setdefault(id(problem.place), []).append(f"error: {problem.message}")
        assert notes, "the graph is not broken"
        return f"{first}\n{print_graph(graph, lambda place: chr(10).join(notes.get(id(place), ())))}\n"
    assert command == "interpret", f"there is no command {command}"
    verify(graph)
    runs = [match["call"] for line in body.splitlines() if (match := RUN.fullmatch(line))]
    assert runs, "nothing is run"

    def outcome(call: str) -> str:
        try:
            return f"-> {eval(call, {'f': lambda *a: interpret(graph, *a, globals={}, limit=1000)})!r}"
        except Exception as error:  # whatever the graph raises is the outcome
            return f"raises {type(error).__name__}: {error}"

    return "\n".join([first, print_graph(graph), *(f"; run {call} {outcome(call)}" for call in runs), ""])


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])
def test_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = found_by(text)
    if os.environ.get("REWRITE_FILETESTS"):
        path.write_text(found, encoding="utf-8")
    else:
        assert found == text


def test_there_are_files_of_each_kind() -> None:
    assert {path.parent.name for path in FILES} == {"interpret", "roundtrip", "verifier"}


def test_a_wrong_expectation_is_noticed() -> None:
    text = "; interpret\ngraph f(x)\nentry:\n    return %x\n; run f(1) -> 2\n"
    assert found_by(text) == text.replace("-> 2", "-> 1")
