"""What gradients of ordinary programs cost, and what the first one takes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import adbc
from adbc.runtime import default_engine
from adbc.tangents import zero_tangent
from benchmarks import measure
from benchmarks.aims import geometric_mean
from benchmarks.ordinary import FIELDS
from benchmarks.program import Program
from benchmarks.run import ones
from benchmarks.settle import settle
from benchmarks.workload import duplicate, numbers

__all__ = ["report"]

HEAD = f"{'':60} {'plain':>10} {'gradient':>8} {'jvp':>8} {'first':>9}"


def report(only: str, rounds: int) -> list[dict[str, Any]]:
    """Print, and return, what is measured of the programs with `only` in their fields, names or styles, as it
    comes; a program that is refused has a line that says why.

    That is the time of a plain call; of the gradient and of the JVP when nothing is built any more, over that
    of the plain call; and of the first gradient, when nothing is known.
    """
    measure.keep_memory()
    print(HEAD, flush=True)
    rows = []
    for field, programs in FIELDS.items():
        for program in programs:
            for style, function in program.styles.items():
                name = f"{field}: {program.name} ({style})"
                if only.lower() in name.lower():
                    try:
                        row = {"name": name, **_measured(program, function, rounds)}
                    except adbc.AdbcError as refused:  # the others are measured all the same
                        row = {"name": name, "refused": str(refused)}
                    rows.append(row)
                    print(_line(row), flush=True)
    measured = [row for row in rows if "refused" not in row]
    if measured:
        print("\n" + "\n".join(_summary(measured)))
    if len(measured) < len(rows):
        print(f"refused: {len(rows) - len(measured)}")
    return rows


def _measured(program: Program, function: Callable[..., Any], rounds: int) -> dict[str, Any]:
    arguments, argnums = program.arguments, program.argnums
    own, moved = duplicate(arguments), duplicate(arguments)
    along = tuple(
        _direction(x) if i in numbers(argnums) else zero_tangent(x) for i, x in enumerate(arguments)
    )
    gradient = adbc.value_and_grad(function, argnums)
    calls = {
        "plain": lambda: function(*own),
        "gradient": lambda: gradient(*arguments),
        "jvp": lambda: adbc.jvp(function, moved, along),
    }
    default_engine().clear()
    first = measure.once(calls["gradient"])
    settle(calls["gradient"])
    settle(calls["jvp"])
    plain, ratios = measure.ratios(calls, rounds, "plain")
    return {"plain": plain, "first": first, **ratios}


def _direction(x: Any) -> Any:
    """A direction to differentiate `x` in: one in each float."""
    if isinstance(x, dict):
        return {key: _direction(value) for key, value in x.items()}
    if isinstance(x, tuple):
        return tuple(map(_direction, x))
    if isinstance(x, list):
        return [_direction(part) for part in x]
    return ones(x) if isinstance(x, float) or hasattr(x, "shape") else zero_tangent(x)


def _line(row: dict[str, Any]) -> str:
    name = row["name"] if len(row["name"]) <= 60 else row["name"][:57] + "..."
    if "refused" in row:
        return f"{name:60} refused: {row['refused'].splitlines()[0]}"
    plain, first = f"{row['plain'] * 1e6:.1f} us", f"{row['first'] * 1e3:.0f} ms"
    return f"{name:60} {plain:>10} {row['gradient']:8.3g} {row['jvp']:8.3g} {first:>9}"


def _summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The geometric mean, the median, the value that nine tenths keep, and the largest."""
    lines = [f"{'':60} {'mean':>10} {'median':>8} {'nine tenths':>12} {'largest':>8}"]
    for kind in ("gradient", "jvp"):
        found = sorted(row[kind] for row in rows)
        mean, middle = geometric_mean(found), statistics.median(found)
        most = found[min(len(found) - 1, int(0.9 * len(found)))]
        lines.append(f"{kind:60} {mean:10.3g} {middle:8.3g} {most:12.3g} {found[-1]:8.3g}")
    first = statistics.median(row["first"] for row in rows)
    return [*lines, f"first gradient, median: {first * 1e3:.0f} ms"]
