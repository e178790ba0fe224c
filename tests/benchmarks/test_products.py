"""What is timed as the product of a Hessian with a vector is that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing.values import duplicate
from benchmarks.products import product_of
from benchmarks.run import flat, ones
from benchmarks.workload import Workload, numbers
from benchmarks.workloads import GROUPS

WORKLOADS = {workload.name: workload for workloads in GROUPS.values() for workload in workloads}


@pytest.mark.parametrize("name", WORKLOADS)
def test_products_are_differences_of_gradients(name: str) -> None:
    workload = WORKLOADS[name]
    gradient = adbc.grad(workload.function, workload.argnums)
    value, product = product_of(workload, duplicate(workload.small))()
    np.testing.assert_allclose(flat(value), flat(gradient(*workload.small)), rtol=1e-12, atol=1e-14)
    step = 1e-6
    up, down = (flat(gradient(*_moved(workload, sign * step))) for sign in (1.0, -1.0))
    wanted = (up - down) / (2.0 * step)
    size = np.max(np.abs(wanted)) + np.max(np.abs(up))
    np.testing.assert_allclose(flat(product), wanted, atol=1e-6 * size)


def _moved(workload: Workload, step: float) -> list[Any]:
    asked = numbers(workload.argnums)
    return [_plus(x, ones(x), step) if i in asked else x for i, x in enumerate(duplicate(workload.small))]


def _plus(x: Any, direction: Any, step: float) -> Any:
    if isinstance(x, list):
        return [_plus(a, b, step) for a, b in zip(x, direction, strict=True)]
    return x + step * direction
