"""An argument that is a view of an array which the function finds by its name: one memory, one tangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError

TABLE = np.arange(6.0).reshape(2, 3)
START = TABLE.copy()
V = np.array([1.0, 2.0, 3.0])


def whole(x: Any) -> Any:
    return x.sum() + (TABLE * TABLE).sum()


def column(x: Any) -> Any:
    return x.sum() + TABLE[:, 0].sum()


def same_row(x: Any) -> Any:
    return (x * TABLE[0]).sum()


def other_row(x: Any) -> Any:
    return (x * TABLE[1]).sum()


def element(x: Any) -> Any:
    return x.sum() + TABLE[0, 1] * 3.0


def read_first(x: Any) -> Any:
    return TABLE.sum() * x.sum()


def written_by_argument(x: Any) -> Any:
    x[0] = x[1] * 2.0
    return TABLE[0].sum()


def written_by_name(x: Any) -> Any:
    TABLE[0, 0] = x[1] * 2.0
    return x.sum()


def row_written_by_name(x: Any) -> Any:
    TABLE[0] = x * 2.0
    return x.sum()


def scaled_in_place(x: Any) -> Any:
    x *= 2.0
    return (TABLE * TABLE).sum()


def by_default(x: Any, row: Any = TABLE[0]) -> Any:
    return (x * row).sum()


FUNCTIONS = [
    by_default, whole, column, same_row, other_row, element, read_first, written_by_argument, written_by_name,
    row_written_by_name, scaled_in_place,
]  # fmt: skip


def slope(f: Callable[[Any], Any]) -> float:
    values = []
    for step in (1e-6, -1e-6):
        TABLE[...] = START
        TABLE[0] += step * V
        values.append(f(TABLE[0]))
    TABLE[...] = START
    return float(values[0] - values[1]) / 2e-6


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_both_modes(f: Callable[[Any], Any]) -> None:
    expected = slope(f)
    for _ in range(4):
        TABLE[...] = START
        tangent = V.copy()
        assert adbc.jvp(f, (TABLE[0],), (tangent,))[1] == pytest.approx(expected, rel=1e-5)
        TABLE[...] = START
        tangents = adbc.jvp(f, (TABLE[0],), (np.stack([V, 2.0 * V]),), width=2)[1]
        assert tangents == pytest.approx(np.array([expected, 2.0 * expected]), rel=1e-5)
        TABLE[...] = START
        assert adbc.grad(f)(TABLE[0]) @ V == pytest.approx(expected, rel=1e-5)
        assert (TABLE == START).all()


def test_tangents_change_as_their_arguments_do() -> None:
    TABLE[...] = START
    tangent = V.copy()
    out, dout = adbc.jvp(lambda x: np.multiply(x, 2.0, out=x), (TABLE[0],), (tangent,))
    assert dout is tangent and (tangent == 2.0 * V).all() and (out == 2.0 * START[0]).all()
    TABLE[...] = START


def overwritten(x: Any) -> Any:
    x[0] = x[1] * 2.0
    return x.sum()


@pytest.mark.parametrize(
    "tangent",
    [np.broadcast_to(1.0, (3,)), np.lib.stride_tricks.as_strided(np.ones(1), (3,), (0,))],
    ids=["read-only", "one element three times"],
)
def test_tangents_that_cannot_change(tangent: Any) -> None:
    """What is written while the function runs is not seen in them, nor by each other."""
    for _ in range(4):
        assert adbc.jvp(overwritten, (np.ones(3),), (tangent,))[1] == 4.0
        assert (tangent == 1.0).all()


def test_inside_containers_it_is_refused() -> None:
    TABLE[...] = START
    for x, t in (([TABLE[0]], [V]), ((TABLE[0],), (V,))):
        with pytest.raises(UnsupportedError, match="copy of the array"):
            adbc.jvp(lambda u: (u[0] * TABLE[0]).sum(), (x,), (t,))
    tangent = np.zeros_like(TABLE)
    tangent[0] = V
    found = adbc.jvp(lambda u: (u[0] * TABLE[0]).sum(), ([TABLE[0]],), ([tangent[0]],))[1]
    assert found == 2.0 * V @ START[0]
