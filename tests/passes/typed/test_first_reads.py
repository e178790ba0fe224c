"""What is read first from lists is known, and what may have been written there since is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule


def unpacked(p: Any) -> Any:
    a, b = p
    return a * a * b


def _resumed(p: Any) -> Iterator[Any]:
    yield p[0]
    yield p[1]


def between_resumptions(p: Any) -> Any:
    elements = _resumed(p)
    a = next(elements)
    p[1] = np.float32(2.5) * np.float32(a)
    b = next(elements)
    return a * float(b) * b.dtype.itemsize


def by_a_function(p: Any) -> Any:
    def write(q: Any) -> None:
        q[1] = np.float32(0.5)

    a = p[0]
    write(p)
    b = p[1]
    return a * float(b) * b.dtype.itemsize


class _Owner:
    def __init__(self, p: Any) -> None:
        self.p = p

    @property
    def x(self) -> float:
        self.p[0] = np.float32(3.0)
        return 1.0


def by_a_property(p: Any) -> Any:
    y = _Owner(p).x
    a = p[0]
    return float(a) * p[1] * a.dtype.itemsize * y


@pytest.mark.parametrize("config", [{}, {"warm_after": 0}, {"speculation": "never"}], ids=str)
@pytest.mark.parametrize("f", [unpacked, between_resumptions, by_a_function, by_a_property])
def test_programs(f: Callable[[Any], Any], config: dict[str, Any]) -> None:
    with adbc.use(adbc.Config(**config)):
        for _ in range(5):
            out, gradient = adbc.value_and_grad(f)([1.5, 2.0])
            assert out == f([1.5, 2.0])
            _, tangent = adbc.jvp(f, ([1.5, 2.0],), ([1.0, 10.0],))
            assert tangent == pytest.approx(gradient[0] + 10.0 * gradient[1], rel=1e-6)
        if f is not between_resumptions:  # which computes in single precision
            check_rule(f, [1.5, 2.0])
