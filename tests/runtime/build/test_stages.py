"""The table of stages: what each stage needs has been left by one before it."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from adbc.passes.stages import Group, Stage
from adbc.runtime.build.stages import WAYS, groups, table

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "internals" / "stages.md"
MARK = "<!-- stages -->\n"


@pytest.mark.parametrize("way", WAYS)
def test_an_earlier_stage_leaves_what_a_stage_needs(way: str) -> None:
    left: set[str] = set()
    for group in WAYS[way]:
        for stage in group.stages:
            missing = set(stage.needs) - left
            assert not missing, f"{group.name}.{stage.name} needs {', '.join(sorted(missing))}"
            if "derived" in stage.leaves:  # another graph, of which nothing else is known
                left.clear()
            left.update(stage.leaves)
            for part in stage.parts:
                assert set(part.needs) <= left, f"{stage.name}: {part.name}"


def all_stages() -> list[tuple[Group[Any], Stage[Any]]]:
    return [(group, stage) for group in groups() for row in group.stages for stage in (row, *row.parts)]


def test_every_stage_says_why_it_stands_where_it_stands() -> None:
    assert [stage.name for _, stage in all_stages() if len(stage.reason.split()) < 4] == []


@pytest.mark.parametrize("way", WAYS)
def test_code_is_left_in_the_end(way: str) -> None:
    assert WAYS[way][-1].stages[-1].leaves == ("code",)


def test_groups_have_names_of_their_own() -> None:
    assert len({id(group) for way in WAYS.values() for group in way}) == len(groups())


def test_the_table_has_a_line_for_each_stage() -> None:
    assert len(table().splitlines()) == 2 + len(all_stages())


def page() -> str:
    """The page with the table as it is."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    return f"{before}{MARK}{table()}\n"


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.runtime.build.test_stages writes it"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
