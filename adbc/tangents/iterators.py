"""Shadows of iterators: they step with their primal.

After the primal iterator has yielded an element, one `step` of its shadow gives what belongs to it:
``(shadow, sink, tangent)``.  `sink(rdata)` adds the value part of the element's cotangent to the
slot the element came from (None if there is no such part).  It is a pullback: it is given None for zero,
and gives one None.  `tangent` is the element's tangent, for forward mode, None for zero.  A shadow goes
by position, so it holds as long as its container's shadow is kept in step with the container.

A tuple has no slots: its shadow iterator gathers what is sunk, and `rdata` gives it to the pullback
of whoever made the iterator.
"""

from __future__ import annotations

import gc
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.tangents.containers import VIEW_CLASSES
from adbc.tangents.duals import FData, RData, Tangent
from adbc.tangents.internal import add, fill_tangent, slot_increment, slot_rdata, slot_shadow
from adbc.tangents.keys import key_tangent
from adbc.tangents.nothing import NO_FDATA, NO_TANGENT
from adbc.tangents.protocol import Kind, kind_of

__all__ = [
    "ITERATOR_KIND", "MISSING", "NOTHING_BACK", "ShadowIterator", "out_of_step", "shadow_enumerate",
    "shadow_iterator", "shadow_steps", "shadow_zip", "shown_by", "steps_left",
]  # fmt: skip

Sink = Callable[[Any], Any]
Step = tuple[Any, "Sink | None", Any]
MISSING = object()
NOTHING: Step = (None, None, None)
NOTHING_BACK = (None,)
"""What a sink gives, as the pullback of a step: nothing comes back for the iterator."""
_NONE = frozenset({type(None)})
_NO_TANGENT = frozenset({type(NO_TANGENT)})


def out_of_step(container: Any) -> UnsupportedError:
    """The error for a container that has not as many elements as its shadow."""
    return UnsupportedError(
        f"a {type(container).__name__} was changed by code that adbc does not see",
        "that is code which C code calls: a special method (__repr__, __hash__, __eq__, __len__,"
        " __del__, ...) or a callback",
        "change it in code that is called directly",
    )


class ShadowIterator:
    """The shadow of an iterator over values without derivative."""

    __slots__ = ()

    def step(self, value: Any = MISSING) -> Step:
        """Shadow, sink and tangent of the element that the primal has just yielded (`value`, if given)."""
        return NOTHING

    def rdata(self) -> Any:
        """The rdata gathered for a container whose shadow has no slots; None for nothing."""
        return None

    def __iter__(self) -> ShadowIterator:
        return self


class RefusingIterator(ShadowIterator):
    """The shadow of an iterator that cannot be looked into: it raises when it is stepped."""

    __slots__ = ("parts",)

    def __init__(self, met: str, why: str, remedy: str) -> None:
        self.parts = met, why, remedy

    def step(self, value: Any = MISSING) -> Step:
        raise UnsupportedError(*self.parts)


class IndexIterator(ShadowIterator):
    """The shadow of an iterator over a list, a deque or an array of objects, which counts an index."""

    __slots__ = ("container", "index", "stride")

    def __init__(self, container: Any, start: int = 0, stride: int = 1) -> None:
        self.container, self.index, self.stride = container, start, stride

    def step(self, value: Any = MISSING) -> Step:
        container, index = self.container, self.index
        self.index = index + self.stride
        try:
            t = container[index]
        except IndexError:
            raise out_of_step(container) from None
        if t is NO_TANGENT:
            return None, None, t

        def sink(r: Any) -> Any:
            if r is not None:
                t = container[index]
                container[index] = t + r if type(t) is float and type(r) is float else slot_increment(t, r)
            return NOTHING_BACK

        if type(t) is float:
            return NO_FDATA, sink, t
        shadow = slot_shadow(t)
        return shadow, None if shadow is t or slot_rdata(t) is None else sink, t


class ValueIterator(ShadowIterator):
    """The shadow of an iterator over a tuple: it gathers the rdata of the elements for the pullback."""

    __slots__ = ("gathered", "index", "make", "parts", "stride")

    def __init__(
        self, parts: Sequence[Any], start: int, stride: int, make: Callable[..., Any] | None
    ) -> None:
        self.parts, self.index, self.stride, self.make = parts, start, stride, make
        self.gathered: list[Any] | None = None

    def step(self, value: Any = MISSING) -> Step:
        index = self.index
        self.index = index + self.stride
        part = self.parts[index]
        shadow = part if part is NO_FDATA else slot_shadow(part)
        if shadow is None:
            return None, None, part

        def sink(r: Any) -> Any:
            if r is not None:
                gathered = self.gathered
                if gathered is None:
                    gathered = self.gathered = [None] * len(self.parts)
                before = gathered[index]
                gathered[index] = r if before is None else add(before, r)
            return NOTHING_BACK

        return shadow, sink, part

    def rdata(self) -> Any:
        gathered, self.gathered = self.gathered, None
        if gathered is None or all(r is None for r in gathered):
            return None
        return tuple(gathered) if self.make is None else self.make(gathered)


class KeyIterator(ShadowIterator):
    """The shadow of an iterator over the keys of a dict or the elements of a set (see `keys`)."""

    __slots__ = ()

    def step(self, value: Any = MISSING) -> Step:
        if value is MISSING or kind_of(type(value)).inactive:
            return NOTHING
        t = key_tangent(value)
        return NOTHING if t is NO_TANGENT else (slot_shadow(t), None, t)


class DictValueIterator(ShadowIterator):
    """The shadow of an iterator over the values of a dict."""

    __slots__ = ("container", "keys")

    def __init__(self, container: Any, keys: Iterator[Any]) -> None:
        self.container, self.keys = container, keys

    def step(self, value: Any = MISSING) -> Step:
        container, key = self.container, next(self.keys)
        t = container[key]
        if t is NO_TANGENT:
            return None, None, t

        def sink(r: Any) -> Any:
            if r is not None:
                t = container[key]
                container[key] = t + r if type(t) is float and type(r) is float else slot_increment(t, r)
            return NOTHING_BACK

        if type(t) is float:
            return NO_FDATA, sink, t
        shadow = slot_shadow(t)
        return shadow, None if shadow is t or slot_rdata(t) is None else sink, t


class TupleStep(ShadowIterator):
    """The shadow of an iterator that makes tuples out of several: `zip`, `enumerate`, the items of a dict."""

    __slots__ = ("inner",)

    def __init__(self, inner: Sequence[ShadowIterator]) -> None:
        self.inner = tuple(inner)

    def step(self, value: Any = MISSING) -> Step:
        shadows: list[Any] = []
        sinks: list[Any] = []
        tangents: list[Any] = []
        if value is MISSING:
            for it in self.inner:
                f, sink, t = it.step()
                shadows.append(f)
                sinks.append(sink)
                tangents.append(NO_TANGENT if t is None else t)
        else:
            for it, v in zip(self.inner, value, strict=True):
                f, sink, t = it.step(v)
                shadows.append(f)
                sinks.append(sink)
                tangents.append(fill_tangent(v, t) if t is None or t.__class__ is not type(v) else t)

        def sink_all(r: Any) -> Any:
            if r is not None:
                for sink, part in zip(sinks, r, strict=True):
                    if sink is not None and part is not None:
                        sink(part)
            return NOTHING_BACK

        return (
            None if _NONE.issuperset(map(type, shadows)) else tuple(shadows),
            None if _NONE.issuperset(map(type, sinks)) else sink_all,
            None if _NO_TANGENT.issuperset(map(type, tangents)) else tuple(tangents),
        )

    def rdata(self) -> Any:
        parts = tuple([it.rdata() for it in self.inner])
        return None if _NONE.issuperset(map(type, parts)) else parts


def shadow_zip(inner: Iterable[ShadowIterator]) -> ShadowIterator:
    """The shadow of ``zip`` of iterators whose shadows are `inner`."""
    return TupleStep(tuple(inner))


def shadow_enumerate(inner: ShadowIterator) -> ShadowIterator:
    """The shadow of ``enumerate`` of an iterator whose shadow is `inner`."""
    return TupleStep((ShadowIterator(), inner))


def shadow_iterator(iterable: Any, shadow: Any, reverse: bool = False) -> ShadowIterator:
    """The shadow of ``iter(iterable)`` (``reversed(iterable)`` if `reverse`), where `iterable` has `shadow`.

    In forward mode `shadow` is the tangent of `iterable`.
    """
    if isinstance(shadow, ShadowIterator):
        return shadow
    if shadow is None or shadow is NO_TANGENT or shadow is NO_FDATA:
        return ShadowIterator()
    if issubclass(type(iterable), VIEW_CLASSES):
        return _view_iterator(iterable, shadow, reverse)
    if issubclass(type(shadow), list | deque):
        return IndexIterator(shadow, len(shadow) - 1 if reverse else 0, -1 if reverse else 1)
    if issubclass(type(shadow), dict):
        return KeyIterator()
    make: Callable[..., Any] | None = None
    if isinstance(shadow, FData | Tangent):
        make = _record_maker(list(shadow.__dict__))
        shadow = tuple(shadow.__dict__.values())
    if type(shadow) is tuple:
        return ValueIterator(shadow, len(shadow) - 1 if reverse else 0, -1 if reverse else 1, make)
    special = _ITERATORS.get(type(shadow))
    if special is not None:
        return special(shadow, reverse)
    raise UnsupportedError(
        f"C code iterates over a {type(iterable).__name__}",
        "that cannot be followed",
        "loop over a list: list(x)",
    )


def _record_maker(names: list[str]) -> Callable[[list[Any]], Any]:
    return lambda values: RData(**dict(zip(names, values, strict=True)))


def shown_by(view: Any) -> Any:
    """The dict that `view` shows; None if it does not tell, or the dict is empty."""
    return next((r for r in gc.get_referents(view) if issubclass(type(r), dict)), None)


def _view_iterator(view: Any, shadow: Any, reverse: bool) -> ShadowIterator:
    name = type(view).__name__
    if name.endswith("keys"):
        return KeyIterator()
    # The primal's own order: an OrderedDict may have been reordered.
    source = shown_by(view)
    if source is None:
        source = shadow
    order = shadow if type(source) is dict else source
    is_ordered = issubclass(type(order), OrderedDict)
    base: Any = OrderedDict if is_ordered else dict  # whose class may iterate otherwise
    keys = base.__reversed__(order) if reverse else base.__iter__(order)
    values = DictValueIterator(shadow, keys)
    return values if name.endswith("values") else TupleStep((KeyIterator(), values))


def shadow_steps(cls: type, shadow: Any, left: Sequence[Any]) -> ShadowIterator:
    """The shadow of an iterator of class `cls` over a dict with `shadow`, or over a view of it, of which are
    `left` the `steps_left`."""
    if cls is _KEYS:
        return KeyIterator()
    if cls is _ITEMS:
        return TupleStep((KeyIterator(), DictValueIterator(shadow, iter(left))))
    keys = list(shadow)
    return DictValueIterator(shadow, iter(keys[len(keys) - len(left) :]))


def steps_left(iterator: Any) -> Sequence[Any] | None:
    """The keys that an `iterator` over the items of a dict has yet to give, or as many things as one over
    keys or values has; None if the dict has grown or shrunk.  The iterator is left where it is."""
    try:
        left = iterator.__reduce__()[1][0]  # made by a copy of the iterator
    except RuntimeError:
        return None
    return [k for k, _ in left] if type(iterator) is _ITEMS else range(len(left))


_KEYS: type = type(iter({}))
_ITEMS: type = type(iter({}.items()))
_ITERATORS: dict[type, Callable[[Any, bool], ShadowIterator]] = {}


def add_iterator(cls: type, make: Callable[[Any, bool], ShadowIterator]) -> None:
    """Let ``make(shadow, reverse)`` give the shadow of an iterator over what has a shadow of class `cls`."""
    _ITERATORS[cls] = make


class IteratorKind(Kind):
    """Iterators: those of containers are looked into by the means that pickling offers."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return ShadowIterator

    def make(self, x: Any, walk: Any) -> Any:
        t = self._look(x, walk)
        walk.register(x, t)
        return t

    def _look(self, x: Any, walk: Any) -> ShadowIterator:
        name = type(x).__name__
        if name in _INERT_ITERATORS or (type(x) in _REPEATING and _gives_constants(x)):
            return ShadowIterator()
        if name in ("enumerate", "zip"):
            inner = x.__reduce__()[1]
            if name == "enumerate":
                return shadow_enumerate(walk(inner[0]))
            return shadow_zip([walk(it) for it in inner])
        if name in (
            "list_iterator",
            "tuple_iterator",
            "list_reverseiterator",
            "reversed",
            "iterator",
            "arrayiterator",
        ):
            reduced = x.__reduce__()
            if len(reduced) < 3:
                return ShadowIterator()  # exhausted
            container, index = reduced[1][0], reduced[2]
            t = walk(container)
            if t is NO_TANGENT:
                return ShadowIterator()
            indexed = issubclass(type(t), tuple | list | deque) or type(t) in _ITERATORS
            if indexed and slot_rdata(t) is None:  # else it has a part that nobody would collect
                found: Any = shadow_iterator(container, t, reverse="reverse" in name)
                found.index = index
                return found  # type: ignore[no-any-return]  # those over sequences all have an index
        return RefusingIterator(
            f"a {name} that was made before the differentiated call is stepped",
            "where it stands cannot be seen",
            "make the iterator inside the function, or pass a list",
        )

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        raise UnsupportedError(
            f"a {type(x).__name__} is moved by a tangent", "it cannot be copied", "move what it iterates over"
        )

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        raise UnsupportedError(
            f"the difference between two iterators of class {type(p).__name__} is asked for",
            "there is none",
            "take that of what they iterate over",
        )


ITERATOR_KIND = IteratorKind()
_REPEATING = (
    itertools.count, itertools.repeat, itertools.cycle, itertools.product, itertools.permutations,
    itertools.combinations, itertools.combinations_with_replacement,
)  # fmt: skip
"""Iterators that give what they were made of again and again, or numbers that they count."""
_CONSTANT = (int, bool, str, bytes, type(None), type)
"""Classes of values that have no derivative, and lead to none."""


def _gives_constants(iterator: Any) -> bool:
    """Whether what `iterator` holds, and so what it will give, has no derivative.

    Pickling, which would tell, is gone from `itertools` with CPython 3.14; the collector knows in all.
    """
    pending = gc.get_referents(iterator)
    while pending:
        x = pending.pop()
        if type(x) is tuple or type(x) is list:  # it is the iterator's own
            pending.extend(x)
        elif not (type(x) in _CONSTANT or type(x).__name__ in _INERT_ITERATORS):
            return False
    return True


_INERT_ITERATORS = {
    "range_iterator", "longrange_iterator", "str_iterator", "str_ascii_iterator", "bytes_iterator",
    "bytearray_iterator", "set_iterator", "dict_keyiterator", "dict_reversekeyiterator",
}  # fmt: skip


def resolve_iterator(cls: type) -> Kind | None:
    """The kind of the classes of generators and of iterators made in C; None for other classes."""
    modules = ("builtins", "itertools", "collections", "_collections", "array")
    if cls.__module__ in modules and hasattr(cls, "__next__"):
        return ITERATOR_KIND
    return None
