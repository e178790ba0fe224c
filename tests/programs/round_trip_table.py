"""Run as a program: measure round trips of whole modules, and write the tables of ``docs/round-trip.rst``.

``python -m tests.programs.round_trip_table`` measures on the interpreter that runs it,
``... --all`` on every interpreter on the PATH that has what the tests need, ``... PATH ...`` on those given.
What was measured on others before stays: it is kept in ``docs/round-trip.json``, from which the tables are
written (``--write-only``: nothing else).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from typing import Any

from tests.programs.replace_and_test import PACKAGES, PROGRAMS
from tests.programs.running import BY_RULE, ROOT, compare

PAGE = ROOT / "docs" / "round-trip.rst"
DATA = ROOT / "docs" / "round-trip.json"
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
NAMES = (*sorted(PROGRAMS), *PACKAGES)
ASK = """
import platform, sys, bytecode, hypothesis, numpy, pytest
print('%d.%d' % sys.version_info[:2], platform.python_version(), numpy.__version__)
"""


def interpreters() -> list[str]:
    """Those on the PATH; says which are left out."""
    found = []
    for version in VERSIONS:
        path = shutil.which(f"python{version}")
        if path is None:
            print(f"skipped {version}: there is no python{version} on the PATH")
        elif isinstance(asked := ask(path), str):
            print(f"skipped {version}: {asked}")
        else:
            found.append(path)
    return found


def ask(interpreter: str) -> tuple[str, str, str] | str:
    """The minor version, the version and that of NumPy, or why the tests cannot run there."""
    asked = subprocess.run([interpreter, "-c", ASK], capture_output=True, text=True, check=False)
    if asked.returncode:
        return f"{interpreter} cannot be used: {asked.stderr.strip().splitlines()[-1]}"
    minor, version, numpy = asked.stdout.split()
    return minor, version, numpy


def known() -> dict[str, Any]:
    """What has been measured, by minor version."""
    found: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    return found


def measure(interpreter: str, version: str, numpy: str) -> dict[str, Any]:
    """Every module on one interpreter, with and without the replacement."""
    modules: dict[str, Any] = {}
    for name in NAMES:
        outcome = compare(name, always=True, interpreter=interpreter)
        print(f"{version} {name}: {len(outcome.replaced)} functions, {outcome.run} tests", flush=True)
        for test in outcome.differences:
            print(f"    differs: {test}", flush=True)
        modules[name] = {
            "replaced": len(outcome.replaced),
            "run": outcome.run,
            "refused": {reason: sorted(names) for reason, names in sorted(outcome.refused.items())},
            "differences": outcome.differences,
            "failing anyway": outcome.failing_anyway,
        }
    return {"python": version, "numpy": numpy, "modules": modules}


# -- the tables ------------------------------------------------------------------------------------------


def table(title: str, widths: list[int], rows: list[list[str]]) -> str:
    lines = [
        f".. list-table:: {title}",
        "   :header-rows: 1",
        f"   :widths: {' '.join(map(str, widths))}",
        "",
    ]
    for row in rows:
        for number, cell in enumerate(row):
            lines.append(f"   {'* -' if number == 0 else '  -'} {cell}".rstrip())
    return "\n".join([*lines, ""])


def tables(data: dict[str, Any]) -> dict[str, str]:
    """The parts of the page that are measured, by the name in their markers."""
    versions = [version for version in VERSIONS if version in data]
    heads = [f"CPython {data[version]['python']}" for version in versions]
    rows, left, anyway = [["module", *heads]], [["module", "because of", *heads]], []
    totals = [[0, 0] for _ in versions]
    for name in NAMES:
        found = [data[version]["modules"][name] for version in versions]
        rows.append([f"``{name}``", *(f"{m['replaced']} / {m['run']}" for m in found)])
        for total, m in zip(totals, found, strict=True):
            total[0] += m["replaced"]
            total[1] += m["run"]
        for reason in sorted({reason for m in found for reason in m["refused"]}):
            counts = [str(len(m["refused"].get(reason, ()))) for m in found]
            left.append([f"``{name}``", reason, *counts])
        for version, m in zip(versions, found, strict=True):
            anyway += [f"* {version}, ``{name}``: ``{test}``" for test in m["failing anyway"]]
    rows.append(["all", *(f"{functions} / {tests}" for functions, tests in totals)])
    different = [
        f"* {version}, ``{name}``: ``{test}``"
        for version in versions
        for name in NAMES
        for test in data[version]["modules"][name]["differences"]
    ]
    numpy = sorted({data[version]["numpy"] for version in versions})
    return {
        "modules": table("Functions replaced / tests run", [20, *[12] * len(heads)], rows)
        + f"\nNumPy {' and '.join(numpy)}.\n",
        "left out": table("Functions left out", [16, 30, *[10] * len(heads)], left),
        "differences": "\n".join(different or ["No test fails after the replacement that passes without it."])
        + "\n",
        "anyway": "\n".join(anyway or ["No test fails without the replacement."]) + "\n",
    }


def write(text: str, data: dict[str, Any]) -> str:
    """`text` with its measured parts written anew."""
    for name, content in tables(data).items():
        start, end = f".. begin {name}\n", f".. end {name}\n"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}\n{content}\n{end}{after}"
    return text


def is_clean(data: dict[str, Any]) -> bool:
    """Whether nothing differs and every refusal is one by rule."""
    modules = [m for measured in data.values() for m in measured["modules"].values()]
    return all(not m["differences"] and set(m["refused"]) <= BY_RULE for m in modules)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.programs.round_trip_table", description=__doc__)
    parser.add_argument("interpreters", nargs="*", metavar="PATH")
    parser.add_argument("--all", action="store_true", help="every interpreter on the PATH")
    parser.add_argument("--write-only", action="store_true", help="measure nothing")
    options = parser.parse_args()
    chosen = options.interpreters or (interpreters() if options.all else [sys.executable])
    for interpreter in [] if options.write_only else chosen:
        asked = ask(interpreter)
        if isinstance(asked, str):
            print(f"skipped: {asked}")
            continue
        minor, version, numpy = asked
        measured = measure(interpreter, version, numpy)
        data = {**known(), minor: measured}  # read again: others may have written meanwhile
        DATA.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    data = known()
    PAGE.write_text(write(PAGE.read_text(encoding="utf-8"), data), encoding="utf-8")
    return 0 if is_clean(data) else 1


if __name__ == "__main__":
    sys.exit(main())
