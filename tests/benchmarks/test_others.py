"""What is timed of other systems is the gradient of the same function."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks import others
from benchmarks.run import check
from benchmarks.workload import Workload
from benchmarks.workloads import GROUPS

SMALL = [dataclasses.replace(w, arguments=w.small) for workloads in GROUPS.values() for w in workloads]
# Of the systems that are installed: the extra "bench" brings one, nothing here asks for the others.
RUNS = [
    pytest.param(system, workload, id=f"{system}-{workload.name}")
    for system in others.installed()
    for workload in SMALL
    if others.gradient_of(system, workload) is not None
]


@pytest.mark.parametrize(("system", "workload"), RUNS)
def test_another_system_gives_the_gradient_by_hand(system: str, workload: Workload) -> None:
    call = others.gradient_of(system, workload)
    assert call is not None
    _, by_hand = workload.adjoint(*workload.small)
    check(system, call(), by_hand)
