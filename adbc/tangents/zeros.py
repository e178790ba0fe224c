"""Whether a derivative is nothing, or a number is one of a few: what shortcuts may be taken by.

Where the code that asks is differentiated itself, what is zero may have a derivative that is not.  So these
functions have rows of their own there (`runtime.calls.inner_parts`): a number is what it stays.  Code that
leaves something out because of a value asks them, and does not look itself.
"""

from __future__ import annotations

from typing import Any

from adbc.tangents.nothing import NO_TANGENT

__all__ = ["is_exactly", "is_zero"]


def is_zero(t: Any) -> bool:
    """Whether `t`, a tangent of a number or of an array of numbers, is zero."""
    if t is None or t is NO_TANGENT:
        return True
    if t.__class__ is float or t.__class__ is complex:
        return bool(t == 0)
    if getattr(t, "is_batch", False):
        return not t.has_nonzero()
    found = getattr(t, "any", None)
    return found is not None and not found()


def is_exactly(t: Any, value: int) -> bool:
    """Whether `t`, a number, is `value`."""
    return bool(t == value)
