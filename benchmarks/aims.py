"""What the numbers are meant to be, and what they are."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["Finding", "findings", "geometric_mean"]

Rows = Sequence[Mapping[str, Any]]
Value = Callable[[Mapping[str, Any]], float]


@dataclasses.dataclass(frozen=True)
class Finding:
    """A number, and the bound that it should keep; of which workload it is, if of one."""

    text: str
    value: float
    aim: float
    at_most: bool = True
    where: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.aim if self.at_most else self.value >= self.aim


def geometric_mean(numbers: Sequence[float]) -> float:
    """The mean that treats ratios of 2 and 1/2 alike."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


SCALAR = ("typed", "guarded")
LOOPS = (*SCALAR, "elements")


def findings(results: Mapping[str, Any]) -> list[Finding]:
    """Every aim for which something was measured."""
    groups: Mapping[str, Rows] = results["groups"]
    found: list[Finding] = []

    def over(names: Sequence[str], *needed: str) -> Rows:
        return [r for name in names for r in groups.get(name, []) if all(n in r["ratio"] for n in needed)]

    def add(text: str, rows: Rows, value: Callable[[Rows], float], aim: float, at_most: bool = True) -> None:
        if rows:
            found.append(Finding(text, value(rows), aim, at_most))

    def add_worst(text: str, rows: Rows, value: Value, aim: float, at_most: bool = True) -> None:
        if rows:
            worst = (max if at_most else min)(rows, key=value)
            found.append(Finding(text, value(worst), aim, at_most, worst["name"]))

    def mean(name: str, to: str = "") -> Callable[[Rows], float]:
        return lambda rows: geometric_mean([_quotient(r, name, to) for r in rows])

    def each(name: str, to: str = "") -> Value:
        return lambda row: _quotient(row, name, to)

    means = {"typed": 4.0, "guarded": 8.0, "elements": 6.0, "vectorised": 2.6, "in place": 3.5}
    for group, aim in means.items():
        add(f"gradient, {group}: geometric mean", over([group]), mean("gradient"), aim)
    for group, aim in {"typed": 5.5, "guarded": 12.0, "in place": 6.0}.items():
        add_worst(f"gradient, {group}: largest", over([group]), each("gradient"), aim)
    add(f"JVP, {', '.join(LOOPS)}: geometric mean", over(LOOPS), mean("jvp"), 2.5)
    text = f"JVP over tangent by hand, {', '.join(LOOPS)}: geometric mean"
    add(text, over(LOOPS, "jvp", "tangent"), mean("jvp", "tangent"), 1.3)
    for group in ("typed", "vectorised"):
        text = f"gradient over adjoint by hand, {group}: geometric mean"
        add(text, over([group]), mean("gradient", "hand"), 1.5)
    text = "gradient over adjoint by hand, in place: geometric mean"
    add(text, over(["in place"]), mean("gradient", "hand"), 1.3)
    for system, scalar, element in (("autograd", 100.0, 15.0), ("torch", 50.0, 8.0)):
        text = f"{system} over adbc, {', '.join(SCALAR)}: geometric mean"
        add(text, over(SCALAR, system), mean(system, "gradient"), scalar, False)
        text = f"{system} over adbc, elements: geometric mean"
        add(text, over(["elements"], system), mean(system, "gradient"), element, False)
        text = f"{system} over adbc, vectorised: smallest"
        add_worst(text, over(["vectorised"], system), each(system, "gradient"), 1.0, False)
    add("building, ms: median", over(list(groups)), _median_build, 30.0)
    add_worst("bytes held per saved float, typed: largest", over(["typed"]), _saved, 100.0)
    if "million steps" in results:
        text = "memory for a million steps of the logistic map, MB"
        found.append(Finding(text, results["million steps"] / 1e6, 200.0))
    return found


def _saved(row: Mapping[str, Any]) -> float:
    return float(row["saved"]["bytes"] / row["saved"]["floats"])


def _quotient(row: Mapping[str, Any], name: str, to: str) -> float:
    ratio = row["ratio"]
    return float(ratio[name] / ratio[to]) if to else float(ratio[name])


def _median_build(rows: Rows) -> float:
    return 1e3 * float(statistics.median(r["build"] for r in rows))
