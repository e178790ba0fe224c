"""Kinks, refusals, aliasing, and functions whose derivative is zero."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError, UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.numpy.instances import viewed
from adbc.rules.table import Overlay, ZeroRule
from adbc.tangents import NO_FDATA

from .harness import ATTRIBUTES, ROWS, TABLE, find

INF = np.inf


def slopes(function: Any, *args: Any, **kwargs: Any) -> list[tuple[float, float]]:
    """For each argument the derivative of the sum of the result, by forward and by reverse mode."""
    found = []
    for i, x in enumerate(args):
        row, bound, rest = find(function, args, kwargs)
        dx = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
        _, dout = row.frule(bound, [dx if j == i else None for j in range(len(args))], rest)
        row, bound, rest = find(function, args, kwargs)
        f = np.zeros_like(x) if isinstance(x, np.ndarray) else NO_FDATA
        _, fout, pullback = row.rrule(bound, [f if j == i else None for j in range(len(args))], rest)
        if isinstance(fout, np.ndarray):
            fout += 1.0
        r = pullback(1.0 if fout is NO_FDATA else None)[i]
        total = float(np.sum(f)) if isinstance(f, np.ndarray) else (0.0 if r is None else float(r))
        found.append((0.0 if dout is None else float(np.sum(dout)), total))
    return found


KINKS = [
    (np.abs, (0.0,), [0.0]),
    (np.sqrt, (0.0,), [INF]),
    (np.cbrt, (0.0,), [INF]),
    (np.log, (0.0,), [INF]),
    (np.sign, (0.0,), [0.0]),
    (np.hypot, (0.0, 0.0), [0.0, 0.0]),
    (np.arctan2, (0.0, 0.0), [0.0, 0.0]),
    (np.maximum, (1.0, 1.0), [1.0, 0.0]),
    (np.minimum, (1.0, 1.0), [1.0, 0.0]),
    (np.fmax, (np.nan, 1.0), [0.0, 1.0]),
    (np.fmax, (1.0, np.nan), [1.0, 0.0]),
    (np.fmin, (1.0, np.nan), [1.0, 0.0]),
    (np.power, (0.0, 0.0), [0.0, 0.0]),
    (np.power, (0.0, 2.0), [0.0, 0.0]),
    (np.power, (0.0, 1.0), [1.0, 0.0]),
    (np.power, (0.0, 0.5), [INF, 0.0]),
    (np.power, (-2.0, 3.0), [12.0, np.nan]),
    (np.arcsin, (1.0,), [INF]),
    (np.arccos, (-1.0,), [-INF]),
    (np.remainder, (4.0, 2.0), [1.0, -2.0]),
    (np.remainder, (-3.0, 2.0), [1.0, 2.0]),
    (np.fmod, (-3.0, 2.0), [1.0, 1.0]),
    (np.floor_divide, (4.0, 2.0), [0.0, 0.0]),
    (np.floor, (1.0,), [0.0]),
    (np.logaddexp, (-INF, -INF), [1.0, 1.0]),
    (np.logaddexp, (-INF, 0.0), [0.0, 1.0]),
    (np.logaddexp, (INF, 0.0), [1.0, 0.0]),
    (np.sinc, (0.0,), [0.0]),
    (np.clip, (1.0, 1.0, 2.0), [1.0, 0.0, 0.0]),
    (np.clip, (5.0, 3.0, 2.0), [0.0, 0.0, 1.0]),
    (np.clip, (0.0, 3.0, 2.0), [0.0, 0.0, 1.0]),
]


@pytest.mark.parametrize("function, args, expected", KINKS, ids=lambda x: getattr(x, "__name__", None))
def test_kink(function: Any, args: Any, expected: list[float]) -> None:
    """Scalars and arrays, forward and reverse, follow the same convention."""
    with np.errstate(all="ignore"):
        for operands in (args, tuple(np.array([x]) for x in args), tuple(np.array(x) for x in args)):
            for (forward, reverse), slope in zip(slopes(function, *operands), expected, strict=True):
                np.testing.assert_equal(forward + 0.0, slope)
                np.testing.assert_equal(reverse + 0.0, slope)


@pytest.mark.parametrize(
    "function, x",
    [(np.linalg.norm, np.zeros(3)), (np.std, np.full(4, 2.5)), (np.var, np.full(4, 2.5))],
)
def test_flat_minimum_has_slope_zero(function: Any, x: Any) -> None:
    assert slopes(function, x) == [(0.0, 0.0)]


@pytest.mark.parametrize("function", [np.max, np.min, np.ndarray.max, np.maximum.reduce])
def test_extremum_follows_the_first_of_equals(function: Any) -> None:
    x = np.array([3.0, 3.0, 3.0])
    row, args, rest = find(function, (x,), {})
    f = np.zeros(3)
    _, _, pullback = row.rrule(args, (f,), rest)
    pullback(2.0)
    np.testing.assert_array_equal(f, [2.0, 0.0, 0.0])


def test_zero_cotangent_stays_zero_at_a_singularity() -> None:
    for function in (np.sqrt, np.log, np.reciprocal):
        with np.errstate(all="ignore"):
            row, args, rest = find(function, (np.array([0.0, 4.0]),), {})
            f = np.zeros(2)
            _, fout, pullback = row.rrule(args, (f,), rest)
            fout[1] = 1.0
            pullback(None)
        assert f[0] == 0.0 and np.isfinite(f[1])


def test_a_true_nan_is_not_hidden() -> None:
    row, args, rest = find(np.multiply, (np.array([np.nan]), np.array([0.0])), {})
    f = np.zeros(1)
    _, fout, pullback = row.rrule(args, (None, f), rest)
    fout[0] = 1.0
    pullback(None)
    assert np.isnan(f[0])


def test_repeated_indices_of_a_write_keep_the_last() -> None:
    target, values = np.zeros(2), np.array([1.0, 2.0])
    row, args, _ = find(operator.setitem, (target, [0, 0], values), {})
    f, fv = np.array([5.0, 7.0]), np.zeros(2)
    _, _, pullback = row.rrule(args, (f, None, fv))
    assert target[0] == 2.0
    pullback(None)
    np.testing.assert_array_equal(fv, [0.0, 5.0])
    np.testing.assert_array_equal(f, [0.0, 7.0])


def test_update_through_a_subscript() -> None:
    """``u[idx] *= v`` arrives as getitem, imul, setitem; the getitem of a slice is a view."""
    u, v = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
    fu, fv = np.array([1.0, 1.0, 1.0]), np.zeros(2)
    index = slice(1, 3)
    view, fview, _ = find(operator.getitem, (u, index), {})[0].rrule((u, index), (fu, None))
    result, fresult, back = find(operator.imul, (view, v), {})[0].rrule((view, v), (fview, fv))
    assert result is view and fresult is fview
    _, _, undo = find(operator.setitem, (u, index, result), {})[0].rrule(
        (u, index, result), (fu, None, fresult)
    )
    np.testing.assert_array_equal(u, [1.0, 8.0, 15.0])
    undo(None)
    back(None)
    np.testing.assert_array_equal(u, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(fu, [1.0, 4.0, 5.0])
    np.testing.assert_array_equal(fv, [2.0, 3.0])


def test_broadcast_view_shares_the_shadow() -> None:
    x, f = np.array([1.0, 2.0]), np.zeros(2)
    row, args, rest = find(np.broadcast_to, (x, (3, 2)), {})
    out, fout, _ = row.rrule(args, (f, None), rest)
    row, args, rest = find(np.sin, (out,), {})
    _, fsin, pullback = row.rrule(args, (fout,), rest)
    fsin += 1.0
    pullback(None)
    np.testing.assert_allclose(f, 3 * np.cos(x))


# -- refusals ----------------------------------------------------------------------------------------------


def test_writing_an_active_value_into_a_constant_array() -> None:
    u = np.zeros(3)
    cases: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = [
        (operator.setitem, (u, 0, 1.5), (None, None, NO_FDATA)),
        (operator.iadd, (u, 1.5), (None, NO_FDATA)),
        (np.ndarray.fill, (u, 1.5), (None, NO_FDATA)),
        (np.copyto, (u, np.ones(3)), (None, np.zeros(3))),
        (np.add, (np.ones(3), 1.0, u), (np.zeros(3), None, None)),
        (np.add.at, (u, [0, 0], np.ones(2)), (None, None, np.zeros(2))),
        (np.sum, (np.ones((2, 3)), 0, None, u), (np.zeros((2, 3)), None, None, None)),
    ]
    for function, args, shadows in cases:
        row, bound, rest = find(function, args, {})
        with pytest.raises(ConstWriteError):
            row.rrule(bound, shadows, rest)
        assert not u.any()


def test_a_constant_array_is_restored() -> None:
    u = np.arange(3)
    row, args, rest = find(operator.iadd, (u, 2), {})
    _, shadow, pullback = row.rrule(args, (None, None), rest)
    assert shadow is None and u[0] == 2
    pullback(None)
    np.testing.assert_array_equal(u, [0, 1, 2])


def test_arrays_of_objects_are_refused() -> None:
    x, f = np.empty(2, object), np.empty(2, object)
    x[:], f[:] = [np.ones(2), np.ones(2)], [np.zeros(2), np.zeros(2)]
    for function in (np.sum, np.square, operator.neg, np.dot, np.concatenate):
        args: Any = {np.dot: (x, x), np.concatenate: ((x, x),)}.get(function, (x,))
        row = TABLE.find(function, tuple(map(type, args)))
        assert row is not None
        with pytest.raises(UnsupportedError):
            row.rrule(args, ((f, f) if function is np.concatenate else f, None)[: len(args)])


def test_rows_for_arrays_are_not_for_subclasses() -> None:
    classes = (type("Own", (np.ndarray,), {}), np.ndarray)
    for function in (np.sum, np.add, operator.mul, np.reshape, np.ndarray.reshape, operator.getitem):
        row = TABLE.find(function, classes[: 1 if function is np.sum else 2])
        assert row is None or isinstance(row, Overlay)
    for function in (operator.mul, operator.getitem):  # which this class answers in Python
        assert TABLE.find(function, (np.ma.MaskedArray, np.ndarray)) is None


def test_refused_calls() -> None:
    x, f = np.ones((2, 2)), np.zeros((2, 2))
    refused: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (viewed, (x, np.int64), {}),
        (viewed, (x, np.float32), {}),
    ]
    for function, args, kwargs in refused:
        row = TABLE.find(function, tuple(map(type, args)))
        assert row is not None
        with pytest.raises(UnsupportedError):
            row.rrule(args, (f, None)[: len(args)], kwargs)


# -- zeros ---------------------------------------------------------------------------------------------------

EXTRA: dict[Any, tuple[Any, ...]] = {
    np.searchsorted: (0.5,), np.ndarray.searchsorted: (0.5,), np.digitize: (np.array([0.0, 1.0]),),
    np.isclose: (1.0,), np.allclose: (1.0,), np.isin: (1.0,), np.ndarray.__contains__: (1.0,),
}  # fmt: skip
ON_ARRAYS = [
    getattr(np, name)
    for name in ["argmax", "argmin", "argsort", "nonzero", "flatnonzero", "argwhere", "count_nonzero", "all",
                 "any", "isclose", "allclose", "round", "zeros_like", "ones_like", "searchsorted", "digitize",
                 "isin", "shape", "ndim", "size", "iscomplexobj", "isreal"]
] + [row.function for row in ROWS if row.function in ATTRIBUTES and isinstance(row, ZeroRule)
     and row.function.__objclass__ is np.ndarray]  # fmt: skip


@pytest.mark.parametrize("function", ON_ARRAYS, ids=lambda f: getattr(f, "__name__", "row"))
def test_zero_derivative(function: Any) -> None:
    x, f = np.array([0.3, 0.1, 0.7]), np.ones(3)
    args = (x, *EXTRA.get(function, ()))
    row, bound, rest = find(function, args, {})
    shadows = (f, *(None for _ in args[1:]))
    _, dout = row.frule(bound, shadows, rest)
    assert dout is None or not np.any(dout)
    _, fout, pullback = row.rrule(bound, shadows, rest)
    assert fout is None or (isinstance(fout, np.ndarray) and not np.may_share_memory(fout, f))
    assert all(r is None for r in pullback(None))
    np.testing.assert_array_equal(f, np.ones(3))


def test_comparisons_of_arrays() -> None:
    x = np.array([0.3, 0.1])
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        row, args, rest = find(getattr(operator, name), (x, 0.2), {})
        out, fout, pullback = row.rrule(args, (np.zeros(2), NO_FDATA), rest)
        assert out.dtype == bool and fout is None and list(pullback(None)) == [None, None]


def test_mutating_rows_say_so() -> None:
    """Builders must use these even where nothing is active: the pullback restores the array."""
    for function in (operator.setitem, operator.iadd, operator.imatmul, operator.ior, np.ndarray.fill,
                     np.ndarray.sort, np.copyto, np.add.at):  # fmt: skip
        assert any(getattr(row, "mutates", False) for row in TABLE.rows(function))


def test_iteration() -> None:
    """Numbers go back to their slots; rows are views of the shadow."""
    x, f = np.array([2.0, 3.0]), np.zeros(2)
    iterator, shadow, _ = find(intrinsics._iter_, (x,), {})[0].rrule((x,), (f,))
    found = []
    for _ in range(3):
        value, fvalue, pullback = find(intrinsics._next_, (iterator,), {})[0].rrule((iterator,), (shadow,))
        found.append(value)
        pullback(10.0 if fvalue is NO_FDATA else None)
    assert found == [2.0, 3.0, intrinsics.EXHAUSTED]
    np.testing.assert_array_equal(f, [10.0, 10.0])
    a, fa = np.ones((2, 2)), np.zeros((2, 2))
    iterator, shadow, _ = find(iter, (a,), {})[0].rrule((a,), (fa,))
    _, row, _ = find(intrinsics._next_, (iterator,), {})[0].rrule((iterator,), (shadow,))
    row += 1.0
    np.testing.assert_array_equal(fa, [[1.0, 1.0], [0.0, 0.0]])
    iterator, tangent = find(iter, (x,), {})[0].frule((x,), (np.array([5.0, 7.0]),))
    assert find(intrinsics._next_, (iterator,), {})[0].frule((iterator,), (tangent,)) == (2.0, 5.0)


def test_the_tangent_of_a_number_of_numpy_may_be_one_of_python() -> None:
    x = np.float64(1.5)
    row, args, _ = find(np.generic.item, (x,), {})
    assert row.frule(args, (2.0,)) == (1.5, 2.0)


HOLED = np.array([[1.0, 2.0, -0.5], [np.nan, 0.7, INF], [0.3, INF, 1.1]])
STACKED = np.stack([HOLED, HOLED[::-1]])
SUMS_OF_PRODUCTS: list[Any] = [
    lambda b: (HOLED @ b)[0],
    lambda b: (b @ HOLED.T)[0],
    lambda b: (HOLED @ np.outer(b, b))[0].sum(),
    lambda b: (np.outer(b, b) @ HOLED.T)[:, 0].sum(),
    lambda b: np.dot(HOLED, b)[0],
    lambda b: np.dot(STACKED, b)[0, 0] + np.dot(b, np.swapaxes(STACKED, 1, 2))[1, 2],
    lambda b: np.array([HOLED[1] @ b, HOLED[0] @ b])[1],
    lambda b: np.array([np.vdot(HOLED[1], b), np.vdot(b, HOLED[0])])[1],
    lambda b: np.inner(HOLED, b)[0] + np.inner(b, HOLED)[0],
    lambda b: (STACKED @ b)[0, 0] + (STACKED @ np.outer(b, b))[1, 2].sum(),
    lambda b: np.tensordot(HOLED, b, 1)[0] + np.tensordot(b, STACKED, ([0], [2]))[0, 0],
    lambda b: np.einsum("ij,j->i", HOLED, b)[0] + np.einsum("ij,j,j->", HOLED[:1], b, b),
    lambda b: np.einsum("ij,j,j->i", HOLED, b, b)[0],
    lambda b: np.convolve([1.0, 0.5, np.nan], b)[1] + np.correlate(b, [np.nan, 1.0], "full")[0],
    lambda b: np.nansum(HOLED[:2] @ b),
]


@pytest.mark.parametrize("f", SUMS_OF_PRODUCTS, ids=range(len(SUMS_OF_PRODUCTS)))
def test_what_is_not_used_of_a_product_has_no_part_in_its_derivative(f: Any) -> None:
    """A row with NaN that is not selected afterwards has a cotangent of zero, which wins."""
    b = np.array([1.3, 0.7, -0.4])
    with np.errstate(invalid="ignore"):
        along = [adbc.jvp(f, (b,), (e,))[1] for e in np.eye(3)]
        assert np.all(np.isfinite(along))
        np.testing.assert_allclose(adbc.grad(f)(b), along, rtol=1e-12, atol=1e-14)


LEFT_OUT = np.array([[0.0, 1.0, 0.5], [0.0, 2.0, -1.0], [0.0, 0.3, 0.0]])
"""It leaves the first component out of all products."""


def written(v: Any) -> Any:
    out, into = np.zeros(3), np.outer(np.ones(3), v)
    np.dot(LEFT_OUT, v, out=out)
    into @= LEFT_OUT.T
    return out.sum() + into[1, 2]


SINGULAR: list[Any] = [
    lambda v: np.dot(v, LEFT_OUT[0]),
    lambda v: v.dot(LEFT_OUT[1]),
    lambda v: (v @ LEFT_OUT.T)[0],
    lambda v: (LEFT_OUT @ v).sum(),
    lambda v: (LEFT_OUT @ np.outer(v, np.ones(2))).sum(),
    lambda v: np.vdot(LEFT_OUT[0], v) + np.inner(LEFT_OUT, v).sum(),
    lambda v: np.tensordot(LEFT_OUT, v, 1)[0] + np.linalg.multi_dot([v, LEFT_OUT.T, v[1:2] * LEFT_OUT[1]]),
    lambda v: np.einsum("i,ij->", v, LEFT_OUT.T) + np.einsum("i,i,ij->j", v, [1.0, 3.0, 2.0], LEFT_OUT.T)[0],
    lambda v: np.outer(v, np.zeros(2)).sum() + np.kron(np.zeros(2), v).sum() + v[1],
    lambda v: np.cross(v, [1.0, 0.0, 0.0])[1] + np.cross([2.0, 0.0, 0.0], v, axis=0)[2],
    lambda v: np.convolve(v, np.zeros(2)).sum() + np.correlate(np.zeros(5), v)[0] + v[2],
    written,
]


@pytest.mark.parametrize("f", SINGULAR, ids=range(len(SINGULAR)))
def test_a_singular_number_that_is_multiplied_by_zero_counts_nothing(f: Any) -> None:
    """In both modes, and beside others in one batch; multiplied by something else it is infinite."""
    x = np.array([0.0, 4.0, 2.25])

    def of_roots(x: Any) -> Any:
        return f(np.sqrt(x))

    with np.errstate(all="ignore"):
        expected = [0.0, *((of_roots(x + e) - of_roots(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)[1:])]
        for _ in range(3):
            np.testing.assert_allclose(adbc.grad(of_roots)(x), expected, rtol=1e-7)
            along = [adbc.jvp(of_roots, (x,), (e,))[1] for e in np.eye(3)]
            np.testing.assert_allclose(along, expected, rtol=1e-7)
        np.testing.assert_allclose(adbc.jacfwd(of_roots)(x), expected, rtol=1e-7)
        assert np.isinf(adbc.jvp(lambda x: np.dot(np.sqrt(x), [1.0, 1.0, 0.0]), (x,), (np.ones(3),))[1])


def test_what_is_used_of_a_product_and_not_finite_stays_so() -> None:
    b = np.array([1.3, 0.7, -0.4])
    found = adbc.grad(lambda b: (HOLED @ b)[1] + (HOLED @ b)[0])(b)
    np.testing.assert_array_equal(np.isfinite(found), [False, True, False])
    assert found[1] == pytest.approx(2.7)
