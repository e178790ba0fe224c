"""Second derivatives of the rows of the table, in all four ways, by the cases that the rows are tested by.

A second derivative is right, or it is refused with a reason; what is refused stands below.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from tests.rules.constants import holding
from tests.rules.numpy import test_rows as rows
from tests.rules.numpy.harness import primal
from tests.rules.second_order import Verdict, judge
from tests.rules.test_rows_in_batches import LIBRARY, calls, entries

Case = tuple[Any, Callable[[], Any], Any]


def _of_ufuncs() -> list[Case]:
    found: list[Case] = []
    for f in rows.UNARY:
        found.append((f, lambda f=f: (rows.operand(f, 3),), {}))
        found.append((f, lambda f=f: (float(rows.operand(f)),), {}))
        found.append((f, lambda f=f: (rows.operand(f, 3), rows.n(3)), {}))
        if f.__name__ in rows.HOLOMORPHIC:
            found.append((f, lambda: (0.4 * rows.c(2, 3),), {}))
    for f in rows.BINARY:
        found.append((f, lambda: (rows.u(2, 3), rows.u(3, seed=5)), {}))
        found.append((f, lambda: (0.35, 0.55), {}))
        if f.__name__ in rows.HOLOMORPHIC:
            found.append((f, lambda: (rows.c(2, 3), rows.c(3, seed=5)), {}))
    for name in rows.OPERATORS:
        found.append((getattr(operator, name), lambda: (rows.u(2, 3), 0.55), {}))
        found.append((getattr(operator, "i" + name), lambda: (rows.u(2, 3), rows.u(3, seed=4)), {}))
    return found


CASES = [*_of_ufuncs(), *rows.CASES]

REFUSED = {
    "sliding_window_view": "the base of a view is an object that keeps nothing but its memory alive",
    "norm": "a number that is given by keyword stands in a dict, and may depend on anything there",
    "functools.singledispatch": "weak references are made",
    "collections.namedtuple": "a class is made",
    "array.array": "its memory is that of the library",
}
"""What is refused in one of the ways at least, and why."""


def _check(name: str, verdict: Verdict) -> None:
    assert verdict.status not in ("wrong", "error"), verdict.message
    assert verdict.status != "refused" or name in REFUSED, verdict.message


@pytest.mark.parametrize("case", CASES, ids=rows._name)
def test_rows_of_numpy(case: Case) -> None:
    function, make, kwargs = case
    given = dict(kwargs() if callable(kwargs) else kwargs)
    given.pop("float32", None)
    args, call = make(), primal(function)
    fixed = {name: x for name, x in given.items() if not isinstance(x, np.ndarray)}
    memory = {name: x for name, x in given.items() if isinstance(x, np.ndarray)}
    if isinstance(call, np.ufunc) and len(args) > call.nin:
        args, memory = args[: call.nin], {"out": args[call.nin]}
    if fixed or memory:
        call, args = holding(call, args, keywords=fixed, memory=memory)
    _check(rows._name(case), judge(call, args))


@pytest.mark.parametrize("entry", entries(*LIBRARY))
def test_functions_of_the_library(entry: str) -> None:
    for case in list(calls(entry, entries(*LIBRARY)[entry]))[:2]:
        _check(entry, judge(case.function(), case.values()))


OF_SCIPY = {
    "scipy.special": ("betainc", "digamma", "erf", "expit", "gammaln", "i0", "logsumexp", "ndtri", "softmax"),
    "scipy.linalg": ("cho_solve", "det", "expm", "inv", "solve"),
    "scipy.signal": ("convolve",),
}


@pytest.mark.parametrize("entry", [f"{home}.{name}" for home, names in OF_SCIPY.items() for name in names])
def test_functions_of_scipy(entry: str) -> None:
    function = entries(entry.rpartition(".")[0])[entry]
    for case in list(calls(entry, function))[:1]:
        _check(entry, judge(case.function(), case.values()))


# -- the judge itself ----------------------------------------------------------------------------------------


def test_the_judge_sees_what_is_lost() -> None:
    assert judge(lambda x: x * x * np.sin(x), (0.4,)).status == "right"
    assert judge(lambda x: x * adbc.stop_gradient(x), (0.4,)).status == "wrong"
    assert judge(lambda x: float(str(x)), (0.4,)).status.startswith("no first derivative")
    assert judge(lambda x: x, (1,)).status == "no number among the arguments"
    assert judge(lambda x: 3, (1.5,)).status == "no number in the result"
