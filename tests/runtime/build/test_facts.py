"""What is looked at whenever a rule is entered: what the user may bind anew, and nothing else."""

from __future__ import annotations

import types
from collections.abc import Iterator

import numpy as np
import pytest

import adbc
from adbc.config import Config
from adbc.rules import default_table
from adbc.runtime import make_engine, using
from adbc.runtime.build.facts import NameFact, together
from adbc.runtime.build.glances import Glance
from adbc.tangents import internal, project


def scale(x: float) -> float:
    return 3.0 * x


def square(x: float) -> float:
    return x * scale(x)


def double(x: float) -> float:
    return 2.0 * x


def test_functions_of_the_engine_are_not_looked_at() -> None:
    own = NameFact(vars(internal), ("project",), project)
    users = NameFact(globals(), ("scale",), scale)
    assert own.holds() and users.holds()
    (looked,) = together([own, users])
    assert isinstance(looked, Glance) and looked.facts == (users,)


def test_a_class_that_describes_code_is_not_a_function() -> None:
    fact = NameFact({"kind": types.FunctionType}, ("kind",), types.FunctionType)
    assert fact.holds() and fact.meaning == ()


@pytest.fixture(params=[0, 40], ids=["written", "cold"])
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    with using(make_engine(default_table(), Config(warm_after=request.param))):
        yield


@pytest.mark.usefixtures("_engine")
def test_what_the_user_binds_anew_is_followed_in_second_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    second = adbc.grad(adbc.grad(square))
    assert [second(1.5) for _ in range(3)] == [6.0] * 3
    monkeypatch.setitem(globals(), "scale", double)
    assert [second(1.5) for _ in range(3)] == [4.0] * 3


@pytest.mark.usefixtures("_engine")
def test_functions_of_numpy_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: np.ndarray) -> float:
        return float(np.sum(x**3))

    x = np.array([1.0, 2.0])
    first = adbc.hvp(f, (x,), (np.ones(2),))[0]
    np.testing.assert_allclose(first, 6 * x)
    monkeypatch.setattr(np, "sum", lambda v: v[0])
    np.testing.assert_allclose(adbc.hvp(f, (x,), (np.ones(2),))[0], [6.0, 0.0])
