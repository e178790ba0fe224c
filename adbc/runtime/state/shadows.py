"""The shadows of one top-level call: one address, one shadow, however the object is reached.

Arguments, the closure of the function and every global object that is touched go through one memo,
so aliased arguments, cycles and overlapping views share.  The memo keeps objects alive: an address
that is free may be used again.  Numbers are never keys.  Nothing here knows of arrays.
"""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from adbc.cpython.cells import captured, content_of
from adbc.errors import VerificationError
from adbc.runtime.state.lasting import last, lasting, may_last
from adbc.tangents import NO_FDATA, NO_TANGENT, hold_constant, hold_if_free, zero_tangent
from adbc.tangents.activity_marks import INACTIVE, mark_active, mark_inactive, mark_new
from adbc.tangents.duals import WITH_FIELDS, MutableTangent
from adbc.tangents.fields import FieldKey, instance_dict
from adbc.tangents.internal import TABLES
from adbc.tangents.protocol import AddressKind, ValueKind, kind_of
from adbc.tangents.walk import Memo

__all__ = ["Shadows"]

_TABLES: dict[int, Any] = {id(table): table for table in (sys.modules, INACTIVE, *TABLES)}
"""By address, dicts that have no derivative: what holds modules only, hundreds of them, in which nothing is
looked for one by one; and what adbc itself keeps by class or address, which code of an inner level reads
while other code of adbc, which is not followed, writes there."""


class Shadows:
    """Object -> tangent, by identity."""

    __slots__ = ("met", "waiting")

    def __init__(self) -> None:
        self.met: Memo = {}
        """By address, objects with their tangents; those that are `waiting` come first."""
        self.waiting: list[tuple[Any, Any]] = []

    @property
    def _memo(self) -> Memo:
        if self.waiting:
            waiting, self.waiting = self.waiting, []
            for obj, tangent in waiting:
                if tangent is NO_TANGENT:
                    hold_if_free(obj, self.met)
                elif tangent is NO_FDATA:
                    raise VerificationError(
                        "a function that was found to meet no memory but that of its arguments asks for the"
                        " shadow of something else: this is a mistake of adbc"
                    )
                else:
                    kind_of(type(obj)).remember(obj, tangent, self.met)
                    if type(tangent) is MutableTangent and type(obj).__dictoffset__:
                        fields = instance_dict(obj)
                        self.met["fields", id(fields)] = fields, tangent  # as a walk does
        return self.met

    def start_with(self, memo: Memo) -> None:
        """Let what is met be entered into `memo`, before anything was."""
        self.met = memo

    def later(self, obj: Any, tangent: Any) -> None:
        """Let `tangent` belong to `obj`, an array or list of numbers that shares nothing with what was met.

        `NO_TANGENT` if it is constant, `NO_FDATA` for an array whose cotangent is a value.  It is entered
        when something is asked.
        """
        self.waiting.append((obj, tangent))

    def tangent(self, obj: Any) -> Any:
        """The tangent of `obj`: the one it has if it was met, else zero."""
        cls = type(obj)
        if cls is float:
            return 0.0
        if cls is int or cls is bool or obj is None:
            return NO_TANGENT
        return zero_tangent(obj, self._memo)

    def found(self, obj: Any) -> Any:
        """The tangent of `obj`, which came through no argument: the one it has if it was met, else zero."""
        cls = type(obj)
        if cls is float or cls is int or cls is bool or obj is None:
            return self.tangent(obj)
        if cls is dict and id(obj) in _TABLES:
            return NO_TANGENT
        return self._made(obj, self._memo, False)

    def known(self, obj: Any) -> Any:
        """What `found` gives for `obj`, in reverse mode: memory that was not met holds constants."""
        if not self.waiting:  # else what was met first is entered first
            met = self.met.get(id(obj))
            if met is not None and met[0] is obj:
                return met[1]
        cls = type(obj)
        if cls is float or cls is int or cls is bool or obj is None:
            return self.tangent(obj)
        if cls is dict and id(obj) in _TABLES:
            return NO_TANGENT
        memo = self._memo
        if cls is list and id(obj) not in memo and {*map(type, obj)} == _FLOATS:  # tables mostly are
            zeros = [0.0] * len(obj)
            memo[id(obj)] = obj, zeros
            return zeros
        return self._made(obj, memo, True)

    def _made(self, obj: Any, memo: Memo, marks: bool) -> Any:
        """The tangent of `obj`, which came through no argument: zeros, if it was not met, that were made in
        this call or have lasted since an earlier one.

        marks: whether memory of arrays is marked as inactive.
        """
        found = memo.get(id(obj))
        if found is not None and found[0] is obj:
            return found[1]
        if last(obj, memo, mark_inactive if marks else mark_active):
            return memo[id(obj)][1]
        for part in _held_by(obj):  # what it holds may have lasted
            self._made(part, memo, marks)
        before = len(memo)
        tangent = zero_tangent(obj, memo, True)
        if len(memo) > before:
            if marks:
                mark_new(memo, before)
            if id(obj) in memo:
                del tangent  # which would be a holder
                lasting(obj, memo, before)
                tangent = memo[id(obj)][1]
        return tangent

    def objects(self) -> list[Any]:
        """What was met."""
        return [obj for key, (obj, _) in self._memo.items() if type(key) is int]

    def is_any(self, is_active: Callable[[Any], bool]) -> bool:
        """Whether something that was met has a tangent of which `is_active` is true."""
        return any(is_active(tangent) for key, (_, tangent) in self._memo.items() if type(key) is int)

    def is_shared(self, other: Shadows, without: Container[int], is_active: Callable[[Any], bool]) -> bool:
        """Whether an object that `other` has met, apart from those at the addresses `without`, has a tangent
        here of which `is_active` is true."""
        mine = self._memo
        for key, (obj, _) in other._memo.items():
            found = mine.get(key)
            if found is not None and found[0] is obj and id(obj) not in without:
                tangent = getattr(found[1], "twin", found[1])
                if tangent is not NO_TANGENT and is_active(tangent):
                    return True
        return False

    def __bool__(self) -> bool:
        """Whether anything was met."""
        return bool(self.met or self.waiting)

    def meets(self, addresses: frozenset[int]) -> bool:
        """Whether something at one of `addresses` was met."""
        return not addresses.isdisjoint(self._memo)

    def count(self) -> int:
        """How much has been met: what `since` is asked with."""
        return len(self._memo)

    def since(self, before: int) -> dict[int, Any]:
        """By address, the tangents of what has been met since there was as much as `before`."""
        return {id(tangent): tangent for _, tangent in itertools.islice(self._memo.values(), before, None)}

    def let_be(self, obj: Any) -> None:
        """From now on `obj`, by itself, has no derivative."""
        self._memo[id(obj)] = obj, NO_TANGENT

    def hold_constant(self, obj: Any) -> None:
        """From now on `obj` and all that is reached from it are constants, by every name."""
        hold_constant(obj, self._memo)

    def hold_if_free(self, obj: Any) -> bool:
        """From now on `obj`, an array or a list of numbers, is constant, unless it was met; whether it is."""
        return hold_if_free(obj, self._memo)

    def forget(self, obj: Any) -> None:
        """Do not hold `obj`, which nobody will ask for again."""
        self._memo.pop(id(obj), None)

    def is_constant(self, obj: Any) -> bool:
        """Whether `obj`, an object, was declared constant."""
        found = self._memo.get(id(obj))
        return found is not None and found[0] is obj and found[1] is NO_TANGENT

    def behind(self, obj: Any) -> Any:
        """The tangent of what is seen through `obj`, a window on something else or a buffer that arrays
        share (a proxy, a memoryview, an `array.array`), if that was met; else None."""
        cls = type(obj)
        if cls is types.MappingProxyType:
            seen = gc.get_referents(obj)
        elif cls is memoryview:
            seen = [obj.obj]
        elif cls in weakref.ProxyTypes:
            seen = [obj.__dir__.__self__]  # a proxy passes on what it is asked for
        else:
            seen = [obj]
        for x in seen:
            while x is not None:
                found = self._memo.get(("memory", id(x))) or self._memo.get(id(x))
                if found is not None and found[0] is x and found[1] is not NO_TANGENT:
                    return getattr(found[1], "twin", found[1])
                x = getattr(x, "base", None) if hasattr(type(x), "__array_interface__") else None
        return None

    def register(self, obj: Any, tangent: Any) -> None:
        """Let `tangent` be the tangent of `obj` from now on; for an array, of its memory too."""
        kind_of(type(obj)).remember(obj, tangent, self._memo)

    def placed(self, obj: Any, tangent: Any) -> Any:
        """The tangent of `obj` that is to be adopted where `tangent` was given (see `Kind.placed`)."""
        found = self.lookup(obj)
        return kind_of(type(obj)).placed(obj, tangent, self._memo) if found is None else found

    def adopt(self, obj: Any, shadow: Any, anew: bool = False) -> None:
        """Let `shadow` (or a tangent), given from outside, be that of `obj`, and so for all inside it.

        anew: also look into what is known already, for something may have been put there since.
        """
        self._adopt([(obj, shadow)], anew)

    def look_again(self, objects: Iterable[Any]) -> None:
        """Let what has been put into those of `objects` that are known be known too."""
        self._adopt([(x, self.lookup(x)) for x in objects], True)

    def _adopt(self, pending: list[tuple[Any, Any]], anew: bool) -> None:
        seen: set[int] = set()
        while pending:
            x, s = pending.pop()
            if s is None or s is NO_TANGENT or s is NO_FDATA:
                continue
            kind = kind_of(type(x))
            if kind.address:
                if self.lookup(x) is not None:
                    if not anew or id(x) in seen:
                        continue
                else:
                    self.register(x, s)
                seen.add(id(x))
                if type(s) in WITH_FIELDS and type(x) is not types.FunctionType:  # which has its cells there
                    own = instance_dict(x)
                    if own or type(x).__dictoffset__:  # it may be filled by its own name
                        self._memo["fields", id(own)] = (own, s)
            if isinstance(kind, AddressKind | ValueKind) and not _holds_floats(x):
                pending.extend((part, kind.part(s, key)) for key, part in kind.parts(x) if _has(s, key))

    def lookup(self, obj: Any) -> Any:
        """The tangent of `obj` if it was met, else None."""
        found = (self._memo if self.waiting else self.met).get(id(obj))
        return found[1] if found is not None and found[0] is obj else None


_FIRST = 32
"""How many elements of a tuple are looked for by themselves."""


def _held_by(x: Any) -> Sequence[Any]:
    """The objects that a method, a cell, a function, a partial application or a tuple holds, if their shadows
    may last by themselves."""
    cls = type(x)
    if cls is types.MethodType:
        parts: Sequence[Any] = (x.__self__,)
    elif cls is functools.partial:
        parts = (*x.args, *x.keywords.values())
    elif cls is tuple:
        parts = x[:_FIRST]
    elif cls is types.FunctionType and x.__closure__:
        parts = captured(x)
    elif cls is types.CellType:
        parts = content_of(x)
    else:
        return ()
    return [part for part in parts if may_last(part)]


def _has(shadow: Any, key: Any) -> bool:
    """Whether `shadow` has a part for that at `key`.

    What C code has put there has none, and is constant; neither has an exception fields where nobody has
    asked yet.
    """
    if isinstance(shadow, MutableTangent):
        return key in shadow.__dict__
    if type(key) is FieldKey:
        return key.name in shadow.__dict__
    if issubclass(type(shadow), dict):
        return key in shadow
    return not issubclass(type(shadow), list | deque) or key < len(shadow)


_FLOATS = {float}


def _holds_floats(x: Any) -> bool:
    """Whether `x` is a list with nothing but floats in it, which have no address."""
    return type(x) is list and set(map(type, x)) <= _FLOATS
