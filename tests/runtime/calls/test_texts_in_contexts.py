"""Text made from numbers with a derivative that variables of a context hold, and what else stands beside it.

A token and a copy of a context refer to all variables of the thread, those of every library among them:
only what Python code is given by them is looked at.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError
from adbc.runtime.state.texts import Texts

X = 0.7390625

Function = Callable[[float], float]

said: contextvars.ContextVar[str] = contextvars.ContextVar("said", default="")


def by_variable(x: float) -> float:
    said.set(repr(x))
    return x + float(said.get())


def by_token(x: float) -> float:
    said.set(repr(x))
    token = said.set("")
    return x + float(token.old_value)


def by_copy(x: float) -> float:
    said.set(repr(x))
    copied = contextvars.copy_context()
    said.set("")
    return x + float(copied[said])


def beside_a_state_of_numpy(x: float) -> float:
    line = f"{x:.3f}"
    with np.errstate(all="ignore"):
        y = float(np.asarray(x) * 3.0)
    return y * len(line)


def beside_another_token(x: float) -> float:
    line = f"{x:.3f}"
    token = said.set("b")
    said.reset(token)
    return x * x * len(line)


@pytest.mark.parametrize("f", [by_variable, by_token, by_copy], ids=lambda f: f.__name__)
def test_no_number_is_read_from_text_in_a_context(f: Function) -> None:
    with pytest.raises(AdbcError):
        adbc.grad(f)(X)
    with pytest.raises(AdbcError):
        adbc.jvp(f, (X,), (1.0,))


@pytest.mark.parametrize("f", [beside_a_state_of_numpy, beside_another_token], ids=lambda f: f.__name__)
def test_text_beside_a_context_is_free(f: Function) -> None:
    h = 1e-6
    slope = (f(X + h) - f(X - h)) / (2 * h)
    assert adbc.grad(f)(X) == pytest.approx(slope, rel=1e-6)
    assert adbc.jvp(f, (X,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    "make", [lambda: said.set("a"), contextvars.copy_context, np.errstate], ids=["token", "copy", "errstate"]
)
def test_what_stands_in_other_variables_is_not_looked_at(make: Callable[[], object]) -> None:
    looked = Counting()
    with adbc.use(adbc.Config()), np.errstate():
        assert looked.reached([make()]) is None
    assert looked.count < 2000


class Counting(Texts):
    """Counts the objects that are looked at."""

    count = 0

    def holds(self, x: object) -> bool:
        self.count += 1
        return super().holds(x)
