"""Objects of libraries whose numbers are known to be constants: what was made of constants, or found.

In reverse mode a number has no shadow of its own, and an object that holds one counts as something that may
depend on the input.  A parser, a settings object or an estimator that a call made as it is has given, or has
changed, holds constants only.  So what stands in it then is noted; as long as the same stands there, nothing
that depends on the input has been written into it.  So it is with a frame of data or a fitted estimator that
was made before the call, and is found as a global, an attribute or an argument that nobody asks for: what
stands there when it is met first is constant.

The numbers are told apart by their being other objects.  A program may put there the very object that it was
given as an argument, so those that it may have been given are made anew first (`state.looks`).
"""

from __future__ import annotations

import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from adbc.cpython.libraries import is_library_class
from adbc.runtime.state.looks import Look, is_number, make_own, numbers_given
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.tangents.activity_marks import any_part, is_inactive
from adbc.tangents.contents import contents
from adbc.tangents.fields import instance_dict, is_python_class
from adbc.tangents.protocol import kind_of
from adbc.tangents.walk import Memo

__all__ = ["Made", "may_note"]

_LARGE = 10_000
"""The most objects that are noted with one: to see that all of them stand takes longer than to follow it."""
_SMALL, _MOST = 1000, 10_000
"""The most objects that are noted with one that was found, and that are looked at for that in one call, as it
is done in every call which meets them."""


class Made:
    """The objects of one call of which it is known what stood in them when they held constants only.

    given: the arguments of the call, None if they are not known.
    """

    def __init__(self, given: Any) -> None:
        self._numbers = numbers_given(given)
        self._looks: dict[int, Look] = {}
        self._left = _MOST

    def note(self, root: Any) -> None:
        """Take note that all that is in `root` now is constant."""
        if self._holds(root):
            return
        look = self._look(root)
        numbers = self._numbers
        if look.numbers and (numbers is None or not look.numbers.isdisjoint(numbers)):
            for x, _ in look.values:
                make_own(x)
            look = self._look(root)
        if len(look.seen) <= _LARGE and all(map(_is_seen_whole, look.seen.values())):
            self._keep(look)

    def note_found(self, new: Memo, memo: Memo) -> None:
        """Take note of what stands in the objects with `new` entries in `memo`, if they are of libraries:
        they were met just now, so that they hold constants.

        Nothing is noted of what leads to memory that was met before, into which something may have been
        written, nor where a number may be the very object that the program was given.
        """
        numbers = self._numbers
        if numbers is None:
            return
        for x, _ in new.values():
            if self._left <= 0 or not may_be_found(type(x)) or id(x) in self._looks:
                continue
            seen: dict[int, Any] = {}
            values = []
            for value in contents([x], with_arrays=False, seen=seen):
                values.append(value)
                if len(seen) > _SMALL:
                    break
            self._left -= len(seen)
            look = Look(x, values, seen)
            if not look.numbers or len(seen) > _SMALL or not look.numbers.isdisjoint(numbers):
                continue
            before = any(key in memo and key not in new for part, _ in values for key in _keys_of(part))
            if not before and all(map(_is_seen_whole, seen.values())):
                self._keep(look)

    def _keep(self, look: Look) -> None:
        assert look.standing  # is made here, while all is as it was looked at
        self._looks |= {id(x): look for x, _ in look.values}

    def _look(self, root: Any) -> Look:
        seen: dict[int, Any] = {}
        return Look(root, [*contents([root], with_arrays=False, seen=seen)], seen)

    def _holds(self, x: Any) -> bool:
        """Whether what was noted of `x` stands there."""
        look = self._looks.get(id(x))
        return look is not None and look.seen.get(id(x)) is x and look.standing.stands()

    def stands(self, x: Any, shadow: Any) -> bool:
        """Whether `x`, which has `shadow`, was noted and holds what it held then, and no arrays in which
        something depends on the input."""
        return self._holds(x) and not any_part(shadow, _is_active_array)

    def seen_with(self, x: Any) -> Iterable[Any]:
        """What was looked at when `x` was noted, which `stands`."""
        return self._looks[id(x)].seen.values()


def may_be_found(cls: type) -> bool:
    """Whether instances of `cls` are objects of a library that are noted when they are found."""
    known = _found.get(cls)
    if known is None:
        known = _found[cls] = kind_of(cls).address and is_python_class(cls) and is_library_class(cls)
    return known


_found: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
"""By class, what `may_be_found` says of it."""


def _is_seen_whole(x: Any) -> bool:
    """Whether `contents` tells of all that stands in `x` itself: not of the cells and defaults of a function,
    nor of what objects made in C hold."""
    cls = type(x)
    if cls is types.FunctionType:
        return not (x.__closure__ or x.__defaults__ or x.__kwdefaults__ or x.__dict__)
    if cls is types.BuiltinFunctionType:
        return x.__self__ is None or issubclass(type(x.__self__), types.ModuleType)
    if issubclass(cls, _WITH_CONTENTS) or is_python_class(cls) or is_number(x):
        return True
    kind = kind_of(cls)
    if (bare := getattr(kind, "bare", None)) is not None:  # an array, of which the marks tell
        return not bare(x).dtype.hasobject
    return kind.inactive


_WITH_CONTENTS = (tuple, list, deque, dict, set, frozenset, types.SimpleNamespace)


def _keys_of(x: Any) -> Iterator[Any]:
    """By what `x`, and the dictionary in which it keeps its attributes, may be known to a memo."""
    for part in (x, instance_dict(x)):
        yield id(part)
        yield "fields", id(part)


def may_note(shadow: Any) -> bool:
    """Whether something with `shadow` is an object or container that may be written to."""
    return shadow is not None and shadow is not NO_TANGENT and hasattr(shadow, "__dict__")


def _is_active_array(part: Any) -> bool:
    if part.__class__ is float or part is NO_FDATA:
        return False
    return not is_number(part) and not (hasattr(part, "dtype") and is_inactive(part))
