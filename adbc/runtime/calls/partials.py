"""The keyword arguments that a partial application holds, read as the dictionary that they are.

A partial application that was made before the call is a value, and its tangent has a field for each keyword.
A dictionary is memory: what stands beside it is made where it is read, and its cotangents go to the partial
application.  What is written into the dictionary does not get there, so the keywords may not change before
the function is called.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import Pullback
from adbc.tangents import RData
from adbc.tangents.internal import fill_tangent, slot_rdata, slot_tangent

__all__ = ["check_unchanged", "is_keywords", "shadow_of_keywords", "tangent_of_keywords"]

_SEEN: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
"""What the keywords of partial applications were when they were last read as a dictionary."""


def is_keywords(obj: Any, name: str) -> bool:
    """Whether attribute `name` of `obj` is the dictionary of a partial application."""
    return name == "keywords" and issubclass(type(obj), functools.partial)


def _parts(shadow: Any) -> dict[str, Any]:
    """What stands beside each of the keywords in the tangent or shadow of a partial application."""
    return getattr(shadow.__dict__.get("keywords"), "__dict__", {})


def tangent_of_keywords(partial: Any, d: Any) -> dict[str, Any]:
    """The tangent of ``partial.keywords``, where `d` is that of `partial`."""
    keywords, parts = partial.keywords, _parts(d)
    _SEEN[partial] = dict(keywords)
    return {name: fill_tangent(value, parts.get(name)) for name, value in keywords.items()}


def shadow_of_keywords(partial: Any, shadow: Any) -> tuple[dict[str, Any], Pullback]:
    """The shadow of ``partial.keywords``, where `shadow` is that of `partial`, and the pullback of reading
    them, whose second argument is a name."""
    keywords, parts = partial.keywords, _parts(shadow)
    _SEEN[partial] = dict(keywords)
    slots = {name: slot_tangent(value, parts.get(name)) for name, value in keywords.items()}

    def keywords_pullback(bout: Any) -> Sequence[Any]:
        return RData(keywords=RData(**{name: slot_rdata(slot) for name, slot in slots.items()})), None

    return slots, keywords_pullback


def check_unchanged(partial: Any) -> None:
    """Raise if the keywords of `partial`, which is called, have been changed since they were read."""
    seen = _SEEN.get(partial) if _SEEN else None
    if seen is None:
        return
    now = partial.keywords
    if seen.keys() != now.keys() or any(seen[name] is not value for name, value in now.items()):
        raise UnsupportedError(
            "the keywords of a functools.partial that was made before the call have been changed",
            "it is a value, whose derivative is that of the keywords it had",
            "make another one: functools.partial(f.func, *f.args, **keywords)",
        )
