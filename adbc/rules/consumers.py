"""What functions in C do with an iterable, said in Python.

A generator that is made for such a function can be written into the loop that stands here for it.  A function
that takes all elements before it does anything else needs no loop of its own: it is given a list of them.
What others do with an element they do before they ask for the next one, for both may have effects, and the
next one may depend on them.  What is written here are loops, for they are what is wanted.
"""

from __future__ import annotations

import array
import builtins
import collections
import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

from adbc.ir import intrinsics
from adbc.rules.classes import number, real
from adbc.rules.sequences import fail, pair_of

__all__ = [
    "CONSUMERS",
    "FOLDS",
    "Consumer",
    "Missing",
    "Unset",
    "added",
    "all_of",
    "any_of",
    "are_reals",
    "as_double",
    "consumer_of",
    "dict_of_pairs",
    "exact_sum_of",
    "extended",
    "is_number",
    "largest_of",
    "listed",
    "product_of",
    "product_of_reals",
    "pushed",
    "pushed_by_operator",
    "smallest_of",
    "sum_of",
]


class Consumer(NamedTuple):
    """How a function consumes an iterable.

    loop: a function that does the same, with the same parameters; or None where all elements are taken before
    anything else is done that could be seen.  position: which argument is the iterable.
    """

    loop: Callable[..., Any] | None
    position: int = 0


class Missing:
    """No default was given."""


class Unset:
    """What a variable holds that is read by nobody before it is set: where a loop is written in, it has no
    value at all, and so the type of what it is set to."""


def listed(iterable: Iterable[Any]) -> list[Any]:
    made: list[Any] = []
    for value in iterable:
        intrinsics._list_append_(made, value)
    return made


def all_of(iterable: Iterable[Any], /) -> bool:
    for value in iterable:  # noqa: SIM110
        if not value:
            return False
    return True


def any_of(iterable: Iterable[Any], /) -> bool:
    for value in iterable:  # noqa: SIM110
        if value:
            return True
    return False


def is_number(x: Any) -> bool:
    """Whether `x` is a plain number, with which arithmetic runs no Python code."""
    return number(type(x))


def _sum_plainly(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    if issubclass(type(start), (str, bytes, bytearray)):
        return fail(builtins.sum, (), start)
    for value in iterable:
        start = start + value
    return start


def _sum_compensated(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    if issubclass(type(start), (str, bytes, bytearray)):
        return fail(builtins.sum, (), start)
    # What a sum of floats loses is kept, and added when something else arrives, or at the end; from then on
    # everything is added plainly.  When numbers are added cannot be seen, so they may wait.
    waiting: list[Any] = []
    compensates = True
    for value in iterable:
        cls = type(value)
        if not compensates:
            start = start + value
        elif cls is float or cls is int or is_number(value):
            intrinsics._list_append_(waiting, value)
        else:
            before = sum(waiting, start)
            was_float = type(before) is float
            if was_float and issubclass(cls, int):  # the value of a subclass is taken as it is
                intrinsics._list_append_(waiting, value)
            else:
                start = before + value
                waiting = []
                compensates = not was_float and type(start) is float
    return sum(waiting, start) if compensates else start


sum_of = _sum_plainly if sys.version_info < (3, 12) else _sum_compensated
"""Python's `sum`, which from 3.12 on adds to the result what sums of floats lose."""


def product_of(iterable: Iterable[Any], /, *, start: Any = 1) -> Any:
    # When numbers are multiplied with each other cannot be seen, so they may wait; with an object it can.
    waiting: list[Any] = []
    of_numbers = type(start) is int or type(start) is float or is_number(start)
    for value in iterable:
        cls = type(value)
        if not of_numbers:
            start = start * value
        elif cls is float or cls is int or is_number(value):
            intrinsics._list_append_(waiting, value)
        else:
            start = math.prod(waiting, start=start) * value
            of_numbers = is_number(start)
            waiting = []
    if not of_numbers:
        return start
    return product_of_reals(waiting, start) if are_reals(waiting, start) else math.prod(waiting, start=start)


def product_of_reals(values: Any, start: Any) -> Any:
    """``math.prod(values, start=start)`` of real numbers, which has a rule of its own."""
    return math.prod(values, start=start)


def are_reals(values: Any, start: Any) -> bool:
    """Whether `start` and all of `values` are real numbers, with which arithmetic runs no Python code."""
    return real(type(start)) and all(map(real, {*map(type, values)}))


def as_float(value: Any) -> Any:
    """The float that functions of `math` make of an argument."""
    cls = type(value)
    if not (hasattr(cls, "__float__") or hasattr(cls, "__index__")):
        fail(math.fsum, (value,))
    return as_double(value)


def as_double(value: Any) -> Any:
    """The float that C code takes an argument for: one of any class is what it is."""
    return float.__float__(value) if issubclass(type(value), float) else float(value)


def exact_sum_of(seq: Iterable[Any], /) -> float:
    waiting: list[Any] = []
    for value in seq:
        cls = type(value)
        if not (cls is float or cls is int or cls is bool):
            value = as_float(value)
        intrinsics._list_append_(waiting, value)
    return math.fsum(waiting)


def largest_of(iterable: Iterable[Any], /, *, key: Any = None, default: Any = Missing) -> Any:
    found: Any = Unset
    largest: Any = Unset
    is_first = True
    for value in iterable:
        rank = value if key is None else key(value)
        if is_first or rank > largest:
            found, largest, is_first = value, rank, False
    if is_first:
        return fail(builtins.max, ()) if default is Missing else default
    return found


def smallest_of(iterable: Iterable[Any], /, *, key: Any = None, default: Any = Missing) -> Any:
    found: Any = Unset
    least: Any = Unset
    is_first = True
    for value in iterable:
        rank = value if key is None else key(value)
        if is_first or rank < least:
            found, least, is_first = value, rank, False
    if is_first:
        return fail(builtins.min, ()) if default is Missing else default
    return found


def _reduced(function: Any, iterable: Iterable[Any], initial: Any = Missing, /) -> Any:
    result: Any = Unset if initial is Missing else initial
    is_first = initial is Missing
    for value in iterable:
        result = value if is_first else function(result, value)
        is_first = False
    if is_first:
        raise TypeError("reduce() of empty iterable with no initial value")
    return result


def _next(iterator: Iterable[Any], default: Any = Missing, /) -> Any:
    for value in iterator:
        return value
    if default is Missing:
        raise StopIteration
    return default


def taken(iterator: Iterator[Any], /) -> Any:
    """``next(iterator)`` in a generator, which makes another error of `StopIteration`."""
    value = intrinsics._next_(iterator)
    if intrinsics._exhausted_(value):
        raise RuntimeError("generator raised StopIteration") from StopIteration()
    return value


def begun(sent: Any, /) -> None:
    """Refuse what is sent to a generator first, unless it is None."""
    if sent is not None:
        raise TypeError("can't send non-None value to a just-started generator")


def _set(iterable: Iterable[Any], /) -> set[Any]:
    made: set[Any] = set()
    for value in iterable:
        intrinsics._set_add_(made, value)
    return made


def _frozenset(iterable: Iterable[Any], /) -> frozenset[Any]:
    made: set[Any] = set()
    for value in iterable:
        intrinsics._set_add_(made, value)
    return frozenset(made)


def _tuple(iterable: Iterable[Any], /) -> tuple[Any, ...]:
    made: list[Any] = []
    for value in iterable:
        intrinsics._list_append_(made, value)
    return intrinsics._list_to_tuple_(made)


def _dict(pairs: Iterable[Any], /) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    index = 0
    for pair in pairs:  # mostly they are made here: what follows is decided then
        if type(pair) is tuple and len(pair) == 2:
            key, value = pair
            intrinsics._map_add_(made, key, value)
        else:
            key, value = pair_of(pair, index)
            intrinsics._map_add_(made, key, value)
        index += 1  # noqa: SIM113  # what is differentiated had better be simple
    return made


def dict_of_pairs(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """``dict(pairs)`` of what gives tuples of two."""
    made: dict[Any, Any] = {}
    for key, value in pairs:
        intrinsics._map_add_(made, key, value)
    return made


def extended(made: list[Any], iterable: Iterable[Any], /) -> None:
    for value in iterable:
        intrinsics._list_append_(made, value)


def added(made: list[Any], iterable: Iterable[Any], /) -> list[Any]:
    for value in iterable:
        intrinsics._list_append_(made, value)
    return made


def pushed(made: Any, iterable: Iterable[Any], /) -> None:
    for value in iterable:
        made.append(value)


def pushed_by_operator(made: Any, iterable: Iterable[Any], /) -> Any:
    for value in iterable:
        made.append(value)
    return made


def _updated(made: set[Any], iterable: Iterable[Any], /) -> None:
    for value in iterable:
        intrinsics._set_add_(made, value)


def _unpacked(iterable: Iterable[Any], count: int, /) -> tuple[Any, ...]:
    made: list[Any] = []
    for value in iterable:
        if len(made) == count:
            raise ValueError(f"too many values to unpack (expected {count})")
        intrinsics._list_append_(made, value)
    if len(made) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(made)})")
    return intrinsics._list_to_tuple_(made)


CONSUMERS: dict[Callable[..., Any], Consumer] = {
    builtins.all: Consumer(all_of),
    builtins.any: Consumer(any_of),
    builtins.dict: Consumer(_dict),
    builtins.frozenset: Consumer(_frozenset),
    builtins.list: Consumer(listed),
    builtins.max: Consumer(largest_of),
    builtins.min: Consumer(smallest_of),
    builtins.next: Consumer(_next),
    builtins.set: Consumer(_set),
    builtins.sorted: Consumer(None),
    builtins.sum: Consumer(sum_of),
    builtins.tuple: Consumer(_tuple),
    array.array: Consumer(None, 1),
    collections.deque: Consumer(None),
    math.fsum: Consumer(exact_sum_of),
    math.prod: Consumer(product_of),
    functools.reduce: Consumer(_reduced, 1),
    intrinsics._apply_: Consumer(None, 1),
    intrinsics._list_extend_: Consumer(extended, 1),
    intrinsics._set_update_: Consumer(_updated, 1),
    intrinsics._unpack_: Consumer(_unpacked),
    intrinsics._unpack_ex_: Consumer(None),
}
"""The functions whose iterable may be written into a loop."""

_OF_SAMPLES = frozenset(
    {
        "fmean", "geometric_mean", "harmonic_mean", "mean", "median", "median_high", "median_low", "pstdev",
        "pvariance", "quantiles", "stdev", "variance",
    }
)  # fmt: skip
"""Functions of `statistics`, which is not loaded for them.  Some add numbers up as they come: nobody sees
that."""


def consumer_of(function: Any) -> Consumer | None:
    """How `function` consumes an iterable, if it does.  Raises `TypeError` if it cannot be hashed."""
    found = CONSUMERS.get(function)
    if found is None and type(function) is FunctionType and function.__module__ == "statistics":
        name = function.__name__
        if name in _OF_SAMPLES and getattr(sys.modules.get("statistics"), name, None) is function:
            return Consumer(None)
    return found


FOLDS: tuple[Callable[..., Any], ...] = (
    builtins.all, builtins.any, builtins.max, builtins.min,
    *((builtins.sum,) if sum_of is _sum_plainly else ()),
)  # fmt: skip
"""Consumers that make one value of the elements, one after the other, and do nothing else."""
