"""What the trials showed: counts, distributions of times, and what was refused for which reason."""

from __future__ import annotations

import collections
import importlib.metadata
import pathlib
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks import machine
from libraries.trial import MODES

__all__ = ["OUTCOMES", "line", "publish", "reason", "text"]

Result = dict[str, Any]

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "libraries.rst"
PLACE = (
    ".. measured: what follows is written by ``python -m libraries --publish``",
    ".. end of what was measured",
)

OUTCOMES = ("right", "refused", "raised", "wrong", "too long", "crashed", "unsettled", "broken")
"""What becomes of a trial: the derivative agrees with differences, adbc refuses it, something else is
raised, it differs, the limit is reached, the process dies; and two that say nothing of adbc: differences do
not settle, or the plain call fails."""

SILENT = ("unsettled", "broken")

TIMED = 2
"""How many derivatives a trial that is right has formed at least, as a second one is timed."""

QUANTITIES: dict[str, tuple[str, str, Callable[[Result], float]]] = {
    "first, s": ("right", "CPU seconds to the first derivative", lambda result: result["first"]),
    "first / compile": (
        "right",
        "the same, over compile() of the functions that the call runs",
        lambda result: result["first"] / max(result["compile"], 1e-9),
    ),
    "second / steady": (
        "right",
        "the second over the steady state",
        lambda result: result["second"] / result["steady"],
    ),
    "steady / plain": (
        "right",
        "the steady state over the plain call",
        lambda result: result["steady"] / result["plain"],
    ),
    "refusal, s": ("refused", "CPU seconds to a refusal", lambda result: result["after"]),
}
"""By name of what is measured: in trials of which outcome, what it is, and the number."""


def line(result: Result) -> str:
    """A trial, as progress shows it."""
    parts = [f"{result['outcome']:10}", f"{result['call']} ({result['mode']})"]
    if "first" in result:
        parts.append(f"first {result['first']:.2f} s")
    if "steady" in result:
        parts.append(f"steady {result['steady'] / result['plain']:.0f} times plain")
    if "detail" in result:
        parts.append(f"{result.get('error', '')} {result['detail']}"[:300].replace("\n", " ").strip())
    return "  ".join(parts)


def text(results: Sequence[Result]) -> str:
    """The whole report."""
    parts = [
        counts(results),
        distributions(results),
        slowest(results),
        *complaints(results),
        versions(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, as reStructuredText has it: the first column to the left, the others to the right."""
    rows = [heads, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    rule = "  ".join("=" * width for width in widths)
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def titled(title: str, *paragraphs: str) -> str:
    return "\n\n".join([f"{title}\n{'~' * len(title)}", *paragraphs])


def counts(results: Sequence[Result]) -> str:
    """How many trials came out how, of each mode and of each field."""
    packages = {result["package"] for result in results}
    calls = {result["call"] for result in results}
    fields = sorted({field_of(result) for result in results})
    groups = {
        **{mode: [result for result in results if result["mode"] == mode] for mode in MODES},
        **{field: [result for result in results if field_of(result) == field] for field in fields},
        "all": list(results),
    }
    met = [outcome for outcome in OUTCOMES if any(result["outcome"] == outcome for result in results)]
    rows = []
    for name, group in groups.items():
        found = collections.Counter(result["outcome"] for result in group)
        telling = sum(found[outcome] for outcome in met if outcome not in SILENT)
        share = f"{100 * found['right'] / telling:.1f} %" if telling else "-"
        rows.append([name, str(len(group)), *(str(found[outcome]) for outcome in met), share])
    return titled(
        "What came out",
        f"{len(calls)} calls of {len(packages)} packages, {len(results)} trials. The last column leaves out"
        " what says nothing of adbc (unsettled, broken).",
        table(["", "trials", *met, "right"], rows),
    )


def field_of(result: Result) -> str:
    return str(result["call"]).partition(".")[0]


def distributions(results: Sequence[Result]) -> str:
    """Median, tails and maximum of each quantity."""
    rows = []
    for mode in MODES:
        for name, (outcome, _, quantity) in QUANTITIES.items():
            of_mode = [r for r in results if r["mode"] == mode and r["outcome"] == outcome]
            if of_mode:
                numbers = sorted(map(quantity, of_mode))
                tails = (quantile(numbers, q) for q in (0.9, 0.95))
                picked = (statistics.median(numbers), *tails, numbers[-1])
                rows.append([f"{mode}: {name}", *(f"{number:.3g}" for number in picked)])
    if not rows:
        return ""
    legend = "; ".join(f"{name}: {meaning}" for name, (_, meaning, _) in QUANTITIES.items())
    heads = ["", "median", "90 %", "95 %", "most"]
    return titled("Times", f"{legend}.", *formed(results), table(heads, rows))


def formed(results: Sequence[Result]) -> list[str]:
    """How often the derivative was formed, at least, where it is right, and in what was too long."""
    least = [result.get("formed", TIMED) for result in results if result["outcome"] == "right"]
    if not least:
        return []
    words = f"Each trial that is right formed its derivative {min(least)} times or more."
    ended = [result for result in results if result["outcome"] == "too long"]
    if ended:
        listed = ", ".join(f"{r['call']} ({r['mode']}) {r.get('formed', 0)}" for r in ended)
        words += f" How often what was too long had formed it by then: {listed}."
    return [words]


def quantile(numbers: Sequence[float], q: float) -> float:
    """The smallest of the sorted numbers that is no less than a share `q` of them."""
    return numbers[min(int(q * len(numbers)), len(numbers) - 1)]


def slowest(results: Sequence[Result], count: int = 12) -> str:
    """The calls whose first derivative takes longest."""
    right = [result for result in results if result["outcome"] == "right"]
    right = sorted(right, key=lambda result: -result["first"])[:count]
    rows = [
        [
            f"{r['call']} ({r['mode']})",
            f"{r['first']:.2f}",
            f"{1e3 * r['compile']:.1f}",
            f"{1e3 * r['plain']:.3g}",
        ]
        for r in right
    ]
    heads = ["", "first, s", "compile, ms", "plain, ms"]
    return titled("The slowest first derivatives", table(heads, rows)) if rows else ""


INSTANCES = 3
"""How many examples are given of each reason."""

NAMES = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"|\b[\w.]+\.[\w.]+(\([^()]*\))?|\b\w+\(\)|<[^<>]*>|\b\d+\b")


def reason(result: Result) -> str:
    """Why a trial was refused or failed, without the names that differ from case to case.

    Of a missing rule, the function is the reason.
    """
    if result.get("error") == "MissingRuleError":
        return f"no rule: {result.get('met', '').partition('(')[0].removesuffix(' cannot be differentiated')}"
    what = result.get("why") or result.get("met") or result.get("detail") or ""
    what = NAMES.sub("…", what.splitlines()[0] if what else "")
    return f"{result.get('error', '')}: {what}" if result.get("error") else what


def complaints(results: Sequence[Result]) -> list[str]:
    """Of each outcome but the right one, the reasons, with counts and the calls."""
    found = []
    for outcome in OUTCOMES[1:]:
        group = [result for result in results if result["outcome"] == outcome]
        reasons: dict[str, list[Result]] = collections.defaultdict(list)
        for result in group:
            reasons[reason(result)].append(result)
        lines = []
        for why, of_reason in sorted(reasons.items(), key=lambda item: -len(item[1])):
            names: dict[str, list[str]] = collections.defaultdict(list)
            for result in of_reason:
                names[result["call"]].append(result["mode"])
            calls = ", ".join(
                name if len(modes) == len(MODES) else f"{name} ({modes[0]})" for name, modes in names.items()
            )
            met = {shortened(result.get("met") or result.get("detail", "")): None for result in of_reason}
            instances = ", ".join(map(literal, list(met)[:INSTANCES]))
            lines.append(f"- {len(of_reason)}: {literal(why)}, for instance {instances}: {calls}")
        if lines:
            found.append(titled(outcome.capitalize(), f"{len(group)} trials.", "\n".join(lines)))
    return found


def shortened(words: str, most: int = 160) -> str:
    first = words.splitlines()[0] if words else ""
    return first if len(first) <= most else first[: most - 1] + "…"


def literal(words: str) -> str:
    """Words as they are, in reStructuredText."""
    return f"``{words.replace('`', chr(39)).strip() or 'no message'}``"


def versions(results: Sequence[Result]) -> str:
    """What it ran on."""
    names = sorted({result["package"] for result in results}, key=str.lower)
    found = ", ".join(f"{name} {version(name)}" for name in names)
    about = machine.describe([])
    on = f"CPython {about['python']}, numpy {about['versions']['numpy']}, {about['cores']} cores of"
    return titled("Versions", f"{on} {about['processor']}, {about['system']}; {found}.")


def version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def publish(results: Sequence[Result]) -> None:
    """Put the report into the page of the documentation."""
    start, end = PLACE
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    _, after = rest.split(end)
    PAGE.write_text(f"{before}{start}\n\n{text(results)}\n{end}{after}", encoding="utf-8")
