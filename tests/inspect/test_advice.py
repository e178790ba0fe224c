"""`explain(...).advice`: the lines that cost most, why, and what to write instead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adbc.errors import ArgumentError
from adbc.inspect import advice, explain


def looked_up(x: float, names: list[str]) -> float:
    y = x * 2.0
    for name in names:
        y = y + getattr(math, name)(y)
    return y - 1.0


NAMES = ["sin", "cos", "tanh"] * 20


def test_the_line_that_is_found_out_each_time_is_named() -> None:
    found = explain(looked_up, 0.5, NAMES).advice
    # Times are measured, beside whatever else runs: the others may look slow for once.
    (worst,) = [line for line in found.lines if line.source == "y = y + getattr(math, name)(y)"]
    assert worst.line == looked_up.__code__.co_firstlineno + 3
    assert worst.filename == __file__
    assert worst.why.startswith("dynamic")
    assert worst.instead == "the attribute by its name: obj.name, not getattr(obj, name)"
    assert worst.gradient > advice.LIMIT * worst.plain > 0.0
    assert 0.0 < worst.beyond < found.gradient
    text = [line.strip() for line in str(found).splitlines()]
    assert text[0].startswith("gradient ")
    assert f"-> {worst.instead}" in text


def test_there_is_none_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "LIMIT", 1e6)
    found = explain(looked_up, 0.5, NAMES[:3]).advice
    assert found.lines == ()
    assert str(found).endswith("no line takes more than 1e+06 times as long")


def in_place(x: Any, scale: float = 1.0) -> Any:
    x *= scale
    return x[0] * x[1]


def test_arguments_are_as_they_were_and_may_be_given_by_name() -> None:
    x = np.array([2.0, 3.0])
    found = explain(in_place, x, scale=2.0)
    for line in found.advice.lines:
        assert line.why
        assert line.instead
    assert list(x) == [2.0, 3.0]
    assert found.advice is found.advice  # measured once


def test_there_are_ten_at_most_the_worst_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "LIMIT", 0.0)
    monkeypatch.setattr(advice, "LEAST", 0.0)
    source = "def many(x):\n" + "    x = x * math.sin(x)\n" * 12 + "    return x\n"
    namespace: dict[str, Any] = {"math": math}
    exec(compile(source, "many.py", "exec"), namespace)
    lines = explain(namespace["many"], 0.5).advice.lines
    assert len(lines) == 10
    assert [line.beyond for line in lines] == sorted((line.beyond for line in lines), reverse=True)


def test_forward_mode_has_none() -> None:
    with pytest.raises(ArgumentError, match="reverse"):
        _ = explain(looked_up, 0.5, NAMES[:3], mode="forward").advice


def test_there_is_a_remedy_for_each_class() -> None:
    last = {kind: words for kind, words, _ in advice._REMEDIES}
    assert last == {"dynamic": "", "primitive": "", "derived": ""}
