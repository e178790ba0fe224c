"""`itertools`, as Python classes that do the same steps at the same moments.

Those that keep a pool of their inputs let the C iterator run over the indices instead, which are
inactive, and take the elements by them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from adbc.ir.intrinsics import EXHAUSTED, _next_
from adbc.rules.surrogates import OwnIterator
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS", "as_bound", "check_bounds"]


class _Chain(OwnIterator):
    __stands_for__ = itertools.chain

    def __init__(self, iterables: Any) -> None:
        self.iterables = iter(iterables)
        self.current: Any = iter(())

    def __next__(self) -> Any:
        while True:
            value = _next_(self.current)
            if value is not EXHAUSTED:
                return value
            self.current = iter(next(self.iterables))


class _Accumulate(OwnIterator):
    __stands_for__ = itertools.accumulate

    def __init__(self, iterable: Any, function: Callable[..., Any] | None, initial: Any) -> None:
        self.iterator = iter(iterable)
        self.function = operator.add if function is None else function
        self.total = initial
        self.begun = False
        self.given = initial is not None

    def __next__(self) -> Any:
        if self.begun:
            self.total = self.function(self.total, next(self.iterator))
        else:
            if not self.given:
                self.total = next(self.iterator)
            self.begun = True
        return self.total


def as_bound(bound: Any) -> Any:
    """A bound of `itertools.islice` as the integer it stands for, asked once; others are for its error."""
    if bound is None or type(bound) is int:
        return bound
    return operator.index(bound) if hasattr(type(bound), "__index__") else bound


def check_bounds(where: slice) -> None:
    """Raise what `itertools.islice` raises for bad bounds; this check has a row of its own."""
    itertools.islice((), where.start, where.stop, where.step)


class _Islice(OwnIterator):
    __stands_for__ = itertools.islice

    def __init__(self, iterable: Any, where: slice) -> None:
        where = slice(as_bound(where.start), as_bound(where.stop), as_bound(where.step))
        check_bounds(where)
        self.iterator = iter(iterable)
        self.position = 0
        self.wanted = 0 if where.start is None else where.start
        self.stop = where.stop
        self.step = 1 if where.step is None else where.step

    def __next__(self) -> Any:
        # What is in front of `start` is taken even where that is behind `stop`; later steps do not go beyond.
        while self.position < self.wanted:
            next(self.iterator)
            self.position += 1
        if self.stop is not None and self.position >= self.stop:
            raise StopIteration
        value = next(self.iterator)
        self.position += 1
        self.wanted += self.step
        if self.stop is not None and self.wanted > self.stop:
            self.wanted = self.stop
        return value


class _Repeat(OwnIterator):
    __stands_for__ = itertools.repeat

    def __init__(self, value: Any, times: int | None) -> None:
        self.value = value
        self.left = None if times is None else operator.index(times)

    def __repr__(self) -> str:
        times = "" if self.left is None else f", {max(self.left, 0)}"
        return f"repeat({self.value!r}{times})"

    def __next__(self) -> Any:
        if self.left is not None:
            if self.left <= 0:
                raise StopIteration
            self.left -= 1
        return self.value

    def __length_hint__(self) -> int:
        if self.left is None:
            raise TypeError("len() of unsized object")
        return max(self.left, 0)


def _is_number(x: Any) -> bool:
    cls = type(x)
    return any(hasattr(cls, name) for name in ("__float__", "__int__", "__index__", "__complex__"))


class _Count(OwnIterator):
    __stands_for__ = itertools.count

    def __init__(self, start: Any, step: Any) -> None:
        if not (_is_number(start) and _is_number(step)):
            raise TypeError("a number is required")
        self.start = start
        self.step = step

    def __repr__(self) -> str:
        is_plain = type(self.step) is int and self.step == 1
        return f"count({self.start!r})" if is_plain else f"count({self.start!r}, {self.step!r})"

    def __next__(self) -> Any:
        value = self.start
        self.start = value + self.step
        return value


class _Cycle(OwnIterator):
    __stands_for__ = itertools.cycle

    def __init__(self, iterable: Any) -> None:
        self.iterator: Any = iter(iterable)
        self.saved: list[Any] = []
        self.index = 0
        self.first = True

    def __next__(self) -> Any:
        if self.first:
            value = _next_(self.iterator)
            if value is not EXHAUSTED:
                self.saved.append(value)
                return value
            self.first = False
        if not self.saved:
            raise StopIteration
        value = self.saved[self.index]
        self.index = (self.index + 1) % len(self.saved)
        return value


class _Starmap(OwnIterator):
    __stands_for__ = itertools.starmap

    def __init__(self, function: Callable[..., Any], iterable: Any) -> None:
        self.function = function
        self.iterator = iter(iterable)

    def __next__(self) -> Any:
        return self.function(*tuple(next(self.iterator)))


class _While(OwnIterator):
    def __init__(self, function: Callable[..., Any], iterable: Any) -> None:
        self.function = function
        self.iterator = iter(iterable)
        self.has_failed = False


class _Takewhile(_While):
    __stands_for__ = itertools.takewhile

    def __next__(self) -> Any:
        if self.has_failed:
            raise StopIteration
        value = next(self.iterator)
        if not self.function(value):
            self.has_failed = True
            raise StopIteration
        return value


class _Dropwhile(_While):
    __stands_for__ = itertools.dropwhile

    def __next__(self) -> Any:
        value = next(self.iterator)
        while not self.has_failed:
            if not self.function(value):
                self.has_failed = True
                return value
            value = next(self.iterator)
        return value


class _Pairwise(OwnIterator):
    __stands_for__ = itertools.pairwise

    def __init__(self, iterable: Any) -> None:
        self.iterator = iter(iterable)
        self.last: Any = EXHAUSTED

    def __next__(self) -> Any:
        if self.last is EXHAUSTED:
            self.last = next(self.iterator)
        before = self.last
        self.last = next(self.iterator)
        return before, self.last


class _ZipLongest(OwnIterator):
    __stands_for__ = itertools.zip_longest

    def __init__(self, iterables: tuple[Any, ...], fill: Any) -> None:
        self.iterators: list[Any] = [iter(x) for x in iterables]
        self.ended = [False for _ in iterables]
        self.fill = fill

    def __next__(self) -> Any:
        row: list[Any] = []
        for i in range(len(self.iterators)):
            value = EXHAUSTED if self.ended[i] else _next_(self.iterators[i])
            if value is EXHAUSTED:
                self.ended[i] = True
                row.append(self.fill)
            else:
                row.append(value)
        if all(self.ended):
            raise StopIteration
        return tuple(row)


class _Compress(OwnIterator):
    __stands_for__ = itertools.compress

    def __init__(self, data: Any, selectors: Any) -> None:
        self.data = iter(data)
        self.selectors = iter(selectors)

    def __next__(self) -> Any:
        while True:
            value = next(self.data)
            if next(self.selectors):
                return value


class _Filterfalse(OwnIterator):
    __stands_for__ = itertools.filterfalse

    def __init__(self, function: Callable[..., Any] | None, iterable: Any) -> None:
        self.function = function
        self.iterator = iter(iterable)

    def __next__(self) -> Any:
        function = self.function
        while True:
            value = next(self.iterator)
            if not (value if function is None or function is bool else function(value)):
                return value


class _Groupby(OwnIterator):
    """What `groupby` gives: the groups share its iterator, and only the newest has not come to its end."""

    __stands_for__ = itertools.groupby

    def __init__(self, iterable: Any, key: Callable[..., Any] | None) -> None:
        self.iterator = iter(iterable)
        self.function = key
        self.wanted: Any = EXHAUSTED  # the key of the newest group
        self.key: Any = EXHAUSTED  # the key of the element that was read last, until it is handed out
        self.value: Any = EXHAUSTED
        self.newest = 0

    def read(self) -> None:
        value = next(self.iterator)
        self.key = value if self.function is None else self.function(value)
        self.value = value

    def __next__(self) -> Any:
        self.newest += 1
        while self.key is EXHAUSTED or (
            self.wanted is not EXHAUSTED and (self.wanted is self.key or self.wanted == self.key)
        ):
            self.read()
        self.wanted = self.key
        return self.key, _Group(self, self.key, self.newest)


class _Group(OwnIterator):
    __stands_for__: Any = type(next(itertools.groupby("a"))[1])

    def __init__(self, groups: Any, key: Any, number: int) -> None:
        self.groups = groups
        self.key = key
        self.number = number

    def __next__(self) -> Any:
        groups = self.groups
        if groups.newest != self.number:
            raise StopIteration
        if groups.key is EXHAUSTED:
            groups.read()
        if not (self.key is groups.key or self.key == groups.key):
            raise StopIteration
        value = groups.value
        groups.value = groups.key = EXHAUSTED
        return value


class _Shared:
    """What all iterators of one `tee` share: the source, and all values that were taken from it."""

    def __init__(self, iterator: Any) -> None:
        self.iterator = iterator
        self.taken: list[Any] = []


class _Tee(OwnIterator):
    __stands_for__: Any = type(itertools.tee(())[0])

    def __init__(self, shared: _Shared, index: int) -> None:
        self.shared = shared
        self.index = index

    def __next__(self) -> Any:
        taken = self.shared.taken
        if self.index == len(taken):
            taken.append(next(self.shared.iterator))
        value = taken[self.index]
        self.index += 1
        return value

    def __copy__(self) -> Any:
        return _Tee(self.shared, self.index)


class _Batched(OwnIterator):
    __stands_for__: Any = getattr(itertools, "batched", None)  # from 3.12

    def __init__(self, iterable: Any, n: int, strict: bool) -> None:
        self.iterator = iter(iterable)
        self.n = n
        self.strict = strict
        self.ended = False

    def __next__(self) -> Any:
        row: list[Any] = []
        while len(row) < self.n and not self.ended:
            value = _next_(self.iterator)
            if value is EXHAUSTED:
                self.ended = not row or self.strict
                if row and self.strict:
                    raise ValueError("batched(): incomplete batch")
                break
            row.append(value)
        if not row:
            raise StopIteration
        return tuple(row)


class _Selections(OwnIterator):
    """The iterator over tuples of elements of pools that are chosen by tuples of indices."""

    def __init__(self, pools: list[Any], indices: Any) -> None:
        self.pools = pools
        self.indices = indices

    def __next__(self) -> Any:
        row: list[Any] = []
        for pool, i in zip(self.pools, next_indices(self.indices), strict=False):
            row.append(pool[i])
        return tuple(row)


class _Product(_Selections):
    __stands_for__ = itertools.product


class _Permutations(_Selections):
    __stands_for__ = itertools.permutations


class _Combinations(_Selections):
    __stands_for__ = itertools.combinations


class _CombinationsWithReplacement(_Selections):
    __stands_for__ = itertools.combinations_with_replacement


def next_indices(indices: Any) -> tuple[int, ...]:
    """The next tuple of the iterator `indices`."""
    found: tuple[int, ...] = next(indices)
    return found


def product_indices(lengths: Any, repeat: int) -> Any:
    """An iterator over the tuples of indices that `itertools.product` goes through."""
    return itertools.product(*map(range, lengths), repeat=repeat)


def selection_indices(kind: Any, length: int, count: Any) -> Any:
    """An iterator over the tuples of indices that a combinatoric iterator goes through."""
    return kind(range(length), *(() if count is None else (count,)))


def _chain(*iterables: Any) -> Any:
    return _Chain(iterables)


def _chain_from_iterable(iterable: Any, /) -> Any:
    return _Chain(iterable)


def _accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Any:
    return _Accumulate(iterable, func, initial)


def _islice(iterable: Any, *bounds: Any) -> Any:
    return _Islice(iterable, slice(*bounds))


def _repeat(object: Any, times: Any = None) -> Any:
    return _Repeat(object, times)


def _count(start: Any = 0, step: Any = 1) -> Any:
    return _Count(start, step)


def _cycle(iterable: Any, /) -> Any:
    return _Cycle(iterable)


def _starmap(function: Any, iterable: Any, /) -> Any:
    return _Starmap(function, iterable)


def _takewhile(function: Any, iterable: Any, /) -> Any:
    return _Takewhile(function, iterable)


def _dropwhile(function: Any, iterable: Any, /) -> Any:
    return _Dropwhile(function, iterable)


def _pairwise(iterable: Any, /) -> Any:
    return _Pairwise(iterable)


def _compress(data: Any, selectors: Any) -> Any:
    return _Compress(data, selectors)


def _filterfalse(function: Any, iterable: Any, /) -> Any:
    return _Filterfalse(function, iterable)


def _groupby(iterable: Any, key: Any = None) -> Any:
    return _Groupby(iterable, key)


def _tee(iterable: Any, n: int = 2, /) -> Any:
    if n < 0:
        raise ValueError("n must be >= 0")
    if n == 0:
        return ()
    iterator = iter(iterable)
    if not hasattr(iterator, "__copy__"):
        first = _Tee(_Shared(iter(iterator)), 0)  # `tee` asks twice
    elif _TEE_COPIES and isinstance(iterator, _Tee):
        first = iterator.__copy__()
    else:
        first = iterator
    out: list[Any] = [first]
    for _ in range(n - 1):
        out.append(first.__copy__())  # noqa: PERF401  # before 3.12 a comprehension is a function
    return tuple(out)


def _batched(iterable: Any, n: int, *, strict: bool = False) -> Any:
    if n < 1:
        raise ValueError("n must be at least one")
    return _Batched(iterable, n, strict)


def _zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    return _ZipLongest(iterables, fillvalue)


def _product(*iterables: Any, repeat: int = 1) -> Any:
    pools = [tuple(x) for x in iterables]
    return _Product(pools * repeat, product_indices([len(p) for p in pools], repeat))


def _selection(cls: Any, iterable: Any, r: Any) -> Any:
    pool = tuple(iterable)
    indices = selection_indices(cls.__stands_for__, len(pool), r)
    return cls([pool] * (len(pool) if r is None else r), indices)


def _permutations(iterable: Any, r: Any = None) -> Any:
    return _selection(_Permutations, iterable, r)


def _combinations(iterable: Any, r: Any) -> Any:
    return _selection(_Combinations, iterable, r)


def _combinations_with_replacement(iterable: Any, r: Any) -> Any:
    return _selection(_CombinationsWithReplacement, iterable, r)


_TEE_COPIES = not (lambda t: itertools.tee(t, 1)[0] is t)(itertools.tee(())[0])
"""Whether `tee` of one of its iterators leaves that one alone; before 3.14 it is the first of the new."""

ROWS: list[Rule] = [
    ZeroRule(check_bounds),
    ZeroRule(next_indices, result=tuple),
    ZeroRule(product_indices),
    ZeroRule(selection_indices),
    Overlay(itertools.chain, _chain),
    Overlay(itertools.chain.from_iterable, _chain_from_iterable),
    Overlay(itertools.accumulate, _accumulate),
    Overlay(itertools.islice, _islice),
    Overlay(itertools.repeat, _repeat),
    Overlay(itertools.count, _count),
    Overlay(itertools.cycle, _cycle),
    Overlay(itertools.starmap, _starmap),
    Overlay(itertools.takewhile, _takewhile),
    Overlay(itertools.dropwhile, _dropwhile),
    Overlay(itertools.pairwise, _pairwise),
    Overlay(itertools.compress, _compress),
    Overlay(itertools.filterfalse, _filterfalse),
    Overlay(itertools.groupby, _groupby),
    Overlay(itertools.tee, _tee),
    Overlay(itertools.zip_longest, _zip_longest),
    Overlay(itertools.product, _product),
    Overlay(itertools.permutations, _permutations),
    Overlay(itertools.combinations, _combinations),
    Overlay(itertools.combinations_with_replacement, _combinations_with_replacement),
]
if hasattr(itertools, "batched"):  # from 3.12
    ROWS.append(Overlay(itertools.batched, _batched))
