"""Each function with rules of `math`, `cmath`, `operator`, NumPy and `builtins`, on each kind of argument.

Either mode is right, as differences say, or refuses; no error is the engine's own.  The quick part is every
eighth function, and those in which something was found.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import adbc
from tests.rules.argument_kinds import check, functions

FUNCTIONS = functions()
FOUND = {"math.dist", "math.ldexp", "numpy.bincount", "numpy.linalg.norm", "numpy.linalg.pinv"}
EXPECTED: dict[str, set[str]] = {
    "numpy.linalg.norm": {"f(a, b) of like an array", "f(0.2, a, 0.6) of like an array"},
    "numpy.linalg.svd": {"f([a, b]) of complex array"},
    "numpy.nanstd": {"f(a) of broadcast"},
    "numpy.std": {"f(a) of broadcast"},
}
"""Calls about which differences say nothing: an order that is no number, complex vectors whose phase is a
convention, and the deviation of numbers that are all the same, which is rounding."""


def cases() -> list[object]:
    quick = {*list(FUNCTIONS)[::8], *FOUND}
    return [pytest.param(name, marks=[] if name in quick else pytest.mark.slow) for name in FUNCTIONS]


@pytest.mark.parametrize("name", cases())
def test_right_or_refused(name: str) -> None:
    allowed = EXPECTED.get(name, set())
    problems = [f"{call}: {what}" for call, what in check(FUNCTIONS[name]) if call not in allowed]
    assert not problems, "\n".join(problems)


V = np.array([0.3, 0.9, 0.4, 1.2])
EDGES = np.array([0.0, 1.0])
OPTIONS: dict[str, Any] = {
    "order of a norm": lambda t: np.linalg.norm(V, t + 1.0),
    "order of a norm by name": lambda t: np.linalg.norm(V * t, ord=t + 1.0),
    "order of a norm in a list": lambda t: np.sum(np.linalg.norm(0.2, [t, 0.5], 0.6)),
    "left": lambda t: np.interp(-1.0, EDGES, EDGES + 2.0, t),
    "right": lambda t: np.interp(np.array([3.0]), EDGES, EDGES * t, None, t).sum(),
    "period": lambda t: np.interp(V, EDGES, EDGES + 2.0, None, None, t + 1.0).sum(),
    "ddof": lambda t: np.var(V, None, None, None, t),
    "ddof of a deviation": lambda t: np.std(V * t, None, None, None, t),
    "initial of a sum": lambda t: np.sum(V * t, None, None, None, False, t),
    "initial of a sum by name": lambda t: np.sum(V, initial=t),
    "initial of a product": lambda t: np.prod(V, None, None, None, False, t),
    "initial of a maximum": lambda t: np.max(V, None, None, False, t + 5.0),
    "initial of a ufunc": lambda t: np.add.reduce(V, 0, None, None, False, t),
    "initial of a method": lambda t: V.sum(None, None, None, False, t),
    "cut of a pseudo-inverse": lambda t: np.linalg.pinv(np.diag(V) + t * np.ones((4, 4)), 0.5).sum(),
    "distance of complex numbers": lambda t: math.dist((V + 1j * t)[:2], (V * t - 2j * t * t)[:2]),
}


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_followed_or_refused(name: str, speculation: str) -> None:
    f = OPTIONS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, slope = f(1.1), (f(1.1 + 1e-6) - f(1.1 - 1e-6)) / 2e-6
        with adbc.use(adbc.Config(speculation=speculation)):
            for _ in range(2):
                for take in (lambda: adbc.jvp(f, (1.1,), (1.0,)), lambda: adbc.value_and_grad(f)(1.1)):
                    try:
                        assert take() == pytest.approx((value, slope), rel=1e-6)
                    except (adbc.MissingRuleError, adbc.errors.UnsupportedError):
                        assert name != "distance of complex numbers"


def test_a_pseudo_inverse_of_less_than_full_rank_is_right() -> None:
    def f(t: Any) -> Any:
        return np.linalg.pinv(np.outer(V, V + t) * t).sum()

    slope = (f(1.1 + 1e-6) - f(1.1 - 1e-6)) / 2e-6
    assert adbc.value_and_grad(f)(1.1) == pytest.approx((f(1.1), slope), rel=1e-6)
    assert adbc.jvp(f, (1.1,), (1.0,)) == pytest.approx((f(1.1), slope), rel=1e-6)
