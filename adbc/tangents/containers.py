"""Tuples, lists, deques, dicts and sets.

The tangent of a container is the same container of tangents.  Subclasses may carry attributes, and
so do their tangents (`ListTangent` and its kin).  A set finds its elements by value, so active
elements cannot be told apart from equal ones: sets hold inactive elements only.
"""

from __future__ import annotations

import gc
from collections import OrderedDict, deque
from types import MappingProxyType
from typing import Any

from adbc.errors import UnsupportedError
from adbc.tangents.duals import DequeTangent, DictTangent, ListTangent, Tangent, zero_record
from adbc.tangents.fields import (
    FieldKey,
    access,
    has_attributes_beside,
    instance_dict,
    instance_fields,
    refuse_shared_dictionary,
    set_instance_field,
    slots_of,
)
from adbc.tangents.keys import has_numbers
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import AddressKind, Inactive, Kind, Parts, ValueKind
from adbc.tangents.scalars import check_attributes

__all__ = [
    "DICT", "DictKind", "DictViewKind", "NamedTupleKind", "ProxyKind", "SequenceKind", "SetKind", "TupleKind",
    "resolve_container",
]  # fmt: skip


class TupleKind(ValueKind):
    """Tuples: the tangent is a tuple of the tangents of the elements, NoTangent if all of these are."""

    def tangent_type(self, cls: type) -> type:
        return tuple

    def parts(self, x: Any) -> Parts:
        return list(enumerate(tuple.__iter__(x)))

    def make(self, x: Any, walk: Any) -> Any:
        if type(x) is not tuple:
            check_attributes(x, walk)
            return super().make(x, walk)
        classes = set(map(type, x))
        if classes <= _WITHOUT:
            return NO_TANGENT
        if classes <= _ATOMS and walk.source is None:
            return tuple([0.0 if type(c) is float else NO_TANGENT for c in x])
        elements = tuple([walk(c) for c in x])
        return NO_TANGENT if all(c is NO_TANGENT for c in elements) else elements

    def join(self, x: Any, parts: Parts) -> Any:
        return tuple([c for _, c in parts])

    def part(self, t: Any, key: Any) -> Any:
        return t[key]

    def rebuild(self, x: Any, parts: Parts) -> Any:
        y = tuple.__new__(type(x), [c for _, c in parts])
        if has_attributes_beside(type(x)):
            instance_dict(y).update(instance_dict(x))
        return y


class NamedTupleKind(TupleKind):
    """Tuples with named fields: the tangent is a `Tangent` with the same fields."""

    def tangent_type(self, cls: type) -> type:
        return Tangent

    def parts(self, x: Any) -> Parts:
        return [(name, c) for name, (_, c) in zip(type(x)._fields, super().parts(x), strict=True)]

    def join(self, x: Any, parts: Parts) -> Any:
        return Tangent(**dict(parts))

    def part(self, t: Any, key: Any) -> Any:
        return t.__dict__[key]

    def zero(self, x: Any) -> Any:
        return zero_record(type(x)._fields, tuple(map(type, tuple.__iter__(x))))


_FLOATS = {float}
_WITHOUT = {str, bytes, int, bool, type(None)}
_ATOMS = _FLOATS | _WITHOUT


class _WithFields(AddressKind):
    """Containers whose subclasses have attributes.

    The dictionary in which these stand has one tangent, that of the fields of the container's, whichever
    of the two is met first.
    """

    def share(self, x: Any, made: Any, walk: Any) -> Any:
        """Give `made`, which `walk` made for `x`, the dictionary that it made for that of `x`, if it has;
        else let it know the dictionary of `made`."""
        own = instance_dict(x) if type(x) not in _PLAIN else None
        if not own:
            return made
        key = ("fields", id(own))
        known = walk.memo.get(key) or walk.memo.get(id(own))
        if known is None or known[0] is not own:
            walk.memo[key] = (own, made)
        elif known[1] is not NO_TANGENT:
            if slots_of(type(x)):
                refuse_shared_dictionary(x)
            fields = known[1] if type(known[1]) is dict else instance_dict(known[1])
            access(type(made)).__setattr__(made, "__dict__", fields)
        return made

    def make(self, x: Any, walk: Any) -> Any:
        return self.share(x, super().make(x, walk), walk)

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        return self.share(x, super().perturb(x, t, walk), walk)

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return self.share(p, super().difference(p, q, walk), walk)


class SequenceKind(_WithFields):
    """Lists and deques: the tangent is a list or deque of the tangents of the elements."""

    def __init__(self, tangent: type, base: Any) -> None:
        self.tangent, self.base = tangent, base

    def tangent_type(self, cls: type) -> type:
        return self.tangent

    def make(self, x: Any, walk: Any) -> Any:
        if type(x) is list:
            classes = set(map(type, x))
            if classes == _FLOATS and walk.source is None:
                t: list[Any] = [0.0] * len(x)  # by far the commonest, and often long
                walk.register(x, t)
                return t
            if classes <= _WITHOUT:
                t = [NO_TANGENT] * len(x)
                walk.register(x, t)
                return t
            t = []
            walk.register(x, t)
            walk.later(lambda: t.extend([walk(c) for c in x]))
            return t
        return super().make(x, walk)

    def parts(self, x: Any) -> Parts:
        elements: Parts = list(enumerate(self.base.__iter__(x)))
        if type(x) not in _PLAIN:
            elements.extend([(FieldKey(k), v) for k, v in instance_fields(x)])
        return elements

    def shell(self, x: Any) -> Any:
        return self.tangent((), _LENGTH.__get__(x)) if self.base is deque else self.tangent()

    def fill(self, t: Any, parts: Parts) -> None:
        self.base.extend(t, [c for k, c in parts if type(k) is not FieldKey])
        for k, c in parts:
            if type(k) is FieldKey:
                t.__dict__.setdefault(k.name, c)  # a dictionary that was met has its tangents

    def part(self, t: Any, key: Any) -> Any:
        return t.__dict__[key.name] if type(key) is FieldKey else t[key]

    def primal_shell(self, x: Any) -> Any:
        y = self.base.__new__(type(x))
        if self.base is deque:
            deque.__init__(y, (), x.maxlen)
        return y

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        self.base.extend(y, [c for k, c in parts if type(k) is not FieldKey])
        for k, c in parts:
            if type(k) is FieldKey:
                set_instance_field(y, k.name, c)


def _is_system(key: Any) -> bool:
    return type(key) is str and key.startswith("__") and key.endswith("__")


class DictKind(_WithFields):
    """Dicts: the tangent is a dict with the same keys in the same order, which have no derivative."""

    def __init__(self, tangent: type) -> None:
        self.tangent = tangent

    def tangent_type(self, cls: type) -> type:
        return self.tangent

    def make(self, x: Any, walk: Any) -> Any:
        owner = walk.memo.get(("fields", id(x)))
        if owner is None or owner[0] is not x:
            if type(x) is dict and walk.source is None and set(map(type, x.values())) == _FLOATS:
                zeros = dict.fromkeys(x, 0.0)
                walk.register(x, zeros)
                return zeros
            is_module = dict.__contains__(x, "__builtins__")
            return self._make_namespace(x, walk) if is_module else super().make(x, walk)
        # The attributes of an object that was met: one dictionary, one shadow.
        t = owner[1] if owner[1] is NO_TANGENT else owner[1].__dict__
        walk.register(x, t)
        return t

    def _make_namespace(self, x: Any, walk: Any) -> Any:
        """The tangent of `x`, the globals of a module.  What the import system keeps there (loaders, the
        builtins) has no tangent: it leads to everything that is loaded, and holds no data."""
        t = self.shell(x)
        walk.register(x, t)
        walk.later(
            lambda: self.fill(t, [(k, NO_TANGENT if _is_system(k) else walk(c)) for k, c in self.parts(x)])
        )
        return t

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        owner = walk.memo.get(("fields", id(x)))
        if owner is None or owner[0] is not x:
            return super().perturb(x, t, walk)
        y = instance_dict(owner[1])
        walk.register(x, y)
        return y

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        owner = walk.memo.get(("fields", id(p)))
        if owner is None or owner[0] is not p:
            return super().difference(p, q, walk)
        t = owner[1].__dict__
        walk.register(p, t)
        return t

    def parts(self, x: Any) -> Parts:
        # OrderedDict keeps an order of its own, which only its own iterator knows.
        if issubclass(type(x), OrderedDict):
            elements: Parts = [(k, dict.__getitem__(x, k)) for k in OrderedDict.__iter__(x)]
        else:
            elements = list(dict.items(x))
        if type(x) not in _PLAIN:
            elements.extend([(FieldKey(k), v) for k, v in instance_fields(x)])
        return elements

    def shell(self, x: Any) -> Any:
        return self.tangent()

    def fill(self, t: Any, parts: Parts) -> None:
        for k, c in parts:
            if type(k) is FieldKey:
                t.__dict__.setdefault(k.name, c)  # a dictionary that was met has its tangents
            else:
                dict.__setitem__(t, k, c)

    def part(self, t: Any, key: Any) -> Any:
        return t.__dict__[key.name] if type(key) is FieldKey else dict.__getitem__(t, key)

    def primal_shell(self, x: Any) -> Any:
        if hasattr(x, "default_factory"):
            return type(x)(x.default_factory)
        base = OrderedDict if issubclass(type(x), OrderedDict) else dict
        return base.__new__(type(x))

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        # What the class does when items are set is past: the values are those that it made of them then.
        base: Any = OrderedDict if issubclass(type(y), OrderedDict) else dict
        for k, c in parts:
            if type(k) is FieldKey:
                set_instance_field(y, k.name, c)
            else:
                base.__setitem__(y, k, c)


class DictViewKind(Kind):
    """Views ``d.keys()``, ``d.values()``, ``d.items()``: the shadow of a view is the shadow of the dict."""

    address = True

    def tangent_type(self, cls: type) -> type:
        return dict

    def viewed(self, x: Any) -> Any:
        """The dict that `x` is a view of, None if `x` is a view of something else."""
        # The view's `mapping` is a read-only proxy; the dict itself is the one thing it refers to.
        return next((r for r in gc.get_referents(x) if issubclass(type(r), dict)), None)

    def make(self, x: Any, walk: Any) -> Any:
        return walk(self.viewed(x))

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        moved = walk(self.viewed(x), t)
        return getattr(moved, type(x).__name__.removeprefix("odict_").removeprefix("dict_"))()

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return walk(self.viewed(p), self.viewed(q))


class ProxyKind(DictViewKind):
    """``types.MappingProxyType(d)``: a window on `d`, which nobody writes through.

    The proxy that a class is read through has no tangent: what stands in a class is looked up by name.
    """

    def make(self, x: Any, walk: Any) -> Any:
        return NO_TANGENT if self.shows_class(x) else walk(self.viewed(x))

    def shows_class(self, x: Any) -> bool:
        """Whether proxy `x` is the one that a class is read through (or shows a mapping that is no dict)."""
        d = self.viewed(x)
        return d is None or "__doc__" in d  # which each class has, if it has no text

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        return x if t is NO_TANGENT else MappingProxyType(walk(self.viewed(x), t))

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        return NO_TANGENT if self.shows_class(p) else walk(self.viewed(p), self.viewed(q))


class SetKind(Inactive):
    """Sets, which are structure: objects in them have their derivatives by their addresses (`keys`)."""

    def make(self, x: Any, walk: Any) -> Any:
        for element in (set if issubclass(type(x), set) else frozenset).__iter__(x):
            if has_numbers(element):
                raise UnsupportedError(
                    f"a {type(x).__name__} holds a {type(element).__name__}, which has a derivative",
                    "sets find elements by value, so that a derivative has no place there",
                    "use a list or a dict",
                )
        if type(x) not in (set, frozenset):
            check_attributes(x, walk)
        return NO_TANGENT


_PLAIN = (list, dict, deque, OrderedDict)
_LENGTH: Any = deque.__dict__["maxlen"]  # a deque's own class may answer for its attributes
TUPLE = TupleKind()
NAMED = NamedTupleKind()
LIST = SequenceKind(list, list)
DEQUE = SequenceKind(deque, deque)
DICT = DictKind(dict)
SET = SetKind()
VIEW = DictViewKind()
PROXY = ProxyKind()
VIEW_CLASSES: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_LIST_SUBCLASS = SequenceKind(ListTangent, list)
_DEQUE_SUBCLASS = SequenceKind(DequeTangent, deque)
_DICT_SUBCLASS = DictKind(DictTangent)


def resolve_container(cls: type) -> Kind | None:
    """The kind of a subclass of a container, or of the class of a dict's views; None for other classes."""
    if issubclass(cls, tuple):
        fields = getattr(cls, "_fields", None)
        return NAMED if issubclass(type(fields), tuple) else TUPLE
    if issubclass(cls, list):
        return _LIST_SUBCLASS
    if issubclass(cls, dict):
        return _DICT_SUBCLASS
    if issubclass(cls, deque):
        return _DEQUE_SUBCLASS
    if issubclass(cls, set | frozenset):
        return SET
    if issubclass(cls, VIEW_CLASSES):
        return VIEW
    return None
