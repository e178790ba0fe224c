"""Instances of subclasses of `numpy.ndarray`: an array that has attributes, and a class of its own.

The array that such an instance is has a tangent as a plain array has: one that lies in the counterpart of its
memory.  The attributes have theirs as those of any object.  An `ArrayTangent` holds both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents.array_memory import Array
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.fields import instance_dict, set_instance_field
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.objects import InstanceKind
from adbc.tangents.protocol import Parts, kind_of

__all__ = ["ArrayInstanceKind", "bare", "instance_of"]


def bare(x: Array) -> Array:
    """The array that the instance `x` is: a view of NumPy's own class."""
    return np.ndarray.view(x, np.ndarray)


class _WithDictionary(np.ndarray[Any, Any]):
    """The layout of instances of most subclasses."""


class _WithoutDictionary(np.ndarray[Any, Any]):
    """The layout of instances of subclasses without attributes."""

    __slots__ = ()


def instance_of(cls: type, array: Array) -> Any:
    """A new instance of `cls` that shows the memory of `array`.  No code of the class runs for it.

    Raises `UnsupportedError` if instances of `cls` have ``__slots__`` beside their dictionary.
    """
    layout = _WithDictionary if cls.__dictoffset__ else _WithoutDictionary
    made = np.ndarray.view(array, layout)
    try:
        made.__class__ = cls
    except TypeError:
        raise UnsupportedError(
            f"{cls.__qualname__} is a subclass of numpy.ndarray with __slots__",
            "instances of such a class cannot be made without its own code",
            "leave __slots__ out, and keep the attributes in the dictionary of the instance",
        ) from None
    return made


class ArrayInstanceKind(InstanceKind):
    """How instances of subclasses of `ndarray` are differentiated: the array by None, the attributes by
    name."""

    bare = staticmethod(bare)

    def tangent_type(self, cls: type) -> type:
        return ArrayTangent

    def shell(self, x: Any) -> Any:
        return ArrayTangent()

    def parts(self, x: Any) -> Parts:
        return [(None, bare(x)), *super().parts(x)]

    def fill(self, t: Any, parts: Parts) -> None:
        if t.array is None:
            t.array = parts[0][1]
        super().fill(t, parts[1:])

    def part(self, t: Any, key: Any) -> Any:
        return t.array if key is None else super().part(t, key)

    def make(self, x: Any, walk: Any) -> Any:
        t = super().make(x, walk)
        if t is not NO_TANGENT and t.array is None:  # its dictionary was met before
            t.array = walk(bare(x))
        return t

    def perturb(self, x: Any, t: Any, walk: Any) -> Any:
        if t is NO_TANGENT:
            raise InvalidTangentError(f"a {type(x).__name__} has a tangent of its own, not NoTangent()")
        y = instance_of(type(x), walk(bare(x), t.array))
        walk.register(x, y)
        own = instance_dict(x)
        if own:
            walk.memo["fields", id(own)] = (own, y)
        fields = super().parts(x)
        walk.later(lambda: self._set_fields(y, [(k, walk(c, self.part(t, k))) for k, c in fields]))
        return y

    def _set_fields(self, y: Any, fields: Parts) -> None:
        for name, value in fields:
            set_instance_field(y, name, value)

    def difference(self, p: Any, q: Any, walk: Any) -> Any:
        t = super().difference(p, q, walk)
        if t is not NO_TANGENT and t.array is None:
            t.array = walk(bare(p), bare(q))
        return t

    def project(self, d: Any, x: Any) -> Any:
        if type(d) is ArrayTangent or d is NO_TANGENT:
            return d
        raise UnsupportedError(
            f"a function of NumPy's makes a {type(x).__name__} of instances in a list or tuple",
            "what the class does to a new instance is not followed there",
            "give it arrays, numpy.asarray(x), and make the instance of the result",
        )

    def remember(self, x: Any, t: Any, memo: dict[Any, tuple[Any, Any]]) -> None:
        super().remember(x, t, memo)
        array = getattr(t, "array", NO_TANGENT)
        if array is not NO_TANGENT:
            kind_of(np.ndarray).remember(bare(x), array, memo)
