"""Rules of autograd's, tried where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule

X, Y = np.array([0.3, -0.7]), np.array([1.5, 2.0])


def test_of_autograd() -> None:
    extend = pytest.importorskip("autograd.extend")

    @extend.primitive
    def blend(x: Any, y: Any, n: int) -> Any:
        return np.sin(x) * y**n

    extend.defvjp(
        blend,
        lambda out, x, y, n: lambda g: g * np.cos(x) * y**n,
        lambda out, x, y, n: lambda g: g * np.sin(x) * n * y ** (n - 1),
    )
    extend.defjvp(
        blend,
        lambda g, out, x, y, n: g * np.cos(x) * y**n,
        lambda g, out, x, y, n: g * np.sin(x) * n * y ** (n - 1),
    )
    assert cr.from_autograd(blend) is blend
    check_rrule(blend, X, Y, 2)
    check_frule(blend, X, Y, 2)
    check_rrule(blend, X + 0.5j, Y, 2)
    da, dy = adbc.grad(lambda x, y: blend(x, y, 2).sum(), (0, 1))(X, Y)
    assert np.allclose(da, np.cos(X) * Y**2)
    assert np.allclose(dy, np.sin(X) * 2 * Y)
    assert np.allclose(adbc.jvp(lambda x: blend(x, Y, 2), (X,), (X,))[1], np.cos(X) * Y**2 * X)


def test_an_argument_without_a_rule_of_autograd_is_an_error_where_it_matters() -> None:
    extend = pytest.importorskip("autograd.extend")

    @extend.primitive
    def scaled(x: Any, k: float) -> Any:
        return x * k

    extend.defvjp(scaled, lambda out, x, k: lambda g: g * k)
    cr.from_autograd(scaled)
    assert np.allclose(adbc.grad(lambda x: scaled(x, 3.0).sum())(X), 3.0)
    with pytest.raises(adbc.errors.UnsupportedError, match="argument 1"):
        adbc.grad(lambda k: scaled(X, k).sum())(3.0)


def test_the_numpy_of_autograd_has_rules_already() -> None:
    anp = pytest.importorskip("autograd.numpy")
    cr.from_autograd(anp.tanh)
    check_rrule(anp.tanh, X)
    check_rrule(anp.tanh, X + 0.25j)
    check_frule(anp.tanh, X)


def test_what_has_no_rules_is_refused() -> None:
    for convert in (cr.from_autograd, cr.from_jax, cr.from_torch):
        with pytest.raises(adbc.errors.UnsupportedError, match="no rule"):
            convert(np.sin)
