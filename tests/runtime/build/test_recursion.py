"""Types of the results of functions that call each other are found in time that grows with their number."""

from __future__ import annotations

from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.runtime.build.knowledge import Knowledge
from adbc.types import ANY, INT


@pytest.mark.parametrize("count", [5, 7])
def test_functions_that_all_call_each_other(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []
    for i in range(count):
        others = " + ".join(f"f{j}(x, n - {j + 2})" for j in range(count) if j != i)
        lines.append(f"def f{i}(x, n):\n    if n <= 0:\n        return x * {i + 1}.0\n    return {others}\n")
    space: dict[str, Any] = {}
    exec("".join(lines), space)
    looks: list[int] = []
    look = Knowledge._fixed_point

    def counted(self: Knowledge, *arguments: Any) -> Any:
        looks.append(1)
        return look(self, *arguments)

    monkeypatch.setattr(Knowledge, "_fixed_point", counted)
    expected = space["f0"](1.0, 3)
    with adbc.use(adbc.Config(warm_after=0)):
        assert adbc.grad(space["f0"])(2.0, 3) == pytest.approx(expected)
    assert 0 < len(looks) <= 20 * count
    default_engine().clear()


def _half(v: Any) -> Any:
    return v * 0.5


def _scaled(v: Any) -> Any:
    return _half(v)


def _summed(values: Any, n: int) -> Any:
    if n <= 0:
        return 0.0
    head, *rest = values
    return _scaled(head) + _summed((*rest, head), n - 1)


@pytest.mark.parametrize("question", [Knowledge.kept_lists, Knowledge.only_reads])
def test_a_function_is_asked_again_when_a_name_in_it_has_changed(
    question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge = default_engine().knowledge
    before = question(knowledge, _summed, (ANY, INT))
    monkeypatch.setitem(globals(), "_half", lambda v: v * 0.25)
    assert question(knowledge, _summed, (ANY, INT)) == before
    default_engine().clear()
