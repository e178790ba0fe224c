"""Shadows of constant memory that last from call to call.

A data set that a function finds as a global is the same in each call, and to make shadows for its thousands
of objects takes ten times as long as to see that nothing has changed there (`tangents.standing`).  So what
was made in one call serves in the next, set back to zeros::

    DATA = [Point(0.1, 2.0), Point(0.3, 2.5), ...]     # a shadow for each, once

    def loss(k):
        return sum((k * p.x - p.y) ** 2 for p in DATA)

That may be done if nobody can tell: the memory is as it was, nothing of it was met in this call before, and
nobody holds any of the shadows, which the counts of references say.  A result that leads to one, a pullback
that is still to be run, a derivative around this one: each of them is such a holder, and then new shadows are
made.
"""

from __future__ import annotations

import enum
import gc
import sys
import threading
import types
import weakref
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from operator import attrgetter, is_
from typing import Any

from adbc.runtime.state.kept import spaces_of
from adbc.tangents.containers import DictKind, NamedTupleKind, SequenceKind, SetKind, TupleKind
from adbc.tangents.contents import contents
from adbc.tangents.duals import DictTangent, ListTangent, MutableTangent, Tangent
from adbc.tangents.fields import LOCAL
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.objects import FrozenKind, InstanceKind
from adbc.tangents.protocol import KINDS, kind_of
from adbc.tangents.scalars import InactiveSubclassKind, ScalarKind
from adbc.tangents.standing import Standing
from adbc.tangents.walk import REGION, Memo

__all__ = ["last", "lasting", "may_last", "note_met", "would_last"]

_SOME, _FEW = 48, 128
"""Fewer shadows than these are made as quickly, unless one is of a container of as many values."""
_CALLS = 3
"""In so many calls is memory met before its shadows are kept, which takes twice as long as to make them."""
_LARGE = 500_000
"""The shadows of more objects are not kept, of all memory together."""
_MOST = 64
"""The most pieces of memory whose shadows are kept."""
_TRIALS = 8
"""How many pieces of memory may be kept for nothing, before no more are kept until the garbage collector has
been there: a program may make new ones in each call."""
_KINDS = frozenset(
    {
        SequenceKind, DictKind, InstanceKind, TupleKind, NamedTupleKind, FrozenKind, ScalarKind, SetKind,
        InactiveSubclassKind,
    }
)  # fmt: skip
"""The kinds of values whose shadows follow from what `contents` finds in them."""
_ATOMS = frozenset(
    {
        str, int, bool, float, complex, bytes, types.NoneType, types.EllipsisType, types.NotImplementedType,
        range,
    }
)  # fmt: skip
_NAMED = (type, types.ModuleType, types.BuiltinFunctionType, enum.Enum)
"""Classes of what has no tangent and lives as long as the program."""
_WITH_VALUES = frozenset({"datetime", "decimal", "fractions", "pathlib", "uuid", "zoneinfo"})
"""Modules of classes of values without a derivative."""
_OBJECTS = frozenset({SequenceKind, DictKind, InstanceKind})
_CONTAINERS = frozenset({list, dict, MutableTangent, ListTangent, DictTangent})
_DEFAULTS = attrgetter("__defaults__", "__kwdefaults__", "__closure__")
_NOTHING = (None, None, None)
_LAYOUT, _TWIN, _ELSEWHERE = (
    attrgetter("shape", "strides", "dtype"),
    attrgetter("twin"),
    attrgetter("elsewhere"),
)
_KINDS_OF_NUMBERS = "fcbiuSUmM"


class _Lasting:
    """The shadows of `root` and of what is reached from it, which were made just now.

    entries: what they are in a memo.  found: what `contents` has found in `root`.
    """

    def __init__(
        self, root: Any, entries: Memo, found: list[tuple[Any, Any]], seen: Mapping[int, Any]
    ) -> None:
        self.root = root
        self.uses = 0
        """How often they were taken."""
        self._arrays = [x for x in seen.values() if _is_array(type(x))]
        self._layouts = [*map(_LAYOUT, self._arrays)]
        self._regions = [entry[1] for key, entry in entries.items() if _is_memory(key)]
        self._twins = [region.twin for region in self._regions]
        self.entries = entries
        self._keys = {*entries, *(key for k, (x, _) in entries.items() for key in _also_by(k, x))}
        """The keys of entries that a memo may not have yet."""
        self._standing = Standing(found)
        self._objects = [*seen.values()]
        self._classes = [*map(type, self._objects)]
        self._functions = [x for x in self._objects if type(x) is types.FunctionType]
        each = {*self._classes}
        self._kinds = dict(zip(each, map(kind_of, each), strict=True))
        self._pairs = [*entries.values()]
        self._shadows = [*_once([*(shadow for _, shadow in self._pairs), *self._twins])]
        self._lists = [x for x in self._shadows if issubclass(type(x), list)]
        spaces = (space for x in self._shadows for space in spaces_of(x))
        self._dicts = [*_once(space for space in spaces if issubclass(type(space), dict))]
        del spaces
        self._elements = [[*x] for x in self._lists]
        self._items = [{**x} for x in self._dicts]
        self._valued = self._with_values()
        """The containers in which values stand that lead to shadows, and what stood there."""
        self._held = self._holders(), self._keepers(1)  # when no variable here holds one of them

    def _with_values(self) -> list[tuple[Any, Any]]:
        own = {id(x) for x in self._shadows}
        rows = [*zip(self._lists, self._elements, strict=True), *zip(self._dicts, self._items, strict=True)]
        return [(x, old) for x, old in rows if any(_leads_to(v, own) for v in _values(old))]

    def _holders(self) -> list[int]:
        """How often each shadow, and each of the containers in which its parts stand, is referred to."""
        return [*map(sys.getrefcount, self._shadows), *map(sys.getrefcount, self._dicts)]

    def _keepers(self, memos: int) -> list[int]:
        """How often each entry is referred to, apart from those `memos` that it was put into."""
        counts = [*map(sys.getrefcount, self._pairs)]
        return [count - memos for count in counts] if memos else counts

    def stands(self) -> bool:
        """Whether the memory is what the shadows were made for."""
        return (
            self._standing.stands()
            and all(map(is_, map(type, self._objects), self._classes))
            and all(KINDS.get(cls) is kind for cls, kind in self._kinds.items())
            and all(found == _NOTHING for found in map(_DEFAULTS, self._functions))
            and [*map(_LAYOUT, self._arrays)] == self._layouts
            and all(map(is_, map(_TWIN, self._regions), self._twins))
            and not any(map(_ELSEWHERE, self._regions))
        )

    def is_free(self) -> bool:
        """Whether nobody holds any of the shadows."""
        if self._keepers(0) != self._held[1]:
            return False
        now, before = self._holders(), self._held[0]
        if now == before or not self._valued:
            return now == before
        added = Counter(self._in_new_values())
        return now == [
            count + added[id(x)] for count, x in zip(before, (*self._shadows, *self._dicts), strict=True)
        ]

    def _in_new_values(self) -> Iterator[int]:
        """The addresses of shadows that values lead to which have come for others: those that the numbers
        beside them have been added to."""
        pending = [
            (v, old)
            for x, row in self._valued
            for v, old in zip(_values(x), _values(row), strict=False)
            if v is not old
        ]
        while pending:
            new, old = pending.pop()
            parts, others = _parts(new), _parts(old)
            for part, other in zip(parts, others, strict=False):
                if part is not other:
                    pending.append((part, other))
                elif not _is_value(part):
                    yield id(part)

    def enter(self, memo: Memo, mark: Callable[[Any], None]) -> bool:
        """Enter the shadows into `memo`, as zeros; whether nothing of the memory was met there before.

        mark: called with each counterpart of memory of arrays.
        """
        if not memo.keys().isdisjoint(self._keys):
            return False
        _exhaust(map(list.__setitem__, self._lists, repeat(_ALL), self._elements))
        _exhaust(map(dict.clear, self._dicts))
        _exhaust(map(dict.update, self._dicts, self._items))
        for region, twin in zip(self._regions, self._twins, strict=True):
            twin.fill(0)
            region.forget_extent()
            mark(twin)
        memo.update(self.entries)
        return True


def may_last(x: Any) -> bool:
    """Whether the shadow of `x` may last by itself."""
    return type(kind_of(type(x))) in _OBJECTS


def last(root: Any, memo: Memo, mark: Callable[[Any], None]) -> bool:
    """Enter shadows of `root` that have lasted into `memo`; whether there were any that can be taken.

    mark: called with each counterpart of memory of arrays.
    """
    kept = _kept.get(id(root))
    if kept is None or kept.root is not root or REGION in memo:
        return False
    with _lock:
        if not kept.stands():
            _forget(id(root))
            _met[id(root)] = _met.get(id(root), 0) - _AGAIN
            return False
        if not kept.is_free() or not kept.enter(memo, mark):
            return False
        if not kept.uses:
            _trials.wasted = max(0, _trials.wasted - 1)
        kept.uses += 1
        _used.add(id(root))
        return True


def would_last(root: Any) -> bool:
    """Whether there are shadows of `root` that last, or would be if a memo were asked for them."""
    kept = _kept.get(id(root))
    return (kept is not None and kept.root is root) or _met.get(id(root), 0) > 0


def note_met(root: Any) -> int:
    """Note that `root` was met, whose shadows do not last; in how many calls it was."""
    if len(_met) >= _REMEMBERED:
        _met.clear()
    count = _met[id(root)] = _met.get(id(root), 0) + 1
    return count


def lasting(root: Any, memo: Memo, before: int) -> None:
    """Let the shadows of `root` last that were entered into `memo` just now, when it had `before` entries, if
    the same memory was met in earlier calls."""
    made = len(memo) - before
    if made < _SOME and not any(_takes_long(x) for x, _ in islice(memo.values(), before, None)):
        return
    if REGION in memo or note_met(root) < _CALLS or made > _LARGE or _trials.wasted >= _TRIALS:
        return
    entries = {key: memo[key] for key in islice(memo, before, None)}
    seen: dict[int, Any] = {}
    if all(_may_be_kept(key, entry) for key, entry in entries.items()):
        found = [*contents([root], with_arrays=False, seen=seen)]
    if not seen or len(seen) > _LARGE or not all(map(_is_plain, seen.values())):
        _met[id(root)] = -_NEVER
        return
    if not _is_whole(entries):
        return
    with _lock:
        _kept[id(root)] = _Lasting(root, entries, found, seen)
        _trials.wasted += 1  # until they are of use
        while len(_kept) > _MOST or sum([len(kept.entries) for kept in _kept.values()]) > _LARGE:
            _forget(next(iter(_kept)))


def _takes_long(x: Any) -> bool:
    """Whether `x` is a container of many values that have parts, as far as the first ones say: a table of
    atoms is made at once."""
    if type(x) not in (list, dict) or len(x) < _FEW:
        return False
    return not _ATOMS.issuperset(map(type, islice(_values(x), 8)))


def _may_be_kept(key: Any, entry: tuple[Any, Any]) -> bool:
    """Whether this entry of a memo is one of a container or object, or of an array or its memory."""
    x, shadow = entry
    if _is_memory(key):
        return _is_array(type(x)) and x.dtype.kind in "fc" and not _ELSEWHERE(shadow)
    return type(shadow) in _CONTAINERS or (_is_array(type(shadow)) and _is_array(type(x)))


def _is_whole(entries: Memo) -> bool:
    """Whether all shadows that those in `entries` lead to are there, too: else some of the memory was met
    before in this call, an argument perhaps, and has a shadow of this call."""
    shadows = [entry[1] for key, entry in entries.items() if not _is_memory(key)]
    own = {id(x) for x in shadows} | {id(entry[1].twin) for key, entry in entries.items() if _is_memory(key)}
    pending: list[Any] = [x for x in shadows if _is_array(type(x))]
    for x in shadows:
        for space in spaces_of(x):
            own.add(id(space))
            pending.extend(_values(space))
    while pending:
        x = pending.pop()
        if type(x) is float or x is NO_TANGENT:
            continue
        if _is_value(x):
            pending.extend(_parts(x))
        elif kind_of(type(x)).address or type(x) in _CONTAINERS:
            owner = x
            while _is_array(type(owner)) and owner.base is not None:
                owner = owner.base
            if id(x) not in own or id(owner) not in own:
                return False
    return True


def _also_by(key: Any, x: Any) -> Iterator[Any]:
    """By which other key a dictionary `x` would be met, that of an object or the object's, which has one by
    `key`."""
    if issubclass(type(x), dict):
        yield id(x) if type(key) is tuple else ("fields", id(x))


def _is_memory(key: Any) -> bool:
    """Whether this key of a memo is of the memory of arrays."""
    return type(key) is tuple and key[0] == "memory"


def _is_array(cls: type) -> bool:
    return cls.__name__ == "ndarray" and cls.__module__ == "numpy"


def _is_plain(x: Any) -> bool:
    """Whether the shadow of `x` follows from what `contents` finds in it, and nobody can tell that `x` lives
    some longer than the program holds it."""
    cls = type(x)
    if cls in _ATOMS or issubclass(cls, _NAMED) or cls.__module__ in _WITH_VALUES:
        return True
    if cls is types.FunctionType:
        return bool(_DEFAULTS(x) == _NOTHING)
    if issubclass(cls, dict) and "__builtins__" in dict.keys(x):
        return False
    if _is_array(cls):
        return x.dtype.kind in _KINDS_OF_NUMBERS
    if type(kind_of(cls)) not in _KINDS or issubclass(cls, LOCAL) or hasattr(cls, "__del__"):
        return False
    return not weakref.getweakrefcount(x)


def _is_value(x: Any) -> bool:
    """Whether a tangent is a value made of parts."""
    return type(x) is tuple or type(x) is Tangent


def _parts(value: Any) -> Sequence[Any]:
    """The parts of a tangent, if it is such a value."""
    return value if type(value) is tuple else [*vars(value).values()] if type(value) is Tangent else ()


def _values(container: Any) -> Iterable[Any]:
    """What stands in a list or dictionary."""
    return dict.values(container) if issubclass(type(container), dict) else list.__iter__(container)


def _leads_to(x: Any, own: Container[int]) -> bool:
    """Whether `x` is a value with a part at one of the addresses in `own`."""
    return any(id(part) in own or _leads_to(part, own) for part in _parts(x))


def _once(each: Iterable[Any]) -> Iterable[Any]:
    """Each of the objects once."""
    return {id(x): x for x in each}.values()


def _exhaust(each: Any) -> None:
    deque(each, maxlen=0)


def _forget(key: int) -> None:
    _kept.pop(key, None)
    _used.discard(key)


def _drop_unused(phase: str, info: Mapping[str, int]) -> None:
    """Let go of shadows, and of the memory that they are of, that were not taken since the last time."""
    if phase == "start" and info["generation"] == 2:
        for key in [*_kept]:
            if key not in _used:
                _forget(key)
        _used.clear()
        _trials.wasted //= 2


_kept: dict[int, _Lasting] = {}
"""By the address of the root, the shadows that last, the oldest first."""
_trials = types.SimpleNamespace(wasted=0)
"""How many pieces of memory have been kept for nothing so far."""
_used: set[int] = set()
"""The addresses of those that have been taken since the last full collection."""
_met: dict[int, int] = {}
"""By the address of a root, in how many calls it was met whose shadows do not last."""
_REMEMBERED = 1000
"""How many of these are remembered at most."""
_AGAIN, _NEVER = 8, 1_000_000
"""In how many calls more memory is met before its shadows last again: after it has changed, and if they
cannot."""
_lock = threading.Lock()
_ALL = slice(None)

gc.callbacks.append(_drop_unused)
