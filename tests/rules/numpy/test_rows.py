"""Every row of NumPy, on arguments of several shapes, layouts and dtypes."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import adbc
from adbc.ir import intrinsics
from adbc.rules.elements import ElementsRule
from adbc.rules.numpy import (
    composed,
    composed_draws,
    counting,
    creation,
    decompositions,
    histograms,
    interpolation,
    joining,
    looks,
    memory,
    padding,
    polynomials,
    random,
    series,
    signals,
    without_nan,
)
from adbc.rules.numpy.dressing import bare_all, dress
from adbc.rules.numpy.elementwise import ElementwiseRule
from adbc.rules.numpy.indexing import written
from adbc.rules.numpy.instances import in_buffer, viewed, viewed_number
from adbc.rules.numpy.object_numbers import filled
from adbc.rules.numpy.products import quick_kron
from adbc.rules.numpy.reductions import QUICK
from adbc.rules.numpy.ufunc_methods import methods_of
from adbc.rules.numpy.ufuncs import UFUNC_ROWS
from adbc.rules.numpy.walks import read_only
from adbc.rules.numpy.zeros import UFUNC_ROWS as STEP_ROWS
from adbc.rules.table import Overlay, ZeroRule
from adbc.tangents.array_instances import bare, instance_of

from .harness import ROWS, check

Make = Callable[[], Any]


def u(*shape: int, seed: int = 0) -> Any:
    """Numbers between 0.2 and 0.9, in the domain of everything but arccosh."""
    return np.random.default_rng(seed + 17 * len(shape)).uniform(0.2, 0.9, shape)


def n(*shape: int, seed: int = 0) -> Any:
    """Numbers of both signs, away from 0."""
    rng = np.random.default_rng(seed + 31)
    return rng.uniform(0.3, 2.0, shape) * np.where(rng.random(shape) < 0.5, -1, 1)


def c(*shape: int, seed: int = 0) -> Any:
    return n(*shape, seed=seed) + 1j * n(*shape, seed=seed + 100)


def spd(k: int, seed: int = 0) -> Any:
    a = n(k, k, seed=seed)
    return a @ a.T + k * np.eye(k)


def hpd(k: int, seed: int = 0) -> Any:
    a = c(k, k, seed=seed)
    return a @ a.conj().T + k * np.eye(k)


DISCRETE = {"floor_divide", "ldexp", "nextafter", "heaviside"}
SHIFTED = {"arccosh": 1.5}
HOLOMORPHIC = {
    "add", "subtract", "multiply", "divide", "positive", "negative", "square", "reciprocal", "sqrt", "exp", "exp2",
    "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "absolute", "conjugate", "sign", "power", "float_power",
}  # fmt: skip
SMOOTH = [row.function for row in UFUNC_ROWS if row.function.__name__ not in DISCRETE]
UNARY = [f for f in SMOOTH if f.nin == 1]
BINARY = [f for f in SMOOTH if f.nin == 2]


def operand(f: Any, *shape: int, seed: int = 0) -> Any:
    return u(*shape, seed=seed) + SHIFTED.get(f.__name__, 0.0)


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0)])
def test_unary_ufunc(f: Any, shape: tuple[int, ...]) -> None:
    check(f, lambda: (operand(f, *shape),))


@pytest.mark.parametrize("f", UNARY, ids=lambda f: f.__name__)
def test_unary_ufunc_layouts(f: Any) -> None:
    check(f, lambda: (operand(f, 4, 3).T,))
    check(f, lambda: (operand(f, 6)[::-2],))
    check(f, lambda: (float(operand(f)),))
    check(f, lambda: (np.float64(operand(f)),))
    check(f, lambda: (operand(f, 3).astype(np.float32),), rtol=3e-2)
    check(f, lambda: (operand(f, 3).tolist(),))
    check(f, lambda: (operand(f, 3), n(3)))
    check(f, lambda: (operand(f, 3), n(3)), {"where": np.array([True, False, True])})
    check(f, lambda: (operand(f, 3),), lambda: {"out": n(3)})

    def aliased() -> Any:
        x = operand(f, 3)
        return x, x

    check(f, aliased)


@pytest.mark.parametrize("f", [f for f in UNARY if f.__name__ in HOLOMORPHIC], ids=lambda f: f.__name__)
def test_unary_ufunc_complex(f: Any) -> None:
    check(f, lambda: (0.4 * c(2, 3),))
    check(f, lambda: (complex(0.4 * c()),))
    check(f, lambda: ((0.4 * c(3)).astype(np.complex64),), rtol=3e-2)


SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (3,)), ((2, 3), ()), ((1,), (3,)),
          ((0,), (1,)), ((2, 0), (1, 0))]  # fmt: skip


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_binary_ufunc(f: Any, shapes: Any) -> None:
    check(f, lambda: (u(*shapes[0]), u(*shapes[1], seed=5)))


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
def test_binary_ufunc_forms(f: Any) -> None:
    check(f, lambda: (u(3), 0.55))
    check(f, lambda: (0.55, u(3)))
    check(f, lambda: (u(3), 0.55), inactive=(0,))
    check(f, lambda: (u(3), 0.55), inactive=(1,))
    check(f, lambda: (0.35, 0.55))
    check(f, lambda: (np.float64(0.35), u(2, 2)))
    check(f, lambda: (u(3), [0.45, 0.36, 0.27]))
    check(f, lambda: (u(3), (0.45, 0.36, 0.27)))
    check(f, lambda: (u(3, 4).T, u(4, 3, seed=7)[::-1]))
    check(f, lambda: (u(3), u(3, seed=5), n(3)))
    check(f, lambda: (u(3), u(3, seed=5)), lambda: {"out": n(2, 3)})
    check(f, lambda: (u(3), u(3, seed=5), n(3)), {"where": np.array([True, False, True])})
    check(f, lambda: (u(3).astype(np.float32), u(3, seed=5).astype(np.float32)), rtol=3e-2)
    check(f, lambda: (u(3).astype(np.float32), 0.5), rtol=3e-2)

    def overlapping() -> Any:
        x = u(5)
        return x[1:], u(4, seed=9), x[:-1]

    check(f, overlapping)


@pytest.mark.parametrize("f", [f for f in BINARY if f.__name__ in HOLOMORPHIC], ids=lambda f: f.__name__)
def test_binary_ufunc_complex(f: Any) -> None:
    check(f, lambda: (c(2, 3), c(3, seed=5)))
    check(f, lambda: (u(2, 3), c(3, seed=5)))
    check(f, lambda: (c(3), 0.55))


OPERATORS = ["add", "sub", "mul", "truediv", "mod", "pow"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name: str) -> None:
    f = getattr(operator, name)
    for left, right in [
        (u(3), u(2, 3)),
        (u(2, 3), 0.55),
        (0.55, u(3)),
        (u(2, 1), np.float64(0.3)),
        (u(2, 2), 2),
    ]:
        check(f, lambda left=left, right=right: (np.copy(left) if np.ndim(left) else left, right))
    g = getattr(operator, "i" + name)
    for left, right in [(u(2, 3), u(3, seed=4)), (u(3), 0.55), (u(2, 3), [0.5, 0.6, 0.7]), (u(3), 2)]:
        check(g, lambda left=left, right=right: (left.copy(), right))
    check(g, lambda: (0.7, u(3)))
    check(g, lambda: (np.float64(0.7), np.float64(0.3)))
    check(g, lambda: (u(4, 3).T, u(4)))
    if name != "mod":

        def same() -> Any:
            x = u(3)
            return x, x

        check(g, same)

    def shifted() -> Any:
        x = u(6)
        return x[1:], x[:-1]

    check(g, shifted)


def test_operators_of_one_array() -> None:
    for f in (operator.neg, operator.pos, operator.abs, builtins.abs):
        check(f, lambda: (n(2, 3),))
    check(builtins.pow, lambda: (u(3), 3))
    check(builtins.divmod, lambda: (n(3), 0.7))


def pair() -> Any:
    x = n(3, 4)
    return x, x


M = np.array([[True, False, True], [True, True, False]])
CASES: list[tuple[Any, Make, Any]] = [
    # ufuncs of a special kind
    (np.heaviside, lambda: (np.array([0, 1]), n(2)), {}),
    (np.ldexp, lambda: (n(3), np.array([1, 2, -1])), {}),
    (np.modf, lambda: (n(3),), {}),
    (np.frexp, lambda: (np.array([0.6, 1.3, -3.0]),), {}),
    (np.divmod, lambda: (n(3), u(3)), {}),
    (np.divmod, lambda: (n(3), 0.7), {}),
    (np.add.at, lambda: (n(4), [0, 1, 0], n(3)), {}),
    (np.add.at, lambda: (n(4), ([0, 1, 0],), 2.0), {}),
    (np.subtract.at, lambda: (n(4), np.array([0, 1, 0]), n(3)), {}),
    *((getattr(np, name).outer, lambda: (u(3), u(2, 2)), {}) for name in
      ["add", "subtract", "multiply", "divide", "power", "maximum", "minimum"]),
    (np.multiply.outer, lambda: (c(3), c(2)), {}),
    # views with axes of stride 0
    (operator.mul, lambda: (n(2, 3), n(3)[None, :]), {}),
    (operator.mul, lambda: (n(2, 3), n(2)[:, None]), {}),
    (operator.mul, lambda: (n(2, 3), np.broadcast_to(n(3), (2, 3))), {}),
    # subscripts
    *((operator.getitem, lambda i=i: (n(3, 4), i), {}) for i in
      [0, -1, (1, 2), slice(None, None, 2), (slice(None), 1), (Ellipsis, None), ([0, 0, 2],), [0, 0, 2],
       np.array([1, 1]), (np.array([0, 0]), np.array([1, 1])), (slice(None), [0, 0]), np.int64(1), (1, slice(1, 3)),
       n(3, 4) > 0, (np.array([True, False, True]), 1), np.array(1)]),
    (operator.getitem, lambda: (n(4, 3).T, (0, slice(None, None, -1))), {}),
    (operator.getitem, lambda: (np.array(2.0), ()), {}),
    (operator.getitem, lambda: (np.array(2.0), Ellipsis), {}),
    (operator.getitem, lambda: (c(3), 1), {}),
    *((operator.setitem, lambda i=i, v=v: (n(3, 4), i, v.copy() if isinstance(v, np.ndarray) else v), {}) for i, v in
      [(0, 2.0), (0, n(4)), ((1, 2), 3.0), ((1, 2), np.float64(3.0)), (slice(None, None, 2), n(2, 4)), (Ellipsis, n(1)),
       (slice(1, 3), n(1, 4)), ([0, 2], n(2, 4)), ([0, 0], n(2, 4)), (n(3, 4) > 0, 1.5), (0, [1.0, 2.0, 3.0, 4.0]),
       ((np.array([0, 0]), np.array([1, 1])), n(2)), ((slice(None), [1, 1]), n(3, 2)), (0, (1.0, 2.0, 3.0, 4.0)),
       (slice(None), n(1, 1, 4)), ((slice(None), 0), 1), (slice(0, 0), 1.0)]),
    (operator.setitem, lambda: (c(3), slice(0, 2), n(2)), {}),
    (operator.setitem, lambda: (lambda x: (x[1:], slice(None), x[:-1]))(n(5)), {}),
    (operator.setitem, lambda: (lambda x: (x, slice(None), x))(n(5)), {}),
    (operator.setitem, lambda: (lambda x: (x, slice(1, 3), x[1:3]))(n(5)), {}),
    (operator.setitem, lambda: (lambda x: (x, slice(None, None, -1), x))(n(5)), {}),
    (operator.setitem, lambda: (n(4).astype(np.float32), 1, 2.5), {"float32": True}),
    (np.ndarray.fill, lambda: (n(2, 3), 2.0), {}),
    (np.copyto, lambda: (n(2, 3), n(3)), {}),
    (np.copyto, lambda: (n(2, 3), 1.5), {"where": M}),
    # reductions
    *((quick_kron, make, {}) for make in [lambda: (n(2, 3), n(3, 2, seed=1)), lambda: (c(2, 2), n(3, 2)), lambda: (n(2, 3), n(3))]),
    *((f, lambda: (n(2, 3),), k) for f in QUICK.values() for k in [{}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}]),
    *((f, lambda: (n(2, 3),), k) for f in [np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.var, np.std, np.ptp, np.median]
      for k in [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True}]),
    *((f, lambda: (n(2, 3, 4),), {"axis": (0, 2)}) for f in
      [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.median]),
    *((f, lambda: (n(2, 3),), {"where": M, "axis": 1, **k}) for f, k in
      [(np.sum, {}), (np.mean, {}), (np.prod, {}), (np.var, {}), (np.max, {"initial": -9.0}), (np.min, {"initial": 9.0}),
       (np.sum, {"initial": 2.0}), (np.prod, {"initial": 2.0})]),
    *((f, lambda: (n(2, 3),), lambda: {"axis": 0, "out": n(3, seed=8)}) for f in
      [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.ptp]),
    *((f, lambda: (n(2, 3),), lambda: {"out": np.array(0.5)}) for f in [np.sum, np.mean, np.prod, np.max]),
    *((f, lambda: (c(2, 3),), {"axis": 1}) for f in [np.sum, np.mean, np.prod, np.var, np.std]),
    *((f, lambda: (n(2, 3),), {}) for f in
      [np.ndarray.sum, np.ndarray.mean, np.ndarray.prod, np.ndarray.max, np.ndarray.min, np.ndarray.var, np.ndarray.std]),
    *((f, lambda: (n(2, 3), 1), {}) for f in
      [np.ndarray.sum, np.ndarray.mean, np.ndarray.prod, np.ndarray.max, np.ndarray.cumsum, np.ndarray.cumprod]),
    (np.sum, lambda: ([1.0, 2.0, 3.0],), {}),
    (np.sum, lambda: ([n(2), n(2, seed=3)],), {"axis": 0}),
    (np.sum, lambda: (2.0,), {}),
    (np.sum, lambda: (n(0, 3),), {"axis": 0}),
    (np.sum, lambda: (n(4, 3).T[::-1],), {"axis": 0}),
    (np.var, lambda: (n(2, 3),), {"ddof": 1, "axis": 1}),
    (np.prod, lambda: (np.array([1.0, 0.0, 3.0]),), {}),
    (np.prod, lambda: (np.array([0.0, 0.0, 3.0]),), {}),
    (np.cumprod, lambda: (np.array([1.0, 0.0, 3.0, 0.0, 2.0]),), {}),
    *((f, lambda: (n(2, 3),), k) for f in [np.cumsum, np.cumprod] for k in [{}, {"axis": 0}, {"axis": -1}]),
    *((f, lambda: (n(3),), lambda: {"out": n(3, seed=8)}) for f in [np.cumsum, np.cumprod]),
    (np.cumprod, lambda: (c(4),), {}),
    *((f.reduce, lambda: (n(3, 2),), k) for f in [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin]
      for k in [{}, {"axis": 1}, {"axis": None}]),
    *((f.reduce, lambda: (n(3, 2), 0), lambda: {"out": n(2, seed=8)}) for f in [np.add, np.multiply]),
    *((f.accumulate, lambda: (n(3, 2),), k) for f in [np.add, np.multiply, np.maximum, np.minimum] for k in [{}, {"axis": 1}]),
    (np.maximum.accumulate, lambda: ([n(4), n(4, seed=3)],), {}),
    # shapes
    (np.reshape, lambda: (n(2, 3), (3, 2)), {}),
    (np.reshape, lambda: (n(2, 3).T, (3, 2)), {}),
    (np.reshape, lambda: (n(2, 3).T, 6), {}),
    (np.reshape, lambda: (n(2, 3), (3, 2)), {"order": "F"}),
    (np.reshape, lambda: ([[1.0, 2.0], [3.0, 4.0]], 4), {}),
    (np.ndarray.reshape, lambda: (n(2, 3), 3, 2), {}),
    (np.ndarray.reshape, lambda: (n(2, 3).T, -1), {}),
    (np.ndarray.reshape, lambda: (n(2, 3), -1), {"order": "F"}),
    *((f, lambda: (n(2, 3),), {}) for f in [np.ravel, np.ndarray.ravel, np.ndarray.flatten, np.transpose,
      np.ndarray.transpose, np.ndarray.T, np.flip, np.fliplr, np.flipud, np.rot90, np.real, np.imag, np.ndarray.real,
      np.ndarray.imag, np.copy, np.ndarray.copy, np.array, np.asarray, np.ascontiguousarray, np.asfortranarray,
      np.asanyarray, np.ndarray.__copy__, np.tril, np.triu, np.trace, np.ndarray.trace, np.diag, np.diagonal,
      np.ndarray.diagonal, np.diff, np.sort, np.ndarray.sort, np.ndarray.tolist, np.ndarray.conj, np.ndarray.conjugate,
      np.nan_to_num, np.sinc, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.ndarray.mT, np.matrix_transpose]),
    *((f, lambda: (n(3, 2).T,), {}) for f in [np.ravel, np.ndarray.flatten, np.ascontiguousarray, np.copy]),
    (np.ravel, lambda: (n(3, 2).T,), {"order": "K"}),
    (np.ravel, lambda: (n(3, 4)[:, ::2],), {"order": "F"}),
    *((f, lambda: (c(2, 3),), {}) for f in [np.real, np.imag, np.ndarray.real, np.ndarray.imag, np.angle, np.ndarray.conj,
      np.trace, np.tril, np.copy, np.ndarray.conjugate]),
    (np.angle, lambda: (c(3),), {"deg": True}),
    (np.generic.real, lambda: (np.complex128(1 + 2j),), {}),
    (np.generic.imag, lambda: (np.complex128(1 + 2j),), {}),
    (np.generic.real, lambda: (np.float64(1.5),), {}),
    (np.generic.conj, lambda: (np.complex128(1 + 2j),), {}),
    (np.generic.conjugate, lambda: (np.float64(1.5),), {}),
    (np.real, lambda: (2.5 + 1j,), {}),
    (np.swapaxes, lambda: (n(2, 3, 4), 0, 2), {}),
    (np.ndarray.swapaxes, lambda: (n(2, 3, 4), 0, 2), {}),
    (np.moveaxis, lambda: (n(2, 3, 4), 0, 2), {}),
    (np.rollaxis, lambda: (n(2, 3, 4), 2), {}),
    (np.transpose, lambda: (n(2, 3, 4), (1, 2, 0)), {}),
    (np.ndarray.transpose, lambda: (n(2, 3, 4), 1, 2, 0), {}),
    (np.expand_dims, lambda: (n(3), 0), {}),
    (np.squeeze, lambda: (n(1, 3),), {}),
    (np.ndarray.squeeze, lambda: (n(1, 3),), {}),
    (np.broadcast_to, lambda: (n(3), (2, 3)), {}),
    (np.broadcast_to, lambda: (2.0, (2, 3)), {}),
    (np.flip, lambda: (n(2, 3), 1), {}),
    (np.lib.stride_tricks.sliding_window_view, lambda: (n(5), 3), {}),
    *((f, lambda: (c(2, 4),), k) for f in [np.fft.fft, np.fft.ifft]
      for k in [{}, {"axis": 0}, {"n": 3}, {"n": 6}, {"norm": "ortho"}]),
    (np.fft.fft, lambda: (n(5),), {}),
    (np.fft.fft, lambda: (n(5), 8), {}),
    (np.fft.fft, lambda: (c(2, 5), 3, 0), {}),
    *((f, lambda: (c(2, 3, 4),), k) for f in [np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn]
      for k in [{}, {"axes": (0, 2)}, {"norm": "ortho"}, {"s": (2, 5), "axes": (1, 2)}]),
    *((np.fft.rfft, lambda m=m: (n(2, m),), k) for m in [1, 2, 5, 6]
      for k in [{}, {"n": 4}, {"n": 7}, {"axis": 0}, {"norm": "forward"}]),
    *((np.fft.irfft, lambda m=m: (c(2, m),), k) for m in [2, 4, 5]
      for k in [{}, {"n": 4}, {"n": 7}, {"axis": 0}, {"norm": "ortho"}]),
    *((f, lambda m=m: (n(3, 2, m),), k) for f in [np.fft.rfft2, np.fft.rfftn] for m in [1, 4, 5]
      for k in [{}, {"axes": (2, 0)}, {"norm": "ortho"}, {"s": (3, 6), "axes": (1, 2)}]),
    *((f, lambda m=m: (c(3, 2, m),), k) for f in [np.fft.irfft2, np.fft.irfftn] for m in [2, 3]
      for k in [{}, {"axes": (2, 0)}, {"norm": "forward"}, {"s": (3, 5), "axes": (1, 2)}]),
    (np.fft.rfftn, lambda: (n(5),), {"s": (3,), "axes": (0,)}),
    *((f, lambda: (c(3, 4),), k) for f in [np.fft.fftshift, np.fft.ifftshift] for k in [{}, {"axes": 1}]),
    (np.diag, lambda: (n(3), 1), {}),
    (np.diagflat, lambda: (n(2, 2),), {}),
    (np.roll, lambda: (n(2, 3), 2), {}),
    (np.roll, lambda: (n(2, 3), (1, 2), (0, 1)), {}),
    (np.repeat, lambda: (n(2, 3), 2), {}),
    (np.repeat, lambda: (n(2, 3), [1, 0, 2]), {"axis": 1}),
    (np.ndarray.repeat, lambda: (n(2, 3), 2, 0), {}),
    (np.tile, lambda: (n(2, 3), (2, 1, 2)), {}),
    (np.tril, lambda: (n(3, 3), -1), {}),
    (np.triu, lambda: (n(2, 3, 3), 1), {}),
    (np.trace, lambda: (n(2, 3, 4), 1, 1, 2), {}),
    (np.diff, lambda: (n(4, 3), 2), {"axis": 0}),
    (np.atleast_2d, lambda: (2.0,), {}),
    (np.atleast_2d, lambda: (n(3), n(2, 2)), {}),
    # joining
    *((f, lambda: ([n(2, 3), n(2, 3, seed=4)],), {}) for f in
      [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack]),
    *((f, lambda: ((n(3), n(3, seed=4)),), {}) for f in
      [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack]),
    (np.concatenate, lambda: ([n(2, 3), n(2, 1)], 1), {}),
    (np.concatenate, lambda: ([n(2, 3), n(2)], None), {}),
    (np.concatenate, lambda: (pair(),), {}),
    (np.concatenate, lambda: (n(2, 3, 2),), {}),
    (np.concatenate, lambda: ([[1.0, 2.0], n(2)],), {}),
    (np.concatenate, lambda: ([n(2), np.arange(2)],), {}),
    (np.stack, lambda: ([1.0, 2.0, 3.0],), {}),
    (np.stack, lambda: ((1.0, 2.0, 3),), {}),
    (np.stack, lambda: ([n(2), n(2, seed=3)],), {"axis": -1}),
    (np.stack, lambda: (n(3),), {}),
    (np.hstack, lambda: ([n(2), 3.0],), {}),
    *((f, lambda: (n(4, 2, 2), 2), {}) for f in [np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit]),
    (np.split, lambda: (n(5), [2, 3]), {}),
    (np.unstack, lambda: (n(3, 2),), {}),
    (np.unstack, lambda: (n(3),), {}),
    (joining.unstacked, lambda: (n(3, 2), 1), {}),
    # making arrays
    (np.array, lambda: ([1.0, 2.0, 3.0],), {}),
    (np.array, lambda: ([1.0, 2, 3.0],), {}),
    (np.array, lambda: ([[1.0, 2.0], [3.0, 4.0]],), {}),
    (np.array, lambda: ([(1.0, 2.0), (3.0, 4.0)],), {}),
    (np.array, lambda: ((1.0, (2.0)),), {}),
    (np.array, lambda: ([n(3), n(3, seed=2)],), {}),
    (np.array, lambda: ([np.float64(1.5), 2.0],), {}),
    (np.array, lambda: (2.5,), {}),
    (np.array, lambda: (n(3),), {"ndmin": 2}),
    (np.array, lambda: (n(3),), {"copy": None}),
    (np.asarray, lambda: ([1.0, 2.0],), {}),
    (np.asarray, lambda: (n(3), complex), {}),
    (np.ndarray.astype, lambda: (n(3), complex), {}),
    *((np.astype, lambda t=t: (n(2, 3), t), k) for t in [np.complex128, np.float64] for k in [{}, {"copy": False}]),
    (np.astype, lambda: (n(3), np.float32), {"float32": True}),
    (np.ndarray.astype, lambda: (n(3), float), {"copy": False}),
    (np.ndarray.astype, lambda: (n(3), np.float32), {"float32": True}),
    (np.generic.astype, lambda: (np.float64(2.5), complex), {}),
    (np.generic.copy, lambda: (np.float64(2.5),), {}),
    (np.ndarray.__deepcopy__, lambda: (n(3), {}), {}),
    (np.ndarray.view, lambda: (c(3), float), {}),
    (np.ndarray.view, lambda: (n(4), complex), {}),
    (np.ndarray.view, lambda: (n(4),), {}),
    (np.ndarray.item, lambda: (np.array(2.5),), {}),
    (np.ndarray.item, lambda: (n(2, 3), 4), {}),
    (np.ndarray.item, lambda: (n(2, 3), 1, 2), {}),
    (np.ndarray.item, lambda: (n(2, 3), (1, 2)), {}),
    (np.generic.item, lambda: (np.float64(2.5),), {}),
    (np.generic.tolist, lambda: (np.float64(2.5),), {}),
    (np.ndarray.tolist, lambda: (np.array(2.5),), {}),
    (builtins.float, lambda: (np.array(2.5),), {}),
    (builtins.complex, lambda: (np.array(2.5),), {}),
    (np.full, lambda: ((2, 3), 2.5), {}),
    (np.full, lambda: ((2, 3), n(3)), {}),
    (np.full_like, lambda: (n(2, 3), 2.5), {}),
    (np.arange, lambda: (0.5, 3.0, 0.7), {}),
    (np.arange, lambda: (0.5, 3.1), {}),
    (np.arange, lambda: (3.1,), {}),
    (np.arange, lambda: (3.1, None, 0.7), {}),
    (np.arange, lambda: (), {"stop": 3.1, "step": 0.7}),
    (np.arange, lambda: (), {"stop": 3.1}),
    (np.linspace, lambda: (0.5, 3.0), {"num": 5}),
    (np.linspace, lambda: (0.5, 3.0, 5), {"endpoint": False}),
    (np.linspace, lambda: (n(3), 3.0, 4), {}),
    (np.linspace, lambda: (n(3), n(3, seed=3), 4), {"axis": -1}),
    *((cls, lambda: (2.5,), {}) for cls in [np.float64, np.longdouble, np.complex128, np.clongdouble]),
    *((cls, lambda: (2.5,), {"float32": True}) for cls in [np.float32, np.complex64]),
    (np.float64, lambda: (np.array(2.5),), {}),
    (np.float64, lambda: (np.float32(2.5),), {"float32": True}),
    # products
    *((f, lambda a=a, b=b: (n(*a), n(*b, seed=3)), {}) for f in [np.dot, np.ndarray.dot] for a, b in
      [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)), ((2, 4), (3, 4, 2)),
       ((2, 3, 4), (2, 4, 3)), ((2, 3), ())]),
    *((f, lambda a=a, b=b: (n(*a), n(*b, seed=3)), {}) for f in [np.matmul, operator.matmul] for a, b in
      [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)),
       ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((2, 1, 2, 3), (5, 3, 4)), ((0, 3), (3, 2))]),
    *((f, lambda: (c(2, 3), c(3, 4, seed=3)), {}) for f in [np.dot, np.matmul, operator.matmul]),
    (np.matmul, lambda: (n(3, 2).T, n(4, 3).T), {}),
    *((f, lambda: (n(2, 3), n(3, 4)), lambda: {"out": n(2, 4, seed=8)}) for f in [np.dot, np.matmul]),
    (operator.imatmul, lambda: (n(2, 3), n(3, 3)), {}),
    (np.dot, lambda: pair_square(), {}),
    (np.vdot, lambda: (c(2, 3), c(3, 2, seed=3)), {}),
    (np.vdot, lambda: (n(3), n(3, seed=3)), {}),
    (np.inner, lambda: (n(2, 3), n(4, 3)), {}),
    (np.inner, lambda: (n(3), n(3, seed=3)), {}),
    (np.inner, lambda: (c(2, 2, 3), c(3)), {}),
    (np.outer, lambda: (n(3), n(2, 2)), {}),
    (np.outer, lambda: (c(3), c(2)), {}),
    (np.outer, lambda: (n(3), n(2)), lambda: {"out": n(3, 2, seed=8)}),
    (np.tensordot, lambda: (n(2, 3, 4), n(3, 4, 2)), {}),
    (np.tensordot, lambda: (n(2, 3, 4), n(4, 3, 2)), {"axes": ([1, 2], [1, 0])}),
    (np.tensordot, lambda: (c(2, 3), c(4, 3)), {"axes": (1, 1)}),
    (np.tensordot, lambda: (n(2), n(3)), {"axes": 0}),
    (np.tensordot, lambda: (c(2, 3), n(2, 3)), {}),
    (np.tensordot, lambda: (n(3), n(3)), {"axes": 1}),
    (joining.concatenated, lambda: (n(2, 3), n(1, 3)), {}),
    (joining.concatenated, lambda: (n(2, 3), 2.0 * n(2, 1)), {"axis": -1}),
    (joining.stacked, lambda: (n(2, 3), n(2, 3)), {"axis": 1}),
    (joining.vstacked, lambda: (n(3), n(2, 3)), {}),
    (joining.hstacked, lambda: (n(2, 1), n(2, 3)), {}),
    (joining.dstacked, lambda: (n(2, 3), n(2, 3)), {}),
    (joining.column_stacked, lambda: (n(2), n(2, 3)), {}),
    (creation.array_of, lambda: (0.3, 1.2), {"shape": (2,)}),
    (creation.array_of, lambda: (0.3, 1.2, -0.5, 2.0), {"shape": (2, 2)}),
    (creation.array_of, lambda: (n(3), n(3)), {"shape": (2,)}),
    (np.cross, lambda: (n(4, 3), n(4, 3)), {}),
    (np.cross, lambda: (n(3), n(4, 3)), {}),
    (np.cross, lambda: (c(2, 1, 3), n(4, 3)), {}),
    (np.cross, lambda: (n(3, 4), n(4, 3)), {"axisa": 0, "axisc": 0}),
    (np.cross, lambda: (n(3, 4), n(3, 1)), {"axis": 0}),
    (np.kron, lambda: (n(2, 3), n(3, 2)), {}),
    (np.kron, lambda: (n(2), n(3, 2)), {}),
    (np.kron, lambda: (c(2), c(3)), {}),
    *((np.einsum, lambda s=s, d=d: (s, *[n(*k, seed=i) for i, k in enumerate(d)]), {}) for s, d in
      [("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ii", [(3, 3)]), ("ii->i", [(3, 3)]),
       ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("...ij,...jk->...ik", [(2, 2, 3), (3, 4)]), ("i,i,i->i", [(3,)] * 3),
       ("ij,j->i", [(2, 3), (3,)]), ("i,j->", [(2,), (3,)]), ("ii,jj->", [(2, 2), (3, 3)]), ("ij,ij->j", [(1, 3), (2, 3)])]),
    (np.einsum, lambda: ("ij,jk->ik", c(2, 3), c(3, 2)), {}),
    # linear algebra
    (np.linalg.solve, lambda: (spd(3), n(3)), {}),
    (np.linalg.solve, lambda: (spd(3), n(3, 2)), {}),
    (np.linalg.solve, lambda: (hpd(3), c(3, 2)), {}),
    (np.linalg.solve, lambda: (spd(3), n(2, 3, 2)), {}),
    (np.linalg.solve, lambda: (np.stack([spd(3), spd(3, 1)]), n(3)), {}),
    (np.linalg.inv, lambda: (spd(3) + n(3, 3),), {}),
    (np.linalg.inv, lambda: (hpd(3),), {}),
    (np.linalg.det, lambda: (spd(3) + n(3, 3),), {}),
    (np.linalg.det, lambda: (np.stack([spd(3), spd(3, 1)]),), {}),
    (np.linalg.det, lambda: (hpd(2),), {}),
    (np.linalg.det, lambda: (np.array([[1.0, 2.0], [2.0, 4.0]]),), {}),
    (np.linalg.det, lambda: (np.zeros((3, 3)) + np.diag([1.0, 2.0, 0.0]),), {}),
    (np.linalg.slogdet, lambda: (spd(3) + n(3, 3),), {}),
    (np.linalg.cholesky, lambda: (spd(3),), {}),
    (np.linalg.cholesky, lambda: (hpd(3),), {}),
    (np.linalg.cholesky, lambda: (spd(40) / 40,), {}),
    (np.linalg.cholesky, lambda: (np.stack([hpd(35), hpd(35, 1)]) / 35,), {}),
    (np.linalg.eigvalsh, lambda: (spd(3),), {}),
    (np.linalg.eigvalsh, lambda: (hpd(3), "U"), {}),
    (np.linalg.eigh, lambda: (spd(3),), {}),
    *((np.linalg.svd, lambda k=k: (n(*k),), {"full_matrices": False}) for k in [(3, 3), (4, 2), (2, 4), (2, 3, 2)]),
    (np.linalg.svd, lambda: (n(3, 3),), {}),
    *((np.linalg.qr, lambda k=k: (n(*k),), {}) for k in [(3, 3), (4, 2), (2, 4, 2)]),
    *((np.linalg.pinv, lambda k=k: (n(*k),), {}) for k in [(3, 3), (4, 2), (2, 4), (2, 3, 2)]),
    (np.linalg.pinv, lambda: (c(4, 2),), {}),
    *((np.linalg.lstsq, lambda k=k: (n(*k), n(k[0])), {"rcond": None}) for k in [(3, 3), (4, 2), (2, 4)]),
    (np.linalg.lstsq, lambda: (n(4, 2), n(4, 3)), {"rcond": None}),
    *((np.linalg.lstsq, lambda b=b: (n(3, 0), n(*b)), {"rcond": None}) for b in [(3,), (3, 2)]),
    (np.linalg.lstsq, lambda: (n(2, 3), n(2, 2)), {"rcond": None}),
    (np.linalg.lstsq, lambda: (c(4, 2), c(4)), {"rcond": None}),
    (np.linalg.lstsq, lambda: (n(4, 2), c(4)), {"rcond": None}),
    (np.linalg.lstsq, lambda: (n(4, 2).tolist(), n(4)), {"rcond": None}),
    *((np.linalg.norm, lambda: (n(4),), {"ord": o}) for o in [None, 1, 2, 3, np.inf, -np.inf, 0.5]),
    *((np.linalg.norm, lambda: (n(3, 4),), {"ord": o}) for o in [None, "fro", "nuc", 1, -1, 2, -2, np.inf]),
    *((np.linalg.norm, lambda: (n(3, 4),), {"axis": a, "keepdims": k}) for a in [0, 1, -1, (0, 1)] for k in [False, True]),
    (np.linalg.norm, lambda: (n(3, 4),), {"keepdims": True}),
    (np.linalg.norm, lambda: (c(4),), {}),
    # values written to chosen elements
    *((np.putmask, lambda v=v: (n(2, 3), M, v()), {}) for v in
      [lambda: 2.5, lambda: n(2, 3, seed=4), lambda: n(2, seed=4), lambda: [1.0, 2.0]]),
    *((np.place, lambda v=v: (n(2, 3), M, v()), {}) for v in
      [lambda: 2.5, lambda: n(2, 3, seed=4), lambda: n(2, seed=4), lambda: [1.0, 2.0]]),
    (np.putmask, lambda: (n(3, 2).T, M, n(4)), {}),
    (np.place, lambda: (n(3, 2).T, M, n(4)), {}),
    (np.putmask, lambda: (c(2, 3), M, n(4)), {}),
    (np.put, lambda: (n(2, 3), [0, -1, 2], n(2)), {}),
    (np.put, lambda: (n(2, 3), [0, 2, 0, 2], n(4)), {}),
    (np.put, lambda: (n(2, 3), 4, 2.5), {}),
    (np.put, lambda: (n(2, 3), [1, 9, -3], n(3), "clip"), {}),
    (np.put, lambda: (n(2, 3), [1, 9, -3], n(3)), {"mode": "wrap"}),
    (np.ndarray.put, lambda: (n(2, 3), [5, 1], n(2)), {}),
    (np.fill_diagonal, lambda: (n(3, 3), 2.5), {}),
    (np.fill_diagonal, lambda: (n(3, 3), n(2)), {}),
    (np.fill_diagonal, lambda: (n(5, 2), n(4)), {"wrap": True}),
    (np.fill_diagonal, lambda: (n(3, 2).T, [1.0, 2.0]), {}),
    (np.fill_diagonal, lambda: (n(2, 2, 2), n(2)), {}),
    # selection
    (np.where, lambda: (M, n(2, 3), n(3)), {}),
    (np.where, lambda: (M, n(2, 3), 0.5), {}),
    (np.where, lambda: (M, 1.0, c(2, 3)), {}),
    (np.clip, lambda: (n(2, 3), -0.5, 0.6), {}),
    (np.clip, lambda: (n(2, 3), None, 0.6), {}),
    (np.clip, lambda: (n(2, 3), n(3, seed=6), 5.0), {}),
    (np.clip, lambda: (n(2, 3),), lambda: {"a_min": -0.5, "a_max": 0.5, "out": n(2, 3, seed=9)}),
    (np.ndarray.clip, lambda: (n(2, 3), -0.5, 0.6), {}),
    (np.take, lambda: (n(2, 3), [0, 0, 2]), {}),
    (np.take, lambda: (n(2, 3), [0, 0, 2]), {"axis": 1}),
    (np.ndarray.take, lambda: (n(2, 3), [0, 0, 2], 1), {}),
    (np.take_along_axis, lambda: (n(2, 3), np.array([[0, 0], [1, 2]]), 1), {}),
    (np.delete, lambda: (n(4), 1), {}),
    (np.compress, lambda: ([True, False, True], n(3, 2)), {"axis": 0}),
    (np.ndarray.compress, lambda: (n(3, 2), [True, False, True]), {"axis": 0}),
    (np.sort, lambda: (n(2, 3),), {"axis": 0}),
    (np.sort, lambda: (n(2, 3),), {"axis": None}),
    (np.ndarray.sort, lambda: (n(2, 3), 0), {}),
    (np.median, lambda: (n(2, 4),), {"axis": 1}),
    *((np._core._multiarray_umath._unique_hash, lambda: (n(2, 3),), k) for k in [{}, {"equal_nan": True}] if np.__version__ >= "2.3"),
    (np.generic.T, lambda: (np.float64(0.7),), {}),
    (np.median, lambda: (n(2, 5),), {"overwrite_input": True}),
    (np.median, lambda: (n(3, 4, 5),), {"axis": (0, 2), "overwrite_input": True}),
    (np.median, lambda: (n(4, 3).T,), {"axis": 1, "overwrite_input": True, "keepdims": True}),
    (np.partition, lambda: (n(3, 7), 2), {}),
    (np.partition, lambda: (n(7, 2), [1, 4]), {"axis": 0}),
    (np.partition, lambda: (n(3, 4), 5), {"axis": None}),
    (np.ndarray.partition, lambda: (n(3, 7), 2), {}),
    (np.ndarray.partition, lambda: (n(7, 2), 3, 0), {}),
    (np.ndarray.partition, lambda: (n(7, 2)[::2], 1), {"axis": 0}),
    (np.interp, lambda: (n(5), np.array([-1.0, 0.0, 1.0]), n(3)), {}),
    (np.interp, lambda: (n(5), np.array([-1.0, 0.0, 1.0]), n(3)), {"left": 0.5, "right": 0.2}),
    (np.interp, lambda: (0.3, np.array([-1.0, 0.0, 1.0]), n(3)), {}),
    (max, lambda: (n(5),), {}),
    (max, lambda: (n(5)[::-2],), {"key": abs}),
    (max, lambda: (n(0),), {"default": 2.0}),
    (min, lambda: (n(5),), {}),
    (min, lambda: (n(1, 3),), {"key": np.sum}),
    (min, lambda: (n(5).astype(complex),), {"key": abs}),
]  # fmt: skip


def pair_square() -> Any:
    x = n(3, 3)
    return x, x


def _name(case: Any) -> str:
    return str(getattr(case[0], "__qualname__", None) or getattr(case[0], "__name__", "row"))


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_every_row_is_right(case: Any) -> None:
    function, make, kwargs = case
    if not callable(kwargs) and "float32" in kwargs:  # what is single is a result, not an argument
        check(function, make, rtol=2e-3, atol=2e-3, reverse_rtol=1e-6)
    else:
        check(function, make, kwargs)


def test_every_row_has_a_case() -> None:
    covered = {case[0] for case in CASES} | {row.function for row in UFUNC_ROWS}
    covered |= {getattr(operator, p + name) for p in ("", "i") for name in OPERATORS}
    covered |= {intrinsics._iter_, intrinsics._next_, iter}  # see test_iteration
    covered |= {operator.neg, operator.pos, operator.abs, abs, pow, divmod, np.ndarray.flat, np.float16}
    covered |= {memoryview, np.frombuffer, memoryview.tolist, memoryview.__enter__}  # see test_array
    covered |= {np.generic.__copy__, read_only, written}  # see test_objects, test_walks, test_overrides
    covered |= {getattr(np.concatenate, "__wrapped__", None)}  # see test_counting
    covered |= {looks._add_numbers}  # see tests/rules/test_linear_rows
    covered |= {np.ndarray.resize}  # which is refused, see below
    covered |= {
        row.function for row in (*decompositions.ROWS, *random.ROWS, *counting.ROWS, *composed.ROWS)
    }  # see the files of these names
    covered |= {row.function for row in composed_draws.ROWS}  # see test_random
    others = (without_nan, polynomials, series, signals, histograms, padding, interpolation)
    covered |= {row.function for module in others for row in module.ROWS}  # the same
    of_ufuncs = [*UFUNC_ROWS, *STEP_ROWS]
    covered |= {method for row in of_ufuncs for method in methods_of(row)}  # see test_ufunc_methods
    covered |= {
        np.void.__getitem__,
        np.ndarray.getfield,
        viewed,
        viewed_number,
        in_buffer,
    }  # see tests/programs/values
    covered |= {bare, bare_all, dress, instance_of, *(row.function for row in memory.ROWS)}  # the same
    covered |= {np.flatiter.base, np.flatiter.coords, as_strided, filled}  # see test_walks
    covered |= {getattr(np.ndarray, name).__set__ for name in ("shape", "strides", "dtype")}  # the same
    covered |= {getattr(np.ndarray, f"_set_{name}", None) for name in ("shape", "dtype")}  # the same
    missing = [
        row
        for row in ROWS
        if row.function not in covered
        and not isinstance(row, (ZeroRule, Overlay, ElementsRule))  # see tests/programs/test_short_sequences
        and not _is_step(row)
    ]
    assert not missing


def test_an_array_that_is_resized_in_place() -> None:
    def f(x):
        a = np.ones(3)
        a.resize(5, refcheck=False)
        return x * a.sum()

    for run in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(adbc.errors.UnsupportedError, match="resized in place"):
            run()


def _is_step(row: Any) -> bool:
    """A function whose derivative is zero everywhere."""
    return isinstance(row, ElementwiseRule) and not any(row.jvp)
