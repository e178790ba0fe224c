"""`list.sort`, and lists that are put in another order.

Which order that is follows from keys, and has no derivative itself: the slots of the shadow go with the
elements, and come back with what was added to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.rules.builtins.compared import any_python_order
from adbc.rules.builtins.ordering import sorting_order, watched_order
from adbc.rules.classes import list_like
from adbc.rules.sequences import out_of_step
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule

__all__ = ["ROWS", "put_in_order", "sort_at_once", "sort_by", "watched_sort"]


def _sort(a: list[Any], /, *, key: Any = None, reverse: bool = False) -> None:
    # the derivative goes the way of the permutation
    size = len(a)
    keys = a if key is None else [key(x) for x in a[:]]
    is_changed = len(a) != size  # by the key, which Python shows an empty list
    if is_changed:
        if len(a) < size:
            raise IndexError("pop from empty list")
        del a[size:]
    if any_python_order(keys):
        watched_sort(a, list(a) if key is None else keys, reverse)
    else:
        sort_by(a, keys, reverse)
    if is_changed:
        raise ValueError("list modified during sort")


class _WatchedSort:
    """Sorting a list by keys that are compared by Python code, which the runtime sees to.

    This is a class and not a function, so that calls of it are not followed.
    """

    def __call__(self, a: list[Any], keys: Any, reverse: bool) -> None:
        sort_at_once(a, keys, reverse)


watched_sort = _WatchedSort()


def sort_at_once(a: list[Any], keys: Any, reverse: bool) -> None:
    """Sort the list `a` by `keys`, whose comparisons may change nothing."""
    put_in_order(a, watched_order(keys, reverse))


def put_in_order(a: list[Any], order: Sequence[int]) -> None:
    """Put the elements of `a` in another `order`."""
    a[:] = [a[i] for i in order]


def sort_by(a: list[Any], keys: Any, reverse: bool) -> None:
    """Sort the list `a` by `keys`, which C code compares."""
    put_in_order(a, sorting_order(keys, reverse))


# -- rules ----------------------------------------------------------------------------------------------


def _put_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, order = args
    put_in_order(a, order)
    if dargs[0] is not None:
        put_in_order(dargs[0], order)
    return None, None


def _sort_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, keys, reverse = args
    return _put_frule((a, sorting_order(keys, reverse)), (dargs[0], None))


def _put_forwards(a: Any, order: Any, fa: Any, forder: Any) -> tuple[Any, Any, Any]:
    if fa is not None and len(fa) != len(a):
        raise out_of_step(a)
    before = a[:]
    put_in_order(a, order)
    if fa is not None:
        put_in_order(fa, order)
    return None, None, (a, fa, order, before)


def _put_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, order, before = saved
    a[:] = before
    if fa is not None:
        for i, t in zip(order, fa[:], strict=True):
            fa[i] = t
    return None, None


def _sort_forwards(a: Any, keys: Any, reverse: Any, fa: Any, *rest: Any) -> tuple[Any, Any, Any]:
    return _put_forwards(a, sorting_order(keys, reverse), fa, None)


def _sort_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    _put_backwards(saved, bout)
    return None, None, None


def _in_halves(function: Any, frule: Any, halves: Halves) -> Rule:
    """The row of `function`, which takes a list first, by its rule in halves."""

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        out, fout, saved = halves.forwards(*args, *fargs)
        return out, fout, lambda bout: halves.backwards(saved, bout)

    return Primitive(function, frule=frule, rrule=rrule, is_fitted=True, when=_first_list, halves=(halves,))


def _first_list(cls: type, *rest: type) -> bool:
    return list_like(cls)


ROWS: list[Rule] = [
    Overlay(list.sort, _sort, when=_first_list),
    _in_halves(put_in_order, _put_frule, Halves(2, _put_forwards, _put_backwards)),
    _in_halves(sort_by, _sort_frule, Halves(3, _sort_forwards, _sort_backwards)),
]
