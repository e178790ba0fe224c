"""How many instructions of bytecode a call executes: exact, where times are noisy.

All Python code counts, that of adbc included, and what C functions do does not.  The counts belong to one
version of CPython.  ``python -m benchmarks --instructions`` prints them for each workload, and
``docs/measured/instructions/X.Y.json`` has those of the last publication.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from benchmarks.run import calls_of
from benchmarks.settle import settle
from benchmarks.workload import Workload

__all__ = ["compare", "counts", "executed", "published"]

COUNTED = ("plain", "gradient", "jvp")


def published() -> pathlib.Path:
    """The file with the counts of the running version of CPython."""
    version = ".".join(map(str, sys.version_info[:2]))
    return pathlib.Path(__file__).parent.parent / "docs" / "measured" / "instructions" / f"{version}.json"


def counts(workloads: Sequence[Workload]) -> dict[str, dict[str, int]]:
    """By name of the workload: what the plain call, the gradient and the JVP execute when nothing is built
    any more."""
    found = {}
    for workload in workloads:
        calls = calls_of(workload)
        for kind in COUNTED:
            settle(calls[kind])
        found[workload.name] = {kind: executed(calls[kind]) for kind in COUNTED}
    return found


def compare(found: Mapping[str, Mapping[str, int]], before: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line per workload: the counts, and by how much they differ from those `before`."""
    lines = []
    for name, numbers in found.items():
        parts = []
        for kind in COUNTED:
            old = before.get(name, {}).get(kind)
            change = "" if old is None else f" ({numbers[kind] - old:+d})"
            parts.append(f"{kind} {numbers[kind]}{change}")
        lines.append(f"{name:32} {'   '.join(parts)}")
    return lines


def report(workloads: Sequence[Workload], *, publish: bool) -> int:
    """Print the counts beside the published ones; how many of those are exceeded."""
    path = published()
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = counts(workloads)
    print("\n".join(compare(found, before)))
    if publish:
        path.write_text(json.dumps({**before, **found}, indent=1) + "\n", encoding="utf-8")
    return sum(
        numbers[kind] > before.get(name, {}).get(kind, numbers[kind])
        for name, numbers in found.items()
        for kind in COUNTED
    )


def executed(call: Callable[[], Any]) -> int:
    """The instructions that `call` executes in Python code, adbc's own included."""
    return (_monitored if sys.version_info >= (3, 12) else _traced)(call)


def _monitored(call: Callable[[], Any]) -> int:
    count = 0
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]  # from 3.12 on
    tool = 4

    def executed_one(code: object, offset: int) -> None:
        nonlocal count
        count += 1

    monitoring.use_tool_id(tool, "instruction counts")
    monitoring.register_callback(tool, monitoring.events.INSTRUCTION, executed_one)
    monitoring.set_events(tool, monitoring.events.INSTRUCTION)
    try:
        call()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return count


def _traced(call: Callable[[], Any]) -> int:
    count = 0

    def local(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "opcode"
        return local

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return local

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
