"""Facts about classes and functions, which hold as long as what stands in them is what stood there.

What a fact says follows from the namespaces of some classes, and from the code and the defaults of some
functions.  To ask all questions again takes a walk through the bases of a class for each; to see that every
object that stands there is the one that stood there takes a few loops in C for all of them together.  If
something is another object, the questions are asked again: a class may have been given something else.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any, Protocol

from adbc.flags import HEAP_TYPE, IMMUTABLE_TYPE
from adbc.tangents.protocol import KINDS

__all__ = ["Checked", "Glance", "Shot"]

_MOST = 3000
"""How many objects are compared at most: asking the questions is quicker then."""

_TAKEN = 8
"""How often what stands there is noted anew: classes that change all the time are asked each time."""

_MRO, _CONTENTS = attrgetter("__mro__"), attrgetter("cell_contents")
_STATE = attrgetter("__code__", "__defaults__", "__kwdefaults__")
_VALUES: Callable[[Any], Any] = types.MappingProxyType.values
_KIND: Callable[[Any], Any] = KINDS.get


class Checked(Protocol):
    """A fact, or several in one, that can be looked at again: whether it still holds."""

    def holds(self) -> bool: ...


class Fact(Checked, Protocol):
    """A fact that may know what it rests on."""

    def rests_on(self, shot: Shot) -> bool:
        """Note in `shot` all that the answer depends on; False if that cannot be said."""


class Shot:
    """What stands in some classes, functions and cells."""

    def __init__(self) -> None:
        self.classes: dict[type, None] = {}
        self.functions: dict[Any, tuple[Any, ...]] = {}
        self.by_name: list[dict[str, Any]] = []
        """The defaults by keyword of these functions: dictionaries, which may be changed in place."""
        self.cells: list[Any] = []
        self.present: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
        """Names in the dictionaries of modules, and what they stand for."""
        self.absent: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
        """Names that are not there."""
        self.spaces: list[Any] = []
        self.is_whole = True

    # -- what is noted -------------------------------------------------------------------------------------

    def note_class(self, cls: type) -> None:
        """Note what stands in `cls`, the classes that it is derived from, its class, and those of the
        objects that stand there: what descriptors do is said there."""
        pending = [cls]
        while pending:
            each = pending.pop()
            if each in self.classes:
                continue
            self.classes[each] = None
            pending += [type(each), *each.__mro__]
            if each.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE:
                space = each.__dict__
                self.spaces.append(space)
                pending += {type(x) for x in space.values() if type(x).__flags__ & HEAP_TYPE}
                self.is_whole &= all(type(name) is str for name in space)

    def note_function(self, function: Any) -> bool:
        """Note what `function`, perhaps in a static or class method, is besides being itself; False if that
        cannot be seen from what stands there."""
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if type(function) is not types.FunctionType:
            return not isinstance(getattr(function, "__code__", None), types.CodeType)
        pending = [function]
        while pending:
            each = pending.pop()
            if each in self.functions:
                continue
            self.functions[each] = _STATE(each)
            by_name = each.__kwdefaults__ or {}
            if by_name:
                self.by_name.append(by_name)
            defaults = (*(each.__defaults__ or ()), *by_name.values())
            pending += [value for value in defaults if type(value) is types.FunctionType]
        return True

    def note_cell(self, cell: types.CellType) -> None:
        self.cells.append(cell)

    def take(self) -> bool:
        """Remember what stands there now; whether it is not too much."""
        self.mros = [*map(_MRO, self.classes)]
        self.metaclasses = [*map(type, self.classes)]
        self.kinds = [*map(_KIND, self.classes)]
        self.names = [*map(tuple, self.spaces)]
        self.values = [*chain.from_iterable(map(_VALUES, self.spaces))]
        self.states = [*chain.from_iterable(self.functions.values())]
        self.keywords = [*map(tuple, self.by_name)]
        self.defaults = [*chain.from_iterable(map(dict.values, self.by_name))]
        self.held = [*map(_CONTENTS, self.cells)]
        self.globals: Any = tuple(zip(*self.present.values(), strict=True)) or ((), (), ())
        self.missing: Any = tuple(zip(*self.absent.values(), strict=True)) or ((), ())
        return self.is_whole and len(self.values) < _MOST

    # -- whether it is there still -------------------------------------------------------------------------

    def is_same(self) -> bool:
        """Whether each object that was noted stands where it stood."""
        try:
            held = [*map(_CONTENTS, self.cells)]
        except ValueError:  # a variable was deleted
            return False
        classes, spaces = self.classes, self.spaces
        homes, names, values = self.globals
        return (
            all(map(is_, map(dict.get, homes, names), values))
            and not any(map(dict.__contains__, *self.missing))
            and all(map(is_, map(_MRO, classes), self.mros))
            and all(map(is_, map(type, classes), self.metaclasses))
            and all(map(is_, map(_KIND, classes), self.kinds))
            and [*map(tuple, spaces)] == self.names
            and all(map(is_, chain.from_iterable(map(_VALUES, spaces)), self.values))
            and all(map(is_, chain.from_iterable(map(_STATE, self.functions)), self.states))
            and all(map(is_, held, self.held))
            and (not self.by_name or self._has_same_defaults())
        )

    def _has_same_defaults(self) -> bool:
        """Whether the same defaults stand by the same keywords."""
        by_name = self.by_name
        return [*map(tuple, by_name)] == self.keywords and all(
            map(is_, chain.from_iterable(map(dict.values, by_name)), self.defaults)
        )


class Glance:
    """Several facts in one, which are looked at one by one only if something that they rest on is another."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts: Sequence[Fact] = tuple(facts)
        self.apart: Sequence[Fact] = ()
        """The facts of which nobody can say what they rest on."""
        self.shot: Shot | None = None
        self.left = _TAKEN
        self.is_asked = False

    def holds(self) -> bool:
        shot = self.shot
        if shot is not None and shot.is_same():
            for fact in self.apart:  # noqa: SIM110  # quicker than a generator
                if not fact.holds():
                    return False
            return True
        taken = self._taken() if self.is_asked and self.left else None
        self.is_asked = True
        for fact in self.facts:
            if not fact.holds():
                return False
        if taken is not None:
            self.shot, self.apart = taken
        return True

    def _taken(self) -> tuple[Shot, Sequence[Fact]] | None:
        """What the facts rest on as it is now, and those of which that cannot be said."""
        self.left -= 1
        shot = Shot()
        apart = tuple([fact for fact in self.facts if not fact.rests_on(shot)])
        if len(apart) == len(self.facts) or not shot.take():
            self.left = 0
            return None
        return shot, apart
