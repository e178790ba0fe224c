"""Gradients by other systems, each if it is installed.  Nothing here is needed to time adbc."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workloads import Workload

__all__ = ["SYSTEMS", "gradient_of", "installed"]

Call = Callable[[], Any]


def _autograd(workload: Workload) -> Call | None:
    autograd = importlib.import_module("autograd")
    function = workload.for_module(importlib.import_module("autograd.numpy"))
    if function is None:
        return None
    gradient = autograd.grad(function)
    return lambda: gradient(*workload.arguments)


def _torch(workload: Workload) -> Call | None:
    torch = importlib.import_module("torch")
    function = workload.for_module(torch)
    if function is None:
        return None
    first, *rest = workload.arguments
    variable = torch.tensor(first, dtype=torch.float64, requires_grad=True)
    constants = [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in rest]

    def call() -> Any:
        variable.grad = None
        function(variable, *constants).backward()
        return variable.grad

    return call


def _jax(workload: Workload) -> Call | None:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    function = workload.for_module(importlib.import_module("jax.numpy"))
    if function is None:
        return None
    gradient = jax.grad(function)
    return lambda: jax.block_until_ready(gradient(*workload.arguments))


SYSTEMS: dict[str, Callable[[Workload], Call | None]] = {"autograd": _autograd, "torch": _torch, "jax": _jax}
"""By the name of the package to import; eager, all of them, as adbc is."""


def installed() -> list[str]:
    """Those of `SYSTEMS` that can be imported."""
    return [name for name in SYSTEMS if importlib.util.find_spec(name) is not None]


def gradient_of(system: str, workload: Workload) -> Call | None:
    """A call that computes the gradient of `workload` by `system`, or None if it cannot."""
    return SYSTEMS[system](workload)
