"""Rules of linear algebra: systems of equations, factorisations, norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy import determinants
from adbc.rules.numpy.base import (
    ArrayRule,
    any_active,
    finish,
    gather,
    gather_tangent,
    give,
    new_shadow,
    plain,
)
from adbc.rules.numpy.determinants import det_jvp, det_vjp
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.equal_values import cancelled_are_nan, gaps, seed
from adbc.rules.numpy.products import adjoint
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import FData, Tangent, fill_tangent, fresh_shadow, fresh_tangent
from adbc.tangents.array_products import multiply

__all__ = ["ROWS", "VECTORS", "FreeVectors", "multiple"]


# -- linear algebra --------------------------------------------------------------------------------------


def _is_vector(a: Any, b: Any) -> bool:
    """Whether the right-hand side of ``solve(a, b)`` is one vector rather than matrices."""
    if np.ndim(b) == 1:
        return True
    old = int(np.__version__.split(".")[0]) < 2
    return old and np.ndim(b) == np.ndim(a) - 1


def solve_b(by: Any, y: Any, a: Any, b: Any) -> Any:
    """The cotangent of `b` in ``solve(a, b)`` (Giles 2008, 2.3.1)."""
    if _is_vector(a, b):
        if np.ndim(by) == 1:
            return np.linalg.solve(adjoint(a), by)
        return np.linalg.solve(adjoint(a), by[..., None])[..., 0]
    return np.linalg.solve(adjoint(a), by)


def _solve_a(bb: Any, y: Any, a: Any, b: Any) -> Any:
    """The cotangent of `a` in ``solve(a, b)``, from that of `b`."""
    if _is_vector(a, b):
        return (-bb)[..., None] * conj(y)[..., None, :]
    return np.matmul(-bb, adjoint(y))


def solve_a(by: Any, y: Any, a: Any, b: Any) -> Any:
    return _solve_a(solve_b(by, y, a, b), y, a, b)


def solve_both(by: Any, y: Any, a: Any, b: Any) -> Any:
    """The cotangents of both arguments of ``solve(a, b)``, for which one system of equations is solved."""
    bb = solve_b(by, y, a, b)
    return _solve_a(bb, y, a, b), bb


def solve_da(d: Any, y: Any, a: Any, b: Any) -> Any:
    if _is_vector(a, b):
        if np.ndim(a) == 2 and np.ndim(y) == 1:
            return np.linalg.solve(a, np.matmul(-d, y))
        return -np.linalg.solve(a, np.matmul(d, y[..., None]))[..., 0]
    return -np.linalg.solve(a, np.matmul(d, y))


def solve_db(d: Any, y: Any, a: Any, b: Any) -> Any:
    return np.linalg.solve(a, d)


def inv_jvp(d: Any, y: Any, a: Any) -> Any:
    return -np.matmul(np.matmul(y, d), y)


def inv_vjp(by: Any, y: Any, a: Any) -> Any:
    return -np.matmul(np.matmul(adjoint(y), by), adjoint(y))


def _half(x: Any) -> Any:
    """The lower triangle of `x`, with half of the diagonal."""
    return np.tril(x) - 0.5 * x * np.eye(np.shape(x)[-1], dtype=np.asarray(x).real.dtype)


def _lower(y: Any, others: dict[str, Any]) -> Any:
    """The lower Cholesky factor, from the factor `y` that NumPy gave, which may be the upper one."""
    return adjoint(y) if others.get("upper") else y


_BASE = 32


def lower_inverse(low: Any) -> Any:
    """The inverse of lower triangular matrices: from those of the diagonal blocks follows the block below.

    It takes a third of the work of ``np.linalg.inv``, most of it in products of matrices."""
    n = low.shape[-1]
    if n <= _BASE:
        return np.linalg.inv(low)
    k = n // 2
    upper, lower = lower_inverse(low[..., :k, :k]), lower_inverse(low[..., k:, k:])
    inverse = np.zeros(low.shape, low.dtype)
    inverse[..., :k, :k] = upper
    inverse[..., k:, k:] = lower
    inverse[..., k:, :k] = np.matmul(lower, np.matmul(-low[..., k:, :k], upper))
    return inverse


def cholesky_jvp(d: Any, y: Any, a: Any, **others: Any) -> Any:
    """The tangent of ``cholesky(a)``, which reads the lower triangle only (or the upper: ``upper=True``)."""
    low = _lower(y, others)
    inverse = lower_inverse(low)
    inner = np.matmul(np.matmul(inverse, _hermitian(d, others)), adjoint(inverse))
    dlow = np.matmul(low, _half(inner))
    return adjoint(dlow) if others.get("upper") else dlow


def _hermitian(d: Any, others: dict[str, Any]) -> Any:
    """The Hermitian matrix with the lower triangle of `d` (the upper one, with ``upper=True``)."""
    low = np.triu(d) if others.get("upper") else np.tril(d)
    return low + adjoint(low) - np.real(low) * np.eye(np.shape(d)[-1], dtype=np.asarray(d).real.dtype)


def cholesky_vjp(by: Any, y: Any, a: Any, **others: Any) -> Any:
    """The cotangent of ``cholesky(a)``: L^-H P L^-1, made Hermitian, where P is the lower triangle of L^H by,
    with half of the diagonal (Murray, "Differentiation of the Cholesky decomposition", 2016).  Of `by` only
    the lower triangle reaches that of the product."""
    upper = bool(others.get("upper"))
    low = _lower(y, others)
    n = low.shape[-1]
    weight = np.tri(n, dtype=low.real.dtype)
    weight.reshape(-1)[:: n + 1] = 0.5
    inverse = lower_inverse(low)
    if by.ndim == 2 and _is_diagonal(by):  # that of a determinant
        part = np.real(conj(np.diagonal(low)) * np.diagonal(by))
        s = np.matmul(adjoint(inverse) * part, inverse)
    else:
        middle = np.matmul(adjoint(low), adjoint(by) if upper else by)
        middle *= weight
        s = np.matmul(np.matmul(adjoint(inverse), middle), inverse)
        s = s + adjoint(s)
    s *= weight.T if upper else weight
    return s


def _is_diagonal(a: Any) -> bool:
    return bool(np.count_nonzero(np.diagonal(a)) == np.count_nonzero(a))


def _fold(s: Any, uplo: str) -> Any:
    """The cotangent of one triangle, which alone is read, from `s`, that of the whole Hermitian matrix."""
    n = np.shape(s)[-1]
    eye = np.eye(n, dtype=np.asarray(s).real.dtype)
    triangle = np.triu(s, 1) if uplo == "U" else np.tril(s, -1)
    return 2 * triangle + np.real(s) * eye


def _hermitian_part(d: Any, uplo: str) -> Any:
    return _hermitian(d, {"upper": uplo == "U"})


def _eigh_along(d: Any, w: Any, v: Any, uplo: str) -> tuple[Any, Any]:
    inner = np.matmul(np.matmul(adjoint(v), _hermitian_part(d, uplo)), v)
    dw = np.real(np.diagonal(inner, axis1=-2, axis2=-1))
    return dw, np.matmul(v, gaps(w, inner, along=True) * inner)


def _eigh_against(bw: Any, bv: Any, w: Any, v: Any, uplo: str) -> Any:
    """The cotangent of ``eigh``, NaN if vectors left free (of equal eigenvalues) matter to the result."""
    inner: Any = 0
    if bw is not None:
        inner = bw[..., None] * np.eye(np.shape(w)[-1], dtype=w.dtype)
    if bv is not None and np.any(bv):
        by_turn = np.matmul(adjoint(v), bv)
        inner = inner + gaps(w, by_turn) * by_turn
    s = np.matmul(np.matmul(v, inner), adjoint(v))
    return _fold(0.5 * (s + adjoint(s)), uplo)


def eigvalsh_jvp(d: Any, w: Any, a: Any, UPLO: Any = "L") -> Any:
    _, v = np.linalg.eigh(a, UPLO)
    return _eigh_along(d, w, v, UPLO.upper())[0]


def eigvalsh_vjp(bw: Any, w: Any, a: Any, UPLO: Any = "L") -> Any:
    _, v = np.linalg.eigh(a, UPLO)
    return _eigh_against(bw, None, w, v, UPLO.upper())


# -- norms -----------------------------------------------------------------------------------------------


def _axes(axis: Any) -> Any:
    """The axis or axes of a norm, of which NumPy makes ints."""
    return axis if axis is None or isinstance(axis, (tuple, list)) else int(axis)


def norm_slope(y: Any, x: Any, ord: Any, axis: Any) -> Any:
    """The gradient of a norm at `x`; 0 at 0, and where several subgradients are possible the first."""
    if (ord is not None and np.ndim(ord) > 0) or (isinstance(x, np.ndarray) and x.dtype.kind == "O"):
        raise UnsupportedError(
            "np.linalg.norm of objects, or of several orders at once",
            "adbc has no rule for that form",
            "write the norm out, np.sum(np.abs(x) ** p) ** (1 / p)",
        )
    if ord is None and axis is None and y.ndim == 0 and 0 < y < np.inf:
        return x / y  # nothing to look at: a number, and finite
    size = np.abs(x)
    unit = np.where(size == 0, 0, x / np.where(size == 0, 1, size))
    ndim = np.ndim(x) if axis is None else 1 if np.ndim(axis) == 0 else len(axis)
    kept_y = y if axis is None else np.expand_dims(y, axis if np.ndim(axis) == 0 else tuple(axis))
    if ord is None or (ndim == 1 and ord == 2) or ord == "fro":
        return np.where(kept_y == 0, 0, x / np.where(kept_y == 0, 1, kept_y))
    if ndim == 1:
        if ord == 1:
            return unit
        if ord in (np.inf, -np.inf):
            where = -1 if axis is None else axis if np.ndim(axis) == 0 else axis[0]
            hit = size == kept_y
            return unit * np.logical_and(hit, np.cumsum(hit, axis=where) == 1)
        if ord == 0:
            return np.zeros_like(x)
        safe = np.where(kept_y == 0, 1, kept_y)
        return unit * np.where(kept_y == 0, 0, (size / safe) ** (ord - 1))
    return _matrix_norm_slope(x, ord, (0, 1) if axis is None else tuple(axis), unit)


def _matrix_norm_slope(x: Any, ord: Any, axes: tuple[int, ...], unit: Any) -> Any:
    """The gradient of a norm of the matrices along two axes of `x`; unit: its elements by their size."""
    matrices = np.moveaxis(x, axes, (-2, -1))
    if ord in (2, "nuc", -2):
        u, s, vh = np.linalg.svd(matrices, full_matrices=False)
        if ord != "nuc":
            chosen = 0 if ord == 2 else s.shape[-1] - 1
            u, vh = u[..., chosen : chosen + 1], vh[..., chosen : chosen + 1, :]
        slope = np.matmul(u, vh)
    elif ord in (1, -1, np.inf, -np.inf):
        along = -2 if ord in (1, -1) else -1
        sums = np.sum(np.abs(matrices), axis=along)
        k = np.argmax(sums, axis=-1) if ord > 0 else np.argmin(sums, axis=-1)
        hit = np.arange(sums.shape[-1]) == k[..., None]
        slope = np.moveaxis(unit, axes, (-2, -1)) * np.expand_dims(hit, along)
    else:
        raise UnsupportedError(
            f"np.linalg.norm with ord={ord!r}",
            "adbc has no rule for that form",
            "write the norm out, np.sum(np.abs(x) ** p) ** (1 / p)",
        )
    return np.moveaxis(slope, (-2, -1), axes)


def norm_jvp(d: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    axis = _axes(axis)
    slope = norm_slope(
        np.squeeze(y, axis=axis) if keepdims and axis is not None else _as_number(y, keepdims), x, ord, axis
    )
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else axis
    return np.sum(np.real(multiply(np.conjugate(slope), d)), axis=axes, keepdims=keepdims)


def norm_vjp(by: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    axis = _axes(axis)
    if keepdims:
        squeezed = tuple(axis) if isinstance(axis, (tuple, list)) else axis
        y = _as_number(y, True) if axis is None else np.squeeze(y, axis=squeezed)
        by = _as_number(by, True) if axis is None else np.squeeze(by, axis=squeezed)
    slope = norm_slope(y, x, ord, axis)
    kept_by = by if axis is None else np.expand_dims(by, axis if np.ndim(axis) == 0 else tuple(axis))
    return multiply(slope, kept_by)


def _as_number(y: Any, keepdims: Any) -> Any:
    """The norm `y` over all axes as a number."""
    return np.reshape(y, ()) if keepdims else y


# -- results with several parts -----------------------------------------------------------------------------


class FreeVectors(NamedTuple):
    """A part of a result that consists of vectors, which are free where the values, another part, coincide.

    is_row, is_any_use: as `adbc.rules.numpy.equal_values.seed` says.
    """

    place: int
    values: int
    is_row: bool = False
    is_any_use: bool = False


VECTORS = (FreeVectors(1, 0),)
"""The eigenvectors of ``eigh``."""


def multiple(
    function: Any,
    along: Any,
    against: Any,
    parameters: Sequence[str] = ("a",),
    free: Sequence[FreeVectors] = (),
) -> Primitive:
    """The row of a function whose result is a tuple of arrays or numbers.

    ``along(dx, outs, *args)`` gives the tangents of the parts and ``against(bouts, outs, *args)`` the
    cotangent of the argument, where a part of `bouts` may be None.  A result that is no tuple, because a
    keyword says so, is one part.
    free: the parts that are vectors of values that may coincide.
    """

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        outs = function(*args, **kwargs)
        dx = gather_tangent(args[0], dargs[0])
        if dx is None:
            return outs, fresh_tangent(outs)
        try:
            douts = along(dx, outs, gather(args[0]), *args[1:], **kwargs)
        except np.linalg.LinAlgError:
            douts = [_undefined(y, [dx]) for y in (outs if isinstance(outs, tuple) else (outs,))]
        if not isinstance(outs, tuple):
            return outs, finish(douts[0], outs)
        return outs, _bundle(outs, [fill_tangent(y, finish(d, y)) for d, y in zip(douts, outs, strict=True)])

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        outs = function(*args, **kwargs)
        active = fargs[0] is not None
        fouts = _new_shadows(outs) if active else fresh_shadow(outs, active=False)
        marked: list[FreeVectors] = []
        if active and free and isinstance(outs, tuple):
            shadows = _parts(fouts, outs)
            marked = [
                part
                for part in free
                if seed(shadows[part.place], outs[part.values], part.is_row, part.is_any_use)
            ]

        def back(by: list[Any]) -> Any:
            try:
                return against(by, outs, gather(args[0]), *args[1:], **kwargs)
            except np.linalg.LinAlgError:
                return _undefined(gather(args[0]), by)

        def multiple_pullback(bouts: Any) -> Sequence[Any]:
            result: list[Any] = [None] * len(args)
            if active and not isinstance(outs, tuple):
                d = back([fouts])
                result[0] = give(fargs[0], args[0], d)
            elif active:
                shadows = _parts(fouts, outs)
                numbers = _parts(bouts, outs)
                by = [f if isinstance(f, np.ndarray) else b for f, b in zip(shadows, numbers, strict=True)]
                for part in marked:
                    by[part.place] = cancelled_are_nan(
                        by[part.place], outs[part.values], part.is_row, part.is_any_use
                    )
                d = back(by)
                if d is not None:
                    result[0] = give(fargs[0], args[0], d)
            return result

        return outs, fouts, multiple_pullback

    return Primitive(function, frule=frule, rrule=rrule, when=plain, parameters=parameters)


def _new_shadows(outs: Any) -> Any:
    """The shadow of a result with numbers in all parts, each of which is new memory: as `fresh_shadow` gives
    it, but quicker."""
    if not isinstance(outs, tuple):
        return new_shadow(outs, True)
    parts = [new_shadow(y, True) for y in outs]
    names = getattr(outs, "_fields", None)
    return tuple(parts) if names is None else FData(**dict(zip(names, parts, strict=True)))


def _undefined(like: Any, given: Sequence[Any]) -> Any:
    """What stands for a derivative where a matrix is singular by which it is divided, though the function
    has a value: NaN, or zero if all that is `given` to it is zero."""
    if not np.issubdtype(np.asarray(like).dtype, np.inexact):
        return None
    is_moved = any(d is not None and np.any(d) for d in given)
    return np.full_like(like, np.nan if is_moved else 0.0)


def _parts(bundle: Any, outs: Any) -> list[Any]:
    """The parts of a shadow or rdata of the tuple or named tuple `outs`; None where there is none."""
    if bundle is None or not len(outs):
        return [None] * len(outs)
    if isinstance(bundle, tuple):
        return list(bundle)
    names = getattr(outs, "_fields", ())
    return [getattr(bundle, name, None) for name in names] if names else [None] * len(outs)


def _bundle(outs: Any, parts: list[Any]) -> Any:
    """The tangent of the tuple `outs` from those of its parts."""
    if type(outs) is tuple:
        return tuple(parts)
    return Tangent(**dict(zip(outs._fields, parts, strict=True)))


def eigh_along(d: Any, outs: Any, a: Any, UPLO: str = "L") -> list[Any]:
    return list(_eigh_along(d, outs[0], outs[1], UPLO.upper()))


def eigh_against(by: list[Any], outs: Any, a: Any, UPLO: Any = "L") -> Any:
    return _eigh_against(by[0], by[1], outs[0], outs[1], UPLO.upper())


_NEGLIGIBLE = 1e-6


def _open_sides(a: Any, y: Any) -> tuple[bool, bool]:
    """Whether there is something that `y`, the pseudo-inverse of `a`, makes zero, and something that it does
    not reach.  Where there is nothing, the projection there is zero but for digits that a small singular
    value makes large.

    Raises if `y` leaves out singular values that are not zero by the others: the space turns with `a` then.
    """
    rank = np.rint(np.trace(np.matmul(a, y), axis1=-2, axis2=-1).real).astype(int)[..., None]
    rows, columns = a.shape[-2:]
    if np.all(rank >= min(rows, columns)):
        return rows > columns, rows < columns
    s = np.linalg.svd(a, compute_uv=False)
    places = np.arange(s.shape[-1])
    smallest = np.min(np.where(places < rank, s, np.inf), axis=-1, keepdims=True)
    if np.any((places >= rank) & (s > _NEGLIGIBLE * smallest)):
        raise UnsupportedError(
            "pinv leaves out singular values that are not zero",
            "how the space that is left out turns with the matrix is not followed",
            "give it a smaller rcond or rtol, or write it out with numpy.linalg.svd",
        )
    return True, True


def pinv_jvp(d: Any, y: Any, a: Any, *_: Any, hermitian: Any = False, **others: Any) -> Any:
    """The tangent of ``pinv(a)``, where the rank does not change near `a`.

    Of a matrix that is said to be Hermitian only the lower triangle is read.
    """
    if hermitian:
        a, d = _hermitian_part(a, "L"), _hermitian_part(d, "L")
    makes_zero, does_not_reach = _open_sides(a, y)
    dh, yh = adjoint(d), adjoint(y)
    result = -np.matmul(np.matmul(y, d), y)
    if makes_zero:
        first = dh - np.matmul(np.matmul(dh, a), y)
        result = result + np.matmul(y, np.matmul(yh, first))
    if does_not_reach:
        second = dh - np.matmul(y, np.matmul(a, dh))
        result = result + np.matmul(np.matmul(second, yh), y)
    return result


def pinv_vjp(by: Any, y: Any, a: Any, *_: Any, hermitian: Any = False, **others: Any) -> Any:
    if hermitian:
        a = _hermitian_part(a, "L")
    makes_zero, does_not_reach = _open_sides(a, y)
    bh, yh = adjoint(by), adjoint(y)
    s = -np.matmul(np.matmul(yh, by), yh)
    if makes_zero:
        first = np.matmul(np.matmul(bh, y), yh)
        s = s + first - np.matmul(a, np.matmul(y, first))
    if does_not_reach:
        second = np.matmul(yh, np.matmul(y, bh))
        s = s + second - np.matmul(np.matmul(second, y), a)
    return _fold(0.5 * (s + adjoint(s)), "L") if hermitian else s


# -- least squares ------------------------------------------------------------------------------------------


class _LeastSquares:
    """The parts of the derivatives of ``x, residuals, rank, s = lstsq(a, b)``, where the rank is full."""

    def __init__(self, a: Any, b: Any, outs: Any) -> None:
        x, self.residuals, rank, self.s = outs
        if rank < min(a.shape):
            raise UnsupportedError(
                "np.linalg.lstsq of a matrix without full rank",
                "its solution is not smooth",
                "leave columns out, or add rows with a small multiple of the identity",
            )
        self.a, self.shape = a, np.shape(b)
        # What the equations leave open, or cannot fulfil, is zero but for digits that a small singular value
        # makes large.
        self.is_over, self.is_under = a.shape[0] > a.shape[1], a.shape[0] < a.shape[1]
        columns = math.prod(self.shape[1:])  # said, for there may be no unknown
        self.x, self.b = (np.reshape(z, (z.shape[0], columns)) for z in (x, b))
        self.inverse = np.linalg.pinv(a)
        self.rest = self.b - np.matmul(a, self.x)

    def along(self, da: Any, db: Any) -> list[Any]:
        change = np.zeros_like(self.rest) if db is None else np.reshape(db, self.rest.shape)
        dx, ds = 0.0, None
        if da is not None:
            dh, inverse = adjoint(da), self.inverse
            change = change - np.matmul(da, self.x)
            if self.is_over:
                dx = np.matmul(inverse, np.matmul(adjoint(inverse), np.matmul(dh, self.rest)))
            elif self.is_under:
                inside = dh - np.matmul(inverse, np.matmul(self.a, dh))
                dx = np.matmul(inside, np.matmul(adjoint(inverse), self.x))
            u, _, vh = np.linalg.svd(self.a, full_matrices=False)
            ds = np.real(np.sum(conj(u) * np.matmul(da, adjoint(vh)), axis=0))
        dx = dx + np.matmul(self.inverse, change)
        residuals = 2.0 * np.real(np.sum(conj(self.rest) * change, axis=0)) if self.residuals.size else None
        return [np.reshape(dx, (len(dx), *self.shape[1:])), residuals, None, ds]

    def against(self, bx: Any, residuals: Any, bs: Any) -> tuple[Any, Any]:
        bx = np.zeros_like(self.x) if bx is None else np.reshape(bx, self.x.shape)
        inverse, ih = self.inverse, adjoint(self.inverse)
        by_b = np.matmul(ih, bx)
        if self.residuals.size and residuals is not None:
            by_b = by_b + 2.0 * self.rest * residuals
        by_a = -np.matmul(by_b, adjoint(self.x))
        bh = adjoint(bx)
        if self.is_over:
            by_a = by_a + np.matmul(self.rest, np.matmul(np.matmul(bh, inverse), ih))
        elif self.is_under:
            by_a = by_a + np.matmul(np.matmul(ih, self.x), bh - np.matmul(np.matmul(bh, inverse), self.a))
        if bs is not None:
            u, _, vh = np.linalg.svd(self.a, full_matrices=False)
            by_a = by_a + np.matmul(u * bs, vh)
        return by_a, np.reshape(by_b, self.shape)


def lstsq_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    outs = np.linalg.lstsq(*args, **kwargs)
    a, b = map(gather, args[:2])
    da, db = (gather_tangent(x, d) for x, d in zip(args, dargs[:2], strict=False))
    if da is None and db is None:
        return outs, fresh_tangent(outs)
    douts = _LeastSquares(a, b, outs).along(da, db)
    return outs, tuple(fill_tangent(y, finish(d, y)) for d, y in zip(douts, outs, strict=True))


def lstsq_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    outs = np.linalg.lstsq(*args, **kwargs)
    active = any_active(fargs[:2])
    fouts = fresh_shadow(outs, active=active)
    problem = _LeastSquares(gather(args[0]), gather(args[1]), outs) if active else None

    def lstsq_pullback(bouts: Any) -> Sequence[Any]:
        result: list[Any] = [None] * len(args)
        if problem is not None:
            terms = problem.against(fouts[0], fouts[1], fouts[3])
            for i, term in enumerate(terms):
                if fargs[i] is not None:
                    result[i] = give(fargs[i], args[i], term)
        return result

    return outs, fouts, lstsq_pullback


def _unary(function: Any, names: str, jvp: Any, vjp: Any) -> ArrayRule:
    return ArrayRule(function, names, jvp=[jvp], vjp=[vjp])


def _solve_rows() -> list[Rule]:
    row = ArrayRule(np.linalg.solve, "a b", jvp=[solve_da, solve_db], vjp=[solve_a, solve_b])
    row.together = solve_both
    return [row]


ROWS: list[Rule] = [
    *determinants.ROWS,
    *_solve_rows(),
    _unary(np.linalg.inv, "a", inv_jvp, inv_vjp),
    _unary(np.linalg.det, "a", det_jvp, det_vjp),
    _unary(np.linalg.cholesky, "a", cholesky_jvp, cholesky_vjp),
    _unary(np.linalg.eigvalsh, "a UPLO", eigvalsh_jvp, eigvalsh_vjp),
    _unary(np.linalg.norm, "x ord axis keepdims", norm_jvp, norm_vjp),
    multiple(np.linalg.eigh, eigh_along, eigh_against, free=VECTORS),
    Primitive(np.linalg.lstsq, frule=lstsq_frule, rrule=lstsq_rrule, when=plain, parameters=("a", "b")),
    _unary(np.linalg.pinv, "a rcond hermitian rtol", pinv_jvp, pinv_vjp),
]
