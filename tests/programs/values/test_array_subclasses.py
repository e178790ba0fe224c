"""Subclasses of ndarray with methods in Python: what they do with new instances is differentiated."""

from __future__ import annotations

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

from .array_subclasses import PROGRAMS, InfoArray, Quantity, RealisticInfoArray, Signal

X = np.array([1.1, 2.3, 3.2, 4.6])


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")
def test_programs(name: str, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(PROGRAMS[name], X.copy())


def test_gradients_by_instances() -> None:
    def f(a: Any) -> Any:
        return (a * a).sum() * a.info

    a = RealisticInfoArray(X, 2.0)
    g = adbc.grad(f)(a)
    np.testing.assert_allclose(g.array, 4.0 * X)
    np.testing.assert_allclose(np.asarray(g), 4.0 * X)
    assert g.info == pytest.approx(float(X @ X))
    value, tangent = adbc.jvp(f, (a,), (adbc.zero_tangent(a) + 0.5 * g,))
    assert type(value) is RealisticInfoArray
    assert float(tangent.array) == pytest.approx(0.5 * (float(g.array @ g.array) + g.info**2))
    moved = a - 0.25 * g
    assert type(moved) is RealisticInfoArray
    np.testing.assert_allclose(moved, 0.0)
    assert moved.info == pytest.approx(2.0 - 0.25 * g.info)


def test_a_number_is_the_cotangent_of_an_instance_of_one_element() -> None:
    value, pullback = adbc.vjp(lambda x: (RealisticInfoArray(x) ** 2).sum(), X)
    assert type(value) is RealisticInfoArray
    np.testing.assert_allclose(pullback(1.0)[0], 2.0 * X)


def test_instances_as_arguments_and_results() -> None:
    check_rule(lambda a, x: a * x[0], Signal(X.copy(), 2.0), X.copy())
    check_rule(lambda a: a[1:] + a.rate, Signal(X.copy(), 2.0))
    check_rule(lambda q, r: q * r, Quantity(X, "m"), Quantity(X[::-1], "s"))


def test_what_c_code_makes_out_of_sight_is_refused() -> None:
    class Calling(np.ndarray):
        def __sub__(self, other: Any) -> Any:
            return np.ndarray.__add__(self, other)

    class Slotted(np.ndarray):
        __slots__ = ("info",)

    class Ahead(np.ndarray):
        __array_priority__ = 3.0

        def __array_finalize__(self, obj: Any) -> None:
            self.info = 1.0

    def joined(x: Any) -> Any:
        parts = [x.view(Ahead)]
        return np.concatenate(parts * 2).sum()

    refused = {
        lambda x: float(np.linalg.matrix_power(x[:, None].view(Slotted) * x, 2).sum()): "with __slots__",
        joined: "the class sets attribute 'info'",
    }
    for f, message in refused.items():
        for run in (lambda f=f: adbc.grad(f)(X), lambda f=f: adbc.jvp(f, (X,), (X,))):
            with pytest.raises(adbc.errors.UnsupportedError, match=message):
                run()
    # the variance of the array subtracts by the method of the class, which is followed
    check_rule(lambda x: x.view(Calling).var(), X.copy())


def test_new_arrays_in_the_memory_of_others() -> None:
    def f(x: Any) -> Any:
        a = InfoArray((2, 2), buffer=x)
        b = InfoArray((2,), buffer=x, offset=16)
        a[0, 0] *= 3.0
        b *= a[0]
        return float((a @ a).sum())

    check_rule(f, X.copy())
