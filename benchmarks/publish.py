"""What is kept of a measurement: all numbers as JSON, a picture, and the table in the documentation."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from benchmarks import table
from benchmarks.plot import plot

__all__ = ["block", "load", "publish", "published", "render"]

DOCS = pathlib.Path(__file__).parents[1] / "docs"
PAGE = DOCS / "benchmarks.rst"


def published() -> list[str]:
    """The versions of CPython that a measurement is kept of."""
    return sorted((path.stem for path in (DOCS / "measured").glob("*.json")), key=_by_number)


def _by_number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def load(version: str) -> dict[str, Any]:
    """A measurement that is kept."""
    found: dict[str, Any] = json.loads((DOCS / "measured" / f"{version}.json").read_text(encoding="utf-8"))
    return found


def publish(results: Mapping[str, Any]) -> None:
    """Keep a measurement, in place of the last one of the same version of CPython."""
    version = ".".join(results["machine"]["python"].split(".")[:2])
    path = DOCS / "measured" / f"{version}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    render()


def render() -> None:
    """Draw all measurements that are kept, and put their tables into the page.  Needs matplotlib."""
    for version in published():
        plot(load(version), DOCS / "measured" / f"{version}.svg")
    text = PAGE.read_text(encoding="utf-8")
    start, rest = text.split(START)
    _, end = rest.split(END)
    PAGE.write_text(f"{start}{START}\n\n{block()}\n{END}{end}", encoding="utf-8")


START = ".. measured: what follows is written by ``python -m benchmarks --publish``"
END = ".. end of what was measured"


def block() -> str:
    """The generated part of the page."""
    text = []
    for version in published():
        title = f"CPython {version}"
        text += [title, "~" * len(title), "", f".. image:: measured/{version}.svg", "", "::", ""]
        text += [re.sub(r"\s+$", "", f"   {line}") for line in table.lines(load(version))]
        text.append("")
    return "\n".join(text)
