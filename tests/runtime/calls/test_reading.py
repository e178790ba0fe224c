"""Attributes that C code gives are read without more ado, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import Config
from adbc.rules import default_table
from adbc.runtime import make_engine, using
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.calls.reverse import ReverseCalls


def parts(x: Any) -> Any:
    return x.real[0] * x.imag[1] + (x.T.real * x.real).sum()


def layouts(x: Any) -> Any:
    if x.dtype.kind == "f" and x.dtype == x[1:].dtype and x.dtype != "int64" and x.flags.c_contiguous:
        return (x * x.size * x.ndim).sum() + x.shape[0] * x[0]
    return x.sum()


def classes(x: Any) -> Any:
    y = x[0]
    if y.__class__ is np.float64 and x.__class__ is np.ndarray and (3).__class__ is int:
        return y * x.sum()
    return y


def bases(x: Any) -> Any:
    view = x[1:]
    return (view.base * 3.0).sum() * view.real.sum()


X = np.array([1.5, -2.0, 0.5])
DERIVATIVES = {
    layouts: np.array([6.0, 3.0, 3.0]),
    classes: np.array([1.5, 1.5, 1.5]),
    bases: 3.0 * X[1:].sum() + 3.0 * X.sum() * np.array([0.0, 1.0, 1.0]),
}


@pytest.mark.parametrize("f", DERIVATIVES, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    slow = []
    for calls in (ForwardCalls, ReverseCalls):

        def call_slowly(
            self: Any, context: Any, call: Any, *rest: Any, answer: Any = calls.call_slowly
        ) -> Any:
            if call.args[1:] and isinstance(call.args[1], str):
                slow.append(call.args[1])
            return answer(self, context, call, *rest)

        monkeypatch.setattr(calls, "call_slowly", call_slowly)
    with using(make_engine(default_table(), Config(speculation="dynamic", warm_after=0))):
        for _ in range(2):
            value, gradient = adbc.value_and_grad(f)(X)
            assert value == f(X)
            np.testing.assert_allclose(gradient, DERIVATIVES[f], rtol=1e-12)
            np.testing.assert_allclose(adbc.jvp(f, (X,), (np.ones(3),))[1], DERIVATIVES[f].sum(), rtol=1e-12)
    assert not set(slow) & {"dtype", "kind", "__class__", "size", "ndim", "shape", "real", "base"}


def test_complex_parts() -> None:
    z = np.array([1.0 + 2.0j, 3.0 - 1.0j])
    d = np.array([0.5 - 1.0j, 2.0 + 0.25j])
    with using(make_engine(default_table(), Config(speculation="dynamic", warm_after=0))):
        value, tangent = adbc.jvp(parts, (z,), (d,))
        _, gradient = adbc.value_and_grad(parts)(z)
    h = 1e-6
    assert value == parts(z)
    assert tangent == pytest.approx((parts(z + h * d) - parts(z - h * d)) / (2 * h), rel=1e-8)
    assert (np.conj(gradient) * d).real.sum() == pytest.approx(tangent, rel=1e-12)


def test_another_class_of_the_same_name() -> None:
    class Named:
        kind = "f"

        def __init__(self, x: float) -> None:
            self.real = x

    def f(x: float) -> float:
        return Named(x * x).real * x.real

    with using(make_engine(default_table(), Config(speculation="dynamic", warm_after=0))):
        assert adbc.grad(f)(2.0) == 12.0
