"""PyTorch, eager: double precision, one thread."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.others import source, versions
from benchmarks.workload import Workload, numbers
from benchmarks.workloads import elements

__all__ = ["gradient"]

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def of_either(name: str) -> Callable[[Any], Any]:
    """A function of numbers and of tensors."""
    of_number, of_tensor = getattr(math, name), getattr(torch, name)
    return lambda x: of_tensor(x) if isinstance(x, torch.Tensor) else of_number(x)


MATH = types.SimpleNamespace(
    pi=math.pi, **{name: of_either(name) for name in ("sin", "cos", "exp", "log", "sqrt", "erf")}
)

NUMPY = types.SimpleNamespace(
    **{
        name: getattr(torch, name)
        for name in (
            "abs", "arange", "cos", "diag", "einsum", "exp", "eye", "fft", "kron", "linalg", "log", "mean",
            "reshape", "sin", "sqrt", "stack", "sum", "tanh",
        )
    },
    concatenate=torch.cat,
    cross=torch.linalg.cross,
    max=torch.amax,
)  # fmt: skip


def gradient(workload: Workload) -> Callable[[], Any]:
    function, arguments = version(workload)
    converted = tuple(map(tensors, arguments))
    variables: list[torch.Tensor] = []
    for i in numbers(workload.argnums):
        collect(converted[i], variables)
    for variable in variables:
        variable.requires_grad_()

    def call() -> list[Any]:
        for variable in variables:
            variable.grad = None
        function(*map(relisted, converted)).backward()
        return [variable.grad for variable in variables]

    return call


def version(workload: Workload) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    name, arguments = workload.function.__name__, workload.arguments
    if name == "gaussian_mixture":
        return versions.gaussian_mixture(NUMPY), versions.with_basis(arguments)
    if name in IN_PLACE:
        return IN_PLACE[name], arguments
    if workload.function.__module__ == elements.__name__:
        program = source.rebound(workload.function, np=source.ELEMENT_WISE, math=MATH, in_place=False)
        is_array = [isinstance(x, np.ndarray) for x in arguments]

        def function(*given: Any) -> Any:
            return program(*[unpacked(x) if on else x for x, on in zip(given, is_array, strict=True)])

        return function, arguments
    return source.rebound(workload.function, np=NUMPY, math=MATH, in_place=False), arguments


def unpacked(x: torch.Tensor) -> Any:
    return source.Scalars(x.unbind()) if x.ndim == 1 else source.unpacked(x)


def heat_plane(initial: torch.Tensor, k: float, steps: int) -> torch.Tensor:
    u = initial.clone()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return torch.sum(u**2)


def heat_slices(initial: torch.Tensor, k: float, steps: int) -> torch.Tensor:
    u = initial.clone()  # what has a gradient may not be written to
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return torch.sum(u)


IN_PLACE: dict[str, Callable[..., Any]] = {"heat_plane": heat_plane, "heat_slices": heat_slices}


def tensors(x: Any) -> Any:
    """Arrays and floats as tensors of their own; lists hold tensors."""
    if isinstance(x, list):
        return [tensors(part) for part in x]
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x.copy())
    return torch.tensor(x) if isinstance(x, float) else x


def relisted(x: Any) -> Any:
    """Lists of their own, of the same tensors, for programs that write to them."""
    return list(map(relisted, x)) if isinstance(x, list) else x


def collect(x: Any, found: list[torch.Tensor]) -> None:
    if isinstance(x, list):
        for part in x:
            collect(part, found)
    else:
        found.append(x)
