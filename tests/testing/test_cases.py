"""The points and arrays that tests of rules use are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adbc.testing.cases import POINTS, array, layouts, positive_definite


def test_points_are_in_their_domain() -> None:
    assert all(x > 0 for x in POINTS["positive"])
    assert all(-1 < x < 1 for x in POINTS["unit"])
    assert all(x > 1 for x in POINTS["above one"])
    assert {x > 0 for x in POINTS["real"]} == {True, False}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_arrays_have_different_elements(dtype: Any) -> None:
    x = array(3, 4, dtype=dtype)
    assert x.dtype == dtype and x.shape == (3, 4)
    assert len(set(x.ravel().tolist())) == 12
    assert np.all(np.abs(x) > 1e-3)


def test_arrays_stay_in_their_interval() -> None:
    x = array(50, low=0.1, high=0.2)
    assert 0.1 < x.min() < x.max() < 0.2


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 3, 4)])
def test_layouts_hold_the_same_numbers(shape: tuple[int, ...]) -> None:
    x = array(*shape)
    found = layouts(x)
    assert set(found) == {"C", "Fortran", "strided", "reversed"}
    for y in found.values():
        assert np.array_equal(x, y)
    assert len({y.strides for y in found.values()}) >= 3


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_positive_definite(dtype: Any) -> None:
    a = positive_definite(5, dtype)
    assert np.array_equal(a, a.conj().T)
    assert np.linalg.cond(a) < 100
    assert np.all(np.linalg.eigvalsh(a) > 0.5)
