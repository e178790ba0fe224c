"""What is timed of other systems is the gradient of the same function."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks import others
from benchmarks.run import check
from benchmarks.workloads import GROUPS

WORKLOADS = {workload.name: workload for workloads in GROUPS.values() for workload in workloads}


@pytest.mark.parametrize("system", others.SYSTEMS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_same_gradient(system: str, name: str) -> None:
    pytest.importorskip(system)
    workload = dataclasses.replace(WORKLOADS[name], arguments=WORKLOADS[name].small)
    call = others.gradient_of(system, workload)
    if call is None:
        pytest.skip(f"{system} cannot do it")
    _, by_hand = workload.adjoint(*workload.small)
    check(system, call(), by_hand)
