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
from collections.abc import Callable, Iterator
from typing import Any

from adbc.runtime.state.looks import Looks, is_number, numbers_given, values_in
from adbc.tangents import NO_FDATA, NO_TANGENT, FData, MutableTangent, Tangent
from adbc.tangents.activity_marks import any_part, is_inactive
from adbc.tangents.contents import contents, differs
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.standing import Standing

__all__ = ["Kept", "spaces_of"]


class Kept:
    """The memory of libraries that a call has met.

    is_active: whether a shadow, or tangent, says that a value depends on the input.  is_forward: whether
    tangents stand beside the values, which say of numbers whether they do.
    given: the arguments of the call, if they are known.
    """

    def __init__(self, is_active: Callable[[Any], bool], is_forward: bool, given: Any = None) -> None:
        self._is_active = is_active
        self._is_forward = is_forward
        self._roots: dict[int, tuple[Any, Any]] = {}
        self._looks = Looks(is_forward, None if is_forward else numbers_given(given))
        """What stood in the objects."""
        self._known: dict[int, Any] | None = None
        """By address, the objects that are looked at, if that was asked for."""
        self._unseen: list[Any] = []
        """Shadows that were not looked through yet: until that is asked for, it is enough to know which of
        them were made when their objects were met."""
        self._made: dict[int, Any] = {}
        """By address, those."""
        self._late: list[Any] = []
        """The others that were found in these when they were looked through, which may have come since."""
        self._parts: list[tuple[Any, list[Any]]] = []
        """Shadows of objects, and what stood in these."""
        self._arrays: list[Any] = []
        """Shadows of arrays."""
        self._standing: list[Standing] = []
        """For each time that shadows were looked through, what stood in them."""
        self._seen: dict[int, Any] = {}
        """By address, the shadows that were looked through."""
        self._told: dict[int, Any] = {}
        """By address, the shadows of which it is known that nothing depended on the input when they were
        met."""
        self._written: dict[int, Any] = {}
        """By address, the objects that code which is differentiated was seen to have changed."""
        self._changes: list[tuple[Any, Any]] | None = None
        """What had changed when `is_constant` was asked, if it had to be known."""
        self.depends = False
        """Whether a value with a derivative was found there once."""
        self.is_awaited = False
        """Whether it will be asked what code that is differentiated has changed."""

    def note(self, root: Any, shadow: Any, new: Callable[[], dict[int, Any]]) -> None:
        """Remember `root`, which has `shadow`, and what stands in it, unless it was met before.

        new: gives the shadows that were made when it was met, by address.  Into other memory something may
        have been put by another name.
        """
        if shadow is NO_TANGENT or shadow is NO_FDATA or id(root) in self._roots:
            return
        self._roots[id(root)] = root, shadow
        self._looks.take(root)
        self._known = None
        self._unseen.append(shadow)
        self._made |= new()
        if self._is_forward:  # a tangent of zero does not say when it came to stand there
            self._look_through()
            self._late = []

    def is_constant(self) -> bool:
        """Whether nothing there depends on the input, as far as can be known."""
        if not self.depends:
            gained = self._gained()
            self._changes = None if self._is_forward else self.changed()
            numbers = self._changes is not None and any(map(_has_new_number, self._changes))
            self.depends = numbers or any(map(self._may_depend, (*self._late, *gained, *self._arrays)))
            if not self.depends:
                late, self._late = self._late, []
                if gained or (late and self._changes):
                    self.note_written()
        return not self.depends

    def tells_of(self, shadow: Any) -> bool:
        """Whether it would be seen here that something in `shadow` depends on the input."""
        self._look_through()
        return id(shadow) in self._told

    def changed(self) -> list[tuple[Any, Any]]:
        """The objects in which something else stands than when they were looked at last, with what did."""
        stale = [look for look in self._looks if not look.standing.stands()]
        return [(x, old) for look in stale for x, old in look.values if differs(x, old)]

    def knows(self, x: Any) -> bool:
        """Whether object `x` is among those that are looked at."""
        if self._known is None:
            self._known = {id(y): y for look in self._looks for y, _ in look.values}
        return id(x) in self._known

    def note_written(self, is_asked: bool = False, is_last: bool = False) -> bool:
        """Remember what has changed since it was looked at last, when no code was called as it is; whether it
        was looked at anew.

        is_asked: nothing has run since `is_constant` was asked.  is_last: nothing will run any more.
        """
        if is_last and not self.is_awaited:
            return False
        changes, self._changes = self._changes, None
        written = {id(x): x for x, _ in (changes if is_asked and changes is not None else self.changed())}
        self._written.update(written)
        if is_last:
            return False
        if not written and (is_asked or not (self._gained() or self._late)):
            return False
        self.renew()
        return True

    def is_written(self, x: Any) -> bool:
        """Whether code that is differentiated was seen to have changed object `x`."""
        return id(x) in self._written

    def renew(self) -> None:
        """Look at all of it anew."""
        self._look_through()
        self._parts, self._arrays, self._standing, self._seen = [], [], [], {}
        self._looks.renew([root for root, _ in self._roots.values()])
        self._known = None
        self._unseen = [shadow for _, shadow in self._roots.values()]
        self._look_through()
        self._late = []

    def _gained(self) -> list[Any]:
        """The shadows that have come into others since these were looked at last."""
        self._look_through()
        if all(shadows.stands() for shadows in self._standing):
            return []
        return [f for shadow, old in self._parts for f in _new_in(_parts(shadow), old)]

    def _look_through(self) -> None:
        """Look at what stands in the shadows that were not looked through yet."""
        if not self._unseen:
            return
        pending, self._unseen = self._unseen, []
        parts_of = []
        while pending:
            shadow = pending.pop()
            if type(shadow) is float or shadow is None or id(shadow) in self._seen:
                continue
            if issubclass(type(shadow), tuple):
                pending.extend(shadow)
                continue
            self._seen[id(shadow)] = shadow
            if isinstance(shadow, ArrayTangent):
                pending.append(shadow.array)
            if isinstance(shadow, list | deque | dict | MutableTangent | FData):
                parts = _parts(shadow)
                parts_of.append((shadow, parts))
                self._late += [
                    f for f in parts
                    if f is not NO_TANGENT and type(f) is not float and id(f) not in self._made
                    and self._may_be_new(f)
                ]  # fmt: skip
                pending.extend(parts)
            elif hasattr(shadow, "dtype") and not is_number(shadow):
                self._arrays.append(shadow)
            else:
                continue
            if id(shadow) in self._made:
                self._told[id(shadow)] = shadow
        self._parts += parts_of
        spaces = [(space, None) for shadow, _ in parts_of for space in spaces_of(shadow)]
        self._standing.append(Standing(spaces))

    def _may_be_new(self, shadow: Any) -> bool:
        """Whether `shadow`, which stands in another, may have come since the memory was met."""
        pending = [shadow]
        while pending:
            x = pending.pop()
            if x is None or x is NO_TANGENT or type(x) is float or id(x) in self._made:
                continue
            if type(x) is tuple:
                pending.extend(x)
            elif type(x) is Tangent:
                pending.extend(vars(x).values())
            else:
                return True
        return False

    def _may_depend(self, shadow: Any) -> bool:
        if shadow is None or shadow is NO_TANGENT or is_inactive(shadow):
            return False
        if not self._is_forward and is_number(shadow):
            return False  # the number says so itself
        # What was looked at is asked for itself: an object that shows it, as a view does, tells nothing new.
        return any_part(shadow, self._is_active, self._told)


def spaces_of(shadow: Any) -> Iterator[Any]:
    """The containers in which the parts of `shadow` stand."""
    if hasattr(shadow, "__dict__"):
        yield vars(shadow)
    if issubclass(type(shadow), dict | list | deque):
        yield shadow


def _parts(shadow: Any) -> list[Any]:
    """What stands in `shadow`, that of a container or an object."""
    parts = list(vars(shadow).values()) if hasattr(shadow, "__dict__") else []
    if issubclass(type(shadow), dict):
        parts += dict.values(shadow)
    elif issubclass(type(shadow), list | deque):
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
    if issubclass(type(x), set | bytearray):
        return False
    values = [content for _, content in contents([x], with_arrays=False)][:1]
    return any(map(is_number, _new_in(values_in(values[0] if values else []), values_in(old))))
