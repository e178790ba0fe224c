"""Every workload's gradient is right: adbc's, and the one by hand that it is measured against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.testing.values import assert_same, duplicate
from benchmarks.run import ones
from benchmarks.workload import Workload, numbers
from benchmarks.workloads import GROUPS
from benchmarks.workloads.tangents import TANGENTS
from tests.programs.checks import check_gradient

WORKLOADS = {workload.name: workload for workloads in GROUPS.values() for workload in workloads}


@pytest.fixture(params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param]


@pytest.fixture(params=["learn", "never", "always", "dynamic"])
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    """How much is known of types: guessed and learnt, inferred, guessed wrongly, nothing."""
    with adbc.use(adbc.Config(speculation=request.param, verify=True)):
        default_engine().clear()
        yield request.param
        default_engine().clear()


def test_both_rules_are_right(workload: Workload) -> None:
    with adbc.use(adbc.Config(speculation="never", verify=True)):  # what is learnt may change the last digit
        check_rule(workload.function, *workload.small, step=1e-3)


def test_the_gradient_is_that_by_hand(workload: Workload, speculation: str) -> None:
    """Against differences and forward mode, and against the adjoint by hand, whatever is known of types."""
    value, by_hand = workload.adjoint(*(arguments := duplicate(workload.small)))
    assert_same(workload.small, arguments, "arguments after the adjoint by hand")
    assert_same(workload.function(*duplicate(workload.small)), value, "value by hand", rtol=1e-12)
    gradient = check_gradient(workload.function, *workload.small, argnums=workload.argnums, step=1e-3)
    for _ in range(4 if speculation == "learn" else 0):  # learning takes a few calls
        assert_same(by_hand, gradient, "gradient", rtol=1e-10)
        _, gradient = adbc.value_and_grad(workload.function, workload.argnums)(*workload.small)
    assert_same(by_hand, gradient, "gradient", rtol=1e-10)


@pytest.mark.parametrize(
    "workload", [n for n, w in WORKLOADS.items() if w.function in TANGENTS], indirect=True
)
def test_the_tangent_is_that_by_hand(workload: Workload, speculation: str) -> None:
    by_hand = TANGENTS[workload.function]
    wanted = numbers(workload.argnums)
    along = tuple(ones(x) if i in wanted else None for i, x in enumerate(workload.small))
    expected = by_hand(duplicate(workload.small), duplicate(along))
    for _ in range(4 if speculation == "learn" else 1):
        found = adbc.jvp(workload.function, duplicate(workload.small), duplicate(along))
        assert_same([float(x) for x in expected], [float(x) for x in found], "tangent", rtol=1e-10)


def test_the_gradient_is_right_at_the_size_that_is_measured(workload: Workload) -> None:
    value, gradient = adbc.value_and_grad(workload.function, workload.argnums)(*workload.arguments)
    assert_same(workload.adjoint(*workload.arguments), (value, gradient), "gradient", rtol=1e-8)
