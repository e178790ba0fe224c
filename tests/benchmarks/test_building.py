"""The functions whose building is measured are differentiated right."""

from __future__ import annotations

import pytest

from adbc.testing import test_rule as check_rule
from benchmarks import building


@pytest.mark.parametrize("shape", building.SHAPES)
def test_shapes_are_right(shape: str) -> None:
    f, seconds = building.function_of(building.SHAPES[shape](4))
    assert seconds > 0
    check_rule(f, 0.3)


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    building.report(sizes=(2, 4), only="straight")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line] == ["reverse:", "straight", "forward:", "straight"]
    assert "n = 4" in lines[0]
