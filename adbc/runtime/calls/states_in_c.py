"""How far objects made in C have come that go on whenever they are asked: iterators, generators of random
numbers, streams that are read.

None of them holds what could be compared (`tangents.contents`), so what they say about themselves is.
"""

from __future__ import annotations

import io
import operator
import random
from collections.abc import Callable, Iterable
from typing import Any

from adbc.rules.classes import overrides
from adbc.runtime.calls.classes import lookup
from adbc.tangents.fields import is_python_class

__all__ = ["States", "is_state", "state_of_generator"]


class States:
    """The states of those of `objects` that go on when they are asked, as they are now."""

    def __init__(self, objects: Iterable[Any]) -> None:
        found = {id(x): (x, read) for x in objects if (read := _reading(x)) is not None}
        self._noted = [(read, read(x), x) for x, read in found.values()]

    def moved(self) -> bool:
        """Whether one of them has gone on since, or does not tell."""
        return not all(is_state(read(x), state) for read, state, x in self._noted)


def _reading(x: Any) -> Callable[[Any], Any] | None:
    """What reads the state of `x`; None if it has none that matters."""
    cls = type(x)
    if cls is io.StringIO or cls is io.BytesIO:
        return _place
    of_generator = state_of_generator(x)
    if of_generator is not None:
        return lambda _: of_generator()
    if is_python_class(cls) or not hasattr(cls, "__next__") or issubclass(cls, io.IOBase):
        return None
    return _state_of_iterator


def _place(stream: Any) -> Any:
    return -1 if stream.closed else stream.tell()


def _state_of_iterator(iterator: Any) -> Any:
    """How far an iterator has come; something that is like nothing else if it does not tell."""
    cls = type(iterator)
    if lookup(cls, "__length_hint__") is not None and not overrides(cls, "__length_hint__"):
        return operator.length_hint(iterator)
    text = repr(iterator) if cls.__module__ == "itertools" else ""
    return text if text and " at 0x" not in text else object()


def state_of_generator(x: Any) -> Callable[[], Any] | None:
    """What gives the state of `x` if it is a random generator, of Python's or of NumPy's."""
    module = _module(type(x))
    bits = getattr(x, "bit_generator", None) if module.startswith("numpy.random") else None
    if bits is not None:
        return lambda: bits.state
    if module.startswith("numpy.random") and hasattr(type(x), "state"):
        return lambda: x.state
    if module not in ("random", "numpy.random.mtrand") or issubclass(type(x), random.SystemRandom):
        return None  # the system's has no state that could be read
    get: Callable[[], Any] | None = getattr(x, "get_state" if hasattr(x, "get_state") else "getstate", None)
    return get


def _module(cls: type) -> str:
    """The module of `cls`; a class may have something else of this name for its instances."""
    module = cls.__module__
    return module if issubclass(type(module), str) else ""


def is_state(a: Any, b: Any) -> bool:
    """Whether two states of one object, made of dicts, tuples, arrays, texts and numbers, are the same."""
    if type(a) is not type(b):
        return False
    if issubclass(type(a), dict):
        return list(a) == list(b) and all(is_state(a[k], b[k]) for k in a)
    if issubclass(type(a), tuple):
        if {*map(type, a)} == {int}:  # many words
            return bool(a == b)
        return len(a) == len(b) and all(map(is_state, a, b))
    return bool((a == b).all()) if hasattr(a, "all") else bool(a == b)
