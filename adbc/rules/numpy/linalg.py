"""Rules of products of arrays and of linear algebra."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import (
    ArrayRule,
    any_active,
    array_operands,
    finish,
    gather,
    gather_tangent,
    give,
    is_view,
    new_shadow,
    plain,
    writable,
)
from adbc.rules.numpy.elementwise import conj
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule, When
from adbc.tangents import Tangent, fill_tangent, fresh_shadow, fresh_tangent

__all__ = ["ROWS"]


def adjoint(a: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return conj(np.swapaxes(a, -1, -2))


# -- products --------------------------------------------------------------------------------------------


def dot_a(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return by * conj(b)
    n = np.ndim(a) - 1
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return by * conj(b)
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return np.dot(by, conj(b).T)
    others = [i for i in range(np.ndim(b)) if i != max(np.ndim(b) - 2, 0)]
    return np.tensordot(by, conj(b), (list(range(n, np.ndim(by))), others))


def dot_b(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return by * conj(a)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return by * conj(a)
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return np.dot(conj(a).T, by)
    n = np.ndim(a) - 1
    d = np.tensordot(conj(a), by, (list(range(n)), list(range(n))))
    return np.moveaxis(d, 0, max(np.ndim(b) - 2, 0))


def _promoted(by: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The operands of a matmul as (stacks of) matrices."""
    if np.ndim(b) == 1:
        by = np.expand_dims(by, -1)
        b = np.expand_dims(b, -1)
    if np.ndim(a) == 1:
        by = np.expand_dims(by, -2)
        a = np.expand_dims(a, 0)
    return by, a, b


def _refuse_axes(others: dict[str, Any]) -> None:
    if "axes" in others or "axis" in others:
        raise UnsupportedError("matmul with axes=: move the axes first")


def matmul_a(by: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    _refuse_axes(others)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return by * conj(b)
    wide, _, matrix = _promoted(by, a, b)
    return np.matmul(wide, adjoint(matrix))


def matmul_b(by: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    _refuse_axes(others)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return by * conj(a)
    wide, matrix, _ = _promoted(by, a, b)
    d = np.matmul(adjoint(matrix), wide)
    return d[..., 0] if np.ndim(b) == 1 else d


def matmul_da(d: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    _refuse_axes(others)
    return np.matmul(d, b)


def matmul_db(d: Any, y: Any, a: Any, b: Any, **others: Any) -> Any:
    _refuse_axes(others)
    return np.matmul(a, d)


def tensordot_axes(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of `a` and of `b` that are summed over, in pairs."""
    if isinstance(axes, (int, np.integer)):
        return list(range(np.ndim(a) - int(axes), np.ndim(a))), list(range(int(axes)))
    first, second = axes
    first = [first] if np.ndim(first) == 0 else list(first)
    second = [second] if np.ndim(second) == 0 else list(second)
    return [int(i) % np.ndim(a) for i in first], [int(i) % np.ndim(b) for i in second]


def tensordot_a(by: Any, y: Any, a: Any, b: Any, axes: Any = 2, **_: Any) -> Any:
    sum_a, sum_b = tensordot_axes(a, b, axes)
    free_a = [i for i in range(np.ndim(a)) if i not in sum_a]
    free_b = [i for i in range(np.ndim(b)) if i not in sum_b]
    d = np.tensordot(by, conj(b), (list(range(len(free_a), np.ndim(by))), free_b))
    order = free_a + [i for _, i in sorted(zip(sum_b, sum_a, strict=True))]
    return np.transpose(d, np.argsort(np.array(order, int)))


def tensordot_b(by: Any, y: Any, a: Any, b: Any, axes: Any = 2, **_: Any) -> Any:
    sum_a, sum_b = tensordot_axes(a, b, axes)
    free_a = [i for i in range(np.ndim(a)) if i not in sum_a]
    free_b = [i for i in range(np.ndim(b)) if i not in sum_b]
    d = np.tensordot(conj(a), by, (free_a, list(range(len(free_a)))))
    order = [i for _, i in sorted(zip(sum_a, sum_b, strict=True))] + free_b
    return np.transpose(d, np.argsort(np.array(order, int)))


def inner_a(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return by * conj(b)
    return tensordot_a(by, y, a, b, axes=([-1], [-1]))


def inner_b(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return by * conj(a)
    return tensordot_b(by, y, a, b, axes=([-1], [-1]))


def kron_parts(by: Any, a: Any, b: Any) -> tuple[Any, Any, Any, list[int], list[int]]:
    """`by`, `a`, `b` with axes a0 b0 a1 b1 ... apart, and which axes are whose."""
    n = max(np.ndim(a), np.ndim(b))
    shape_a = (1,) * (n - np.ndim(a)) + np.shape(a)
    shape_b = (1,) * (n - np.ndim(b)) + np.shape(b)
    apart = [size for pair in zip(shape_a, shape_b, strict=True) for size in pair]
    wide_a = np.reshape(a, [size for n_a in shape_a for size in (n_a, 1)])
    wide_b = np.reshape(b, [size for n_b in shape_b for size in (1, n_b)])
    return np.reshape(by, apart), wide_a, wide_b, list(range(0, 2 * n, 2)), list(range(1, 2 * n, 2))


def kron_a(by: Any, y: Any, a: Any, b: Any) -> Any:
    apart, _, wide, _, axes = kron_parts(by, a, b)
    return np.sum(apart * conj(wide), axis=tuple(axes)).reshape(np.shape(a))


def kron_b(by: Any, y: Any, a: Any, b: Any) -> Any:
    apart, wide, _, axes, _ = kron_parts(by, a, b)
    return np.sum(apart * conj(wide), axis=tuple(axes)).reshape(np.shape(b))


def bilinear(function: Any, names: str, va: Any, vb: Any, when: When = plain, **defaults: Any) -> ArrayRule:
    """A row of a function that is linear in each of its two arrays."""
    return ArrayRule(
        function,
        names,
        jvp=[
            lambda d, y, a, b, **others: function(d, b, **others),
            lambda d, y, a, b, **others: function(a, d, **others),
        ],
        vjp=[va, vb],
        when=when,
        defaults=defaults,
    )


def outer_a(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    return np.dot(by, conj(np.ravel(b))).reshape(np.shape(a))


def outer_b(by: Any, y: Any, a: Any, b: Any, **_: Any) -> Any:
    return np.dot(conj(np.ravel(a)), by).reshape(np.shape(b))


class InplaceMatmul(ArrayRule):
    """``u @= v``: the product is written into `u`."""

    mutates = True

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return self._frule_into(args[0], dargs[0], list(args), dargs, {}, args, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        return self._rrule_into(args[0], fargs[0], list(args), fargs, {}, args, kwargs)


def _matmul_row(function: Any, names: str, when: When, kind: type[ArrayRule] = ArrayRule) -> ArrayRule:
    row = kind(
        function, names, jvp=[matmul_da, matmul_db], vjp=[matmul_a, matmul_b], when=when, result="matmul"
    )
    row.formulas = row.vjp if kind is ArrayRule else None
    return row


def _products() -> list[Rule]:
    return [
        bilinear(np.dot, "a b out", dot_a, dot_b),
        bilinear(np.ndarray.dot, "a b out", dot_a, dot_b),
        _matmul_row(np.matmul, "x1 x2 out", plain),
        _matmul_row(operator.matmul, "x1 x2", array_operands),
        _inplace_matmul(operator.imatmul),
        ArrayRule(
            np.vdot,
            "a b",
            jvp=[lambda d, y, a, b: np.vdot(d, b), lambda d, y, a, b: np.vdot(a, d)],
            vjp=[
                lambda by, y, a, b: (conj(by) * np.ravel(b)).reshape(np.shape(a)),
                lambda by, y, a, b: (by * np.ravel(a)).reshape(np.shape(b)),
            ],
        ),
        bilinear(np.inner, "a b", inner_a, inner_b),
        bilinear(np.outer, "a b out", outer_a, outer_b),
        bilinear(np.tensordot, "a b axes", tensordot_a, tensordot_b),
        bilinear(np.kron, "a b", kron_a, kron_b),
    ]


def _inplace_matmul(function: Any) -> Rule:
    return _matmul_row(function, "x1 x2", array_operands, InplaceMatmul)


# -- einsum ----------------------------------------------------------------------------------------------


def _labels(subscripts: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, with ellipses written out."""
    subscripts = subscripts.replace(" ", "")
    left, arrow, right = subscripts.partition("->")
    inputs = left.split(",")
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in subscripts]
    widths = [
        np.ndim(x) - len(labels.replace("...", "")) for labels, x in zip(inputs, operands, strict=True)
        if "..." in labels
    ]  # fmt: skip
    dots = "".join(spare[: max(widths, default=0)])
    full = []
    for labels, x in zip(inputs, operands, strict=True):
        width = np.ndim(x) - len(labels.replace("...", ""))
        full.append(labels.replace("...", dots[len(dots) - width :]) if "..." in labels else labels)
    if arrow:
        return full, right.replace("...", dots)
    letters = "".join(labels.replace("...", "") for labels in inputs)
    return full, dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))


def _einsum_cotangent(by: Any, i: int, operands: Sequence[Any], inputs: list[str], output: str) -> Any:
    """The cotangent of operand `i`."""
    x, labels = operands[i], inputs[i]
    unique = "".join(dict.fromkeys(labels))
    others = [(inputs[j], conj(operands[j])) for j in range(len(operands)) if j != i]
    known = set(output).union(*(set(o) for o, _ in others))
    found = "".join(c for c in unique if c in known)
    terms = ",".join([output, *(o for o, _ in others)])
    # A dimension of length 1 stands for any length, so the result may be larger than the operand.
    d = np.einsum(f"{terms}->{found}", by, *(o for _, o in others))
    sizes = dict(zip(labels, np.shape(x), strict=True))
    for k, c in enumerate(found):
        if sizes[c] == 1 and d.shape[k] != 1:
            d = np.sum(d, axis=k, keepdims=True)
    d = np.reshape(d, [d.shape[found.index(c)] if c in found else 1 for c in unique])
    d = np.broadcast_to(d, [sizes[c] for c in unique])
    if unique == labels:
        return d
    whole = np.zeros(np.shape(x), d.dtype)
    np.einsum(f"{labels}->{unique}", whole)[...] = d
    return whole


def _einsum_arguments(args: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[str, list[Any], list[str], str]:
    if not args or not isinstance(args[0], str):
        raise UnsupportedError("np.einsum with operands and lists of axes: use a string of subscripts")
    if kwargs.get("out") is not None:
        raise UnsupportedError("np.einsum with out=: assign the result instead")
    operands = [gather(x) for x in args[1:]]
    inputs, output = _labels(args[0], operands)
    return args[0], operands, inputs, output


def einsum_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    subscripts, operands, _, _ = _einsum_arguments(args, kwargs)
    out = np.einsum(*args, **kwargs)
    if len(operands) == 1 and is_view(out, args[1]):
        return out, None if dargs[1] is None else writable(np.einsum(subscripts, dargs[1]))
    dout = None
    for i, (x, dx) in enumerate(zip(args[1:], dargs[1:], strict=True)):
        dx = gather_tangent(x, dx)
        if dx is not None:
            term = np.einsum(subscripts, *operands[:i], dx, *operands[i + 1 :], **kwargs)
            dout = term if dout is None else dout + term
    return out, finish(dout, out)


def einsum_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    subscripts, operands, inputs, output = _einsum_arguments(args, kwargs)
    out = np.einsum(*args, **kwargs)
    if len(operands) == 1 and is_view(out, args[1]):
        shadow = None if fargs[1] is None else writable(np.einsum(subscripts, fargs[1]))
        return out, shadow, lambda bout: (None, None)
    fout = new_shadow(out, any_active(fargs))

    def einsum_pullback(bout: Any) -> Sequence[Any]:
        by = fout if isinstance(fout, np.ndarray) else bout
        result: list[Any] = [None] * len(args)
        if by is not None:
            terms = [
                None if f is None else _einsum_cotangent(by, i, operands, inputs, output)
                for i, f in enumerate(fargs[1:])
            ]
            for i, term in enumerate(terms):
                if term is not None:
                    result[i + 1] = give(fargs[i + 1], args[i + 1], term)
        return result

    return out, fout, einsum_pullback


# -- linear algebra --------------------------------------------------------------------------------------


def _is_vector(a: Any, b: Any) -> bool:
    """Whether the right-hand side of ``solve(a, b)`` is one vector rather than matrices."""
    if np.ndim(b) == 1:
        return True
    old = int(np.__version__.split(".")[0]) < 2
    return old and np.ndim(b) == np.ndim(a) - 1


def solve_b(by: Any, y: Any, a: Any, b: Any) -> Any:
    if _is_vector(a, b):
        return np.linalg.solve(adjoint(a), np.expand_dims(by, -1))[..., 0]
    return np.linalg.solve(adjoint(a), by)


def solve_a(by: Any, y: Any, a: Any, b: Any) -> Any:
    if _is_vector(a, b):
        bb = np.linalg.solve(adjoint(a), np.expand_dims(by, -1))
        return -np.matmul(bb, adjoint(np.expand_dims(y, -1)))
    return -np.matmul(np.linalg.solve(adjoint(a), by), adjoint(y))


def solve_da(d: Any, y: Any, a: Any, b: Any) -> Any:
    if _is_vector(a, b):
        return -np.linalg.solve(a, np.matmul(d, np.expand_dims(y, -1)))[..., 0]
    return -np.linalg.solve(a, np.matmul(d, y))


def solve_db(d: Any, y: Any, a: Any, b: Any) -> Any:
    return np.linalg.solve(a, d)


def inv_jvp(d: Any, y: Any, a: Any) -> Any:
    return -np.matmul(np.matmul(y, d), y)


def inv_vjp(by: Any, y: Any, a: Any) -> Any:
    return -np.matmul(np.matmul(adjoint(y), by), adjoint(y))


def cofactors(a: Any, det: Any) -> Any:
    """The matrix of cofactors, d det / d a: right for singular matrices too."""
    if np.all(np.abs(det) > 0):
        return np.asarray(det)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    u, s, v = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.concatenate([ones, np.cumprod(s[..., :-1], axis=-1)], axis=-1)
    after = np.flip(np.cumprod(np.flip(s[..., 1:], -1), axis=-1), -1)
    others = before * np.concatenate([after, ones], axis=-1)
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(v))[..., None, None]
    return sign * np.matmul(conj(u) * others[..., None, :], conj(v))


def det_jvp(d: Any, y: Any, a: Any) -> Any:
    return np.sum(cofactors(a, y) * d, axis=(-2, -1))


def det_vjp(by: Any, y: Any, a: Any) -> Any:
    return conj(cofactors(a, y)) * np.asarray(by)[..., None, None]


def _half(x: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    return np.tril(x) - 0.5 * x * np.eye(np.shape(x)[-1], dtype=np.asarray(x).real.dtype)


def _lower(y: Any, others: dict[str, Any]) -> Any:
    """The lower Cholesky factor."""
    return adjoint(y) if others.get("upper") else y


def cholesky_jvp(d: Any, y: Any, a: Any, **others: Any) -> Any:
    """Only the lower triangle of `a` is read (the upper, with ``upper=True``)."""
    low = _lower(y, others)
    d = _hermitian(d, others)
    inner = np.linalg.solve(low, adjoint(np.linalg.solve(low, d)))
    dlow = np.matmul(low, _half(adjoint(inner)))
    return adjoint(dlow) if others.get("upper") else dlow


def _hermitian(d: Any, others: dict[str, Any]) -> Any:
    """The Hermitian matrix whose lower (upper) triangle is that of `d`."""
    low = np.triu(d) if others.get("upper") else np.tril(d)
    return low + adjoint(low) - np.real(low) * np.eye(np.shape(d)[-1], dtype=np.asarray(d).real.dtype)


def cholesky_vjp(by: Any, y: Any, a: Any, **others: Any) -> Any:
    low = _lower(y, others)
    blow = np.tril(adjoint(by) if others.get("upper") else by)
    middle = _half(np.matmul(adjoint(low), blow))
    left = np.linalg.solve(adjoint(low), middle)
    s = adjoint(np.linalg.solve(adjoint(low), adjoint(left)))
    return _fold(0.5 * (s + adjoint(s)), "U" if others.get("upper") else "L")


def _fold(s: Any, uplo: str) -> Any:
    """The cotangent of a triangle from the Hermitian cotangent `s` of the whole matrix."""
    n = np.shape(s)[-1]
    eye = np.eye(n, dtype=np.asarray(s).real.dtype)
    triangle = np.triu(s, 1) if uplo == "U" else np.tril(s, -1)
    return 2 * triangle + np.real(s) * eye


def _uplo(args: Args, kwargs: Kwargs) -> str:
    return str(args[1] if len(args) > 1 else kwargs.get("UPLO", "L")).upper()


def _hermitian_part(d: Any, uplo: str) -> Any:
    return _hermitian(d, {"upper": uplo == "U"})


def _gaps(w: Any) -> Any:
    """1 / (w_j - w_i), 0 on the diagonal and where eigenvalues coincide."""
    gap = w[..., None, :] - w[..., :, None]
    return np.where(gap == 0, 0, 1 / np.where(gap == 0, 1, gap))


def _eigh_along(d: Any, w: Any, v: Any, uplo: str) -> tuple[Any, Any]:
    inner = np.matmul(np.matmul(adjoint(v), _hermitian_part(d, uplo)), v)
    dw = np.real(np.diagonal(inner, axis1=-2, axis2=-1))
    return dw, np.matmul(v, _gaps(w) * inner)


def _eigh_against(bw: Any, bv: Any, w: Any, v: Any, uplo: str) -> Any:
    """Eigenvectors that NumPy leaves free (of equal eigenvalues) must not matter to the result."""
    inner: Any = 0
    if bw is not None:
        inner = bw[..., None] * np.eye(np.shape(w)[-1], dtype=w.dtype)
    if bv is not None:
        inner = inner + _gaps(w) * np.matmul(adjoint(v), bv)
    s = np.matmul(np.matmul(v, inner), adjoint(v))
    return _fold(0.5 * (s + adjoint(s)), uplo)


def eigvalsh_jvp(d: Any, w: Any, a: Any, UPLO: Any = "L") -> Any:
    _, v = np.linalg.eigh(a, UPLO)
    return _eigh_along(d, w, v, UPLO.upper())[0]


def eigvalsh_vjp(bw: Any, w: Any, a: Any, UPLO: Any = "L") -> Any:
    _, v = np.linalg.eigh(a, UPLO)
    return _eigh_against(bw, None, w, v, UPLO.upper())


# -- norms -----------------------------------------------------------------------------------------------


def norm_slope(y: Any, x: Any, ord: Any, axis: Any) -> Any:
    """The gradient of a norm at `x`; 0 at 0, and where several subgradients are possible the first."""
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
    if axis is not None:
        raise UnsupportedError(
            f"np.linalg.norm with ord={ord!r} and axis={axis!r}: norm each matrix by itself"
        )
    if ord in (2, "nuc", -2):
        u, s, v = np.linalg.svd(x, full_matrices=False)
        if ord == "nuc":
            return np.matmul(u, v)
        last = 0 if ord == 2 else len(s) - 1
        return np.outer(u[:, last], v[last, :])
    if ord in (1, -1, np.inf, -np.inf):
        along = 0 if ord in (1, -1) else 1
        sums = np.sum(size, axis=along)
        k = np.argmax(sums) if ord > 0 else np.argmin(sums)
        chosen = np.arange(len(sums)) == k
        return unit * (chosen if along == 0 else chosen[:, None])
    raise UnsupportedError(f"np.linalg.norm with ord={ord!r}")


def norm_jvp(d: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    slope = norm_slope(
        np.squeeze(y, axis=axis) if keepdims and axis is not None else _plain(y, keepdims), x, ord, axis
    )
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else axis
    return np.sum(np.real(np.conjugate(slope) * d), axis=axes, keepdims=keepdims)


def norm_vjp(by: Any, y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if keepdims:
        squeezed = tuple(axis) if isinstance(axis, (tuple, list)) else axis
        y = _plain(y, True) if axis is None else np.squeeze(y, axis=squeezed)
        by = _plain(by, True) if axis is None else np.squeeze(by, axis=squeezed)
    slope = norm_slope(y, x, ord, axis)
    kept_by = by if axis is None else np.expand_dims(by, axis if np.ndim(axis) == 0 else tuple(axis))
    return slope * kept_by


def _plain(y: Any, keepdims: Any) -> Any:
    """A norm over all axes as a number."""
    return np.reshape(y, ()) if keepdims else y


# -- results with several parts -----------------------------------------------------------------------------


def multiple(function: Any, along: Any, against: Any, parameters: Sequence[str] = ("a",)) -> Primitive:
    """A function whose result is a tuple of arrays or numbers.

    ``along(dx, outs, *args) -> douts`` and ``against(bouts, outs, *args)``, where a part of `bouts`
    may be None.
    """

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        outs = function(*args, **kwargs)
        dx = gather_tangent(args[0], dargs[0])
        if dx is None:
            return outs, fresh_tangent(outs)
        douts = along(dx, outs, gather(args[0]), *args[1:], **kwargs)
        return outs, _bundle(outs, [fill_tangent(y, finish(d, y)) for d, y in zip(douts, outs, strict=True)])

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        outs = function(*args, **kwargs)
        active = fargs[0] is not None
        fouts = fresh_shadow(outs, active=active)

        def multiple_pullback(bouts: Any) -> Sequence[Any]:
            result: list[Any] = [None] * len(args)
            if active:
                shadows = _parts(fouts, outs)
                numbers = _parts(bouts, outs)
                by = [f if isinstance(f, np.ndarray) else b for f, b in zip(shadows, numbers, strict=True)]
                d = against(by, outs, gather(args[0]), *args[1:], **kwargs)
                if d is not None:
                    result[0] = give(fargs[0], args[0], d)
            return result

        return outs, fouts, multiple_pullback

    return Primitive(function, frule=frule, rrule=rrule, when=plain, parameters=parameters)


def _parts(bundle: Any, outs: Any) -> list[Any]:
    """The parts of a shadow or rdata of the tuple or named tuple `outs`; None where there is none."""
    if bundle is None or not len(outs):
        return [None] * len(outs)
    if isinstance(bundle, tuple):
        return list(bundle)
    names = getattr(outs, "_fields", ())
    return [getattr(bundle, name, None) for name in names] if names else [None] * len(outs)


def _bundle(outs: Any, parts: list[Any]) -> Any:
    """The tangent of `outs` from those of its parts."""
    if type(outs) is tuple:
        return tuple(parts)
    return Tangent(**dict(zip(outs._fields, parts, strict=True)))


def slogdet_along(d: Any, outs: Any, a: Any) -> list[Any]:
    if np.iscomplexobj(a):
        raise UnsupportedError("np.linalg.slogdet of a complex matrix: use log(det(a))")
    return [None, np.sum(np.swapaxes(np.linalg.inv(a), -1, -2) * d, axis=(-2, -1))]


def slogdet_against(by: list[Any], outs: Any, a: Any) -> Any:
    if np.iscomplexobj(a):
        raise UnsupportedError("np.linalg.slogdet of a complex matrix: use log(det(a))")
    if by[1] is None:
        return None
    return np.swapaxes(np.linalg.inv(a), -1, -2) * np.asarray(by[1])[..., None, None]


def eigh_along(d: Any, outs: Any, a: Any, UPLO: str = "L") -> list[Any]:
    return list(_eigh_along(d, outs[0], outs[1], UPLO.upper()))


def eigh_against(by: list[Any], outs: Any, a: Any, UPLO: Any = "L") -> Any:
    return _eigh_against(by[0], by[1], outs[0], outs[1], UPLO.upper())


# -- decompositions that need full rank ----------------------------------------------------------------------


def _thin(name: str, a: Any, complete: bool) -> None:
    """Raise unless the decomposition of `a` is real and of reduced size, where it is unique."""
    if np.iscomplexobj(a):
        raise UnsupportedError(f"np.linalg.{name} of a complex matrix has no derivative rule")
    if complete and np.shape(a)[-1] != np.shape(a)[-2]:
        raise UnsupportedError(
            f"np.linalg.{name} of full size leaves directions free: use full_matrices=False (mode='reduced')"
        )


def _inverse(s: Any) -> Any:
    """1 / s, 0 where s is 0."""
    return np.where(s == 0, 0, 1 / np.where(s == 0, 1, s))


def _svd_check(outs: Any, a: Any, full: Any, hermitian: Any) -> None:
    if not isinstance(outs, tuple):
        raise UnsupportedError("np.linalg.svd with compute_uv=False: use compute_uv=True")
    if hermitian:
        raise UnsupportedError("np.linalg.svd with hermitian=True: use np.linalg.eigh")
    _thin("svd", a, full)


def svd_along(
    d: Any, outs: Any, a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False
) -> list[Any]:
    _svd_check(outs, a, full_matrices, hermitian)
    u, s, vh = outs
    v, row, column = adjoint(vh), s[..., None, :], s[..., :, None]
    inner = np.matmul(np.matmul(adjoint(u), d), v)
    gaps = _gaps(s * s)
    du = np.matmul(u, gaps * (inner * row + column * adjoint(inner)))
    dv = np.matmul(v, gaps * (column * inner + adjoint(inner) * row))
    outside_u = np.matmul(d, v)
    outside_v = np.matmul(adjoint(d), u)
    du = du + (outside_u - np.matmul(u, np.matmul(adjoint(u), outside_u))) * _inverse(row)
    dv = dv + (outside_v - np.matmul(v, np.matmul(vh, outside_v))) * _inverse(row)
    return [du, np.diagonal(inner, axis1=-2, axis2=-1), adjoint(dv)]


def svd_against(
    by: list[Any],
    outs: Any,
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    hermitian: Any = False,
) -> Any:
    """Singular vectors that NumPy leaves free (of equal singular values) must not matter to the result."""
    _svd_check(outs, a, full_matrices, hermitian)
    u, s, vh = outs
    bu, bs, bv = by[0], by[1], adjoint(by[2])
    v, row, column = adjoint(vh), s[..., None, :], s[..., :, None]
    ubu, vbv = np.matmul(adjoint(u), bu), np.matmul(vh, bv)
    gaps = _gaps(s * s)
    inner = gaps * (ubu - adjoint(ubu)) * row + column * gaps * (vbv - adjoint(vbv))
    inner = inner + bs[..., None] * np.eye(np.shape(s)[-1], dtype=s.dtype)
    left = np.matmul(u, inner) + (bu - np.matmul(u, ubu)) * _inverse(row)
    right = (bv - np.matmul(v, vbv)) * _inverse(row)
    return np.matmul(left, vh) + np.matmul(u, adjoint(right))


def _qr_check(outs: Any, a: Any, mode: str) -> None:
    if mode not in ("reduced", "complete"):
        raise UnsupportedError(f"np.linalg.qr with mode={mode!r}: use mode='reduced'")
    _thin("qr", a, mode == "complete")
    if np.shape(a)[-2] < np.shape(a)[-1]:
        raise UnsupportedError("np.linalg.qr of a matrix with fewer rows than columns has no derivative rule")


def qr_along(d: Any, outs: Any, a: Any, mode: str = "reduced") -> list[Any]:
    _qr_check(outs, a, mode)
    q, r = outs
    scaled = adjoint(np.linalg.solve(adjoint(r), adjoint(d)))
    inner = np.matmul(adjoint(q), scaled)
    below = np.tril(inner, -1)
    upper = inner - below + adjoint(below)
    return [scaled - np.matmul(q, upper), np.matmul(upper, r)]


def qr_against(by: list[Any], outs: Any, a: Any, mode: str = "reduced") -> Any:
    _qr_check(outs, a, mode)
    q, r = outs
    bq, br = by
    middle = np.matmul(r, adjoint(np.triu(br))) - np.matmul(adjoint(bq), q)
    symmetric = np.tril(middle) + adjoint(np.tril(middle, -1))
    return adjoint(np.linalg.solve(r, adjoint(bq + np.matmul(q, symmetric))))


def pinv_jvp(d: Any, y: Any, a: Any, *_: Any, **others: Any) -> Any:
    """The rank stays as it is near `a`."""
    dh, yh = adjoint(d), adjoint(y)
    first = np.matmul(np.matmul(y, yh), dh)
    second = np.matmul(dh, np.matmul(yh, y))
    first = first - np.matmul(np.matmul(first, a), y)
    second = second - np.matmul(y, np.matmul(a, second))
    return first + second - np.matmul(np.matmul(y, d), y)


def pinv_vjp(by: Any, y: Any, a: Any, *_: Any, **others: Any) -> Any:
    bh, yh = adjoint(by), adjoint(y)
    first = np.matmul(bh, np.matmul(y, yh))
    second = np.matmul(np.matmul(yh, y), bh)
    first = first - np.matmul(a, np.matmul(y, first))
    second = second - np.matmul(np.matmul(second, y), a)
    return first + second - np.matmul(np.matmul(yh, by), yh)


# -- least squares ------------------------------------------------------------------------------------------


class _LeastSquares:
    """What the derivatives of ``x, residuals, rank, s = lstsq(a, b)`` are made of, where the rank is full."""

    def __init__(self, a: Any, b: Any, outs: Any) -> None:
        x, self.residuals, rank, self.s = outs
        if rank < min(a.shape):
            raise UnsupportedError(
                "np.linalg.lstsq of a matrix without full rank, whose solution is not smooth: leave columns"
                " out, or add rows with a small multiple of the identity"
            )
        self.a, self.shape = a, np.shape(b)
        self.x, self.b = (np.reshape(z, (z.shape[0], -1)) for z in (x, b))
        self.inverse = np.linalg.pinv(a)
        self.rest = self.b - np.matmul(a, self.x)

    def along(self, da: Any, db: Any) -> list[Any]:
        change = np.zeros_like(self.rest) if db is None else np.reshape(db, self.rest.shape)
        dx, ds = 0.0, None
        if da is not None:
            dh, inverse = adjoint(da), self.inverse
            change = change - np.matmul(da, self.x)
            second = np.matmul(dh, np.matmul(adjoint(inverse), self.x))
            dx = np.matmul(inverse, np.matmul(adjoint(inverse), np.matmul(dh, self.rest)))
            dx = dx + second - np.matmul(inverse, np.matmul(self.a, second))
            u, _, vh = np.linalg.svd(self.a, full_matrices=False)
            ds = np.real(np.sum(conj(u) * np.matmul(da, adjoint(vh)), axis=0))
        dx = dx + np.matmul(self.inverse, change)
        residuals = 2.0 * np.real(np.sum(conj(self.rest) * change, axis=0)) if self.residuals.size else None
        return [np.reshape(dx, (-1, *self.shape[1:])), residuals, None, ds]

    def against(self, bx: Any, residuals: Any, bs: Any) -> tuple[Any, Any]:
        bx = np.zeros_like(self.x) if bx is None else np.reshape(bx, self.x.shape)
        inverse, ih = self.inverse, adjoint(self.inverse)
        by_b = np.matmul(ih, bx)
        if self.residuals.size and residuals is not None:
            by_b = by_b + 2.0 * self.rest * residuals
        by_a = -np.matmul(by_b, adjoint(self.x))
        bh = adjoint(bx)
        by_a = by_a + np.matmul(self.rest, np.matmul(np.matmul(bh, inverse), ih))
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


ROWS: list[Rule] = [
    *_products(),
    Primitive(np.einsum, frule=einsum_frule, rrule=einsum_rrule, when=plain),
    ArrayRule(np.linalg.solve, "a b", jvp=[solve_da, solve_db], vjp=[solve_a, solve_b]),
    _unary(np.linalg.inv, "a", inv_jvp, inv_vjp),
    _unary(np.linalg.det, "a", det_jvp, det_vjp),
    _unary(np.linalg.cholesky, "a", cholesky_jvp, cholesky_vjp),
    _unary(np.linalg.eigvalsh, "a UPLO", eigvalsh_jvp, eigvalsh_vjp),
    _unary(np.linalg.norm, "x ord axis keepdims", norm_jvp, norm_vjp),
    multiple(np.linalg.slogdet, slogdet_along, slogdet_against),
    multiple(np.linalg.eigh, eigh_along, eigh_against),
    multiple(np.linalg.svd, svd_along, svd_against),
    multiple(np.linalg.qr, qr_along, qr_against),
    Primitive(np.linalg.lstsq, frule=lstsq_frule, rrule=lstsq_rrule, when=plain, parameters=("a", "b")),
    _unary(np.linalg.pinv, "a rcond hermitian rtol", pinv_jvp, pinv_vjp),
]
