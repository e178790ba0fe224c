"""What code that is not followed has changed: shadows are brought in step with it, and the pullback undoes
it."""

from __future__ import annotations

import functools
import gc
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from adbc.runtime.calls.library_memory import found_by_names, looks_anew
from adbc.runtime.state.context import Context
from adbc.tangents import MutableTangent
from adbc.tangents.contents import contents, differs, elements_of, is_of_array, put_back
from adbc.tangents.fields import instance_fields
from adbc.tangents.protocol import kind_of

__all__ = ["LibraryMemory", "Undo", "has_lost", "in_step", "note_written", "when_written"]

Undo = Callable[[], None]

_ABSENT = object()


def in_step(context: Context, changed: list[tuple[Any, Any]]) -> Undo:
    """Bring the shadows of changed objects in step; gives what puts objects and shadows back.

    Nothing active was in what has changed, and so nothing active is: its numbers have zero tangents.
    """
    tangent = context.shadows.found
    shadows: list[tuple[Any, Any]] = []
    for x, old in changed:
        if is_of_array(x, old):
            continue
        shadow = context.shadows.lookup(x)
        if isinstance(shadow, MutableTangent):
            shadow = shadow.__dict__
        if issubclass(type(shadow), list | deque):
            shadows.append((shadow, list(shadow)))
            put_back(shadow, [tangent(v) for v in elements_of(x)])
        elif issubclass(type(shadow), dict):
            shadows.append((shadow, list(shadow.items())))
            items = dict.items(x) if issubclass(type(x), dict) else instance_fields(x)
            was = dict(old)
            put_back(
                shadow,
                [
                    (k, shadow[k] if v is was.get(k, _ABSENT) and k in shadow else tangent(v))
                    for k, v in items
                ],
            )

    def undo() -> None:
        for x, old in changed:
            put_back(x, old)
        for shadow, old in shadows:
            put_back(shadow, old)

    return undo


def has_lost(x: Any, inside: list[Any]) -> bool:
    """Whether `x`, an object made in C, no longer refers to one of the objects `inside`, as it did.  What is
    kept there for the first time, to be found later, does no harm."""
    now = set(map(id, gc.get_referents(x)))
    return any(
        id(y) not in now for y in inside if not (kind_of(type(y)).inactive or _is_list_of_the_living(y))
    )


def _is_list_of_the_living(y: Any) -> bool:
    """Whether `y` is a list of weak references, which is made anew without those that are dead (pandas keeps
    one of all frames that show an array): nothing but these is held by it."""
    return type(y) is list and all(issubclass(type(z), weakref.ReferenceType) for z in y)


class LibraryMemory:
    """The memory of libraries that is known, or found by names, before `function` is called on `args` as it
    is.

    What is changed there stays, unless code that is differentiated writes there, before or after: what undoes
    that takes the memory to be as it was.
    """

    def __init__(self, context: Context, function: Any, args: Iterable[Any]) -> None:
        self.context = context
        # Whether the call is made as it is (`plain.is_plain`) was asked just now.
        if note_written(context, is_asked=True):
            looks_anew(context)
        self.found = found_by_names(context, function, args)

    def undoing(self, undo: Undo | None) -> Undo | None:
        """Bring the shadows of what the call has changed in step; gives what undoes that after `undo`."""
        context, kept = self.context, self.context.kept
        parts: list[tuple[Undo, Callable[[], bool] | None]] = []
        """What undoes a change, and whether it is to be undone (None: it is)."""
        found = self.found
        is_changed = found is not None and not found.stands()
        for x, old in found.content if found is not None and is_changed else ():
            if differs(x, old) and not (kept is not None and kept.knows(x)):
                is_met = context.shadows.lookup(x) is not None
                parts.append((in_step(context, [(x, old)]), None if is_met else when_written(context, x)))
        if kept is not None and (stale := kept.changed()):
            parts += [
                (in_step(context, [(x, old)]), functools.partial(kept.is_written, x)) for x, old in stale
            ]
            kept.is_awaited = True
            kept.renew()
        if not parts:
            return undo
        context.has_end = True  # then it is seen what was written to

        def undo_all() -> None:
            if undo is not None:
                undo()
            for put_in_place, is_wanted in parts:
                if is_wanted is None or is_wanted():
                    put_in_place()

        return undo_all


def when_written(context: Context, x: Any) -> Callable[[], bool]:
    """Whether something else is found in `x`, which was changed, later: what is asked when that is known."""
    content = next(contents([x]))[1]
    if id(x) not in context.written:
        context.left[id(x)] = x, content
    written = context.written
    return lambda: id(x) in written


def note_written(context: Context, is_asked: bool = False, is_last: bool = False) -> bool:
    """Note where code that is differentiated has written since code of a library was called as it is; whether
    memory of libraries was looked at anew (see `Kept.note_written`)."""
    if is_last and context.is_forward:
        return False  # nothing is undone
    is_new = context.kept is not None and context.kept.note_written(is_asked, is_last)
    if "left" in vars(context):
        written = [x for x, content in context.left.values() if differs(x, content)]
        for x in written:
            del context.left[id(x)]
            context.written[id(x)] = x
    return is_new
