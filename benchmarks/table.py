"""The numbers as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.aims import findings, geometric_mean

__all__ = ["heading", "heads", "lines", "row", "summary"]

OURS = ("gradient", "hand", "jvp")
WIDTH = 42


def lines(results: Mapping[str, Any]) -> list[str]:
    """All of it."""
    systems = results["systems"]
    text = heading(results)
    for group, rows in results["groups"].items():
        text += ["", heads(group, systems), *(row(result, systems) for result in rows)]
    return [*text, "", *summary(results)]


def heading(results: Mapping[str, Any]) -> list[str]:
    """What was measured, and on what."""
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    where = f"{machine['cores']} cores of {machine['processor']}, {machine['system']}"
    return [f"CPython {machine['python']}, {versions}", f"{where}; {results['rounds']} rounds"]


def heads(group: str, systems: Sequence[str]) -> str:
    """The line above the rows of a group."""
    names = "".join(f"{name:>9}" for name in (*OURS, *systems))
    return f"{group:{WIDTH}}{'plain':>9}{names}{'build':>9}{'rules':>7}{'memory':>10}{'saved':>10}"


def row(result: Mapping[str, Any], systems: Sequence[str]) -> str:
    """The numbers of a workload."""
    ratios = "".join(ratio(result["ratio"].get(name)) for name in (*OURS, *systems))
    build, memory = 1e3 * result["build"], result["memory"]["gradient"] / 1024
    plain, rules, saved = 1e6 * result["plain"], result["builds"], result["saved"]["bytes"] / 1024
    return (
        f"{result['name']:{WIDTH}}{plain:>6.1f} us{ratios}{build:>6.0f} ms{rules:>7.0f}{memory:>7.0f} kB"
        f"{saved:>7.0f} kB"
    )


def ratio(value: float | None) -> str:
    """Three digits, or a dash for what a system cannot do."""
    if value is None:
        return f"{'-':>9}"
    return f"{value:>9.2f}" if value < 10.0 else f"{value:>9.1f}" if value < 100.0 else f"{value:>9.0f}"


def summary(results: Mapping[str, Any]) -> list[str]:
    """Geometric means of the groups, and what was aimed at."""
    systems = results["systems"]
    text = [f"{'geometric means':{WIDTH}}{'':>9}" + "".join(f"{name:>9}" for name in (*OURS, *systems))]
    for group, rows in results["groups"].items():
        means = []
        for name in (*OURS, *systems):
            known = [r["ratio"][name] for r in rows if name in r["ratio"]]
            means.append(ratio(geometric_mean(known) if known else None))
        text.append(f"{group:{WIDTH}}{'':>9}" + "".join(means))
    text += ["", f"{'aims':66}{'found':>9}{'aim':>12}"]
    for finding in findings(results):
        bound = f"{'<=' if finding.at_most else '>='} {finding.aim:g}"
        met = "" if finding.met else "missed"
        line = f"{finding.text:66}{finding.value:>9.2f}{bound:>12}   {met:6}   {finding.where}"
        text.append(line.rstrip())
    return [*text, "", f"import adbc: {results['import']:.2f} s"]
