"""The methods of ufuncs, whose rules follow from those of the ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.numpy.ufuncs import UFUNC_ROWS
from adbc.testing import test_rule as check_rule

from .harness import ROWS

BINARY = [row.function for row in UFUNC_ROWS if (row.function.nin, row.function.nout) == (2, 1)]
STEADY = [
    f for f in BINARY if f.__name__ not in ("ldexp", "nextafter", "heaviside", "floor_divide", "copysign")
]
UNARY = [row.function for row in UFUNC_ROWS if (row.function.nin, row.function.nout) == (1, 1)]


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed + 7 * len(shape)).uniform(1.1, 1.9, shape)


def name(f: Any) -> str:
    return str(f.__name__)


def test_every_ufunc_has_rows_for_all_of_its_methods() -> None:
    have = {row.function for row in ROWS}
    for f in BINARY:
        for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
            assert getattr(f, method) in have, (f, method)
    assert all(f.at in have for f in UNARY)


@pytest.mark.parametrize("f", STEADY, ids=name)
def test_scans(f: Any) -> None:
    x = numbers(2, 4)
    check_rule(lambda x: f.accumulate(x, axis=1), x)
    check_rule(lambda x: f.accumulate(x), x[:, ::-2])
    if f not in (np.power, np.float_power, np.arctan2):  # which NumPy reduces in another way, see below
        check_rule(lambda x: f.reduce(x, axis=1, keepdims=True), x)
        check_rule(lambda x: f.reduce(x, initial=1.3), x)
        check_rule(lambda x: f.reduceat(x, [0, 2, 1], axis=1), x)
        check_rule(lambda x: f.reduce(x), x[0].astype(np.float32), rtol=1e-3, step=0.05)


@pytest.mark.parametrize("f", STEADY, ids=name)
def test_outer_and_at(f: Any) -> None:
    x, y = numbers(4), numbers(2, 2, seed=3)
    check_rule(lambda x, y: f.outer(x, y), x, y)
    check_rule(lambda x, y: f.outer(x, y), 1.4, y[0])
    check_rule(lambda x, y: f.at(x, [0, 2, 0, 3, 0], y), x, numbers(5, seed=5) + 0.01 * np.arange(5))
    check_rule(lambda x, y: f.at(x, (slice(None), [1, 1]), y), numbers(2, 3, seed=4), 1.53)


@pytest.mark.parametrize("f", UNARY, ids=name)
def test_at_with_one_argument(f: Any) -> None:
    x = numbers(4) - (0.0 if f is np.arccosh else 1.0)
    check_rule(lambda x: f.at(x, [0, 2, 3]), x)


def test_elements_that_are_changed_twice() -> None:
    check_rule(lambda x: np.exp.at(x, [0, 2, 0, 1]), numbers(3) - 1.0)
    check_rule(lambda x, y: np.divide.at(x, [1, 1, 1], y), numbers(3) + 0.3j, numbers(3, seed=2))


OPTIONS: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: np.hypot.reduce(x, axis=1, where=[True, False, True, True]), numbers(3, 4)),
    (lambda x: np.logaddexp.reduce(x, axis=None), numbers(3, 4)),
    (lambda x: np.logaddexp.reduce(x, axis=(0, 1), initial=0.2), numbers(3, 4)),
    (lambda x: np.divide.reduce(x), numbers(3) + 1j * numbers(3, seed=1)),
    (lambda x: np.hypot.reduce(x), numbers(0)),
    (lambda x: np.floor.at(x, [0, 1]), numbers(3)),
    (lambda x: np.logical_and.reduceat(x, [0, 1]), numbers(3)),
    (lambda x: np.arctan2.accumulate(x, dtype=np.float32).astype(float), numbers(3)),
]


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_options(number: int) -> None:
    f, x = OPTIONS[number]
    single = number == len(OPTIONS) - 1
    check_rule(f, x, **({"rtol": 1e-2, "step": 0.1, "reverse_rtol": 1e-6} if single else {}))


@pytest.mark.parametrize("f", [np.floor_divide, np.heaviside, np.copysign, np.nextafter], ids=name)
def test_scans_begin_with_the_first_element(f: Any) -> None:
    x = np.array([[3.3, 1.7, 0.6], [2.2, -1.4, 0.37]])
    check_rule(lambda x: f.accumulate(x, axis=1), x)
    check_rule(lambda x: f.reduceat(x, [0, 2, 1], axis=1), x)
    check_rule(lambda x: f.reduce(x, axis=1), x[:, :1])


def test_targets() -> None:
    check_rule(lambda x, out: np.hypot.reduce(x, out=out), numbers(3, 4), np.zeros(4))
    check_rule(lambda x, out: np.divide.accumulate(x, out=out), numbers(3, 4), np.zeros((3, 4)))


@pytest.mark.parametrize("f", [np.add, np.subtract, np.multiply], ids=name)
@pytest.mark.parametrize("constant", [[1, 2], [1.0, 2.5], (1, 2.5), 2, np.array([1, 2])], ids=repr)
def test_constants_that_are_counted_in(f: Any, constant: Any) -> None:
    check_rule(lambda x: f.at(x, [0, 0], constant), numbers(3))
    check_rule(lambda x, y: f.at(x, ([2, 0],), [y, 2]), numbers(3), 0.7)


@pytest.mark.parametrize("f", [np.add, np.multiply], ids=name)
def test_what_is_read_only_is_not_changed(f: Any) -> None:
    def function(x: Any) -> Any:
        x.flags.writeable = False
        f.at(x, [0, 0, 1], 3.0)  # NumPy writes all the same
        return x.sum()

    with pytest.raises(UnsupportedError, match="Give it a copy"):
        adbc.vjp(function, numbers(3))
    x, slope = numbers(3), np.array([1.0, 2.0, 3.0])
    expected = slope.sum() if f is np.add else 9.0 * slope[0] + 3.0 * slope[1] + slope[2]
    np.testing.assert_allclose(adbc.jvp(function, (x,), (slope,))[1], expected)


def test_zero_wins_in_a_scan() -> None:
    x = np.array([1.0, 0.0, 2.0])  # sqrt(x**2 + y**2) has no slope at the origin: 0, as for the ufunc
    np.testing.assert_array_equal(adbc.grad(lambda x: np.hypot.reduce(x * 0.0))(x), np.zeros(3))


def test_a_reduction_that_is_not_the_recurrence_is_refused() -> None:
    class Row:
        function = np.power

    from adbc.rules.numpy.ufunc_methods import _Scan

    scan = _Scan(next(row for row in UFUNC_ROWS if row.function is np.power), numbers(1, 3), np.float64)
    scan.check(Row, scan.last)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="than steps of the ufunc"):
        scan.check(Row, scan.last + 0.1)  # type: ignore[arg-type]


def test_outer_with_options_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Call the ufunc itself"):
        adbc.grad(lambda x: np.add.outer(x, x, dtype=np.float32).sum())(numbers(3))
