"""What a stage on the way from a function to its derivative's code is, and the runner of stages.

A stage is a row: what it does, which facts it needs, which it leaves, and why it stands where it stands.
Rows stand in groups, in the order in which they are run.  Each package has the rows of what it does itself,
and `runtime.build.stages` puts all of them together.  Whoever watches, to verify graphs or to write them
down, is told behind each stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from adbc.records import record

__all__ = ["Group", "Stage", "Watcher", "in_place", "repeat", "run"]

Work = TypeVar("Work", contravariant=True)


@record(frozen=True)
class Stage(Generic[Work]):
    """A row of the table of stages."""

    name: str
    """The name of the stage's file or function; a stage may stand in several places."""
    run: Callable[[Any, Work], Any]
    """The function of the stage.  It is given what is on its way (a function, then a graph, in the end a code
    object) and what else the stages of its group work with, and returns what goes on from there: mostly the
    graph, changed in place."""
    needs: tuple[str, ...]
    """Facts that earlier stages leave."""
    leaves: tuple[str, ...]
    """Facts that later stages may rely on."""
    reason: str
    """Why the stage stands in this place."""
    is_whole: bool = True
    """Whether the graph that the stage leaves obeys the specification of graphs, even if a later stage is
    left out."""
    parts: tuple[Stage[Any], ...] = ()
    """The rows that the stage repeats until none of them changes anything; each returns whether it did."""


@record(frozen=True)
class Group(Generic[Work]):
    """Stages that are run together, in their order."""

    name: str
    stages: tuple[Stage[Work], ...]


Watcher = Callable[[Stage[Any], Any], object]
"""A function that is told of each stage and of what the stage made."""


def run(group: Group[Work], subject: Any, work: Work, after: Watcher | None = None) -> Any:
    """What the stages of `group` make of `subject`, one after the other; `after` is called behind each."""
    for stage in group.stages:
        subject = stage.run(subject, work)
        if after is not None:
            after(stage, subject)
    return subject


def repeat(parts: tuple[Stage[Work], ...], subject: Any, work: Work) -> bool:
    """Run all of `parts` once; returns whether one of them changed something."""
    changed = [part.run(subject, work) for part in parts]  # all of them, whatever the first one did
    return any(changed)


def in_place(change: Callable[[Any], object]) -> Callable[[Any, object], Any]:
    """The `Stage.run` of a stage that is `change`, which changes a graph and looks at nothing else."""

    def run_in_place(graph: Any, work: object) -> Any:
        change(graph)
        return graph

    return run_in_place
