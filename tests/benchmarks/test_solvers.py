"""SciPy's solvers find with derivatives what they find by differences, with fewer evaluations."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from benchmarks.problems import MINIMA  # SciPy is there
from benchmarks.solvers import SOLVERS, Solver, solutions


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # by differences the steps may be wild
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_solvers_with_derivatives(solver: Solver) -> None:
    found = list(solutions(solver))
    assert len(found) == 5
    for solution in found:
        ours, theirs = solution.evaluations
        assert ours < theirs, solution
        if solver.problems is MINIMA:  # there may be several, and differences may end early
            f, args = next((p.function, p.args) for p in MINIMA if p.name == solution.problem)
            least = f(solution.by_differences, *args)
            assert f(solution.found, *args) <= least + 1e-6 * abs(least), solution
        else:
            np.testing.assert_allclose(solution.found, solution.by_differences, rtol=1e-5, atol=1e-9)
