"""What many verdicts come to: per function, per group, and the calls to look at."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence

from adbc.records import record
from adbc.testing.coverage.cases import Verdict
from adbc.testing.coverage.tables import WITHOUT

__all__ = ["Group", "as_json", "of_entry", "table", "to_look_at"]

WORST = ("wrong", "error", "unclear", "refused", "not judged", "right", "zero")
"""From the worst to the best: what a function is, is the worst of its primary cases."""


@record(frozen=True)
class Group:
    """The public names of a part of a library, with the verdicts on each."""

    name: str
    by_entry: dict[str, list[Verdict]]

    @classmethod
    def of(cls, name: str, entries: Iterable[str], verdicts: Iterable[Verdict]) -> Group:
        found: dict[str, list[Verdict]] = {entry: [] for entry in entries}
        for verdict in verdicts:
            found[verdict.case.entry].append(verdict)
        return cls(name, found)

    def count(self, *statuses: str) -> int:
        """How many functions have one of these as their status."""
        return sum(self.status(entry) in statuses for entry in self.by_entry)

    def status(self, entry: str) -> str:
        """What a function is: `of_entry`, or "without" if it is refused because there is no derivative."""
        status = of_entry(self.by_entry[entry])
        return "without" if status == "refused" and entry in WITHOUT else status

    def cases(self, *statuses: str) -> int:
        return sum(v.status in statuses for verdicts in self.by_entry.values() for v in verdicts)


def of_entry(verdicts: Sequence[Verdict]) -> str:
    """The status of a function: that of the worst of its primary cases that prove something."""
    primary = [v for v in verdicts if v.case.primary] or list(verdicts)
    statuses = {v.status for v in primary}
    if statuses <= {"not judged"}:
        return "not judged"
    statuses.discard("not judged")
    if "right" in statuses:
        statuses.discard("zero")
    return next(status for status in WORST if status in statuses)


def table(groups: Sequence[Group]) -> str:
    """The table of all groups, as text."""
    lines = [
        "group                        right of all  zero  without  wrong  refused  unclear  error  not judged"
        "   cases right of all"
    ]
    for group in groups:
        differentiable = len(group.by_entry) - group.count("zero", "without", "not judged")
        judged = group.cases("right", "zero", "wrong", "refused", "unclear", "error")
        lines.append(
            f"{group.name:28s} {group.count('right'):4d} of {differentiable:4d}  {group.count('zero'):4d}"
            f"  {group.count('without'):7d}  {group.count('wrong'):5d}  {group.count('refused'):7d}"
            f"  {group.count('unclear'):7d}  {group.count('error'):5d}  {group.count('not judged'):10d}"
            f"   {group.cases('right', 'zero'):5d} of {judged:5d}"
        )
    return "\n".join(lines)


def as_json(groups: Sequence[Group]) -> str:
    """All verdicts, by group and public name: the status of the function, and its cases."""
    found = {
        group.name: {
            entry: {
                "status": group.status(entry),
                "cases": [
                    {**dataclasses.asdict(v.case), "status": v.status, "message": v.message} for v in verdicts
                ],
            }
            for entry, verdicts in group.by_entry.items()
        }
        for group in groups
    }
    return json.dumps(found, indent=1)


def to_look_at(groups: Sequence[Group], statuses: Sequence[str], width: int = 300) -> str:
    """The cases with these statuses as programs: one for each function, status and kind of message."""
    lines = []
    for group in groups:
        for entry, verdicts in group.by_entry.items():
            seen = set()
            if not verdicts and "not judged" in statuses:
                lines.append(f"not judged: {entry}: no arguments were found")
            for v in verdicts:
                key = v.status, v.message[:40]
                if v.status in statuses and key not in seen and group.status(entry) != "without":
                    seen.add(key)
                    message = " ".join(v.message.split())[:width]
                    lines.append(
                        f"{v.status}: {entry}: {v.case.text} [{v.case.kind}, {v.case.domain}]\n    {message}"
                    )
    return "\n".join(lines)
