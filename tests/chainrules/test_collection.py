"""What the library knows is reachable as `frule` and `rrule`, and as a whole without a visible flaw."""

from __future__ import annotations

import math
import operator
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.special

import adbc.rules
from adbc import chainrules as cr
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule
from adbc.chainrules.testing import test_ruleset as check_ruleset

A = np.array([[2.0, 0.5], [0.3, 1.0]])
V = np.array([0.3, -0.7, 1.2])

CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (math.sin, (0.3,), {}),
    (math.atan2, (0.3, 0.7), {}),
    (math.floor, (2.3,), {}),
    (math.pow, (1.5, 3), {}),
    (operator.mul, (0.3, 2.0), {}),
    (operator.truediv, (0.3, 2.0 + 1j), {}),
    (np.sin, (0.3,), {}),
    (np.sin, (V,), {}),
    (np.exp, (V + 0.5j,), {}),
    (np.multiply, (V, np.ones((2, 1))), {}),
    (np.sum, (A,), {}),
    (np.sum, (A,), {"axis": 1}),
    (np.cumsum, (V,), {}),
    (np.sort, (V,), {}),
    (np.argmax, (V,), {}),
    (np.dot, (A, np.ones(2)), {}),
    (np.matmul, (A + 1j, A), {}),
    (np.where, (V > 0, V, np.zeros(3)), {}),
    (np.linalg.inv, (A,), {}),
    (np.linalg.det, (A,), {}),
    (np.maximum, (V, 0.1), {}),
    (scipy.special.gamma, (2.5,), {}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), CASES, ids=lambda x: getattr(x, "__name__", None))
def test_functions_of_the_collection(function: Any, args: Any, kwargs: Any) -> None:
    check_rrule(function, *args, kwargs=kwargs)
    check_frule(function, *args, kwargs=kwargs)


def test_the_whole_collection() -> None:
    assert check_ruleset(adbc.rules.collection(), ordered=True) > 500


def test_a_flaw_in_the_collection_would_be_seen() -> None:
    from adbc.rules.collection import Collection
    from adbc.rules.lookup import RuleTable
    from adbc.rules.table import ScalarRule

    def area(a: float, b: float) -> float:
        return a * b

    table = RuleTable()
    table.add([ScalarRule(area, [lambda a, b: b, None])])
    with pytest.raises(AssertionError, match="a partial derivative takes 2"):
        check_ruleset(Collection(table))


def test_it_is_there_without_the_engine() -> None:
    program = """
import sys, math
from adbc import chainrules as cr
print(cr.rrule(math.sin, 0.0))
import adbc.rules
print(cr.rrule(math.sin, 0.0)[1](2.0)[1], 'adbc.runtime' in sys.modules, 'adbc.emit' in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["None", "2.0 False False"]


@pytest.fixture
def scope() -> Iterator[None]:
    with cr.scoped():
        yield


@pytest.mark.usefixtures("scope")
def test_what_is_declared_comes_first() -> None:
    cr.scalar_rule(math.sin, 100.0)
    assert cr.rrule(math.sin, 0.0)[1](1.0)[1] == 100.0
    cr.opt_out(math.sin)
    assert cr.rrule(math.sin, 0.0) is None


def test_functions_with_effects_are_not_in_it() -> None:
    assert cr.rrule(list.append, [1.0], 2.0) is None
    assert cr.rrule(operator.setitem, [1.0], 0, 2.0) is None
    out = np.zeros(3)
    with pytest.raises(adbc.errors.UnsupportedError, match="out"):
        cr.rrule(np.sin, V, out=out)
    assert not out.any()
    for declaration in adbc.rules.collection():
        assert declaration.function not in (list.append, print, operator.setitem)


def test_pullbacks_run_again_and_ints_are_numbers() -> None:
    y, pullback = cr.rrule(math.pow, 3, 2)
    assert y == 9.0
    assert pullback(1.0)[1:] == pullback(1.0)[1:] == (6.0, 9.0 * math.log(3.0))
    assert pullback(cr.ZeroTangent()) == (cr.NoTangent(), cr.ZeroTangent(), cr.ZeroTangent())
    x = np.arange(3.0)
    _, pullback = cr.rrule(np.multiply, x, x)
    first = pullback(np.ones(3))
    second = pullback(np.ones(3))
    assert np.array_equal(first[1], second[1])
    assert not np.shares_memory(first[1], second[1])
