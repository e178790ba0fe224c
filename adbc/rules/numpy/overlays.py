"""Python bodies for functions of NumPy whose own code holds something that adbc refuses.

NumPy's functions in Python are descended into; some of them look for attributes in a ``try``, enter
``errstate`` or run generators on the way to a few lines of arithmetic.  Here are those lines.  What
a body does not cover (a mode of `pad`) it refuses by name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.classes import has
from adbc.rules.numpy.base import is_plain, plain
from adbc.rules.numpy.walks import all_indices
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]

BROADCAST_TO_TUPLE = type(np.broadcast_arrays(0.0)) is tuple
"""Whether ``np.broadcast_arrays`` gives a tuple: NumPy 1 gives a list."""


SPARSE_VIEWS_IN_LIST = isinstance(np.meshgrid(0.0, sparse=True, copy=False), list)
"""Whether ``np.meshgrid`` gives a list in the one case where it neither copies nor broadcasts."""


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = np.asarray(y)
    moved = np.moveaxis(y, axis, -1)
    if x is None:
        return (dx * (moved[..., 1:] + moved[..., :-1]) / 2.0).sum(-1)
    x = np.asarray(x)
    step = np.diff(x) if x.ndim == 1 else np.diff(np.moveaxis(x, axis, -1))
    return (step * (moved[..., 1:] + moved[..., :-1]) / 2.0).sum(-1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    arr, values = np.asarray(arr), np.asarray(values)
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis=axis)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    axes = list(range(n))
    if indexing == "xy" and n > 1:
        axes[0], axes[1] = 1, 0
    given = [np.asarray(x) for x in xi]
    sizes = [1] * n
    for i in range(n):
        sizes[axes[i]] = given[i].size
    grids = []
    for i in range(n):
        shape = [1] * n
        shape[axes[i]] = given[i].size
        wide = np.reshape(given[i], tuple(shape))
        if not sparse:
            wide = np.broadcast_to(wide, tuple(sizes))
        grids.append(np.copy(wide) if copy else wide)
    return grids if sparse and not copy and SPARSE_VIEWS_IN_LIST else tuple(grids)


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = [np.asarray(x) for x in args]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    views = [x if x.shape == shape else np.broadcast_to(x, shape) for x in arrays]
    return tuple(views) if BROADCAST_TO_TUPLE else views


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    of_python = (int, float, complex)  # which yield to the dtype of the arrays
    parts = [x if type(x) in of_python else np.asarray(x) for x in [*choicelist, default]]
    result = default
    for i in range(len(condlist) - 1, -1, -1):
        result = np.where(condlist[i], choicelist[i], result)
    dtype = np.result_type(*parts)
    return result if result.dtype == dtype else result.astype(dtype)


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    m = np.asarray(m)
    if dtype is None:
        dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, np.asarray(y), np.float64)
    rows = np.atleast_2d(m.astype(dtype))
    if not rowvar and np.ndim(m) > 1:
        rows = rows.T
    if y is not None:
        other = np.atleast_2d(np.asarray(y).astype(dtype))
        if not rowvar and np.ndim(y) > 1:
            other = other.T
        rows = np.concatenate((rows, other), axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    if fweights is None and aweights is None:
        centred = rows - np.mean(rows, axis=1, keepdims=True)
        return np.squeeze(np.dot(centred, np.conjugate(centred.T)) / max(rows.shape[1] - ddof, 0))
    aweights = 1.0 if aweights is None else np.asarray(aweights, float)
    weights = aweights if fweights is None else np.asarray(fweights, float) * aweights
    total = np.sum(weights)
    centred = rows - np.sum(rows * weights, axis=1, keepdims=True) / total
    if ddof == 0 or np.ndim(aweights) == 0:
        divisor = total - ddof
    else:
        divisor = total - ddof * np.sum(weights * aweights) / total
    return np.squeeze(np.dot(centred, np.conjugate((centred * weights).T)) / np.maximum(divisor, 0.0))


def corrcoef(
    x: Any, y: Any = None, rowvar: bool = True, bias: Any = None, ddof: Any = None, *, dtype: Any = None
) -> Any:
    c = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    scale = np.sqrt(np.real(np.diagonal(c)))
    return c / scale[:, None] / scale[None, :]


def matrix_power(a: Any, n: int) -> Any:
    a = np.asarray(a)
    if n < 0:
        a, n = np.linalg.inv(a), -n
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    result = a
    for _ in range(n - 1):
        result = np.matmul(result, a)
    return result


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        order = list(range(a.ndim))
        for k in axes:
            order.remove(k)
            order.insert(a.ndim, k)
        a = a.transpose(order)
    shape = a.shape[-(a.ndim - b.ndim) :]
    count = math.prod(shape)
    if a.size != count**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    # NumPy sets the shape of the solution in place.
    return np.linalg.solve(a.reshape(count, count), b.ravel()).reshape(shape)


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    moved = np.moveaxis(np.asarray(arr), axis, -1)
    shape = moved.shape[:-1]
    if 0 in shape:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    # Each row is a view: the function may write into it.
    indices = all_indices(shape)
    results = [np.asanyarray(func1d(moved[index], *args, **kwargs)) for index in indices]
    inner = results[0].shape
    if all(type(result) is np.ndarray for result in results):
        whole = np.reshape(np.stack(results), shape + inner)
        if whole.dtype != results[0].dtype:  # the first result decides
            whole = whole.astype(results[0].dtype)
    else:  # which decides about the class too, but for that of matrices, which have two axes
        is_matrix = isinstance(results[0], np.matrix)
        whole = np.zeros_like(np.asarray(results[0]) if is_matrix else results[0], shape=shape + inner)
        for index, result in zip(indices, results, strict=True):
            whole[index] = result
    # The axes of a result stand where the axis was.
    place = axis % np.ndim(arr)
    for k in range(len(inner)):
        whole = np.moveaxis(whole, len(shape) + k, place + k)
    return whole


MODES = ("valid", "same", "full")
"""The modes of convolutions, each at the number that stands for it as well."""


def _cut(whole: Any, n: int, k: int, mode: Any, start: int) -> Any:
    """The part that `mode` keeps of a full convolution of `n` with `k` <= `n` elements: ``"same"`` keeps
    n of them from `start`."""
    if mode.__class__ is int and 0 <= mode < len(MODES):
        mode = MODES[mode]
    if mode == "full":
        return whole
    if mode == "same":
        return whole[start : start + n]
    if mode == "valid":
        return whole[k - 1 : n]
    raise ValueError("mode must be one of 'full', 'same', 'valid'")


def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    a, v = np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(v))
    if len(v) > len(a):
        a, v = v, a
    n, k = len(a), len(v)
    if not k:
        raise ValueError("a convolution of no elements")
    result = np.zeros(n + k - 1, np.result_type(a, v))
    for i in range(k):
        result[i : i + n] += v[i] * a
    return _cut(result, n, k, mode, (k - 1) // 2)


def _are_convertible(*classes: type) -> bool:
    """Whether NumPy makes arrays of instances of these classes, be it by a method ``__array__`` of theirs,
    before it does anything with them."""
    own = ("__array_function__", "__array_ufunc__")
    return all(is_plain(cls) or not any(has(cls, name) for name in own) for cls in classes)


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    a, v = np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(v))
    whole = convolve(a, np.conjugate(v)[::-1])
    if len(v) > len(a):  # what is kept of the same length lies one further where the shorter is even
        return _cut(whole, len(v), len(a), mode, len(a) // 2)
    return _cut(whole, len(a), len(v), mode, (len(v) - 1) // 2)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    if out is not None:
        raise UnsupportedError("np.choose with out=", "adbc has no rule for that form", "assign the result")
    a, n = np.asarray(a), len(choices)
    dtype = np.result_type(*[np.asarray(choice) for choice in choices])
    if dtype.kind in "OV":
        raise UnsupportedError(
            f"np.choose of an array of dtype {dtype}",
            "its elements are no plain numbers",
            "make an array with np.empty, and write into it",
        )
    if mode == "raise" and not np.all((a >= 0) & (a < n)):
        raise ValueError("invalid entry in choice array")
    a = a % n if mode == "wrap" else np.clip(a, 0, n - 1)
    result = choices[n - 1]
    for i in range(n - 1):
        result = np.where(a == i, choices[i], result)
    return np.where(a < 0, result, result).astype(dtype)[()]  # of the shape of all, `a` among them


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return (np.conjugate(x1) * np.asarray(x2)).sum(axis)


def matvec(x1: Any, x2: Any, /) -> Any:
    return np.matmul(x1, np.asarray(x2)[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Any:
    return np.matmul(np.conjugate(x1)[..., None, :], x2)[..., 0, :]


def real_if_close(a: Any, tol: Any = 100) -> Any:
    a = np.asarray(a)
    if a.dtype.kind != "c":
        return a
    limit = np.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if np.all(np.absolute(a.imag) < limit) else a


BODIES: list[tuple[str, Any]] = [
    ("real_if_close", real_if_close),
    ("trapezoid", trapezoid),
    ("trapz", trapezoid),
    ("append", append),
    ("meshgrid", meshgrid),
    ("broadcast_arrays", broadcast_arrays),
    ("select", select),
    ("cov", cov),
    ("corrcoef", corrcoef),
    ("apply_along_axis", apply_along_axis),
    ("choose", choose),
    ("vecdot", vecdot),
    ("matvec", matvec),
    ("vecmat", vecmat),
]

ROWS: list[Rule] = [
    *(Overlay(getattr(np, name), body, when=plain) for name, body in BODIES if name in np.__all__),
    Overlay(np.ndarray.choose, choose, when=plain),
    Overlay(np.convolve, convolve, when=_are_convertible),
    Overlay(np.correlate, correlate, when=_are_convertible),
    Overlay(np.linalg.matrix_power, matrix_power, when=plain),
    Overlay(np.linalg.tensorsolve, tensorsolve, when=plain),
]
