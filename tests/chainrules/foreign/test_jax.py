"""Rules of JAX's: their form anywhere, the library where it is installed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule

X, Y = np.array([0.3, -0.7]), np.array([1.5, 2.0])


class CustomVjp:
    """What a ``jax.custom_vjp`` is, as far as a rule is concerned."""

    nondiff_argnums = (1,)

    def __call__(self, x: Any, n: int) -> Any:
        return x**n

    def fwd(self, x: Any, n: int) -> Any:
        return x**n, x

    def bwd(self, n: int, kept: Any, g: Any) -> Any:
        return (g * n * kept ** (n - 1),)


class CustomJvp:
    """What a ``jax.custom_jvp`` is, as far as a rule is concerned."""

    nondiff_argnums = ()

    def __call__(self, x: Any, y: Any) -> Any:
        return x * y

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        return x * y, dx * y + x * dy


def test_the_forms_of_jax() -> None:
    power = cr.from_jax(CustomVjp())
    check_rrule(power, X, 3)
    check_rrule(power, X + 0.5j, 3)  # what JAX transposes, it does not conjugate
    product = cr.from_jax(CustomJvp())
    check_frule(product, X, Y)
    assert adbc.grad(lambda x: power(x, 3).sum())(X) == pytest.approx(3 * X**2)
    assert adbc.jvp(lambda x: product(x, Y).sum(), (X,), (X,))[1] == pytest.approx((X * Y).sum())
    with pytest.raises(adbc.errors.UnsupportedError, match="no forward mode"):
        adbc.jvp(lambda x: power(x, 3).sum(), (X,), (X,))


def test_of_jax() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @functools.partial(jax.custom_vjp, nondiff_argnums=(2,))  # type: ignore[untyped-decorator]
    def blend(d: Any, v: Any, n: int) -> Any:
        return {"s": (d["a"] * d["b"][0] ** n).sum(), "t": (v.at[0].set(0.0), 3)}

    def backwards(n: int, kept: Any, g: Any) -> Any:
        a, b = kept
        by_b = (n * a * b ** (n - 1)).sum() * g["s"]
        return {"a": g["s"] * b**n * jnp.ones(2), "b": (by_b, None)}, g["t"][0].at[0].set(0.0)

    blend.defvjp(lambda d, v, n: (blend(d, v, n), (d["a"], d["b"][0])), backwards)
    ours = cr.from_jax(blend)
    check_rrule(ours, {"a": X, "b": (1.5, 4)}, Y, 3, rtol=1e-2, atol=1e-2)

    def f(x: Any) -> Any:
        found = ours({"a": x, "b": (1.5, 4)}, x, 3)
        return found["s"] + found["t"][0].sum()

    assert adbc.grad(f)(X) == pytest.approx([1.5**3, 1.5**3 + 1.0], rel=1e-6)
    out = ours({"a": X, "b": (1.5, 1.0)}, Y, n=2)["t"][0]
    out += 1.0  # it is ours
    with pytest.raises(adbc.errors.UnsupportedError, match="no forward mode"):
        adbc.jvp(f, (X,), (X,))


def test_complex_numbers_of_jax() -> None:
    jax = pytest.importorskip("jax")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def square(z: Any) -> Any:
        return z * z

    square.defvjp(lambda z: (z * z, z), lambda z, g: (2 * z * g,))

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def cube(z: Any) -> Any:
        return z * z * z

    cube.defjvp(lambda p, t: (p[0] * p[0] * p[0], 3 * p[0] ** 2 * t[0]))
    for f in (square, cube):
        check_rrule(cr.from_jax(f), (X + 0.5j).astype(np.complex64), rtol=1e-2, atol=1e-2)
    z = 0.5 + 0.75j
    ours = cr.from_jax(square)
    expected = adbc.grad(lambda z: (z * z).real)(z)
    assert adbc.grad(lambda z: ours(z).real)(z) == pytest.approx(expected, rel=1e-6)


def test_both_modes_of_jax() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))  # type: ignore[untyped-decorator]
    def apply(scale: Any, x: Any, y: Any) -> Any:
        return scale * jnp.sin(x) * y

    @apply.defjvp  # type: ignore[untyped-decorator]
    def _(scale: Any, primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        slope = 10.0 * jnp.cos(x) * y  # wrong: to tell that it is used
        return scale * jnp.sin(x) * y, scale * (slope * dx + jnp.sin(x) * dy)

    ours = cr.from_jax(apply)
    f = lambda x, y: ours(2.0, x, y).sum()  # noqa: E731
    dx, dy = adbc.grad(f, (0, 1))(X, Y)
    assert dx == pytest.approx(20.0 * np.cos(X) * Y, rel=1e-6)
    assert dy == pytest.approx(2.0 * np.sin(X), rel=1e-6)
    assert adbc.jvp(f, (X, Y), (X, Y))[1] == pytest.approx((dx * X + dy * Y).sum(), rel=1e-6)
    with pytest.raises(adbc.errors.UnsupportedError, match="no derivative by"):
        adbc.jvp(lambda k: ours(k, X, Y).sum(), (2.0,), (1.0,))


def test_symbolic_zeros_of_jax_are_refused() -> None:
    jax = pytest.importorskip("jax")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def same(x: Any) -> Any:
        return x

    same.defvjp(lambda x: (x, None), lambda kept, g: (g,), symbolic_zeros=True)
    with pytest.raises(adbc.errors.UnsupportedError, match="symbolic zeros"):
        cr.from_jax(same)
