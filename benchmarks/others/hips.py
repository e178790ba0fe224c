"""HIPS autograd."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as anp
import autograd.scipy.special as special

from benchmarks.others import source, versions
from benchmarks.workload import Workload
from benchmarks.workloads import elements, guarded

__all__ = ["gradient"]

MATH = types.SimpleNamespace(
    pi=anp.pi, sin=anp.sin, cos=anp.cos, exp=anp.exp, log=anp.log, sqrt=anp.sqrt, erf=special.erf
)


def gradient(workload: Workload) -> Callable[[], Any]:
    function, arguments = version(workload)
    argnums = workload.argnums
    both = autograd.value_and_grad(function, argnums)
    if isinstance(argnums, int):
        return lambda: [both(*arguments)[1]]
    return lambda: list(both(*arguments)[1])


def version(workload: Workload) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    name, arguments = workload.function.__name__, workload.arguments
    if name in versions.FUNCTIONAL:
        arguments = versions.with_basis(arguments) if name == "gaussian_mixture" else arguments
        return versions.FUNCTIONAL[name](anp), arguments
    if workload.function.__module__ == elements.__name__:
        return on_scalars(workload, source.unpacked)
    if workload.function.__module__ == guarded.__name__:
        return on_scalars(workload, source.nested)
    return source.rebound(workload.function, np=anp, math=MATH), arguments


def on_scalars(workload: Workload, unpack: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The source on elements of arrays: a list would be taken apart and put together at each access."""
    arguments = tuple(map(source.as_array, workload.arguments))
    is_array = [hasattr(x, "shape") for x in arguments]
    program = source.rebound(workload.function, np=source.ELEMENT_WISE, math=MATH)

    def function(*given: Any) -> Any:
        return program(*[unpack(x) if on else x for x, on in zip(given, is_array, strict=True)])

    return function, arguments
