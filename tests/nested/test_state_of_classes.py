"""Second derivatives of code that sets attributes of classes, reads those of classes made around it, warns,
or asks the standard library."""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from tests.nested.test_second import MODES, WAYS, difference

X = 0.7


class Counter:
    calls = 0


class Derived(Counter):
    pass


SETTINGS = types.ModuleType("settings")
SETTINGS.times = 0  # type: ignore[attr-defined]  # a module of the test's


def counted(x: float) -> Any:
    Counter.calls += 1
    return np.sin(x) * x * Counter.calls


def counted_twice(x: float) -> Any:
    Counter.calls += 1
    Derived.calls += 2
    y = x * x * Derived.calls
    del Derived.calls
    return y * x * Derived.calls


def counted_in_a_module(x: float) -> Any:
    SETTINGS.times += 1
    return x**3 * SETTINGS.times


def warned(x: float) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("small", stacklevel=2)
        return x**3


def warnings_counted(x: float) -> Any:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("small", stacklevel=2)
        warnings.warn("smaller", stacklevel=2)
        return x**3 * len(seen)


def parameters_counted(x: float, more: float | None = None) -> Any:
    return x**3 * len(inspect.signature(parameters_counted).parameters)


PROGRAMS: dict[str, Callable[[float], Any]] = {
    f.__name__: f
    for f in (
        counted, counted_twice, counted_in_a_module, warned, warnings_counted, parameters_counted,
    )
}  # fmt: skip


@pytest.fixture(autouse=True)
def counts() -> Any:
    yield
    Counter.calls = 0
    SETTINGS.times = 0


def as_before(f: Callable[[float], Any]) -> Callable[[float], Any]:
    """The function, on classes that nobody has counted in."""

    def start(x: float) -> Any:
        Counter.calls = 0
        SETTINGS.times = 0
        return f(x)

    return start


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name: str, outer: str, inner: str) -> None:
    f = PROGRAMS[name]
    wanted = difference(as_before(adbc.grad(f)), X)
    way = as_before(WAYS[outer](WAYS[inner](f)))
    for _ in range(2):
        assert way(X) == pytest.approx(wanted, rel=1e-6)
    if "reverse" in (inner, outer):
        assert (Counter.calls, SETTINGS.times, "calls" in vars(Derived)) == (0, 0, False)


def test_a_setting_may_be_a_number_that_does_not_depend_on_the_input() -> None:
    def f(x: float) -> Any:
        Counter.calls = 2.0
        return x**3 * Counter.calls

    for inner in MODES:
        assert adbc.jvp(WAYS[inner](f), (X,), (1.0,))[1] == pytest.approx(12 * X)


# -- attributes with a derivative of the outer level ---------------------------------------------------------


def by_name(x: float) -> Any:
    class Scale:
        k = x

    return lambda y: y**2 * Scale.k


def by_getattr(x: float) -> Any:
    class Scale:
        pass

    Scale.k = x
    return lambda y: y**2 * getattr(Scale, "k")  # noqa: B009  # it is what is tested


def by_instance(x: float) -> Any:
    class Scale:
        k = x

    return lambda y: y**2 * Scale().k


def in_a_tuple(x: float) -> Any:
    class Scale:
        ks = (1.0, x)

    return lambda y: y**2 * Scale.ks[1]


def in_an_array(x: float) -> Any:
    class Scale:
        ks = np.array([1.0, x])

    return lambda y: y**2 * Scale.ks[1]


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("make", [by_name, by_getattr, by_instance, in_a_tuple, in_an_array])
def test_an_inner_derivative_reads_an_attribute_of_a_class_made_outside(
    make: Any, outer: str, inner: str
) -> None:
    assert WAYS[outer](lambda x: WAYS[inner](make(x))(3.0))(2.0) == pytest.approx(6.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_nested", [False, True])
def test_the_dictionary_of_a_class_with_a_derivative_is_refused(mode: str, is_nested: bool) -> None:
    def f(x: float) -> Any:
        class Scale:
            k = x

        if is_nested:
            return adbc.grad(lambda y: y**2 * vars(Scale)["k"])(3.0)
        return vars(Scale)["k"] * x

    with pytest.raises(UnsupportedError, match=r"__dict__ of class .*Scale is read"):
        WAYS[mode](f)(2.0)
