"""Ways to walk through an array: right in both modes, or refused with a word on what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import adbc
from adbc.errors import AdbcError
from adbc.testing import test_rule as check


def vectorized_with_effects(v: Any, x: Any) -> Any:
    log = [x]

    def step(u: Any) -> Any:
        log.append(log[-1] * u)
        return log[-1]

    return np.vectorize(step)(v), log


def flat_assigned(v: Any, x: Any) -> Any:
    v.flat[0] = x
    return v


def all_flat_assigned(v: Any, x: Any) -> Any:
    v.flat = x
    return v


def nditer_written(v: Any, x: Any) -> Any:
    with np.nditer(v, op_flags=["readwrite"]) as it:
        for u in it:
            u[...] = u * x
    return v


RIGHT: dict[str, Callable[[Any, Any], Any]] = {
    "ndindex": lambda v, x: sum([v[i] * x * (i[0] + 1) for i in np.ndindex(*v.shape)]),
    "ndindex of shape": lambda v, x: sum([v[i] * x for i in np.ndindex(v.shape)]),
    "ndenumerate": lambda v, x: [i[0] * u * x for i, u in np.ndenumerate(v)],
    "vectorize": lambda v, x: np.vectorize(lambda u: u * u * x)(v),
    "vectorize with otypes": lambda v, x: np.vectorize(lambda u: u * x, otypes=[float])(v),
    "vectorize of a matrix": lambda v, x: np.vectorize(lambda u, w: u * w * x)(np.stack([v, v]), v),
    "vectorize with effects": lambda v, x: vectorized_with_effects(v, x),
    "vectorize two": lambda v, x: np.vectorize(lambda u, w: u * w if u > 1.0 else u + w)(v, x),
    "sliding windows": lambda v, x: sliding_window_view(v, 2) * x,
    "sliding windows reduced": lambda v, x: sliding_window_view(v * x, 2).sum(axis=1),
    "iterate": lambda v, x: [u * x for u in v],
    "iterate rows": lambda v, x: [row.sum() * x for row in np.stack([v, v * x])],
    "tolist": lambda v, x: [u * x for u in v.tolist()],
    "apply along": lambda v, x: np.apply_along_axis(lambda r: r * r.sum(), 0, v * x),
    "fromiter": lambda v, x: np.fromiter((u * x for u in v), float),
    "piecewise": lambda v, x: np.piecewise(v * x, [v > 1.0], [lambda u: u * u, 0.0]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    check(RIGHT[name], np.array([0.5, 1.5, 0.7]), 0.8)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "flat": lambda v, x: [u * x for u in v.flat],
    "flat subscript": lambda v, x: v.flat[1] * x,
    "flat assigned": flat_assigned,
    "all flat assigned": all_flat_assigned,
    "nditer": lambda v, x: sum([float(u) * x for u in np.nditer(v)]),
    "nditer written": nditer_written,
    "as_strided": lambda v, x: as_strided(v, (2,), (8,)) * x,
    "frompyfunc": lambda v, x: np.frompyfunc(lambda u: u * x, 1, 1)(v),
    "vectorize with a signature": lambda v, x: np.vectorize(lambda r: r.sum() * x, signature="(n)->()")(v),
    "vectorize with exclusions": lambda v, x: np.vectorize(lambda u, k: u * k, excluded={1})(v, x),
    "vectorize with two results": lambda v, x: np.vectorize(lambda u: (u, u * x))(v),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    v = np.array([0.5, 1.5, 0.7])
    for run in (
        lambda: adbc.jvp(REFUSED[name], (v.copy(), 0.8), (np.ones(3), 1.0)),
        lambda: adbc.vjp(REFUSED[name], v.copy(), 0.8),
    ):
        with pytest.raises(AdbcError):
            run()
