"""Random programs that only read their arrays: gradients by arguments that are values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .formula_programs import FormulaProgram

COUNT, CHUNK = 60, 10


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_random_formulas_are_differentiated_rightly(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = FormulaProgram(seed)
        try:
            check(program)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise


def check(program: FormulaProgram) -> None:
    f, args = program.function, program.arguments()
    check_rule(f, *args)
    _, pullback = adbc.vjp(f, *program.arguments())
    wanted = pullback(1.0)
    everything = tuple(range(len(args)))
    gradient = adbc.grad(f, everything)
    kept: list[Any] = [x for x in args if isinstance(x, np.ndarray)]
    for _ in range(2):
        for d, expected in zip(gradient(*args), wanted, strict=True):
            np.testing.assert_allclose(d, expected, rtol=1e-10, atol=1e-12)
            if isinstance(d, np.ndarray):
                assert d.flags.owndata and d.flags.c_contiguous
                assert not any(np.shares_memory(d, other) for other in kept)
                kept.append(d)
    for i in everything:
        np.testing.assert_allclose(adbc.grad(f, i)(*args), wanted[i], rtol=1e-10, atol=1e-12)
    for x, y in zip(args, program.arguments(), strict=True):
        np.testing.assert_array_equal(x, y)
