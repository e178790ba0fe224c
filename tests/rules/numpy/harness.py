"""Checks one row of the table in flat form.

`check` runs the row in both modes on arguments that `make` builds anew each time (so that aliasing
and views among them are kept): the value and the mutated state are the primal's, the tangents agree
with central differences, the cotangents with the tangents by the inner product, shadows start from
random numbers (an overwritten shadow breaks the inner product), the arguments are restored.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.numpy import ROWS
from adbc.rules.table import Rule, RuleTable
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    add_to_primal,
    difference,
    dot,
    random_tangent,
    scale,
    slot_shadow,
    zero_tangent,
)

TABLE = RuleTable()
TABLE.add(ROWS)

ATTRIBUTES = {
    getattr(cls, name): name
    for cls in (np.ndarray, np.generic)
    for name in (
        "T",
        "mT",
        "real",
        "imag",
        "shape",
        "ndim",
        "size",
        "dtype",
        "strides",
        "itemsize",
        "nbytes",
        "flags",
    )
    if hasattr(cls, name)
}


def primal(function: Any) -> Callable[..., Any]:
    """`function`, or the reading of the attribute that it describes."""
    return operator.attrgetter(ATTRIBUTES[function]) if function in ATTRIBUTES else function


def by_keyword(function: Any) -> Callable[..., Any]:
    """`function`, with the target of a ufunc by keyword: by position it is deprecated for some."""
    if not isinstance(function, np.ufunc):
        return function
    ufunc = function

    def call(*args: Any, **kwargs: Any) -> Any:
        return (
            ufunc(*args[: ufunc.nin], out=args[ufunc.nin], **kwargs)
            if len(args) > ufunc.nin
            else ufunc(*args, **kwargs)
        )

    return call


def find(function: Any, args: Any, kwargs: Any) -> tuple[Rule, tuple[Any, ...], dict[str, Any]]:
    """The row for these arguments, and the arguments as it wants them."""
    for row in TABLE.rows(function):
        bound, rest = row.bind(args, kwargs)
        if row.accepts([type(x) for x in bound]):
            return row, bound, rest
    raise AssertionError(f"no row of {function} for {[type(x).__name__ for x in args]}")


def _numbers(x: Any) -> Any:
    """All numbers in a tangent or primal, in one complex vector."""
    if x is None or x is NO_TANGENT:
        return np.zeros(0)
    if isinstance(x, np.ndarray):
        return x.ravel() if x.dtype.kind in "fc" else np.zeros(0)
    if isinstance(x, (float, complex, np.inexact)):
        return np.array([x])
    if isinstance(x, (list, tuple)):
        parts = [_numbers(c) for c in x]
        return np.concatenate(parts) if parts else np.zeros(0)
    return _numbers(list(vars(x).values())) if hasattr(x, "__dict__") else np.zeros(0)


def _same(p: Any, q: Any) -> None:
    if isinstance(p, np.ndarray):
        assert type(q) is np.ndarray and p.dtype == q.dtype and p.shape == q.shape
        np.testing.assert_array_equal(p, q)
    elif isinstance(p, (list, tuple)):
        assert type(p) is type(q) and len(p) == len(q)
        for a, b in zip(p, q, strict=True):
            _same(a, b)
    else:
        assert type(p) is type(q)
        assert p == q or (p != p and q != q) or p is q or not isinstance(p, (float, complex, int))


def _addresses(t: Any) -> list[Any]:
    """The parts of a tangent that are identified by address."""
    if isinstance(t, (np.ndarray, list)):
        return [t]
    if isinstance(t, tuple):
        return [a for c in t for a in _addresses(c)]
    return []


def _values(r: Any, d: Any) -> float:
    """The inner product of rdata `r` with the value parts of tangent `d`."""
    if r is None:
        return 0.0
    if isinstance(r, tuple):
        return sum(_values(a, b) for a, b in zip(r, d, strict=True))
    return float(np.real(np.conjugate(r) * d))


def _shares(f: Any, parts: list[Any]) -> bool:
    arrays = [a for a in parts if isinstance(a, np.ndarray)]
    return any(np.may_share_memory(f, a) for a in arrays) or any(f is a for a in parts)


def _flat_tangent(t: Any) -> Any:
    return None if t is NO_TANGENT else t


def check(
    function: Any, make: Callable[[], Any], kwargs: Any = None, *, tolerance: float = 2e-6,
    step: float = 1e-5, exact: float = 1e-10, inactive: tuple[int, ...] = (), differences: bool = True,
) -> None:  # fmt: skip
    """Check the row of `function` at the arguments that ``make()`` builds."""
    kwargs_of = kwargs if callable(kwargs) else lambda: dict(kwargs or {})
    call = by_keyword(primal(function))

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any], Rule]:
        row, bound, rest = find(function, make(), kwargs_of())
        return bound, rest, row

    def tangents(seed: int, args: tuple[Any, ...]) -> list[Any]:
        made = random_tangent(np.random.default_rng(seed), args)
        parts = [NO_TANGENT] * len(args) if made is NO_TANGENT else list(made)
        return [NO_TANGENT if i in inactive else t for i, t in enumerate(parts)]

    # forward
    args, rest, row = fresh()
    before = tangents(1, args)
    after = tangents(1, args)
    out, dout = row.frule(args, [_flat_tangent(t) for t in after], rest)
    plain_args, _, _ = fresh()
    expected = call(*plain_args, **rest)
    _same(expected, out)
    _same(plain_args, args)
    filled = zero_tangent(out) if dout is None else dout
    if isinstance(out, np.ndarray) and filled is not NO_TANGENT:
        assert filled.dtype == out.dtype and filled.shape == out.shape
    elif isinstance(out, (float, complex, np.inexact)):
        assert type(filled) is type(out) or (isinstance(out, float) and isinstance(filled, float)), type(
            filled
        )
    forward = np.concatenate([_numbers(filled), _numbers([t for t in after if _addresses(t)])])
    if differences:
        ends = []
        for sign in (1.0, -1.0):
            base, _, _ = fresh()
            moved = add_to_primal(base, scale(sign * step, _whole(base, before)))
            result = call(*moved, **rest)
            ends.append((result, moved))
        slope = scale(0.5 / step, difference(ends[0], ends[1]))
        if slope is NO_TANGENT:
            slope = (NO_TANGENT, NO_TANGENT)
        moved_slopes = [NO_TANGENT] * len(args) if slope[1] is NO_TANGENT else slope[1]
        numeric = np.concatenate([
            _numbers(slope[0]),
            _numbers([s for s, t in zip(moved_slopes, after, strict=True) if _addresses(t)])
        ])  # fmt: skip
        np.testing.assert_allclose(forward, numeric, rtol=tolerance, atol=tolerance * (1 + _largest(forward)))

    # reverse
    args, rest, row = fresh()
    shadows = tangents(2, args)
    flat = [slot_shadow(t) for t in shadows]
    with warnings.catch_warnings():
        out, fout, pullback = row.rrule(args, flat, rest)
    _same(expected, out)
    _same(plain_args, args)
    rng = np.random.default_rng(3)
    bout, left = _fill(out, fout, filled, _addresses(tuple(shadows)), rng)
    left += _inner(_addresses(tuple(shadows)), _addresses(tuple(after)))
    bargs = pullback(bout)
    assert len(bargs) == len(args)
    right = _inner(_addresses(tuple(shadows)), _addresses(tuple(before)))
    for x, r, d, f in zip(args, bargs, before, flat, strict=True):
        right += _values(r, d)
        if isinstance(x, (np.ndarray, list)) or f is None:
            assert r is None
        elif isinstance(x, float) and r is not None:
            assert isinstance(r, float)
    np.testing.assert_allclose(left, right, rtol=exact, atol=exact)
    original, _, _ = fresh()
    _same(original, args)


def _whole(args: tuple[Any, ...], tangents: list[Any]) -> Any:
    """The tangent of the tuple of arguments, zero for the inactive ones."""
    zero = zero_tangent(args)
    if zero is NO_TANGENT:
        return NO_TANGENT
    return tuple(z if t is NO_TANGENT else t for z, t in zip(zero, tangents, strict=True))


def _largest(x: Any) -> float:
    return float(np.max(np.abs(x))) if x.size else 0.0


def _inner(a: list[Any], b: list[Any]) -> float:
    return float(dot(tuple(a), tuple(b))) if a else 0.0


def _fill(out: Any, fout: Any, dout: Any, known: list[Any], rng: Any) -> tuple[Any, float]:
    """Put a random cotangent on the output: its rdata, and the inner product with `dout`."""
    if isinstance(out, tuple):
        if fout is None:
            return None, 0.0
        names = getattr(out, "_fields", None)
        shadows = [getattr(fout, n, None) for n in names] if not isinstance(fout, tuple) else list(fout)
        parts = list(vars(dout).values()) if names and not isinstance(dout, tuple) else list(dout)
        pairs = [_fill(*z, known, rng) for z in zip(out, shadows, parts, strict=True)]
        return tuple(p for p, _ in pairs), sum(v for _, v in pairs)
    if isinstance(out, list):
        total = 0.0
        for i, x in enumerate(out):
            if isinstance(x, (list, np.ndarray)):
                total += _fill(x, fout[i], dout[i], known, rng)[1]
            elif isinstance(x, float):
                fout[i] = fout[i] + float(rng.standard_normal())
                total += fout[i] * dout[i]
        return None, total
    if isinstance(out, np.ndarray):
        if fout is None or _shares(fout, known):
            return None, 0.0
        assert fout.shape == out.shape and fout.dtype == out.dtype and not fout.any()
        b = rng.standard_normal(out.shape)
        fout[...] = b + 1j * rng.standard_normal(out.shape) if out.dtype.kind == "c" else b
        return None, float(np.real(np.sum(np.conjugate(fout.astype(complex)) * dout)))
    if fout is NO_FDATA:
        b = rng.standard_normal()
        if isinstance(out, (complex, np.complexfloating)):
            b = b + 1j * rng.standard_normal()
        b = type(out)(b)
        return b, float(np.real(np.conjugate(b) * dout))
    return None, 0.0
