"""An array of numbers of elements, or a mask, may be the index by which it is written to itself.

What it was is needed on the way back: to restore it, and where it was an index before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

NUMBERS = np.array([3, 2, 1, 0, 4])
MASK = np.array([True, False, True, True, False])

WRITES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "by itself": (lambda i: i.__setitem__(i, 0), NUMBERS),
    "by a view": (lambda i: i[2:].__setitem__(np.minimum(i[:-2], 2), 3), NUMBERS),
    "by a part": (lambda i: i[1:].__setitem__(i[1:4], 1), NUMBERS),
    "in a tuple": (lambda i: i.reshape(5, 1).__setitem__((i, 0), i[::-1]), NUMBERS),
    "in place": (lambda i: i.__setitem__(i, i[i] // 2), NUMBERS),
    "added to": (lambda i: np.subtract.at(i, i, 1), NUMBERS),
    "multiplied": (lambda i: np.multiply.at(i, i, 0), NUMBERS),
    "put": (lambda i: np.put(i, i, 0), NUMBERS),
    "put along": (lambda i: np.put_along_axis(i, i, 0, 0), NUMBERS),
    "taken": (lambda i: np.take(i.copy(), i, out=i), NUMBERS),
    "a mask by itself": (lambda m: m.__setitem__(m, False), MASK),
    "flags": (lambda m: m.__setitem__(m, np.arange(int(m.sum())) % 2 == 1), MASK),
    "a mask by a view": (lambda m: m[1:].__setitem__(m[:-1], False), MASK),
    "flat": (lambda m: m.flat.__setitem__(m, False), MASK),
    "flat to flat": (lambda i: setattr(i, "flat", i), NUMBERS),
    "a mask that is assigned itself": (lambda m: setattr(m, "flat", m), MASK),
    "copied to": (lambda m: np.copyto(m, False, where=m), MASK),
    "masked": (lambda m: np.putmask(m, m, False), MASK),
    "negated": (lambda m: np.logical_not(m, out=m, where=m), MASK),
}


@pytest.mark.parametrize("name", WRITES)
def test_an_index_that_is_written_by_itself(name: str) -> None:
    write, index = WRITES[name]

    def f(x: float, i: Any) -> Any:
        v = x * np.arange(1.0, 6.0)
        before = (v[i] * (v[i] + 1.0)).sum()
        write(i)
        return before + (v[i] ** 3).sum()

    step = 1e-6
    after = index.copy()
    value = f(1.0, after)
    expected = (f(1.0 + step, index.copy()) - f(1.0 - step, index.copy())) / (2 * step)
    for _ in range(3):  # interpreted, and compiled
        given = index.copy()
        found, slope = adbc.value_and_grad(f)(1.0, given)
        assert found == value and slope == pytest.approx(expected, rel=1e-7)
        np.testing.assert_array_equal(given, index)  # restored
        found, slope = adbc.jvp(f, (1.0, given), (1.0, adbc.NoTangent()))
        assert found == value and slope == pytest.approx(expected, rel=1e-7)
        np.testing.assert_array_equal(given, after)  # as a plain call leaves it
