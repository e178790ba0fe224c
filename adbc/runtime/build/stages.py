"""The table of stages: the whole way from a function to the code of its derivative, in one place.

Each package has the rows of what it does itself.  Here they stand in the order in which the engine runs them:
one way per graph that is emitted.
"""

from __future__ import annotations

from typing import Any

from adbc.emit.backend import SCHEDULE, SCHEDULE_FORWARDS
from adbc.emit.driver import EMIT
from adbc.forward import FORWARD
from adbc.passes.pipeline import CLEAN, CLEAN_PULLBACK, NORMAL
from adbc.passes.stages import Group, Stage
from adbc.reverse import REVERSE
from adbc.runtime.build.primal import CLASS_BODY, LIFT, LIFT_CLASS_BODY, LOCAL
from adbc.runtime.build.results import COMPLETE
from adbc.runtime.build.typed import DIRECT, TYPED

__all__ = ["WAYS", "groups", "table"]

_PRIMAL: tuple[Group[Any], ...] = (LIFT, NORMAL, LOCAL)
_CLASS: tuple[Group[Any], ...] = (LIFT_CLASS_BODY, NORMAL, CLASS_BODY)

WAYS: dict[str, tuple[Group[Any], ...]] = {
    "dual": (*_PRIMAL, TYPED, FORWARD, CLEAN, COMPLETE, DIRECT, SCHEDULE, EMIT),
    "forwards": (*_PRIMAL, TYPED, REVERSE, CLEAN, COMPLETE, DIRECT, SCHEDULE_FORWARDS, EMIT),
    "pullback": (*_PRIMAL, TYPED, REVERSE, CLEAN_PULLBACK, COMPLETE, SCHEDULE, EMIT),
    "dual of a class body": (*_CLASS, TYPED, FORWARD, CLEAN, COMPLETE, DIRECT, SCHEDULE, EMIT),
    "forwards of a class body": (*_CLASS, TYPED, REVERSE, CLEAN, COMPLETE, DIRECT, SCHEDULE_FORWARDS, EMIT),
    "pullback of a class body": (*_CLASS, TYPED, REVERSE, CLEAN_PULLBACK, COMPLETE, SCHEDULE, EMIT),
}
"""The groups that are run for each graph, in their order."""


def groups() -> list[Group[Any]]:
    """All groups, each once, in the order in which they are first run."""
    return list({group.name: group for way in WAYS.values() for group in way}.values())


def table() -> str:
    """The stages in a table of Markdown: group, name, what each needs and leaves, and the reason."""
    lines = ["| group | stage | needs | leaves | because |", "| --- | --- | --- | --- | --- |"]
    for group in groups():
        name = group.name
        for stage in group.stages:
            lines.append(_row(name, stage.name, stage))
            lines += [_row("", f"{stage.name}: {part.name}", part) for part in stage.parts]
            name = ""
    return "\n".join(lines)


def _row(group: str, name: str, stage: Stage[Any]) -> str:
    cells = (group, f"`{name}`", ", ".join(stage.needs), ", ".join(stage.leaves), stage.reason)
    return f"| {' | '.join(cells)} |"
