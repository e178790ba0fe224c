"""What stands in memory of libraries: looked at when a call meets it, and kept from call to call.

A library has the same tables and settings in every call, and to look through thousands of them takes a
thousand times as long as to see that they are as they were (`tangents.standing`).  So a look is kept, and
compared when its root is met again.

In reverse mode a number has no shadow: that it depends on the input is known of the place where it stands,
by its being another object than before.  The program may put there the very object that stood there, if it
was given that as an argument; then the numbers there are made anew first, equal to what they were.
"""

from __future__ import annotations

import functools
import gc
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from operator import neg
from typing import Any

from adbc.tangents.contents import contents
from adbc.tangents.fields import instance_dict, instance_fields, slots_of
from adbc.tangents.protocol import kind_of
from adbc.tangents.standing import Standing

__all__ = ["Look", "Looks", "is_number", "make_own", "numbers_given", "values_in"]

_MOST = 64
"""The most looks that are kept from call to call."""
_LARGE = 100_000
"""The most objects in a look that is kept."""
_WITHOUT_NUMBERS = frozenset(
    {int, bool, str, bytes, types.NoneType, types.FunctionType, types.BuiltinFunctionType, type, range, slice}
)


class Look:
    """What stands in `root` and in what is reached from it: `values`, objects with what `contents` has found
    there.

    seen: by address, all that was looked at on the way.  numbers: the addresses of the numbers in `values`.
    """

    def __init__(self, root: Any, values: list[tuple[Any, Any]], seen: dict[int, Any]) -> None:
        self.root = root
        self.values = values
        self.seen = seen
        self.numbers = frozenset(
            [
                id(v)
                for _, content in values if not issubclass(type(content), set | bytearray)
                for v in values_in(content) if is_number(v)
            ]
        )  # fmt: skip

    @functools.cached_property
    def standing(self) -> Standing:
        """What tells whether all is as it was; it is made before the program goes on."""
        return Standing(self.values)


_kept: dict[int, Look] = {}
"""By the address of its root, each look that is kept, the oldest first."""


def _drop_stale(phase: str, info: Mapping[str, int]) -> None:
    """Let go of looks that do not hold, and so of objects that libraries no longer keep."""
    if phase == "start" and info["generation"] == 2:
        for key, look in list(_kept.items()):
            if not look.standing.stands():
                _kept.pop(key, None)


gc.callbacks.append(_drop_stale)


class Looks:
    """The looks of one call.

    numbers: the addresses of the numbers that the call was given; None if they are not known, or if numbers
    have tangents beside them (`is_forward`).
    """

    def __init__(self, is_forward: bool, numbers: frozenset[int] | None) -> None:
        self._is_forward = is_forward
        self._numbers = numbers
        self._taken: list[Look] = []

    def __iter__(self) -> Iterator[Look]:
        return iter(self._taken)

    def take(self, root: Any) -> None:
        """Look at `root`, unless it was reached from another."""
        if any(id(root) in look.seen for look in self._taken):
            return
        kept = _kept.pop(id(root), None)
        if kept is not None and kept.root is root and self._holds(kept):
            look: Look | None = kept
        else:
            look = self._whole(root)
        if look is None:
            self._add(self._rest([root]))
            return
        self._add(look)
        if len(look.seen) <= _LARGE:
            _kept[id(root)] = look
            while len(_kept) > _MOST:
                _kept.pop(next(iter(_kept)), None)

    def renew(self, roots: Iterable[Any]) -> None:
        """Look at all of `roots` anew."""
        self._taken = []
        self._add(self._rest(roots))

    def _add(self, look: Look) -> None:
        self._taken.append(look)
        assert look.standing  # is made here, while all is as it was looked at

    def _holds(self, look: Look) -> bool:
        """Whether the same stands there as in `look`, and that is of nothing that others have been of."""
        return (
            self._is_apart(look)
            and look.standing.stands()
            and all(other.seen.keys().isdisjoint(look.seen) for other in self._taken)
        )

    def _is_apart(self, look: Look) -> bool:
        """Whether none of the numbers in `look` can be one that the call was given."""
        if self._is_forward or not look.numbers:
            return True
        return self._numbers is not None and look.numbers.isdisjoint(self._numbers)

    def _whole(self, root: Any) -> Look | None:
        """All that is reached from `root`; None if some of it was looked at before."""
        seen: dict[int, Any] = {}
        values = []
        for x, content in contents([root], with_arrays=False, seen=seen):
            if any(id(x) in look.seen for look in self._taken):
                return None
            values.append((x, content))
        look = Look(root, values, seen)
        if self._is_apart(look):
            return look
        for x, _ in values:
            make_own(x)
        seen = {}
        return Look(root, [*contents([root], with_arrays=False, seen=seen)], seen)

    def _rest(self, roots: Iterable[Any]) -> Look:
        """What is reached from `roots` and was not looked at before, with numbers of its own."""
        roots = [*roots]
        seen: dict[int, Any] = {}
        for look in self._taken:
            seen |= look.seen
        within = dict(seen)
        look = Look(None, [*contents(roots, with_arrays=False, seen=within)], within)
        if self._is_apart(look):
            return look
        # A number that is stored may be the very object that stood there before, because the program was run
        # without a derivative first.
        for x, _ in look.values:
            make_own(x)
        return Look(None, [*contents(roots, with_arrays=False, seen=seen)], seen)


def numbers_given(given: Any) -> frozenset[int] | None:
    """The addresses of the numbers in `given`, the arguments of a call; None if that cannot be said when the
    program has begun, because something that it can change holds some."""
    if given is None:
        return None
    found = set()
    pending = list(given)
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls is tuple:
            pending.extend(x)
        elif is_number(x):
            found.add(id(x))
        elif cls not in _WITHOUT_NUMBERS and not _makes_numbers(x):
            return None
    return frozenset(found)


def _makes_numbers(x: Any) -> bool:
    """Whether `x` is an array whose numbers are made when they are read."""
    return type(x).__name__ == "ndarray" and type(x).__module__ == "numpy" and not x.dtype.hasobject


def is_number(x: Any) -> bool:
    """Whether `x` is a number that may have a derivative: a float, a complex number, or one of NumPy's."""
    cls = type(x)
    if cls is float or cls is complex:
        return True
    if not hasattr(cls, "dtype"):
        return False
    kind = kind_of(cls)
    return not (kind.address or kind.inactive)


def values_in(content: list[Any]) -> list[Any]:
    """The values in what `contents` has found."""
    return [v[1] if type(v) is tuple and len(v) == 2 else v for v in content]


def make_own(x: Any) -> None:
    """Let the numbers in `x` be objects of their own, equal to what they were, that nobody else has."""
    base: Any = list if issubclass(type(x), list) else deque
    if issubclass(type(x), base):  # the class is asked, never the object
        for i, v in enumerate(base.__iter__(x)):
            if is_number(v):
                base.__setitem__(x, i, neg(-v))
    for space in _spaces(x):
        for key, v in space.items():
            if is_number(v):
                dict.__setitem__(space, key, neg(-v))
    slots = slots_of(type(x))
    for name, v in instance_fields(x, slots) if slots else ():
        if is_number(v) and name in (found := dict(slots)):
            found[name].__set__(x, neg(-v))


def _spaces(x: Any) -> Iterator[dict[Any, Any]]:
    """The dictionaries in which `x` keeps what it has."""
    if issubclass(type(x), dict):
        yield x
    own = instance_dict(x)
    if type(own) is dict and own:
        yield own
