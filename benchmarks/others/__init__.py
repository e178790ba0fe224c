"""Gradients by other systems, each if it is installed.  Nothing here is needed to time adbc.

A system runs the source of a workload where that works with its own functions in the place of `math` and
NumPy's; otherwise a version written for it, which computes the same by the means that it offers.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from benchmarks.workload import Workload
from benchmarks.workloads import adbench, in_place

__all__ = ["SYSTEMS", "gradient_of", "installed"]

Call = Callable[[], Any]

SYSTEMS = {"autograd": "hips", "torch": "pytorch", "jax": "xla"}
"""The package to import, and the module here that knows how to use it.  PyTorch and autograd run eagerly, as
adbc does; JAX compiles."""


def installed() -> list[str]:
    """Those of `SYSTEMS` that can be imported."""
    return [name for name in SYSTEMS if importlib.util.find_spec(name) is not None]


IN_PLACE = frozenset(
    {*(w.name for w in in_place.WORKLOADS), *(w.name for w in adbench.WORKLOADS if w.name.startswith("hand"))}
)
"""The workloads that assign to parts of arrays: none of `SYSTEMS` differentiates them as they are written."""


def gradient_of(system: str, workload: Workload) -> Call | None:
    """A call that computes the gradient of `workload` by `system`, or None if it cannot.

    The call gives the derivatives as one flat list of arrays or numbers, in the order of the arguments.
    """
    if workload.name in IN_PLACE:
        return None
    call: Call | None = importlib.import_module(f"benchmarks.others.{SYSTEMS[system]}").gradient(workload)
    return call
