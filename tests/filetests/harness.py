"""Runs ``*.ir`` files: text in, text out.

The first line of a file is a comment with one command word.  What follows is one case, or several, each of
which begins with a line ``; case: what is claimed``.  A case is a graph with expectations.

``; roundtrip``  the graph is right, and printing what was parsed gives the text back.
``; verify``     the graph is broken; each problem stands as ``; error: ...`` below its line.  With
                 ``; verify normal_form``, the graph must be in normal form as well.
``; interpret``  lines ``; run f(2.0, 3) -> 8.0`` or ``; run f(0) raises ValueError: message`` behind
                 the graph say what running it gives.  The graph must be right.
``; lift``       lifting the function whose source stands in lines ``; | def f(x): ...`` in front of the graph
                 gives the graph, on every version of CPython, blocks that only forward
                 apart; with ``; lift normal`` its normal form.
``; pass NAME``  what the pass makes of the graph stands behind a line ``; becomes``, or in place of both
                 ``; unchanged``.  Both graphs must be right, and if there are lines ``; run`` behind them,
                 give what these say.  Lines ``; with NAME = EXPRESSION`` in front of the graph say what the
                 pass is given beside it (`tests.filetests.runners` says what each takes), lines
                 ``; <const 0> is numpy.sum`` which objects without a text of their own are meant; such lines
                 stand behind what the pass makes, too.

With ``REWRITE_FILETESTS=1`` in the environment, expectations are replaced by what was found; look at the
difference before committing it.  Comments in front of the graph stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from adbc.ir.constants import named_constant
from adbc.ir.graph import Graph
from adbc.ir.interpret import interpret
from adbc.ir.parser import parse_graph
from adbc.ir.printer import placeholders, print_graph
from adbc.ir.verify import problems, verify
from adbc.lift import lift
from adbc.passes import normalise
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.normal.unreachable import unreachable

__all__ = ["IrFile", "cases", "found_by"]

CASE = "; case: "
SOURCE = "; | "
RUN = re.compile(r"; run (?P<call>f\(.*?\)) (?:->|raises) .*")
CONST = re.compile(r"; <const (?P<number>\d+)> is (?P<name>[\w.]+)")
WITH = re.compile(r"; with (?P<name>\w+) = (?P<expression>.+)")


class IrFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[pytest.Item]:
        head, found = cases(self.path.read_text(encoding="utf-8"))
        for index, text in enumerate(found):
            name = text.split("\n", 1)[0].removeprefix(CASE) if text.startswith(CASE) else self.path.stem
            yield IrCase.from_parent(self, name=name, command=head, index=index, text=text)


class IrCase(pytest.Item):
    """One graph and what is expected of it."""

    def __init__(self, *, command: str, index: int, text: str, **more: Any) -> None:
        super().__init__(**more)
        self.command, self.index, self.text = command, index, text

    def runtest(self) -> None:
        found = found_by(self.command, self.text)
        if os.environ.get("REWRITE_FILETESTS"):
            head, texts = cases(self.path.read_text(encoding="utf-8"))
            texts[self.index] = found
            self.path.write_text("".join([f"{head}\n", *texts]), encoding="utf-8")
        else:
            assert found == self.text

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, AssertionError) and excinfo.traceback[-1].name == "runtest":
            found = found_by(self.command, self.text)
            return f"{self.path}: {self.name}\n-- expected\n{self.text}\n-- found\n{found}"
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.stem}: {self.name}"


def cases(text: str) -> tuple[str, list[str]]:
    """The command of a file, and the texts of its cases."""
    head, body = text.split("\n", 1)
    starts = [match.start() for match in re.finditer(f"^{CASE}", body, re.MULTILINE)]
    if not starts:
        return head, [body]
    assert starts[0] == 0, "something stands in front of the first case"
    return head, [body[a:b] for a, b in zip(starts, [*starts[1:], len(body)], strict=True)]


def found_by(command: str, text: str) -> str:
    """The text of a case as it would be if its expectations held."""
    word, *options = command.removeprefix(";").split()
    if word == "pass":
        return _passed(options[0], text)
    comments, body = _comments(text)
    graph = _lifted(comments, normal="normal" in options) if word == "lift" else parse_graph(body)
    if word == "lift":
        verify(graph)
        found = [print_graph(graph), *(f"; run {call} {_outcome(graph, call)}" for call in _runs(body))]
    elif word == "roundtrip":
        verify(graph)
        found = [print_graph(graph)]
    elif word == "verify":
        notes: dict[int, list[str]] = {}
        for problem in problems(graph, normal_form="normal_form" in options):
            notes.setdefault(id(problem.place), []).append(f"error: {problem.message}")
        assert notes, "the graph is not broken"
        found = [print_graph(graph, lambda place: "\n".join(notes.get(id(place), ())))]
    else:
        assert word == "interpret", f"there is no command {word}"
        verify(graph)
        runs = _runs(body)
        assert runs, "nothing is run"
        found = [print_graph(graph), *(f"; run {call} {_outcome(graph, call)}" for call in runs)]
    return "\n".join([*comments, *found, *([""] if text.endswith("\n\n") else []), ""])


def _lifted(comments: list[str], normal: bool) -> Graph:
    """The graph of the function ``f`` whose source is in `comments`."""
    source = "\n".join(line.removeprefix(SOURCE) for line in comments if line.startswith(SOURCE))
    space: dict[str, Any] = {}
    exec(compile(source, "source", "exec"), space)
    graph = lift(space["f"])
    return normalise(graph, space) if normal else merge_blocks(trivial_phis(unreachable(graph)))


def _passed(name: str, text: str) -> str:
    """The text of a case of a pass: its graph, what the pass makes of it, and what running both gives."""
    from tests.filetests.runners import RUNNERS  # the passes: files of other kinds need none
    from tests.filetests.types_in_text import with_types  # likewise

    comments, body = _comments(text)
    given = {m["name"]: m["expression"] for line in comments if (m := WITH.fullmatch(line))}
    before = body.split("\n; becomes\n", 1)[0].split("\n; unchanged\n", 1)[0]
    meant = {int(m["number"]): m["name"] for line in comments if (m := CONST.fullmatch(line))}
    graph = with_types(parse_graph(before, {number: named_constant(name) for number, name in meant.items()}))
    verify(graph)
    printed, unchanged = print_graph(graph), _text(graph, meant)
    outcomes = [f"; run {call} {_outcome(graph, call)}" for call in _runs(body)]
    made = RUNNERS[name](graph, **given)
    found = [_text(result, meant) for result in ([made] if isinstance(made, Graph | str) else made)]
    again = [f"; run {call} {_outcome(made, call)}" for call in _runs(body)] if outcomes else []
    assert again == outcomes, f"the pass changes what the graph does: {outcomes} before, {again} after"
    parts = [*comments, printed]
    parts += ["; unchanged"] if found == [unchanged] else ["; becomes", "\n".join(found)]
    return "\n".join([*parts, *outcomes]) + ("\n\n" if text.endswith("\n\n") else "\n")


def _text(result: Graph | str, meant: Mapping[int, str]) -> str:
    """What a pass has left, as text; what has no text of its own is said behind a graph."""
    if isinstance(result, str):
        return result
    verify(result)
    known = {id(named_constant(name)): name for name in meant.values()}
    said = [f"; <const {k}> is {known.get(id(x), x)}" for k, x in placeholders(result).items()]
    return "\n".join([print_graph(result), *said])


def _comments(text: str) -> tuple[list[str], str]:
    """The comment lines in front of a graph, and the rest."""
    lines = text.splitlines()
    count = next(i for i, line in enumerate(lines) if not line.startswith(";"))
    return lines[:count], "\n".join(lines[count:]) + "\n"


def _runs(body: str) -> list[str]:
    return [match["call"] for line in body.splitlines() if (match := RUN.fullmatch(line))]


def _outcome(graph: Graph, call: str) -> str:
    """What `call` gives where `f` is the graph."""
    try:
        return f"-> {eval(call, {'f': lambda *a: interpret(graph, *a, globals={}, limit=1000)})!r}"
    except Exception as error:  # whatever the graph raises is the outcome
        return f"raises {type(error).__name__}: {error}"
