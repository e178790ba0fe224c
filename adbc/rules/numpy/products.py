"""Rules of products of vectors, matrices and stacks of them.

The cotangents of a product of matrices are products of matrices, with one factor transposed (Giles, "An
extended collection of matrix derivative results for forward and reverse mode algorithmic differentiation",
2008, 2.2.2).  Transposed is always a view: BLAS reads matrices along rows or columns.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.formulas import Formula, always
from adbc.rules.numpy.base import ArrayRule, array_first, array_operands, plain
from adbc.rules.numpy.elementwise import conj
from adbc.rules.quick import quick
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, When
from adbc.tangents import project
from adbc.tangents.array_products import (
    crossed,
    dotted,
    is_finite,
    multiply,
    rows_times,
    scaled,
    strongly,
    times_columns,
)

__all__ = ["ROWS", "adjoint", "quick_kron"]


def adjoint(a: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return conj(a.swapaxes(-1, -2))


def _are_matrices(types: Sequence[Any]) -> bool:
    return all(getattr(t, "ndim", None) == 2 for t in types)


def _are_small(types: Sequence[Any]) -> bool:
    """Whether all factors are vectors or matrices."""
    return all(getattr(t, "ndim", None) in (1, 2) for t in types)


def _product(
    function: Callable[..., Any],
    fits: Callable[[Sequence[Any]], bool] = _are_small,
    real: Mapping[tuple[int, ...], Callable[..., Any]] | None = None,
) -> Formula:
    """The formula of `function`, which gives new memory, of the shape of its argument where `fits`; real: by
    the numbers of axes of both factors, what does the same for arrays of float64."""

    def of_types(types: Sequence[Any]) -> Callable[..., Any] | None:
        if real is None or any(getattr(t, "dtype", None) != "float64" for t in types):
            return None
        return real.get(tuple(t.ndim for t in types))

    return Formula(function, makes_new=True, fits=fits, of_types=of_types)


def _fitting(function: Callable[..., Any]) -> Formula:
    """The formula of `function`, which always gives the shape of its argument."""
    return Formula(function, fits=always)


# -- dot, matmul -----------------------------------------------------------------------------------------


def _is_matrix_product(a: Any, b: Any) -> bool:
    """Whether ``np.dot(a, b)`` is ``a @ b`` of vectors or matrices."""
    return a.__class__ is np.ndarray and b.__class__ is np.ndarray and 0 < a.ndim < 3 and 0 < b.ndim < 3


def dot_a(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if _is_matrix_product(a, b):
        return matmul_a(by, y, a, b)
    if np.ndim(a) == 0 or np.ndim(b) == 0 or (np.ndim(a) == 1 and np.ndim(b) == 1):
        return multiply(by, conj(b))
    n = np.ndim(a) - 1
    others = [i for i in range(np.ndim(b)) if i != max(np.ndim(b) - 2, 0)]
    return strongly(np.tensordot, by, conj(b), (list(range(n, np.ndim(by))), others))


def dot_b(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if _is_matrix_product(a, b):
        return matmul_b(by, y, a, b)
    if np.ndim(a) == 0 or np.ndim(b) == 0 or (np.ndim(a) == 1 and np.ndim(b) == 1):
        return multiply(by, conj(a))
    n = np.ndim(a) - 1
    d = strongly(np.tensordot, conj(a), by, (list(range(n)), list(range(n))))
    return np.moveaxis(d, 0, max(np.ndim(b) - 2, 0))


def _refuse_axes(others: dict[str, Any]) -> None:
    if "axes" in others or "axis" in others:
        raise UnsupportedError(
            "np.matmul with axes=",
            "adbc has no rule for that form",
            "move the axes first: np.moveaxis(a, source, destination)",
        )


def matmul_a(by: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    """The cotangent ``by @ b.T`` of `a`; a stack of matrices times one matrix is one product."""
    if others:
        _refuse_axes(others)
    if b.ndim == 1:
        return multiply(by, conj(b)) if a.ndim == 1 else multiply(by[..., None], conj(b))
    if b.ndim == 2:
        return dotted(by, conj(b).T)  # of any number of axes, as one product
    return strongly(np.matmul, by[..., None, :] if a.ndim == 1 else by, adjoint(b))


def matmul_b(by: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    """The cotangent ``a.T @ by`` of `b`; where one matrix was multiplied by many, they are one tall one."""
    if others:
        _refuse_axes(others)
    if a.ndim == 1:
        if b.ndim == 1:
            return multiply(by, conj(a))
        return multiply(conj(a)[..., None], by[..., None, :])
    if b.ndim <= 2 and a.ndim > 2:
        rows = math.prod(a.shape[:-1])
        wide = np.reshape(by, (rows, *by.shape[a.ndim - 1 :]))
        return dotted(conj(np.reshape(a, (rows, a.shape[-1]))).T, wide)
    if b.ndim <= 2:
        return dotted(conj(a).T, by)
    return strongly(np.matmul, adjoint(a), by)


def matmul_da(d: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    _refuse_axes(others)
    return strongly(np.matmul, d, b)


def matmul_db(d: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    _refuse_axes(others)
    return strongly(np.matmul, a, d)


# -- tensordot, inner ------------------------------------------------------------------------------------


def tensordot_axes(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of `a` and of `b` that are summed over, in pairs."""
    if isinstance(axes, (int, np.integer)):
        return list(range(np.ndim(a) - int(axes), np.ndim(a))), list(range(int(axes)))
    first, second = axes
    first = [first] if np.ndim(first) == 0 else list(first)
    second = [second] if np.ndim(second) == 0 else list(second)
    return [int(i) % np.ndim(a) for i in first], [int(i) % np.ndim(b) for i in second]


def _summed_and_free(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int], list[int], list[int]]:
    """The axes of `a` and of `b` that are summed over, then those that are not."""
    sum_a, sum_b = tensordot_axes(a, b, axes)
    free_a = [i for i in range(np.ndim(a)) if i not in sum_a]
    free_b = [i for i in range(np.ndim(b)) if i not in sum_b]
    return sum_a, sum_b, free_a, free_b


def tensordot_a(by: Any, y: Any, a: Any, b: Any, axes: Any = 2, **_: Any) -> Any:
    if type(axes) is int and axes == 1 and np.ndim(a) == np.ndim(b) == 2:
        return dot_a(by, y, a, b)
    if type(axes) is int and np.ndim(a) == np.ndim(b) == axes:
        return multiply(by, conj(b))  # all is summed over
    sum_a, sum_b, free_a, free_b = _summed_and_free(a, b, axes)
    d = strongly(np.tensordot, by, conj(b), (list(range(len(free_a), np.ndim(by))), free_b))
    order = free_a + [i for _, i in sorted(zip(sum_b, sum_a, strict=True))]
    return np.transpose(d, np.argsort(np.array(order, int)))


def tensordot_b(by: Any, y: Any, a: Any, b: Any, axes: Any = 2, **_: Any) -> Any:
    if type(axes) is int and axes == 1 and np.ndim(a) == np.ndim(b) == 2:
        return dot_b(by, y, a, b)
    if type(axes) is int and np.ndim(a) == np.ndim(b) == axes:
        return multiply(by, conj(a))
    sum_a, sum_b, free_a, free_b = _summed_and_free(a, b, axes)
    d = strongly(np.tensordot, conj(a), by, (free_a, list(range(len(free_a)))))
    order = [i for _, i in sorted(zip(sum_a, sum_b, strict=True))] + free_b
    return np.transpose(d, np.argsort(np.array(order, int)))


def inner_a(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return multiply(by, conj(b))
    if np.ndim(a) == np.ndim(b) == 1:
        return multiply(by, conj(b))
    return tensordot_a(by, y, a, b, axes=([-1], [-1]))


def inner_b(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return multiply(by, conj(a))
    if np.ndim(a) == np.ndim(b) == 1:
        return multiply(by, conj(a))
    return tensordot_b(by, y, a, b, axes=([-1], [-1]))


# -- kron, outer -----------------------------------------------------------------------------------------


def _blocks(by: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``kron(a, b)``, a matrix with a row per element of `a` and a column per one of `b`."""
    n = max(np.ndim(a), np.ndim(b))
    shape_a = (1,) * (n - np.ndim(a)) + np.shape(a)
    shape_b = (1,) * (n - np.ndim(b)) + np.shape(b)
    apart = np.reshape(by, [size for pair in zip(shape_a, shape_b, strict=True) for size in pair])
    return apart.transpose(*range(0, 2 * n, 2), *range(1, 2 * n, 2)).reshape(np.size(a), np.size(b))


def kron_both(by: Any, y: Any, a: Any, b: Any) -> Any:
    """The cotangents of both arguments of `kron`: one matrix times the other argument as a vector."""
    blocks = _blocks(by, a, b)
    by_a = rows_times(blocks, conj(np.ravel(b))).reshape(np.shape(a))
    return by_a, times_columns(conj(np.ravel(a)), blocks).reshape(np.shape(b))


@quick
def quick_kron(a: Any, b: Any) -> Any:
    """The Kronecker product of arrays of NumPy's own class, quick for two matrices."""
    try:
        if a.__class__ is b.__class__ and a.ndim == b.ndim == 2:
            product = a[:, None, :, None] * b[None, :, None, :]
            return product.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    except AttributeError:
        pass  # both are numbers of Python, or lists
    return np.kron(a, b)


class KronRule(ArrayRule):
    """The rule of ``np.kron``, in whose place builders may call `quick_kron`."""

    def direct(self, count: int, keywords: Sequence[str]) -> Any:
        return None if keywords else quick_kron  # of numbers and arrays alone, see `when`


def kron_a(by: Any, y: Any, a: Any, b: Any) -> Any:
    return rows_times(_blocks(by, a, b), conj(np.ravel(b))).reshape(np.shape(a))


def kron_b(by: Any, y: Any, a: Any, b: Any) -> Any:
    return times_columns(conj(np.ravel(a)), _blocks(by, a, b)).reshape(np.shape(b))


def outer_a(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    return rows_times(by, conj(np.ravel(b))).reshape(np.shape(a))


def outer_b(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    return times_columns(conj(np.ravel(a)), by).reshape(np.shape(b))


# -- cross -----------------------------------------------------------------------------------------------

_TURN = (1, 2, 0)


def _turned_product(a: Any, b: Any) -> Any:
    """The cross product of vectors of three components, which are on the last axis; zero wins in it."""
    c = a * b[..., _TURN] - a[..., _TURN] * b
    if not is_finite(c):
        c = multiply(a, b[..., _TURN]) - multiply(a[..., _TURN], b)
    return c[..., _TURN]


def _vectors(by: Any, a: Any, b: Any, axisa: int, axisb: int, axisc: int, axis: Any) -> tuple[Any, ...]:
    """The arrays `by`, `a` and `b` with components on the last axis, and the axes they had in `a` and `b`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise UnsupportedError(
            "np.cross of vectors of two components", "adbc has no rule for that form", "append a zero to each"
        )
    return np.moveaxis(by, axisc, -1), a, b, axisa, axisb


def cross_along(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    """``np.cross``, where zero wins in the products of numbers."""
    found = np.cross(a, b, axisa, axisb, axisc, axis)
    if is_finite(found):
        return found
    _, a, b, *_ = _vectors(found, a, b, axisa, axisb, axisc, axis)
    return np.moveaxis(_turned_product(a, b), -1, axisc if axis is None else axis)


def cross_a(
    by: Any, y: Any, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Any:
    """The cotangent ``b x by`` of `a`: a triple product does not change when its vectors are rotated."""
    by, a, b, axisa, _ = _vectors(by, a, b, axisa, axisb, axisc, axis)
    return np.moveaxis(project(_turned_product(conj(b), by), a), -1, axisa)


def cross_b(
    by: Any, y: Any, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Any:
    by, a, b, _, axisb = _vectors(by, a, b, axisa, axisb, axisc, axis)
    return np.moveaxis(project(_turned_product(by, conj(a)), b), -1, axisb)


# -- rows ------------------------------------------------------------------------------------------------

_REAL_A: dict[tuple[int, ...], Callable[..., Any]] = {
    (1, 1): lambda by, y, a, b: scaled(by, b),
    (1, 2): lambda by, y, a, b: dotted(b, by),
    (2, 1): lambda by, y, a, b: crossed(by, b),
    (2, 2): lambda by, y, a, b: dotted(by, b.T),
}
_REAL_B: dict[tuple[int, ...], Callable[..., Any]] = {
    (1, 1): lambda by, y, a, b: scaled(by, a),
    (1, 2): lambda by, y, a, b: crossed(a, by),
    (2, 1): lambda by, y, a, b: dotted(by, a),
    (2, 2): lambda by, y, a, b: dotted(a.T, by),
}
DOT_A, DOT_B = _product(dot_a, real=_REAL_A), _product(dot_b, real=_REAL_B)
MATMUL_A, MATMUL_B = _product(matmul_a, real=_REAL_A), _product(matmul_b, real=_REAL_B)
KRON_A, KRON_B = _product(kron_a, _are_matrices), _product(kron_b, _are_matrices)


def _strong(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of two arrays, which sums products of their numbers, where zero wins in these."""

    def along(p: Any, d: Any, **others: Any) -> Any:
        if others:
            return strongly(lambda p, d: function(p, d, **others), p, d)
        return strongly(function, p, d)

    return along


def bilinear(
    function: Any, names: str, va: Any, vb: Any, together: Any = None, when: When = plain,
    kind: type[ArrayRule] = ArrayRule, along: Any = None, **defaults: Any,
) -> ArrayRule:  # fmt: skip
    """The row of a function linear in each of its two arrays; along: what does it for an array and a tangent,
    where zero wins, if not every term of a result is a product with the sign of plus."""
    if along is None:
        along = _strong(function)
    row = kind(
        function,
        names,
        jvp=[
            lambda d, y, a, b, **others: along(d, b, **others),
            lambda d, y, a, b, **others: along(a, d, **others),
        ],
        vjp=[va, vb],
        when=when,
        defaults=defaults,
    )
    row.together = together
    return row


class InplaceMatmul(ArrayRule):
    """The rule of ``u @= v``: the product is written into `u`."""

    mutates = True

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return self._frule_into(args[0], dargs[0], list(args), dargs, {}, args, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        return self._rrule_into(args[0], fargs[0], list(args), fargs, {}, args, kwargs)


def _matmul_row(function: Any, names: str, when: When, kind: type[ArrayRule] = ArrayRule) -> ArrayRule:
    return kind(
        function, names, jvp=[matmul_da, matmul_db], vjp=[MATMUL_A, MATMUL_B], when=when, result="matmul"
    )


ROWS: list[Rule] = [
    bilinear(np.dot, "a b out", DOT_A, DOT_B),
    bilinear(np.ndarray.dot, "a b out", DOT_A, DOT_B),
    _matmul_row(np.matmul, "x1 x2 out", plain),
    _matmul_row(operator.matmul, "x1 x2", array_operands),
    _matmul_row(operator.imatmul, "x1 x2", array_first, InplaceMatmul),
    _matmul_row(operator.imatmul, "x1 x2", array_operands),  # of a list on the left a new array is made
    ArrayRule(
        np.vdot,
        "a b",
        jvp=[lambda d, y, a, b: strongly(np.vdot, d, b), lambda d, y, a, b: strongly(np.vdot, a, d)],
        vjp=[
            lambda by, y, a, b: multiply(conj(by), np.ravel(b)).reshape(np.shape(a)),
            lambda by, y, a, b: multiply(by, np.ravel(a)).reshape(np.shape(b)),
        ],
    ),
    bilinear(np.inner, "a b", inner_a, inner_b),
    bilinear(np.outer, "a b out", _fitting(outer_a), _fitting(outer_b)),
    bilinear(np.tensordot, "a b axes", tensordot_a, tensordot_b),
    bilinear(np.kron, "a b", KRON_A, KRON_B, kron_both, kind=KronRule, along=_strong(quick_kron)),
    bilinear(quick_kron, "a b", KRON_A, KRON_B, kron_both),
    bilinear(np.cross, "a b axisa axisb axisc axis", _fitting(cross_a), _fitting(cross_b), along=cross_along),
]
