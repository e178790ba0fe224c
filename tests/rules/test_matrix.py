"""Each kind of rules on each kind of arguments (`tests.rules.matrix`): right in both modes, or refused."""

from __future__ import annotations

import collections
import math
from typing import Any

import numpy as np
import pytest
import scipy.special  # noqa: F401  # its rules are there once it is
from scipy import linalg  # noqa: F401

import adbc
from adbc.config import SPECULATION
from adbc.rules import default_table
from adbc.rules.table import ScalarRule
from tests.rules.matrix import KINDS, Representative, check, representatives

FUNCTIONS = list(representatives())


@pytest.mark.parametrize("chosen", FUNCTIONS, ids=str)
def test_each_kind_of_rules_takes_each_kind_of_arguments(chosen: Representative) -> None:
    found: collections.Counter[str] = collections.Counter()
    speculation = SPECULATION[FUNCTIONS.index(chosen) % len(SPECULATION)]
    with adbc.use(adbc.Config(speculation=speculation)):
        for kind in KINDS:
            try:
                check(chosen.function, kind, found)
            except Exception as error:
                error.add_note(f"{chosen} of {kind}, speculation {speculation}")
                raise


def test_the_matrix_is_wide() -> None:
    assert len({chosen.kind for chosen in FUNCTIONS}) > 35
    assert len(FUNCTIONS) > 90


def shifted(x: Any) -> Any:
    """Stands for a function in C."""
    return 2.0 * x + 1.0


@pytest.mark.parametrize("partial", [lambda out, x: 1.0, lambda out, x: 0.0])
def test_a_wrong_rule_is_found(partial: Any) -> None:
    table = default_table()
    row = ScalarRule(shifted, (partial,))
    table.add([row], first=True)
    try:
        for kind in ("float", "NumPy number"):
            with pytest.raises(AssertionError, match="differences"):
                check(shifted, kind, collections.Counter())
    finally:
        table.remove(row)


class OnlyFloat:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value * 1.0


FOUND: list[tuple[Any, float]] = [
    (lambda x: (np.complex128(x, x * x) * 1j).real, -1.6),
    (lambda x: np.complex64(1.0, x).imag, 1.0),
    (lambda x: divmod(np.float32(x), 0.5)[1], 1.0),
    (lambda x: divmod(2.0, np.float32(x))[1], -2.0),
    (lambda x: math.floor(OnlyFloat(x)) + math.ceil(OnlyFloat(x)) * x, 1.0),
    (lambda x: abs(complex(OnlyFloat(x)) + 1j * x), math.sqrt(2.0)),
]


@pytest.mark.parametrize(("f", "slope"), FOUND)
def test_what_the_matrix_has_found(f: Any, slope: float) -> None:
    for speculation in SPECULATION:
        with adbc.use(adbc.Config(speculation=speculation)):
            assert adbc.jvp(f, (0.8,), (1.0,)) == (f(0.8), pytest.approx(slope, rel=1e-6))
            assert adbc.value_and_grad(f)(0.8) == (f(0.8), pytest.approx(slope, rel=1e-6))
