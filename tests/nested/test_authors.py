"""Second derivatives of programs as their authors would write them, cold and once they have code."""

from __future__ import annotations

import io
import logging
from typing import Any

import numpy as np
import pytest

import adbc
from tests.nested.authors import PROGRAMS


def numbers_of(t: Any) -> list[float]:
    """The numbers of an argument or a gradient, one after the other."""
    if isinstance(t, np.ndarray):
        return [float(x) for x in t.ravel()]
    if isinstance(t, dict):
        return [n for v in t.values() for n in numbers_of(v)]
    if isinstance(t, list | tuple):
        return [n for v in t for n in numbers_of(v)]
    return [float(t)]


def filled(t: Any, numbers: Any) -> Any:
    """The structure of `t` with other numbers."""
    if isinstance(t, np.ndarray):
        return np.array([next(numbers) for _ in range(t.size)]).reshape(t.shape)
    if isinstance(t, dict):
        return {k: filled(v, numbers) for k, v in t.items()}
    if isinstance(t, list | tuple):
        return type(t)([filled(v, numbers) for v in t])
    return float(next(numbers))


def along(name: str) -> tuple[Any, Any, Any, Any]:
    """A program, its argument, a direction, and the derivative of its gradient in that by differences."""
    f, x = PROGRAMS[name]
    at = np.array(numbers_of(x))
    v = np.random.default_rng(5).normal(size=at.size)
    there, before = (np.array(numbers_of(adbc.grad(f)(filled(x, iter(at + h * v))))) for h in (1e-5, -1e-5))
    return f, x, filled(x, iter(v)), (there - before) / 2e-5


@pytest.mark.parametrize("name", PROGRAMS)
def test_products_with_the_hessian(name: str) -> None:
    f, x, v, wanted = along(name)
    for _ in range(6):
        (found,) = adbc.hvp(f, (x,), (v,))
        assert numbers_of(found) == pytest.approx(wanted, rel=2e-5, abs=1e-5 * np.abs(wanted).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_products_by_reverse_over_reverse(name: str) -> None:
    f, x, v, wanted = along(name)
    for _ in range(4):
        (found,) = adbc.vhp(f, (x,), (v,))
        assert numbers_of(found) == pytest.approx(wanted, rel=2e-5, abs=1e-5 * np.abs(wanted).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["springs", "ledger", "orbit", "hmm", "counted", "queueing", "adaptive"])
def test_hessians_are_symmetric(name: str) -> None:
    f, x, v, wanted = along(name)
    names = list(x) if isinstance(x, dict) else range(len(x))
    for _ in range(3):
        rows = adbc.hessian(f)(x)
        matrix = np.array([[rows[i][j] for j in names] for i in names])
        assert matrix == pytest.approx(matrix.T, rel=1e-9)
        assert matrix @ numbers_of(v) == pytest.approx(wanted, rel=2e-5)


# -- logs that look for the line that writes -----------------------------------------------------------------


class Named:
    def __init__(self, size: float) -> None:
        self.size = size

    def __repr__(self) -> str:
        return "a Named"


LOG = logging.getLogger(__name__)


def says_what_it_has(x: Any) -> Any:
    made = Named(x[0] * 2.0)
    LOG.info("%r", made)
    return made.size**3 * x[1]


@pytest.mark.slow
def test_a_log_that_names_the_line() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(funcName)s:%(lineno)d %(message)s"))
    LOG.addHandler(handler)
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    try:
        says_what_it_has([1.0, 2.0])
        line = out.getvalue()
        for _ in range(2):
            (found,) = adbc.hvp(says_what_it_has, ([1.0, 2.0],), ([1.0, 0.5],))
            assert found == pytest.approx([108.0, 24.0])
        assert set(out.getvalue().splitlines()) == {line.strip()}
    finally:
        LOG.removeHandler(handler)
