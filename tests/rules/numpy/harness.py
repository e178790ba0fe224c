"""The rows of NumPy in tests: which row is meant, and `adbc.testing.test_rule` for cases made anew."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.fft
import numpy.polynomial
import numpy.random

import adbc
from adbc.rules import SOURCES
from adbc.rules.lookup import RuleTable
from adbc.rules.table import Rule
from adbc.testing import test_rule as check_rule
from tests.rules.constants import holding

__all__ = ["ATTRIBUTES", "ROWS", "TABLE", "check", "check_each_path", "find"]

TABLE = RuleTable([source for source in SOURCES if source[0].partition(".")[0] == "numpy"])
"""The rules of NumPy, all parts of which have been imported here."""
ROWS: list[Rule] = list(TABLE)

ATTRIBUTES = {
    getattr(cls, name): name
    for cls in (np.ndarray, np.generic)
    for name in (
        "T", "mT", "real", "imag", "shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes", "flags",
    )
    if hasattr(cls, name)
}  # fmt: skip


def primal(function: Any) -> Callable[..., Any]:
    """`function`, or the reading of the attribute that it describes."""
    return operator.attrgetter(ATTRIBUTES[function]) if function in ATTRIBUTES else function


def find(function: Any, args: Any, kwargs: Any) -> tuple[Rule, tuple[Any, ...], dict[str, Any]]:
    """The row for these arguments, and the arguments as it wants them."""
    for row in TABLE.rows(function):
        bound, rest = row.bind(args, kwargs)
        if row.accepts([type(x) for x in bound]):
            return row, bound, rest
    raise AssertionError(f"no row of {function} for {[type(x).__name__ for x in args]}")


def check(
    function: Any,
    make: Callable[[], tuple[Any, ...]],
    kwargs: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    *,
    inactive: tuple[int, ...] = (),
    **options: Any,
) -> None:
    """`test_rule` of the row of `function` at the arguments that ``make()`` builds.

    Numbers among the keywords, and the arguments numbered in `inactive`, are constants of the code.
    """
    given = dict(kwargs() if callable(kwargs) else kwargs or {})
    args = make()
    fixed = {name: x for name, x in given.items() if not isinstance(x, np.ndarray)}
    memory = {name: x for name, x in given.items() if isinstance(x, np.ndarray)}
    call = primal(function)
    if isinstance(call, np.ufunc) and len(args) > call.nin:  # a target by position is deprecated for some
        args, memory = args[: call.nin], {"out": args[call.nin]}
    if fixed or memory or inactive:
        call, args = holding(call, args, inactive=inactive, keywords=fixed, memory=memory)
    check_rule(call, *args, **options)


def _differences(f: Callable[..., Any], args: tuple[Any, ...], i: int) -> Any:
    """The gradient of `f` by its argument `i`, real or complex, by central differences."""
    x = np.asarray(args[i])
    found = np.zeros(x.shape, x.dtype)
    for index in np.ndindex(*x.shape):
        for unit in (1.0, 1j) if x.dtype.kind == "c" else (1.0,):
            step = np.zeros(x.shape, x.dtype)
            step[index] = 1e-6 * unit
            high, low = ([*args[:i], x + sign * step, *args[i + 1 :]] for sign in (1, -1))
            found[index] += unit * (f(*high) - f(*low)) / 2e-6
    return found


def check_each_path(f: Callable[..., Any], *args: Any) -> None:
    """The gradient of `f`, a real number, by all `args` is that of differences: in the first call, in later
    ones, and by code from the beginning."""
    expected = [_differences(f, args, i) for i in range(len(args))]
    for config in (adbc.Config(), adbc.Config(warm_after=0)):
        with adbc.use(config):
            gradient = adbc.grad(f, argnums=tuple(range(len(args))))
            for _ in range(5):
                for found, wanted in zip(gradient(*args), expected, strict=True):
                    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-8)
