"""Hessian-vector products over gradients, for the workloads.

``python -m benchmarks --hvp`` prints, for each: the time of the gradient; the product, which is the JVP of
the gradient, over that; and what the first product costs, with all that is built for it.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import adbc
from benchmarks import measure
from benchmarks.run import ones
from benchmarks.settle import settle
from benchmarks.workload import Workload, duplicate, numbers

__all__ = ["AIM", "Product", "product", "product_of", "report"]

AIM = 3.0
"""How many gradients a product may cost."""


@dataclasses.dataclass(frozen=True)
class Product:
    """Of one workload: seconds of its gradient, the product over that, seconds of the first product."""

    gradient: float
    ratio: float
    first: float


def product_of(workload: Workload, arguments: tuple[Any, ...]) -> Callable[[], tuple[Any, Any]]:
    """A call that gives the gradient and its derivative along ones."""
    gradient = adbc.grad(workload.function, workload.argnums)
    own = duplicate(arguments)
    along = tuple(ones(x) if i in numbers(workload.argnums) else None for i, x in enumerate(arguments))

    def call() -> tuple[Any, Any]:
        made: tuple[Any, Any] = adbc.jvp(gradient, own, along)
        return made

    return call


def product(workload: Workload, rounds: int) -> Product:
    """Time the product for one workload."""
    gradient = adbc.grad(workload.function, workload.argnums)
    calls: dict[str, measure.Call] = {
        "gradient": lambda: gradient(*workload.arguments),
        "product": product_of(workload, workload.arguments),
    }
    first = measure.once(calls["product"])
    for call in calls.values():
        settle(call)
    seconds, ratios = measure.ratios(calls, rounds, "gradient")
    return Product(seconds, ratios["product"], first)


def report(workloads: Sequence[Workload], rounds: int) -> None:
    """Print a table."""
    width = max(len(workload.name) for workload in workloads) + 2
    print(f"{'':{width}}{'gradient, us':>14}{'product':>10}{'first, ms':>12}")
    found = []
    for workload in workloads:
        r = product(workload, rounds)
        found.append(r.ratio)
        print(
            f"{workload.name:{width}}{1e6 * r.gradient:>14.1f}{r.ratio:>10.2f}{1e3 * r.first:>12.0f}",
            flush=True,
        )
    within = sum(ratio <= AIM for ratio in found)
    print(
        f"geometric mean {statistics.geometric_mean(found):.1f}, median {statistics.median(found):.1f},"
        f" largest {max(found):.1f}; {within} of {len(found)} within {AIM:g}"
    )
