"""What is said of the class of a sum, product, quotient or power is what NumPy and Python give."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc.rules.classes import arithmetic, division, power

NUMBERS: tuple[Any, ...] = (
    2, True, 1.5, 1 + 2j, np.float64(1.5), np.float32(1.5), np.float16(1), np.complex128(1 + 1j),
    np.complex64(1 + 1j), np.int64(3), np.int8(3), np.uint64(3), np.bool_(True), np.longdouble(2),
    np.clongdouble(1j),
)  # fmt: skip


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (operator.add, arithmetic),
        (operator.mul, arithmetic),
        (operator.truediv, division),
        (operator.pow, power),
    ],
)
def test_the_class_of_a_result(op: Callable[..., Any], said: Callable[..., Any]) -> None:
    known = 0
    for a in NUMBERS:
        for b in NUMBERS:
            found = said(type(a), type(b))
            if found is not None:
                known += 1
                assert found is type(op(a, b)), (op, type(a), type(b))
    assert known > 150
