"""Whether a value holds anything that a derivative could flow through, found out at run time.

Needed where a C function without a rule is met: it may be called if nothing active can reach it.
A shadow alone does not tell: a list of strings has one.
"""

from __future__ import annotations

import io
import types
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from adbc.rules.table import Rule
from adbc.tangents import NO_FDATA, NO_TANGENT, FData, internal
from adbc.tangents.activity_marks import INACTIVE, any_part, is_inactive, mark_inactive
from adbc.tangents.protocol import kind_of

__all__ = [
    "dependent",
    "is_active",
    "is_nonzero",
    "is_opaque",
    "keeps_bytes",
    "keeps_lists",
    "may_hide",
    "note_inactive",
    "number_shadow",
]


def is_active(shadow: Any) -> bool:
    """Whether `shadow` (or a tangent) has any part that is or could hold a number with a derivative.

    Memory of arrays into which nothing active has been written (`activity_marks`) holds none.
    """
    if shadow is None or shadow is NO_TANGENT:
        return False
    if shadow.__class__ is float or shadow is NO_FDATA:
        return True
    return any_part(shadow, _may_have_derivative)


def is_nonzero(tangent: Any) -> bool:
    """Whether `tangent`, one of forward mode, has any part that is not zero.

    There it is known exactly what depends on the input in the direction that was asked for, and what has a
    tangent of zero is a constant.
    """
    return any_part(tangent, _is_number_unlike_zero)


def note_inactive(shadow: Any, given: Sequence[Any], with_lists: bool = False) -> None:
    """Mark the memory of `shadow` inactive, which rules have made from values with the shadows `given`, if it
    consists of arrays and nothing active was given.

    with_lists: lists among these are still what they were.
    """
    cls = shadow.__class__
    if (cls in _ARRAYS or cls is tuple or cls is FData) and _are_inactive(given, with_lists):
        parts = vars(shadow).values() if cls is FData else shadow if cls is tuple else (shadow,)
        for part in parts:
            if part is not None and part.__class__ in _ARRAYS:
                mark_inactive(part)


def number_shadow(given: Sequence[Any]) -> Any:
    """The shadow of a number that was computed from arrays, or what may be arrays, with the shadows `given`:
    None if they are inactive."""
    return None if _are_inactive(given, False) else NO_FDATA


def dependent(shadow: Any, given: Sequence[Any], row: Rule) -> Any:
    """The shadow of what `row`, which says that it is `shadow`, has made from values with the shadows
    `given`: where these are arrays in which nothing is active, the result is inactive, too."""
    if shadow is NO_FDATA:
        for f in given:
            if f is not None:
                return None if f.__class__ in _ARRAYS and _are_inactive(given, False) else shadow
        return shadow  # of what is made without memory the rule knows best whether it is active
    cls = shadow.__class__
    if cls in _ARRAYS or cls is tuple or cls is FData:
        note_inactive(shadow, given, keeps_lists(row))
    return shadow


def keeps_lists(row: Rule) -> bool:
    """Whether `row` is of a function that leaves lists as they are, and gives nothing that was in them."""
    return (getattr(row.function, "__module__", None) or "").partition(".")[0] == "numpy"


def _are_inactive(given: Iterable[Any], with_lists: bool, depth: int = 3) -> bool:
    """Whether all shadows `given` are None, or those of arrays in which there is nothing active, or of small
    tuples, records and lists of such."""
    for f in given:
        if f is None or f is NO_TANGENT:
            continue
        cls = f.__class__
        if cls in _ARRAYS:
            if INACTIVE and (id(f) in INACTIVE or f.base is not None) and is_inactive(f):
                continue
            return False
        if cls is FData:
            parts: Any = vars(f).values()
        elif cls is tuple or (with_lists and cls is list):
            parts = f
        else:
            return False
        if not depth or len(parts) > _MANY or not _are_inactive(parts, with_lists, depth - 1):
            return False
    return True


_MANY = 64
"""The most elements of one value that are looked at."""


def _may_have_derivative(part: Any) -> bool:
    return not (hasattr(part, "base") and hasattr(part, "dtype") and is_inactive(part))


def _is_number_unlike_zero(part: Any) -> bool:
    if part.__class__ is float or part.__class__ is complex:
        return bool(part != 0)
    if getattr(part, "is_batch", False):
        return bool(part.has_nonzero())
    return bool(part.any()) if getattr(getattr(part, "dtype", None), "kind", "") in ("f", "c") else True


_ARRAYS: Any = internal.ARRAY_ACCUMULATE
"""The classes of arrays, known once the first was met."""
_HIDES_NOTHING = (
    str, bytes, int, bool, float, complex, types.NoneType, type, range, slice, types.ModuleType, bytearray,
    types.CodeType,
    types.NotImplementedType, types.EllipsisType, types.FunctionType, types.BuiltinFunctionType,
    types.MethodDescriptorType, types.WrapperDescriptorType, types.MemberDescriptorType,
    types.GetSetDescriptorType,
    weakref.ReferenceType,  # what it refers to is known by its address
)  # fmt: skip


def is_opaque(x: Any) -> bool:
    """Whether an object that was put into `x` could be reached through it unseen."""
    cls = type(x)
    if cls.__module__ == "numpy.dtypes":  # many arrays share them, and nothing can be put into them
        return False
    if cls in _HIDES_NOTHING or not kind_of(cls).inactive or hasattr(cls, "dtype"):
        return False
    # A function that Cython has made holds, as one of Python, what it has captured.
    return cls.__name__ not in _COMPILED or x.__closure__ is not None


_COMPILED = frozenset({"cython_function_or_method", "fused_cython_function"})
"""The names of the classes of functions that Cython has made: each of its modules may have its own."""


def may_hide(x: Any) -> bool:
    """Whether memory may be behind `x` that is not seen through it: it is opaque, or a buffer."""
    return is_opaque(x) or type(x) is bytearray or type(type(x)).__module__ == "_ctypes"


def keeps_bytes(x: Any) -> bool:
    """Whether `x` is a stream that leads to memory of its own or to a file: what it is given to write is
    copied there, and none of the objects that it comes from is kept.

    One that leads to an object of Python hands that its bytes, or a window on them.
    """
    while (name := _BEHIND.get(type(x))) is not None:
        try:
            x = getattr(x, name)
        except ValueError:  # it is detached
            return True
    return type(x) in _OF_BYTES


_OF_BYTES = (io.BytesIO, io.StringIO, io.FileIO)
_BEHIND: dict[type, str] = {
    io.TextIOWrapper: "buffer",
    **dict.fromkeys((io.BufferedReader, io.BufferedWriter, io.BufferedRandom), "raw"),
}
"""By class of a stream, the attribute with the stream behind it.; ``python -u`` buffers no text."""
