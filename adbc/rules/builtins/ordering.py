"""`sum`, `min`, `max`, `sorted`, `any`, `all`: functions of a whole iterable.

They are overlays, since elements may be anything; where all are numbers the body calls a primitive
that does the whole of it at once (and so also rounds as the builtin does, which from 3.12 on
carries a compensation in `sum`).
"""

from __future__ import annotations

import builtins
from collections import deque
from collections.abc import Sequence
from typing import Any

from adbc.rules.builtins.compared import (
    any_python_order,
    are_looked_up,
    first_extreme,
    is_dict_alone,
    key_at,
    place_of_extreme,
)
from adbc.rules.classes import number
from adbc.rules.consumers import Missing, all_of, any_of, is_number, largest_of, smallest_of, sum_of
from adbc.rules.dict_halves import is_view
from adbc.rules.elements import LARGEST, SMALLEST, SORTED, SUM, of_elements
from adbc.rules.list_halves import permuting
from adbc.rules.sequences import Source, element_tangents, fail, sequence_rdata, tangents_of
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import NO_FDATA, project, slot_rdata

__all__ = ["ROWS", "WITH_ROWS", "sorted_by", "sorting_order", "watched_order"]


# -- sum ------------------------------------------------------------------------------------------------


def all_numbers(values: Any, start: Any) -> bool:
    """Whether `start` and all elements of a list, tuple or deque are plain numbers."""
    return number(type(start)) and all(map(number, set(map(type, values))))


def sum_numbers(values: Any, start: Any) -> Any:
    """Python's `sum` of numbers: the case of it in which `all_numbers` holds."""
    return builtins.sum(values, start)


_FLOATS = {float}


def _sum_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out: Any = builtins.sum(*args)
    dout = dargs[1]
    if type(out) is float and type(dargs[0]) is list and set(map(type, dargs[0])) == _FLOATS:
        return out, builtins.sum(dargs[0], 0.0 if dout is None else dout)
    for d in element_tangents(dargs[0], len(args[0])):
        if d is not None:
            dout = d if dout is None else dout + d
    return out, None if dout is None else project(dout, out)


def _sum_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    values, start = args
    if type(fargs[0]) is list and type(values) is list and set(map(type, values)) == _FLOATS:
        return _sum_of_floats(values, start, *fargs)
    saved = tuple(values)

    def sum_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return None, None
        terms = [project(bout, x) for x in saved]
        return (
            sequence_rdata(fargs[0], terms),
            None if fargs[1] is None else project(bout, start),
        )

    out = builtins.sum(values, start)
    active = project(0.0, out) is not None and any(f is not None for f in fargs)
    return out, NO_FDATA if active else None, sum_pullback


def _sum_of_floats(values: list[float], start: Any, shadow: list[float], start_shadow: Any) -> Any:
    """What `_sum_rrule` returns for a list of floats: each slot of its `shadow` gets the same."""

    def floats_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return None, None
        b = bout if type(bout) is float else project(bout, 0.0)
        shadow[:] = [t + b for t in shadow]
        return None, None if start_shadow is None else project(bout, start)

    return builtins.sum(values, start), NO_FDATA, floats_pullback


def _sum_forwards(values: Any, start: Any, fvalues: Any, fstart: Any) -> tuple[Any, Any, Any]:
    cls = fvalues.__class__
    if (cls is list or cls is deque) and {*map(type, values)} == _FLOATS:
        return builtins.sum(values, start), NO_FDATA, (fvalues, start, fstart)
    return _sum_rrule((values, start), (fvalues, fstart))  # type: ignore[no-any-return]  # three parts


def _sum_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved.__class__ is not tuple:
        return saved(bout)  # type: ignore[no-any-return]  # a pullback
    if bout is None:
        return None, None
    fvalues, start, fstart = saved
    b = bout if bout.__class__ is float else project(bout, 0.0)
    grown = [t + b for t in fvalues]
    fvalues.clear()
    fvalues.extend(grown)
    return None, None if fstart is None else project(bout, start)


def _sum(values: Any, /, start: Any = 0) -> Any:
    if all_numbers(values, start):
        return sum_numbers(values, start)
    if issubclass(type(start), (str, bytes, bytearray)):
        fail(builtins.sum, (), start)
    for x in values:
        start = start + x
    return start


def _sum_of_view(values: Any, /, start: Any = 0) -> Any:
    return _sum(list(values), start)


def _is_held(cls: type, *rest: type) -> bool:
    """Whether the elements are in a list or tuple already, so that no Python code runs to make them."""
    return cls is list or cls is tuple


def _is_at_hand(cls: type, *rest: type) -> bool:
    """Whether the elements are in a list, a tuple or a deque already."""
    return _is_held(cls) or cls is deque


def _is_view_first(cls: type, *rest: type) -> bool:
    return is_view(cls)


def _is_held_alone(*classes: type) -> bool:
    """Whether there is one argument, which holds the elements already."""
    return len(classes) == 1 and _is_held(*classes)


# -- min, max -------------------------------------------------------------------------------------------


def _chosen(function: Any, args: Any, key: Any, default: Any) -> Any:
    """The value that `function`, which is `max` or `min`, chooses."""
    if not args:
        raise TypeError(f"{function.__name__} expected at least 1 argument, got 0")
    if len(args) > 1 and default is not Missing:
        raise TypeError(
            f"Cannot specify a default for {function.__name__}() with multiple positional arguments"
        )
    values = args[0] if len(args) == 1 else args
    is_there = (type(values) is list or type(values) is tuple) and values
    if key is None and is_there and not any_python_order(values):
        return values[first_extreme(values, function is builtins.max)]
    choose = largest_of if function is builtins.max else smallest_of
    return choose(values, key=key, default=default)


def _max(*args: Any, key: Any = None, default: Any = Missing) -> Any:
    return _chosen(builtins.max, args, key, default)


def _min(*args: Any, key: Any = None, default: Any = Missing) -> Any:
    return _chosen(builtins.min, args, key, default)


def _largest(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    if key is None and values and not any_python_order(values):
        return values[first_extreme(values, True)]
    return largest_of(values, key=key, default=default)


def _smallest(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    if key is None and values and not any_python_order(values):
        return values[first_extreme(values, False)]
    return smallest_of(values, key=key, default=default)


WITH_ROWS: set[type] = set()
"""Classes of which one instance alone has another rule of `max` and `min`: one that is loaded later."""


def _is_any(*classes: type) -> bool:
    return len(classes) != 1 or classes[0] not in WITH_ROWS


def _largest_in_dict(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    place = place_of_extreme(values, key, True)
    return largest_of(values, key=key, default=default) if place < 0 else key_at(values, place)


def _smallest_in_dict(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    place = place_of_extreme(values, key, False)
    return smallest_of(values, key=key, default=default) if place < 0 else key_at(values, place)


def _largest_in_view(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    return _largest(list(values), key=key, default=default)


def _smallest_in_view(values: Any, /, *, key: Any = None, default: Any = Missing) -> Any:
    return _smallest(list(values), key=key, default=default)


# -- sorted, any, all -----------------------------------------------------------------------------------


def sorting_order(keys: Any, reverse: bool) -> tuple[int, ...]:
    """The indices of `keys` in sorted order; equal keys keep their order, with `reverse` too."""
    return tuple(builtins.sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse))


class _WatchedOrder:
    """The indices of keys in sorted order, like `sorting_order`, for keys that are compared by Python code.

    The runtime sees to it that the comparisons change nothing.

    This is a class and not a function, so that calls of it are not followed.
    """

    def __call__(self, keys: Any, reverse: bool) -> tuple[int, ...]:
        return sorting_order(keys, reverse)


watched_order = _WatchedOrder()


def _sorted(iterable: Any, /, *, key: Any = None, reverse: bool = False) -> Any:
    values = list(iterable)
    if key is not None and are_looked_up(values, key):
        return sorted_by(values, key, reverse)
    keys = values if key is None else [key(x) for x in values]
    if any_python_order(keys):
        return permuted(values, watched_order(keys, reverse))
    return sorted_by(values, keys, reverse)


def sorted_by(values: Any, keys: Any, reverse: bool) -> list[Any]:
    """The elements of a list, sorted by `keys`, or by what these give if they look up: C code compares."""
    return permuted(values, _order_by(values, keys, reverse))


def _order_by(values: Any, keys: Any, reverse: bool) -> tuple[int, ...]:
    return sorting_order([*map(keys, values)] if callable(keys) else keys, reverse)


def permuted(values: Any, order: Sequence[int]) -> list[Any]:
    """The elements of a list in another `order`."""
    return [values[i] for i in order]


def _permuted_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    values, order = args
    tangents = tangents_of(values, dargs[0])
    return permuted(values, order), [tangents[i] for i in order]


def _permuted_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    values, order = args
    source = Source(values, fargs[0])
    fout = permuted(source.tangents(), order)

    def permuted_pullback(bout: Any) -> Sequence[Any]:
        terms: list[Any] = [None] * len(fout)
        for i, t in zip(order, fout, strict=True):
            terms[i] = slot_rdata(t)
        return source.give(terms), None

    return permuted(values, order), fout, permuted_pullback


def _sorted_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    values, keys, reverse = args
    return _permuted_frule((values, _order_by(values, keys, reverse)), (dargs[0], None))


def _sorted_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out, fout, saved = _sorted_forwards(*args, *fargs)
    return out, fout, lambda bout: _sorted_backwards(saved, bout)


def _sorted_forwards(values: Any, keys: Any, reverse: Any, fvalues: Any, *rest: Any) -> tuple[Any, Any, Any]:
    return _PERMUTED.forwards(values, _order_by(values, keys, reverse), fvalues, None)


def _sorted_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    return _PERMUTED.backwards(saved, bout)[0], None, None


(_PERMUTED,) = permuting(_permuted_rrule)

ROWS: list[Rule] = [
    ZeroRule(all_numbers, result=bool),
    ZeroRule(is_number, result=bool),
    Primitive(
        sum_numbers,
        frule=_sum_frule,
        rrule=_sum_rrule,
        is_fitted=True,
        halves=(Halves(2, _sum_forwards, _sum_backwards),),
    ),
    *of_elements(SUM, Overlay(builtins.sum, _sum, when=_is_at_hand)),
    Overlay(builtins.sum, _sum_of_view, when=_is_view_first),
    Overlay(builtins.sum, sum_of),
    *of_elements(LARGEST, Overlay(builtins.max, _largest, when=_is_held_alone)),
    *of_elements(SMALLEST, Overlay(builtins.min, _smallest, when=_is_held_alone)),
    Overlay(builtins.max, _largest_in_dict, when=is_dict_alone),
    Overlay(builtins.min, _smallest_in_dict, when=is_dict_alone),
    Overlay(builtins.max, _largest_in_view, when=is_view),
    Overlay(builtins.min, _smallest_in_view, when=is_view),
    Overlay(builtins.max, _max, when=_is_any),
    Overlay(builtins.min, _min, when=_is_any),
    ZeroRule(sorting_order, result=tuple),
    Primitive(
        permuted,
        frule=_permuted_frule,
        rrule=_permuted_rrule,
        is_fitted=True,
        halves=(_PERMUTED,),
        result=list,
    ),
    Primitive(
        sorted_by,
        frule=_sorted_frule,
        rrule=_sorted_rrule,
        is_fitted=True,
        halves=(Halves(3, _sorted_forwards, _sorted_backwards),),
        result=list,
    ),
    *of_elements(SORTED, Overlay(builtins.sorted, _sorted, result=list)),
    Overlay(any, any_of, result=bool),
    Overlay(all, all_of, result=bool),
]
