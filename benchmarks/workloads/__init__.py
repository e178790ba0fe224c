"""The programs that are timed, in groups."""

from __future__ import annotations

from benchmarks.workload import Workload
from benchmarks.workloads import adbench, elements, guarded, in_place, scalar, vectorised

__all__ = ["GROUPS", "MODULES", "UNPUBLISHED"]

MODULES = {
    "typed": scalar,
    "guarded": guarded,
    "elements": elements,
    "vectorised": vectorised,
    "in place": in_place,
    "ADBench": adbench,
}
"""The module of each group."""

UNPUBLISHED = frozenset({"hand, 22 bones, 100 points", *(w.name for w in in_place.WORKLOADS)})
"""The workloads that came after the last publication (``docs/measured``): empty it with the next one."""

GROUPS: dict[str, list[Workload]] = {name: module.WORKLOADS for name, module in MODULES.items()}
