"""What libraries keep: memory that their code reaches by globals, attributes of classes and defaults.

Library code that is given constants is run as it is (`calls.plain`).  That is right as long as what it finds
in its own memory is constant, too.  In a call that is differentiated, other code may have put a value with a
derivative there: into a registry, a default, a cache.  So memory of libraries that has been met is
remembered with what stood in it and beside it, and looked at before and after such a call.

What such a call changes there stays, as a cache does, unless code that is differentiated writes there, too:
what undoes that fits the memory as it was, so that of the call is undone in its turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from operator import neg
from typing import Any

from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent
from adbc.tangents.activity_marks import is_inactive
from adbc.tangents.contents import contents, differs
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.fields import instance_dict, instance_fields, slots_of
from adbc.tangents.protocol import kind_of
from adbc.tangents.standing import Standing

__all__ = ["Kept"]


class Kept:
    """The memory of libraries that a call has met.

    is_active: whether a shadow, or tangent, says that a value depends on the input.  is_forward: whether
    tangents stand beside the values, which say of numbers whether they do.
    """

    def __init__(self, is_active: Callable[[Any], bool], is_forward: bool) -> None:
        self._is_active = is_active
        self._is_forward = is_forward
        self._roots: dict[int, tuple[Any, Any]] = {}
        self._values: list[tuple[Any, Any]] = []
        """Objects, and what stood in them."""
        self._parts: list[tuple[Any, list[Any]]] = []
        """Shadows of objects, and what stood in these."""
        self._arrays: list[Any] = []
        """Shadows of arrays."""
        self._standing: list[tuple[Standing, Standing]] = []
        """For each look that was taken, what stood in objects and what stood in shadows."""
        self._seen: dict[int, Any] = {}
        """By address, the objects that were looked at, and the shadows."""
        self._told: dict[int, Any] = {}
        """By address, the shadows of which it is known that nothing depended on the input when they were
        met."""
        self._written: dict[int, Any] = {}
        """By address, the objects that code which is differentiated was seen to have changed."""
        self._changes: list[tuple[Any, Any]] | None = None
        """What had changed when `is_constant` was asked, if it had to be known."""
        self.depends = False
        """Whether a value with a derivative was found there once."""

    def note(self, root: Any, shadow: Any, new: Callable[[], set[int]]) -> None:
        """Remember `root`, which has `shadow`, and what stands in it, unless it was met before.

        new: gives the addresses of the shadows that were made when it was met.  Into other memory something
        may have been put by another name.
        """
        if shadow is NO_TANGENT or shadow is NO_FDATA or id(root) in self._roots:
            return
        self._roots[id(root)] = root, shadow
        parts, arrays = len(self._parts), len(self._arrays)
        self._look([(root, shadow)])
        made = new()
        for part in (*(s for s, _ in self._parts[parts:]), *self._arrays[arrays:]):
            if id(part) in made:
                self._told[id(part)] = part

    def is_constant(self) -> bool:
        """Whether nothing there depends on the input, as far as can be known."""
        if not self.depends:
            gained = self._gained()
            self._changes = None if self._is_forward else self.changed()
            numbers = self._changes is not None and any(map(_has_new_number, self._changes))
            self.depends = numbers or any(map(self._may_depend, (*gained, *self._arrays)))
            if gained and not self.depends:
                self.note_written()
        return not self.depends

    def tells_of(self, shadow: Any) -> bool:
        """Whether it would be seen here that something in `shadow` depends on the input."""
        return id(shadow) in self._told

    def changed(self) -> list[tuple[Any, Any]]:
        """The objects in which something else stands than when they were looked at last, with what did."""
        if all(objects.stands() for objects, _ in self._standing):
            return []
        return [(x, old) for x, old in self._values if differs(x, old)]

    def knows(self, x: Any) -> bool:
        """Whether object `x` is among those that are looked at."""
        return any(y is x for y, _ in self._values)

    def note_written(self, is_asked: bool = False) -> bool:
        """Remember what has changed since it was looked at last, when no code was called as it is; whether it
        was looked at anew.

        is_asked: nothing has run since `is_constant` was asked.
        """
        changes, self._changes = self._changes, None
        written = {id(x): x for x, _ in (changes if is_asked and changes is not None else self.changed())}
        self._written.update(written)
        if not written and (is_asked or not self._gained()):
            return False
        self.renew()
        return True

    def is_written(self, x: Any) -> bool:
        """Whether code that is differentiated was seen to have changed object `x`."""
        return id(x) in self._written

    def renew(self) -> None:
        """Look at all of it anew."""
        self._values, self._parts, self._arrays = [], [], []
        self._standing, self._seen = [], {}
        self._look(self._roots.values())

    def _gained(self) -> list[Any]:
        """The shadows that have come into others since these were looked at last."""
        if all(shadows.stands() for _, shadows in self._standing):
            return []
        return [f for shadow, old in self._parts for f in _new_in(_parts(shadow), old)]

    def _look(self, roots: Iterable[tuple[Any, Any]]) -> None:
        reached = [root for root, _ in roots]
        if not self._is_forward:
            # A number that is stored may be the very object that stood there before, because the program
            # was run without a derivative first.
            for x, _ in contents(reached, with_arrays=False, seen=dict(self._seen)):
                _make_own(x)
        values = [*contents(reached, with_arrays=False, seen=self._seen)]
        self._values += values
        pending, parts_of = [shadow for _, shadow in roots], []
        while pending:
            shadow = pending.pop()
            if type(shadow) is float or shadow is None or id(shadow) in self._seen:
                continue
            if isinstance(shadow, tuple):
                pending.extend(shadow)
                continue
            self._seen[id(shadow)] = shadow
            if isinstance(shadow, ArrayTangent):
                pending.append(shadow.array)
            if isinstance(shadow, list | deque | dict | MutableTangent | FData):
                parts = _parts(shadow)
                parts_of.append((shadow, parts))
                pending.extend(parts)
            elif hasattr(shadow, "dtype") and not _is_number(shadow):
                self._arrays.append(shadow)
        self._parts += parts_of
        spaces = [(space, None) for shadow, _ in parts_of for space in _spaces_of_shadow(shadow)]
        self._standing.append((Standing(values), Standing(spaces)))

    def _may_depend(self, shadow: Any) -> bool:
        if shadow is None or shadow is NO_TANGENT or is_inactive(shadow):
            return False
        if not self._is_forward and _is_number(shadow):
            return False  # the number says so itself
        return self._is_active(shadow)


def _spaces_of_shadow(shadow: Any) -> Iterator[Any]:
    """The containers in which the parts of `shadow` stand."""
    if hasattr(shadow, "__dict__"):
        yield vars(shadow)
    if isinstance(shadow, dict | list | deque):
        yield shadow


def _parts(shadow: Any) -> list[Any]:
    """What stands in `shadow`, that of a container or an object."""
    parts = list(vars(shadow).values()) if hasattr(shadow, "__dict__") else []
    if isinstance(shadow, dict):
        parts += dict.values(shadow)
    elif isinstance(shadow, list | deque):
        parts += shadow
    return parts


def _new_in(parts: list[Any], old: list[Any]) -> list[Any]:
    """The elements of `parts` that are not in `old`."""
    if len(parts) == len(old) and all(a is b for a, b in zip(parts, old, strict=True)):
        return []
    before = set(map(id, old))
    return [f for f in parts if id(f) not in before]


def _has_new_number(change: tuple[Any, Any]) -> bool:
    """Whether an object has got a number since something else stood there."""
    x, old = change
    if isinstance(x, set | bytearray):
        return False
    values = [content for _, content in contents([x], with_arrays=False)][:1]
    return any(map(_is_number, _new_in(_values(values[0] if values else []), _values(old))))


def _values(content: list[Any]) -> list[Any]:
    """The values in what `contents` has found."""
    return [v[1] if type(v) is tuple and len(v) == 2 else v for v in content]


def _is_number(x: Any) -> bool:
    """Whether `x` is a number that may have a derivative: a float, a complex number, or one of NumPy's."""
    cls = type(x)
    if cls is float or cls is complex:
        return True
    if not hasattr(cls, "dtype"):
        return False
    kind = kind_of(cls)
    return not (kind.address or kind.inactive)


def _make_own(x: Any) -> None:
    """Let the numbers in `x` be objects of their own, equal to what they were, that nobody else has."""
    base: Any = list if isinstance(x, list) else deque
    if isinstance(x, base):
        for i, v in enumerate(base.__iter__(x)):
            if _is_number(v):
                base.__setitem__(x, i, neg(-v))
    for space in _spaces(x):
        for key, v in space.items():
            if _is_number(v):
                dict.__setitem__(space, key, neg(-v))
    slots = slots_of(type(x))
    for name, v in instance_fields(x, slots) if slots else ():
        if _is_number(v) and name in (found := dict(slots)):
            found[name].__set__(x, neg(-v))


def _spaces(x: Any) -> Iterator[dict[Any, Any]]:
    """The dictionaries in which `x` keeps what it has."""
    if isinstance(x, dict):
        yield x
    own = instance_dict(x)
    if type(own) is dict and own:
        yield own
