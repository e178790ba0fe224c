"""What is kept of a measurement: all numbers as JSON, a picture, and the table in the documentation."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from benchmarks import table
from benchmarks.aims import geometric_mean
from benchmarks.plot import plot

__all__ = ["block", "load", "publish", "published", "readme", "render"]

DOCS = pathlib.Path(__file__).parents[1] / "docs"
PAGE = DOCS / "benchmarks.rst"
README = DOCS.parent / "README.md"


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
    for page, (start, end), text in ((PAGE, PLACE, block()), (README, README_PLACE, readme())):
        before, rest = page.read_text(encoding="utf-8").split(start)
        _, after = rest.split(end)
        page.write_text(f"{before}{start}\n\n{text}\n{end}{after}", encoding="utf-8")


PLACE = (
    ".. measured: what follows is written by ``python -m benchmarks --publish``",
    ".. end of what was measured",
)
README_PLACE = ("<!-- measured: written by python -m benchmarks --publish -->", "<!-- end -->")


def block() -> str:
    """The generated part of the page."""
    text = []
    for version in published():
        title = f"CPython {version}"
        text += [title, "~" * len(title), "", f".. image:: measured/{version}.svg", "", "::", ""]
        text += [re.sub(r"\s+$", "", f"   {line}") for line in table.lines(load(version))]
        text.append("")
    return "\n".join(text)


COLUMNS = {
    "gradient": "adbc",
    "jvp": "adbc, JVP",
    "hand": "by hand",
    "autograd": "HIPS autograd",
    "torch": "PyTorch",
    "jax": "JAX, jit",
}
KINDS = {
    "typed": "numbers in local variables",
    "guarded": "lists, objects, closures",
    "elements": "loops over elements of arrays",
    "vectorised": "formulas on whole arrays",
    "ADBench": "the objectives of ADBench",
}


def readme() -> str:
    """The table of the README: geometric means of the groups on the oldest version of CPython."""
    results = load(published()[0])
    rows = [["programs", "", *COLUMNS.values()], ["---"] * (2 + len(COLUMNS))]
    for group, found in results["groups"].items():
        known = {name: [r["ratio"][name] for r in found if name in r["ratio"]] for name in COLUMNS}
        means = [table.ratio(geometric_mean(values) if values else None).strip() for values in known.values()]
        rows.append([KINDS[group], str(len(found)), *means])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
