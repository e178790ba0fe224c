"""Iteration: `iter`, `next`, `zip`, `enumerate`, `reversed`, `map`, `filter`, and what consumes iterators.

The iterators of builtin containers have shadows that step with them (`tangents.iterators`).  Over
anything else (generators, instances, `map`) a builtin is replaced by a Python class that does the
same steps at the same moments, which adbc follows like a class of the user's; see
`rules.surrogates`.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.intrinsics import EXHAUSTED, UNBOUND
from adbc.rules.builtins.dicts import read_past_methods
from adbc.rules.builtins.tuples import tuple_shadow, tuple_tangent
from adbc.rules.classes import dict_like, forbids, has, inherits, integer, list_like, overrides
from adbc.rules.dict_halves import VIEWED, is_view, viewed_frule, viewed_rrule
from adbc.rules.list_halves import copying
from adbc.rules.sequences import ITERABLES, Source, gathered, nothing, pair_of, symbolic, tangents_of
from adbc.rules.surrogates import OwnIterator
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Overlay, Primitive, Rule
from adbc.tangents import shadow_enumerate, shadow_iterator, shadow_zip
from adbc.tangents.iterators import KeyIterator, out_of_step

__all__ = ["ITERATORS", "NEXT", "ROWS", "making_iterator", "next_frule", "next_rrule"]

_ORDERED: Any = OrderedDict()
_DICTS: tuple[Any, ...] = ({}, _ORDERED)
_VIEWS = frozenset({type(view) for d in _DICTS for view in (d.keys(), d.values(), d.items())})
_SETS = (set, frozenset)
_CONTAINERS = ITERABLES | _VIEWS | {bytearray}
_EXAMPLES: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items())
ITERATORS: frozenset[type] = frozenset(
    {
        zip,
        enumerate,
        reversed,
        *(type(iter(x)) for x in (*_EXAMPLES, "", "\xff", b"", bytearray(), range(0), range(1 << 99), set())),
        *(type(reversed(x)) for x in _EXAMPLES if type(x) is not tuple),
        type(iter(_ORDERED)),
        *(c for c in vars(itertools).values() if isinstance(c, type) and hasattr(c, "__next__")),
    }
)
"""The classes of the iterators that have shadows.  Those of `itertools` were made before the call."""


def _container(cls: type, *rest: type) -> bool:
    return (
        cls in _CONTAINERS
        or list_like(cls)
        or dict_like(cls)
        or any(
            issubclass(cls, base) and inherits(cls, "__iter__", base)
            for base in (tuple, list, dict, OrderedDict)
        )
    )


def _backwards(cls: type, *rest: type) -> bool:
    walked = _container(cls) or any(
        issubclass(cls, base) and inherits(cls, "__reversed__", base) for base in (list, dict, OrderedDict)
    )
    return walked and not overrides(cls, "__reversed__")


def _walkable(cls: type, *rest: type) -> bool:
    return _container(cls) or cls in ITERATORS


def _iterator(cls: type, *rest: type) -> bool:
    return cls in ITERATORS


def _shadow(x: Any, shadow: Any, backwards: bool = False) -> Any:
    if type(shadow) is list and isinstance(x, list) and len(shadow) != list.__len__(x):
        raise out_of_step(x)
    return KeyIterator() if type(x) in _SETS else shadow_iterator(x, shadow, backwards)


# -- making iterators -----------------------------------------------------------------------------------


def _making(
    function: Callable[..., Any],
    join: Callable[..., Any],
    when: Any,
    backwards: bool = False,
    result: Any = None,
) -> Primitive:
    """The row of `function`, which makes an iterator of iterables; ``join(their shadows)`` is its shadow."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out = function(*args, **kwargs)
        return out, join([_shadow(x, d, backwards) for x, d in zip(args, dargs, strict=True)])

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        inner = [_shadow(x, f, backwards) for x, f in zip(args, fargs, strict=True)]

        def iterator_pullback(bout: Any) -> Sequence[Any]:
            # a tuple has no slots to increment: its iterator has gathered what the elements got
            return [
                it.rdata() if type(f) is not type(it) else None for it, f in zip(inner, fargs, strict=True)
            ]

        return function(*args, **kwargs), join(inner), iterator_pullback

    return Primitive(function, frule=frule, rrule=rrule, is_fitted=True, when=when, result=result)


def making_iterator(
    function: Callable[..., Any], when: Any, backwards: bool = False, result: Any = None
) -> Primitive:
    """The row of `function`, which makes an iterator of one iterable whose shadow can be stepped through."""
    return _making(function, _first, when, backwards, result)


def _class_of_itself(cls: type) -> type | None:
    """The class of what `iter` makes of an iterator."""
    return cls if cls in ITERATORS else None


def _class_forwards(cls: type) -> type | None:
    """The class of what `iter` makes of an instance of `cls`."""
    return _FORWARDS.get(cls, _class_of_itself(cls))


def _class_backwards(cls: type, *rest: type) -> type | None:
    """The class of what `reversed` makes of an instance of `cls`."""
    return _BACKWARDS.get(cls)


_FORWARDS: dict[type, type] = {type(x): type(iter(x)) for x in _EXAMPLES}
_BACKWARDS: dict[type, type] = {type(x): type(reversed(x)) for x in _EXAMPLES}


def _first(shadows: Sequence[Any]) -> Any:
    return shadows[0]


def _enumerate_join(shadows: Sequence[Any]) -> Any:
    return shadow_enumerate(shadows[0])


_NOTHING = nothing(1)
_NOTHING_BACK = (None,)

# -- taking from them -----------------------------------------------------------------------------------


def next_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = intrinsics._next_(args[0])
    if out is EXHAUSTED or dargs[0] is None:
        return out, None
    return out, symbolic(dargs[0].step(out)[2])


def next_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = next(args[0], EXHAUSTED)
    beside = fargs[0]
    if out is EXHAUSTED or beside is None:
        return out, None, _NOTHING
    shadow, sink, _ = beside.step(out)
    return out, shadow, _NOTHING if sink is None else sink


def _next_forwards(iterator: Any, beside: Any) -> tuple[Any, Any, Any]:
    out = next(iterator, EXHAUSTED)
    if out is EXHAUSTED or beside is None:
        return out, None, None
    shadow, sink, _ = beside.step(out)
    return out, shadow, sink


def _next_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is not None:
        saved(bout)
    return _NOTHING_BACK


def _take_forwards(iterator: Any, beside: Any) -> tuple[Any, Any, Any]:
    out = next(iterator)
    if beside is None:
        return out, None, None
    shadow, sink, _ = beside.step(out)
    return out, shadow, sink


def _take_or_forwards(iterator: Any, default: Any, beside: Any, fdefault: Any) -> tuple[Any, Any, Any]:
    out = next(iterator, EXHAUSTED)
    if out is EXHAUSTED:
        return default, fdefault, EXHAUSTED
    if beside is None:
        return out, None, None
    shadow, sink, _ = beside.step(out)
    return out, shadow, sink


def _take_or_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is EXHAUSTED:
        return None, bout
    if saved is not None:
        saved(bout)
    return None, None


def _take_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = next(args[0]) if len(args) == 1 else next(args[0], EXHAUSTED)
    if out is EXHAUSTED:
        return args[1], dargs[1]
    return out, None if dargs[0] is None else symbolic(dargs[0].step(out)[2])


def _take_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    halves = TAKE[len(args) - 1]
    out, fout, saved = halves.forwards(*args, *fargs)
    return out, fout, lambda bout: halves.backwards(saved, bout)


TAKE = Halves(1, _take_forwards, _next_backwards), Halves(2, _take_or_forwards, _take_or_backwards)
NEXT = (Halves(1, _next_forwards, _next_backwards),)


def _next_or_default(iterator: Any, default: Any = UNBOUND, /) -> Any:
    value = intrinsics._next_(iterator)
    if value is EXHAUSTED:
        if default is UNBOUND:
            raise StopIteration
        return default
    return value


# -- consuming them -------------------------------------------------------------------------------------


def _list_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out: list[Any] = list(*args)
    return out, tangents_of(args[0], dargs[0]) if args else []


def _list_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out: list[Any] = list(*args)
    if not args:
        return out, [], nothing(0)
    fout, give = gathered(out, [Source(args[0], fargs[0])])
    return out, fout, lambda bout: give()


def _tuple_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = tuple(*args)
    if not args or dargs[0] is None or type(args[0]) not in (list, tuple):
        return out, None
    return out, tuple_tangent(out, [symbolic(t) for t in dargs[0]])


def _tuple_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    if not args:
        return (), None, nothing(0)
    source = Source(args[0], fargs[0])

    def tuple_pullback(bout: Any) -> Sequence[Any]:
        return (None if bout is None else source.give(bout),)

    return tuple(source.values), tuple_shadow(source.shadows), tuple_pullback


def _is_read_directly(*classes: type) -> bool:
    """Whether there is no argument, or one: a sequence or range, whose elements C code reads directly."""
    return not classes or (len(classes) == 1 and classes[0] in (list, tuple, str, bytes, range))


def _list(iterable: Any, /) -> Any:
    out: list[Any] = []
    for x in iterable:
        out.append(x)  # noqa: PERF402  # `list` is what this is the body of
    return out


def _tuple(iterable: Any, /) -> Any:
    out: list[Any] = []
    for x in iterable:
        out.append(x)  # noqa: PERF402  # `list` is what this is the body of
    return tuple(out)


def _dict(pairs: Any = (), /, **named: Any) -> Any:
    out: dict[Any, Any] = {}
    if read_past_methods(pairs):
        if type(pairs) is not dict:
            hasattr(pairs, "keys")  # C code looks for them first, and then does without
        for k, v in dict.items(pairs):
            out[k] = v  # noqa: PERF403  # `dict` is what this is the body of
    elif hasattr(pairs, "keys"):
        for k in list(iter(pairs.keys())):
            out[k] = pairs[k]
    else:
        index = 0
        for item in pairs:
            k, v = pair_of(item, index)
            out[k] = v
            index += 1  # noqa: SIM113  # what is differentiated had better be simple
    out.update(named)
    return out


def _set(iterable: Any, /) -> Any:
    out = set()
    for x in iterable:
        out.add(x)
    return out


def _frozenset(iterable: Any, /) -> Any:
    return frozenset(_set(iterable))


def _extend(target: Any, values: Any, /) -> None:
    for x in values:
        target.append(x)


def _iadd(target: Any, values: Any, /) -> Any:
    for x in values:
        target.append(x)
    return target


def _set_update(target: Any, *others: Any) -> None:
    for values in others:
        for x in values:
            target.add(x)


def _setslice(target: Any, where: Any, values: Any, /) -> None:
    target[where] = list(iter(values))


def _slices(cls: type, index: type, *value: type) -> bool:
    return list_like(cls) and index is slice


# -- in Python, over anything ---------------------------------------------------------------------------


class _Zip(OwnIterator):
    """What `zip` gives, as an iterator in Python."""

    __stands_for__ = zip

    def __init__(self, iterables: tuple[Any, ...], strict: bool) -> None:
        self.iterators = [iter(x) for x in iterables]
        self.strict = strict

    def __next__(self) -> Any:
        row: list[Any] = []
        for iterator in self.iterators:
            value = intrinsics._next_(iterator)
            if value is EXHAUSTED:
                if self.strict:
                    self.complain(len(row))
                self.iterators = []
                raise StopIteration
            row.append(value)
        if not row:
            raise StopIteration
        return tuple(row)

    def complain(self, place: int) -> None:
        if place:
            others = "argument 1" if place == 1 else f"arguments 1-{place}"
            raise ValueError(f"zip() argument {place + 1} is shorter than {others}")
        for i in range(1, len(self.iterators)):
            if intrinsics._next_(self.iterators[i]) is not EXHAUSTED:
                others = "argument 1" if i == 1 else f"arguments 1-{i}"
                raise ValueError(f"zip() argument {i + 1} is longer than {others}")


class _Enumerate(OwnIterator):
    """What `enumerate` gives, as an iterator in Python."""

    __stands_for__ = enumerate

    def __init__(self, iterable: Any, start: int) -> None:
        self.iterator = iter(iterable)
        self.count = operator.index(start)

    def __next__(self) -> Any:
        value = next(self.iterator)
        count = self.count
        self.count = count + 1
        return count, value


class _Map(OwnIterator):
    """What `map` gives, as an iterator in Python."""

    __stands_for__ = map

    def __init__(self, function: Callable[..., Any], iterables: tuple[Any, ...]) -> None:
        self.function = function
        self.iterators = [iter(x) for x in iterables]

    def __next__(self) -> Any:
        values = []
        for iterator in self.iterators:
            values.append(next(iterator))  # noqa: PERF401  # before 3.12 a comprehension is a function
        return self.function(*values)


class _MapOne(OwnIterator):
    """What `map` over one iterable gives, the commonest case, as an iterator in Python."""

    __stands_for__ = map

    def __init__(self, function: Callable[..., Any], iterable: Any) -> None:
        self.function = function
        self.iterator = iter(iterable)

    def __next__(self) -> Any:
        return self.function(next(self.iterator))


class _Filter(OwnIterator):
    """What `filter` gives, as an iterator in Python."""

    __stands_for__ = filter

    def __init__(self, function: Callable[..., Any] | None, iterable: Any) -> None:
        self.function = function
        self.iterator = iter(iterable)

    def __next__(self) -> Any:
        function = self.function
        while True:
            value = next(self.iterator)
            if value if function is None or function is bool else function(value):
                return value


class _Calls(OwnIterator):
    """What ``iter(function, sentinel)`` gives, as an iterator in Python."""

    __stands_for__ = type(iter(object, None))

    def __init__(self, function: Any, sentinel: Any) -> None:
        self.function = function
        self.sentinel = sentinel
        self.ended = False

    def __next__(self) -> Any:
        if self.ended:
            raise StopIteration
        try:
            value = self.function()
        except StopIteration:
            self.ended = True
            raise
        if self.sentinel is value or self.sentinel == value:
            self.ended = True
            raise StopIteration
        return value


class _Sequence(OwnIterator):
    """The base of what `iter` or `reversed` gives of an object with ``__getitem__`` only."""

    def __init__(self, sequence: Any, index: int, stride: int) -> None:
        self.sequence = sequence
        self.index = index
        self.stride = stride

    def __next__(self) -> Any:
        if self.index < 0:
            raise StopIteration
        try:
            value = self.sequence[self.index]
        except (IndexError, StopIteration):
            self.index = -1
            raise StopIteration from None
        self.index += self.stride
        return value

    def __length_hint__(self) -> Any:
        if self.index < 0:
            return 0
        if not hasattr(type(self.sequence), "__len__"):
            return NotImplemented
        length = len(self.sequence)
        if self.stride < 0:
            return 0 if length < self.index + 1 else self.index + 1
        return max(length - self.index, 0)


class _Indexed:
    def __getitem__(self, index: int) -> Any:
        raise IndexError


class _Forwards(_Sequence):
    __stands_for__ = type(iter(_Indexed()))


class _Backwards(_Sequence):
    __stands_for__ = reversed


def _iter_calls(function: Any, sentinel: Any, /) -> Any:
    if not callable(function):
        raise TypeError("iter(v, w): v must be callable")
    return _Calls(function, sentinel)


def _iter_indexed(sequence: Any, /) -> Any:
    return _Forwards(sequence, 0, 1)


def _reversed_indexed(sequence: Any, /) -> Any:
    return _Backwards(sequence, len(sequence) - 1, -1)


def _indexed(cls: type, *rest: type) -> bool:
    asked = rest or has(cls, "__iter__") or forbids(cls, "__iter__")
    return not asked and overrides(cls, "__getitem__")


def _indexed_backwards(cls: type, *rest: type) -> bool:
    asked = has(cls, "__reversed__") or forbids(cls, "__reversed__")
    return not asked and has(cls, "__getitem__") and has(cls, "__len__")


def _zip_any(*iterables: Any, strict: bool = False) -> Any:
    return _Zip(iterables, strict)


def _enumerate_any(iterable: Any, start: int = 0) -> Any:
    return _Enumerate(iterable, start)


def _map_any(function: Any, iterable: Any, /, *iterables: Any) -> Any:
    if not iterables:
        return _MapOne(function, iterable)
    return _Map(function, (iterable, *iterables))


def _filter_any(function: Any, iterable: Any, /) -> Any:
    return _Filter(function, iterable)


def _zip_containers(*classes: type) -> bool:
    # of an iterator that is shared, `zip` may take an element that it then drops: not followed here
    return all(map(_container, classes))


def _enumerable(cls: type, *start: type) -> bool:
    return _walkable(cls) and all(map(integer, start))


def _enumerate_rule() -> Primitive:
    row = _making(enumerate, _enumerate_join, _enumerable)
    inner_frule, inner_rrule = row.frule, row.rrule

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out, dout = inner_frule(args[:1], dargs[:1], {})
        return (enumerate(*args, **kwargs) if len(args) > 1 or kwargs else out), dout

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        out, fout, pullback = inner_rrule(args[:1], fargs[:1], {})
        rest = (None,) * (len(args) - 1)
        out = enumerate(*args, **kwargs) if len(args) > 1 or kwargs else out
        return out, fout, lambda bout: (*pullback(bout), *rest)

    return Primitive(enumerate, frule=frule, rrule=rrule, when=_enumerable)


def _appends(cls: type, *rest: type) -> bool:
    return list_like(cls)


_LIST = Primitive(
    list,
    frule=_list_frule,
    rrule=_list_rrule,
    is_fitted=True,
    halves=copying(_list_rrule),
    when=_is_read_directly,
    result=list,
)
_LIST.mirrored = True  # of a list

ROWS: list[Rule] = [
    _making(intrinsics._iter_, _first, _walkable, result=_class_forwards),
    _making(
        builtins.iter,
        _first,
        lambda *classes: len(classes) == 1 and _walkable(classes[0]),
        result=_class_forwards,
    ),
    Overlay(builtins.iter, _iter_calls, when=lambda *classes: len(classes) == 2),
    *(Overlay(f, _iter_indexed, when=_indexed) for f in (intrinsics._iter_, builtins.iter)),
    _making(reversed, _first, _backwards, backwards=True, result=_class_backwards),
    Overlay(reversed, _reversed_indexed, when=_indexed_backwards),
    _making(zip, shadow_zip, _zip_containers),
    Overlay(zip, _zip_any),
    _enumerate_rule(),
    Overlay(enumerate, _enumerate_any),
    Overlay(map, _map_any),
    Overlay(filter, _filter_any),
    Primitive(
        intrinsics._next_, frule=next_frule, rrule=next_rrule, is_fitted=True, halves=NEXT, when=_iterator
    ),
    Primitive(
        builtins.next,
        frule=_take_frule,
        rrule=_take_rrule,
        is_fitted=True,
        halves=TAKE,
        when=lambda cls, *default: cls in ITERATORS and len(default) < 2,
    ),
    Overlay(builtins.next, _next_or_default),
    _LIST,
    Primitive(
        list, frule=viewed_frule, rrule=viewed_rrule, is_fitted=True, halves=VIEWED, when=is_view, result=list
    ),
    Overlay(list, _list, result=list),
    Primitive(
        tuple, frule=_tuple_frule, rrule=_tuple_rrule, is_fitted=True, when=_is_read_directly, result=tuple
    ),
    Overlay(tuple, _tuple, result=tuple),
    Overlay(dict, _dict, result=dict),
    Overlay(set, _set, result=set),
    Overlay(frozenset, _frozenset, result=frozenset),
    Overlay(list.extend, _extend, when=_appends),
    Overlay(intrinsics._list_extend_, _extend, when=_appends),
    Overlay(list.__iadd__, _iadd, when=_appends),
    Overlay(operator.iadd, _iadd, when=_appends),
    Overlay(operator.setitem, _setslice, when=_slices),
    Overlay(set.update, _set_update),
    Overlay(intrinsics._set_update_, _set_update),
]
