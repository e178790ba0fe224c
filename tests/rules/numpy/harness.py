"""The rows of NumPy in tests: which row is meant, and `adbc.testing.test_rule` for cases made anew."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adbc.rules.lookup import RuleTable
from adbc.rules.numpy import ROWS
from adbc.rules.table import Rule
from adbc.testing import test_rule as check_rule
from tests.rules.constants import holding

__all__ = ["ATTRIBUTES", "TABLE", "check", "find"]

TABLE = RuleTable()
TABLE.add(ROWS)

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
