"""The harness of ``*.ir`` files sees what is wrong with a graph and with what is expected of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.filetests.harness import cases, found_by
from tests.filetests.runners import RUNNERS
from tests.filetests.types_in_text import type_from

TESTS = Path(__file__).parent.parent

PASS = """\
; case: a number is negated twice
graph f(x: float)
entry:
    %1 = call operator.add(1, 1)
    %2 = call operator.mul(%x, %1)
    return %2
; becomes
graph f(x: float)
entry:
    %1 = call operator.mul(%x, 2)
    return %1
; run f(3.0) -> 6.0
"""


def test_a_wrong_outcome_is_noticed() -> None:
    text = "graph f(x)\nentry:\n    return %x\n; run f(1) -> 2\n"
    assert found_by("; interpret", text) == text.replace("-> 2", "-> 1")


def test_what_a_pass_should_make_is_compared() -> None:
    assert found_by("; pass fold_constants", PASS) == PASS
    assert found_by("; pass fold_constants", PASS.replace("%x, 2)", "%x, 3)")) == PASS
    assert "; unchanged" in found_by("; pass truth", PASS)


def test_a_pass_that_changes_what_a_graph_does_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(graph):
        graph.entry.instructions[-1].operands.reverse()
        graph.entry.instructions[-1].operands.insert(0, graph.entry.instructions[-1].operands.pop())
        graph.entry.instructions[-1].operands[2] = graph.entry.instructions[-1].operands[1]
        return graph

    monkeypatch.setitem(RUNNERS, "wrong", wrong)
    with pytest.raises(AssertionError, match=r"changes what the graph does: .*6\.0"):
        found_by("; pass wrong", PASS)


def test_cases_are_told_apart_and_lose_nothing() -> None:
    head, found = cases(f"; pass fold_constants\n{PASS}\n{PASS}")
    assert head == "; pass fold_constants"
    assert found == [PASS + "\n", PASS]


@pytest.mark.parametrize(
    "text",
    ["Any", "float", "None", "Real", "List[float]", "Tuple[int, Array[float64, 2]]", "Iterator[int]",
     "Array[float64, ?]", "Pair[first: float, second: Pair]", "Particle", "float64", "tangent", "Tuple[]"],
)  # fmt: skip
def test_a_type_is_what_it_prints_as(text: str) -> None:
    assert str(type_from(text)) == text


@pytest.mark.parametrize("text", ["Nothing", "Set[int]", "float]"])
def test_a_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises((ValueError, AssertionError)):
        type_from(text)


def test_every_file_of_a_pass_is_called_as_the_pass() -> None:
    files = [path for path in TESTS.rglob("*.ir") if path.read_text(encoding="utf-8").startswith("; pass ")]
    named = [path.read_text(encoding="utf-8").split("\n", 1)[0].split()[2] for path in files]
    assert named == [path.stem for path in files]
    assert set(named) == set(RUNNERS)
