"""What stands in front of SciPy's functions: questions about arrays and libraries, and promotions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules import default_table
from adbc.rules.scipy.base import vendored
from adbc.rules.table import RowKind
from adbc.testing import test_rule as check_rule

stats = pytest.importorskip("scipy.stats")
signal = pytest.importorskip("scipy.signal")
helpers = vendored("array_api_compat.common._helpers")
aliases = vendored("array_api_compat.numpy._aliases")

XS = np.array([0.4, 1.3, -0.7, 2.1, 0.9])


@pytest.mark.parametrize(
    "name", ["is_numpy_array", "is_numpy_namespace", "array_namespace", "device", "size"]
)
def test_questions_have_no_derivative(name: str) -> None:
    (row,) = default_table().rows(getattr(helpers, name))
    assert row.kind is RowKind.ZERO


@pytest.mark.parametrize(
    "options",
    [{}, {"copy": True}, {"copy": False}, {"dtype": np.float64}, {"dtype": np.float32, "copy": True}],
)
def test_arrays_of_anything(options: dict[str, Any]) -> None:
    check_rule(lambda x: aliases.asarray(x, **options) * 2.0, XS.astype(options.get("dtype", np.float64)))
    if options.get("copy") is not False:
        check_rule(lambda x: aliases.asarray([x, 2.0 * x, 1.0], **options), 1.5)


def test_asarray_shares_memory_or_copies() -> None:
    def written(x: np.ndarray, copy: bool | None) -> Any:
        y = aliases.asarray(x, copy=copy)
        y[0] = 3.0 * x[1]
        return x[0] ** 2 + y.sum()

    for copy in (None, True):
        check_rule(lambda x, copy=copy: written(x * 1.0, copy), XS)


def test_what_asarray_refuses() -> None:
    with pytest.raises(ValueError, match="device"):
        adbc.grad(lambda x: aliases.asarray(x, device="gpu").sum())(XS)
    with pytest.raises(ValueError, match="copy"):
        adbc.grad(lambda x: aliases.asarray([x, x], copy=False).sum())(1.5)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "skew and kurtosis": lambda x: stats.skew(x) + stats.kurtosis(x, bias=False),
    "zscore": lambda x: (stats.zscore(x) ** 3).sum(),
    "trimmed, along an axis": lambda x: stats.skew(np.stack([x, x**2]), axis=1).sum(),
    "a value that is none": lambda x: stats.skew(np.append(x, np.nan), nan_policy="omit"),
    "welch": lambda x: np.log(signal.welch(np.tile(x, 8) * np.arange(40.0), nperseg=16)[1][1:]).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    check_rule(PROGRAMS[name], XS)
