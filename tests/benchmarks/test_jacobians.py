"""The programs whose Jacobians are timed are right, and are the programs that they are said to be."""

from __future__ import annotations

import numpy as np
import pytest

import adbc
from benchmarks.jacobians import PROGRAMS, Program


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_jacobians_of_the_programs(program: Program) -> None:
    f, x = program.function, program.argument
    in_batches = np.asarray(adbc.jacfwd(f, chunk_size=len(x))(x))
    np.testing.assert_allclose(in_batches, np.asarray(adbc.jacrev(f)(x)), rtol=1e-10, atol=1e-12)
    if program.hand is not None:
        np.testing.assert_allclose(program.hand(x, np.eye(len(x)))[1].T, in_batches, rtol=1e-12, atol=1e-14)
