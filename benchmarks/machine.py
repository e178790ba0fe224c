"""What a measurement ran on, in kinds: the processor, its cores, and the versions of all that matters."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from typing import Any

__all__ = ["describe"]


def describe(systems: Sequence[str]) -> dict[str, Any]:
    """Processor, number of cores, operating system, and versions of Python, NumPy and `systems`."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in ("numpy", *systems)},
    }


def processor() -> str:
    """The name that the processor gives itself, where the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
