"""Gradients by other systems, each if it is installed.  Nothing here is needed to time adbc."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from benchmarks.workload import Workload

__all__ = ["SYSTEMS", "gradient_of", "installed"]

Call = Callable[[], Any]

SYSTEMS: dict[str, Callable[[Workload], Call | None]] = {}
"""By the name of the package to import."""


def installed() -> list[str]:
    """Those of `SYSTEMS` that can be imported."""
    return [name for name in SYSTEMS if importlib.util.find_spec(name) is not None]


def gradient_of(system: str, workload: Workload) -> Call | None:
    """A call that computes the gradient of `workload` by `system`, or None if it cannot."""
    return SYSTEMS[system](workload)
