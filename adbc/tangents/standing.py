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
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from adbc.tangents.contents import differs
from adbc.tangents.fields import instance_dict, slots_of

__all__ = ["Standing", "is_alike", "same_row"]

_OF_INSTANCE = attrgetter("__dict__")
_TEXTS = frozenset({str, bytes, int, bool, types.NoneType})
"""Classes of values that have no derivative, and of which equal ones are as good as the same."""
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


def same_row(now: list[Any], then: list[Any]) -> bool:
    """Whether `now` is what was there `then`, objects of which `is_alike` is true, or that are known to be
    there still."""
    try:
        return now == then
    except Exception:  # of what has come to stand there
        return False


class Standing:
    """What stands in objects, given in pairs with what `contents` has found there."""

    def __init__(self, found: Iterable[tuple[Any, Any]]) -> None:
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
        self._dicts += self._spaces
        self._sizes = [*self._now_sizes()]
        self._named = [d for d in self._dicts if _TEXTS.issuperset(map(type, dict.keys(d)))]
        """Dictionaries of which all keys are texts or whole numbers."""
        named = set(map(id, self._named))
        self._keyed = [d for d in self._dicts if id(d) not in named]
        self._of_texts = [d for d in self._dicts if _TEXTS.issuperset(map(type, dict.values(d)))]
        of_texts = set(map(id, self._of_texts))
        self._of_others = [d for d in self._dicts if id(d) not in of_texts]
        self._lists_of_texts = [x for x in self._lists if _TEXTS.issuperset(map(type, list.__iter__(x)))]
        of_texts = set(map(id, self._lists_of_texts))
        self._lists_of_others = [x for x in self._lists if id(x) not in of_texts]
        self._texts = [*self._now_texts()]
        self._items = [*self._now_items()]

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

    def _now_sizes(self) -> Iterator[int]:
        return chain(
            map(dict.__len__, self._dicts), map(list.__len__, self._lists),
            map(deque.__len__, self._queues), map(set.__len__, self._sets),
        )  # fmt: skip

    def _now_texts(self) -> Iterator[Any]:
        return chain(
            chain.from_iterable(map(dict.__iter__, self._named)),
            chain.from_iterable(map(dict.values, self._of_texts)),
            chain.from_iterable(map(list.__iter__, self._lists_of_texts)),
        )

    def _now_items(self) -> Iterator[Any]:
        return chain(
            chain.from_iterable(map(dict.__iter__, self._keyed)),
            chain.from_iterable(map(dict.values, self._of_others)),
            chain.from_iterable(map(list.__iter__, self._lists_of_others)),
            chain.from_iterable(map(deque.__iter__, self._queues)),
            chain.from_iterable(map(set.__iter__, self._sets)),
            *(map(get, instances) for get, instances in self._slots.items()),
        )

    def stands(self) -> bool:
        """Whether nothing has come, gone or been replaced."""
        try:
            return (
                [*self._now_sizes()] == self._sizes
                and all(map(is_, map(_OF_INSTANCE, self._owners), self._spaces))
                and all(map(is_, self._now_items(), self._items))
                and same_row([*self._now_texts()], self._texts)
                and not any(differs(x, old) for x, old in self._others)
            )
        except AttributeError:  # of a slot that was assigned
            return False


def _has_usual_fields(cls: type) -> bool:
    """Whether instances of `cls` give what stands in their dictionary and slots as any object does."""
    asked: Any = cls.__getattribute__
    if asked is not object.__getattribute__:
        return False
    if not cls.__dictoffset__:
        return True
    given = next((vars(base)["__dict__"] for base in cls.__mro__ if "__dict__" in vars(base)), None)
    return type(given) is types.GetSetDescriptorType
