"""Whether the same still stands in many objects: seen at once, without code of Python for each.

Memory with thousands of objects is looked at before and after each call that is made as it is, and nearly
always nothing has changed there.  `contents.differs` says of one object whether it has.

Two lists whose elements are the same objects are compared by ``==`` several times as fast as element by
element with ``is``.  That may be done where ``==`` of what stood there runs no code and says of nothing but
itself, or an equal text or whole number, that it is the same (`same_row`).
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from adbc.tangents.contents import differs
from adbc.tangents.fields import instance_dict, slots_of

__all__ = ["Standing", "is_alike", "same_row"]

_OF_INSTANCE = attrgetter("__dict__")
_TEXTS: frozenset[type] = frozenset({str, bytes, int, bool, types.NoneType})
"""Classes of values that have no derivative, and of which equal ones are as good as the same."""
_NUMBERS: frozenset[type] = frozenset({float, complex})
_BY_IDENTITY = frozenset(
    {
        types.FunctionType, types.ModuleType, types.CodeType, property, staticmethod, classmethod,
        types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
    }
)  # fmt: skip
"""Classes of objects that are equal to themselves alone."""


def is_alike(x: Any) -> bool:
    """Whether what `x` is equal to is as good as `x`."""
    cls = type(x)
    if cls in _TEXTS or cls in _BY_IDENTITY:
        return True
    return issubclass(cls, type) and cls.__eq__ is type.__eq__


def same_row(now: list[Any], then: list[Any], classes: frozenset[type] | None = None) -> bool:
    """Whether `now` is what was there `then`, objects of which `is_alike` is true, or that are known to be
    there still.

    classes: those that there may be, if known.  An int is equal to a float, which may have a derivative.
    """
    if not (frozenset(map(type, then)) if classes is None else classes).issuperset(map(type, now)):
        return False
    try:
        return now == then
    except Exception:  # of what has come to stand there
        return False


class Standing:
    """What stands in objects, given in pairs with what `contents` has found there.

    numbers_alike: whether a float or complex number that another takes the place of, which is equal, is as
    good as the same, because all that is asked is what else has come to stand there.
    """

    def __init__(self, found: Iterable[tuple[Any, Any]], numbers_alike: bool = False) -> None:
        self._owners: list[Any] = []
        """Instances of which the attributes are the dictionary at the same place in `_spaces`."""
        self._spaces: list[dict[str, Any]] = []
        self._dicts: list[dict[Any, Any]] = []
        self._lists: list[list[Any]] = []
        self._queues: list[deque[Any]] = []
        self._sets: list[set[Any]] = []
        self._slots: dict[Any, list[Any]] = {}
        """By descriptor of a slot, the instances that have assigned it."""
        self._others: list[tuple[Any, Any]] = []
        """What is looked at one by one."""
        for x, old in found:
            self._add(x, old)
        dicts, lists = self._dicts + self._spaces, self._lists
        alike = self._alike = _TEXTS | _NUMBERS if numbers_alike else _TEXTS
        named, keyed = _parted(dicts, dict.keys, _TEXTS)
        of_texts, of_others = _parted(dicts, dict.values, alike)
        texts, others = _parted(lists, list.__iter__, alike)
        self._tables = [x for x in texts if type(x) is list]
        """Lists that are compared as such: a table may have thousands of short ones."""
        self._copies = [[*x] for x in self._tables]
        texts = [x for x in texts if type(x) is not list]
        self._sizes = _Rows(
            (dict.__len__, dicts), (list.__len__, texts), (list.__len__, others),
            (deque.__len__, self._queues), (set.__len__, self._sets),
        )  # fmt: skip
        self._texts = _Rows((dict.__iter__, named), (dict.values, of_texts), (list.__iter__, texts))
        self._items = _Rows(
            (dict.__iter__, keyed), (dict.values, of_others), (list.__iter__, others),
            (deque.__iter__, self._queues), (set.__iter__, self._sets),
        )  # fmt: skip
        self._values = _Rows(*self._slots.items())
        self._was = self._sizes.each(), self._texts.all(), self._items.all(), self._values.each()

    def _add(self, x: Any, old: Any) -> None:
        cls = type(x)
        if issubclass(cls, dict):
            self._dicts.append(x)
        elif issubclass(cls, list):
            self._lists.append(x)
        elif issubclass(cls, deque):
            self._queues.append(x)
        elif issubclass(cls, set):
            self._sets.append(x)
        elif type(old) is list and _has_usual_fields(cls):
            self._add_fields(x, old)
        else:
            self._others.append((x, old))

    def _add_fields(self, x: Any, old: list[tuple[str, Any]]) -> None:
        slots = slots_of(type(x))
        # Counted, for a name may be that of a slot and, in a subclass that hides it, of the dictionary.
        if len(old) < len(instance_dict(x)) + len(slots):
            self._others.append((x, old))  # a slot may yet be assigned
            return
        for _, slot in slots:
            self._slots.setdefault(slot.__get__, []).append(x)
        if type(x).__dictoffset__:
            self._owners.append(x)
            self._spaces.append(instance_dict(x))

    def stands(self) -> bool:
        """Whether nothing has come, gone or been replaced."""
        sizes, texts, items, values = self._was
        try:
            return (
                self._sizes.each() == sizes
                and all(map(is_, map(_OF_INSTANCE, self._owners), self._spaces))
                and all(map(is_, self._items.all(), items))
                and all(map(is_, self._values.each(), values))
                and same_row(self._texts.all(), texts, self._alike)
                and self._alike.issuperset(map(type, chain.from_iterable(self._tables)))
                and same_row(self._tables, self._copies)
                and not any(differs(x, old) for x, old in self._others)
            )
        except AttributeError:  # of a slot that was assigned
            return False


class _Rows:
    """What functions give of containers, given in pairs of a function and the containers."""

    def __init__(self, *given: tuple[Any, list[Any]]) -> None:
        self._given = [(get, containers) for get, containers in given if containers]

    def each(self) -> list[Any]:
        """What the function gives of each container."""
        if len(self._given) == 1:
            ((get, containers),) = self._given
            return [*map(get, containers)]
        return [x for get, containers in self._given for x in map(get, containers)]

    def all(self) -> list[Any]:
        """All elements of what the functions give."""
        if len(self._given) == 1:
            ((get, containers),) = self._given
            return [*chain.from_iterable(map(get, containers))]
        return [
            *chain.from_iterable(
                [chain.from_iterable(map(get, containers)) for get, containers in self._given]
            )
        ]


def _parted(containers: list[Any], get: Any, classes: frozenset[type]) -> tuple[list[Any], list[Any]]:
    """The containers of which all that `get` gives is of these classes, and the others."""
    found: tuple[list[Any], list[Any]] = [], []
    for x in containers:
        found[not classes.issuperset(map(type, get(x)))].append(x)
    return found


def _has_usual_fields(cls: type) -> bool:
    """Whether instances of `cls` give what stands in their dictionary and slots as any object does."""
    asked: Any = cls.__getattribute__
    if asked is not object.__getattribute__:
        return False
    if not cls.__dictoffset__:
        return True
    given = next((vars(base)["__dict__"] for base in cls.__mro__ if "__dict__" in vars(base)), None)
    return type(given) is types.GetSetDescriptorType
