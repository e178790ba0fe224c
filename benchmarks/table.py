"""The numbers as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["heading", "heads", "row", "summary"]

OURS = ("gradient", "hand", "jvp")
WIDTH = 42


def geometric_mean(numbers: Sequence[float]) -> float:
    """The mean of ratios that treats 2 and 1/2 alike."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def heading(machine: Mapping[str, Any]) -> list[str]:
    """What was measured on."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return [
        f"CPython {machine['python']}, {versions}; {machine['cores']} cores of {machine['processor']},"
        f" {machine['system']}",
        "ratios to the time of the plain function",
    ]


def heads(group: str, systems: Sequence[str]) -> str:
    """The line above the rows of a group."""
    names = "".join(f"{name:>9}" for name in (*OURS, *systems))
    return f"{group:{WIDTH}}{'plain':>9}{names}{'build':>9}{'rules':>7}{'memory':>10}"


def row(result: Mapping[str, Any], systems: Sequence[str]) -> str:
    """The numbers of a workload."""
    ratios = "".join(ratio(result["ratio"].get(name)) for name in (*OURS, *systems))
    build, memory = 1e3 * result["build"], result["memory"]["gradient"] / 1024
    plain, rules = 1e6 * result["plain"], result["builds"]
    return f"{result['name']:{WIDTH}}{plain:>6.1f} us{ratios}{build:>6.0f} ms{rules:>7.0f}{memory:>7.0f} kB"


def ratio(value: float | None) -> str:
    """Three digits, or a dash for what a system cannot do."""
    if value is None:
        return f"{'-':>9}"
    return f"{value:>9.1f}" if value < 100.0 else f"{value:>9.0f}"


def summary(results: Mapping[str, Any]) -> list[str]:
    """Geometric means per group."""
    lines = [f"{'geometric means':{WIDTH}}{'gradient':>9}{'worst':>9}{'jvp':>9}{'hand':>9}{'to hand':>9}"]
    for group, rows in results["groups"].items():
        gradients = [r["ratio"]["gradient"] for r in rows]
        jvps, hands = ([r["ratio"][name] for r in rows] for name in ("jvp", "hand"))
        numbers = (
            geometric_mean(gradients),
            max(gradients),
            geometric_mean(jvps),
            geometric_mean(hands),
            geometric_mean(gradients) / geometric_mean(hands),
        )
        lines.append(f"{group:{WIDTH}}" + "".join(f"{number:>9.2f}" for number in numbers))
    return lines
