"""`isinstance` in code that has been written, of what is of no known class.

An object that is not of the class that is meant is asked for its ``__class__``, and its own class may answer
that in Python.  Such code is not followed from here, so it may change nothing.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.classes import says_its_class
from adbc.runtime.calls.changeable import Code, bind, reach_of, variable
from adbc.runtime.calls.classes import SILENT
from adbc.tangents.contents import contents, differs, put_back

__all__ = ["is_instance"]

_PLAIN: Any = object.__getattribute__
_SILENT: dict[int, weakref.ref[type]] = {}
"""By address, classes that have nothing to say about the ``__class__`` of their instances: as long as these
are read as those of `object` are, that is decided when a class is made."""


def is_instance(x: Any, kinds: Any) -> bool:
    """``isinstance(x, kinds)``, where the classes `kinds` do not answer for themselves."""
    cls = type(x)
    if cls in SILENT or (id(cls) in _SILENT and cls.__getattribute__ is _PLAIN):
        return isinstance(x, kinds)
    if not says_its_class(cls):
        _SILENT[id(cls)] = weakref.ref(cls, _forget(id(cls)))
        return isinstance(x, kinds)
    return _watched(x, kinds)


def _forget(address: int) -> Any:
    return lambda reference: _SILENT.pop(address, None)


def _watched(x: Any, kinds: Any) -> bool:
    """``isinstance(x, kinds)``, which asks the class of `x`."""
    cls = type(x)
    code = Code()
    before = list(contents(reach_of((x, *_variables(cls)), code)))
    variables = code.variables()
    try:
        return isinstance(x, kinds)
    finally:
        changed = [(y, old) for y, old in before if differs(y, old)]
        rebound = [(place, name, old) for place, name, old in variables if variable(place, name) is not old]
        if changed or rebound:
            for y, old in changed:
                put_back(y, old)
            for place, name, old in rebound:
                bind(place, name, old)
            raise UnsupportedError(
                f"isinstance() asks a {cls.__qualname__} for its __class__, and what the class says to that"
                f" changes a {type((changed or rebound)[0][0]).__name__}",
                "that is not followed where it is not known of which class the object is",
                "let __class__, or __getattribute__, change nothing, or compare type(x)",
            )


def _variables(cls: type) -> list[Any]:
    """What answers in the class of an object: the code that may change something."""
    found: list[Any] = []
    for base in cls.__mro__[:-1]:
        for name in ("__class__", "__getattribute__", "__getattr__"):
            answer = vars(base).get(name)
            if issubclass(type(answer), property | types.FunctionType):
                found.append(answer)
    return found
