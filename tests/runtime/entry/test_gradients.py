"""Gradients are copied and pickled by their function and options, and look like their function."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import multiprocessing
import pickle
import weakref
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pytest

import adbc


def cubed(x: Any, k: Any = 1.0) -> Any:
    """The cube of a number."""
    return k * x**3


def summed(x: Any) -> Any:
    return np.sum(x * x), x.sum()


@adbc.grad
def slope(x: Any) -> Any:
    return x * x


class Spring:
    def __init__(self, k: float) -> None:
        self.k = k

    def energy(self, x: Any) -> Any:
        return 0.5 * self.k * x * x

    @adbc.value_and_grad
    def held(self) -> Any:
        return self.k * self.k


HELD: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "grad": (adbc.grad(cubed), (2.0,)),
    "value_and_grad": (adbc.value_and_grad(cubed, ("x", 1)), (2.0, 3.0)),
    "has_aux": (adbc.value_and_grad(summed, has_aux=True), (np.array([1.0, 2.0]),)),
    "a method": (adbc.grad(Spring(3.0).energy), (2.0,)),
    "a partial function": (adbc.grad(functools.partial(cubed, k=2.0)), (2.0,)),
    "a builtin": (adbc.grad(math.exp), (2.0,)),
    "in the place of its function": (slope, (2.0,)),
    "jacobian": (adbc.jacobian(summed), (np.array([1.0, 2.0]),)),
    "jacfwd": (adbc.jacfwd(cubed, (0, "k"), chunk_size=2), (2.0, 3.0)),
    "jacrev": (adbc.jacrev(cubed), (2.0,)),
    "value_and_jacobian": (adbc.value_and_jacobian(cubed), (2.0,)),
    "hessian": (adbc.hessian(cubed), (2.0,)),
}


def same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, tuple):
        for c, d in zip(a, b, strict=True):
            same(c, d)
    else:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_and_copied(name: str, protocol: int) -> None:
    gradient, args = HELD[name]
    wanted = gradient(*args)
    for other in (
        pickle.loads(pickle.dumps(gradient, protocol)),
        cloudpickle.loads(cloudpickle.dumps(gradient)),
        copy.copy(gradient),
        copy.deepcopy(gradient),
    ):
        same(other(*args), wanted)
        assert repr(other) == repr(gradient)


def test_a_gradient_in_the_place_of_its_function_is_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(slope)) is slope
    assert copy.deepcopy(slope) is slope
    assert pickle.loads(pickle.dumps(Spring.held)) is Spring.held


def test_lambdas_and_closures_are_pickled_by_those_who_can() -> None:
    k = 3.0
    gradient = adbc.grad(lambda x: k * x * x)
    assert cloudpickle.loads(cloudpickle.dumps(gradient))(2.0) == 12.0
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(gradient)


def test_rules_are_pickled_by_their_signature() -> None:
    none = adbc.NoFData()
    rule = pickle.loads(pickle.dumps(adbc.build_rrule((cubed, float, float))))
    out, pullback = rule(adbc.CoDual(cubed, none), adbc.CoDual(2.0, none), adbc.CoDual(3.0, none))
    assert (out.primal, pullback(1.0)[1:]) == (24.0, (36.0, 8.0))
    forward = pickle.loads(pickle.dumps(adbc.build_frule(adbc.Signature.of(cubed, 2.0, 3.0))))
    dual = forward(adbc.Dual(cubed, adbc.NoTangent()), adbc.Dual(2.0, 1.0), adbc.Dual(3.0, 0.0))
    assert (dual.primal, dual.tangent) == (24.0, 36.0)


@pytest.mark.parametrize("method", sorted(set(multiprocessing.get_all_start_methods()) & {"fork", "spawn"}))
def test_gradients_run_in_other_processes(method: str) -> None:
    inputs = [np.array([1.0, k]) for k in range(4)]
    HELD["has_aux"][0](inputs[0])  # a fork begins with what was derived
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map(HELD["has_aux"][0], inputs)
        slopes = pool.map(slope, [1.0, 2.0])
    for x, ((value, aux), gradient) in zip(inputs, found, strict=True):
        assert (value, aux) == (np.sum(x * x), x.sum())
        np.testing.assert_array_equal(gradient, 2.0 * x)
    assert slopes == [2.0, 4.0]


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_gradients_run_under_joblib(backend: str) -> None:
    k = 3.0
    gradient = adbc.grad(cubed if backend == "multiprocessing" else lambda x: k * x * x)
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(gradient)(float(x)) for x in range(4))
    assert found == [gradient(float(x)) for x in range(4)]


def test_a_gradient_looks_like_its_function() -> None:
    gradient = adbc.grad(cubed)
    assert (gradient.__name__, gradient.__qualname__, gradient.__module__) == ("cubed", "cubed", __name__)
    assert gradient.__doc__ == "The cube of a number."
    assert gradient.__wrapped__ is cubed
    assert inspect.signature(gradient) == inspect.signature(cubed)
    assert callable(gradient) and repr(gradient) == "<gradient of cubed>"
    assert weakref.ref(gradient)() is gradient


def test_a_gradient_inside_a_derivative() -> None:
    inner = adbc.grad(cubed)
    for outer in (lambda x: inner(x), lambda x: adbc.value_and_grad(cubed)(x)[1], inner):
        assert adbc.grad(outer)(2.0) == 12.0
        assert adbc.jvp(outer, (2.0,), (1.0,)) == (12.0, 12.0)
    assert adbc.grad(lambda x: x * inner(2.0))(3.0) == 12.0  # it depends on nothing
