"""Eigenvalues and singular values that coincide, and the vectors that they leave free.

The vectors of one value may turn into each other, and how they do says the second derivative of the matrix
only.  What is made of them is differentiated if that does not matter; where it does, the derivative is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["cancelled_are_nan", "coinciding", "gaps", "seed", "vanishing"]

_ROUNDING = 64
"""How many units in the last place of the largest eigenvalue those that coincide may be computed apart."""


def _negligible(w: Any) -> Any:
    """How far apart eigenvalues may be that are computed and coincide, for each matrix."""
    size = np.max(np.abs(w), axis=-1, initial=0)
    return _ROUNDING * np.finfo(size.dtype).eps * size


def coinciding(w: Any) -> Any:
    """Which pairs of eigenvalues coincide, but for rounding."""
    gap = np.abs(w[..., None, :] - w[..., :, None])
    return (gap <= _negligible(w)[..., None, None]) & ~np.eye(w.shape[-1], dtype=bool)


def any_coincide(w: Any) -> bool:
    """Whether some of the eigenvalues coincide, but for rounding."""
    if w.dtype.kind == "c" or w.__class__ is not np.ndarray:
        return bool(np.any(coinciding(w)))
    row = np.sort(w, axis=-1)  # neighbours are closest
    gap = row[..., 1:] - row[..., :-1]
    return bool(np.any(gap <= _negligible(w)[..., None]))


def vanishing(s: Any) -> Any:
    """Which pairs of singular values are both zero, but for rounding.

    The vectors on the left turn then into each other without those on the right.
    """
    zero = s <= _negligible(s)[..., None]
    return zero[..., None, :] & zero[..., :, None] & ~np.eye(s.shape[-1], dtype=bool)


def gaps(w: Any, *mixed: Any, coincide: Any = None, along: bool = False) -> Any:
    """The matrix of 1 / (w_j - w_i), with 0 on the diagonal and where eigenvalues are equal.

    mixed: matrices of how the vectors depend on each other.  Those of one eigenvalue are not smooth, and it
    is not known how what is made of them and the eigenvalues moves: if they do, there is a NaN.
    coincide: which pairs are of one eigenvalue, if `w` is something else; a gap that is rounding alone says
    nothing of how far they turn.
    along: whether it is a tangent that is divided by them.  A cotangent is small itself if it comes from
    what small singular values are multiplied with, and is divided; a tangent is not.
    """
    gap = w[..., None, :] - w[..., :, None]
    if coincide is None and not any_coincide(w):
        eye = np.eye(w.shape[-1], dtype=gap.dtype)
        return 1 / (gap + eye) - eye
    equal = coinciding(w) if coincide is None else coincide
    found = np.where(gap == 0, 0, 1 / np.where(gap == 0, 1, gap))
    if not np.any(equal):
        return found
    if along:
        found = np.where(equal, 0, found)
    for part in mixed:
        size = np.abs(part)
        found = np.where(equal & (size > 1e-12 * np.max(size, axis=(-2, -1), keepdims=True)), np.nan, found)
    return found


# -- cotangents that cancel --------------------------------------------------------------------------------
#
# Of v in (v * exp(w)) @ inv(v) the cotangent is the difference of two, which cancel where eigenvalues are
# equal: exactly, if the vectors are those of the identity.  The vectors matter for all that.  So the
# cotangent begins as a number that what is added absorbs: where it is 0 in the end, something has cancelled.

_SMALL = 2.0**20


def _mark_of(dtype: Any) -> Any:
    """The number at which a cotangent of this type begins: small enough to be absorbed, large enough to be
    scaled."""
    real = _SMALL * np.finfo(dtype).tiny
    return dtype.type(real + 1j * real if dtype.kind == "c" else real)


def seed(shadow: Any, values: Any, is_row: bool = False, is_any_use: bool = False) -> bool:
    """Let the cotangents of vectors, in `shadow`, begin as marks where their `values` coincide; returns
    whether some do.

    is_row: whether the vectors are the rows, not the columns.
    is_any_use: whether what is to be seen later is not that something cancels, but that anything is added,
    be it 0: a copy of the vectors has a cotangent of its own, in which numbers may cancel.
    """
    if not any_coincide(values):
        return False
    free = np.any(coinciding(values), axis=-1)
    k = free.shape[-1]
    vectors = np.swapaxes(shadow, -1, -2) if is_row else shadow
    mark = -np.zeros((), shadow.dtype) if is_any_use else _mark_of(shadow.dtype)
    vectors[..., :k] = np.where(free[..., None, :], mark, vectors[..., :k])
    return True


def cancelled_are_nan(by: Any, values: Any, is_row: bool = False, is_any_use: bool = False) -> Any:
    """The cotangent `by` of vectors that `seed` has marked: without marks, and NaN where they are lost."""
    free = np.any(coinciding(values), axis=-1)
    if by is None or not np.any(free):
        return by
    k = free.shape[-1]
    by = np.swapaxes(by, -1, -2) if is_row else by
    part = by[..., :k]
    if is_any_use:
        is_mark = (part == 0) & np.signbit(part.real) & (np.signbit(part.imag) | (by.dtype.kind != "c"))
        lost = (part == 0) & ~is_mark
    else:
        is_mark = np.abs(part) <= _SMALL * np.abs(_mark_of(by.dtype))
        lost = (part.real == 0) | ((part.imag == 0) & (by.dtype.kind == "c"))
    part = np.where(free[..., None, :], np.where(lost, np.nan, np.where(is_mark, 0, part)), part)
    by = np.concatenate([part, by[..., k:]], axis=-1).astype(by.dtype)
    return np.swapaxes(by, -1, -2) if is_row else by
