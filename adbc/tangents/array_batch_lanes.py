"""A reverse rule for batches: called once, with one lane, and its pullback once for each.

The rule is given *working* shadows.  That of an array is the first lane of its batch, so that a view stays a
view; those of lists, dicts and objects are such with the same parts, in which the numbers are those of one
lane at a time.  Before the pullback runs for a lane, the numbers of that lane are brought to where it looks
for them, and behind it they are put back where they belong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import BatchError
from adbc.tangents.array_batches import BatchedArray, BatchedNumber, batch_like, lane, view_like
from adbc.tangents.array_memory import Array, extent, flat_bytes, ultimate_owner
from adbc.tangents.duals import WITH_FIELDS, FData, MutableTangent, RData, Tangent
from adbc.tangents.nothing import NO_FDATA, NO_RDATA, NO_TANGENT
from adbc.tangents.walk import STRUCTURES

__all__ = ["Working", "joined_rdata", "lane_of_rdata"]

_NOTHING = (None, NO_FDATA, NO_RDATA, NO_TANGENT)
_RECORDS = (Tangent, FData, RData)


def _is_nothing(x: Any) -> bool:
    return any(x is nothing for nothing in _NOTHING)


def _is_number(x: Any) -> bool:
    return issubclass(type(x), int | float | complex | np.number | BatchedNumber)


def cannot(what: str) -> BatchError:
    """The error that says that `what` cannot be done in a batch of cotangents."""
    return BatchError(
        f"{what} in a batch of cotangents",
        "the pullback of a rule cannot be run for each lane there",
        "take them one by one: call adbc.vjp without width=, with reusable=True",
    )


class Working:
    """The working shadows of the call of one rule.

    width: how many lanes there are.  views: the batches of arrays of which the rule has the first lane.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.views: list[BatchedArray] = []
        self._new: list[tuple[Array, BatchedArray]] = []
        """Shadows that the rule has made: in one lane, and in all."""
        self._objects: list[tuple[Any, Any]] = []
        """Lists, dicts and objects, in the batch, and in one lane."""
        self._apart: dict[int, tuple[Any, Any]] = {}
        """By the address of a part of a batch, that and what stands for it."""
        self._whole: dict[int, tuple[Any, Any]] = {}
        """By the address of what stands for a part of a batch, that and the part."""
        self._swaps: list[tuple[Array, int, int, int]] | None = None

    # -- what the rule is given

    def first(self, f: Any) -> Any:
        """What stands for the shadow `f`."""
        if _is_nothing(f):
            return f
        cls = f.__class__
        if cls is BatchedNumber:
            return _plain(f.data[0])
        known = self._apart.get(id(f))
        if known is not None:
            return known[1]
        if cls is BatchedArray:
            self.views.append(f)
            return self._pair(f, lane(f, 0))
        if _is_number(f):
            return f
        if cls is tuple:
            return tuple(map(self.first, f))
        if cls in _RECORDS:
            return cls(**{name: self.first(part) for name, part in f.__dict__.items()})
        structure = self._structure(f)
        made = self._pair(f, structure.shell(f))
        keys = structure.keys(f)
        structure.put(made, keys, [self.first(part) for part in structure.get(f, keys)])
        self._objects.append((f, made))
        return made

    def _structure(self, f: Any) -> Any:
        structure = STRUCTURES.get(f.__class__)
        if structure is None or (f.__class__ in WITH_FIELDS and f.__class__ is not MutableTangent):
            raise cannot(
                "a rule is given, or gives, the shadow of something else than numbers, arrays, lists, tuples,"
                f" dicts and objects (a {f.__class__.__name__})"
            )
        if f.__class__ is MutableTangent and id(f.__dict__) in (self._apart.keys() | self._whole.keys()):
            raise cannot("a rule is given an object and the dictionary of its attributes")
        if f.__class__ is dict and any(
            vars(x) is f for pair in self._objects for x in pair if type(x) is MutableTangent
        ):
            raise cannot("a rule is given an object and the dictionary of its attributes")
        return structure

    def _pair(self, batch: Any, working: Any) -> Any:
        self._apart[id(batch)] = batch, working
        self._whole[id(working)] = working, batch
        return working

    # -- what the rule gives

    def whole(self, w: Any) -> Any:
        """The shadow, in a batch, for which `w` stands: that of a result of the rule."""
        if _is_nothing(w) or _is_number(w):
            return w
        known = self._whole.get(id(w))
        if known is not None:
            return known[1]
        if issubclass(type(w), np.ndarray):
            return self._whole_array(w)
        if w.__class__ is tuple:
            return tuple(map(self.whole, w))
        if w.__class__ in _RECORDS:
            return w.__class__(**{name: self.whole(part) for name, part in w.__dict__.items()})
        structure = self._structure(w)
        made = structure.shell(w)
        self._pair(made, w)
        keys = structure.keys(w)
        structure.put(made, keys, [self.whole(part) for part in structure.get(w, keys)])
        self._objects.append((made, w))
        return made

    def _whole_array(self, w: Array) -> BatchedArray:
        if w.__class__ is not np.ndarray or w.dtype.kind not in "fc":
            raise cannot(f"the shadow of a {type(w).__name__} of dtype {w.dtype} is asked for")
        for source in self.views:
            if w.size and np.may_share_memory(w, lane(source, 0)):
                made = view_like(source.data, w)
                self.views.append(made)
                self._pair(made, w)
                return made
        if w.size and any(np.may_share_memory(w, other) for other, _ in self._new):
            raise cannot("a rule gives two results in one memory that is new")
        made = batch_like(w, self.width)
        if w.any():
            made.data[...] = w
        self._pair(made, w)
        self._new.append((w, made))
        return made

    def follow(self) -> None:
        """Let lists, dicts and objects in the batch have the parts that the rule has given what stands for
        them."""
        for batch, working in list(self._objects):
            structure = STRUCTURES[batch.__class__]
            keys = structure.keys(working)
            before = structure.get(batch, structure.keys(batch))
            after = [self.whole(part) for part in structure.get(working, keys)]
            if keys == structure.keys(batch) and all(
                a is b or (_is_number(a) and _is_number(b)) for a, b in zip(before, after, strict=True)
            ):
                continue
            _refill(structure, batch, keys, after)

    # -- back

    def run(self, pullback: Callable[[Any], Any], bout: Any, put_back: Callable[[], None]) -> list[Any]:
        """What `pullback` gives in each lane for `bout`, a batch of rdata.  put_back: is called between two
        runs, and puts back what the first has changed besides shadows."""
        if self._swaps is None:
            self._swaps = self._found_swaps()
        before = [
            (b, w, s.keys(b), s.get(b, s.keys(b)))
            for b, w in self._objects
            for s in [STRUCTURES[b.__class__]]
        ]
        found, after = [], []
        for n in range(self.width):
            if n:
                put_back()
            self._exchange(n)
            try:
                for w, batch in self._new:
                    w[...] = lane(batch, n)
                for _, w, keys, parts in before:
                    _refill(STRUCTURES[w.__class__], w, keys, [self._lane(part, n) for part in parts])
                found.append(pullback(lane_of_rdata(bout, n)))
                after.append([self._content(w) for _, w, _, _ in before])
                for w, batch in self._new:
                    lane(batch, n)[...] = w
            finally:
                self._exchange(n)
        for i, (batch, _, _, _) in enumerate(before):
            keys = after[0][i][0]
            if any(lanes[i][0] != keys for lanes in after):
                raise cannot("a rule changes lists to different lengths, or dicts to different keys,")
            parts = [self._joined(column) for column in zip(*[lanes[i][1] for lanes in after], strict=True)]
            _refill(STRUCTURES[batch.__class__], batch, keys, parts)
        return found

    def _lane(self, part: Any, n: int) -> Any:
        """Lane `n` of `part`, in a list, dict or object."""
        if part.__class__ is BatchedNumber:
            return _plain(part.data[n])
        if part.__class__ is tuple:
            return tuple([self._lane(p, n) for p in part])
        if part.__class__ in _RECORDS:
            return part.__class__(**{name: self._lane(p, n) for name, p in part.__dict__.items()})
        if _is_nothing(part) or _is_number(part):
            return part
        known = self._apart.get(id(part))
        if known is None:
            raise cannot(
                "something was put into a list, a dict or an object behind the call of a rule, and is"
                " there on the way back,"
            )
        return known[1]

    def _content(self, w: Any) -> tuple[Any, list[Any]]:
        structure = STRUCTURES[w.__class__]
        keys = structure.keys(w)
        return keys, list(structure.get(w, keys))

    def _joined(self, lanes: Sequence[Any]) -> Any:
        """What is this in the lanes, as a part of a list, dict or object in the batch."""
        first = lanes[0]
        if first.__class__ is tuple:
            return tuple(map(self._joined, zip(*lanes, strict=True)))
        if first.__class__ in _RECORDS:
            names = list(first.__dict__)
            columns = zip(*[[part.__dict__[name] for name in names] for part in lanes], strict=True)
            return first.__class__(**dict(zip(names, map(self._joined, columns), strict=True)))
        if _is_number(first):
            return _number(lanes)
        if _is_nothing(first) and all(part is first for part in lanes):
            return first
        known = self._whole.get(id(first))
        if known is None or any(part is not first for part in lanes):
            raise cannot("a rule puts something new into a list, a dict or an object on the way back,")
        return known[1]

    def _found_swaps(self) -> list[tuple[Array, int, int, int]]:
        """The bytes of first lanes that the pullback may look at: memory, beginning, end, and how far it is
        from one lane to the next."""
        found: dict[tuple[int, int], list[Any]] = {}
        for batch in self.views:
            data = batch.data
            if not data.size:
                continue
            owner = ultimate_owner(data)
            start = extent(owner)[0]
            low, high = extent(lane(batch, 0))
            known = found.setdefault((id(owner), data.strides[0]), [owner, low - start, high - start])
            known[1:] = min(known[1], low - start), max(known[2], high - start)
        if any(getattr(owner, "dtype", np.dtype(object)).hasobject for owner, _, _ in found.values()):
            raise cannot("a rule is given an array in memory of something else")
        owners = [key[0] for key in found]
        if len({*owners}) != len(owners) or any(
            abs(step) < high - low for (_, step), (_, low, high) in found.items()
        ):
            raise cannot("a rule is given arrays of which the lanes lie between each other")
        return [
            (owner if owner.dtype == np.uint8 and owner.ndim == 1 else flat_bytes(owner), low, high, step)
            for (_, step), (owner, low, high) in found.items()
        ]

    def _exchange(self, n: int) -> None:
        """Exchange the first lane and lane `n`."""
        if n:
            assert self._swaps is not None
            for memory, low, high, step in self._swaps:
                there = n * step
                kept = memory[low:high].copy()
                memory[low:high] = memory[low + there : high + there]
                memory[low + there : high + there] = kept

    def own(self) -> set[int]:
        """The addresses of all that stands for parts of the batch, and of the memory of these."""
        found = {*self._apart, *self._whole}
        for w, _ in self._whole.values():
            while w is not None and issubclass(type(w), np.ndarray):
                found.add(id(w))
                w = w.base
        for _, w in self._objects:
            if w.__class__ is MutableTangent:
                found.add(id(w.__dict__))
        return found


def _refill(structure: Any, target: Any, keys: Any, parts: list[Any]) -> None:
    if target.__class__ is MutableTangent:
        target.__dict__.clear()
    else:
        target.clear()
    structure.put(target, keys, parts)


def _plain(number: Any) -> Any:
    """A number in a lane, of Python's class where that has as many bits."""
    cls = number.__class__
    return float(number) if cls is np.float64 else complex(number) if cls is np.complex128 else number


def _number(lanes: Sequence[Any]) -> Any:
    """A number in all lanes: itself if it is zero in each."""
    if all(x.__class__ is lanes[0].__class__ and x == 0 for x in lanes):
        return lanes[0]
    return BatchedNumber(np.array(lanes))


def lane_of_rdata(b: Any, n: int) -> Any:
    """Lane `n` of the rdata `b`."""
    cls = b.__class__
    if cls is BatchedNumber:
        return _plain(b.data[n])
    if cls is BatchedArray:
        return lane(b, n)
    if cls is tuple or cls is list:
        return cls([lane_of_rdata(part, n) for part in b])
    if cls is RData:
        return RData(**{name: lane_of_rdata(part, n) for name, part in b.__dict__.items()})
    return b


def joined_rdata(lanes: Sequence[Any]) -> Any:
    """The rdata that is this in each lane; None is zero."""
    known = [x for x in lanes if not _is_nothing(x)]
    if not known:
        return None
    first = known[0]
    if first.__class__ is tuple or first.__class__ is list:
        rows = [[None] * len(first) if _is_nothing(x) else x for x in lanes]
        return tuple(map(joined_rdata, zip(*rows, strict=True)))
    if first.__class__ is RData:
        names = list(dict.fromkeys(name for x in known for name in x.__dict__))
        rows = [[None if _is_nothing(x) else x.__dict__.get(name) for name in names] for x in lanes]
        return RData(**dict(zip(names, map(joined_rdata, zip(*rows, strict=True)), strict=True)))
    if issubclass(type(first), np.ndarray):
        return BatchedArray(np.stack([np.zeros_like(first) if _is_nothing(x) else x for x in lanes]))
    if not _is_number(first):
        raise cannot(f"a pullback gives a {type(first).__name__}")
    return BatchedNumber(np.array([0.0 if _is_nothing(x) else x for x in lanes]))
