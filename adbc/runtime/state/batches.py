"""Batches while they run: how many lanes there are, zeros with so many, and rules that are called lane by
lane.

NumPy is loaded when the first batch is entered.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from types import MethodDescriptorType
from typing import Any

from adbc.errors import BatchError
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    FData,
    MutableTangent,
    Tangent,
    fresh_tangent,
    internal,
    zero_tangent,
)
from adbc.tangents.duals import WITH_FIELDS
from adbc.tangents.walk import STRUCTURES

__all__ = [
    "CANNOT", "by_lanes", "fresh", "fresh_array", "fresh_shadow", "is_batched", "lane_by_lane", "of_width",
    "spread", "spread_shadow", "width", "zeros_like",
]  # fmt: skip


class _Current(threading.local):
    width: int | None = None


_CURRENT = _Current()


def width() -> int:
    """How many lanes the batches have in the call that runs."""
    assert _CURRENT.width is not None
    return _CURRENT.width


@contextlib.contextmanager
def of_width(count: int) -> Iterator[None]:
    """In the block, and in this thread, batches have `count` lanes."""
    before, _CURRENT.width = _CURRENT.width, count
    try:
        yield
    finally:
        _CURRENT.width = before


def _batches() -> Any:
    from adbc.tangents import array_batches  # it imports NumPy

    return array_batches


def _memo() -> dict[Any, Any]:
    from adbc.tangents.array_batch_memory import memo_of  # it imports NumPy

    return memo_of(width())


# -- zeros ---------------------------------------------------------------------------------------------------


def fresh(out: Any) -> Any:
    """The tangent of `out`, a new value that depends on nothing: None unless a part of it has an address."""
    if fresh_tangent(out) is None:
        return None
    return zero_tangent(out, _memo(), True)


def fresh_shadow(out: Any, active: bool = True) -> Any:
    """The shadow of the new value `out`, as `tangents.fresh_shadow` gives it, with batches for arrays."""
    cls = out.__class__
    if (
        cls.__name__ == "ndarray"
        and cls.__module__ == "numpy"
        and out.base is None
        and out.dtype.kind in "fc"
    ):
        return _batches().batch_like(out, width())
    shadow = internal.fresh_shadow(out, active)
    if shadow is None or shadow is NO_FDATA:
        return shadow
    whole = zero_tangent(out, _memo(), True)
    return internal.slot_shadow(whole) if active else internal.addresses(whole)


def spread_shadow(out: Any, shadow: Any, given: Sequence[Any]) -> Any:
    """`shadow`, which a rule has given for its result `out`, with batches of zeros in the place of arrays.
    given: the shadows of its arguments, which may be what it has given."""
    if shadow is None or shadow is NO_FDATA or any(shadow is f for f in given):
        return shadow
    plain: list[Any] = []
    found = _spread_shadow(shadow, plain, {})
    if len(plain) > 1:
        numpy = _batches().np
        for i, x in enumerate(plain):
            if any(numpy.may_share_memory(x, y) for y in plain[:i]):
                raise BatchError(
                    "a rule gives several arrays in one memory that is new, in a batch of cotangents",
                    "they would be told apart",
                    "take them one by one: call adbc.vjp without width=, with reusable=True",
                )
    return found


def _spread_shadow(shadow: Any, plain: list[Any], seen: dict[int, Any]) -> Any:
    cls = shadow.__class__
    if cls.__module__ == "numpy" and cls.__name__ == "ndarray":
        if id(shadow) not in seen:
            plain.append(shadow)
            seen[id(shadow)] = _batches().batch_like(shadow, width())
        return seen[id(shadow)]
    if cls is tuple:
        return tuple([_spread_shadow(part, plain, seen) for part in shadow])
    if cls is FData:
        return FData(**{name: _spread_shadow(part, plain, seen) for name, part in shadow.__dict__.items()})
    if id(shadow) in seen:
        return shadow
    if cls is list:
        seen[id(shadow)] = shadow
        for i, part in enumerate(shadow):
            if part.__class__ not in _NUMBERS:
                shadow[i] = _spread_shadow(part, plain, seen)
    elif cls is dict or cls is MutableTangent:
        seen[id(shadow)] = shadow
        fields = shadow if cls is dict else shadow.__dict__
        for name, part in fields.items():
            if part.__class__ not in _NUMBERS:
                fields[name] = _spread_shadow(part, plain, seen)
    return shadow


_NUMBERS = frozenset({float, complex, type(NO_TANGENT)})


def fresh_array(d: Any, x: Any) -> Any:
    """`d`, or zeros like array `x` if `d` is None."""
    return zero_tangent(x, _memo()) if d is None else spread(x, d)


def zeros_like(x: Any, count: int) -> Any:
    """A batch of `count` zeros for array `x`."""
    return _batches().batch_like(x, count)


def spread(out: Any, tangent: Any) -> Any:
    """`tangent`, which a rule has given for its result `out`, with batches in the place of arrays that are
    one and the same in all lanes."""
    cls = tangent.__class__
    if cls is float or tangent is None or getattr(cls, "is_batch", False):
        return tangent
    if cls is Tangent:
        return Tangent(**{name: spread(part, part) for name, part in tangent.__dict__.items()})
    if cls is tuple:
        return (
            tuple(map(spread, out, tangent)) if type(out) is tuple else tuple([spread(t, t) for t in tangent])
        )
    batches = _batches()
    if cls is list:
        tangent[:] = [spread(t, t) for t in tangent]
    if cls is batches.np.ndarray and tangent.dtype.kind in "fc":
        made = batches.batch_like(out if out.__class__ is cls else tangent, width())
        made.data[...] = tangent
        return made
    return tangent


# -- lane by lane --------------------------------------------------------------------------------------------


CANNOT = (BatchError, TypeError, AttributeError, ValueError)
"""What says that something cannot be done with a batch: C code that takes nothing but arrays knows of no
others.  What has no effects is done for each lane then, and raises again what has another reason."""


def is_batched(t: Any) -> bool:
    """Whether `t` is a batch."""
    return getattr(t.__class__, "is_batch", False)


def lane_by_lane(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The formula of a tangent, computed for each lane of a batch if it cannot be for all at once."""

    if type(formula) is MethodDescriptorType:  # of NumPy's arrays: it takes nothing else

        def method_for_lanes(d: Any, /, *others: Any, **options: Any) -> Any:
            if not is_batched(d):
                return formula(d, *others, **options)
            method = getattr(d, formula.__name__, None)
            if method is None:
                return _batches().lanewise(formula, (d, *others), options)
            return method(*others, **options)

        return method_for_lanes

    def for_lanes(d: Any, /, *others: Any, **options: Any) -> Any:
        try:
            return formula(d, *others, **options)
        except CANNOT:
            if _batches().width_in((d, *others, *options.values())) < 0:
                raise
            return _batches().lanewise(formula, (d, *others), options)

    return for_lanes


class _Lanes:
    """Tangents in their lanes, and put together again: what is one object in the batch is one in each lane,
    and what a rule makes one object in each lane is one in the batch."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.sources: list[Any] = []
        """The batches of arrays that have been taken apart."""
        self._apart: dict[int, tuple[Any, list[Any]]] = {}
        """By the address of a part of a batch, that part and what it is in each lane."""
        self._whole: dict[int, tuple[list[Any], Any]] = {}
        """By the address of what something is in the first lane, that in each lane, and in the batch."""
        self._arrays: list[tuple[Any, Any]] = []
        """The new arrays that have been put together: in the first lane, and in the batch."""
        self._before: list[tuple[Any, Any, Any, list[Any]]] = []
        """The structures with an address that have been taken apart: the structure, its lanes, its keys, and
        of each part the lanes."""

    def of(self, t: Any) -> list[Any]:
        """The tangent `t` in each lane."""
        cls = t.__class__
        if t is None or t is NO_TANGENT or cls is float or cls is complex or cls.__module__ == "numpy":
            return [t] * self.count
        known = self._apart.get(id(t))
        if known is not None:
            return known[1]
        if getattr(cls, "is_batch", False):
            if hasattr(t, "strides"):
                self.sources.append(t)
            return self._pair(t, [_batches().lane(t, n) for n in range(self.count)])
        structure = STRUCTURES.get(cls)
        if structure is None or (cls in WITH_FIELDS and cls is not MutableTangent):
            raise BatchError(
                "a rule is given the batch of tangents of a value that is not made of numbers, arrays, lists,"
                f" tuples, dicts and objects (a {cls.__name__})",
                "it cannot be taken apart into lanes",
                "take them one by one: call adbc.jvp or adbc.vjp without width=",
            )
        keys = structure.keys(t)
        lanes: list[Any] = [t] * self.count
        if structure.address:
            lanes = self._pair(t, [structure.shell(t) for _ in range(self.count)])
        if cls is MutableTangent and self._has_fields(t, lanes):
            return lanes
        parts = [self.of(part) for part in structure.get(t, keys)]
        for n in range(self.count):
            lanes[n] = structure.put(lanes[n], keys, [part[n] for part in parts])
        if structure.address:
            self._before.append((t, lanes, keys, parts))
        return lanes

    def _pair(self, whole: Any, lanes: list[Any]) -> list[Any]:
        self._apart[id(whole)] = whole, lanes
        self._whole[id(lanes[0])] = lanes, whole
        return lanes

    def _has_fields(self, t: Any, lanes: list[Any]) -> bool:
        """Whether the dictionary of the object `t`, in which its fields are, has been taken apart by itself;
        the lanes of `t` have that then."""
        known = self._apart.get(id(t.__dict__))
        if known is None:
            self._pair(t.__dict__, [lane.__dict__ for lane in lanes])
            return False
        for lane, fields in zip(lanes, known[1], strict=True):
            lane.__dict__ = fields
        return True

    def put_back(self) -> None:
        """Give lists, dicts and objects what they have become in the lanes."""
        for whole, lanes, before, parts in self._before:
            structure = STRUCTURES[whole.__class__]
            keys = self._keys(structure, lanes)
            rows = list(zip(*[structure.get(x, keys) for x in lanes], strict=True))
            if keys == before and all(
                a is b for row, part in zip(rows, parts, strict=True) for a, b in zip(row, part, strict=True)
            ):
                continue  # others may be going through it
            made = [self.joined(row) for row in rows]
            if whole.__class__ is MutableTangent:
                whole.__dict__.clear()
            elif whole.__class__ is not list:
                whole.clear()
            structure.put(whole, keys, made)

    def _keys(self, structure: Any, lanes: Sequence[Any]) -> Any:
        keys = structure.keys(lanes[0])
        if any(structure.keys(lane) != keys for lane in lanes):
            raise BatchError(
                "a rule changes lists to different lengths, or dicts to different keys", "in different lanes"
            )
        return keys

    def joined(self, lanes: Sequence[Any]) -> Any:
        """What is this in the lanes, as a batch."""
        first = lanes[0]
        known = self._whole.get(id(first))
        if known is not None and all(a is b for a, b in zip(known[0], lanes, strict=True)):
            return known[1]
        structure = STRUCTURES.get(first.__class__)
        if structure is None:
            if any(lane is None for lane in lanes) and first is not None:
                raise BatchError("a rule gives a tangent in some lanes, and None in others", "of one batch")
            return _batches().joined(lanes, self.sources, self._arrays)
        if any(lane.__class__ is not first.__class__ for lane in lanes) or (
            first.__class__ in WITH_FIELDS and first.__class__ is not MutableTangent
        ):
            raise BatchError(
                f"a rule that is called for each lane of a batch gives a {type(first).__name__}",
                "it cannot be put together",
                "take them one by one: call adbc.jvp or adbc.vjp without width=",
            )
        keys = self._keys(structure, lanes)
        made = first
        if structure.address:
            made = structure.shell(first)
            self._pair_new(lanes, made)
            if made.__class__ is MutableTangent:
                self._pair_new([lane.__dict__ for lane in lanes], made.__dict__)
        parts = zip(*[structure.get(lane, keys) for lane in lanes], strict=True)
        return structure.put(made, keys, [self.joined(part) for part in parts])

    def _pair_new(self, lanes: Sequence[Any], made: Any) -> None:
        self._whole[id(lanes[0])] = list(lanes), made


def _is_same(out: Any, again: Any) -> bool:
    """Whether two results are the same numbers, as far as they consist of any."""
    cls = out.__class__
    if cls is not again.__class__:
        return False
    if cls is tuple or cls is list:
        return len(out) == len(again) and all(map(_is_same, out, again))
    if cls.__module__ == "numpy" and hasattr(out, "dtype") and out.dtype.kind in "fciub":
        numpy = _batches().np
        return bool(numpy.array_equal(out, again, equal_nan=out.dtype.kind in "fc"))
    if cls is float or cls is complex or cls is int:
        return bool(out == again or (out != out and again != again))
    return True


def by_lanes(
    rule: Callable[..., Any],
    args: Sequence[Any],
    dargs: Sequence[Any],
    kwargs: Any,
    out: Any,
    *,
    may_change: bool,
) -> Any:
    """What a forward rule gives, called for each lane: the first time on the arguments themselves, and then,
    if it `may_change` them, on copies of these as they were, so that they are changed once."""
    count = width()
    apart = _Lanes(count)
    lanes = list(zip(*map(apart.of, dargs), strict=True)) or [()] * count
    copies = [copy.deepcopy(tuple(args)) if may_change else args for _ in range(count - 1)]
    made, first = rule(args, lanes[0], kwargs, *out)
    tangents = [first]
    for given, lane in zip(copies, lanes[1:], strict=True):
        again, tangent = rule(given, lane, kwargs, *out)
        if not _is_same(made, again):
            raise BatchError(
                f"a rule that is called for each lane of a batch gives {made!r:.40} at first, and then"
                f" {again!r:.40}",
                "so it would be differentiated at several points",
                "take them one by one: call adbc.jvp or adbc.vjp without width=",
            )
        tangents.append(tangent)
    apart.put_back()
    return made, apart.joined(tangents)
