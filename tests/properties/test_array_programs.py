"""Random functions on arrays, in both modes, by every choice of what is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .array_programs import Program

COUNT, CHUNK = 60, 5


def copied(args: list[Any]) -> list[Any]:
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_random_functions_of_arrays_are_differentiated_rightly(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = Program(seed)
        try:
            check(program)
        except Exception as error:
            error.add_note(f"seed {seed}\n{program.source}")
            raise


def check(program: Program) -> None:
    args = program.arguments()
    check_rule(program.function, *args, rtol=3e-5, atol=1e-6)
    whole = adbc.grad(program.function, (0, 1, 2, 3))(*copied(args))
    for k in range(len(args)):  # the others are constants where they are only read
        for _ in range(2):
            found = adbc.grad(program.function, k)(*copied(args))
            np.testing.assert_allclose(found, whole[k], rtol=1e-11, atol=1e-12)
        direction: list[Any] = [None] * len(args)
        direction[k] = np.ones_like(args[k]) if isinstance(args[k], np.ndarray) else 1.0
        _, tangent = adbc.jvp(program.function, copied(args), direction)
        np.testing.assert_allclose(tangent, np.sum(whole[k]), rtol=1e-9, atol=1e-11)
