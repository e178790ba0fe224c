"""Stages as text, their differences, and control flow."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import adbc.inspect
from adbc.errors import ArgumentError
from adbc.inspect.show import GRAPHS, STAGES


def steps(x: float, n: int) -> float:
    y = 0.0
    for k in range(n):
        if k > 2:
            y = y + x
        else:
            y = y * x - 1.0
    return y


def guarded(x: float) -> float:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_a_text(stage: str) -> None:
    text = adbc.inspect.show(steps, 2.0, 5, stage=stage)
    assert isinstance(text, str)
    assert repr(text) == str(text)
    assert ("graph steps" in text) == (stage in GRAPHS)
    assert ("RESUME" in text) == stage.endswith("bytecode")


def test_difference_of_stages() -> None:
    text = adbc.inspect.diff(steps, 2.0, 5, before="lifted", after="normal")
    assert text.startswith("--- lifted\n+++ normal")
    assert any(line.startswith("-") and "= mul" in line for line in text.splitlines())
    assert any(line.startswith("+") and "operator.mul" in line for line in text.splitlines())
    assert adbc.inspect.diff(steps, 2.0, 5, before="normal", after="normal") == ""


@pytest.mark.parametrize("stage", GRAPHS)
@pytest.mark.parametrize(("function", "arguments"), [(steps, (2.0, 5)), (guarded, (2.0,))])
def test_drawings(stage: str, function: object, arguments: tuple[object, ...]) -> None:
    drawing = adbc.inspect.control_flow(function, *arguments, stage=stage)  # type: ignore[arg-type]
    root = ElementTree.fromstring(drawing.svg)
    space = "{http://www.w3.org/2000/svg}"
    boxes = root.findall(f"{space}rect")
    assert len(boxes) == len(drawing.blocks)
    paths = [p for p in root.findall(f"{space}path") if p.get("marker-end")]
    assert len(paths) == len(drawing.edges) == drawing.dot.count(" -> ")
    # No box lies on another.
    places = [tuple(float(box.get(name) or 0) for name in ("x", "y", "width", "height")) for box in boxes]
    for k, (x, y, w, h) in enumerate(places):
        for other in places[:k]:
            assert (
                x >= other[0] + other[2] or other[0] >= x + w or y >= other[1] + other[3] or other[1] >= y + h
            )
    assert drawing._repr_svg_() == drawing.svg


def test_edges_say_where_they_come_from() -> None:
    names = {name for _, _, name in adbc.inspect.control_flow(steps, 2.0, 5).edges}
    assert {"true", "false", ""} <= names
    assert "raises" in {name for _, _, name in adbc.inspect.control_flow(guarded, 2.0, stage="normal").edges}


def test_unknown_stages_and_builtins_are_refused() -> None:
    with pytest.raises(ArgumentError, match="choose one of lifted"):
        adbc.inspect.show(steps, 2.0, 5, stage="none")
    with pytest.raises(ArgumentError, match="no graph called 'fwd-bytecode'"):
        adbc.inspect.control_flow(steps, 2.0, 5, stage="fwd-bytecode")
    with pytest.raises(ArgumentError, match="not written in Python"):
        adbc.inspect.show(abs, 2.0)
