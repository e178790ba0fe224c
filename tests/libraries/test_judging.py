"""Differences that settle, and what a derivative must be to agree with them."""

from __future__ import annotations

import math
import statistics
import types
from typing import Any

import numpy as np
import pytest

import adbc
from libraries import judge, sources
from libraries.differences import jacobian
from libraries.package import Call
from libraries.trial import plain
from libraries.vectors import filled, vector


def test_differences_are_accurate() -> None:
    found = jacobian(lambda x, k: (math.sin(x[0]) * k, x[1] ** 3), (np.array([0.4, 1e4]), 2))
    wanted = np.array([[2 * math.cos(0.4), 0.0], [0.0, 3e8]])
    np.testing.assert_allclose(found.matrix, wanted, rtol=1e-10)
    assert np.all(found.errors <= 1e-8 * np.abs(wanted))
    assert found.scales.tolist() == [0.4, 1e4]


def test_differences_leave_arguments_alone() -> None:
    def changing(values: Any) -> float:
        values *= 2.0
        return float(values.sum())

    at = np.array([1.0, 2.0])
    np.testing.assert_allclose(jacobian(changing, (at,)).matrix, [[2.0, 2.0]])
    assert at.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("off", [2e-5, -2e-5, math.nan, math.inf])
def test_what_is_off_is_found_in_either_mode(off: float) -> None:
    found = jacobian(lambda x: (x[0] * x[1], x[1]), ([2.0, 3.0],))
    for expected in (
        judge.forwards(found, np.array([1.0, 0.5])),
        judge.backwards(found, np.array([1.0, 2.0])),
    ):
        assert expected.settled and not expected.flat
        right = expected.numbers * (1.0 + 1e-8)
        assert expected.says_of(right) is None
        wrong = right.copy()
        wrong[1] *= 1.0 + off
        said = expected.says_of(wrong)
        assert said is not None and "1 of 2 numbers differ: number 1" in said
        assert "1 numbers in place of 2" in (expected.says_of(right[:1]) or "")


def test_noise_beside_large_numbers_is_no_derivative() -> None:
    """What should be zero is off by rounding, a relative 1e-16 of what cancels."""
    found = jacobian(lambda x: (x + 1e3, (x + 1e3) - 1e3 - x), (0.3,))
    expected = judge.forwards(found, found.scales)
    assert expected.settled
    assert expected.says_of(np.array([0.3, 0.0])) is None
    assert expected.says_of(np.array([0.3, 0.3])) is not None


FAULTS = {
    "the value is not finite": lambda x: math.inf,
    "differences do not settle": lambda x: math.sin(1e9 * x),
    "the derivative is zero": lambda x: 3.0,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_calls_that_prove_nothing(fault: str) -> None:
    looked_at = plain(Call(FAULTS[fault], (0.5,)))
    assert looked_at.fault("reverse") == looked_at.fault("forward") == fault


def test_values_as_vectors() -> None:
    value = (1.5, [np.array([[2.0, 3.0]]), 7, "text"], np.float32(0.5))
    assert vector(value).tolist() == [1.5, 2.0, 3.0, 0.5]
    again = filled(value, iter([4.0, 5.0, 6.0, 7.0]))
    assert vector(again).tolist() == [4.0, 5.0, 6.0, 7.0]
    assert again[1][1:] == [7, "text"] and again[1][0].shape == (1, 2)
    tangent = adbc.zero_tangent(np.array([[1.0, 2.0]]).view(np.matrix))
    filled(tangent, iter([4.0, 5.0]))
    assert vector(tangent, np.zeros((1, 2))).tolist() == [4.0, 5.0]
    # What has no derivative has one of zero.
    assert vector((9.0, None, None), value).tolist() == [9.0, 0.0, 0.0, 0.0]


def test_derivatives_of_subclasses_of_arrays_as_vectors() -> None:
    class Of:
        """What says of itself that it is an array."""

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([4.0, 5.0])

    assert vector(Of(), np.array([1.0, 2.0])).tolist() == [4.0, 5.0]
    assert vector(Of(), np.array([1.0, 2.0, 3.0])).tolist() == [0.0, 0.0, 0.0]


def test_what_compiling_takes_is_of_the_functions_that_run() -> None:
    codes = sources.run_by(lambda: statistics.fmean([1.0, 2.0]))
    assert statistics.fmean.__code__ in codes and statistics.median.__code__ not in codes
    assert sources.compiled(lambda: statistics.fmean([1.0, 2.0])) > 0.0
    made = types.FunctionType(compile("1 + 1", "<nowhere>", "eval"), {})
    assert sources.compiled(made) < sources.compiled(lambda: statistics.fmean([1.0, 2.0]))
