"""Programs with masked arrays: `numpy.ma` is Python above a subclass of ndarray, and is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

X = np.array([1.1, 2.3, 3.2, 4.6])
M = np.array([False, True, False, False])
N = np.array([False, False, True, False])

EXPRESSIONS = """
m.sum()
m.mean()
m.std()
m.var(ddof=1)
m.prod()
m.min()
m.max()
m.ptp()
m.cumsum()
m.cumprod()
m.dot(x)
m.anom()
m.compressed()
m.filled(0.5)
m.filled(x[2])
np.ma.array(x, mask=M, fill_value=7.0).filled()
m + x
x + m
m - n
m * n
m / n
m ** 2
m ** n
2.0 ** m
2.0 - m
2.0 / m
-m
abs(m - 3.0)
m // 2.0 + m
m % 2.0
x[0] * m
m * x[0]
np.ma.log(m)
np.ma.log(x - 2.0)
np.ma.sqrt(x - 2.0)
np.ma.log10(m)
np.ma.exp(m)
np.ma.sin(m)
np.ma.arctan2(m, x)
np.ma.hypot(m, 2.0)
np.ma.maximum(m, 2.0)
np.ma.minimum(m, 3.0)
np.ma.divide(x, np.ma.array([1.0, 0.0, 2.0, 3.0]))
np.ma.true_divide(x, [1.0, 0.0, 2.0, 3.0])
np.ma.power(m, 3)
np.ma.sum(m)
np.ma.mean(m)
np.ma.std(m)
np.ma.average(m)
np.ma.average(m, weights=x[::-1])
np.ma.dot(m.reshape(2, 2), n.reshape(2, 2))
np.ma.inner(m, x)
np.ma.outer(m, x)
np.ma.masked_where(x > 3.0, x) * 2
np.ma.masked_where(x > 3.0, x, copy=False) * 2
np.ma.masked_invalid(np.where(x > 3, np.nan, x))
np.ma.masked_greater(x, 3.0)
np.ma.masked_less(x, 2.0) + 1.0
np.ma.masked_inside(x, 2.0, 3.5) * x
np.ma.masked_outside(x, 2.0, 3.5) * x
np.ma.masked_equal(x, 99.0)
np.ma.masked_values(x, 99.0) * x
np.ma.median(m)
np.ma.sort(m)
np.ma.where(m > 2.0, x, x * 2)
np.ma.where(x > 2.0, m, 0.0)
np.ma.concatenate([m, x])
np.ma.stack([m, n])
np.ma.vstack([m, n])
np.ma.hstack([m, x])
np.ma.diff(m)
np.ma.clip(m, 2.0, 4.0)
m.clip(2.0, 4.0)
m[1:] * 2
m[::-1]
m[0] * 2
m[[0, 2]]
m[np.array([True, False, True, True])]
m.reshape(2, 2)
m.reshape(2, 2).T
m.reshape(2, 2).sum(axis=0)
m.reshape(2, 2).mean(axis=1)
m.reshape(2, 2).std(axis=0)
m.reshape(2, 2).min(axis=0)
m.reshape(2, 2).sum(axis=1, keepdims=True)
m.reshape(2, 2).ravel()
m.reshape(2, 2).flatten()
m.reshape(2, 2).diagonal()
m.reshape(2, 2).trace()
m.reshape(2, 2).transpose()
m.copy() * 3
m.astype(float)
m.round(1) + m
m.take([0, 3])
m.repeat(2)
m.squeeze()
m.data * 2
np.ma.getdata(m) * 2
m.count() * x
np.ma.fix_invalid(np.where(x > 3, np.nan, x), fill_value=0.0)
np.ma.polyfit(m, x ** 2, 1)
np.ma.zeros(4) + x
np.ma.ones_like(m) * x
np.ma.empty_like(m) * 0 + x
np.ma.masked_all(4) * x
np.ma.MaskedArray(x, M).argmax() * x
np.sum(m)
np.mean(m)
np.exp(m)
np.add(m, x)
np.multiply.reduce(m)
np.sqrt(m)
np.log(np.ma.array(x - 2, mask=M))
np.concatenate([m, x])
np.where(m > 2, x, 0.0)
np.asarray(m) * 2
m.nonzero()[0] * x[0]
np.ma.add.reduce(m)
np.ma.multiply.outer(m, x)
np.ma.add.accumulate(m)
np.ma.allequal(m, x) * x
np.ma.expand_dims(m, 0)
np.ma.compress_rows(np.ma.array(x.reshape(2, 2), mask=[[1, 0], [0, 0]]))
np.ma.notmasked_contiguous(m)[0].stop * x
m.harden_mask() + 1
np.ma.choose([0, 1, 0, 1], [m, x * 2])
np.ma.array(m, mask=N)
np.ma.array(x * 1j, mask=M).imag
np.ma.getmaskarray(m) * x
np.ma.vander(m, 3)
np.ma.ediff1d(m)
np.ma.convolve(m, [1.0, 2.0])
float(n[0])
sum(np.ma.array(x, mask=[0, 0, 0, 0]))
[v * 2 for v in np.ma.array(x, mask=[0, 0, 0, 0])][1]
m.compress([1, 0, 1, 1])
m.swapaxes(0, 0)
m.all() * x
""".strip().splitlines()
"""Expressions of an array `x`, and of masked arrays `m` and `n` with the same numbers."""


def numbers(y: Any) -> Any:
    """The numbers of `y` weighted by their places, with others where they are masked."""
    if isinstance(y, np.ma.MaskedArray):
        y = y.filled(0.25)
    y = np.asarray(y)
    return float((y * np.arange(1.0, y.size + 1).reshape(y.shape)).sum())


def program(expression: str) -> Any:
    code = f"lambda x, m, n: numbers({expression})"
    inner = eval(code, {"np": np, "numbers": numbers, "M": M, "N": N})
    return lambda x: inner(x, np.ma.array(x, mask=M), np.ma.array(x, mask=N))


@pytest.mark.parametrize(
    "expression",
    [e if i % 3 == 0 else pytest.param(e, marks=pytest.mark.slow) for i, e in enumerate(EXPRESSIONS)],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_expressions(expression: str) -> None:
    check_rule(program(expression), X.copy(), step=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("speculation", ["never", "dynamic"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_expressions_without_guesses(expression: str, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(program(expression), X.copy(), step=1e-3)
