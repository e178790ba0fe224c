"""Rules of the methods of ufuncs: all follow from the partial derivatives of the ufunc itself.

`methods_of` gives the rows for one ufunc with two arguments or one: ``outer`` is a call that broadcasts,
``accumulate`` the recurrence y[k] = f(y[k-1], x[k]), ``reduce`` its last element, ``reduceat`` one such
reduction per segment, and ``at`` a loop in which elements that occur several times are changed in turn.  The
sums, products and extrema of `reductions` have formulas of their own, which cost less.

A ufunc without a row, such as one that `numpy.frompyfunc` makes, is called step by step (`OF_ANY`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import (
    ArrayRule,
    any_active,
    check_writable,
    gather,
    gather_tangent,
    give,
    new_shadow,
    plain,
    refuse_read_only,
)
from adbc.rules.numpy.elementwise import ElementwiseRule, conj
from adbc.rules.numpy.reductions import kept, lined, lines, unlined, unlines
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule
from adbc.tangents.array_products import is_finite, multiply

__all__ = ["OF_ANY", "accumulate_by_steps", "methods_of", "outer_by_steps", "reduce_by_steps",
    "row_of_method",
]  # fmt: skip

REDUCE = "array axis dtype out keepdims initial where"
ACCUMULATE = "array axis dtype out"
REDUCEAT = "array indices axis dtype out"


# -- scans -----------------------------------------------------------------------------------------------


def _partial(row: ElementwiseRule, i: int, out: Any, *args: Any) -> Any:
    """The derivative of the ufunc by argument `i`, as an array like `out`."""
    jvp = row.jvp[i]
    if jvp is None:
        return np.zeros_like(out)
    with np.errstate(all="ignore"):
        return np.broadcast_to(jvp(np.ones_like(out), out, *args), out.shape)


def _ufunc(row: ElementwiseRule) -> Any:
    return row.function


class _Scan:
    """The recurrence y[k] = f(y[k-1], x[k]) along the last axis of `x`, where nothing is masked.

    slopes: the derivative of each y[k] by y[k-1], 0 for the first; shares: that by x[k].
    """

    def __init__(
        self, row: ElementwiseRule, x: Any, dtype: Any, initial: Any = None, where: Any = None
    ) -> None:
        first = x[..., :1] if initial is None else np.full_like(x[..., :1], 0, dtype=dtype) + initial
        rest = x[..., 1:] if initial is None else x
        rest = np.asarray(rest, dtype)
        with np.errstate(all="ignore"):
            if where is None:
                whole = _ufunc(row).accumulate(np.concatenate([first, rest], axis=-1), axis=-1, dtype=dtype)
            else:
                whole = _accumulated(row.function, np.asarray(first, dtype), rest, where)
        before, after = whole[..., :-1], whole[..., 1:]
        slopes, shares = (np.array(_partial(row, i, after, before, rest)) for i in (0, 1))
        if where is not None:
            slopes, shares = np.where(where, slopes, 1), np.where(where, shares, 0)
        if initial is None:
            slopes = np.concatenate([np.zeros_like(whole[..., :1]), slopes], axis=-1)
            shares = np.concatenate([np.ones_like(whole[..., :1]), shares], axis=-1)
        self.slopes, self.shares = slopes, shares
        self.last = whole[..., -1] if whole.shape[-1] else whole[..., :0]  # there is none of nothing

    def check(self, row: ElementwiseRule, y: Any) -> None:
        """Raise unless the recurrence ends in `y`, which the ufunc gave in one go."""
        tolerance = float(np.finfo(self.last.dtype).eps) ** 0.5 if self.last.dtype.kind in "fc" else 0.0
        if not np.allclose(self.last, np.reshape(y, self.last.shape), tolerance, tolerance, equal_nan=True):
            raise UnsupportedError(
                f"np.{_ufunc(row).__name__}.reduce, or reduceat, gives another value than steps of the ufunc",
                "its derivative follows from the recurrence only",
                f"use np.{_ufunc(row).__name__}.accumulate(x)[-1], or a loop",
            )

    def weights(self) -> Any:
        """The derivative of the last element of the recurrence by each x[k]."""
        behind = np.ones_like(self.slopes)
        with np.errstate(all="ignore"):
            behind[..., :-1] = np.cumprod(self.slopes[..., :0:-1], axis=-1)[..., ::-1]
        if not is_finite(behind):
            for k in range(behind.shape[-1] - 2, -1, -1):
                behind[..., k] = multiply(self.slopes[..., k + 1], behind[..., k + 1])
        return multiply(behind, self.shares)

    def along(self, d: Any) -> Any:
        """The tangents of all y[k]."""
        found = np.zeros(np.broadcast_shapes(d.shape, self.slopes.shape), np.result_type(d, self.slopes))
        here: Any = 0.0
        for k in range(found.shape[-1]):
            here = multiply(self.slopes[..., k], here) + multiply(self.shares[..., k], d[..., k])
            found[..., k] = here
        return found

    def against(self, by: Any) -> Any:
        """The cotangents of all x[k]."""
        found = np.zeros(by.shape, np.result_type(by, self.slopes))
        here: Any = 0.0
        for k in range(found.shape[-1] - 1, -1, -1):
            here = here + by[..., k]
            found[..., k] = multiply(conj(self.shares[..., k]), here)
            here = multiply(conj(self.slopes[..., k]), here)
        return found


def _accumulated(ufunc: Any, first: Any, rest: Any, where: Any) -> Any:
    """All y[k] of a recurrence in which elements where the mask `where` is off are left out."""
    found = [first[..., 0]]
    for k in range(rest.shape[-1]):
        found.append(np.where(where[..., k], ufunc(found[-1], rest[..., k]), found[-1]))
    return np.stack(found, axis=-1)


def _weights(row: ElementwiseRule, y: Any, x: Any, axis: Any, initial: Any = None, where: Any = True) -> Any:
    """The derivative of a reduction of `x` by each of its elements, as an array of lines (`lines`)."""
    flat = lines(x, axis)
    if initial is np._NoValue:
        initial = None
    mask = None
    if where is not True:
        mask = lines(np.broadcast_to(where, np.shape(x)), axis)
        initial = _ufunc(row).identity if initial is None else initial
    if not flat.shape[-1]:
        return flat
    scan = _Scan(row, flat, np.result_type(y), initial, mask)
    scan.check(row, y)
    return scan.weights()


def _reduce_formulas(row: ElementwiseRule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def weights(y: Any, x: Any, axis: Any, initial: Any, where: Any) -> Any:
        return unlines(_weights(row, y, x, axis, initial, where), x, axis)

    def jvp(
        d: Any, y: Any, x: Any, axis: Any = 0, keepdims: Any = False, initial: Any = None,
        where: Any = True, **_: Any,
    ) -> Any:  # fmt: skip
        return np.sum(multiply(weights(y, x, axis, initial, where), d), axis=axis, keepdims=keepdims)

    def vjp(by: Any, y: Any, x: Any, axis: Any = 0, initial: Any = None, where: Any = True, **_: Any) -> Any:
        return multiply(conj(weights(y, x, axis, initial, where)), kept(by, x, axis))

    return jvp, vjp


def _accumulate_formulas(row: ElementwiseRule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def meant(axis: Any) -> Any:
        return axis[0] if type(axis) is tuple else axis

    def jvp(d: Any, y: Any, x: Any, axis: Any = 0, **_: Any) -> Any:
        axis = meant(axis)
        return unlined(_Scan(row, lined(x, axis), np.result_type(y)).along(lined(d, axis)), y, axis)

    def vjp(by: Any, y: Any, x: Any, axis: Any = 0, **_: Any) -> Any:
        axis = meant(axis)
        return unlined(_Scan(row, lined(x, axis), np.result_type(y)).against(lined(by, axis)), x, axis)

    return jvp, vjp


def _segments(indices: Any, n: int) -> Iterator[tuple[int, int]]:
    """The beginnings and ends of what ``reduceat`` reduces, of `n` elements."""
    starts = [int(i) for i in np.ravel(indices)]
    for j, start in enumerate(starts):
        end = starts[j + 1] if j + 1 < len(starts) else n
        yield start, max(end, start + 1)


def _reduceat_formulas(row: ElementwiseRule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def jvp(d: Any, y: Any, x: Any, indices: Any, axis: Any = 0, **_: Any) -> Any:
        flat, d = lined(x, axis), lined(d, axis)
        parts = []
        ends = lined(y, axis)
        for j, (start, end) in enumerate(_segments(indices, flat.shape[-1])):
            part = _weights(row, ends[..., j], flat[..., start:end], -1)
            parts.append(np.sum(multiply(part, d[..., start:end]), axis=-1))
        return unlined(np.stack(parts, axis=-1), y, axis)

    def vjp(by: Any, y: Any, x: Any, indices: Any, axis: Any = 0, **_: Any) -> Any:
        flat, by, ends = lined(x, axis), lined(by, axis), lined(y, axis)
        found = np.zeros(flat.shape, np.result_type(by, flat))
        for j, (start, end) in enumerate(_segments(indices, flat.shape[-1])):
            part = _weights(row, ends[..., j], flat[..., start:end], -1)
            found[..., start:end] += multiply(conj(part), by[..., j : j + 1])
        return unlined(found, x, axis)

    return jvp, vjp


# -- products of all with all ----------------------------------------------------------------------------


def _widened(x: Any, y: Any) -> Any:
    return np.reshape(x, np.shape(x) + (1,) * np.ndim(y))


def _outer_row(row: ElementwiseRule) -> Rule:
    """The row of ``np.add.outer(x, y)`` and its kin: the ufunc on ``x[..., None]`` and ``y``."""
    ufunc: Any = row.function

    def check(kwargs: Kwargs) -> None:
        if kwargs:
            given = ", ".join(f"{name}=" for name in kwargs)
            raise UnsupportedError(
                f"np.{ufunc.__name__}.outer with {given}",
                "adbc has no rule for that form",
                f"call the ufunc itself, np.{ufunc.__name__}(np.expand_dims(x, axes), y, {given}...)",
            )

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        check(kwargs)
        x, y = map(np.asarray, args)  # so that a number's class has its say in the dtype
        dx, dy = map(gather_tangent, args, dargs)
        return row.frule((_widened(x, y), y), (None if dx is None else _widened(dx, y), dy))

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        check(kwargs)
        x, y = map(np.asarray, args)
        out = ufunc.outer(x, y)
        fout = new_shadow(out, any_active(fargs))

        def outer_pullback(bout: Any) -> Any:
            by = fout if isinstance(fout, np.ndarray) else bout
            bx = by_ = None
            if by is not None:
                wide = _widened(x, y)
                if fargs[0] is not None and row.vjp[0] is not None:
                    d = np.broadcast_to(row.vjp[0](by, out, wide, y), np.shape(out))
                    d = d.sum(axis=tuple(range(np.ndim(x), np.ndim(out))))
                    bx = give(fargs[0], args[0], d)
                if fargs[1] is not None and row.vjp[1] is not None:
                    by_ = give(fargs[1], args[1], row.vjp[1](by, out, wide, y))
            return bx, by_

        return out, fout, outer_pullback

    return Primitive(ufunc.outer, frule=frule, rrule=rrule, when=plain, parameters=("A", "B"))


# -- element by element ----------------------------------------------------------------------------------


class _Steps:
    """The steps of ``f.at(u, indices, v)``: in each no element of `u` is changed twice.

    places: in each step, the numbers of the elements; sources: the numbers of those of `v`, which are
    broadcast to the shape of what is chosen.
    """

    def __init__(self, u: Any, indices: Any) -> None:
        self.chosen = np.arange(u.size).reshape(u.shape)[indices]
        flat = self.chosen.ravel()
        order = np.argsort(flat, kind="stable")
        ordered = flat[order]
        is_first = np.ones(flat.size, bool)
        is_first[1:] = ordered[1:] != ordered[:-1]
        begins = np.maximum.accumulate(np.where(is_first, np.arange(flat.size), 0))
        turn = np.empty(flat.size, int)
        turn[order] = np.arange(flat.size) - begins
        self.sources = [np.flatnonzero(turn == k) for k in range(int(turn.max(initial=-1)) + 1)]
        self.places = [flat[source] for source in self.sources]

    def spread(self, v: Any) -> Any:
        return np.broadcast_to(v, self.chosen.shape).reshape(-1)


def _at_row(row: ElementwiseRule) -> Primitive:
    """The row of ``np.multiply.at(u, indices, v)`` and its kin, unary ones too."""
    ufunc: Any = row.function
    is_binary = ufunc.nin == 2

    def steps(u: Any, rest: Args) -> Iterator[tuple[Any, Any, Any, list[Any]]]:
        """For each step: places, sources, results and operands."""
        found, now = _Steps(u, rest[0]), u.copy()
        others = found.spread(gather(rest[1])) if is_binary else None
        for places, sources in zip(found.places, found.sources, strict=True):
            operands = [now.reshape(-1)[places]] + ([others[sources]] if others is not None else [])
            with np.errstate(all="ignore"):
                result = ufunc(*operands)
            now.reshape(-1)[places] = result
            yield places, sources, result, operands

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        u, du = args[0], dargs[0]
        dv = gather_tangent(args[2], dargs[2]) if is_binary else None
        check_writable(u, du, dv is not None)
        if du is not None:
            flat = np.ravel(du)  # a copy, unless it is the memory itself
            dothers = None if dv is None else _Steps(u, args[1]).spread(dv)
            for places, sources, result, operands in steps(u, args[1:]):
                total: Any = 0.0
                if row.jvp[0] is not None:
                    total = row.jvp[0](flat[places], result, *operands)
                if dothers is not None and row.jvp[1] is not None:
                    total = total + row.jvp[1](dothers[sources], result, *operands)
                flat[places] = total
            du[...] = flat.reshape(du.shape)
        ufunc.at(*args)
        return None, None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        u, fu = args[0], fargs[0]
        fv = fargs[2] if is_binary else None
        check_writable(u, fu, fv is not None)
        refuse_read_only(u, ufunc)
        done = list(steps(u, args[1:])) if fu is not None else []
        old = u.copy()
        ufunc.at(*args)

        def at_pullback(bout: Any) -> Any:
            u[...] = old
            result: list[Any] = [None] * len(args)
            if fu is None:
                return result
            flat = np.ravel(fu)
            shape = np.shape(old_chosen(args[1]))
            given = np.zeros(int(np.prod(shape)), fu.dtype)
            for places, sources, out, operands in reversed(done):
                by = flat[places]
                flat[places] = 0 if row.vjp[0] is None else _fit(row.vjp[0](by, out, *operands), flat)
                if fv is not None and row.vjp[1] is not None:
                    given[sources] = _fit(row.vjp[1](by, out, *operands), given)
            fu[...] = flat.reshape(fu.shape)
            if fv is not None:
                result[2] = give(fv, args[2], given.reshape(shape))
            return result

        def old_chosen(indices: Any) -> Any:
            return old[indices]

        return None, None, at_pullback

    made = Primitive(ufunc.at, frule=frule, rrule=rrule, when=plain, parameters=("a", "indices", "b"))
    made.mutates = True
    return made


def _fit(d: Any, like: Any) -> Any:
    """The cotangent `d` of numbers like those in `like`: its real part, if they are real."""
    return np.real(d) if np.iscomplexobj(d) and not np.iscomplexobj(like) else d


# -- rows --------------------------------------------------------------------------------------------------


class _ScanRule(ArrayRule):
    """The rule of a method that goes through an array by a ufunc of two arguments."""

    def numeric(self, count: int) -> Sequence[int]:
        return range(min(count, 1))


def _scan_row(function: Any, names: str, formulas: Sequence[Any], is_zero: bool) -> Rule:
    jvp, vjp = (None, None) if is_zero else formulas
    return _ScanRule(function, names, jvp=[jvp], vjp=[vjp], defaults={"axis": 0})


def methods_of(row: ElementwiseRule) -> list[Any]:
    """The methods of the ufunc that `row` is for that have rows."""
    ufunc: Any = row.function
    if ufunc.nout != 1 or ufunc.signature is not None or ufunc.nin > 2:
        return []
    scans = [ufunc.reduce, ufunc.accumulate, ufunc.reduceat, ufunc.outer] if ufunc.nin == 2 else []
    return [ufunc.at, *scans]


def row_of_method(row: ElementwiseRule, method: Any) -> Rule:
    """The row of `method`, one of `methods_of` the ufunc that `row` is for."""
    ufunc: Any = row.function
    # A scan begins with the first element as it is, if it is kept as a float.
    is_zero = not any(row.jvp) and not any(types.endswith(("d", "D")) for types in ufunc.types)
    match method.__name__:
        case "at":
            return _at_row(row)
        case "outer":
            return _outer_row(row)
        case "reduce":
            return _scan_row(method, REDUCE, _reduce_formulas(row), is_zero)
        case "accumulate":
            return _scan_row(method, ACCUMULATE, _accumulate_formulas(row), is_zero)
        case _:
            return _scan_row(method, REDUCEAT, _reduceat_formulas(row), is_zero)


# -- ufuncs without a row ----------------------------------------------------------------------------------


def _refuse(method: str, **options: Any) -> None:
    given = [f"{name}=" for name, value in options.items() if value is not None and value is not True]
    if given:
        raise UnsupportedError(
            f"the method {method} of a ufunc without a rule, with {', '.join(given)}",
            "adbc calls such a ufunc step by step, which has no such option",
            "call the ufunc in a loop of your own",
        )


def reduce_by_steps(
    ufunc: Any, array: Any, /, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    _refuse("reduce", dtype=dtype, out=out, where=where)
    x = np.asarray(array)
    if axis is None:
        if x.ndim > 1:
            _refuse("reduce", axis="of several dimensions")
        axis = 0
    moved = np.moveaxis(x, axis, 0)
    begin = 1 if initial is None else 0
    result = moved[0] if initial is None else initial
    for k in range(begin, len(moved)):
        result = ufunc(result, moved[k])
    return np.expand_dims(result, axis) if keepdims else result


def accumulate_by_steps(ufunc: Any, array: Any, /, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    _refuse("accumulate", dtype=dtype, out=out)
    moved = np.moveaxis(np.asarray(array), axis, 0)
    last = moved[0]
    parts = [last]
    for k in range(1, len(moved)):
        last = ufunc(last, moved[k])
        parts.append(last)
    if moved.dtype.kind != "O":
        return np.moveaxis(np.stack(parts), 0, axis)
    found = np.empty(moved.shape, object)
    for k in range(len(parts)):
        found[k] = parts[k]
    return np.moveaxis(found, 0, axis)


def outer_by_steps(ufunc: Any, a: Any, b: Any, /, **options: Any) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    return ufunc(np.reshape(a, a.shape + (1,) * b.ndim), b, **options)


def _of_ufunc(cls: type, *rest: type) -> bool:
    return cls is np.ufunc and plain(*rest)


OF_ANY: list[Rule] = [
    Overlay(np.ufunc.reduce, reduce_by_steps, when=_of_ufunc),
    Overlay(np.ufunc.accumulate, accumulate_by_steps, when=_of_ufunc),
    Overlay(np.ufunc.outer, outer_by_steps, when=_of_ufunc),
]
"""The rows of methods of ufuncs that have no rule: each is a loop of calls."""
