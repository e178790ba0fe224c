"""`accumulate`: the sum of cotangents, in place where that is allowed."""

from __future__ import annotations

from typing import Any

from adbc.chainrules.arrays import is_array, shape_of
from adbc.chainrules.linear import add
from adbc.chainrules.thunks import InplaceableThunk, Thunk, unthunk

__all__ = ["accumulate"]


def accumulate(a: Any, b: Any, *, owned: bool = False) -> Any:
    """The sum of two tangents of one value.

    owned: whether the array `a` belongs to the caller alone.  Only then `b` is added to it in place, and an
    `InplaceableThunk` is never computed by itself.  A tangent that a rule has given may be an array that it
    was given, or that it gave to somebody else as well: it is not owned until it has been copied.

    >>> import numpy as np
    >>> from adbc import chainrules as cr
    >>> a = np.ones(2)
    >>> cr.accumulate(a, np.ones(2)) is a, cr.accumulate(a, np.ones(2), owned=True) is a
    (False, True)
    """
    if owned and is_array(a) and a.flags.writeable:
        if isinstance(b, InplaceableThunk) and not b.is_computed:
            return b.add_into(a)
        b = unthunk(b) if isinstance(b, Thunk) else b
        if is_array(b) and shape_of(b) == a.shape and (a.dtype == b.dtype or a.dtype.kind == "O"):
            a += b
            return a
    return add(a, b)
