"""What code of libraries has made of constants: objects whose numbers are known to be constants.

In reverse mode a number has no shadow of its own, and an object that holds one counts as something that may
depend on the input.  A parser, a settings object or an estimator that a call made as it is has given, or has
changed, holds constants only.  So what stands in it then is noted; as long as the same stands there, nothing
that depends on the input has been written into it.

The numbers are told apart by their being other objects.  A program may put there the very object that it was
given as an argument, so those that it may have been given are made anew first (`state.looks`).
"""

from __future__ import annotations

import types
from collections import deque
from typing import Any

from adbc.runtime.state.looks import Look, is_number, make_own, numbers_given
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.tangents.activity_marks import any_part, is_inactive
from adbc.tangents.contents import contents
from adbc.tangents.fields import is_python_class
from adbc.tangents.protocol import kind_of

__all__ = ["Made", "may_note"]

_LARGE = 10_000
"""The most objects that are noted with one: to see that all of them stand takes longer than to follow it."""


class Made:
    """The objects of one call of which it is known what stood in them when they held constants only.

    given: the arguments of the call, None if they are not known.
    """

    def __init__(self, given: Any) -> None:
        self._numbers = numbers_given(given)
        self._looks: dict[int, Look] = {}

    def note(self, root: Any) -> None:
        """Take note that all that is in `root` now is constant."""
        look = self._look(root)
        numbers = self._numbers
        if look.numbers and (numbers is None or not look.numbers.isdisjoint(numbers)):
            for x, _ in look.values:
                make_own(x)
            look = self._look(root)
        if len(look.seen) <= _LARGE and all(map(_is_seen_whole, look.seen.values())):
            assert look.standing  # is made here, while all is as it was looked at
            self._looks[id(root)] = look

    def _look(self, root: Any) -> Look:
        seen: dict[int, Any] = {}
        return Look(root, [*contents([root], with_arrays=False, seen=seen)], seen)

    def stands(self, x: Any, shadow: Any) -> bool:
        """Whether `x`, which has `shadow`, was noted and holds what it held then, and no arrays in which
        something depends on the input."""
        look = self._looks.get(id(x))
        if look is None or look.root is not x:
            return False
        return look.standing.stands() and not any_part(shadow, _is_active_array)


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


def may_note(shadow: Any) -> bool:
    """Whether something with `shadow` is an object or container that may be written to."""
    return shadow is not None and shadow is not NO_TANGENT and hasattr(shadow, "__dict__")


def _is_active_array(part: Any) -> bool:
    if part.__class__ is float or part is NO_FDATA:
        return False
    return not is_number(part) and not (hasattr(part, "dtype") and is_inactive(part))
