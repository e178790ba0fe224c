"""Where snapshots are made, and that checkpoints save memory."""

from __future__ import annotations

import functools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.checkpoints import advances, split
from tests.nested.test_checkpoints import V, W, euler, waves


def test_what_a_checkpoint_computes_is_not_kept() -> None:
    def layer(x: Any) -> Any:
        for _ in range(2):
            x = np.tanh(x) + 0.1 * np.sin(x)
        return x

    def peak(f: Callable[[Any], Any]) -> int:
        def total(x: Any) -> Any:
            for _ in range(16):
                x = f(x)
            return (x**2).sum()

        gradient = adbc.grad(total)
        x = np.linspace(0.0, 1.0, 4000)
        for _ in range(3):
            gradient(x)
        tracemalloc.start()
        gradient(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(adbc.checkpoint(layer)) < peak(layer) / 2


def test_the_places_of_snapshots_take_the_fewest_steps() -> None:
    @functools.cache
    def fewest(n: int, slots: int) -> int:
        if n <= 1:
            return 0
        if slots == 1:
            return n * (n - 1) // 2
        return min(m + fewest(n - m, slots - 1) + fewest(m, slots) for m in range(1, n))

    for n in range(1, 25):
        for slots in range(1, 6):
            assert advances(n, slots) == fewest(n, slots)
            if n > 1 and slots > 1:
                m = split(n, slots)
                assert m + fewest(n - m, slots - 1) + fewest(m, slots) == fewest(n, slots)


def test_derivatives_of_gradients_are_as_without_checkpoints() -> None:
    def loop(y: float) -> float:
        for i in range(4):
            y = euler(i, y)
        return y

    def kept(y: float) -> float:
        return adbc.checkpoint_loop(euler, y, 4)

    assert adbc.grad(adbc.grad(kept))(1.0) == pytest.approx(adbc.grad(adbc.grad(loop))(1.0), rel=1e-13)
    plain = adbc.hvp(lambda x: (waves(x) ** 2).sum(), (V,), (W,))[0]
    found = adbc.hvp(lambda x: (adbc.checkpoint(waves)(x) ** 2).sum(), (V,), (W,))[0]
    np.testing.assert_allclose(found, plain, rtol=1e-13)
