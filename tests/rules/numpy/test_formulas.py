"""The rows again, called in a function whose derivative writes their formulas inline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

from .test_rows import CASES, _name

SIMPLE = (int, float, bool, str, tuple, type(None))


def program_of(
    function: Any, count: int, keywords: dict[str, Any], is_complex: bool = False
) -> Callable[..., Any]:
    """``sum(|y|**2)`` for ``y = function(...)``, with the keywords in its code."""
    names = [f"x{i}" for i in range(count)]
    given = ", ".join([*names, *(f"{k}={v!r}" for k, v in keywords.items())])
    space = {"function": function, "np": np, "inf": np.inf}
    square = "np.real(y * np.conjugate(y))" if is_complex else "y * y"
    exec(
        f"def program({', '.join(names)}):\n    y = function({given})\n    return np.sum({square} * 0.5)\n",
        space,
    )
    made: Any = space["program"]
    return made  # type: ignore[no-any-return]


def is_numeric(x: Any) -> bool:
    return isinstance(x, float | int | complex) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiubc")


def is_of_numbers(case: Any) -> bool:
    """Whether keywords can be written down, and arguments and result are numbers and arrays of numbers."""
    function, make, kwargs = case
    if not callable(function) or callable(kwargs) or not all(isinstance(v, SIMPLE) for v in kwargs.values()):
        return False
    if "float32" in kwargs or "out" in kwargs:
        return False
    return all(map(is_numeric, make())) and is_numeric(function(*make(), **kwargs))


OF_NUMBERS = list(filter(is_of_numbers, CASES))


@pytest.mark.parametrize("case", OF_NUMBERS, ids=_name)
def test_a_row_written_inline_has_the_derivative_of_the_row(case: Any) -> None:
    function, make, kwargs = case
    args = make()
    out = function(*make(), **kwargs)
    program = program_of(function, len(args), kwargs, np.iscomplexobj(out))
    check_rule(program, *args, rtol=2e-5)


@pytest.mark.usefixtures("at_once")
def test_formulas_are_inline() -> None:
    program = program_of(np.max, 1, {"axis": 1, "keepdims": True})
    default_engine().clear()
    adbc.grad(program)(np.arange(6.0).reshape(2, 3))
    (rule,) = default_engine().rules.values()
    assert "rrule" not in str(rule.graphs[0])
    assert "extremum_vjp" in str(rule.graphs[1]) and "keepdims=" in str(rule.graphs[1])
