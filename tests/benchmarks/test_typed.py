"""Derived graphs are typed where their primals are."""

from __future__ import annotations

import statistics

import pytest

from benchmarks.typed import KINDS, Typed, share, typed
from benchmarks.workloads import GROUPS


@pytest.fixture(scope="module")
def found() -> dict[str, Typed]:
    return {workload.name: typed(workload) for workloads in GROUPS.values() for workload in workloads}


def test_all_of_it_where_the_primal_is_typed(found: dict[str, Typed]) -> None:
    of_typed = {name: result for name, result in found.items() if result.is_primal_typed}
    assert len(of_typed) >= 25
    assert {name: share([result]) for name, result in of_typed.items()} == dict.fromkeys(of_typed, 1.0)


def test_nearly_all_of_it_everywhere(found: dict[str, Typed]) -> None:
    # Each program counts alike: the largest has the smaller graphs the better it is done.
    assert statistics.fmean(share([result]) for result in found.values()) >= 0.98
    assert all(share(found.values(), [kind]) > 0.9 for kind in KINDS)
