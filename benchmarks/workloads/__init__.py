"""The programs that are timed, in groups."""

from __future__ import annotations

from benchmarks.workload import Workload
from benchmarks.workloads import adbench, elements, guarded, in_place, scalar, vectorised

__all__ = ["GROUPS", "MODULES"]

MODULES = {
    "typed": scalar,
    "guarded": guarded,
    "elements": elements,
    "vectorised": vectorised,
    "in place": in_place,
    "ADBench": adbench,
}
"""The module of each group."""

GROUPS: dict[str, list[Workload]] = {name: module.WORKLOADS for name, module in MODULES.items()}
