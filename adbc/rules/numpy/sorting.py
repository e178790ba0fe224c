"""Rules of functions that put elements in order, and of the median.

Sorting follows the order of a stable sort.  What is partitioned has an order of NumPy's own, which is read
off the result: equal elements count in the order in which they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.effects import ANYTHING, Use
from adbc.rules.numpy.base import ArrayRule, check_writable, finish, give, new_shadow, plain
from adbc.rules.numpy.reductions import kept, lines, unlines
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule

__all__ = ["ROWS"]


def ranks(x: Any) -> Any:
    """The place of each element of `x` in the order along the last axis."""
    return np.argsort(np.argsort(x, axis=-1, kind="stable"), axis=-1)


def sources(old: Any, new: Any) -> Any:
    """For each element of `new`, which has those of `old` in another order along the last axis, its place in
    `old`."""
    return np.take_along_axis(np.argsort(old, axis=-1, kind="stable"), ranks(new), -1)


def forth(d: Any, old: Any, new: Any, axis: Any) -> Any:
    """The tangent of `new`, which has the elements of `old` in another order along `axis`."""
    where = sources(lines(old, axis), lines(new, axis))
    return unlines(np.take_along_axis(lines(d, axis), where, -1), old, axis)


def back(by: Any, old: Any, new: Any, axis: Any) -> Any:
    """The cotangent of `old`, from that of `new`: the transpose of `forth`."""
    where = sources(lines(old, axis), lines(new, axis))
    return unlines(np.take_along_axis(lines(by, axis), np.argsort(where, axis=-1), -1), old, axis)


# -- copies in another order ---------------------------------------------------------------------------------


def sort_jvp(d: Any, y: Any, x: Any, axis: Any = -1, **_: Any) -> Any:
    order = np.argsort(x, axis=axis, kind="stable")
    return np.ravel(d)[order] if axis is None else np.take_along_axis(d, order, axis)


def sort_vjp(by: Any, y: Any, x: Any, axis: Any = -1, **_: Any) -> Any:
    order = np.argsort(x, axis=axis, kind="stable")
    if axis is None:
        return np.ravel(by)[np.argsort(order)].reshape(np.shape(x))
    return np.take_along_axis(by, np.argsort(order, axis=axis), axis)


def partition_jvp(d: Any, y: Any, x: Any, kth: Any = None, axis: Any = -1, **_: Any) -> Any:
    if axis is None:
        return forth(np.ravel(d), np.ravel(x), y, 0)
    return forth(d, x, y, axis)


def partition_vjp(by: Any, y: Any, x: Any, kth: Any = None, axis: Any = -1, **_: Any) -> Any:
    if axis is None:
        return back(by, np.ravel(x), y, 0).reshape(np.shape(x))
    return back(by, x, y, axis)


# -- values that occur ---------------------------------------------------------------------------------------


def _first_places(x: Any, y: Any) -> Any:
    """The place in the flattened `x` where each value in `y` occurs first."""
    flat = np.ravel(x)
    order = np.argsort(flat, kind="stable")
    return order[np.searchsorted(flat[order], y)]


class UniqueRule(ArrayRule):
    """The rule of what ``np.unique`` finds the different values with, in no particular order, if it can."""

    # Called with anything but such arrays as `np.unique` gives it, the function crashes the interpreter.
    sample = None  # type: ignore[assignment]  # as of rules that are not `ArrayRule`

    def __init__(self, function: Any) -> None:
        super().__init__(function, "ar equal_nan", jvp=[self._along], vjp=[self._against])

    @staticmethod
    def _along(d: Any, y: Any, x: Any, **_: Any) -> Any:
        return None if y is NotImplemented else np.ravel(d)[_first_places(x, y)]

    @staticmethod
    def _against(by: Any, y: Any, x: Any, **_: Any) -> Any:
        d = np.zeros(np.size(x), by.dtype)
        d[_first_places(x, y)] = by
        return d.reshape(np.shape(x))

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return False  # what it gives need not be an array


# -- in place ------------------------------------------------------------------------------------------------


class RearrangingRule(Rule):
    """The rule of a method that puts the elements of its array into another order along one axis.

    place: which argument the axis is, if it is not given by name; the last axis if it is not given at all.
    """

    mutates = True

    def __init__(self, function: Any, place: int) -> None:
        super().__init__(function, when=plain, parameters=("a",))
        self.place = place

    def _axis(self, args: Args, kwargs: Kwargs) -> Any:
        return args[self.place] if len(args) > self.place else kwargs.get("axis", -1)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        x, dx = args[0], dargs[0]
        check_writable(x, dx, False)
        old = None if dx is None else x.copy()
        self.function(*args, **kwargs)
        if dx is not None:
            dx[...] = forth(dx, old, x, self._axis(args, kwargs))
        return None, None

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        x, f = args[0], fargs[0]
        check_writable(x, f, False)
        old = x.copy()
        self.function(*args, **kwargs)

        def rearranging_pullback(bout: Any) -> Sequence[Any]:
            if f is not None:
                f[...] = back(f, old, x, self._axis(args, kwargs))
            x[...] = old
            return (None,) * len(args)

        return None, None, rearranging_pullback


# -- the median ----------------------------------------------------------------------------------------------


def _middle(x: Any, axis: Any) -> Any:
    """The weight of each element in a median: 1 or two halves, 0 for the others."""
    flat = lines(x, axis)
    n = flat.shape[-1]
    rank = ranks(flat)
    weight = 0.5 * (rank == (n - 1) // 2) + 0.5 * (rank == n // 2)
    return unlines(weight, x, axis)


def median_jvp(d: Any, y: Any, x: Any, axis: Any = None, keepdims: Any = False, **_: Any) -> Any:
    return np.sum(_middle(x, axis) * d, axis=axis, keepdims=keepdims)


def median_vjp(by: Any, y: Any, x: Any, axis: Any = None, **_: Any) -> Any:
    return _middle(x, axis) * kept(by, x, axis)


class MedianRule(ArrayRule):
    """The rule of ``np.median``, which with ``overwrite_input=True`` leaves its array in another order."""

    def __init__(self) -> None:
        super().__init__(np.median, "a axis out overwrite_input keepdims", jvp=[median_jvp], vjp=[median_vjp])
        self.takes_values = 0  # an array that is overwritten is memory

    def _may_overwrite(self, count: int, keywords: Sequence[str]) -> bool:
        return "overwrite_input" in keywords or count - len(keywords) > self.names.index("overwrite_input")

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return super().is_pure(count, keywords) and not self._may_overwrite(count, keywords)

    def uses(self, count: int, keywords: Sequence[str]) -> Sequence[Use]:
        found = super().uses(count, keywords)
        return [ANYTHING, *found[1:]] if self._may_overwrite(count, keywords) else found

    def _overwritten(self, args: Args, kwargs: Kwargs) -> dict[str, Any] | None:
        """The arguments beside the array, if that is overwritten; else None."""
        arrays, others, target, _ = self.split(args, kwargs)
        if not others.get("overwrite_input") or not isinstance(arrays[0], np.ndarray):
            return None
        if target is not None:
            raise UnsupportedError(
                "np.median with overwrite_input=True and out=",
                "adbc has no rule for that form",
                "leave one of them out",
            )
        return others

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        others = self._overwritten(args, kwargs)
        if others is None:
            return super().frule(args, dargs, kwargs)
        x, dx = args[0], dargs[0]
        check_writable(x, dx, False)
        old = x.copy()
        out = self.function(*args, **kwargs)
        if dx is None:
            return out, finish(None, out)
        dout = median_jvp(dx, out, old, **others)
        dx[...] = forth(dx, old, x, others.get("axis"))
        return out, finish(dout, out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        others = self._overwritten(args, kwargs)
        if others is None:
            return super().rrule(args, fargs, kwargs)
        x, f = args[0], fargs[0]
        check_writable(x, f, False)
        old = x.copy()
        out = self.function(*args, **kwargs)
        fout = new_shadow(out, f is not None)

        def overwriting_pullback(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            if f is not None:
                f[...] = back(f, old, x, others.get("axis"))
            x[...] = old
            if f is not None and by is not None:
                give(f, x, median_vjp(by, out, old, **others))
            return (None,) * len(args)

        return out, fout, overwriting_pullback


_UNIQUE: Any = getattr(getattr(getattr(np, "_core", None), "_multiarray_umath", None), "_unique_hash", None)

ROWS: list[Rule] = [
    *([] if _UNIQUE is None else [UniqueRule(_UNIQUE)]),  # earlier versions of NumPy have none
    ArrayRule(np.sort, "a axis", jvp=[sort_jvp], vjp=[sort_vjp]),
    ArrayRule(np.partition, "a kth axis", jvp=[partition_jvp], vjp=[partition_vjp]),
    RearrangingRule(np.ndarray.sort, 1),
    RearrangingRule(np.ndarray.partition, 2),
    MedianRule(),
]
