"""What iterators that are made in C give, said in Python.

Where such an iterator is consumed by a loop, the generator that stands here for it can be written into that
loop (`passes.normal.consumed_generators`).  What the iterator does when it is made is said beside it.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adbc.ir.intrinsics import _iter_, _list_append_
from adbc.rules.itertools import as_bound, check_bounds

__all__ = ["PRODUCERS", "Producer"]


class Producer(NamedTuple):
    """An iterator for so many arguments.

    body: a generator function that gives the same.  prepared: by number of an argument, what is made of it
    when the iterator is made.  given: the arguments that have to be these constants, and are not handed over.
    keywords: the names of the last arguments, if they are given by name.  apart: the same as `body`, with a
    loop for each argument, for arguments some of which are generators that can be written in there.
    """

    body: Callable[..., Iterator[Any]]
    arity: int
    prepared: Mapping[int, Callable[..., Any]] = {}
    given: Mapping[int, object] = {}
    keywords: tuple[str, ...] = ()
    apart: Callable[..., Iterator[Any]] | None = None


def _mapped(function: Any, values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        yield function(value)


def _mapped_two(function: Any, first: Iterator[Any], second: Iterator[Any]) -> Iterator[Any]:
    for a, b in zip(first, second):  # noqa: B905
        yield function(a, b)


def _mapped_three(
    function: Any, first: Iterator[Any], second: Iterator[Any], third: Iterator[Any]
) -> Iterator[Any]:
    for a, b, c in zip(first, second, third):  # noqa: B905
        yield function(a, b, c)


def _zipped_two(first: Iterator[Any], second: Iterator[Any]) -> Iterator[Any]:
    for a, b in zip(first, second):  # noqa: B905, UP028
        yield a, b


def _zipped_three(first: Iterator[Any], second: Iterator[Any], third: Iterator[Any]) -> Iterator[Any]:
    for a, b, c in zip(first, second, third):  # noqa: B905, UP028
        yield a, b, c


def _strictly_two(first: Iterator[Any], second: Iterator[Any]) -> Iterator[Any]:
    for a, b in zip(first, second, strict=True):  # noqa: UP028
        yield a, b


def _strictly_three(first: Iterator[Any], second: Iterator[Any], third: Iterator[Any]) -> Iterator[Any]:
    for a, b, c in zip(first, second, third, strict=True):  # noqa: UP028
        yield a, b, c


def _numbered(values: Iterator[Any]) -> Iterator[Any]:
    for i, value in enumerate(values):  # noqa: UP028
        yield i, value


def _numbered_from(values: Iterator[Any], start: Any) -> Iterator[Any]:
    for value in values:
        yield start, value
        start += 1


def _spread(function: Any, values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        yield function(*value)


def _filtered(function: Any, values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        if value if function is None else function(value):
            yield value


def _filtered_out(function: Any, values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        if not (value if function is None else function(value)):
            yield value


def _chosen(values: Iterator[Any], selectors: Iterator[Any]) -> Iterator[Any]:
    for value, selector in zip(values, selectors):  # noqa: B905
        if selector:
            yield value


def _taken_while(function: Any, values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        if not function(value):
            return
        yield value


def _dropped_while(function: Any, values: Iterator[Any]) -> Iterator[Any]:
    is_dropping = True
    for value in values:
        if is_dropping and function(value):
            continue
        is_dropping = False
        yield value


def _chained_two(first: Iterable[Any], second: Iterable[Any]) -> Iterator[Any]:
    for part in (first, second):
        for value in part:  # noqa: UP028
            yield value


def _two_apart(first: Iterable[Any], second: Iterable[Any]) -> Iterator[Any]:
    for value in first:
        yield value
    for value in second:
        yield value


def _chained_three(first: Iterable[Any], second: Iterable[Any], third: Iterable[Any]) -> Iterator[Any]:
    for part in (first, second, third):
        for value in part:  # noqa: UP028
            yield value


def _three_apart(first: Iterable[Any], second: Iterable[Any], third: Iterable[Any]) -> Iterator[Any]:
    for value in first:
        yield value
    for value in second:
        yield value
    for value in third:
        yield value


def _chained(parts: Iterator[Iterable[Any]]) -> Iterator[Any]:
    for part in parts:
        for value in part:  # noqa: UP028
            yield value


def _accumulated(values: Iterator[Any]) -> Iterator[Any]:
    total = None
    for value in values:
        total = value
        break
    else:
        return
    while True:
        yield total
        for value in values:
            total = operator.add(total, value)
            break
        else:
            return


def _accumulated_by(values: Iterator[Any], function: Any) -> Iterator[Any]:
    total = None
    for value in values:
        total = value
        break
    else:
        return
    while True:
        yield total
        for value in values:
            total = operator.add(total, value) if function is None else function(total, value)
            break
        else:
            return


def _pairwise(values: Iterator[Any]) -> Iterator[Any]:
    before = None
    for value in values:
        before = value
        break
    else:
        return
    for value in values:
        yield before, value
        before = value


def _pairs(pool: Sequence[Any]) -> Iterator[Any]:
    count = len(pool)
    for i in range(count):
        for j in range(i + 1, count):
            yield pool[i], pool[j]


def _triples(pool: Sequence[Any]) -> Iterator[Any]:
    count = len(pool)
    for i in range(count):
        for j in range(i + 1, count):
            for k in range(j + 1, count):
                yield pool[i], pool[j], pool[k]


def _ordered_pairs(pool: Sequence[Any]) -> Iterator[Any]:
    count = len(pool)
    for i in range(count):
        for j in range(count):
            if i != j:
                yield pool[i], pool[j]


def _product(first: Sequence[Any], second: Sequence[Any]) -> Iterator[Any]:
    for a in first:
        for b in second:
            yield a, b


def _square(pool: Sequence[Any]) -> Iterator[Any]:
    for a in pool:
        for b in pool:
            yield a, b


def _product_of_three(first: Sequence[Any], second: Sequence[Any], third: Sequence[Any]) -> Iterator[Any]:
    for a in first:
        for b in second:
            for c in third:
                yield a, b, c


def _cube(values: Sequence[Any]) -> Iterator[Any]:
    for a in values:
        for b in values:
            for c in values:
                yield a, b, c


def _as_start(start: Any) -> Any:
    """`start` of ``islice(values, start, stop)``, checked as that checks it."""
    start = as_bound(start)
    check_bounds(slice(start, None))
    return start


def _as_stop(stop: Any) -> Any:
    """`stop` of ``islice(values, stop)``, checked as that checks it."""
    stop = as_bound(stop)
    check_bounds(slice(stop))
    return stop


def _as_step(step: Any) -> Any:
    """`step` of ``islice(values, start, stop, step)``, checked as that checks it."""
    step = as_bound(step)
    check_bounds(slice(None, None, step))
    return step


# One loop each, into which a generator can be written; nothing is asked for one element more than is given.


def _begun(values: Iterator[Any], stop: Any) -> Iterator[Any]:
    if stop == 0:
        return
    taken = 0
    for value in values:
        yield value
        taken += 1  # noqa: SIM113  # it is compared when the next element is asked for
        if taken == stop:
            return


def _all_but_first(values: Iterator[Any]) -> Iterator[Any]:
    is_first = True
    for value in values:
        if is_first:
            is_first = False
        else:
            yield value


def _sliced(values: Iterator[Any], start: Any, stop: Any) -> Iterator[Any]:
    taken, first = 0, start or 0
    if stop == 0 and first == 0:
        return
    for value in values:
        taken += 1  # noqa: SIM113
        if taken > first:
            yield value
        if taken >= first and stop is not None and taken >= stop:
            return


def _stepped(values: Iterator[Any], start: Any, stop: Any, step: Any) -> Iterator[Any]:
    taken, following, stride = 0, start or 0, step or 1
    if stop == 0 and following == 0:
        return
    for value in values:
        taken += 1  # noqa: SIM113
        if taken > following:
            following += stride
            if stop is not None and following > stop:
                following = stop
            yield value
        if taken >= following and stop is not None and taken >= stop:
            return


def _cycled(values: Iterator[Any]) -> Iterator[Any]:
    kept: list[Any] = []
    for value in values:
        yield value
        _list_append_(kept, value)
    while len(kept) > 0:
        for value in kept:  # delegation is no loop
            yield value


def _longest(first: Iterator[Any], second: Iterator[Any], filling: Any = None) -> Iterator[Any]:
    a = b = None
    has_first = has_second = True
    while True:
        if has_first:  # one that has ended is not asked again
            for a in first:  # noqa: B007  # it is used below
                break
            else:
                has_first = False
        if has_second:
            for b in second:  # noqa: B007  # it is used below
                break
            else:
                has_second = False
        if not (has_first or has_second):
            return
        yield a if has_first else filling, b if has_second else filling


def _begun_with(values: Iterator[Any], function: Any, initial: Any) -> Iterator[Any]:
    if initial is None:  # as if it were not given
        for value in values:
            initial = value
            break
        else:
            return
    yield initial
    for value in values:
        initial = operator.add(initial, value) if function is None else function(initial, value)
        yield initial


def _begun_from(values: Iterator[Any], initial: Any) -> Iterator[Any]:
    if initial is None:  # as if it were not given
        for value in values:
            initial = value
            break
        else:
            return
    yield initial
    for value in values:
        initial = operator.add(initial, value)
        yield initial


def _repeated(value: Any) -> Iterator[Any]:
    while True:
        yield value


def _repeated_times(value: Any, times: Sequence[Any]) -> Iterator[Any]:
    for _ in times:
        yield value


def _counted(start: Any, step: Any) -> Iterator[Any]:
    while True:
        yield start
        start = start + step


def _counted_one_by_one(start: Any) -> Iterator[Any]:
    while True:
        yield start
        start = start + 1


_BOTH: Mapping[int, Callable[..., Any]] = {0: _iter_, 1: _iter_}
_ALL_THREE: Mapping[int, Callable[..., Any]] = {0: _iter_, 1: _iter_, 2: _iter_}

PRODUCERS: dict[Callable[..., Any], Sequence[Producer]] = {
    builtins.map: (
        Producer(_mapped, 2, {1: _iter_}),
        Producer(_mapped_two, 3, {1: _iter_, 2: _iter_}),
        Producer(_mapped_three, 4, {1: _iter_, 2: _iter_, 3: _iter_}),
    ),
    builtins.zip: (
        Producer(_zipped_two, 2, _BOTH), Producer(_zipped_three, 3, _ALL_THREE),
        Producer(_zipped_two, 3, _BOTH, {2: False}, keywords=("strict",)),
        Producer(_zipped_three, 4, _ALL_THREE, {3: False}, keywords=("strict",)),
        Producer(_strictly_two, 3, _BOTH, {2: True}, keywords=("strict",)),
        Producer(_strictly_three, 4, _ALL_THREE, {3: True}, keywords=("strict",)),
    ),
    builtins.enumerate: (
        Producer(_numbered, 1, {0: _iter_}),
        Producer(_numbered_from, 2, {1: operator.index, 0: _iter_}),
        Producer(_numbered_from, 2, {1: operator.index, 0: _iter_}, keywords=("start",)),
    ),
    builtins.filter: (Producer(_filtered, 2, {1: _iter_}),),
    itertools.filterfalse: (Producer(_filtered_out, 2, {1: _iter_}),),
    itertools.starmap: (Producer(_spread, 2, {1: _iter_}),),
    itertools.compress: (Producer(_chosen, 2, {0: _iter_, 1: _iter_}),),
    itertools.takewhile: (Producer(_taken_while, 2, {1: _iter_}),),
    itertools.dropwhile: (Producer(_dropped_while, 2, {1: _iter_}),),
    itertools.chain: (
        Producer(_chained_two, 2, apart=_two_apart), Producer(_chained_three, 3, apart=_three_apart),
    ),
    itertools.chain.from_iterable: (Producer(_chained, 1, {0: _iter_}),),
    itertools.accumulate: (
        Producer(_accumulated, 1, {0: _iter_}), Producer(_accumulated_by, 2, {0: _iter_}),
        Producer(_accumulated_by, 2, {0: _iter_}, keywords=("func",)),
        Producer(_begun_from, 2, {0: _iter_}, keywords=("initial",)),
        Producer(_begun_with, 3, {0: _iter_}, keywords=("initial",)),
        Producer(_begun_with, 3, {0: _iter_}, keywords=("func", "initial")),
    ),
    itertools.pairwise: (Producer(_pairwise, 1, {0: _iter_}),),
    itertools.combinations: (
        Producer(_pairs, 2, {0: builtins.list}, {1: 2}), Producer(_triples, 2, {0: builtins.list}, {1: 3}),
    ),
    itertools.permutations: (Producer(_ordered_pairs, 2, {0: builtins.list}, {1: 2}),),
    itertools.product: (
        Producer(_product, 2, dict.fromkeys(range(2), builtins.list)),
        Producer(_square, 2, {0: builtins.list}, {1: 2}, keywords=("repeat",)),
        Producer(_cube, 2, {0: builtins.list}, {1: 3}, keywords=("repeat",)),
        Producer(_product_of_three, 3, dict.fromkeys(range(3), builtins.list)),
    ),
    itertools.islice: (
        Producer(_begun, 2, {1: _as_stop, 0: _iter_}),
        Producer(_all_but_first, 3, {0: _iter_}, {1: 1, 2: None}),
        Producer(_sliced, 3, {1: _as_start, 2: _as_stop, 0: _iter_}),
        Producer(_stepped, 4, {1: _as_start, 2: _as_stop, 3: _as_step, 0: _iter_}),
    ),
    itertools.repeat: (Producer(_repeated, 1), Producer(_repeated_times, 2, {1: builtins.range})),
    itertools.count: (
        Producer(_counted, 2), Producer(_counted_one_by_one, 1),
        Producer(_counted, 2, keywords=("start", "step")),
    ),
    itertools.cycle: (Producer(_cycled, 1, {0: _iter_}),),
    itertools.zip_longest: (
        Producer(_longest, 3, {0: _iter_, 1: _iter_}, keywords=("fillvalue",)),
    ),
}  # fmt: skip
"""The iterators that may be written into loops, in the order in which they are tried."""
